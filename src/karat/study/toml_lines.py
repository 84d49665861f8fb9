"""The line on which each key of a TOML file stands, so that an error can name it.

Python's own parser gives values without their places. This scanner only follows headers and keys; the parser has
already made sure that the file is TOML.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_HEADER = re.compile(r"^\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART = re.compile(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""")

Path = tuple[str | int, ...]


def toml_lines(text: str) -> dict[Path, int]:
    """The line of every header and key, by its path; elements of a list of tables are numbered from 0.

    >>> lines = toml_lines('title = "x"\\n[[block]]\\ntask = "likert"\\n')
    >>> lines[("title",)], lines[("block", 0)], lines[("block", 0, "task")]
    (1, 2, 3)
    """
    lines: dict[Path, int] = {}
    table: Path = ()
    counts: dict[Path, int] = {}
    open_quotes: str | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if open_quotes is None and (header := _HEADER.match(line)):
            table = _table(_parts(header[2]), header[1] == "[[", counts)
            lines.setdefault(table, number)
        elif open_quotes is None and (key := _KEY.match(line)):
            lines.setdefault((*table, *_parts(key[1])), number)
        open_quotes = _still_open(line, open_quotes)
    return lines


def line_of(lines: dict[Path, int], path: Sequence[str | int]) -> int | None:
    """The line of a key, or of the nearest table around it that has one.

    >>> line_of({("block", 0): 2}, ("block", 0, "scale", "points"))
    2
    """
    for length in range(len(path), 0, -1):
        if tuple(path[:length]) in lines:
            return lines[tuple(path[:length])]
    return None


def _parts(text: str) -> list[str]:
    return [part.strip("\"'") for part in _PART.findall(text)]


def _table(names: list[str], is_list: bool, counts: dict[Path, int]) -> Path:
    """The path of a header; where a table of tables was opened before, its last element is meant."""
    path: Path = ()
    for position, name in enumerate(names):
        path = (*path, name)
        if is_list and position == len(names) - 1:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def _still_open(line: str, quotes: str | None) -> str | None:
    """Which kind of triple quotes is open after a line: what looks like a key inside them is text."""
    at = 0
    while True:
        if quotes is None:
            places = [(line.find(q, at), q) for q in ('"""', "'''") if line.find(q, at) >= 0]
            found = min(places, default=None)
            if found is None:
                return None
            at, quotes = found[0] + 3, found[1]
        else:
            end = line.find(quotes, at)
            if end < 0:
                return quotes
            at, quotes = end + 3, None
