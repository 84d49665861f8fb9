"""Figures of response times and of the course of a questionnaire, as the report draws them: without matplotlib.

They show what the plots of `Remfod` and `OrderEffects` show, in letters that can be read in a figure 8 cm wide.
"""

import math
from collections.abc import Iterable

import numpy as np
import polars as pl

from karat.measure.effects.order_effects import OrderEffects
from karat.plots import BLACK, FLAGGED, GREY, KEPT, SKY_BLUE
from karat.plots.lines import COLOURS
from karat.plots.style import short_name
from karat.plots.times import DENSITIES_AT_MOST, SHORTEST, kernel_density, percent, spread_verdict
from karat.report.figures import LETTER, PAGE, Axis, axis_below, axis_beside, framed, mark, names_above, text_at
from karat.screen.criteria.remfod import Remfod
from karat.section import Figure
from karat.types import Floats

BOLD = 1.15
"""How much wider bold letters are."""
ROW, POINTS = 13.0, 90
"""The height of a participant's row in points, and the number of points of a density."""
SHIFT = 0.012
"""How far the lines of two conditions are moved apart, as a share of the axis."""


def densities_figure(found: Remfod, alt: str, caption: str, data: pl.DataFrame) -> Figure:
    """Densities of the times of item functions and of participants, with their medians."""
    timed = found.timed.with_columns(pl.col("rt").clip(lower_bound=SHORTEST))
    functions = timed.group_by("function").agg(pl.col("rt").median()).sort("rt")
    people = timed.group_by("participant").agg(pl.col("rt").median()).sort("rt", "participant")
    step = -(-people.height // DENSITIES_AT_MOST)
    by_function = _densities(timed, "function", functions["function"])
    by_person = _densities(timed, "participant", people["participant"].gather_every(step))
    every = [times for times, _ in (*by_function, *by_person)]
    low, high = min(float(times[0]) for times in every), max(float(times[-1]) for times in every)
    left = 12 + LETTER * max(max(map(len, functions["function"])), 6)
    middle, top, bottom = (left + PAGE) / 2, 46.0, 206.0
    x, y = Axis(low, high, left, middle - 8, True), Axis(0, functions.height + 0.5, bottom, top)
    parts = [text_at(left, 32, "by item function, with its median", GREY)]
    for number, ((name, median), (times, heights)) in reversed(
        list(enumerate(zip(functions.iter_rows(), by_function, strict=True)))
    ):
        line = _line(x, y, times, number + 1.4 * heights / heights.max())
        ends = f"{x.at(float(times[-1])):.1f} {y.at(number):.1f}L{x.at(float(times[0])):.1f} {y.at(number):.1f}"
        parts.append(f'<path class="density" d="{line}L{ends}Z" fill="{SKY_BLUE}" fill-opacity="0.350"/>')
        parts.append(f'<path d="{line}" fill="none" stroke="{BLACK}" stroke-width="0.800"/>')
        parts.append(f'<path d="M{x.at(median):.1f} {y.at(number):.1f}V{y.at(number + 0.3):.1f}" stroke="{BLACK}" '
                     f'stroke-width="1.600"/>')  # fmt: skip
        parts.append(text_at(left - 6, y.at(number) - 12, name, anchor="end"))
        parts.append(text_at(left - 6, y.at(number) - 1, f"{median:.1f} s", anchor="end"))
    parts += axis_below(x, bottom, found.label)
    text = "by participant, with medians" + (f", one in {step:,}" if step > 1 else "")
    parts.append(text_at(middle + 8, 32, text, GREY))
    highest = max(float(heights.max()) for _, heights in by_person)
    x, y = Axis(low, high, middle + 8, PAGE - 6, True), Axis(0, 1.05 * highest, bottom, top + 8)
    flagged, names = set(found.flagged), people["participant"].gather_every(step)
    for name, (times, heights) in zip(names, by_person, strict=True):
        style = f'stroke="{FLAGGED}" stroke-dasharray="4 2"' if name in flagged else f'stroke="{KEPT}"'
        width = "1" if name in flagged else "0.400"
        parts.append(f'<path class="density" d="{_line(x, y, times, heights)}" fill="none" {style} '
                     f'stroke-width="{width}"/>')  # fmt: skip
    medians = "".join(f"M{x.at(float(person)):.1f} {bottom - 4}v7" for person in people["rt"])
    parts.append(f'<path d="{medians}" stroke="{BLACK}" stroke-width="0.800"/>')
    parts += axis_below(x, bottom, found.label)
    if flagged:
        parts.append(text_at(PAGE - 6, 46, "dashed: flagged", FLAGGED, "end"))
    title = spread_verdict(functions["rt"], people["rt"])
    return framed("densities", title, alt, bottom + 32, parts, caption, data)


def _densities(timed: pl.DataFrame, by: str, names: Iterable[str]) -> list[tuple[Floats, Floats]]:
    """The density of each group's times."""
    groups = {key[0]: part["rt"].to_numpy() for key, part in timed.group_by(by)}
    return [kernel_density(groups[name], POINTS) for name in names]


def rows_figure(found: Remfod, alt: str, caption: str, data: pl.DataFrame) -> Figure:
    """The times of each participant in a row, with the smallest share of genuine trials on top."""
    people, title, key = found.least_genuine()
    timed = found.timed.with_columns(pl.col("rt").clip(lower_bound=SHORTEST))
    trials = timed.filter(pl.col("participant").is_in(people["participant"].to_list()))
    shares = people.select("participant", "genuine_share").rows()
    names = [f"{short_name(name)}: {percent(share)}" for name, share in shares]
    left = 8 + BOLD * LETTER * max(map(len, names), default=4)
    key_lines = key.split("\n")
    top = 24.0 + 13 * len(key_lines)
    bottom = top + ROW * people.height + 4
    x = Axis(float(trials["rt"].min() or 1) / 1.1, float(trials["rt"].max() or 1) * 1.1, left, PAGE - 34, True)  # type: ignore[arg-type]
    parts = [text_at(4, 29 + 13 * number, line, GREY) for number, line in enumerate(key_lines)]
    by_person = {key[0]: part for key, part in trials.group_by("participant")}
    for number, (name, flagged) in enumerate(people.select("participant", "flagged").rows()):
        y = top + ROW * (number + 0.5)
        label = text_at(left - 6, y + 3.5, names[number], FLAGGED if flagged else BLACK, "end", bold=flagged)
        parts.append(f'<g class="row">{label}{_times_of(by_person[name], x, y)}</g>')
    below = int((people["genuine_share"] < found.settings["genuine_at_least"]).sum())
    if 0 < below < people.height:
        y = top + ROW * below
        parts.append(f'<path d="M{left} {y}H{PAGE - 34}" stroke="{BLACK}" stroke-dasharray="4 3"/>')
        parts.append(text_at(PAGE - 31, y + 3.5, f"{100 * found.settings['genuine_at_least']:g} %"))
    parts += axis_below(x, bottom, found.label)
    return framed("everybody", title, alt, bottom + 32, parts, caption, data)


def _times_of(answers: pl.DataFrame, x: Axis, y: float) -> str:
    """The times of one participant: ticks, triangles for outlying ones, and the median."""
    trials = answers.select("rt", "kind", "degree").rows()
    genuine = dict.fromkeys(time for time, kind, _ in trials if kind is None)
    ticks = "".join(f"M{x.at(time):.1f} {y - 2:.1f}v4" for time in genuine)
    parts = [f'<path d="{ticks}" stroke="{KEPT}" stroke-width="0.500" stroke-opacity="0.600"/>']
    for time, kind, degree in trials:
        if kind is None:
            continue
        side = -1 if kind == "rush" else 1
        fill = "white" if degree > 1 else FLAGGED
        parts.append(f'<path d="M{x.at(time) + 2.5 * side:.1f} {y:.1f}l{-5 * side} -2.500v5Z" fill="{fill}" '
                     f'stroke="{FLAGGED}" stroke-width="0.800"/>')  # fmt: skip
    middle = float(answers["rt"].median() or 1)  # type: ignore[arg-type]
    parts.append(f'<path d="M{x.at(middle):.1f} {y - 4:.1f}v8" stroke="{BLACK}" stroke-width="1.400"/>')
    return "".join(parts)


def course_figure(key: str, found: OrderEffects, alt: str, data: pl.DataFrame) -> Figure:
    """Means of answers and of times along the questionnaire by condition, with intervals over participants."""
    conditions, panels = found.course()
    parts, top = names_above(conditions, 10.0) if len(conditions) > 1 else ([], 30.0)
    wide, bottom, start = PAGE / len(panels), top + 160, 0.0
    for measure, rows in panels.items():
        end = start + wide - 10
        values = [value for name in ("mean", "lower", "upper") for value in rows[name].drop_nulls().to_list()]
        low, high = min(values), max(values)
        pad = 0.06 * (high - low) or 0.5
        log = measure == "rt"
        y = Axis(low / 1.03 if log else low - pad, high * 1.03 if log else high + pad, bottom, top, log)
        first, last = float(rows["place"].min()), float(rows["place"].max())  # type: ignore[arg-type]
        x = Axis(first - 0.03 * (last - first) - 0.5, last + 0.03 * (last - first) + 0.5, start + 52, end)
        unit = "response time (s)" if log else "mean answer"
        parts += axis_beside(y, x.start, f"{unit}, {100 * found.level:g} % intervals")
        parts += axis_below(x, bottom, "position in the questionnaire")
        for number, name in enumerate(conditions):
            parts += _course(rows, name, number, x, y, len(conditions))
        start += wide
    return framed(key, found.title, alt, bottom + 32, parts, "", data)


def _course(rows: pl.DataFrame, condition: str, number: int, x: Axis, y: Axis, conditions: int) -> list[str]:
    """The line of a condition with its intervals."""
    points_of = rows.filter(pl.col("condition") == condition).drop_nulls("mean")
    if not points_of.height:
        return []
    moved = (number - (conditions - 1) / 2) * SHIFT * (x.end - x.start)
    points = [(x.at(place) + moved, mean, low, high) for place, mean, low, high in
              points_of.select("place", "mean", "lower", "upper").iter_rows()]  # fmt: skip
    line = "M" + "L".join(f"{at:.1f} {y.at(mean):.1f}" for at, mean, *_ in points)
    bars = "".join(f"M{at:.1f} {y.at(low):.1f}V{y.at(high):.1f}" for at, _, low, high in points if low is not None)
    colour = COLOURS[number]
    return [
        f'<path class="line" d="{line}" fill="none" stroke="{colour}" stroke-width="1.200"/>',
        f'<path d="{bars}" stroke="{colour}" stroke-width="0.800"/>',
        *(f'<g transform="translate({at:.1f} {y.at(mean):.1f})">{mark(number)}</g>' for at, mean, *_ in points),
    ]


def _line(x: Axis, y: Axis, times: Floats, heights: Floats) -> str:
    """A path through points; `x` is logarithmic."""
    across = x.start + (np.log(times) - math.log(x.low)) / math.log(x.high / x.low) * (x.end - x.start)
    down = y.start + (heights - y.low) / (y.high - y.low) * (y.end - y.start)
    return "M" + "L".join(f"{left:.1f} {other:.1f}" for left, other in zip(across.tolist(), down.tolist(), strict=True))
