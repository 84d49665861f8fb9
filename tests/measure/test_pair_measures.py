"""Contrasts come from the right answers: direct choices, own differences, strengths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

import karat
from karat.measure import MeasureError, strengths
from karat.measure.pairs.pair_measures import (
    SMALL_LOGITS,
    direct_choices,
    direct_counts,
    model_contrasts,
    own_differences,
)
from karat.measure.rated import Rated, rated
from karat.messages import Message
from messages import raises
from tests.measure.judged_pairs import SCALES, judged


def one_of(judgments: karat.Judgments) -> Rated:
    (one,) = rated(judgments, "decisions")
    return one


def test_choices_are_counted_whatever_the_side() -> None:
    judgments = judged("choice", [1.0, 0.0, -1.0])
    counts = direct_counts(one_of(judgments))
    for number in range(3):
        rows = judgments.frame.filter(pl.col("item") == f"i{number}")
        chosen = [
            {"left": row["left"], "right": row["right"], "none": ""}[row["response"]]
            for row in rows.iter_rows(named=True)
        ]
        expected = tuple(chosen.count(name) for name in (f"a{number}", f"b{number}", ""))
        assert counts[f"a{number}", f"b{number}"] == expected
    measure = direct_choices(one_of(judgments), None, 0.05)
    forward, backward = measure.contrast("a0", "b0"), measure.contrast("b0", "a0")
    assert forward is not None
    assert backward is not None
    assert forward.estimate == pytest.approx(1 - backward.estimate)
    assert forward.p == backward.p
    assert measure.contrast("a0", "b1") is None


def test_who_judged_a_pair_twice_counts_once() -> None:
    frame = judged("forced", [1.0]).frame
    turned = frame.with_columns(
        item=pl.lit("again"), left="right", right="left", response=pl.lit("left"), expected=pl.lit(None, pl.String)
    )
    twice = karat.Judgments(pl.concat([frame, turned]), karat.Choice())
    assert direct_counts(one_of(twice)) == direct_counts(one_of(judged("forced", [1.0])))


def test_own_differences_of_standardised_magnitudes() -> None:
    judgments = judged("magnitude", [0.8, 0.1])
    found = own_differences(one_of(judgments), None, 0.05).contrast("a0", "b0")
    logs = judgments.frame.with_columns(value=pl.col("response").cast(pl.Float64).log())
    z = logs.with_columns(
        value=(pl.col("value") - pl.col("value").mean().over("participant")) / pl.col("value").std().over("participant")
    )
    a, b = (z.filter(pl.col("item") == item).sort("participant")["value"].to_numpy() for item in ("a0", "b0"))
    assert found is not None
    assert found.p == pytest.approx(stats.ttest_rel(a, b).pvalue)
    assert found.estimate == pytest.approx(float(np.mean(a - b)))


def test_different_participants_are_compared_as_groups() -> None:
    judgments = judged("likert", [1.0], halves=True)
    found = own_differences(one_of(judgments), None, 0.05).contrast("a0", "b0")
    values = judgments.frame.with_columns(pl.col("response").cast(pl.Float64))
    a, b = (values.filter(pl.col("item") == item)["response"].to_numpy() for item in ("a0", "b0"))
    assert found is not None
    assert (found.test, found.n) == ("Welch's t", 30)
    assert found.p == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue)
    shares = own_differences(one_of(judged("yes-no", [1.0], halves=True)), None, 0.05).contrast("a0", "b0")
    assert shares is not None
    assert shares.test == "two shares"


def test_a_paired_contrast_of_means_is_that_of_their_covariance() -> None:
    """Two roads to the same standard error: participants' differences, and the covariance of the means."""
    judgments = judged("likert", [1.0, 0.2, -0.5])
    one = one_of(judgments)
    own = own_differences(one, None, 0.05).contrast("a0", "b0")
    model = model_contrasts(one, strengths(judgments, "mean"), None, 0.05).contrast("a0", "b0")
    assert own is not None
    assert model is not None
    assert (own.estimate, own.se) == pytest.approx((model.estimate, model.se))


@pytest.mark.parametrize(
    ("kind", "unit", "rope"),
    [
        ("likert", "unit.scale_points", 0.6),
        ("yes-no", "unit.share", 0.1),
        ("magnitude", "unit.deviations", 0.2),
        ("slider", "unit.deviations", 0.2),
    ],
)
def test_regions_of_equivalence_of_own_differences(kind: str, unit: str, rope: float) -> None:
    one = one_of(judged(kind, [0.5, 0.0]))
    measure = own_differences(one, None, 0.05)
    assert measure.unit.code == unit
    assert measure.rope == pytest.approx(rope)
    assert own_differences(one, 0.33, 0.05).rope == 0.33


@pytest.mark.parametrize(
    ("kind", "model", "unit", "rope"),
    [
        ("likert", "ordinal", "unit.logits", SMALL_LOGITS),
        ("likert", "mean", "unit.scale_points", 0.6),
        ("yes-no", "mean", "unit.share", 0.1),
        ("slider", "mean", "unit.scale", 10),
        ("slider", "zscore", None, 0.2),
    ],
)
def test_regions_of_equivalence_of_models(kind: str, model: str, unit: str | None, rope: float) -> None:
    judgments = judged(kind, [0.5, 0.0])
    found = strengths(judgments, model)
    measure = model_contrasts(one_of(judgments), found, None, 0.05)
    assert str(measure.unit) == str(found.unit) if unit is None else measure.unit.code == unit
    assert measure.rope == pytest.approx(rope)


def test_strengths_of_a_posterior_have_bayes_factors() -> None:
    judgments = judged("likert", [2.0, 0.0], people=60)
    found = strengths(judgments, "ordinal")
    one = one_of(judgments)
    plain = model_contrasts(one, found, None, 0.05).contrast("a0", "b0")
    assert plain is not None
    assert np.isnan(plain.bayes_factor)
    sampled = replace(found, settings=found.settings | {"posterior": True})
    measure = model_contrasts(one, sampled, None, 0.05)
    clear, equal = measure.contrast("a0", "b0"), measure.contrast("a1", "b1")
    assert clear is not None
    assert equal is not None
    assert clear.bayes_factor > 100
    assert equal.bayes_factor < 1


def test_numbers_without_ends_need_a_region() -> None:
    judgments = judged("magnitude", [0.5, 0.0])
    found = strengths(judgments, "mean")
    with raises(MeasureError, "decisions.no_rope"):
        model_contrasts(one_of(judgments), found, None, 0.05)
    assert model_contrasts(one_of(judgments), found, 0.1, 0.05).rope == 0.1


def test_those_whose_answers_do_not_vary_are_reported() -> None:
    frame = judged("magnitude", [0.5, 0.0]).frame
    flat = frame.with_columns(
        response=pl.when(pl.col("participant") == "p00").then(pl.lit("100")).otherwise("response")
    )
    measure = own_differences(one_of(karat.Judgments(flat, SCALES["magnitude"])), None, 0.05)
    found = measure.contrast("a0", "b0")
    assert found is not None
    assert found.n == 29
    assert measure.notes == (Message("decisions.constant_answers", {"n": 1}),)


def test_too_few_answers_are_no_contrast() -> None:
    measure = own_differences(one_of(judged("likert", [1.0], people=1)), None, 0.05)
    assert measure.contrast("a0", "b0") is None
    assert measure.contrast("a0", "elsewhere") is None


def test_choices_need_to_name_what_was_compared() -> None:
    table = {"participant": ["p1"], "item": ["ab"], "response": ["left"]}
    with raises(MeasureError, "decisions.no_sides"):
        direct_counts(one_of(karat.Judgments(table, karat.Choice())))
