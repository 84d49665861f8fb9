"""Work in parts from the command line: when it applies, the output of a screening, and `karat convert --parts`.

`karat convert --parts` divides judgments of any source by participant into a folder of Parquet files. It reads a table
like karat convert without --parts, with the same flags, guesses and notes. A table that would take more than a third of
the memory is read some rows at a time. Then karat cannot guess anything from the whole table, so a file from another
tool needs karat's columns or --map, and --scale. Files from karat record all this and are always read some rows at a
time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from karat.cli.options import ExecutorOptions, ReadOptions, intake_lines, option, scales_of
from karat.cli.progress import counting
from karat.errors import KaratError, counted

if TYPE_CHECKING:
    from karat.judgments import Judgments
    from karat.judgments.parts import Parts
    from karat.judgments.scales import Scale
    from karat.screen import Screening
    from karat.screen.parted import PartedScreening
    from karat.study.study import Study


USUAL_MEMORY = 8 * 10**9
NumberOfParts = Annotated[
    int | None, option("Screen a folder of Parquet files one by one, or a PostgreSQL table in N parts.", "N", min=1)
]


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
    """The memory for screening in bytes: from --memory, else that of the machine."""
    from karat.executors.processes import memory_in_bytes

    if place.memory is not None:
        return memory_in_bytes(place.memory)
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        # Not every system reports its memory.
        return USUAL_MEMORY


def other_flags(reading: ReadOptions) -> list[str]:
    """The used reading options that do not work in parts."""
    usual, used = ReadOptions(reading.files), ("mapping", "item_column", "response_column", "scale", "yes")
    names = [option_field.name for option_field in fields(ReadOptions) if option_field.name not in used]
    flags = [name for name in names if getattr(reading, name) != getattr(usual, name)]
    return ["--from" if name == "source" else f"--{name.replace('_', '-')}" for name in flags]


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
    return open_parts(str(reading.files[0]), scale, mapping=reading.columns, parts=parts, memory=memory)


def _scale_of(study: Study | None, where: Path) -> Scale | None:
    """The scale of the study, if it has only one and the files do not record theirs."""
    from karat.judgments.parts import is_database, parquet_files
    from karat.judgments.parts.folder import says_its_scale

    if study is None or (not is_database(where) and says_its_scale(parquet_files(where))):
        return None
    scales = {block.scale for block in study.blocks}
    return scales.pop() if len(scales) == 1 else None


def lines_on(screening: PartedScreening, why_not: str, out: Path | None) -> list[str]:
    """The output: the parts, the findings of each stage, what did not run, and the verdict."""
    from karat.screen.crowd.spammer_index import index_or_reason

    lines = [f"read       {screening.parts.where}: {counted(len(screening.parts), 'part')}"]
    lines += [f"note       {note}" for note in screening.read]
    lines.append(f"found      {counted(screening.participants, 'participant')}, {counted(screening.answers, 'answer')}")
    remaining = screening.participants - screening.excluded
    lines += [*criteria_lines(screening), verdict_line(screening, screening.participants, remaining, why_not)]
    if screening.spammer_index is not None:
        lines.append(f"crowd      {index_or_reason(screening.spammer_index)}")
    if out is None:
        return [*lines, "Nothing was written. Use --out DIR to keep the verdicts."]
    return [*lines, f"written    {out / 'participants'}  evidence  screening.json  flow.svg"]


STAGE_WORDS = {"completion": "complete", "clock": "times", "answers": "answers"}


def criteria_lines(screening: Screening | PartedScreening) -> list[str]:
    """The findings of each stage, what could not run, and notes."""
    from karat.study.criteria import CRITERIA

    lines = []
    for stage, word in STAGE_WORDS.items():
        texts = [str(evidence) for name, evidence in screening.evidence.items() if CRITERIA[name].stage == stage]
        lines += [f"{word if not number else '':<10} {text}" for number, text in enumerate(texts)]
    lines += [f"not run    {name}: {why}" for name, why in screening.skipped.items()]
    return lines + [f"note       {note}" for note in screening.notes]


def verdict_line(screening: Screening | PartedScreening, everyone: int, remaining: int, why_not: str) -> str:
    """How many participants remain under which rule, or why there is no rule."""
    from karat.screen.rules import applied_rule

    if screening.exclude is None:
        return f"verdict    Evidence only: {why_not}, so nobody is excluded."
    rule = applied_rule(screening.exclude, screening.skipped)
    return f"verdict    {everyone:,} -> {counted(remaining, 'participant')} (rule: {rule})"


def write_parts(
    reading: ReadOptions, out: Path | None, parts: int, *, quiet: bool
) -> tuple[list[Path], list[str], dict[str, Any]]:
    """Write judgments to a folder in parts; returns the files, and how they were read: in lines and as data.

    The data are empty if the table was read some rows at a time.
    """
    from karat.judgments.parts import repartition

    if out is None or out.suffix:
        raise KaratError("--parts writes a folder. Use -o with the name of a new one.")
    tables = _some_rows_at_a_time(reading)
    lines = [f"read       {', '.join(str(file) for file in reading.files)}, some rows at a time"]
    account: dict[str, Any] = {}
    if tables is None:
        intake = reading.intake(quiet=quiet)
        tables, lines, account = [intake.judgments], intake_lines(intake), intake.to_dict()
    with counting("writing parts", quiet=quiet) as progress:
        files = repartition(tables, out, parts, progress)
    return files, [*lines, f"written    {out}: {counted(len(files), 'part')}"], account


def _some_rows_at_a_time(reading: ReadOptions) -> Iterable[Judgments] | None:
    """Tables that are too large for the memory, or that karat wrote, in pieces; None if intake reads them.

    Some flags need the whole table, however large it is.
    """
    from karat.judgments.files import metadata_path
    from karat.judgments.parts import parquet_files, pieces, pieces_of_csv
    from karat.judgments.parts.folder import are_own, bytes_in_memory, open_folder

    mapping, scale = reading.columns, scales_of(reading.scale or [])
    paths = parquet_files(reading.files[0]) if len(reading.files) == 1 else []
    # CSV files from karat have their scale in a file beside them.
    foreign = all(
        file.suffix == ".csv" and file.is_file() and not metadata_path(file).is_file() for file in reading.files
    )
    if other_flags(reading) or not (paths or foreign):
        return None
    native = bool(paths) and are_own(paths)
    if native and not mapping:
        return pieces(open_folder(reading.files[0], scale, mapping, None))
    size = bytes_in_memory(paths) if paths else sum(file.stat().st_size for file in reading.files)
    if size <= memory_of(ExecutorOptions()) / 3:
        return None
    if native or (paths and scale is not None):
        return pieces(open_folder(reading.files[0], scale, mapping, None))
    if scale is not None:
        return pieces_of_csv(reading.files, scale, mapping)
    raise KaratError(
        f"{reading.files[0]} takes about {size / 1e9:.2g} GB, more than a third of the memory, so it is read a "
        "few rows at a time, and karat cannot guess anything. Use --scale, such as nominal:A,B,C, and --map if the "
        "columns participant, item, response and others have other names."
    )
