"""Figures of response times: everybody's at a glance, one participant's with the cutoffs, and densities.

They follow figures 1 and 2 of Pieper, Börner and Kiss. In the figure of one participant a box is a trial that the rule
finds, a plus one that the participant's own cutoffs alone would find, a cross one that those of the item function alone
would; the dotted lines are the single cutoffs over all times that the paper warns of. Times under a millisecond are
drawn at a millisecond.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karat.errors import counted
from karat.judgments.columns import nearest
from karat.messages import Message
from karat.plots.style import (
    BLACK,
    FLAGGED,
    GREY,
    KEPT,
    NARROW_CM,
    SKY_BLUE,
    figure,
    log_seconds,
    say,
    threshold_line,
    threshold_lines,
)
from karat.screen.evidence import ScreenError
from karat.screen.time_rules import find_outliers, time_rule
from karat.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from karat.screen.criteria.remfod import Remfod

SHORTEST = 0.001
DENSITIES_AT_MOST = 150
MARKERS = {"rush": "<", "intermission": ">"}


def everybody_figure(evidence: Remfod, width_cm: float, rows: int) -> Figure:
    """The times of each participant in a row, the smallest share of genuine trials on top."""
    people = evidence.participants.filter(pl.col("trials") > 0).sort("genuine_share", maintain_order=True)
    shown = people.head(max(rows, 1))
    names = shown["participant"].to_list()
    row = dict(zip(names, range(len(names)), strict=True))
    trials = _drawable(evidence.timed.filter(pl.col("participant").is_in(names)))
    trials = trials.with_columns(row=pl.col("participant").replace_strict(row, return_dtype=pl.Float64))
    with figure(width_cm, 2.6 + 0.42 * len(names)) as drawn:
        axes = drawn.subplots()
        log_seconds(axes, "x", _axis_label(evidence))
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
            f"{_short(name)}  {_percent(share)}" for name, share in shown.select("participant", "genuine_share").rows()
        ]
        axes.set_yticks(range(len(names)), shares)
        for label, flagged in zip(axes.get_yticklabels(), shown["flagged"], strict=True):
            label.set_fontweight("bold" if flagged else "normal")
            label.set_color(FLAGGED if flagged else BLACK)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        _divide(axes, int(shown["flagged"].sum()), len(names), evidence.settings["genuine_at_least"])
        axes.set_ylabel("participant, share of genuine trials")
        say(drawn, _verdict(evidence), _key(evidence, people.height - len(names)))
    return drawn


def participant_figure(evidence: Remfod, participant: str, width_cm: float) -> Figure:
    """The trials of one participant in their order, with the cutoffs of the last round."""
    own = _drawable(_trials_of(evidence, participant))
    low, high = _last_cutoffs(evidence, own)
    with figure(width_cm, 9) as drawn:
        axes = drawn.subplots()
        log_seconds(axes, "y", _axis_label(evidence))
        bottom, top = min(own["rt"]) * 0.7, max(*own["rt"], *high) * 1.4
        axes.set_ylim(bottom, top)
        axes.set_xlim(0, own.height + 1)
        place = np.arange(1, own.height + 1)
        axes.fill_between(place, np.maximum(low, bottom), high, step="mid", color="#EAEAEA", linewidth=0, zorder=0)
        axes.plot(place, own["rt"], "o", color=KEPT, markersize=2.5)
        found = own.with_columns(place=place).filter(pl.col("kind").is_not_null())
        axes.plot(
            found["place"], found["rt"], "s", color=FLAGGED, markerfacecolor="none", markersize=7, markeredgewidth=1
        )
        for at, time, degree in found.filter(pl.col("degree") > 1).select("place", "rt", "degree").rows():
            axes.annotate(str(degree), (at, time), xytext=(5, 3), textcoords="offset points", color=FLAGGED)
        key = "□ outlying (number: its round, after the first); grey: between the cutoffs"
        if evidence.settings["rule"] == "remfod":
            key += _mark_single_criteria(axes, evidence, own)
        threshold_lines(axes, _participant_lines(evidence, participant, bottom))
        axes.set_xlabel("trial, in the order of presentation")
        say(drawn, _participant_verdict(evidence, participant), key)
    return drawn


def density_figure(evidence: Remfod, width_cm: float) -> Figure:
    """Kernel densities of log times, by item function and by participant."""
    trials = _drawable(evidence.timed)
    functions = trials.group_by("function").agg(pl.col("rt").median()).sort("rt")
    people = trials.group_by("participant").agg(pl.col("rt").median()).sort("rt", "participant")
    step = -(-people.height // DENSITIES_AT_MOST)
    wide = width_cm >= NARROW_CM
    with figure(width_cm, 8 if wide else 12) as drawn:
        left, right = drawn.subplots(1, 2, sharex=True) if wide else drawn.subplots(2, 1, sharex=True)
        for number, (name, median) in enumerate(functions.rows()):
            times, heights = _density(trials.filter(pl.col("function") == name)["rt"].to_numpy())
            top = number + 1.4 * heights / heights.max()
            left.fill_between(times, number, top, color=SKY_BLUE, alpha=0.35, linewidth=0, zorder=-number)
            left.plot(times, top, color=BLACK, linewidth=0.8, zorder=-number)
            left.plot([median, median], [number, number + 0.3], color=BLACK, linewidth=1.6)
        left.set_yticks(range(functions.height), [f"{name}\n{median:.1f} s" for name, median in functions.rows()])
        left.tick_params(axis="y", length=0)
        flagged, plain = set(evidence.flagged), {"color": KEPT, "linewidth": 0.4}
        for name in people["participant"].gather_every(step):
            times, heights = _density(trials.filter(pl.col("participant") == name)["rt"].to_numpy())
            line = {"color": FLAGGED, "linestyle": "--", "linewidth": 1} if name in flagged else plain
            right.plot(times, heights, **line)
        right.plot(people["rt"], np.zeros(people.height), "|", color=BLACK, markersize=7, markeredgewidth=0.8)
        right.set_yticks([])
        right.set_ylim(bottom=0)
        for axes, title in ((left, "by item function, with its median"), (right, _people_title(evidence, step))):
            log_seconds(axes, "x", _axis_label(evidence))
            axes.set_title(title, color=GREY)
            axes.label_outer()
        say(drawn, _spread_verdict(functions["rt"], people["rt"]))
    return drawn


def _trials_of(evidence: Remfod, participant: str) -> pl.DataFrame:
    own = evidence.timed.filter(pl.col("participant") == participant).sort("trial", maintain_order=True)
    if own.height:
        return own
    people = evidence.participants["participant"].to_list()
    if participant in people:
        raise ScreenError(Message("remfod.nothing_to_draw", {"participant": participant}))
    meant = nearest(participant, people)
    raise ScreenError(Message("participants.no_participant", {"participant": participant, "meant": meant}))


def _last_cutoffs(evidence: Remfod, own: pl.DataFrame, groups: tuple[str, ...] = ()) -> tuple[Floats, Floats]:
    """The lower and upper cutoff of each trial in the last round that has them, by some or all groups; 0: no lower."""
    low, high = np.full(own.height, np.inf), np.full(own.height, -np.inf)
    known = evidence.cutoffs.drop_nulls("upper").sort("round").unique(["group", "name"], keep="last")
    for group in groups or known["group"].unique():
        key = pl.lit("all").alias("name") if group == "all" else pl.col(group).alias("name")
        some = known.filter(pl.col("group") == group)
        table = own.select(key).join(some, on="name", how="left", maintain_order="left")
        low = np.minimum(low, table["lower"].fill_null(0.0).to_numpy())
        high = np.maximum(high, table["upper"].to_numpy())
    return low, high


def _mark_single_criteria(axes: Axes, evidence: Remfod, own: pl.DataFrame) -> str:
    """Mark what each criterion of ReMFOD would find alone, and the cutoffs of item functions; the words for the key."""
    place = np.arange(1, own.height + 1)
    for cutoffs in _last_cutoffs(evidence, own, ("function",)):
        axes.plot(place, cutoffs, "_", color=GREY, markersize=3, markeredgewidth=0.8)
    for name, marker in (("participant", "+"), ("function", "x")):
        rule = time_rule(name, evidence.settings["upper"], evidence.settings["lower"])
        kinds = find_outliers(evidence.timed, rule, evidence.settings["mad_constant"]).kind
        alone = evidence.timed.with_columns(alone=pl.Series(kinds > 0))
        alone = alone.filter(pl.col("participant") == own["participant"][0]).sort("trial", maintain_order=True)
        found = alone["alone"].to_numpy()
        axes.plot(place[found], own["rt"].to_numpy()[found], marker, color=BLACK, markersize=5, markeredgewidth=0.8)
    return "\n+ by the participant's own cutoffs alone, × by those of the item function (–) alone"


def _participant_lines(evidence: Remfod, participant: str, bottom: float) -> list[tuple[float, str, str]]:
    """The participant's own cutoffs, and the single ones over all times."""
    lines = []
    own = evidence.cutoffs.drop_nulls("upper").filter(pl.col("group") == "participant", pl.col("name") == participant)
    for row in own.tail(1).to_dicts():
        lines += [(row[side], f"own {row[side]:.1f} s", "--") for side in ("lower", "upper") if row[side] is not None]
    single = evidence.cutoffs.filter(pl.col("group") == "all")
    if not single.height and "median" in evidence.cutoffs.columns:
        rule = time_rule("global", evidence.settings["upper"], evidence.settings["lower"])
        single = find_outliers(evidence.timed, rule, evidence.settings["mad_constant"]).cutoffs
    for row in single.tail(1).to_dicts():
        lines += [(row[side], f"all {row[side]:.1f} s", ":") for side in ("lower", "upper") if row[side] is not None]
    return [line for line in lines if line[0] > bottom]


def _participant_verdict(evidence: Remfod, participant: str) -> str:
    row = evidence.participants.row(by_predicate=pl.col("participant") == participant, named=True)
    verdict = "flagged" if row["flagged"] else "not flagged"
    found = f"{counted(row['intermissions'], 'intermission')}, {_rushes(row['rushes'])}"
    trials = counted(row["trials"], "timed trial")
    return f"{_short(participant)}: {found} in {trials}, {_percent(row['genuine_share'])} genuine, {verdict}"


def _rushes(number: int) -> str:
    return f"{number:,} {'rush' if number == 1 else 'rushes'}"


def _people_title(evidence: Remfod, step: int) -> str:
    title = "by participant, with medians"
    title += "\ndashed: flagged" if evidence.flagged else ""
    return title + (f"; one in {step:,} drawn" if step > 1 else "")


def _spread_verdict(functions: pl.Series, people: pl.Series) -> str:
    """How far medians lie apart."""
    times = [float(medians.max()) / float(medians.min()) for medians in (people, functions)]  # type: ignore[arg-type]
    return (
        f"Median times differ up to {times[0]:.1f}-fold between participants and {times[1]:.1f}-fold between functions"
    )


def _density(times: Floats, points: int = 200) -> tuple[Floats, Floats]:
    """A Gaussian kernel density of log times with Silverman's bandwidth, from counts on a fine grid.

    The counts make it as quick for a million times as for a hundred.
    """
    logs = np.log(times)
    quarter, three = np.quantile(logs, [0.25, 0.75])
    spreads = [spread for spread in (float(logs.std()), float(three - quarter) / 1.34) if spread > 0]
    width = 0.9 * min(spreads, default=0.1) * len(logs) ** -0.2
    edges = np.linspace(logs.min() - 3 * width, logs.max() + 3 * width, 513)
    counts, _ = np.histogram(logs, edges)
    grid = np.linspace(edges[0], edges[-1], points)
    kernel = np.exp(-0.5 * ((grid[:, None] - (edges[:-1] + edges[1:]) / 2) / width) ** 2)
    heights: Floats = kernel @ counts / (len(logs) * width * np.sqrt(2 * np.pi))
    return np.exp(grid), heights


def _axis_label(evidence: Remfod) -> str:
    return "response time (s)" if evidence.settings["length"] is None else "response time adjusted for length (s)"


def _drawable(trials: pl.DataFrame) -> pl.DataFrame:
    return trials.with_columns(pl.col("rt").clip(lower_bound=SHORTEST))


def _short(name: str) -> str:
    """A name as a row can carry it: platforms give people names of 24 letters."""
    return name if len(name) <= 12 else f"{name[:5]}…{name[-5:]}"


def _percent(share: float) -> str:
    """A share in per cent, rounded down, so that what is under 90 % never reads 90 %."""
    return f"{int(np.floor(100 * share + 1e-9))} %"


def _verdict(evidence: Remfod) -> str:
    share = 100 * evidence.settings["genuine_at_least"]
    people = counted(evidence.participants.height, "participant")
    return f"{len(evidence.flagged)} of {people} answered under {share:g} % of their trials genuinely"


def _key(evidence: Remfod, more: int) -> str:
    pauses, rushes = (int(evidence.participants[name].sum()) for name in ("intermissions", "rushes"))
    text = f"◀ {_rushes(rushes)}   ▶ {counted(pauses, 'intermission')}"
    text += "   (hollow: after round 1)" if evidence.rounds > 1 else ""
    text += "   ┃\N{NO-BREAK SPACE}median"
    return text + (f"\n{counted(more, 'participant')} with a larger share not shown" if more else "")


def _divide(axes: Axes, flagged: int, rows: int, share: float) -> None:
    """The line between those who are flagged and the others."""
    if 0 < flagged < rows:
        threshold_line(axes, flagged - 0.5, f"{100 * share:g} %")
