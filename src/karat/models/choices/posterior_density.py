"""The density of Thurstone's model in JAX, for NUTS; only imported if the extra `bayes` is installed.

The model is that of `thurstone`, with one difference: strengths ~ N(0, tau^2) with unknown tau. A wide prior of fixed
width hardly affects the maximum, but it affects the posterior. In hundreds of dimensions, there is much more volume at
large strengths than at small ones, and the participants determine the scale (a typical sigma of 1) only to a few per
cent. With the fixed prior, strengths, sigma and C of the reference choices would all be more than twice too large. With
tau, only the ratios count.

Strengths are on the plane where they sum to zero, which has one dimension less than the number of items: x is mapped to
it by the reflection that swaps the last axis with the normal of the plane. The sigma of a participant without errors
may be arbitrarily small, so log sigma has a long tail. NUTS therefore samples z, a standard normal variable that the
Weibull distribution (with the shape at the maximum) maps to sigma, 1 - Phi(z) = exp(-exp(k log sigma - gamma)), and
which has a short tail. All parameters start from the penalised maximum of the likelihood, in units of its standard
errors, so that the sampler starts near the mode with suitable step sizes. The derivatives of logarithms of normal
probabilities are explicit, which is faster than automatic differentiation and stable in the tails.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy import linalg
from scipy.special import ndtri

from karat.models.choices.pairs import Pairs
from karat.models.choices.thurstone import OMEGA_PRIOR, SHAPE_PRIOR, Thurstone
from karat.models.choices.thurstone_people import EULER
from karat.types import Ints

LOG_ROOT_2PI = float(np.log(2 * np.pi) / 2)
TAU_PRIOR = (0.0, 2.0)
"""Mean and standard deviation of log tau."""
TAIL = -6.0
"""Below this, the logarithm of the normal distribution is computed from its asymptotic series."""


@jax.custom_jvp  # type: ignore[untyped-decorator]
def log_normal(x: Any) -> Any:
    """log Phi(x)."""
    near = jnp.log(jax.lax.erfc(-jnp.maximum(x, TAIL) / np.sqrt(2)) / 2)
    far = jnp.minimum(x, TAIL)
    square = 1 / (far * far)
    series = 1 - square * (1 - 3 * square * (1 - 5 * square * (1 - 7 * square * (1 - 9 * square))))
    return jnp.where(x > TAIL, near, -far * far / 2 - LOG_ROOT_2PI - jnp.log(-far) + jnp.log(series))


@log_normal.defjvp  # type: ignore[untyped-decorator]
def _log_normal_slope(at: tuple[Any], move: tuple[Any]) -> tuple[Any, Any]:
    (x,), (step,) = at, move
    value = log_normal(x)
    return value, jnp.exp(-x * x / 2 - LOG_ROOT_2PI - value) * step


@jax.custom_jvp  # type: ignore[untyped-decorator]
def log_between(upper: Any, lower: Any) -> Any:
    """log (Phi(upper) - Phi(lower)), with both moved to the smaller tail first."""
    in_upper_tail = upper + lower > 0
    high, low = jnp.where(in_upper_tail, -lower, upper), jnp.where(in_upper_tail, -upper, lower)
    top = log_normal(high)
    return top + jnp.log(-jnp.expm1(jnp.minimum(log_normal(low) - top, -1e-14)))


@log_between.defjvp  # type: ignore[untyped-decorator]
def _log_between_slope(at: tuple[Any, Any], move: tuple[Any, Any]) -> tuple[Any, Any]:
    upper, lower = at
    value = log_between(upper, lower)
    first = jnp.exp(-upper * upper / 2 - LOG_ROOT_2PI - value)
    second = jnp.exp(-lower * lower / 2 - LOG_ROOT_2PI - value)
    return value, first * move[0] - second * move[1]


def on_plane(x: Any) -> Any:
    """Map n - 1 numbers (on the last axis) to n that sum to zero, preserving lengths and angles.

    >>> bool(abs(on_plane(jnp.array([1.0, 2.0, 3.0])).sum()) < 1e-6)
    True
    """
    n = x.shape[-1] + 1
    total = x.sum(axis=-1, keepdims=True)
    return jnp.concatenate([x - total / (n + np.sqrt(n)), -total / np.sqrt(n)], axis=-1)


def choice_terms(pairs: Pairs, person: Ints) -> Callable[[Any, Any, Any], Any]:
    """A function for the log-likelihood of (strengths, u by person, v by person)."""
    chosen, tied = pairs.answer != 0, pairs.answer == 0
    right_chosen = pairs.answer[chosen] == -1
    # A choice of the right side equals a choice of the left side with the sides swapped.
    better = jnp.asarray(np.where(right_chosen, pairs.right[chosen], pairs.left[chosen]))
    worse = jnp.asarray(np.where(right_chosen, pairs.left[chosen], pairs.right[chosen]))
    chooser, tied_person = jnp.asarray(person[chosen]), jnp.asarray(person[tied])
    left, right = jnp.asarray(pairs.left[tied]), jnp.asarray(pairs.right[tied])

    def log_likelihood(strengths: Any, u: Any, v: Any) -> Any:
        scale, criterion = jnp.exp(-u), jnp.exp(v)
        log_p = log_normal((strengths[better] - strengths[worse] - criterion[chooser]) * scale[chooser])
        d, c, s = strengths[left] - strengths[right], criterion[tied_person], scale[tied_person]
        return log_p.sum() + log_between((d + c) * s, (d - c) * s).sum()

    return log_likelihood


class Density:
    """The posterior density around the penalised maximum, in the coordinates that NUTS samples."""

    def __init__(self, pairs: Pairs, person: Ints, fit: Thurstone) -> None:
        self.shared = fit.population.omega is None
        self.people = int(person.max()) + 1
        self.likelihood = choice_terms(pairs, person)
        self.centre = jnp.asarray(fit.strengths)
        self.tau = float(fit.strengths.std()) + 1e-3
        # The covariance in the coordinates of the plane: the reflection is applied from both sides.
        n = pairs.items
        reflection = np.asarray(on_plane(jnp.eye(n - 1)))
        covariance = reflection @ fit.covariance @ reflection.T
        self.spread = jnp.asarray(linalg.cholesky(covariance + 1e-10 * np.eye(n - 1), lower=True))
        self.v, self.population = jnp.log(jnp.asarray(fit.criterion)), fit.population
        answers = np.bincount(person, minlength=self.people)
        unit = 1 / np.sqrt(fit.population.shape**2 + answers / 3)
        y = fit.population.shape * np.log(fit.variability) - EULER
        self.z = jnp.asarray(-ndtri(np.exp(-np.exp(y))))
        self.unit, self.z_unit = jnp.asarray(unit), jnp.asarray(unit) * jnp.exp(-self._from_normal(self.z)[1])

    def _from_normal(self, z: Any) -> tuple[Any, Any]:
        """u = log sigma for z, and the logarithm of the derivative of u in z."""
        tail = log_normal(-z)
        y = jnp.log(-tail)
        k = self.population.shape
        return (y + EULER) / k, -z * z / 2 - LOG_ROOT_2PI - tail - y - np.log(k)

    def start(self) -> dict[str, Any]:
        """The position of the penalised maximum."""
        values = {
            "x": jnp.zeros(self.spread.shape[0]),
            "u": jnp.zeros(self.people),
            "tau": 0.0,
            "shape": 0.0,
            "mu": 0.0,
        }
        if not self.shared:
            values |= {"v": jnp.zeros(self.people), "omega": 0.0}
        return {name: jnp.asarray(value, dtype=jnp.float64) for name, value in values.items()}

    def recorded(self, position: dict[str, Any]) -> dict[str, Any]:
        """The parameters of the model at a position; shape, omega, sigma (u) and C (v) as logarithms."""
        population, width = self.population, 1 / np.sqrt(self.people)
        parameters = {
            "strengths": self.centre + on_plane(self.spread @ position["x"]),
            "u": self._from_normal(self.z + self.z_unit * position["u"])[0],
            "log_tau": np.log(self.tau) + position["tau"] / np.sqrt(2 * len(self.centre)),
            "log_shape": np.log(population.shape) + width * position["shape"],
            "mu": population.mu + width / 2 * position["mu"],
        }
        if population.omega is not None:
            parameters["log_omega"] = np.log(population.omega) + width * position["omega"]
            parameters["v"] = self.v + self.unit * position["v"]
        return parameters

    def energy(self, position: dict[str, Any]) -> Any:
        """Minus the logarithm of the posterior density at a position."""
        theta = self.recorded(position)
        shape = jnp.exp(theta["log_shape"])
        y = shape * theta["u"] - EULER
        log_jacobian = self._from_normal(self.z + self.z_unit * position["u"])[1].sum()
        value = log_jacobian + jnp.sum(theta["log_shape"] + y - jnp.exp(y))
        value -= ((theta["log_tau"] - TAU_PRIOR[0]) / TAU_PRIOR[1]) ** 2 / 2
        value -= jnp.sum(theta["strengths"] ** 2 * jnp.exp(-2 * theta["log_tau"])) / 2
        value -= position["x"].size * theta["log_tau"]
        value -= ((theta["log_shape"] - SHAPE_PRIOR[0]) / SHAPE_PRIOR[1]) ** 2 / 2
        if self.shared:
            v = jnp.full(self.people, theta["mu"])
        else:
            v = theta["v"]
            deviation = (v - theta["mu"]) * jnp.exp(-theta["log_omega"])
            value += jnp.sum(-theta["log_omega"] - deviation**2 / 2)
            value -= ((theta["log_omega"] - OMEGA_PRIOR[0]) / OMEGA_PRIOR[1]) ** 2 / 2
        return -(value + self.likelihood(theta["strengths"], theta["u"], v))
