"""Mixed models with slopes and nested terms beside lme4, glmmTMB and ordinal.

The values are those of `r/glrm_slopes.R`, which names the versions, on answers that `r/glrm_slopes_data.py` simulates.
Log-likelihoods agree within 1e-4, every element of a covariance matrix within 1e-3 of itself, coefficients within 1e-3
standard errors and standard errors within 1e-3 of themselves, but for one: glmer ends the binary model of rounds 1.4e-5
below the log-likelihood of glmmTMB and with a standard error .1 % from its; ours is held to glmmTMB's.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from karat.models.glrm.mixed.fit import fit_mixed
from karat.models.glrm.mixed.result import MixedFit
from karat.models.glrm.mixed.terms import INTERCEPT, RandomTerm, random_term

HERE = Path(__file__).parent / "r"
SLOPES = (INTERCEPT, "x")


def table(name: str) -> dict[str, Any]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    text = ("participant", "item", "round")
    return {key: np.array([row[key] if key in text else float(row[key]) for row in rows]) for key in rows[0]}


def values(name: str) -> Any:
    return json.loads((HERE / "glrm_slopes.json").read_text(encoding="utf-8"))[name]


def slopes(family: Any, response: str, *, names: tuple[str, ...], terms: list[str], **settings: Any) -> MixedFit:
    data = table("glrm_slopes.csv")
    columns = {INTERCEPT: np.ones(len(data["x"])), **{name: data[name] for name in ("x", "length")}}

    def term(text: str) -> RandomTerm:
        inner, bar, group = text.rsplit(maxsplit=2)
        if inner == "1":
            return random_term(group, data[group])
        both = np.column_stack([columns[name] for name in SLOPES])
        return random_term(group, data[group], both, SLOPES, "diagonal" if bar == "||" else "full")

    design = np.column_stack([columns[name] for name in names])
    return fit_mixed(data[response], design, names, [term(text) for text in terms], family=family, **settings)


def rounds(family: Any, response: str, **settings: Any) -> MixedFit:
    """1 + (1 | participant) + (1 | item) + (1 | participant:round) + (1 | item:round)."""
    data = table("glrm_rounds.csv")
    terms = [random_term(group, data[group]) for group in ("participant", "item")]
    for group in ("participant", "item"):
        inner = np.char.add(np.char.add(data[group], ":"), data["round"])
        terms.append(random_term(f"{group}:round", inner))
    return fit_mixed(data[response], np.ones((len(data["yes"]), 1)), [INTERCEPT], terms, family=family, **settings)


FIXED = (INTERCEPT, "x", "length")
BOTH = ["1 + x | participant", "1 + x | item"]
FITS = {
    "binary_lme4": lambda: slopes("binary", "yes", names=FIXED, terms=BOTH),
    "binary_glmmTMB": lambda: slopes("binary", "yes", names=FIXED, terms=BOTH),
    "binary_one_factor": lambda: slopes("binary", "yes", names=FIXED[:2], terms=BOTH[:1]),
    "gaussian_ml": lambda: slopes("gaussian", "value", names=FIXED, terms=BOTH),
    "gaussian_reml": lambda: slopes("gaussian", "value", names=FIXED, terms=BOTH, reml=True),
    "ordinal_slopes": lambda: slopes("ordinal", "rating", names=FIXED[1:], terms=BOTH),
    "ordinal_one_factor": lambda: slopes("ordinal", "rating", names=FIXED[1:2], terms=BOTH[:1]),
    "rounds_binary": lambda: rounds("binary", "yes"),
    "rounds_binary_glmmTMB": lambda: rounds("binary", "yes"),
    "rounds_ml": lambda: rounds("gaussian", "value"),
    "rounds_reml": lambda: rounds("gaussian", "value", reml=True),
}  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize("name", FITS)
def test_a_fit_is_that_of_r(name: str) -> None:
    fit, expected = FITS[name](), values(name)
    assert fit.converged
    assert not fit.singular
    assert fit.log_likelihood == pytest.approx(expected["log_likelihood"], abs=1e-4)
    assert np.all(np.abs(fit.coefficients - expected["coefficients"]) < 1e-3 * fit.standard_errors)
    assert set(fit.covariances) == set(expected["covariances"])
    for group, theirs in expected["covariances"].items():
        assert fit.covariances[group] == pytest.approx(np.array(theirs), rel=1e-3), group
    if name != "rounds_binary":
        assert fit.standard_errors == pytest.approx(np.atleast_1d(expected["standard_errors"]), rel=1e-3)
    if fit.family == "ordinal":
        assert fit.thresholds == pytest.approx(expected["thresholds"], abs=1e-3)
    if fit.family == "gaussian":
        assert fit.residual_variance == pytest.approx(expected["residual"], rel=1e-4)
    for group, effects in (expected.get("effects") or {}).items():
        assert fit.effects[group] == pytest.approx(np.array(effects), abs=1e-3)


def test_slopes_without_correlations_are_those_of_lme4() -> None:
    """lme4 gives (1 + x || participant) as two terms."""
    fit, expected = (
        slopes("binary", "yes", names=FIXED, terms=["1 + x || participant", "1 | item"]),
        values("binary_diagonal"),
    )
    assert fit.converged
    assert fit.log_likelihood == pytest.approx(expected["log_likelihood"], abs=1e-4)
    theirs = [float(np.squeeze(expected["covariances"][name])) for name in ("participant", "participant.1")]
    assert np.diag(fit.covariances["participant"]) == pytest.approx(theirs, rel=1e-3)
    assert fit.covariances["participant"][0, 1] == 0
    assert fit.covariances["item"] == pytest.approx(np.array(expected["covariances"]["item"]), rel=1e-3)


def test_theta_is_ordered_as_lme4_orders_it() -> None:
    """lme4 puts the factor with more levels first, which here is participant too."""
    fit = FITS["gaussian_reml"]()
    assert fit.theta == pytest.approx(values("gaussian_reml")["theta"], abs=1e-3)
    assert fit.parameter_names[:3] == ("participant.(Intercept)", "participant.(Intercept).x", "participant.x")


def test_the_values_say_which_programs_made_them() -> None:
    assert set(values("versions")) == {"R", "lme4", "glmmTMB", "ordinal"}
