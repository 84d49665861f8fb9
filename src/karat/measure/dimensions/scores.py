"""Scores of texts on each dimension: factor scores averaged over the participants who rated a text.

The score of a text is the mean of its cases' factor scores, with Student's interval over participants. Factor scores
have mean 0 over all cases. `standard` is the same score standardised over texts, so that dimensions can be compared: 1
is one standard deviation of texts above the average text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl

from karat.measure.dimensions.factors import Factors
from karat.measure.errors import MeasureError
from karat.messages import Message
from karat.models.means import mean_interval


@dataclass(frozen=True)
class DimensionScores:
    """Where each text stands on each dimension."""

    frame: pl.DataFrame
    """item, dimension, n (cases), score, lower, upper, standard."""
    dimensions: tuple[str, ...]
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[Message, ...] = ()

    def table(self) -> pl.DataFrame:
        """One row a text, one column a dimension: the standardised scores."""
        return self.frame.pivot(on="dimension", index="item", values="standard", maintain_order=True)

    @property
    def summary(self) -> tuple[Message, ...]:
        """How many texts have scores, on what, and from how many cases."""
        cases = int(self.frame["n"].sum()) // len(self.dimensions)
        about = {"texts": self.frame["item"].n_unique(), "dimensions": list(self.dimensions), "cases": cases}
        return (Message("dimension_scores.scores", about),)

    def __str__(self) -> str:
        return " ".join(map(str, self.summary))


def dimension_scores(
    found: Factors, method: Literal["regression", "bartlett"] = "regression", level: float = 0.95
) -> DimensionScores:
    """The scores of all texts on the dimensions of a factor solution.

    >>> import karat
    >>> from karat.measure.dimensions.factors import factors
    >>> from karat.measure.dimensions.matrix import ratings_matrix
    >>> rated = [(f"p{p}", f"t{t}", q, min(7, max(1, t + (p * 7 + t * 3 + i * 5) % 3)))
    ...          for p in range(9) for t in range(1, 5) for i, q in enumerate("abc")]
    >>> columns = ("participant", "item", "question", "response")
    >>> judged = karat.Judgments(dict(zip(columns, map(list, zip(*rated)))), karat.Ordinal(7))
    >>> scores = dimension_scores(factors(ratings_matrix(judged), 1))
    >>> scores.table()["F1"].round(1).to_list()
    [-1.2, -0.4, 0.4, 1.2]
    """
    cases = found.scores(method)
    if "item" not in cases.columns:
        raise MeasureError(Message("dimension_scores.no_texts"))
    rows = []
    for name in found.names:
        texts = [(key, part[name].to_numpy()) for (key,), part in cases.group_by("item", maintain_order=True)]
        means = np.array([values.mean() for _, values in texts])
        spread = means.std(ddof=1) if len(means) > 1 else np.nan
        rows += [
            (key, name, len(values), *mean_interval(values, level), (mean - means.mean()) / spread)
            for (key, values), mean in zip(texts, means, strict=True)
        ]
    schema = ["item", "dimension", "n", "score", "lower", "upper", "standard"]
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return DimensionScores(frame, found.names, {"method": method, "level": level}, found.notes)
