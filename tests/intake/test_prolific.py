"""Prolific's export of submissions: people, not judgments."""

from pathlib import Path

import polars as pl
import pytest

from intake.cases import aside, noted
from karat import screen
from karat.errors import IntakeError
from karat.intake import read_files
from karat.intake.readers.prolific import recognises
from karat.judgments.source import SourceFile
from messages import refuses

FIXTURES = Path(__file__).parent / "fixtures"
NEW = [FIXTURES / "prolific" / name for name in ("prolific_export_66f0.csv", "judgments.csv")]
OLD = [FIXTURES / "prolific_old" / name for name in ("prolific_old_export.csv", "answers.csv")]


def test_people_without_answers_stay_visible():
    intake = read_files(NEW)
    people = intake.judgments.participants
    assert people["participant"].to_list() == [f"5e90aaaa000{number}" for number in range(1, 6)]
    assert people["status"].to_list() == ["APPROVED", "RETURNED", "AWAITING REVIEW", "APPROVED", "REJECTED"]
    assert "5e90aaaa0002" not in intake.judgments.frame["participant"].to_list()
    assert aside(intake) == {"aside.descriptions": 6}
    assert intake.units_in == 14
    assert "1 more participant listed without an answer" in intake.judgments.summary()


def test_columns_are_renamed_and_prescreeners_kept():
    first = read_files(NEW).judgments.participants.row(0, named=True)
    assert first["submission"] == "66f0aa01"
    assert first["started"].isoformat() == "2026-04-11T09:00:01.120000+00:00"
    assert first["finished"].isoformat() == "2026-04-11T09:10:31.540000+00:00"
    assert first["working_time"] == 631.0
    assert first["completion_code"] == "C1AA"
    assert (first["Fluent languages"], first["Age"], first["Total approvals"]) == ("German, English", 25, 389)


def test_withheld_cells_are_missing_and_counted():
    intake = read_files(NEW)
    people = intake.judgments.participants
    assert people.filter(participant="5e90aaaa0002").select("Age", "Sex", "Student status").row(0) == (None, None, None)
    assert people["Age"].dtype == pl.Int64
    lines = [note.values for note in intake.notes if note.code == "prolific.withheld"]
    assert [(one["n"], one["word"]) for one in lines] == [(3, "CONSENT_REVOKED"), (1, "DATA_EXPIRED")]
    assert {one["file"] for one in lines} == {"prolific_export_66f0.csv"}


def test_of_several_submissions_the_most_advanced_counts():
    intake = read_files(NEW)
    person = intake.judgments.participants.filter(participant="5e90aaaa0004").row(0, named=True)
    assert (person["status"], person["submission"], person["submissions"]) == ("APPROVED", "66f0aa05", 2)
    assert noted(intake.notes, "prolific.several_submissions") == {"n": 1}


def test_participants_without_a_completed_submission_are_counted(tmp_path):
    everyone = read_files(NEW)
    expected = {"participants": 4, "missing": 0, "n": 1, "column": None}
    assert noted(everyone.notes, "prolific.discrepancies") == expected
    assert everyone.judgments.frame["participant"].n_unique() == 4
    lines = NEW[0].read_text(encoding="utf-8").splitlines()
    export = tmp_path / NEW[0].name
    export.write_text("\n".join([*lines[:2], lines[3].replace("AWAITING REVIEW", "TIMED-OUT")]), encoding="utf-8")
    assert noted(read_files([export, NEW[1]]).notes, "prolific.discrepancies") == expected | {"missing": 2}
    export.write_text("\n".join(lines[:3]).replace("5e90aaaa0", "5e90bbbb0"), encoding="utf-8")
    values = expected | {"missing": 4, "n": 0, "column": "NAME"}
    assert noted(read_files([export, NEW[1]]).notes, "prolific.discrepancies") == values
    export.write_text("\n".join(lines).replace("REJECTED", "APPROVED"), encoding="utf-8")
    assert "prolific.discrepancies" not in [note.code for note in read_files([export, NEW[1]]).notes]


def test_exports_of_two_studies_count_together(tmp_path):
    text = NEW[0].read_text(encoding="utf-8").splitlines()
    again = tmp_path / "prolific_export_77.csv"
    again.write_text("\n".join([text[0], text[2].replace("66f0aa02", "77aa").replace("RETURNED", "APPROVED")]) + "\n")
    person = read_files([*NEW, again]).judgments.participants.filter(participant="5e90aaaa0002").row(0, named=True)
    assert (person["status"], person["submission"], person["submissions"]) == ("APPROVED", "77aa", 2)


def test_old_wording_of_the_header():
    intake = read_files(OLD)
    people = intake.judgments.participants
    assert people["participant"].to_list() == ["5b0001", "5b0002", "5b0003"]
    assert people["status"].to_list() == ["Approved", "Returned", "Timed-Out"]
    assert people["working_time"].to_list() == [480.1, None, None]
    assert people["completion_code"].to_list() == ["XYZ1", None, None]
    assert people["submission"].to_list() == ["5d01", "5d02", "5d03"]
    assert people["finished"][0].isoformat() == "2019-06-03T10:08:00.100000+00:00"
    assert {"age", "prolific_score", "First Language"} <= set(people.columns)


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        (",631,", ",soon,", ["line 2, working_time", "soon"]),
        ("2026-04-11T09:01:00.000000Z", "yesterday", ["line 3, started", "yesterday"]),
        ("5e90aaaa0005", "", ["line 7, participant"]),
    ],
)
def test_bad_cells_are_named(tmp_path, old, new, names):
    path = tmp_path / "export.csv"
    path.write_text(NEW[0].read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with refuses(IntakeError, "export.csv", *names):
        read_files([path, NEW[1]])
    intake = read_files([path, NEW[1]], skip_bad=True)
    assert (aside(intake), intake.skipped_units, intake.units_in) == ({"aside.descriptions": 5}, 1, 14)


def test_export_alone_has_no_judgments():
    with refuses(IntakeError, NEW[0].name):
        read_files(NEW[:1])


def test_personal_columns_are_left_out(tmp_path):
    path = tmp_path / "export.csv"
    path.write_text("Submission id,Participant id,Status,Started at,Email\n1,5b0001,APPROVED,,a@example.org\n")
    intake = read_files([path, OLD[1]])
    assert "Email" not in intake.judgments.participants.columns
    assert noted(intake.notes, "personal.left_out") == {"file": "export.csv", "n": 1, "columns": ["Email"]}


@pytest.mark.parametrize(
    "header",
    [
        "participant_id,status,rt",
        "Participant id,Submission id,rt",
        "participant_id,session_id,status,time_taken,item,response",
        "",
        "\0\0",
    ],
)
def test_other_tables_are_not_claimed(header):
    assert not recognises(SourceFile(Path("x.csv"), content=header.encode() + b"\n1,2,3\n"))


def test_authenticity_checks_are_kept_and_used(tmp_path):
    text = NEW[0].read_text(encoding="utf-8").splitlines()
    cells = ["LLM authenticity check", "Low", "High", "Mixed", "", "Low", *[""] * len(text)]
    file = tmp_path / NEW[0].name
    file.write_text(
        "\n".join(f"{line},{cell}" for line, cell in zip(text, cells, strict=False)) + "\n", encoding="utf-8"
    )
    judgments = read_files([file, NEW[1]]).judgments
    assert "LLM authenticity check" in judgments.participants.columns
    assert "5e90aaaa0001" in screen.platform_flags(judgments).flagged
