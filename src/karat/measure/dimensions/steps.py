"""The dimensions of a semantic differential, one step after the other, as a study of perceived quality reports them.

Ratings by case, adequacy, number of factors, factors (maximum likelihood, promax), scores of texts, profiles. Where no
number of factors is given, it is that of parallel analysis; the other rules stand beside it. Which pairs to leave out
is a decision of the researcher: see `karat.measure.reduce_pairs`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from karat.judgments import Judgments
from karat.judgments.scales import Choice, Nominal
from karat.measure.dimensions.adequacy import adequacy
from karat.measure.dimensions.factors import Factors, factors
from karat.measure.dimensions.matrix import RatingsMatrix, ratings_matrix
from karat.measure.dimensions.number_of_factors import NumberOfFactors, number_of_factors
from karat.measure.dimensions.profiles import dimension_scores, profiles
from karat.measure.rated import Rated
from karat.measure.result import MeasureError
from karat.messages import Message

FEWEST = 3
"""So many questions must have been asked about a text for it to be a semantic differential."""
RULE = "parallel analysis (factors)"


def is_differential(questions: Sequence[Rated]) -> bool:
    """Whether participants rated the same texts on several pairs of adjectives.

    >>> import karat
    >>> from karat.measure.rated import rated
    >>> is_differential(rated(karat.datasets.load("crowd"), "measure"))
    False
    """
    pairs = [one for one in questions if not isinstance(one.scale, Choice | Nominal)]
    if len(pairs) < FEWEST:
        return False
    cases = pl.concat(one.rows.select("participant", "item", question=pl.lit(one.question)) for one in pairs)
    asked = cases.group_by("participant", "item").agg(pl.col("question").n_unique())["question"].median()
    return float(asked or 0) >= FEWEST  # type: ignore[arg-type]


def dimensions(
    judgments: Judgments, functions: Sequence[str], number: int | None, level: float, seed: int, add: Callable[..., Any]
) -> None:
    """Compute each step and hand it to `add`, which gives None where it could not be done.

    >>> import karat
    >>> rated = [(f"p{p}", f"t{t}", q, min(7, max(1, t + (p * 7 + t * 3 + i * 5) % 3)))
    ...          for p in range(9) for t in range(1, 5) for i, q in enumerate("abc")]
    >>> columns = ("participant", "item", "question", "response")
    >>> judged = karat.Judgments(dict(zip(columns, map(list, zip(*rated)))), karat.Ordinal(7))
    >>> def add(name, compute, must=False):
    ...     print(name)
    ...     return compute()
    >>> dimensions(judged, ("test",), 1, 0.95, 1, add)
    ratings
    adequacy
    number of factors
    factors
    scores
    profiles
    """
    matrix: RatingsMatrix | None = add("ratings", lambda: ratings_matrix(judgments, functions=functions))
    if matrix is not None:
        add("adequacy", lambda: adequacy(matrix))
        rules = add("number of factors", lambda: number_of_factors(matrix, seed=seed))
        found = add("factors", lambda: _factors(matrix, rules, number), must=number is not None)
        if found is not None:
            add("scores", lambda: dimension_scores(found, level=level))
    add("profiles", lambda: profiles(judgments, functions=functions, level=level))


def _factors(matrix: RatingsMatrix, rules: NumberOfFactors | None, number: int | None) -> Factors:
    if number is not None:
        return factors(matrix, number)
    if rules is None:
        raise MeasureError(Message("dimensions.unknown_number"))
    said = rules.number(RULE)
    if not said:
        raise MeasureError(Message("dimensions.no_factors"))
    return factors(matrix, said)
