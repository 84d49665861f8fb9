"""The probability of one choice in Thurstone's model with a criterion, and its derivatives.

A participant compares the felt difference L ~ N(d, sigma), d = strength of the left item - strength of the right one,
with a criterion C: left where L > C, right where L < -C, else "no difference". With u = log sigma and v = log C,

    P(left)  = Phi((d - C) / sigma)
    P(right) = 1 - Phi((d + C) / sigma)
    P(tie)   = Phi((d + C) / sigma) - Phi((d - C) / sigma).

So every probability is a constant plus +1, 0 or -1 times Phi of the two borders x = (d + C) / sigma and
(d - C) / sigma, and so are its derivatives in d, u and v.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from karat.types import Floats, Ints

LOG_ROOT_2PI = float(np.log(2 * np.pi) / 2)


@dataclass(frozen=True, slots=True)
class Slopes:
    """The logarithm of the probability of a choice with its first and second derivatives in d, u and v."""

    value: Floats
    d: Floats
    u: Floats
    v: Floats
    dd: Floats
    du: Floats
    dv: Floats
    uu: Floats
    uv: Floats
    vv: Floats


def log_probability(d: Floats, u: Floats, v: Floats, answer: Ints) -> Floats:
    """The logarithm of the probability of each answer: 1 left, 0 no difference, -1 right.

    >>> d, u, v = np.array([0.5]), np.zeros(1), np.log(np.ones(1))
    >>> bool(np.isclose(sum(np.exp(log_probability(d, u, v, np.array([a])))[0] for a in (1, 0, -1)), 1))
    True
    """
    scale, criterion = np.exp(-u), np.exp(v)
    return _log_probability((d + criterion) * scale, (d - criterion) * scale, answer)


def _log_probability(upper: Floats, lower: Floats, answer: Ints) -> Floats:
    chosen = log_ndtr(np.where(answer == 1, lower, -upper))
    # Both borders are put on the side of the smaller tail, where the difference of two probabilities keeps its digits.
    turned = upper + lower > 0
    high, low = np.where(turned, -lower, upper), np.where(turned, -upper, lower)
    top = log_ndtr(high)
    tie = top + np.log(-np.expm1(np.minimum(log_ndtr(low) - top, -1e-300)))
    found: Floats = np.where(answer == 0, tie, chosen)
    return found


def slopes(d: Floats, u: Floats, v: Floats, answer: Ints) -> Slopes:
    """The logarithm of the probability of each answer with all derivatives."""
    s, c = np.exp(-u), np.exp(v)
    upper, lower = (d + c) * s, (d - c) * s
    value = _log_probability(upper, lower, answer)
    above = np.where(answer == 0, 1.0, np.where(answer == -1, -1.0, 0.0))
    below = np.where(answer == 0, -1.0, np.where(answer == 1, 1.0, 0.0))
    # A border that the answer does not have is left out before it could overflow.
    first = above * np.exp(np.where(above == 0, -np.inf, -(upper**2) / 2 - LOG_ROOT_2PI - value))
    second = below * np.exp(np.where(below == 0, -np.inf, -(lower**2) / 2 - LOG_ROOT_2PI - value))
    # Sums over the two borders, of which the upper one moves with +C and the lower one with -C.
    plain, signed = first + second, first - second
    once, once_signed = first * upper + second * lower, first * upper - second * lower
    squared, squared_signed = first * upper**2 + second * lower**2, first * upper**2 - second * lower**2
    cubed = first * upper**3 + second * lower**3
    cs = c * s
    in_d, in_v, in_u = s * plain, cs * signed, -once
    return Slopes(
        value, in_d, in_u, in_v,
        -s * s * once - in_d**2,
        s * (squared - plain) - in_d * in_u,
        -cs * s * once_signed - in_d * in_v,
        once - cubed - in_u**2,
        cs * (squared_signed - signed) - in_u * in_v,
        cs * signed - cs * cs * once - in_v**2,
    )  # fmt: skip
