"""Credence on real crowds: nobody good is flagged, and who is uninformative is found about as well as by peers."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import karat
from benchmarks.automation import mturk, one_crowd
from benchmarks.real_crowds import TRAINED, agreement, area, found_without_error, information, real_crowd
from karat.screen.credence_model import AGREES, above_chance

LEAST_FLAGGED = 0.9
"""Of those that the better peer finds without error."""


@pytest.mark.parametrize("name", [pytest.param("product", marks=pytest.mark.slow), "music", "duck"])
def test_uninformative_participants_are_flagged_good_ones_not(name: str, reference: Path) -> None:
    crowd = real_crowd(name)
    found = karat.screen.credence(crowd.judgments)
    assert not set(found.flagged) & set(crowd.good)
    odds = dict(found.participants.select("participant", "log_odds").iter_rows())
    peers = [dict(zip(crowd.people, score(crowd).tolist(), strict=True)) for score in (agreement, information)]
    assert area(odds, crowd) >= max(area(one, crowd) for one in peers) - 0.01
    best = max(found_without_error(one, crowd) for one in peers)
    assert len(set(found.flagged) & set(crowd.uninformative)) >= LEAST_FLAGGED * best


@pytest.mark.slow
@pytest.mark.parametrize(("name", "scale"), [("duck", "binary:0,1"), ("music", "ordinal:1-10")])
def test_codes_that_are_read_as_another_scale_accuse_nobody(name: str, scale: str, reference: Path) -> None:
    """Labels are often numbers in a file, which may be taken for yes and no or for points of a scale."""
    judgments = karat.read(reference / "crowds" / f"{name}.csv", scale=scale)
    assert not set(karat.screen.credence(judgments).flagged) & set(real_crowd(name).good)


@pytest.mark.parametrize("name", TRAINED)
def test_no_trained_annotator_is_flagged(name: str, reference: Path) -> None:
    assert karat.screen.credence(real_crowd(name).judgments).flagged == []


@pytest.mark.slow
def test_favourite_answers_that_agree_accuse_nobody(reference: Path) -> None:
    """Good and bad sentences take turns, and magnitudes have favourite numbers."""
    folder = reference / "wild" / "files"
    verdicts = karat.read(folder / "a08" / "results_2021-02-09.xlsx")
    assert karat.screen.credence(verdicts).flagged == []
    magnitudes = karat.read(folder / "h02" / "SWP.EXP2.results.csv", mapping={"response": "raw.judgment"})
    assert karat.screen.credence(magnitudes).flagged == []


@pytest.mark.slow
def test_the_order_of_rows_does_not_matter(reference: Path) -> None:
    judgments = real_crowd("music").judgments
    shuffled = karat.Judgments(judgments.frame.sample(fraction=1.0, shuffle=True, seed=3), judgments.scales)
    first, second = (karat.screen.credence(one).participants.sort("participant") for one in (judgments, shuffled))
    assert first["attentive"].to_list() == pytest.approx(second["attentive"].to_list(), abs=1e-3)
    assert first.select("participant", "flagged").equals(second.select("participant", "flagged"))
    assert first["attentive"].dtype == pl.Float64


def test_participants_with_unusual_times_agree_with_the_others(reference: Path) -> None:
    assert (reference / "ba").is_dir()
    judgments = mturk()
    agree = above_chance(judgments).filter(pl.col("above") >= AGREES)["participant"]
    evidence = [compute(judgments) for compute in (karat.screen.speed, karat.screen.remfod, karat.screen.time_filter)]
    for one in evidence:
        assert one.flagged
        assert set(one.flagged) <= set(agree)
    assert "remfod.many" in [note.code for note in evidence[1].notes]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["gpt-4o-mini", "llama-31"])
def test_annotators_are_not_twins_of_accounts(model: str, reference: Path) -> None:
    assert (reference / "machines").is_dir()
    found, annotators = one_crowd(("relations", model, 0.3, 0))
    assert sum(found) >= 2
    assert annotators == 0
