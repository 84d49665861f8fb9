"""Results as parts of the report: figures of matplotlib as figures, what evidence says as a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karat.figures import CM_PER_INCH, NARROW_CM, to_svg, wrapped
from karat.section import Figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

    from karat.screen.evidence import Evidence

TITLE_POINTS = 10.0
"""The size of titles of wide figures."""


def drawn(key: str, figure: Drawn, alt: str, caption: str = "", data: pl.DataFrame | None = None) -> Figure:
    """A figure with its own finding as the title; `alt` is for those who do not see it.

    >>> from karat import figures
    >>> with figures.figure(8, 5) as one:
    ...     _ = one.subplots().plot([1, 2], [3, 4])
    ...     figures.say(one, "It rises")
    >>> drawn("line", one, "A line that rises.").title
    'It rises'
    """
    title = " ".join(figure.get_suptitle().split()) or key.replace("-", " ").capitalize()
    return Figure(key, title, alt, to_svg(figure, title, alt), caption, data)


def retitled(figure: Drawn, finding: str) -> Drawn:
    """A figure with another title in the letters of the house, where a page says more, or less, than the figure does.

    >>> from karat import figures
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


def spelled(text: str) -> str:
    """A remark in the words of the page, where people are participants.

    >>> spelled("1 of 72 workers gave one answer only.")
    '1 of 72 participants gave one answer only.'
    """
    return text.replace("workers", "participants").replace("worker", "participant")


def told(evidence: Evidence) -> str:
    """What a criterion found, as a sentence without the name that rules have for it.

    >>> import karat
    >>> told(karat.screen.attention(karat.datasets.load("likert")))
    '9 of 48 participants flagged.'
    """
    text = " ".join(str(evidence).split())
    text = text.removeprefix(f"{evidence.criterion}: ")
    return text[:1].upper() + text[1:]
