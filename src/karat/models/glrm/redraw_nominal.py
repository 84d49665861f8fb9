"""Redrawn labels of one worker, from the multinomial model of everybody else.

As `redraw`, with an effect of the worker and of each task for every category but the baseline. A category that nobody
else used has no place in the others' model: it is not drawn, and the answers with the drawn ones are fitted without it.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from karat.models.glrm.block_schur import BlockSchur
from karat.models.glrm.nominal import NominalFit
from karat.models.glrm.optimise import TOLERANCE, minimise, minimise_off_zero
from karat.models.glrm.softmax import BlockEvaluation, BlockModes, NominalObjective
from karat.types import Floats


class NominalRedraw:
    """Everybody else's model, from which the labels of one worker are drawn again and again."""

    def __init__(self, fit: NominalFit, worker: int) -> None:
        rest, modes, kept = fit.without("worker", worker)
        if rest is None:
            raise ValueError("Without this worker too few categories are left to draw from.")
        self.worker, self.hessian = worker, fit.hessian[np.ix_(kept, kept)]
        start = fit.parameters[kept]
        best = minimise(rest, start, _evaluated(rest, start, modes), self.hessian, TOLERANCE)
        best = minimise_off_zero(rest, best, rest.deviations, TOLERANCE)
        self.parameters, self.log_likelihood = best.parameters, -best.at.value
        self.others: BlockModes = best.at.modes
        used = kept[: fit.objective.predictors]
        self.chosen, self.present, self.design = fit.objective.chosen[used], fit.objective.present, fit.objective.design
        own = np.insert(self.others.worker, worker, 0.0, axis=0)
        # One factorisation with the worker in it serves the search for the modes of every draw.
        blank = self.objective(np.zeros_like(self.chosen[:, :, worker]))
        self.modes = _evaluated(blank, self.parameters, BlockModes(own, self.others.task)).modes

    def objective(self, labels: Floats) -> NominalObjective:
        """The model of everybody, with these labels of the worker (categories x sheets x tasks)."""
        chosen = self.chosen.copy()
        chosen[:, :, self.worker] = labels
        return NominalObjective(chosen, self.present, self.design)

    def reaches(self, observed: float, random: np.random.Generator) -> bool:
        """Whether newly drawn labels are at least as far from the others' model as the observed ones."""
        return self.distance(self.drawn(random), observed) >= observed

    def distance(self, labels: Floats, observed: float = -np.inf) -> float:
        """The deviance distance of labels; a number below `observed` where it is known to be smaller."""
        objective = self.objective(labels)
        at = _evaluated(objective, self.parameters, self.modes)
        first = 2 * (at.value + self.log_likelihood)
        if first < observed:
            # The maximum lies at or above this likelihood, and so the distance at or below.
            return first
        best = minimise(objective, self.parameters, at, self.hessian, TOLERANCE)
        if 2 * (best.at.value + self.log_likelihood) >= observed:
            best = minimise_off_zero(objective, best, objective.deviations, TOLERANCE)
        return float(2 * (best.at.value + self.log_likelihood))

    def drawn(self, random: np.random.Generator) -> Floats:
        """New labels of the worker: 1 where a category is chosen, and nothing where there was no answer."""
        m = len(self.chosen)
        beta, by_worker, by_task = (
            self.parameters[: -2 * m].reshape(-1, m), self.parameters[-2 * m : -m], self.parameters[-m:]
        )  # fmt: skip
        if self.others.factor is None:
            raise ValueError("The others' model was not evaluated.")
        task = by_task[:, None] * (self.others.task + _task_deviations(self.others.factor, random))
        base = np.moveaxis(self.design[:, self.worker] @ beta, -1, 0)
        logits = base + (by_worker * random.normal(size=m))[:, None, None] + task[:, None]
        whole = np.concatenate([np.zeros_like(logits[:1]), logits])
        category = np.argmax(whole + random.gumbel(size=whole.shape), axis=0)
        labels: Floats = (category == np.arange(1, m + 1)[:, None, None]).astype(np.float64)
        if self.present is not None:
            labels *= self.present[:, self.worker]
        return labels


def _evaluated(objective: NominalObjective, parameters: Floats, modes: BlockModes) -> BlockEvaluation:
    at = objective(parameters, modes)
    if at is None:
        raise ValueError("The parameters of the fit are not finite.")
    return at


def _task_deviations(schur: BlockSchur, random: np.random.Generator) -> Floats:
    """A draw of the task effects around their mode (categories x tasks): from N(0, M^-1), whose blocks are held."""
    few = linalg.solve_triangular(schur.factor, random.normal(size=len(schur.factor)), lower=True, trans=1)
    if not schur.turned:
        drawn: Floats = few.reshape(schur.p, schur.few)
        return drawn
    # Given the workers, the effects of each task are normal around what the workers leave.
    left = random.normal(size=(schur.many, schur.q)) - (schur.scaled.reshape(-1, len(few)) @ few).reshape(-1, schur.q)
    around: Floats = np.einsum("jlk,jl->kj", schur.root, left)
    return around
