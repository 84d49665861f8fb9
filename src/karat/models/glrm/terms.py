"""Random-effect terms: which effects vary between the levels of a grouping factor, and how they covary.

A term such as (1 + x | participant) gives every participant a vector b of effects, one for each column z of the term,
and adds z'b to the linear predictor. b ~ N(0, Sigma), where Sigma is

- full: any covariance matrix, as lme4's (1 + x | participant);
- diagonal: effects do not correlate, as (1 + x || participant);
- shared: effects do not correlate and have one variance. With indicators of the rounds as columns that is the term
  (1 | participant:round), kept on the participant's side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat.messages import Message
from karat.types import Floats, Ints

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
            raise ValueError(f"The codes of {self.group} must lie between 0 and the number of its levels, less one.")
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
    """For each row, the number of its inner level among those of its outer level; None where it is not nested.

    >>> within(np.array([0, 1, 2, 2]), np.array([0, 0, 1, 1])).tolist()
    [0, 1, 0, 0]
    >>> within(np.array([0, 0]), np.array([0, 1])) is None
    True
    """
    pairs = np.unique(np.column_stack([outer, inner]), axis=0)
    if len(np.unique(pairs[:, 1])) < len(pairs):
        return None
    starts = np.searchsorted(pairs[:, 0], pairs[:, 0])
    rank = np.zeros(int(inner.max()) + 1, dtype=np.int64)
    rank[pairs[:, 1]] = np.arange(len(pairs)) - starts
    return rank[inner]
