"""The one table of strengths: which model is taken, what is refused, how stimuli are named and compared."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import karat
from karat.measure.result import MeasureError
from karat.measure.scaling.result import Strengths, by_strength
from karat.measure.scaling.strengths import strengths
from karat.messages import Message, message_of
from measure.rated_items import ratings
from messages import raises


@pytest.mark.parametrize(
    ("scale", "model"),
    [(karat.Ordinal(5), "ordinal"), (karat.Continuous(1, 5), "zscore"), (karat.Magnitude(3), "magnitude")],
)
def test_the_recommended_model_of_a_scale(scale: karat.Scale, model: str) -> None:
    found = strengths(ratings(scale=scale))
    assert found.model == model == found.settings["model"]
    assert found.frame.columns == ["item", "estimate", "se", "lower", "upper", "rank", "n"]
    assert found.frame["rank"].to_list() == [1, 2, 3, 4, 5, 6]
    assert found.frame["n"].to_list() == [12] * 6
    assert found.labels[0] == "i5"
    assert found.labels[-1] == "i0"


def test_a_model_that_does_not_fit_is_refused_with_those_that_do() -> None:
    with raises(MeasureError, "strengths.no_model") as error:
        strengths(ratings(), "thurstone")
    assert message_of(error.value).values == {
        "model": "thurstone", "kinds": ["ordinal"], "models": ["ordinal", "mean", "zscore"]
    }  # fmt: skip
    labels = karat.Judgments({"participant": ["a"], "item": ["i"], "response": ["x"]}, karat.Nominal(["x", "y"]))
    with raises(MeasureError, "strengths.no_order"):
        strengths(labels)


@pytest.mark.parametrize(
    "option", [{"side": True}, {"criterion": "shared"}, {"prior_sd": 1.0}, {"posterior": True}]
)  # fmt: skip
def test_options_of_choices_are_not_ignored(option: dict[str, object]) -> None:
    with raises(MeasureError, "strengths.only_choices", option=next(iter(option))):
        strengths(ratings(), **option)  # type: ignore[arg-type]


def test_level_must_be_a_share() -> None:
    with raises(MeasureError, "setting.refused", setting="level"):
        strengths(ratings(), level=95)


def test_several_questions_need_a_name() -> None:
    frame = ratings().frame
    both = pl.concat([frame.with_columns(question=pl.lit(name)) for name in ("natural", "clear")])
    judgments = karat.Judgments(both, karat.Ordinal(5))
    with raises(MeasureError, "rated.several_questions"):
        strengths(judgments)
    with raises(MeasureError, "rated.no_question"):
        strengths(judgments, question="claer")
    assert strengths(judgments, "mean", question="clear").settings["question"] == "clear"


def test_only_test_trials_unless_asked() -> None:
    frame = ratings().frame.with_columns(
        function=pl.when(pl.col("item") == "i0").then(pl.lit("filler")).otherwise(pl.lit("test"))
    )
    judgments = karat.Judgments(frame, karat.Ordinal(5))
    assert "i0" not in strengths(judgments, "mean").labels
    assert strengths(judgments, "mean", functions=["filler"]).labels == ["i0"]


def test_trials_without_an_answer_are_counted() -> None:
    frame = ratings().frame.with_columns(
        response=pl.when(pl.int_range(pl.len()) < 2).then(None).otherwise("response")
    )  # fmt: skip
    found = strengths(karat.Judgments(frame, karat.Ordinal(5)), "mean")
    assert Message("strengths.no_answer", {"n": 2}) in found.notes
    assert found.frame["n"].sum() == 70
    assert str(found) == " ".join(map(str, (*found.summary, *found.notes)))


def test_conditions_are_part_of_the_label() -> None:
    found = strengths(karat.datasets.load("likert"), "mean")
    assert found.conditions == ["order", "integration"]
    row = found.frame.row(0, named=True)
    assert found.labels[0] == f"{row['item']}, {row['order']}, {row['integration']}"


def test_the_difference_of_two_means_is_the_paired_t_test() -> None:
    judgments = ratings()
    table = judgments.frame.with_columns(pl.col("response").cast(pl.Float64)).pivot(
        "item", index="participant", values="response"
    )
    found = strengths(judgments, "mean").difference("i4", "i1")
    paired = stats.ttest_rel(table["i4"], table["i1"])
    assert found.estimate / found.se == pytest.approx(paired.statistic)
    assert found.p == pytest.approx(2 * stats.norm.sf(abs(paired.statistic)))
    assert found.upper - found.estimate == pytest.approx(stats.norm.ppf(0.975) * found.se)
    (summary,) = found.summary
    assert (summary.code, summary.values["first"], summary.values["p"]) == ("strengths.difference", "i4", found.p)


def test_a_difference_of_a_stimulus_that_is_not_there() -> None:
    with raises(MeasureError, "unknown.stimulus", name="i44", close="i4"):
        strengths(ratings(), "mean").difference("i44", "i1")


def test_differences_without_covariance_are_independent() -> None:
    found = strengths(ratings(), "mean")
    alone = Strengths(found.frame, "mean", found.unit, 0.95, np.empty((0, 0)))
    se = dict(zip(found.labels, found.frame["se"], strict=True))
    assert alone.difference("i5", "i0").se == pytest.approx(np.hypot(se["i5"], se["i0"]))


@given(st.lists(st.floats(-5, 5) | st.just(float("nan")), min_size=1, max_size=12))
def test_strongest_first_and_the_unknown_last(values: list[float]) -> None:
    estimate = np.array(values)
    items = pl.DataFrame({"item": [str(place) for place in range(len(values))]})
    covariance = np.diag(np.arange(1.0, len(values) + 1))
    frame, moved, order = by_strength(items, estimate, covariance, np.arange(len(values)), 0.9)
    assert [int(item) for item in frame["item"]] == order.tolist()
    np.testing.assert_array_equal(np.diag(moved), np.diag(covariance)[order])
    known = frame["estimate"].drop_nulls().to_list()
    assert known == sorted(known, reverse=True)
    assert frame["estimate"].to_list()[: len(known)] == known
    assert frame["rank"].null_count() == np.isnan(estimate).sum()
    for value, rank in zip(known, frame["rank"].drop_nulls(), strict=True):
        assert rank == 1 + sum(other > value for other in known)
