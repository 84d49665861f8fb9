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
    text = "; ".join(f"{', '.join(cell)} {_said(found, *ends)}" for cell, ends in cells)
    by_person = ""
    if found.right is not None and found.people:
        by_person = f" By participant, right answers range from {found.right[1]:.0f} % to {found.right[2]:.0f} %."
    asked = f" on the question “{found.question}”" if found.question else ""
    return f"{found.unit}{asked}, {counted(found.analysed.kept, 'participant')}: {text}.{by_person}"


def data(found: Outcomes) -> dict[str, Any]:
    """The data from which the script redraws the figure, the flow and the comparisons under another rule."""
    low, high = axis_of(found)
    return {
        "low": low, "high": high, "percent": found.percent, "digits": found.digits,
        "cells": [", ".join(cell) for cell in found.cells],
        "examples": {str(number): text for number, text in found.sentences.items()},
        "comparisons": [one.name for one in found.comparisons],
        "rules": {
            rule.key: {
                "name": rule.name, "kept": rule.kept, "answering": rule.answering, "excluded": len(rule.excluded),
                "cells": [_rounded(cell) for cell in rule.cells],
                "comparisons": [_rounded(one) for one in rule.comparisons],
                "gone": _gone(found, rule),
            }
            for rule in found.rules
        },
    }  # fmt: skip


def _gone(found: Outcomes, rule: RuleOutcome) -> list[int]:
    """The numbers of the dots of participants that a rule excludes."""
    excluded = set(rule.excluded)
    return [number for number, (name, _) in enumerate(found.people) if name in excluded]


def as_json(value: Any) -> str:
    """JSON for a script element, which it cannot end."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _rounded(ends: tuple[float, float, float]) -> list[float | None]:
    return [round(value, 3) if math.isfinite(value) else None for value in ends]


def _said(found: Outcomes, mean: float, low: float, high: float) -> str:
    if not math.isfinite(mean):
        return "no answers"
    digits, sign = found.digits, " %" if found.percent else ""
    ends = f" [{low:.{digits}f}, {high:.{digits}f}]" if math.isfinite(low) else ""
    return f"{mean:.{digits}f}{sign}{ends}"


def _ticks(found: Outcomes) -> list[float]:
    low, high = axis_of(found)
    if FEWEST_TICKS <= high - low <= 10 and float(low).is_integer() and float(high).is_integer():
        return [float(tick) for tick in range(int(low), int(high) + 1)]
    step = 0.2 if high - low == 1 else round_step(high - low)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def _tick(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".").replace("-", "\N{MINUS SIGN}")


def _point(found: Outcomes, rule: RuleOutcome, number: int, series: int, axis: Axis, other: float, across: bool) -> str:
    """A marker with its whiskers; hidden if no remaining participant saw the cell."""
    mean, low, high = rule.cells[number]
    known = math.isfinite(mean)
    place = axis.at(mean) if known else axis.start
    ends = [axis.at(end) - place if known and math.isfinite(end) else 0.0 for end in (low, high)]
    x, y = (place, other) if across else (other, place)
    one, two = ("x1", "x2") if across else ("y1", "y2")
    label = f"{', '.join(found.cells[number])}: {_said(found, mean, low, high)}"
    example = found.sentences.get(number)
    title = f"{label}. {example}" if example else label
    hidden = "" if known else ' visibility="hidden"'
    return (
        f'<g class="pt s{series % len(SHAPES)}" data-cell="{number}" transform="translate({x} {y})" tabindex="0" '
        f'role="img" aria-label="{escape(title)}"{hidden}><title>{escape(title)}</title>'
        f'<line {one}="{ends[0]:.1f}" {two}="{ends[1]:.1f}"/>{_marker(series)}</g>'
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


def _people(found: Outcomes, axis: Axis, bottom: float, linked: bool) -> str:
    """A dot per participant at the share of right answers, the lowest first, stacked; excluded ones are hollow."""
    gone, columns = set(_gone(found, found.analysed)), Counter[int]()
    places = [round(axis.at(share) / DOT) for _, share in found.people]
    step = min(DOT, (PEOPLE - 8) / max(Counter(places).values()))
    drawn: list[str] = []
    for number, (name, share) in sorted(enumerate(found.people), key=lambda one: one[1][1]):
        place = places[number]
        y = bottom - 5 - step * columns[place]
        columns[place] += 1
        dot = (
            f'<circle class="who{" out" if number in gone else ""}" data-person="{number}" cx="{place * DOT:.1f}" '
            f'cy="{y:.1f}" r="2.500"><title>{escape(name)}: {share:.0f} %</title></circle>'
        )
        # The tab key stops once; the arrow keys go from dot to dot.
        label = f'aria-label="{escape(name)}: {share:.0f} %" tabindex="{-1 if drawn else 0}"'
        drawn.append(f'<a href="#participant={quote(name)}" {label}>{dot}</a>' if linked else dot)
    about = f'role="group" aria-label="{escape(found.unit)} of each participant"' if linked else 'aria-hidden="true"'
    return f"<g {about}>{''.join(drawn)}</g>"


def _lines(found: Outcomes, linked: bool = False) -> str:
    """Means over the levels of the first factor, a line per level of the second, each named at its end."""
    levels = list(dict.fromkeys(cell[0] for cell in found.cells))
    series = list(dict.fromkeys(cell[1] for cell in found.cells))
    below = PEOPLE + BOTTOM if found.people else 0.0
    room = min(max(*(_width(name) + 24 for name in series), _width(found.factors[1]) + 8), 160.0)
    width = WIDTH - LEFT - room
    step = width / len(levels)
    longest = int(step / LETTER)
    # Names that are too long for one line alternate between two.
    lines = 2 if max(map(len, levels)) > longest and len(levels) > 2 else 1
    height = 290.0 + LINE * (lines - 1)
    axis = _Axis(*axis_of(found), 290.0 - BOTTOM, TOP)
    x = {level: round(LEFT + step * (place + 0.5), 1) for place, level in enumerate(levels)}
    place = {cell: number for number, cell in enumerate(found.cells)}
    drawn = [_upright(found, axis, height, LEFT, WIDTH - room + 2)]
    drawn += [f'<text x="{at}" y="{270 + LINE * (place % lines)}" text-anchor="middle">'
              f"{_cut(level, lines * longest)}</text>"
              for place, (level, at) in enumerate(x.items())]  # fmt: skip
    drawn.append(f'<text class="quiet" x="{LEFT + width / 2}" y="{height - 5}" text-anchor="middle">'
                 f"{escape(found.factors[0])}</text>")  # fmt: skip
    ends = []
    for number, name in enumerate(series):
        cells = [place[(level, name)] for level in levels if (level, name) in place]
        known = [cell for cell in cells if math.isfinite(found.analysed.cells[cell][0])]
        aside = (number - (len(series) - 1) / 2) * DODGE
        points = " ".join(f"{x[found.cells[c][0]] + aside},{axis.at(found.analysed.cells[c][0])}" for c in known)
        drawn.append(f'<polyline class="s{number % len(SHAPES)}" data-cells="{" ".join(map(str, cells))}" '
                     f'points="{points}"/>')  # fmt: skip
        drawn += [_point(found, found.analysed, c, number, axis, x[found.cells[c][0]] + aside, False) for c in cells]
        last = found.analysed.cells[known[-1]][0] if known else axis.low
        ends.append((axis.at(last), name, number))
    labels = _apart(ends)
    drawn.append(f'<text class="quiet" x="{WIDTH - room + 4}" y="{labels[0][0] - 14:.1f}">'
                 f"{_fitted(found.factors[1], room - 6)}</text>")  # fmt: skip
    for y, name, number in labels:
        drawn.append(f'<g class="pt key s{number % len(SHAPES)}" aria-hidden="true" transform="translate('
                     f'{WIDTH - room + 10} {y:.1f})">{_marker(number)}</g><text class="name" x="{WIDTH - room + 20}" '
                     f'y="{y + 4:.1f}">{_fitted(name, room - 22)}</text>')  # fmt: skip
    if found.people:
        across = _Axis(0, 100, LEFT, WIDTH - 12)
        drawn += [_across(found, across, height, height + PEOPLE), _people(found, across, height + PEOPLE, linked)]
        drawn.append(f'<text class="quiet" x="{(LEFT + WIDTH - 12) / 2:.0f}" y="{height + PEOPLE + 34}" '
                     f'text-anchor="middle">{escape(found.unit)} of each participant</text>')  # fmt: skip
    return _whole(found, height + below, "lines", axis, drawn)


def _upright(found: Outcomes, axis: Axis, height: float, left: float, right: float) -> str:
    ticks = "".join(
        f'<path class="grid" d="M{left} {axis.at(tick)}H{right:.1f}"/><text class="quiet" x="{left - 8}" '
        f'y="{axis.at(tick) + 4:.1f}" text-anchor="end">{_tick(tick)}</text>'
        for tick in _ticks(found)
    )
    return f'{ticks}<text class="quiet" x="2" y="12">{escape(found.unit)}</text>'


def _across(found: Outcomes, axis: Axis, top: float, bottom: float) -> str:
    """The grid of an axis along the width, with its numbers below."""
    return "".join(
        f'<path class="grid" d="M{axis.at(tick)} {top}V{bottom}"/><text class="quiet" x="{axis.at(tick)}" '
        f'y="{bottom + 14}" text-anchor="middle">{_tick(tick)}</text>'
        for tick in _ticks(found)
    )


def _rows(found: Outcomes, linked: bool = False) -> str:
    """A dot per cell, with its name on the left."""
    names = [", ".join(cell) for cell in found.cells]
    longest = max(map(_width, [*names, *([EACH] if found.people else [])]))
    left = min(max(longest + 12, 60.0), 240.0 if found.kind == "preference" else 210.0)
    # Many rows are closer together, so that the figure fits the first screen.
    row = min(ROW, max(LEAST_ROW, MOST_ROWS / len(names)))
    height = TOP + row * len(names) + (PEOPLE if found.people else 0.0) + BOTTOM
    axis = _Axis(*axis_of(found), left, WIDTH - 12)
    bottom = height - BOTTOM + 4
    drawn = [_across(found, axis, TOP - 6, bottom)]
    if found.people:
        drawn.append(f'<text x="{left - 10}" y="{bottom - 8}" text-anchor="end">{_fitted(EACH, left - 10)}</text>')
        drawn.append(_people(found, axis, bottom, linked))
    if found.kind == "preference":
        drawn.append(f'<path class="chance" d="M{axis.at(CHANCE)} {TOP - 6}V{bottom}"/>')
    drawn.append(f'<text class="quiet" x="{(left + WIDTH - 12) / 2:.0f}" y="{height - 5}" text-anchor="middle">'
                 f"{escape(found.unit)}</text>")  # fmt: skip
    for number, name in enumerate(names):
        y = TOP + row * (number + 0.5) - 4
        drawn.append(f'<text x="{left - 10}" y="{y + 4:.1f}" text-anchor="end">{_fitted(name, left - 10)}</text>')
        drawn.append(_point(found, found.analysed, number, 0, axis, y, True))
    return _whole(found, height, "rows", axis, drawn)


def _whole(found: Outcomes, height: float, kind: str, axis: Axis, drawn: list[str]) -> str:
    return (
        f'<svg id="first-figure" data-kind="{kind}" data-start="{axis.start}" data-end="{axis.end}" '
        f'viewBox="0 0 {WIDTH:.0f} {height:.0f}" role="group" aria-label="{escape(described(found))}">'
        f"{''.join(drawn)}</svg>"
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
