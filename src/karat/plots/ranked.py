"""Stimuli below each other: points with intervals, symbols of decisions, and ranks by several measures.

Also the latent line of an ordinal model, cut by thresholds into the points of the scale.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from karat.plots import BLACK, BLUE, GREEN, GREY, LIGHT_GREY, ORANGE, PURPLE, SKY_BLUE, VERMILLION, Axes, Figure
from karat.plots.style import figure, label_rows, silverman_width, text_beside
from karat.types import Floats

SHOWN = 60
"""The most rows that can be read; of more, those at both ends are drawn."""
LONGEST = 40
"""The most letters of a label."""
COLOURS = {"✓": BLUE, "×": VERMILLION, "~": GREY}


def short(label: str, longest: int = LONGEST) -> str:
    """A label that fits beside an axis."""
    return label if len(label) <= longest else label[: longest - 1] + "…"


def labelled(rows: pl.DataFrame, labels: Sequence[str], value: str) -> pl.DataFrame:
    """Rows for `ranked_plot`, labelled by those columns that exist and are not empty, without missing values."""
    named = [pl.col(name).cast(pl.String) for name in labels if name in rows.columns]
    ends = [pl.col(end) if end in rows.columns else pl.lit(None).alias(end) for end in ("lower", "upper")]
    label = pl.concat_list(pl.when(name != "").then(name) for name in named).list.drop_nulls().list.join(", ")
    table = rows.select(label.alias("label"), pl.col(value).alias("estimate"), *ends)
    table = table.with_columns(pl.col("estimate", "lower", "upper").cast(pl.Float64))
    return table.filter(pl.col("estimate").is_not_null() & pl.col("estimate").is_not_nan())


def ranked_plot(rows: pl.DataFrame, xlabel: str, title: str, width_cm: float = 16) -> Figure:
    """A dot with its interval for each row (label, estimate, lower, upper), in their order; at most sixty are drawn."""
    left_out = rows.height - SHOWN
    if left_out > 0:
        rows = pl.concat([rows.head(SHOWN // 2), rows.tail(SHOWN - SHOWN // 2)])
    places = np.arange(rows.height, dtype=np.float64)
    # A gap stands for those in between.
    places[SHOWN // 2 :] += left_out > 0
    with figure(width_cm, 3.2 + 0.36 * (rows.height + (left_out > 0)), title) as fig:
        axes = fig.subplots()
        estimate, lower, upper = (rows[name].fill_null(np.nan).to_numpy() for name in ("estimate", "lower", "upper"))
        axes.hlines(places, lower, upper, color=BLUE, linewidth=1.0)
        axes.plot(estimate, places, "o", color=BLUE, markersize=3.5)
        if left_out > 0:
            middle = float((estimate.max() + estimate.min()) / 2)
            axes.text(
                middle, SHOWN // 2, f"... {left_out:,} more between these ...", color=GREY, ha="center", va="center"
            )
        axes.set_yticks(places, [short(label) for label in rows["label"]])
        axes.set_ylim(places[-1] + 0.7 if len(places) else 1, -0.7)
        axes.grid(axis="x")
        axes.set_xlabel(xlabel)
    return fig


def symbols_plot(rows: pl.DataFrame, columns: Sequence[str], key: str, title: str, width_cm: float = 16) -> Figure:
    """Symbols of decisions: a row for each pair (`pair` names it), a column for each measure."""
    with figure(width_cm, 3.2 + 0.5 * max(1, rows.height), title) as fig:
        axes = fig.subplots()
        for place, row in enumerate(rows.to_dicts()):
            axes.axhline(place + 0.5, color=LIGHT_GREY, linewidth=0.4)
            for column, name in enumerate(columns):
                symbol = row[name]
                colour = COLOURS.get(symbol, GREY)
                axes.text(column, place, symbol, color=colour, size=11, weight="bold", ha="center", va="center")
        axes.set_xlim(-0.5, len(columns) - 0.5)
        axes.set_ylim(max(1, rows.height) - 0.5, -0.5)
        axes.set_xticks(range(len(columns)), [name.replace(", ", ",\n").replace(" ", "\n") for name in columns])
        axes.xaxis.tick_top()
        axes.set_yticks(range(rows.height), [short(pair) for pair in rows["pair"]])
        axes.set_ylabel("pair")
        axes.tick_params(length=0)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        axes.set_xlabel(key)
    return fig


def ranks_plot(scores: pl.DataFrame, text: Callable[[str, str], str], title: str, width_cm: float = 16) -> Figure:
    """Below the diagonal the ranks, above it a text on each two measures; rank 1 is the strongest.

    `scores` has a column for each measure behind the first, which names the stimulus.
    """
    names = scores.columns[1:]
    with figure(width_cm, width_cm + 1.5, title) as fig:
        grid = fig.subplots(len(names), len(names), squeeze=False)
        for row, across in enumerate(names):
            for column, along in enumerate(names):
                axes = grid[row, column]
                if row > column:
                    _draw_ranks(axes, scores, along, across)
                    if row == len(names) - 1:
                        axes.set_xlabel(f"rank, {along}")
                    if column == 0:
                        axes.set_ylabel(f"rank, {across}")
                    continue
                axes.set_xticks([])
                axes.set_yticks([])
                for spine in axes.spines.values():
                    spine.set_visible(False)
                inside = across if row == column else text(across, along)
                weight = "bold" if row == column else "normal"
                axes.text(0.5, 0.5, inside, transform=axes.transAxes, ha="center", va="center", fontweight=weight)
    return fig


def _draw_ranks(axes: Axes, scores: pl.DataFrame, along: str, across: str) -> None:
    """Ranks among the stimuli that both measures have, the strongest top right."""
    both = scores.select(along, across).drop_nulls()
    x, y = (both[name].rank("average", descending=True).to_numpy() for name in (along, across))
    axes.plot([1, len(x)], [1, len(x)], color=LIGHT_GREY, linewidth=0.8, zorder=0)
    axes.plot(x, y, "o", color=BLUE, markersize=float(np.clip(60 / len(x), 2, 4)), alpha=0.7, markeredgewidth=0)
    ends = (len(x) + 0.04 * len(x) + 0.5, 0.5 - 0.04 * len(x))
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
    axes.set_xticks([1, len(x)])
    axes.set_yticks([1, len(x)])


CURVES = (VERMILLION, ORANGE, GREY, SKY_BLUE, BLUE, GREEN, PURPLE, BLACK)
STYLES = ("-", "--", "-.", ":")
LETTER = 0.26
"""The approximate width of a letter, in cm of the figure."""


def thresholds_plot(
    line: Floats, curves: Floats, thresholds: Floats, levels: Sequence[str], estimate: Floats, title: str,
    width_cm: float = 16,
) -> Figure:  # fmt: skip
    """Above, how likely each point (column of `curves`) is along the line; below, where the stimuli lie on it."""
    with figure(width_cm, 10, title) as fig:
        above, below = fig.subplots(2, 1, sharex=True, height_ratios=[3, 1.3])
        _draw_points(above, line, curves, levels)
        _draw_stimuli(below, line, estimate)
        for axes in (above, below):
            for threshold in thresholds:
                axes.axvline(threshold, color=BLACK, linestyle="--", linewidth=0.8, zorder=1)
        divided = [f"{low} | {high}" if max(map(len, levels)) <= 3 else "" for low, high in pairwise(levels)]
        _name_thresholds(above, thresholds, divided, LETTER / width_cm * (line[-1] - line[0]))
    return fig


def _draw_points(axes: Axes, line: Floats, curves: Floats, levels: Sequence[str]) -> None:
    """A curve for each point of the scale, named where it is highest."""
    for number, (level, curve) in enumerate(zip(levels, curves.T, strict=True)):
        colour, style = CURVES[number % len(CURVES)], STYLES[number % len(STYLES)]
        axes.plot(line, curve, color=colour, linestyle=style)
        top = int(curve.argmax())
        side = "left" if top == 0 else "right" if top == len(line) - 1 else "center"
        text_beside(axes, level, (line[top], curve[top]), (0, 2), color=colour, ha=side, fontweight="bold")
    axes.set_ylim(0, 1.08)
    axes.set_ylabel("probability of an answer")


def _name_thresholds(axes: Axes, thresholds: Floats, texts: Sequence[str], letter: float) -> None:
    """Which answers each threshold divides, and its value; higher where the texts would touch."""
    labels = [f"{text}\n{place:.2f}".strip().replace("-", "\N{MINUS SIGN}")
              for place, text in zip(thresholds, texts, strict=True)]  # fmt: skip
    halves = [letter * (max(map(len, label.splitlines())) + 1) / 2 for label in labels]
    rows = label_rows((place - half, place + half) for place, half in zip(thresholds, halves, strict=True))
    for row, place, label in zip(rows, map(float, thresholds), labels, strict=True):
        text_beside(axes, label, (place, 1), (0, 2 + 24 * row), xycoords=("data", "axes fraction"), ha="center")


def _draw_stimuli(axes: Axes, line: Floats, estimate: Floats) -> None:
    """A tick for each stimulus below a curve of their density."""
    density = _density(line, estimate)
    axes.fill_between(line, density, color=SKY_BLUE, alpha=0.5, linewidth=0)
    axes.plot(estimate, np.full(len(estimate), -0.14), "|", color=BLUE, markersize=7, markeredgewidth=0.9)
    axes.set_ylim(-0.3, 1.1)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_ylabel("stimuli")
    axes.set_xlabel("strength (logits above the average stimulus)")


def _density(line: Floats, estimate: Floats) -> Floats:
    """A kernel density with its top at 1; zero if stimuli hardly differ."""
    width = silverman_width(estimate)
    # Narrower than a step of the line, the curve would fall between its points.
    if not width > line[1] - line[0]:
        return np.zeros(len(line))
    heights: Floats = np.exp(-0.5 * ((line[:, None] - estimate) / width) ** 2).sum(axis=1)
    heights /= heights.max()
    return heights
