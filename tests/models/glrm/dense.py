"""The Laplace likelihood written out: every effect a column, derivatives by differences, one dense determinant."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
STEP = 2e-3


def first(log: Callable[[Floats], Floats], eta: Floats) -> Floats:
    """The derivative of every answer's log-likelihood, from four points."""
    return (8 * (log(eta + STEP) - log(eta - STEP)) - (log(eta + 2 * STEP) - log(eta - 2 * STEP))) / (12 * STEP)


def second(log: Callable[[Floats], Floats], eta: Floats) -> Floats:
    """The second derivative, from five points."""
    near, far = log(eta + STEP) + log(eta - STEP), log(eta + 2 * STEP) + log(eta - 2 * STEP)
    return (16 * near - far - 30 * log(eta)) / (12 * STEP**2)


def dense_laplace(log: Callable[[Floats], Floats], offset: Floats, effects: Floats) -> float:
    """-log of the Laplace approximation; `effects` is Z times the deviations, one column for each standard effect."""
    b = np.zeros(effects.shape[1])
    for _ in range(200):
        eta = offset + effects @ b
        slope = effects.T @ first(log, eta) - b
        curvature = np.eye(len(b)) - effects.T @ (second(log, eta)[:, None] * effects)
        step = np.linalg.solve(curvature, slope)
        b = b + step / max(1.0, np.abs(effects @ step).max() / 2)
        if np.abs(step).max() < 1e-9:
            break
    eta = offset + effects @ b
    curvature = np.eye(len(b)) - effects.T @ (second(log, eta)[:, None] * effects)
    return float(-log(eta).sum() + b @ b / 2 + np.linalg.slogdet(curvature)[1] / 2)


def indicator(group: NDArray[np.int64]) -> Floats:
    """One column for each group."""
    return (group[:, None] == np.unique(group)).astype(np.float64)


def logistic(x: Floats) -> Floats:
    """The logistic function."""
    return 1 / (1 + np.exp(-x))


def differences(f: Callable[[Floats], float], x: Floats, step: float = 1e-5) -> Floats:
    """The gradient of a function by central differences."""
    return np.array([(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(len(x))])
