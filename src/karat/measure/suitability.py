"""The pre-study of a semantic differential: which pairs of adjectives suit the texts.

People rate each pair; pairs with a low mean or a wide spread are dropped. Macketanz et al. (2022) "removed all
adjective pairs with a mean value of less than 3.2 and a standard deviation of more than 1.2" on a scale of five points.
That can be read in two ways: a pair goes when both hold (`rule="both"`, the words as they stand), or when either does
(`rule="either"`). The standard deviation is that of a sample (n - 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

from karat.errors import counted
from karat.judgments import Judgments
from karat.measure.errors import MeasureError
from karat.measure.ratings_matrix import rating_of

MEAN, SD = 3.2, 1.2


@dataclass(frozen=True)
class Suitability:
    """Which pairs to keep."""

    pairs: pl.DataFrame
    """pair, n, mean, sd, keep, and the reason."""
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def table(self) -> pl.DataFrame:
        """The pairs, the most suitable first."""
        return self.pairs.sort("mean", descending=True, maintain_order=True)

    @property
    def kept(self) -> list[str]:
        """The pairs to keep."""
        return self.pairs.filter(pl.col("keep"))["pair"].to_list()

    @property
    def dropped(self) -> list[str]:
        """The pairs to drop."""
        return self.pairs.filter(~pl.col("keep"))["pair"].to_list()

    def __str__(self) -> str:
        word = "and" if self.settings["rule"] == "both" else "or"
        text = (
            f"{len(self.kept)} of {counted(self.pairs.height, 'pair')} kept; dropped with a mean under "
            f"{self.settings['mean']} {word} a standard deviation over {self.settings['sd']}."
        )
        return " ".join([text, *self.notes])


def suitability(
    judgments: Judgments,
    rule: Literal["both", "either"] = "both",
    mean: float = MEAN,
    sd: float = SD,
    functions: Sequence[str] = ("test",),
) -> Suitability:
    """Which pairs to keep, by the mean and the standard deviation of ratings of the pairs (column `item`).

    >>> import karat
    >>> rated = {"participant": ["p1", "p2", "p3"] * 2, "item": ["clear"] * 3 + ["warm"] * 3,
    ...          "response": [5, 4, 4, 1, 5, 2]}
    >>> found = suitability(karat.Judgments(rated, karat.Ordinal(5)))
    >>> found.kept, found.pairs["reason"][1]
    (['clear'], 'mean 2.67 is under 3.2 and standard deviation 2.08 over 1.2')
    """
    if rule not in ("both", "either"):
        raise MeasureError(f'suitability: rule is "both" or "either", not {rule!r}.')
    rows = judgments.frame.filter(pl.col("function").is_in(list(functions)), pl.col("response").is_not_null())
    if not rows.height:
        raise MeasureError(f"suitability: there are no answers to trials with the function {' or '.join(functions)}.")
    per_pair = rows.with_columns(rating=rating_of(judgments.scale)).group_by("item", maintain_order=True).agg(
        pl.len().alias("n"), pl.col("rating").mean().alias("mean"), pl.col("rating").std().alias("sd")
    )  # fmt: skip
    few = per_pair.filter(pl.col("n") < 2)["item"].to_list()
    if few:
        raise MeasureError(f"suitability: {', '.join(few)} was rated once only, so that it has no standard deviation.")
    low, wide = pl.col("mean") < mean, pl.col("sd") > sd
    gone = low & wide if rule == "both" else low | wide
    told_low = pl.format("mean {} is under {}", pl.col("mean").round(2), pl.lit(mean))
    told_wide = pl.format("standard deviation {} over {}", pl.col("sd").round(2), pl.lit(sd))
    reason = (
        pl.when(low & wide)
        .then(pl.concat_str(told_low, pl.lit(" and "), told_wide))
        .when(low)
        .then(told_low)
        .when(wide)
        .then(told_wide)
        .otherwise(pl.lit("suitable"))
    )
    pairs = per_pair.select(pl.col("item").alias("pair"), "n", "mean", "sd", (~gone).alias("keep"), reason=reason)
    other, other_rule = (low | wide, "either") if rule == "both" else (low & wide, "both")
    would = per_pair.filter(~other).height
    notes = [] if would == pairs["keep"].sum() else [f'With rule="{other_rule}" it would be {would}.']
    settings = {"rule": rule, "mean": mean, "sd": sd, "functions": list(functions)}
    return Suitability(pairs, settings, tuple(notes))
