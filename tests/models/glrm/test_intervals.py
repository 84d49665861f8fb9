"""Profile intervals end where a refit with the parameter held has lost as much likelihood as it should."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import ndtri

from karat.messages import Message
from karat.models.glrm.formulas.intervals import Parameter, full_likelihood, intervals, leading_deviation
from karat.models.glrm.formulas.model import Model, fit
from karat.models.glrm.mixed.fit import fit_mixed
from karat.models.glrm.mixed.terms import random_term
from karat.models.numerics import one_thread
from messages import codes, raises, refuses
from models.glrm.mixed_cases import slopes
from models.glrm.written_cases import GROUPS, study

FALL = float(ndtri(0.975)) ** 2 / 2


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return study()


def held(model: Model, place: int, value: float) -> float:
    """The log-likelihood with one coefficient held, by a refit with an offset."""
    others = [k for k in range(len(model.fit.names)) if k != place]
    matrix, names = model.design.matrix, model.design.names
    return fit_mixed(
        model.response, matrix[:, others], [names[k] for k in others], model.fit.terms, family=model.family,
        offset=value * matrix[:, place],
    ).log_likelihood  # fmt: skip


@pytest.mark.parametrize(("response", "family"), [("yes", "binary"), ("rating", "ordinal"), ("time", "gaussian")])
def test_refits_at_the_ends_have_lost_enough(data: dict[str, Any], response: str, family: Any) -> None:
    settings = {"reml": False} if family == "gaussian" else {}
    model = fit(f"{response} ~ size + group + {GROUPS}", data, family, **settings)
    found = intervals(model, "profile", parameters=["size"])
    place = list(model.fit.names).index("size")
    for end in (found.lower[0], found.upper[0]):
        assert model.fit.log_likelihood - held(model, place, float(end)) == pytest.approx(FALL, abs=1e-4)


def test_measured_likelihood_is_equal_in_all_parameters(data: dict[str, Any]) -> None:
    model = fit(f"time ~ size + {GROUPS}", data, "gaussian", reml=False)
    objective, best = full_likelihood(model)
    at = objective(best)
    assert at is not None
    assert -at.value == pytest.approx(model.fit.log_likelihood, abs=1e-7)
    by_reml = full_likelihood(fit(f"time ~ size + {GROUPS}", data, "gaussian"))[1]
    np.testing.assert_allclose(by_reml, best, atol=1e-4)


def test_deviations_do_not_fall_below_zero(data: dict[str, Any]) -> None:
    flat = {**data, "time": np.random.default_rng(0).normal(size=len(data["time"]))}
    found = intervals(fit(f"time ~ 1 + {GROUPS}", flat, "gaussian"), "profile")
    table = dict(zip(found.names, zip(found.lower, found.upper, strict=True), strict=True))
    assert table["sd_(Intercept)|item"][0] == 0
    assert 0 < table["sd_(Intercept)|item"][1] < 1
    assert table["sigma"][0] > 0.8
    assert codes(found.notes) == ["intervals.likelihood"]
    assert (found.method, found.level) == ("profile", 0.95)
    first, *others = found.summary
    assert first == Message("intervals.profile", {"level": 0.95})
    assert [one.values["name"] for one in others] == list(found.names)
    assert str(found).startswith(f"{first} {found.notes[0]}\n  (Inter")


def test_wald_intervals(data: dict[str, Any]) -> None:
    model = fit(f"yes ~ size + {GROUPS}", data)
    found = intervals(model, level=0.9)
    np.testing.assert_allclose((found.upper - found.lower) / 2, ndtri(0.95) * model.fit.standard_errors)
    measured = fit(f"time ~ size + {GROUPS}", data, "gaussian")
    wider = intervals(measured)
    assert np.all((wider.upper - wider.lower) / 2 > 1.96 * measured.fit.standard_errors)
    rated = intervals(fit(f"rating ~ size + {GROUPS}", data, "ordinal"))
    assert rated.names == ("size", "1|2", "2|3", "3|4")
    assert list(rated.table()) == ["parameter", "estimate", "lower", "upper"]
    first, *others = rated.summary
    assert first == Message("intervals.wald", {"level": 0.95})
    for row, numbers in zip(others, zip(rated.estimate, rated.lower, rated.upper, strict=True), strict=True):
        assert [row.values[key] for key in ("estimate", "lower", "upper")] == pytest.approx(numbers, rel=1e-3)
    assert str(rated).splitlines() == [str(first), *(f"  {row}" for row in others)]


def test_a_fit_without_a_maximum_has_no_profile(data: dict[str, Any]) -> None:
    model = fit(f"yes ~ condition + {GROUPS}", {**data, "yes": data["yes"] | (data["condition"] == "a")})
    assert not model.fit.converged
    assert set(codes(model.summary)) == {"model.no_standard_error"}
    with raises(ValueError, "intervals.not_converged"):
        intervals(model, "profile")


def test_parameters_are_asked_for_by_name(data: dict[str, Any]) -> None:
    model = fit(f"yes ~ size + {GROUPS}", data)
    assert intervals(model, parameters=["size"]).names == ("size",)
    with refuses(ValueError, "length", "(Intercept)", "size"):
        intervals(model, parameters=["length"])


def test_an_end_that_the_likelihood_does_not_bound_is_said(
    data: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("karat.models.glrm.formulas.intervals")
    model = fit(f"yes ~ size + {GROUPS}", data)
    # By the place of the parameter: the intercept and the size are unbounded.
    ends = {0: (-np.inf, 1.0), 1: (0.1, np.inf)}
    monkeypatch.setattr(module, "profile_ends", lambda *given: ends.get(given[3], (0.1, 1.0)))
    found = intervals(model, "profile", parameters=["(Intercept)", "size"])
    assert found.notes == (Message("intervals.open", {"names": ["(Intercept)", "size"]}),)
    assert intervals(model, "profile", parameters=["sd_(Intercept)|item"]).notes == ()
    restricted = intervals(fit(f"time ~ size + {GROUPS}", data, "gaussian"), "profile", parameters=["size"])
    assert restricted.notes == (Message("intervals.likelihood"), Message("intervals.open", {"names": ["size"]}))
    with refuses(ValueError):
        module.evaluated(lambda parameters: None, np.zeros(2))


def test_columns_that_share_a_variance_have_one_interval(data: dict[str, Any]) -> None:
    """A column for each group, with one variance, is an effect of every item in every group."""
    nested = fit("time ~ size + (1 | item:group) + (1 | participant)", data, "gaussian", reml=False)
    columns = (data["group"][:, None] == np.array(["old", "young"])).astype(float)
    shared = random_term("item", data["item"], columns, ("old", "young"), "shared")
    design, people = nested.design, random_term("participant", data["participant"])
    refit = fit_mixed(nested.response, design.matrix, design.names, [shared, people], family="gaussian", reml=False)
    assert refit.log_likelihood == pytest.approx(nested.fit.log_likelihood, abs=1e-6)
    found = intervals(replace(nested, fit=refit), "profile", parameters=["sd_old+young|item"])
    expected = intervals(nested, "profile", parameters=["sd_(Intercept)|item:group"])
    for one, other in (
        (found.estimate, expected.estimate),
        (found.lower, expected.lower),
        (found.upper, expected.upper),
    ):
        assert one[0] == pytest.approx(other[0], abs=1e-4)


@pytest.fixture(scope="module")
def sloped() -> dict[str, Any]:
    y, columns, who, what = slopes("gaussian", 12, 8, participant=(1.0, 1.2))
    return {"y": y, "x": columns[:, 1], "who": who, "what": what}


def searched(objective: Any, start: Any, whole: Callable[[Any], Any]) -> float:
    """The least of an objective by another search without our gradients; `whole` makes parameters of coordinates."""

    def value(x: Any) -> float:
        at = objective(whole(x))
        return 1e6 if at is None else float(at.value)

    with one_thread():
        return float(minimize(value, start, method="BFGS", options={"gtol": 1e-3}).fun)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("random", "column", "side"),
    [
        ("(1 + x | who) + (1 | what)", 0, "upper"),
        ("(1 + x | who) + (1 | what)", 1, "lower"),
        ("(1 | what) + (1 + x | who)", 1, "upper"),
    ],
)
def test_the_deviation_of_correlated_slopes_is_profiled(
    sloped: dict[str, Any], random: str, column: int, side: str
) -> None:
    """At an end, with deviations and a correlation for coordinates, the best likelihood has fallen by enough."""
    model = fit(f"y ~ x + {random}", sloped, "gaussian", reml=False)
    objective, best = full_likelihood(model)
    place = next(place for place, block in objective.crossing.places(len(best)) if block.size == 3)
    found = intervals(model, "profile", parameters=[["sd_(Intercept)|who", "sd_x|who"][column]])
    covariance = model.fit.covariances["who"]
    deviations = np.sqrt(np.diag(covariance))
    assert found.estimate[0] == pytest.approx(deviations[column], rel=1e-3)
    end = float(getattr(found, side)[0])

    def whole(x: Any) -> Any:
        first, second = np.insert(x[-2:-1], column, end)
        correlation = np.tanh(x[-1])
        return np.insert(x[:-2], place, [first, second * correlation, second * np.sqrt(1 - correlation**2)])

    others, correlation = np.delete(best, slice(place, place + 3)), covariance[0, 1] / np.prod(deviations)
    start = np.append(others, [deviations[1 - column], np.arctanh(correlation)])
    assert searched(objective, start, whole) + model.fit.log_likelihood == pytest.approx(FALL, abs=2e-3)


@pytest.mark.slow
def test_independent_effects_deviate_like_separate_terms(sloped: dict[str, Any]) -> None:
    together = fit("y ~ x + (1 + x || who) + (1 | what)", sloped, "gaussian", reml=False)
    apart = fit("y ~ x + (1 | who) + (0 + x | who) + (1 | what)", sloped, "gaussian", reml=False)
    names = ["sd_(Intercept)|who", "sd_x|who"]
    one, other = (intervals(model, "profile", parameters=names) for model in (together, apart))
    deviations = np.sqrt(np.diag(together.fit.covariances["who"]))
    assert one.estimate == pytest.approx(deviations, rel=1e-3)
    assert one.estimate[0] != pytest.approx(one.estimate[1], rel=0.05)
    np.testing.assert_allclose(np.array([one.lower, one.upper]), np.array([other.lower, other.upper]), atol=1e-3)


def test_a_deviation_may_come_out_of_the_search_as_negative(sloped: dict[str, Any]) -> None:
    model = fit("y ~ x + (1 + x || who) + (1 | what)", sloped, "gaussian", reml=False)
    objective, best = full_likelihood(model)
    turned = best.copy()
    turned[3:] *= -1
    for column in (0, 1):
        same, leading, place = leading_deviation(objective, turned, model.fit.terms, Parameter("", 0, 0, column))
        assert same is objective
        assert (place, leading[place]) == (3 + column, abs(best[3 + column]))
        assert np.delete(leading, place).tolist() == np.delete(turned, place).tolist()
    assert turned[3:].tolist() == (-best[3:]).tolist()


@pytest.mark.slow
def test_thresholds_are_profiled(data: dict[str, Any]) -> None:
    model = fit(f"rating ~ size + {GROUPS}", data, "ordinal")
    found = intervals(model, "profile", parameters=["1|2", "3|4"])
    assert found.names == ("1|2", "3|4")
    assert found.table()["parameter"].tolist() == ["1|2", "3|4"]
    assert found.table()["parameter"].dtype == object
    assert found.estimate == pytest.approx(model.fit.thresholds[[0, 2]])

    def whole(x: Any) -> Any:
        return np.insert(x, 3, found.upper[1])

    fall = searched(model.fit.objective, np.delete(model.fit.parameters, 3), whole) + model.fit.log_likelihood
    assert fall == pytest.approx(FALL, abs=2e-3)
