"""Figures of the quality of data that only the report has: a histogram of credence, and right answers beside chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karat.errors import counted
from karat.languages import language_of
from karat.plots.style import FLAGGED, KEPT, figure, say, threshold_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from karat.screen.evidence import Evidence

BINS = 20


def credence_figure(evidence: Evidence, width_cm: float = 16) -> Figure:
    """How many participants answered attentively with which probability.

    >>> import karat
    >>> credence_figure(karat.screen.credence(karat.datasets.load("crowd"))).get_suptitle()
    '12 of 120 participants answered attentively with a probability under .05'
    """
    below = float(evidence.settings["below"])
    table = evidence.participants.drop_nulls("score")
    edges = np.linspace(0, 1, BINS + 1)
    with figure(width_cm, 6.5) as drawn:
        axes = drawn.subplots()
        _stacked(axes, table, edges)
        threshold_line(axes, below, language_of("en").value(below, ".2r"), across="x")
        axes.set_xlim(-0.01, 1.01)
        axes.set_xlabel("probability of answering attentively")
        everyone = counted(evidence.participants.height, "participant")
        told = language_of("en").value(below, ".2r")
        say(drawn, f"{len(evidence.flagged)} of {everyone} answered attentively with a probability under {told}")
    return drawn


def performance_figure(
    evidence: Evidence, table: pl.DataFrame, what: str, chances: Sequence[float], width_cm: float = 16
) -> Figure:
    """How many participants answered which share of some trials right, with what guessing gives on average.

    `table` has the shares (`shares_right`).

    >>> import karat
    >>> evidence = karat.screen.attention(karat.datasets.load("likert"))
    >>> performance_figure(evidence, shares_right(evidence), "attention trials", [0.4]).get_suptitle()
    '9 of 48 participants gave too few right answers to attention trials'
    """
    steps = max(int(table["trials"].median() or 1), 1)  # type: ignore[arg-type]
    edges = (np.arange(steps + 2) - 0.5) / steps
    with figure(width_cm, 6.5) as drawn:
        axes = drawn.subplots()
        _stacked(axes, table, edges)
        if chances:
            chance = float(np.mean(chances))
            threshold_line(axes, chance, f"guessing {100 * chance:.0f} %", across="x", style=":")
        axes.set_xlim(edges[0] - 0.02, edges[-1] + 0.02)
        axes.set_xticks(np.linspace(0, 1, 6), [f"{percent} %" for percent in range(0, 101, 20)])
        axes.set_xlabel(f"share of {what} answered as expected")
        everyone = counted(evidence.participants.height, "participant")
        say(drawn, f"{len(evidence.flagged)} of {everyone} gave too few right answers to {what}")
    return drawn


def shares_right(evidence: Evidence) -> pl.DataFrame | None:
    """participant, score (the share of right answers, or pairs), trials, flagged: of those who saw such trials.

    None on the accounts that compare means of ratings: there no single answer is right or wrong.

    >>> import karat
    >>> shares_right(karat.screen.attention(karat.datasets.load("likert"))).row(0)
    ('p01', 0.6666666666666666, 6, True)
    """
    if evidence.trials is None or "right" not in evidence.trials.columns:
        if "trials" not in evidence.participants.columns:
            return None
        return evidence.participants.select("participant", "score", "trials", "flagged").drop_nulls("score")
    own = evidence.trials.group_by("participant", maintain_order=True).agg(
        pl.col("right").fill_null(False).cast(pl.Float64).mean().alias("score"), pl.len().cast(pl.Int64).alias("trials")
    )
    people = evidence.participants.select("participant", "flagged")
    return own.join(people, on="participant", how="inner", maintain_order="left")


def _stacked(axes: Axes, table: pl.DataFrame, edges: np.ndarray) -> None:
    """A bar for each bin: those who are not flagged below, those who are on top, hatched, with the number above."""
    from matplotlib.ticker import MaxNLocator

    kept, flagged = (
        np.histogram(table.filter(pl.col("flagged") == which)["score"].to_numpy(), edges)[0] for which in (False, True)
    )
    middles, width = (edges[:-1] + edges[1:]) / 2, 0.86 * (edges[1] - edges[0])
    axes.bar(middles, kept, width, color=KEPT)
    there = flagged > 0
    axes.bar(
        middles[there], flagged[there], width, bottom=kept[there], color="white", edgecolor=FLAGGED, hatch="////",
        linewidth=0.8,
    )  # fmt: skip
    for place, count in zip(middles, kept + flagged, strict=True):
        if count:
            axes.annotate(
                f"{count:,}", (place, count), xytext=(0, 2), textcoords="offset points", horizontalalignment="center"
            )
    axes.set_ylim(0, max(float((kept + flagged).max()), 1.0) * 1.15)
    axes.set_ylabel("participants")
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10], integer=True))
