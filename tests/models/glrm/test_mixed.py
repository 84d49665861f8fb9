"""Mixed models as a whole: what is found, what is said, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from karat.messages import Message
from karat.models.glrm import fit_crossed
from karat.models.glrm.mixed import fit as mixed_module
from karat.models.glrm.mixed.fit import fit_mixed, objective_of, orthogonal_design, parameter_labels, start_of
from karat.models.glrm.mixed.laplace import Crossing
from karat.models.glrm.mixed.result import MixedFit, check
from karat.models.glrm.mixed.search import SINGULAR
from karat.models.glrm.mixed.terms import random_term, sides
from messages import codes, raises, refuses
from models.glrm.mixed_cases import NAMES, fixed, slopes, vector

FAMILIES = ["binary", "ordinal", "gaussian"]


def fitted(family: Any = "binary", covariance: str = "full", **settings: Any) -> MixedFit:
    given = {key: settings.pop(key) for key in list(settings) if key in ("reml", "start", "simplify", "offset")}
    y, columns, who, what = slopes(family, **{"participants": 40, "items": 16, "share": 1.0, **settings})
    terms = [vector("participant", who, columns, covariance), vector("item", what, columns, covariance)]
    return fit_mixed(y, *fixed(family, columns), terms, family=family, **given)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_fit_is_a_maximum_and_says_so(family: str) -> None:
    fit = fitted(family)
    at = fit.objective(fit.parameters)
    assert at is not None
    assert fit.converged
    assert fit.convergence.curved
    errors = np.sqrt(np.diag(fit.parameter_covariance))
    assert np.abs(at.gradient * errors).max() < 1e-3
    random = np.random.default_rng(1)
    for _ in range(10):
        near = fit.objective(fit.parameters + 0.3 * errors * random.normal(size=len(errors)))
        assert near is None or -near.value < fit.log_likelihood
    first, ended = fit.summary
    assert ended.code == "fit.converged_scaled"
    levels = [(group.values["n"], group.values["group"]) for group in first.values["groups"]]
    assert levels == [(40, "participant"), (16, "item")]


@pytest.mark.few(1)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("size", [0.3, 2.0])
def test_the_start_does_not_matter(family: str, size: float) -> None:
    fit = fitted(family)
    start = fit.parameters.copy()
    start[-6:] = np.array([1.0, 0.3, 1.0, 1.0, -0.3, 1.0]) * size
    assert fitted(family, start=start).log_likelihood == pytest.approx(fit.log_likelihood, abs=1e-7)


@pytest.mark.few(2)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("shift", "unit"), [(0.0, 1000.0), (500.0, 1.0), (3.0, 1e-4)])
def test_units_and_origin_of_a_covariate_do_not_matter(family: str, shift: float, unit: float) -> None:
    y, columns, who, what = slopes(family, 40, 16)
    moved = np.column_stack([columns[:, 0], (columns[:, 1] + shift) * unit])
    one, other = (
        fit_mixed(y, *fixed(family, z), [vector("participant", who, z), random_term("item", what)], family=family)  # type: ignore[arg-type]
        for z in (columns, moved)
    )
    assert other.converged
    assert other.log_likelihood == pytest.approx(one.log_likelihood, abs=1e-6)
    assert other.coefficients[-1] * unit == pytest.approx(one.coefficients[-1], rel=1e-4)
    back = np.array([[1.0, shift], [0.0, 1.0]]) @ np.diag([1.0, unit])
    assert back @ other.covariances["participant"] @ back.T == pytest.approx(one.covariances["participant"], abs=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_intercepts_alone_are_those_of_the_engine_for_them(family: Any) -> None:
    y, columns, who, what = slopes(family, 30, 14)
    design, names = fixed(family, columns)
    fit = fit_mixed(y, design, names, [random_term("who", who), random_term("what", what)], family=family)
    other = fit_crossed(y, who, what, design, family=family)
    assert fit.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-7)
    assert fit.coefficients == pytest.approx(other.coefficients, abs=1e-4)
    assert fit.standard_errors == pytest.approx(other.standard_errors, rel=1e-3)
    assert fit.covariances["who"][0, 0] == pytest.approx(other.variances["worker"], rel=1e-3)
    assert fit.effects["what"][:, 0] == pytest.approx(other.task_effects, abs=1e-3)


def test_rounds_as_indicators_or_as_a_factor_are_one_model() -> None:
    random = np.random.default_rng(2)
    who, what, when = np.indices((14, 8, 3)).reshape(3, -1)
    eta = random.normal(size=14)[who] + random.normal(size=8)[what] + random.normal(size=(14, 3))[who, when]
    y = eta + random.logistic(size=len(eta)) > 0
    base = [random_term("participant", who), random_term("item", what)]
    rounds = (when[:, None] == np.arange(3)).astype(float)
    nested = fit_mixed(y, np.ones((len(y), 1)), ["1"], [*base, random_term("participant:round", who * 3 + when)])
    shared = fit_mixed(
        y, np.ones((len(y), 1)), ["1"],
        [*base, random_term("participant", who, rounds, ("r1", "r2", "r3"), "shared")],
    )  # fmt: skip
    assert nested.log_likelihood == pytest.approx(shared.log_likelihood, abs=1e-8)
    assert nested.effects["participant:round"].reshape(14, 3) == pytest.approx(shared.effects["participant"][:, 1:])
    assert np.diag(shared.covariances["participant"])[1:] == pytest.approx(
        [nested.covariances["participant:round"][0, 0]] * 3
    )
    assert shared.random_names["participant"] == ("(Intercept)", "r1", "r2", "r3")


def test_effects_make_up_the_predictor() -> None:
    """The modes by level, put back together, have no slope left: Z'r = Sigma^-1 b."""
    fit = fitted()
    y, columns, who, what = slopes("binary", 40, 16, 1.0)
    eta = columns @ fit.coefficients
    eta += (fit.effects["participant"][who] * columns).sum(axis=1) + (fit.effects["item"][what] * columns).sum(axis=1)
    error = y - 1 / (1 + np.exp(-eta))
    for group, own in (("participant", who), ("item", what)):
        pull = np.column_stack([np.bincount(own, error * column) for column in columns.T])
        assert pull @ fit.covariances[group] == pytest.approx(fit.effects[group], abs=1e-5)


def test_an_offset_moves_the_intercept() -> None:
    fit, moved = fitted(), fitted(offset=np.full(640, 0.4))
    assert moved.log_likelihood == pytest.approx(fit.log_likelihood, abs=1e-8)
    assert moved.coefficients == pytest.approx(fit.coefficients - [0.4, 0], abs=1e-4)
    measured, lifted = fitted("gaussian", reml=True), fitted("gaussian", reml=True, offset=np.full(640, 0.4))
    assert lifted.coefficients == pytest.approx(measured.coefficients - [0.4, 0], abs=1e-6)


@pytest.mark.few(1)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_singular_fit_is_named_and_simplified_only_when_asked(family: str) -> None:
    settings = {"participant": (1.0, 0.0), "item": (0.8, 0.0), "seed": 3}
    fit = fitted(family, **settings)
    assert fit.converged
    assert fit.singular
    assert fit.log == ()
    assert set(codes(fit.notes)) & set(SINGULAR)
    simple = fitted(family, simplify=True, **settings)
    assert simple.converged
    assert not simple.singular
    assert simple.log[0].code == "fit.without_correlations"
    assert simple.log[0].values["term"] in ("(1 + x | participant)", "(1 + x | item)")
    assert str(simple) == " ".join(map(str, (*simple.summary, *simple.notes, *simple.log)))
    assert simple.log_likelihood <= fit.log_likelihood + 1e-7
    assert len(simple.theta) < len(fit.theta)


def test_no_variance_at_all_ends_with_a_term_that_stays() -> None:
    random = np.random.default_rng(5)
    who = np.repeat(np.arange(20), 10)
    y = random.normal(size=200)
    y -= (np.bincount(who, y) / 10)[who]
    fit = fit_mixed(y, np.ones((200, 1)), ["1"], [random_term("who", who)], family="gaussian", simplify=True)
    assert fit.singular
    assert fit.covariances["who"][0, 0] == 0
    assert codes(fit.log) == ["fit.still_singular"]
    assert fit.residual_variance == pytest.approx(y.var())


def test_separation_is_flagged_and_does_not_diverge() -> None:
    y, columns, who, what = slopes(participants=40, items=16)
    y = np.where(columns[:, 1] > 0, 1, y)
    fit = fit_mixed(y, columns, NAMES, [random_term("participant", who), random_term("item", what)])
    assert not fit.converged
    assert "fit.separated" in codes(fit.notes)
    assert np.all(np.abs(fit.coefficients) < 100)


def test_constant_participants_are_flagged_without_divergence() -> None:
    _, columns, who, what = slopes(participants=20, items=10)
    fit = fit_mixed(who % 2, columns, NAMES, [random_term("participant", who), random_term("item", what)])
    assert not fit.converged
    assert np.isfinite(fit.log_likelihood)
    assert Message("fit.unbounded_effects", {"group": "participant"}) in fit.notes
    assert Message("fit.same_answers", {"n": 20, "levels": 20, "group": "participant"}) in fit.notes


def test_an_effect_for_every_answer_is_not_determined() -> None:
    y, columns, who, what = slopes("gaussian", 20, 10, 1.0)
    terms = [random_term("who", who), random_term("what", what), random_term("who:what", np.arange(len(y)))]
    fit = fit_mixed(y, columns, NAMES, terms, family="gaussian")
    assert not fit.converged
    assert fit.convergence.flat == ("who:what.(Intercept)",)
    assert fit.convergence.reason == Message("fit.reason_covariances", {"groups": ["who:what"]})
    binary = fit_mixed(y > 0, columns, NAMES, terms)
    assert Message("fit.one_answer_per_level", {"group": "who:what"}) in binary.notes


PLAIN: dict[str, Any] = {
    "response": [0, 1, 1, 0], "design": np.ones((4, 1)), "names": ["1"], "terms": [random_term("a", [0, 0, 1, 1])]
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"family": "poisson"}, ("poisson", "binary", "ordinal", "gaussian")),
        ({"reml": True}, ("REML", "binary")),
        ({"response": [0, 1, np.nan, 0]}, ("response",)),
        ({"response": [[0, 1, 1, 0]]}, ("response",)),
        ({"design": np.ones((3, 1))}, ("design",)),
        ({"design": np.ones((4, 2)), "names": ["a", "b"]}, ("design", "Column b")),
        ({"family": "ordinal"}, ("design", "Column 1", "thresholds")),
        ({"names": ["a", "b"]}, ("1 columns", "2 names")),
        ({"terms": []}, ("term",)),
        ({"terms": [random_term("item", [0, 1, 1])]}, ("term",)),
        ({"offset": [0.0]}, ("offset",)),
        ({"start": [1.0]}, ("start", 2, 1)),
        ({"family": "gaussian", "design": np.empty((4, 0)), "names": []}, ("design", "intercept")),
    ],
)
def test_arguments_that_cannot_be_fitted(change: dict[str, Any], names: tuple[object, ...]) -> None:
    with refuses(ValueError, *names):
        fit_mixed(**PLAIN | change)


@pytest.mark.parametrize(
    ("response", "code"), [([0, 0, 0, 0], "models.same_answers"), ([0, 1, 2, 0], "models.two_values")]
)
def test_answers_that_cannot_be_fitted(response: list[int], code: str) -> None:
    with raises(ValueError, code):
        fit_mixed(**PLAIN | {"response": response})


def test_effects_that_do_not_fit_into_memory_are_refused() -> None:
    rows = np.arange(30_000)
    terms = [random_term("participant", rows), random_term("item", rows[::-1] // 2 * 2 + rows % 2)]
    with raises(ValueError, "models.effects_size", first=30_000):
        fit_mixed(rows % 2, np.ones((len(rows), 1)), ["1"], terms)


def problem_of(family: Any, response: Any, columns: Any, terms: Any, offset: Any = None) -> Any:
    return check(response, *fixed(family, columns), terms, family, False, offset)


def test_a_design_is_turned_into_orthogonal_columns_of_one_size() -> None:
    design = np.random.default_rng(1).normal([5.0, 0.0, 100.0], 1.0, (50, 3))
    columns, base = orthogonal_design(design)
    assert columns.T @ columns == pytest.approx(50 * np.eye(3), abs=1e-9)
    coefficients = np.array([0.3, -2.0, 0.7])
    assert columns @ coefficients == pytest.approx(design @ base @ coefficients)
    nothing, none = orthogonal_design(np.empty((50, 0)))
    assert (nothing.shape, none.shape) == ((50, 0), (0, 0))


@pytest.mark.parametrize("family", FAMILIES)
def test_search_starts_uncorrelated_with_right_shares(family: Any) -> None:
    y, columns, who, what = slopes(family)
    terms = [vector("participant", who, columns), vector("item", what, columns, "diagonal")]
    problem = problem_of(family, y, columns, terms, np.full(len(y), 0.4))
    objective = objective_of(problem, Crossing(sides(problem.terms)), problem.design)
    blocks = objective.crossing.places(objective.parameters)
    begin = start_of(problem, objective, blocks)
    if family == "gaussian":
        assert begin.tolist() == objective.start().tolist()  # type: ignore[union-attr]
        return
    assert begin[-5:].tolist() == [0.5, 0.0, 0.5, 0.5, 0.5]
    if family == "ordinal":
        # With the mean offset, and no effects, the categories have the shares that they have in the answers.
        below = [np.mean(y <= category) for category in range(3)]
        assert 1 / (1 + np.exp(0.4 - begin[1:-5])) == pytest.approx(below)
        assert begin[0] == 0
    else:
        assert begin[:-5].tolist() == [0.0] * 2


def test_every_parameter_has_a_label() -> None:
    y, columns, who, what = slopes("ordinal")
    rounds = (np.arange(len(y))[:, None] % 2 == np.arange(2)) * 1.0
    terms = [
        vector("participant", who, columns), random_term("item", what),
        random_term("participant", who, rounds, ("one", "two"), "shared"), vector("item", what, columns, "diagonal"),
    ]  # fmt: skip
    of_terms = [
        "participant.(Intercept)", "participant.(Intercept).x", "participant.x", "participant.one+two",
        "item.(Intercept)", "item.(Intercept)", "item.x",
    ]  # fmt: skip
    crossing = Crossing(sides(terms))
    for family, response, before in (
        ("ordinal", y, ["x", "0|1", "1|2", "2|3"]), ("binary", y > 1, ["(Intercept)", "x"]), ("gaussian", y * 1.0, [])
    ):  # fmt: skip
        problem = problem_of(family, response, columns, terms)
        labels = parameter_labels(problem, crossing.places(len(before) + len(of_terms)))
        assert labels == (*before, *of_terms)


def test_a_deviation_that_starts_at_zero_starts_beside_it() -> None:
    """By symmetry the slope is zero there, and the search would stay."""
    y, columns, who, what = slopes("gaussian")
    terms = [vector("participant", who, columns), random_term("item", what)]
    fit = fit_mixed(y, columns, NAMES, terms, family="gaussian")
    for start in ([0.0] * 4, [0.0, 0.0, -0.009, 1.0]):
        again = fit_mixed(y, columns, NAMES, terms, family="gaussian", start=start)
        assert again.converged
        assert again.log_likelihood == pytest.approx(fit.log_likelihood, abs=1e-7)


@pytest.mark.parametrize("reml", [False, True])
def test_equal_groups_have_anova_variances(reml: bool) -> None:
    """REML takes the mean square between groups; maximum likelihood divides by the groups, not by one less."""
    random = np.random.default_rng(4)
    groups, size = 12, 6
    who = np.repeat(np.arange(groups), size)
    y = 3 + random.normal(0, 1.5, groups)[who] + random.normal(size=len(who))
    means = y.reshape(groups, size).mean(axis=1)
    within = ((y - means[who]) ** 2).sum() / (groups * (size - 1))
    between = size * ((means - y.mean()) ** 2).sum() / (groups - 1 if reml else groups)
    fit = fit_mixed(y, np.ones((len(y), 1)), ["1"], [random_term("who", who)], family="gaussian", reml=reml)
    assert fit.reml == reml
    assert fit.residual_variance == pytest.approx(within, rel=1e-4)
    assert fit.covariances["who"][0, 0] == pytest.approx((between - within) / size, rel=1e-3)
    assert fit.coefficients == pytest.approx([y.mean()])
    assert fit.standard_errors == pytest.approx([np.sqrt(between / len(y))], rel=1e-3)


def test_a_search_starts_where_it_is_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the units of the search; of what is asked for, only deviations at zero are moved."""
    y, columns, who, what = slopes("gaussian", item=(1.0, 2.0))
    terms = [vector("participant", who, columns), vector("item", what, columns)]
    fit = fit_mixed(y, columns, NAMES, terms, family="gaussian")
    seen: list[Any] = []
    original = mixed_module.search

    def search(objective: Any, begin: Any, *rest: Any, **more: Any) -> Any:
        seen.append((begin.copy(), objective(begin)))
        return original(objective, begin, *rest, **more)

    monkeypatch.setattr(mixed_module, "search", search)
    again = fit_mixed(y, columns, NAMES, terms, family="gaussian", start=list(fit.parameters))
    assert seen[0][1].value == pytest.approx(-fit.log_likelihood, abs=1e-8)
    assert again.convergence.evaluations < fit.convergence.evaluations
    fit_mixed(y, columns, NAMES, terms, family="gaussian", start=[0] * 6)
    assert seen[1][0].tolist() == [0.1, 0.0, 0.1] * 2
    names = ["(Intercept)", "(Intercept).x", "x"]
    assert again.parameter_names == tuple(f"{group}.{name}" for group in ("participant", "item") for name in names)
