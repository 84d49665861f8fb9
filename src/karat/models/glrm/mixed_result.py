"""A fitted mixed model, in the units of the caller's columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from karat.messages import Message
from karat.models.glrm.families import FamilyName, family_message
from karat.models.glrm.mixed_blocks import Sides
from karat.models.glrm.mixed_gaussian import GaussianMixedEvaluation, GaussianMixedObjective
from karat.models.glrm.mixed_identified import undetermined
from karat.models.glrm.mixed_laplace import LaplaceObjective
from karat.models.glrm.mixed_notes import same_answers, separated_answers, single_answers, sizes
from karat.models.glrm.mixed_problem import MixedProblem
from karat.models.glrm.mixed_search import Found, MixedConvergence
from karat.models.glrm.mixed_sides import RandomBlock, Side
from karat.models.glrm.mixed_singular import singular_directions
from karat.models.glrm.terms import RandomTerm
from karat.models.numerics import significant
from karat.types import Floats


@dataclass(frozen=True)
class MixedFit:
    """A fitted mixed model. Covariances and effects are in units of the linear predictor, by grouping factor.

    `parameters` are the coefficients, thresholds and theta (theta alone for measured answers), `parameter_names`
    their names, `hessian` and `parameter_covariance` are about them, and `objective(parameters)` gives the negative
    log-likelihood (or half the REML criterion) with its gradient at any others.
    """

    family: FamilyName
    log_likelihood: float
    coefficients: Floats
    names: tuple[str, ...]
    covariance: Floats
    """Of the coefficients: from the Hessian over all parameters; for measured answers given theta (as lmer's)."""
    thresholds: Floats
    categories: NDArray[Any]
    covariances: dict[str, Floats]
    random_names: dict[str, tuple[str, ...]]
    effects: dict[str, Floats]
    """The modes b of each factor, levels x effects."""
    levels: dict[str, NDArray[Any]]
    residual_variance: float
    """NaN but for measured answers."""
    n: int
    theta: Floats
    """The elements of Lambda, the factor of the covariances (for measured answers relative to the residual)."""
    parameters: Floats
    parameter_names: tuple[str, ...]
    hessian: Floats
    parameter_covariance: Floats
    convergence: MixedConvergence
    notes: tuple[Message, ...]
    singular_terms: tuple[bool, ...]
    """For each term, whether its covariance is singular."""
    terms: tuple[RandomTerm, ...] = field(repr=False)
    factors: tuple[Floats, ...] = field(repr=False)
    """Lambda of each term, in units of its columns."""
    objective: LaplaceObjective | GaussianMixedObjective = field(repr=False)
    modes: Sides = field(repr=False)
    reml: bool = False
    log: tuple[Message, ...] = ()
    """What `simplify` left out."""

    @property
    def converged(self) -> bool:
        """Whether the search ended in a maximum, verified by gradient and Hessian."""
        return self.convergence.converged

    @property
    def singular(self) -> bool:
        """Whether the covariance of any term is singular."""
        return any(self.singular_terms)

    @property
    def standard_errors(self) -> Floats:
        """One for each coefficient."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def summary(self) -> tuple[Message, ...]:
        """What was fitted, and how the search ended."""
        parts = [
            Message("fit.deviation", {"effect": name, "group": group, "value": significant(np.sqrt(variance))})
            for group, matrix in self.covariances.items()
            for name, variance in zip(self.random_names[group], np.diag(matrix), strict=True)
        ]
        if self.family == "gaussian":
            parts.append(Message("fit.residual", {"value": significant(np.sqrt(self.residual_variance))}))
        values = {
            "n": self.n, "kind": family_message(self.family), "deviations": parts,
            "groups": [Message("fit.levels", {"n": len(own), "group": group}) for group, own in self.levels.items()],
            "value": self.log_likelihood,
        }  # fmt: skip
        first = Message("fit.mixed_reml", values) if self.reml else Message("fit.mixed", values)
        return first, self.convergence.message

    def __str__(self) -> str:
        return " ".join(map(str, (*self.summary, *self.notes, *self.log)))


def describe(
    problem: MixedProblem,
    objective: LaplaceObjective | GaussianMixedObjective,
    found: Found,
    transform: Floats,
    blocks: Sequence[tuple[int, RandomBlock]],
    labels: tuple[str, ...],
) -> MixedFit:
    """The result of a search; `transform` turns its parameters into those of the caller's columns."""
    parameters = transform @ found.parameters
    back = np.linalg.inv(transform)
    hessian, covariance = back.T @ found.hessian @ back, transform @ found.covariance @ transform.T
    at = objective(parameters)
    if at is None:
        raise ArithmeticError("The likelihood cannot be computed at the end of the search. Rescale the columns.")
    columns = problem.design.shape[1]
    residual, thresholds = np.nan, np.empty(0)
    if isinstance(at, GaussianMixedEvaluation):
        coefficients, residual, theta = at.coefficients, at.residual_variance, parameters
        of_coefficients = residual * at.unscaled_covariance
    else:
        coefficients, thresholds, theta = np.split(
            parameters, [columns, len(parameters) - sum(block.size for _, block in blocks)]
        )
        of_coefficients = covariance[:columns, :columns]
    scale = residual if problem.family == "gaussian" else 1.0
    own = {block.term: (parameters[start : start + block.size], block) for start, block in blocks}
    lower = [_whole(own[number][1], own[number][0]) for number in range(len(problem.terms))]
    factors = [sizes(term)[:, None] * one for term, one in zip(problem.terms, lower, strict=True)]
    covariances, random_names = _by_group(problem.terms, [scale * one @ one.T for one in lower])
    effects, levels = _effects(problem.terms, objective, theta, at.modes)
    said = [singular_directions(term, factor) for term, factor in zip(problem.terms, factors, strict=True)]
    convergence = found.convergence
    separated = (
        [] if problem.family == "gaussian" else separated_answers(problem, coefficients, found, transform, factors)
    )
    if not isinstance(at, GaussianMixedEvaluation) and not at.found:
        convergence = replace(convergence, converged=False, reason=Message("fit.reason_modes"))
    confounded = [
        group for side in objective.crossing.sides for group in undetermined(side, problem.family == "gaussian")
    ]
    if confounded:
        reason = Message("fit.reason_covariances", {"groups": confounded})
        convergence = replace(convergence, converged=False, reason=reason)
    if separated:
        reason = Message("fit.reason_separated")
        convergence = replace(convergence, converged=False, reason=reason)
        covariance, of_coefficients = np.full_like(covariance, np.nan), np.full_like(of_coefficients, np.nan)
    notes = [sentence for sentences in said for sentence in sentences] + separated
    notes += single_answers(problem) + same_answers(problem)
    return MixedFit(
        problem.family, -at.value, coefficients, problem.names, of_coefficients, thresholds, problem.categories,
        covariances, random_names, effects, levels, float(residual), len(problem.response), theta, parameters, labels,
        hessian, covariance, convergence, tuple(notes), tuple(bool(sentences) for sentences in said), problem.terms,
        tuple(factors), objective, at.modes, problem.reml,
    )  # fmt: skip


def _whole(block: RandomBlock, theta: Floats) -> Floats:
    """Lambda of a term's own columns: those that share a variance have a number each."""
    return block.factor(theta) if len(block.names) == block.width else theta[0] * np.eye(len(block.names))


def _by_group(
    terms: Sequence[RandomTerm], matrices: Sequence[Floats]
) -> tuple[dict[str, Floats], dict[str, tuple[str, ...]]]:
    groups = list(dict.fromkeys(term.group for term in terms))
    covariances = {
        group: np.asarray(block_diag(*(one for term, one in zip(terms, matrices, strict=True) if term.group == group)))
        for group in groups
    }
    names = {group: tuple(name for term in terms if term.group == group for name in term.names) for group in groups}
    return covariances, names


def _effects(
    terms: Sequence[RandomTerm], objective: LaplaceObjective | GaussianMixedObjective, theta: Floats, modes: Sides
) -> tuple[dict[str, Floats], dict[str, NDArray[Any]]]:
    """b = Lambda u by grouping factor; levels of nested factors find theirs on the side of the outer one."""
    by_term: dict[int, Floats] = {}
    crossing = objective.crossing
    for side, factor, mode in zip(crossing.sides, crossing.factors(theta), modes, strict=True):
        for block in side.blocks:
            by_term[block.term] = _of_term(side, block, terms[block.term], mode @ factor.T)
    effects: dict[str, Floats] = {}
    for number, term in enumerate(terms):
        before = [effects[term.group]] if term.group in effects else []
        effects[term.group] = np.column_stack([*before, by_term[number]])
    return effects, {term.group: term.levels for term in terms}


def _of_term(side: Side, block: RandomBlock, term: RandomTerm, effects: Floats) -> Floats:
    q = len(term.names)
    if block.repeat is None:
        return effects[:, block.first : block.first + q]
    of_level = np.zeros((len(term.levels), q))
    for k in range(q):
        of_level[term.codes, k] = effects[side.codes, block.first + block.repeat * q + k]
    return of_level
