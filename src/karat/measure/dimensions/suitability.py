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

from karat.judgments import Judgments
from karat.judgments.message_tables import with_reasons
from karat.measure.dimensions.matrix import rating_of
from karat.measure.errors import MeasureError
from karat.messages import Message

MEAN, SD = 3.2, 1.2


@dataclass(frozen=True)
class Suitability:
    """Which pairs to keep."""

    pairs: pl.DataFrame
    """pair, n, mean, sd, keep, and the message and values of the reason."""
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[Message, ...] = ()

    def table(self, language: str = "en") -> pl.DataFrame:
        """The pairs with the reason for each, the most suitable first."""
        return with_reasons(self.pairs.sort("mean", descending=True, maintain_order=True), language)

    @property
    def kept(self) -> list[str]:
        """The pairs to keep."""
        return self.pairs.filter(pl.col("keep"))["pair"].to_list()

    @property
    def dropped(self) -> list[str]:
        """The pairs to drop."""
        return self.pairs.filter(~pl.col("keep"))["pair"].to_list()

    @property
    def summary(self) -> tuple[Message, ...]:
        """How many pairs are kept, and by which rule."""
        limits = {"mean": self.settings["mean"], "sd": self.settings["sd"]}
        about = {"kept": len(self.kept), "pairs": self.pairs.height} | limits
        both = self.settings["rule"] == "both"
        return (Message("suitability.both" if both else "suitability.either", about),)

    def __str__(self) -> str:
        return " ".join(map(str, (*self.summary, *self.notes)))


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
    >>> found.kept, found.table()["reason"][1]
    (['clear'], 'mean 2.67 is under 3.2 and standard deviation 2.08 is over 1.2')
    """
    if rule not in ("both", "either"):
        raise MeasureError(Message("suitability.rule", {"rule": str(rule)}))
    rows = judgments.frame.filter(pl.col("function").is_in(list(functions)), pl.col("response").is_not_null())
    if not rows.height:
        raise MeasureError(Message("suitability.no_answers", {"functions": list(functions)}))
    per_pair = rows.with_columns(rating=rating_of(judgments.scale)).group_by("item", maintain_order=True).agg(
        pl.len().alias("n"), pl.col("rating").mean().alias("mean"), pl.col("rating").std().alias("sd")
    )  # fmt: skip
    few = per_pair.filter(pl.col("n") < 2)["item"].to_list()
    if few:
        raise MeasureError(Message("suitability.one_rating", {"pairs": few, "n": len(few)}))
    low, wide = pl.col("mean") < mean, pl.col("sd") > sd
    gone = low & wide if rule == "both" else low | wide
    message = (
        pl.when(low & wide)
        .then(pl.lit("suitability.low_and_wide"))
        .when(low)
        .then(pl.lit("suitability.low"))
        .when(wide)
        .then(pl.lit("suitability.wide"))
        .otherwise(pl.lit("suitability.suitable"))
    )
    limits = (pl.lit(float(mean)).alias("mean_limit"), pl.lit(float(sd)).alias("sd_limit"))
    pairs = per_pair.select(
        pl.col("item").alias("pair"), "n", "mean", "sd", (~gone).alias("keep"), message=message,
        values=pl.struct("mean", "sd", *limits),
    )  # fmt: skip
    other, other_rule = (low | wide, "either") if rule == "both" else (low & wide, "both")
    would = per_pair.filter(~other).height
    notes = []
    if would != pairs["keep"].sum():
        notes.append(Message("suitability.other_rule", {"rule": other_rule, "kept": would}))
    settings = {"rule": rule, "mean": mean, "sd": sd, "functions": list(functions)}
    return Suitability(pairs, settings, tuple(notes))
