"""The marginal means of one or two factors before and after exclusion: figure 9 of Ba, Mancenido, Chiou and Pan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karat.errors import counted
from karat.messages import Message
from karat.plots.style import BLUE, GREEN, NARROW_CM, ORANGE, PURPLE, VERMILLION, figure, say
from karat.screen.effects import EffectsBeforeAfter, plotted_factors
from karat.screen.evidence import ScreenError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE)
MARKERS = ("o", "D", "^", "s", "v")
APART = 0.06
"""How far apart the points of two lines stand, so that their intervals do not cover each other."""


def effects_figure(found: EffectsBeforeAfter, *factors: str, width_cm: float = 16) -> Figure:
    """A panel before and one after: lines for the first factor over the levels of the second, with 95 % intervals.

    With one factor there is one line over its levels.

    >>> import karat
    >>> crowd = karat.datasets.load("crowd")
    >>> found = karat.screen.effects_before_after(crowd, ["w017"], "correct ~ difficulty + (1 | participant)")
    >>> [axes.get_title(loc="left") for axes in effects_figure(found).axes]
    ['before (120 participants)', 'after (119 participants)']
    """
    names = factors or plotted_factors(found.before)
    if len(names) > 2:
        raise ScreenError(Message("effects.factors"))
    means = found.means(*names)
    across, lines = names[-1], names[0] if len(names) > 1 else None
    narrow = width_cm < NARROW_CM
    with figure(width_cm, 13 if narrow else 8) as drawn:
        panels = drawn.subplots(*((2, 1) if narrow else (1, 2)), sharex=True, sharey=True)
        for axes, (when, model) in zip(panels, (("before", found.before), ("after", found.after)), strict=True):
            _panel(axes, means.filter(pl.col("when") == when), across, lines)
            people = model.frame.groups.get(("participant",))
            number = f" ({counted(len(people.levels), 'participant')})" if people is not None else ""
            axes.set_title(when + number)
            axes.set_xlabel(across)
        label = found.before.formula.response.label
        unit = {"binary": f"probability of {label} = {found.before.answers[-1]}" if found.before.answers else label,
                "ordinal": f"{label} (latent scale)", "gaussian": label}[found.before.family]  # fmt: skip
        for axes in panels if narrow else panels[:1]:
            axes.set_ylabel(unit)
        say(drawn, _finding(found, names))
    return drawn


def _panel(axes: Axes, means: pl.DataFrame, across: str, lines: str | None) -> None:
    """The means of one model: a line for each level of one factor over the levels of the other."""
    ticks = means[across].unique(maintain_order=True).to_list()
    levels = means[lines].unique(maintain_order=True).to_list() if lines else [None]
    for number, level in enumerate(levels):
        part = means.filter(pl.col(lines) == level) if lines else means
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        places = [ticks.index(one) + APART * (number - (len(levels) - 1) / 2) for one in part[across].to_list()]
        middle = part["estimate"].to_numpy()
        ends = (middle - part["lower"].to_numpy(), part["upper"].to_numpy() - middle)
        axes.errorbar(places, middle, yerr=ends, color=colour, marker=marker, markersize=4, capsize=2, linewidth=1.2)
        if level is not None:
            axes.annotate(
                str(level), (places[-1], middle[-1]), xytext=(6, 0), textcoords="offset points", color=colour,
                verticalalignment="center", annotation_clip=False,
            )  # fmt: skip
    axes.set_xticks(range(len(ticks)), ticks)
    axes.set_xlim(-0.3, len(ticks) - 1 + (0.3 if lines is None else 0.6))
    axes.grid(axis="y")


def _finding(found: EffectsBeforeAfter, names: tuple[str, ...]) -> str:
    """What became of the test of the term that is drawn."""
    row = found.tests.filter(pl.col("term").is_in([":".join(names), ":".join(reversed(names))]))
    without = f"without {counted(len(found.excluded), 'participant')}"
    if not row.height or row["chisq_after"][0] is None:
        return f"Means before and {without}"
    df, before, after = row["df"][0], row["chisq_before"][0], row["chisq_after"][0]
    return f"{' by '.join(names)}: χ²({df}) = {before:.1f} with everybody, {after:.1f} {without}"
