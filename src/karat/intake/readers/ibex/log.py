"""The results file of Ibex and PCIbex as lines with named cells.

Comment lines name the columns of the lines below them; later comments name only the columns that changed, and a name
for column 13 also removes columns 14 and above. Nothing is quoted; a comma or a control code inside a cell is written
as `%2C`, `%0A` and the like, while a percent sign stands for itself.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import polars as pl

from karat.errors import IntakeError, Problems
from karat.intake.cells import cell_text
from karat.intake.guess import plain
from karat.judgments.source import SourceFile
from karat.judgments.tables import SPREADSHEETS, header_of, read_table
from karat.judgments.times import instants

NATIVE = 7
"""The first columns are the same in all versions: reception time, MD5, controller, order, element, label, group."""
MISSING = ("", "NULL", "NA", "Never", "undefined")

_NUMBERED = re.compile(r"#\s*(\d{1,4})\.\s(.*)")
_GROUPED = re.compile(r"#\s+Col\.\s(\d{1,4}):\s(.*)")
_GROUP_LINE = re.compile(r"#\s*Line \d+:")
_AGENT = re.compile(r"#\s*USER AGENT:\s*(.*)")
_DESIGN = re.compile(r"#\s*Design number was .*?(\d+)\s*\.?$")
_ESCAPE = re.compile(r"%(2C|0[1-9A-F]|1[0-9A-F]|7F)", re.IGNORECASE)


@dataclass
class LogLine:
    """One line of results: the seven cells that every line has, and the named cells after them."""

    number: int
    reception: str
    hash: str
    controller: str
    order: str
    label: str
    group: str | None
    cells: dict[str, str | None]
    agent: str | None = None
    design: str | None = None
    of_owner: bool = False
    """Whether the experimenter was logged in, so that the run was a trial run."""

    def get(self, name: str) -> str | None:
        """The cell of a column, or None if the line has no such column or the cell is missing."""
        return self.cells.get(name)


@dataclass
class Log:
    """All lines of a file; unreadable ones are problems."""

    lines: list[LogLine] = field(default_factory=list)
    rows: int = 0
    problems: Problems = field(default_factory=Problems)


def is_log(sample: str) -> bool:
    """Whether a text begins as a results file of Ibex or PCIbex does.

    >>> is_log("# Results on Sunday May 02 2021 16:42:49 UTC\\n# 1. Results reception time.\\n"), is_log("a,b\\n1,2\\n")
    (True, False)
    """
    if not sample.lstrip().startswith("#"):
        return False
    times = re.search(r"^#.{0,10}\b1[.:] (Results reception time|Time results were received)", sample, re.MULTILINE)
    return bool(times) or bool(re.search(r"^# Results on .*\n# USER AGENT:", sample, re.MULTILINE))


def is_bare(sample: str) -> bool:
    """Whether a text holds the lines of Ibex without the comments that name their columns.

    >>> is_bare("1498778944,86d6461549817075744adbcbb74e7bb6,Form,1,0,intro,NULL,age,18\\n"), is_bare("a,b\\n1,2\\n")
    (True, False)
    """
    return re.match(r"\d{9,11},[0-9a-f]{32},[A-Za-z]\w*,\d+,\d+,", sample) is not None


def decoded(cell: str) -> str:
    """A cell with its commas and control codes decoded and all other percent signs unchanged.

    >>> decoded("yes%2C 100%25")
    'yes, 100%25'
    """
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), cell)


def read_log(file: SourceFile, sheet: str | None = None) -> Log:
    """Read the lines of a results file: as text with comments, as raw results, or as a table."""
    if is_table(file):
        return _read_table_log(file, sheet)
    return _read_raw_log(file) if is_raw(file.sample) else _read_text_log(file)


def is_raw(sample: str) -> bool:
    """Whether a text is Ibex's `raw_results`: one JSON list per participant below the comments.

    >>> is_raw('# Results on x\\n[false,0,["Controller name","Item number"],[]]')
    True
    """
    return re.search(r'^\[(?:true|false|null),\s*\d+,\s*\["Controller name"', sample, re.MULTILINE) is not None


TABLE_NAMES = ("controllername", "itemnumber", "elementnumber", "type", "group")
NEW_NAMES = ("controllername", "ordernumberofitem", "innerelementnumber", "label", "latinsquaregroup")
OTHER_NAMES = {
    "receptiontime": "Results reception time", "ip": "MD5 hash", "md5": "MD5 hash", "controller": "Controller name",
    "item": "Order number of item", "itemnumber": "Order number of item", "element": "Inner element number",
    "elementnumber": "Inner element number", "type": "Label", "group": "Latin Square Group",
    "elementtype": "PennElementType", "elementname": "PennElementName",
}  # fmt: skip
"""Names that scripts give the columns of a PCIbex log saved as a table, often after Ibex or Penn."""


def _own_names(names: Sequence[str]) -> dict[str, str]:
    """PCIbex' names for the columns of a table of PCIbex lines; empty for other tables."""
    bare = {name: re.sub("^(ibex|penn)", "", plain(name)) for name in names}
    if not {"elementtype", "parameter", "value", "eventtime"} <= set(bare.values()):
        return {}
    existing = {plain(name) for name in names}
    new_names: dict[str, str] = {}
    for name, word in bare.items():
        new = OTHER_NAMES.get(word)
        if new is not None and plain(new) not in existing and new not in new_names.values():
            new_names[name] = new
    return new_names


def is_table(file: SourceFile) -> bool:
    """Whether a spreadsheet or a delimited file has the columns of an Ibex log in its header."""
    if file.suffix in SPREADSHEETS:
        try:
            columns = read_table(file).frame.columns
        except IntakeError:
            return False
    elif file.sample.lstrip().startswith("#"):
        return False
    else:
        columns = header_of(file)
    names = {plain(name) for name in (*columns, *_own_names(columns).values())}
    answers = any(name in names for name in ("answer", "value", "timetakentoanswer"))
    return answers and (set(TABLE_NAMES) <= names or set(NEW_NAMES) <= names)


def _read_table_log(file: SourceFile, sheet: str | None) -> Log:
    """Read a log that was saved as a table, with the columns of all kinds of lines."""
    table = read_table(file, None, sheet)
    table.frame = table.frame.rename(_own_names(table.frame.columns))
    names = {plain(name): name for name in reversed(table.frame.columns)}
    new = set(NEW_NAMES) <= set(names)
    index = names.get("resultsindex")
    time = next((names[n] for n in ("resultsreceptiontime", "timeresultswerereceived", "time") if n in names), None)
    hashed = next((names[n] for n in names if n.startswith("md5hash") or n == "hash"), None)
    owner = next((names[n] for n in names if n.startswith("loggedinasexperimentowner")), None)
    native = [names[n] for n in (NEW_NAMES if new else TABLE_NAMES)]
    used = {*native, *(n for n in (index, time, hashed, owner, names.get("counter")) if n)}
    log = Log(rows=table.rows_in, problems=table.problems)
    moments = _moments(table.frame[time]) if time else [0.0] * table.frame.height
    for row, cells in enumerate(table.frame.iter_rows(named=True)):
        controller, order, _, label, group = ((cells[name] or "").strip() for name in native)
        run = cells[index] if index else ""
        named = {
            _column_name(name): None if value is None or value.strip() in MISSING else decoded(value.strip())
            for name, value in cells.items() if name not in used and value is not None
        }  # fmt: skip
        log.lines.append(LogLine(
            table.locate(row)[2], _reception(moments[row], run), (cells[hashed] or "") if hashed else run or "",
            controller, order, label, None if group in MISSING else group, named,
            of_owner=bool(owner) and (cells[owner or ""] or "").lower() in ("yes", "true", "1"),
        ))  # fmt: skip
    return log


def _moments(times: pl.Series) -> list[float]:
    moments = instants(times)
    return [0.0 if moment is None else moment.timestamp() for moment in moments.to_list()]


def _reception(moment: float, run: str | None) -> str:
    """Seconds, with the number of the run after the point, because two runs may arrive in the same second."""
    number = re.sub(r"\D", "", run or "")
    return f"{int(moment)}.{int(number):06d}" if number else f"{int(moment)}"


def _read_raw_log(file: SourceFile) -> Log:
    """Read one JSON list per participant: the names of the columns, then rows of positions and values."""
    log = Log()
    moment, agent, design, run = 0.0, None, None, 0
    for number, text in file.lines():
        if text.startswith("#"):
            moment = _date_of(text) or moment
            agent = match[1] if (match := _AGENT.match(text)) else agent
            design = match[1] if (match := _DESIGN.match(text)) else design
        elif text.strip():
            run += 1
            try:
                _, _, names, rows, *rest = json.loads(text)
                hashed = next((part for part in rest if isinstance(part, str)), "")
                lines = [_raw_line(number, names, row, _reception(moment, str(run)), hashed) for row in rows]
            except (ValueError, TypeError, IndexError, KeyError, RecursionError):
                log.rows += 1
                log.problems.add(
                    "the line is not a list of results", "Use the file results instead.", file=file.name, number=number
                )
                continue
            log.rows += len(lines)
            for line in lines:
                line.agent, line.design = agent, design
            log.lines += lines
    return log


def _raw_line(number: int, names: list[str], row: list[list[Any]], reception: str, hashed: str) -> LogLine:
    cells = {names[int(place)]: cell_text(value) for place, value in row}
    values = [
        cells.pop(name, None) or "" for name in ("Controller name", "Item number", "Element number", "Type", "Group")
    ]
    controller, order, _, label, group = values
    named = {_column_name(name): None if value in MISSING else value for name, value in cells.items()}
    return LogLine(number, reception, hashed, controller, order, label, None if group in MISSING else group, named)


def _date_of(comment: str) -> float | None:
    match = re.search(r"Results on \w+,? (\w+) (\w+) (\d{4}) (\d\d:\d\d:\d\d)", comment)
    for form in ("%B %d %Y %H:%M:%S", "%d %b %Y %H:%M:%S"):
        try:
            return datetime.strptime(" ".join(match.groups()), form).replace(tzinfo=UTC).timestamp() if match else None
        except ValueError:
            continue
    return None


FILLED_UP = re.compile(r"^#[^\n]*?([,;\t])\1{3,}\r?$", re.MULTILINE)
"""A comment of a results file that a spreadsheet saved again, which fills all lines up to the same width."""


def _read_text_log(file: SourceFile) -> Log:
    """Read the lines of a results file, with the column names from the comments."""
    log, columns = Log(), _Columns(bare=is_bare(file.sample))
    filled = FILLED_UP.search(file.sample)
    separator = filled[1] if filled else ""
    agent = design = None
    for number, text in file.lines():
        text = text.rstrip(separator + "\r") if separator else text
        if text.startswith("#"):
            if text.startswith("# Results on"):
                agent = design = None
            columns.learn(text)
            agent = match[1] if (match := _AGENT.match(text)) else agent
            design = match[1] if (match := _DESIGN.match(text)) else design
        elif text.strip():
            log.rows += 1
            flaw, cells = columns.name(text, separator)
            if flaw:
                fix = "Fix the line or its comment lines, or leave it out with --skip-bad."
                log.problems.add(flaw, fix, file=file.name, number=number)
                continue
            log.lines.append(_line(number, cells, agent, design))
    return log


def _line(number: int, cells: list[tuple[str, str]], agent: str | None, design: str | None) -> LogLine:
    values = [decoded(cell) for _, cell in cells]
    named: dict[str, str | None] = {}
    for (name, _), value in zip(cells[NATIVE:], values[NATIVE:], strict=True):
        copies = (f"{name}_{copy}" for copy in range(2, len(cells) + 2))
        free = name if name not in named else next(copy for copy in copies if copy not in named)
        named[free] = None if value in MISSING else value
    reception, hash_, controller, order, _, label, group = values[:NATIVE]
    shown_group = None if group in MISSING else group
    return LogLine(number, reception, hash_, controller, order, label, shown_group, named, agent, design)


OF_CONTROLLERS = {
    1: ("Sentence (or sentence MD5)",),
    2: ("Field name", "Field value"),
    4: ("Question (NULL if none)", "Answer", "Whether or not answer was correct (NULL if N/A)", "Time taken to answer"),
    5: ("Word number", "Word", "Reading time", "Newline?", "Sentence (or sentence MD5)"),
}
"""The columns that controllers of Ibex write after the first seven, by their number."""


@dataclass
class _Columns:
    """The current names of the columns, according to the comments so far."""

    names: dict[int, str] = field(default_factory=dict)
    groups: list[dict[int, str]] = field(default_factory=list)
    turn: int = 0
    bare: bool = False
    """Whether there are no comments, so that the number of columns shows the controller of Ibex."""

    def learn(self, comment: str) -> None:
        if comment.startswith("# The lines below this comment are in groups"):
            self.groups, self.turn = [], 0
        elif _GROUP_LINE.match(comment):
            self.groups.append({})
        elif (match := _GROUPED.match(comment)) and self.groups:
            self.groups[-1][int(match[1])] = _column_name(match[2])
        elif match := _NUMBERED.match(comment):
            position = int(match[1])
            self.groups = []
            self.names = {at: name for at, name in self.names.items() if at < position}
            self.names[position] = _column_name(match[2])

    def name(self, text: str, separator: str = "") -> tuple[str, list[tuple[str, str]]]:
        """The flaw of a line or an empty text, and its cells with their names.

        Lines that a spreadsheet saved have a `separator`, quotes, and no empty cells at their end.
        """
        if "\0" in text:
            return "the line holds a NUL byte", []
        cells = next(csv.reader([text], delimiter=separator)) if separator else text.split(",")
        names = self._names_for(len(cells))
        width = max(names, default=0)
        cells += [""] * (width - len(cells)) if separator else []
        if width <= NATIVE:
            return "no comment line above names the columns of this line", []
        if len(cells) == width - 1 and cells[2].isdigit():
            # Some versions named a column "Controller name" that the lines did not have.
            cells.insert(2, "PennController")
        if len(cells) > width and names[width] == "Comments":
            cells[width - 1 :] = [",".join(cells[width - 1 :])]
        if len(cells) != width:
            return f"the line has {len(cells)} cells where the comments name {width} columns", []
        if not re.fullmatch(r"\d{9,11}(\.\d+)?", cells[0]):
            return "the line does not begin with the time at which the results were received", []
        return "", [(names.get(position, f"column_{position}"), cell) for position, cell in enumerate(cells, start=1)]

    def _names_for(self, width: int) -> dict[int, str]:
        if self.bare and not self.names:
            names = OF_CONTROLLERS.get(width - NATIVE, ())
            return dict(enumerate((*("native",) * NATIVE, *names), start=1)) if names else {}
        if not self.groups:
            return self.names
        fitting = [group for group in self.groups if max(group, default=0) == width]
        group = fitting[0] if len(fitting) == 1 else self.groups[self.turn % len(self.groups)]
        self.turn += 1
        return group


def _column_name(text: str) -> str:
    """A name without the full stops that comments add and that some names end in."""
    return text.strip().rstrip(". ") or "unnamed"


ANSWERED = "Time taken to answer"


def _shows_sentence(line: LogLine) -> bool:
    return ANSWERED not in line.cells and any(name.startswith("Sentence") for name in line.cells)


def runs(lines: list[LogLine]) -> Iterator[list[LogLine]]:
    """The lines of each trial: from Start to End, or as long as number, label and group stay the same.

    A sentence that classic Ibex shows after an answer also begins a trial.
    """
    trial: list[LogLine] = []
    for line in lines:
        starts = line.get("Parameter") == "_Trial_" and line.get("Value") == "Start"
        starts |= bool(trial) and ANSWERED in trial[-1].cells and _shows_sentence(line)
        key = (line.order, line.label, line.group)
        if trial and (starts or key != (trial[-1].order, trial[-1].label, trial[-1].group)):
            yield trial
            trial = []
        trial.append(line)
    if trial:
        yield trial
