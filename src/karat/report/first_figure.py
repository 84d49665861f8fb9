"""The figure of the first screen as SVG, and the data from which the page redraws it.

Two factors are lines over the levels of the first; one factor, pairs and answers are rows of dots. The script of the
page moves the points when a reader chooses another exclusion rule, so each point has the number of its cell.
"""

import json
import math
import re
from collections import Counter
from html import escape
from typing import Any
from urllib.parse import quote

from karat.errors import counted
from karat.report.figures import Axis
from karat.report.outcomes import Outcomes, RuleOutcome, round_step

WIDTH, TOP, BOTTOM = 410.0, 26.0, 40.0
LEFT = 44.0
ROW, LEAST_ROW, MOST_ROWS = 26.0, 15.0, 300.0
"""The usual and the least height of a row, and the preferred height of all rows together."""
SHAPES = ("circle", "square", "triangle", "diamond", "cross", "bar")
DODGE = 8.0
"""The distance between lines, so that equal values are visible."""
LETTER, WIDE = 7.3, 8.7
"""The approximate width of a letter of 12 pixels, and of a capital, in a wide font."""
NARROW, BROAD = dict.fromkeys("fijlrt.,:;|!'()[] -", 4.6), dict.fromkeys("mwMW%—", 11.6)
CHANCE = 50.0
PEOPLE, DOT = 46.0, 5.0
"""The height of the dots of participants, and their distance."""
EACH = "each participant"
FEWEST_TICKS = 2
"""The shortest axis whose ticks are whole numbers."""
LINE = 13.0
OVER, SHORTEST_NAME = " over ", 8
"""The word between the names of a pair, and the fewest characters of each if they are cut."""
NEGATIVE = re.compile(r"^-(?=\d+(\.\d+)?$)")
"""The sign of an answer that is a negative number."""


class _Axis(Axis):
    """An axis whose places are within its ends."""

    def at(self, value: float) -> float:
        return round(super().at(min(max(value, self.low), self.high)), 1)


def axis_of(found: Outcomes) -> tuple[float, float]:
    """The ends of the axis, which is never empty."""
    return (found.low, found.high) if found.high > found.low else (found.low, found.low + 1)


def svg(found: Outcomes, linked: bool = False) -> str:
    """The figure of the rule that the analysis uses; if `linked`, the dots of participants open their playback."""
    return _lines(found, linked) if len(found.factors) == 2 else _rows(found, linked)


def described(found: Outcomes) -> str:
    """The figure in words, for those who do not see it."""
    cells = zip(found.cells, found.analysed.cells, strict=True)
    text = "; ".join(f"{', '.join(cell)} {_value_text(found, *ends)}" for cell, ends in cells)
    by_person = ""
    if found.right is not None and found.people:
        by_person = f" By participant, right answers range from {found.right[1]:.0f} % to {found.right[2]:.0f} %."
    about = f" on the question “{found.question}”" if found.question else ""
    return f"{found.unit}{about}, {counted(found.analysed.kept, 'participant')}: {text}.{by_person}"


def data(found: Outcomes) -> dict[str, Any]:
    """The data from which the script redraws the figure, the flow and the comparisons under another rule."""
    low, high = axis_of(found)
    return {
        "low": low, "high": high, "percent": found.percent, "digits": found.digits,
        "cells": [", ".join(cell) for cell in found.cells],
        "examples": {str(number): text for number, text in found.sentences.items()},
        "comparisons": [comparison.name for comparison in found.comparisons],
        "rules": {
            rule.key: {
                "name": rule.name, "kept": rule.kept, "answering": rule.answering, "excluded": len(rule.excluded),
                "cells": [_rounded(cell) for cell in rule.cells],
                "comparisons": [_rounded(comparison) for comparison in rule.comparisons],
                "gone": _excluded_dots(found, rule),
            }
            for rule in found.rules
        },
    }  # fmt: skip


def _excluded_dots(outcomes: Outcomes, rule: RuleOutcome) -> list[int]:
    """The numbers of the dots of participants that a rule excludes."""
    excluded = set(rule.excluded)
    return [number for number, (name, _) in enumerate(outcomes.people) if name in excluded]


def as_json(value: Any) -> str:
    """JSON for a script element, which it cannot end."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _rounded(ends: tuple[float, float, float]) -> list[float | None]:
    return [round(value, 3) if math.isfinite(value) else None for value in ends]


def _value_text(outcomes: Outcomes, mean: float, low: float, high: float) -> str:
    if not math.isfinite(mean):
        return "no answers"
    digits, sign = outcomes.digits, " %" if outcomes.percent else ""
    ends = f" [{low:.{digits}f}, {high:.{digits}f}]" if math.isfinite(low) else ""
    return f"{mean:.{digits}f}{sign}{ends}"


def _ticks(outcomes: Outcomes) -> list[float]:
    low, high = axis_of(outcomes)
    if FEWEST_TICKS <= high - low <= 10 and float(low).is_integer() and float(high).is_integer():
        return [float(tick) for tick in range(int(low), int(high) + 1)]
    step = 0.2 if high - low == 1 else round_step(high - low)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def _tick(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".").replace("-", "\N{MINUS SIGN}")


def _point(
    outcomes: Outcomes, rule: RuleOutcome, number: int, series: int, axis: Axis, other: float, across: bool
) -> str:
    """A marker with its whiskers; hidden if no remaining participant saw the cell."""
    mean, low, high = rule.cells[number]
    has_mean = math.isfinite(mean)
    place = axis.at(mean) if has_mean else axis.start
    ends = [axis.at(end) - place if has_mean and math.isfinite(end) else 0.0 for end in (low, high)]
    x, y = (place, other) if across else (other, place)
    start, two = ("x1", "x2") if across else ("y1", "y2")
    label = f"{', '.join(outcomes.cells[number])}: {_value_text(outcomes, mean, low, high)}"
    example = outcomes.sentences.get(number)
    title = f"{label}. {example}" if example else label
    hidden = "" if has_mean else ' visibility="hidden"'
    return (
        f'<g class="pt s{series % len(SHAPES)}" data-cell="{number}" transform="translate({x} {y})" tabindex="0" '
        f'role="img" aria-label="{escape(title)}"{hidden}><title>{escape(title)}</title>'
        f'<line {start}="{ends[0]:.1f}" {two}="{ends[1]:.1f}"/>{_marker(series)}</g>'
    )


def _marker(series: int) -> str:
    return {
        "circle": '<circle r="5"/>',
        "square": '<rect x="-5" y="-5" width="10" height="10"/>',
        "triangle": '<path d="M0-6L6 5H-6Z"/>',
        "diamond": '<path d="M0-6.500L6.500 0L0 6.500L-6.500 0Z"/>',
        "cross": '<path d="M-5-5L5 5M5-5L-5 5"/>',
        "bar": '<rect x="-2.500" y="-6" width="5" height="12"/>',
    }[SHAPES[series % len(SHAPES)]]


def _people(outcomes: Outcomes, axis: Axis, bottom: float, linked: bool) -> str:
    """A dot per participant at the share of right answers, the lowest first, stacked; excluded ones are hollow."""
    excluded, columns = set(_excluded_dots(outcomes, outcomes.analysed)), Counter[int]()
    places = [round(axis.at(share) / DOT) for _, share in outcomes.people]
    step = min(DOT, (PEOPLE - 8) / max(Counter(places).values()))
    dots: list[str] = []
    for number, (name, share) in sorted(enumerate(outcomes.people), key=lambda item: item[1][1]):
        place = places[number]
        y = bottom - 5 - step * columns[place]
        columns[place] += 1
        dot = (
            f'<circle class="who{" out" if number in excluded else ""}" data-person="{number}" cx="{place * DOT:.1f}" '
            f'cy="{y:.1f}" r="2.500"><title>{escape(name)}: {share:.0f} %</title></circle>'
        )
        # The tab key stops once; the arrow keys go from dot to dot.
        label = f'aria-label="{escape(name)}: {share:.0f} %" tabindex="{-1 if dots else 0}"'
        dots.append(f'<a href="#participant={quote(name)}" {label}>{dot}</a>' if linked else dot)
    about = f'role="group" aria-label="{escape(outcomes.unit)} of each participant"' if linked else 'aria-hidden="true"'
    return f"<g {about}>{''.join(dots)}</g>"


def _lines(outcomes: Outcomes, linked: bool = False) -> str:
    """Means over the levels of the first factor, a line per level of the second, each named at its end."""
    levels = list(dict.fromkeys(cell[0] for cell in outcomes.cells))
    series = list(dict.fromkeys(cell[1] for cell in outcomes.cells))
    below = PEOPLE + BOTTOM if outcomes.people else 0.0
    room = min(max(*(_width(name) + 24 for name in series), _width(outcomes.factors[1]) + 8), 160.0)
    width = WIDTH - LEFT - room
    step = width / len(levels)
    longest = int(step / LETTER)
    # Names that are too long for one line alternate between two.
    lines = 2 if max(map(len, levels)) > longest and len(levels) > 2 else 1
    height = 290.0 + LINE * (lines - 1)
    axis = _Axis(*axis_of(outcomes), 290.0 - BOTTOM, TOP)
    x = {level: round(LEFT + step * (place + 0.5), 1) for place, level in enumerate(levels)}
    place = {cell: number for number, cell in enumerate(outcomes.cells)}
    parts = [_upright(outcomes, axis, height, LEFT, WIDTH - room + 2)]
    parts += [f'<text x="{at}" y="{270 + LINE * (place % lines)}" text-anchor="middle">'
              f"{_cut(level, lines * longest)}</text>"
              for place, (level, at) in enumerate(x.items())]  # fmt: skip
    parts.append(f'<text class="quiet" x="{LEFT + width / 2}" y="{height - 5}" text-anchor="middle">'
                 f"{escape(outcomes.factors[0])}</text>")  # fmt: skip
    ends = []
    for number, name in enumerate(series):
        cells = [place[(level, name)] for level in levels if (level, name) in place]
        with_means = [cell for cell in cells if math.isfinite(outcomes.analysed.cells[cell][0])]
        aside = (number - (len(series) - 1) / 2) * DODGE
        points = " ".join(
            f"{x[outcomes.cells[c][0]] + aside},{axis.at(outcomes.analysed.cells[c][0])}" for c in with_means
        )
        parts.append(f'<polyline class="s{number % len(SHAPES)}" data-cells="{" ".join(map(str, cells))}" '
                     f'points="{points}"/>')  # fmt: skip
        parts += [
            _point(outcomes, outcomes.analysed, c, number, axis, x[outcomes.cells[c][0]] + aside, False) for c in cells
        ]
        last = outcomes.analysed.cells[with_means[-1]][0] if with_means else axis.low
        ends.append((axis.at(last), name, number))
    labels = _apart(ends)
    parts.append(f'<text class="quiet" x="{WIDTH - room + 4}" y="{labels[0][0] - 14:.1f}">'
                 f"{_fitted(outcomes.factors[1], room - 6)}</text>")  # fmt: skip
    for y, name, number in labels:
        parts.append(f'<g class="pt key s{number % len(SHAPES)}" aria-hidden="true" transform="translate('
                     f'{WIDTH - room + 10} {y:.1f})">{_marker(number)}</g><text class="name" x="{WIDTH - room + 20}" '
                     f'y="{y + 4:.1f}">{_fitted(name, room - 22)}</text>')  # fmt: skip
    if outcomes.people:
        across = _Axis(0, 100, LEFT, WIDTH - 12)
        parts += [
            _across(outcomes, across, height, height + PEOPLE),
            _people(outcomes, across, height + PEOPLE, linked),
        ]
        parts.append(f'<text class="quiet" x="{(LEFT + WIDTH - 12) / 2:.0f}" y="{height + PEOPLE + 34}" '
                     f'text-anchor="middle">{escape(outcomes.unit)} of each participant</text>')  # fmt: skip
    return _whole(outcomes, height + below, "lines", axis, parts)


def _upright(outcomes: Outcomes, axis: Axis, height: float, left: float, right: float) -> str:
    ticks = "".join(
        f'<path class="grid" d="M{left} {axis.at(tick)}H{right:.1f}"/><text class="quiet" x="{left - 8}" '
        f'y="{axis.at(tick) + 4:.1f}" text-anchor="end">{_tick(tick)}</text>'
        for tick in _ticks(outcomes)
    )
    return f'{ticks}<text class="quiet" x="2" y="12">{escape(outcomes.unit)}</text>'


def _across(outcomes: Outcomes, axis: Axis, top: float, bottom: float) -> str:
    """The grid of an axis along the width, with its numbers below."""
    return "".join(
        f'<path class="grid" d="M{axis.at(tick)} {top}V{bottom}"/><text class="quiet" x="{axis.at(tick)}" '
        f'y="{bottom + 14}" text-anchor="middle">{_tick(tick)}</text>'
        for tick in _ticks(outcomes)
    )


def _rows(outcomes: Outcomes, linked: bool = False) -> str:
    """A dot per cell, with its name on the left."""
    names = [", ".join(cell) for cell in outcomes.cells]
    longest = max(map(_width, [*names, *([EACH] if outcomes.people else [])]))
    left = min(max(longest + 12, 60.0), 240.0 if outcomes.kind == "preference" else 210.0)
    # Many rows are closer together, so that the figure fits the first screen.
    row = min(ROW, max(LEAST_ROW, MOST_ROWS / len(names)))
    height = TOP + row * len(names) + (PEOPLE if outcomes.people else 0.0) + BOTTOM
    axis = _Axis(*axis_of(outcomes), left, WIDTH - 12)
    bottom = height - BOTTOM + 4
    parts = [_across(outcomes, axis, TOP - 6, bottom)]
    if outcomes.people:
        parts.append(f'<text x="{left - 10}" y="{bottom - 8}" text-anchor="end">{_fitted(EACH, left - 10)}</text>')
        parts.append(_people(outcomes, axis, bottom, linked))
    if outcomes.kind == "preference":
        parts.append(f'<path class="chance" d="M{axis.at(CHANCE)} {TOP - 6}V{bottom}"/>')
    parts.append(f'<text class="quiet" x="{(left + WIDTH - 12) / 2:.0f}" y="{height - 5}" text-anchor="middle">'
                 f"{escape(outcomes.unit)}</text>")  # fmt: skip
    for number, name in enumerate(names):
        y = TOP + row * (number + 0.5) - 4
        parts.append(f'<text x="{left - 10}" y="{y + 4:.1f}" text-anchor="end">{_fitted(name, left - 10)}</text>')
        parts.append(_point(outcomes, outcomes.analysed, number, 0, axis, y, True))
    return _whole(outcomes, height, "rows", axis, parts)


def _whole(outcomes: Outcomes, height: float, kind: str, axis: Axis, parts: list[str]) -> str:
    return (
        f'<svg id="first-figure" data-kind="{kind}" data-start="{axis.start}" data-end="{axis.end}" '
        f'viewBox="0 0 {WIDTH:.0f} {height:.0f}" role="group" aria-label="{escape(described(outcomes))}">'
        f"{''.join(parts)}</svg>"
    )


def _apart(ends: list[tuple[float, str, int]], least: float = 15.0) -> list[tuple[float, str, int]]:
    """Labels at the ends of lines, moved down so that none covers another."""
    moved: list[tuple[float, str, int]] = []
    for y, name, number in sorted(ends):
        moved.append((max(y, moved[-1][0] + least) if moved else y, name, number))
    return moved


def _width(text: str) -> float:
    """The approximate width of a text; capitals and signs are wider than other letters."""
    wide = (WIDE if letter.isupper() or letter in "<>=" else LETTER for letter in text)
    return sum(NARROW.get(letter) or BROAD.get(letter) or usual for letter, usual in zip(text, wide, strict=True))


def _fitted(text: str, room: float) -> str:
    """A name, cut to the width of its room."""
    return _cut(text, len(text) if _width(text) <= room else int(len(text) * room / _width(text)))


def _cut(text: str, longest: int) -> str:
    """A name cut to a length; of a pair, both names without their middles, because their ends distinguish them."""
    plain = NEGATIVE.sub("\N{MINUS SIGN}", " ".join(text.split()))
    if len(plain) <= max(longest, 4):
        return escape(plain)
    sides = plain.split(OVER)
    if len(sides) != 2 or longest < len(OVER) + 2 * SHORTEST_NAME:
        return escape(plain[: max(longest, 4) - 1] + "…")
    return escape(OVER.join(_without_middle(side, (longest - len(OVER)) // 2) for side in sides))


def _without_middle(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    end = (longest - 1) // 2
    return f"{text[: longest - 1 - end]}…{text[-end:]}"
