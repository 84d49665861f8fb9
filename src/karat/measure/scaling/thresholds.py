"""The picture of an ordinal model: the latent line, cut by thresholds into the points of the scale.

Above: how likely each point is for an average participant, by the strength of a stimulus,

    P(k) = F(alpha_k - b) - F(alpha_k-1 - b).

Below, on the same line: where the stimuli lie, each with a tick, and how densely.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from karat.measure.errors import MeasureError
from karat.measure.scaling.result import Strengths
from karat.messages import Message
from karat.plots.thresholds import thresholds_plot
from karat.types import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS = 400
MARGIN = 0.7
"""How far, in logits, the line goes on beyond the last stimulus or threshold."""


def thresholds_figure(strengths: Strengths, width_cm: float = 16) -> Figure:
    """The thresholds of an ordinal model with the stimuli on the same line.

    >>> import karat
    >>> from karat.measure.scaling.strengths import strengths
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
    curves = point_probabilities(line, thresholds)
    return thresholds_plot(line, curves, thresholds, levels, estimate, _finding(thresholds, levels, estimate), width_cm)


def point_probabilities(line: Floats, thresholds: Floats) -> Floats:
    """How likely each point (columns) is at each strength (rows), for an average participant.

    >>> point_probabilities(np.zeros(1), np.array([-1.0, 1.0])).round(3).tolist()
    [[0.269, 0.462, 0.269]]
    """
    below = expit(thresholds - line[:, None])
    edges = np.column_stack([np.zeros(len(line)), below, np.ones(len(line))])
    found: Floats = np.diff(edges, axis=1)
    return found


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
