"""The share of workers in the variance of a crossed model, with a profile-likelihood interval.

    share = var_worker / (var_worker + var_task)

With deviations theta_w = R sin(a) and theta_t = R cos(a), the share is sin(a)^2, and the extremes 0 and 1 are ordinary
points. For each angle a the likelihood is maximised over R and all other parameters. The interval contains the shares
with log-likelihoods within half the chi-squared quantile (1 degree of freedom) of the maximum.

With one answer per cell, only the form of the likelihood separates a cell effect from chance, and the Laplace
approximation puts its variance at zero. `interaction_profile` shows this: the log-likelihood, maximised over all other
parameters, for several deviations of the effect. With repeated answers the effect is identified, and the profile peaks
at the fit.

Models of many variances (`variance_share`) have the share

    share = W / (W + T),   W = x'A x,   T = x'B x

where x are the parameters of a fitted model; the squares of deviations, or the variance of fixed effects, are
quadratic forms in them. As above, the scale is the angle arctan(sqrt W / sqrt T), so that shares of 0 and 1 are
ordinary points. The upper end of the interval is the largest share at any parameters with a log-likelihood within half
the chi-squared quantile (1 degree of freedom) of the maximum. A profile over the share has the same end, but this needs
only one constrained search (sequential quadratic programming) instead of one for each of many shares. The lower end is
the smallest such share.

Several models of the same answers can have one pooled share, sum W / sum (W + T). The mean of their log-likelihoods
then replaces the log-likelihood, so that the pooled share is about as precise as that of one model and no more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg
from scipy.special import chdtri

from karat.messages import Message
from karat.models.glrm.fit import Fit
from karat.models.glrm.objective import Objective
from karat.models.glrm.optimise import TOLERANCE, Evaluated, Function, Restricted, Summarised, cholesky_root, minimise
from karat.models.glrm.parts.objective import PartedObjective
from karat.models.glrm.profile import fix_parameter
from karat.models.numerics import one_thread
from karat.types import Floats

PRECISION = 1e-6
"""The tolerance of an end of the interval, as an angle."""
FARTHEST = 0.2
"""The largest standard error of the angle that is used."""


@dataclass(frozen=True)
class Share(Summarised):
    """The share of workers in the variance, with its interval."""

    value: float
    lower: float
    upper: float
    level: float

    @property
    def summary(self) -> tuple[Message, ...]:
        """The share with its interval."""
        values = {"value": self.value, "level": self.level, "lower": self.lower, "upper": self.upper}
        return (Message("models.share", values),)


def at_angle(objective: Objective | PartedObjective, parameters: int, angle: float) -> Restricted:
    """The objective as a function of (beta, psi, R), with theta_w = R sin(a) and theta_t = R cos(a)."""
    directions = np.eye(parameters)[:, :-1]
    directions[-2:, -1] = np.sin(angle), np.cos(angle)
    return Restricted(objective, np.zeros(parameters), directions)


def worker_share(fit: Fit, level: float = 0.95) -> Share:
    """The share of workers in the variance of a binary or ordinal fit, in memory or in parts.

    >>> import karat
    >>> from karat.models.glrm import fit_crossed
    >>> crowd = karat.simulate.crowd(20, 24).frame
    >>> print(worker_share(fit_crossed(*(crowd[name] for name in ("response", "participant", "item")))))
    0.3692, 95 % interval from 0.1716 to 0.6220.
    """
    if not isinstance(fit.objective, Objective | PartedObjective) or fit.objective.deviations > 2:
        raise ValueError("The profile of the share is for binary and ordinal fits without a worker:task effect.")
    theta = fit.parameters[-2:]
    total = float(theta @ theta)
    if total == 0:
        raise ValueError(Message("models.no_variance"))
    profile = AngleProfile(fit)
    drop = float(chdtri(1, 1 - level)) / 2
    with one_thread(len(fit.workers) * len(fit.tasks)):
        lower = profile.end(0.0, drop)
        upper = profile.end(np.pi / 2, drop)
    return Share(float(theta[0] ** 2) / total, float(np.sin(lower) ** 2), float(np.sin(upper) ** 2), level)


class AngleProfile:
    """The fall of the log-likelihood from its maximum, by angle; each search starts where the last one ended."""

    def __init__(self, fit: Fit) -> None:
        self.fit = fit
        worker, task = fit.parameters[-2:]
        self.best, self.radius = float(np.arctan2(worker, task)), float(np.hypot(worker, task))
        slope = np.zeros(len(fit.parameters))
        slope[-2:] = np.array([task, -worker]) / self.radius**2
        along = fit.covariance @ slope
        variance = float(slope @ along)
        finite = np.isfinite(variance) and variance > 0
        self.error = min(float(np.sqrt(variance)), FARTHEST) if finite else FARTHEST
        # The derivative of the other parameters in the angle.
        self.follow = along / variance if finite else np.zeros(len(along))
        self.angle, self.parameters, self.modes = self.best, fit.parameters, fit.modes

    def fall(self, angle: float) -> float:
        """The difference between the maximum log-likelihood and its maximum at this angle."""
        function = at_angle(self.fit.objective, len(self.parameters), angle)
        expected = self.parameters + self.follow * (angle - self.angle)
        # A search that starts at R = 0 would stay there, because the likelihood is even in R.
        start = np.append(expected[:-2], max(float(np.hypot(*expected[-2:])), self.radius / 2))
        at = function(start, self.modes)
        if at is None:
            start[:-1] = self.fit.parameters[:-2]  # the extrapolated thresholds may cross
            at = function(start, self.fit.modes)
        if at is None:
            raise ValueError("The parameters of the fit are not allowed here.")
        best = minimise(function, start, at, None, TOLERANCE)
        self.angle, self.modes = angle, best.at.modes
        self.parameters = function.directions @ best.parameters
        return float(best.at.value + self.fit.log_likelihood)

    def end(self, limit: float, drop: float) -> float:
        """The angle between the estimate and `limit` at which the fall is `drop`, or `limit` if there is none.

        The square root of the fall is nearly linear, so few angles need to be evaluated.
        """
        values = {self.best: -1.0}

        def excess(angle: float) -> float:
            if angle not in values:
                values[angle] = float(np.sqrt(max(self.fall(angle), 0.0) / drop)) - 1
            return values[angle]

        # A likelihood with several maxima may fall on the way and still be high enough at the limit.
        self.angle, self.parameters, self.modes = self.best, self.fit.parameters, self.fit.modes
        if abs(limit - self.best) <= FURTHEST * self.error and excess(limit) <= 0:
            return limit
        self.angle, self.parameters, self.modes = self.best, self.fit.parameters, self.fit.modes
        inside, step = self.best, np.sqrt(2 * drop) * self.error
        while True:
            outside = limit if abs(limit - inside) <= step else inside + np.copysign(step, limit - inside)
            if excess(outside) > 0:
                from scipy.optimize import brentq

                return float(brentq(excess, inside, outside, xtol=PRECISION))
            if outside == limit:
                return limit
            inside = outside


@dataclass(frozen=True)
class Profile(Summarised):
    """The highest log-likelihood for each deviation of the worker:task effect."""

    deviations: Floats
    log_likelihood: Floats
    converged: bool
    identified: bool
    """Whether any cell has several answers."""

    @property
    def summary(self) -> tuple[Message, ...]:
        """The best deviation, and how much lower the log-likelihood is at the others."""
        best = self.deviations[int(np.argmax(self.log_likelihood))]
        drops = [
            Message("profile.drop", {"drop": float(drop), "deviation": float(deviation)})
            for deviation, drop in zip(self.deviations, self.log_likelihood.max() - self.log_likelihood, strict=True)
        ]
        summary = [Message("profile.best", {"best": float(best), "drops": drops})]
        if not self.identified:
            summary.append(Message("profile.not_identified"))
        if not self.converged:
            summary.append(Message("profile.not_converged"))
        return tuple(summary)


def interaction_profile(fit: Fit, deviations: Sequence[float] = (0, 0.3, 0.6, 1, 2)) -> Profile:
    """The profile of the worker:task deviation, for a binary or ordinal fit with or without the effect.

    >>> import karat
    >>> from karat.models.glrm import fit_crossed
    >>> crowd = karat.simulate.crowd(20, 24).frame
    >>> print(interaction_profile(fit_crossed(*(crowd[name] for name in ("response", "participant", "item"))), [0, 1]))
    Of the standard deviations tried for participant–item pairs, 0 has the highest log-likelihood. ...
    """
    if not isinstance(fit.objective, Objective):
        raise ValueError("A profile of the worker:task effect is for binary and ordinal fits.")
    objective = replace(fit.objective, cell_effect=True)
    parameters = fit.parameters[:-1] if fit.objective.cell_effect else fit.parameters
    modes = replace(fit.modes, cell=objective.zero_modes().cell)
    highest = np.empty(len(deviations))
    converged = True
    with one_thread(len(fit.workers) * len(fit.tasks)):
        for place in np.argsort(deviations):
            function = fix_parameter(objective, len(parameters) + 1, len(parameters), float(deviations[place]))
            at = function(parameters, modes)
            if at is None:
                raise ValueError("The parameters of the fit are not allowed here.")
            best = minimise(function, parameters, at, None, TOLERANCE)
            parameters, modes, highest[place] = best.parameters, best.at.modes, -best.at.value
            converged = converged and best.decrement <= TOLERANCE
    return Profile(np.asarray(deviations, dtype=np.float64), highest, converged, not objective.layout.single)


SEARCH_PRECISION = 1e-9
"""The precision of the search, with the angle scaled to change by about 4 from the estimate to an end."""
STEPS = 100
CLOSE = 1e-3
"""The tolerance of the log-likelihood at an end."""
NUDGES = 0.3, 2.0
"""Searches start this many standard errors from the estimate, since slopes vanish at zero deviations by symmetry."""
FURTHEST = 8.0
"""The bounds of the first search, in standard errors."""
WIDER, WIDENINGS = 4.0, 3
"""If a search ends at a bound, the factor by which the next bounds are wider, and the number of such searches."""
FORBIDDEN = 1e6


@dataclass(frozen=True)
class FittedShare:
    """A model at its maximum and two quadratic forms of its parameters, W (`one`) and T (`rest`)."""

    function: Function
    """The negative log-likelihood."""
    parameters: Floats
    modes: Any
    hessian: Floats
    one: Floats
    rest: Floats

    @cached_property
    def at(self) -> Evaluated:
        """The model at its maximum."""
        at = self.function(self.parameters, self.modes)
        if at is None:
            raise ValueError("The parameters of the fit are not allowed.")
        return at

    @cached_property
    def turn(self) -> Floats:
        """The map to parameters from coordinates z in which the negative log-likelihood rises by about z'z / 2."""
        lower = cholesky_root(self.hessian if np.all(np.isfinite(self.hessian)) else self.at.information())
        return np.asarray(linalg.solve_triangular(lower, np.eye(len(lower)), lower=True, trans=1))

    def without(self, form: Floats) -> float:
        """The fall of the log-likelihood from its maximum if a form is zero."""
        inside = np.asarray(linalg.null_space(form))
        function, start = Restricted(self.function, np.zeros(len(form)), inside), inside.T @ self.parameters
        at = function(start, self.modes) if len(start) else None
        if at is None:
            return float("inf")
        return float(minimise(function, start, at, None, TOLERANCE).at.value - self.at.value)


def variance_share(models: Sequence[FittedShare], level: float = 0.95) -> Share:
    """The share of W, pooled if there are several models; an end is NaN if the search fails.

    >>> import karat
    >>> from karat.models.glrm import fit_crossed
    >>> crowd = karat.simulate.crowd(20, 24).frame
    >>> fit = fit_crossed(*(crowd[name] for name in ("response", "participant", "item")))
    >>> one, rest = np.diag([0.0, 1.0, 0.0]), np.diag([0.0, 0.0, 1.0])
    >>> print(variance_share([FittedShare(fit.objective, fit.parameters, fit.modes, fit.hessian, one, rest)]))
    0.3692, 95 % interval from 0.1716 to 0.6220.
    """
    drop = float(chdtri(1, 1 - level)) / 2
    above, below = ShareSearch(models, 1), ShareSearch(models, -1)
    value = float(np.sin(above.angle(above.best)[0]) ** 2)
    if not np.isfinite(value):
        raise ValueError(Message("models.no_variance"))
    upper = 1.0 if np.mean([model.without(model.rest) for model in models]) <= drop else above.end(drop)
    lower = 0.0 if np.mean([model.without(model.one) for model in models]) <= drop else below.end(drop)
    return Share(value, lower, upper, level)


class ShareSearch:
    """The search for one end of the interval, in the concatenated coordinates of all models."""

    def __init__(self, models: Sequence[FittedShare], sign: int) -> None:
        self.models, self.sign = models, sign
        self.best = np.concatenate([model.parameters for model in models])
        self.one = np.asarray(linalg.block_diag(*(model.one for model in models)))
        self.rest = np.asarray(linalg.block_diag(*(model.rest for model in models)))
        self.turn = np.asarray(linalg.block_diag(*(model.turn for model in models))) * np.sqrt(len(models))
        self.modes = [model.modes for model in models]
        self.places = np.cumsum([len(model.parameters) for model in models])[:-1]
        self.last: tuple[bytes, float, Floats] = (b"", 0.0, self.best)

    def angle(self, parameters: Floats) -> tuple[float, Floats]:
        """arctan(sqrt W / sqrt T) and its gradient in the parameters."""
        a_x, b_x = self.one @ parameters, self.rest @ parameters
        w, t = (float(np.sqrt(max(float(parameters @ product), 0.0))) for product in (a_x, b_x))
        if w == t == 0:
            return float("nan"), np.zeros(len(parameters))
        slope = (t * a_x / max(w, 1e-12) - w * b_x / max(t, 1e-12)) / (w * w + t * t)
        return float(np.arctan2(w, t)), slope

    def fall(self, z: Floats) -> tuple[float, Floats]:
        """The difference between the maximum mean log-likelihood and that at z, with its gradient."""
        if self.last[0] == z.tobytes():
            return self.last[1:]
        value, slopes = 0.0, []
        for number, parameters in enumerate(np.split(self.best + self.turn @ z, self.places)):
            model = self.models[number]
            at = model.function(parameters, self.modes[number])
            if at is None or not np.isfinite(at.value):
                return FORBIDDEN, z * FORBIDDEN
            self.modes[number] = at.modes
            value += (at.value - model.at.value) / len(self.models)
            slopes.append(at.gradient / len(self.models))
        self.last = (z.tobytes(), float(value), self.turn.T @ np.concatenate(slopes))
        return self.last[1:]

    def end(self, drop: float, steps: int = STEPS) -> float:
        """The share at the end of the interval, or NaN if `steps` steps do not reach it.

        With several maxima, the end depends on the start of the search, so this is the outermost of two searches.
        """
        shares = [share for nudge in NUDGES if np.isfinite(share := self.end_from(nudge, drop, steps))]
        return max(shares, key=lambda share: self.sign * share) if shares else float("nan")

    def end_from(self, nudge: float, drop: float, steps: int) -> float:
        """The share at the end, by a search that starts `nudge` standard errors from the estimate."""
        start = self.start(nudge)
        slope = self.turn.T @ self.angle(self.best + self.turn @ start)[1]
        # With this scale the multiplier of the constraint is about 1, as the search expects.
        scale = -self.sign * np.sqrt(2 * drop) / max(float(np.linalg.norm(slope)), 1e-12)

        from scipy.optimize import minimize

        def target(z: Floats) -> tuple[float, Floats]:
            angle, slope = self.angle(self.best + self.turn @ z)
            return scale * angle, scale * (self.turn.T @ slope)

        constraint = {"type": "ineq", "fun": lambda z: drop - self.fall(z)[0], "jac": lambda z: -self.fall(z)[1]}
        # Standard errors mean little if the likelihood is flat: a search that ends at the border is repeated with a
        # wider one.
        for border in FURTHEST * WIDER ** np.arange(WIDENINGS + 1):
            result = minimize(
                target, start, jac=True, method="SLSQP", bounds=[(-border, border)] * len(start),
                constraints=constraint, options={"ftol": SEARCH_PRECISION, "maxiter": steps},
            )  # fmt: skip
            start = np.asarray(result.x)
            if np.abs(start).max() < border:
                break
        else:
            return float("nan")
        if abs(self.fall(start)[0] - drop) > CLOSE:
            return float("nan")
        return float(np.sin(self.angle(self.best + self.turn @ start)[0]) ** 2)

    def start(self, nudge: float = NUDGES[0]) -> Floats:
        """The start of the search, with the deviations that it increases moved away from zero."""
        growing = np.diag(self.one if self.sign > 0 else self.rest) > 0
        errors = np.sqrt((self.turn**2).sum(axis=1))
        step = np.where(growing, nudge * np.where(self.best < 0, -errors, errors), 0.0)
        return np.linalg.solve(self.turn, step)
