"""The Spammer Index as workers of a known kind are added."""

from __future__ import annotations

import polars as pl
import pytest

import karat
from karat.screen import spammer_index
from karat.screen.crowd.spammer_index import ADDED, index_by_share
from messages import raises

CREDIBLE = karat.simulate.crowd(40, 30, seed=5)


@pytest.mark.slow
def test_choices_added_for_nobody_or_one() -> None:
    found = index_by_share(CREDIBLE, shares=[0, 0.25])
    assert found["kind"].unique(maintain_order=True).to_list() == list(ADDED)
    assert found["added"].to_list() == [0, 13] * 3
    assert found["share"].to_list() == pytest.approx([0, 13 / 53] * 3)
    alone = spammer_index(CREDIBLE)
    first = found.filter(pl.col("added") == 0)
    assert first["value"].to_list() == pytest.approx([alone.value] * 3, abs=1e-4)
    assert first["upper"].to_list() == pytest.approx([alone.upper] * 3, abs=1e-3)
    after = dict(found.filter(pl.col("added") > 0).select("kind", "value").iter_rows())
    assert max(after, key=lambda kind: after[kind]) == "primary choice"
    assert found.equals(index_by_share(CREDIBLE, shares=[0, 0.25]))


@pytest.mark.slow
def test_workers_of_ones_own_are_added_in_their_order() -> None:
    everybody = karat.simulate.crowd(40, 30, {"primary choice": 10}, seed=6)
    names = everybody.participants["participant"].to_list()
    credible, others = everybody.without(names[:10]), everybody.without(names[10:])
    found = index_by_share(credible, {"steady": others}, shares=[0.1, 0.25])
    assert found["added"].to_list() == [3, 10]
    assert found["value"][1] == pytest.approx(spammer_index(everybody).value, abs=1e-4)
    assert found["value"][0] == pytest.approx(spammer_index(everybody.without(names[3:10])).value, abs=1e-4)
    with raises(karat.screen.ScreenError, "index_by_share.too_few", needed=30, kind="steady", known=10):
        index_by_share(credible, {"steady": others}, shares=[0.5])
    with raises(karat.screen.ScreenError, "index_by_share.too_few"):
        index_by_share(everybody, {"steady": others}, shares=[0.1])


@pytest.mark.few(1)
@pytest.mark.parametrize("scale", [karat.Ordinal(4), karat.Nominal(["A", "B", "C"])])
def test_ratings_and_labels(scale: karat.Ordinal | karat.Nominal) -> None:
    answers = karat.simulate.crowd(24, 20, scale=scale, seed=2)
    found = index_by_share(answers, shares=[0.2])
    assert found["added"].to_list() == [6, 6, 6]
    assert ((found["lower"] < found["value"]) & (found["value"] < found["upper"])).all()


def test_shares_are_checked() -> None:
    for shares in ([], [1.0], [-0.1]):
        with raises(karat.screen.ScreenError, "index_by_share.shares"):
            index_by_share(CREDIBLE, shares=shares)
