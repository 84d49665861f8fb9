"""Generalised linear models with crossed random intercepts: answers of workers to tasks.

    eta = X beta + b_worker + b_task (+ b_worker:task),   b ~ N(0, variance)

for yes-or-no answers (logit), ordered categories (cumulative logit) and measured answers (normal errors), by maximum
likelihood with the Laplace approximation (Pinheiro and Chao 2006; lme4's glmer with nAGQ = 1, ordinal's clmm). For
measured answers the approximation is exact, and the likelihood has a closed form; they are fitted by maximum likelihood
or REML (see `gaussian`).

At the mode, the curvature of the penalised log-likelihood in spherical worker and task effects is M (see `schur`).
Given coefficients, thresholds and variances, the task effects are approximately normal around their modes. Their
covariance is

    theta_t^2 times the block of M^-1 for the tasks,

which the Schur complement gives by eliminating the workers. lme4 and ordinal report its diagonal as conditional
variances (`condVar`). It does not include the uncertainty of the variances themselves.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from karat.messages import Message
from karat.models.glrm.blocks import BlockSchur
from karat.models.glrm.crossed import CrossedAnswers, arrange
from karat.models.glrm.families import FamilyName, family_message
from karat.models.glrm.mixed.gaussian import EXACT, GaussianObjective
from karat.models.glrm.mixed.laplace import Crossing
from karat.models.glrm.mixed.terms import INTERCEPT, RandomTerm, sides
from karat.models.glrm.objective import Modes, Objective, evaluate, factorise, solve_effects
from karat.models.glrm.optimise import BESIDE_ZERO, NEARLY_ZERO, Convergence, SearchResult, solve
from karat.models.glrm.parts.answers import PartAnswers, PartSummary, Placed, View, describe, merge
from karat.models.numerics import one_thread, significant
from karat.types import Floats, Ints

ZERO = 1e-4
"""A deviation below this counts as zero: the fit is singular."""
EXTREME = 10.0
"""Logits this large, with errors this large, are a sign of separation."""
UNBOUNDED = 40.0
"""No answers could distinguish a deviation of this many logits from a larger one."""
GROUPS = {"worker": "fit.workers", "task": "fit.tasks", "worker:task": "fit.cells"}


@dataclass(frozen=True)
class Fit(SearchResult):
    """A fitted model of yes-or-no, ordered or measured answers.

    `names` belong to the entries of `parameters`, `hessian` and `covariance`: coefficients, thresholds and deviations.
    """

    family: FamilyName
    coefficient_covariance: Floats
    thresholds: Floats
    same_answer_workers: Ints
    """The positions (in `workers`) of workers who gave the same answer throughout."""
    names: tuple[str, ...]
    reml: bool = False

    @property
    def standard_errors(self) -> Floats:
        """The standard error of each coefficient."""
        return np.sqrt(np.diag(self.coefficient_covariance))

    @property
    def summary(self) -> tuple[Message, ...]:
        """The model and how the search ended."""
        values = {
            "n": self.answers, "kind": family_message(self.family), "workers": len(self.workers),
            "tasks": len(self.tasks), "value": self.log_likelihood,
            "variances": [
                Message("fit.variance", {"group": group_message(name), "value": significant(value)})
                for name, value in self.variances.items()
            ],
        }  # fmt: skip
        first = Message("fit.crossed_reml", values) if self.reml else Message("fit.crossed", values)
        return first, self.convergence.message


def group_message(name: str) -> Message:
    """The name of a group of effects, or of the residual."""
    return Message(GROUPS.get(name, "fit.residuals"))


def fit_crossed(
    response: ArrayLike,
    worker: ArrayLike,
    task: ArrayLike,
    design: ArrayLike | None = None,
    *,
    family: FamilyName = "binary",
    reml: bool = False,
    interaction: bool = False,
    start: ArrayLike | None = None,
) -> Fit:
    """Fit crossed random intercepts for workers and tasks.

    `design` has a column for every fixed effect. By default it is an intercept alone; ordered answers have thresholds
    instead, and no intercept. `interaction` adds an effect of every cell. With one answer per cell it is not
    identified, and the notes say so. `start` has the parameters in the order of `Fit.parameters`.

    >>> import karat
    >>> crowd = karat.simulate.crowd(20, 24).frame
    >>> fit = fit_crossed(*(crowd[name] for name in ("response", "participant", "item")))
    >>> fit.converged, {name: round(value, 2) for name, value in fit.variances.items()}
    (True, {'worker': 1.01, 'task': 1.72})
    """
    if design is None and family == "ordinal":
        design = np.empty((np.asarray(response).size, 0))
    answers = arrange(response, worker, task, design)
    if reml and family != "gaussian":
        raise ValueError(f"REML is for measured answers; a {family} model is fitted by maximum likelihood.")
    if family == "gaussian" and not interaction:
        return _fit_gaussian(answers, reml)
    placed = Placed(PartAnswers(answers.response, answers.worker, answers.task, answers.design), 0)
    summary = merge([describe((family, None), placed)], family)
    objective = replace(View(family, summary.tasks, summary.categories).objective(placed), cell_effect=interaction)
    if reml or (family == "gaussian" and objective.layout.single):
        raise ValueError(
            "A worker:task effect of measured answers needs repeated answers and maximum likelihood: with one "
            "answer per cell it is part of the residual."
        )
    if family == "gaussian" and _alike_within_cells(answers):
        raise ValueError(
            "Nobody answered differently where a task was repeated, so that a worker:task effect of measured answers "
            "leaves no residual. Fit the model without it."
        )
    if family == "gaussian":
        start = _measured_start(answers) if start is None else start
        summary = replace(summary, categories=np.empty(0), same=np.empty(0, dtype=np.int64))
    with one_thread(len(summary.workers) * len(summary.tasks)):
        optimum, convergence = solve(objective, start_values(objective, summary, start), objective.zero_modes())
    summary = replace(summary, workers=answers.workers, tasks=answers.tasks)
    return conclude(family, summary, objective, optimum, convergence)


def start_values(objective: Any, summary: PartSummary, start: ArrayLike | None) -> Floats:
    """Zero coefficients, thresholds that match the shares of the categories, and deviations of one; or `start`.

    No deviation starts at zero, where the slope is zero by symmetry.
    """
    columns, deviations = len(summary.size), objective.deviations
    share = np.cumsum(summary.counts)[:-1] / summary.counts.sum()
    psi = np.log(share / (1 - share))[: objective.parameters - columns - deviations]
    default = [np.zeros(columns), psi, np.array([1.0, 1.0, 0.5])[:deviations]]
    values = np.concatenate(default) if start is None else np.array(start, dtype=np.float64)
    if len(values) != objective.parameters:
        raise ValueError(f"start must have {objective.parameters} numbers, got {len(values)}.")
    scales = values[-deviations:]
    scales[np.abs(scales) < NEARLY_ZERO] = BESIDE_ZERO
    return values


def _measured_start(answers: CrossedAnswers) -> Floats:
    """Least-squares coefficients, and deviations of half that of the answers, which can be in any unit."""
    values = answers.response.astype(np.float64)
    half = float(values.std()) / 2
    return np.concatenate([linalg.lstsq(answers.design, values)[0], [np.log(half), half, half, half / 2]])


def _fit_gaussian(answers: CrossedAnswers, reml: bool) -> Fit:
    values = answers.response.astype(np.float64)
    if answers.design.shape[1] == 0:
        raise ValueError("The design of measured answers needs at least one column, usually an intercept.")
    ones = np.ones((len(values), 1))
    terms = [
        RandomTerm("worker", answers.worker, answers.workers, ones, (INTERCEPT,)),
        RandomTerm("task", answers.task, answers.tasks, ones, (INTERCEPT,)),
    ]
    crossing = Crossing(sides(terms))
    objective = GaussianObjective(crossing, values, answers.design, reml)
    with one_thread(crossing.work):
        optimum, convergence = solve(objective, np.ones(2), None)
    at: Any = optimum.at
    sign = np.where(optimum.parameters < 0, -1.0, 1.0)
    theta = optimum.parameters * sign
    modes = Modes(*(effects[:, 0] for effects in at.modes)).with_signs(sign)
    variances = dict(zip(("worker", "task"), map(float, theta**2 * at.residual_variance), strict=True))
    notes = tuple(
        Message("fit.zero_group", {"group": group_message(name)})
        for name, deviation in zip(variances, theta, strict=True)
        if deviation < ZERO
    )
    return Fit(
        -at.value, at.coefficients, {**variances, "residual": at.residual_variance}, theta[0] * modes.worker,
        theta[1] * modes.task, answers.workers, answers.tasks, np.empty(0), len(values), convergence, notes, theta,
        optimum.hessian * np.outer(sign, sign), objective, modes, "gaussian",
        at.residual_variance * at.unscaled_covariance, np.empty(0), np.empty(0, dtype=np.int64),
        ("relative deviation of worker", "relative deviation of task"), reml,
    )  # fmt: skip


def _alike_within_cells(answers: CrossedAnswers) -> bool:
    """Whether a worker's answers to the same task never differ, so that there is no residual."""
    _, cell = np.unique(answers.worker * len(answers.tasks) + answers.task, return_inverse=True)
    value = answers.response.astype(np.float64)
    residual = value - (np.bincount(cell, value) / np.bincount(cell))[cell]
    return float(residual @ residual) <= EXACT**2 * float(value @ value)


def conclude(family: FamilyName, summary: PartSummary, objective: Any, optimum: Any, convergence: Convergence) -> Fit:
    """The fit at the optimum, with positive deviations, since their sign is arbitrary."""
    others = len(optimum.parameters) - objective.deviations
    sign = np.concatenate([np.ones(others), np.where(optimum.parameters[others:] < 0, -1.0, 1.0)])
    parameters, hessian = optimum.parameters * sign, optimum.hessian * np.outer(sign, sign)
    modes = optimum.at.modes.with_signs(sign)
    beta, psi, scales = objective.split(parameters)
    groups = list(GROUPS)[: objective.deviations]
    variances = {name: float(value) ** 2 for name, value in zip(groups, parameters[others:], strict=True)}
    if family == "gaussian":
        variances["residual"] = float(np.exp(2 * psi[0]))
    columns = tuple(f"x{column}" for column in range(len(beta)))
    inner = (
        tuple(f"threshold {k + 1}" for k in range(len(psi))) if family == "ordinal" else ("log residual",) * len(psi)
    )
    reason = None if family == "gaussian" else _unbounded(summary.size, parameters, hessian, others, convergence.curved)
    if reason is not None:
        convergence = replace(convergence, converged=False, reason=reason)
    covariance, notes = convergence.covariance(hessian), tuple(_notes(summary, objective, parameters[others:]))
    return Fit(
        -optimum.at.value, beta, variances, scales.worker * modes.worker, scales.task * modes.task, summary.workers,
        summary.tasks, summary.categories, int(summary.counts.sum()), convergence, notes, parameters, hessian,
        objective, modes, family, covariance[: len(beta), : len(beta)], psi if family == "ordinal" else np.empty(0),
        summary.same, (*columns, *inner, *(f"deviation of {name}" for name in groups)),
    )  # fmt: skip


def _notes(summary: PartSummary, objective: Any, deviations: Floats) -> list[Message]:
    notes = []
    for name, theta in zip(GROUPS, deviations, strict=False):
        if theta < ZERO:
            notes.append(Message("fit.zero_group", {"group": group_message(name)}))
    if len(deviations) > 2 and objective.layout.single:
        notes.append(Message("fit.cells_not_identified"))
    if len(summary.same):
        notes.append(Message("fit.same_answer_workers", {"n": len(summary.same), "workers": len(summary.workers)}))
    return notes


def _unbounded(size: Floats, parameters: Floats, hessian: Floats, others: int, curved: bool) -> Message | None:
    """The parameter that grows without bound because the answers are separated, or None."""
    reach = np.abs(parameters[: len(size)]) * size
    if curved:
        # A large coefficient with a small error is no sign of separation.
        reach = reach * (np.sqrt(np.diag(np.linalg.inv(hessian)))[: len(size)] * size > EXTREME)
    if np.any(reach > EXTREME):
        # Other coefficients grow too, above all the intercept, but that of the separating column grows furthest.
        column = int(np.argmax(reach))
        return Message("fit.reason_column", {"column": column})
    for name, theta in zip(("worker", "task"), parameters[others:], strict=False):
        if theta > UNBOUNDED:
            return Message("fit.reason_variance", {"group": group_message(name)})
    return None


def task_covariance(fit: Fit) -> Floats:
    """The covariance of `fit.task_effects` given the variances, tasks x tasks."""
    schur, deviation = _at_the_mode(fit)
    tasks = len(fit.tasks)
    _, inverse = solve_effects(schur, np.zeros((len(fit.workers), tasks)), np.eye(tasks))
    # The inverse is symmetric except for rounding.
    return deviation**2 * (inverse + inverse.T) / 2


def task_errors(fit: Fit) -> Floats:
    """The standard errors of the task effects, if the whole covariance would be too large."""
    schur, deviation = _at_the_mode(fit)
    _, variances, _ = schur.covariance()
    return np.asarray(deviation * np.sqrt(variances[0, 0]))


def _at_the_mode(fit: Fit) -> tuple[BlockSchur, float]:
    """The factorised curvature at the mode and the deviation of tasks."""
    objective = fit.objective
    if not isinstance(objective, Objective):
        raise ValueError("The covariance of effects is for yes-or-no and ordered answers.")
    layout = objective.layout
    beta, psi, scales = objective.split(fit.parameters)
    point = evaluate(layout, objective.family, objective.design @ beta, psi, scales, fit.modes)
    return factorise(layout, point.curvature, scales), scales.task
