"""The specification curve of a multiverse: all estimates in order, who stays, and the settings of each combination.

Each combination of rules has one place on the horizontal axis, the same in all panels, sorted by its estimate (by the
number of participants who stay if no difference is followed). Neighbours that share a setting are one stroke, so that
2,000 combinations make a small file.
"""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.plots import BLACK, FLAGGED, FLAGGED_MARKER, GREY, KEPT, LIGHT_GREY, Axes, Figure
from karat.plots.style import NARROW_CM, figure, text_beside, thousands

Criteria = Mapping[str, tuple[str, Sequence[str]]]
ROW_CM, GAP = 0.42, 0.8
"""The height of a setting, and the gap between criteria in rows."""


def curve_plot(
    rows: pl.DataFrame, criteria: Criteria, everybody: int,
    difference: tuple[str, str] | None, title: str, width_cm: float = 16,
) -> Figure:  # fmt: skip
    """The figure; the stated rules are a vermillion diamond and a vertical line through all panels.

    `rows` are the combinations in their order: kept, stated, a column for each criterion with its setting, and, with a
    `difference` (its name and unit), estimate, lower and upper. `criteria` has the title and settings of each.
    """
    stated = rows["stated"].arg_true()
    place = int(stated[0]) if len(stated) else None
    below = sum(len(settings) + GAP for _, settings in criteria.values())
    heights = ([4.2] if difference else []) + [2.0, ROW_CM * max(below, 2)]
    with figure(width_cm, sum(heights) + 2.4, title) as fig:
        axes = fig.subplots(len(heights), 1, sharex=True, height_ratios=heights)
        if difference:
            _estimates(axes[0], rows, place, *difference, width_cm)
        _participants(axes[-2], rows, place, everybody)
        _settings(axes[-1], rows, criteria, place)
        by = "estimate" if difference else "participants who stay"
        axes[-1].set_xlabel(f"{rows.height:,} combinations,{chr(10) if width_cm < NARROW_CM else ' '}sorted by {by}")
        axes[-1].set_xlim(0.5 - 0.02 * rows.height, 0.5 + 1.02 * rows.height)
        axes[-1].set_xticks([1, rows.height] if rows.height > 1 else [1])
        thousands(axes[-1].xaxis)
    return fig


def _estimates(axis: Axes, rows: pl.DataFrame, place: int | None, what: str, unit: str, width_cm: float) -> None:
    estimate, lower, upper = (rows[name].to_numpy() for name in ("estimate", "lower", "upper"))
    # Every place has a width, so that few combinations are wide boxes and many are a band.
    edges = np.repeat(np.arange(rows.height + 1) + 0.5, 2)[1:-1]
    axis.fill_between(edges, np.repeat(lower, 2), np.repeat(upper, 2), color=LIGHT_GREY, linewidth=0)
    axis.plot(*level_strokes(estimate), color=KEPT, linewidth=2, solid_capstyle="butt")
    axis.axhline(0, color=GREY, linewidth=0.8, linestyle="--")
    if place is not None and not np.isnan(estimate[place]):
        ends = np.array([[estimate[place] - lower[place]], [upper[place] - estimate[place]]])
        axis.errorbar(
            [place + 1], [estimate[place]], yerr=None if np.isnan(ends).any() else ends, fmt=FLAGGED_MARKER,
            color=FLAGGED, markersize=5.5, elinewidth=1.3, capsize=2.5, zorder=4,
        )  # fmt: skip
        by, side = ((-5, 1), "right") if place > 0.7 * rows.height else ((5, 1), "left")
        at = (place + 1, float(np.nan_to_num(upper[place], nan=estimate[place])))
        text_beside(axis, "as stated", at, by, color=FLAGGED, ha=side, va="bottom", fontweight="bold")
    title = textwrap.fill(f"{what}, 95 % interval", 30 if width_cm < NARROW_CM else 70)
    axis.set_title(title, color=GREY, fontweight="bold")
    axis.set_ylabel(textwrap.fill(unit, 24))


def _participants(axis: Axes, rows: pl.DataFrame, place: int | None, everybody: int) -> None:
    numbers = rows["kept"].to_numpy()
    axis.plot(*level_strokes(numbers), color=BLACK, linewidth=2, solid_capstyle="butt")
    if place is not None:
        axis.plot([place + 1], [numbers[place]], FLAGGED_MARKER, color=FLAGGED, markersize=5.5, zorder=4)
    axis.set_ylim(0, everybody * 1.08)
    axis.set_title(f"participants who stay, of {everybody:,}", color=GREY, fontweight="bold")
    axis.set_yticks(sorted({0, round(everybody / 2), everybody}))
    axis.grid(axis="y")
    thousands(axis.yaxis)


def _settings(axis: Axes, rows: pl.DataFrame, criteria: Criteria, place: int | None) -> None:
    """A row for each setting of each criterion, filled where a combination has it."""
    if place is not None:
        axis.axvline(place + 1, color=FLAGGED, linewidth=0.8, zorder=1)
    height = 0.0
    labels: list[tuple[float, str, dict[str, str]]] = []
    for name, (heading, settings) in criteria.items():
        labels.append((height, heading, {"fontweight": "bold"}))
        stated = None if place is None else rows[name][place]
        for setting in settings:
            height -= 1
            labels.append((height, f"{setting}  ◆", {"color": FLAGGED}) if setting == stated else (height, setting, {}))
            x = _strokes((rows[name] == setting).to_numpy())
            axis.plot(x, np.full(len(x), height), color=KEPT, linewidth=5, solid_capstyle="butt")
        height -= 1 + GAP
    axis.set_yticks([at for at, _, _ in labels], [text for _, text, _ in labels])
    for label, (_, _, look) in zip(axis.get_yticklabels(), labels, strict=True):
        label.set(**look)
    axis.set_ylim(min(height + GAP, -1), 0.8)
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_visible(False)


def level_strokes(values: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values as horizontal strokes, one for neighbours that are equal."""
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    ends = np.concatenate([starts[1:], [len(values)]])
    x = np.column_stack([starts + 0.5, ends + 0.5, np.full(len(starts), np.nan)]).ravel()
    return x, np.repeat(values[starts].astype(float), 3)


def _strokes(holds: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The ends of each run of combinations, counted from 1, that have a setting, with a gap (NaN) after it."""
    edges = np.diff(np.concatenate([[0], holds.astype(np.int8), [0]]))
    starts, ends = np.flatnonzero(edges == 1) + 0.5, np.flatnonzero(edges == -1) + 0.5
    return np.column_stack([starts, ends, np.full(len(starts), np.nan)]).ravel()
