"""The likelihood of an answer given its linear predictor, with the derivatives that the Laplace approximation needs.

Each answer has a log-likelihood l with slope r = dl/deta, curvature W = -d2l/deta2 and W3 = dW/deta. A family may
have parameters psi (thresholds, a residual deviation). For these, `gradient` returns the sum over answers of

    -l_psi + a W_psi + b r_psi      (derivatives at fixed eta)

for any weights a and b, from which the gradient is computed. `information` returns the sum of -l_psi,psi and r_psi of
every answer, for the search.

- Binary: P(1) = F(eta), with F the logistic function, so that r = y - F, W = F(1 - F), W3 = W(1 - 2F).
- Ordinal: P(y <= k) = F(alpha_k - eta). With a and b the thresholds above and below the answer minus eta, and
  f = F(1 - F): r = F(a) + F(b) - 1, W = f(a) + f(b). The likelihood F(a) - F(b) is
  F(a) F(-b) (1 - exp(b - a)), which avoids cancellation.
- Binary by another link: the probit, F = Phi, or the complementary log-log, F = 1 - exp(-exp(eta)).
- Ordinal with scale effects: P(y <= k) = F((alpha_k - eta) / exp(z'zeta)), where psi is alpha and zeta.
- Ordinal by another link: l = log(F(a) - F(b)), with separate derivatives in a and b.
- Gaussian: y ~ N(eta, sigma^2), psi = log sigma.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
from scipy.special import expit, log_ndtr, logit, ndtr, ndtri

from karat.messages import Message
from karat.types import Bools, Floats, Ints

FamilyName = Literal["binary", "ordinal", "gaussian"]
Link = Literal["logit", "probit", "cloglog"]


def family_message(family: FamilyName) -> Message:
    """The kind of answers a family describes.

    >>> str(family_message("ordinal"))
    'ordered'
    """
    if family == "binary":
        return Message("fit.binary")
    return Message("fit.ordinal") if family == "ordinal" else Message("fit.gaussian")


@dataclass(frozen=True, slots=True)
class Derivatives:
    """l, r and W of every answer."""

    log_likelihood: Floats
    slope: Floats
    curvature: Floats


@dataclass(frozen=True)
class BinaryFamily:
    """Yes or no, by the logit; `sign` is 1 for yes and -1 for no."""

    sign: Floats
    parameters: int = 0

    def derivatives(self, eta: Floats, psi: Floats) -> Derivatives:
        """Derivatives at `eta`."""
        signed = self.sign * eta
        log, complement = log_logistic(signed)
        return Derivatives(log, self.sign * complement, complement - complement * complement)

    def third(self, eta: Floats, psi: Floats) -> Floats:
        _, complement = log_logistic(self.sign * eta)
        return self.sign * (complement - complement * complement) * (2 * complement - 1)

    def allowed(self, psi: Floats) -> bool:
        return True

    def gradient(self, eta: Floats, psi: Floats, weight: Floats, by_curvature: Floats, by_slope: Floats) -> Floats:
        return np.empty(0)

    def information(self, eta: Floats, psi: Floats) -> tuple[Floats, Floats]:
        return np.empty((0, 0)), np.empty((0, *eta.shape))

    @property
    def answers(self) -> Floats:
        return self.sign

    def subset(self, answers: Floats) -> tuple[BinaryFamily | None, Bools]:
        varied = len(answers) > 0 and answers.min() < answers.max()
        return replace(self, sign=answers) if varied else None, np.empty(0, dtype=bool)


@dataclass(frozen=True)
class OrdinalFamily:
    """Ordered categories 0, 1, ..., by cumulative logits; psi are the thresholds between them."""

    category: Ints
    categories: int

    @property
    def parameters(self) -> int:
        return self.categories - 1

    def derivatives(self, eta: Floats, psi: Floats) -> Derivatives:
        """Derivatives at `eta` for the thresholds `psi`."""
        logs, (not_above, not_below), gap = self._tails(eta, psi)
        curvature = not_above - not_above**2 + not_below - not_below**2
        return Derivatives(logs[0] + logs[1] + gap, not_below - not_above, curvature)

    def third(self, eta: Floats, psi: Floats) -> Floats:
        at = self._at(eta, psi)
        return np.asarray(-at.w_above - at.w_below)

    def allowed(self, psi: Floats) -> bool:
        return bool((psi[1:] > psi[:-1]).all())

    def gradient(self, eta: Floats, psi: Floats, weight: Floats, by_curvature: Floats, by_slope: Floats) -> Floats:
        at = self._at(eta, psi)
        above = by_curvature * at.w_above + by_slope * at.f_above - at.l_above
        below = by_curvature * at.w_below + by_slope * at.f_below - at.l_below
        return self._by_category(weight * above)[:-1] + self._by_category(weight * below)[1:]

    def information(self, eta: Floats, psi: Floats) -> tuple[Floats, Floats]:
        at = self._at(eta, psi)
        above, below, bend = at.f_above, at.f_below, self._by_category(at.bend)
        diagonal = (self._by_category(above) + bend)[:-1] + (self._by_category(below) + bend)[1:]
        thresholds = range(self.categories - 1)
        slopes = np.stack([above * (self.category == k) + below * (self.category == k + 1) for k in thresholds])
        return np.diag(diagonal) - np.diag(bend[1:-1], 1) - np.diag(bend[1:-1], -1), slopes

    @property
    def answers(self) -> Ints:
        return self.category

    def subset(self, answers: Ints) -> tuple[OrdinalFamily | None, Bools]:
        used = np.bincount(answers, minlength=self.categories) > 0
        number = np.maximum(np.cumsum(used) - 1, 0)
        # A threshold remains if the category just below it is used, and any above it.
        thresholds = used[:-1] & (np.cumsum(used[::-1])[::-1][1:] > 0)
        categories = int(used.sum())
        return replace(self, category=number[answers], categories=categories) if categories > 1 else None, thresholds

    def _by_category(self, values: Floats) -> Floats:
        """The sum of `values` over the answers in each category."""
        return np.bincount(self.category, values, self.categories).astype(np.float64, copy=False)

    def _at(self, eta: Floats, psi: Floats) -> SimpleNamespace:
        """The derivatives of l, r and W in the thresholds above and below each answer; see `logistic_interval`."""
        _, (not_above, not_below), _ = self._tails(eta, psi)
        gaps = np.diff(np.concatenate([[-np.inf], psi, [np.inf]]))
        return logistic_interval(not_above, not_below, (np.exp(-gaps) / -np.expm1(-gaps))[self.category])

    def _tails(self, eta: Floats, psi: Floats) -> tuple[Floats, Floats, Floats]:
        """log F and 1 - F at the upper threshold minus eta and at eta minus the lower one, and the log of the gap.

        The values for the last predictor are cached, because the gradient and the information need them again.
        """
        cached = self._last.get("tails")
        if cached is None or cached[0] is not eta or cached[1] is not psi:
            ends, gaps = self._ends(psi)
            sides = np.empty((2, *self.category.shape))
            np.subtract(ends[1:][self.category], eta, out=sides[0])
            np.subtract(eta, ends[self.category], out=sides[1])
            cached = self._last["tails"] = eta, psi, (*log_logistic(sides), gaps[self.category])
        return cached[2]

    @cached_property
    def _last(self) -> dict[str, Any]:
        return {}

    def _ends(self, psi: Floats) -> tuple[Floats, Floats]:
        """The bounds of the categories, and for each category the log of 1 - exp(-(upper - lower bound))."""
        ends = np.concatenate([[-np.inf], psi, [np.inf]])
        return ends, np.log(-np.expm1(ends[:-1] - ends[1:]))


@dataclass(frozen=True)
class LinkedBinary(BinaryFamily):
    """Yes or no, by the probit or the complementary log-log."""

    link: Link = "probit"

    def derivatives(self, eta: Floats, psi: Floats) -> Derivatives:
        """Derivatives at `eta`."""
        return Derivatives(*self._parts(eta)[:3])

    def third(self, eta: Floats, psi: Floats) -> Floats:
        return self._parts(eta)[3]

    def _parts(self, eta: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """l, r, W and W3."""
        if self.link == "probit":
            signed = self.sign * eta
            log = log_ndtr(signed)
            ratio = np.exp(-0.5 * signed**2 - 0.5 * np.log(2 * np.pi) - log)
            curvature = ratio * (signed + ratio)
            third = self.sign * (ratio - curvature * (signed + 2 * ratio))
            return log, self.sign * ratio, curvature, third
        mean = np.exp(np.minimum(eta, 300.0))
        with np.errstate(over="ignore"):
            slope = np.where(mean > 1e-8, mean / np.expm1(np.minimum(mean, 700.0)), 1 - mean / 2)
        bend = slope * (mean + slope - 1)
        third = slope * (mean - bend) - bend * (mean + slope - 1)
        yes = self.sign > 0
        # For small means 1 - exp(-mean) is nearly the mean.
        log = np.where(yes, np.log(-np.expm1(-np.maximum(mean, 1e-300))), -mean)
        return log, np.where(yes, slope, -mean), np.where(yes, bend, mean), np.where(yes, third, mean)


@dataclass(frozen=True)
class LinkedOrdinal(OrdinalFamily):
    """Ordered categories by cumulative probits or complementary log-logs."""

    link: Link = "probit"

    def derivatives(self, eta: Floats, psi: Floats) -> Derivatives:
        at = self._at(eta, psi)
        return Derivatives(at.log, -(at.l_above + at.l_below), at.f_above + at.f_below)

    def _at(self, eta: Floats, psi: Floats) -> SimpleNamespace:
        ends, _ = self._ends(psi)
        above, below = ends[1:][self.category] - eta, ends[self.category] - eta
        between = _probits_between if self.link == "probit" else _cloglogs_between
        log, fa, fb = between(above, below)
        # With m = f'/f for the density f, f''/f = m^2 + m'. Below, m and m' at the upper and the lower end.
        (ma, ma_slope), (mb, mb_slope) = (
            (-x, -1.0) if self.link == "probit" else (1 - np.exp(x), -np.exp(x))
            for x in (np.where(np.isfinite(end), np.minimum(end, 300.0), 0.0) for end in (above, below))
        )
        slope_a, slope_b = ma * fa, -mb * fb
        la, lb = fa, -fb
        laa, lbb, lab = slope_a - la**2, slope_b - lb**2, -la * lb
        laab, labb = -slope_a * lb - 2 * la * lab, -slope_b * la - 2 * lb * lab
        laaa = (ma**2 + ma_slope) * fa - slope_a * la - 2 * la * laa
        lbbb = -(mb**2 + mb_slope) * fb - slope_b * lb - 2 * lb * lbb
        return SimpleNamespace(
            log=log, l_above=la, l_below=lb, f_above=-laa - lab, f_below=-lbb - lab,
            w_above=-laaa - 2 * laab - labb, w_below=-laab - 2 * labb - lbbb, bend=lab,
        )  # fmt: skip


def _probits_between(above: Floats, below: Floats) -> tuple[Floats, Floats, Floats]:
    """The log of the normal probability between two ends, and the density at each end divided by that probability."""
    right = below > 0  # the difference is computed in the nearer tail
    share = np.where(right, ndtr(-below) - ndtr(-above), ndtr(above) - ndtr(below))
    log = np.log(np.maximum(share, 1e-300))
    fa, fb = (np.exp(-0.5 * end**2 - log) / np.sqrt(2 * np.pi) for end in (above, below))
    return log, fa, fb


def _cloglogs_between(above: Floats, below: Floats) -> tuple[Floats, Floats, Floats]:
    """The same for F = 1 - exp(-exp(x))."""
    with np.errstate(over="ignore"):
        lower = np.exp(below)
        gap = np.maximum(np.exp(above) - lower, 1e-300)
    log_share = np.log(-np.expm1(-gap))
    at_above = np.exp(np.where(np.isfinite(above), above, 0.0) - gap - log_share)
    return log_share - lower, at_above, np.exp(below - log_share)


@dataclass(frozen=True)
class ScaledOrdinal(OrdinalFamily):
    """Ordered categories by cumulative logits with unequal spread; psi are the thresholds, then the scale effects.

    With s = exp(-z'zeta) the likelihood is that of `OrdinalFamily` at s eta and s alpha.
    """

    columns: Floats
    """z: rows x scale effects."""

    @property
    def parameters(self) -> int:
        return self.categories - 1 + int(self.columns.shape[1])

    def allowed(self, psi: Floats) -> bool:
        return super().allowed(psi[: self.categories - 1]) and bool(np.abs(self.columns @ self._zeta(psi)).max() < 30)

    def derivatives(self, eta: Floats, psi: Floats) -> Derivatives:
        """Derivatives at `eta`."""
        at = self._at(eta, psi)
        return Derivatives(at.log, at.s * at.slope, at.s**2 * at.curvature)

    def third(self, eta: Floats, psi: Floats) -> Floats:
        at = self._at(eta, psi)
        return np.asarray(at.s**3 * -(at.w_above + at.w_below))

    def gradient(self, eta: Floats, psi: Floats, weight: Floats, by_curvature: Floats, by_slope: Floats) -> Floats:
        at = self._at(eta, psi)
        above, below = self._end_slopes(eta, psi, at.s)
        minus_z = -self.columns.T
        by_l = above * at.l_above + below * at.l_below
        by_r = at.s * (above * at.f_above + below * at.f_below)
        by_w = at.s**2 * (above * at.w_above + below * at.w_below)
        scales = slice(self.categories - 1, None)
        by_r[scales] += minus_z * at.s * at.slope
        by_w[scales] += 2 * minus_z * at.s**2 * at.curvature
        return np.asarray((weight * (-by_l + by_curvature * by_w + by_slope * by_r)).sum(axis=1))

    def information(self, eta: Floats, psi: Floats) -> tuple[Floats, Floats]:
        at = self._at(eta, psi)
        above, below = self._end_slopes(eta, psi, at.s)
        scales, minus_z = slice(self.categories - 1, None), -self.columns.T
        slopes = at.s * (above * at.f_above + below * at.f_below)
        slopes[scales] += minus_z * at.s * at.slope
        apart = above - below
        inner = (above * at.f_above) @ above.T + (apart * at.bend) @ apart.T
        inner += (below * at.f_below) @ below.T
        # The second derivatives of s (alpha - eta): a scale effect multiplies each first derivative again.
        second = (above * at.l_above + below * at.l_below) @ minus_z.T
        inner[:, scales] -= second
        inner[scales] -= second.T
        inner[scales, scales] += second[scales]
        return (inner + inner.T) / 2, slopes

    def subset(self, answers: Ints) -> tuple[OrdinalFamily | None, Bools]:
        raise NotImplementedError("Scale effects belong to the rows of a whole study.")

    def _zeta(self, psi: Floats) -> Floats:
        return psi[self.categories - 1 :]

    def _at(self, eta: Floats, psi: Floats) -> SimpleNamespace:
        """s, and l, r and W in units of the scaled predictor, with their derivatives in the ends of each answer."""
        s = np.exp(-self.columns @ self._zeta(psi))
        ends = np.concatenate([[-np.inf], psi[: self.categories - 1], [np.inf]])
        above, below = s * (ends[self.category + 1] - eta), s * (ends[self.category] - eta)
        gap = above - below
        logs, (not_above, not_below) = log_logistic(np.stack([above, -below]))
        at = logistic_interval(not_above, not_below, np.exp(-gap) / -np.expm1(-gap))
        at.s, at.log = s, logs[0] + logs[1] + np.log(-np.expm1(-gap))
        at.slope, at.curvature = not_below - not_above, at.f_above + at.f_below
        return at

    def _end_slopes(self, eta: Floats, psi: Floats, s: Floats) -> tuple[Floats, Floats]:
        """The derivatives of s (alpha - eta) in psi at both ends of each answer: parameters x rows."""
        thresholds = self.categories - 1
        ends = np.concatenate([[0.0], psi[:thresholds], [0.0]])
        sides = []
        for place in (self.category + 1, self.category):
            inside = (place > 0) & (place <= thresholds)
            by_threshold = s * inside * (place == 1 + np.arange(thresholds)[:, None])
            sides.append(np.concatenate([by_threshold, -self.columns.T * (inside * s * (ends[place] - eta))]))
        return sides[0], sides[1]


def logistic_interval(not_above: Floats, not_below: Floats, steep: Floats) -> SimpleNamespace:
    """Derivatives of l = log(F(a) - F(b)) for logistic F, where a and b are the upper and lower ends minus eta.

    The arguments are 1 - F(a), F(b) and exp(b - a) / (1 - exp(b - a)). The result has the derivatives of l, r and W in
    a (`l_above`, `f_above`, `w_above`) and in b, and `bend`, the mixed second derivative of l. Then r = -(l_above +
    l_below), W = f_above + f_below and W3 = -(w_above + w_below).
    """
    f_above, f_below = not_above - not_above**2, not_below - not_below**2
    return SimpleNamespace(
        l_above=not_above + steep, l_below=-not_below - steep, f_above=f_above, f_below=f_below,
        w_above=f_above * (2 * not_above - 1), w_below=f_below * (1 - 2 * not_below), bend=steep * (1 + steep),
    )  # fmt: skip


def inverse_link(link: Link, eta: Floats) -> Floats:
    """The probability at a value of the linear predictor.

    >>> [inverse_link(link, np.zeros(1)).round(3).item() for link in ("logit", "probit", "cloglog")]
    [0.5, 0.5, 0.632]
    """
    if link == "logit":
        return np.asarray(expit(eta))
    return np.asarray(ndtr(eta) if link == "probit" else -np.expm1(-np.exp(eta)))


def linked(link: Link, probability: Floats) -> Floats:
    """The linear predictor at which the probability has this value.

    >>> [linked(link, np.array([0.75])).round(3).item() for link in ("logit", "probit", "cloglog")]
    [1.099, 0.674, 0.327]
    """
    if link == "cloglog":
        return np.log(-np.log1p(-probability))
    return np.asarray(logit(probability) if link == "logit" else ndtri(probability))


@dataclass(frozen=True)
class Gaussian:
    """Measured answers with independent normal errors; psi is the log of their standard deviation."""

    value: Floats
    parameters: int = 1

    def derivatives(self, eta: Floats, psi: Floats) -> Derivatives:
        """Derivatives at `eta` for the log deviation `psi`."""
        precision = np.exp(-2 * psi[0])
        error = self.value - eta
        log = -0.5 * np.log(2 * np.pi) - psi[0] - precision / 2 * error**2
        return Derivatives(log, precision * error, np.full_like(eta, precision))

    def third(self, eta: Floats, psi: Floats) -> Floats:
        return np.zeros_like(eta)

    def allowed(self, psi: Floats) -> bool:
        return bool(abs(psi[0]) < 300)

    def gradient(self, eta: Floats, psi: Floats, weight: Floats, by_curvature: Floats, by_slope: Floats) -> Floats:
        precision = np.exp(-2 * psi[0])
        error = self.value - eta
        terms = 1 - precision * error**2 - 2 * precision * (by_curvature + by_slope * error)
        return np.array([(weight * terms).sum()])

    def information(self, eta: Floats, psi: Floats) -> tuple[Floats, Floats]:
        precision = np.exp(-2 * psi[0])
        error = self.value - eta
        return np.array([[2 * precision * float((error * error).sum())]]), -2 * precision * error[None]

    @property
    def answers(self) -> Floats:
        return self.value

    def subset(self, answers: Floats) -> tuple[Gaussian | None, Bools]:
        return Gaussian(answers), np.ones(1, dtype=bool)


Family = BinaryFamily | OrdinalFamily | Gaussian
"""The method `subset` returns the family of a subset of the answers, in the layout's order, and which psi remain."""


def log_logistic(x: Floats) -> tuple[Floats, Floats]:
    """log F(x) and 1 - F(x) of the logistic function, without overflow; x may be infinite."""
    decay = np.exp(-np.abs(x))
    total = 1.0 + decay
    log = np.minimum(x, 0.0)
    log -= np.log(total)
    complement = np.where(x >= 0, decay, 1.0)
    complement /= total
    return log, complement
