"""Rotations of factor loadings: varimax, promax in its variants, and oblimin.

**Varimax** (Kaiser 1958) turns the factors so that the variance of the squared loadings within columns is largest. With
Kaiser's normalisation the rows have length 1 while it turns.

**Promax** (Hendrickson and White 1964) takes the varimax loadings x, raises them to a target with the power 4 and the
signs kept, and regresses the target on x, which lets the factors correlate. "With Kaiser normalisation" means
different things in different programs, and `kaiser` says which:

    none      nothing is normalised                     target x |x|^3
    varimax   rows normalised during varimax only       target x |x|^3          R's promax
    spss      rows normalised during varimax only       target x |x|^3 / h^4    h the length of the row; SPSS
    all       rows normalised throughout                target x |x|^3          R's psych, "promax"

(The row "spss" follows descriptions of its algorithm; no copy of the program was at hand to compare.) R ends varimax
when a step gains less than a share of 1e-5, which can be well before the maximum. The variants that are R's end there
too, and the one called varimax turns twice, so that they agree with it; `gain` sets another end.

**Oblimin** with gamma = 0 (Jennrich and Sampson 1966) has the smallest sum of products of squared loadings of different
columns; found by gradient projection (Jennrich 2002), from several starts. `kaiser="all"` normalises the rows.

Rotated factors are sorted by their sums of squared loadings and have positive sums.

Which factor of one solution is which of another is a matter of congruence. Tucker's (1951) coefficient of congruence of
two columns is their product over their lengths, sum xy / sqrt(sum x^2 sum y^2). Columns are matched so that the sum of
absolute coefficients is largest, and turned where it is negative.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from karat.types import Floats, Ints

Method = Literal["promax", "oblimin", "varimax"]
Kaiser = Literal["none", "varimax", "spss", "all"]
POWER = 4
STEPS = 2000
GAINS = {"none": 1e-13, "varimax": 1e-5, "spss": 1e-13, "all": 1e-5}
"""The share that a step of varimax must gain, or it was the last."""
STARTS = 8


@dataclass(frozen=True)
class Rotation:
    """Pattern loadings and the correlations of the factors."""

    loadings: Floats
    correlations: Floats
    converged: bool = True


def rotate(
    loadings: Floats,
    method: Method | None = "promax",
    kaiser: Kaiser = "varimax",
    gain: float | None = None,
    seed: int = 1,
) -> Rotation:
    """Rotated loadings; without a method, the same ones sorted and turned to positive sums.

    >>> rotated = rotate(np.array([[0.8, 0.3], [0.7, 0.3], [0.5, -0.6], [0.4, -0.6]]), "varimax")
    >>> rotated.loadings.round(2).tolist()
    [[0.84, 0.14], [0.76, 0.09], [0.13, 0.77], [0.05, 0.72]]
    """
    k = loadings.shape[1]
    if method is None or k == 1:
        return sorted_and_reflected(Rotation(loadings, np.eye(k)))
    lengths = np.sqrt((loadings**2).sum(axis=1, keepdims=True))
    lengths = np.where(lengths > 0, lengths, 1.0)
    if method == "oblimin":
        rows = lengths if kaiser == "all" else np.ones_like(lengths)
        found = _oblimin(loadings / rows, np.random.default_rng(seed))
        return sorted_and_reflected(Rotation(found.loadings * rows, found.correlations, found.converged))
    rows = np.ones_like(lengths) if kaiser == "none" else lengths
    end = GAINS[kaiser] if gain is None else gain
    turned, converged = _varimax(loadings / rows, end)
    if method == "varimax":
        return sorted_and_reflected(Rotation(turned * rows, np.eye(k), converged))
    if kaiser == "varimax":
        # In R, promax(varimax(x)$loadings) turns twice, since its promax begins with a varimax of its own.
        turned, converged = _varimax(turned, end)
    kept = turned if kaiser == "all" else turned * rows
    divided = lengths**POWER if kaiser == "spss" else np.ones_like(lengths)
    pattern, correlations = _promax(kept, kept * np.abs(kept) ** (POWER - 1) / divided)
    pattern = pattern * rows if kaiser == "all" else pattern
    return sorted_and_reflected(Rotation(pattern, correlations, converged))


def sorted_and_reflected(rotation: Rotation) -> Rotation:
    """The same factors: the largest sum of squares first, each column with a positive sum."""
    order = np.argsort(-(rotation.loadings**2).sum(axis=0), kind="stable")
    loadings = rotation.loadings[:, order]
    signs = np.where(loadings.sum(axis=0) < 0, -1.0, 1.0)
    correlations = rotation.correlations[np.ix_(order, order)] * np.outer(signs, signs)
    return Rotation(loadings * signs, correlations, rotation.converged)


def _varimax(loadings: Floats, gain: float) -> tuple[Floats, bool]:
    """The turned loadings: each step takes the orthogonal matrix nearest to the criterion's slope."""
    p, k = loadings.shape
    turn, before = np.eye(k), 0.0
    for _ in range(STEPS):
        turned = loadings @ turn
        slope = loadings.T @ (turned**3 - turned * (turned**2).sum(axis=0) / p)
        left, sizes, right = np.linalg.svd(slope)
        turn = left @ right
        if sizes.sum() <= before * (1 + gain):
            return loadings @ turn, True
        before = float(sizes.sum())
    return loadings @ turn, False


def _promax(loadings: Floats, target: Floats) -> tuple[Floats, Floats]:
    """The regression of the target on the loadings, scaled so that the factors have variance 1."""
    towards = np.linalg.lstsq(loadings, target, rcond=None)[0]
    towards = towards * np.sqrt(np.diag(np.linalg.inv(towards.T @ towards)))
    return loadings @ towards, np.linalg.inv(towards.T @ towards)


def _oblimin(loadings: Floats, random: np.random.Generator) -> Rotation:
    """The best of several starts, since the criterion can have more than one minimum."""
    k = loadings.shape[1]
    best: tuple[float, Rotation] | None = None
    for number in range(STARTS):
        start = np.eye(k) if number == 0 else np.linalg.qr(random.standard_normal((k, k)))[0]
        value, found = _projected(loadings, start)
        if best is None or value < best[0] - 1e-9:
            best = value, found
    assert best is not None  # noqa: S101 - there is at least one start
    return best[1]


def _criterion(pattern: Floats) -> tuple[float, Floats]:
    """The sum of products of squared loadings of different columns (over 4), and its slope."""
    squares = pattern**2
    others = squares.sum(axis=1, keepdims=True) - squares
    return float((squares * others).sum() / 4), pattern * others


def _projected(loadings: Floats, start: Floats) -> tuple[float, Rotation]:
    """Gradient projection over matrices T with columns of length 1; the pattern is loadings T'^-1."""
    turn, step = start, 1.0
    pattern = loadings @ np.linalg.inv(turn).T
    value, slope = _criterion(pattern)
    converged = False
    for _ in range(STEPS):
        steep = -(pattern.T @ slope @ np.linalg.inv(turn)).T
        along = steep - turn * (turn * steep).sum(axis=0)
        size = float(np.sqrt((along**2).sum()))
        if size < 1e-9:
            converged = True
            break
        step *= 2
        for _ in range(60):
            moved = turn - step * along
            moved = moved / np.sqrt((moved**2).sum(axis=0))
            trial = loadings @ np.linalg.inv(moved).T
            lower, new_slope = _criterion(trial)
            if lower < value - 0.5 * size**2 * step:
                break
            step /= 2
        else:
            # No step goes further down: rounding, and good enough where the slope is small.
            converged = size < 1e-5
            break
        turn, pattern, value, slope = moved, trial, lower, new_slope
    return value, Rotation(pattern, turn.T @ turn, converged)


def congruence(first: Floats, second: Floats) -> Floats:
    """The coefficients of all columns of the first with all of the second; 0 for a column of zeros.

    >>> congruence(np.array([[1.0], [1.0]]), np.array([[2.0, 1.0], [2.0, -1.0]])).round(3).tolist()
    [[1.0, 0.0]]
    """
    lengths = np.outer(np.sqrt((first**2).sum(axis=0)), np.sqrt((second**2).sum(axis=0)))
    products = first.T @ second
    return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)


def matched(loadings: Floats, target: Floats) -> tuple[Ints, Floats]:
    """The order and the signs that bring the columns of loadings next to those of the target.

    >>> order, signs = matched(np.array([[0.0, -1.0], [1.0, 0.0]]), np.eye(2))
    >>> order.tolist(), signs.tolist()
    ([1, 0], [-1.0, 1.0])
    """
    from scipy.optimize import linear_sum_assignment

    table = congruence(target, loadings)
    _, order = linear_sum_assignment(-np.abs(table))
    signs = np.where(table[np.arange(len(order)), order] < 0, -1.0, 1.0)
    return order.astype(np.int64), signs
