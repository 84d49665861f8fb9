"""Correlations between measures beside scipy's, and what is refused."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

import karat
from karat.measure.pairs.measure_correlations import compare_measures
from karat.measure.result import MeasureError
from karat.measure.scaling.strengths import strengths
from karat.messages import Message, message_of
from measure.rated_items import ratings
from messages import codes, raises


def scores(n: int = 40, seed: int = 1) -> dict[str, dict[str, float]]:
    """Three measures of the same stimuli, the third of half of them."""
    random = np.random.default_rng(seed)
    truth = random.normal(size=n)
    noisy = {name: np.round(truth + random.normal(0, spread, n), 1) for name, spread in
             (("likert", 0.3), ("choice", 0.6), ("magnitude", 1.0))}  # fmt: skip
    found = {name: {f"s{place}": float(value) for place, value in enumerate(own)} for name, own in noisy.items()}
    found["magnitude"] = dict(list(found["magnitude"].items())[: n // 2])
    return found


def test_coefficients_are_scipys() -> None:
    measures = scores()
    found = compare_measures(measures, samples=0)
    assert found.frame.select("first", "second", "n").rows() == [
        ("likert", "choice", 40), ("likert", "magnitude", 20), ("choice", "magnitude", 20),
    ]  # fmt: skip
    for row in found.frame.to_dicts():
        shared = [label for label in measures[row["first"]] if label in measures[row["second"]]]
        x, y = ([measures[row[key]][label] for label in shared] for key in ("first", "second"))
        assert row["spearman"] == pytest.approx(stats.spearmanr(x, y)[0])
        assert row["kendall"] == pytest.approx(stats.kendalltau(x, y)[0])
        assert row["pearson"] == pytest.approx(stats.pearsonr(x, y)[0])
        assert row["lower"] is None
    left_out = Message("measure_correlations.left_out", {"first": "likert", "second": "magnitude", "n": 20})
    assert left_out in found.notes
    assert found.scores["magnitude"].null_count() == 20


@pytest.mark.slow
def test_intervals_are_those_of_stimuli_drawn_again() -> None:
    measures = {name: own for name, own in scores().items() if name != "magnitude"}
    x, y = (np.array(list(own.values())) for own in measures.values())
    random = np.random.default_rng(9)
    slow = [stats.spearmanr(x[drawn], y[drawn])[0] for drawn in random.integers(0, 40, (1500, 40))]
    row = compare_measures(measures, samples=1500).frame.row(0, named=True)
    assert (row["lower"], row["upper"]) == pytest.approx(tuple(np.quantile(slow, [0.025, 0.975])), abs=0.03)
    assert row["lower"] < row["spearman"] < row["upper"]
    again = compare_measures(measures, samples=1500).frame.row(0, named=True)
    assert again == row


def test_strengths_tables_and_mappings_are_the_same_measure() -> None:
    judgments = karat.datasets.load("likert")
    found = strengths(judgments, "mean")
    as_mapping = dict(zip(found.labels, found.frame["estimate"], strict=True))
    both = compare_measures({"a": found, "b": found.table(), "c": as_mapping, "d": found.table().to_pandas()}, 0)
    assert both.frame["spearman"].to_list() == pytest.approx([1.0] * 6)
    assert both.frame["n"].unique().to_list() == [96]


def test_stimuli_without_an_estimate_do_not_count() -> None:
    table = pl.DataFrame({"item": list("abcd"), "estimate": [1.0, 2.0, None, 4.0]})
    found = compare_measures({"x": table, "y": {"a": 1, "b": 2, "c": 3, "d": 4}}, 0)
    assert found.frame["n"].to_list() == [3]


def test_what_cannot_be_compared_is_said() -> None:
    one = {"a": 1.0, "b": 2.0, "c": 3.0}
    with raises(MeasureError, "measure_correlations.one_measure"):
        compare_measures({"x": one})
    with raises(MeasureError, "measure_correlations.few_shared") as caught:
        compare_measures({"x": one, "y": {"a": 1.0, "k": 2.0}})
    assert message_of(caught.value).values == {
        "first": "x", "second": "y", "shared": 1, "fewest": 3, "first_stimuli": ["a", "b", "c"],
        "second_stimuli": ["a", "k"],
    }  # fmt: skip
    with raises(MeasureError, "measure_correlations.columns"):
        compare_measures({"x": one, "y": pl.DataFrame({"item": ["a"]})})
    with raises(MeasureError, "measure_correlations.repeated"):
        compare_measures({"x": one, "y": pl.DataFrame({"item": ["a", "a"], "estimate": [1.0, 2.0]})})
    with raises(MeasureError, "measure_correlations.reserved_name"):
        compare_measures({"stimulus": one, "y": one})


def test_a_measure_that_does_not_vary_has_no_correlation() -> None:
    found = compare_measures({"x": {"a": 1, "b": 1, "c": 1}, "y": {"a": 1, "b": 2, "c": 3}}, 50)
    assert found.frame.select("spearman", "kendall", "pearson", "lower").row(0) == (None,) * 4
    assert codes(found.summary) == ["measure_correlations.undefined"]
    assert "cannot be compared" in found.plot().get_suptitle()


def test_the_summary_has_the_first_correlations() -> None:
    judgments = ratings()
    found = compare_measures({name: strengths(judgments, name) for name in ("mean", "zscore")}, 100)
    (message,) = found.summary
    assert (message.code, message.values["first"], message.values["second"], message.values["n"]) == (
        "measure_correlations.spearman", "mean", "zscore", 6
    )  # fmt: skip
    many = compare_measures({name: {"a": 1, "b": 2, "c": 3} for name in "uvwxy"}, 0)
    assert many.summary[-1] == Message("measure_correlations.more", {"n": 4})
