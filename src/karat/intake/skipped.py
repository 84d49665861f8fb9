"""The note on rows that could not be read and were left out: how many, which, and why.

It travels with the judgments, so that a report says it too. It names rows, not values: a cell that cannot be read may
hold anything, also what nobody should publish.
"""

from __future__ import annotations

from collections.abc import Sequence

from karat.errors import Problems

MOST_NUMBERS = 10
"""Rows of one kind that are named one by one."""


def skipped_note(problems: Problems, skipped: int, units_in: int, unit: str, *, name_files: bool = False) -> str:
    """The sentence on what was left out.

    >>> problems = Problems()
    >>> problems.add("is empty", column="participant", number=3)
    >>> problems.add("is empty", column="participant", number=9)
    >>> problems.add("is not a number", column="rt", value="3,2s", number=17)
    >>> skipped_note(problems, 3, 80, "rows")
    '3 of 80 rows could not be read and were left out: participant is empty (lines 3, 9); rt is not a number (line 17).'
    """
    kinds: dict[tuple[str, str, str], list[int]] = {}
    for problem in problems:
        reason = f"{problem.column} {problem.what}" if problem.column else problem.what
        numbers = kinds.setdefault((problem.file or "", problem.place, reason), [])
        if problem.number is not None:
            numbers.append(problem.number)
    reasons = [
        f"{reason} ({f'{file}, ' if name_files and file else ''}{_rows(place, sorted(set(numbers)))})"
        for (file, place, reason), numbers in kinds.items()
    ]
    were = "was" if skipped == 1 else "were"
    return f"{skipped:,} of {units_in:,} {unit} could not be read and {were} left out: {'; '.join(reasons)}."


def _rows(place: str, numbers: Sequence[int]) -> str:
    """Rows by their numbers; of many the first few, how many more there are and the last.

    >>> _rows("line", range(2, 500))
    'lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 488 more up to 499'
    """
    named = ", ".join(map(str, numbers[:MOST_NUMBERS]))
    more = len(numbers) - MOST_NUMBERS
    return f"{place}{'' if len(numbers) == 1 else 's'} {named}" + (
        f" and {more:,} more up to {numbers[-1]}" if more > 0 else ""
    )
