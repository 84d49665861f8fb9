"""Figures of the Markov criterion: distances of simulated and real participants, and transition matrices.

They are figure 3 (`distances_plot`) of Ba, Mancenido, Chiou and Pan for any data, and their matrices as squares.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from karat.languages import language_of
from karat.plots import FLAGGED, GREY, KEPT, Axes, Figure
from karat.plots.style import NARROW_CM, figure, threshold_line
from karat.types import Bools, Floats

Distances = tuple[Floats, Floats, Floats, Floats]
"""Distances from a pattern: simulated credible participants, simulated followers, real participants; the cutoffs."""


def distances_plot(kinds: Mapping[str, Distances], flagged: Bools, title: str, width_cm: float = 16) -> Figure:
    """A panel for each kind of pattern: distances of simulated credible and patterned answers; below, real ones."""
    narrow = width_cm < NARROW_CM
    with figure(width_cm, 15 if narrow else 7.5, title) as fig:
        axes = fig.subplots(*((len(kinds), 1) if narrow else (1, len(kinds))), squeeze=False).ravel()
        for axis, (kind, distances) in zip(axes, kinds.items(), strict=True):
            _distances(axis, kind, distances, flagged)
        axes[0].set_ylabel("density")
    return fig


def _distances(axis: Axes, kind: str, distances: Distances, flagged: Bools) -> None:
    """Densities of simulated distances, cutoffs, and a tick for each real participant."""
    # Distances from guessing are crowded near zero, so their root is drawn, as in the paper.
    root = kind == "random guessing"
    credible, followers, people, limits = (np.sqrt(values) if root else values for values in distances)
    high = float(np.nanquantile(np.concatenate([credible, followers]), 0.999))
    bins = np.linspace(0, high if high > 0 else 1.0, 50).tolist()
    axis.hist(credible, bins=bins, density=True, histtype="stepfilled", color=KEPT, alpha=0.35)
    axis.hist(followers, bins=bins, density=True, histtype="step", color=FLAGGED, linewidth=1.3)
    top = axis.get_ylim()[1]
    for members, colour in ((~flagged, KEPT), (flagged, FLAGGED)):
        axis.plot(people[members], np.full(int(members.sum()), -0.07 * top), "|", color=colour, markersize=6)
    axis.set_ylim(-0.14 * top, 1.12 * top)
    for limit in sorted({float(limits.min()), float(limits.max())}) if len(limits) else []:
        threshold_line(axis, limit, "" if limit != limits.max() else f"{limit:.2g}", across="x")
    axis.set_yticks([])
    axis.set_xlabel(f"{'root of ' if root else ''}distance from\n{kind}")
    axis.text(0.98, 0.9, "credible", color=KEPT, transform=axis.transAxes, ha="right")
    axis.text(0.02, 0.9, "patterned", color=FLAGGED, transform=axis.transAxes, ha="left")


def transitions_plot(matrices: Mapping[str, Floats], levels: Sequence[str], title: str, width_cm: float = 16) -> Figure:
    """The transition matrices of some participants as squares with numbers."""
    across = min(len(matrices), 2 if width_cm < NARROW_CM else 3)
    down = -(-len(matrices) // across)
    with figure(width_cm, 1.6 + down * (0.9 * width_cm / across + 0.6), title) as fig:
        axes = fig.subplots(down, across, squeeze=False).ravel()
        for axis, (name, matrix) in zip(axes, matrices.items(), strict=False):
            _matrix(axis, name, matrix, levels)
        for axis in axes[len(matrices) :]:
            axis.set_visible(False)
    return fig


def _matrix(axis: Axes, name: str, matrix: Floats, levels: Sequence[str]) -> None:
    axis.imshow(np.nan_to_num(matrix), cmap="Blues", vmin=0, vmax=1)
    for (row, column), value in np.ndenumerate(matrix):
        text = "–" if np.isnan(value) else language_of("en").value(value, ".2r")
        colour = "white" if value > 0.6 else GREY if np.isnan(value) else "black"
        axis.text(column, row, text, color=colour, ha="center", va="center")
    axis.set_xticks(range(len(levels)), levels)
    axis.set_yticks(range(len(levels)), levels)
    axis.tick_params(length=0)
    axis.set_title(name, fontweight="bold", color=GREY)
    axis.set_xlabel("next answer")
    axis.set_ylabel("answer")
