"""Leave-one-group-out: the model refitted without each worker (or task) in turn.

The deviance distance of a worker is D = -2 (log-likelihood with all answers - log-likelihood without the worker's),
each at its own maximum (equation 7 of Ba, Mancenido, Chiou and Pan). A refit starts from the parameters, modes and
Hessian of the full fit and takes quasi-Newton steps until half the squared Newton decrement is within 1e-8, which
takes a few evaluations. If that fails, it starts again from zero modes. If nobody else used an ordered category, its
threshold is removed too.

The null distribution of D comes from answers simulated from the model fitted without the worker (`exceedances`). The
worker effect is drawn from its distribution, the task effects from the normal approximation of their posterior given
the other workers' answers,

    v ~ N(mode, M^-1),   M the curvature of the penalised likelihood at the mode

and then the answers from the model. The distance of simulated answers is -2 (log-likelihood with them - log-likelihood
without them), each at its maximum; the second does not depend on the simulated answers.

If the model is true, p is about .6 on average instead of .5, both for yes-or-no answers and for labels: the test is
conservative.

`predictive_p` is a faster test. The parameters stay at those of the full fit, so no simulation needs a new fit. The
statistic, for observed and simulated answers, is -2 log of the probability of the worker's answers given those of the
other workers; D differs from it only in that the parameters are estimated again.

Labels are simulated from the multinomial model of the other workers, with an effect of the worker and of each task for
every category but the baseline. A category that nobody else used is not part of that model, so it is neither simulated
nor included in the fits to simulated labels.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, cast

import numpy as np
from scipy.special import expit, logsumexp

from karat.messages import Message
from karat.models.glrm.crossed import Factor
from karat.models.glrm.fit import Fit
from karat.models.glrm.nominal import BlockModes, NominalFit, NominalObjective
from karat.models.glrm.objective import Objective, find_mode
from karat.models.glrm.optimise import TOLERANCE, Summarised, minimise, minimise_off_zero, solve
from karat.models.numerics import one_thread, parts, significant
from karat.types import Bools, Floats, Ints, Map, Progress

AnyFit = Fit | NominalFit


@dataclass(frozen=True)
class Refit:
    """A fit of the model without one group."""

    log_likelihood: float
    parameters: Floats
    """In the order of the full fit; NaN for the threshold of a category that nobody else used."""
    decrement: float
    converged: bool
    evaluations: int
    answers: int
    """The number of answers removed."""


@dataclass(frozen=True)
class Deletions(Summarised):
    """The refits without each group; arrays are in the order of the full fit's `workers` (or `tasks`)."""

    distance: Floats
    log_likelihood: Floats
    parameters: Floats
    answers: Ints
    decrement: Floats
    converged: Bools
    evaluations: Ints
    groups: Factor
    full: float

    @property
    def summary(self) -> tuple[Message, ...]:
        """How the refits ended, and their distances from the full fit."""
        largest = int(np.nanargmax(self.distance))
        name = Message("refits.worker") if self.groups == "worker" else Message("refits.task")
        ended = {
            "n": len(self.distance), "group": name, "failed": int((~self.converged).sum()),
            "decrement": significant(float(np.nanmax(self.decrement)), 2),
        }  # fmt: skip
        distances = {
            "mean": float(np.nanmean(self.distance)), "largest": float(self.distance[largest]), "group": name,
            "number": largest + 1,
        }  # fmt: skip
        return Message("refits.ended", ended), Message("refits.distances", distances)


def leave_one_out(
    fit: AnyFit, groups: Factor = "worker", *, mapper: Map = map, progress: Progress | None = None
) -> Deletions:
    """Refit without each worker, or each task.

    `mapper` may be the map of a pool of processes; `progress` is called with the numbers of finished and of all refits.

    >>> import karat
    >>> from karat.models.glrm import fit_crossed
    >>> crowd = karat.simulate.crowd(20, 24).frame
    >>> deletions = leave_one_out(fit_crossed(*(crowd[name] for name in ("response", "participant", "item"))))
    >>> deletions.distance.shape, bool(deletions.converged.all())
    ((20,), True)
    """
    total = len(fit.workers if groups == "worker" else fit.tasks)
    refits = _with_progress(mapper(partial(without, fit, groups), range(total)), total, progress)
    columns = {field.name: np.array([getattr(refit, field.name) for refit in refits]) for field in fields(Refit)}
    distance = 2 * (columns["log_likelihood"] - fit.log_likelihood)
    return Deletions(distance=distance, groups=groups, full=fit.log_likelihood, **columns)


def without(fit: AnyFit, groups: Factor, group: int) -> Refit:
    """The refit without one group; NaN if too few categories remain."""
    objective, modes, remaining = fit.objective.without(fit.modes, groups, group)
    parameters = np.full(len(fit.parameters), np.nan)
    if objective is None:
        return Refit(np.nan, parameters, np.nan, False, 0, 0)
    start = fit.parameters[remaining]
    evaluations, converged = 1, False
    with one_thread(len(fit.workers) * len(fit.tasks)):
        at = objective(start, modes)
        if at is not None:
            best = minimise(objective, start, at, fit.hessian[np.ix_(remaining, remaining)], TOLERANCE)
            best = minimise_off_zero(objective, best, objective.deviations, TOLERANCE)
            evaluations, converged = 1 + best.evaluations, best.decrement <= TOLERANCE
        if not converged:
            best, convergence = solve(objective, start, objective.zero_modes())
            evaluations, converged = evaluations + convergence.evaluations, convergence.converged
    parameters[remaining] = best.parameters
    # In the order of the full fit, where a removed category leaves NaN among the deviations.
    deviations = slice(-fit.objective.deviations, None)
    parameters[deviations] = np.abs(parameters[deviations])
    return Refit(-best.at.value, parameters, best.decrement, converged, evaluations, fit.answers - objective.answers)


ENOUGH = 10
"""After this many exceedances the p value is precise enough."""


def exceedances(
    fit: Fit | NominalFit,
    distance: Floats,
    simulations: int,
    seed: int,
    mapper: Map = map,
    progress: Progress | None = None,
) -> Floats:
    """The p value of each worker's distance, from the distances of simulated answers.

    Simulation stops after `ENOUGH` distances at or above the observed one, with p = ENOUGH / draws; otherwise
    p = (1 + exceedances) / (1 + simulations). The values do not depend on `mapper`. A worker with a distance of NaN
    has p = NaN.

    >>> from karat.models.glrm import fit_crossed, leave_one_out
    >>> random = np.random.default_rng(1)
    >>> worker, task = np.repeat(np.arange(12), 20), np.tile(np.arange(20), 12)
    >>> eta = random.normal(0, 2, 20)[task] * np.where(worker == 0, -1, 1)
    >>> fit = fit_crossed(eta + random.logistic(size=240) > 0, worker, task)
    >>> float(exceedances(fit, leave_one_out(fit).distance, 19, seed=1)[0])
    0.05
    """
    if isinstance(fit, Fit) and (not isinstance(fit.objective, Objective) or fit.objective.cell_effect):
        raise ValueError("Answers can be redrawn for binary, ordinal and nominal fits without a worker:task effect.")
    workers = len(distance)
    values = mapper(partial(_p_value, fit, distance, simulations, seed), range(workers))
    return np.array(_with_progress(values, workers, progress))


def _with_progress(results: Iterable[Any], total: int, progress: Progress | None) -> list[Any]:
    """All results, reporting progress after each."""
    collected = []
    for result in results:
        collected.append(result)
        if progress is not None:
            progress(len(collected), total)
    return collected


def _p_value(fit: Fit | NominalFit, distance: Floats, simulations: int, seed: int, worker: int) -> float:
    if not np.isfinite(distance[worker]):
        return float("nan")
    with one_thread(len(fit.workers) * len(fit.tasks)):
        redraw = NominalRedraw(fit, worker) if isinstance(fit, NominalFit) else Redraw(fit, worker)
        random = np.random.default_rng([seed, worker])
        above = 0
        for draws in range(1, simulations + 1):
            above += redraw.reaches(float(distance[worker]), random)
            if above == ENOUGH:
                return ENOUGH / draws
    return (1 + above) / (1 + simulations)


GRID = np.linspace(-5.0, 5.0, 61)
"""Worker effects, in standard deviations, over which the probability of a worker's answers is summed."""
TASK_NODES, TASK_WEIGHTS = np.polynomial.hermite_e.hermegauss(5)
STEPS = 25
"""The largest number of Newton steps for the worker effects of labels."""


def predictive_p(fit: AnyFit, places: Iterable[int], simulations: int, seed: int, mapper: Map = map) -> Floats:
    """The p value of the answers of the workers at `places`, by simulation with the parameters of the full fit.

    p = (1 + simulations that are at least as improbable) / (1 + simulations). It is NaN for all other workers, and if
    too few categories remain without the worker.

    >>> from karat.models.glrm import fit_crossed
    >>> random = np.random.default_rng(1)
    >>> worker, task = np.repeat(np.arange(12), 20), np.tile(np.arange(20), 12)
    >>> eta = random.normal(0, 2, 20)[task] * np.where(worker == 0, -1, 1)
    >>> fit = fit_crossed(eta + random.logistic(size=240) > 0, worker, task)
    >>> float(predictive_p(fit, [0], 99, seed=1)[0])
    0.01
    """
    selected = list(places)
    p = np.full(len(fit.workers), np.nan)
    p[selected] = list(mapper(partial(_predictive_p, fit, simulations, seed), selected))
    return p


def _predictive_p(fit: AnyFit, simulations: int, seed: int, worker: int) -> float:
    with one_thread(len(fit.workers) * len(fit.tasks)):
        rest, modes, remaining = fit.objective.without(fit.modes, "worker", worker)
        if rest is None:
            return float("nan")
        random = np.random.default_rng([seed, worker])
        deviance = _deviance_of_labels if isinstance(fit, NominalFit) else _deviance_of_answers
        values = deviance(cast(Any, fit), worker, rest, modes, fit.parameters[remaining], simulations, random)
    # Rounding must not make equal answers different.
    return float((1 + np.sum(values[1:] >= values[0] - 1e-9)) / len(values))


def _deviance_of_answers(
    fit: Fit, worker: int, rest: Any, start: Any, parameters: Floats, simulations: int, random: np.random.Generator
) -> Floats:
    """-2 log of the probability of a worker's answers given the others', then of each simulation's."""
    beta, psi, scales = rest.split(parameters)
    mode = find_mode(rest.layout, rest.family, rest.design @ beta, psi, scales, start)
    beta, psi, scales = fit.objective.split(fit.parameters)
    here, tasks = fit.objective.layout.answers_of(worker)
    base = (fit.objective.design @ beta)[here] + scales.task * mode.point.modes.task[tasks]
    cuts = psi if len(psi) else np.zeros(1)
    deviations = scales.task * mode.schur.task_draw(random, simulations)[0].T
    latent = base + deviations[:, tasks] + scales.worker * random.normal(size=(simulations, 1))
    observed = fit.objective.family.answers[here]
    codes = np.vstack([
        observed > 0 if not len(psi) else observed,
        np.searchsorted(cuts, latent + random.logistic(size=latent.shape)),
    ]).astype(np.int64)  # fmt: skip
    # The probability of each category given the worker effect, averaged over the posterior of the task effect.
    spread = deviations.std(axis=0)[tasks, None] * TASK_NODES
    eta = base[:, None] + spread + scales.worker * GRID[:, None, None]
    below = np.stack([expit(cut - eta) @ (TASK_WEIGHTS / TASK_WEIGHTS.sum()) for cut in cuts], axis=-1)
    log_p = np.log(np.maximum(np.diff(below, prepend=0.0, append=1.0), 1e-300))
    log_joint = sum(log_p[:, place, codes[:, place]] for place in range(codes.shape[1])) - GRID[:, None] ** 2 / 2
    return np.asarray(-2 * logsumexp(log_joint, axis=0))


def _deviance_of_labels(
    fit: NominalFit, worker: int, rest: Any, start: Any, parameters: Floats, simulations: int,
    random: np.random.Generator,
) -> Floats:  # fmt: skip
    """The same for labels, with Laplace's approximation over the worker effects and task effects at their modes.

    A label that nobody else used has probability zero.
    """
    at = rest(parameters, start)
    m = rest.predictors
    beta, by_worker, by_task = rest.split(parameters)
    objective, (here, place) = fit.objective, fit.objective.layout.answers_of(worker)
    labels = objective.indicators[:, here]
    common = objective.indicators.sum(axis=1) > labels.sum(axis=1)
    if labels[~common].any():
        return np.concatenate([[np.inf], np.zeros(simulations)])
    base = (objective.design[here] @ beta).T + (by_task[:, None] * at.modes.task)[:, place]
    observed = np.concatenate([1 - labels[common].sum(axis=0, keepdims=True), labels[common]])
    codes = [np.argmax(observed, axis=0)]
    for _ in range(simulations):
        deviations = by_task[:, None] * at.modes.factor[0].task_draw(random)
        logits = base + deviations[:, place] + (by_worker * random.normal(size=m))[:, None]
        predictors = np.concatenate([np.zeros_like(logits[:1]), logits])
        codes.append(np.argmax(predictors + random.gumbel(size=predictors.shape), axis=0))
    rows = np.stack(codes)
    return np.concatenate([_laplace(base, by_worker, rows[part]) for part in parts(len(rows), base.size + m * m)])


def _laplace(base: Floats, by_worker: Floats, codes: Ints) -> Floats:
    """-2 log of the probability of each row of labels, integrated over the worker effects."""
    m, indicators = len(base), (codes[:, None, :] == np.arange(1, len(base) + 1)[:, None]).astype(np.float64)
    effects = np.zeros((len(codes), m))

    def at(effects: Floats) -> tuple[Floats, Floats]:
        logits = base + (by_worker * effects)[:, :, None]
        top = np.maximum(logits.max(axis=1, keepdims=True), 0.0)
        total = top[:, 0] + np.log(np.exp(-top[:, 0]) + np.exp(logits - top).sum(axis=1))
        value = (indicators * logits).sum(axis=(1, 2)) - total.sum(axis=1) - (effects**2).sum(axis=1) / 2
        return value, np.exp(logits - total[:, None])

    value, p = at(effects)
    for _ in range(STEPS):
        gradient = by_worker * (indicators - p).sum(axis=2) - effects
        curvature = _curvature(p, by_worker)
        step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        proposal = effects + step
        new, p_new = at(proposal)
        worse = new < value - 1e-9
        proposal[worse] = effects[worse] + step[worse] / 4
        effects = proposal
        value, p = at(effects) if worse.any() else (new, p_new)
        if np.abs(step).max() < 1e-6:
            break
    return np.asarray(-2 * value + np.linalg.slogdet(_curvature(p, by_worker))[1])


def _curvature(p: Floats, by_worker: Floats) -> Floats:
    m = p.shape[1]
    inner = np.einsum("dkn,kl->dkl", p, np.eye(m)) - np.einsum("dkn,dln->dkl", p, p)
    return np.asarray(np.eye(m) + by_worker[:, None] * by_worker * inner)


class _OtherWorkers:
    """The model fitted without one worker."""

    def __init__(self, fit: AnyFit, worker: int) -> None:
        self.rest, modes, self.remaining = fit.objective.without(fit.modes, "worker", worker)
        if self.rest is None:
            raise ValueError("Without this worker too few categories are left to draw from.")
        start, self.hessian = fit.parameters[self.remaining], fit.hessian[np.ix_(self.remaining, self.remaining)]
        at = self.rest(start, modes)
        if at is None:
            raise ValueError("The parameters of the fit are not finite.")
        best = minimise(self.rest, start, at, self.hessian, TOLERANCE)
        best = minimise_off_zero(self.rest, best, self.rest.deviations, TOLERANCE)
        self.parameters, self.log_likelihood, self.other_modes = best.parameters, -best.at.value, best.at.modes

    def distance_of(self, objective: Any, modes: Any, observed: float) -> float:
        """The deviance distance with all answers, or an upper bound of it that is below `observed`."""
        at = objective(self.parameters, modes)
        if at is None:
            return -np.inf
        first = 2 * (at.value + self.log_likelihood)
        if first < observed:
            # The maximum of the likelihood is at least as high, so this is an upper bound of the distance.
            return float(first)
        best = minimise(objective, self.parameters, at, self.hessian, TOLERANCE)
        if 2 * (best.at.value + self.log_likelihood) >= observed:
            best = minimise_off_zero(objective, best, objective.deviations, TOLERANCE)
        return float(2 * (best.at.value + self.log_likelihood))


class Redraw(_OtherWorkers):
    """The model of the other workers, from which one worker's answers are simulated."""

    def __init__(self, fit: Fit, worker: int) -> None:
        super().__init__(fit, worker)
        rest = self.rest
        beta, self.psi, self.scales = rest.split(self.parameters)
        self.mode = find_mode(rest.layout, rest.family, rest.design @ beta, self.psi, self.scales, self.other_modes)
        self.layout, self.design = fit.objective.layout, fit.objective.design
        self.rows, self.tasks = self.layout.answers_of(worker)
        self.base = (self.design @ beta)[self.rows]
        self.answers = self._renumber(fit)
        worker_effects = np.insert(self.mode.point.modes.worker, worker, 0.0)
        self.modes = type(fit.modes)(worker_effects, self.mode.point.modes.task, None)

    def _renumber(self, fit: Fit) -> Any:
        """All answers, numbered by the categories that the other workers used."""
        answers = fit.objective.family.answers.copy()
        answers[self.rows] = answers[~self.rows][0]
        self.family, _ = fit.objective.family.subset(answers)
        return self.family.answers

    def reaches(self, observed: float, random: np.random.Generator) -> bool:
        """Whether the distance of newly simulated answers is at least the observed one."""
        answers = self.answers.copy()
        answers[self.rows] = self.draw_answers(random)
        family, _ = self.family.subset(answers)
        objective = Objective(self.layout, family, self.design)
        return self.distance_of(objective, self.modes, observed) >= observed

    def draw_answers(self, random: np.random.Generator) -> Any:
        task = self.mode.point.modes.task + self.mode.schur.task_draw(random)[0]
        eta = self.base + self.scales.worker * random.normal() + self.scales.task * task[self.tasks]
        latent = eta + random.logistic(size=eta.shape)
        if not len(self.psi):
            return np.where(latent > 0, 1.0, -1.0)
        return np.searchsorted(self.psi, latent)


class NominalRedraw(_OtherWorkers):
    """The model of the other workers, from which one worker's labels are simulated."""

    def __init__(self, fit: NominalFit, worker: int) -> None:
        super().__init__(fit, worker)
        self.layout, self.design = fit.objective.layout, fit.objective.design
        self.indicators = fit.objective.indicators[self.remaining[: fit.objective.predictors]]
        self.rows, self.tasks = self.layout.answers_of(worker)
        worker_effects = np.insert(self.other_modes.worker, worker, 0.0, axis=0)
        self.modes = BlockModes(worker_effects, self.other_modes.task)

    def objective(self, labels: Floats) -> NominalObjective:
        """The model of all workers, with these labels for this worker (categories x answers)."""
        indicators = self.indicators.copy()
        indicators[:, self.rows] = labels
        return NominalObjective(self.layout, indicators, self.design)

    def reaches(self, observed: float, random: np.random.Generator) -> bool:
        """Whether the distance of newly simulated labels is at least the observed one."""
        return self.distance(self.draw_labels(random), observed) >= observed

    def distance(self, labels: Floats, observed: float = -np.inf) -> float:
        """The deviance distance of labels, or an upper bound of it that is below `observed`."""
        return self.distance_of(self.objective(labels), self.modes, observed)

    def draw_labels(self, random: np.random.Generator) -> Floats:
        """Simulated labels of the worker: 1 for the category of each answer."""
        m = len(self.indicators)
        beta, by_worker, by_task = self.rest.split(self.parameters)
        if self.other_modes.factor is None:
            raise ValueError("The others' model was not evaluated.")
        task = by_task[:, None] * (self.other_modes.task + self.other_modes.factor[0].task_draw(random))
        logits = (self.design[self.rows] @ beta).T + (by_worker * random.normal(size=m))[:, None] + task[:, self.tasks]
        predictors = np.concatenate([np.zeros_like(logits[:1]), logits])
        category = np.argmax(predictors + random.gumbel(size=predictors.shape), axis=0)
        return np.asarray(category == np.arange(1, m + 1)[:, None], dtype=np.float64)
