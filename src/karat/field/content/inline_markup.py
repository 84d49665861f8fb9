r"""Texts for participants: plain, or in a small subset of Markdown that cannot run scripts.

    *italics*   **bold**   ~subscript~   ^superscript^   ++small caps++   \* a star that is only a star

A mark counts if a sign opens before a letter and closes after one; every other sign is literal, so the star of
"*The cat sleep" needs no escape. Blank lines separate paragraphs.

Stimuli go to the browser as runs: paragraphs of pieces, each a text with its marks, from which the browser makes text
nodes. The texts of the study (welcome, consent, ...) become HTML here, with lists ("- ") and links to https pages;
everything else in them is escaped.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from typing import Any

from markupsafe import Markup, escape

REMEMBERED = 500
"""How many texts are cached as HTML, because every participant reads the same ones."""

Run = dict[str, Any]
"""A piece of text, `{"t": "old", "i": True}`: i, b, sub, sup and sc (small caps) are its marks."""
Runs = list[list[Run]]

MARKS = (("**", "b"), ("++", "sc"), ("*", "i"), ("~", "sub"), ("^", "sup"))
"""Signs and their marks, the longer signs first."""
WORD_MARKS = ("~", "^")
"""Marks that cannot contain spaces: `~5 or ~6` is not a subscript."""
ESCAPED = "\\*~^+[]()-"
LINK = re.compile(
    r"\[(?P<words>[^\[\]\n]+)\]\((?P<address>https://[^\s()<>\"'\\]+)\)"
    r"|(?<![\w/])(?P<bare>https://[^\s<>\"'\\]*[^\s<>\"'\\.,;:!?)\]*~^+])"
)
TAGS = {"i": "em", "b": "strong", "sub": "sub", "sup": "sup", "sc": 'span class="small-caps"'}


def runs(text: str, markdown: bool = False) -> Runs:
    """A text as paragraphs of pieces with their marks; without Markdown, every line is one plain piece."""
    if not markdown:
        return [[{"t": line}] for line in _lines(text) if line]
    return [_pieces(" ".join(lines)) for lines in _paragraphs(text)]


def gloss(text: str, markdown: bool = False) -> Runs:
    """Interlinear lines, one paragraph each, with single spaces between words, so that they can form columns."""
    lines = [_one_blank(line) for line in _lines(text) if line]
    return [_pieces(line) if markdown else [{"t": line}] for line in lines]


def prose(text: str) -> Runs:
    """A text of the study for pages that the browser builds: like `markup`, with bullets before list items."""
    return [_pieces(f"• {line}" if listed else line) for listed, lines in _blocks(text) for line in lines]


@lru_cache(maxsize=REMEMBERED)
def markup(text: str) -> Markup:
    """A text of the study as HTML: paragraphs, lists, emphasis and links to https pages; all else is escaped."""
    parts = []
    for listed, lines in _blocks(text):
        tag = "li" if listed else "p"
        inner = Markup("").join(_tagged(tag, _html(_pieces(line, links=True))) for line in lines)
        parts.append(_tagged("ul", inner) if listed else inner)
    return Markup("\n").join(parts)


@lru_cache(maxsize=REMEMBERED)
def inline_markup(text: str) -> Markup:
    """A single line of the study, such as a question, as HTML without a paragraph around it.

    >>> inline_markup("How old are *you*?")
    Markup('How old are <em>you</em>?')
    """
    return _html(_pieces(" ".join(line for line in _lines(text) if line), links=True))


def plain_text(paragraphs: Runs) -> str:
    """The text of runs without its marks, one line per paragraph."""
    return "\n".join("".join(piece["t"] for piece in paragraph) for paragraph in paragraphs)


def _lines(text: str) -> list[str]:
    return [line.strip(" \t") for line in re.split(r"\r\n|\r|\n", text)]


def _one_blank(line: str) -> str:
    # No-break spaces are intentional and stay.
    return re.sub(r"[ \t]+", " ", line)


def _paragraphs(text: str) -> Iterator[list[str]]:
    """The lines of each paragraph."""
    lines: list[str] = []
    for line in [*_lines(text), ""]:
        if line:
            lines.append(_one_blank(line))
        elif lines:
            yield lines
            lines = []


def _blocks(text: str) -> Iterator[tuple[bool, list[str]]]:
    """Paragraphs of one line each, and lists of several; a line without a hyphen continues the one before."""
    for lines in _paragraphs(text):
        words: list[str] = []
        items: list[str] = []
        for line in lines:
            if line.startswith("- "):
                items.append(line[2:])
            elif items:
                items[-1] += f" {line}"
            else:
                words.append(line)
        if words:
            yield False, [" ".join(words)]
        if items:
            yield True, items


def _pieces(text: str, links: bool = False) -> list[Run]:
    pieces: list[Run] = []
    _scan(text, {}, pieces, links)
    return pieces


def _scan(text: str, marks: Run, pieces: list[Run], links: bool) -> None:
    """Add the pieces of a text inside some marks."""
    at = 0
    while at < len(text):
        sign = text[at]
        link = LINK.match(text, at) if links and sign in "[h" else None
        opened = _opened(text, at) if sign in "*+~^" else None
        if sign == "\\" and at + 1 < len(text) and text[at + 1] in ESCAPED:
            _add(pieces, text[at + 1], marks)
            at += 2
        elif link is not None:
            inside = marks | {"href": link["address"] or link["bare"]}
            if link["words"]:
                _scan(link["words"], inside, pieces, False)
            else:
                _add(pieces, link["bare"], inside)
            at = link.end()
        elif opened is not None:
            opener, mark, end = opened
            _scan(text[at + len(opener) : end], marks | {mark: True}, pieces, links)
            at = end + len(opener)
        else:
            _add(pieces, sign, marks)
            at += 1


def _add(pieces: list[Run], text: str, marks: Run) -> None:
    """Add text to the last piece if that has the same marks, else as a new one."""
    if pieces and {key: value for key, value in pieces[-1].items() if key != "t"} == marks:
        pieces[-1]["t"] += text
    else:
        pieces.append({"t": text, **marks})


def _opened(text: str, at: int) -> tuple[str, str, int] | None:
    """The sign that opens here, its mark, and where it closes; None if the sign is literal."""
    for sign, mark in MARKS:
        start = at + len(sign)
        if text.startswith(sign, at) and start < len(text) and not text[start].isspace():
            end = _closing(text, sign, start)
            if end is not None and not (sign in WORD_MARKS and re.search(r"\s", text[start:end])):
                return sign, mark, end
    return None


def _closing(text: str, sign: str, start: int) -> int | None:
    """Where a sign closes: after something that is neither a space nor an escape."""
    at = text.find(sign, start + 1)
    while at != -1:
        if sign == "*" and text.startswith("**", at):
            at = text.find(sign, at + 2)
        elif text[at - 1].isspace() or text[at - 1] == "\\":
            at = text.find(sign, at + 1)
        else:
            # The first of three stars closes the italics inside.
            return at + 1 if sign == "**" and text.startswith("***", at) else at
    return None


def _html(paragraph: list[Run]) -> Markup:
    parts = []
    for address, pieces in groupby(paragraph, key=lambda piece: piece.get("href")):
        text = Markup("").join(_marked(piece) for piece in pieces)
        # A new tab, so that participants do not lose the page of the study.
        link = Markup('<a href="{}" target="_blank" rel="noopener noreferrer">{}</a>')
        parts.append(link.format(address, text) if address else text)
    return Markup("").join(parts)


def _marked(piece: Run) -> Markup:
    text = escape(piece["t"])
    for mark, tag in TAGS.items():
        text = _tagged(tag, text) if piece.get(mark) else text
    return text


def _tagged(tag: str, inner: Markup) -> Markup:
    name = tag.partition(" ")[0]
    return Markup(f"<{tag}>") + inner + Markup(f"</{name}>")  # noqa: S704 - tags are those of this module
