"""Pairs removed one by one, with a reason each."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from karat.measure import MeasureError, adequacy, factors, ratings_matrix, reduce_pairs
from karat.messages import Message
from measure.differential import differential
from messages import raises


def ratings() -> pl.DataFrame:
    """Six clear pairs of two dimensions, one between them, one of neither."""
    random = np.random.default_rng(2)
    first, second = random.standard_normal((2, 400))
    clear = [side + 0.5 * random.standard_normal(400) for side in (first, second) for _ in range(3)]
    between = first + second + 0.5 * random.standard_normal(400)
    return pl.DataFrame([*clear, between, random.standard_normal(400)],
                        schema=["a1", "a2", "a3", "b1", "b2", "b3", "between", "noise"])  # fmt: skip


def test_what_belongs_to_none_goes_before_both() -> None:
    found = reduce_pairs(ratings(), 2)
    assert found.removed == ["noise", "between"]
    assert found.kept == ["a1", "a2", "a3", "b1", "b2", "b3"]
    assert found.log["message"].to_list() == ["reduction.low_communality", "reduction.close_loadings"]
    for row, limit in zip(found.log.to_dicts(), (0.4, 0.2), strict=True):
        assert row["values"] == {"communality": row["communality"], "gap": row["gap"], "limit": limit}
    assert found.log["communality"][0] < 0.4
    assert found.log["gap"][1] < 0.2
    assert found.table()["reason"][0] == "communality .00 is under .40"
    assert found.table("de")["reason"][0] == "Kommunalität 0,00 liegt unter 0,40"
    assert (found.factors.communalities >= 0.4).all()
    sizes = np.sort(np.abs(found.factors.loadings), axis=1)
    assert (sizes[:, -1] - sizes[:, -2] >= 0.2).all()
    assert found.summary[0] == Message("reduction.removed", {"n": 2, "left": 6})
    assert found.summary[1:] == found.factors.summary


@pytest.mark.slow
def test_the_log_has_the_fit_before_each_removal() -> None:
    log = reduce_pairs(ratings(), 2).log
    for step, left in enumerate((ratings(), ratings().drop("noise"))):
        before = factors(left, 2)
        row = log.row(step, named=True)
        assert (row["step"], row["pairs"], row["dof"]) == (step + 1, left.width, before.dof)
        assert row["chi2"] == pytest.approx(before.chi2)
        assert row["kmo"] == pytest.approx(adequacy(left).kmo)


def test_what_is_kept_stays_and_limits_can_be_set() -> None:
    assert reduce_pairs(ratings(), 2, keep=["between"]).removed == ["noise"]
    assert reduce_pairs(ratings(), 2, communality=0, gap=0).removed == []
    assert reduce_pairs(ratings(), 2, communality=0, gap=0).log.schema["chi2"] == pl.Float64


@pytest.mark.slow
def test_a_matrix_of_ratings_and_a_pair_that_follows_from_others() -> None:
    assert reduce_pairs(ratings_matrix(differential(people=150)), 2).removed == []
    doubled = ratings().with_columns(sum=pl.col("a1") + pl.col("noise"))
    found = reduce_pairs(doubled, 2, method="minres")
    assert "noise" in found.removed
    assert np.isnan(found.log["kmo"][0])


def test_it_ends_before_factors_outnumber_pairs() -> None:
    noise = pl.DataFrame(np.random.default_rng(5).standard_normal((200, 6)), schema=list("abcdef"))
    found = reduce_pairs(noise, 2)
    assert len(found.kept) == 5
    (note,) = found.notes
    assert (note.code, note.values["factors"], note.values["pairs"]) == ("reduction.stays", 2, 5)
    assert note.values["reason"].code == "reduction.low_communality"


def test_what_cannot_be_asked_for() -> None:
    with raises(MeasureError, "setting.refused"):
        reduce_pairs(ratings(), 2, communality=1.5)
    with raises(MeasureError, "reduction.no_names"):
        reduce_pairs(ratings().to_numpy(), 2)


def test_pairs_to_keep_must_be_there() -> None:
    with raises(MeasureError, "reduction.unknown_pair"):
        reduce_pairs(ratings(), 1, keep=["nois"])
