"""A picture of orders: one row a list, one cell a trial, the function told by colour and letter."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from karat.judgments.columns import FUNCTIONS
from karat.plots.style import BLUE, GREEN, ORANGE, VERMILLION, YELLOW

COLOURS = {
    "test": BLUE, "filler": "#C8C8C8", "control": ORANGE, "attention": VERMILLION, "calibration": GREEN,
    "practice": YELLOW,
}  # fmt: skip
"""Okabe and Ito's colours, which colour-blind readers can tell apart; letters carry the same in grey print."""
LETTERS = {"test": "T", "filler": "", "control": "C", "attention": "A", "calibration": "K", "practice": "P"}
CELL, HEIGHT, LEFT = 9, 18, 56


def order_picture(orders: Sequence[tuple[str, Sequence[str]]], title: str) -> str:
    """An SVG with the functions of each order's trials, given as (name, functions).

    >>> order_picture([("list 1", ["test", "filler"])], "One order a list").startswith("<svg")
    True
    """
    longest = max((len(functions) for _, functions in orders), default=0)
    width, height = max(LEFT + longest * CELL + 8, 460), 64 + len(orders) * (HEIGHT + 6)
    rows = [_row(name, functions, 34 + number * (HEIGHT + 6)) for number, (name, functions) in enumerate(orders)]
    shown = [name for name in FUNCTIONS if any(name in functions for _, functions in orders)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="11" fill="#1a1a1a">\n<title>{escape(title)}</title>\n'
        f'<rect width="{width}" height="{height}" fill="#fff"/>\n'
        f'<text x="8" y="18" font-size="13">{escape(title)}</text>\n'
        + "".join(rows) + _legend(shown, height - 14) + "</svg>\n"
    )  # fmt: skip


def _row(name: str, functions: Sequence[str], top: int) -> str:
    cells = [f'<text x="8" y="{top + 13}">{escape(name)}</text>\n']
    for position, function in enumerate(functions):
        x = LEFT + position * CELL
        tip = f"<title>{position + 1}: {escape(function)}</title>"
        cells.append(
            f'<rect x="{x}" y="{top}" width="{CELL - 1}" height="{HEIGHT}" fill="{COLOURS[function]}">{tip}</rect>\n'
        )
        if LETTERS[function]:
            ink = "#fff" if function in ("test", "attention") else "#1a1a1a"
            cells.append(
                f'<text x="{x + (CELL - 1) / 2}" y="{top + 12}" font-size="8" text-anchor="middle" fill="{ink}">'
                f"{LETTERS[function]}</text>\n"
            )
    return "".join(cells)


def _legend(functions: Sequence[str], y: int) -> str:
    parts, x = [], 8
    for function in functions:
        parts.append(f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{COLOURS[function]}" stroke="#777"/>')
        letter = f" ({LETTERS[function]})" if LETTERS[function] else ""
        parts.append(f'<text x="{x + 14}" y="{y}">{function}{letter}</text>\n')
        x += 14 + 7 * len(function + letter) + 10
    return "".join(parts)
