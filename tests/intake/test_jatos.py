"""Results of JATOS: the archive with its metadata, the plain text, and archives that must be refused."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from intake.cases import aside, noted
from karat.errors import IntakeError
from karat.intake import Intake, read_files
from karat.intake.readers.jatos import recognises
from karat.judgments.source import SourceFile
from messages import codes, refuses

FIXTURES = Path(__file__).parent / "fixtures"
DATA = "study_result_{0}/comp_result_{1}/data.txt"


def rows(intake: Intake, *columns: str) -> list[tuple[Any, ...]]:
    return intake.judgments.frame.select(columns).rows()


def trials(*answers: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {"trial_type": "html-button-response", "trial_index": i, "time_elapsed": 1000 * i, "rt": 500, "item": f"i{i}",
         "response": answer, **more}
        for i, answer in enumerate(answers)
    ]  # fmt: skip


def archive(path: Path, members: dict[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name, content if isinstance(content, str | bytes) else json.dumps(content))
    return path


def metadata(*results: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "1.0.1", "data": [{"studyId": 1, "studyResults": list(results)}]}


def test_the_archive_with_its_metadata() -> None:
    intake = read_files([FIXTURES / "jatos" / "jatos_results.jrzip"])
    assert rows(intake, "participant", "item", "response", "trial", "rt", "study_result") == [
        ("5f00aa", "w1", "1", 1, 1.5, 101),
        ("5f00aa", "w2", "0", 2, 1.25, 101),
        ("5f00bb", "w2", "1", 1, 2.1, 102),
        ("33", "w2", "0", 1, 1.9, 103),
        ("33", "w1", "1", 2, None, 103),
    ]
    assert aside(intake) == {"aside.no_jspsych": 1, "aside.instructions": 3}
    unfinished = noted(intake.notes, "jatos.unfinished")
    assert (unfinished["n"], unfinished["results"]) == (2, 4)
    assert unfinished["names"].values["names"] == ["5f00bb (DATA_RETRIEVED)", "5f00cc (STARTED)"]
    assert noted(intake.notes, "jatos.other_files")["n"] == 1
    assert noted(intake.notes, "jatos.participant_in_link") == {"name": "PROLIFIC_PID"}
    assert "jatos.worker_ids" in codes(intake.notes)


def test_the_people_of_the_archive_those_without_data_included() -> None:
    people = read_files([FIXTURES / "jatos" / "jatos_results.jrzip"]).judgments.participants
    assert people.select("participant", "study_state", "worker_id", "working_time", "STUDY_ID").rows() == [
        ("5f00aa", "FINISHED", "31", 300.0, "s9"),
        ("5f00bb", "DATA_RETRIEVED", "32", 4.0, None),
        ("33", "FINISHED", "33", 240.5, None),
        ("5f00cc", "STARTED", "34", None, None),
    ]
    assert people["started"][0] == datetime(2024, 5, 3, 9, 55, 1, tzinfo=UTC)
    assert people["finished"].to_list()[1] is None


def test_the_plain_text_with_one_result_a_line() -> None:
    intake = read_files([FIXTURES / "jatos_text" / "results.txt"])
    assert rows(intake, "participant", "item", "response", "trial") == [
        ("results-1", "w1", "1", 1),
        ("results-1", "w2", "0", 2),
        ("results-2", "w2", "1", 1),
        ("results-2", "w1", "0", 2),
    ]
    assert aside(intake) == {"aside.no_jspsych": 1, "aside.instructions": 2}
    assert "jatos.plain_text" in codes(intake.notes)


def test_the_plain_text_with_tables_of_different_columns() -> None:
    intake = read_files([FIXTURES / "jatos_tables" / "results.txt"])
    assert rows(intake, "participant", "item", "response", "prompt_shown") == [
        ("results-1", "w1", "1", None),
        ("results-2", "w2", "0", "yes"),
        ("results-2", "w1", "1", "yes"),
    ]


def test_lines_of_tables_are_counted_from_the_top_of_the_file(tmp_path: Path) -> None:
    text = (FIXTURES / "jatos_tables" / "results.txt").read_text(encoding="utf-8")
    path = tmp_path / "results.txt"
    path.write_text(text.replace('"900"', '"soon"'), encoding="utf-8")
    number = next(n for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if '"soon"' in line)
    with refuses(IntakeError, f"line {number}, rt", "soon"):
        read_files([path])
    lines = text.splitlines()
    path.write_text("\n".join([*lines[:-1], '"cut"']), encoding="utf-8")
    with refuses(IntakeError, f"line {len(lines)}", "--skip-bad"):
        read_files([path])


def test_one_line_is_left_to_jspsych(tmp_path: Path) -> None:
    path = tmp_path / "results.txt"
    path.write_text(json.dumps(trials(0, 1)) + "\n", encoding="utf-8")
    assert read_files([path]).sources == (("results.txt", "data of jsPsych"),)


def test_a_broken_line_is_named_and_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "results.txt"
    lines = [json.dumps(trials(0, 1)), json.dumps(trials(1, 0))[:-9] + "]", json.dumps(trials(1, 1))]
    path.write_text("\n".join(lines), encoding="utf-8")
    with refuses(IntakeError, "results.txt", "line 2", "line 1, column 223"):
        read_files([path], "jatos")
    intake = read_files([path], "jatos", skip_bad=True)
    assert (intake.judgments.frame.height, intake.skipped_units) == (4, 1)


def test_an_id_in_the_data_goes_before_the_worker_id(tmp_path: Path) -> None:
    members = {
        "metadata.json": metadata({"id": 1, "workerId": 9, "studyState": "FINISHED"}),
        DATA.format(1, 1): trials(0, 1, subject_id="s1"),
    }
    intake = read_files([archive(tmp_path / "r.zip", members)])
    assert rows(intake, "participant") == [("s1",), ("s1",)]
    assert intake.judgments.participants.select("participant", "worker_id").rows() == [("s1", "9")]


def test_an_archive_without_metadata(tmp_path: Path) -> None:
    members = {DATA.format(10, 2): trials(1, 0), DATA.format(9, 1): trials(0, 1)}
    intake = read_files([archive(tmp_path / "r.zip", members)])
    assert intake.judgments.frame["participant"].to_list() == ["result 9"] * 2 + ["result 10"] * 2
    assert "jatos.no_metadata" in codes(intake.notes)


def test_two_results_of_one_person_are_reported(tmp_path: Path) -> None:
    link = {"urlQueryParameters": {"PROLIFIC_PID": "p"}}
    members = {
        "metadata.json": metadata(
            {"id": 1, "studyState": "ABORTED", **link}, {"id": 2, "studyState": "FINISHED", **link}
        ),
        DATA.format(1, 1): trials(0, 1),
        DATA.format(2, 2): trials(1, 1),
    }
    intake = read_files([archive(tmp_path / "r.zip", members)])
    assert intake.judgments.frame["trial"].to_list() == [1, 2, 3, 4]
    assert intake.judgments.participants.select("participant", "study_state").rows() == [("p", "FINISHED")]
    assert noted(intake.notes, "jatos.several_results")["names"].values["names"] == ["p"]


def test_prolific_status_shows_despite_the_studys_state(tmp_path: Path) -> None:
    link = {"urlQueryParameters": {"PROLIFIC_PID": "p1"}}
    members = {
        "metadata.json": metadata({"id": 1, "studyState": "FINISHED", "startDate": 1714730101000, **link}),
        DATA.format(1, 1): trials(0, 1),
    }
    export = tmp_path / "export.csv"
    export.write_text("Submission id,Participant id,Status,Started at\ns1,p1,RETURNED,2024-05-03T09:50:00Z\n")
    for paths in ([archive(tmp_path / "r.zip", members), export], [export, tmp_path / "r.zip"]):
        people = read_files(paths).judgments.participants
        assert people.select("status", "study_state").rows() == [("RETURNED", "FINISHED")]
        assert people["started"].dtype.is_temporal()


def test_addresses_in_the_link_do_not_become_participants(tmp_path: Path) -> None:
    members = {
        "metadata.json": metadata({"id": 1, "urlQueryParameters": {"participant": "ann@example.org"}}),
        DATA.format(1, 1): trials(0, 1),
    }
    intake = read_files([archive(tmp_path / "r.zip", members)])
    assert intake.judgments.participants["participant"].to_list() == ["annotator_1"]
    assert "example.org" not in str(intake.judgments.frame.rows()) + str(intake.judgments.participants.rows())


def test_an_empty_result_and_other_text(tmp_path: Path) -> None:
    members = {DATA.format(1, 1): "", DATA.format(2, 2): "agreed", DATA.format(3, 3): trials(0, 1)}
    intake = read_files([archive(tmp_path / "r.zip", members)])
    assert aside(intake) == {"aside.no_jspsych": 1}
    assert intake.units_in == 3


def test_a_broken_result_does_not_hide_the_others(tmp_path: Path) -> None:
    members = {DATA.format(1, 1): '[{"trial_type": ', DATA.format(2, 2): trials(0, 1)}
    path = archive(tmp_path / "r.zip", members)
    with refuses(IntakeError, "r.zip", "data.txt", "line 1, column 17"):
        read_files([path])
    assert read_files([path], skip_bad=True).judgments.frame.height == 2


@pytest.mark.parametrize("about", [[], {"data": 3}, {"data": [{"studyResults": [7]}]}, "text", {"data": [None]}])
def test_metadata_of_a_wrong_shape(tmp_path: Path, about: Any) -> None:
    members = {"metadata.json": json.dumps(about), DATA.format(1, 1): trials(0, 1)}
    with refuses(IntakeError, "r.zip/metadata.json", "studyResults"):
        read_files([archive(tmp_path / "r.zip", members)])


@pytest.mark.parametrize("name", ["../evil.txt", "/etc/evil.txt", "a/../../evil.txt", "..\\evil.txt", "C:\\evil.txt"])
def test_members_that_point_outside_are_refused(tmp_path: Path, name: str) -> None:
    path = archive(tmp_path / "r.zip", {"metadata.json": metadata(), name: "x"})
    with refuses(IntakeError, "r.zip", "evil.txt"):
        read_files([path])


def test_a_zip_bomb_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "r.zip", {DATA.format(1, 1): b" " * (40 * 1024**2)})
    with refuses(IntakeError, "r.zip", DATA.format(1, 1), f"{40 * 1024**2:,} bytes"):
        read_files([path])


def test_a_member_that_grows_beyond_its_claim_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "r.zip", {DATA.format(1, 1): trials(*[0, 1] * 200)})
    content = bytearray(path.read_bytes())
    entry = content.find(b"PK\x01\x02")
    content[entry + 24 : entry + 28] = (10).to_bytes(4, "little")
    path.write_bytes(content)
    with pytest.raises(IntakeError):
        read_files([path])


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.jrzip"
    path.write_bytes((FIXTURES / "jatos" / "jatos_results.jrzip").read_bytes()[:400])
    with refuses(IntakeError, "results.jrzip"):
        read_files([path])


@pytest.mark.parametrize(
    "content", [b"", b"PK", b"PK\x03\x04" + b"\0" * 50, b"[1]\n[2]\n", b'[{"trial_type":1}]', b"\xff"]
)
def test_other_bytes_are_not_taken(content: bytes) -> None:
    assert not recognises(SourceFile(Path("x.zip"), content=content))


def test_other_archives_are_not_taken(tmp_path: Path) -> None:
    assert not recognises(SourceFile(archive(tmp_path / "r.zip", {"data.csv": "a,b\n"})))
