"""What criteria have to say beside their verdicts, in memory and in parts alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from karat.study.criteria import CRITERIA

if TYPE_CHECKING:
    from karat.screen.evidence import Evidence
    from karat.screen.parted.evidence import PartedEvidence

Found = TypeVar("Found", bound="Evidence | PartedEvidence")


def notes_of(evidence: Mapping[str, Evidence | PartedEvidence]) -> tuple[str, ...]:
    """The notes of all criteria; one that several share is said once, with all names.

    >>> import polars as pl
    >>> from karat.screen import Evidence
    >>> notes_of({name: Evidence(pl.DataFrame(), name, notes=("No times.",)) for name in ("remfod", "speed")})
    ('remfod, speed: No times.',)
    """
    shared: dict[str, list[str]] = {}
    for name, one in evidence.items():
        for note in dict.fromkeys(one.notes):
            shared.setdefault(note.removeprefix(f"{name}: "), []).append(name)
    return tuple(f"{', '.join(names)}: {note}" for note, names in shared.items())


def with_doubts(evidence: dict[str, Found], doubts: Sequence[str]) -> dict[str, Found]:
    """The evidence with what is doubtful about recorded right answers, unless a criterion has said it already.

    It is a note of a criterion that goes by the key or, where none does, of the last one.
    """
    told = [note for one in evidence.values() for note in one.notes]
    new = tuple(note for note in doubts if not any(other.endswith(note) for other in told))
    if not evidence or not new:
        return evidence
    by_the_key = [name for name in evidence if name in CRITERIA and CRITERIA[name].by_the_key]
    name = by_the_key[0] if by_the_key else list(evidence)[-1]
    return evidence | {name: replace(evidence[name], notes=(*evidence[name].notes, *new))}
