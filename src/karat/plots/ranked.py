"""Stimuli below each other: points with intervals, and symbols of decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karat.plots.style import BLUE, GREY, LIGHT_GREY, VERMILLION, figure, say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 60
"""More rows than this cannot be read; then those at both ends are drawn."""
LONGEST = 40
"""How many letters of a label are written."""
COLOURS = {"✓": BLUE, "×": VERMILLION, "~": GREY}


def short(label: str) -> str:
    """A label that fits beside an axis.

    >>> len(short("a" * 50))
    40
    """
    return label if len(label) <= LONGEST else label[: LONGEST - 1] + "…"


def labelled(rows: pl.DataFrame, labels: Sequence[str], value: str) -> pl.DataFrame:
    """Rows for `ranked_plot`: named by those of the columns that are there and not empty; without missing values.

    >>> rows = pl.DataFrame({"question": ["", ""], "ceiling": ["a", "b"], "r": [0.5, None]})
    >>> labelled(rows, ["question", "ceiling"], "r").to_dicts()
    [{'label': 'a', 'estimate': 0.5, 'lower': None, 'upper': None}]
    """
    named = [pl.col(name).cast(pl.String) for name in labels if name in rows.columns]
    ends = [pl.col(end) if end in rows.columns else pl.lit(None).alias(end) for end in ("lower", "upper")]
    label = pl.concat_list(pl.when(one != "").then(one) for one in named).list.drop_nulls().list.join(", ")
    found = rows.select(
        label=label, estimate=pl.col(value).cast(pl.Float64), **{str(one.meta.output_name()): one for one in ends}
    )
    return found.with_columns(pl.col("lower", "upper").cast(pl.Float64)).filter(
        pl.col("estimate").is_not_null() & pl.col("estimate").is_not_nan()
    )


def ranked_plot(rows: pl.DataFrame, xlabel: str, title: str, width_cm: float = 16) -> Figure:
    """A dot with its interval for each row (label, estimate, lower, upper), in their order; at most sixty are drawn.

    >>> rows = pl.DataFrame({"label": ["a", "b"], "estimate": [1.0, 0.0], "lower": [0.5, -0.5], "upper": [1.5, 0.5]})
    >>> [text.get_text() for text in ranked_plot(rows, "points", "a is the strongest").axes[0].get_yticklabels()]
    ['a', 'b']
    """
    left_out = rows.height - SHOWN
    if left_out > 0:
        rows = pl.concat([rows.head(SHOWN // 2), rows.tail(SHOWN - SHOWN // 2)])
    places = np.arange(rows.height, dtype=np.float64)
    # A gap stands for those in between.
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
        axes.set_yticks(places, [short(label) for label in rows["label"]])
        axes.set_ylim(places[-1] + 0.7 if len(places) else 1, -0.7)
        axes.grid(axis="x")
        axes.set_xlabel(xlabel)
        say(drawn, title)
    return drawn


def symbols_plot(rows: pl.DataFrame, columns: Sequence[str], key: str, title: str, width_cm: float = 16) -> Figure:
    """Symbols of decisions: a row for each pair (`pair` names it), a column for each measure.

    >>> rows = pl.DataFrame({"pair": ["1"], "likert": ["✓"], "choice": ["×"]})
    >>> symbols_plot(rows, ["likert", "choice"], "", "Measures differ").get_suptitle()
    'Measures differ'
    """
    with figure(width_cm, 3.2 + 0.5 * max(1, rows.height)) as drawn:
        axes = drawn.subplots()
        for place, row in enumerate(rows.to_dicts()):
            axes.axhline(place + 0.5, color=LIGHT_GREY, linewidth=0.4)
            for column, name in enumerate(columns):
                symbol = row[name]
                axes.text(
                    column, place, symbol, color=COLOURS.get(symbol, GREY), fontsize=11, fontweight="bold",
                    horizontalalignment="center", verticalalignment="center",
                )  # fmt: skip
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
        say(drawn, title)
    return drawn
