"""Pairs removed one by one, with a reason each."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from karat.measure import MeasureError, adequacy, factors, ratings_matrix, reduce_pairs
from karat.measure.reduction import gaps
from measure.differential import differential


def ratings() -> pl.DataFrame:
    """Six clear pairs of two dimensions, one between them, one of neither."""
    random = np.random.default_rng(2)
    first, second = random.standard_normal((2, 400))
    clear = [side + 0.5 * random.standard_normal(400) for side in (first, second) for _ in range(3)]
    between = first + second + 0.5 * random.standard_normal(400)
    return pl.DataFrame([*clear, between, random.standard_normal(400)],
                        schema=["a1", "a2", "a3", "b1", "b2", "b3", "between", "noise"])  # fmt: skip


def test_what_belongs_to_none_goes_first_then_what_belongs_to_both() -> None:
    found = reduce_pairs(ratings(), 2)
    assert found.removed == ["noise", "between"]
    assert found.kept == ["a1", "a2", "a3", "b1", "b2", "b3"]
    assert found.log["reason"][0] == "communality .00 is under .40"
    assert found.log["reason"][1].startswith("its two largest loadings differ by .")
    assert found.log["reason"][1].endswith(", under .20")
    assert (found.factors.communalities >= 0.4).all()
    assert (gaps(found.factors.loadings) >= 0.2).all()
    assert str(found).startswith("2 pairs removed, 6 left. 2 factors explain")


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
    assert "2 factors need 5 pairs" in found.notes[0]


def test_what_cannot_be_asked_for() -> None:
    with pytest.raises(MeasureError, match="between 0 and 1"):
        reduce_pairs(ratings(), 2, communality=1.5)
    with pytest.raises(MeasureError, match="named columns"):
        reduce_pairs(ratings().to_numpy(), 2)


def test_pairs_to_keep_must_be_there() -> None:
    with pytest.raises(MeasureError, match="keep names nois, which is no pair"):
        reduce_pairs(ratings(), 1, keep=["nois"])
