"""Small pictures for the dashboard, as SVG without styles of their own: the style sheet colours them by class.

Each stands in a table beside its numbers, so that it is hidden from screen readers and says nothing that the text does
not say. Widths are in per cent of the cell, so that a picture fits a phone.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from markupsafe import Markup

WIDTH = 100
HEIGHT = 10


def _svg(body: str, kind: str, height: float = HEIGHT) -> Markup:
    return Markup(  # noqa: S704 - made of numbers and of class names of ours only
        f'<svg class="figure {kind}" viewBox="0 0 {WIDTH} {height:g}" preserveAspectRatio="none" '
        f'aria-hidden="true" focusable="false">{body}</svg>'
    )


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def stacked_bar(parts: Sequence[tuple[str, float]], whole: float) -> Markup:
    """A bar of several parts, each with the class of its colour; the ground is what is left of the whole.

    >>> print(stacked_bar([("complete", 3), ("running", 1)], 8))  # doctest: +ELLIPSIS
    <svg class="figure bar" ...<rect class="complete" x="0" y="0" width="37.5" height="10"/>...
    """
    scale = WIDTH / max(whole, sum(size for _, size in parts), 1e-9)
    body = f'<rect class="ground" x="0" y="0" width="{WIDTH}" height="{HEIGHT}"/>'
    start = 0.0
    for name, size in parts:
        if size > 0:
            body += (
                f'<rect class="{name}" x="{_number(start)}" y="0" width="{_number(size * scale)}" height="{HEIGHT}"/>'
            )
        start += size * scale
    return _svg(body, "bar")


def columns(counts: Sequence[int]) -> Markup:
    """One column for each count, the highest as high as the picture.

    >>> print(columns([0, 2, 4]))  # doctest: +ELLIPSIS
    <svg class="figure columns" ...<rect class="minute" x="66.92" y="0" width="32.83" height="40"/>...
    """
    height = 40
    most = max([*counts, 1])
    wide = WIDTH / max(len(counts), 1)
    body = "".join(
        f'<rect class="minute" x="{_number(place * wide + 0.25)}" y="{_number(height - height * count / most)}" '
        f'width="{_number(max(wide - 0.5, 0.2))}" height="{_number(height * count / most)}"/>'
        for place, count in enumerate(counts)
        if count
    )
    return _svg(body + f'<line class="axis" x1="0" y1="{height}" x2="{WIDTH}" y2="{height}"/>', "columns", height)


def spread(quantiles: Sequence[float], low: float, high: float) -> Markup:
    """Five quantiles on a logarithmic axis: a line from the first to the last, a box, and a mark at the middle.

    >>> print(spread([1, 2, 4, 8, 16], 1, 16))  # doctest: +ELLIPSIS
    <svg class="figure spread" ...<rect class="middle" x="49.5" y="1" width="1" height="8"/></svg>
    """
    first, lower, middle, upper, last = (_place(value, low, high) for value in quantiles)
    return _svg(
        f'<line class="axis" x1="{_number(first)}" y1="5" x2="{_number(last)}" y2="5"/>'
        f'<rect class="box" x="{_number(lower)}" y="2" width="{_number(max(upper - lower, 0.5))}" height="6"/>'
        f'<rect class="middle" x="{_number(middle - 0.5)}" y="1" width="1" height="8"/>',
        "spread",
    )


def _place(value: float, low: float, high: float) -> float:
    if not high > low > 0:
        return WIDTH / 2
    return WIDTH * min(max(log(max(value, low) / low) / log(high / low), 0), 1)
