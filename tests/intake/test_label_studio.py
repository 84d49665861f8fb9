"""Label Studio's nested JSON and its flat exports."""

import json
from pathlib import Path

import pytest

import karat
from intake.cases import aside, noted
from karat.errors import IntakeError
from karat.intake import Options, read_files
from karat.intake.readers.label_studio import recognises
from karat.judgments.source import SourceFile
from messages import codes, refuses

FIXTURES = Path(__file__).parent / "fixtures"
NESTED = FIXTURES / "label_studio" / "project-4-export.json"
PAIRS = FIXTURES / "label_studio_pairwise" / "pairs.json"
CSV = FIXTURES / "label_studio_csv" / "project-5.csv"
MIN = FIXTURES / "label_studio_min" / "project-6-min.json"


def changed(tmp_path, change):
    """The nested export after a change to its tasks."""
    tasks = json.loads(NESTED.read_text(encoding="utf-8"))
    change(tasks)
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return path


def test_results_become_answers_by_question():
    intake = read_files([NESTED])
    columns = ("participant", "item", "question", "response", "rt", "trial")
    assert intake.judgments.frame.select(columns).rows() == [
        ("11", "101", "acceptable", "yes", 12.25, 2),
        ("11", "101", "naturalness", "5", 12.25, 2),
        ("12", "101", "acceptable", "no", 7.5, 1),
        ("12", "101", "naturalness", "2", 7.5, 1),
        ("11", "102", "naturalness", "1", 3.0, 1),
        ("annotator_1", "102", "acceptable", "no", None, 1),
    ]
    assert intake.judgments.scales == {"acceptable": karat.Binary(("no", "yes")), "naturalness": karat.Ordinal(5)}


def test_what_is_no_judgment_is_set_aside():
    intake = read_files([NESTED])
    assert intake.units_in == 12
    assert aside(intake) == {
        "aside.predictions": 1,
        "aside.results_of_type textarea": 1,
        "aside.results_of_type labels": 1,
        "aside.several_choices": 1,
        "aside.skipped_annotations": 1,
        "aside.ground_truth": 1,
    }


def test_ground_truth_is_expected_of_its_task_and_question():
    frame = read_files([NESTED]).judgments.frame
    result = frame.filter(frame["expected"].is_not_null())
    assert result.select("participant", "item", "question", "expected").rows() == [
        ("annotator_1", "102", "acceptable", "no")
    ]
    assert "1" not in frame["participant"].to_list()


def test_addresses_and_names_do_not_come_in():
    intake = read_files([NESTED])
    assert "@" not in intake.judgments.frame.write_csv()
    assert "Bo" not in intake.judgments.frame["participant"].to_list()
    assert "annotators.renamed" in codes(intake.notes)


def test_times_and_fields_of_the_task():
    intake = read_files([NESTED])
    first = intake.judgments.frame.row(0, named=True)
    assert first["time"].isoformat() == "2026-03-01T10:00:20.500000+00:00"
    assert (first["text"], first["item_"], first["meta"]) == ("Der Hund schläft gern.", "s1", '{"length": 4}')
    assert first["annotation_id"] == "9001"
    assert "label_studio.lead_time" in codes(intake.notes)


def test_a_field_of_the_task_can_name_the_item():
    frame = read_files([NESTED], options=Options(mapping={"item": "item_"})).judgments.frame
    assert frame["item"].to_list() == ["s1", "s1", "s1", "s1", "s2", "s2"]


def test_pairwise_is_a_choice():
    intake = read_files([PAIRS])
    assert intake.judgments.frame["response"].to_list() == ["left", "right"]
    assert intake.judgments.scale == karat.Choice()
    assert "question" not in intake.judgments.frame.columns
    assert aside(intake) == {"aside.empty_annotations": 1, "aside.unannotated_tasks": 1}


def test_csv_export():
    intake = read_files([CSV])
    columns = ("participant", "item", "question", "response", "rt", "trial", "text")
    assert intake.judgments.frame.select(columns).rows() == [
        ("annotator_1", "201", "naturalness", "4", 4.5, 1, "Schön, das Wetter"),
        ("annotator_1", "201", "sentiment", "positive", 4.5, 1, "Schön, das Wetter"),
        ("annotator_2", "201", "naturalness", "5", 6.25, 1, "Schön, das Wetter"),
        ("annotator_2", "201", "sentiment", "negative", 6.25, 1, "Schön, das Wetter"),
        ("annotator_1", "202", "naturalness", None, 2.75, 2, "=1+1 regnet"),
        ("annotator_1", "202", "sentiment", "negative", 2.75, 2, "=1+1 regnet"),
        ("annotator_2", "202", "naturalness", "1", 3.0, 2, "=1+1 regnet"),
    ]
    assert aside(intake) == {"aside.several_choices": 1}
    assert noted(intake.notes, "label_studio.answers")["columns"] == ["naturalness", "sentiment"]


def test_csv_column_of_answers_can_be_reported():
    frame = read_files([CSV], options=Options(mapping={"response": "sentiment"})).judgments.frame
    assert frame["response"].to_list() == ["positive", "negative", "negative"]
    assert "question" not in frame.columns


def test_json_min_export():
    intake = read_files([MIN])
    assert intake.judgments.frame.select("participant", "item", "question", "response", "rt").rows() == [
        ("2", "301", "acceptable", "yes", 5.5),
        ("2", "301", "score", "70", 5.5),
        ("2", "302", "acceptable", "no", 8.0),
        ("2", "302", "score", "15.5", 8.0),
    ]


def test_csv_that_does_not_tell_its_answers(tmp_path):
    path = tmp_path / "flat.csv"
    path.write_text("annotation_id,annotator,id,lead_time,mood,text\n1,2,3,4,good,Hallo\n2,2,4,4,bad,Na\n")
    with refuses(IntakeError, "flat.csv", "--map response=NAME", "mood, text"):
        read_files([path])
    result = read_files([path], options=Options(mapping={"response": "mood"}))
    assert result.judgments.frame["response"].to_list() == ["good", "bad"]


def test_answers_about_regions_and_repeated_questions(tmp_path):
    def change(tasks):
        results = tasks[0]["annotations"][0]["result"]
        results.append({**results[1], "value": {"rating": 1}})
        results.append({**results[1], "from_name": "part", "value": {"rating": 1, "start": 0, "end": 2}})

    intake = read_files([changed(tmp_path, change)])
    assert aside(intake)["aside.further_answers"] == 1
    assert aside(intake)["aside.part_of_task"] == 1
    assert len(intake.judgments) == 6


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda tasks: tasks[0].update(annotations="none"), ["element 1", 101]),
        (lambda tasks: tasks.insert(1, 7), ["element 2", 7]),
        (lambda tasks: tasks[1]["annotations"].append(None), ["element 2"]),
        (lambda tasks: tasks[1]["annotations"][0].update(result={}), ["element 2", "{}"]),
        (lambda tasks: tasks[0]["annotations"][0]["result"].append("yes"), ["element 1", "yes"]),
        (
            lambda tasks: tasks[0]["annotations"][0]["result"][1].update(value={"rating": {"a": 1}}),
            ["element 1", '{"rating": {"a": 1}}'],
        ),
        (lambda tasks: tasks[0]["annotations"][0].pop("completed_by"), ["element 1, participant"]),
    ],
)  # fmt: skip
def test_wrong_types_are_named(tmp_path, change, names):
    path = changed(tmp_path, change)
    with refuses(IntakeError, "export.json", *names):
        read_files([path])
    intake = read_files([path], skip_bad=True)
    assert intake.units_in == len(intake.judgments) + sum(intake.set_aside.values()) + intake.skipped_units


def test_a_cut_file_is_an_error(tmp_path):
    path = tmp_path / "cut.json"
    path.write_text(NESTED.read_text(encoding="utf-8")[:2000], encoding="utf-8")
    with refuses(IntakeError, "cut.json", "element 1", "line 21, column 62"):
        read_files([path])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", b'[{"annotations": [], "images": []}]'),
        ("a.json", b'[{"rt": 12, "trial_type": "html-button-response"}]'),
        ("a.csv", b"annotator,lead_time,label\n"),
        ("a.json", b"\0\xff{"),
        ("a.json", b""),
    ],
)
def test_other_files_are_not_claimed(name, content):
    assert not recognises(SourceFile(Path(name), content=content))
