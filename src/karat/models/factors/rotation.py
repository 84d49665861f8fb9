"""Rotations of factor loadings: varimax, promax in its variants, and oblimin.

**Varimax** (Kaiser 1958) rotates the factors to maximise the variance of the squared loadings within columns. With
Kaiser normalisation the rows have length 1 during the rotation.

**Promax** (Hendrickson and White 1964) raises the varimax loadings x to the power 4, preserving signs, and regresses
this target on x, so that the factors may be correlated. "With Kaiser normalisation" means different things in
different programs, and `kaiser` selects one:

    none      no normalisation                          target x |x|^3
    varimax   rows normalised during varimax only       target x |x|^3          R's promax
    spss      rows normalised during varimax only       target x |x|^3 / h^4    h is the length of the row; SPSS
    all       rows normalised throughout                target x |x|^3          R's psych, "promax"

(The variant "spss" follows descriptions of the algorithm and has not been compared with the program itself.) R stops
varimax when the relative gain of a step is below 1e-5, which can be well before the maximum. The variants that follow R
stop there too, and the variant "varimax" rotates twice, so that they agree with R. `gain` sets a different limit.

**Oblimin** with gamma = 0 (Jennrich and Sampson 1966) minimises the sum of products of squared loadings of different
columns, by gradient projection (Jennrich 2002) from several starts. `kaiser="all"` normalises the rows.

Rotated factors are sorted by their sums of squared loadings and have positive sums.

Factors of two solutions are matched by congruence. Tucker's (1951) coefficient of congruence of two columns is their
product divided by their lengths, sum xy / sqrt(sum x^2 sum y^2). Columns are matched to maximise the sum of absolute
coefficients, and their sign is reversed if the coefficient is negative.
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
"""Varimax stops when the relative gain of a step is below this."""
STARTS = 8


@dataclass(frozen=True)
class Rotation:
    """The pattern loadings and the correlations of the factors."""

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
    """Rotated loadings; without a method, the same loadings, sorted and reflected to positive sums.

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
        rotation = _oblimin(loadings / rows, np.random.default_rng(seed))
        return sorted_and_reflected(Rotation(rotation.loadings * rows, rotation.correlations, rotation.converged))
    rows = np.ones_like(lengths) if kaiser == "none" else lengths
    end = GAINS[kaiser] if gain is None else gain
    rotated, converged = _varimax(loadings / rows, end)
    if method == "varimax":
        return sorted_and_reflected(Rotation(rotated * rows, np.eye(k), converged))
    if kaiser == "varimax":
        # In R, promax(varimax(x)$loadings) rotates twice, because promax itself starts with varimax.
        rotated, converged = _varimax(rotated, end)
    scaled = rotated if kaiser == "all" else rotated * rows
    divisor = lengths**POWER if kaiser == "spss" else np.ones_like(lengths)
    pattern, correlations = _promax(scaled, scaled * np.abs(scaled) ** (POWER - 1) / divisor)
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
    """The rotated loadings; each step uses the orthogonal matrix nearest to the gradient of the criterion."""
    p, k = loadings.shape
    rotation, previous = np.eye(k), 0.0
    for _ in range(STEPS):
        rotated = loadings @ rotation
        slope = loadings.T @ (rotated**3 - rotated * (rotated**2).sum(axis=0) / p)
        u, singular, v = np.linalg.svd(slope)
        rotation = u @ v
        if singular.sum() <= previous * (1 + gain):
            return loadings @ rotation, True
        previous = float(singular.sum())
    return loadings @ rotation, False


def _promax(loadings: Floats, target: Floats) -> tuple[Floats, Floats]:
    """The regression of the target on the loadings, scaled so that the factors have variance 1."""
    transform = np.linalg.lstsq(loadings, target, rcond=None)[0]
    transform = transform * np.sqrt(np.diag(np.linalg.inv(transform.T @ transform)))
    return loadings @ transform, np.linalg.inv(transform.T @ transform)


def _oblimin(loadings: Floats, random: np.random.Generator) -> Rotation:
    """The best of several starts, because the criterion can have more than one minimum."""
    k = loadings.shape[1]
    best: tuple[float, Rotation] | None = None
    for number in range(STARTS):
        start = np.eye(k) if number == 0 else np.linalg.qr(random.standard_normal((k, k)))[0]
        value, rotation = _gradient_projection(loadings, start)
        if best is None or value < best[0] - 1e-9:
            best = value, rotation
    assert best is not None  # noqa: S101 - there is at least one start
    return best[1]


def _criterion(pattern: Floats) -> tuple[float, Floats]:
    """The sum of products of squared loadings of different columns (over 4), and its slope."""
    squares = pattern**2
    others = squares.sum(axis=1, keepdims=True) - squares
    return float((squares * others).sum() / 4), pattern * others


def _gradient_projection(loadings: Floats, start: Floats) -> tuple[float, Rotation]:
    """Gradient projection over matrices T with columns of length 1; the pattern is loadings T'^-1."""
    turn, step = start, 1.0
    pattern = loadings @ np.linalg.inv(turn).T
    value, slope = _criterion(pattern)
    converged = False
    for _ in range(STEPS):
        gradient = -(pattern.T @ slope @ np.linalg.inv(turn)).T
        direction = gradient - turn * (turn * gradient).sum(axis=0)
        size = float(np.sqrt((direction**2).sum()))
        if size < 1e-9:
            converged = True
            break
        step *= 2
        for _ in range(60):
            new_turn = turn - step * direction
            new_turn = new_turn / np.sqrt((new_turn**2).sum(axis=0))
            trial = loadings @ np.linalg.inv(new_turn).T
            lower, new_slope = _criterion(trial)
            if lower < value - 0.5 * size**2 * step:
                break
            step /= 2
        else:
            # No step decreases the criterion because of rounding; acceptable if the gradient is small.
            converged = size < 1e-5
            break
        turn, pattern, value, slope = new_turn, trial, lower, new_slope
    return value, Rotation(pattern, turn.T @ turn, converged)


def congruence(first: Floats, second: Floats) -> Floats:
    """The coefficients of congruence of all columns of the first with all of the second; 0 for a column of zeros.

    >>> congruence(np.array([[1.0], [1.0]]), np.array([[2.0, 1.0], [2.0, -1.0]])).round(3).tolist()
    [[1.0, 0.0]]
    """
    lengths = np.outer(np.sqrt((first**2).sum(axis=0)), np.sqrt((second**2).sum(axis=0)))
    products = first.T @ second
    return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)


def matched(loadings: Floats, target: Floats) -> tuple[Ints, Floats]:
    """The order and the signs that match the columns of loadings to those of the target.

    >>> order, signs = matched(np.array([[0.0, -1.0], [1.0, 0.0]]), np.eye(2))
    >>> order.tolist(), signs.tolist()
    ([1, 0], [-1.0, 1.0])
    """
    from scipy.optimize import linear_sum_assignment

    table = congruence(target, loadings)
    _, order = linear_sum_assignment(-np.abs(table))
    signs = np.where(table[np.arange(len(order)), order] < 0, -1.0, 1.0)
    return order.astype(np.int64), signs
