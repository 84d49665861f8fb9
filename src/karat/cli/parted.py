"""Screening in parts from the command line: when it applies, and what it prints."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.options import ExecutorOptions
from karat.cli.reading import ReadOptions, pairs_of, scales_of
from karat.cli.screen_output import criteria_lines, verdict_line
from karat.errors import KaratError, counted

if TYPE_CHECKING:
    from karat.judgments.parts import Parts
    from karat.judgments.scales import Scale
    from karat.screen.parted import PartedScreening
    from karat.study.study import Study

USUAL_MEMORY = 8 * 10**9
NumberOfParts = Annotated[
    int | None,
    typer.Option(
        "--parts", min=1, metavar="N",
        help="Screen a folder of Parquet files one by one, or a PostgreSQL table in N parts.",
    ),
]  # fmt: skip


def is_in_parts(reading: ReadOptions, place: ExecutorOptions, parts: int | None) -> bool:
    """Whether to screen part by part: a database table, or a large folder of Parquet files.

    A folder is large if it takes more than a third of the memory. With --cluster or --parts, any folder counts.
    """
    from karat.judgments.parts import PartsError, is_database, parquet_files

    if any(is_database(file) for file in reading.files):
        return True
    alone = reading.files[0] if len(reading.files) == 1 else None
    files = [] if alone is None else parquet_files(alone)
    large = sum(file.stat().st_size for file in files) > memory_of(place) / 3
    if files and alone is not None and alone.is_dir():
        return large or parts is not None or place.cluster is not None
    if parts is not None or large:
        why = f"{alone} is larger than a third of the memory" if large else "--parts needs a folder of Parquet files"
        names = " ".join(str(file) for file in reading.files)
        raise PartsError(f"{why}. Write one with karat convert {names} --parts {parts or 16} -o OUT")
    return False


def memory_of(place: ExecutorOptions) -> int:
    """The memory that screening may use, in bytes: from --memory, else all of the machine's."""
    from karat.executors.open_executor import memory_in_bytes

    if place.memory is not None:
        return memory_in_bytes(place.memory)
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        # Not every system reports its memory.
        return USUAL_MEMORY


def other_flags(reading: ReadOptions) -> list[str]:
    """The given reading options that do not work in parts."""
    usual = ReadOptions(reading.files)
    names = (
        "source",
        "answers",
        "rt_unit",
        "decimal",
        "delimiter",
        "encoding",
        "sheet",
        "skip_bad",
        "wide",
        "item_functions",
    )
    given = [name for name in names if getattr(reading, name) != getattr(usual, name)]
    return ["--from" if name == "source" else f"--{name.replace('_', '-')}" for name in given]


def parts_of(reading: ReadOptions, place: ExecutorOptions, study: Study | None, parts: int | None) -> Parts:
    """The parts to screen; other reading options are refused."""
    from karat.judgments.parts import open_parts

    if len(reading.files) > 1:
        raise KaratError("Give one folder of Parquet files or one table to screen in parts.")
    for flag in other_flags(reading):
        raise KaratError(
            f"{flag} does not work in parts. Use it with karat convert {reading.files[0]} --parts 16 -o DIR."
        )
    at_a_time = place.processes or ((os.cpu_count() or 1) if place.cluster == "local" else 1)
    memory = None if place.memory is None else memory_of(place) // at_a_time
    scale = scales_of(reading.scale or []) or _scale_of(study, reading.files[0])
    return open_parts(
        str(reading.files[0]), scale, mapping=pairs_of(reading.mapping or [], "--map"), parts=parts, memory=memory
    )


def _scale_of(study: Study | None, where: Path) -> Scale | None:
    """The scale of the study, if it has only one and the files do not record theirs."""
    from karat.judgments.parts import is_database, parquet_files
    from karat.judgments.parts.folder import says_its_scale

    if study is None or (not is_database(where) and says_its_scale(parquet_files(where))):
        return None
    scales = {block.scale for block in study.blocks}
    return scales.pop() if len(scales) == 1 else None


def lines_on(screening: PartedScreening, why_not: str, out: Path | None) -> list[str]:
    """The output: what was read, what each stage found, what did not run, and the verdict."""
    from karat.screen.crowd.spammer_index import index_or_reason

    lines = [f"read       {screening.parts.where}: {counted(len(screening.parts), 'part')}"]
    lines += [f"note       {note}" for note in screening.read]
    lines.append(f"found      {counted(screening.participants, 'participant')}, {counted(screening.answers, 'answer')}")
    kept = screening.participants - screening.excluded
    lines += [*criteria_lines(screening), verdict_line(screening, screening.participants, kept, why_not)]
    if screening.spammer_index is not None:
        lines.append(f"crowd      {index_or_reason(screening.spammer_index)}")
    if out is None:
        return [*lines, "Nothing was written. Use --out DIR to keep the verdicts."]
    return [*lines, f"written    {out / 'participants'}  evidence  screening.json  flow.svg"]
