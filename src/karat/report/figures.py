"""Results as parts of the report: figures of matplotlib as figures, messages as paragraphs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import polars as pl

from karat.messages import Message, render_all
from karat.plots.style import CM_PER_INCH, NARROW_CM, to_svg, wrapped
from karat.section import Figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

TITLE_POINTS = 10.0
"""The size of titles of wide figures."""


def report_figure(key: str, figure: MplFigure, alt: str, caption: str = "", data: pl.DataFrame | None = None) -> Figure:
    """A figure with its own finding as the title; `alt` is for those who do not see it.

    >>> from karat.plots import style as figures
    >>> with figures.figure(8, 5) as one:
    ...     _ = one.subplots().plot([1, 2], [3, 4])
    ...     figures.say(one, "It rises")
    >>> report_figure("line", one, "A line that rises.").title
    'It rises'
    """
    title = " ".join(figure.get_suptitle().split()) or key.replace("-", " ").capitalize()
    return Figure(key, title, alt, to_svg(figure, title, alt), caption, data)


def retitled(figure: MplFigure, finding: str) -> MplFigure:
    """A figure with another title in the letters of the house, where a page says more, or less, than the figure does.

    >>> from karat.plots import style as figures
    >>> with figures.figure(8, 5) as one:
    ...     _ = one.subplots().plot([1, 2], [3, 4])
    ...     figures.say(one, "It rises")
    >>> retitled(one, "It rises slowly").get_suptitle()
    'It rises slowly'
    """
    points = TITLE_POINTS if figure.get_figwidth() * CM_PER_INCH >= NARROW_CM else TITLE_POINTS - 1.5
    # Bold letters are wider.
    title = wrapped(figure, finding, points * 1.1)
    figure.suptitle(title, x=0.01, horizontalalignment="left", fontweight="bold", fontsize=points)
    return figure


def sentences(messages: Iterable[Message], language: str = "en") -> str:
    """Messages as a paragraph.

    >>> import karat
    >>> sentences(karat.screen.attention(karat.datasets.load("likert")).summary)
    '9 of 48 participants flagged.'
    """
    return " ".join(render_all(messages, language))
