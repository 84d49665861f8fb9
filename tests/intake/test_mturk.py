"""Batch results of Mechanical Turk."""

from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from intake.cases import aside, noted
from karat.errors import IntakeError
from karat.intake import Options, read_files
from karat.intake.readers.mturk import READER, moments, recognises
from karat.judgments.scales import Binary, Nominal, Ordinal
from karat.judgments.source import SourceFile
from messages import codes, refuses

FIXTURES = Path(__file__).parent / "fixtures"
PLAIN = FIXTURES / "mturk" / "Batch_42_batch_results.csv"
CROWD_FORM = FIXTURES / "mturk_crowd_form" / "batch.csv"
RADIO = FIXTURES / "mturk_radio" / "batch.csv"
TURKTOOLS = FIXTURES / "mturk_turktools" / "Batch_7_batch_results.csv"


def batch(tmp_path, header, rows):
    file = tmp_path / "batch.csv"
    lines = [["HITId", "AssignmentId", "WorkerId", *header]]
    lines += [[f"H{n}", f"A{n}", *row] for n, row in enumerate(rows, start=1)]
    file.write_text("\n".join(",".join('"' + cell.replace('"', '""') + '"' for cell in line) for line in lines) + "\n")
    return file


def test_one_item_a_hit_with_several_questions():
    intake = read_files([PLAIN])
    assert intake.sources == ((PLAIN.name, READER.title),)
    first = intake.judgments.frame.filter(participant="W1").sort("trial", "question")
    assert first.select("trial", "item", "question", "response").rows() == [
        (1, "s2", "naturalness", "2"), (1, "s2", "understood", "no"),
        (2, "s1", "naturalness", "5"), (2, "s1", "understood", "yes"),
    ]  # fmt: skip
    assert intake.judgments.scales == {"naturalness": Ordinal(5), "understood": Binary(("no", "yes"))}
    assert first["Input.sentence"][0] == "=Soup the stirred cook."
    assert first["time"][0] == datetime(2021, 5, 3, 19, 2, 55, tzinfo=UTC)
    assert (intake.units_in, aside(intake)) == (15, {"aside.free_text_cells": 5})


def test_an_empty_answer_is_a_value():
    rows = read_files([PLAIN]).judgments.frame.filter(assignment="A4")
    assert rows["response"].to_list() == ["1", None]


def test_a_worker_is_one_row_and_rejections_stay_visible():
    intake = read_files([PLAIN])
    people = intake.judgments.participants
    assert people.select("participant", "assignments", "status", "rejected", "working_time").rows() == [
        ("W1", 2, "Approved", 0, 95.0), ("W2", 2, "Rejected; Submitted", 1, 7.0), ("W3", 1, "Approved", 0, 30.0),
    ]  # fmt: skip
    assert people["started"][0] == datetime(2021, 5, 3, 19, 2, tzinfo=UTC)
    assert people["finished"][0] == datetime(2021, 5, 3, 19, 5, 40, tzinfo=UTC)
    assert intake.judgments.frame.filter(assignment="A2")["assignment_status"].unique().to_list() == ["Rejected"]
    assert noted(intake.notes, "mturk.rejected") == {"n": 1}


def test_working_time_is_no_response_time():
    intake = read_files([PLAIN])
    assert "rt" not in intake.judgments.frame.columns
    assert "mturk.working_time" in codes(intake.notes)


def test_the_json_of_a_crowd_form():
    intake = read_files([CROWD_FORM])
    frame = intake.judgments.frame
    assert frame.filter(question="rating")["response"].to_list() == ["3", "2", "1", None]
    assert frame.filter(question="category")["response"].to_list() == ["Grammatical"] * 2 + ["Ungrammatical"] * 2
    assert frame.filter(question="certain")["response"].to_list() == ["1", "0", "1", "1"]
    assert (intake.units_in, aside(intake)) == (16, {"aside.free_text_cells": 4})


def test_json_that_cannot_be_read_is_named_with_its_line(tmp_path):
    file = tmp_path / "batch.csv"
    text = CROWD_FORM.read_text()
    file.write_text(text.replace('"[{""rating""', '"[{rating""', 1))
    with refuses(IntakeError, "batch.csv", "line 2", "Answer.taskAnswers"):
        read_files([file])
    intake = read_files([file], skip_bad=True)
    assert (intake.judgments.frame.height, intake.skipped_units, intake.units_in) == (9, 4, 16)


@pytest.mark.parametrize("json", ["5", '"x"', "[1]", "[[]]", "null", "{", "[" * 5000])
def test_json_of_a_wrong_kind_is_refused(tmp_path, json):
    file = batch(
        tmp_path, ["Input.id", "Answer.taskAnswers"], [["W1", "s1", json], ["W2", "s1", '{"ok": {"on": true}}']]
    )
    with refuses(IntakeError, "line 2", "Answer.taskAnswers"):
        read_files([file])


def test_odd_answers_in_json_are_text(tmp_path):
    first = '[{"a": 3, "b": ["x", "y"], "c": {"low": 1, "high": {"z": 2}}}]'
    second = '[{"a": 4, "b": [], "c": {"low": 2, "high": null}}]'
    file = batch(tmp_path, ["Input.id", "Answer.taskAnswers"], [["W1", "s1", first], ["W2", "s1", second]])
    scales = {"b": Nominal(["x|y", "z"]), "c.high": Nominal(['{"z": 2}', "q"])}
    frame = read_files([file], options=Options(scale=scales)).judgments.frame
    assert frame.filter(question="a")["response"].to_list() == ["3", "4"]
    assert frame.filter(question="b")["response"].to_list() == ["x|y", None]
    assert frame.filter(question="c.low")["response"].to_list() == ["1", "2"]
    assert frame.filter(question="c.high")["response"].to_list() == ['{"z": 2}', None]


def test_radio_buttons_in_columns_of_their_own():
    intake = read_files([RADIO])
    frame = intake.judgments.frame
    assert frame.filter(question="fit")["response"].to_list() == ["bad", "fair", "good"]
    assert frame.filter(question="sentiment")["response"].to_list() == ["Positive", "Neutral", "Positive"]
    assert intake.units_in == 6


def test_turktools():
    intake = read_files([TURKTOOLS])
    rows = intake.judgments.frame.filter(participant="W1")
    assert rows.select("trial", "item", "condition", "function", "response").rows() == [
        (1, "target_3", "gap-island", "test", "2"), (2, "filler_3", "good", "filler", "7"),
        (3, "target_1", "nogap-island", "test", "6"),
    ]  # fmt: skip
    assert rows["list"].to_list() == ["1", "1", "1"]
    assert rows["field_1"].to_list() == ["What did she read?", "The sun rose.", "Who left?"]
    third = intake.judgments.frame.filter(participant="W3")
    assert third.select("item", "response").rows() == [("filler_3", "7"), ("target_1", None), ("target_3", "3")]


def test_turktools_extras_are_about_the_participant():
    intake = read_files([TURKTOOLS])
    assert intake.units_in == 21
    assert aside(intake) == {
        "aside.practice_cells": 3,
        "aside.free_text_cells": 3,
        "aside.background_cells": 6,
    }
    people = intake.judgments.participants
    assert people["English"].to_list() == ["yes", "no", "yes"]
    assert people["country"].to_list() == ["US", None, "CA"]
    assert people["status"].to_list() == ["Approved", "Rejected", "Approved"]


def test_examples_of_turktools_are_practice(tmp_path):
    names = ("section", "number", "condition")
    inputs = [f"Input.item_{n}_{name}" for n in (1, 2) for name in names]
    header = [*inputs, "Answer.response1", "Answer.response2", "Answer.response_example1", "Answer.response_example2"]
    rows = [[f"W{n}", "target", "1", "a", "filler", "2", "-", "40", f"{n}", "100", "0"] for n in range(5)]
    intake = read_files([batch(tmp_path, header, rows)])
    assert intake.judgments.answers == 10
    assert aside(intake) == {"aside.practice_cells": 10}


def test_unmatched_numbers_and_uneven_lists_are_read(tmp_path):
    header = ["Input.sentence1", "Input.sentence2", "Answer.rating1", "Answer.rating_2", "Answer.rt1", "Answer.rt2"]
    file = batch(tmp_path, header, [["W1", "Ann left.", "Left Ann.", "5", "1", "2345", "1800"],
                                    ["W1", "Bo sang.", "", "4", "", "990", ""]])  # fmt: skip
    intake = read_files([file])
    frame = intake.judgments.frame
    assert frame.select("trial", "item", "response", "rt").rows() == [
        (1, "Ann left.", "5", 2.345), (2, "Left Ann.", "1", 1.8), (3, "Bo sang.", "4", 0.99),
    ]  # fmt: skip
    assert aside(intake) == {"aside.rt_cells": 4, "aside.absent_item_cells": 1}


def test_the_hit_is_the_item_where_no_input_tells_it(tmp_path):
    file = batch(tmp_path, ["Answer.ok"], [["W1", "yes"], ["W2", "no"]])
    intake = read_files([file])
    assert intake.judgments.frame["item"].to_list() == ["H1", "H2"]
    assert "mturk.item_hit" in codes(intake.notes)


def test_a_survey_link_has_no_judgments(tmp_path):
    file = batch(tmp_path, ["Answer.surveycode"], [["W1", "abc"], ["W2", "def"]])
    with refuses(IntakeError, "batch.csv"):
        read_files([file])


def test_a_short_row_is_named(tmp_path):
    file = batch(tmp_path, ["Input.id", "Answer.ok"], [["W1", "s1", "yes"]])
    file.write_text(file.read_text() + '"H2","A2"\n')
    with refuses(IntakeError, "batch.csv", "line 3", "2 cells"):
        read_files([file])


def test_dates_of_mturk():
    dates = ["Mon May 03 12:34:56 PDT 2021", "Tue Dec 07 23:00:00 PST 2021", "Thu Oct 09 07:30:20 UTC 2025",
             "2021-05-03T12:34:56Z", "Mon Foo 03 12:34:56 PDT 2021", "Mon Feb 31 12:34:56 PDT 2021", None]  # fmt: skip
    assert moments(pl.Series(dates)).to_list() == [
        datetime(2021, 5, 3, 19, 34, 56, tzinfo=UTC), datetime(2021, 12, 8, 7, tzinfo=UTC),
        datetime(2025, 10, 9, 7, 30, 20, tzinfo=UTC), datetime(2021, 5, 3, 12, 34, 56, tzinfo=UTC), None, None, None,
    ]  # fmt: skip


def test_other_tables_are_not_taken(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("WorkerId,item,answer\nW1,s1,5\n")
    assert not recognises(SourceFile(file))
    with refuses(IntakeError, "table.csv", "HITId"):
        read_files([file], "mturk")


def test_background_and_addresses_are_no_judgments(tmp_path):
    header = ["Input.item", "Answer.rating", "Answer.native", "Answer.e-mail", "Answer.name"]
    rows = [["W1", "s1", "4", "yes", "w@example.org", "Jörg"], ["W2", "s2", "2", "no", "v@example.org", "Anna"]]
    intake = read_files([batch(tmp_path, header, rows)])
    assert intake.judgments.frame["response"].to_list() == ["4", "2"]
    assert intake.judgments.participants["native"].to_list() == ["yes", "no"]
    assert aside(intake) == {"aside.personal_cells": 4, "aside.background_cells": 2}
    assert "example.org" not in str(intake.judgments.participants.rows())


def test_numbered_answers_without_inputs_are_items(tmp_path):
    header = ["Answer.age", *(f"Answer.Q{n}" for n in range(1, 7))]
    rows = [[f"W{p}", str(20 + p), *(str(1 + (p * n) % 5) for n in range(1, 7))] for p in range(8)]
    intake = read_files([batch(tmp_path, header, rows)])
    frame = intake.judgments.frame
    assert (frame["participant"].n_unique(), frame["item"].unique().sort().to_list()) == (
        8,
        [f"Q{n}" for n in range(1, 7)],
    )
    assert "question" not in frame.columns
    assert "mturk.item_field" in codes(intake.notes)


def test_a_batch_without_assignments_and_a_field_left_empty(tmp_path):
    file = tmp_path / "batch.csv"
    rows = [
        f"{hit},W{p},9,{hit % 3},d{hit},e{hit},{'no' if p < 2 else ''},{'abs'[(hit * p) % 3]}"
        for hit in range(12)
        for p in range(9)
    ]
    header = "HITId,WorkerId,WorkTimeInSeconds,Input.query,Input.docA,Input.docB,Answer.background,Answer.radio"
    file.write_text("\n".join([header, *rows]))
    frame = read_files([file]).judgments.frame
    assert set(frame["response"]) == {"left", "right", "none"}
    assert (frame["item"].n_unique(), len(frame), "rt" in frame.columns) == (12, 108, False)


def test_rankings_in_one_cell_are_refused(tmp_path):
    orders = ["ABC", "ACB", "BAC", "BCA", "CAB", "CBA"]
    rows = [[f"W{p}", f"s{p % 3}", orders[p % 6]] for p in range(24)]
    with refuses(IntakeError, "rankings"):
        read_files([batch(tmp_path, ["Input.item", "Answer.rank"], rows)])


def test_answers_that_repeat_one_of_two_inputs_are_choices(tmp_path):
    header = ["Input.item_1_condition", "Input.field_1_1", "Input.field_1_2", "Answer.Choice1"]
    texts = [("The dog's gone.", "The dogs gone."), ("Ann sleeps.", "Ann sleep."), ("He can swim.", "He swim.")]
    sides = [n % 2 for n in range(24)]
    cut = [f"{side + 1}. {texts[n % 3][side].split(chr(39))[0]}" for n, side in enumerate(sides)]
    kinds = ("island", "control", "attnchk2")
    file = batch(tmp_path, header, [(f"{n % 7}", kinds[n % 3], *texts[n % 3], cut[n]) for n in range(24)])
    file.write_text(file.read_text().replace('"WorkerId"', '"anonCode"'))
    frame = read_files([file]).judgments.frame
    assert frame["participant"].n_unique() == 7
    assert frame["response"].to_list() == [("left", "right")[side] for side in sides]
    assert list(zip(frame["left"], frame["right"], strict=True)) == [texts[n % 3] for n in range(24)]
    assert frame["function"].to_list() == ["test", "test", "attention"] * 8


def test_pairs_with_conditions_have_items_of_their_own(tmp_path):
    names = ["item_1_condition", "field_1_1", "field_1_2", "item_2_condition", "field_2_1", "field_2_2"]
    rows = []
    for hit in range(6):
        pairs = [f"Cats {hit} ran.", f"Cat {hit} run.", "island", f"Who {hit} left?", f"What {hit} go?"]
        for worker, first, second in (("W1", 1, 2), ("W2", 2, 1), ("W3", 1, 1)):
            chosen = [f"{first}. {pairs[first - 1]}", f"{second}. {pairs[second + 2]}"]
            rows.append([worker, f"npi{hit % 2}", *pairs, *chosen])
    header = [*(f"Input.{name}" for name in names), "Answer.Choice1", "Answer.Choice2"]
    frame = read_files([batch(tmp_path, header, rows)]).judgments.frame
    assert (frame["item"].n_unique(), set(frame["condition"])) == (12, {"npi0", "npi1", "island"})
    assert dict(frame["response"].value_counts().iter_rows()) == {"left": 24, "right": 12}
