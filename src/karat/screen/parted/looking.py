"""The first pass over parts: who is there, whether anybody is in two parts, and what was assumed in reading."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from karat.errors import counted
from karat.judgments import Judgments
from karat.judgments.parts import Parts, PartsError
from karat.judgments.scales import Scale
from karat.messages import Message
from karat.screen.parted.crowd import InParts, loaded
from karat.screen.parted.part_files import part_file, write_part
from karat.study.results import with_study

NAMED = 5
COUNT = "n"
"""The value of a note that is a number of answers, and is added up over parts."""


@dataclass(frozen=True)
class PartsOverview:
    """What all parts together are."""

    participants: int
    answers: int
    fingerprint: str
    notes: tuple[Message, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True)
class _Part:
    participants: int
    answers: int
    fingerprint: str
    notes: tuple[Message, ...]
    columns: tuple[str, ...]
    scales: dict[str, Scale]


def look(crowd: InParts, folder: Path) -> PartsOverview:
    """Read every part once, and write who is in it; PartsError where somebody is in two."""
    seen = crowd.map(_look, (folder, crowd.parts, crowd.study), name="reading")
    _refuse_two_parts(crowd.parts, [part_file(folder, number) for number in range(len(crowd))])
    for number, one in enumerate(seen):
        if set(one.columns) != set(seen[0].columns) or one.scales != seen[0].scales:
            differ = sorted(set(one.columns) ^ set(seen[0].columns)) or ["a scale"]
            raise PartsError(
                f"Of {crowd.parts.name(number)} and {crowd.parts.name(0)}, only one gets {differ[0]} from the study "
                "file: write it into the files."
            )
    digest = hashlib.sha256("".join(one.fingerprint for one in seen).encode()).hexdigest()[:16]
    people, answers = sum(one.participants for one in seen), sum(one.answers for one in seen)
    return PartsOverview(people, answers, digest, _notes([one.notes for one in seen], crowd.parts), seen[0].columns)


def _look(judgments: Judgments, shared: tuple[Path, Parts, Path | None], number: int) -> _Part:
    folder, parts, study = shared
    write_part(judgments.participants.select("participant"), folder, number)
    notes = judgments.notes
    if study is not None:
        notes += tuple(with_study(parts.read(number), loaded(study))[1])
    return _Part(
        judgments.participants.height, judgments.answers, parts.fingerprint(number), notes,
        tuple(judgments.frame.columns), judgments.scales,
    )  # fmt: skip


def _refuse_two_parts(parts: Parts, files: Sequence[Path]) -> None:
    everybody = pl.concat(
        pl.scan_parquet(file).with_columns(_part=pl.lit(number)) for number, file in enumerate(files)
    ).collect()
    twice = everybody.filter(pl.col("participant").is_duplicated())
    if not twice.height:
        return
    where = twice.group_by("participant", maintain_order=True).agg("_part")
    named = [
        f"{name} in {' and '.join(parts.name(part) for part in own[:3])}" for name, own in where.head(NAMED).iter_rows()
    ]
    more = f" and {counted(where.height - NAMED, 'other')}" if where.height > NAMED else ""
    raise PartsError(
        f"Every participant must be in one part, and {counted(where.height, 'participant')} "
        f"{'is' if where.height == 1 else 'are'} in several: {', '.join(named)}{more}. "
        f"Deal them out anew: {parts.mend()}"
    )


def _notes(notes: Sequence[tuple[Message, ...]], parts: Parts) -> tuple[Message, ...]:
    """What was assumed: numbers of answers are added up; a note that not all parts have names one that has it."""
    kinds: list[tuple[str, dict[str, Any]]] = []
    first: list[int] = []
    having: list[set[int]] = []
    total: list[int] = []
    for number, own in enumerate(notes):
        for note in own:
            kind = note.code, {name: value for name, value in note.values.items() if name != COUNT}
            if kind not in kinds:
                kinds.append(kind)
                first.append(number)
                having.append(set())
                total.append(0)
            place = kinds.index(kind)
            having[place].add(number)
            total[place] += note.values.get(COUNT, 0)
    told: list[Message] = []
    for (code, values), part, where, answers in zip(kinds, first, having, total, strict=True):
        note = Message(code, {**values, COUNT: answers} if answers else values)
        everywhere = bool(answers) or len(where) == len(notes)
        told.append(note if everywhere else Message("parts.note", {"part": parts.name(part), "note": note}))
    return tuple(told)
