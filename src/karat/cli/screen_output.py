"""What a screening prints, in memory and in parts alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.errors import counted

if TYPE_CHECKING:
    from karat.screen import Screening
    from karat.screen.parted import PartedScreening

STAGE_WORDS = {"completion": "complete", "clock": "times", "answers": "answers"}


def criteria_lines(screening: Screening | PartedScreening) -> list[str]:
    """What each stage found, what could not run, and notes."""
    from karat.study.criteria import CRITERIA

    lines = []
    for stage, word in STAGE_WORDS.items():
        found = [str(one) for name, one in screening.evidence.items() if CRITERIA[name].stage == stage]
        lines += [f"{word if not number else '':<10} {text}" for number, text in enumerate(found)]
    lines += [f"not run    {name}: {why}" for name, why in screening.skipped.items()]
    return lines + [f"note       {note}" for note in screening.notes]


def verdict_line(screening: Screening | PartedScreening, everyone: int, kept: int, why_not: str) -> str:
    """How many participants remain under which rule, or why there is no rule."""
    from karat.screen.rules import applied_rule

    if screening.exclude is None:
        return f"verdict    Evidence only: {why_not}, so nobody is excluded."
    rule = applied_rule(screening.exclude, screening.skipped)
    return f"verdict    {everyone:,} -> {counted(kept, 'participant')} (rule: {rule})"
