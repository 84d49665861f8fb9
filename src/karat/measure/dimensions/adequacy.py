"""Whether the ratings are worth a factor analysis: Kaiser, Meyer and Olkin's measure, and Bartlett's test.

KMO compares correlations with partial correlations and lies between 0 and 1; Kaiser (1974) calls values under .5
unacceptable, from .8 on meritorious. Bartlett's test asks whether anything is correlated at all. The formulas are in
`karat.models.factors.correlations`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from karat.measure.dimensions.correlations import Kind, check_invertible, correlations_of
from karat.measure.errors import MeasureError
from karat.messages import Message
from karat.models.factors import bartlett, kmo

WORDS = ((0.9, "marvellous"), (0.8, "meritorious"), (0.7, "middling"), (0.6, "mediocre"), (0.5, "miserable"))
UNACCEPTABLE = 0.5


class Bartlett(NamedTuple):
    """Bartlett's test of sphericity."""

    chi2: float
    dof: int
    p_value: float


@dataclass(frozen=True)
class Adequacy:
    """How well the pairs suit a factor analysis, each and together."""

    items: pl.DataFrame
    """pair, kmo and its word."""
    kmo: float
    bartlett: Bartlett
    observations: int
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[Message, ...] = ()

    def table(self) -> pl.DataFrame:
        """The pairs, the least suitable first."""
        return self.items.sort("kmo", maintain_order=True)

    @property
    def summary(self) -> tuple[Message, ...]:
        """KMO, Bartlett's test, and the pairs that suit a factor analysis least."""
        found = [Message("adequacy.undefined")]
        if not np.isnan(self.kmo):
            found = [Message("adequacy.kmo", {"kmo": self.kmo, "word": word(self.kmo)})]
        test = {"dof": self.bartlett.dof, "chi2": self.bartlett.chi2, "p": self.bartlett.p_value}
        found.append(Message("adequacy.bartlett", test | {"cases": self.observations}))
        low = self.items.filter(pl.col("kmo") < UNACCEPTABLE)["pair"].to_list()
        if low:
            found.append(Message("adequacy.low", {"limit": UNACCEPTABLE, "pairs": low}))
        return tuple(found)

    def __str__(self) -> str:
        return " ".join(map(str, self.summary))


def adequacy(matrix: Any, correlations: Kind = "pearson", observations: int | None = None) -> Adequacy:
    """KMO, overall and for each pair, and Bartlett's test, of ratings or of a correlation matrix with its observations.

    >>> found = adequacy([[1, 0.6, 0.5], [0.6, 1, 0.4], [0.5, 0.4, 1]], observations=100)
    >>> print(found)
    KMO is .66 (mediocre). Bartlett's test with 100 cases: χ²(3) = 73.4, p < .001.
    """
    source = correlations_of(matrix, correlations, observations)
    check_invertible(source)
    if source.observations < 2 + len(source.pairs):
        about = {"cases": source.observations, "pairs": len(source.pairs)}
        raise MeasureError(Message("adequacy.too_few_cases", about))
    whole, each = kmo(source.matrix)
    items = pl.DataFrame({"pair": source.pairs, "kmo": each, "word": [word(value) for value in each]})
    test = Bartlett(*bartlett(source.matrix, source.observations))
    settings = {"correlations": correlations}
    return Adequacy(items, whole, test, source.observations, settings, source.notes)


def word(value: float) -> str:
    """Kaiser's word for a value of KMO.

    >>> word(0.901), word(0.45)
    ('marvellous', 'unacceptable')
    """
    if np.isnan(value):
        return "not defined"
    return next((name for least, name in WORDS if value >= least), "unacceptable")
