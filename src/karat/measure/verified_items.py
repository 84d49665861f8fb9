"""Which items are verified, written into the item table of a study.

Rows are matched by item and by those columns of the norming study (conditions, status) that the table has. A matched
row gets verified = yes where the stimulus was clear, no where it was not, and the expected answer where that cell is
empty and the stimulus clear. All other cells, rows and columns stay as they are, and so do delimiter, encoding and line
ends. A spreadsheet is written as CSV.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import polars as pl

from karat.judgments.files import replacing
from karat.judgments.tables import SPREADSHEETS, FileTable, read_table
from karat.measure.errors import MeasureError
from karat.messages import Message
from karat.study.items import source_file

ENCODINGS = {"utf-8": "utf-8", "cp1252": "cp1252", "latin-1": "latin-1"}
"""In which the table is written as it was read; anything else becomes UTF-8."""


def write_verified(found: pl.DataFrame, path: Path, out: Path | None, in_place: bool) -> Path:
    """Write the item table with what was found, and give the path it was written to.

    >>> from tempfile import TemporaryDirectory
    >>> found = pl.DataFrame({"item": ["c1"], "mean": [4.8], "expected": ["3-5"], "clear": [True]})
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "items.csv").write_text("item,sentence\\nc1,He left.\\n")
    ...     print(write_verified(found, Path(folder, "items.csv"), Path(folder, "new.csv"), False).read_text())
    item,sentence,expected,verified
    c1,He left.,3-5,yes
    <BLANKLINE>
    """
    target = _target(path, out, in_place)
    table = read_table(source_file(path))
    if table.problems:
        raise MeasureError(Message("verified_items.unreadable_rows", {"file": path.name}))
    if "item" not in table.frame.columns:
        raise MeasureError(Message("verified_items.no_item_column", {"file": path.name}))
    verified = _verified(found, table.frame, path.name)
    if not verified["verified"].is_not_null().any():
        normed = found["item"].unique(maintain_order=True)[:3].to_list()
        raise MeasureError(Message("verified_items.no_items", {"file": path.name, "items": normed}))
    _write(table, _filled(table.frame, verified), target)
    return target


def _target(path: Path, out: Path | None, in_place: bool) -> Path:
    """Where to write; never over the item table, nor over another file, unless that was said."""
    if in_place:
        if out is not None:
            raise MeasureError(Message("verified_items.two_targets"))
        if path.suffix.lower() in SPREADSHEETS:
            raise MeasureError(Message("verified_items.spreadsheet", {"file": path.name}))
        return path
    if out is None:
        raise MeasureError(Message("verified_items.no_target", {"file": path.name}))
    if out.exists():
        raise MeasureError(Message("verified_items.target_exists", {"target": str(out), "file": path.name}))
    if out.suffix.lower() in SPREADSHEETS:
        raise MeasureError(Message("verified_items.not_csv", {"name": out.with_suffix(".csv").name}))
    return out


def _verified(found: pl.DataFrame, items: pl.DataFrame, name: str) -> pl.DataFrame:
    """For each row of the item table: yes, no or nothing, and the expected answer."""
    about = found.columns[: found.columns.index("mean")]
    keys = ["item", *(column for column in about[1:] if column in items.columns)]
    known = found.select(
        *keys, pl.when("clear").then(pl.lit("yes")).otherwise(pl.lit("no")).alias("verified"),
        pl.col("expected").alias("answer"),
    ).unique(maintain_order=True)  # fmt: skip
    torn = known.filter(known.select(keys).is_duplicated())
    if torn.height:
        missing = [column for column in about[1:] if column not in items.columns]
        values = {"file": name, "item": str(torn["item"][0]), "columns": missing}
        raise MeasureError(Message("verified_items.versions", values))
    return items.select(keys).join(known, on=keys, how="left", nulls_equal=True, maintain_order="left")


def _filled(items: pl.DataFrame, verified: pl.DataFrame) -> pl.DataFrame:
    """The item table with its two columns, which come last where there were none."""
    known = {name: items[name] if name in items.columns else pl.Series(name, [None] * items.height, dtype=pl.String)
             for name in ("expected", "verified")}  # fmt: skip
    expected = pl.select(pl.coalesce(known["expected"], verified["answer"])).to_series().alias("expected")
    status = pl.select(pl.coalesce(verified["verified"], known["verified"])).to_series().alias("verified")
    return items.with_columns(expected, status)


def _write(table: FileTable, frame: pl.DataFrame, target: Path) -> None:
    """Write the table as the file was; at once, so that a fault on the way does not leave half of it."""
    encoding, delimiter, end, mark = _manner(table)
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    writer.writerow(frame.columns)
    writer.writerows([["" if cell is None else cell for cell in row] for row in frame.iter_rows()])
    mode = target.stat().st_mode if target.exists() else None
    with replacing(target) as temporary:
        temporary.write_bytes(mark + text.getvalue().encode(encoding))
    if mode is not None:
        target.chmod(mode)


def _manner(table: FileTable) -> tuple[str, str, str, bytes]:
    """Encoding, delimiter, line end and byte order mark of the file."""
    if table.file.suffix in SPREADSHEETS:
        return "utf-8", ",", "\n", b""
    content = table.file.path.read_bytes()
    mark = b"\xef\xbb\xbf" if content.startswith(b"\xef\xbb\xbf") else b""
    end = "\r\n" if b"\r\n" in content else "\n"
    return ENCODINGS.get(table.file.encoding, "utf-8"), table.delimiter or ",", end, mark
