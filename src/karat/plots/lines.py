"""Lines with intervals: means of conditions, the course of a questionnaire, profiles of a differential, power."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from karat.plots import BLUE, GREEN, GREY, LIGHT_GREY, ORANGE, PURPLE, SKY_BLUE, VERMILLION, Axes, Figure
from karat.plots.style import NARROW_CM, figure, label_rows, log_seconds, stack_names, text_beside, threshold_line

COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, GREY)
MARKERS = ("o", "D", "^", "s", "v", "x")
LINES = len(COLOURS)
"""The number of lines that can be distinguished."""
APART = 0.06
"""The distance between the points of two lines, so that their intervals do not cover each other."""
SHIFT = 0.008
"""The same along a questionnaire, as a share of the axis."""
PROFILES_APART = 0.1
"""The same for profiles."""
GAP = 0.06
"""The distance between names, as a share of the axis."""
ROOM = 0.12
"""The space above and below the intervals, as a share of their range."""
LETTER = 0.24
"""The approximate width of a letter, in cm of the figure."""


def means_plot(
    panels: Mapping[str, pl.DataFrame], factors: Sequence[str], ylabel: str, title: str,
    points: tuple[Sequence[float], Sequence[str]] = ((), ()), width_cm: float | None = None,
) -> Figure:  # fmt: skip
    """Means (estimate, lower, upper) of one or two factors: dots, or a line for each level of the second.

    `panels` are tables by their heading. `points` are the thresholds of an ordinal scale and the answers between them.
    """
    drawable = pl.concat(part.select("lower", "estimate", "upper") for part in panels.values()).to_numpy()
    low, high = float(np.nanmin(drawable)), float(np.nanmax(drawable))
    room = ROOM * (high - low)
    width = width_cm or (16 if len(panels) > 1 else 12)
    down = len(panels) if width < NARROW_CM else 1
    with figure(width, 9 if down == 1 else 6.5 * down, title) as fig:
        all_axes = fig.subplots(down, len(panels) // down, sharey=True, squeeze=False).ravel()
        for axes, (heading, rows) in zip(all_axes, panels.items(), strict=True):
            axes.set_ylim(low - room, high + room)
            _means(axes, rows, factors)
            axes.set_title(heading)
        for axes in all_axes[:down]:
            axes.set_ylabel(ylabel)
        _points(all_axes.tolist(), *points)
    return fig


def _means(axes: Axes, rows: pl.DataFrame, names: Sequence[str]) -> None:
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
    """The names of lines beside their ends, moved apart where they would touch."""
    low, high = axes.get_ylim()
    heights = [end if np.isfinite(end) else low for end in ends]
    stack_names(axes, x, list(zip(heights, texts, COLOURS, strict=False)), GAP * (high - low))


def _points(all_axes: list[Axes], thresholds: Sequence[float], answers: Sequence[str]) -> None:
    """Lines between the points of the scale, and the points themselves at the right edge."""
    places = np.asarray(thresholds, dtype=np.float64)
    low, high = all_axes[-1].get_ylim()
    for axes in all_axes:
        for place in places[(places > low) & (places < high)]:
            axes.axhline(place, color=LIGHT_GREY, linewidth=0.8, zorder=0)
    edges = np.clip(np.concatenate([[-np.inf], places, [np.inf]]), low, high)
    for answer, bottom, top in zip(answers, edges, edges[1:], strict=False):
        if top - bottom > 0.04 * (high - low):
            at, where = (1, (bottom + top) / 2), ("axes fraction", "data")
            text_beside(all_axes[-1], f"answer {answer}", at, (4, 0), xycoords=where, va="center", color=GREY)


def course_plot(panels: Mapping[str, pl.DataFrame], conditions: Sequence[str], intervals: str, title: str) -> Figure:
    """Means along the questionnaire, a line for each condition: "response" and "rt" (in seconds) beside each other.

    The tables have condition, place, mean, lower and upper.
    """
    with figure(16 if len(panels) > 1 else 12, 8, title) as fig:
        all_axes = np.atleast_1d(fig.subplots(1, len(panels)))
        for axes, (measure, rows) in zip(all_axes, panels.items(), strict=True):
            places = rows["place"].to_numpy()
            first, last = float(places.min()), float(places.max())
            ends = _course(axes, rows, conditions, SHIFT * (last - first))
            axes.set_xlabel("position in the questionnaire")
            if measure == "rt":
                log_seconds(axes, "y", f"response time (s), with {intervals}")
                continue
            axes.set_ylabel(f"mean answer, with {intervals}")
            if len(conditions) > 1:
                name_lines(axes, last, ends, conditions)
    return fig


def _course(axes: Axes, rows: pl.DataFrame, conditions: Sequence[str], width: float) -> list[float]:
    """Draw the lines; returns the height at which each ends."""
    ends = []
    for number, condition in enumerate(conditions):
        part = rows.filter(pl.col("condition") == condition)
        x = part["place"].to_numpy() + (number - (len(conditions) - 1) / 2) * width
        axes.vlines(x, part["lower"].to_numpy(), part["upper"].to_numpy(), color=COLOURS[number], linewidth=0.8)
        axes.plot(x, part["mean"].to_numpy(), color=COLOURS[number], marker=MARKERS[number], markersize=4)
        # A condition may have answers but no times.
        ends.append(float(part["mean"][-1]) if part.height else np.nan)
    return ends


BESIDE = 0.25
"""How far the axis of profiles goes beyond the means, as a share of their range."""


def profile_plot(
    rows: pl.DataFrame, pairs: Sequence[str], groups: Sequence[str], poles: Mapping[str, tuple[str, str]],
    intervals: str, title: str, width_cm: float,
) -> Figure:  # fmt: skip
    """Profiles (group, mean, lower, upper, by pair) with their intervals; names stand above their first points."""
    places = np.arange(len(pairs))
    with figure(width_cm, 3.5 + 0.7 * len(places) + 0.35 * len(groups), title) as fig:
        axes = fig.subplots()
        starts = {}
        for number, group in enumerate(groups):
            part = rows.filter(pl.col("group") == group)
            mean, lower, upper = (part[name].to_numpy() for name in ("mean", "lower", "upper"))
            heights = places + (number - (len(groups) - 1) / 2) * PROFILES_APART
            axes.plot(mean, heights, color=COLOURS[number], marker=MARKERS[number], markersize=4)
            axes.hlines(heights, lower, upper, color=COLOURS[number], linewidth=0.8)
            starts[group] = (float(mean[0]), COLOURS[number])
        ends = [poles.get(pair, (pair, "")) for pair in pairs]
        axes.set_yticks(places, [left for left, _ in ends])
        axes.set_ylim(len(places) - 0.5, -0.5)
        axes.grid(axis="y")
        axes.set_xlabel(f"mean rating, with {intervals}")
        if any(right for _, right in ends):
            other = axes.secondary_yaxis("right")
            other.set_yticks(places, [right for _, right in ends])
            other.spines["right"].set_visible(False)
        left, right = axes.get_xlim()
        means = rows["mean"].drop_nulls().drop_nans()
        low, high = float(means.min()), float(means.max())  # type: ignore[arg-type]
        # The wide interval of a few ratings would leave little room for the means, so it is cut at the edge.
        beside = BESIDE * (high - low) or 1.0
        left, right = max(left, low - beside), min(right, high + beside)
        axes.set_xlim(left, right)
        _name_profiles(axes, starts, LETTER / width_cm * (right - left))
    return fig


def _name_profiles(axes: Axes, starts: Mapping[str, tuple[float, str]], letter: float) -> None:
    """Each line's name above its first point, higher where it would touch another name."""
    names = sorted(starts.items(), key=lambda item: item[1][0])
    halves = [letter * (len(group) + 1) / 2 for group, _ in names]
    rows = label_rows((x - half, x + half) for (_, (x, _)), half in zip(names, halves, strict=True))
    for row, (group, (x, colour)) in zip(rows, names, strict=True):
        text_beside(axes, group, (x, -0.5), (0, 3 + 10 * row), color=colour, ha="center")


POWER_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY_BLUE)
POWER_MARKERS = "oDs^vP"
STYLES = ("-", "--", "-.", ":")


def power_plot(cells: pl.DataFrame, unit: str, xlabel: str, title: str, key: str) -> Figure:
    """A power curve (participants, power, lower, upper) for each number of items and each effect."""
    with figure(16, 9, title, key) as fig:
        axes = fig.subplots()
        lines = cells.select("items", "effect").unique(maintain_order=True).rows()
        for number, (items, effect) in enumerate(lines):
            curve = cells.filter(pl.col("items") == items, pl.col("effect") == effect).sort("participants")
            x, y = curve["participants"].to_numpy(), curve["power"].to_numpy()
            errors = [y - curve["lower"].to_numpy(), curve["upper"].to_numpy() - y]
            axes.errorbar(
                x, y, yerr=errors, color=POWER_COLOURS[number % len(POWER_COLOURS)],
                marker=POWER_MARKERS[number % len(POWER_MARKERS)],
                linestyle=STYLES[number // len(POWER_COLOURS) % len(STYLES)], markersize=4, capsize=2, elinewidth=0.8,
                label=f"{items} items, {effect:.3g} {unit}",
            )  # fmt: skip
        axes.set_ylim(0, 1.02)
        axes.set_xlabel(xlabel)
        axes.set_ylabel("power")
        axes.grid(axis="y")
        threshold_line(axes, 0.8, ".80")
        if len(lines) > 1:
            axes.legend(loc="best")
    return fig
