"""Studies to begin with: each is complete, loads, passes the check, and overwrites nothing."""

from __future__ import annotations

import csv
import json
import tomllib
import unicodedata
from pathlib import Path

import polars as pl
import pytest
import typer
from openpyxl import Workbook
from typer.testing import CliRunner

from karat.cli.init import init
from karat.errors import KaratError
from karat.judgments.tables import MEND_ROW
from karat.measure import decisions
from karat.simulate import answer_study
from karat.study.check import check
from karat.study.init import LANGUAGES, TEMPLATES, PairsError, StudyExistsError, study_from_pairs, write_study
from karat.study.study import load
from messages import refuses

EVERY = [(task, language) for task in TEMPLATES for language in LANGUAGES]
ADVICE = {
    "en": ("rely on your own", "spontaneously", "school grammar", "likely"),
    "de": ("eigenes", "spontan", "Schulgrammatik", "wahrscheinlich"),
}


def run(*arguments: object) -> str:
    app = typer.Typer()
    app.command()(init)
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.few(9)
@pytest.mark.parametrize(("task", "language"), EVERY)
def test_every_template_passes_the_check(task: str, language: str, tmp_path: Path) -> None:
    written = write_study(tmp_path / "study", task, language)
    assert written[0].name == "study.toml"
    study = load(tmp_path / "study")
    assert study.settings.language == language
    # Only Prolific can give the code with which it takes participants back.
    code = ["completion-code"] if study.settings.recruitment.platform == "prolific" else []
    assert [finding.rule for finding in check(study).findings] == code
    questionnaires = [study.questionnaire(list=number, participant=number) for number in range(1, study.lists + 1)]
    assert len({len(questionnaire) for questionnaire in questionnaires}) == 1


# Experts who rate adjectives for the antonym pre-study are not asked how sentences sound.
@pytest.mark.parametrize(("task", "language"), [pair for pair in EVERY if pair[0] != "antonyms"])
def test_texts_give_the_advice_and_ask_before_they_trust(task: str, language: str, tmp_path: Path) -> None:
    write_study(tmp_path, task, language)
    settings = load(tmp_path).settings
    assert [word for word in ADVICE[language] if word not in settings.texts.instructions] == []
    assert len(settings.texts.quiz) == 2
    assert settings.texts.consent
    assert settings.texts.debriefing
    first = settings.background[0]
    assert first.name == "first_language"
    assert len(first.eligible) == 1
    assert len(first.answers) > 5
    assert settings.screening is not None


@pytest.mark.parametrize(("task", "language"), EVERY)
def test_tables_are_clean(task: str, language: str, tmp_path: Path) -> None:
    for file in write_study(tmp_path, task, language):
        text = file.read_text(encoding="utf-8")
        assert unicodedata.normalize("NFC", text) == text
        assert "\r" not in text
        if file.name.endswith(".toml"):
            assert max(map(len, text.splitlines())) <= 180
            continue
        header, *rows = csv.reader(text.splitlines())
        assert {len(row) for row in rows} == {len(header)}
        assert not [cell for row in rows for cell in row if cell != cell.strip() or "  " in cell]


def test_languages_have_the_same_designs(tmp_path: Path) -> None:
    for task in TEMPLATES:
        counts = []
        for language in LANGUAGES:
            write_study(tmp_path / task / language, task, language)
            study = load(tmp_path / task / language)
            counts.append(study.trials(0, 1)["function"].value_counts().sort("function").to_dicts())
        assert counts[0] == counts[1], task


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    kept = tmp_path / "items.csv"
    kept.write_text("mine")
    with refuses(StudyExistsError, "items.csv"):
        write_study(tmp_path, "yes-no")
    assert kept.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["items.csv"]


def test_a_folder_that_cannot_be_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with refuses(KaratError, tmp_path / "file" / "study"):
        write_study(tmp_path / "file" / "study", "likert")


@pytest.mark.parametrize(
    ("task", "language", "names"),
    [
        ("lickert", "en", ["lickert", "likert"]),
        ("xyz", "en", ["xyz", "likert, yes-no"]),
        ("likert", "fr", ["en and de", "fr"]),
    ],
)
def test_unknown_names(task: str, language: str, names: list[str], tmp_path: Path) -> None:
    with refuses(KaratError, *names):
        write_study(tmp_path / "study", task, language)
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize("header", ["good,bad", "a,b", "Sentence,Sentence 2", "acceptable,less-acceptable"])
def test_columns_of_pairs_are_guessed(header: str, tmp_path: Path) -> None:
    table = tmp_path / "my_pairs.csv"
    table.write_text(header + '\n"He said ""no"", twice.",He twice said no.\nIt rained.,Rained it.\n', encoding="utf-8")
    study_from_pairs(table, tmp_path / "study")
    study = load(tmp_path / "study")
    assert study.title == "my pairs: 2 pairs"
    trials = study.trials(0, 1).filter(pl.col("function") == "test")
    assert trials["sentence"].to_list() == ['He said "no", twice.', "It rained."]
    assert trials["sentence_2"].to_list() == ["He twice said no.", "Rained it."]
    assert check(study).errors == 0


def test_experts_preferences_make_decisions(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text("good,bad\nIt rained.,Rained it.\nIt snowed.,Snowed it.\n", encoding="utf-8")
    study_from_pairs(table, tmp_path / "study")
    study = load(tmp_path / "study")
    assert study.settings.block[0].scale.no_difference
    answers = answer_study(study, 12)
    decided = decisions(answers)
    assert sorted(decided.table()["pair"]) == ["t1", "t2"]
    assert set(decided.table()["better"]) == {"t1a", "t2a"}


def test_preferences_pair_by_pair(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text("a,b,preferred\nIt rained.,Rained it.,1\nSnowed it.,It snowed.,b\nX y.,Y x.,\n", encoding="utf-8")
    study_from_pairs(table, tmp_path / "study")
    trials = load(tmp_path / "study").trials(0, 1).filter(pl.col("function") == "test")
    assert trials["expected"].to_list() == ["left", "right", None]
    table.write_text("a,b,preferred\nIt rained.,Rained it.,both\n", encoding="utf-8")
    with refuses(PairsError, "pairs.csv", "line 2, preferred", "both"):
        study_from_pairs(table, tmp_path / "other")


def test_columns_show_the_language_of_short_pairs(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    for header, language in (("gut,schlecht", "de"), ("good,bad", "en")):
        table.write_text(f"{header}\nDer Hund bellt laut.,Der Hund laut bellt.\n", encoding="utf-8")
        study_from_pairs(table, tmp_path / language)
        assert load(tmp_path / language).settings.language == language


def test_pairs_come_from_a_sheet_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = Workbook()
    for sheet, verb in zip([book.active, book.create_sheet("Second")], ("rained", "snowed"), strict=True):
        for row in (("good", "bad"), (f"It {verb}.", f"{verb.title()} it.")):
            sheet.append(row)
    monkeypatch.chdir(tmp_path)
    book.save("pairs.xlsx")
    (note,) = json.loads(run("--from-pairs", "pairs.xlsx", "--json"))["notes"]
    assert book.active.title in note
    assert "Second" in note
    assert json.loads(run("other", "--from-pairs", "pairs.xlsx", "--sheet", "Second", "--json"))["notes"] == []
    assert "It snowed." in Path("other/items.csv").read_text(encoding="utf-8")


def test_two_columns_of_sentences_are_pairs_under_any_name(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text("Nr;Satz A;Satz B\n1;Es regnet.;Regnet es.\n2;Er schläft nicht.;Er nicht schläft.\n")
    study_from_pairs(table, tmp_path / "study")
    assert pl.read_csv(tmp_path / "study" / "items.csv")["sentence"].to_list()[2:] == [
        "Er schläft nicht.", "Er nicht schläft.",
    ]  # fmt: skip


def test_names_of_pairs_are_kept(tmp_path: Path) -> None:
    table = tmp_path / 'a "name".csv'
    table.write_text("pair;good;bad\nthat-trace;A b.;B a.\nisland;C d.;D c.\n", encoding="utf-8")
    study_from_pairs(table, tmp_path / "study", "de")
    settings = tomllib.loads((tmp_path / "study" / "study.toml").read_text(encoding="utf-8"))
    assert settings["title"] == "a  name: 2 Paare"
    items = pl.read_csv(tmp_path / "study" / "items.csv")
    assert items["item"].to_list() == ["tthat-tracea", "tthat-traceb", "tislanda", "tislandb"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("one,two\nA.,B.\n", ["one, two", "good and bad"]),
        ("good,bad\nA.,\n", ["line 2, bad"]),
        ("It rains.,Rains it.\nIt snows.,Snows it.\n", ["row above"]),
        ("good,bad\n", []),
        ("id,good,bad\n1,A.,B.\n1,C.,D.\n", ["line 2, id", 1]),
        ("id,good,bad\n1,A.,B.\n,C.,D.\n", ["line 3, id"]),
    ],
)
def test_tables_that_are_no_pairs(text: str, names: list[object], tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text(text)
    with refuses(PairsError, "pairs.csv", *names):
        study_from_pairs(table, tmp_path / "study")
    assert not (tmp_path / "study").exists()


def test_a_flawed_row_of_pairs_cannot_be_skipped(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text("good,bad\nA.,B.,C.\n")
    with pytest.raises(PairsError) as caught:
        study_from_pairs(table, tmp_path / "study")
    (problem,) = caught.value.problems
    assert problem.number == 2
    assert problem.fix not in ("", MEND_ROW)


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    with refuses(KaratError, tmp_path / "none.csv"):
        study_from_pairs(tmp_path / "none.csv", tmp_path / "study")


def test_150_pairs(reference: Path, tmp_path: Path) -> None:
    """The quirks of the list stay in the study, and the check names them: they are not errors."""
    study_from_pairs(reference / "pairs" / "sentences.csv", tmp_path / "study")
    study = load(tmp_path / "study")
    report = check(study)
    assert report.errors == 0
    lines = [f"{finding.rule}: {finding.message}" for finding in report.findings]
    assert any("t097" in line for line in lines), lines
    assert any("punctuation" in line for line in lines), lines
    test = study.questionnaire().frame.filter(pl.col("function") == "test")
    assert test.height == 150
    shown = set(test["sentence"]) | set(test["sentence_2"])
    assert '"Stop bullying me!" shouted the overweight child fearfully.' in shown
    assert "Larry cooked her husband the meal" in shown


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("order", "--task", "likert", "--language", "de").splitlines() == [
        "written    order: study.toml  lexicon.csv  templates.csv  fillers.csv",
        "Next: edit these files, then run karat check order/study.toml",
    ]
    assert "written    label: study.toml  items.csv" in run("--task", "label")
    Path("mine.csv").write_text("good,bad\nIt rained.,Rained it.\n")
    result = json.loads(run("--from-pairs", "mine.csv", "--json"))
    assert [Path(name).name for name in result["written"]] == ["study.toml", "items.csv", "fillers.csv"]
    assert Path("mine/study.toml").is_file()
    with refuses(KaratError, "--task", "likert", "norming"):
        run("order")
    with refuses(KaratError, "--from-pairs", "--task likert"):
        run("--task", "likert", "--from-pairs", "mine.csv")
