"""Gorilla: events of two task builders, questionnaires as background, trials across nodes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from intake.cases import aside, noted
from karat.errors import IntakeError
from karat.intake import Intake, Options, read_files
from karat.judgments.scales import Choice, Ordinal
from messages import codes, refuses

FIRST = Path(__file__).parent / "fixtures" / "gorilla"
TASK = FIRST / "data_exp_104329-v9_task-sh6f.csv"
QUESTIONNAIRE = FIRST / "data_exp_104329-v9_questionnaire-ab1c.csv"
SECOND = Path(__file__).parent / "fixtures" / "gorilla_2" / "data_exp_2-v1_task-k2.csv"


def both() -> Intake:
    return read_files([TASK, QUESTIONNAIRE])


def test_answers_times_and_order_of_task_builder_1() -> None:
    intake = both()
    frame = intake.judgments.frame
    assert frame["participant"].to_list() == ["7001"] * 4 + ["7002"] * 4
    assert frame["item"].to_list() == ["p1", "2", "1", "3", "p1", "1", "3", "2"]
    assert frame["response"].to_list() == ["3", "2", "7", "4", "3", "7", "4", None]
    assert frame["rt"].to_list() == [1.5, 1.83, 2.2105, 3.00125, 1.5, 2.2105, 3.00125, None]
    assert frame["trial"].to_list() == [1, 2, 3, 4, 1, 2, 3, 4]
    assert frame["function"].to_list() == ["practice", "test", "test", "test"] * 2
    assert frame["sentence"].to_list()[2:4] == ["The fox, a young one, left.", "=Fox left?"]
    assert frame["time"][1] == datetime(2024, 3, 4, 10, 0, 32, tzinfo=UTC)
    assert intake.judgments.scale == Ordinal(7)


def test_people_may_have_another_name(tmp_path: Path) -> None:
    path = tmp_path / "renamed.csv"
    path.write_bytes(TASK.read_bytes().replace(b"Participant Private ID", b"Subj"))
    assert read_files([path]).judgments == read_files([TASK]).judgments


def test_everything_else_is_set_aside_by_reason() -> None:
    assert aside(both()) == {
        "aside.end_of_file": 1,
        "aside.questionnaire_rows": 11,
        "aside.task_markers": 4,
        "aside.instructions_and_breaks": 2,
        "aside.fixations": 6,
        "aside.further_attempts": 1,
    }


def test_questionnaires_describe_unnamed_participants() -> None:
    intake = both()
    people = intake.judgments.participants
    assert people["participant"].to_list() == ["7001", "7002"]
    assert people["age"].to_list() == ["34", "29"]
    assert people["first-language"].to_list() == ["German", "German"]
    assert people["participant_status"].to_list() == ["complete", "timelimit"]
    assert people["started"].to_list()[0] == datetime(2024, 3, 4, 9, 59, 0, 100000, UTC)
    assert people["finished"].to_list()[0] == datetime(2024, 3, 4, 10, 1, 30, tzinfo=UTC)
    assert "example.org" not in str(people.rows()) + str(intake.judgments.frame.rows())
    assert noted(intake.notes, "personal.left_out")["columns"] == ["email"]
    assert "gorilla.questionnaire" in codes(intake.notes)


def test_a_questionnaire_alone_has_no_judgments() -> None:
    with refuses(IntakeError, QUESTIONNAIRE.name, "participant, item, response"):
        read_files([QUESTIONNAIRE])


def test_task_builder_2_tells_answers_by_response_type() -> None:
    intake = read_files([SECOND])
    frame = intake.judgments.frame
    first = frame.head(6)
    assert first["response"].to_list() == ["left", "3", "right", "1", "right", "2"]
    assert first["question"].to_list() == ["choose", "confidence"] * 3
    assert first["item"].to_list() == ["i1", "i1", "i2", "i2", "i3", "i3"]
    assert first["rt"].to_list() == pytest.approx([1.2005, 0.8, 2.3, 0.8, None, 0.8])
    assert first["trial"].to_list() == [1, 1, 2, 2, 3, 3]
    assert frame["list"].to_list() == ["L1"] * 6 + ["L2"] * 6
    assert intake.judgments.scales == {"choose": Choice(), "confidence": Ordinal(3)}
    assert aside(intake) == {
        "aside.task_markers": 4,
        "aside.instructions_and_breaks": 2,
        "aside.content_shown": 6,
        "aside.actions": 6,
        "aside.end_of_file": 1,
    }


def test_prolific_ids_name_participants() -> None:
    intake = read_files([SECOND])
    assert intake.judgments.participants["participant"].to_list() == [
        "5f1a2b3c4d5e6f7a8b9c0d1e",
        "60aa2b3c4d5e6f7a8b9c0d99",
    ]
    assert "gorilla.public_ids" in codes(intake.notes)


def test_trials_of_several_nodes_follow_each_other_in_time(tmp_path: Path) -> None:
    later = tmp_path / "later.csv"
    later.write_text(TASK.read_text().replace("task-sh6f", "task-zz").replace(",17095", ",17096"))
    frame = read_files([later, TASK]).judgments.frame
    mine = frame.filter(frame["participant"] == "7001")
    assert mine["trial"].to_list() == list(range(1, 9))
    assert mine["Tree Node Key"].to_list() == ["task-sh6f"] * 4 + ["task-zz"] * 4


def test_row_is_the_item_without_an_item_column(tmp_path: Path) -> None:
    path = tmp_path / "task.csv"
    path.write_text(SECOND.read_text().replace("Spreadsheet: itemid", "Spreadsheet: left picture"))
    intake = read_files([path])
    assert intake.judgments.frame["item"].to_list()[:4] == ["2", "2", "3", "3"]
    assert noted(intake.notes, "item.column") == {"column": "Spreadsheet Row"}


def test_seconds_can_be_reported() -> None:
    frame = read_files([TASK], options=Options(rt_unit="s")).judgments.frame
    assert frame["rt"][1] == 1830.0


def test_a_time_that_is_none_is_named(tmp_path: Path) -> None:
    path = tmp_path / "task.csv"
    path.write_text(TASK.read_text().replace(",1830,", ",quick,"))
    with refuses(IntakeError, "task.csv", "line 6, rt", "quick"):
        read_files([path])


def test_a_file_without_participants_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "task.csv"
    path.write_text("Event Index,Response\n1,4\n")
    with refuses(IntakeError, "task.csv", "Participant Private ID"):
        read_files([path], "gorilla")


def test_a_short_row_is_named_but_not_the_end_of_file(tmp_path: Path) -> None:
    path = tmp_path / "task.csv"
    path.write_text(TASK.read_text().replace("END OF FILE", "22,1709547390000\nEND OF FILE"))
    with refuses(IntakeError, "task.csv", "line 23", "2 cells") as error:
        read_files([path])
    assert len(error.value.problems) == 1


def test_information_structure_is_no_instruction(tmp_path: Path) -> None:
    for display in ("information structure", "breakfast"):
        path = tmp_path / "task.csv"
        path.write_text(TASK.read_text(encoding="utf-8").replace(",trial,", f",{display},"), encoding="utf-8")
        assert read_files([path]).judgments.frame.height == 8


def test_buttons_to_go_on_and_fillers_of_task_builder_2(tmp_path: Path) -> None:
    header = ("Event Index,UTC Timestamp,Participant Private ID,Tree Node Key,Trial Number,Screen,Response Type,"
              "Response,Object Name,Reaction Time,Display,Spreadsheet: item,Spreadsheet: condition")  # fmt: skip
    lines = [header]
    for person in range(4):
        for at, (display, item, condition) in enumerate(
            [("Practice", 1, "a"), ("Trial", 2, "a"), ("Trial", 3, "b"), ("Trial", 4, "filler")], 1
        ):
            for name, answer in (("Slider", 10 * at + person), ("Continue Button", "Next")):
                where = f"{len(lines)},{1_650_000_000_000 + len(lines)},{7000 + person},task-1,{at},Screen 1"
                lines.append(f"{where},response,{answer},{name},{900 + at},{display},{item},{condition}")
    path = tmp_path / "data.csv"
    path.write_text("\n".join(lines) + "\n")
    intake = read_files([path])
    assert aside(intake) == {"aside.continue_buttons": 16}
    functions = dict(intake.judgments.frame["function"].value_counts().iter_rows())
    assert functions == {"practice": 4, "test": 8, "filler": 4}
