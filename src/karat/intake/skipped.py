"""The note on rows that could not be read and were left out: how many, which, and why.

It travels with the judgments, so that a report says it too. It names rows, not values: a cell that cannot be read may
hold anything, also what nobody should publish.
"""

from __future__ import annotations

from karat.errors import Problems
from karat.judgments.message_tables import rows_named
from karat.messages import Message


def skipped_note(
    problems: Problems, skipped: int, units_in: int, unit: Message, *, name_files: bool = False
) -> Message:
    """What was left out.

    >>> problems = Problems()
    >>> problems.add("is empty", column="participant", number=3)
    >>> problems.add("is empty", column="participant", number=9)
    >>> problems.add("is not a number", column="rt", value="3,2s", number=17)
    >>> note = skipped_note(problems, 3, 80, Message("unit.rows"))
    >>> note.code, [str(reason) for reason in note.values["reasons"]]
    ('intake.skipped', ['participant is empty (lines 3, 9)', 'rt is not a number (line 17)'])
    """
    kinds: dict[tuple[str, str, str | None, str], list[int]] = {}
    for problem in problems:
        numbers = kinds.setdefault((problem.file or "", problem.place, problem.column, problem.what), [])
        if problem.number is not None:
            numbers.append(problem.number)
    reasons = []
    for (file, place, column, what), numbers in kinds.items():
        rows = rows_named(place, sorted(set(numbers)))
        values = {"column": column, "what": what, "file": file if name_files and file else None, "rows": rows}
        reasons.append(Message("intake.skipped_reason", values))
    return Message("intake.skipped", {"n": skipped, "units_in": units_in, "unit": unit, "reasons": reasons})
