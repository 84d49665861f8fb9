"""The likelihood of an answer given its linear predictor, with the derivatives that the Laplace approximation needs.

For each answer: the log-likelihood l, its slope r = dl/deta, its curvature W = -d2l/deta2 and W3 = dW/deta. A family
may have parameters psi of its own (thresholds, a residual deviation); for them it gives the sum over answers of

    -l_psi + a W_psi + b r_psi      (derivatives at fixed eta)

for any weights a and b, which is what the gradient is made of, and, for the search, the sum of -l_psi,psi and every
r_psi.

- Binary: P(1) = F(eta), with F the logistic function, so that r = y - F, W = F(1 - F), W3 = W(1 - 2F).
- Ordinal: P(y <= k) = F(alpha_k - eta). With a and b the thresholds above and below the answer, less eta, and f = F(1
  - F): r = F(a) + F(b) - 1, W = f(a) + f(b). The likelihood F(a) - F(b) is F(a) F(-b) (1 - exp(b - a)), which does
  not cancel.
- Binary by another link: the probit, F = Phi, or the complementary log-log, F = 1 - exp(-exp(eta)).
- Ordinal with scale effects: P(y <= k) = F((alpha_k - eta) / exp(z'zeta)), psi being alpha and zeta.
- Ordinal by another link: l = log(F(a) - F(b)), with its derivatives in a and b one by one.
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
    """The kind of answers that a family is for.

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
        towards = self.sign * eta
        log, other = log_logistic(towards)
        return Derivatives(log, self.sign * other, other - other * other)

    def third(self, eta: Floats, psi: Floats) -> Floats:
        _, other = log_logistic(self.sign * eta)
        return self.sign * (other - other * other) * (2 * other - 1)

    def allowed(self, psi: Floats) -> bool:
        return True

    def gradient(self, eta: Floats, psi: Floats, present: Floats, by_curvature: Floats, by_slope: Floats) -> Floats:
        return np.empty(0)

    def information(self, eta: Floats, psi: Floats, present: Floats) -> tuple[Floats, Floats]:
        return np.empty((0, 0)), np.empty((0, *eta.shape))

    @property
    def answers(self) -> Floats:
        return self.sign

    def kept(self, answers: Floats, present: Floats | None) -> tuple[BinaryFamily | None, Bools]:
        shown = answers if present is None else answers[present > 0]
        both = shown.size > 0 and shown.min() < shown.max()
        return replace(self, sign=answers) if both else None, np.empty(0, dtype=bool)


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

    def gradient(self, eta: Floats, psi: Floats, present: Floats, by_curvature: Floats, by_slope: Floats) -> Floats:
        at = self._at(eta, psi)
        above = by_curvature * at.w_above + by_slope * at.f_above - at.l_above
        below = by_curvature * at.w_below + by_slope * at.f_below - at.l_below
        return self._by_category(present * above)[:-1] + self._by_category(present * below)[1:]

    def information(self, eta: Floats, psi: Floats, present: Floats) -> tuple[Floats, Floats]:
        at = self._at(eta, psi)
        above, below, bend = present * at.f_above, present * at.f_below, self._by_category(present * at.bend)
        diagonal = (self._by_category(above) + bend)[:-1] + (self._by_category(below) + bend)[1:]
        kinds = range(self.categories - 1)
        slopes = np.stack([above * (self.category == k) + below * (self.category == k + 1) for k in kinds])
        return np.diag(diagonal) - np.diag(bend[1:-1], 1) - np.diag(bend[1:-1], -1), slopes

    @property
    def answers(self) -> Ints:
        return self.category

    def kept(self, answers: Ints, present: Floats | None) -> tuple[OrdinalFamily | None, Bools]:
        shown = answers if present is None else answers[present > 0]
        used = np.bincount(shown.ravel(), minlength=self.categories) > 0
        number = np.maximum(np.cumsum(used) - 1, 0)
        # A threshold stands between the last category used below it and one above: the lowest of equals stays.
        thresholds = used[:-1] & (np.cumsum(used[::-1])[::-1][1:] > 0)
        kinds = int(used.sum())
        return replace(self, category=number[answers], categories=kinds) if kinds > 1 else None, thresholds

    def _by_category(self, values: Floats) -> Floats:
        """Sums of values over the answers in each category."""
        whole = np.broadcast_to(values, self.category.shape).ravel()
        return np.bincount(self.category.ravel(), whole, self.categories).astype(np.float64, copy=False)

    def _at(self, eta: Floats, psi: Floats) -> SimpleNamespace:
        """How l, r and W of each answer change with the thresholds above and below it: see `logistic_interval`."""
        _, (not_above, not_below), _ = self._tails(eta, psi)
        gaps = np.diff(np.concatenate([[-np.inf], psi, [np.inf]]))
        return logistic_interval(not_above, not_below, (np.exp(-gaps) / -np.expm1(-gaps))[self.category])

    def _tails(self, eta: Floats, psi: Floats) -> tuple[Floats, Floats, Floats]:
        """log F and 1 - F of the threshold above minus eta and of eta minus the one below, and the log of the gap.

        Those of the last predictor are kept: the gradient and the information ask for them where the search ended.
        """
        last = self._last.get("tails")
        if last is None or last[0] is not eta or last[1] is not psi:
            ends, gaps = self._ends(psi)
            sides = np.empty((2, *self.category.shape))
            np.subtract(ends[1:][self.category], eta, out=sides[0])
            np.subtract(eta, ends[self.category], out=sides[1])
            last = self._last["tails"] = eta, psi, (*log_logistic(sides), gaps[self.category])
        return last[2]

    @cached_property
    def _last(self) -> dict[str, Any]:
        return {}

    def _ends(self, psi: Floats) -> tuple[Floats, Floats]:
        """The thresholds below and above each category, and the logs of what lies between them."""
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
            towards = self.sign * eta
            log = log_ndtr(towards)
            ratio = np.exp(-0.5 * towards**2 - 0.5 * np.log(2 * np.pi) - log)
            curvature = ratio * (towards + ratio)
            third = self.sign * (ratio - curvature * (towards + 2 * ratio))
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
        # The density f has f'/f = m, so that f''/f = m^2 + m', at the end above and at the one below.
        (ma, ma_slope), (mb, mb_slope) = (
            (-x, -1.0) if self.link == "probit" else (1 - np.exp(x), -np.exp(x))
            for x in (np.where(np.isfinite(end), np.minimum(end, 300.0), 0.0) for end in (above, below))
        )
        one, other = ma * fa, -mb * fb
        la, lb = fa, -fb
        laa, lbb, lab = one - la**2, other - lb**2, -la * lb
        laab, labb = -one * lb - 2 * la * lab, -other * la - 2 * lb * lab
        laaa = (ma**2 + ma_slope) * fa - one * la - 2 * la * laa
        lbbb = -(mb**2 + mb_slope) * fb - other * lb - 2 * lb * lbb
        return SimpleNamespace(
            log=log, l_above=la, l_below=lb, f_above=-laa - lab, f_below=-lbb - lab,
            w_above=-laaa - 2 * laab - labb, w_below=-laab - 2 * labb - lbbb, bend=lab,
        )  # fmt: skip


def _probits_between(above: Floats, below: Floats) -> tuple[Floats, Floats, Floats]:
    """The log of the normal probability between two ends, and what the density is of it at each."""
    turned = below > 0  # differences are taken in the tail that is closer
    share = np.where(turned, ndtr(-below) - ndtr(-above), ndtr(above) - ndtr(below))
    log = np.log(np.maximum(share, 1e-300))
    fa, fb = (np.exp(-0.5 * end**2 - log) / np.sqrt(2 * np.pi) for end in (above, below))
    return log, fa, fb


def _cloglogs_between(above: Floats, below: Floats) -> tuple[Floats, Floats, Floats]:
    """The same of F = 1 - exp(-exp(x))."""
    with np.errstate(over="ignore"):
        start = np.exp(below)
        apart = np.maximum(np.exp(above) - start, 1e-300)
    rest = np.log(-np.expm1(-apart))
    return rest - start, np.exp(np.where(np.isfinite(above), above, 0.0) - apart - rest), np.exp(below - rest)


@dataclass(frozen=True)
class ScaledOrdinal(OrdinalFamily):
    """Ordered categories by cumulative logits whose spread differs: psi are the thresholds, then the scale effects.

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

    def gradient(self, eta: Floats, psi: Floats, present: Floats, by_curvature: Floats, by_slope: Floats) -> Floats:
        at = self._at(eta, psi)
        above, below = self._moves(eta, psi, at.s)
        scale = -self.columns.T
        by_l = above * at.l_above + below * at.l_below
        by_r = at.s * (above * at.f_above + below * at.f_below)
        by_w = at.s**2 * (above * at.w_above + below * at.w_below)
        own = slice(self.categories - 1, None)
        by_r[own] += scale * at.s * at.slope
        by_w[own] += 2 * scale * at.s**2 * at.curvature
        return np.asarray((present * (-by_l + by_curvature * by_w + by_slope * by_r)).sum(axis=1))

    def information(self, eta: Floats, psi: Floats, present: Floats) -> tuple[Floats, Floats]:
        at = self._at(eta, psi)
        (above, below), own, scale = self._moves(eta, psi, at.s), slice(self.categories - 1, None), -self.columns.T
        slopes = at.s * (above * at.f_above + below * at.f_below)
        slopes[own] += scale * at.s * at.slope
        apart = above - below
        inner = (above * (present * at.f_above)) @ above.T + (apart * (present * at.bend)) @ apart.T
        inner += (below * (present * at.f_below)) @ below.T
        # What scales a move scales it again: the second derivatives of s (alpha - eta).
        first = present * (above * at.l_above + below * at.l_below)
        again = first @ scale.T
        inner[:, own] -= again
        inner[own] -= again.T
        inner[own, own] += again[own]
        return (inner + inner.T) / 2, present * slopes

    def kept(self, answers: Ints, present: Floats | None) -> tuple[OrdinalFamily | None, Bools]:
        raise NotImplementedError("Scale effects belong to the rows of a whole study.")

    def _zeta(self, psi: Floats) -> Floats:
        return psi[self.categories - 1 :]

    def _at(self, eta: Floats, psi: Floats) -> SimpleNamespace:
        """s, and in units of the scaled predictor l, r, W and their derivatives in the ends of each answer."""
        s = np.exp(-self.columns @ self._zeta(psi))
        ends = np.concatenate([[-np.inf], psi[: self.categories - 1], [np.inf]])
        above, below = s * (ends[self.category + 1] - eta), s * (ends[self.category] - eta)
        gap = above - below
        logs, (not_above, not_below) = log_logistic(np.stack([above, -below]))
        found = logistic_interval(not_above, not_below, np.exp(-gap) / -np.expm1(-gap))
        found.s, found.log = s, logs[0] + logs[1] + np.log(-np.expm1(-gap))
        found.slope, found.curvature = not_below - not_above, found.f_above + found.f_below
        return found

    def _moves(self, eta: Floats, psi: Floats, s: Floats) -> tuple[Floats, Floats]:
        """How psi moves s (alpha - eta) above and below each answer: parameters x rows."""
        thresholds = self.categories - 1
        ends = np.concatenate([[0.0], psi[:thresholds], [0.0]])
        sides = []
        for place in (self.category + 1, self.category):
            inside = (place > 0) & (place <= thresholds)
            own = s * inside * (place == 1 + np.arange(thresholds)[:, None])
            sides.append(np.concatenate([own, -self.columns.T * (inside * s * (ends[place] - eta))]))
        return sides[0], sides[1]


def logistic_interval(not_above: Floats, not_below: Floats, steep: Floats) -> SimpleNamespace:
    """Derivatives of l = log(F(a) - F(b)) for logistic F, where a and b are the ends above and below, minus eta.

    Given 1 - F(a), F(b) and exp(b - a) / (1 - exp(b - a)): the derivatives of l, r and W in a (`l_above`, `f_above`,
    `w_above`) and in b, and `bend`, the mixed second derivative of l. Then r = -(l_above + l_below), W = f_above +
    f_below and W3 = -(w_above + w_below).
    """
    f_above, f_below = not_above - not_above**2, not_below - not_below**2
    return SimpleNamespace(
        l_above=not_above + steep, l_below=-not_below - steep, f_above=f_above, f_below=f_below,
        w_above=f_above * (2 * not_above - 1), w_below=f_below * (1 - 2 * not_below), bend=steep * (1 + steep),
    )  # fmt: skip


def inverse_link(link: Link, eta: Floats) -> Floats:
    """The probability that belongs to a predictor.

    >>> [inverse_link(link, np.zeros(1)).round(3).item() for link in ("logit", "probit", "cloglog")]
    [0.5, 0.5, 0.632]
    """
    if link == "logit":
        return np.asarray(expit(eta))
    return np.asarray(ndtr(eta) if link == "probit" else -np.expm1(-np.exp(eta)))


def linked(link: Link, probability: Floats) -> Floats:
    """The predictor that belongs to a probability.

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

    def gradient(self, eta: Floats, psi: Floats, present: Floats, by_curvature: Floats, by_slope: Floats) -> Floats:
        precision = np.exp(-2 * psi[0])
        error = self.value - eta
        terms = 1 - precision * error**2 - 2 * precision * (by_curvature + by_slope * error)
        return np.array([(present * terms).sum()])

    def information(self, eta: Floats, psi: Floats, present: Floats) -> tuple[Floats, Floats]:
        precision = np.exp(-2 * psi[0])
        error = present * (self.value - eta)
        return np.array([[2 * precision * float((error * error).sum())]]), -2 * precision * error[None]

    @property
    def answers(self) -> Floats:
        return self.value

    def kept(self, answers: Floats, present: Floats | None) -> tuple[Gaussian | None, Bools]:
        return Gaussian(answers), np.ones(1, dtype=bool)


Family = BinaryFamily | OrdinalFamily | Gaussian
"""Its method `kept` is the family of some of the answers, in the layout's order, with which parameters it keeps."""


def log_logistic(x: Floats) -> tuple[Floats, Floats]:
    """log F(x) and 1 - F(x) of the logistic function, without overflow; both ends may be infinite."""
    decay = np.exp(-np.abs(x))
    whole = 1.0 + decay
    log = np.minimum(x, 0.0)
    log -= np.log(whole)
    other = np.where(x >= 0, decay, 1.0)
    other /= whole
    return log, other
