"""karat measure as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karat
from karat.cli.main import main
from measure.judged_pairs import judged
from measure.rated_items import ratings
from study.studies import RATING, rating_items, write_study

CONTRAST = """[[contrast]]
name = "order"
factor = "order"
levels = ["OP", "PO"]
"""


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    with pytest.raises(SystemExit) as done:
        main(["measure", *map(str, arguments)])
    assert done.value.code == 0, capsys.readouterr().err
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    with pytest.raises(SystemExit) as done:
        main(["measure", *map(str, arguments)])
    assert done.value.code == 2
    return capsys.readouterr().err


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "results.parquet"
    ratings(people=8, items=5).to_parquet(path)
    return path


def test_a_summary_without_out_and_the_same_as_json(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, results)
    assert "found      8 participants, 5 items, 40 answers" in text
    assert "excluded   nobody. Use --without screening.json" in text
    assert "strengths  Estimates of 5 stimuli (cumulative logit model)" in text
    assert "not run    decisions: " in text
    assert text.rstrip().endswith("Nothing was written. Use --out DIR to keep tables and figures.")
    data = json.loads(printed(capsys, results, "--json", "--seed", "4"))
    assert data["settings"]["seed"] == 4
    assert data["parts"][0]["told"].startswith("Estimates of 5 stimuli")
    assert printed(capsys, results, "--quiet") == ""


@pytest.mark.slow
def test_everything_goes_to_a_folder(results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "measured"
    text = printed(capsys, results, "--model", "mean", "--model", "zscore", "--out", out)
    assert f"written    {out}: " in text
    assert {"strengths.csv", "strengths-zscore.csv", "measures.json", "README.txt", "agreement.csv"} <= {
        path.name for path in out.iterdir()
    }
    assert pl.read_csv(out / "strengths.csv")["item"][0] == "i4"


def test_machines_are_compared_and_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ratings(people=8, items=40).to_csv(tmp_path / "results.csv")
    names = sorted(karat.read(tmp_path / "results.csv").participants["participant"])
    given = (tmp_path / "results.csv", "--machines", names[-1], "--margin", "0.2", "--out", tmp_path / "out")
    text = printed(capsys, *given)
    assert "found      7 participants" in text
    (row,) = pl.read_csv(tmp_path / "out" / "annotator-test.csv").to_dicts()
    assert (row["machine"], row["participants"]) == (names[-1], 7)
    assert pl.read_csv(tmp_path / "out" / "annotator-test-participants.csv").height == 7
    assert "no_such" in refused(capsys, *given[:1], "--machines", "no_such")
    path = tmp_path / "models.csv"
    text = (tmp_path / "results.csv").read_text(encoding="utf-8")
    path.write_text(text.replace(names[-1], "gpt-4o").replace(names[-2], "claude-3-opus"), encoding="utf-8")
    (note,) = (str(note) for note in karat.read(path).notes if note.code == "intake.models")
    assert note in printed(capsys, path)
    assert note in printed(capsys, path, "--machines", "gpt-4o")
    assert note not in printed(capsys, path, "--machines", "gpt-4o,claude-3-opus")


@pytest.mark.slow
def test_the_study_gives_conditions_and_planned_contrasts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = karat.study.load(write_study(tmp_path, RATING + CONTRAST, items=rating_items()))
    parts = []
    for number in range(12):
        asked = study.questionnaire(number % 4 + 1, f"p{number}").frame
        noise = pl.Series(np.random.default_rng(number).integers(0, 4, asked.height))
        better = pl.when(pl.col("order") == "OP").then(1).otherwise(0) + noise
        answers = asked.select("trial", "item", "order", "integration", response=better + 1)
        parts.append(answers.with_columns(participant=pl.lit(f"p{number}")))
    pl.concat(parts).write_csv(tmp_path / "results.csv")
    formula = "response ~ order + (1 | participant) + (1 | item)"
    text = printed(capsys, tmp_path / "results.csv", "--study", study.path, "--formula", formula)
    assert "note       function was taken from the item table" in text
    assert "planned    order: OP minus PO " in text
    data = json.loads(printed(capsys, tmp_path / "results.csv", "--study", study.path, "--formula", formula, "--json"))
    planned = next(part for part in data["parts"] if part["name"] == "planned")
    assert planned["tables"]["planned"][0]["estimate"] > 0.5
    assert data["settings"]["conditions"] == ["order", "integration"]
    assert data["study"] == study.fingerprint


@pytest.mark.slow
def test_the_verdicts_of_a_screening_are_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    likert = karat.datasets.load("likert")
    screening = karat.screen.run(likert, {"completion": {}, "remfod": {}, "exclude": "any"})
    screening.write(tmp_path / "screened")
    likert.to_parquet(tmp_path / "all.parquet")
    whole = json.loads(printed(capsys, tmp_path / "all.parquet", "--without", tmp_path / "screened", "--json",
                            "--conditions", "order", "--model", "mean"))  # fmt: skip
    left = json.loads(printed(capsys, tmp_path / "screened" / "judgments.parquet", "--json", "--conditions", "order",
                           "--model", "mean"))  # fmt: skip
    assert whole["excluded"]["participants"] == list(screening.excluded)
    assert whole["parts"] == left["parts"]
    assert left["excluded"]["told"].startswith("nobody here. ")


@pytest.mark.slow
def test_pairs_come_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judged("likert", [2.0, 0.0]).to_parquet(tmp_path / "judged.parquet")
    (tmp_path / "pairs.csv").write_text("pair,better,worse\none,a0,b0\ntwo,b1,a1\n", encoding="utf-8")
    text = printed(capsys, tmp_path / "judged.parquet", "--pairs", tmp_path / "pairs.csv")
    assert "of 2 pairs" in text
    assert "one   a0      b0 " in text
    assert "✓" in text


@pytest.mark.slow
def test_flags_of_convert_are_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = ratings(people=6, items=4).frame.rename({"participant": "who"})
    table.select("who", "item", "response").write_csv(tmp_path / "results.csv", separator=";")
    text = printed(capsys, tmp_path / "results.csv", "--map", "participant=who", "--delimiter", ";",
                "--scale", "ordinal:1-5")  # fmt: skip
    assert "found      6 participants" in text


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--model", "davidson"], "“davidson” is not a model for ordinal answers"),
        (["--question", "clear"], "There is no question “clear”"),
        (["--without", "nowhere.json"], "nowhere.json cannot be read"),
        (["--pairs", "nowhere.csv"], "There is no file nowhere.csv"),
        (["--functions", "tests"], "must be some of"),
        (["--by", "grup"], "There is no column grup"),
    ],
)
def test_bad_options_are_a_sentence(
    arguments: list[str], why: str, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert why in refused(capsys, results, *arguments)


def test_existing_output_is_reported_before_computing(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out").write_text("x", encoding="utf-8")
    assert str(tmp_path / "out") in refused(capsys, results, "--out", tmp_path / "out").replace("\n", "")
