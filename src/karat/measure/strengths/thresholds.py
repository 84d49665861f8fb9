"""The picture of an ordinal model: the latent line, cut by thresholds into the points of the scale.

Above: how likely each point is for an average participant, by the strength of a stimulus,

    P(k) = F(alpha_k - b) - F(alpha_k-1 - b).

Below, on the same line: where the stimuli lie, each with a tick, and how densely.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from karat.figures import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY_BLUE, VERMILLION, figure, say
from karat.measure.errors import MeasureError
from karat.measure.strengths.strengths import Strengths
from karat.messages import Message
from karat.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (VERMILLION, ORANGE, GREY, SKY_BLUE, BLUE, GREEN, PURPLE, BLACK)
STYLES = ("-", "--", "-.", ":")
STEPS = 400
MARGIN = 0.7
"""How far, in logits, the line goes on beyond the last stimulus or threshold."""

LETTER = 0.26
"""About how wide a letter is, in cm of the figure."""


def thresholds_figure(strengths: Strengths, width_cm: float = 16) -> Figure:
    """The thresholds of an ordinal model with the stimuli on the same line.

    >>> import karat
    >>> from karat.measure.strengths.strengths import strengths
    >>> drawn = thresholds_figure(strengths(karat.datasets.load("likert"), "ordinal"))
    >>> len(drawn.axes)
    2
    """
    if strengths.model != "ordinal" or strengths.fit is None:
        raise MeasureError(Message("strengths.no_thresholds", {"model": strengths.model}))
    thresholds: Floats = strengths.fit.thresholds
    levels: Sequence[str] = strengths.settings["levels"]
    estimate = strengths.frame["estimate"].to_numpy()
    ends = np.concatenate([estimate, thresholds])
    line = np.linspace(ends.min() - MARGIN, ends.max() + MARGIN, STEPS)
    with figure(width_cm, 10) as drawn:
        above, below = drawn.subplots(2, 1, sharex=True, height_ratios=[3, 1.3])
        _draw_points(above, line, thresholds, levels)
        _draw_stimuli(below, line, estimate)
        for axes in (above, below):
            for threshold in thresholds:
                axes.axvline(threshold, color=BLACK, linestyle="--", linewidth=0.8, zorder=1)
        _name_thresholds(above, thresholds, _texts(levels), LETTER / width_cm * (line[-1] - line[0]))
        say(drawn, _finding(thresholds, levels, estimate))
    return drawn


def point_probabilities(line: Floats, thresholds: Floats) -> Floats:
    """How likely each point (columns) is at each strength (rows), for an average participant.

    >>> point_probabilities(np.zeros(1), np.array([-1.0, 1.0])).round(3).tolist()
    [[0.269, 0.462, 0.269]]
    """
    below = expit(thresholds - line[:, None])
    edges = np.column_stack([np.zeros(len(line)), below, np.ones(len(line))])
    found: Floats = np.diff(edges, axis=1)
    return found


def _draw_points(axes: Axes, line: Floats, thresholds: Floats, levels: Sequence[str]) -> None:
    """A curve for each point of the scale, named where it is highest."""
    for number, (level, curve) in enumerate(zip(levels, point_probabilities(line, thresholds).T, strict=True)):
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


def _finding(thresholds: Floats, levels: Sequence[str], estimate: Floats) -> str:
    """How wide the points between the thresholds are, and how many stimuli lie beyond them."""
    beyond = int((estimate > thresholds[-1]).sum()), int((estimate < thresholds[0]).sum())
    outside = (
        f"{beyond[0]} of {len(estimate):,} stimuli lie above the last threshold, {beyond[1]} below the first"
    )  # fmt: skip
    if len(thresholds) < 3:
        return outside[0].upper() + outside[1:]
    gaps = np.diff(thresholds)
    widest, narrowest = int(gaps.argmax()) + 1, int(gaps.argmin()) + 1
    return (
        f"Answer {levels[widest]} takes {gaps.max():.1f} logits, {levels[narrowest]} only {gaps.min():.1f}; {outside}"
    )
