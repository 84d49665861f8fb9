"""Judgments on disk: CSV for people, Parquet for machines, both complete enough to be read back.

A Parquet file has scales and participants in its metadata. A CSV file comes with `NAME.csv-metadata.json` (the name in
the W3C's "CSV on the Web") for the types of columns and the scales and, if more than the names of participants is
known, with `NAME.participants.csv`.
"""

import hashlib
import html
import io
import json
import math
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

import polars as pl

from karat.errors import KaratError
from karat.judgments.scales import Scale, from_dict

METADATA_KEY = "karat"
FORMAT_VERSION = 1
FINGERPRINT_ROWS = 200_000
CSV_TYPES: dict[str, pl.DataType] = {
    "text": pl.String(),
    "integer": pl.Int64(),
    "number": pl.Float64(),
    "truth": pl.Boolean(),
    "time": pl.Datetime("us", "UTC"),
}


def metadata_path(path: Path) -> Path:
    """The file with the types and scales of a CSV file."""
    return path.with_name(path.name + "-metadata.json")


def participants_path(path: Path) -> Path:
    """The file with the participants of a CSV file."""
    return path.with_name(path.stem + ".participants" + path.suffix)


def files_of(path: Path, participants: pl.DataFrame) -> list[Path]:
    """The files to which judgments with these participants are written, the table first."""
    if path.suffix != ".csv":
        return [path]
    return [path, *([participants_path(path)] if participants.width > 1 else []), metadata_path(path)]


def companions(paths: Iterable[Path]) -> set[Path]:
    """The possible companions of those paths that are CSV files of karat, which have metadata."""
    there = set(paths)
    described = [path for path in there if metadata_path(path) in there]
    return {beside(path) for path in described for beside in (metadata_path, participants_path)}


def scales_to_data(scales: Mapping[str, Scale]) -> dict[str, Any]:
    """Scales by question, as plain data."""
    return {question: scale.to_dict() for question, scale in scales.items()}


def scales_from_data(data: Mapping[str, Any]) -> dict[str, Scale]:
    """The scales that `scales_to_data` wrote."""
    return {question: from_dict(scale) for question, scale in data.items()}


def write_parquet(
    path: Path,
    frame: pl.DataFrame,
    scales: Mapping[str, Scale],
    participants: pl.DataFrame,
    frozen: Mapping[str, Any] | None = None,
) -> None:
    """Write a table of judgments as one Parquet file."""
    buffer = io.BytesIO()
    participants.write_ipc(buffer)
    about = {"version": FORMAT_VERSION, "scales": scales_to_data(scales), "participants": buffer.getvalue().hex()}
    about |= {} if frozen is None else {"frozen": dict(frozen)}
    with replacing(path) as temporary:
        frame.write_parquet(temporary, metadata={METADATA_KEY: json.dumps(about)})


def write_csv(
    path: Path,
    frame: pl.DataFrame,
    scales: Mapping[str, Scale],
    participants: pl.DataFrame,
    *,
    safe_for_spreadsheets: bool = False,
    frozen: Mapping[str, Any] | None = None,
) -> None:
    """Write a table of judgments as CSV, with its metadata in a second file."""
    escape: Callable[[pl.DataFrame], pl.DataFrame] = escape_formulas if safe_for_spreadsheets else lambda table: table
    about = {
        "version": FORMAT_VERSION,
        "columns": csv_types(frame),
        "scales": scales_to_data(scales),
        "escaped": safe_for_spreadsheets,
    }
    about |= {} if frozen is None else {"frozen": dict(frozen)}
    if participants.width > 1:
        about["participants"] = csv_types(participants)
        _write_csv_table(participants_path(path), escape(participants))
    _write_csv_table(path, escape(frame))
    with replacing(metadata_path(path)) as temporary:
        temporary.write_text(json.dumps(about, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def fingerprint(frame: pl.DataFrame, scales: Mapping[str, Scale], participants: pl.DataFrame) -> str:
    """The first 16 digits of the SHA-256 of both tables as CSV, their column types and the scales."""
    digest = hashlib.sha256()
    for table in (frame, participants):
        types = {name: str(dtype) for name, dtype in table.schema.items()}
        digest.update(json.dumps(types).encode())
        # Slices keep the text of a large table from being in memory at once.
        for start in range(0, table.height, FINGERPRINT_ROWS):
            digest.update(table.slice(start, FINGERPRINT_ROWS).write_csv(include_header=False).encode())
    digest.update(json.dumps(scales_to_data(scales), sort_keys=True).encode())
    return digest.hexdigest()[:16]


def _write_csv_table(path: Path, table: pl.DataFrame) -> None:
    text = table.select(pl.col(pl.String))
    if text.width and text.select(pl.any_horizontal(pl.all().str.contains("\0", literal=True).any())).item():
        raise KaratError(f"{path.name}: a cell holds a NUL character, which CSV cannot carry. Write Parquet.")
    moments = [name for name, dtype in table.schema.items() if isinstance(dtype, pl.Datetime)]
    table = table.with_columns(pl.col(moments).dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ"))
    with replacing(path) as temporary:
        table.write_csv(temporary)


def csv_types(frame: pl.DataFrame) -> dict[str, str]:
    """The type of each column, in the words of the metadata of a CSV file."""
    names = {dtype: word for word, dtype in CSV_TYPES.items()}
    unknown = [f"{name} ({dtype})" for name, dtype in frame.schema.items() if dtype not in names]
    if unknown:
        raise KaratError(f"CSV cannot hold the columns {', '.join(unknown)}: write Parquet, or turn them into text.")
    return {name: names[dtype] for name, dtype in frame.schema.items()}


_FORMULA = r"^'*[=+\-@\t\r]"
_NUMBER = r"^[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?$"


def escape_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """Mark text that a spreadsheet would run as a formula with an apostrophe; numbers stay as they are."""
    text = pl.col(pl.String)
    runs = text.str.contains(_FORMULA) & ~text.str.contains(_NUMBER)
    return table.with_columns(pl.when(runs).then(pl.lit("'") + text).otherwise(text).name.keep())


def unescape_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """Undo `escape_formulas`."""
    text = pl.col(pl.String)
    return table.with_columns(
        pl.when(text.str.contains("^'" + _FORMULA[1:])).then(text.str.slice(1)).otherwise(text).name.keep()
    )


MOST_SHEET_ROWS = 1_048_575
"""The largest number of rows in a sheet below its header."""
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def write_workbook(path: Path, tables: Mapping[str, pl.DataFrame]) -> None:
    """Write tables as the sheets of an XLSX file, with all text in text cells, so that nothing runs as a formula."""
    kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    places = [f"worksheets/sheet{number}.xml" for number in range(1, len(tables) + 1)]
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kinds}.sheet.main+xml"/>'
        + "".join(f'<Override PartName="/xl/{sheet}" ContentType="{kinds}.worksheet+xml"/>' for sheet in places)
        + "</Types>",
        "_rels/.rels": _relations({"officeDocument": ["xl/workbook.xml"]}),
        "xl/_rels/workbook.xml.rels": _relations({"worksheet": places}),
        "xl/workbook.xml": f'<workbook xmlns="{_SHEETS}" xmlns:r="{_RELATIONS}"><sheets>'
        + "".join(
            f'<sheet name="{html.escape(name)}" sheetId="{number}" r:id="r{number}"/>'
            for number, name in enumerate(tables, start=1)
        )
        + "</sheets></workbook>",
    }
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w") as book:
        for name, text in parts.items():
            _write_part(book, name, [text])
        for name, table in zip(places, tables.values(), strict=True):
            _write_part(book, f"xl/{name}", _sheet(table))


def _relations(targets: Mapping[str, Sequence[str]]) -> str:
    pairs = [(kind, target) for kind, paths in targets.items() for target in paths]
    return (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        + "".join(
            f'<Relationship Id="r{number}" Type="{_RELATIONS}/{kind}" Target="{target}"/>'
            for number, (kind, target) in enumerate(pairs, start=1)
        )
        + "</Relationships>"
    )


def _write_part(book: zipfile.ZipFile, name: str, texts: Iterable[str]) -> None:
    # A fixed date, so that the same tables make the same file and checksum.
    part = zipfile.ZipInfo(name)
    part.compress_type = zipfile.ZIP_DEFLATED
    with book.open(part, "w") as file:
        file.write(b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n')
        for text in texts:
            file.write(text.encode())


def _sheet(table: pl.DataFrame) -> Iterator[str]:
    yield f'<worksheet xmlns="{_SHEETS}"><sheetData>'
    for row in (table.columns, *table.iter_rows()):
        yield f"<row>{''.join(map(_cell, row))}</row>"
    yield "</sheetData></worksheet>"


def _cell(value: object) -> str:
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{value:d}</v></c>'
    if isinstance(value, int | float) and math.isfinite(value):
        return f"<c><v>{value!r}</v></c>"
    # Excel reads _x000D_ as the character of that number, so the underscore of such a text is written by number.
    text = re.sub("_(?=x[0-9A-Fa-f]{4}_)", "_x005F_", _NOT_XML.sub("\ufffd", str(value)))
    escaped = html.escape(text, quote=False).replace("\r", "&#13;")
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escaped}</t></is></c>'


def write_text(path: Path, text: str) -> None:
    """Write a text to a file, completely or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_table(path: Path, table: pl.DataFrame) -> None:
    """Write a table for spreadsheets as CSV, completely or not at all, with formulas escaped."""
    with replacing(path) as temporary:
        escape_formulas(table).write_csv(temporary)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file that replaces `path` once it is written completely."""
    temporary = path.with_name(f".{path.name}.{token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Not by tempfile, whose files nobody else can read: this one has the usual rights.
        temporary.touch(exist_ok=False)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
