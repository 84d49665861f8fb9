"""The share of workers in the variance of a crossed model, with a profile-likelihood interval.

    share = var_worker / (var_worker + var_task)

The deviations are written as theta_w = R sin(a), theta_t = R cos(a), so that the share is sin(a)^2 and its ends, 0 and
1, are points like any other. For each angle a the likelihood is maximised over R and everything else. The interval
holds the shares whose log-likelihood is within half the chi-squared quantile (1 degree of freedom) of the maximum.

With one answer per cell, only the form of the likelihood separates a cell's own effect from chance, and the Laplace
approximation puts its variance at zero. `interaction_profile` shows that: the log-likelihood, maximised over
everything else, for several deviations of the effect. With repeated answers the effect is identified, and the profile
has its top where the fit is.

Models of many variances (`variance_share`) have the share

    share = W / (W + T),   W = x'A x,   T = x'B x

where x are the parameters of a fitted model and the squares of deviations, or the variance of fixed effects, are
quadratic forms in them. As above, the scale is the angle arctan(sqrt W / sqrt T), of which 0 and 1 are ordinary
points. The upper end of the interval is the largest share among all parameters whose log-likelihood is within half the
chi-squared quantile (1 degree of freedom) of the maximum: the same end as that of a profile over the share, found by
one search with a constraint (sequential quadratic programming) instead of a search at each of many shares. The lower
end is that of the other variances, turned round.

Several models of the same answers may have one pooled share, sum W / sum (W + T). The mean of their log-likelihoods
then takes the place of the log-likelihood, so that the pooled share is about as sure as that of one model and no surer.
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
from karat.models.glrm.optimise import TOLERANCE, Evaluated, Function, Restricted, Summarised, minimise, root
from karat.models.glrm.parts.objective import PartedObjective
from karat.models.glrm.profile import held
from karat.models.numerics import one_thread
from karat.types import Floats

PRECISION = 1e-6
"""Of an end of the interval, as an angle."""
FARTHEST = 0.2
"""The largest standard error of the angle that is believed."""


@dataclass(frozen=True)
class Share(Summarised):
    """The share of workers in the variance, and its interval."""

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
    """The objective along a ray: (beta, psi, R) for theta_w = R sin(a), theta_t = R cos(a)."""
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
    """How far the log-likelihood falls from its maximum with the angle; a search starts where the last one ended."""

    def __init__(self, fit: Fit) -> None:
        self.fit = fit
        worker, task = fit.parameters[-2:]
        self.best, self.radius = float(np.arctan2(worker, task)), float(np.hypot(worker, task))
        slope = np.zeros(len(fit.parameters))
        slope[-2:] = np.array([task, -worker]) / self.radius**2
        along = fit.covariance @ slope
        variance = float(slope @ along)
        known = np.isfinite(variance) and variance > 0
        self.error = min(float(np.sqrt(variance)), FARTHEST) if known else FARTHEST
        # How the other parameters follow the angle, to first order.
        self.follow = along / variance if known else np.zeros(len(along))
        self.angle, self.parameters, self.modes = self.best, fit.parameters, fit.modes

    def fall(self, angle: float) -> float:
        """By how much the log-likelihood, maximised over everything but the angle, lies below its maximum."""
        function = at_angle(self.fit.objective, len(self.parameters), angle)
        expected = self.parameters + self.follow * (angle - self.angle)
        # Where the last search ended at R = 0, the next would stay there: the likelihood is even in R.
        start = np.append(expected[:-2], max(float(np.hypot(*expected[-2:])), self.radius / 2))
        at = function(start, self.modes)
        if at is None:
            start[:-1] = self.fit.parameters[:-2]  # thresholds that were expected to cross
            at = function(start, self.fit.modes)
        if at is None:
            raise ValueError("The parameters of the fit are not allowed here.")
        best = minimise(function, start, at, None, TOLERANCE)
        self.angle, self.modes = angle, best.at.modes
        self.parameters = function.directions @ best.parameters
        return float(best.at.value + self.fit.log_likelihood)

    def end(self, limit: float, drop: float) -> float:
        """The angle between the best one and the limit where the fall is `drop`; the limit where it never is.

        The square root of the fall is nearly a straight line, so that few angles are looked at.
        """
        known = {self.best: -1.0}

        def excess(angle: float) -> float:
            if angle not in known:
                known[angle] = float(np.sqrt(max(self.fall(angle), 0.0) / drop)) - 1
            return known[angle]

        # A likelihood with several tops may fall on the way and still be high enough at the limit.
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
        """Which deviation fits best, and how far the others are behind."""
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
    reached = np.empty(len(deviations))
    converged = True
    with one_thread(len(fit.workers) * len(fit.tasks)):
        for place in np.argsort(deviations):
            function = held(objective, len(parameters) + 1, len(parameters), float(deviations[place]))
            at = function(parameters, modes)
            if at is None:
                raise ValueError("The parameters of the fit are not allowed here.")
            best = minimise(function, parameters, at, None, TOLERANCE)
            parameters, modes, reached[place] = best.parameters, best.at.modes, -best.at.value
            converged = converged and best.decrement <= TOLERANCE
    return Profile(np.asarray(deviations, dtype=np.float64), reached, converged, not objective.layout.single)


SEARCH_PRECISION = 1e-9
"""Of the search, where the angle is scaled so that it changes by about 4 from the estimate to an end."""
STEPS = 100
CLOSE = 1e-3
"""By how much the log-likelihood at an end may miss what the interval allows."""
NUDGES = 0.3, 2.0
"""Standard errors by which searches begin away from the estimate: at zero deviations slopes vanish by symmetry."""
FURTHEST = 8.0
"""How far a search goes at first, in standard errors."""
WIDER, WIDENINGS = 4.0, 3
"""Where a search ends at that border, how much further the next one goes, and how often."""
FORBIDDEN = 1e6


@dataclass(frozen=True)
class FittedShare:
    """A model at its maximum and the two quadratic forms of its parameters: one, and the rest of the sum."""

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
        """From coordinates in which the negative log-likelihood rises by about z'z / 2, to parameters."""
        lower = root(self.hessian if np.all(np.isfinite(self.hessian)) else self.at.information())
        return np.asarray(linalg.solve_triangular(lower, np.eye(len(lower)), lower=True, trans=1))

    def without(self, form: Floats) -> float:
        """By how much the log-likelihood falls where a form is zero."""
        inside = np.asarray(linalg.null_space(form))
        function, start = Restricted(self.function, np.zeros(len(form)), inside), inside.T @ self.parameters
        at = function(start, self.modes) if len(start) else None
        if at is None:
            return float("inf")
        return float(minimise(function, start, at, None, TOLERANCE).at.value - self.at.value)


def variance_share(models: Sequence[FittedShare], level: float = 0.95) -> Share:
    """The pooled share of the first forms of one model, or of several; an end that is not found is not a number.

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
    """The search for one end of the interval, in the coordinates of all models side by side."""

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
        by_one, by_rest = self.one @ parameters, self.rest @ parameters
        w, t = (float(np.sqrt(max(float(parameters @ by), 0.0))) for by in (by_one, by_rest))
        if w == t == 0:
            return float("nan"), np.zeros(len(parameters))
        slope = (t * by_one / max(w, 1e-12) - w * by_rest / max(t, 1e-12)) / (w * w + t * t)
        return float(np.arctan2(w, t)), slope

    def fall(self, z: Floats) -> tuple[float, Floats]:
        """By how much the mean log-likelihood lies below its maximum, and the gradient of that."""
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
        """The share at the end of the interval; not a number where so many steps do not find it.

        Of a likelihood with several tops, a search finds the end that its start leads to: the outermost of two counts.
        """
        found = [self.end_from(nudge, drop, steps) for nudge in NUDGES]
        known = [share for share in found if np.isfinite(share)]
        return max(known, key=lambda share: self.sign * share) if known else float("nan")

    def end_from(self, nudge: float, drop: float, steps: int) -> float:
        """The share at the end that a search finds from a start so many standard errors beside the estimate."""
        start = self.start(nudge)
        slope = self.turn.T @ self.angle(self.best + self.turn @ start)[1]
        # Scaled so that the multiplier of the constraint is about 1, as the search expects.
        scale = -self.sign * np.sqrt(2 * drop) / max(float(np.linalg.norm(slope)), 1e-12)

        from scipy.optimize import minimize

        def target(z: Floats) -> tuple[float, Floats]:
            angle, slope = self.angle(self.best + self.turn @ z)
            return scale * angle, scale * (self.turn.T @ slope)

        within = {"type": "ineq", "fun": lambda z: drop - self.fall(z)[0], "jac": lambda z: -self.fall(z)[1]}
        # Standard errors say little where a likelihood is flat: an end at the border is no end.
        for border in FURTHEST * WIDER ** np.arange(WIDENINGS + 1):
            found = minimize(
                target, start, jac=True, method="SLSQP", bounds=[(-border, border)] * len(start), constraints=within,
                options={"ftol": SEARCH_PRECISION, "maxiter": steps},
            )  # fmt: skip
            start = np.asarray(found.x)
            if np.abs(start).max() < border:
                break
        else:
            return float("nan")
        if abs(self.fall(start)[0] - drop) > CLOSE:
            return float("nan")
        return float(np.sin(self.angle(self.best + self.turn @ start)[0]) ** 2)

    def start(self, nudge: float = NUDGES[0]) -> Floats:
        """Beside the estimate: deviations that are to grow begin away from zero."""
        growing = np.diag(self.one if self.sign > 0 else self.rest) > 0
        errors = np.sqrt((self.turn**2).sum(axis=1))
        step = np.where(growing, nudge * np.where(self.best < 0, -errors, errors), 0.0)
        return np.linalg.solve(self.turn, step)
