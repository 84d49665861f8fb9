"""Judgments on disk, in parts that each fit into memory: a folder of Parquet files or a PostgreSQL table.

Every participant is in one part, so that computations on single participants run part by part. The parts in sequence
are the whole table.
"""

from collections.abc import Mapping
from pathlib import Path

from karat.judgments.parts.database import is_database, open_table
from karat.judgments.parts.folder import open_folder, parquet_files, pieces, pieces_of_csv, repartition
from karat.judgments.parts.parts import Parts, PartsError
from karat.judgments.scales import Scale

__all__ = [
    "Parts", "PartsError", "is_database", "open_parts", "parquet_files", "pieces", "pieces_of_csv", "repartition",
]  # fmt: skip


def open_parts(
    where: str | Path,
    scale: Scale | Mapping[str, Scale] | None = None,
    *,
    mapping: Mapping[str, str] | None = None,
    parts: int | None = None,
    memory: int | None = None,
) -> Parts:
    """The parts of a folder of Parquet files, or of a table: `postgresql://user@host/database#table`.

    `scale` is needed if karat did not write the files. `mapping` goes from karat's columns to those of the files. A
    table is split into this many `parts`. Parts that need more than `memory` bytes are refused.

    >>> import karat, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for number, names in enumerate((["p01", "p02"], ["p03"])):
    ...         likert = karat.datasets.load("likert")
    ...         others = [name for name in likert.participants["participant"] if name not in names]
    ...         likert.without(others).to_parquet(f"{folder}/{number}.parquet")
    ...     parts = open_parts(folder)
    ...     len(parts), parts.read(1).participants["participant"].to_list()
    (2, ['p03'])
    """
    if is_database(where):
        return open_table(str(where), scale, dict(mapping or {}), parts, memory)
    return open_folder(Path(where), scale, dict(mapping or {}), memory)
