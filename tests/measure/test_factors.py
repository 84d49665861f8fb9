"""Factor analysis of a differential whose dimensions are known."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from karat.measure import Factors, MeasureError, factors, ratings_matrix
from karat.messages import Message, message_of
from measure.differential import PAIRS, differential
from messages import codes, raises

ONE = [[1, 0.6, 0.5, 0.4], [0.6, 1, 0.5, 0.4], [0.5, 0.5, 1, 0.3], [0.4, 0.4, 0.3, 1]]


@pytest.fixture(scope="module")
def found() -> Factors:
    return factors(ratings_matrix(differential(people=150)), 2)


@pytest.mark.slow
def test_the_dimensions_are_found(found: Factors) -> None:
    assert found.converged
    sides = dict(found.frame.select("pair", "factor").iter_rows())
    assert sides["clear"] == sides["precise"] == sides["complete"]
    assert sides["simple"] == sides["direct"] == sides["short"] != sides["clear"]
    assert 0.1 < found.correlations[0, 1] < 0.6
    np.testing.assert_allclose(found.communalities, 1 - found.uniquenesses)
    model = found.loadings @ found.correlations @ found.loadings.T + np.diag(found.uniquenesses)
    np.testing.assert_allclose(model, found.source.matrix, atol=0.05)
    assert found.dof == 4


def test_sums_of_squares_are_the_communalities_divided(found: Factors) -> None:
    for column in ("unrotated", "rotated"):
        assert found.explained[column].sum() == pytest.approx(found.communalities.sum())
        assert found.explained[f"{column}_percent"].sum() == pytest.approx(100 * found.communalities.mean())


def test_the_table_has_pairs_of_a_factor_together(found: Factors) -> None:
    order = found.table()["factor"].to_list()
    assert order == sorted(order)
    assert set(found.table()["pair"]) == set(PAIRS)


def test_scores_are_standard_and_follow_their_pairs(found: Factors) -> None:
    scores = found.scores()
    assert scores.columns == ["participant", "item", "F1", "F2"]
    first = found.frame.filter(pl.col("factor") == "F1")["pair"].to_list()
    assert found.source.values is not None
    sums = found.source.values[:, [found.pairs.index(pair) for pair in first]].sum(axis=1)
    assert np.corrcoef(scores["F1"].to_numpy(), sums)[0, 1] > 0.95
    assert scores["F1"].mean() == pytest.approx(0, abs=1e-9)
    assert 0.7 < float(np.std(scores["F1"].to_numpy())) < 1
    assert float(np.std(found.scores("bartlett")["F1"].to_numpy())) > 1


def test_names(found: Factors) -> None:
    named = found.named("precision", "complexity")
    assert named.scores().columns[2:] == ["precision", "complexity"]
    assert named.explained["factor"].to_list() == ["precision", "complexity"]
    assert set(named.frame["factor"]) == {"precision", "complexity"}
    with raises(MeasureError, "factors.names"):
        found.named("precision")


@pytest.mark.slow
def test_minimum_residuals_find_the_same_structure(found: Factors) -> None:
    matrix = ratings_matrix(differential(people=150))
    for method, rotation in (("minres", "promax"), ("ml", "oblimin"), ("ml", "varimax")):
        other = factors(matrix, 2, method, rotation)  # type: ignore[arg-type]
        assert other.frame["factor"].to_list() == found.frame["factor"].to_list()
    assert np.array_equal(factors(matrix, 2, rotation="varimax").correlations, np.eye(2))


def test_it_prints_itself(found: Factors) -> None:
    explained, fit = found.summary
    assert (explained.code, explained.values["n"], explained.values["pairs"]) == ("factors.explained", 2, 6)
    assert (fit.code, fit.values["dof"], fit.values["chi2"]) == ("factors.fit", 4, found.chi2)
    assert found.notes
    assert str(found) == "\n".join([f"{explained!s} {fit!s}", *(f"Note: {note!s}" for note in found.notes)])
    full = factors(np.array(ONE)[:3, :3], 1, observations=99)
    assert codes(full.summary) == ["factors.explained", "factors.no_test"]
    assert "factors.no_degrees_of_freedom" in codes(full.notes)


@pytest.mark.parametrize(
    ("settings", "code", "values"),
    [
        ({"n": 2}, "factors.number", {"pairs": 4, "most": 1, "n": 2}),
        ({"n": 0}, "factors.number", {"pairs": 4, "most": 1, "n": 0}),
        ({"method": "paf"}, "factors.method", {"method": "paf"}),
        ({"rotation": "quartimax"}, "factors.rotation", {"rotation": "quartimax"}),
        ({"rotation": "oblimin", "kaiser": "spss"}, "factors.kaiser",
         {"known": ["none", "all"], "rotation": "oblimin", "kaiser": "spss"}),
        ({"start": "random"}, "factors.start", {"start": "random"}),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_for(settings: dict[str, object], code: str, values: dict[str, object]) -> None:
    with raises(MeasureError, code) as caught:
        factors(ONE, **({"n": 1, "observations": 200} | settings))  # type: ignore[arg-type]
    assert message_of(caught.value).values == values


def test_two_pairs_have_no_factor() -> None:
    with raises(MeasureError, "factors.too_few_pairs"):
        factors(np.array(ONE)[:2, :2], 1, observations=200)


def test_scores_need_ratings() -> None:
    with raises(MeasureError, "factors.no_ratings"):
        factors(ONE, 1, observations=200).scores()
    with raises(MeasureError, "factors.score_method"):
        factors(ratings_matrix(differential(people=20)), 1).scores("mean")  # type: ignore[arg-type]


def test_few_cases_are_reported() -> None:
    assert Message("factors.few_cases", {"cases": 19, "pairs": 4}) in factors(ONE, 1, observations=19).notes
