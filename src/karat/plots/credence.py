"""Figures of credence: the probabilities of being attentive, and the evidence on one participant.

The figure of one participant shows what each kind of evidence adds to the log odds of being attentive (to the right:
for it), and below it the buttons and the times trial by trial. Times are multiples of the usual time for the stimulus.
A dashed line marks the most probable trial of a change, the grey area the middle nine of ten probable changes; a
diamond is an answer that was probably not given attentively.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from karat.languages import language_of
from karat.plots import BLACK, FLAGGED, FLAGGED_MARKER, GREY, KEPT, KEPT_MARKER, Axes, Figure
from karat.plots.style import NARROW_CM, figure, log_seconds, say, text_beside, threshold_line
from karat.types import Bools, Floats

BINS = 20
MOST_BUTTONS = 9
FASTEST = 0.01
BARS = {
    "usual": "usual in this crowd", "agreement": "agreement with the others", "controls": "controls and attention",
    "sequence": "sequence of answers", "times": "response times",
}  # fmt: skip


def probabilities_plot(scores: Floats, flagged: Bools, cutoff: float, title: str, width_cm: float = 16) -> Figure:
    """The distribution of probabilities; participants below the cutoff are hatched."""
    edges = np.linspace(0, 1, BINS + 1)
    low, high = (np.histogram(scores[some], edges)[0] for some in (flagged, ~flagged))
    with figure(width_cm, 7, title) as fig:
        axes = fig.subplots()
        shape: dict[str, Any] = {"width": 0.9 / BINS, "linewidth": 0.6}
        middle = (edges[:-1] + edges[1:]) / 2
        axes.bar(middle, low, color="white", edgecolor=FLAGGED, hatch="////", **shape)
        axes.bar(middle, high, bottom=low, color=KEPT, edgecolor=KEPT, **shape)
        for place, number in zip(middle, low + high, strict=True):
            if number:
                text_beside(axes, f"{number:,}", (place, number), (0, 2), ha="center")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.12 * max(int((low + high).max(initial=1)), 1))
        threshold_line(axes, cutoff, language_of("en").value(cutoff, ".2r+"), "x")
        axes.set_xlabel("probability of being attentive")
        axes.set_ylabel("participants")
    return fig


def participant_plot(row: Mapping[str, Any], answers: pl.DataFrame, title: str, width_cm: float = 16) -> Figure:
    """The evidence on one participant, and their answers and times in order.

    `row` has the log odds, their parts and the trial of a change; `answers` has a row for each answer: trial, button,
    buttons (how many there are), pace (the time over the usual one) and attentive.
    """
    timed = answers["pace"].null_count() < answers.height
    with figure(width_cm, 11.5 if timed else 8.5) as fig:
        axes = fig.subplots(2 + timed, 1, height_ratios=[5, 4, 4][: 2 + timed])
        narrow = width_cm < NARROW_CM
        _bars(axes[0], row, 0.4 if narrow else 0.12)
        # Trial numbers, or running numbers if a number comes twice, as in two sessions.
        unique = answers["trial"].n_unique() == answers.height
        place = answers["trial"].cast(pl.Float64).to_numpy() if unique else np.arange(1.0, answers.height + 1)
        _strip(axes[1], place, answers["button"].to_numpy(), answers["attentive"].to_numpy())
        most = int(answers["buttons"].max())  # type: ignore[arg-type]
        axes[1].set_ylim(0.4, most + 0.6)
        axes[1].set_yticks(range(1, most + 1) if most <= MOST_BUTTONS else [1, most])
        axes[1].set_ylabel("answer")
        if timed:
            log_seconds(axes[2], "y", "time / usual")
            pace = answers["pace"].cast(pl.Float64).fill_null(np.nan).clip(lower_bound=FASTEST).to_numpy()
            _strip(axes[2], place, pace, answers["attentive"].to_numpy())
            axes[2].axhline(1, color=GREY, linewidth=0.6, zorder=0)
            axes[1].tick_params(labelbottom=False)
        for axis in axes[1:]:
            axis.set_xlim(0, place.max() + 1)
            _switch(axis, row, dict(zip(answers["trial"], place.tolist(), strict=True)), labelled=axis is axes[1])
        axes[-1].set_xlabel("trial")
        say(fig, title, "log odds" if narrow else "log odds of being attentive, and what they are made of")
    return fig


def _bars(axis: Axes, row: Mapping[str, Any], room: float) -> None:
    """One bar for each kind of evidence, and their sum, with the numbers beside them."""
    values = [*(float(row[name]) for name in BARS), float(row["log_odds"])]
    heights = np.arange(len(values))[::-1]
    colours = [KEPT if value >= 0 else FLAGGED for value in values]
    bars = axis.barh(heights, values, height=0.62, color=colours, linewidth=0.6, edgecolor=colours)
    for bar, value in zip(bars, values, strict=True):
        if value < 0:
            bar.set(facecolor="white", hatch="////")
        text, middle = f"{value:+.1f}".replace("-", "\N{MINUS SIGN}"), bar.get_y() + bar.get_height() / 2
        right, side = (3, "left") if value >= 0 else (-3, "right")
        text_beside(axis, text, (value, middle), (right, 0), ha=side, va="center")
    axis.axvline(0, color=GREY, linewidth=0.6)
    axis.axhline(0.5, color=GREY, linewidth=0.4)
    axis.set_yticks(heights, [*BARS.values(), "all together"])
    axis.get_yticklabels()[-1].set_fontweight("bold")
    axis.tick_params(axis="y", length=0)
    # Room for the numbers at both ends.
    low, high = min(*values, 0.0), max(*values, 0.0)
    beside = room * max(high - low, 1.0)
    axis.set_xlim(low - beside, high + beside)


def _strip(axis: Axes, place: Any, value: Any, attentive: Any) -> None:
    """A mark for each trial."""
    steady = attentive >= 0.5
    axis.plot(place[steady], value[steady], KEPT_MARKER, color=KEPT, markersize=2.8, linestyle="none")
    axis.plot(
        place[~steady], value[~steady], FLAGGED_MARKER, color=FLAGGED, markerfacecolor="white", markersize=3.2,
        markeredgewidth=0.9, linestyle="none",
    )  # fmt: skip


def _switch(axis: Axes, row: Mapping[str, Any], places: dict[int, float], labelled: bool) -> None:
    """The most probable trial of a change, and between which trials it lies."""
    if row["switch_trial"] is None:
        return
    # Half a trial before, because the trial of the change is the first with the new behaviour.
    first, last, most = (places[row[name]] - 0.5 for name in ("switch_from", "switch_to", "switch_trial"))
    axis.axvspan(first, last + 1, color="#EAEAEA", linewidth=0, zorder=0)
    if labelled:
        threshold_line(axis, most, f"change at trial {row['switch_trial']}", "x")
    else:
        axis.axvline(most, color=BLACK, linestyle="--", linewidth=0.8, zorder=1)
