"""Potato's table, the folders of its versions 1 and 2, and its JSON lines."""

import contextlib
import json
from pathlib import Path

import pytest

from intake.cases import aside, noted
from karat.errors import IntakeError
from karat.intake import read_files
from karat.intake.readers.potato import recognises
from karat.judgments.source import SourceFile
from messages import codes, refuses

FIXTURES = Path(__file__).parent / "fixtures"
TABLE = FIXTURES / "potato_table" / "annotations.csv"
FIRST = FIXTURES / "potato_1" / "annotation_output"
SECOND = FIXTURES / "potato_2"
STATES = [SECOND / who / "user_state.json" for who in ("alice", "bob")]


def states(tmp_path, change):
    """The state of the first annotator after a change, and that of the second."""
    state = json.loads(STATES[0].read_text(encoding="utf-8"))
    change(state)
    path = tmp_path / "alice" / "user_state.json"
    path.parent.mkdir()
    path.write_text(json.dumps(state), encoding="utf-8")
    return [path, STATES[1]]


def test_table_by_kind_of_schema():
    intake = read_files([TABLE])
    assert intake.judgments.frame.select("participant", "item", "question", "response").rows() == [
        ("alice", "s1", "acceptable", "yes"),
        ("alice", "s1", "naturalness", "3"),
        ("alice", "s1", "feeling.bad__good", "6"),
        ("alice", "s1", "feeling.dull__lively", "2"),
        ("alice", "s2", "acceptable", "no"),
        ("alice", "s2", "naturalness", "1"),
        ("alice", "s2", "feeling.bad__good", "2"),
        ("alice", "s2", "feeling.dull__lively", "3"),
        ("bob", "s1", "acceptable", "yes"),
        ("bob", "s1", "feeling.bad__good", "7"),
        ("bob", "s1", "feeling.dull__lively", None),
        ("bob", "s2", "acceptable", "no"),
        ("bob", "s2", "naturalness", "2"),
        ("bob", "s2", "feeling.bad__good", "1"),
        ("bob", "s2", "feeling.dull__lively", "1"),
    ]
    assert aside(intake) == {"aside.free_text": 4, "aside.text_spans": 1, "aside.several_labels": 1}
    assert (intake.units_in, intake.unit) == (21, "cells")
    assert noted(intake.notes, "potato.labels") == {"schemas": ["acceptable", "naturalness"]}


def test_table_of_the_first_version(tmp_path):
    path = tmp_path / "annotated_instances.tsv"
    path.write_text(
        "user\tinstance_id\tdisplayed_text\tok:::yes\tok:::no\thow:::scale_1\thow:::scale_4\tspan_annotation:::odd\n"
        "u1\ts1\tEin Satz.\ttrue\t\t\t4\t[]\n"
        "u2\ts1\tEin Satz.\t\ttrue\t1\t\t[{'start': 0}]\n"
    )
    intake = read_files([path])
    assert intake.judgments.frame.select("participant", "item", "question", "response", "displayed_text").rows() == [
        ("u1", "s1", "ok", "yes", "Ein Satz."),
        ("u1", "s1", "how", "4", "Ein Satz."),
        ("u2", "s1", "ok", "no", "Ein Satz."),
        ("u2", "s1", "how", "1", "Ein Satz."),
    ]
    assert aside(intake) == {"aside.text_spans": 1}


def test_empty_rows_of_a_table_are_missing_answers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("instance_id,user_id,ok.yes,ok.no,never.asked\ns1,u1,true,,\ns2,u1,,,\ns3,u1,,true,\n")
    intake = read_files([path])
    assert intake.judgments.frame["response"].to_list() == ["yes", None, "no"]
    assert aside(intake) == {"aside.unanswered_schemas": 3}


def test_folders_of_the_first_version():
    intake = read_files([FIRST])
    assert intake.judgments.frame.select("participant", "item", "question", "response", "rt", "trial").rows() == [
        ("alice", "s2", "acceptable", "no", 65.0, 3),
        ("alice", "s2", "naturalness", "1", 65.0, 3),
        ("alice", "s1", "acceptable", "yes", None, 2),
        ("alice", "s1", "naturalness", "5", None, 2),
        ("bob", "s1", "acceptable", "yes", 4.0, 1),
        ("bob", "s1", "naturalness", "4", 4.0, 1),
    ]
    assert aside(intake) == {"aside.survey_pages": 1, "aside.free_text": 1, "aside.text_spans": 1}
    assert "potato.times" in codes(intake.notes)


def test_folders_of_the_second_version():
    intake = read_files(STATES)
    assert intake.judgments.frame.select("participant", "item", "question", "response", "rt", "trial").rows() == [
        ("annotator_1", "s1", "acceptable", "no", 8.25, 2),
        ("annotator_1", "s1", "vas", "67.3", 8.25, 2),
        ("annotator_1", "s2", "acceptable", "no", 4.1, 1),
        ("annotator_1", "s2", "vas", "12", 4.1, 1),
        ("bob", "s1", "acceptable", "yes", None, 1),
        ("bob", "s1", "vas", "80", None, 1),
    ]
    assert intake.judgments.participants.rows() == [("annotator_1", "German"), ("bob", None)]
    assert intake.judgments.frame["time"][0].isoformat() == "2026-05-03T12:35:03+00:00"
    assert aside(intake) == {"aside.text_spans": 1}
    assert "annotators.renamed" in codes(intake.notes)


def test_without_clicks_several_marks_are_no_answer(tmp_path):
    intake = read_files(states(tmp_path, lambda state: state.pop("instance_id_to_behavioral_data")))
    assert aside(intake) == {"aside.several_labels": 1, "aside.text_spans": 1}
    assert len(intake.judgments) == 5


def test_a_copy_in_the_same_folder_does_not_count_twice(tmp_path):
    paths = states(tmp_path, lambda state: state.update(user_id="alice"))
    copy = paths[0].parent / "annotated_instances.jsonl"
    copy.write_text('{"id": "s2", "displayed_text": "", "label_annotations": {"acceptable": {"no": "no"}}}\n')
    intake = read_files([*paths, copy])
    assert aside(intake)["aside.copies"] == 1
    assert len(intake.judgments) == 6


def test_export_as_json_lines(tmp_path):
    path = tmp_path / "annotations.jsonl"
    lines = [
        {"instance_id": "s1", "user_id": "u1", "labels": {"how": {"slider": 70}}, "spans": {}, "links": {}},
        {"instance_id": "s2", "user_id": "u1", "labels": {"how": {"slider": 12.5}}, "spans": {"p": [{"start": 0}]}},
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    intake = read_files([path])
    assert intake.judgments.frame.select("participant", "item", "response").rows() == [
        ("u1", "s1", "70"),
        ("u1", "s2", "12.5"),
    ]
    assert aside(intake) == {"aside.text_spans": 1}


def test_a_line_that_is_no_object_is_named(tmp_path):
    path = tmp_path / "carol" / "annotated_instances.jsonl"
    path.parent.mkdir()
    path.write_text((FIRST / "alice" / "annotated_instances.jsonl").read_text(encoding="utf-8") + "7\n")
    with refuses(IntakeError, "annotated_instances.jsonl", "element 4", "7") as error:
        read_files([path])
    assert [problem.file for problem in error.value.problems] == ["carol/annotated_instances.jsonl"]


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.update(instance_id_to_label_to_value=7),
        lambda state: state.update(instance_id_ordering={}),
        lambda state: state["instance_id_to_label_to_value"].update(s1=[[1, 2], [], None, {"schema": []}]),
        lambda state: state.update(phase_to_page_to_label_to_value=[1]),
        lambda state: state.update(instance_id_to_behavioral_data={"s1": {"annotation_changes": {"a": 1}}}),
    ],
)
def test_wrong_types_are_no_traceback(tmp_path, change):
    paths = states(tmp_path, change)
    with contextlib.suppress(IntakeError):
        intake = read_files(paths)
        assert intake.units_in == len(intake.judgments) + sum(intake.set_aside.values())


def test_a_cut_state_is_an_error(tmp_path):
    path = tmp_path / "user_state.json"
    path.write_text(STATES[0].read_text(encoding="utf-8")[:700], encoding="utf-8")
    with refuses(IntakeError, "user_state.json", "line 13, column 21"):
        read_files([path])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"instance_id,user_id,rating\n"),
        ("a.csv", b"instance_id,user_id,rating,p.value\n"),
        ("a.csv", b"participant.code,session.code,user_id\n"),
        ("a.json", b'{"user_id": 1, "labels": {}}'),
        ("a.json", b"{\0\xff"),
    ],
)
def test_other_files_are_not_claimed(name, content):
    assert not recognises(SourceFile(Path(name), content=content))


def test_names_in_surveys_are_left_out(tmp_path):
    def change(state):
        state["phase_to_page_to_label_to_value"] = {"prestudy": {"p": {"name": {"text_box": "Ann"}, "age": {"": "33"}}}}

    intake = read_files(states(tmp_path, change))
    assert "name" not in intake.judgments.participants.columns
    assert intake.judgments.participants["age"][0] == "33"
    assert noted(intake.notes, "potato.survey_left_out")["columns"] == ["name"]


def test_labels_of_a_header_in_capitals_are_answers(tmp_path):
    header, *rows = TABLE.read_text(encoding="utf-8").splitlines()
    path = tmp_path / "annotations.csv"
    path.write_text("\n".join([header.upper(), *rows]), encoding="utf-8")
    as_it_is, capitals = (read_files([file]).judgments.frame for file in (TABLE, path))
    assert capitals.height == as_it_is.height
    answers = dict(zip(capitals["question"], capitals["response"], strict=True))
    assert answers["ACCEPTABLE"] in ("YES", "NO")
