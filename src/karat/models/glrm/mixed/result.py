"""The checked data of a mixed model and the fitted model, in the units of the caller's columns.

A fit of yes-or-no or ordered answers warns of separation and of levels with little information. If a column of the
design, or a combination of columns, separates the answers without error, the likelihood has no maximum: it rises as the
coefficients grow. The search then ends with predictors that are large and uncertain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import block_diag

from karat.messages import Message
from karat.models.glrm.blocks import Sides
from karat.models.glrm.families import (
    BinaryFamily,
    Family,
    FamilyName,
    Link,
    LinkedBinary,
    LinkedOrdinal,
    OrdinalFamily,
    family_message,
)
from karat.models.glrm.mixed.gaussian import GaussianEvaluation, GaussianObjective
from karat.models.glrm.mixed.laplace import LaplaceObjective, unidentified
from karat.models.glrm.mixed.search import SearchOutcome, singular_directions
from karat.models.glrm.mixed.terms import RandomBlock, RandomTerm, Side
from karat.models.glrm.optimise import Convergence, Estimated
from karat.models.numerics import significant
from karat.types import Floats


@dataclass(frozen=True)
class MixedFit(Estimated):
    """A fitted mixed model. Covariances and effects are in units of the linear predictor, by grouping factor.

    `parameters` are the coefficients, thresholds and theta (theta alone for measured answers), with the names
    `parameter_names`, the Hessian `hessian` and the covariance `parameter_covariance`. `objective(parameters)` returns
    the negative log-likelihood (or half the REML criterion) with its gradient at any parameters.
    """

    family: FamilyName
    log_likelihood: float
    coefficients: Floats
    names: tuple[str, ...]
    covariance: Floats
    """That of the coefficients, from the Hessian in all parameters; for measured answers given theta, as in lmer."""
    thresholds: Floats
    categories: NDArray[Any]
    covariances: dict[str, Floats]
    random_names: dict[str, tuple[str, ...]]
    effects: dict[str, Floats]
    """The modes b of each factor, levels x effects."""
    levels: dict[str, NDArray[Any]]
    residual_variance: float
    """NaN except for measured answers."""
    n: int
    theta: Floats
    """The elements of Lambda, the factor of the covariances (for measured answers relative to the residual)."""
    parameters: Floats
    parameter_names: tuple[str, ...]
    hessian: Floats
    parameter_covariance: Floats
    convergence: Convergence
    notes: tuple[Message, ...]
    singular_terms: tuple[bool, ...]
    """For each term, whether its covariance is singular."""
    terms: tuple[RandomTerm, ...] = field(repr=False)
    factors: tuple[Floats, ...] = field(repr=False)
    """Lambda of each term, in units of its columns."""
    objective: LaplaceObjective | GaussianObjective = field(repr=False)
    modes: Sides = field(repr=False)
    reml: bool = False
    log: tuple[Message, ...] = ()
    """Messages about what `simplify` removed."""

    @property
    def singular(self) -> bool:
        """Whether the covariance of any term is singular."""
        return any(self.singular_terms)

    @property
    def standard_errors(self) -> Floats:
        """The standard error of each coefficient."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def summary(self) -> tuple[Message, ...]:
        """The model and how the search ended."""
        parts = [
            Message("fit.deviation", {"effect": name, "group": group, "value": significant(np.sqrt(variance))})
            for group, matrix in self.covariances.items()
            for name, variance in zip(self.random_names[group], np.diag(matrix), strict=True)
        ]
        if self.family == "gaussian":
            parts.append(Message("fit.residual", {"value": significant(np.sqrt(self.residual_variance))}))
        values = {
            "n": self.n, "kind": family_message(self.family), "deviations": parts,
            "groups": [Message("fit.levels", {"n": len(names), "group": key}) for key, names in self.levels.items()],
            "value": self.log_likelihood,
        }  # fmt: skip
        first = Message("fit.mixed_reml", values) if self.reml else Message("fit.mixed", values)
        return first, self.convergence.message

    def __str__(self) -> str:
        return " ".join([super().__str__(), *map(str, self.log)])


def describe(
    problem: MixedProblem,
    objective: LaplaceObjective | GaussianObjective,
    outcome: SearchOutcome,
    transform: Floats,
    blocks: Sequence[tuple[int, RandomBlock]],
    labels: tuple[str, ...],
    modes: Sides | None = None,
) -> MixedFit:
    """The fit from the outcome of a search; `transform` converts its parameters to those of the caller's columns.

    `modes` are those of the search if its random effects have the caller's columns.
    """
    parameters = transform @ outcome.parameters
    back = np.linalg.inv(transform)
    hessian, covariance = back.T @ outcome.hessian @ back, transform @ outcome.covariance @ transform.T
    at = objective(parameters, modes)
    if at is None:
        raise ArithmeticError("The likelihood cannot be computed at the end of the search. Rescale the columns.")
    columns = problem.design.shape[1]
    residual, thresholds = np.nan, np.empty(0)
    if isinstance(at, GaussianEvaluation):
        coefficients, residual, theta = at.coefficients, at.residual_variance, parameters
        of_coefficients = residual * at.unscaled_covariance
    else:
        coefficients, thresholds, theta = np.split(
            parameters, [columns, len(parameters) - sum(block.size for _, block in blocks)]
        )
        of_coefficients = covariance[:columns, :columns]
    scale = residual if problem.family == "gaussian" else 1.0
    parts = {block.term: (parameters[start : start + block.size], block) for start, block in blocks}
    lower = [_full_factor(parts[number][1], parts[number][0]) for number in range(len(problem.terms))]
    factors = [sizes(term)[:, None] * matrix for term, matrix in zip(problem.terms, lower, strict=True)]
    covariances, random_names = _by_group(problem.terms, [scale * matrix @ matrix.T for matrix in lower])
    effects, levels = _effects(problem.terms, objective, theta, at.modes)
    term_messages = [singular_directions(term, factor) for term, factor in zip(problem.terms, factors, strict=True)]
    convergence = outcome.convergence
    separated = (
        [] if problem.family == "gaussian" else separated_answers(problem, coefficients, outcome, transform, factors)
    )
    if not isinstance(at, GaussianEvaluation) and not at.converged:
        convergence = replace(convergence, converged=False, reason=Message("fit.reason_modes"))
    confounded = [
        group for side in objective.crossing.sides for group in unidentified(side, problem.family == "gaussian")
    ]
    if confounded:
        reason = Message("fit.reason_covariances", {"groups": confounded})
        convergence = replace(convergence, converged=False, reason=reason)
    if separated:
        convergence = replace(convergence, converged=False, reason=Message("fit.reason_separated"))
        covariance, of_coefficients = np.full_like(covariance, np.nan), np.full_like(of_coefficients, np.nan)
    notes = [message for messages in term_messages for message in messages] + separated
    notes += single_answers(problem) + same_answers(problem)
    return MixedFit(
        problem.family, -at.value, coefficients, problem.names, of_coefficients, thresholds, problem.categories,
        covariances, random_names, effects, levels, float(residual), len(problem.response), theta, parameters, labels,
        hessian, covariance, convergence, tuple(notes), tuple(map(bool, term_messages)), problem.terms, tuple(factors),
        objective, at.modes, problem.reml,
    )  # fmt: skip


def _full_factor(block: RandomBlock, theta: Floats) -> Floats:
    """Lambda of all columns of a term; columns with a shared variance get equal entries."""
    return block.factor(theta) if len(block.names) == block.width else theta[0] * np.eye(len(block.names))


def _by_group(
    terms: Sequence[RandomTerm], matrices: Sequence[Floats]
) -> tuple[dict[str, Floats], dict[str, tuple[str, ...]]]:
    groups = list(dict.fromkeys(term.group for term in terms))
    covariances = {
        group: np.asarray(
            block_diag(*(part for term, part in zip(terms, matrices, strict=True) if term.group == group))
        )
        for group in groups
    }
    names = {group: tuple(name for term in terms if term.group == group for name in term.names) for group in groups}
    return covariances, names


def _effects(
    terms: Sequence[RandomTerm], objective: LaplaceObjective | GaussianObjective, theta: Floats, modes: Sides
) -> tuple[dict[str, Floats], dict[str, NDArray[Any]]]:
    """b = Lambda u by grouping factor; those of nested factors come from the side of the outer one."""
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


EXTREME = 10.0
"""Logits this large, with errors this large, are a sign of separation."""
TINY = 1e-14
"""Smaller eigenvalues of the information count as zero."""
VAST = 25.0
"""A deviation of effects this large, in logits, is a sign of separation too."""


def separated_answers(
    problem: MixedProblem, coefficients: Floats, outcome: SearchOutcome, transform: Floats, factors: Sequence[Floats]
) -> list[Message]:
    """Messages about coefficients and deviations that grow without bound.

    The criterion is the predictor of a row, because the coefficient of a column far from zero can be large and
    uncertain without separation. Errors come from the information, since the steps of differences, which are in
    standard errors, would be too long here.
    """
    messages = []
    columns = len(coefficients)
    centre = np.where(np.ptp(problem.design, axis=0) > 0, problem.design.mean(axis=0), 0.0)
    x = problem.design - centre if problem.family == "ordinal" else problem.design
    information = outcome.at.information()
    fixed = columns + (len(problem.categories) - 1) * (problem.family == "ordinal")
    values, vectors = np.linalg.eigh(information[:fixed, :fixed])
    root = transform[:columns, :columns] @ (vectors / np.sqrt(np.maximum(values, TINY)))[:columns]
    errors = np.sqrt(((x @ root) ** 2).sum(axis=1))
    if np.any((np.abs(x @ coefficients) > EXTREME) & (errors > EXTREME)):
        wide = np.sqrt((root**2).sum(axis=1)) * np.abs(problem.design - centre).max(axis=0) > EXTREME
        names = [name for name, separating in zip(problem.names, wide | ~wide.any(), strict=True) if separating]
        messages.append(Message("fit.separated", {"names": names, "n": len(names)}))
    for term, factor in zip(problem.terms, factors, strict=True):
        deviations = np.sqrt((((term.columns / sizes(term)) @ factor) ** 2).sum(axis=1))
        if np.median(deviations) > VAST:
            messages.append(Message("fit.unbounded_effects", {"group": term.group}))
    return messages


def single_answers(problem: MixedProblem) -> list[Message]:
    """Messages about terms with a level for every answer."""
    if problem.family == "gaussian":
        return []
    return [
        Message("fit.one_answer_per_level", {"group": term.group})
        for term in problem.terms
        if np.bincount(term.codes).max() == 1
    ]


def same_answers(problem: MixedProblem) -> list[Message]:
    """Messages about levels with several answers that are all the same, by factor."""
    if problem.family == "gaussian":
        return []
    messages = []
    for group, term in {term.group: term for term in problem.terms}.items():
        counts = np.zeros((len(term.levels), len(problem.categories)), dtype=np.int64)
        np.add.at(counts, (term.codes, problem.response), 1)
        uniform = int(((counts > 0).sum(axis=1) == 1)[counts.sum(axis=1) > 1].sum())
        if uniform:
            messages.append(Message("fit.same_answers", {"n": uniform, "levels": len(term.levels), "group": group}))
    return messages


def sizes(term: RandomTerm) -> Floats:
    """The root mean square of each column over its nonzero rows."""
    return np.asarray(np.sqrt((term.columns**2).sum(axis=0) / np.count_nonzero(term.columns, axis=0)))


@dataclass(frozen=True)
class MixedProblem:
    """The checked data of a mixed model."""

    response: NDArray[Any]
    """Category numbers, or measured values minus the offset."""
    categories: NDArray[Any]
    design: Floats
    names: tuple[str, ...]
    terms: tuple[RandomTerm, ...]
    family: FamilyName
    reml: bool
    offset: Floats
    link: Link = "logit"

    def likelihood(self) -> Family:
        """The family of the answers."""
        if self.family == "binary":
            sign = 2.0 * self.response - 1
            return BinaryFamily(sign) if self.link == "logit" else LinkedBinary(sign, link=self.link)
        categories = len(self.categories)
        if self.link == "logit":
            return OrdinalFamily(self.response, categories)
        return LinkedOrdinal(self.response, categories, link=self.link)


def check(
    response: ArrayLike,
    design: ArrayLike,
    names: Sequence[str],
    terms: Sequence[RandomTerm],
    family: FamilyName,
    reml: bool,
    offset: ArrayLike | None,
    link: Link = "logit",
) -> MixedProblem:
    """Check the arrays; raise ValueError with what to fix."""
    if family not in get_args(FamilyName):
        raise ValueError(f'The family of a mixed model is "binary", "ordinal" or "gaussian", not {family!r}.')
    links = get_args(Link)
    if link not in links[: 1 if family == "gaussian" else None]:
        # Measured answers have the identity link, but the default is "logit".
        allowed = "no link" if family == "gaussian" else f"the link {', '.join(links[:-1])} or {links[-1]}"
        raise ValueError(f"The family {family} has {allowed}, not {link}.")
    if reml and family != "gaussian":
        raise ValueError(f"REML is for measured answers; a {family} model is fitted by maximum likelihood.")
    answers, x = np.asarray(response), np.asarray(design, dtype=np.float64)
    _check_rows(answers, x, names, terms)
    _check_rank(x, names, family)
    shift = np.zeros(len(answers)) if offset is None else np.asarray(offset, dtype=np.float64)
    if shift.shape != answers.shape or not np.all(np.isfinite(shift)):
        raise ValueError("offset must have a finite number for every answer.")
    if family == "gaussian":
        values = answers.astype(np.float64) - shift
        return MixedProblem(values, np.empty(0), x, tuple(names), tuple(terms), family, reml, shift)
    categories, number = np.unique(answers, return_inverse=True)
    if len(categories) < 2:
        raise ValueError(Message("models.same_answers"))
    if family == "binary" and len(categories) > 2:
        raise ValueError(Message("models.two_values", {"n": len(categories)}))
    return MixedProblem(number, categories, x, tuple(names), tuple(terms), family, reml, shift, link)


def _check_rows(answers: NDArray[Any], x: Floats, names: Sequence[str], terms: Sequence[RandomTerm]) -> None:
    """Raise ValueError unless everything has a row for every answer, without missing values."""
    if answers.ndim != 1 or not len(answers):
        raise ValueError("response must be one-dimensional, with at least one answer.")
    if answers.dtype.kind == "f" and not np.all(np.isfinite(answers)):
        raise ValueError("response has missing or infinite values. Leave those answers out.")
    if x.ndim != 2 or len(x) != len(answers) or not np.all(np.isfinite(x)):
        raise ValueError("design must have a row of finite numbers for every answer.")
    if len(names) != x.shape[1]:
        raise ValueError(f"design has {x.shape[1]} columns and {len(names)} names.")
    if not terms:
        raise ValueError("A mixed model needs a random-effect term.")
    if any(len(term.codes) != len(answers) for term in terms):
        raise ValueError("Every term must have a row for every answer.")


def _check_rank(x: Floats, names: Sequence[str], family: FamilyName) -> None:
    """Raise ValueError if a column depends on those before it."""
    if family == "gaussian" and not x.shape[1]:
        raise ValueError("The design of measured answers needs at least one column, usually an intercept.")
    before = np.ones((len(x), 1)) if family == "ordinal" else np.empty((len(x), 0))
    columns = np.column_stack([before, x])
    size = np.sqrt((columns**2).sum(axis=0))
    triangle = np.abs(np.diag(np.linalg.qr(columns / np.where(size > 0, size, 1.0), mode="r")))
    extra = columns.shape[1] - x.shape[1]
    for column, name in enumerate(names):
        if len(triangle) <= column + extra or triangle[column + extra] < 1e-7:
            thresholds = ", or from the thresholds, which take the place of an intercept" if extra else ""
            raise ValueError(f"Column {name} of the design follows from those before it{thresholds}. Leave it out.")
