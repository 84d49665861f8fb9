"""Random-effect terms: which effects vary between the levels of a grouping factor, and how they covary.

A term such as (1 + x | participant) gives every participant a vector b of effects, one for each column z of the term,
and adds z'b to the linear predictor. b ~ N(0, Sigma), where Sigma is

- full: any covariance matrix, as lme4's (1 + x | participant);
- diagonal: effects do not correlate, as (1 + x || participant);
- shared: effects do not correlate and have one variance. With indicators of the rounds as columns that is the term
  (1 | participant:round), kept on the participant's side.

A side of the model is a grouping factor with all the effects that belong to it, of participants, say, or of items.
Terms of the same factor stand side by side. A factor that is nested in another (participant:round in
participant) moves to the other's side: the effects of a level of the inner factor become one of several blocks of the
outer level, all with the same covariance. What remains are crossed factors: as a rule one or two, seldom more.

Effects are b = Lambda(theta) u with u ~ N(0, I). Lambda has a lower triangle for every term with full covariance and
a diagonal for others, repeated along the diagonal for nested terms; its entries are the elements of theta, by columns
as lme4 orders them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.linalg import block_diag

from karat.messages import Message
from karat.types import Bools, Floats, Ints

Covariance = Literal["full", "diagonal", "shared"]
INTERCEPT = "(Intercept)"


@dataclass(frozen=True)
class RandomTerm:
    """The effects of one grouping factor: `codes` number the level of each row, `columns` has a row for each too."""

    group: str
    codes: Ints
    levels: NDArray[Any]
    columns: Floats
    names: tuple[str, ...]
    covariance: Covariance = "full"

    def __post_init__(self) -> None:
        """Check that rows, columns and names belong together."""
        codes, columns = self.codes, self.columns
        if codes.ndim != 1 or codes.dtype.kind not in "iu" or columns.ndim != 2 or len(columns) != len(codes):
            raise ValueError(
                f"The term of {self.group} needs a whole number (its level) and a row of columns for every answer."
            )
        if len(self.names) != columns.shape[1] or not self.names:
            raise ValueError(
                f"The term of {self.group} has {columns.shape[1]} columns and {len(self.names)} names; "
                "it needs a name for each of at least one column."
            )
        if not np.all(np.isfinite(columns)):
            raise ValueError(f"The columns of the term of {self.group} have missing values. Leave those rows out.")
        if not np.all(np.any(columns != 0, axis=0)):
            raise ValueError(f"A column of the term of {self.group} is zero throughout. Leave it out.")
        if len(codes) and (codes.min() < 0 or codes.max() >= len(self.levels)):
            raise ValueError(f"The codes of {self.group} must lie between 0 and the number of its levels minus one.")
        if self.covariance not in ("full", "diagonal", "shared"):
            raise ValueError(f'The covariance of a term is "full", "diagonal" or "shared", not {self.covariance!r}.')
        if len(self.levels) < 2:
            raise ValueError(Message("models.one_level", {"group": self.group}))

    def __str__(self) -> str:
        inner = " + ".join("1" if name == INTERCEPT else name for name in self.names)
        if INTERCEPT not in self.names:
            inner = f"0 + {inner}"
        if self.covariance == "shared" and len(self.names) > 1:
            return f"(one variance for {', '.join(self.names)} | {self.group})"
        bar = "||" if self.covariance == "diagonal" and len(self.names) > 1 else "|"
        return f"({inner} {bar} {self.group})"

    def only(self, keep: list[int], covariance: Covariance) -> RandomTerm:
        """The term with some of its columns."""
        names = tuple(self.names[k] for k in keep)
        return RandomTerm(self.group, self.codes, self.levels, self.columns[:, keep], names, covariance)


def random_term(
    group: str,
    values: ArrayLike,
    columns: ArrayLike | None = None,
    names: tuple[str, ...] = (INTERCEPT,),
    covariance: Covariance = "full",
) -> RandomTerm:
    """A term from the level of each row as it is spelt; without columns, a random intercept.

    >>> term = random_term("participant", ["ann", "bob", "ann"])
    >>> term.codes.tolist(), term.levels.tolist(), str(term)
    ([0, 1, 0], ['ann', 'bob'], '(1 | participant)')
    """
    levels, codes = np.unique(np.asarray(values), return_inverse=True)
    inner = np.ones((len(codes), 1)) if columns is None else np.asarray(columns, dtype=np.float64)
    return RandomTerm(group, codes.astype(np.int64), levels, inner, names, covariance)


def within(inner: Ints, outer: Ints) -> Ints | None:
    """For each row, the number of its inner level among those of its outer level; None where it is not nested."""
    pairs = np.unique(np.column_stack([outer, inner]), axis=0)
    if len(np.unique(pairs[:, 1])) < len(pairs):
        return None
    starts = np.searchsorted(pairs[:, 0], pairs[:, 0])
    rank = np.zeros(int(inner.max()) + 1, dtype=np.int64)
    rank[pairs[:, 1]] = np.arange(len(pairs)) - starts
    return rank[inner]


@dataclass(frozen=True)
class RandomBlock:
    """A term's place on its side: `repeats` blocks of `width` columns, from column `first`."""

    term: int
    group: str
    names: tuple[str, ...]
    width: int
    repeats: int
    full: bool
    first: int
    repeat: Ints | None
    """For nested terms, which of the blocks each row belongs to."""

    @property
    def size(self) -> int:
        """How many elements of theta it has."""
        return self.width * (self.width + 1) // 2 if self.full else self.width

    @property
    def entries(self) -> tuple[Ints, Ints]:
        """Rows and columns of the elements of theta in one block."""
        if not self.full:
            return np.arange(self.width), np.arange(self.width)
        column, row = np.triu_indices(self.width)
        return row, column

    def factor(self, theta: Floats) -> Floats:
        """Lambda of one block."""
        lower = np.zeros((self.width, self.width))
        lower[self.entries] = theta
        return lower


@dataclass(frozen=True)
class Side:
    """One grouping factor: the level of each row, the columns of all its effects and their terms."""

    codes: Ints
    groups: int
    columns: Floats
    """Effects x rows."""
    blocks: tuple[RandomBlock, ...]

    @property
    def effects(self) -> int:
        """How many effects a level has."""
        return len(self.columns)

    @property
    def size(self) -> int:
        """How many elements of theta."""
        return sum(block.size for block in self.blocks)

    @cached_property
    def pattern(self) -> tuple[Ints, Ints, Ints]:
        """Rows, columns and elements of theta: Lambda[row, column] = theta[element]."""
        rows, columns, elements, before = [], [], [], 0
        for block in self.blocks:
            row, column = block.entries
            for repeat in range(block.repeats):
                shift = block.first + repeat * block.width
                rows.append(row + shift)
                columns.append(column + shift)
                elements.append(before + np.arange(block.size))
            before += block.size
        if not rows:
            return (np.empty(0, dtype=np.int64),) * 3
        return np.concatenate(rows), np.concatenate(columns), np.concatenate(elements)

    def factor(self, theta: Floats) -> Floats:
        """Lambda."""
        row, column, element = self.pattern
        matrix = np.zeros((self.effects, self.effects))
        matrix[row, column] = theta[element]
        return matrix

    def by_theta(self, by_factor: Floats) -> Floats:
        """The derivative in theta from that in Lambda."""
        row, column, element = self.pattern
        return np.bincount(element, by_factor[row, column], self.size).astype(np.float64)

    @cached_property
    def products(self) -> list[tuple[int, int, Floats]]:
        """Products of two columns, lower triangle, without those that are zero in every row."""
        pairs = []
        for k in range(self.effects):
            for j in range(k + 1):
                if k != j and self._apart(k, j):
                    continue
                product = self.columns[k] * self.columns[j]
                if product.any():
                    pairs.append((k, j, product))
        return pairs

    def _apart(self, k: int, j: int) -> bool:
        """Whether two columns belong to different repeats of a nested term, which have no row in common."""
        for block in self.blocks:
            inside = [block.first <= one < block.first + block.width * block.repeats for one in (k, j)]
            if all(inside) and block.repeat is not None:
                q = len(block.names)
                return (k - block.first) // q != (j - block.first) // q
        return False

    @cached_property
    def matrix(self) -> Any:
        """Z: rows x (groups and effects), sparse."""
        rows = np.arange(len(self.codes))
        return gathered(
            [(rows, self.codes * self.effects + k, column) for k, column in enumerate(self.columns)],
            (len(rows), self.groups * self.effects),
        )

    @cached_property
    def squares(self) -> Any:
        """What makes Z'WZ of weights: (groups, effects and effects) x rows, sparse."""
        rows, width = np.arange(len(self.codes)), self.effects
        parts = []
        for k, j, product in self.products:
            for one, other in {(k, j), (j, k)}:
                parts.append(((self.codes * width + one) * width + other, rows, product))
        return gathered(parts, (self.groups * width * width, len(rows)))

    def totals(self, values: Floats) -> Floats:
        """Z'values: groups x effects."""
        return np.asarray((self.matrix.T @ values).reshape(self.groups, self.effects))

    def curvature(self, weight: Floats) -> Floats:
        """Z'WZ: groups x effects x effects."""
        return np.asarray((self.squares @ weight).reshape(self.groups, self.effects, self.effects))

    def spread(self, covariance: Floats) -> Floats:
        """z'Kz of every row, for a symmetric matrix K of every group."""
        return np.asarray(self._spreading @ covariance.ravel())

    @cached_property
    def _spreading(self) -> Any:
        return self.squares.T.tocsr()

    @cached_property
    def bases(self) -> tuple[Floats, ...]:
        """For each term a lower triangle A: the columns Z A are alike in size and, with full covariance, orthogonal.

        Lambda keeps its form: that of the columns Z is A times that of Z A. So a covariate far from zero does no harm.
        """
        found = []
        for block in self.blocks:
            stack = self.stack(block)
            gram = np.einsum("rkn,rln->kl", stack, stack) / np.count_nonzero(stack.any(axis=1))
            size = np.sqrt(np.diag(gram))
            values, vectors = np.linalg.eigh(gram / np.outer(size, size))
            if block.full and values[0] > 1e-12:
                inverse = (vectors / values) @ vectors.T / np.outer(size, size)
                found.append(np.linalg.cholesky(inverse))
            else:
                found.append(np.diag(1 / size))
        return tuple(found)

    def stack(self, block: RandomBlock) -> Floats:
        """The columns of a term: repeats x width x rows."""
        last = block.first + block.width * block.repeats
        return self.columns[block.first : last].reshape(block.repeats, block.width, -1)

    def based(self) -> Side:
        """The side with its columns in their bases."""
        if all(np.array_equal(base, np.eye(len(base))) for base in self.bases):
            return self
        stacks = [
            np.einsum("kl,rkn->rln", base, self.stack(block))
            for base, block in zip(self.bases, self.blocks, strict=True)
        ]
        columns = np.concatenate([stack.reshape(-1, len(self.codes)) for stack in stacks])
        return Side(self.codes, self.groups, np.ascontiguousarray(columns), self.blocks)

    def without(self, rows: Bools, group: int | None) -> Side:
        """The side of some rows alone, without one of its levels where that is named; its terms must not be nested."""
        codes, columns = self.codes[rows], np.ascontiguousarray(self.columns[:, rows])
        if group is None:
            return Side(codes, self.groups, columns, self.blocks)
        return Side(codes - (codes > group), self.groups - 1, columns, self.blocks)

    def theta_transform(self) -> Floats:
        """The matrix that turns theta of the based side into that of this side."""
        parts = []
        for base, block in zip(self.bases, self.blocks, strict=True):
            row, column = block.entries
            parts.append(base[np.ix_(row, row)] * (column[:, None] == column))
        return np.asarray(block_diag(*parts)) if parts else np.empty((0, 0))


def gathered(parts: Sequence[tuple[Ints, Ints, Floats]], shape: tuple[int, int]) -> Any:
    """A sparse matrix from rows, columns and values, without zeros.

    >>> one, other = np.array([0, 1]), np.array([1, 1])
    >>> gathered([(one, other, np.array([2.0, 0.0]))], (2, 2)).toarray().tolist()
    [[0.0, 2.0], [0.0, 0.0]]
    """
    rows, columns, values = (np.concatenate([part[k] for part in parts]) if parts else np.empty(0) for k in range(3))
    some = values != 0
    return sparse.csr_array((values[some], (rows[some].astype(np.int64), columns[some].astype(np.int64))), shape=shape)


def no_side(rows: int) -> Side:
    """A side without effects, for models of one grouping factor: a single level whose one column is zero."""
    return Side(np.zeros(rows, dtype=np.int64), 1, np.zeros((1, rows)), ())


def sides(terms: Sequence[RandomTerm]) -> tuple[Side, ...]:
    """Gather terms by grouping factor, into two sides or more; of several, nested factors join their outer ones."""
    members: dict[str, list[int]] = {}
    for number, term in enumerate(terms):
        members.setdefault(term.group, []).append(number)
        if not np.array_equal(terms[members[term.group][0]].codes, term.codes):
            raise ValueError(f"Two terms of {term.group} number its levels differently.")
    repeat: dict[int, Ints] = {}
    while len(members) > 2 and (nested := _closest(members, terms)) is not None:
        inner, outer = nested
        codes = terms[members[outer][0]].codes
        for number in members.pop(inner):
            # What is nested in the inner factor is nested in the outer one.
            repeat[number] = cast(Ints, within(terms[number].codes, codes))
            members[outer].append(number)
    found = [_side([(number, terms[number]) for number in numbers], repeat) for numbers in members.values()]
    return tuple(found) if len(found) > 1 else (found[0], no_side(len(terms[0].codes)))


def _closest(members: dict[str, list[int]], terms: Sequence[RandomTerm]) -> tuple[str, str] | None:
    """The factor with the fewest levels within a level of another, and that other; None where all are crossed."""
    found = []
    for inner, (first, *_) in members.items():
        for outer, (other, *_) in members.items():
            nested = within(terms[first].codes, terms[other].codes) if inner != outer else None
            if nested is not None:
                found.append((int(nested.max()), inner, outer))
    if not found:
        return None
    _, inner, outer = min(found)
    return inner, outer


def _side(numbered: list[tuple[int, RandomTerm]], repeat: dict[int, Ints]) -> Side:
    outer = numbered[0][1]
    columns, blocks, first = [], [], 0
    for number, term in numbered:
        nested = repeat.get(number)
        q = len(term.names)
        shared = term.covariance == "shared" and q > 1
        width, repeats = (1, q) if shared else (q, 1)
        if nested is not None:
            times = int(nested.max()) + 1
            inside = nested == np.arange(times)[:, None]
            columns.append((inside[:, None, :] * term.columns.T).reshape(times * q, -1))
            repeats *= times
        else:
            columns.append(term.columns.T)
        full = term.covariance == "full" and q > 1
        blocks.append(RandomBlock(number, term.group, term.names, width, repeats, full, first, nested))
        first += width * repeats
    stacked = np.ascontiguousarray(np.concatenate(columns), dtype=np.float64)
    return Side(outer.codes, len(outer.levels), stacked, tuple(blocks))
