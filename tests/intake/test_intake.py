"""From files to judgments: several files, guessed scales, what is left out."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import karat
from intake.cases import noted
from karat.cli.options import intake_lines
from karat.intake import read_files
from karat.intake.cells import filled_up
from karat.intake.guess import guess_columns, guess_scale
from karat.intake.readers import READERS, reader_named
from karat.judgments.scales import Scale
from messages import codes, refuses


@pytest.mark.parametrize(
    ("answers", "scale"),
    [
        (["0", "1"], karat.Binary()), (["1"], karat.Binary()), (["True", "False"], karat.Binary()),
        (["Yes", "No"], karat.Binary(("No", "Yes"))), (["left", "right"], karat.Choice()),
        (["left", "none"], karat.Choice(none=True)), (["1", "5", "3"], karat.Ordinal(5)),
        (["0", "10"], karat.Ordinal(range(11))), (["-3", "1"], karat.Ordinal(range(-3, 4))),
        (["2.0", "4"], karat.Ordinal(4)), (["0.5", "1"], karat.Continuous()), (["1", "100"], karat.Continuous()),
        (["b", "a", "c"], karat.Nominal(["a", "b", "c"])), (["same"], karat.Nominal(["same", "any other"])),
        ([], karat.Binary()),
    ],
)  # fmt: skip
def test_scales_are_guessed_with_a_sentence(answers: list[str], scale: Scale) -> None:
    guess, messages = guess_scale(pl.Series("response", [*answers, None], dtype=pl.String))
    assert guess == scale
    assert "--scale" in str(messages)
    for answer in answers:
        assert guess.read(answer) is not None


@pytest.mark.parametrize(("wrong", "scale"), [(2, karat.Ordinal(5)), (3, karat.Nominal([*"12345", "x"]))])
def test_a_typing_error_among_numbers_is_no_category(wrong: int, scale: Scale) -> None:
    answers = [str(1 + number % 5) for number in range(100 - wrong)] + ["x"] * wrong
    assert guess_scale(pl.Series(answers))[0] == scale


def test_a_typing_error_among_numbers_is_reported_with_its_line(tmp_path: Path) -> None:
    rows = [f"p{place % 5},i{place // 5},{1 + place % 7}" for place in range(100)]
    rows[40] = "p0,i8,x"
    (path := tmp_path / "a.csv").write_text("\n".join(["participant,item,response", *rows, ""]))
    with refuses(karat.IntakeError, "line 42, response"):
        read_files([path])
    assert read_files([path], skip_bad=True).judgments.scales[""] == karat.Ordinal(7)


def test_free_text_is_no_scale() -> None:
    with refuses(karat.IntakeError, 60, "--map response=NAME", "--scale"):
        guess_scale(pl.Series([f"text {i}" for i in range(60)]))


def test_reported_columns_win() -> None:
    assert guess_columns(["response", "rating"], {"response": "rating"}) == {"response": "rating"}
    assert guess_columns(["A", "B"], {}) == {}


def test_files_of_one_study_are_put_together(tmp_path: Path) -> None:
    for person in ("p1", "p2"):
        text = f"participant,item,response,trial\n{person},a,1,1\n{person},b,5,2\n"
        (tmp_path / f"{person}.csv").write_text(text)
    (tmp_path / ".hidden").write_text("no")
    whole = karat.read(tmp_path, scale=karat.Ordinal(5))
    assert whole == karat.read([tmp_path / "p1.csv", str(tmp_path / "p2.csv")], scale="ordinal:1-5")
    assert whole.frame["participant"].to_list() == ["p1", "p1", "p2", "p2"]


@pytest.mark.parametrize("path", [".", "../trials"])
def test_the_folder_one_is_in(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder := tmp_path / "trials").mkdir()
    (folder / "a.csv").write_text("participant,item,response\np1,x,yes\np1,y,no\n")
    monkeypatch.chdir(folder)
    assert karat.read(path).answers == 2


def test_a_study_file_is_no_file_of_results(tmp_path: Path) -> None:
    (path := tmp_path / "study.toml").write_text('title = "T"\n')
    with refuses(karat.IntakeError, f"--study {path}"):
        read_files([path])


def test_file_without_functions_has_test_items(tmp_path: Path) -> None:
    (tmp_path / "fillers.csv").write_text("participant,item,response,function\np1,f1,1,filler\n")
    (tmp_path / "tests.csv").write_text("participant,item,response\np1,t1,5\n")
    frame = karat.read([tmp_path / "fillers.csv", tmp_path / "tests.csv"]).frame
    assert frame["function"].to_list() == ["filler", "test"]


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "results.csv").write_text(f"participant,item,response\n{folder},a,x\n,b,y\n")
    with refuses(karat.IntakeError, "two/results.csv, line 3, participant"):
        karat.read(tmp_path)


def test_a_folder_of_a_study(tmp_path: Path) -> None:
    tables = 'items = ["items.csv", "fillers.csv"]\ntemplates = "frames.csv"\n'
    (tmp_path / "study.toml").write_text(f'[[block]]\ntask = "likert"\n{tables}')
    (tmp_path / "notes.toml").write_text("block = 1\n")
    for name in ("items.csv", "fillers.csv", "frames.csv", "plan/questionnaires.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("item,sentence\na,A.\n")
    with refuses(karat.IntakeError, str(tmp_path), "--study"):
        karat.read(tmp_path)
    (tmp_path / "results.csv").write_text("participant,item,response\np1,a,4\np1,b,2\n")
    judgments = karat.read(tmp_path)
    assert judgments.frame["item"].to_list() == ["a", "b"]
    assert noted(judgments.notes, "form.skipped_files")["n"] == 6


def test_a_folder_of_karats_own_files(tmp_path: Path) -> None:
    likert = karat.datasets.load("likert")
    likert.to_csv(tmp_path / "likert.csv")
    assert len(list(tmp_path.iterdir())) == 3
    assert karat.read(tmp_path) == likert


def test_foreign_table_of_participants_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("participant,item,response\np1,x,1\np1,y,2\n")
    (tmp_path / "a.participants.csv").write_text("participant,age\np1,31\n")
    assert karat.read(tmp_path).participants.select("participant", "age").rows() == [("p1", 31)]


def test_people_of_several_files_keep_columns_of_like_names(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("participant,item,response\np1,x,1\np1,y,2\n")
    export = "Submission id,Participant id,Status,Time taken,tongue{}\ns{},p1,APPROVED,60,{}\n"
    (tmp_path / "b.csv").write_text(export.format(",tongue", 1, "German,Dutch"))
    intake = read_files([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert intake.judgments.participants.select("tongue", "tongue_2").row(0) == ("German", "Dutch")
    first = pl.DataFrame({"participant": ["p1"], "x": [None], "x_2": ["old"]}, schema_overrides={"x": pl.String})
    second = pl.DataFrame({"participant": ["p1"], "x": ["new"]})
    assert filled_up(first, second).row(0) == ("p1", "new", "old")
    assert filled_up(first.drop("x"), second).row(0) == ("p1", "old", "new")


def test_columns_of_a_tools_table_can_be_swapped(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("task,worker,label,list,pair\nt1,w1,A,l1,q1\nt2,w1,B,l1,q2\n")
    read = karat.read(tmp_path / "a.csv", "crowdkit", {"item": "pair", "pair": "item"})
    assert read.frame.select("item", "pair").rows() == [("q1", "t1"), ("q2", "t2")]


def test_expected_answers_widen_a_guessed_scale(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("participant,item,response,expected\np1,a,1,4-5\np1,b,3,1|2\n")
    assert karat.read(path).scale == karat.Ordinal(5)


def test_problems_name_the_file_where_there_are_several(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("participant,item,response,trial\np1,a,1,1\n")
    (tmp_path / "b.csv").write_text("participant,item,response,trial\np1,a,1,1\np2,a,1,x\n")
    with refuses(karat.IntakeError, "a.csv, b.csv", "b.csv, line 2, trial", "b.csv, line 3, trial", "x"):
        karat.read(tmp_path)


def test_skipping_bad_rows_keeps_the_balance(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("participant,item,response,trial\np1,a,1,1\np1,b,9,2\np1,c\n,d,1,4\np1,e,2,5\np1,e,2,5\n")
    intake = read_files([path], "auto", karat.intake.Options(scale=karat.Ordinal(5)), skip_bad=True)
    assert intake.judgments.frame["item"].to_list() == ["a", "e"]
    assert (intake.units_in, intake.skipped_units) == (6, 4)
    assert len(intake.skipped) == 4


def test_the_judgments_say_what_was_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("participant,item,response,trial\np1,a,1,1\np1,b,9,2\np1,c\n,d,1,4\np1,e,2,5\n,e,2,5\n")
    values = noted(karat.read(path, scale=karat.Ordinal(5), skip_bad=True).notes, "intake.skipped")
    assert (values["n"], values["units_in"], values["unit"].code) == (4, 6, "unit.rows")
    kinds = [(one.values["column"], one.values["what"], str(one.values["rows"])) for one in values["reasons"]]
    assert sorted(kinds, key=str) == [
        ("participant", "is empty", "lines 5, 7"),
        ("response", "is not an answer on this scale, which has 1, 2, 3, 4, 5", "line 3"),
        (None, "the row has 2 cells where the header has 4", "line 4"),
    ]
    assert noted(karat.read(path, scale=karat.Ordinal(9), skip_bad=True).notes, "intake.skipped")["n"] == 3
    lines = intake_lines(read_files([path], skip_bad=True))
    assert len([line for line in lines if "could not be read" in line]) == 1  # the account says it once
    whole = tmp_path / "whole.csv"
    whole.write_text("participant,item,response\np1,a,1\np1,b,2\n")
    assert "intake.skipped" not in codes(karat.read(whole, skip_bad=True).notes)


def test_of_several_files_the_one_at_fault_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("participant,item,response\np1,a,1\n,b,1\n")
    (tmp_path / "b.csv").write_text("participant,item,response\np2,a,2\n" + ",b,1\n" * 30)
    values = noted(karat.read(tmp_path, skip_bad=True).notes, "intake.skipped")
    assert (values["n"], values["units_in"]) == (31, 33)
    places = [(one.values["file"], str(one.values["rows"])) for one in values["reasons"]]
    assert places[0] == ("a.csv", "line 3")
    assert set(places[1:]) == {("b.csv", "lines 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 20 more up to 32")}


def test_nothing_left_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("participant,item,response\n,a,1\n")
    with refuses(karat.IntakeError, "t.csv"):
        karat.read(path, skip_bad=True)
    path.write_text("participant,item,response\n")
    with refuses(karat.IntakeError, "t.csv"):
        karat.read(path)


def test_answers_that_name_the_chosen_item(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("participant,left,right,choice\np1,i1,i2,i2\np1,i3,i2,i3\n")
    read = karat.read(path)
    assert read.scale == karat.Choice()
    assert read.frame["response"].to_list() == ["right", "left"]
    assert "scale.sides" in codes(read.notes)


def test_answers_are_respelled_and_so_are_expected_ones(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("participant,item,response,expected\np1,a,1,2\np1,b,2,2\n")
    frame = karat.read(path, answers={"1": "no", "2": "yes"}).frame
    assert frame["response"].to_list() == ["no", "yes"]
    assert frame["expected"].to_list() == ["yes", "yes"]


def test_scales_by_question_may_be_texts(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("participant,item,question,response\np1,a,clear,3\np1,a,liked,yes\n")
    read = karat.read(path, scale={"clear": "ordinal:1-7"})
    assert read.scales["clear"] == karat.Ordinal(7)
    assert read.scales["liked"] == karat.Binary(("no", "yes"))


def test_readers_have_names_that_can_be_said() -> None:
    names = [reader.name for reader in READERS]
    assert len(set(names)) == len(names)
    assert names[-1] == "table"
    for reader in READERS:
        assert reader_named(reader.name) is reader


def test_times_of_a_mapped_column_get_their_unit(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("task,worker,label,thinking\nt1,w1,a,1500\nt2,w1,b,2500\n")
    read = karat.read(path, mapping={"rt": "thinking"})
    assert read.frame["rt"].to_list() == [1.5, 2.5]
    assert noted(read.notes, "rt.milliseconds")["column"] == "thinking"
    assert karat.read(path, mapping={"rt": "thinking"}, rt_unit="s").frame["rt"].to_list() == [1500.0, 2500.0]


def test_the_platform_knows_best_who_finished(tmp_path: Path) -> None:
    likert = karat.datasets.load("likert")
    likert.to_csv(tmp_path / "likert.csv")
    export = "Submission id,Participant id,Status,Started at,Completed at,Time taken\ns1,p01,APPROVED,,,77\n"
    (tmp_path / "prolific_export_1.csv").write_text(export)
    people = karat.read([tmp_path / "likert.csv", tmp_path / "prolific_export_1.csv"]).participants
    first = people.filter(people["participant"] == "p01").row(0, named=True)
    assert (first["working_time"], first["behaviour"]) == (77.0, "cooperative")
    assert people.height == 48


def test_no_reader_keeps_columns_that_name_people(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("task,worker,label,email\nt1,w1,a,x@example.org\nt2,w1,b,x@example.org\n")
    read = karat.read(path)
    assert "email" not in read.frame.columns
    assert noted(read.notes, "personal.left_out_unless_mapped")["columns"] == ["email"]
    assert "email" in karat.read(path, mapping={"email": "email"}).frame.columns


@pytest.mark.parametrize("skip_bad", [False, True])
def test_late_mistakes_are_reported_with_file_and_line(skip_bad: bool, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("participant,item,response\np1,a,1\np1,b,2\n")
    (tmp_path / "b.csv").write_text("participant,item,response\np2,a,3\n" + ",b,3\n" * skip_bad + "p2,c,four\n")
    intake = read_files([tmp_path / "a.csv", tmp_path / "b.csv"], skip_bad=skip_bad)
    place = f"b.csv, line {4 if skip_bad else 3}, response"
    with refuses(karat.IntakeError, "a.csv", place, "four"), intake.naming_places():
        karat.Judgments(intake.judgments.frame, karat.Ordinal(5))


def test_other_errors_about_judgments_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("participant,item,response\np1,a,1\n")
    intake = read_files([tmp_path / "a.csv"])
    with refuses(karat.JudgmentsError, "participant"), intake.naming_places():
        karat.Judgments(intake.judgments.frame, karat.Ordinal(5), {"name": ["p1"]})


def test_people_under_two_names_are_those_who_answered(tmp_path: Path) -> None:
    trials = [f"w{who},i{item},{1 + (who + item) % 5}" for who in range(8) for item in range(10)]
    people = [f"w{who},x{who},{20 + who}" for who in range(8)]
    for name, header, rows in (
        ("trials", "workerid,item,rating", trials),
        ("people", "workerid,participant,age", people),
    ):
        (tmp_path / f"{name}.csv").write_text("\n".join([header, *rows]))
    found = karat.read([tmp_path / "trials.csv", tmp_path / "people.csv"]).participants
    assert found["participant"].to_list() == [f"w{who}" for who in range(8)]
    assert found["age"].to_list() == list(range(20, 28))
    assert found["participant_"].to_list() == [f"x{who}" for who in range(8)]
