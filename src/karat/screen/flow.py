"""The flow of participants through the stages, in the manner of a CONSORT diagram: n at each step, and who left why."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Protocol

from karat.errors import counted
from karat.study.criteria import title_of

STAGE_WORDS = {"completion": "after completion", "clock": "after the clock", "answers": "after the answers"}
BOX, SIDE, GAP, LINE, PAD = 220, 300, 40, 18, 12
LEFT, RIGHT = 20, 20 + BOX + GAP


class Stage(Protocol):
    """What the diagram asks of a stage: how many went in, whom each criterion flagged, and how many were left."""

    @property
    def stage(self) -> str: ...
    @property
    def entered(self) -> int: ...
    @property
    def flagged(self) -> dict[str, int]: ...
    @property
    def remained(self) -> int: ...


def flow_svg(everybody: int, stages: Sequence[Stage], exclude: str | int | None) -> str:
    """The diagram as SVG; its text is text, so that it can be searched and read aloud.

    >>> import karat
    >>> screening = karat.screen.run(karat.datasets.load("likert"), {"completion": {}, "remfod": {}})
    >>> drawn = flow_svg(48, screening.steps, screening.exclude)
    >>> "n = 48" in drawn and "n = 42" in drawn
    True
    """
    steps = [step for step in stages if step.flagged or step.remained < step.entered]
    parts, y = [], 56
    boxes = [("took part", everybody)] + [(STAGE_WORDS[step.stage], step.remained) for step in steps]
    if len(boxes) > 1:
        boxes[-1] = ("in the analysis", boxes[-1][1])
    for number, (word, n) in enumerate(boxes):
        parts.append(_box(LEFT, y, BOX, [f"{word}", f"n = {n:,}"], strong=number == len(boxes) - 1))
        if number < len(steps):
            lines, indent = _left(steps[number])
            height = max(len(lines) * LINE + 2 * PAD, 30)
            top = y + 2 * LINE + 2 * PAD + 12
            bottom = top + height + 12
            parts.append(_arrow(LEFT + BOX / 2, y + 2 * LINE + 2 * PAD, LEFT + BOX / 2, bottom))
            parts.append(_arrow(LEFT + BOX / 2, top + height / 2, RIGHT, top + height / 2))
            parts.append(_box(RIGHT, top, SIDE, lines, indent=indent))
            y = bottom
    height = y + 2 * LINE + 2 * PAD + 20
    title = _title(everybody, steps[-1].remained if steps else everybody, exclude)
    description = "; ".join(f"{word}: {n}" for word, n in boxes)
    width = RIGHT + SIDE + 20
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="13" fill="#1a1a1a">\n<title>{escape(title)}</title>\n'
        f"<desc>{escape(description)}</desc>\n"
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="#555"/></marker></defs>\n'
        f'<rect width="{width}" height="{height}" fill="#fff"/>\n'
        f'<text x="{LEFT}" y="30" font-size="15">{escape(title)}</text>\n' + "".join(parts) + "</svg>\n"
    )


def _title(everybody: int, stay: int, exclude: str | int | None) -> str:
    if exclude is None:
        return f"{counted(everybody, 'participant')}; no rule was stated, nobody is excluded"
    return f"{stay:,} of {counted(everybody, 'participant')} stay in the analysis"


def _left(step: Stage) -> tuple[list[str], int]:
    """Who left after a stage, and from which line on the text is indented. One person may be under several criteria."""
    lines = [f"excluded: n = {step.entered - step.remained:,}"]
    return lines + [f"{title_of(name)}: {number:,}" for name, number in step.flagged.items()], len(lines)


def _box(x: float, y: float, width: float, lines: list[str], strong: bool = False, indent: int | None = None) -> str:
    height = len(lines) * LINE + 2 * PAD
    stroke = 'stroke="#0072B2" stroke-width="2"' if strong else 'stroke="#555"'
    texts = "".join(
        f'<text x="{x + PAD + (12 if indent is not None and number >= indent else 0)}" '
        f'y="{y + PAD + (number + 1) * LINE - 5}">{escape(line)}</text>\n'
        for number, line in enumerate(lines)
    )
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="3" fill="#fff" {stroke}/>\n{texts}'


def _arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#555" marker-end="url(#tip)"/>\n'
