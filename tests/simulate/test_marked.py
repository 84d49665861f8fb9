"""Simulated participants are marked, and the mark survives files and a table without their behaviour."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import karat
from karat.judgments import Judgments
from karat.simulate import answer_study
from karat.simulate.behaviours import SIMULATED, simulated
from karat.study.init import write_study
from karat.study.study import load


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Judgments:
    folder = tmp_path_factory.mktemp("study")
    write_study(folder, "choice")
    study = load(folder)
    assert study.settings.recruitment.platform == "prolific"
    return answer_study(study, 6)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_mark_survives_files(results: Judgments, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"results.{ending}"
    (results.to_csv if ending == "csv" else results.to_parquet)(path)
    assert simulated(karat.read(path).participants) == 6


def test_it_stays_without_the_behaviour(results: Judgments) -> None:
    assert simulated(results.participants.drop("behaviour")) == 6
    assert karat.simulate.crowd(5, 4).participants["source"].to_list() == [SIMULATED] * 5


def test_people_are_not_taken_for_simulated() -> None:
    assert simulated(pl.DataFrame({"participant": ["p1"], "behaviour": ["attentive"]})) == 0
    assert simulated(pl.DataFrame({"participant": ["p1", "p2"], "source": ["prolific", None]})) == 0
    assert simulated(pl.DataFrame({"participant": ["p1"], "source": [3]})) == 0
