"""Profiles of a semantic differential, and the scores of texts on its dimensions.

A profile has the mean rating of each text, or group of texts or participants, on each pair. Polarity is aligned first.
Within a group each participant counts once, with the mean of their ratings; the interval is Student's over
participants, because ratings of one participant are dependent.

The score of a text on a dimension is the mean of its factor scores, with Student's interval over participants. Factor
scores have mean 0 over all cases. `standard` is the same score standardised over texts, so that dimensions can be
compared: 1 is one standard deviation of texts above the average text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from karat.errors import counted
from karat.judgments import Judgments
from karat.judgments.answer_codes import ends
from karat.judgments.columns import unknown_name
from karat.measure.dimensions.factors import Factors
from karat.measure.dimensions.matrix import aligned_ratings
from karat.measure.result import BriefResult, MeasureError
from karat.messages import Message
from karat.models.proportions import mean_interval
from karat.plots import Figure
from karat.plots.lines import LINES, profile_plot
from karat.plots.shares import matrix_plot


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
        selected = list(self.groups if groups is None else groups)
        unknown = [group for group in selected if group not in self.groups]
        if unknown:
            raise MeasureError(Message("profiles.unknown_group", {"group": unknown[0], "column": self.by}))
        if not 1 <= len(selected) <= LINES:
            raise MeasureError(Message("profiles.lines", {"n": len(selected), "most": LINES}))
        intervals = f"{100 * self.settings['level']:.0f} % intervals"
        return profile_plot(self.frame, self.pairs, selected, poles or {}, intervals, self._finding(selected), width_cm)

    def _finding(self, selected: Sequence[str]) -> str:
        """The pair on which the drawn lines are farthest apart."""
        part = self.frame.filter(pl.col("group").is_in(selected), pl.col("mean").is_not_nan())
        if len(selected) < 2 or not part.height:
            return f"The profile of {selected[0]} on {counted(len(self.pairs), 'pair')}"
        widest = _widest(part)
        where = f"{widest['pair']} ({widest['range']:.1f} points)"
        of_all = "" if len(selected) == len(self.groups) else f"Of the {len(selected)} shown, "
        return f"{of_all}{widest['high']} and {widest['low']} lie farthest apart on {where}"

    @property
    def summary(self) -> tuple[Message, ...]:
        """The number of profiles, and the pair on which they differ most."""
        about = {"groups": len(self.groups), "by": self.by, "pairs": len(self.pairs)}
        messages = [Message("profiles.groups", about)]
        if len(self.groups) > 1:
            widest = _widest(self.frame)
            messages.append(Message("profiles.widest", {"pair": widest["pair"], "points": widest["range"]}))
        return tuple(messages)


def _widest(rows: pl.DataFrame) -> dict[str, Any]:
    """The pair on which groups are farthest apart, the distance, and the groups at the ends."""
    spread = rows.group_by("pair", maintain_order=True).agg(
        (pl.col("mean").max() - pl.col("mean").min()).alias("range"),
        pl.col("group").sort_by("mean").last().alias("high"),
        pl.col("group").sort_by("mean").first().alias("low"),
    )
    return spread.sort("range", descending=True, maintain_order=True).row(0, named=True)


def profiles(
    judgments: Judgments, by: str = "item", functions: Sequence[str] = ("test",), level: float = 0.95
) -> Profiles:
    """The profile of each text, or of each value of another column of judgments or participants.

    Parameters
    ----------
    by
        The column with a profile for each value.

    >>> import karat
    >>> rated = {"participant": ["p1", "p1", "p2", "p2"], "item": ["a"] * 4, "question": ["clear", "simple"] * 2,
    ...          "response": [7, 2, 6, 3]}
    >>> profiles(karat.Judgments(rated, karat.Ordinal(7))).frame["mean"].to_list()
    [6.5, 2.5]
    """
    rows, notes = aligned_ratings(judgments, functions)
    if by not in rows.columns:
        if by not in judgments.participants.columns:
            columns = [name for name in (*rows.columns, *judgments.participants.columns) if name != "rating"]
            raise MeasureError(unknown_name("unknown.column", by, list(dict.fromkeys(columns))))
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
    ratings = {key: part["rating"].to_numpy() for key, part in people.group_by("group", "question")}
    cells = [
        (group, pair, len(values), mean, max(lower, least), min(upper, most))
        for group in groups
        for pair in pairs
        for values in [np.asarray(ratings.get((group, pair), np.empty(0)), dtype=np.float64)]
        for (mean, lower, upper), (least, most) in [(mean_interval(values, level), ends(judgments.scales[pair]))]
    ]
    frame = pl.DataFrame(cells, schema=["group", "pair", "n", "mean", "lower", "upper"], orient="row")
    return Profiles(
        frame, by, groups, pairs, settings={"by": by, "level": level, "functions": list(functions)}, notes=tuple(notes)
    )  # fmt: skip


@dataclass(frozen=True)
class DimensionScores(BriefResult):
    """The scores of texts on dimensions."""

    frame: pl.DataFrame
    """item, dimension, n (cases), score, lower, upper, standard."""
    dimensions: tuple[str, ...]
    files: ClassVar = {"scores": "frame"}

    def table(self) -> pl.DataFrame:
        """One row per text, one column per dimension: the standardised scores."""
        return self.frame.pivot(on="dimension", index="item", values="standard", maintain_order=True)

    def plot(self, width_cm: float = 16) -> Figure:
        """The standardised scores, with the highest text on the first dimension on top."""
        rows = self.table().sort(self.dimensions[0], descending=True).rename({"item": "label"})
        return matrix_plot(rows, self.dimensions, str(self.summary[0]), "standardised scores", width_cm)

    @property
    def summary(self) -> tuple[Message, ...]:
        """The numbers of texts and cases, and the dimensions."""
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
