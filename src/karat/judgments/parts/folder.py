"""A folder of Parquet files, read as parts in the order of their names, and tables rewritten as such a folder.

To rewrite a table, rows are distributed by a hash of the participant, some at a time, to as many piles on disk as there
will be parts. Then each pile is read, checked and written as one file, so that memory holds one part at most.
"""

import hashlib
import io
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from karat.errors import cause, counted
from karat.judgments.checks import Place, plain_types
from karat.judgments.columns import COLUMNS, laid_over
from karat.judgments.files import METADATA_KEY, scales_from_data, scales_to_data
from karat.judgments.parts.parts import CONVERT, Parts, PartsError, checked_part, refuse_large, refuse_mapping
from karat.judgments.scales import Scale
from karat.judgments.table import Judgments, scales_by_question

SUFFIXES = (".parquet", ".pq")
LOOKED_AT = 10_000
"""The memory for a file is estimated from this many of its rows."""


@dataclass(frozen=True)
class Folder(Parts):
    """Parquet files as parts."""

    paths: tuple[Path, ...] = ()
    stamps: tuple[str, ...] = field(default=(), repr=False)
    mapping: dict[str, str] = field(default_factory=dict)
    types: dict[str, pl.DataType] = field(default_factory=dict)
    """The columns of all files, in the order of the first; columns that are empty in one file get their type here."""

    def read(self, number: int) -> Judgments:
        """One file as judgments."""
        path = self.paths[number]
        with _naming(path):
            frame = pl.read_parquet(path, hive_partitioning=False)
        return self.judgments(number, frame)

    def judgments(self, number: int, frame: pl.DataFrame, start: int = 0) -> Judgments:
        """Rows of a file, from the row `start` on, as judgments; the first ones come with the table of participants."""
        path = self.paths[number]
        frame = laid_over(frame, self.mapping)
        frame = frame.select(
            pl.col(name).cast(dtype) if frame.schema[name] == pl.Null else pl.col(name)
            for name, dtype in self.types.items()
        )
        about = _about(path) if start == 0 else None
        people = None if about is None else pl.read_ipc(io.BytesIO(bytes.fromhex(about["participants"])))
        return checked_part(frame, self.scales, str(path), partial(_row_of, path.name, start), people)

    def name(self, number: int) -> str:
        """The name of the file."""
        return self.paths[number].name

    def stamp(self, number: int) -> str:
        """Path, size, time of the last change, mapping and scales."""
        return self.stamps[number]

    def fingerprint(self, number: int) -> str:
        """The first digits of the SHA-256 of the file."""
        with self.paths[number].open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def parquet_files(where: Path) -> list[Path]:
    """The Parquet files of a folder in the order of their names, without hidden ones, or the file itself."""
    if where.is_file():
        return [where] if where.suffix in SUFFIXES else []
    if not where.is_dir():
        return []
    paths = (path for path in where.iterdir() if path.suffix in SUFFIXES and path.is_file())
    return sorted(path for path in paths if not path.name.startswith((".", "_")))


def says_its_scale(paths: Sequence[Path]) -> bool:
    """Whether karat wrote the first of these files, with the scale."""
    try:
        return bool(paths) and _about(paths[0]) is not None
    except (OSError, pl.exceptions.PolarsError):
        return False


def are_own(paths: Sequence[Path]) -> bool:
    """Whether karat wrote all of these files; PartsError if one of them is damaged."""
    written = []
    for path in paths:
        with _naming(path):
            written.append(METADATA_KEY in pl.read_parquet_metadata(path))
    return all(written)


def bytes_in_memory(paths: Sequence[Path]) -> int:
    """The approximate memory for the tables of these files, estimated from the first rows of each."""
    total = 0
    for path in paths:
        with _naming(path):
            total += _bytes(path, pl.scan_parquet(path).select(pl.len()).collect().item())
    return total


def _bytes(path: Path, rows: int) -> int:
    some = pl.read_parquet(path, n_rows=LOOKED_AT, hive_partitioning=False)
    return int(some.estimated_size() / max(some.height, 1) * rows)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Report errors with the name of the file that cannot be read, and the fix."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        fix = "It may be cut off: copy it or write it again."
        raise PartsError(f"{path} cannot be read: {cause(error)}. {fix}") from None


def open_folder(
    where: Path, scale: Scale | Mapping[str, Scale] | None, mapping: dict[str, str], memory: int | None
) -> Folder:
    """The files of a folder as parts; PartsError if they are not one table."""
    paths = [path.absolute() for path in parquet_files(where)]
    if not paths:
        what = "has no Parquet files" if where.is_dir() else "is not a folder of Parquet files"
        raise PartsError(f"{where} {what}. Write them with {CONVERT.format(where=where, parts=8)}")
    schemas, rows = [], []
    for path in paths:
        with _naming(path):
            schemas.append(dict(pl.read_parquet_schema(path)))
            rows.append(pl.scan_parquet(path).select(pl.len()).collect().item())
    with _naming(where):
        for path, number in zip(paths, rows, strict=True) if memory is not None else ():
            fix = CONVERT.format(where=where, parts="{parts}")
            refuse_large(path.name, _bytes(path, number), memory, len(paths), fix)
        types = _common_columns(paths, schemas, mapping)
        scales = _scales(paths, scale, mapping, types)
    about = json.dumps([mapping, scales_to_data(scales)])
    stamps = tuple(f"{path} {path.stat().st_size} {path.stat().st_mtime_ns} {about}" for path in paths)
    return Folder(str(where), scales, tuple(rows), tuple(paths), stamps, mapping, types)


def _common_columns(
    paths: Sequence[Path], schemas: Sequence[Mapping[str, pl.DataType]], mapping: Mapping[str, str]
) -> dict[str, pl.DataType]:
    """The columns under karat's names, which must be the same in all files, with the types of unknown columns."""
    common: dict[str, pl.DataType] = {}
    for path, schema in zip(paths, schemas, strict=True):
        refuse_mapping(mapping, list(schema), path.name)
        table = laid_over(pl.DataFrame(schema=schema), mapping)
        plain = plain_types(table).schema
        columns = {name: pl.Null() if table.schema[name] == pl.Null else dtype for name, dtype in plain.items()}
        if not common:
            common = dict(columns)
        if set(columns) != set(common):
            differ = sorted(set(columns) ^ set(common))
            has, lacks = (path, paths[0]) if differ[0] in columns else (paths[0], path)
            raise PartsError(
                f"The files differ in their columns: {has.name} has {differ[0]}, {lacks.name} does not. Write all with "
                f"the same columns, empty if nothing is known."
            )
        for name, dtype in columns.items():
            if common[name] == pl.Null():
                common[name] = dtype
            elif name not in COLUMNS and dtype != pl.Null() and dtype != common[name]:
                raise PartsError(
                    f"{path.name}: the column {name} holds {dtype}, in the files before {common[name]}. Write all with "
                    "the same type."
                )
    return {name: pl.String() if dtype == pl.Null() else dtype for name, dtype in common.items()}


def _scales(
    paths: Sequence[Path],
    scale: Scale | Mapping[str, Scale] | None,
    mapping: Mapping[str, str],
    types: Mapping[str, pl.DataType],
) -> dict[str, Scale]:
    """The scales passed in, else those that karat wrote into the files."""
    if scale is None:
        scales: dict[str, Scale] = {}
        for path in paths:
            about = _about(path)
            if about is None:
                raise PartsError(
                    f"{path.name} does not record the scale of its answers, because karat did not write it. "
                    "Use --scale, such as --scale ordinal:1-5 or --scale binary."
                )
            for question, part in scales_from_data(about["scales"]).items():
                if scales.setdefault(question, part) != part:
                    raise PartsError(
                        f"{path.name} has a different scale from the files before: {part.kind}, {part.known()}."
                    )
        return scales
    if not isinstance(scale, Scale) or "question" not in types:
        return scales_by_question(scale, None)
    column = mapping.get("question", "question")
    questions = [
        pl.read_parquet(path, columns=[column], hive_partitioning=False)[column].unique(maintain_order=True)
        for path in paths
    ]
    return scales_by_question(scale, pl.concat(series.cast(pl.String) for series in questions))


def _about(path: Path) -> dict[str, Any] | None:
    """The metadata of a file that karat wrote; None for other files."""
    text = pl.read_parquet_metadata(path).get(METADATA_KEY)
    try:
        return None if text is None else dict(json.loads(text))
    except (ValueError, TypeError):
        raise PartsError(f"The metadata of {path.name} are damaged: write the file again.") from None


PILES = ".piles"
ROWS_AT_ONCE = 1_000_000


def repartition(
    tables: Iterable[Judgments], out: Path, parts: int, progress: Callable[[int, int], object] | None = None
) -> list[Path]:
    """Write judgments, which come one table after the other, to a folder in this many parts; returns the files.

    The rows of a participant keep their order. If only one table has data about a participant, they are kept.

    >>> import karat, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = repartition([karat.datasets.load("crowd")], Path(folder) / "parts", 3)
    ...     [file.name for file in files], sum(karat.read(file).participants.height for file in files)
    (['part-00001.parquet', 'part-00002.parquet', 'part-00003.parquet'], 120)
    """
    if parts < 1:
        raise PartsError(f"--parts {parts}: use a number of at least 1.")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise PartsError(f"{out} already exists and is not empty. Give a new folder, so that nothing is lost.")
    piles = out / PILES
    try:
        scales = _deal(tables, piles, parts)
        files = []
        for number in range(parts):
            judgments = _gathered(piles / str(number), scales)
            path = out / f"part-{number + 1:05}.parquet"
            if judgments is not None:
                judgments.to_parquet(path)
                files.append(path)
            if progress is not None:
                progress(number + 1, parts)
    finally:
        shutil.rmtree(piles, ignore_errors=True)
    return files


def pieces(folder: Folder, rows: int = ROWS_AT_ONCE) -> Iterator[Judgments]:
    """The judgments of Parquet files, this many rows at a time; participants may be in several files."""
    for number, path in enumerate(folder.paths):
        start = 0
        with _naming(path):
            for batch in pl.scan_parquet(path, hive_partitioning=False).collect_batches(chunk_size=rows):
                yield folder.judgments(number, batch, start)
                start += batch.height


def pieces_of_csv(
    paths: Sequence[Path], scale: Scale | Mapping[str, Scale], mapping: Mapping[str, str], rows: int = ROWS_AT_ONCE
) -> Iterator[Judgments]:
    """The judgments of CSV files with karat's columns, this many rows at a time; unknown columns stay text."""
    for path in paths:
        start = 0
        try:
            for batch in pl.scan_csv(path, infer_schema=False).collect_batches(chunk_size=rows):
                refuse_mapping(mapping, batch.columns, path.name)
                frame = laid_over(batch, mapping)
                scales = scales_by_question(scale, frame["question"] if "question" in frame.columns else None)
                yield checked_part(frame, scales, str(path), partial(_row_of, path.name, start))
                start += batch.height
        except pl.exceptions.PolarsError as error:
            raise PartsError(f"{path} cannot be read: {cause(error)}") from None


def _row_of(name: str, start: int, row: int) -> Place:
    return name, "row", start + row + 1


def _deal(tables: Iterable[Judgments], piles: Path, parts: int) -> dict[str, Scale]:
    """Distribute rows and participants to piles; returns the scales of all tables."""
    scales: dict[str, Scale] = {}
    for turn, judgments in enumerate(tables):
        for question, scale in judgments.scales.items():
            if scales.setdefault(question, scale) != scale:
                raise PartsError(f"The tables have different scales for the same answers, such as {scale.known()}.")
        for kind, table in (("answers", judgments.frame), ("people", judgments.participants)):
            for (number,), rows in table.group_by(pl.col("participant").hash(0) % parts, maintain_order=True):
                path = piles / str(number) / kind / f"{turn:08}.parquet"
                path.parent.mkdir(parents=True, exist_ok=True)
                rows.write_parquet(path)
    return scales


def _gathered(pile: Path, scales: dict[str, Scale]) -> Judgments | None:
    """A pile as judgments, checked again because rows of two pieces may be duplicates."""
    if not pile.is_dir():
        return None
    people = _together(pile / "people").group_by("participant", maintain_order=True).agg(pl.all().drop_nulls().first())
    if not (pile / "answers").is_dir():
        raise PartsError(
            f"{counted(people.height, 'participant')} without any answer would make up a part. Ask for fewer parts."
        )
    name = f"part {int(pile.name) + 1}"
    return checked_part(_together(pile / "answers"), scales, name, partial(_row_of, name, 0), people)


def _together(folder: Path) -> pl.DataFrame:
    try:
        return pl.concat([pl.read_parquet(path) for path in sorted(folder.iterdir())], how="diagonal")
    except pl.exceptions.SchemaError as error:
        raise PartsError(f"A column has different types in different files: {cause(error)}.") from None
