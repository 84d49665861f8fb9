"""Profile intervals end where a refit with the parameter held has lost as much likelihood as it should."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri

from karat.models.glrm.intervals import intervals, whole_likelihood
from karat.models.glrm.mixed import fit_mixed
from karat.models.glrm.model import Model, fit
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


def test_the_likelihood_of_measured_answers_is_the_same_in_all_parameters(data: dict[str, Any]) -> None:
    model = fit(f"time ~ size + {GROUPS}", data, "gaussian", reml=False)
    objective, best = whole_likelihood(model)
    at = objective(best)
    assert at is not None
    assert -at.value == pytest.approx(model.fit.log_likelihood, abs=1e-7)
    by_reml = whole_likelihood(fit(f"time ~ size + {GROUPS}", data, "gaussian"))[1]
    np.testing.assert_allclose(by_reml, best, atol=1e-4)


def test_deviations_of_slopes(data: dict[str, Any]) -> None:
    """The order of a term's columns does not matter, though the search holds another coordinate."""
    model = fit("time ~ size + (1 + size | participant) + (1 | item)", data, "gaussian", reml=False)
    found = intervals(model, "profile", parameters=["sd_size|participant", "sd_(Intercept)|participant"])
    deviations = np.sqrt(np.diag(model.fit.covariances["participant"]))[::-1]
    np.testing.assert_allclose(found.estimate, deviations, rtol=1e-3)
    turned = fit("time ~ size + (0 + size + 1 | participant) + (1 | item)", data, "gaussian", reml=False)
    again = intervals(turned, "profile", parameters=["sd_size|participant", "sd_(Intercept)|participant"])
    np.testing.assert_allclose(found.upper, again.upper, rtol=1e-3)
    np.testing.assert_allclose(found.lower, again.lower, atol=1e-3)


def test_deviations_do_not_fall_below_zero(data: dict[str, Any]) -> None:
    flat = {**data, "time": np.random.default_rng(0).normal(size=len(data["time"]))}
    found = intervals(fit(f"time ~ 1 + {GROUPS}", flat, "gaussian"), "profile")
    table = dict(zip(found.names, zip(found.lower, found.upper, strict=True), strict=True))
    assert table["sd_(Intercept)|item"][0] == 0
    assert 0 < table["sd_(Intercept)|item"][1] < 1
    assert table["sigma"][0] > 0.8
    assert "maximum likelihood" in str(found)


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
    assert str(rated).splitlines() == [
        "Wald intervals, 95%.",
        *(
            f"  {name}: {estimate:.4g} ({low:.4g} to {high:.4g})"
            for name, estimate, low, high in zip(rated.names, rated.estimate, rated.lower, rated.upper, strict=True)
        ),
    ]


def test_a_fit_without_a_maximum_has_no_profile(data: dict[str, Any]) -> None:
    model = fit(f"yes ~ condition + {GROUPS}", {**data, "yes": data["yes"] | (data["condition"] == "a")})
    assert not model.fit.converged
    assert "p not known" in str(model)
    with pytest.raises(ValueError, match="has not converged"):
        intervals(model, "profile")


def test_parameters_are_asked_for_by_name(data: dict[str, Any]) -> None:
    model = fit(f"yes ~ size + {GROUPS}", data)
    assert intervals(model, parameters=["size"]).names == ("size",)
    with pytest.raises(ValueError, match='no parameter "length"; there are "\\(Intercept\\)", "size"'):
        intervals(model, parameters=["length"])


def test_an_end_that_the_likelihood_does_not_bound_is_said(
    data: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("karat.models.glrm.intervals")
    model = fit(f"yes ~ size + {GROUPS}", data)
    ends = {"(Intercept)": (0.5, -np.inf, 1.0), "size": (0.2, 0.1, np.inf)}
    monkeypatch.setattr(module, "_profile", lambda *given: ends.get(given[4].name, (0.5, 0.1, 1.0)))
    found = intervals(model, "profile", parameters=["(Intercept)", "size"])
    assert found.notes == ("The likelihood does not bound (Intercept) and size.",)
    assert intervals(model, "profile", parameters=["sd_(Intercept)|item"]).notes == ()
    with pytest.raises(ValueError, match="cannot be computed at the estimate"):
        module._evaluated(lambda parameters: None, np.zeros(2))
