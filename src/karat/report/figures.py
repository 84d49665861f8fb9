"""Figures of results as parts of the report, and those that only the report has: credence,
right answers beside chance, and a strip for each participant.

Most figures are written as SVG without matplotlib, which is slow to import and to lay out. In a strip, times are ticks
on a logarithmic axis that is the same for everybody; those that ReMFOD flags are longer and have another colour.
Answers are bars in the order of trials, as high as the answer is on its scale; a missing answer is a gap. A strip is
one or two paths, so a thousand of them stay small.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from karat.errors import counted
from karat.judgments import Judgments
from karat.judgments.answer_codes import by_scale, position
from karat.judgments.stimuli import natural_order
from karat.judgments.trial_order import presented, with_positions
from karat.languages import language_of
from karat.messages import Message, render_all
from karat.plots import BLACK, FLAGGED, GREY, KEPT, LIGHT_GREY
from karat.plots.lines import COLOURS
from karat.plots.ranked import LONGEST, SHOWN, short
from karat.plots.style import seconds_ticks, to_svg, wrapped
from karat.screen.evidence import Evidence
from karat.section import Figure
from karat.types import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

    from karat.measure.scaling.result import Strengths


TITLE_POINTS = 11.0
"""The size of titles of wide figures."""


def report_figure(key: str, figure: MplFigure, alt: str, caption: str = "", data: pl.DataFrame | None = None) -> Figure:
    """A figure titled by its finding; `alt` describes it for those who do not see it."""
    title = " ".join(figure.get_suptitle().split()) or key.replace("-", " ").capitalize()
    if "\n" in figure.get_suptitle():
        parts = (title.split(end)[0] for end in (": ", ", ", "; "))
        # Bold letters are wider.
        short = next((part for part in parts if "\n" not in wrapped(figure, part, TITLE_POINTS * 1.1)), "")
        figure.suptitle(short, x=0.01, horizontalalignment="left", fontweight="bold")
        caption = f"{title}. {caption}".strip()
    return Figure(key, title, alt, to_svg(figure, title, alt), caption, data)


def sentences(messages: Iterable[Message], language: str = "en") -> str:
    """Messages as a paragraph."""
    return " ".join(render_all(messages, language))


PAGE, LINE, LETTER = 454.0, 13.0, 5.9
"""The width of a figure, the height of a line and the width of a letter, in points."""
FEWEST_TICKS = 3
MARKS = (
    '<circle r="2.500" {}/>', '<path d="M0-3L3 0L0 3L-3 0Z" {}/>', '<path d="M0-3L3 2.500H-3Z" {}/>',
    '<rect x="-2.300" y="-2.300" width="4.600" height="4.600" {}/>', '<path d="M0 3L3-2.500H-3Z" {}/>',
    '<rect x="-1.200" y="-3" width="2.400" height="6" {}/>',
)  # fmt: skip
"""A mark for each condition beside its colour, so that they also differ in greyscale print."""


class Axis(NamedTuple):
    """An axis from one value to another, between two places in points."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """The place of a value."""
        low, high, value = (math.log(number) if self.log else number for number in (self.low, self.high, value))
        return self.start + (value - low) / ((high - low) or 1.0) * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """Round values and how they are written."""
        values = seconds_ticks(self.low, self.high, max(int(abs(self.end - self.start) / 26), 3)) if self.log else []
        if len(values) < FEWEST_TICKS:
            values = [tick for tick in round_ticks(self.low, self.high) if self.low <= tick <= self.high]
        return [(tick, f"{tick:,.10g}" if self.log else decimals(tick, values)) for tick in values]


def text_at(x: float, y: float, text: str, colour: str = BLACK, anchor: str = "start", bold: bool = False) -> str:
    """A text; black text that starts at its place needs no attributes."""
    more = f' fill="{colour}"' * (colour != BLACK) + f' text-anchor="{anchor}"' * (anchor != "start")
    more += ' font-weight="bold"' * bold
    return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{html.escape(text)}</text>'


def axis_below(x: Axis, bottom: float, label: str, ticks: Sequence[tuple[float, str]] | None = None) -> list[str]:
    """An axis below a panel: its line, its ticks and its label."""
    parts = [f'<path d="M{x.start:.1f} {bottom}H{x.end:.1f}" stroke="{GREY}" stroke-width="0.600"/>']
    last = -math.inf
    for tick, text in x.ticks() if ticks is None else ticks:
        parts.append(f'<path d="M{x.at(tick):.1f} {bottom}v3" stroke="{GREY}" stroke-width="0.600"/>')
        half = LETTER * len(text) / 2
        # A number that would touch the one before it is left out; its tick stays.
        if x.at(tick) - half > last + LETTER / 2:
            parts.append(text_at(x.at(tick), bottom + 13, text, anchor="middle"))
            last = x.at(tick) + half
    return [*parts, text_at((x.start + x.end) / 2, bottom + 27, label, anchor="middle")]


def axis_beside(y: Axis, x: float, label: str, ticks: Sequence[tuple[float, str]] | None = None) -> list[str]:
    """An axis to the left of a panel."""
    parts = [f'<path d="M{x:.1f} {y.start}V{y.end}" stroke="{GREY}" stroke-width="0.600"/>']
    for tick, text in y.ticks() if ticks is None else ticks:
        parts.append(f'<path d="M{x:.1f} {y.at(tick):.1f}h-3" stroke="{GREY}" stroke-width="0.600"/>')
        parts.append(text_at(x - 5, y.at(tick) + 3.5, text, anchor="end"))
    parts.append(f'<text transform="translate({max(x - 39, 13):.0f} {(y.start + y.end) / 2:.0f}) rotate(-90)" '
                 f'text-anchor="middle">{html.escape(label)}</text>')  # fmt: skip
    return parts


def names_above(names: Sequence[str], left: float) -> tuple[list[str], float]:
    """The marks and names of conditions above a panel, in as many lines as they need, and where the panel begins."""
    parts, x, y = [], left, 27.0
    for number, name in enumerate(names):
        width = 22 + LETTER * min(len(name), LONGEST)
        if x > left and x + width > PAGE:
            x, y = left, y + LINE
        parts.append(f'<g transform="translate({x:.1f} {y - 3.5})">{mark(number)}</g>')
        parts.append(text_at(x + 7, y, short(name)))
        x += width
    return parts, y + 12


def ranking_figure(key: str, found: Strengths, sentences: Mapping[tuple[str, ...], str], alt: str) -> Figure:
    """Stimuli with their intervals, the highest on top, in the colour of their condition; of many, both ends.

    The values stand beside a row when a reader points at it, with its sentence where `sentences` (by item and
    condition, or by item) has it.
    """
    estimated = found.frame.with_columns(label=pl.Series(found.labels)).drop_nulls("estimate")
    title, left_out = found.title, max(estimated.height - SHOWN, 0)
    rows = estimated if not left_out else pl.concat([estimated.head(SHOWN // 2), estimated.tail(SHOWN - SHOWN // 2)])
    group = _condition(estimated, found.conditions)
    levels = list(dict.fromkeys(map(group, estimated.to_dicts()))) if group is not None else []
    levels = sorted(levels, key=natural_order) if 1 < len(levels) <= len(COLOURS) else []
    left = max((min(len(label), LONGEST) for label in rows["label"]), default=4) * LETTER + 8
    parts, top = names_above(levels, left) if levels else ([], 22.0)
    bottom = top + LINE * (rows.height + bool(left_out)) + 2
    whole = pl.all_horizontal(pl.col("lower", "upper").is_finite()).fill_null(False)
    rows = rows.with_columns(pl.when(whole).then(pl.col("lower", "upper")))
    ends = rows.select("estimate", *(pl.coalesce(end, "estimate").alias(end) for end in ("lower", "upper"))).rows()
    low, high = min(map(min, ends), default=0.0), max(map(max, ends), default=1.0)
    low, high = (low, high) if high > low else (low - 0.5, high + 0.5)
    ticks = round_ticks(low, high)
    x = Axis(min(low, ticks[0]), max(high, ticks[-1]), left, PAGE - 14)
    for tick in ticks:
        parts.append(f'<path d="M{x.at(tick):.1f} {top - 4}V{bottom}" stroke="{LIGHT_GREY}" stroke-width="0.500"/>')
        parts.append(text_at(x.at(tick), bottom + 12, decimals(tick, ticks), anchor="middle"))
    unit = f"{found.unit}, with {100 * found.level:g} % intervals"
    parts.append(text_at((left + PAGE) / 2, bottom + 26, unit, anchor="middle"))
    for line, row in enumerate(rows.to_dicts()):
        after = left_out > 0 and line >= SHOWN // 2
        number = levels.index(group(row)) if levels and group is not None else 0
        y = top + LINE * (line + after + 0.5)
        point, start, end = map(x.at, ends[line])
        cell = tuple(str(row[name]) for name in ("item", *found.conditions) if row[name] not in (None, ""))
        sentence = sentences.get(cell) or sentences.get(cell[:1])
        tooltip = f"{row['label']}: {row['estimate']:.2f}"
        tooltip += f" [{row['lower']:.2f}, {row['upper']:.2f}]" if row["lower"] is not None else ""
        tooltip = html.escape(f"{tooltip}. {sentence}" if sentence else tooltip)
        parts.append(
            f'<g class="row"><title>{tooltip}</title><rect x="0" y="{y - LINE / 2:.1f}" width="{PAGE}" height="{LINE}" '
            f'fill="none" pointer-events="all"/>{text_at(left - 6, y + 3.5, short(row["label"]), anchor="end")}'
            f'<path d="M{start:.1f} {y:.1f}H{end:.1f}" stroke="{COLOURS[number]}"/>'
            f'<g transform="translate({point:.1f} {y:.1f})">{mark(number)}</g></g>'
        )
    if left_out:
        between = f"... {left_out:,} more between these ..."
        parts.append(text_at((left + PAGE) / 2, top + LINE * (SHOWN // 2 + 0.5) + 2.8, between, GREY, "middle"))
    heading = f'<text x="4" y="13" font-size="11" font-weight="bold">{html.escape(_one_line(title))}</text>'
    svg = _page_wide("ranking", title, alt, bottom + 32, [heading, *parts])
    return Figure(key, title, alt, svg, data=found.frame)


def _one_line(title: str) -> str:
    """A title, or its part on the strongest stimulus, if that fits into a line of a wide figure."""
    longest = int(PAGE / (0.56 * TITLE_POINTS * 1.1))
    first = title[: title.find(" stimuli, ") + len(" stimuli")] if " stimuli, " in title else title
    return next((text for text in (title, first) if len(text) <= longest), "Stimuli, the strongest on top")


def _condition(rows: pl.DataFrame, conditions: Sequence[str]) -> Callable[[dict[str, Any]], str] | None:
    """What colours a stimulus: all its conditions where they have few combinations, else the first that has few."""
    few = [names for names in (list(conditions), *([name] for name in conditions))
           if names and 1 < rows.select(names).n_unique() <= len(COLOURS)]  # fmt: skip
    if not few:
        return None
    return lambda row: ", ".join(str(row[name]) for name in few[0] if row[name] is not None)


def mark(number: int) -> str:
    """The mark of a condition in its colour."""
    return MARKS[number].format(f'fill="{COLOURS[number]}"')


def round_ticks(low: float, high: float) -> list[float]:
    """Round numbers along an axis, at least three."""
    size = 10.0 ** math.floor(math.log10((high - low) / 3))
    step = next(size * factor for factor in (5, 2, 1, 0.5) if (high - low) / (size * factor) >= 3)
    return [round(number * step, 10) for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def decimals(value: float, ticks: Sequence[float]) -> str:
    """A value with as many decimals as the ticks of its axis need."""
    step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
    return f"{value:,.{max(0, -math.floor(math.log10(step) + 1e-9))}f}".replace("-", "\N{MINUS SIGN}")


BINS = 20


def credence_figure(evidence: Evidence, alt: str, caption: str = "", data: pl.DataFrame | None = None) -> Figure:
    """The distribution of the probability of answering attentively."""
    below = float(evidence.settings["below"])
    bound = language_of("en").value(below, ".2r")
    everyone = counted(evidence.participants.height, "participant")
    are = "is" if len(evidence.flagged) == 1 else "are"
    title = f"{len(evidence.flagged)} of {everyone} {are} attentive with a probability below {bound}"
    ticks = [(share / 5, f"{share / 5:.1f}") for share in range(6)]
    bars = _Bars(np.linspace(0, 1, BINS + 1), ticks, "probability of answering attentively", (below, bound, "4 3"))
    return _stacked("credence", title, alt, evidence.participants.drop_nulls("score"), bars, caption, data)


def performance_figure(
    key: str, evidence: Evidence, table: pl.DataFrame, what: str, chances: Sequence[float], alt: str, caption: str = ""
) -> Figure:
    """The distribution of shares of right answers (`table`, from `shares_right`), with the average by guessing."""
    steps = max(int(table["trials"].median() or 1), 1)  # type: ignore[arg-type]
    everyone = counted(evidence.participants.height, "participant")
    title = f"{len(evidence.flagged)} of {everyone} gave too few right answers to {what}"
    ticks = [(percent / 100, f"{percent} %") for percent in range(0, 101, 20)]
    chance = float(np.mean(chances)) if chances else 0.0
    line = (chance, f"guessing {100 * chance:.0f} %", "1 3") if chances else None
    edges = (np.arange(steps + 2) - 0.5) / steps
    bars = _Bars(edges, ticks, f"share of {what} answered as expected", line)
    return _stacked(key, title, alt, table, bars, caption, table)


def shares_right(evidence: Evidence) -> pl.DataFrame | None:
    """participant, score (the share of right answers, or pairs), trials and flagged, for those who saw such trials.

    None for the accounts that compare means of ratings, where no single answer is right or wrong.
    """
    if evidence.trials is None or "right" not in evidence.trials.columns:
        if "trials" not in evidence.participants.columns:
            return None
        return evidence.participants.select("participant", "score", "trials", "flagged").drop_nulls("score")
    shares = evidence.trials.group_by("participant", maintain_order=True).agg(
        pl.col("right").fill_null(False).cast(pl.Float64).mean().alias("score"), pl.len().cast(pl.Int64).alias("trials")
    )
    people = evidence.participants.select("participant", "flagged")
    return shares.join(people, on="participant", how="inner", maintain_order="left")


class _Bars(NamedTuple):
    """The layout of a bar chart: edges of the bars, ticks and label of the axis, and a line across the bars."""

    edges: Floats
    ticks: list[tuple[float, str]]
    label: str
    line: tuple[float, str, str] | None
    """Its place, its text and its dashes."""


LONG_TITLE = 70
"""Letters of a title that fit above a figure."""
LEFT, TOP, BOTTOM = 44.0, 36.0, 158.0
"""Where the bars begin and end, in points."""


def _stacked(
    key: str, title: str, alt: str, table: pl.DataFrame, bars: _Bars, caption: str, data: pl.DataFrame | None
) -> Figure:  # fmt: skip
    """A bar for each bin: participants who are not flagged below, flagged ones hatched on top, and their number."""
    unflagged, flagged = (
        np.histogram(table.filter(pl.col("flagged") == which)["score"].to_numpy(), bars.edges)[0]
        for which in (False, True)
    )
    most = max(float((unflagged + flagged).max()), 1.0) * 1.15
    x = Axis(float(bars.edges[0]) - 0.02, float(bars.edges[-1]) + 0.02, LEFT, PAGE - 12)
    y = Axis(0, most, BOTTOM, TOP)
    counts = [tick for tick in round_ticks(0, max(most, 3.0)) if tick == int(tick) and tick <= most]
    parts = axis_beside(y, LEFT, "participants", [(tick, f"{tick:,.0f}") for tick in counts])
    parts += axis_below(x, BOTTOM, bars.label, bars.ticks)
    width = x.at(float(bars.edges[1])) - x.at(float(bars.edges[0]))
    room = max((len(f"{count:,}") for count in unflagged + flagged), default=1) * LETTER <= width
    for edge, below, above in zip(bars.edges[:-1], unflagged, flagged, strict=True):
        start, top = x.at(float(edge)), y.at(float(below + above))
        parts += _bar(key, start + 0.07 * width, 0.86 * width, y.at(float(below)), top)
        if below + above and room:
            parts.append(text_at(start + width / 2, top - 3, f"{below + above:,}", anchor="middle"))
    if bars.line is not None:
        value, text, dashes = bars.line
        half = len(text) * LETTER / 2
        parts.append(f'<path d="M{x.at(value):.1f} {TOP - 4}V{BOTTOM}" stroke="{BLACK}" stroke-width="0.800" '
                     f'stroke-dasharray="{dashes}"/>')  # fmt: skip
        parts.append(text_at(min(max(x.at(value), half + 4), PAGE - half - 4), TOP - 8, text, anchor="middle"))
    parts.append(
        f'<pattern id="{key}-hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<rect width="4" height="4" fill="white"/><path d="M0 0V4" stroke="{FLAGGED}" stroke-width="1.600"/></pattern>'
    )
    return framed(key, title, alt, BOTTOM + 34, parts, caption, data)


def framed(
    key: str, title: str, alt: str, height: float, drawn: Sequence[str], caption: str = "",
    data: pl.DataFrame | None = None,
) -> Figure:  # fmt: skip
    """A figure as wide as the page, with its title above; of a long title, the part that fits."""
    parts = (title, *(title.split(end)[0] for end in (": ", ", ", "; ", " and ")))
    short_title = next((part for part in parts if len(part) <= LONG_TITLE), title)
    points = min(11.0, (PAGE - 8) / (0.64 * max(len(short_title), 1)))
    heading = f'<text x="4" y="14" font-size="{points:.1f}" font-weight="bold">{html.escape(short_title)}</text>'
    svg = _page_wide(key, title, alt, height, [*drawn, heading])
    return Figure(key, title, alt, svg, caption if short_title == title else f"{title}. {caption}".strip(), data)


def _page_wide(name: str, title: str, alt: str, height: float, parts: Sequence[str]) -> str:
    """An SVG as wide as the page; its ids begin with a name."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="{name}-title {name}-description" '
        f'width="{PAGE:.0f}pt" height="{height:.0f}pt" viewBox="0 0 {PAGE:.0f} {height:.0f}" '
        f'font-family="DejaVu Sans, Liberation Sans, Helvetica, Arial, sans-serif" font-size="10">'
        f'<title id="{name}-title">{html.escape(title)}</title><desc id="{name}-description">{html.escape(alt)}</desc>'
        f"{''.join(parts)}</svg>\n"
    )


def _bar(key: str, x: float, width: float, middle: float, top: float) -> list[str]:
    """A bar with the flagged participants on top, from the middle on."""
    look = f'fill="url(#{key}-hatch)" stroke="{FLAGGED}" stroke-width="0.800"'
    parts = ((middle, BOTTOM, f'fill="{KEPT}"'), (top, middle, look))
    return [
        f'<rect x="{x:.1f}" y="{high:.1f}" width="{width:.1f}" height="{low - high:.1f}" {style}/>'
        for high, low, style in parts
        if high < low
    ]


WIDTH, HEIGHT = 160, 18
MOST = 160
"""The most answers of a strip; of more, evenly spaced ones are drawn."""


def rt_strips(judgments: Judgments, participants: Sequence[str], remfod: Evidence | None) -> tuple[str, ...]:
    """The strip of each participant's response times; empty where there are none."""
    frame = judgments.frame
    if "rt" not in frame.columns:
        return tuple("" for _ in participants)
    rows = with_positions(frame).filter(pl.col("rt") > 0, pl.col("function") != "practice")
    if not rows.height:
        return tuple("" for _ in participants)
    low, high = (math.log(float(rows["rt"].quantile(share) or 1.0)) for share in (0.001, 0.999))
    rows = rows.with_columns(outlying=_outlying(rows, remfod))
    place = ((pl.col("rt").log() - low) / max(high - low, 1e-9)).clip(0, 1) * (WIDTH - 2) + 1
    rows = rows.select("participant", "outlying", place.round(0).cast(pl.Int64).alias("x")).unique(maintain_order=True)
    genuine, outlying = (
        dict(rows.filter(pl.col("outlying") == which).group_by("participant").agg(pl.col("x").sort()).iter_rows())
        for which in (False, True)
    )
    paths = {
        who: _ticks("k", genuine.get(who, []), 10) + _ticks("f", outlying.get(who, []), 16) for who in participants
    }
    return tuple(_svg(paths[who]) if paths[who] else "" for who in participants)


def answer_strips(judgments: Judgments, participants: Sequence[str]) -> tuple[str, ...]:
    """The strip of each participant's answers in their order."""
    parts = []
    # Trials count anew in each session, so that their numbers alone would mix the sessions.
    frame = presented(judgments.frame.filter(pl.col("function") != "practice")).with_row_index("_shown")
    for scale, rows in by_scale(judgments, frame):
        placed = rows.select("participant", "_shown", position(scale).alias("place"))
        low, high = placed["place"].min(), placed["place"].max()
        if scale.levels:
            low, high = 0.0, float(max(len(scale.levels) - 1, 1))
        span = max(float(high or 0.0) - float(low or 0.0), 1e-9)  # type: ignore[arg-type]
        parts.append(placed.with_columns(height=(pl.col("place") - float(low or 0.0)) / span * (HEIGHT - 4) + 3))  # type: ignore[arg-type]
    if not parts:
        return tuple("" for _ in participants)
    table = pl.concat(parts).sort("_shown")
    heights = dict(table.group_by("participant", maintain_order=True).agg("height").iter_rows())
    return tuple(_answers(heights.get(who, [])) for who in participants)


def _answers(heights: list[float | None]) -> str:
    if not heights:
        return ""
    step = -(-len(heights) // MOST)
    sample = heights[::step]
    width = WIDTH / len(sample)
    bars = (f"M{_short((n + 0.5) * width)} {HEIGHT}v-{h:.0f}" for n, h in enumerate(sample) if h is not None)
    return _svg(_path("k", bars, max(width * 0.7, 0.6)))


def _outlying(rows: pl.DataFrame, remfod: Evidence | None) -> pl.Series:
    """Whether ReMFOD flags each trial."""
    if remfod is None or remfod.trials is None:
        return pl.repeat(False, rows.height, eager=True)
    keys = [name for name in ("participant", "session", "trial", "question") if name in remfod.trials.columns]
    flagged = remfod.trials.select(keys).unique().with_columns(found=True)
    joined = rows.select(keys).join(flagged, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return joined["found"].fill_null(False)


def _ticks(kind: str, places: list[int], height: int) -> str:
    return _path(kind, (f"M{x} {(HEIGHT - height) // 2}v{height}" for x in places))


def _path(kind: str, steps: Iterable[str], width: float = 1.0) -> str:
    path = "".join(steps)
    return f'<path class="{kind}" d="{path}" stroke-width="{_short(width)}"/>' if path else ""


def _svg(*paths: str) -> str:
    return f'<svg class="strip" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">{"".join(paths)}</svg>'


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
