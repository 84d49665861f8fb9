"""The layout in which Pieper, Börner and Kiss published their data; the rows here are made up."""

from pathlib import Path

import pytest

import karat
from intake.cases import aside, noted
from karat.errors import IntakeError
from karat.intake import read_files
from karat.intake.readers.eligibility_screening import recognises
from karat.judgments.source import SourceFile
from messages import codes, refuses

FIXTURES = Path(__file__).parent / "fixtures"
CHOICE = [FIXTURES / "eligibility_screening_choice" / f"ForcedChoice_{kind}.csv" for kind in ("filler", "test")]
RATING = [FIXTURES / "eligibility_screening_rating" / f"LikertSkala_{kind}.csv" for kind in ("filler", "test")]


def test_choices():
    intake = read_files(CHOICE)
    frame = intake.judgments.frame.sort("participant", "trial")
    columns = ("participant", "trial", "item", "left", "right", "response", "expected", "function", "rt")
    assert frame.select(columns).rows() == [
        ("12", 1, "f91_1_2", "f91_2", "f91_1", None, "right", "calibration", None),
        ("12", 2, "f92_1_3", "f92_3", "f92_1", "right", "right", "control", 2.75),
        ("12", 3, "t91_1_2", "t91_2", "t91_1", "left", None, "test", 5.12),
        ("7", 1, "f91_1_2", "f91_1", "f91_2", "left", "left", "calibration", 8.21),
        ("7", 2, "t91_1_2", "t91_1", "t91_2", "left", None, "test", 7.69),
        ("7", 3, "f92_1_3", "f92_3", "f92_1", "left", "right", "control", 4.105),
        ("7", 4, "f93_1_2", "f93_2", "f93_1", "right", "right", "attention", 3.99),
    ]
    assert intake.judgments.scale == karat.Choice()
    assert (intake.units_in, aside(intake)) == (7, {})


def test_choices_keep_what_the_design_says():
    frame = read_files(CHOICE).judgments.frame
    assert frame["subgroup"].drop_nulls().unique().sort().to_list() == [
        "pseudo_windef",
        "related",
        "unrelated (pseudo_TEMP)",
    ]
    test = frame.filter(function="test").sort("participant")
    assert test["ADVERBIAL_TYPE"].to_list() == ["LOC", "LOC"]
    assert test["INTEGRATION"].to_list() == ["high", "high"]
    assert test["ANSWER"].to_list() == ["OBJ>PP", "PP>OBJ"]
    assert test["PRESENTATION_ORDER"].to_list() == ["OBJ>PP >> PP>OBJ", "PP>OBJ >> OBJ>PP"]
    assert test["ENCODING"].to_list() == ["t91", "t91"]


def test_ratings():
    intake = read_files(RATING)
    frame = intake.judgments.frame.sort("participant", "trial")
    columns = ("participant", "trial", "item", "response", "status", "expected", "function", "rt", "ANSWER_LABEL")
    assert frame.select(columns).rows() == [
        ("301", 1, "f81_1", "5", "grammatical", "3-5", "calibration", 6.12, "vollkommen natürlich"),
        ("301", 2, "t81_2", "2", None, None, "test", 4.3, "eher unnatürlich"),
        ("301", 3, "f82_2", "1", "ungrammatical", "1-2", "attention", 3.02, "vollkommen unnatürlich"),
        ("301", 4, "f83_3", "3", "marked", None, "filler", 2.21, "keine Tendenz"),
        ("318", 1, "f82_2", "4", "ungrammatical", "1-2", "attention", 0.81, "eher natürlich"),
    ]
    assert intake.judgments.scale == karat.Ordinal(5)
    assert noted(intake.notes, "eligibility_screening.no_function") == {"file": "LikertSkala_test.csv"}


def test_the_test_file_may_have_functions(tmp_path):
    lines = RATING[1].read_text(encoding="utf-8").splitlines()
    path = tmp_path / "LikertSkala_test.csv"
    path.write_text(f'{lines[0]},"ITEM_FUNCTION"\n{lines[1]},"test"\n', encoding="utf-8")
    intake = read_files([RATING[0], path])
    assert intake.judgments.frame.filter(function="test")["expected"].to_list() == [None]
    assert "eligibility_screening.no_function" not in codes(intake.notes)


def test_both_experiments_are_told_apart_by_question():
    intake = read_files([*CHOICE, *RATING])
    assert intake.judgments.scales == {"forced choice": karat.Choice(), "rating": karat.Ordinal(5)}
    assert intake.judgments.frame["question"].value_counts(sort=True).rows() == [("forced choice", 7), ("rating", 5)]


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        (",3020,", ",fast,", ["line 3, rt", "fast"]),
        (",13450,2", ",13450,two", ["line 3, trial", "two"]),
        ('"attention"', '"atention"', ["line 3, function", "atention", "attention"]),
        (',3,"keine', ',6,"keine', ["line 4, response", "6"]),
    ],
)
def test_bad_cells_are_named(tmp_path, old, new, names):
    path = tmp_path / "LikertSkala_filler.csv"
    path.write_text(RATING[0].read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with refuses(IntakeError, path.name, *names):
        read_files([path])


def test_a_missing_column_is_named(tmp_path):
    path = tmp_path / "filler.csv"
    path.write_text(RATING[0].read_text(encoding="utf-8").replace("trial_index", "index"), encoding="utf-8")
    with refuses(IntakeError, "filler.csv", "trial_index", "--from table"):
        read_files([path], "eligibility-screening")


@pytest.mark.parametrize("header", ["workerId,itemId,ANSWER,rt", "", "\xff\0"])
def test_other_tables_are_not_claimed(header):
    assert not recognises(SourceFile(Path("x.csv"), content=header.encode("latin-1") + b"\n"))
