"""Generalised linear mixed models with vector-valued random effects: intercepts and slopes of crossed factors.

    eta = X beta + z1'b(participant) + z2'b(item) + ...,   b ~ N(0, Sigma)

for yes-or-no answers (logit), ordered categories (cumulative logit) and measured answers (normal errors). The first
two are fitted by maximum likelihood with the Laplace approximation (as in lme4's glmer with nAGQ = 1, glmmTMB and
ordinal's clmm); the last exactly, by maximum likelihood or REML (as in lmer).

Standard errors for yes-or-no and ordered answers come from the Hessian of the log-likelihood in all parameters, as in
glmmTMB and clmm; for measured answers they are those of generalised least squares at the estimated covariances, as in
lmer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag, solve_triangular
from scipy.special import chdtrc, logsumexp

from karat.messages import Message
from karat.models.glrm.families import FamilyName, Link, OrdinalFamily, ScaledOrdinal, linked
from karat.models.glrm.mixed.gaussian import GaussianObjective
from karat.models.glrm.mixed.laplace import Crossing, LaplaceObjective
from karat.models.glrm.mixed.result import MixedFit, MixedProblem, check, describe
from karat.models.glrm.mixed.search import ZERO, search, simpler
from karat.models.glrm.mixed.terms import RandomBlock, RandomTerm, sides
from karat.models.numerics import one_thread
from karat.types import Floats

FIRST = 0.5
"""The initial deviations, in units of the columns."""
VAST = 10.0
"""Deviations of a larger model above this are not used as a start."""
FEWEST_NODES = 5
MODE_STEPS = 100
"""The largest number of Newton steps for the mode of one effect."""
EMPTY = 1e-10
"""A direction with less curvature than this is not identified, if every parameter has a curvature of 1."""


def fit_mixed(
    response: ArrayLike,
    design: ArrayLike,
    names: Sequence[str],
    terms: Sequence[RandomTerm],
    *,
    family: FamilyName = "binary",
    reml: bool = False,
    start: ArrayLike | None = None,
    simplify: bool | Literal["upwards"] = False,
    offset: ArrayLike | None = None,
    link: Link = "logit",
) -> MixedFit:
    """Fit a mixed model of one grouping factor or several crossed ones, each with any number of terms.

    `design` has a column for every name; for ordered answers, which have thresholds, it has no intercept. Factors can
    be nested in others. `start` has the parameters in the order of `MixedFit.parameters`. `simplify` refits a singular
    model without the correlations of the singular term, then without the effect that varies least, and so on until it
    is not singular; `MixedFit.log` lists what was removed. "upwards" is faster: it fits the uncorrelated model first,
    and adds correlations only to terms with variance in every effect, since the others would be singular with them.
    `offset` is added to the linear predictor. `link` is the logit, the probit or the complementary log-log ("cloglog").

    >>> from karat.models.glrm.mixed.terms import random_term
    >>> random = np.random.default_rng(1)
    >>> who, what = np.repeat(np.arange(40), 20), np.tile(np.arange(20), 40)
    >>> x = random.choice([-0.5, 0.5], 800)
    >>> eta = random.normal(0, 1, 40)[who] + random.normal(1, 1, 40)[who] * x + random.normal(0, 1, 20)[what]
    >>> slopes = random_term("participant", who, np.column_stack([x**0, x]), ("(Intercept)", "x"))
    >>> fit = fit_mixed(
    ...     eta + random.logistic(size=800) > 0, np.column_stack([x**0, x]), ["(Intercept)", "x"],
    ...     [slopes, random_term("item", what)],
    ... )
    >>> fit.converged, fit.covariances["participant"].shape, list(fit.effects)
    (True, (2, 2), ['participant', 'item'])
    """
    problem = check(response, design, names, terms, family, reml, offset, link)
    log: list[Message] = []
    first = None if start is None else np.asarray(start, dtype=np.float64)
    fit = None
    if simplify == "upwards":
        problem, first, fit, log = _uncorrelated_first(problem)
    while True:
        fit = fit or _fit(problem, first, leave=bool(simplify))
        if not simplify or not fit.singular:
            return replace(fit, log=tuple(log))
        fewer, steps = _simplified(fit)
        log += steps
        if fewer is None:
            return replace(_fit(problem, fit.parameters), log=(*log, Message("fit.still_singular")))
        problem = replace(problem, terms=fewer)
        first, fit = _start_from(fit, problem), None


def _uncorrelated_first(problem: MixedProblem) -> tuple[MixedProblem, Floats | None, MixedFit | None, list[Message]]:
    """The model with correlations only in terms without singular effects, its start or fit, and the log."""
    full = [term.covariance == "full" and len(term.names) > 1 for term in problem.terms]
    if not any(full):
        return problem, None, None, []
    uncorrelated = [
        term.only(list(range(len(term.names))), "diagonal") if correlated else term
        for term, correlated in zip(problem.terms, full, strict=True)
    ]
    uncorrelated_fit = _fit(replace(problem, terms=tuple(uncorrelated)), None, leave="always")
    log, varying = [], []
    for number, singular in enumerate(uncorrelated_fit.singular_terms):
        if full[number] and singular:
            values = {"term": str(problem.terms[number]), "rest": str(uncorrelated[number])}
            log.append(Message("fit.without_correlations", values))
        elif full[number]:
            varying.append(number)
    if not varying:
        return replace(problem, terms=tuple(uncorrelated)), None, uncorrelated_fit, log
    terms, steps = _simplified(uncorrelated_fit)
    correlated_terms = {id(uncorrelated[number]): problem.terms[number] for number in varying}
    simplified = replace(problem, terms=tuple(correlated_terms.get(id(term), term) for term in terms or uncorrelated))
    return simplified, _start_from(uncorrelated_fit, simplified), None, log + steps


def _simplified(fit: MixedFit) -> tuple[tuple[RandomTerm, ...] | None, list[Message]]:
    """The terms of the next simpler model (None if nothing can be removed), and messages about the removed effects.

    Correlations are removed from one term at a time. Effects without variance are removed together: the likelihood of
    the simpler model has its maximum at the same point, so a fit after each of them would change nothing.
    """
    terms, factors, singular = list(fit.terms), list(fit.factors), list(fit.singular_terms)
    log: list[Message] = []
    while any(singular):
        step = simpler(terms, factors, singular)
        if step is None:
            break
        new, removed = step
        log.append(removed)
        if removed.code == "fit.without_correlations":
            return tuple(new), log
        place = next((k for k, pair in enumerate(zip(terms, new, strict=False)) if pair[0] is not pair[1]), len(new))
        if len(new) < len(terms):
            del factors[place], singular[place]
        else:
            rows = [terms[place].names.index(name) for name in new[place].names]
            factors[place] = factors[place][rows]
            singular[place] = bool((np.sqrt((factors[place] ** 2).sum(axis=1)) < ZERO).any())
        terms = new
    return (tuple(terms) if log else None), log


def _start_from(fit: MixedFit, problem: MixedProblem) -> Floats:
    """The start of a simpler model: the remaining deviations of the larger fit, uncorrelated."""
    unit = np.sqrt(fit.residual_variance) if fit.family == "gaussian" else 1.0
    deviations = {
        (group, name): float(deviation) if (deviation := np.sqrt(variance) / unit) < VAST else FIRST
        for group, matrix in fit.covariances.items()
        for name, variance in zip(fit.random_names[group], np.diag(matrix), strict=True)
    }
    crossing = Crossing(sides(problem.terms))
    fixed = len(fit.parameters) - len(fit.theta)
    parameters = np.append(fit.parameters[:fixed], np.zeros(crossing.size))
    for place, block in crossing.places(len(parameters)):
        initial = [deviations[block.group, name] for name in block.names[: block.width]]
        parameters[place : place + block.size] = np.diag(initial)[block.entries]
    return parameters


def _fit(problem: MixedProblem, start: Floats | None, leave: bool | Literal["always"] = False) -> MixedFit:
    """Fit with orthogonal columns of one size, and convert the result to the caller's columns."""
    caller_sides = sides(problem.terms)
    plain = objective_of(problem, Crossing(caller_sides), problem.design)
    columns, base = orthogonal_design(problem.design)
    standardised = tuple(side.standardised() for side in caller_sides)
    same = all(pair[0] is pair[1] for pair in zip(standardised, caller_sides, strict=True))
    objective = objective_of(problem, plain.crossing if same else Crossing(standardised), columns)
    parts = [side.theta_transform() for side in caller_sides]
    if isinstance(plain, GaussianObjective) and plain.exact:
        raise ValueError("The fixed effects explain every answer without error, so nothing is left to fit.")
    if isinstance(plain, LaplaceObjective):
        parts = [base, np.eye(plain.family.parameters), *parts]
    transform = np.asarray(block_diag(*(part for part in parts if part.size)))
    if start is not None and start.shape != (len(transform),):
        raise ValueError(f"start must have {len(transform)} numbers, got {start.size}.")
    blocks = plain.crossing.places(len(transform))
    first = start_of(problem, objective, blocks) if start is None else np.linalg.solve(transform, start)
    for place, block in blocks:
        diagonal = place + np.flatnonzero(np.equal(*block.entries))
        # The slope is zero at zero.
        first[diagonal] = np.where(np.abs(first[diagonal]) < 0.01, 0.1, first[diagonal])
    labels = parameter_labels(problem, blocks)
    with one_thread(plain.crossing.work):
        outcome = search(objective, first, blocks, labels, leave)
        return describe(problem, plain, outcome, transform, blocks, labels, outcome.at.modes if same else None)


def orthogonal_design(design: Floats) -> tuple[Floats, Floats]:
    """The design with orthogonal columns, and the matrix that converts their coefficients to those of the design."""
    if not design.shape[1]:
        return design, np.empty((0, 0))
    columns, triangle = np.linalg.qr(design)
    scale = np.sqrt(len(design))
    return columns * scale, np.asarray(solve_triangular(triangle, np.eye(len(triangle)))) * scale


def objective_of(problem: MixedProblem, crossing: Crossing, design: Floats) -> LaplaceObjective | GaussianObjective:
    """The likelihood of the answers, exact for measured ones."""
    if problem.family == "gaussian":
        return GaussianObjective(crossing, problem.response, design, problem.reml)
    return LaplaceObjective(crossing, problem.likelihood(), design, problem.offset)


def start_of(
    problem: MixedProblem, objective: LaplaceObjective | GaussianObjective, blocks: list[tuple[int, RandomBlock]]
) -> Floats:
    """The start of a search: uncorrelated deviations, by moments or equal, and thresholds that match the answers."""
    if isinstance(objective, GaussianObjective):
        return objective.start()
    start = np.zeros(objective.parameters)
    for place, block in blocks:
        start[place : place + block.size] = np.equal(*block.entries) * FIRST
    if problem.family == "ordinal":
        share = np.cumsum(np.bincount(problem.response))[:-1] / len(problem.response)
        columns = problem.design.shape[1]
        start[columns : columns + len(share)] = linked(problem.link, share) + problem.offset.mean()
    return start


def parameter_labels(problem: MixedProblem, blocks: list[tuple[int, RandomBlock]]) -> tuple[str, ...]:
    """A name for every parameter."""
    labels: list[str] = []
    if problem.family != "gaussian":
        labels += problem.names
    if problem.family == "ordinal":
        labels += [f"{low}|{high}" for low, high in zip(problem.categories, problem.categories[1:], strict=False)]
    for _, block in blocks:
        names = block.names if len(block.names) == block.width else ("+".join(block.names),)
        labels += [
            f"{block.group}.{names[row]}" if row == column else f"{block.group}.{names[column]}.{names[row]}"
            for row, column in zip(*block.entries, strict=True)
        ]
    return tuple(labels)


@dataclass(frozen=True)
class QuadratureFit:
    """A fit of one random effect by adaptive quadrature."""

    log_likelihood: float
    coefficients: Floats
    standard_errors: Floats
    thresholds: Floats
    deviation: float
    nodes: int
    converged: bool


def adaptive_quadrature(fit: MixedFit, nodes: int = 15) -> QuadratureFit:
    """Refit a model of yes-or-no or ordered answers with one random effect of one factor, by adaptive quadrature.

    Each level's integral over its effect u is a sum over Gauss-Hermite nodes, centred at the mode of u and scaled by
    the curvature there (Pinheiro and Bates 1995). The gradient is the mean slope over the posterior at the nodes, which
    is exact to five digits with at least 15 nodes. If the answers are perfectly separated, there is no maximum: the fit
    does not converge and has no standard errors.

    >>> from karat.models.glrm.mixed.terms import random_term
    >>> random = np.random.default_rng(1)
    >>> who = np.repeat(np.arange(40), 8)
    >>> yes = random.normal(0, 1.5, 40)[who] + random.logistic(size=320) > 0
    >>> result = adaptive_quadrature(fit_mixed(yes, np.ones((320, 1)), ["(Intercept)"], [random_term("who", who)]))
    >>> result.converged, bool(0.8 < result.deviation < 2.2)
    (True, True)
    """
    objective = fit.objective
    if not isinstance(objective, LaplaceObjective) or len(fit.terms) != 1 or len(fit.terms[0].names) != 1:
        raise ValueError("Adaptive quadrature is for one random effect of one factor, and not for measured answers.")
    if nodes < FEWEST_NODES:
        raise ValueError(f"Adaptive quadrature needs at least {FEWEST_NODES} nodes, got {nodes}.")
    term, family, design = fit.terms[0], objective.family, objective.design
    column, codes, groups = term.columns[:, 0], term.codes, len(term.levels)
    at, weight = np.polynomial.hermite.hermgauss(nodes)
    log_weight = np.log(weight) + at**2

    def evaluate(parameters: Floats) -> tuple[float, Floats]:
        beta, psi, theta = objective.split(parameters)
        if not family.allowed(psi):
            return np.inf, np.zeros_like(parameters)
        base, slope = objective.offset + design @ beta, column * theta[0]
        u = np.zeros(groups)
        for _ in range(MODE_STEPS):
            derivatives = family.derivatives(base + slope * u[codes], psi)
            curvature = 1 + np.bincount(codes, derivatives.curvature * slope**2, groups)
            step = (np.bincount(codes, derivatives.slope * slope, groups) - u) / curvature
            u = u + np.clip(step, -2, 2)
            if np.abs(step).max() < 1e-10:
                break
        spread = np.sqrt(2 / curvature)
        effects = u[:, None] + spread[:, None] * at
        rows = [base + slope * effects[codes, k] for k in range(nodes)]
        parts = [family.derivatives(eta, psi) for eta in rows]
        logs = np.stack([np.bincount(codes, part.log_likelihood, groups) for part in parts], axis=1) - effects**2 / 2
        logs = logs + log_weight + np.log(spread)[:, None] - 0.5 * np.log(2 * np.pi)
        total = logsumexp(logs, axis=1)
        weights = np.exp(logs - total[:, None])[codes]
        gradient = np.zeros_like(parameters)
        columns, fixed = design.shape[1], design.shape[1] + len(psi)
        for k, (eta, part) in enumerate(zip(rows, parts, strict=True)):
            by_row = weights[:, k] * part.slope
            gradient[:columns] -= design.T @ by_row
            gradient[columns:fixed] += family.gradient(eta, psi, weights[:, k], np.zeros(len(eta)), np.zeros(len(eta)))
            gradient[-1] -= float(by_row @ (column * effects[codes, k]))
        return -float(total.sum()), gradient

    from scipy.optimize import minimize

    optimum = minimize(evaluate, fit.parameters, jac=True, method="BFGS", options={"gtol": 1e-5})
    steps = 1e-4 * np.eye(len(optimum.x))
    hessian = np.array([(evaluate(optimum.x + h)[1] - evaluate(optimum.x - h)[1]) / 2e-4 for h in steps])
    hessian = (hessian + hessian.T) / 2
    beta, psi, theta = objective.split(optimum.x)
    errors, decrement, reason = np.full(len(beta), np.nan), np.inf, fit.convergence.reason
    scale = np.sqrt(np.maximum(np.diag(hessian), 0.0))
    determined = scale.all() and np.linalg.eigvalsh(hessian / np.outer(scale, scale))[0] > EMPTY
    if determined and (reason is None or reason.code != "fit.reason_separated"):
        errors = np.sqrt(np.diag(np.linalg.inv(hessian)))[: len(beta)]
        decrement = float(optimum.jac @ np.linalg.solve(hessian, optimum.jac)) / 2
    return QuadratureFit(-float(optimum.fun), beta, errors, psi, abs(float(theta[0])), nodes, decrement < 1e-8)


@dataclass(frozen=True)
class ScaleEffects:
    """An ordinal model with unequal spread of the answers, by the factor exp(z'zeta)."""

    names: tuple[str, ...]
    estimate: Floats
    """zeta: the log of the ratio of spreads of the latent distribution per unit of each column."""
    se: Floats
    covariance: Floats
    """The covariance of the estimates."""
    statistic: float
    """Twice the gain in the log-likelihood over equal spread."""
    p: float
    log_likelihood: float
    coefficients: Floats
    thresholds: Floats
    theta: Floats
    standard_errors: Floats
    """The standard errors of the coefficients."""
    converged: bool


def scale_effects(fit: MixedFit, columns: ArrayLike, names: Sequence[str]) -> ScaleEffects:
    """Refit a model of ordered answers with scale effects, and test whether the spread is equal.

    P(y <= k) = F((alpha_k - eta) / exp(z'zeta)), with eta as in the fit, including random effects (as in clmm2 of the R
    package ordinal; McCullagh 1980). Unequal spread looks like effects that change along the scale. `columns` has a row
    for each answer and a column for each name. No column can be constant, because the spread is the unit of the
    coefficients.

    >>> from karat.models.glrm.mixed.terms import random_term
    >>> random = np.random.default_rng(1)
    >>> who, x = np.repeat(np.arange(40), 20), np.tile([-0.5, 0.5], 400)
    >>> latent = random.normal(0, 1, 40)[who] + np.exp(0.8 * x) * random.logistic(size=800)
    >>> fit = fit_mixed(
    ...     np.digitize(latent, [-1.5, 0, 1.5]), x[:, None], ["x"], [random_term("who", who)], family="ordinal"
    ... )
    >>> result = scale_effects(fit, x[:, None], ["x"])
    >>> result.converged, bool(0.5 < result.estimate[0] < 1.1), result.p < 0.001
    (True, True, True)
    """
    objective, z = fit.objective, np.asarray(columns, dtype=np.float64)
    if not isinstance(objective, LaplaceObjective) or type(objective.family) is not OrdinalFamily:
        raise ValueError("Scale effects are for ordered answers with the logit link.")
    if z.ndim != 2 or z.shape != (fit.n, len(names)):
        raise ValueError(f"Scale effects need {fit.n} rows and a column for each of the {len(names)} names.")
    with_constant = np.column_stack([np.ones(len(z)), z])
    if np.linalg.matrix_rank(with_constant) < with_constant.shape[1]:
        raise ValueError("The columns of scale effects may not be constant, nor one the sum of others.")
    family = ScaledOrdinal(objective.family.category, objective.family.categories, z)
    scale_objective = LaplaceObjective(objective.crossing, family, objective.design, objective.offset)
    first, size = len(fit.coefficients) + len(fit.thresholds), len(names)
    start = np.insert(fit.parameters, first, np.zeros(size))
    labels = (*fit.parameter_names[:first], *(f"scale.{name}" for name in names), *fit.parameter_names[first:])
    with one_thread(objective.crossing.work):
        outcome = search(scale_objective, start, objective.crossing.places(len(start)), labels)
    beta, psi, theta = scale_objective.split(outcome.parameters)
    errors, place = np.sqrt(np.diag(outcome.covariance)), slice(first, first + size)
    gain = max(2 * (-outcome.at.value - fit.log_likelihood), 0.0)
    return ScaleEffects(
        tuple(names), psi[-size:], errors[place], outcome.covariance[place, place], gain, float(chdtrc(size, gain)),
        -outcome.at.value, beta, psi[:-size], theta, errors[: len(beta)], outcome.convergence.converged,
    )  # fmt: skip
