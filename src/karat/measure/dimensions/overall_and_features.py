"""The relation of dimensions to an overall rating and to features of texts.

`overall_regression` is a linear regression of the overall rating of texts on their dimensions: raw and standardised
weights, the inflation of their variance by correlated dimensions, and the R^2 of left-out texts. `feature_correlations`
are Pearson's and Spearman's correlations of each dimension with each feature, with Fisher's interval and p values
adjusted for their number (Holm 1979). Rows are texts. `text_features` counts features of a text without a dictionary;
its readability is LIX (Björnsson 1968), words per sentence plus the percentage of long words, which needs no syllables
and so works for any language with words between spaces.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from karat.judgments.columns import unknown_name
from karat.judgments.table import to_polars
from karat.measure.result import BriefResult, MeasureError, MeasureResult, PlotColumns
from karat.messages import Message
from karat.models.factors import Regression, regress
from karat.models.numerics import known
from karat.models.proportions import holm
from karat.types import Floats

INFLATED = 10.0
LONG = 6
"""The letters above which a word is long."""
WORD = r"[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*"
SENTENCE = r"[.!?…]+[\"'”’»)]*(?:\s|$)"
ALPHA = 0.05


@dataclass(frozen=True)
class OverallRegression(MeasureResult):
    """The weights of dimensions in an overall rating."""

    weights: pl.DataFrame
    """dimension, weight, se, lower, upper, t, p_value, standardised, inflation."""
    model: Regression
    observations: int
    points: ClassVar = PlotColumns(("dimension",), "weight", "weight")

    @property
    def r2(self) -> float:
        """The share of the variance of the overall rating that the dimensions explain."""
        return self.model.r2

    def table(self) -> pl.DataFrame:
        """The dimensions, the most important first."""
        return self.weights.sort(pl.col("standardised").abs(), descending=True, maintain_order=True)

    @property
    def summary(self) -> tuple[Message, ...]:
        """The variance that the dimensions explain, and the dimension with the largest weight."""
        first = self.table().row(0, named=True)
        explained = {
            "r2": round(self.r2, 2), "left_out": round(self.model.left_out_r2, 2), "overall": self.settings["overall"],
            "texts": self.observations,
        }  # fmt: skip
        weight = {"dimension": first["dimension"], "weight": first["standardised"]}
        return Message("overall_regression.explained", explained), Message("overall_regression.largest", weight)


def overall_regression(texts: Any, overall: str, dimensions: Sequence[str], level: float = 0.95) -> OverallRegression:
    """The regression of one column of a table of texts on others.

    Parameters
    ----------
    texts
        A table with one row per text.
    overall
        The column to explain.
    dimensions
        The columns that explain it.

    >>> texts = {"overall": [1, 2, 3, 4, 5.5], "clarity": [1, 2, 3, 4, 5], "length": [3, 1, 4, 1, 5]}
    >>> found = overall_regression(texts, "overall", ["clarity", "length"])
    >>> found.table()["dimension"].to_list(), round(found.r2, 2)
    (['clarity', 'length'], 1.0)
    """
    values, notes = _columns(texts, [overall, *dimensions])
    if len(values) < len(dimensions) + 2:
        about = {"texts": len(values), "dimensions": len(dimensions)}
        raise MeasureError(Message("overall_regression.too_few_texts", about))
    try:
        model = regress(values[:, 0], values[:, 1:], level)
    except ValueError:
        # With enough texts, the reason can only be dimensions that follow from each other.
        raise MeasureError(Message("overall_regression.dependent")) from None
    weights = pl.DataFrame(
        {
            "dimension": list(dimensions), "weight": model.weights, "se": model.errors, "lower": model.lower,
            "upper": model.upper, "t": model.t, "p_value": model.p_values, "standardised": model.standardised,
            "inflation": model.inflation,
        }
    )  # fmt: skip
    inflated = weights.filter(pl.col("inflation") > INFLATED)["dimension"].to_list()
    if inflated:
        notes.append(Message("overall_regression.inflated", {"dimensions": inflated, "times": int(INFLATED)}))
    return OverallRegression(
        weights, model, len(values), settings={"overall": overall, "level": level}, notes=tuple(notes)
    )


@dataclass(frozen=True)
class FeatureCorrelations(BriefResult):
    """Correlations of dimensions with features of texts."""

    frame: pl.DataFrame
    """dimension, feature, n, pearson, lower, upper, p_value, adjusted (Holm), spearman."""
    points: ClassVar = PlotColumns(("dimension", "feature"), "pearson", "correlation")

    def table(self) -> pl.DataFrame:
        """The strongest correlation first."""
        return self.frame.sort(pl.col("pearson").abs(), descending=True, maintain_order=True)

    @property
    def summary(self) -> tuple[Message, ...]:
        """The number of correlations that differ from zero, and the strongest."""
        clear = self.frame.filter(pl.col("adjusted") < ALPHA).height
        messages = [Message("feature_correlations.clear", {"clear": clear, "n": self.frame.height, "alpha": ALPHA})]
        top = next((row for row in self.table().to_dicts() if known(row["pearson"]) is not None), None)
        if top is not None:
            strongest = {"dimension": top["dimension"], "feature": top["feature"], "r": top["pearson"]}
            messages.append(Message("feature_correlations.strongest", strongest))
        return tuple(messages)


def text_features(texts: Sequence[str | None]) -> pl.DataFrame:
    """The length and readability of texts: characters, words, sentences, letters_per_word, words_per_sentence, lix.

    A text without an end mark is one sentence. Means of a text without words, and all features of a missing one, are
    null.

    Parameters
    ----------
    texts
        The texts; None is a missing one.

    >>> text_features(["It rains. We stay inside!", ""]).rows()
    [(25, 5, 2, 3.8, 2.5, 2.5), (0, 0, 0, None, None, None)]
    """
    text = pl.Series("text", texts, pl.String)
    words = text.str.extract_all(WORD)
    letters = words.list.eval(pl.element().str.len_chars())
    ends = text.str.strip_chars().str.count_matches(SENTENCE)
    unended = ~text.str.strip_chars().str.contains(SENTENCE + r"\z")
    counts = pl.DataFrame({
        "characters": text.str.len_chars(), "words": words.list.len(), "sentences": ends + unended,
        "letters": letters.list.sum(), "long": letters.list.eval(pl.element() > LONG).list.sum(),
    })  # fmt: skip
    spoken = pl.when(pl.col("words") > 0)
    per_sentence = pl.col("words") / pl.col("sentences")
    return counts.select(
        "characters", "words", sentences=spoken.then("sentences").otherwise(pl.col("words")),
        letters_per_word=spoken.then(pl.col("letters") / pl.col("words")), words_per_sentence=spoken.then(per_sentence),
        lix=spoken.then(per_sentence + 100 * pl.col("long") / pl.col("words")),
    )  # fmt: skip


def feature_correlations(
    texts: Any, dimensions: Sequence[str], features: Sequence[str], level: float = 0.95
) -> FeatureCorrelations:
    """The correlations of some columns of a table of texts with others; missing values are left out pairwise.

    Parameters
    ----------
    texts
        A table with one row per text.
    dimensions
        The columns to correlate.
    features
        The columns to correlate them with.

    >>> texts = {"clarity": [5, 4, 4, 2, 1.0], "words": [3, 5, 9, 12, 20]}
    >>> found = feature_correlations(texts, ["clarity"], ["words"])
    >>> [round(value, 2) for value in found.frame.select("pearson", "spearman").row(0)]
    [-0.95, -0.97]
    """
    rows = []
    for dimension in dimensions:
        for feature in features:
            values, _ = _columns(texts, [dimension, feature])
            if len(values) < 4:
                about = {"dimension": dimension, "feature": feature}
                raise MeasureError(Message("feature_correlations.too_few_texts", about))
            rows.append((dimension, feature, *_correlated(values, level)))
    schema = ["dimension", "feature", "n", "pearson", "lower", "upper", "p_value", "spearman"]
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    adjusted = holm(frame["p_value"].to_numpy())
    frame = frame.with_columns(adjusted=adjusted).select(*schema[:7], "adjusted", "spearman")
    return FeatureCorrelations(frame, settings={"level": level})


def _correlated(values: Floats, level: float) -> tuple[int, float, float, float, float, float]:
    """n, Pearson's correlation with its interval and p value, and Spearman's."""
    from scipy.stats import pearsonr, spearmanr

    n = len(values)
    if (np.ptp(values, axis=0) == 0).any():
        return n, np.nan, np.nan, np.nan, np.nan, np.nan
    correlation = pearsonr(*values.T)
    lower, upper = correlation.confidence_interval(level)
    numbers = correlation.statistic, lower, upper, correlation.pvalue, spearmanr(*values.T).statistic
    return n, *map(float, numbers)  # type: ignore[return-value]


def _columns(texts: Any, names: Sequence[str]) -> tuple[Floats, list[Message]]:
    """These columns of the complete texts, and a note on the others."""
    frame = to_polars(texts)
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise MeasureError(unknown_name("unknown.column", missing[0], frame.columns))
    twice = [name for number, name in enumerate(names) if name in names[:number]]
    if twice:
        raise MeasureError(Message("dimension_links.repeated_column", {"column": twice[0]}))
    words = [name for name in names if not frame[name].dtype.is_numeric()]
    if words:
        raise MeasureError(Message("dimension_links.no_numbers", {"column": words[0]}))
    numbers = frame.select(pl.col(name).cast(pl.Float64).fill_nan(None) for name in names)
    whole = numbers.drop_nulls()
    missing_rows = frame.height - whole.height
    notes = [Message("dimension_links.missing_values", {"n": missing_rows})] if missing_rows else []
    return whole.to_numpy(), notes
