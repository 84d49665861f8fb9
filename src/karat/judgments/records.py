"""The records of delimited text, one after the other, each with the line that it begins on.

A quotation mark that is not closed makes one record of many lines, in silence: the cell goes on to the next quotation
mark, wherever that is, or to the end of the file. A cell that is meant to go on over several lines is told from that by
its end: behind the mark that closes it there is a separator, a line end or the end of the text.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from karat.errors import IntakeError, Problem
from karat.judgments.source import LONGEST_CELL

CLOSE_IT = 'Close it, or write it twice ("") where it belongs to the text of a cell.'


class Record(NamedTuple):
    """The cells of a record, and its lines."""

    line: int
    cells: list[str]
    last: int
    """The line that it ends on."""
    opened: int | None = None
    """The line of a quotation mark that is not closed."""

    @property
    def unclosed(self) -> str:
        """What is wrong where a quotation mark is not closed."""
        lost = f": lines {self.line} to {self.last} are read as one row" if self.last > self.line else ""
        return f"the quotation mark that opens here is not closed{lost}"


def records(text: str, delimiter: str, name: str) -> Iterator[Record]:
    """The records of a text; IntakeError names the file and the line where there is no going on.

    >>> header, row = records('a,b\\n1,"x\\n2,y\\n', ",", "t.csv")
    >>> header.opened, row.opened, row.unclosed
    (None, 2, 'the quotation mark that opens here is not closed: lines 2 to 3 are read as one row')
    """
    lines = _Lines(text)
    reader = csv.reader(lines, delimiter=delimiter)
    limit = csv.field_size_limit(LONGEST_CELL)
    start = 1
    try:
        for cells in reader:
            opened = start + before if (before := lines.before_open(delimiter)) is not None else None
            yield Record(start, cells, reader.line_num, opened)
            start = reader.line_num + 1
            lines.taken.clear()
    except csv.Error as error:
        before = lines.before_open(delimiter)
        what = "a cell is longer than 1 MB" if "limit" in str(error) else f"the row is not readable ({error})"
        sure = "may not be" if before is None else "is not"
        mend = f"A quotation mark {sure} closed. {CLOSE_IT}"
        problem = Problem(what, mend, file=name, number=start + (before or 0))
        raise IntakeError(f"{name} cannot be read:", [problem]) from None
    finally:
        csv.field_size_limit(limit)


class _Lines:
    """The lines of a text, with those that the record in hand has taken."""

    def __init__(self, text: str) -> None:
        self.stream = io.StringIO(text, newline="")
        self.taken: list[str] = []
        self.ended = False

    def __iter__(self) -> Iterator[str]:
        for line in self.stream:
            self.taken.append(line)
            yield line
        self.ended = True

    def before_open(self, delimiter: str) -> int | None:
        """How many lines of the record stand before that of a quotation mark that is not closed, if there is one.

        A record in one line loses no other, whatever its quotation marks; at the end of the text, where the reader asks
        for more lines only inside quotation marks, it may be cut off.
        """
        if len(self.taken) < 2 and not self.ended:
            return None
        found = next((one for one in _quoted(delimiter).finditer("".join(self.taken)) if one["open"]), None)
        if found is None:
            return None
        ends = accumulate(map(len, self.taken))
        return next(number for number, end in enumerate(ends) if found.start() < end)


@cache
def _quoted(delimiter: str) -> re.Pattern[str]:
    """Cells in quotation marks, with blanks behind them; or the mark of one that its line does not close."""
    sign = re.escape(delimiter)
    closed = rf'"[^"]*+(?:""[^"]*+)*+"[ ]*(?=[\r\n{sign}]|\Z)'
    return re.compile(rf'(?<![^\r\n{sign}])(?:{closed}|(?P<open>")(?=(?:[^"\r\n]|"")*+(?:[\r\n]|\Z)))')
