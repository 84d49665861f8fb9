"""Leave-one-group-out: the model refitted without each worker (or task) in turn.

The deviance distance of a worker is D = -2 (log-likelihood with all answers - log-likelihood without the worker's),
each at its own maximum (equation 7 of Ba, Mancenido, Chiou and Pan). A refit starts from the parameters, modes and
Hessian of the full fit and takes quasi-Newton steps until half the squared Newton decrement is within 1e-8, which a
few evaluations reach; where that fails, it starts again from nothing. Where an ordered category is used by nobody
else, its threshold goes with it.

Its null distribution is that of answers redrawn from the model fitted without the worker (`exceedances`). For worker i
the model is fitted to everybody else. A new worker is drawn from it: a worker effect from its distribution, and the
effects of their tasks from the normal approximation of their posterior given the others' answers,

    v ~ N(mode, M^-1),   M the curvature of the penalised likelihood at the mode

then the answers. The distance of the drawn answers is -2 (log-likelihood of all with them - log-likelihood without),
each at its maximum; the second does not depend on them.

On answers drawn from the model itself, p is about .6 on average in place of .5, for yes-or-no answers as for labels:
the test is cautious.

`predictive_p` is the quick version of the same question. The parameters are held at those of the full fit, so that no
draw needs a fit, and the statistic is -2 log of the probability of the worker's answers given everybody else's, which
is what D is but for the search for new parameters. Observed and redrawn answers have the same statistic.

Labels are redrawn from the multinomial model of everybody else, with an effect of the worker and of each task for every
category but the baseline. A category that nobody else used has no place in the others' model: it is not drawn, and the
answers with the drawn ones are fitted without it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, cast

import numpy as np
from scipy import linalg
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
    """The model without one group."""

    log_likelihood: float
    parameters: Floats
    """As in the full fit; NaN for a threshold that went with its category."""
    decrement: float
    converged: bool
    evaluations: int
    answers: int
    """How many answers were left out."""


@dataclass(frozen=True)
class Deletions(Summarised):
    """One number for each group, in the order of the full fit's `workers` (or `tasks`)."""

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
        """How the refits ended, and how far they are from the full fit."""
        worst = int(np.nanargmax(self.distance))
        own = Message("refits.worker") if self.groups == "worker" else Message("refits.task")
        ended = {
            "n": len(self.distance), "group": own, "failed": int((~self.converged).sum()),
            "decrement": significant(float(np.nanmax(self.decrement)), 2),
        }  # fmt: skip
        distances = {
            "mean": float(np.nanmean(self.distance)), "largest": float(self.distance[worst]), "group": own,
            "number": worst + 1,
        }  # fmt: skip
        return Message("refits.ended", ended), Message("refits.distances", distances)


def leave_one_out(
    fit: AnyFit, groups: Factor = "worker", *, mapper: Map = map, progress: Progress | None = None
) -> Deletions:
    """Refit without each worker, or each task.

    `mapper` may be the map of a pool of processes; `progress` is called with the number of refits done and that of all.

    >>> import karat
    >>> from karat.models.glrm import fit_crossed
    >>> crowd = karat.simulate.crowd(20, 24).frame
    >>> deletions = leave_one_out(fit_crossed(*(crowd[name] for name in ("response", "participant", "item"))))
    >>> deletions.distance.shape, bool(deletions.converged.all())
    ((20,), True)
    """
    total = len(fit.workers if groups == "worker" else fit.tasks)
    refits = _reported(mapper(partial(without, fit, groups), range(total)), total, progress)
    found = {one.name: np.array([getattr(refit, one.name) for refit in refits]) for one in fields(Refit)}
    distance = 2 * (found["log_likelihood"] - fit.log_likelihood)
    return Deletions(distance=distance, groups=groups, full=fit.log_likelihood, **found)


def without(fit: AnyFit, groups: Factor, group: int) -> Refit:
    """The refit without one group; not a number where too few categories are left."""
    objective, modes, kept = fit.objective.without(fit.modes, groups, group)
    parameters = np.full(len(fit.parameters), np.nan)
    if objective is None:
        return Refit(np.nan, parameters, np.nan, False, 0, 0)
    start = fit.parameters[kept]
    evaluations, converged = 1, False
    with one_thread(len(fit.workers) * len(fit.tasks)):
        at = objective(start, modes)
        if at is not None:
            best = minimise(objective, start, at, fit.hessian[np.ix_(kept, kept)], TOLERANCE)
            best = minimise_off_zero(objective, best, objective.deviations, TOLERANCE)
            evaluations, converged = 1 + best.evaluations, best.decrement <= TOLERANCE
        if not converged:
            best, convergence = solve(objective, start, objective.zero_modes())
            evaluations, converged = evaluations + convergence.evaluations, convergence.converged
    parameters[kept] = best.parameters
    # Those of the full fit: a category that goes takes deviations with it, and leaves gaps among them.
    deviations = slice(-fit.objective.deviations, None)
    parameters[deviations] = np.abs(parameters[deviations])
    return Refit(-best.at.value, parameters, best.decrement, converged, evaluations, fit.answers - objective.answers)


ENOUGH = 10
"""After this many exceedances the p value is known well enough."""


def exceedances(
    fit: Fit | NominalFit,
    distance: Floats,
    simulations: int,
    seed: int,
    mapper: Map = map,
    progress: Progress | None = None,
) -> Floats:
    """The p value of each worker's distance among those of redrawn answers.

    Drawing stops after `ENOUGH` distances at or above the observed one, when p = ENOUGH / draws; else
    p = (1 + exceedances) / (1 + simulations). The numbers do not depend on `mapper`. A worker without a distance has
    no p value.

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
    return np.array(_reported(values, workers, progress))


def _reported(results: Iterable[Any], total: int, progress: Progress | None) -> list[Any]:
    """All results, counted while they come."""
    found = []
    for result in results:
        found.append(result)
        if progress is not None:
            progress(len(found), total)
    return found


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
"""Worker effects, in standard deviations, over which the probability of all answers is summed."""
TASK_NODES, TASK_WEIGHTS = np.polynomial.hermite_e.hermegauss(5)
STEPS = 25
"""Newton steps for the worker effects of labels."""


def predictive_p(fit: AnyFit, places: Iterable[int], simulations: int, seed: int, mapper: Map = map) -> Floats:
    """The p value of each of these workers' answers among redrawn ones, with the parameters of the full fit.

    p = (1 + redrawn at least as improbable) / (1 + simulations). Others, and workers without which too few categories
    are left, have no p value.

    >>> from karat.models.glrm import fit_crossed
    >>> random = np.random.default_rng(1)
    >>> worker, task = np.repeat(np.arange(12), 20), np.tile(np.arange(20), 12)
    >>> eta = random.normal(0, 2, 20)[task] * np.where(worker == 0, -1, 1)
    >>> fit = fit_crossed(eta + random.logistic(size=240) > 0, worker, task)
    >>> float(predictive_p(fit, [0], 99, seed=1)[0])
    0.01
    """
    chosen = list(places)
    p = np.full(len(fit.workers), np.nan)
    p[chosen] = list(mapper(partial(_predictive_p, fit, simulations, seed), chosen))
    return p


def _predictive_p(fit: AnyFit, simulations: int, seed: int, worker: int) -> float:
    with one_thread(len(fit.workers) * len(fit.tasks)):
        rest, modes, kept = fit.objective.without(fit.modes, "worker", worker)
        if rest is None:
            return float("nan")
        random = np.random.default_rng([seed, worker])
        deviance = _deviance_of_labels if isinstance(fit, NominalFit) else _deviance_of_answers
        values = deviance(cast(Any, fit), worker, rest, modes, fit.parameters[kept], simulations, random)
    # Sums in another order must not tell equal answers apart.
    return float((1 + np.sum(values[1:] >= values[0] - 1e-9)) / len(values))


def _deviance_of_answers(
    fit: Fit, worker: int, rest: Any, start: Any, parameters: Floats, simulations: int, random: np.random.Generator
) -> Floats:
    """-2 log of the probability of a worker's answers given the others', then that of redrawn ones."""
    beta, psi, scales = rest.split(parameters)
    mode = find_mode(rest.layout, rest.family, rest.design @ beta, psi, scales, start)
    beta, psi, scales = fit.objective.split(fit.parameters)
    mine, tasks = fit.objective.layout.answers_of(worker)
    base = (fit.objective.design @ beta)[mine] + scales.task * mode.point.modes.task[tasks]
    cuts = psi if len(psi) else np.zeros(1)
    around = scales.task * task_deviations(mode.schur, random, simulations).T
    latent = base + around[:, tasks] + scales.worker * random.normal(size=(simulations, 1))
    observed = fit.objective.family.answers[mine]
    codes = np.vstack([
        observed > 0 if not len(psi) else observed,
        np.searchsorted(cuts, latent + random.logistic(size=latent.shape)),
    ]).astype(np.int64)  # fmt: skip
    # The probability of each category given the worker effect, over what is not known of the task.
    spread = around.std(axis=0)[tasks, None] * TASK_NODES
    eta = base[:, None] + spread + scales.worker * GRID[:, None, None]
    below = np.stack([expit(cut - eta) @ (TASK_WEIGHTS / TASK_WEIGHTS.sum()) for cut in cuts], axis=-1)
    log_p = np.log(np.maximum(np.diff(below, prepend=0.0, append=1.0), 1e-300))
    together = sum(log_p[:, place, codes[:, place]] for place in range(codes.shape[1])) - GRID[:, None] ** 2 / 2
    return np.asarray(-2 * logsumexp(together, axis=0))


def _deviance_of_labels(
    fit: NominalFit, worker: int, rest: Any, start: Any, parameters: Floats, simulations: int,
    random: np.random.Generator,
) -> Floats:  # fmt: skip
    """The same of labels: Laplace over the effects of the worker, the tasks at their modes.

    A label that nobody else used is as improbable as can be.
    """
    at = rest(parameters, start)
    m = rest.predictors
    beta, by_worker, by_task = rest.split(parameters)
    objective, (here, place) = fit.objective, fit.objective.layout.answers_of(worker)
    mine = objective.chosen[:, here]
    used = objective.chosen.reshape(len(mine), -1).sum(axis=1) > mine.sum(axis=1)
    if mine[~used].any():
        return np.concatenate([[np.inf], np.zeros(simulations)])
    base = (objective.design[here] @ beta).T + (by_task[:, None] * at.modes.task)[:, place]
    observed = np.concatenate([1 - mine[used].sum(axis=0, keepdims=True), mine[used]])
    codes = [np.argmax(observed, axis=0)]
    for _ in range(simulations):
        around = by_task[:, None] * at.modes.factor[0].task_draw(random)
        logits = base + around[:, place] + (by_worker * random.normal(size=m))[:, None]
        whole = np.concatenate([np.zeros_like(logits[:1]), logits])
        codes.append(np.argmax(whole + random.gumbel(size=whole.shape), axis=0))
    drawn = np.stack(codes)
    return np.concatenate([_laplace(base, by_worker, drawn[part]) for part in parts(len(drawn), base.size + m * m)])


def _laplace(base: Floats, by_worker: Floats, codes: Ints) -> Floats:
    """-2 log of the probability of each row of labels, with the effects of a worker integrated out."""
    m, chosen = len(base), (codes[:, None, :] == np.arange(1, len(base) + 1)[:, None]).astype(np.float64)
    effects = np.zeros((len(codes), m))

    def at(effects: Floats) -> tuple[Floats, Floats]:
        logits = base + (by_worker * effects)[:, :, None]
        top = np.maximum(logits.max(axis=1, keepdims=True), 0.0)
        total = top[:, 0] + np.log(np.exp(-top[:, 0]) + np.exp(logits - top).sum(axis=1))
        value = (chosen * logits).sum(axis=(1, 2)) - total.sum(axis=1) - (effects**2).sum(axis=1) / 2
        return value, np.exp(logits - total[:, None])

    value, p = at(effects)
    for _ in range(STEPS):
        gradient = by_worker * (chosen - p).sum(axis=2) - effects
        curvature = _curvature(p, by_worker)
        step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        tried = effects + step
        new, p_new = at(tried)
        worse = new < value - 1e-9
        tried[worse] = effects[worse] + step[worse] / 4
        effects = tried
        value, p = at(effects) if worse.any() else (new, p_new)
        if np.abs(step).max() < 1e-6:
            break
    return np.asarray(-2 * value + np.linalg.slogdet(_curvature(p, by_worker))[1])


def _curvature(p: Floats, by_worker: Floats) -> Floats:
    m = p.shape[1]
    inner = np.einsum("dkn,kl->dkl", p, np.eye(m)) - np.einsum("dkn,dln->dkl", p, p)
    return np.asarray(np.eye(m) + by_worker[:, None] * by_worker * inner)


class _Others:
    """The model of everybody but one worker."""

    def __init__(self, fit: AnyFit, worker: int) -> None:
        self.rest, modes, self.kept = fit.objective.without(fit.modes, "worker", worker)
        if self.rest is None:
            raise ValueError("Without this worker too few categories are left to draw from.")
        start, self.hessian = fit.parameters[self.kept], fit.hessian[np.ix_(self.kept, self.kept)]
        at = self.rest(start, modes)
        if at is None:
            raise ValueError("The parameters of the fit are not finite.")
        best = minimise(self.rest, start, at, self.hessian, TOLERANCE)
        best = minimise_off_zero(self.rest, best, self.rest.deviations, TOLERANCE)
        self.parameters, self.log_likelihood, self.others = best.parameters, -best.at.value, best.at.modes

    def distance_of(self, objective: Any, modes: Any, observed: float) -> float:
        """The deviance distance with the answers of everybody; a number below `observed` where it is smaller."""
        at = objective(self.parameters, modes)
        if at is None:
            return -np.inf
        first = 2 * (at.value + self.log_likelihood)
        if first < observed:
            # The maximum lies at or above this likelihood, and so the distance at or below.
            return float(first)
        best = minimise(objective, self.parameters, at, self.hessian, TOLERANCE)
        if 2 * (best.at.value + self.log_likelihood) >= observed:
            best = minimise_off_zero(objective, best, objective.deviations, TOLERANCE)
        return float(2 * (best.at.value + self.log_likelihood))


class Redraw(_Others):
    """Everybody else's model, from which the answers of one worker are drawn again and again."""

    def __init__(self, fit: Fit, worker: int) -> None:
        super().__init__(fit, worker)
        rest = self.rest
        beta, self.psi, self.scales = rest.split(self.parameters)
        self.mode = find_mode(rest.layout, rest.family, rest.design @ beta, self.psi, self.scales, self.others)
        self.layout, self.design = fit.objective.layout, fit.objective.design
        self.mine, self.tasks = self.layout.answers_of(worker)
        self.base = (self.design @ beta)[self.mine]
        self.answers = self._renumbered(fit)
        own = np.insert(self.mode.point.modes.worker, worker, 0.0)
        self.modes = type(fit.modes)(own, self.mode.point.modes.task, None)

    def _renumbered(self, fit: Fit) -> Any:
        """All answers, numbered by the categories that the others used; one of this worker alone is not drawn."""
        present = self.layout.present
        others = ~self.mine if present is None else ~self.mine & (present > 0)
        answers = fit.objective.family.answers.copy()
        answers[self.mine] = answers[others][0]
        self.family, _ = fit.objective.family.kept(answers, present)
        return self.family.answers

    def reaches(self, observed: float, random: np.random.Generator) -> bool:
        """Whether newly drawn answers are at least as far from the others' model as the observed ones."""
        answers = self.answers.copy()
        answers[self.mine] = self.draw_answers(random)
        family, _ = self.family.kept(answers, self.layout.present)
        objective = Objective(self.layout, family, self.design)
        return self.distance_of(objective, self.modes, observed) >= observed

    def draw_answers(self, random: np.random.Generator) -> Any:
        task = self.mode.point.modes.task + task_deviations(self.mode.schur, random)
        eta = self.base + self.scales.worker * random.normal() + self.scales.task * task[self.tasks]
        latent = eta + random.logistic(size=eta.shape)
        if not len(self.psi):
            return np.where(latent > 0, 1.0, -1.0)
        return np.searchsorted(self.psi, latent)


def task_deviations(schur: Any, random: np.random.Generator, draws: int | None = None) -> Floats:
    """A draw of the task effects around their mode, or a column for each of several: from N(0, M^-1).

    The factor holds the blocks of M.
    """
    size = () if draws is None else (draws,)
    few = linalg.solve_triangular(schur.factor, random.normal(size=(len(schur.factor), *size)), lower=True, trans=1)
    if not schur.turned:
        return np.asarray(few)
    weights = schur.many if draws is None else schur.many[:, None]
    many = random.normal(size=(len(schur.many), *size)) / np.sqrt(weights)
    return np.asarray(many - (schur.matrix @ few) / weights)


class NominalRedraw(_Others):
    """Everybody else's model, from which the labels of one worker are drawn again and again."""

    def __init__(self, fit: NominalFit, worker: int) -> None:
        super().__init__(fit, worker)
        used, self.layout, self.design = (
            self.kept[: fit.objective.predictors],
            fit.objective.layout,
            fit.objective.design,
        )
        self.chosen, (self.mine, self.tasks) = fit.objective.chosen[used], self.layout.answers_of(worker)
        own = np.insert(self.others.worker, worker, 0.0, axis=0)
        # One factorisation with the worker in it serves the search for the modes of every draw.
        blank = self.objective(np.zeros_like(self.chosen[:, self.mine]))
        self.modes: BlockModes = cast(Any, blank(self.parameters, BlockModes(own, self.others.task))).modes

    def objective(self, labels: Floats) -> NominalObjective:
        """The model of everybody, with these labels of the worker (categories x answers)."""
        chosen = self.chosen.copy()
        chosen[:, self.mine] = labels
        return NominalObjective(self.layout, chosen, self.design)

    def reaches(self, observed: float, random: np.random.Generator) -> bool:
        """Whether newly drawn labels are at least as far from the others' model as the observed ones."""
        return self.distance(self.drawn(random), observed) >= observed

    def distance(self, labels: Floats, observed: float = -np.inf) -> float:
        """The deviance distance of labels; a number below `observed` where it is known to be smaller."""
        return self.distance_of(self.objective(labels), self.modes, observed)

    def drawn(self, random: np.random.Generator) -> Floats:
        """New labels of the worker: 1 where a category is chosen."""
        m = len(self.chosen)
        beta, by_worker, by_task = self.rest.split(self.parameters)
        if self.others.factor is None:
            raise ValueError("The others' model was not evaluated.")
        task = by_task[:, None] * (self.others.task + self.others.factor[0].task_draw(random))
        logits = (self.design[self.mine] @ beta).T + (by_worker * random.normal(size=m))[:, None] + task[:, self.tasks]
        whole = np.concatenate([np.zeros_like(logits[:1]), logits])
        category = np.argmax(whole + random.gumbel(size=whole.shape), axis=0)
        return np.asarray(category == np.arange(1, m + 1)[:, None], dtype=np.float64)
