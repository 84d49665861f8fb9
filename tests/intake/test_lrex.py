"""L-Rex: one row per item with a column per rating, and the list of trials beside it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from intake.cases import aside, noted
from karat.errors import IntakeError
from karat.intake import Intake, Options, read_files
from karat.judgments.scales import Ordinal
from messages import codes, refuses

LREX = Path(__file__).parent / "fixtures" / "lrex"
OLD = Path(__file__).parent / "fixtures" / "lrex_old" / "results.csv"


def both() -> Intake:
    return read_files([LREX / "results.csv", LREX / "trials.csv"])


def test_each_rating_is_an_answer_to_its_question() -> None:
    intake = both()
    frame = intake.judgments.frame
    assert intake.unit == "cells"
    assert frame["question"].to_list() == ["rating1"] * 6 + ["rating2"] * 6
    assert frame["response"].to_list() == ["6", "3", "7", "2", "5", "7", "2", None, "1", "5", "4", "1"]
    assert frame["trial"].to_list() == [2, 1, 3, 1, 3, 2] * 2
    assert intake.judgments.scales == {"rating1": Ordinal(7), "rating2": Ordinal(5)}


def test_items_carry_their_materials_and_fillers_their_function() -> None:
    frame = both().judgments.frame
    assert frame["item"].to_list()[:3] == ["islands-1", "islands-2", "fillers-1"]
    assert frame["function"].to_list()[:3] == ["test", "test", "filler"]
    assert frame["condition"].to_list()[:3] == ["a", "b", "a"]


def test_quoted_semicolons_quotes_and_formulas_are_text() -> None:
    frame = both().judgments.frame
    assert frame["content"][0] == "Which boat; if any, did the crew sink?"
    assert frame["comment1"][1] == 'sounds "odd"'
    assert frame["comment2"][5] == "+great"


def test_test_trials_of_the_researchers_are_set_aside() -> None:
    assert aside(both()) == {
        "aside.own_test_trials": 2,
        "aside.listed_participants": 2,
    }


def test_the_list_of_trials_names_and_describes_participants() -> None:
    intake = both()
    first, second = "5f1a2b3c4d5e6f7a8b9c0d1e", "60aa2b3c4d5e6f7a8b9c0d99"
    people = intake.judgments.participants
    assert people["participant"].to_list() == [first, second]
    assert people["started"].to_list()[0] == datetime(2023, 5, 3, 12, tzinfo=UTC)
    assert people["finished"].to_list() == [datetime(2023, 5, 3, 12, 9, 30, tzinfo=UTC), None]
    assert people["working_time"].to_list() == [570.0, None]
    assert people["demographic2"].to_list() == ["German", "English"]
    assert intake.judgments.frame["number"].to_list()[:4] == ["1", "1", "1", "2"]
    assert "lrex.ids" in codes(intake.notes)


def test_the_number_can_be_mapped_back() -> None:
    options = Options(mapping={"participant": "number"})
    intake = read_files([LREX / "results.csv", LREX / "trials.csv"], options=options)
    assert sorted(set(intake.judgments.frame["participant"])) == ["1", "2"]


def test_ids_that_may_be_names_are_left_out(tmp_path: Path) -> None:
    trials = (LREX / "trials.csv").read_text().replace("5f1a2b3c4d5e6f7a8b9c0d1e", "Anna Meier")
    (tmp_path / "trials.csv").write_text(trials)
    intake = read_files([LREX / "results.csv", tmp_path / "trials.csv"])
    assert intake.judgments.participants["participant"].to_list() == ["1", "2"]
    assert "Anna Meier" not in str(intake.judgments.participants)
    assert "lrex.ids_left_out" in codes(intake.notes)


def test_older_names_positions_from_0_and_missing_ratings() -> None:
    intake = read_files([OLD])
    frame = intake.judgments.frame
    assert intake.unit == "rows"
    assert frame["participant"].to_list() == ["anna", "anna", "bert", "bert"]
    assert frame["response"].to_list() == ["6", "3", "2", None]
    assert frame["trial"].to_list() == [1, 2, 1, 2]
    assert frame["item"].to_list() == ["1", "2", "1", "2"]
    assert frame["materials"].to_list() == ["islands"] * 4


def test_results_without_ratings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text("materials;participant;item;condition;position\nislands;1;1;a;1\n")
    with refuses(IntakeError, "results.csv", "rating1"):
        read_files([path], "lrex")


def test_a_short_row_is_named(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text(OLD.read_text() + "islands;carl;1\n")
    with refuses(IntakeError, "results.csv", "line 6", "3 cells"):
        read_files([path])


def test_a_list_of_trials_alone_has_no_judgments() -> None:
    with refuses(IntakeError, "trials.csv"):
        read_files([LREX / "trials.csv"])


def test_minus_one_is_missing_unless_the_scale_goes_further_down(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    header = "materials;participant;is_test_trial;item;condition;position;rating1;content\n"
    for ratings, read in ((("-1", "2"), [None, "2"]), (("-1", "-2"), ["-1", "-2"])):
        lines = [f"Exp;1;no;{number};a;{number};{rating};Text\n" for number, rating in enumerate(ratings)]
        path.write_text(header + "".join(lines), encoding="utf-8")
        intake = read_files([path], options=Options(scale=Ordinal(range(-2, 3))))
        assert intake.judgments.frame.select("trial", "response").rows() == list(enumerate(read, start=1))
        missing = [note.values for note in intake.notes if note.code == "lrex.never_rated"]
        assert missing == ([{"column": "rating1", "n": 1}] if read[0] is None else [])
        assert noted(intake.notes, "trial.from_zero") == {"column": "position"}
