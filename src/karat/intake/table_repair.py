"""Repairs for tables from R, spreadsheets and other tools: comment lines, doubled quotation marks, broken lines.

If the strict parser would refuse rows, the text is repaired before it is parsed, and a note says so.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import polars as pl

from karat.errors import IntakeError
from karat.intake.guess import NAMES, guess_columns, plain
from karat.intake.words import word_list
from karat.judgments.checks import Place
from karat.judgments.scales import as_number
from karat.judgments.source import SourceFile
from karat.judgments.tables import SPREADSHEETS, FileTable, Numbers, delimiter_of, read_table
from karat.messages import Message

PERSON_WORDS = word_list("person_words")
MOST_COMMENTS = 50
COMMENT = re.compile(r'\s*"?[#%]|(?i:"?sep=.)"?\s*$|[\s,;\t"]*$')
"""A line that begins with a comment sign, the line that names the delimiter for Excel, or an empty line."""
ASKED_ENDS = ("Approve", "Reject")
"""The last columns of an MTurk batch, which are filled in by hand and have no cells in a download."""


def read_results(
    file: SourceFile, delimiter: str | None = None, sheet: str | None = None, numbers: Numbers | None = None
) -> FileTable:
    """Read a table after repairing the mistakes of the program that wrote it."""
    _refuse_other_forms(file)
    if file.suffix in SPREADSHEETS or file.size == 0 or (b"\0" in file.head and not file.encoding.startswith("utf-16")):
        return read_table(file, delimiter, sheet, numbers)
    original, file = file, _under_names(file)
    header_added = file is not original
    file, skipped = without_comments(file)
    file, session = _below_session(file, delimiter)
    try:
        fixed, breaks = _whole_rows(file, delimiter)
    except csv.Error:
        fixed, breaks = file, 0
    table = read_table(fixed, delimiter, sheet, numbers)
    if session:
        table = _of_session(table, session)
    if skipped or header_added:
        table = replace(table, locate=_later(table.locate, skipped - header_added))
    if skipped:
        table.notes.append(Message("form.comments", {"n": skipped}))
    if breaks:
        table.notes.append(Message("form.broken_lines", {"n": breaks}))
    return table


OF_APPRAISE = ("login", "system", "segment", "segment_kind", "source_language", "target_language", "rating")
OF_DOCUMENTS = ("document", "whole_document")
APPRAISE = re.compile(
    r"[\w.-]+,[^,\n]+,\d+,(?:TGT|BAD|REF|CHK),\w{2,3},\w{2,3},\d{1,3}(,[^,\n]*,(?:True|False))?(?:,\d{9,}\.\d+){2}\r?\n"
)


def _under_names(file: SourceFile) -> SourceFile:
    """The file with a header added, if it holds scores from Appraise, which writes none."""
    match = APPRAISE.match(file.sample)
    if match is None:
        return file
    names = ",".join([*OF_APPRAISE, *(OF_DOCUMENTS if match[1] else ()), "start_time", "end_time"])
    return SourceFile(file.path, "utf-8", f"{names}\n{file.text()}".encode(), file.name)


OF_SPANS = (
    "It marks words of a text. karat reads one answer per participant and item: make a table with one row per text, "
    "with the columns participant, item and response."
)
OTHER_FORMS = (
    (r"#FORMAT=WebAnno TSV", "a file of WebAnno or INCEpTION", OF_SPANS),
    (r"T\d+\t\S+ \d+ \d+(;\d+ \d+)*\t", "a file of brat", OF_SPANS),
    (r"# (global\.columns|newdoc|sent_id|text) ?=", "a file in CoNLL-U format", OF_SPANS),
    (
        r"Subjects incorporated to date",
        "a file of DMDX",
        "It lists the trials of each participant below a line of its own. Make a table of it first, with the columns "
        "participant, item, response and rt, and one row per trial.",
    ),
    (
        r"(?=[^\r\n]*\borigin_id\b)(?=[^\r\n]*\bnetwork_id\b)[^\r\n]*\bcontents\b",
        "the table of infos that Dallinger writes",
        "Its rows belong to nodes, and node.csv says which participant each node was. Make a table of it first, with "
        "the column participant_id of the node whose id is the origin_id, and the answer from contents.",
    ),
)
"""Beginnings of files that are not tables of answers, their formats, and what to do with them."""


def _refuse_other_forms(file: SourceFile) -> None:
    """Raise IntakeError if the first line shows that a file is not a table of answers."""
    for beginning, what, fix in OTHER_FORMS:
        if re.match(beginning, file.sample.lstrip("\ufeff \r\n")):
            raise IntakeError(f"{file.name} is {what}. {fix}")


def without_comments(file: SourceFile) -> tuple[SourceFile, int]:
    """The file without the comment lines before its header, and the number of these lines."""
    if file.suffix in SPREADSHEETS or not file.sample.lstrip("\ufeff").startswith(
        ("#", '"#', "%", '"%', "sep=", '"sep=')
    ):
        return file, 0
    first = next(csv.reader([file.sample.partition("\n")[0].strip()], delimiter=delimiter_of(file.sample)), [])
    if first[0].strip() == "#" and len(first) > 2 and all(cell.strip() for cell in first):
        return file, 0  # Typeform calls the column of its ids #.
    count = 0
    for line in file.sample.splitlines()[:MOST_COMMENTS]:
        if not COMMENT.match(line):
            break
        count += 1
    with file.open() as stream:
        for _ in range(count):
            stream.readline()
        rest = stream.read()
    return SourceFile(file.path, file.encoding, rest, file.label), count


UNNAMED = re.compile(r"unnamed_\d+")


SESSION_LINES, FEWEST_BELOW = 2, 2


def _below_session(file: SourceFile, delimiter: str | None) -> tuple[SourceFile, dict[str, str]]:
    """The table of trials below two lines that describe the session, as Testable writes them.

    The two lines hold names and values; the third line names more columns that karat knows than the first.
    """
    lines = file.sample[: file.sample.rfind("\n") + 1].splitlines()
    if len(lines) < SESSION_LINES + 1 + FEWEST_BELOW or '"' in "".join(lines[:SESSION_LINES]):
        return file, {}
    sign = delimiter or delimiter_of("\n".join(lines[SESSION_LINES:]) + "\n")
    try:
        rows = list(islice(csv.reader(lines, delimiter=sign), MOST_COMMENTS))
    except csv.Error:
        return file, {}
    names, values, header, *below = ([cell.strip() for cell in row] for row in rows)
    if len(names) != len(values) or not _name_columns([name for name in names if name]):
        return file, {}
    width = len("".join(name and "x" for name in header))
    if not _name_columns(header[:width]) or any(header[width:]) or len(set(map(len, (header, *below)))) > 1:
        return file, {}
    filled = len([name for name in names if name])
    columns = [[row[at] for row in below] for at in range(width)]
    repeats_names = any(name in cells for name, cells in zip(header, columns, strict=False))
    has_numbers = any(all(as_number(cell) is not None for cell in cells) for cells in columns)
    names_more = len(guess_columns(header[:width], {})) > len(guess_columns(names[:filled], {}))
    if not names_more or repeats_names or not has_numbers or names[filled:] != [""] * (len(names) - filled):
        return file, {}
    with file.open() as stream:
        for _ in range(SESSION_LINES):
            stream.readline()
        rest = stream.read()
    return SourceFile(file.path, file.encoding, rest, file.label), dict(zip(names[:filled], values, strict=False))


def _name_columns(cells: Sequence[str]) -> bool:
    """Whether cells may be the names of columns: several, all different, and no numbers."""
    several = len(set(cells)) == len(cells) > 1
    return several and all(cell and as_number(cell) is None for cell in cells)


def _of_session(table: FileTable, session: Mapping[str, str]) -> FileTable:
    """A table of trials with the description of its session; the file name stands in for a missing participant."""
    description = {name: value or None for name, value in session.items() if name not in table.frame.columns}
    notes = [*table.notes, Message("form.session_lines", {"columns": list(description)[:3]})]
    if not any(plain(name) in NAMES["participant"] for name in (*description, *table.frame.columns)):
        description["participant"] = table.file.path.stem
        notes.append(Message("jspsych.one_participant_per_file"))
    frame = table.frame.with_columns(pl.lit(value, pl.String).alias(name) for name, value in description.items())
    return replace(table, frame=frame, locate=_later(table.locate, SESSION_LINES), notes=notes)


def _later(locate: Callable[[int], Place], lines: int) -> Callable[[int], Place]:
    def locate_later(row: int) -> Place:
        file, place, number = locate(row)
        return file, place, number + lines

    return locate_later


def _whole_rows(file: SourceFile, delimiter: str | None) -> tuple[SourceFile, int]:
    """The file with complete rows, and the number of joined lines; unchanged if no repair applies."""
    sign = delimiter or delimiter_of(file.sample)
    first = file.sample.lstrip("\ufeff").partition("\n")[0]
    header = next(csv.reader([first.rstrip("\r")], delimiter=sign), [])
    if delimiter is None and len(header) == 1 and " " in first.strip():
        sign, header = " ", next(iter(_rows(first, " ")), [])
    if tuple(header[-2:]) == ASKED_ENDS:
        return _with_empty_ends(file, sign, len(header)), 0
    if len(header) > 1 and (named := _with_row_names(file, sign, header)) is not None:
        return named, 0
    if '""' in file.sample and len(header) > 1:
        return _without_doubled_quotes(file, sign, len(header))
    return file, 0


def _with_empty_ends(file: SourceFile, sign: str, width: int) -> SourceFile:
    """The file with empty cells for Approve and Reject: MTurk names these columns, but its rows end before them."""
    rows = list(csv.reader(io.StringIO(file.text(), newline=""), delimiter=sign))
    short = [row for row in rows[1:] if len(row) == width - 2]
    if not short or any(len(row) not in (width, width - 2) for row in rows[1:] if row):
        return file
    return _rewritten(file, [row + [""] * (width - len(row)) if row else row for row in rows], sign)


def _with_row_names(file: SourceFile, sign: str, header: Sequence[str]) -> SourceFile | None:
    """The file with a header cell for the row names that R's write.table puts first in each row.

    Also a table with blanks between cells, if it has as many column names as cells.
    """
    sample = _rows(file.sample[: file.sample.rfind("\n") + 1], sign)[1:]
    widths = {len(row) for row in sample if row}
    names = [row[0] for row in sample if row]
    if len(names) < 2 or not names[0]:
        return None
    if widths == {len(header) + 1} and len(set(names)) == len(names):
        header = ["row", *header]
    elif sign != " " or widths != {len(header)} or len(header) < FEWEST_BETWEEN_BLANKS or not _name_columns(header):
        return None
    return _rewritten(file, [header, *(row for row in _rows(file.text(), sign)[1:] if row)], ",")


FEWEST_BETWEEN_BLANKS = 3


def _rows(text: str, sign: str) -> list[list[str]]:
    """The cells of each row; several blanks count as one delimiter.

    >>> _rows("a  b\\n 1 'x y'\\n", " "), _rows("a,b\\n", ",")
    ([['a', 'b'], ['1', "'x", "y'"]], [['a', 'b']])
    """
    lines = (line.strip() for line in text.splitlines()) if sign == " " else io.StringIO(text, newline="")
    return list(csv.reader(lines, delimiter=sign, skipinitialspace=sign == " "))


def _without_doubled_quotes(file: SourceFile, sign: str, width: int) -> tuple[SourceFile, int]:
    """The file without doubled marks and line breaks in unquoted cells, as R can write them, and the joined lines."""
    lines = file.text().splitlines()
    # A cell that begins with one mark or three is quoted: """men""" is "men".
    if any(re.search(rf'(?:^|{re.escape(sign)})"(?:"")*(?!")', line) for line in lines):
        return file, 0
    rows: list[list[str]] = []
    open_row = ""
    breaks = 0
    for line in lines:
        open_row = f"{open_row} {line.strip()}" if open_row else line
        cells = open_row.split(sign)
        if len(cells) < width:
            breaks += 1
            continue
        if len(cells) > width:
            return file, 0
        rows.append([_single(cell) for cell in cells])
        open_row = ""
    return (file, 0) if open_row.strip() else (_rewritten(file, rows, sign), breaks)


def _single(cell: str) -> str:
    return "" if cell == '""' else cell.replace('""', '"')


def _rewritten(file: SourceFile, rows: Sequence[Sequence[str]], sign: str) -> SourceFile:
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=sign, lineterminator="\n").writerows(rows)
    return SourceFile(file.path, "utf-8", stream.getvalue().encode("utf-8", "replace"), file.name)


FEWEST_PEOPLE = 5
DUMMY = re.compile(r"(?P<stem>[^\W\d_]+)[\W_]*(?P<who>\w+?)\W*")
"""The name of a column with 1 in the rows of one participant: PID_12, subject[a3]."""


def people_in_one_column(table: FileTable) -> FileTable:
    """The table with one participant column instead of one column per participant with 1 in their rows."""
    stems: dict[str, dict[str, str]] = {}
    for name in table.frame.columns:
        match = DUMMY.fullmatch(name)
        if match and (match["stem"].lower() in PERSON_WORDS or plain(match["stem"]) in NAMES["participant"]):
            stems.setdefault(match["stem"], {})[name] = match["who"]
    for stem, names in stems.items():
        if len(names) < FEWEST_PEOPLE or stem in table.frame.columns:
            continue
        ones = table.frame.select(pl.col(name).cast(pl.String).cast(pl.Float64, strict=False) for name in names)
        is_one_hot = pl.all_horizontal(pl.all().is_in([0.0, 1.0])) & (pl.sum_horizontal(pl.all()) == 1)
        if not ones.select(is_one_hot.fill_null(False).all()).item():
            continue
        who = pl.coalesce(pl.when(ones[name] == 1).then(pl.lit(code)) for name, code in names.items())
        table.notes.append(Message("form.people", {"n": len(names), "columns": list(names)[:2], "column": stem}))
        return replace(table, frame=table.frame.drop(names).with_columns(who.alias(stem)))
    return table
