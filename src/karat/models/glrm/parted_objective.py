"""The Laplace likelihood of crossed effects where the answers lie in parts of workers: one map a Newton step.

The parts hold the workers, the tasks are here. Each Newton step for the tasks' modes asks all parts for their sums
(`parted_sums`) and solves the tasks' dense system; at the mode, P = S^-1 goes to the parts, which give the sums of the
gradient. The next search begins where the modes are expected at the new parameters, to first order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import linalg

from karat.models.glrm.crossed import Factor
from karat.models.glrm.mode import DECREMENT, STEPS, Scales, halve
from karat.models.glrm.objective import Evaluation, variance_information
from karat.models.glrm.parted_answers import View
from karat.models.glrm.parted_crew import Crew
from karat.models.glrm.parted_sums import GradientSums, ModeSums, Where, gradient_sums, mode_sums
from karat.models.glrm.schur import inverted
from karat.types import Bools, Floats

NOTHING_LEFT = 1e-18
"""A squared Newton decrement that needs no further step."""
NEAR = 1.0
"""The farthest that the modes are expected to move, in logits, for the expectation to be taken."""


@dataclass(frozen=True)
class PartedModes:
    """Spherical effects at some parameters, the workers one part after the other, and how those of the tasks move."""

    worker: Floats
    task: Floats
    parameters: Floats | None = None
    movement: Floats | None = None
    """Tasks x parameters."""

    def turned(self, sign: Floats) -> PartedModes:
        """The modes where the deviations have another sign; `sign` has one for each parameter."""
        if self.parameters is None or self.movement is None:
            return replace(self, worker=self.worker * sign[-2], task=self.task * sign[-1])
        return PartedModes(
            self.worker * sign[-2], self.task * sign[-1], self.parameters * sign, self.movement * sign * sign[-1]
        )

    def expected(self, parameters: Floats, scale: float) -> Floats:
        """The effects of the tasks to be expected at other parameters; as they are where that is too far."""
        if self.parameters is None or self.movement is None:
            return self.task
        step = self.movement @ (parameters - self.parameters)
        return self.task + step if np.abs(scale * step).max() < NEAR else self.task


Numbers = tuple[float, Floats, PartedModes, bool, Floats]
"""An evaluation: value, gradient, modes, whether they were found, and information."""
Keep = Callable[[tuple[bytes, ...], Callable[[], Numbers]], Numbers]
"""Gives an evaluation, named by the bytes it depends on: the one that it has kept, or what it lets be computed."""


@dataclass(frozen=True)
class _PartedPoint:
    """The penalised likelihood (negative) with the workers at their modes."""

    value: float
    worker: Floats
    task: Floats
    towards: Floats
    sums: ModeSums

    def factorise(self, scales: Scales) -> Floats:
        """The Cholesky factor of the tasks' system; the matrix of the sums is used up by it."""
        inner = np.negative(self.sums.inner, out=self.sums.inner)
        inner.flat[:: len(inner) + 1] += 1 + scales.task**2 * self.sums.weight
        factor: Floats = linalg.cholesky(inner, lower=True, overwrite_a=True, check_finite=False)
        return factor


@dataclass(frozen=True)
class PartedObjective:
    """The negative log-likelihood as a function of (beta, psi, theta_w, theta_t)."""

    crew: Crew = field(repr=False)
    view: View
    columns: int
    sizes: tuple[int, ...]
    """The workers of each part."""
    keep: Keep = lambda _, compute: compute()
    """How evaluations are kept."""
    deviations: int = 2

    @property
    def thresholds(self) -> int:
        return len(self.view.categories) - 1 if self.view.family == "ordinal" else 0

    @property
    def parameters(self) -> int:
        return self.columns + self.thresholds + 2

    def split(self, parameters: Floats) -> tuple[Floats, Floats, Scales]:
        """beta, psi and the deviations of the effects."""
        own = self.columns + self.thresholds
        return parameters[: self.columns], parameters[self.columns : own], Scales(*map(float, parameters[own:]))

    def zero_modes(self) -> PartedModes:
        """No effects, from where the first search starts."""
        return PartedModes(np.zeros(sum(self.sizes)), np.zeros(len(self.view.tasks)))

    def without(self, modes: PartedModes, factor: Factor, group: int) -> tuple[Any, PartedModes, Bools]:
        """Not there: deletion goes through all answers for every worker."""
        raise ValueError("Deletion needs the answers in memory: fit those of a sample of workers with fit_crossed.")

    def __call__(self, parameters: Floats, start: PartedModes) -> Evaluation | None:
        """The value and gradient, the modes searched from `start`; None where parameters are not allowed."""
        _, psi, scales = self.split(parameters)
        if not np.all(np.isfinite(parameters)) or not np.all(np.diff(psi) > 0):
            return None
        # As bytes: arrays that are equal need not be so when pickled, by how they lie in memory.
        at = (parameters, start.worker, start.task, start.parameters, start.movement)
        exactly = tuple(b"" if one is None else one.tobytes() for one in at)
        numbers = self.keep(exactly, lambda: self._numbers(parameters, scales, start))
        return Evaluation(*numbers[:-1], lambda: numbers[-1])

    def _numbers(self, parameters: Floats, scales: Scales, start: PartedModes) -> Numbers:
        point, factor, found = self._mode(parameters, scales, start)
        value = point.value + point.sums.half_log_determinant + float(np.log(factor.diagonal()).sum())
        inverse = inverted(factor)
        where = Where(self.view, parameters, point.task, inverse)
        sums: GradientSums = self._summed(gradient_sums, where, point.worker)
        movement = inverse @ sums.reduced
        products = sums.products + sums.reduced.T @ movement
        own = len(sums.fixed)
        of_tasks = variance_information(scales.task, point.sums.weight, inverse.diagonal())
        information = linalg.block_diag(sums.fixed - products[:own, :own], np.diag([sums.of_workers, of_tasks]))
        modes = PartedModes(point.worker, point.task, parameters, movement[:, :-1])
        return value, sums.direct + products[:-1, -1], modes, found, information

    def _mode(self, parameters: Floats, scales: Scales, start: PartedModes) -> tuple[_PartedPoint, Floats, bool]:
        """The mode, the factor of the tasks' system there, and whether it was found."""
        point = self._at(parameters, scales, start.expected(parameters, scales.task), start.worker)
        for _ in range(STEPS):
            factor = point.factorise(scales)
            step = linalg.cho_solve((factor, True), point.towards, check_finite=False)
            decrement = float(point.towards @ step)
            if decrement < NOTHING_LEFT:
                return point, factor, point.sums.found

            def along(length: float, point: _PartedPoint = point, step: Floats = step) -> _PartedPoint:
                return self._at(parameters, scales, point.task + length * step, point.worker)

            reached = halve(along, point.value, decrement)
            if reached is None:
                return point, factor, decrement < 1e-6
            point = reached
            if decrement < DECREMENT:
                return point, point.factorise(scales), point.sums.found
        return point, point.factorise(scales), False

    def _at(self, parameters: Floats, scales: Scales, task: Floats, worker: Floats) -> _PartedPoint:
        sums: ModeSums = self._summed(mode_sums, Where(self.view, parameters, task), worker)
        value = sums.value + float(task @ task) / 2
        return _PartedPoint(value, np.concatenate(sums.workers), task, scales.task * sums.slope - task, sums)

    def _summed(self, function: Callable[[Where, Any], Any], where: Where, worker: Floats) -> Any:
        """The sums over all parts."""
        workers = np.split(worker, np.cumsum(self.sizes)[:-1])
        items = list(zip(self.crew.parts, workers, strict=True))
        return self.crew.total(function, where, items, len(self.view.tasks) ** 2)
