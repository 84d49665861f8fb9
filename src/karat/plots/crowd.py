"""Figures of a crowd: the Spammer Index as participants are added, and how the model changes without each of them.

They are figures 2, 5, 6, 8 and 11 of Ba, Mancenido, Chiou and Pan for any data:

- `index_plot` (2): the Spammer Index against the share of added participants, by their behaviour;
- `chance_plot` (5a): all deviance distances, with the chi-squared curve of the published rule;
- `distances_plot` (5b, 6, 8, 11a): the distance of each participant, with the cutoff;
- `windows_plot` (11b): the same within windows of trials, to see who changed half-way.
"""

import numpy as np
import polars as pl
from scipy.special import chdtri, gammaln

from karat.errors import KaratError, counted
from karat.languages import language_of
from karat.plots import (
    BLACK,
    BLUE,
    FLAGGED,
    FLAGGED_MARKER,
    GREEN,
    GREY,
    KEPT,
    KEPT_MARKER,
    ORANGE,
    PURPLE,
    SKY_BLUE,
    VERMILLION,
    Axes,
    Figure,
)
from karat.plots.style import figure, say, stack_names, text_beside, threshold_line
from karat.types import Bools, Floats

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY_BLUE, VERMILLION)
MARKERS = "os^DvP"
LETTER = 6.5
"""The size of the names beside points."""


def index_plot(table: pl.DataFrame, suspicious: float, width_cm: float = 12) -> Figure:
    """The table of `karat.screen.crowd.spammer_index` as a line for each kind, with intervals (figure 2)."""
    kinds = table["kind"].unique(maintain_order=True).to_list()
    step = 0.4 / max(len(kinds), 1)
    with figure(width_cm, 8) as fig:
        axis = fig.subplots()
        ends, right = [], 0.0
        for number, kind in enumerate(kinds):
            part = table.filter(pl.col("kind") == kind).sort("share")
            # Side by side, so that intervals at the same share can be distinguished.
            at = 100 * part["share"].to_numpy() + (number - (len(kinds) - 1) / 2) * step
            value, lower, upper = (part[name].to_numpy() for name in ("value", "lower", "upper"))
            colour = COLOURS[number % len(COLOURS)]
            axis.errorbar(
                at, value, yerr=np.clip([value - lower, upper - value], 0, None), color=colour, markersize=4,
                marker=MARKERS[number % len(MARKERS)], elinewidth=0.7,
            )  # fmt: skip
            ends.append((float(value[-1]), kind, colour))
            right = max(right, float(at[-1]))
        axis.set_ylim(bottom=0)
        axis.set_xlim(right=axis.get_xlim()[1] + step)
        stack_names(axis, right, ends, 0.06 * (axis.get_ylim()[1] - axis.get_ylim()[0]), 8)
        threshold_line(axis, suspicious, _short(suspicious, 2))
        axis.grid(axis="y")
        axis.set_xlabel("added participants, of all (%)")
        axis.set_ylabel("Spammer Index")
        most, least = table.sort("share", "value").row(-1, named=True), table.sort("share", "value")["value"][0]
        rises = (
            f"{100 * most['share']:.0f} % {most['kind']} raise the Spammer Index from {_short(least)} to "
            f"{_short(most['value'])}"
        )
        say(fig, rises, "with 95 % intervals")
    return fig


def chance_plot(distance: Floats, df: Floats, flagged: Bools, width_cm: float = 12) -> Figure:
    """The distribution of the deviance distances, with the chi-squared curve of the published rule (5a).

    If participants gave different numbers of answers, the curve is the mean over them.
    """
    high = max(float(distance.max()), float(chdtri(df.max(), 0.001)))
    low = min(float(distance.min()), float(chdtri(df.min(), 0.999)), high)
    bins = np.linspace(low, high, 41)
    with figure(width_cm, 7.5) as fig:
        axis = fig.subplots()
        width = float(bins[1] - bins[0])
        axis.hist(
            [distance[~flagged], distance[flagged]], bins=bins.tolist(), stacked=True, color=[KEPT, FLAGGED],
            weights=[np.full(int((flagged == which).sum()), 1 / (len(distance) * width)) for which in (False, True)],
        )  # fmt: skip
        x = np.linspace(low, high, 200)
        curve = np.mean([chi_squared(x, n) for n in df.tolist()], axis=0)
        axis.plot(x, curve, color=BLACK, linewidth=1.2)
        top = int(np.argmax(curve))
        text_beside(axis, "chi-squared", (x[top], curve[top]), (14, 2))
        axis.set_yticks([])
        axis.set_ylabel("density")
        axis.set_xlabel("deviance distance")
        finding = f"Distances are {distance.mean():.0f} on average; the chi-squared curve expects {df.mean():.0f}"
        say(fig, finding, "vermillion: beyond the cutoff" if flagged.any() else "")
    return fig


def chi_squared(x: Floats, df: float) -> Floats:
    """The density of the chi-squared distribution, without scipy.stats, which is slow to import."""
    half = df / 2
    inner = np.maximum(x, np.finfo(float).tiny)
    density: Floats = np.exp((half - 1) * np.log(inner) - inner / 2 - half * np.log(2) - gammaln(half))
    return density


def distances_plot(known: pl.DataFrame, alpha: float, width_cm: float = 16) -> Figure:
    """The deviance distance of each participant, in the order of the data, with the cutoff (5b, 6, 8, 11a).

    Participants beyond it are diamonds with their names. If the null was simulated, those whose distance is unusual by
    it have a ring. Without thresholds the simulated null decides, and diamonds are those it flags. `known` has
    participant, distance, threshold, flagged and p_simulated.
    """
    known = known.with_row_index("place", offset=1)
    with figure(width_cm, 8) as fig:
        axis = fig.subplots()
        axis.set_xlim(0, len(known) + 1)
        limits = known["threshold"].drop_nulls().unique()
        top = max(float(known["distance"].max()), *map(float, limits), 0.0)  # type: ignore[arg-type]
        axis.set_ylim(min(0.0, float(known["distance"].min())), 1.12 * top)  # type: ignore[arg-type]
        _points(axis, known)
        axis.set_xlabel("participant, in the order of the data")
        axis.set_ylabel("deviance distance")
        number, whole = int(known["flagged"].sum()), counted(len(known), "participant")
        if not len(limits):
            alone = "changes the model and does" if number == 1 else "change the model and do"
            key = f"diamonds: p < {_short(alpha, 2)} by simulation, and agreement not above chance"
            say(fig, f"{number} of {whole} {alone} not agree with the others", key)
            return fig
        simulated = known.filter(pl.col("p_simulated") < alpha)
        axis.plot(
            simulated["place"], simulated["distance"], "o", markersize=9, markerfacecolor="none", markeredgewidth=0.8,
            color=BLACK,
        )  # fmt: skip
        if len(limits) == 1:
            threshold_line(axis, float(limits[0]), f"{limits[0]:.0f}")
        else:
            axis.step(known["place"], known["threshold"], where="mid", color=BLACK, linestyle="--", linewidth=0.8)
        key = f"dashed: chi-squared, p = {_short(alpha, 2)}"
        simulated_null = known["p_simulated"].null_count() < len(known)
        key += f"; ring: p < {_short(alpha, 2)} by simulation" if simulated_null else ""
        say(fig, f"{number} of {whole} {'is' if number == 1 else 'are'} beyond the cutoff", key)
    return fig


def windows_plot(windows: pl.DataFrame, alpha: float = 0.05, width_cm: float = 16) -> Figure:
    """A panel for each window of `deletion_windows`: the distances within it, with the cutoff of alpha (11b)."""
    if not 0 < alpha < 1 or not windows.height:
        raise KaratError("windows_plot needs windows of deletion_windows, and alpha between 0 and 1.")
    people = windows["participant"].unique(maintain_order=True)
    places = pl.DataFrame({"participant": people}).with_row_index("place", offset=1)
    table = windows.filter(pl.col("distance").is_not_null()).join(
        places, on="participant", how="left", maintain_order="left"
    )
    cutoff = pl.Series(chdtri(table["df"].to_numpy(), alpha))
    table = table.with_columns(threshold=cutoff, flagged=pl.col("p_value") < alpha)
    starts = table.select("first", "last").unique().sort("first").rows()
    across = min(len(starts), 2)
    down = -(-len(starts) // across)
    with figure(width_cm, 1.6 + 5.4 * down) as fig:
        axes = fig.subplots(down, across, sharex=True, sharey=True, squeeze=False).ravel()
        axes[0].set_xlim(0, len(people) + 1)
        axes[0].set_ylim(0, 1.15 * float(table.select(pl.max_horizontal("distance", "threshold").max()).item()))
        for axis, (first, last) in zip(axes, starts, strict=False):
            part = table.filter(pl.col("first") == first)
            _points(axis, part)
            axis.step(part["place"], part["threshold"], where="mid", color=BLACK, linestyle="--", linewidth=0.8)
            axis.set_title(f"answers {first} to {last}", color=GREY)
            axis.set_xlabel("participant")
            axis.set_ylabel("deviance distance")
            axis.label_outer()
        for axis in axes[len(starts) :]:
            axis.set_visible(False)
        number = table.filter(pl.col("flagged"))["participant"].n_unique()
        beyond = f"{number} of {counted(len(people), 'participant')} are beyond the cutoff in a window"
        fig.supxlabel(f"dashed: chi-squared, p = {_short(alpha, 2)}", color=GREY, fontsize="medium")
        say(fig, beyond)
    return fig


def _points(axis: Axes, table: pl.DataFrame) -> None:
    """A point for each participant; flagged ones are diamonds with their names."""
    for flagged, colour, marker, size in ((False, KEPT, KEPT_MARKER, 2.5), (True, FLAGGED, FLAGGED_MARKER, 4.0)):
        part = table.filter(pl.col("flagged") == flagged)
        axis.plot(part["place"], part["distance"], marker, color=colour, markersize=size, linestyle="none")
    _names(axis, table.filter(pl.col("flagged")).select("place", "distance", "participant").rows())


def _names(axis: Axes, points: list[tuple[int, float, str]]) -> None:
    """Names beside points, on a side that is free; a name without room is left out."""
    box = axis.get_position()
    # A little less than the axes will have, because the layout is not final yet.
    size = axis.figure.get_size_inches() * 60 * (box.width, box.height)  # type: ignore[union-attr]
    (left, right), (low, high) = axis.get_xlim(), axis.get_ylim()
    spots = (
        np.array([((x - left) / (right - left), (y - low) / (high - low)) for x, y, _ in points]).reshape(-1, 2) * size
    )
    taken: list[tuple[float, float, float, float]] = [(x - 2, y - 2, x + 2, y + 2) for x, y in spots]
    for (x, y), point in zip(spots, points, strict=True):
        wide = 0.62 * LETTER * len(str(point[2]))
        for right_of, up in ((4, 2), (-4 - wide, 2), (4, -2 - LETTER), (-4 - wide, -2 - LETTER), (-wide / 2, 4)):
            box_at = (x + right_of, y + up, x + right_of + wide, y + up + LETTER)
            if box_at[0] > 0 and not any(_touch(box_at, other) for other in taken):
                taken.append(box_at)
                text_beside(axis, str(point[2]), point[:2], (right_of, up), color=FLAGGED, fontsize=LETTER)
                break


def _touch(first: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return first[0] < other[2] and other[0] < first[2] and first[1] < other[3] and other[1] < first[3]


def _short(value: float, digits: int = 3) -> str:
    return language_of("en").value(value, f".{digits}r")
