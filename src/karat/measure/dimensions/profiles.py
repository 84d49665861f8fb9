"""Profiles of a semantic differential, and the scores of texts on its dimensions.

A profile has the mean rating of each text, or group of texts or participants, on each pair. Polarity is aligned first.
Within a group each participant counts once, with the mean of their ratings; the interval is Student's over
participants, since ratings of one participant hang together.

The score of a text on a dimension is the mean of the factor scores of those who rated it, with Student's interval over
participants. Factor scores have mean 0 over all cases. `standard` is the same score standardised over texts, so that
dimensions can be compared: 1 is one standard deviation of texts above the average text.

`overall_regression` is an ordinary regression of the overall rating of texts on their dimensions: weights as they are
and standardised, the inflation of their variance where dimensions correlate, and the R^2 of texts that were left out.
`feature_correlations` are Pearson's and Spearman's correlations of each dimension with each feature, with Fisher's
interval and p values adjusted for their number (Holm 1979). Rows are texts. `text_features` counts what a text shows
without a dictionary; its readability is LIX (Björnsson 1968), words per sentence plus the percentage of long words,
which needs no syllables and so holds for any language with words between spaces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from scipy.special import ndtri, stdtr

from karat.errors import counted
from karat.judgments import Judgments
from karat.judgments.columns import unknown_name
from karat.judgments.table import to_polars
from karat.measure.dimensions.factors import Factors
from karat.measure.dimensions.matrix import aligned_ratings
from karat.measure.result import BriefResult, MeasureError, MeasureResult, PlotColumns
from karat.messages import Message
from karat.models.factors import Regression, pearson, regress
from karat.models.numerics import known
from karat.models.proportions import holm, mean_interval
from karat.plots import Figure
from karat.plots.lines import LINES, profile_plot
from karat.plots.shares import matrix_plot
from karat.types import Floats


@dataclass(frozen=True)
class Profiles(BriefResult):
    """Mean ratings of each group on each pair."""

    frame: pl.DataFrame
    """group, pair, n (participants), mean, lower, upper."""
    by: str
    groups: tuple[str, ...]
    pairs: tuple[str, ...]
    files: ClassVar = {"profiles": "frame"}
    figure_file: ClassVar = "profiles"

    def table(self) -> pl.DataFrame:
        """One row per pair, one column per group: the means."""
        return self.frame.pivot(on="group", index="pair", values="mean", maintain_order=True)

    def plot(  # type: ignore[override]
        self,
        groups: Sequence[str] | None = None,
        poles: Mapping[str, tuple[str, str]] | None = None,
        width_cm: float = 16,
    ) -> Figure:
        """The classic line plot: pairs below each other, a line for each group; `poles` names the two ends of a pair.

        >>> import karat
        >>> rated = {"participant": ["p1", "p1", "p2", "p2"], "item": ["a"] * 4, "question": ["clear", "simple"] * 2,
        ...          "response": [7, 2, 6, 3]}
        >>> found = profiles(karat.Judgments(rated, karat.Ordinal(7)))
        >>> [tick.get_text() for tick in found.plot(poles={"clear": ("unclear", "clear")}).axes[0].get_yticklabels()]
        ['unclear', 'simple']
        """
        shown = list(self.groups if groups is None else groups)
        unknown = [group for group in shown if group not in self.groups]
        if unknown:
            raise MeasureError(Message("profiles.unknown_group", {"group": unknown[0], "column": self.by}))
        if not 1 <= len(shown) <= LINES:
            raise MeasureError(Message("profiles.lines", {"n": len(shown), "most": LINES}))
        intervals = f"{100 * self.settings['level']:.0f} % intervals"
        return profile_plot(self.frame, self.pairs, shown, poles or {}, intervals, self._finding(shown), width_cm)

    def _finding(self, shown: Sequence[str]) -> str:
        """Where the lines that are drawn lie farthest apart."""
        part = self.frame.filter(pl.col("group").is_in(shown), pl.col("mean").is_not_nan())
        if len(shown) < 2 or not part.height:
            return f"The profile of {shown[0]} on {counted(len(self.pairs), 'pair')}"
        widest = _widest(part)
        where = f"{widest['pair']} ({widest['range']:.1f} points)"
        of_all = "" if len(shown) == len(self.groups) else f"Of the {len(shown)} shown, "
        return f"{of_all}{widest['high']} and {widest['low']} lie farthest apart on {where}"

    @property
    def summary(self) -> tuple[Message, ...]:
        """How many profiles there are, and the pair on which they differ most."""
        about = {"groups": len(self.groups), "by": self.by, "pairs": len(self.pairs)}
        found = [Message("profiles.groups", about)]
        if len(self.groups) > 1:
            widest = _widest(self.frame)
            found.append(Message("profiles.widest", {"pair": widest["pair"], "points": widest["range"]}))
        return tuple(found)


def _widest(rows: pl.DataFrame) -> dict[str, Any]:
    """The pair on which groups lie farthest apart, by how much, and the groups at the ends."""
    spread = rows.group_by("pair", maintain_order=True).agg(
        (pl.col("mean").max() - pl.col("mean").min()).alias("range"),
        pl.col("group").sort_by("mean").last().alias("high"),
        pl.col("group").sort_by("mean").first().alias("low"),
    )
    return spread.sort("range", descending=True, maintain_order=True).row(0, named=True)


def profiles(
    judgments: Judgments, by: str = "item", functions: Sequence[str] = ("test",), level: float = 0.95
) -> Profiles:
    """The profile of each text, or of each value of another column of the judgments or the participants.

    Parameters
    ----------
    by
        The column whose values get a profile each.

    >>> import karat
    >>> rated = {"participant": ["p1", "p1", "p2", "p2"], "item": ["a"] * 4, "question": ["clear", "simple"] * 2,
    ...          "response": [7, 2, 6, 3]}
    >>> profiles(karat.Judgments(rated, karat.Ordinal(7))).frame["mean"].to_list()
    [6.5, 2.5]
    """
    rows, notes = aligned_ratings(judgments, functions)
    if by not in rows.columns:
        if by not in judgments.participants.columns:
            known = [name for name in (*rows.columns, *judgments.participants.columns) if name != "rating"]
            raise MeasureError(unknown_name("unknown.column", by, list(dict.fromkeys(known))))
        rows = rows.join(judgments.participants.select("participant", by), on="participant", maintain_order="left")
    unknown = int(rows[by].null_count())
    if unknown:
        notes.append(Message("profiles.no_group", {"n": unknown, "by": by}))
    rows = rows.drop_nulls(by).with_columns(group=pl.col(by).cast(pl.String))
    if not rows.height:
        raise MeasureError(Message("profiles.empty_column", {"column": by}))
    people = rows.group_by("group", "question", "participant", maintain_order=True).agg(pl.col("rating").mean())
    pairs = tuple(question for question in judgments.scales if question in set(rows["question"]))
    groups = tuple(people["group"].unique(maintain_order=True))
    own = {key: part["rating"].to_numpy() for key, part in people.group_by("group", "question")}
    found = [
        (group, pair, len(values), *mean_interval(values, level))
        for group in groups
        for pair in pairs
        for values in [np.asarray(own.get((group, pair), np.empty(0)), dtype=np.float64)]
    ]
    frame = pl.DataFrame(found, schema=["group", "pair", "n", "mean", "lower", "upper"], orient="row")
    return Profiles(
        frame, by, groups, pairs, settings={"by": by, "level": level, "functions": list(functions)}, notes=tuple(notes)
    )  # fmt: skip


@dataclass(frozen=True)
class DimensionScores(BriefResult):
    """Where each text stands on each dimension."""

    frame: pl.DataFrame
    """item, dimension, n (cases), score, lower, upper, standard."""
    dimensions: tuple[str, ...]
    files: ClassVar = {"scores": "frame"}

    def table(self) -> pl.DataFrame:
        """One row per text, one column per dimension: the standardised scores."""
        return self.frame.pivot(on="dimension", index="item", values="standard", maintain_order=True)

    def plot(self, width_cm: float = 16) -> Figure:
        """The standardised scores, the text that stands highest on the first dimension on top."""
        rows = self.table().sort(self.dimensions[0], descending=True).rename({"item": "label"})
        return matrix_plot(rows, self.dimensions, str(self.summary[0]), "standardised scores", width_cm)

    @property
    def summary(self) -> tuple[Message, ...]:
        """How many texts have scores, on what, and from how many cases."""
        cases = int(self.frame["n"].sum()) // len(self.dimensions)
        about = {"texts": self.frame["item"].n_unique(), "dimensions": list(self.dimensions), "cases": cases}
        return (Message("dimension_scores.scores", about),)


def dimension_scores(
    found: Factors, method: Literal["regression", "bartlett"] = "regression", level: float = 0.95
) -> DimensionScores:
    """The scores of all texts on the dimensions of a factor solution.

    Parameters
    ----------
    found
        The solution, from `factors`.
    method
        How scores are computed.

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
    return DimensionScores(frame, found.names, settings={"method": method, "level": level}, notes=found.notes)


INFLATED = 10.0
LONG = 6
"""A word of more letters is long."""
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
        """How much the dimensions explain, and which of them has the largest weight."""
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
        # The number of texts was checked, so what is left is dimensions that follow from each other.
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
        """How many correlations differ from zero, and the strongest of them."""
        clear = self.frame.filter(pl.col("adjusted") < ALPHA).height
        found = [Message("feature_correlations.clear", {"clear": clear, "n": self.frame.height, "alpha": ALPHA})]
        top = next((row for row in self.table().to_dicts() if known(row["pearson"]) is not None), None)
        if top is not None:
            strongest = {"dimension": top["dimension"], "feature": top["feature"], "r": top["pearson"]}
            found.append(Message("feature_correlations.strongest", strongest))
        return tuple(found)


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
    """The correlations of some columns of a table of texts with others; what is missing is left out pair by pair.

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
    n = len(values)
    if (np.ptp(values, axis=0) == 0).any():
        return n, np.nan, np.nan, np.nan, np.nan, np.nan
    r = float(pearson(values)[0, 1])
    ranks = np.column_stack([pl.Series(column).rank().to_numpy() for column in values.T])
    spearman = float(pearson(ranks)[0, 1])
    if abs(r) > 1 - 1e-12:
        return n, r, r, r, 0.0, spearman
    half = float(ndtri((1 + level) / 2)) / np.sqrt(n - 3)
    lower, upper = np.tanh(np.arctanh(r) - half), np.tanh(np.arctanh(r) + half)
    t = r * np.sqrt((n - 2) / (1 - r**2))
    return n, r, float(lower), float(upper), float(2 * stdtr(n - 2, -abs(t))), spearman


def _columns(texts: Any, names: Sequence[str]) -> tuple[Floats, list[Message]]:
    """These columns of the texts that have all of them, and a note on the others."""
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
    gone = frame.height - whole.height
    notes = [Message("dimension_links.missing_values", {"n": gone})] if gone else []
    return whole.to_numpy(), notes
