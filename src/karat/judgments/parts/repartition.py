"""Any table of judgments written anew in parts of which every participant is in one.

Rows are dealt out by a hash of the participant, some at a time, into as many piles on disk as there shall be parts;
then each pile is read, checked and written as one file. No more is in memory than some rows, and then one part.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from karat.errors import cause, counted
from karat.judgments.checks import Place
from karat.judgments.columns import laid_over
from karat.judgments.parts.folder import Folder
from karat.judgments.parts.parts import PartsError, checked_part, refuse_mapping
from karat.judgments.scales import Scale
from karat.judgments.table import Judgments, scales_by_question

PILES = ".piles"
ROWS_AT_ONCE = 1_000_000


def repartition(
    tables: Iterable[Judgments], out: Path, parts: int, progress: Callable[[int, int], object] | None = None
) -> list[Path]:
    """Write judgments, which come one table after the other, to a folder in so many parts; returns the files.

    Rows of a participant stand in the order in which they came. A participant of whom nothing but the name is known
    in one table and more in another keeps the more.

    >>> import karat, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = repartition([karat.datasets.load("crowd")], Path(folder) / "parts", 3)
    ...     [file.name for file in files], sum(karat.read(file).participants.height for file in files)
    (['part-00001.parquet', 'part-00002.parquet', 'part-00003.parquet'], 120)
    """
    if parts < 1:
        raise PartsError(f"--parts {parts}: write a number from 1.")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise PartsError(f"{out} is there already and not empty; give a new folder, so that nothing is lost.")
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
    """The judgments of Parquet files, so many rows at a time; participants may be in several files.

    >>> import karat, tempfile
    >>> from karat.judgments.parts.folder import open_folder
    >>> with tempfile.TemporaryDirectory() as there:
    ...     karat.datasets.load("crowd").to_parquet(f"{there}/crowd.parquet")
    ...     [len(piece) for piece in pieces(open_folder(Path(there), None, {}, None), 4_000)]
    [4000, 4000, 1600]
    """
    for number, path in enumerate(folder.paths):
        start = 0
        try:
            for batch in pl.scan_parquet(path, hive_partitioning=False).collect_batches(chunk_size=rows):
                yield folder.judgments(number, batch, start)
                start += batch.height
        except (OSError, pl.exceptions.PolarsError) as error:
            why = cause(error)
            raise PartsError(f"{path} cannot be read: {why}. It may be cut off: copy it or write it again.") from None


def pieces_of_csv(
    paths: Sequence[Path], scale: Scale | Mapping[str, Scale], mapping: Mapping[str, str], rows: int = ROWS_AT_ONCE
) -> Iterator[Judgments]:
    """The judgments of CSV files with karat's columns, so many rows at a time; unknown columns stay text."""
    for path in paths:
        start = 0
        try:
            for batch in pl.scan_csv(path, infer_schema=False).collect_batches(chunk_size=rows):
                refuse_mapping(mapping, batch.columns, path.name)
                frame = laid_over(batch, mapping)
                scales = scales_by_question(scale, frame["question"] if "question" in frame.columns else None)
                yield checked_part(frame, scales, str(path), _rows_from(path, start))
                start += batch.height
        except pl.exceptions.PolarsError as error:
            raise PartsError(f"{path} cannot be read: {cause(error)}") from None


def _rows_from(path: Path, start: int) -> Callable[[int], Place]:
    return lambda row: (path.name, "row", start + row + 1)


def _deal(tables: Iterable[Judgments], piles: Path, parts: int) -> dict[str, Scale]:
    """Deal out rows and participants to piles; returns the scales of all."""
    scales: dict[str, Scale] = {}
    for turn, judgments in enumerate(tables):
        for question, scale in judgments.scales.items():
            if scales.setdefault(question, scale) != scale:
                raise PartsError(f"The tables have different scales for the same answers: {scale.known()} is another.")
        for kind, table in (("answers", judgments.frame), ("people", judgments.participants)):
            for (number,), own in table.group_by(pl.col("participant").hash(0) % parts, maintain_order=True):
                path = piles / str(number) / kind / f"{turn:08}.parquet"
                path.parent.mkdir(parents=True, exist_ok=True)
                own.write_parquet(path)
    return scales


def _gathered(pile: Path, scales: dict[str, Scale]) -> Judgments | None:
    """A pile as judgments, checked again: what came in two pieces may be there twice."""
    if not pile.is_dir():
        return None
    people = _together(pile / "people").group_by("participant", maintain_order=True).agg(pl.all().drop_nulls().first())
    frame = _together(pile / "answers") if (pile / "answers").is_dir() else None
    if frame is None:
        raise PartsError(
            f"{counted(people.height, 'participant')} without any answer would be a part alone: ask for fewer parts."
        )
    name = f"part {int(pile.name) + 1}"
    return checked_part(frame, scales, name, lambda row: (name, "row", row + 1), people)


def _together(folder: Path) -> pl.DataFrame:
    try:
        return pl.concat([pl.read_parquet(path) for path in sorted(folder.iterdir())], how="diagonal")
    except pl.exceptions.SchemaError as error:
        raise PartsError(f"A column has different types in different files: {cause(error)}.") from None
