"""What a fit reports and warns of, in the units of the caller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import multivariate_normal

from karat.messages import Message
from karat.models.glrm.mixed import fit as mixed
from karat.models.glrm.mixed import result as mixed_result
from karat.models.glrm.mixed.fit import fit_mixed
from karat.models.glrm.mixed.result import (
    MixedFit,
    MixedProblem,
    describe,
    same_answers,
    separated_answers,
    single_answers,
    sizes,
)
from karat.models.glrm.mixed.terms import RandomTerm, random_term
from models.glrm.mixed_cases import NAMES, fixed, slopes, vector


def fitted(family: Any, **settings: Any) -> MixedFit:
    y, columns, who, what = slopes(family, 14, 8, 1.0)
    terms = [vector("participant", who, columns, "diagonal"), random_term("item", what)]
    return fit_mixed(y, *fixed(family, columns), terms, family=family, **settings)


@pytest.mark.parametrize(
    ("family", "reml"), [("binary", False), ("ordinal", False), ("gaussian", False), ("gaussian", True)]
)
def test_a_fit_in_words(family: Any, reml: bool) -> None:
    notes = Message("word.yes"), Message("word.no")
    fit = replace(fitted(family, reml=reml), log=(Message("fit.still_singular"),), notes=notes)
    of = fit.covariances
    deviations = [of["participant"][0, 0], of["participant"][1, 1], of["item"][0, 0]]
    deviations += [fit.residual_variance] if family == "gaussian" else []
    first, ended = fit.summary
    assert first.code == ("fit.mixed_reml" if reml else "fit.mixed")
    assert (first.values["n"], first.values["kind"].code) == (112, f"fit.{family}")
    assert [group.values for group in first.values["groups"]] == [
        {"n": 14, "group": "participant"}, {"n": 8, "group": "item"}
    ]  # fmt: skip
    own = first.values["deviations"]
    assert [one.values["value"] for one in own] == pytest.approx(np.sqrt(deviations), rel=1e-3)
    assert [(one.values["effect"], one.values["group"]) for one in own[:3]] == [
        ("(Intercept)", "participant"), ("x", "participant"), ("(Intercept)", "item")
    ]  # fmt: skip
    assert first.values["value"] == fit.log_likelihood
    assert ended == fit.convergence.message
    assert str(fit) == " ".join(map(str, (first, ended, *notes, *fit.log)))
    assert fit.n == 112
    assert fit.reml is reml


def test_numbers_are_grouped_by_thousands() -> None:
    rows = np.arange(2400)
    random = np.random.default_rng(3)
    y = random.normal(size=1200)[rows // 2] + random.normal(size=2400)
    fit = fit_mixed(y, np.ones((2400, 1)), ["1"], [random_term("who", rows // 2)], family="gaussian")
    assert all(number in str(fit) for number in ("2,400", "1,200"))


def test_terms_of_a_group_stand_together_and_do_not_correlate() -> None:
    y, columns, who, what = slopes("gaussian", 14, 8, 1.0)
    terms = [
        random_term("participant", who), random_term("item", what),
        random_term("participant", who, columns[:, 1:], ("x",)),
    ]  # fmt: skip
    fit = fit_mixed(y, columns, NAMES, terms, family="gaussian")
    other = fitted("gaussian")
    assert list(fit.covariances) == list(fit.effects) == list(fit.levels) == ["participant", "item"]
    assert fit.random_names == {"participant": NAMES, "item": NAMES[:1]}
    assert fit.covariances["participant"] == pytest.approx(other.covariances["participant"], rel=1e-4, abs=1e-9)
    assert fit.effects["participant"] == pytest.approx(other.effects["participant"], abs=1e-4)
    assert fit.effects["item"] == pytest.approx(other.effects["item"], abs=1e-4)


def test_measured_answers_have_gls_covariance() -> None:
    """And effects that are the expectation of b given the answers, from the dense covariance of all answers."""
    y, columns, who, what = slopes("gaussian", 14, 8, 1.0)
    fit = fitted("gaussian", reml=True)
    indicators = {"participant": np.eye(14)[who], "item": np.eye(8)[what]}
    covariance = fit.residual_variance * np.eye(len(y))
    for group, z in indicators.items():
        inner = columns[:, : len(fit.random_names[group])]
        covariance += (z @ z.T) * (inner @ fit.covariances[group] @ inner.T)
    of_coefficients = np.linalg.inv(columns.T @ np.linalg.solve(covariance, columns))
    coefficients = of_coefficients @ columns.T @ np.linalg.solve(covariance, y)
    assert fit.coefficients == pytest.approx(coefficients, abs=1e-6)
    assert fit.covariance == pytest.approx(of_coefficients, rel=1e-6, abs=1e-9)
    assert fit.standard_errors == pytest.approx(np.sqrt(np.diag(of_coefficients)))
    left = np.linalg.solve(covariance, y - columns @ coefficients)
    for group, z in indicators.items():
        inner = columns[:, : len(fit.random_names[group])]
        assert fit.effects[group] == pytest.approx(z.T @ (inner * left[:, None]) @ fit.covariances[group], abs=1e-5)


@pytest.mark.parametrize("family", ["binary", "ordinal"])
def test_hessian_is_the_likelihoods_in_the_callers_units(family: Any) -> None:
    y, columns, who, what = slopes(family, 14, 8, 1.0)
    moved = np.column_stack([columns[:, 0], 10 * columns[:, 1] + 3])
    design, names = fixed(family, moved)
    fit = fit_mixed(y, design, names, [random_term("who", who), random_term("item", what)], family=family)
    slopes_there = []
    for k, error in enumerate(np.sqrt(np.diag(fit.parameter_covariance))):
        step = np.zeros(len(fit.parameters))
        step[k] = 1e-3 * error
        ahead, behind = fit.objective(fit.parameters + step), fit.objective(fit.parameters - step)
        assert ahead is not None
        assert behind is not None
        slopes_there.append((ahead.gradient - behind.gradient) / (2e-3 * error))
    errors = np.sqrt(np.diag(fit.parameter_covariance))
    scale = np.outer(errors, errors)
    assert fit.hessian * scale == pytest.approx(np.array(slopes_there) * scale, abs=2e-3)
    assert fit.hessian @ fit.parameter_covariance == pytest.approx(np.eye(len(errors)), abs=1e-5)
    k = len(names)
    assert fit.covariance == pytest.approx(fit.parameter_covariance[:k, :k])
    assert fit.parameters.tolist() == [*fit.coefficients, *fit.thresholds, *fit.theta]
    assert fit.theta**2 == pytest.approx([fit.covariances["who"][0, 0], fit.covariances["item"][0, 0]])
    assert len(fit.parameter_names) == len(fit.parameters)


def test_answers_that_are_told_apart_leave_no_standard_errors() -> None:
    y, columns, who, what = slopes(participants=14, items=8)
    y = np.where(columns[:, 1] > 0, 1, y)
    fit = fit_mixed(y, columns, NAMES, [random_term("participant", who), random_term("item", what)])
    assert fit.convergence.reason == Message("fit.reason_separated")
    assert fit.converged is False
    assert np.isnan(fit.standard_errors).all()
    assert np.isnan(fit.parameter_covariance).all()
    assert fit.covariance.shape == (2, 2)


def test_undetermined_covariances_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    monkeypatch.setattr(mixed, "describe", lambda *arguments: given.append(arguments) or describe(*arguments))
    y, columns, who, _ = slopes("gaussian", 14, 8, 1.0)
    terms = [random_term("who", who), random_term("rows", np.arange(len(y)))]
    fit = fit_mixed(y, columns, NAMES, terms, family="gaussian")
    assert not fit.converged
    assert fit.convergence.reason == Message("fit.reason_covariances", {"groups": ["rows"]})
    problem, objective, found, *rest = given[0]
    sure = replace(found, convergence=replace(found.convergence, converged=True))
    assert describe(problem, objective, sure, *rest).converged is False
    twice = fit_mixed(y, columns, NAMES, [*terms, random_term("again", np.arange(len(y)))], family="gaussian")
    assert twice.convergence.reason == Message("fit.reason_covariances", {"groups": ["rows", "again"]})


def rounds() -> tuple[Any, Any, Any, Any]:
    """Measured answers of eight people to six items in three rounds, which differ in level and slope for each."""
    who, what, when = np.indices((8, 6, 3)).reshape(3, -1)
    random = np.random.default_rng(6)
    columns = np.column_stack([np.ones(len(who)), (who + what) % 3 - 1.0])
    inside = random.normal(0, [1.0, 0.9], (8, 3, 2))[who, when]
    y = random.normal(size=8)[who] + random.normal(size=6)[what] + (inside * columns).sum(axis=1)
    return y + 0.5 * random.normal(size=len(who)), columns, (who, what), when


def test_effects_of_nested_levels_are_their_expectations_too() -> None:
    y, columns, (who, what), when = rounds()
    terms = [
        random_term("who", who), random_term("what", what),
        random_term("who:round", who * 3 + when, columns, NAMES),
    ]  # fmt: skip
    fit = fit_mixed(y, columns, NAMES, terms, family="gaussian")
    indicators = {"who": np.eye(8)[who], "what": np.eye(6)[what], "who:round": np.eye(24)[who * 3 + when]}
    covariance = fit.residual_variance * np.eye(len(y))
    for group, z in indicators.items():
        inner = columns[:, : len(fit.random_names[group])]
        covariance += (z @ z.T) * (inner @ fit.covariances[group] @ inner.T)
    left = np.linalg.solve(covariance, y - columns @ fit.coefficients)
    for group, z in indicators.items():
        inner = columns[:, : len(fit.random_names[group])]
        assert fit.effects[group] == pytest.approx(z.T @ (inner * left[:, None]) @ fit.covariances[group], abs=1e-5)
    likelihood = multivariate_normal(columns @ fit.coefficients, covariance).logpdf(y)
    assert fit.log_likelihood == pytest.approx(likelihood)


def test_columns_that_share_a_variance_have_it_each() -> None:
    y, columns, (who, what), when = rounds()
    base = [random_term("who", who), random_term("what", what)]
    indicators = (when[:, None] == np.arange(3)).astype(float)
    shared = random_term("who", who, indicators, ("r1", "r2", "r3"), "shared")
    fit = fit_mixed(y, columns, NAMES, [*base, shared], family="gaussian")
    nested = fit_mixed(y, columns, NAMES, [*base, random_term("round", who * 3 + when)], family="gaussian")
    variance = nested.covariances["round"][0, 0]
    assert fit.covariances["who"][1:, 1:] == pytest.approx(variance * np.eye(3), rel=1e-3)
    assert fit.effects["who"][:, 1:].ravel() == pytest.approx(nested.effects["round"][:, 0], abs=1e-3)


def test_a_fit_keeps_what_it_was_made_of() -> None:
    y, columns, who, what = slopes("ordinal", 14, 8, 1.0)
    terms = [vector("participant", who, columns * [1, 10]), random_term("item", what)]
    fit = fit_mixed(y, columns[:, 1:], ["x"], terms, family="ordinal")
    assert fit.names == ("x",)
    assert fit.categories.tolist() == [0, 1, 2, 3]
    assert all(own is given for own, given in zip(fit.terms, terms, strict=True))
    size = np.array([1.0, 5.0])[:, None]  # x is half a unit from zero, here times 10
    lower = fit.factors[0] / size
    assert lower @ lower.T == pytest.approx(fit.covariances["participant"])
    at = fit.objective(fit.parameters)
    assert at is not None
    assert [one.tolist() for one in fit.modes] == [one.tolist() for one in at.modes]
    assert len(fitted("gaussian").thresholds) == 0


def test_a_singular_fit_says_which_term_is_singular() -> None:
    y, columns, who, _ = slopes("gaussian", 14, 8, 1.0)
    y = y - (np.bincount(who, y) / 8)[who]
    fit = fit_mixed(y, columns[:, :1], ["1"], [random_term("who", who)], family="gaussian")
    assert fit.singular_terms == (True,)
    assert fit.notes[0].code == "fit.zero_variance"


def test_measured_answers_are_not_looked_at_for_separation(monkeypatch: pytest.MonkeyPatch) -> None:
    separated = Message("fit.separated", {"names": ["x"], "n": 1})
    monkeypatch.setattr(mixed_result, "separated_answers", lambda *_: [separated])
    assert separated not in fitted("gaussian").notes
    assert separated in fitted("binary").notes


class Otherwise:
    """An objective with another end: what it reports is changed."""

    def __init__(self, objective: Any, change: Callable[[Any], Any]) -> None:
        self.crossing, self.objective, self.change = objective.crossing, objective, change

    def __call__(self, parameters: Any, start: Any = None) -> Any:
        return self.change(self.objective(parameters, start))


def test_a_search_that_ends_without_modes_or_likelihood(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    monkeypatch.setattr(mixed, "describe", lambda *arguments: given.append(arguments) or describe(*arguments))
    fit = fitted("binary")
    assert fit.converged
    problem, objective, *rest = given[0]
    lost: Any = Otherwise(objective, lambda at: replace(at, converged=False))
    without = describe(problem, lost, *rest)
    assert without.converged is False
    assert without.convergence.reason == Message("fit.reason_modes")
    assert without.convergence.evaluations == fit.convergence.evaluations
    nothing: Any = Otherwise(objective, lambda at: None)
    with pytest.raises(ArithmeticError):
        describe(problem, nothing, *rest)


Floats = NDArray[np.float64]
SIGN = np.where(np.arange(8) % 2, 0.5, -0.5)
OTHER = np.where(np.arange(8) // 2 % 2, 0.5, -0.5)
ONES = np.ones(8)
GROUP = random_term("item", np.arange(8) // 4)
TURN = np.array([[2.0, 0.5, -1.0], [0.0, 0.3, 0.7], [0.0, 0.0, 5.0]])
"""From parameters that a search had to those of the caller's columns."""


def problem(columns: list[Floats], family: Any = "binary", terms: tuple[RandomTerm, ...] = (GROUP,)) -> MixedProblem:
    names = ("one", "x", "z")[: len(columns)] if family == "binary" else ("x", "z", "w")[: len(columns)]
    answers = np.arange(8) % (2 if family == "binary" else 3)
    return MixedProblem(
        answers, np.unique(answers), np.column_stack(columns), names, terms, family, False, np.zeros(8)
    )  # fmt: skip


def separated(*names: str) -> Message:
    return Message("fit.separated", {"names": list(names), "n": len(names)})


def notes_on(given: MixedProblem, coefficients: list[float], covariance: Any) -> list[Message]:
    """The messages about coefficients (and thresholds after them) that have this covariance in the caller's units.

    The search knows the information about other parameters, and about theta as well, which is held where it is.
    """
    columns = len(coefficients)
    turn = np.eye(len(covariance))
    turn[:columns, :columns] = TURN[:columns, :columns]
    information = np.full((len(covariance) + 1, len(covariance) + 1), 0.01)
    information[:-1, :-1] = turn.T @ np.linalg.inv(covariance) @ turn
    found: Any = SimpleNamespace(at=SimpleNamespace(information=lambda: information))
    whole = np.eye(len(covariance) + 1)
    whole[:-1, :-1] = turn
    factors = [np.eye(len(term.names)) for term in given.terms]
    return separated_answers(given, np.array(coefficients), found, whole, factors)


def test_the_column_is_named_that_tells_answers_apart() -> None:
    given = problem([ONES, SIGN, OTHER])
    assert notes_on(given, [0.5, 30.0, 1.0], np.diag([0.01, 900.0, 0.01])) == [separated("x")]
    assert notes_on(given, [0.5, 1.0, -30.0], np.diag([0.01, 0.01, 900.0])) == [separated("z")]
    assert notes_on(given, [30.0, 1.0, 1.0], np.diag([900.0, 0.01, 0.01])) == [separated("one")]
    assert notes_on(given, [0.5, 30.0, 30.0], np.diag([0.01, 900.0, 900.0])) == [separated("x", "z")]


def test_predictors_must_be_large_and_uncertain_in_the_same_row() -> None:
    given = problem([ONES, SIGN])
    assert notes_on(given, [0.5, 30.0], np.diag([0.01, 0.01])) == []
    assert notes_on(given, [0.5, 3.0], np.diag([0.01, 900.0])) == []
    assert notes_on(given, [10.5, 3.0], np.diag([0.01, 900.0])) != []
    # Large where x is positive, uncertain where it is negative: se is |1 - 2x| times 8.
    assert notes_on(given, [6.0, 9.5], 64.0 * np.array([[1, -2], [-2, 4.0001]])) == []
    assert notes_on(given, [6.0, -9.5], 64.0 * np.array([[1, -2], [-2, 4.0001]])) != []


def test_where_no_column_does_it_alone_all_are_named() -> None:
    given = problem([ONES, SIGN, OTHER])
    assert notes_on(given, [8.0, 16.0, 16.0], np.diag([81.0, 324.0, 324.0])) == [separated("one", "x", "z")]


def test_distance_from_zero_does_not_change_the_name() -> None:
    """The coefficient of x is as good as known, though times 1000 its error is large."""
    given = problem([ONES, SIGN + 1000, OTHER])
    assert notes_on(given, [0.0, 0.0, 30.0], np.diag([0.01, 0.0025, 900.0])) == [separated("z")]


def test_predictors_of_yes_or_no_answers_are_seen_as_they_are() -> None:
    """Far from zero the intercept would have to make up for it, and here it is known."""
    assert notes_on(problem([ONES, SIGN + 40]), [0.0, 0.5], np.diag([0.01, 1.0])) == [separated("one", "x")]


@pytest.mark.parametrize("shift", [0.0, 40.0])
def test_ordered_answers_are_seen_from_the_middle_of_each_column(shift: float) -> None:
    """Their thresholds move with the columns, so that neither predictors nor their errors tell anything far off."""
    given = problem([SIGN + shift, OTHER], "ordinal")
    calm, wild = np.diag([1.0, 1.0, 9.0, 9.0]), np.diag([1.0, 900.0, 9.0, 9.0])
    assert notes_on(given, [1.0, 1.0], calm) == []
    assert notes_on(given, [1.0, 30.0], wild) == [separated("z")]
    # Were the thresholds known, x would be certain enough; they are not.
    joint = np.array([[900.0, 0, 0, 890], [0, 1, 0, 0], [0, 0, 9, 0], [890, 0, 0, 900]])
    assert notes_on(given, [30.0, 1.0], joint) == [separated("x")]


def test_what_the_data_say_nothing_about_is_uncertain() -> None:
    given = problem([ONES, SIGN])
    for nothing in (0.0, -1e-9):
        found: Any = SimpleNamespace(at=SimpleNamespace(information=lambda own=nothing: np.diag([1.0, own, 1.0])))
        assert separated_answers(given, np.array([0.0, 25.0]), found, np.eye(3), [np.eye(1)]) == [separated("x")]


@pytest.mark.parametrize("unit", [0.01, 1.0, 100.0])
def test_effects_grow_with_an_unbounded_deviation(unit: float) -> None:
    columns = np.column_stack([ONES, np.where(np.arange(8) < 5, 1.0, 200.0) * unit])
    term = random_term("who", np.arange(8) // 4, columns, ("(Intercept)", "x"))
    given = problem([ONES], terms=(GROUP, term))
    found: Any = SimpleNamespace(at=SimpleNamespace(information=lambda: np.eye(4)))
    for slope, grows in ((19.9, False), (20.1, True)):
        # The deviation of most rows is sqrt(15^2 + slope^2), and 25 where the slope's is 20.
        lower = np.diag([15.0, slope / unit])
        factors = [np.eye(1), sizes(term)[:, None] * lower]
        said = separated_answers(given, np.zeros(1), found, np.eye(4), factors)
        assert said == [Message("fit.unbounded_effects", {"group": "who"})] * grows


def test_sizes_are_those_of_the_rows_that_have_any() -> None:
    term = random_term("who", [0, 1, 0], [[1.0, 0.0], [1.0, 3.0], [1.0, 5.0]], ("(Intercept)", "x"))
    assert sizes(term) == pytest.approx([1.0, np.sqrt((9 + 25) / 2)])


def test_a_level_for_every_answer_is_reported() -> None:
    alone = random_term("row", np.arange(8))
    some = random_term("pair", [0, 1, 2, 3, 4, 5, 6, 6])
    single = Message("fit.one_answer_per_level", {"group": "row"})
    assert single_answers(problem([ONES], terms=(GROUP, alone, some))) == [single]
    assert single_answers(problem([ONES], "gaussian", terms=(GROUP, alone))) == []


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=12))
def test_equal_answers_to_a_level_are_counted(rows: list[tuple[int, int]]) -> None:
    levels = sorted({level for level, _ in rows})
    if len(levels) < 2:
        return
    codes, answers = np.array(rows).T
    terms = (random_term("who", codes), random_term("who", codes, np.ones((len(rows), 1)), ("x",)))
    given = MixedProblem(
        answers, np.arange(3), np.ones((len(rows), 1)), ("x",), terms, "ordinal", False, np.zeros(len(rows))
    )
    of_level = [[answer for own, answer in rows if own == level] for level in levels]
    same = sum(len(own) > 1 and len(set(own)) == 1 for own in of_level)
    expected = Message("fit.same_answers", {"n": same, "levels": len(levels), "group": "who"})
    assert same_answers(given) == [expected] * bool(same)


def test_single_answers_are_reported_where_levels_have_more() -> None:
    who = random_term("who", [0, 0, 1, 1, 2, 3, 3, 3])
    pairs = random_term("pair", [0, 1, 2, 3, 0, 1, 2, 3])
    answers = np.array([0, 0, 0, 1, 2, 1, 1, 1])
    given = MixedProblem(answers, np.arange(3), np.ones((8, 1)), ("x",), (who, pairs), "ordinal", False, np.zeros(8))
    assert same_answers(given) == [
        Message("fit.same_answers", {"n": 2, "levels": 4, "group": "who"}),
        Message("fit.same_answers", {"n": 1, "levels": 4, "group": "pair"}),
    ]  # fmt: skip


def test_measured_answers_are_never_said_to_be_the_same() -> None:
    assert same_answers(problem([ONES], "gaussian")) == []
