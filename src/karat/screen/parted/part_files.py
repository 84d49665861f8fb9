"""Files of parts: what one pass leaves for the next, one Parquet file a part, written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from karat.judgments.files import replacing


def part_file(folder: Path, number: int, suffix: str = ".parquet") -> Path:
    """The file of a part in a folder.

    >>> part_file(Path("evidence"), 0).name
    'part-00001.parquet'
    """
    return folder / f"part-{number + 1:05}{suffix}"


def write_part(table: pl.DataFrame, folder: Path, number: int) -> Path:
    """Write the file of a part, whole or not at all."""
    path = part_file(folder, number)
    with replacing(path) as temporary:
        table.write_parquet(temporary)
    return path
