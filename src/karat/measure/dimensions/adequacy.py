"""Whether ratings are suitable for a factor analysis, and which pairs of adjectives suit the texts.

Kaiser, Meyer and Olkin's measure (KMO) compares correlations with partial correlations and lies between 0 and 1; Kaiser
(1974) calls values under .5 unacceptable, and those from .8 meritorious. Bartlett's test is of whether there is any
correlation. The formulas are in `karat.models.factors.correlations`.

In the pre-study of a semantic differential participants rate how well each pair of adjectives suits the texts; pairs
with a low mean or a wide spread are dropped. Macketanz et al. (2022) "removed all adjective pairs with a mean value of
less than 3.2 and a standard deviation of more than 1.2" on a scale of five points. This can mean that a pair is dropped
if both are true (`rule="both"`, the literal reading), or if either is (`rule="either"`). The standard deviation is that
of a sample (n - 1).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import polars as pl

from karat.judgments import Judgments
from karat.judgments.message_tables import with_reasons
from karat.measure.dimensions.matrix import Kind, check_invertible, correlations_of, rating_of
from karat.measure.result import BriefResult, MeasureError, MeasureResult, PlotColumns
from karat.messages import Message, check_word
from karat.models.factors import bartlett, kmo

WORDS = ((0.9, "marvellous"), (0.8, "meritorious"), (0.7, "middling"), (0.6, "mediocre"), (0.5, "miserable"))
UNACCEPTABLE = 0.5


class Bartlett(NamedTuple):
    """Bartlett's test of sphericity."""

    chi2: float
    dof: int
    p_value: float


@dataclass(frozen=True)
class Adequacy(BriefResult):
    """The suitability of pairs for a factor analysis, each and together."""

    items: pl.DataFrame
    """pair, kmo and its word."""
    kmo: float
    bartlett: Bartlett
    observations: int
    points: ClassVar = PlotColumns(("pair",), "kmo", "Kaiser, Meyer and Olkin's measure")
    files: ClassVar = {"adequacy": "items"}
    numbers: ClassVar = ("kmo", "bartlett", "observations")

    def table(self) -> pl.DataFrame:
        """The pairs, the least suitable first."""
        return self.items.sort("kmo", maintain_order=True)

    @property
    def summary(self) -> tuple[Message, ...]:
        """KMO, Bartlett's test, and the pairs that suit a factor analysis least."""
        messages = [Message("adequacy.undefined")]
        if not np.isnan(self.kmo):
            messages = [Message("adequacy.kmo", {"kmo": self.kmo, "word": word(self.kmo)})]
        test = {"dof": self.bartlett.dof, "chi2": self.bartlett.chi2, "p": self.bartlett.p_value}
        messages.append(Message("adequacy.bartlett", test | {"cases": self.observations}))
        low = self.items.filter(pl.col("kmo") < UNACCEPTABLE)["pair"].to_list()
        if low:
            messages.append(Message("adequacy.low", {"limit": UNACCEPTABLE, "pairs": low}))
        return tuple(messages)


def adequacy(matrix: Any, correlations: Kind = "pearson", observations: int | None = None) -> Adequacy:
    """KMO, overall and for each pair, and Bartlett's test, of ratings or of a correlation matrix.

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
    return Adequacy(items, whole, test, source.observations, settings=settings, notes=source.notes)


def word(value: float) -> str:
    """Kaiser's word for a value of KMO."""
    if np.isnan(value):
        return "not defined"
    return next((name for least, name in WORDS if value >= least), "unacceptable")


MEAN, SD = 3.2, 1.2


@dataclass(frozen=True)
class Suitability(MeasureResult):
    """Which pairs to keep."""

    pairs: pl.DataFrame
    """pair, n, mean, sd, keep, and the message and values of the reason."""
    points: ClassVar = PlotColumns(("pair",), "mean", "mean rating")

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
        """The number of pairs that are kept, and the rule."""
        limits = {"mean": self.settings["mean"], "sd": self.settings["sd"]}
        about = {"kept": len(self.kept), "pairs": self.pairs.height} | limits
        both = self.settings["rule"] == "both"
        return (Message("suitability.both" if both else "suitability.either", about),)


def suitability(
    judgments: Judgments,
    rule: Literal["both", "either"] = "both",
    mean: float = MEAN,
    sd: float = SD,
    functions: Sequence[str] = ("test",),
) -> Suitability:
    """Which pairs to keep, by the mean and the standard deviation of ratings of the pairs (column `item`).

    Parameters
    ----------
    rule
        Whether a pair is dropped if both limits are missed, or if either is.
    mean
        The lowest mean of a suitable pair.
    sd
        The highest standard deviation of a suitable pair.

    >>> import karat
    >>> rated = {"participant": ["p1", "p2", "p3"] * 2, "item": ["clear"] * 3 + ["warm"] * 3,
    ...          "response": [5, 4, 4, 1, 5, 2]}
    >>> found = suitability(karat.Judgments(rated, karat.Ordinal(5)))
    >>> found.kept, found.table()["reason"][1]
    (['clear'], 'mean 2.67 is under 3.2 and standard deviation 2.08 is over 1.2')
    """
    check_word(MeasureError, "rule", rule, ("both", "either"))
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
    dropped = low & wide if rule == "both" else low | wide
    codes = ("suitability.suitable", "suitability.low", "suitability.wide", "suitability.low_and_wide")
    flaws = low.cast(pl.Int64) + 2 * wide.cast(pl.Int64)
    message = flaws.replace_strict(list(range(4)), codes, return_dtype=pl.String)
    limits = (pl.lit(float(mean)).alias("mean_limit"), pl.lit(float(sd)).alias("sd_limit"))
    pairs = per_pair.select(
        pl.col("item").alias("pair"), "n", "mean", "sd", (~dropped).alias("keep"), message=message,
        values=pl.struct("mean", "sd", *limits),
    )  # fmt: skip
    other, other_rule = (low | wide, "either") if rule == "both" else (low & wide, "both")
    would = per_pair.filter(~other).height
    notes = []
    if would != pairs["keep"].sum():
        notes.append(Message("suitability.other_rule", {"rule": other_rule, "kept": would}))
    settings = {"rule": rule, "mean": mean, "sd": sd, "functions": list(functions)}
    return Suitability(pairs, settings=settings, notes=tuple(notes))
