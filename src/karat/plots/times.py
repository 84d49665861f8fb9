"""Response times: those of all participants, of one participant with the cutoffs, and densities.

They follow figures 1 and 2 of Pieper, Börner and Kiss. Times under a millisecond are drawn at a millisecond.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import polars as pl

from karat.plots import BLACK, FLAGGED, GREY, KEPT, SKY_BLUE, Figure
from karat.plots.style import (
    NARROW_CM,
    figure,
    log_seconds,
    say,
    short_name,
    silverman_width,
    text_beside,
    threshold_line,
    threshold_lines,
)
from karat.types import Bools, Floats

SHORTEST = 0.001
DENSITIES_AT_MOST = 150
MARKERS = {"rush": "<", "intermission": ">"}


def rows_plot(
    people: pl.DataFrame, trials: pl.DataFrame, needed: float, xlabel: str, title: str, key: str, width_cm: float = 16
) -> Figure:
    """The times of each participant in a row, in the order of `people` (participant, genuine_share, flagged).

    `trials` has participant, rt, kind (rush, intermission or none) and degree, the round that flagged it.
    """
    names = people["participant"].to_list()
    row = dict(zip(names, range(len(names)), strict=True))
    trials = _drawable(trials.filter(pl.col("participant").is_in(names)))
    trials = trials.with_columns(row=pl.col("participant").replace_strict(row, return_dtype=pl.Float64))
    with figure(width_cm, 2.6 + 0.42 * len(names), title, key) as fig:
        axes = fig.subplots()
        log_seconds(axes, "x", xlabel)
        genuine = trials.filter(pl.col("kind").is_null())
        axes.plot(genuine["rt"], genuine["row"], "|", color=KEPT, markersize=4, markeredgewidth=0.5, alpha=0.6)
        for kind, marker in MARKERS.items():
            for later in (False, True):
                some = trials.filter(pl.col("kind") == kind, (pl.col("degree") > 1) == later)
                axes.plot(
                    some["rt"], some["row"], marker, color=FLAGGED, markersize=4.5, markeredgewidth=0.8,
                    markerfacecolor="white" if later else FLAGGED, linestyle="none",
                )  # fmt: skip
        medians = trials.group_by("row", maintain_order=True).agg(pl.col("rt").median())
        axes.plot(medians["rt"], medians["row"], "|", color=BLACK, markersize=8, markeredgewidth=1.4)
        shares = [
            f"{short_name(name)}  {percent(share)}"
            for name, share in people.select("participant", "genuine_share").rows()
        ]
        axes.set_yticks(range(len(names)), shares)
        for label, flagged in zip(axes.get_yticklabels(), people["flagged"], strict=True):
            label.set_fontweight("bold" if flagged else "normal")
            label.set_color(FLAGGED if flagged else BLACK)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        below = int((people["genuine_share"] < needed).sum())
        if 0 < below < len(names):
            threshold_line(axes, below - 0.5, f"{100 * needed:g} %")
        axes.set_ylabel("participant, share of genuine trials")
    return fig


def trials_plot(
    trials: pl.DataFrame, cutoffs: tuple[Floats, Floats], lines: Sequence[tuple[float, str, str]], ylabel: str,
    title: str, *, alone: Mapping[str, Bools] | None = None, by_function: tuple[Floats, Floats] | None = None,
    width_cm: float = 16,
) -> Figure:  # fmt: skip
    """The trials (rt, kind, degree) of one participant in their order, with the lower and upper cutoff of each.

    A box is a trial that the rule flags. `alone` are those that the cutoffs of the "participant" (a plus) or of the
    "function" (a cross) alone would flag, `by_function` the cutoffs of the item function of each trial. `lines` are
    single cutoffs with their text and style; those below the axis are left out.
    """
    trials, (low, high) = _drawable(trials), cutoffs
    with figure(width_cm, 9) as fig:
        axes = fig.subplots()
        log_seconds(axes, "y", ylabel)
        bottom, top = min(trials["rt"]) * 0.7, max(*trials["rt"], *high) * 1.4
        axes.set_ylim(bottom, top)
        axes.set_xlim(0, trials.height + 1)
        place = np.arange(1, trials.height + 1)
        axes.fill_between(place, np.maximum(low, bottom), high, step="mid", color="#EAEAEA", linewidth=0, zorder=0)
        axes.plot(place, trials["rt"], "o", color=KEPT, markersize=2.5)
        outlying = trials.with_columns(place=place).filter(pl.col("kind").is_not_null())
        axes.plot(
            outlying["place"],
            outlying["rt"],
            "s",
            color=FLAGGED,
            markerfacecolor="none",
            markersize=7,
            markeredgewidth=1,
        )
        for at, time, degree in outlying.filter(pl.col("degree") > 1).select("place", "rt", "degree").rows():
            text_beside(axes, str(degree), (at, time), (5, 3), color=FLAGGED)
        key = "□ outlying (number: its round, after the first); grey: between the cutoffs"
        for limits in by_function or ():
            axes.plot(place, limits, "_", color=GREY, markersize=3, markeredgewidth=0.8)
        for name, marker in (("participant", "+"), ("function", "x")):
            some = (alone or {}).get(name, np.zeros(trials.height, dtype=bool))
            axes.plot(
                place[some], trials["rt"].to_numpy()[some], marker, color=BLACK, markersize=5, markeredgewidth=0.8
            )
        if alone:
            key += "\n+ by the participant's own cutoffs alone, × by those of the item function (–) alone"
        threshold_lines(axes, [line for line in lines if line[0] > bottom])
        axes.set_xlabel("trial, in the order of presentation")
        say(fig, title, key)
    return fig


def densities_plot(trials: pl.DataFrame, flagged: Collection[str], xlabel: str, width_cm: float = 16) -> Figure:
    """Kernel densities of log times (participant, function, rt), by item function and by participant."""
    trials = _drawable(trials)
    functions = trials.group_by("function").agg(pl.col("rt").median()).sort("rt")
    people = trials.group_by("participant").agg(pl.col("rt").median()).sort("rt", "participant")
    step = -(-people.height // DENSITIES_AT_MOST)
    wide = width_cm >= NARROW_CM
    with figure(width_cm, 8 if wide else 12) as fig:
        left, right = fig.subplots(1, 2, sharex=True) if wide else fig.subplots(2, 1, sharex=True)
        for number, (name, median) in enumerate(functions.rows()):
            times, heights = kernel_density(trials.filter(pl.col("function") == name)["rt"].to_numpy())
            top = number + 1.4 * heights / heights.max()
            left.fill_between(times, number, top, color=SKY_BLUE, alpha=0.35, linewidth=0, zorder=-number)
            left.plot(times, top, color=BLACK, linewidth=0.8, zorder=-number)
            left.plot([median, median], [number, number + 0.3], color=BLACK, linewidth=1.6)
        left.set_yticks(range(functions.height), [f"{name}\n{median:.1f} s" for name, median in functions.rows()])
        left.tick_params(axis="y", length=0)
        plain = {"color": KEPT, "linewidth": 0.4}
        for name in people["participant"].gather_every(step):
            times, heights = kernel_density(trials.filter(pl.col("participant") == name)["rt"].to_numpy())
            line = {"color": FLAGGED, "linestyle": "--", "linewidth": 1} if name in flagged else plain
            right.plot(times, heights, **line)
        right.plot(people["rt"], np.zeros(people.height), "|", color=BLACK, markersize=7, markeredgewidth=0.8)
        right.set_yticks([])
        right.set_ylim(bottom=0)
        of_people = "by participant, with medians" + ("\ndashed: flagged" if flagged else "")
        of_people += f"; one in {step:,} drawn" if step > 1 else ""
        for axes, heading in ((left, "by item function, with its median"), (right, of_people)):
            log_seconds(axes, "x", xlabel)
            axes.set_title(heading, color=GREY)
            axes.label_outer()
        say(fig, spread_verdict(functions["rt"], people["rt"]))
    return fig


def spread_verdict(functions: pl.Series, people: pl.Series) -> str:
    """How much medians differ, in a sentence."""
    ratios = [float(medians.max()) / float(medians.min()) for medians in (people, functions)]  # type: ignore[arg-type]
    of_functions = f" and {ratios[1]:.1f} between functions" if len(functions) > 1 else ""
    return f"Median times differ by a factor of up to {ratios[0]:.1f} between participants{of_functions}"


def kernel_density(times: Floats, points: int = 200) -> tuple[Floats, Floats]:
    """A Gaussian kernel density of log times, from counts on a fine grid: as fast for a million times as for few."""
    logs = np.log(times)
    width = silverman_width(logs) or 0.09 * len(logs) ** -0.2
    edges = np.linspace(logs.min() - 3 * width, logs.max() + 3 * width, 513)
    counts, _ = np.histogram(logs, edges)
    grid = np.linspace(edges[0], edges[-1], points)
    filled = np.flatnonzero(counts)
    kernel = np.exp(-0.5 * ((grid[:, None] - (edges[filled] + edges[filled + 1]) / 2) / width) ** 2)
    heights: Floats = kernel @ counts[filled] / (len(logs) * width * np.sqrt(2 * np.pi))
    return np.exp(grid), heights


def _drawable(trials: pl.DataFrame) -> pl.DataFrame:
    return trials.with_columns(pl.col("rt").clip(lower_bound=SHORTEST))


def percent(share: float) -> str:
    """A share in per cent with one decimal, so that one just under 90 % does not read 90 %."""
    return f"{100 * share:.1f}".removesuffix(".0") + " %"
