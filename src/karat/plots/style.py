"""The style of karat's figures, and the parts that they share.

Thresholds are dashed with their value beside them. Figures are made without pyplot, so that none stays in memory and
no window opens, and their SVG is the same, byte by byte, each time.
"""

from __future__ import annotations

import html
import io
import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from karat.plots import BLACK, GREY, LIGHT_GREY
from karat.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

CM_PER_INCH = 2.54
NARROW_CM = 12
POINTS_PER_CM = 0.6125
"""The size of letters by the width of a figure."""
STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Liberation Sans", "Helvetica", "Arial"],
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.unicode_minus": True,
    "axes.axisbelow": True,
    "axes.labelcolor": BLACK,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": BLACK,
    "ytick.labelcolor": BLACK,
    "xtick.minor.visible": False,
    "ytick.minor.visible": False,
    "grid.color": LIGHT_GREY,
    "grid.linewidth": 0.4,
    "lines.linewidth": 1.2,
    "legend.frameon": False,
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "karat",
}


@contextmanager
def figure(width_cm: float = 16, height_cm: float = 9, title: str = "", key: str = "") -> Iterator[Figure]:
    """A new figure of this size; what is drawn on it inside the `with` block has karat's style.

    Letters grow with the width and have at least 7 points. If there is a title, `say` sets it and the key at the end.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    points = max(7.0, POINTS_PER_CM * width_cm)
    sizes: dict[Any, Any] = {
        "font.size": points, "axes.titlesize": points, "axes.labelsize": points, "figure.titlesize": points + 1.0,
        "xtick.labelsize": points, "legend.fontsize": points, "ytick.labelsize": points,
    }  # fmt: skip
    with mpl.rc_context(STYLE | sizes):
        fig = Figure(figsize=(width_cm / CM_PER_INCH, height_cm / CM_PER_INCH), dpi=200, layout="constrained")
        yield fig
        if title:
            say(fig, title, key)


def wrapped(figure: Figure, text: str, points: float, share: float = 1.0) -> str:
    """A text in lines that fit a share of the figure's width, in letters of this size; line breaks stay."""
    letters = int(share * figure.get_figwidth() * 72 / (0.56 * points))
    return "\n".join(textwrap.fill(line, letters, break_long_words=False) for line in text.splitlines())


def say(figure: Figure, finding: str, key: str = "") -> None:
    """Set the title, which states the finding, at the left edge, and the key to the marks above the first axes."""
    import matplotlib as mpl

    size, small = (float(mpl.rcParams[name]) for name in ("figure.titlesize", "axes.titlesize"))
    # Bold letters are wider.
    title = wrapped(figure, finding, size * 1.1)
    figure.suptitle(title, x=0.01, horizontalalignment="left", fontweight="bold")
    if key:
        figure.axes[0].set_title(wrapped(figure, key, small, 0.8), color=GREY)


def to_svg(figure: Figure, title: str, description: str) -> str:
    """The figure as an SVG element with a title and a description for those who do not see it; texts stay texts.

    It can be written to a file or put into a page.
    """
    import matplotlib as mpl

    buffer = io.StringIO()
    with mpl.rc_context(STYLE):
        engine = figure.get_layout_engine()
        if engine is not None:
            # Otherwise saving would draw everything once more for the layout.
            engine.execute(figure)
            with mpl.rc_context({"figure.constrained_layout.use": False, "figure.autolayout": False}):
                figure.set_layout_engine(None)
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
        figure.set_layout_engine(engine)
    # Without the XML declaration and document type, which a page cannot contain.
    svg = buffer.getvalue()[buffer.getvalue().index("<svg") :]
    key = "figure-" + sha256((title + "\0" + description + "\0" + svg).encode()).hexdigest()[:12]
    head = (
        f'<title id="{key}-title">{html.escape(title)}</title>\n'
        f'<desc id="{key}-description">{html.escape(description)}</desc>\n'
    )
    labelled = f'<svg role="img" aria-labelledby="{key}-title {key}-description" '
    return re.sub(r"<svg ([^>]*>\n)", lambda match: labelled + match[1] + " " + head, svg, count=1)


def titled_svg(figure: Figure, description: str) -> str:
    """The figure as SVG, with its own title for those who do not see it."""
    return to_svg(figure, figure.get_suptitle().replace("\n", " "), description)


def text_beside(axes: Axes, text: str, at: tuple[float, float], by: tuple[float, float], **look: Any) -> None:
    """Write a text beside a place, this many points away; `look` has arguments of matplotlib's `annotate`."""
    axes.annotate(text, at, xytext=by, textcoords="offset points", annotation_clip=False, **look)


def threshold_line(axes: Axes, value: float, text: str, across: Literal["x", "y"] = "y") -> None:
    """A dashed line at a value of the x or y axis, with a text beside it."""
    if across == "y":
        threshold_lines(axes, [(value, text, "--")])
        return
    axes.axvline(value, color=BLACK, linestyle="--", linewidth=0.8, zorder=1)
    text_beside(axes, text, (value, 1), (0, 2), xycoords=("data", "axes fraction"), ha="center")


def threshold_lines(axes: Axes, lines: Sequence[tuple[float, str, str]]) -> None:
    """Lines at values of the y axis (value, text, style) with their texts beside them, moved apart where they touch.

    Set the limits of the axis before.
    """
    points = float(axes.figure.get_figheight() * 72 * axes.get_position().height)  # type: ignore[union-attr]
    wanted = []
    for value, text, style in sorted(lines):
        axes.axhline(value, color=BLACK, linestyle=style, linewidth=0.8, zorder=1)
        place = axes.transAxes.inverted().transform(axes.transData.transform((1, value)))[1]
        wanted.append((float(place) * points, value, text))
    for (place, value, text), shifted in zip(wanted, moved_apart([place for place, *_ in wanted], 10.0), strict=True):
        text_beside(axes, text, (1, value), (4, shifted - place), xycoords=("axes fraction", "data"), va="center")


def moved_apart(places: list[float], gap: float) -> list[float]:
    """Rising places, moved as little as necessary until each is a gap away from the next."""
    groups: list[list[float]] = []
    for place in places:
        groups.append([place])
        while len(groups) > 1 and _top(groups[-2], gap) + gap > _top(groups[-1], gap) - gap * (len(groups[-1]) - 1):
            last = groups.pop()
            groups[-1] += last
    return [_top(group, gap) - gap * (len(group) - 1 - step) for group in groups for step in range(len(group))]


def _top(group: list[float], gap: float) -> float:
    """The highest place of a group that is centred at the mean of its wanted places."""
    return sum(group) / len(group) + gap * (len(group) - 1) / 2


def stack_names(axes: Axes, x: float, ends: Sequence[tuple[float, str, str]], gap: float, beside: float = 6) -> None:
    """The names of lines (height, name, colour) beside their ends, moved apart where they would touch."""
    rising = sorted(ends)
    for place, (_, name, colour) in zip(moved_apart([height for height, *_ in rising], gap), rising, strict=True):
        text_beside(axes, name, (x, place), (beside, 0), color=colour, va="center")


def label_rows(spans: Iterable[tuple[float, float]]) -> Iterator[int]:
    """The row of each label (start, end; by start), the lowest one in which it does not touch the label before it.

    >>> list(label_rows([(0, 2), (1, 3), (2.5, 4)]))
    [0, 1, 0]
    """
    ends: list[float] = []
    for start, end in spans:
        row = next((place for place, before in enumerate(ends) if start > before), len(ends))
        ends[row : row + 1] = [end]
        yield row


def silverman_width(values: Floats) -> float:
    """Silverman's bandwidth of a kernel density; 0 if the values do not vary."""
    low, high = np.quantile(values, [0.25, 0.75])
    spreads = [spread for spread in (float(values.std()), float(high - low) / 1.34) if spread > 0]
    return float(0.9 * min(spreads, default=0.0) * len(values) ** -0.2)


def thousands(axis: Axis) -> None:
    """Write the numbers of an axis with separators: 10,000."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def log_seconds(axes: Axes, across: Literal["x", "y"] = "x", label: str = "response time (s)") -> None:
    """Make an axis of response times logarithmic, with ticks at 1, 2, 5, 10, ... seconds."""
    from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

    (axes.set_xscale if across == "x" else axes.set_yscale)("log")
    axis = axes.xaxis if across == "x" else axes.yaxis

    class Seconds(FixedLocator):
        """As many round numbers as have room, chosen when the limits are known."""

        def __call__(self) -> Any:
            low, high = sorted(axis.get_view_interval())
            size = axes.bbox.width if across == "x" else axes.bbox.height
            room = size / axes.figure.dpi * 72 / (26 if across == "x" else 14)
            ticks = seconds_ticks(low, high, max(int(room), 3))
            if len(ticks) < 3:
                finer = MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
                ticks = [tick for tick in map(float, finer) if low <= tick <= high] or ticks
            return ticks

    axis.set_major_locator(Seconds([]))
    axis.set_minor_locator(NullLocator())
    axis.set_label_text(label)
    thousands(axis)


def seconds_ticks(low: float, high: float, most: int) -> list[float]:
    """Round seconds between two ends: 1, 2, 5, 10, ...; fewer of them if these are too many.

    >>> seconds_ticks(0.3, 30, 12), seconds_ticks(0.03, 3000, 6)
    ([0.5, 1.0, 2.0, 5.0, 10.0, 20.0], [0.1, 1.0, 10.0, 100.0, 1000.0])
    """
    if not 0 < low < high:
        return []
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for parts in ((1, 2, 5), (1, 3), (1,)):
        ticks = [round(part * 10.0**decade, 10) for decade in decades for part in parts]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) <= most:
            break
    return ticks


def short_name(name: str) -> str:
    """A name without its middle if it is long, as those of platforms with 24 letters are."""
    return name if len(name) <= 12 else f"{name[:5]}…{name[-5:]}"
