"""Planned studies that are answered: every task, every screening rule, known behaviour."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import karat
from karat.cli.main import app
from karat.errors import KaratError
from karat.executors import open_executor
from karat.simulate import BEHAVIOURS, SimulateError, answer_study
from karat.simulate.behaviours import allot, check_shares, read_shares
from karat.study.init import TEMPLATES, write_study
from karat.study.study import Study, load
from messages import raises


def study(folder: Path, task: str = "likert") -> Study:
    write_study(folder, task)
    return load(folder)


@pytest.mark.few(1)
@pytest.mark.parametrize("task", list(TEMPLATES))
def test_every_task_is_answered_read_back_and_screened(task: str, tmp_path: Path) -> None:
    planned = study(tmp_path, task)
    results = answer_study(planned, 16, seed=5)
    assert results == answer_study(planned, 16, seed=5)
    results.to_csv(tmp_path / "results.csv")
    assert karat.read(tmp_path / "results.csv") == results
    screening = karat.screen.run(results, study=planned)
    stated = planned.settings.screening
    assert stated is not None
    assert screening.skipped == {}
    assert set(screening.evidence) == set(stated.criteria)


@pytest.mark.slow
def test_processes_give_the_same_answers(tmp_path: Path) -> None:
    planned = study(tmp_path)
    with open_executor(processes=2) as executor:
        assert answer_study(planned, 60, seed=5, executor=executor) == answer_study(planned, 60, seed=5)


def test_several_blocks_with_scales_of_their_own(tmp_path: Path) -> None:
    write_study(tmp_path, "yes-no")
    text = (tmp_path / "study.toml").read_text()
    second = '[[block]]\nname = "numbers"\ntask = "magnitude"\nitems = "plain.csv"\n'
    second += 'factors = { order = ["size first", "material first"] }\nlists = 2\n\n[questionnaire]'
    (tmp_path / "study.toml").write_text(text.replace("[questionnaire]", second, 1))
    pl.read_csv(tmp_path / "items.csv").drop("expected").write_csv(tmp_path / "plain.csv")
    results = answer_study(load(tmp_path), 4)
    assert {scale.kind for scale in results.scales.values()} == {"binary", "magnitude"}


@pytest.mark.slow
def test_clear_cases_are_clear_and_the_effect_has_its_direction(tmp_path: Path) -> None:
    planned = study(tmp_path)
    frame = answer_study(planned, 40, shares={}, effects=1.5, seed=2).frame
    rating = frame.with_columns(y=pl.col("response").cast(pl.Int64))
    means = dict(rating.filter(pl.col("function") == "control").group_by("status").agg(pl.col("y").mean()).rows())
    assert means["ungrammatical"] < 1.6
    assert means["grammatical"] > 4.4
    first, second = planned.settings.contrast[0].levels
    by_level = dict(rating.group_by(planned.settings.contrast[0].factor).agg(pl.col("y").mean()).rows())
    assert by_level[first] - by_level[second] > 0.5
    turned = answer_study(planned, 40, shares={"minority dialect": 1.0}, effects=1.5, seed=2).frame
    other = dict(turned.group_by(planned.settings.contrast[0].factor)
                 .agg(pl.col("response").cast(pl.Int64).mean()).rows())  # fmt: skip
    assert other[first] - other[second] < -0.5


@pytest.mark.slow
def test_behaviours_show(tmp_path: Path) -> None:
    planned = study(tmp_path)
    shares = dict.fromkeys(BEHAVIOURS, 1 / 8)
    results = answer_study(planned, 48, shares=shares, seed=3)
    joined = results.frame.join(results.participants.select("participant", "behaviour"), on="participant")
    people = joined.group_by("behaviour", "participant").agg(
        pl.col("rt").median().alias("median"),
        pl.col("rt").mean().alias("mean"), pl.len(), pl.col("response").n_unique(),
        (pl.col("rt") > 25).sum().alias("pauses"),
    )  # fmt: skip
    kinds = {name: people.filter(pl.col("behaviour") == name) for name in BEHAVIOURS}
    assert all(kind.height == 6 for kind in kinds.values())
    assert kinds["rusher"]["mean"].max() < 1 < 3 < kinds["attentive"]["median"].min()
    clever = kinds["clever spammer"]
    assert clever["median"].max() < 1.5 < 2.5 < clever["mean"].min()
    assert clever["pauses"].min() >= 2
    assert kinds["straight-liner"]["response"].to_list() == [1] * 6
    assert kinds["drop-out"]["len"].max() < 75 == kinds["attentive"]["len"].min()
    assert kinds["dawdler"]["pauses"].mean() > 3 * kinds["attentive"]["pauses"].mean()
    screening = karat.screen.run(results, study=planned)
    excluded = results.participants.filter(pl.col("participant").is_in(screening.excluded))["behaviour"]
    assert (excluded == "rusher").sum() == 6
    assert (excluded == "attentive").sum() <= 2


def test_guesses_are_even(tmp_path: Path) -> None:
    frame = answer_study(study(tmp_path), 40, shares={"guesser": 1.0}).frame
    counts = frame["response"].value_counts()["count"].to_numpy()
    assert np.ptp(counts) / counts.sum() < 0.03


def test_shares() -> None:
    assert read_shares("a=1")["a"] == 1
    random = np.random.default_rng(1)
    assert sorted(allot({"guesser": 0.5, "rusher": 0.25}, 3, random)) == ["attentive", "guesser", "rusher"]
    for text in ("guesser", "guesser=many"):
        with raises(SimulateError, "behaviours.no_share"):
            read_shares(text)
    with raises(SimulateError, "behaviours.share_twice"):
        read_shares("guesser=0.1, guesser=0.2")
    for wrong, code in (({"gueser": 0.1}, "behaviours.unknown"), ({"guesser": 1.2}, "behaviours.share"),
                        ({"attentive": 0.5, "guesser": 0.1}, "behaviours.total")):  # fmt: skip
        with raises(SimulateError, code):
            check_shares(wrong)


@pytest.mark.slow
def test_command(tmp_path: Path) -> None:
    write_study(tmp_path, "choice")
    results = tmp_path / "results.csv"
    arguments = ["simulate", str(tmp_path), "-o", str(results), "--participants", "10", "--share", "guesser=0.2"]
    result = CliRunner().invoke(app, [*arguments, "--effect", "1.2"])
    assert result.exit_code == 0, result.output
    assert "8 " + "attentive" + ", 2 guesser" in result.output
    assert len(karat.read(results)) == 500
    data = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).output)
    assert data["behaviours"] == {"attentive": 8, "guesser": 2}
    for wrong in (["--effect", "big"], ["--effect", "1", "--effect", "2"], ["--effect", "nothing=1"]):
        assert isinstance(CliRunner().invoke(app, [*arguments, *wrong]).exception, KaratError)
    assert isinstance(CliRunner().invoke(app, ["simulate", str(tmp_path), "-o", "x.txt"]).exception, KaratError)


def test_all_files_are_named(tmp_path: Path) -> None:
    write_study(tmp_path, "choice")
    for name, expected in (
        ("results.csv", ["results.csv", "results.participants.csv", "results.csv-metadata.json"]),
        ("results.parquet", ["results.parquet"]),
    ):
        out = tmp_path / "out" / name
        out.parent.mkdir(exist_ok=True)
        output = CliRunner().invoke(app, ["simulate", str(tmp_path), "-o", str(out), "--participants", "4"]).output
        (line,) = [line for line in output.splitlines() if line.startswith("written")]
        assert [Path(one).name for one in line.split()[1:]] == expected
        assert all(Path(one).is_file() for one in line.split()[1:])


def test_answers_follow_the_column_acceptability(tmp_path: Path) -> None:
    rows = "".join(
        f"t{n},Sentence {n} {order}.,{order},{meant}\n" for n in range(8) for order, meant in (("a", "low"), ("b", "5"))
    )
    (tmp_path / "items.csv").write_text(f"item,sentence,order,acceptability\n{rows}", encoding="utf-8")
    (tmp_path / "study.toml").write_text(
        'title = "Orders"\n[[block]]\ntask = "likert"\nitems = "items.csv"\nfactors = { order = ["a", "b"] }\n'
        '[[contrast]]\nname = "order"\nfactor = "order"\nlevels = ["a", "b"]\n', encoding="utf-8"
    )  # fmt: skip
    planned, rated = load(tmp_path), pl.col("response").cast(pl.Int64).mean()
    means = dict(answer_study(planned, 30, shares={}, seed=3).frame.group_by("order").agg(rated).rows())
    assert means["a"] < 2.5
    assert means["b"] > 4
    stated = answer_study(planned, 30, shares={}, effects=2.0, seed=3).frame
    means = dict(stated.group_by("order").agg(rated).rows())
    assert means["a"] - means["b"] > 0.5
