"""What a mixed model is fitted to: answers, design and terms, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat.messages import Message
from karat.models.glrm.families import BinaryFamily, Family, FamilyName, OrdinalFamily
from karat.models.glrm.terms import RandomTerm
from karat.types import Floats


@dataclass(frozen=True)
class MixedProblem:
    """What is fitted, checked."""

    response: NDArray[Any]
    """Category numbers, or measured values without the offset."""
    categories: NDArray[Any]
    design: Floats
    names: tuple[str, ...]
    terms: tuple[RandomTerm, ...]
    family: FamilyName
    reml: bool
    offset: Floats

    def likelihood(self) -> Family:
        """The family of the answers."""
        if self.family == "binary":
            return BinaryFamily(2.0 * self.response - 1)
        return OrdinalFamily(self.response, len(self.categories))


def check(
    response: ArrayLike,
    design: ArrayLike,
    names: Sequence[str],
    terms: Sequence[RandomTerm],
    family: FamilyName,
    reml: bool,
    offset: ArrayLike | None,
) -> MixedProblem:
    """Check the arrays; every error says what to mend."""
    if family not in ("binary", "ordinal", "gaussian"):
        raise ValueError(f'The family of a mixed model is "binary", "ordinal" or "gaussian", not {family!r}.')
    if reml and family != "gaussian":
        raise ValueError(f"REML is for measured answers; a {family} model is fitted by maximum likelihood.")
    answers, x = np.asarray(response), np.asarray(design, dtype=np.float64)
    _check_rows(answers, x, names, terms)
    _check_rank(x, names, family)
    moved = np.zeros(len(answers)) if offset is None else np.asarray(offset, dtype=np.float64)
    if moved.shape != answers.shape or not np.all(np.isfinite(moved)):
        raise ValueError("offset must have a finite number for every answer.")
    if family == "gaussian":
        values = answers.astype(np.float64) - moved
        return MixedProblem(values, np.empty(0), x, tuple(names), tuple(terms), family, reml, moved)
    categories, number = np.unique(answers, return_inverse=True)
    if len(categories) < 2:
        raise ValueError(Message("models.same_answers"))
    if family == "binary" and len(categories) > 2:
        raise ValueError(Message("models.two_values", {"n": len(categories)}))
    return MixedProblem(number, categories, x, tuple(names), tuple(terms), family, reml, moved)


def _check_rows(answers: NDArray[Any], x: Floats, names: Sequence[str], terms: Sequence[RandomTerm]) -> None:
    """Everything has a row for every answer, and nothing is missing."""
    if answers.ndim != 1 or not len(answers):
        raise ValueError("response must be one-dimensional, with an answer at least.")
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
    """Every column must tell something that the columns before it do not."""
    if family == "gaussian" and not x.shape[1]:
        raise ValueError("The design of measured answers needs a column at least, as a rule an intercept.")
    before = np.ones((len(x), 1)) if family == "ordinal" else np.empty((len(x), 0))
    whole = np.column_stack([before, x])
    size = np.sqrt((whole**2).sum(axis=0))
    triangle = np.abs(np.diag(np.linalg.qr(whole / np.where(size > 0, size, 1.0), mode="r")))
    extra = whole.shape[1] - x.shape[1]
    for column, name in enumerate(names):
        if len(triangle) <= column + extra or triangle[column + extra] < 1e-7:
            also = ", or from the thresholds, which take the place of an intercept" if extra else ""
            raise ValueError(f"Column {name} of the design follows from those before it{also}. Leave it out.")
