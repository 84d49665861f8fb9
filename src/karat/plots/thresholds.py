"""The latent line of an ordinal model, cut by thresholds into the points of the scale."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from karat.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY_BLUE, VERMILLION, figure, say
from karat.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (VERMILLION, ORANGE, GREY, SKY_BLUE, BLUE, GREEN, PURPLE, BLACK)
STYLES = ("-", "--", "-.", ":")
LETTER = 0.26
"""About how wide a letter is, in cm of the figure."""


def thresholds_plot(
    line: Floats, curves: Floats, thresholds: Floats, levels: Sequence[str], estimate: Floats, title: str,
    width_cm: float = 16,
) -> Figure:  # fmt: skip
    """Above, how likely each point (column of `curves`) is along the line; below, where the stimuli lie on it.

    >>> line = np.linspace(-2, 2, 50)
    >>> curves = np.column_stack([line < 0, line >= 0]).astype(float)
    >>> drawn = thresholds_plot(line, curves, np.zeros(1), ["1", "2"], np.array([-1.0, 1.0]), "Two points")
    >>> len(drawn.axes)
    2
    """
    with figure(width_cm, 10) as drawn:
        above, below = drawn.subplots(2, 1, sharex=True, height_ratios=[3, 1.3])
        _draw_points(above, line, curves, levels)
        _draw_stimuli(below, line, estimate)
        for axes in (above, below):
            for threshold in thresholds:
                axes.axvline(threshold, color=BLACK, linestyle="--", linewidth=0.8, zorder=1)
        _name_thresholds(above, thresholds, _texts(levels), LETTER / width_cm * (line[-1] - line[0]))
        say(drawn, title)
    return drawn


def _draw_points(axes: Axes, line: Floats, curves: Floats, levels: Sequence[str]) -> None:
    """A curve for each point of the scale, named where it is highest."""
    for number, (level, curve) in enumerate(zip(levels, curves.T, strict=True)):
        colour, style = COLOURS[number % len(COLOURS)], STYLES[number % len(STYLES)]
        axes.plot(line, curve, color=colour, linestyle=style)
        top = int(curve.argmax())
        axes.annotate(
            level, (line[top], curve[top]), xytext=(0, 2), textcoords="offset points", color=colour,
            horizontalalignment="left" if top == 0 else "right" if top == len(line) - 1 else "center",
            fontweight="bold",
        )  # fmt: skip
    axes.set_ylim(0, 1.08)
    axes.set_ylabel("probability of an answer")


def _name_thresholds(axes: Axes, thresholds: Floats, texts: Sequence[str], letter: float) -> None:
    """Which answers each threshold divides, and its value; higher where the texts would touch."""
    ends: list[float] = []
    for threshold, text in zip(map(float, thresholds), texts, strict=True):
        label = f"{text}\n{threshold:.2f}".strip()
        half = letter * (max(map(len, label.splitlines())) + 1) / 2
        row = next((place for place, end in enumerate(ends) if threshold - half > end), len(ends))
        ends[row : row + 1] = [threshold + half]
        axes.annotate(
            label, (threshold, 1), xycoords=("data", "axes fraction"), xytext=(0, 2 + 24 * row),
            textcoords="offset points", horizontalalignment="center", annotation_clip=False,
        )  # fmt: skip


def _draw_stimuli(axes: Axes, line: Floats, estimate: Floats) -> None:
    """A tick for each stimulus below a curve that says how densely they lie."""
    density = _density(line, estimate)
    axes.fill_between(line, density, color=SKY_BLUE, alpha=0.5, linewidth=0)
    axes.plot(estimate, np.full(len(estimate), -0.14), "|", color=BLUE, markersize=7, markeredgewidth=0.9)
    axes.set_ylim(-0.3, 1.1)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_ylabel("stimuli")
    axes.set_xlabel("strength (logits above the average stimulus)")


def _density(line: Floats, estimate: Floats) -> Floats:
    """A kernel density with Silverman's width, its top at 1; flat zero where stimuli hardly differ."""
    low, high = np.quantile(estimate, [0.25, 0.75])
    spread = min(float(estimate.std(ddof=1)) if len(estimate) > 1 else 0.0, float(high - low) / 1.34 or np.inf)
    width = 0.9 * spread * len(estimate) ** -0.2
    # Narrower than a step of the line, the curve would fall between its points.
    if not width > line[1] - line[0]:
        return np.zeros(len(line))
    found: Floats = np.exp(-0.5 * ((line[:, None] - estimate) / width) ** 2).sum(axis=1)
    found /= found.max()
    return found


def _texts(levels: Sequence[str]) -> list[str]:
    return [f"{low} | {high}" for low, high in pairwise(levels)] if max(map(len, levels)) <= 3 else [""] * (
        len(levels) - 1
    )  # fmt: skip
