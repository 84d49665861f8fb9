"""Strengths of stimuli as points with intervals, the strongest on top."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karat.figures import BLUE, GREY, figure, say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from karat.measure.strengths.strengths import Strengths

SHOWN = 60
"""More stimuli than this cannot be read; then the strongest and the weakest are drawn."""
LONGEST = 40
"""How many letters of a label are written."""


def strength_figure(found: Strengths, width_cm: float = 16) -> Figure:
    """A dot with its interval for each stimulus, at most sixty: half of them the strongest, half the weakest.

    >>> import karat
    >>> from karat.measure.strengths.strengths import strengths
    >>> drawn = strength_figure(strengths(karat.datasets.load("crowd"), "mean"))
    >>> len(drawn.axes[0].get_yticks())
    60
    """
    labels = pl.Series("label", found.labels)
    known = found.frame.with_columns(labels).filter(pl.col("estimate").is_not_null())
    rows, left_out = known, known.height - SHOWN
    if left_out > 0:
        rows = pl.concat([known.head(SHOWN // 2), known.tail(SHOWN - SHOWN // 2)])
    places = np.arange(rows.height, dtype=np.float64)
    # A gap stands for those between the strongest and the weakest.
    places[SHOWN // 2 :] += left_out > 0
    with figure(width_cm, 3.2 + 0.36 * (rows.height + (left_out > 0))) as drawn:
        axes = drawn.subplots()
        estimate, lower, upper = (rows[name].fill_null(np.nan).to_numpy() for name in ("estimate", "lower", "upper"))
        axes.hlines(places, lower, upper, color=BLUE, linewidth=1.0)
        axes.plot(estimate, places, "o", color=BLUE, markersize=3.5)
        if left_out > 0:
            middle = float((estimate.max() + estimate.min()) / 2)
            axes.text(middle, SHOWN // 2, f"... {left_out:,} more between these ...", color=GREY,
                      horizontalalignment="center", verticalalignment="center")  # fmt: skip
        axes.set_yticks(places, [_short(label) for label in rows["label"]])
        axes.set_ylim(places[-1] + 0.7 if len(places) else 1, -0.7)
        axes.grid(axis="x")
        axes.set_xlabel(f"{found.unit}, with {100 * found.level:g} % intervals")
        say(drawn, _finding(found, rows))
    return drawn


def _short(label: str) -> str:
    return label if len(label) <= LONGEST else label[: LONGEST - 3] + "..."


def _finding(found: Strengths, rows: pl.DataFrame) -> str:
    """Which two lie at the ends, and how far apart."""
    if rows.height < 2:
        return f"The strength of {rows['label'][0]}" if rows.height else "No stimulus has a strength"
    best, worst = rows.row(0, named=True), rows.row(-1, named=True)
    return (
        f"{_short(best['label'])} is the strongest of {found.frame.height:,} stimuli, {_short(worst['label'])} the "
        f"weakest: {best['estimate']:.2f} and {worst['estimate']:.2f}"
    )
