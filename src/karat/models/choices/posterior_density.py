"""The density of Thurstone's model as JAX computes it, for NUTS; only imported where the extra `bayes` is installed.

The same model as in `thurstone`, with one difference: strengths ~ N(0, tau^2) with tau unknown. A maximum does not mind
a wide prior of fixed width, but a posterior does. There is much more room at large strengths than at small ones, as in
any space of hundreds of dimensions, and what holds the scale, the typical sigma of 1, is known from the participants
only to a few per cent: with the fixed prior, strengths, sigma and C of the reference choices would all be more than
twice too large. With tau, only the ratios count.

Strengths lie on the plane where they sum to zero, which has one dimension less than there are items: x is turned onto
it by the reflection that swaps the last axis with the plane's normal. Somebody who never errs may have any small sigma,
and log sigma a long tail: NUTS moves the z of a standard normal variable that Weibull's distribution (with the shape at
the maximum) turns into sigma, 1 - Phi(z) = exp(-exp(k log sigma - gamma)), in which the tail is short. All parameters
start from the penalised maximum of the likelihood, in units of its errors, so that a sampler starts where it should
and with about the right steps. The logarithms of normal probabilities have their slopes by formula, which is faster
than what differentiation by machine makes of them, and safe in the tails.
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
"""Below it the logarithm of the normal distribution is taken from its asymptotic series."""


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
    """log (Phi(upper) - Phi(lower)), both put on the side of the smaller tail first."""
    turned = upper + lower > 0
    high, low = jnp.where(turned, -lower, upper), jnp.where(turned, -upper, lower)
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
    """n - 1 numbers (on the last axis) as n that sum to zero; lengths and angles stay.

    >>> bool(abs(on_plane(jnp.array([1.0, 2.0, 3.0])).sum()) < 1e-6)
    True
    """
    n = x.shape[-1] + 1
    total = x.sum(axis=-1, keepdims=True)
    return jnp.concatenate([x - total / (n + np.sqrt(n)), -total / np.sqrt(n)], axis=-1)


def choice_terms(pairs: Pairs, who: Ints) -> Callable[[Any, Any, Any], Any]:
    """The log-likelihood of (strengths, u by person, v by person); answers are sorted by kind beforehand."""
    chosen, tied = pairs.answer != 0, pairs.answer == 0
    turned = pairs.answer[chosen] == -1
    # A choice of the right side is one of the left side with the sides swapped.
    better = jnp.asarray(np.where(turned, pairs.right[chosen], pairs.left[chosen]))
    worse = jnp.asarray(np.where(turned, pairs.left[chosen], pairs.right[chosen]))
    by, tied_by = jnp.asarray(who[chosen]), jnp.asarray(who[tied])
    left, right = jnp.asarray(pairs.left[tied]), jnp.asarray(pairs.right[tied])

    def found(strengths: Any, u: Any, v: Any) -> Any:
        scale, criterion = jnp.exp(-u), jnp.exp(v)
        log_chance = log_normal((strengths[better] - strengths[worse] - criterion[by]) * scale[by])
        d, c, s = strengths[left] - strengths[right], criterion[tied_by], scale[tied_by]
        return log_chance.sum() + log_between((d + c) * s, (d - c) * s).sum()

    return found


class Density:
    """The model around its penalised maximum: what NUTS moves, and what that stands for."""

    def __init__(self, pairs: Pairs, who: Ints, fit: Thurstone) -> None:
        self.shared = fit.population.omega is None
        self.people = int(who.max()) + 1
        self.likelihood = choice_terms(pairs, who)
        self.centre = jnp.asarray(fit.strengths)
        self.tau = float(fit.strengths.std()) + 1e-3
        # The errors of the plane's own coordinates: the reflection applied to the covariance from both sides.
        n = pairs.items
        reflection = np.asarray(on_plane(jnp.eye(n - 1)))
        own = reflection @ fit.covariance @ reflection.T
        self.spread = jnp.asarray(linalg.cholesky(own + 1e-10 * np.eye(n - 1), lower=True))
        self.v, self.population = jnp.log(jnp.asarray(fit.criterion)), fit.population
        answers = np.bincount(who, minlength=self.people)
        unit = 1 / np.sqrt(fit.population.shape**2 + answers / 3)
        y = fit.population.shape * np.log(fit.variability) - EULER
        self.z = jnp.asarray(-ndtri(np.exp(-np.exp(y))))
        self.unit, self.z_unit = jnp.asarray(unit), jnp.asarray(unit) * jnp.exp(-self._from_normal(self.z)[1])

    def _from_normal(self, z: Any) -> tuple[Any, Any]:
        """u = log sigma for z, and the logarithm of its slope."""
        tail = log_normal(-z)
        y = jnp.log(-tail)
        k = self.population.shape
        return (y + EULER) / k, -z * z / 2 - LOG_ROOT_2PI - tail - y - np.log(k)

    def start(self) -> dict[str, Any]:
        """Where everything is at its maximum."""
        found = {"x": jnp.zeros(self.spread.shape[0]), "u": jnp.zeros(self.people), "tau": 0.0, "shape": 0.0, "mu": 0.0}
        if not self.shared:
            found |= {"v": jnp.zeros(self.people), "omega": 0.0}
        return {name: jnp.asarray(value, dtype=jnp.float64) for name, value in found.items()}

    def recorded(self, moved: dict[str, Any]) -> dict[str, Any]:
        """The parameters as the model has them; log_shape and log_omega, u and v as logarithms."""
        of, width = self.population, 1 / np.sqrt(self.people)
        found = {
            "strengths": self.centre + on_plane(self.spread @ moved["x"]),
            "u": self._from_normal(self.z + self.z_unit * moved["u"])[0],
            "log_tau": np.log(self.tau) + moved["tau"] / np.sqrt(2 * len(self.centre)),
            "log_shape": np.log(of.shape) + width * moved["shape"],
            "mu": of.mu + width / 2 * moved["mu"],
        }
        if of.omega is not None:
            found["log_omega"] = np.log(of.omega) + width * moved["omega"]
            found["v"] = self.v + self.unit * moved["v"]
        return found

    def energy(self, moved: dict[str, Any]) -> Any:
        """Minus the logarithm of the posterior density."""
        at = self.recorded(moved)
        shape = jnp.exp(at["log_shape"])
        y = shape * at["u"] - EULER
        room = self._from_normal(self.z + self.z_unit * moved["u"])[1].sum()
        found = (
            room + jnp.sum(at["log_shape"] + y - jnp.exp(y)) - ((at["log_tau"] - TAU_PRIOR[0]) / TAU_PRIOR[1]) ** 2 / 2
        )
        found -= jnp.sum(at["strengths"] ** 2 * jnp.exp(-2 * at["log_tau"])) / 2 + moved["x"].size * at["log_tau"]
        found -= ((at["log_shape"] - SHAPE_PRIOR[0]) / SHAPE_PRIOR[1]) ** 2 / 2
        if self.shared:
            v = jnp.full(self.people, at["mu"])
        else:
            v = at["v"]
            away = (v - at["mu"]) * jnp.exp(-at["log_omega"])
            found += jnp.sum(-at["log_omega"] - away**2 / 2)
            found -= ((at["log_omega"] - OMEGA_PRIOR[0]) / OMEGA_PRIOR[1]) ** 2 / 2
        return -(found + self.likelihood(at["strengths"], at["u"], v))
