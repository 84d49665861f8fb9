"""karat screen as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import karat
from karat.cli.main import main
from study.studies import RATING, rating_items, write_study

LIKERT = karat.datasets.path("likert")
SCREENING = """[screening]
completion = {}
remfod = { genuine_at_least = 0.9 }
attention = { alpha = 0.05 }
exclude = "any"
"""


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    with pytest.raises(SystemExit) as done:
        main(["screen", *map(str, arguments)])
    assert done.value.code == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    with pytest.raises(SystemExit) as done:
        main(["screen", *map(str, arguments)])
    assert done.value.code == 2
    return capsys.readouterr().err


def answered(folder: Path) -> tuple[Path, Path]:
    """A study and results that say nothing but who answered what to which item, when and how fast."""
    study = karat.study.load(write_study(folder, RATING + SCREENING, items=rating_items()))
    parts = []
    for number in range(8):
        frame = study.questionnaire(number % 4 + 1, f"p{number}").frame
        right = pl.col("expected").replace_strict({"4-5": "5", "1-2": "1"}, default="3")
        parts.append(
            frame.select("trial", "item", "order", "integration", response=right if number else pl.lit("5"))
            .with_columns(participant=pl.lit(f"p{number}"), rt=4.0 + (pl.col("trial") * 7 % 10) / 10)
        )  # fmt: skip
    results = folder / "results.csv"
    pl.concat(parts).write_csv(results)
    return study.path, results


def test_the_stated_rules_are_applied_and_everything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, results = answered(tmp_path)
    out = tmp_path / "screened"
    text = told(capsys, results, "--study", study, "--out", out, "--explain", "p0")
    assert "complete   completion: 0 of 8 participants flagged." in text
    assert "note       function is taken from the item table" in text
    assert "attention: 1 of 8 participants flagged." in text
    assert "verdict    8 -> 7 participants (rule: any)" in text
    assert "Participant p0 is not part of the analysis" in text
    assert "0 of 6 attention trials right (5 needed)" in text
    names = {path.name for path in out.iterdir()}
    assert names == {"participants.csv", "trials.csv", "screening.json", "judgments.parquet", "flow.svg"}
    data = json.loads((out / "screening.json").read_text(encoding="utf-8"))
    assert [name for name, one in data["participants"].items() if one["excluded"]] == ["p0"]
    assert data["settings"]["completion"]["trials"] == 72
    assert karat.read(out / "judgments.parquet").participants.height == 7


def test_without_a_study_there_is_evidence_only(capsys: pytest.CaptureFixture[str]) -> None:
    text = told(capsys, LIKERT)
    assert "verdict    Evidence only: no study file states rules, so that nobody is excluded." in text
    assert "not run    inconsistency: " in text
    assert "crowd      Spammer Index ." in text
    assert "Nothing was written" in text
    data = json.loads(told(capsys, LIKERT, "--json"))
    assert set(data) == {"participants", "skipped", "summary", "settings", "spammer_index"}
    assert 0 < data["spammer_index"]["value"] < 1
    assert data["summary"]["excluded"] == 0
    assert told(capsys, LIKERT, "--quiet") == ""


def test_the_multiverse_has_a_picture_and_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study, results = answered(tmp_path)
    out = tmp_path / "out"
    text = told(capsys, results, "--study", study, "--multiverse", "--contrast", "order=PO,OP", "--out", out)
    assert "multiverse In " in text
    assert (out / "multiverse.svg").read_text(encoding="utf-8").lstrip().startswith("<")
    assert pl.read_csv(out / "multiverse.csv").height > 10


def test_flags_of_convert_are_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, results = answered(tmp_path)
    frame = pl.read_csv(results).rename({"participant": "who", "rt": "ms"}).with_columns(pl.col("ms") * 1000)
    frame.write_csv(results, separator=";")
    text = told(capsys, results, "--map", "participant=who", "--map", "rt=ms", "--rt-unit", "ms", "--delimiter", ";",
                "--scale", "ordinal:1-5:3")  # fmt: skip
    assert "found      8 participants" in text


def test_only_the_chosen_criteria_run_and_nobody_is_excluded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, results = answered(tmp_path)
    text = told(capsys, results, "--study", study, "--criteria", "attention, speed")
    assert "attention: 1 of 8 participants flagged." in text
    assert "remfod" not in text
    assert "verdict    Evidence only: --criteria is a choice, to which no rule is applied, so that nobody is" in text
    data = json.loads(told(capsys, results, "--study", study, "--criteria", "attention,remfod,speed", "--json"))
    assert data["summary"]["excluded"] == 0
    assert set(data["settings"]) == {"attention", "remfod", "speed", "exclude"}
    assert data["settings"]["exclude"] is None
    assert data["settings"]["remfod"]["genuine_at_least"] == 0.9  # as the study states it
    assert set(data["participants"]["p0"]["criteria"]) == {"attention", "remfod", "speed"}
    data = json.loads(told(capsys, LIKERT, "--criteria", "completion", "--json"))
    assert data["summary"]["flagged"] == {"completion": 1}
    assert data["summary"]["notes"] == [
        "completion: The questionnaire is taken to have 72 trials, the most anybody has."
    ]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--criteria", "remofd"], "--criteria: there is no screening criterion 'remofd'; is remfod meant?"),
        (["--criteria", ","], "--criteria: name one or more of "),
        (["--criteria", "remfod", "--multiverse"], "leave out --criteria"),
        (["--contrast", "order=PO,OP"], "--contrast has a say only with --multiverse"),
        (["--multiverse", "--contrast", "order"], "write FACTOR=LEVEL,LEVEL"),
        (["--study", "nowhere.toml"], "There is no study file nowhere.toml"),
        (["--explain", "p99x"], "There is no participant p99x"),
    ],
)
def test_bad_options_are_a_sentence(arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert why in refused(capsys, LIKERT, *arguments)


def test_a_file_in_the_way_is_told_before_anything_is_computed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out").write_text("x", encoding="utf-8")
    assert "is a file; give a folder" in refused(capsys, LIKERT, "--out", tmp_path / "out")


def test_the_help_names_the_section_of_the_study_file(capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(told(capsys, "--help").split())
    assert "rule of its section screening are applied exactly" in text
