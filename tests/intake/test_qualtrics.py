"""Qualtrics' exports: three header rows, one row per response."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from intake.cases import aside, noted
from karat import screen
from karat.errors import IntakeError
from karat.intake import Options, read_files
from karat.intake.readers.qualtrics import READER, recognises
from karat.judgments.scales import Binary, Nominal
from karat.judgments.source import SourceFile
from messages import refuses

FIXTURES = Path(__file__).parent / "fixtures"
TEXTS = FIXTURES / "qualtrics" / "Sentences_February 2, 2026_14.22.csv"
NUMBERS = FIXTURES / "qualtrics_numeric" / "export.tsv"
BLOCKS = FIXTURES / "qualtrics_blocks" / "blocks.csv"
FIRST = "60a1b2c3d4e5f60718293a4b"


@pytest.fixture(scope="module")
def worded():
    return read_files([TEXTS])


@pytest.fixture(scope="module")
def numeric():
    return read_files([NUMBERS])


@pytest.fixture(scope="module")
def blocks():
    return read_files([BLOCKS])


def export(tmp_path, columns, rows):
    """A small export with the columns (tag, text, import id) beside ResponseId."""
    lines = [["ResponseId", *(c[0] for c in columns)], ["Response ID", *(c[1] for c in columns)]]
    lines.append(['{"ImportId":"_recordId"}', *(json.dumps({"ImportId": c[2]}) for c in columns)])
    lines += [[f"R_{n}", *row] for n, row in enumerate(rows, start=1)]
    file = tmp_path / "export.csv"
    file.write_text("\n".join(",".join('"' + cell.replace('"', '""') + '"' for cell in line) for line in lines) + "\n")
    return file


def test_each_answer_is_a_judgment_with_the_time_of_its_page(worded):
    assert worded.sources == ((TEXTS.name, READER.title),)
    rows = worded.judgments.frame.filter(participant=FIRST)
    assert rows.select("item", "response", "rt").rows() == [
        ("s01", "natural", 4.512), ("s02", "unnatural", 2.75), ("s03", "natural", 3.001),
        ("M_1", "Agree", None), ("M_2", "Disagree", None),
    ]  # fmt: skip
    assert rows["question"].to_list() == ["s", "s", "s", "M", "M"]
    assert rows["click_count"].to_list() == [2, 0, 1, None, None]
    assert rows["text"][0] == "How natural is this sentence? The parcel has arrived yesterday."
    assert noted(worded.notes, "qualtrics.timings")["rule"].code == "qualtrics.timing_before"


def test_the_scales_are_those_of_the_questions(worded):
    assert worded.judgments.scales["s"] == Nominal(["in between", "natural", "unnatural"])
    assert worded.judgments.scales["M"] == Binary(("Disagree", "Agree"))


def test_nothing_is_dropped_in_silence(worded):
    assert worded.units_in == 5 * 21
    assert aside(worded) == {
        "aside.preview_cells": 21,
        "aside.timing_cells": 48,
        "aside.free_text_cells": 8,
        "aside.background_cells": 8,
        "aside.empty_cells": 3,
    }


def test_unfinished_responses_stay_and_are_reported(worded):
    people = worded.judgments.participants
    assert people["finished"].is_null().to_list() == [False, True, False, False]
    assert people["progress"].to_list() == [100, 45, 100, 100]
    assert people["working_time"].to_list() == [330, 120, 240, 20]
    assert noted(worded.notes, "qualtrics.unfinished") == {"n": 1}


def test_a_page_that_was_timed_was_shown(worded):
    rows = worded.judgments.frame.filter(participant="60a1b2c3d4e5f60718293a4c")
    assert rows.select("item", "response", "rt").rows() == [("s01", "unnatural", 1.5), ("s02", None, 9.25)]


def test_a_row_of_a_matrix_with_an_answer_elsewhere_was_shown(worded):
    rows = worded.judgments.frame.filter(participant="60a1b2c3d4e5f60718293a4d", question="M")
    assert rows["response"].to_list() == ["Disagree", None]


def test_previews_are_set_aside_and_spam_stays_visible(worded):
    people = worded.judgments.participants
    assert people["response_type"].to_list() == ["IP Address", "IP Address", "IP Address", "Spam"]
    assert people["source"].unique().to_list() == ["an anonymous link"]
    assert people["participant"][3] == "R_4ddddddddddddd"
    assert noted(worded.notes, "qualtrics.previews") == {"n": 1}
    assert noted(worded.notes, "qualtrics.without_id") == {"n": 1, "column": "PROLIFIC_PID"}


def test_personal_columns_are_left_out_with_a_note(worded):
    everything = [*worded.judgments.frame.columns, *worded.judgments.participants.columns]
    assert not {"IPAddress", "RecipientEmail", "LocationLatitude", "ExternalReference"} & set(everything)
    assert noted(worded.notes, "personal.left_out")["columns"][0] == "IPAddress"
    assert "192.0.2.7" not in str(worded.judgments.participants.to_dicts())


def test_dates_are_in_the_zone_that_the_export_names(worded):
    assert worded.judgments.participants["started"][0] == datetime(2026, 2, 2, 17, 0, tzinfo=UTC)


def test_embedded_data_go_with_the_answers_and_the_person(worded):
    assert worded.judgments.frame.filter(participant=FIRST)["list"].unique().to_list() == ["A"]
    assert worded.judgments.participants["list"].to_list() == ["A", "B", "A", None]
    assert worded.judgments.participants["consent"].to_list() == ["Yes"] * 4


def test_numeric_utf16_export_with_display_order(numeric):
    rows = numeric.judgments.frame.filter(participant="R_n1", question="Q1")
    assert rows.select("item", "response", "trial").rows() == [("Q1_1", "7", 2), ("Q1_2", "1", 3), ("Q1_3", "6", 1)]
    second = numeric.judgments.frame.filter(participant="R_n2", question="Q1")
    assert second["trial"].to_list() == [3, 1, 2]


def test_seen_and_unanswered_is_an_empty_answer(numeric):
    assert numeric.judgments.frame.filter(participant="R_n2", item="Q1_2")["response"].to_list() == [None]


def test_loops_are_one_question(numeric):
    loops = numeric.judgments.frame.filter(question="Q5")
    assert loops["item"].to_list() == ["1_Q5", "2_Q5", "1_Q5", "2_Q5"]
    assert loops["loop"].to_list() == ["1", "2", "1", "2"]


def test_previews_and_tests_by_number(numeric):
    assert numeric.units_in == 28
    assert aside(numeric) == {
        "aside.preview_cells": 7,
        "aside.test_response_cells": 7,
        "aside.display_order_cells": 2,
        "aside.background_cells": 2,
    }
    assert numeric.judgments.participants["Q2"].to_list() == ["31", "28"]
    assert noted(numeric.notes, "personal.left_out")["columns"][-2:] == ["LocationLongitude", "email"]


def test_the_order_of_a_block(blocks):
    rows = blocks.judgments.frame.filter(participant="R_b3")
    assert rows.select("item", "trial").rows() == [("Q3", 2), ("Q4", 1), ("Q6", 3)]


def test_two_responses_are_two_sessions_and_one_row(blocks):
    rows = blocks.judgments.frame.filter(participant="5d1")
    assert rows.select("session", "item", "trial").rows() == [
        ("1", "Q3", 1),
        ("2", "Q3", 3),
        ("2", "Q4", 2),
        ("2", "Q6", 1),
    ]
    people = blocks.judgments.participants
    assert people["participant"].to_list() == ["5d1", "R_b3"]
    assert people["response_id"].to_list() == ["R_b2", "R_b3"]
    assert noted(blocks.notes, "qualtrics.sessions") == {"n": 1}


def test_tick_boxes_are_no_judgments_shared_pages_no_rt(blocks):
    assert aside(blocks)["aside.several_answer_cells"] == 6
    assert "rt" not in blocks.judgments.frame.columns
    assert blocks.judgments.frame.filter(participant="R_b3")["page_time"].to_list() == [2, 2, 2]
    timings = noted(blocks.notes, "qualtrics.timings")
    assert (timings["rule"].code, timings["shared"].code) == ("qualtrics.timing_after", "qualtrics.shared_pages")


def test_a_timing_that_names_its_question(tmp_path):
    columns = [("s1", "A", "QID1"), ("s2", "B", "QID2"), ("s2_time_Page Submit", "T", "QID3_PAGE_SUBMIT"),
               ("s1_time_Page Submit", "T", "QID4_PAGE_SUBMIT")]  # fmt: skip
    frame = read_files([export(tmp_path, columns, [["5", "3", "2.5", "1.5"], ["1", "2", "3.5", ""]])]).judgments.frame
    assert frame.select("item", "rt").rows() == [("s1", 1.5), ("s2", 2.5), ("s1", None), ("s2", 3.5)]


def test_display_orders_with_a_column_a_row(tmp_path):
    columns = [
        ("Q1_1", "R - a", "QID1_1"),
        ("Q1_2", "R - b", "QID1_2"),
        ("Q1_DO_1", "o", "QID1_DO_1"),
        ("Q1_DO_2", "o", "QID1_DO_2"),
    ]
    frame = read_files([export(tmp_path, columns, [["5", "3", "2", "1"], ["1", "2", "1", "2"]])]).judgments.frame
    assert frame["trial"].to_list() == [2, 1, 1, 2]


def test_numbered_background_answers_are_no_scale_points(tmp_path):
    columns = [("Q1", "How natural is this?", "QID1"), ("Q2", "And this?", "QID2"), ("Q3", "Geschlecht", "QID3"),
               ("Q4", "What is your gender?", "QID4"), ("Phone", "Your number", "QID5_TEXT")]  # fmt: skip
    rows = [["5", "2", "1", "2", "0151"], ["6", "7", "2", "1", "0152"]]
    intake = read_files([export(tmp_path, columns, rows)])
    assert intake.judgments.frame["item"].unique(maintain_order=True).to_list() == ["Q1", "Q2"]
    assert intake.judgments.participants.select("Q3", "Q4").rows() == [("1", "2"), ("2", "1")]
    assert aside(intake) == {"aside.personal_cells": 2, "aside.background_cells": 4}
    assert noted(intake.notes, "qualtrics.judgments")["tags"].values["names"] == ["Q1", "Q2"]


def test_all_columns_can_be_kept_apart(worded):
    intake = read_files([TEXTS], options=Options(mapping={"question": "tag"}, scale=Nominal(
        ["natural", "in between", "unnatural", "Agree", "Disagree"])))  # fmt: skip
    assert list(intake.judgments.scales) == ["s01", "s02", "s03", "M_1", "M_2"]


def test_a_time_that_is_none_is_named_with_its_line(tmp_path):
    file = tmp_path / "export.csv"
    file.write_text(TEXTS.read_text(encoding="utf-8-sig").replace("4.512", "4.5s"), encoding="utf-8")
    # Three question texts of three lines each stand in the header, which therefore ends in line 9.
    with refuses(IntakeError, "export.csv", "line 11, rt", "4.5s"):
        read_files([file])


def test_missing_header_rows_are_reported(tmp_path):
    file = tmp_path / "export.csv"
    file.write_text("ResponseId,Q1\nR_1,5\nR_2,4\n")
    assert not recognises(SourceFile(file))
    with refuses(IntakeError, "export.csv"):
        read_files([file], "qualtrics")
    file.write_text("a,b\n1,2\n")
    with refuses(IntakeError, "export.csv"):
        read_files([file], "qualtrics")


def test_an_unknown_time_zone_is_no_reason_to_fail(tmp_path):
    file = tmp_path / "export.csv"
    file.write_text(TEXTS.read_text(encoding="utf-8-sig").replace("America/Denver", "Mars/Base"), encoding="utf-8")
    intake = read_files([file])
    assert intake.judgments.participants["started"][0] == datetime(2026, 2, 2, 10, 0, tzinfo=UTC)
    assert noted(intake.notes, "qualtrics.unknown_zone") == {"zone": "Mars/Base"}


def test_response_type_does_not_hide_the_platform_status(tmp_path):
    submissions = tmp_path / "prolific_export.csv"
    submissions.write_text(
        "Submission id,Participant id,Status,Started at,Completed at,Time taken,Completion code,Total approvals\n"
        f"66aa,{FIRST},REJECTED,2026-02-02T16:59:00Z,2026-02-02T17:06:00Z,420,C1,3\n"
    )
    people = read_files([TEXTS, submissions]).judgments.participants
    assert people.filter(participant=FIRST).select("status", "response_type").row(0) == ("REJECTED", "IP Address")


def test_fraud_fields_describe_participants(tmp_path):
    fields = ("Q_RecaptchaScore", "Q_RelevantIDDuplicate", "Q_BallotBoxStuffing")
    columns = [
        ("s01", "How natural?", "QID1"),
        ("s02", "How natural?", "QID2"),
        *((name, name, name) for name in fields),
    ]
    rows = [["3", "4", "0.9", "", "false"], ["2", "5", "0.1", "true", "false"], ["1", "1", "", "", ""]]
    judgments = read_files([export(tmp_path, columns, rows)]).judgments
    assert set(fields) <= set(judgments.participants.columns)
    assert not set(fields) & set(judgments.frame.columns)
    assert screen.platform_flags(judgments).flagged == ["R_2"]
