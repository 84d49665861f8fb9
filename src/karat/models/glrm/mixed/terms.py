"""Random-effect terms: the effects that vary between the levels of a grouping factor, and their covariance.

A term such as (1 + x | participant) gives every participant a vector b of effects, one for each column z of the term,
and adds z'b to the linear predictor. b ~ N(0, Sigma), where Sigma is

- full: any covariance matrix, as lme4's (1 + x | participant);
- diagonal: effects are uncorrelated, as (1 + x || participant);
- shared: effects are uncorrelated and have one variance. With indicators of the rounds as columns this is the term
  (1 | participant:round), on the side of the participant.

A side of the model is a grouping factor, such as participants or items, with all its effects. Terms of the same factor
are on the same side. A factor that is nested in another (participant:round in participant) moves to the other's side:
the effects of each level of the inner factor become one of several blocks of the outer level, all with the same
covariance. The remaining factors are crossed; usually there are one or two.

Effects are b = Lambda(theta) u with u ~ N(0, I). Lambda has a lower triangle for every term with full covariance and a
diagonal for others, repeated along the diagonal for nested terms; its entries are the elements of theta, by column as
in lme4.
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
    """A term of one grouping factor, with the level number (`codes`) and the `columns` of each row."""

    group: str
    codes: Ints
    levels: NDArray[Any]
    columns: Floats
    names: tuple[str, ...]
    covariance: Covariance = "full"

    def __post_init__(self) -> None:
        """Raise ValueError if rows, columns and names do not match."""
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
        """The term with these columns only."""
        names = tuple(self.names[k] for k in keep)
        return RandomTerm(self.group, self.codes, self.levels, self.columns[:, keep], names, covariance)


def random_term(
    group: str,
    values: ArrayLike,
    columns: ArrayLike | None = None,
    names: tuple[str, ...] = (INTERCEPT,),
    covariance: Covariance = "full",
) -> RandomTerm:
    """A term from the name of the level of each row; without columns, a random intercept.

    >>> term = random_term("participant", ["ann", "bob", "ann"])
    >>> term.codes.tolist(), term.levels.tolist(), str(term)
    ([0, 1, 0], ['ann', 'bob'], '(1 | participant)')
    """
    levels, codes = np.unique(np.asarray(values), return_inverse=True)
    inner = np.ones((len(codes), 1)) if columns is None else np.asarray(columns, dtype=np.float64)
    return RandomTerm(group, codes.astype(np.int64), levels, inner, names, covariance)


def within(inner: Ints, outer: Ints) -> Ints | None:
    """For each row, the number of its inner level within its outer level, or None if the factor is not nested."""
    pairs = np.unique(np.column_stack([outer, inner]), axis=0)
    if len(np.unique(pairs[:, 1])) < len(pairs):
        return None
    starts = np.searchsorted(pairs[:, 0], pairs[:, 0])
    rank = np.zeros(int(inner.max()) + 1, dtype=np.int64)
    rank[pairs[:, 1]] = np.arange(len(pairs)) - starts
    return rank[inner]


@dataclass(frozen=True)
class RandomBlock:
    """The columns of a term on its side: `repeats` blocks of `width` columns, from column `first`."""

    term: int
    group: str
    names: tuple[str, ...]
    width: int
    repeats: int
    full: bool
    first: int
    repeat: Ints | None
    """For nested terms, the block of each row."""

    @property
    def size(self) -> int:
        """The number of elements of theta."""
        return self.width * (self.width + 1) // 2 if self.full else self.width

    @property
    def entries(self) -> tuple[Ints, Ints]:
        """The rows and columns of the elements of theta in one block."""
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
    """A grouping factor: the level of each row, the columns of all effects and their terms."""

    codes: Ints
    groups: int
    columns: Floats
    """Effects x rows."""
    blocks: tuple[RandomBlock, ...]

    @property
    def effects(self) -> int:
        """The number of effects per level."""
        return len(self.columns)

    @property
    def size(self) -> int:
        """The number of elements of theta."""
        return sum(block.size for block in self.blocks)

    @cached_property
    def pattern(self) -> tuple[Ints, Ints, Ints]:
        """The rows, columns and elements in Lambda[row, column] = theta[element]."""
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
        """The products of pairs of columns (the lower triangle), without those that are zero in every row."""
        pairs = []
        for k in range(self.effects):
            for j in range(k + 1):
                if k != j and self._are_disjoint(k, j):
                    continue
                product = self.columns[k] * self.columns[j]
                if product.any():
                    pairs.append((k, j, product))
        return pairs

    def _are_disjoint(self, k: int, j: int) -> bool:
        """Whether two columns belong to different blocks of a nested term, which have no row in common."""
        for block in self.blocks:
            inside = [block.first <= place < block.first + block.width * block.repeats for place in (k, j)]
            if all(inside) and block.repeat is not None:
                q = len(block.names)
                return (k - block.first) // q != (j - block.first) // q
        return False

    @cached_property
    def matrix(self) -> Any:
        """Z: rows x (groups and effects), sparse."""
        rows = np.arange(len(self.codes))
        return sparse_matrix(
            [(rows, self.codes * self.effects + k, column) for k, column in enumerate(self.columns)],
            (len(rows), self.groups * self.effects),
        )

    @cached_property
    def squares(self) -> Any:
        """The sparse map from weights to Z'WZ: (groups, effects and effects) x rows."""
        rows, width = np.arange(len(self.codes)), self.effects
        parts = []
        for k, j, product in self.products:
            for row, column in {(k, j), (j, k)}:
                parts.append(((self.codes * width + row) * width + column, rows, product))
        return sparse_matrix(parts, (self.groups * width * width, len(rows)))

    def totals(self, values: Floats) -> Floats:
        """Z'values: groups x effects."""
        return np.asarray((self.matrix.T @ values).reshape(self.groups, self.effects))

    def curvature(self, weight: Floats) -> Floats:
        """Z'WZ: groups x effects x effects."""
        return np.asarray((self.squares @ weight).reshape(self.groups, self.effects, self.effects))

    def spread(self, covariance: Floats) -> Floats:
        """z'Kz of every row, for a symmetric matrix K of every group."""
        return np.asarray(self._squares_transposed @ covariance.ravel())

    @cached_property
    def _squares_transposed(self) -> Any:
        return self.squares.T.tocsr()

    @cached_property
    def bases(self) -> tuple[Floats, ...]:
        """For each term a lower triangle A: the columns Z A have one size and, with full covariance, are orthogonal.

        Lambda keeps its form, because that of Z is A times that of Z A. This makes covariates far from zero harmless.
        """
        bases = []
        for block in self.blocks:
            stack = self.stack(block)
            gram = np.einsum("rkn,rln->kl", stack, stack) / np.count_nonzero(stack.any(axis=1))
            size = np.sqrt(np.diag(gram))
            values, vectors = np.linalg.eigh(gram / np.outer(size, size))
            if block.full and values[0] > 1e-12:
                inverse = (vectors / values) @ vectors.T / np.outer(size, size)
                bases.append(np.linalg.cholesky(inverse))
            else:
                bases.append(np.diag(1 / size))
        return tuple(bases)

    def stack(self, block: RandomBlock) -> Floats:
        """The columns of a term: repeats x width x rows."""
        last = block.first + block.width * block.repeats
        return self.columns[block.first : last].reshape(block.repeats, block.width, -1)

    def standardised(self) -> Side:
        """The side with the columns Z A of its bases."""
        if all(np.array_equal(base, np.eye(len(base))) for base in self.bases):
            return self
        stacks = [
            np.einsum("kl,rkn->rln", base, self.stack(block))
            for base, block in zip(self.bases, self.blocks, strict=True)
        ]
        columns = np.concatenate([stack.reshape(-1, len(self.codes)) for stack in stacks])
        return Side(self.codes, self.groups, np.ascontiguousarray(columns), self.blocks)

    def without(self, rows: Bools, group: int | None) -> Side:
        """The side with these rows only, and without the level `group` if given; its terms must not be nested."""
        codes, columns = self.codes[rows], np.ascontiguousarray(self.columns[:, rows])
        if group is None:
            return Side(codes, self.groups, columns, self.blocks)
        return Side(codes - (codes > group), self.groups - 1, columns, self.blocks)

    def theta_transform(self) -> Floats:
        """The matrix that converts theta of the standardised side to that of this side."""
        parts = []
        for base, block in zip(self.bases, self.blocks, strict=True):
            row, column = block.entries
            parts.append(base[np.ix_(row, row)] * (column[:, None] == column))
        return np.asarray(block_diag(*parts)) if parts else np.empty((0, 0))


def sparse_matrix(parts: Sequence[tuple[Ints, Ints, Floats]], shape: tuple[int, int]) -> Any:
    """A sparse matrix from rows, columns and values, without zeros.

    >>> rows, columns = np.array([0, 1]), np.array([1, 1])
    >>> sparse_matrix([(rows, columns, np.array([2.0, 0.0]))], (2, 2)).toarray().tolist()
    [[0.0, 2.0], [0.0, 0.0]]
    """
    rows, columns, values = (np.concatenate([part[k] for part in parts]) if parts else np.empty(0) for k in range(3))
    nonzero = values != 0
    return sparse.csr_array(
        (values[nonzero], (rows[nonzero].astype(np.int64), columns[nonzero].astype(np.int64))), shape=shape
    )


def no_side(rows: int) -> Side:
    """A side without effects, for models of one grouping factor: a single level with a column of zeros."""
    return Side(np.zeros(rows, dtype=np.int64), 1, np.zeros((1, rows)), ())


def sides(terms: Sequence[RandomTerm]) -> tuple[Side, ...]:
    """The sides of the terms, at least two; with more than two factors, nested ones join the side of the outer one."""
    members: dict[str, list[int]] = {}
    for number, term in enumerate(terms):
        members.setdefault(term.group, []).append(number)
        if not np.array_equal(terms[members[term.group][0]].codes, term.codes):
            raise ValueError(f"Two terms of {term.group} number its levels differently.")
    repeat: dict[int, Ints] = {}
    while len(members) > 2 and (nested := _innermost(members, terms)) is not None:
        inner, outer = nested
        codes = terms[members[outer][0]].codes
        for number in members.pop(inner):
            # A factor nested in the inner factor is nested in the outer one too.
            repeat[number] = cast(Ints, within(terms[number].codes, codes))
            members[outer].append(number)
    all_sides = [_side([(number, terms[number]) for number in numbers], repeat) for numbers in members.values()]
    return tuple(all_sides) if len(all_sides) > 1 else (all_sides[0], no_side(len(terms[0].codes)))


def _innermost(members: dict[str, list[int]], terms: Sequence[RandomTerm]) -> tuple[str, str] | None:
    """The nested factor with the fewest levels per outer level, and its outer factor; None if all are crossed."""
    nested_pairs = []
    for inner, (inner_term, *_) in members.items():
        for outer, (outer_term, *_) in members.items():
            nested = within(terms[inner_term].codes, terms[outer_term].codes) if inner != outer else None
            if nested is not None:
                nested_pairs.append((int(nested.max()), inner, outer))
    if not nested_pairs:
        return None
    _, inner, outer = min(nested_pairs)
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
            in_block = nested == np.arange(times)[:, None]
            columns.append((in_block[:, None, :] * term.columns.T).reshape(times * q, -1))
            repeats *= times
        else:
            columns.append(term.columns.T)
        full = term.covariance == "full" and q > 1
        blocks.append(RandomBlock(number, term.group, term.names, width, repeats, full, first, nested))
        first += width * repeats
    stacked = np.ascontiguousarray(np.concatenate(columns), dtype=np.float64)
    return Side(outer.codes, len(outer.levels), stacked, tuple(blocks))
