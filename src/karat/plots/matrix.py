"""Numbers in rows and columns: a table whose cells are coloured by size and sign, and the scree of eigenvalues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karat.plots.ranked import SHOWN, short
from karat.plots.style import BLUE, GREY, VERMILLION, figure, say

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def matrix_plot(rows: pl.DataFrame, columns: Sequence[str], title: str, key: str = "", width_cm: float = 16) -> Figure:
    """A coloured cell with its number for each row (`label` names it) and column; at most the first sixty rows.

    >>> rows = pl.DataFrame({"label": ["a", "b"], "F1": [0.8, -0.1], "F2": [0.0, None]})
    >>> [text.get_text() for text in matrix_plot(rows, ["F1", "F2"], "Two factors").axes[0].texts]
    ['0.80', '0.00', '−0.10', '']
    """
    from matplotlib.colors import LinearSegmentedColormap

    rows = rows.head(SHOWN)
    values = rows.select(pl.col(columns).cast(pl.Float64)).fill_null(np.nan).to_numpy()
    finite = np.abs(values[np.isfinite(values)])
    most = float(finite.max(initial=0.0)) or 1.0
    with figure(width_cm, 3.2 + 0.5 * max(1, rows.height)) as drawn:
        axes = drawn.subplots()
        colours = LinearSegmentedColormap.from_list("karat", [VERMILLION, "white", BLUE])
        axes.imshow(values, cmap=colours, vmin=-most, vmax=most, aspect="auto", alpha=0.6)
        for (row, column), value in np.ndenumerate(values):
            text = "" if np.isnan(value) else f"{round(float(value), 2) + 0.0:.2f}".replace("-", "−")
            axes.text(column, row, text, horizontalalignment="center", verticalalignment="center", fontsize=8)
        axes.set_xticks(range(len(columns)), [short(name) for name in columns])
        axes.set_yticks(range(rows.height), [short(label) for label in rows["label"]])
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.set_xlabel(key)
        say(drawn, title)
    return drawn


def scree_plot(eigenvalues: pl.DataFrame, title: str, key: str, width_cm: float = 16) -> Figure:
    """Eigenvalues (number; component, factor, and both of random data) beside those that random data reach.

    >>> own = {"number": [1, 2], "component": [2.0, 0.5], "component_random": [1.2, 0.9]}
    >>> rows = pl.DataFrame(own | {"factor": [1.5, 0.1], "factor_random": [0.3, 0.1]})
    >>> scree_plot(rows, "One factor", "dashed: random data").get_suptitle()
    'One factor'
    """
    with figure(width_cm, 8) as drawn:
        axes = drawn.subplots()
        x = eigenvalues["number"].to_numpy()
        for kind, colour, marker, at in (("component", BLUE, "o", 0), ("factor", GREY, "s", 1)):
            axes.plot(x, eigenvalues[kind].to_numpy(), color=colour, marker=marker, markersize=4)
            axes.plot(x, eigenvalues[f"{kind}_random"].to_numpy(), color=colour, linestyle="--", linewidth=0.8)
            axes.annotate(
                f"{kind}s", (x[at], eigenvalues[kind][at]), xytext=(6 - 12 * at, 4 - 12 * at),
                textcoords="offset points", color=colour, horizontalalignment=("left", "right")[at],
            )  # fmt: skip
        axes.set_xlabel("number")
        axes.set_ylabel("eigenvalue")
        axes.set_xticks(x[:: max(1, len(x) // 12)])
        say(drawn, title, key)
    return drawn
