"""Generalised linear models with crossed random intercepts: answers of workers to tasks.

    eta = X beta + b_worker + b_task (+ b_worker:task),   b ~ N(0, variance)

for yes-or-no answers (logit), ordered categories (cumulative logit) and measured answers (normal errors), by maximum
likelihood with the Laplace approximation (Pinheiro and Chao 2006; lme4's glmer with nAGQ = 1, ordinal's clmm). For
measured answers the approximation is exact; they are fitted in closed form, by maximum likelihood or REML (see
`gaussian`).

At the mode, the curvature of the penalised log-likelihood in spherical worker and task effects is M (see `schur`).
Given coefficients, thresholds and variances, the effects of the tasks are about normal around their modes, with the
covariance

    theta_t^2 [M^-1] of the tasks,

from which the workers are eliminated by the Schur complement. lme4 and ordinal give its diagonal as conditional
variances (`condVar`). What is uncertain about the variances themselves is not in it.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from karat.messages import Message
from karat.models.glrm.crossed import CrossedAnswers, arrange
from karat.models.glrm.families import FamilyName, family_message
from karat.models.glrm.mixed.gaussian import EXACT, GaussianObjective
from karat.models.glrm.mixed.laplace import Crossing
from karat.models.glrm.mixed.terms import INTERCEPT, RandomTerm, sides
from karat.models.glrm.objective import Modes, Objective, evaluate, factorise
from karat.models.glrm.optimise import BESIDE_ZERO, NEARLY_ZERO, Convergence, SearchResult, solve
from karat.models.glrm.parts.answers import Described, PartAnswers, Placed, View, describe, merged
from karat.models.glrm.schur import Schur
from karat.models.numerics import one_thread, significant
from karat.types import Floats, Ints

ZERO = 1e-4
"""A deviation below this is zero: the fit is singular."""
EXTREME = 10.0
"""Logits so large, and so uncertain, are a sign of separation."""
UNBOUNDED = 40.0
"""A deviation of logits that no answers could tell from a larger one."""
GROUPS = {"worker": "fit.workers", "task": "fit.tasks", "worker:task": "fit.cells"}


@dataclass(frozen=True)
class Fit(SearchResult):
    """A fitted model of yes-or-no, ordered or measured answers.

    `names` says what `parameters`, `hessian` and `covariance` are about: coefficients, thresholds and deviations.
    """

    family: FamilyName
    coefficient_covariance: Floats
    thresholds: Floats
    same_answer_workers: Ints
    """Which workers (by their place in `workers`) gave one answer only."""
    names: tuple[str, ...]
    reml: bool = False

    @property
    def standard_errors(self) -> Floats:
        """One for each coefficient."""
        return np.sqrt(np.diag(self.coefficient_covariance))

    @property
    def summary(self) -> tuple[Message, ...]:
        """What was fitted, and how the search ended."""
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
    """What a group of effects, or the residual, is called."""
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

    `design` has a column for every fixed effect (an intercept alone where it is None; ordered answers have thresholds
    instead, and their design no intercept). `interaction` adds an effect for every cell; with one answer per cell it is
    not identified, which the notes then say. `start` gives parameters as `Fit.parameters` does.

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
    about = merged([describe((family, None), placed)], family)
    objective = replace(View(family, about.tasks, about.categories).objective(placed), cell_effect=interaction)
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
        about = replace(about, categories=np.empty(0), same=np.empty(0, dtype=np.int64))
    with one_thread(len(about.workers) * len(about.tasks)):
        optimum, convergence = solve(objective, start_values(objective, about, start), objective.zero_modes())
    about = replace(about, workers=answers.workers, tasks=answers.tasks)
    return conclude(family, about, objective, optimum, convergence)


def start_values(objective: Any, about: Described, start: ArrayLike | None) -> Floats:
    """Coefficients of zero, thresholds that make the shares of the categories right and deviations of one.

    Or what was asked for. No deviation is at zero, where the slope is zero by symmetry.
    """
    columns, deviations = len(about.size), objective.deviations
    share = np.cumsum(about.counts)[:-1] / about.counts.sum()
    psi = np.log(share / (1 - share))[: objective.parameters - columns - deviations]
    usual = [np.zeros(columns), psi, np.array([1.0, 1.0, 0.5])[:deviations]]
    first = np.concatenate(usual) if start is None else np.array(start, dtype=np.float64)
    if len(first) != objective.parameters:
        raise ValueError(f"start must have {objective.parameters} numbers, got {len(first)}.")
    own = first[-deviations:]
    own[np.abs(own) < NEARLY_ZERO] = BESIDE_ZERO
    return first


def _measured_start(answers: CrossedAnswers) -> Floats:
    """Coefficients of least squares and deviations of half the answers' own, since their unit may be any."""
    values = answers.response.astype(np.float64)
    half = float(values.std()) / 2
    return np.concatenate([linalg.lstsq(answers.design, values)[0], [np.log(half), half, half, half / 2]])


def _fit_gaussian(answers: CrossedAnswers, reml: bool) -> Fit:
    values = answers.response.astype(np.float64)
    if answers.design.shape[1] == 0:
        raise ValueError("The design of measured answers needs at least one column, usually an intercept.")
    one = np.ones((len(values), 1))
    terms = [
        RandomTerm("worker", answers.worker, answers.workers, one, (INTERCEPT,)),
        RandomTerm("task", answers.task, answers.tasks, one, (INTERCEPT,)),
    ]
    crossing = Crossing(sides(terms))
    objective = GaussianObjective(crossing, values, answers.design, reml)
    with one_thread(crossing.work):
        optimum, convergence = solve(objective, np.ones(2), None)
    at: Any = optimum.at
    sign = np.where(optimum.parameters < 0, -1.0, 1.0)
    theta = optimum.parameters * sign
    modes = Modes(*(one[:, 0] for one in at.modes)).turned(sign)
    variances = dict(zip(("worker", "task"), map(float, theta**2 * at.residual_variance), strict=True))
    notes = tuple(
        Message("fit.zero_group", {"group": group_message(name)})
        for name, one in zip(variances, theta, strict=True)
        if one < ZERO
    )
    return Fit(
        -at.value, at.coefficients, {**variances, "residual": at.residual_variance}, theta[0] * modes.worker,
        theta[1] * modes.task, answers.workers, answers.tasks, np.empty(0), len(values), convergence, notes, theta,
        optimum.hessian * np.outer(sign, sign), objective, modes, "gaussian",
        at.residual_variance * at.unscaled_covariance, np.empty(0), np.empty(0, dtype=np.int64),
        ("relative deviation of worker", "relative deviation of task"), reml,
    )  # fmt: skip


def _alike_within_cells(answers: CrossedAnswers) -> bool:
    """Whether the answers of a worker to a task never differ, so that nothing is left for a residual."""
    _, cell = np.unique(answers.worker * len(answers.tasks) + answers.task, return_inverse=True)
    value = answers.response.astype(np.float64)
    left = value - (np.bincount(cell, value) / np.bincount(cell))[cell]
    return float(left @ left) <= EXACT**2 * float(value @ value)


def conclude(family: FamilyName, about: Described, objective: Any, optimum: Any, convergence: Convergence) -> Fit:
    """The fit at the optimum; deviations are given as positive, since their sign is arbitrary."""
    own = len(optimum.parameters) - objective.deviations
    sign = np.concatenate([np.ones(own), np.where(optimum.parameters[own:] < 0, -1.0, 1.0)])
    parameters, hessian = optimum.parameters * sign, optimum.hessian * np.outer(sign, sign)
    modes = optimum.at.modes.turned(sign)
    beta, psi, scales = objective.split(parameters)
    groups = list(GROUPS)[: objective.deviations]
    variances = {name: float(value) ** 2 for name, value in zip(groups, parameters[own:], strict=True)}
    if family == "gaussian":
        variances["residual"] = float(np.exp(2 * psi[0]))
    columns = tuple(f"x{column}" for column in range(len(beta)))
    inner = (
        tuple(f"threshold {k + 1}" for k in range(len(psi))) if family == "ordinal" else ("log residual",) * len(psi)
    )
    reason = None if family == "gaussian" else _unbounded(about.size, parameters, hessian, own, convergence.curved)
    if reason is not None:
        convergence = replace(convergence, converged=False, reason=reason)
    covariance, notes = convergence.covariance(hessian), tuple(_notes(about, objective, parameters[own:]))
    return Fit(
        -optimum.at.value, beta, variances, scales.worker * modes.worker, scales.task * modes.task, about.workers,
        about.tasks, about.categories, int(about.counts.sum()), convergence, notes, parameters, hessian, objective,
        modes, family, covariance[: len(beta), : len(beta)], psi if family == "ordinal" else np.empty(0), about.same,
        (*columns, *inner, *(f"deviation of {name}" for name in groups)),
    )  # fmt: skip


def _notes(about: Described, objective: Any, deviations: Floats) -> list[Message]:
    notes = []
    for name, theta in zip(GROUPS, deviations, strict=False):
        if theta < ZERO:
            notes.append(Message("fit.zero_group", {"group": group_message(name)}))
    if len(deviations) > 2 and objective.layout.single:
        notes.append(Message("fit.cells_not_identified"))
    if len(about.same):
        notes.append(Message("fit.same_answer_workers", {"n": len(about.same), "workers": len(about.workers)}))
    return notes


def _unbounded(size: Floats, parameters: Floats, hessian: Floats, own: int, curved: bool) -> Message | None:
    """Which parameter grows without bound, because something separates the answers; None where none does."""
    reach = np.abs(parameters[: len(size)]) * size
    if curved:
        # A large coefficient of which the answers tell enough is no sign of separation.
        reach = reach * (np.sqrt(np.diag(np.linalg.inv(hessian)))[: len(size)] * size > EXTREME)
    if np.any(reach > EXTREME):
        # The column that separates draws others along, the intercept above all, but goes furthest.
        column = int(np.argmax(reach))
        return Message("fit.reason_column", {"column": column})
    for name, theta in zip(("worker", "task"), parameters[own:], strict=False):
        if theta > UNBOUNDED:
            return Message("fit.reason_variance", {"group": group_message(name)})
    return None


def task_covariance(fit: Fit) -> Floats:
    """The covariance of `fit.task_effects` given the variances, tasks x tasks."""
    schur, deviation = _at_the_mode(fit)
    tasks = len(fit.tasks)
    _, inverse = schur.solve(np.zeros((len(fit.workers), tasks)), np.eye(tasks))
    # Symmetric but for rounding.
    return deviation**2 * (inverse + inverse.T) / 2


def task_errors(fit: Fit) -> Floats:
    """The roots of its diagonal alone, where the whole covariance would be too large."""
    schur, deviation = _at_the_mode(fit)
    _, variances, _ = schur.covariance()
    return deviation * np.sqrt(variances)


def _at_the_mode(fit: Fit) -> tuple[Schur, float]:
    """The curvature at the mode, factorised, and the deviation of tasks."""
    objective = fit.objective
    if not isinstance(objective, Objective):
        raise ValueError("The covariance of effects is for yes-or-no and ordered answers.")
    layout = objective.layout
    beta, psi, scales = objective.split(fit.parameters)
    point = evaluate(layout, objective.family, objective.design @ beta, psi, scales, fit.modes)
    return factorise(layout, point.curvature, scales), scales.task
