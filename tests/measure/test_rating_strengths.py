"""Strengths of ratings beside slow computations, stimulus by stimulus."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

import karat
from karat.measure.rated import rated
from karat.measure.result import MeasureError
from karat.measure.scaling.ratings import rating_strengths
from karat.measure.scaling.strengths import strengths
from karat.messages import Message, message_of
from karat.models.glrm import fit_crossed
from measure.rated_items import ratings
from messages import codes, raises


def incomplete(scale: karat.Scale | None = None) -> karat.Judgments:
    """Ratings of which a third is missing."""
    whole = ratings(20, 9, scale)
    return karat.Judgments(whole.frame.sample(fraction=0.67, seed=3), scale or karat.Ordinal(5))


def test_means_with_students_interval() -> None:
    judgments = incomplete()
    found = strengths(judgments, "mean", level=0.9)
    for row in found.frame.to_dicts():
        own = judgments.frame.filter(pl.col("item") == row["item"])["response"].cast(pl.Float64).to_numpy()
        interval = stats.t.interval(0.9, len(own) - 1, own.mean(), stats.sem(own))
        assert (row["estimate"], row["se"], row["n"]) == pytest.approx((own.mean(), stats.sem(own), len(own)))
        assert (row["lower"], row["upper"]) == pytest.approx(interval)
    assert found.unit == Message("unit.points", {"low": 1, "high": 5})


def test_the_covariance_of_means_is_that_of_its_definition() -> None:
    judgments = incomplete()
    found = strengths(judgments, "mean")
    table = judgments.frame.with_columns(pl.col("response").cast(pl.Float64)).pivot(
        "item", index="participant", values="response"
    )
    columns = [table[label].to_numpy() for label in found.labels]
    for a, x in enumerate(columns):
        for b, y in enumerate(columns):
            n, m = np.isfinite(x).sum(), np.isfinite(y).sum()
            product = np.nansum((x - np.nanmean(x)) * (y - np.nanmean(y)))
            assert found.covariance[a, b] == pytest.approx(product / np.sqrt(n * (n - 1) * m * (m - 1)))
    assert np.linalg.eigvalsh(found.covariance).min() > -1e-12


def test_z_scores_within_participant() -> None:
    judgments = incomplete()
    z = judgments.frame.with_columns(pl.col("response").cast(pl.Float64)).with_columns(
        z=(pl.col("response") - pl.col("response").mean().over("participant"))
        / pl.col("response").std().over("participant")
    )
    means = dict(z.group_by("item").agg(pl.col("z").mean()).iter_rows())
    for label, estimate in zip(*(strengths(judgments, "zscore").frame[name] for name in ("item", "estimate")),
                               strict=True):  # fmt: skip
        assert estimate == pytest.approx(means[label])


def test_participants_whose_answers_do_not_vary_are_named() -> None:
    frame = ratings().frame.with_columns(
        response=pl.when(pl.col("participant") == "p3").then(pl.lit("4")).otherwise("response")
    )
    found = strengths(karat.Judgments(frame, karat.Ordinal(5)), "zscore")
    values = {"answers": 6, "n": 1, "names": ["p3"], "more": None}
    assert Message("strengths.flat_answers", values) in found.notes
    assert found.frame["n"].to_list() == [11] * 6
    flat = karat.Judgments(frame.with_columns(response=pl.lit("4")), karat.Ordinal(5))
    with raises(MeasureError, "strengths.no_spread"):
        strengths(flat, "zscore")
    with raises(MeasureError, "strengths.not_fitted") as error:
        strengths(flat)
    assert message_of(error.value).values["reason"].code == "models.same_answers"


def test_magnitudes_do_not_depend_on_modulus_or_unit() -> None:
    frame = ratings().frame
    tenfold = frame.with_columns((pl.col("response").cast(pl.Float64) * 10).cast(pl.String))
    one = strengths(karat.Judgments(frame, karat.Magnitude(2)))
    other = strengths(karat.Judgments(tenfold, karat.Magnitude(50)))
    assert one.frame["estimate"].to_list() == pytest.approx(other.frame["estimate"].to_list())
    logs = strengths(karat.Judgments(frame, karat.Magnitude(2)), "mean").frame.filter(pl.col("item") == "i3")
    own = frame.filter(pl.col("item") == "i3")["response"].cast(pl.Float64).to_numpy()
    assert logs["estimate"][0] == pytest.approx(np.log(own / 2).mean())


def yes_no(judgments: karat.Judgments) -> karat.Judgments:
    positive = (pl.col("response").cast(pl.Int64) > 3).cast(pl.Int64).cast(pl.String)
    return karat.Judgments(judgments.frame.with_columns(response=positive), karat.Binary())


def test_shares_of_yes_have_wilsons_interval() -> None:
    found = strengths(yes_no(ratings()), "mean")
    row = found.frame.row(0, named=True)
    interval = stats.binomtest(round(row["estimate"] * 12), 12).proportion_ci(method="wilson")
    assert (row["lower"], row["upper"]) == pytest.approx((interval.low, interval.high))
    assert found.unit == Message("unit.shares", {"answer": "1"})


@pytest.mark.parametrize("model", ["binary", "ordinal"])
def test_modelled_strengths_are_the_modes_of_the_fit(model: str) -> None:
    judgments = yes_no(incomplete()) if model == "binary" else incomplete()
    found = strengths(judgments)
    frame = judgments.frame
    fit = fit_crossed(frame["response"].cast(pl.Int64).to_numpy(), frame["participant"].to_numpy().astype(str),
                      frame["item"].to_numpy().astype(str), family=model)  # type: ignore[arg-type]  # fmt: skip
    modes = dict(zip(fit.tasks.tolist(), fit.task_effects, strict=True))
    assert found.model == model
    for label, estimate in zip(found.labels, found.frame["estimate"], strict=True):
        assert estimate == pytest.approx(modes[label], abs=1e-5)
    assert found.frame["se"].to_list() == pytest.approx(np.sqrt(np.diag(found.covariance)).tolist())
    assert found.fit.converged
    assert "strengths.shrunk" in codes(found.notes)


@pytest.mark.slow
def test_intervals_hold_what_they_promise() -> None:
    """The truth, drawn from the model, lies in 95 % of the intervals: over 12 studies of 40 stimuli each."""
    inside = []
    for seed in range(12):
        random = np.random.default_rng(seed)
        who, what = np.divmod(np.arange(30 * 40), 40)
        truth = random.normal(0, 1.2, 40)
        latent = random.normal(0, 0.8, 30)[who] + truth[what] + random.logistic(size=len(who))
        table = {"participant": who.astype(str), "item": what.astype(str),
                 "response": np.digitize(latent, [-2, -0.5, 0.5, 2]) + 1}  # fmt: skip
        frame = strengths(karat.Judgments(table, karat.Ordinal(5))).frame
        own = truth[frame["item"].cast(pl.Int64).to_numpy()]
        inside.append(((frame["lower"].to_numpy() < own) & (own < frame["upper"].to_numpy())).mean())
    assert 0.92 < np.mean(inside) < 0.98


def test_one_answer_has_no_standard_error() -> None:
    frame = ratings().frame
    alone = frame.filter((pl.col("item") != "i2") | (pl.col("participant") == "p0"))
    found = strengths(karat.Judgments(alone, karat.Ordinal(5)), "mean")
    row = found.frame.filter(pl.col("item") == "i2").row(0, named=True)
    assert row["estimate"] is not None
    assert row["se"] is row["lower"] is None
    assert Message("strengths.single_answers", {"n": 1}) in found.notes
    assert np.isnan(found.difference("i2", "i3").se)


def test_one_participant_cannot_be_modelled() -> None:
    one = karat.Judgments(ratings().frame.filter(pl.col("participant") == "p0"), karat.Ordinal(5))
    with raises(MeasureError, "strengths.not_fitted") as error:
        strengths(one)
    assert message_of(error.value).values["reason"].code == "strengths.two_of_each"


@pytest.mark.parametrize("model", ["mean", "ordinal"])
def test_too_many_stimuli_for_a_covariance(model: str) -> None:
    (one,) = rated(ratings(), "strengths")
    whole, found = rating_strengths(one, model), rating_strengths(one, model, most=5)
    assert found.covariance.size == 0
    assert found.frame["se"].to_list() == pytest.approx(whole.frame["se"].to_list())
    assert Message("strengths.covariances", {"n": 6}) in found.notes


def test_the_levels_that_occur_are_reported() -> None:
    frame = ratings().frame.filter(pl.col("response") != "2")
    found = strengths(karat.Judgments(frame, karat.Ordinal(5)))
    assert found.settings["levels"] == ("1", "3", "4", "5")
    assert len(found.fit.thresholds) == 3


def test_units_say_what_is_counted() -> None:
    assert strengths(ratings(scale=karat.Continuous(0, 10)), "mean").unit == Message(
        "unit.points", {"low": 0, "high": 10}
    )
    assert strengths(ratings(scale=karat.Continuous()), "mean").unit == Message("unit.answers")
    assert "log ratios" in str(strengths(ratings(scale=karat.Magnitude())).unit)
