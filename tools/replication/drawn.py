"""Figures as the pages of replications keep them: small SVG files, each with a title and a description."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from karat.plots.style import to_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONG_NUMBER = re.compile(r"\d+\.\d{3,}")
"""Coordinates with more digits than anybody sees; without them the files are small."""


def keep(drawn: dict[str, str], path: str, title: str, figure: Figure, data_set: str) -> str:
    """Keep a figure under its path, and give the line that shows it on a page."""
    description = f"{figure.get_suptitle()} (data set {data_set}).".replace("\n", " ")
    drawn[path] = LONG_NUMBER.sub(_rounded, to_svg(figure, title, description))
    return f"![{title}]({path})\n"


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
