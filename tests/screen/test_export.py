"""A screening on disk: complete, readable again, and harmless in a spreadsheet."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

import karat
from karat.screen.run import run
from karat.screen.screening import NAMES, trials_table
from messages import refuses

LIKERT = karat.datasets.load("likert")
RULES = {"completion": {}, "remfod": {}, "attention": {}, "exclude": "any"}


def test_everything_is_there_and_agrees(tmp_path: Path) -> None:
    screening = run(LIKERT, RULES)
    paths = screening.write(tmp_path / "new" / "folder")
    assert [path.name for path in paths] == [*NAMES, "composition.csv", "composition.svg"]
    people = pl.read_csv(paths[0])
    assert people.filter("excluded")["participant"].to_list() == list(screening.excluded)
    assert {"remfod_score", "remfod_threshold", "remfod_flagged", "remfod_reason", "explanation"} <= set(people.columns)
    data = json.loads(paths[2].read_text(encoding="utf-8"))
    assert {name for name, one in data["participants"].items() if one["excluded"]} == set(screening.excluded)
    assert data["summary"]["data"] == LIKERT.fingerprint()
    assert karat.read(paths[3]) == screening.kept
    assert paths[4].read_text(encoding="utf-8").startswith("<svg")


def test_trials_keep_every_judgment_and_say_what_stood_out() -> None:
    screening = run(LIKERT, RULES)
    trials = trials_table(screening)
    assert trials.height == len(LIKERT)
    kinds = trials.filter(pl.col("remfod_kind").is_not_null())
    assert kinds.height == screening.evidence["remfod"].trials.height
    assert set(kinds["remfod_kind"].unique()) <= {"intermission", "rush"}
    wrong = trials.filter(pl.col("attention_right") == False)  # noqa: E712
    assert wrong.height
    assert set(wrong["function"].unique()) == {"attention"}


def test_trials_without_positions_stay_in_order() -> None:
    frame = LIKERT.frame.drop("trial")
    trials = trials_table(run(karat.Judgments(frame, LIKERT.scales), {"remfod": {}}))
    numbered = trials_table(run(LIKERT, {"remfod": {}}))
    assert trials["remfod_kind"].to_list() == numbered["remfod_kind"].to_list()
    twice = pl.concat([LIKERT.frame.with_columns(session=pl.lit(s)) for s in ("1", "2")])
    screening = run(karat.Judgments(twice, LIKERT.scales), {"remfod": {}})
    both = trials_table(screening)
    assert both.height == twice.height
    assert both["remfod_kind"].is_not_null().sum() == screening.evidence["remfod"].trials.height


def test_formulas_do_not_reach_a_spreadsheet(tmp_path: Path) -> None:
    frame = LIKERT.frame.with_columns(participant=pl.lit("=cmd|' /C calc'!") + pl.col("participant"))
    paths = run(karat.Judgments(frame, LIKERT.scales), {"completion": {}}).write(tmp_path)
    for path in paths[:2]:
        assert pl.read_csv(path)["participant"].str.starts_with("'=").all()


def test_a_file_in_the_way_is_reported(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("x")
    with refuses(karat.KaratError, tmp_path / "out"):
        run(LIKERT, {"completion": {}}).write(tmp_path / "out")
