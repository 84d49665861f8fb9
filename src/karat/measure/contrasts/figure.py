"""The means of a factorial design as a picture: dots for one factor, lines for two, panels for three.

Means are those of the model, with their intervals. For ratings the thresholds between the points of the scale are drawn
across, so that a mean on the latent scale can be read as an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from karat.figures import BLUE, GREEN, GREY, LIGHT_GREY, ORANGE, PURPLE, VERMILLION, figure, say
from karat.measure.contrasts.contrasts import Contrasts, term_test
from karat.measure.errors import MeasureError
from karat.measure.texts import interval
from karat.messages import Message
from karat.models.rounding import known

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, GREY)
MARKERS = ("o", "D", "^", "s", "v", "x")
APART = 0.06
"""How far apart the points of two lines stand, so that their intervals do not cover each other."""
MOST = 3
GAP = 0.06
"""How far apart names stand, as a share of the axis."""
ROOM = 0.12
"""White above and below the intervals, as a share of their range."""


def interaction_figure(found: Contrasts) -> Figure:
    """Draw the largest term whose variables are all factors.

    >>> import karat
    >>> from karat.measure.contrasts.contrasts import contrasts
    >>> likert = karat.datasets.load("likert")
    >>> found = contrasts(likert, "response ~ order * integration + (1 | participant) + (1 | item)")
    >>> interaction_figure(found).axes[0].get_xlabel()
    'order'
    """
    terms = found.means["term"].unique(maintain_order=True).to_list()
    if not terms:
        raise MeasureError(Message("contrasts.no_factors"))
    shown = max(terms, key=lambda term: (len(_of_term(found, term)), -terms.index(term)))
    rows, names = found.means.filter(pl.col("term") == shown), _of_term(found, shown)
    if len(names) > MOST:
        raise MeasureError(Message("contrasts.too_many_factors", {"n": len(names)}))
    if len(names) > 1 and rows[names[1]].n_unique() > len(COLOURS):
        raise MeasureError(Message("contrasts.too_many_levels", {"factor": names[1], "most": len(COLOURS)}))
    drawable = rows.select("lower", "estimate", "upper").to_numpy()
    if not np.isfinite(drawable).any():
        raise MeasureError(Message("contrasts.no_means"))
    low, high = float(np.nanmin(drawable)), float(np.nanmax(drawable))
    panels = rows[names[2]].unique(maintain_order=True).to_list() if len(names) == MOST else [None]
    with figure(16 if len(panels) > 1 else 12, 9) as drawn:
        all_axes = np.atleast_1d(drawn.subplots(1, len(panels), sharey=True))
        room = ROOM * (high - low)
        for axes, panel in zip(all_axes, panels, strict=True):
            axes.set_ylim(low - room, high + room)
            _panel(axes, rows if panel is None else rows.filter(pl.col(names[2]) == panel), names)
            if panel is not None:
                axes.set_title(f"{names[2]}: {panel}")
        all_axes[0].set_ylabel(f"{found.unit}, with {100 * found.level:.0f} % intervals")
        _thresholds(found, all_axes.tolist())
        say(drawn, _finding(found, shown))
    return drawn


def _of_term(found: Contrasts, term: str) -> list[str]:
    """The factors of a term."""
    first = found.means.filter(pl.col("term") == term).row(0, named=True)
    return [name for name in found.factors if first[name] is not None]


def _panel(axes: Axes, rows: pl.DataFrame, names: list[str]) -> None:
    levels = rows[names[0]].unique(maintain_order=True).to_list()
    lines = rows[names[1]].unique(maintain_order=True).to_list() if len(names) > 1 else [None]
    ends = []
    for number, line in enumerate(lines):
        part = rows if line is None else rows.filter(pl.col(names[1]) == line)
        x = np.array([levels.index(level) for level in part[names[0]]]) + (number - (len(lines) - 1) / 2) * APART
        mean, lower, upper = (part[name].to_numpy() for name in ("estimate", "lower", "upper"))
        colour = COLOURS[number]
        axes.vlines(x, lower, upper, color=colour, linewidth=0.9)
        axes.plot(x, mean, color=colour, marker=MARKERS[number], markersize=5, linestyle="-" if line else "none")
        ends.append(float(mean[-1]))
    axes.set_xticks(range(len(levels)), levels)
    axes.set_xlim(-0.4, len(levels) - 1 + (0.75 if len(lines) > 1 else 0.4))
    axes.set_xlabel(names[0])
    if len(names) > 1:
        texts = [f"{names[1]}: {line}" for line in lines]
        name_lines(axes, len(levels) - 1 + len(lines) * APART / 2, ends, texts)


def name_lines(axes: Axes, x: float, ends: Sequence[float], texts: Sequence[str]) -> None:
    """The names of lines beside their ends, moved apart where they would touch.

    >>> with figure(8, 5) as drawn:
    ...     axes = drawn.subplots()
    ...     name_lines(axes, 0.5, [0.5, 0.5], ["one", "two"])
    >>> [round(float(text.xy[1]), 3) for text in axes.texts]
    [0.47, 0.53]
    """
    low, high = axes.get_ylim()
    gap = GAP * (high - low)
    order = np.argsort(ends, kind="stable")
    places = np.asarray(ends, dtype=np.float64)[order]
    places = np.where(np.isfinite(places), places, low)
    for _ in range(len(places) * 20):
        close = np.flatnonzero(np.diff(places) < gap * 0.999)
        if not len(close):
            break
        first = close[0]
        middle = places[first : first + 2].mean()
        places[first : first + 2] = middle - gap / 2, middle + gap / 2
    for number, place in zip(order, places, strict=True):
        axes.annotate(
            texts[number], (x, place), xytext=(6, 0), textcoords="offset points", color=COLOURS[number],
            verticalalignment="center", annotation_clip=False,
        )  # fmt: skip


def _thresholds(found: Contrasts, all_axes: list[Axes]) -> None:
    """Lines between the points of the scale, and the points themselves at the right edge."""
    if found.model is None or found.model.family != "ordinal":
        return
    places = found.model.fit.thresholds - found.model.fit.thresholds.mean()
    low, high = all_axes[-1].get_ylim()
    for axes in all_axes:
        for place in places[(places > low) & (places < high)]:
            axes.axhline(place, color=LIGHT_GREY, linewidth=0.8, zorder=0)
    edges = np.clip(np.concatenate([[-np.inf], places, [np.inf]]), low, high)
    for answer, bottom, top in zip(found.model.answers, edges, edges[1:], strict=False):
        if top - bottom > 0.04 * (high - low):
            all_axes[-1].annotate(
                f"answer {answer}", (1, (bottom + top) / 2), xycoords=("axes fraction", "data"), xytext=(4, 0),
                textcoords="offset points", verticalalignment="center", color=GREY, annotation_clip=False,
            )  # fmt: skip


def _finding(found: Contrasts, term: str) -> str:
    """What the picture shows: the difference, the difference of differences, or the test of the term."""
    of_term, pairs = (table.filter(pl.col("term") == term) for table in (found.interactions, found.differences))
    if of_term.height:
        row, names = of_term.row(0, named=True), _of_term(found, term)
        changes = "changes" if row["p"] < 1 - found.level else "is not shown to change"
        return f"The difference of {names[0]} {changes} with {' and '.join(names[1:])}: {_value(row)}"
    if pairs.height == 1 and pairs["estimate"].is_finite().item():
        row = pairs.row(0, named=True)
        return f"{row['first']} minus {row['second']} is {_value(row)}"
    tests = found.frame.filter(pl.col("term") == term)
    if not tests.height:
        return f"Means of {' and '.join(_of_term(found, term))}: cells of the design are empty"
    return f"{term}: {term_test(tests.row(0, named=True))}"


def _value(row: dict[str, Any]) -> Message:
    ends = interval(row["lower"], row["upper"])
    return Message("estimate.test", {"estimate": row["estimate"], "interval": ends, "p": known(row["p"])})
