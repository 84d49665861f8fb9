"""Strengths of choices: the engines' numbers under the right names, what is refused and by which words, predictions."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

import karat
from karat.measure import MeasureError, predict, strength_draws, strengths
from karat.measure.rated import rated
from karat.measure.scaling.choices import choice_strengths, compared_stimuli
from karat.messages import Message, message_of, with_code
from karat.models.choices import Pairs, fit_pairs
from karat.models.choices.thurstone import fit_thurstone, population_probabilities
from karat.models.choices.thurstone_people import EULER, Population
from measure.chosen import choices, judged_choices
from messages import codes, raises

WORTH = [-1.5, -0.9, -0.3, 0.2, 0.7, 1.8]
NO_BAYES = importlib.util.find_spec("numpyro") is None


def found_by(judgments: karat.Judgments, model: str, **options: Any) -> karat.measure.Strengths:
    """With repeated comparisons kept."""
    (one,) = rated(judgments, "strengths", once=None, conditions=[])
    return choice_strengths(one, model, **options)


@pytest.mark.parametrize("model", ["bradley-terry", "davidson", "thurstone"])
def test_no_difference_throughout_is_refused(model: str) -> None:
    """With the ties as half choices nothing is left over, so that standard errors would be zero."""
    pairs = [("x", "y"), ("y", "z"), ("z", "x")]
    rows = [(f"p{who}", f"{left}{right}", left, right, "none") for who in range(5) for left, right in pairs]
    table = pl.DataFrame(rows, schema=["participant", "item", "left", "right", "response"], orient="row")
    with raises(MeasureError, "models.same_answers"):
        strengths(karat.Judgments(table, karat.Choice(none=True)), model)


@pytest.mark.parametrize("model", ["bradley-terry", "davidson", "thurstone"])
def test_order_is_found_and_the_table_has_all_measures(model: str) -> None:
    found = found_by(choices(WORTH, 24, 40, seed=1), model)
    assert found.table().columns == ["item", "estimate", "se", "lower", "upper", "rank", "n"]
    assert found.labels == ["i05", "i04", "i03", "i02", "i01", "i00"]
    assert found.frame["rank"].to_list() == [1, 2, 3, 4, 5, 6]
    assert found.frame["n"].sum() == 2 * 24 * 40
    assert found.frame["estimate"].sum() == pytest.approx(0, abs=1e-9)
    assert np.sqrt(np.diag(found.covariance)) == pytest.approx(found.frame["se"].to_numpy())
    assert (found.frame["upper"] - found.frame["estimate"]).to_numpy() == pytest.approx(
        norm.ppf(0.975) * found.frame["se"].to_numpy()
    )


def test_numbers_are_those_of_the_engine() -> None:
    judgments = choices(WORTH, 15, 30, seed=2)
    frame = judgments.frame
    number = {name: place for place, name in enumerate(sorted(set(frame["left"]) | set(frame["right"])))}
    left, right = ([number[name] for name in frame[side]] for side in ("left", "right"))
    answer = frame["response"].replace_strict({"left": 1, "none": 0, "right": -1}).to_numpy()
    who = frame["participant"].rank("dense").cast(pl.Int64).to_numpy() - 1
    pairs = Pairs.of(left, right, answer, 6)
    for model, fit in (
        ("davidson", fit_pairs(pairs, side=True, participant=who)),
        ("thurstone", fit_thurstone(pairs, who, shared_criterion=True)),
    ):
        options: dict[str, Any] = {"criterion": "shared"} if model == "thurstone" else {"side": True}
        found = found_by(judgments, model, **options).frame.sort("item")
        assert found["estimate"].to_numpy() == pytest.approx(fit.strengths, abs=1e-6)
        assert found["se"].to_numpy() == pytest.approx(fit.standard_errors, rel=1e-5)


def test_ties_count_half_for_bradley_and_terry() -> None:
    """Every "no difference" once left and once right, and all others twice: the same strengths."""
    judgments = choices(WORTH, 12, 30, seed=3, criterion=0.6)
    found = found_by(judgments, "bradley-terry")
    assert "choices.half_ties" in codes(found.notes)
    frame = judgments.frame
    ties = frame.filter(response="none")
    rest = frame.filter(pl.col("response") != "none")
    doubled = pl.concat(
        [rest, rest, ties.with_columns(response=pl.lit("left")), ties.with_columns(response=pl.lit("right"))]
    )
    doubled = doubled.with_columns(trial=pl.int_range(1, doubled.height + 1))
    twice = found_by(karat.Judgments(doubled, karat.Choice()), "bradley-terry")
    assert twice.frame["item"].to_list() == found.frame["item"].to_list()
    assert twice.frame["estimate"].to_numpy() == pytest.approx(found.frame["estimate"].to_numpy(), abs=1e-6)
    assert twice.frame["se"].to_numpy() == pytest.approx(found.frame["se"].to_numpy(), rel=0.02)


def test_what_is_not_connected_is_named() -> None:
    choices = [("a", "b", "left"), ("b", "a", "left"), ("c", "d", "left"), ("d", "c", "left")]
    with raises(MeasureError, "choices.pairs_apart") as error:
        strengths(judged_choices(choices))
    found = message_of(error.value).values["apart"]
    assert (found.code, found.values["n"]) == ("choices.only_pairs", 2)
    with raises(MeasureError, "choices.not_connected") as error:
        strengths(judged_choices([*choices, ("a", "e", "left"), ("e", "a", "left")]))
    found = message_of(error.value).values["apart"]
    assert (found.code, found.values["n"]) == ("choices.groups", 2)
    assert [group.values["names"] for group in found.values["groups"]] == [["a", "b", "e"], ["c", "d"]]
    one_way = judged_choices([("a", "b", "left"), ("b", "a", "left"), ("c", "a", "left"), ("c", "b", "left")])
    with raises(MeasureError, "choices.not_connected") as error:
        strengths(one_way)
    found = message_of(error.value).values["apart"]
    assert (found.code, found.values["together"]) == ("choices.one_way", None)
    assert found.values["alone"].values == {"names": ["c"], "more": None}
    held = strengths(one_way, prior_sd=2.0)
    assert held.labels[0] == "c"
    assert Message("choices.prior", {"apart": found, "sd": 2.0}) in held.notes
    many = judged_choices([(f"x{number:02}", "y", "left") for number in range(14)])
    with raises(MeasureError, "choices.not_connected") as error:
        strengths(many)
    alone = message_of(error.value).values["apart"].values["alone"].values
    assert (alone["names"][-1], alone["more"]) == ("x09", 5)


def test_thurstone_has_a_table_of_participants() -> None:
    """The steady choose one side in all pairs; the last one says no difference half of the time."""
    people = [f"p{number}" for number in range(4) for _ in range(6)] + ["q"] * 6
    answers = ["left"] * 24 + ["none", "left"] * 3
    rows = {"participant": people, "left": "a", "right": "b", "item": "ab", "response": answers}
    judgments = karat.Judgments(pl.DataFrame(rows), karat.Choice(none=True))
    table = found_by(judgments, "thurstone").participants
    assert table is not None
    assert table.select("participant", "n").rows() == [*((f"p{number}", 6) for number in range(4)), ("q", 6)]
    assert table["criterion"][4] > table["criterion"].to_numpy()[:4].max()
    shared = found_by(judgments, "thurstone", criterion="shared").participants
    assert shared is not None
    assert np.ptp(shared["criterion"].to_numpy()) < 1e-9


def test_thurstone_notes_what_only_the_prior_places() -> None:
    rows = [("a", "b", "left"), ("b", "a", "left"), ("c", "d", "none"), ("d", "c", "left")] * 3
    found = found_by(judged_choices(rows, none=True), "thurstone")
    (placed,) = with_code(found.notes, "choices.wide_prior")
    assert placed.values["apart"].code == "choices.only_pairs"


@pytest.mark.parametrize(
    ("model", "options", "code"),
    [
        ("thurstone", {"side": True}, "choices.no_option"),
        ("thurstone", {"prior_sd": 1.0}, "choices.no_option"),
        ("davidson", {"criterion": "shared"}, "choices.no_option"),
        ("bradley-terry", {"posterior": True}, "choices.no_option"),
        ("davidson", {"prior_sd": 0.0}, "setting.refused"),
        ("thurstone", {"criterion": "mine"}, "setting.refused"),
    ],
)
def test_options_that_a_model_does_not_have_are_refused(model: str, options: dict[str, Any], code: str) -> None:
    with raises(MeasureError, code) as error:
        found_by(choices(WORTH, 4, 20, seed=4), model, **options)
    if code == "choices.no_option":
        assert message_of(error.value).values["option"] == next(iter(options))


def test_rows_that_cannot_be_compared_are_counted() -> None:
    frame = choices(WORTH, 8, 30, seed=5).frame
    place = pl.int_range(frame.height)
    frame = frame.with_columns(
        left=pl.when(place == 0).then(None).otherwise("left"),
        right=pl.when(place == 1).then("left").otherwise("right"),
    )
    notes = found_by(karat.Judgments(frame, karat.Choice(none=True)), "davidson").notes
    assert Message("choices.unnamed_side", {"n": 1}) in notes
    assert Message("choices.same_sides", {"n": 1}) in notes
    bare = karat.Judgments(frame.drop("left", "right"), karat.Choice(none=True))
    with raises(MeasureError, "choices.no_sides"):
        found_by(bare, "davidson")


def test_conditions_tell_stimuli_apart() -> None:
    frame = choices(WORTH, 10, 40, seed=6).frame.with_columns(place=pl.lit("home")).with_columns(
        place=pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.lit("work")).otherwise("place")
    )  # fmt: skip
    (one,) = rated(karat.Judgments(frame, karat.Choice(none=True)), "strengths", conditions=["place"], once=None)
    compared = compared_stimuli(one)
    assert compared.stimuli.columns == ["item", "place"]
    assert len(compared.labels) == 12
    assert "i00, home" in compared.labels


def test_predictions_are_the_formulas() -> None:
    judgments = choices(WORTH, 16, 40, seed=7)
    davidson = found_by(judgments, "davidson", side=True)
    top, last = davidson.frame["estimate"][0], davidson.frame["estimate"][-1]
    half = (top - last + davidson.fit.side) / 2
    weights = np.exp([half, davidson.fit.tie, -half])
    (row,) = predict(davidson, [(davidson.labels[0], davidson.labels[-1])]).rows(named=True)
    assert [row["p_left"], row["p_none"], row["p_right"]] == pytest.approx(weights / weights.sum())
    found = predict(found_by(judgments, "thurstone"), [("i05", "i00"), ("i00", "i05")])
    assert found["p_left"][0] == pytest.approx(found["p_right"][1])
    assert found.select("p_left", "p_none", "p_right").sum_horizontal().to_list() == pytest.approx([1, 1])
    with raises(MeasureError, "choices.unknown"):
        predict(davidson, [("nobody", "i00")])
    with raises(MeasureError, "choices.not_choices"):
        predict(strengths(karat.datasets.load("likert"), "mean"), [])


def test_the_population_is_averaged_over() -> None:
    population = Population(2.5, -0.4, 0.5)
    random = np.random.default_rng(8)
    sigma = np.exp((np.log(random.exponential(size=400_000)) + EULER) / 2.5)
    criterion = np.exp(-0.4 + 0.5 * random.normal(size=400_000))
    felt = 0.8 + sigma * random.normal(size=400_000)
    slow = [(felt > criterion).mean(), (np.abs(felt) <= criterion).mean(), (felt < -criterion).mean()]
    assert population_probabilities(population, np.array([0.8]))[0] == pytest.approx(slow, abs=0.004)


@pytest.mark.skipif(not NO_BAYES, reason="the extra bayes is installed")
def test_without_the_extra_the_error_names_the_command() -> None:
    with raises(MeasureError, "posterior.not_installed", command="pip install 'karat[bayes]'"):
        found_by(choices(WORTH, 6, 20, seed=9), "thurstone", posterior=True)


@pytest.mark.slow
@pytest.mark.skipif(NO_BAYES, reason="needs the extra bayes")
def test_the_posterior_agrees_with_the_maximum() -> None:
    judgments = choices(WORTH, 20, 40, seed=10)
    drawn, fitted = found_by(judgments, "thurstone", posterior=True), found_by(judgments, "thurstone")
    assert drawn.labels == fitted.labels
    away = (drawn.frame["estimate"] - fitted.frame["estimate"]) / fitted.frame["se"]
    assert away.abs().max() < 1
    assert drawn.fit.trusted
    assert strength_draws(drawn).columns == drawn.labels
    assert strength_draws(drawn).mean().row(0) == pytest.approx(drawn.frame["estimate"].to_list())


def test_of_equal_estimates_none_is_the_highest() -> None:
    frame = pl.DataFrame({"item": ["a", "b"], "estimate": [0.001, -0.001], "lower": [-1.0, -1.0], "upper": [1.0, 1.0]})
    found = karat.measure.Strengths(frame, "mean", "points", 0.95, None)
    assert codes(found.summary) == ["strengths.stimuli"]
    apart = frame.with_columns(estimate=pl.Series([1.0, -1.0]))
    assert codes(karat.measure.Strengths(apart, "mean", "points", 0.95, None).summary)[-1] == "strengths.ends"
