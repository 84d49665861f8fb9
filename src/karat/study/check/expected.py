"""Rules about expected answers: there where trials are scored, on the scale, and in keeping with the status."""

from __future__ import annotations

import re
from collections.abc import Iterator

from karat.errors import ScaleError, counted, shown
from karat.judgments.columns import nearest
from karat.judgments.scales import Binary, Choice, Continuous, Magnitude, NumberRange, Ordinal, Scale, as_number
from karat.study.check.draft import Draft, Row, items_of, lines_of
from karat.study.check.rules import Flaw, rule
from karat.study.plan import TWO_SIDED
from karat.study.study import Block

SCORED = ("control", "attention")
SIDES = ("1", "2")
"""How a row with two sentences names the better one."""
MOST = 5
"""So many wrong answers of a block are told one by one."""
DASHES = re.compile(r"\s*[\u2010-\u2015\u2212]\s*|\s*\.\.+\s*")
BETWEEN_ANSWERS = re.compile(r"\s*(?:[,;/]|\bor\b|\boder\b)\s*")
DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[ T].*)?|\d{1,2}[-. ]+[^\W\d_]{3,9}\.?|[^\W\d_]{3,9}[-. ]+\d{1,2}", re.IGNORECASE)
"""What spreadsheets make of a range such as 1-2."""


@rule(
    "expected",
    "error",
    "a control or attention trial has no expected answer, or an item has one that the scale does not know",
    source="Pieper et al., sections 3.2 and 5.2",
    mend="Fill the column expected: on five points 3-5 for grammatical and 1-2 for ungrammatical sentences.",
)
def expected(draft: Draft) -> Iterator[Flaw]:
    """Trials that are scored have a right answer, and whatever is expected can be answered."""
    yield from _empty(draft)
    for rows in draft.rows:
        wrong: dict[str, list[Row]] = {}
        for row in rows:
            if not _is_right(row):
                wrong.setdefault(row["expected"] or "", []).append(row)
        for answer, own in list(wrong.items())[:MOST]:
            told = f"{items_of(own)}: {shown(answer)} in the column expected is no answer of the scale, which knows "
            yield Flaw(f"{told}{own[0].block.scale.known()}.", _mend(own[0], answer), own[0].spot)
        more = [row for own in list(wrong.values())[MOST:] for row in own]
        if more:
            others = f"{counted(len(more), 'row')} more ({lines_of(more)})"
            told = f"{others} with expected answers that are none of the scale."
            yield Flaw(told, _mend_expected(more[0].block.scale), more[0].spot)


def _empty(draft: Draft) -> Iterator[Flaw]:
    """Scored trials without a right answer. They are looked for in the lists: two rows may make one choice."""
    for index, block, lists in draft.planned():
        trials = {row["item"]: row for trials in lists for row in trials.to_dicts()}.values()
        empty = [row for row in trials if row["function"] in SCORED and row.get("expected") is None]
        if isinstance(block.scale, Magnitude):
            empty = [row for row in empty if not row.get("status")]
        if empty:
            first = f", the first is {empty[0]['item']}" if len(empty) > 1 else f": {empty[0]['item']}"
            told = f"{counted(len(empty), 'control or attention trial')} without an expected answer{first}."
            yield Flaw(told, _mend_expected(block.scale), draft.spot_of(index, empty[0]["item"]))


def _is_right(row: Row) -> bool:
    """Whether a row expects nothing, or what can be answered.

    In a choice a row with two sentences names one of them; of two rows, the better one is marked by any word.
    """
    answer = row["expected"]
    if answer is None or is_known(row.block.scale, answer):
        return True
    if not row.block.task.compares:
        return False
    return answer in SIDES or not any(row[f"{name}_2"] for name in TWO_SIDED)


def is_known(scale: Scale, answer: str) -> bool:
    """Whether a scale has what an expected answer says: a level, a range, several; of numbers, at least a part.

    >>> is_known(Ordinal(5), "5.0"), is_known(Ordinal(5), "4|6"), is_known(Continuous(0, 100), "150-200")
    (True, False, False)
    """
    try:
        right = scale.expected(answer)
    except ScaleError:
        return False
    if not isinstance(right, NumberRange):
        return bool(right)
    around = isinstance(scale, Continuous) and scale.low is not None and scale.low in right
    return around or any(scale.read(end) is not None for end in (right.low, right.high))


def _mend(row: Row, answer: str) -> str:
    """How to mend an answer that the scale does not know: what may be meant by it, and what may be written."""
    if DATE.fullmatch(answer) and isinstance(row.block.scale, Ordinal | Magnitude | Continuous):
        return "A spreadsheet made a date of it: format the column as text, and write a range such as 1-2 again."
    how = _mend_expected(row.block.scale) if row.function in SCORED else "Correct it, or leave the cell empty."
    close = meant(row.block, answer)
    return f"Is {close} meant? {how}" if close else how


def meant(block: Block, answer: str) -> str | None:
    """The answer that was probably meant by one that the scale does not know."""
    scale, labels = block.scale, block.settings.scale.labels
    levels: tuple[str, ...] = getattr(scale, "levels", ())
    word = answer.strip().casefold()
    if len(labels) == len(levels) and word in (folded := [label.strip().casefold() for label in labels]):
        return levels[folded.index(word)]
    dashed = DASHES.sub("-", answer)
    for spelled in (dashed, BETWEEN_ANSWERS.sub("|", dashed), answer.replace(",", ".")):
        if is_known(scale, spelled):
            return spelled
    if isinstance(scale, Choice) and as_number(answer) in (1, 2):
        return str(int(as_number(answer) or 0))
    # Digits resemble each other by chance.
    return None if any(sign.isdigit() for sign in answer) else nearest(answer.strip(), levels)


def _mend_expected(scale: Scale) -> str:
    if isinstance(scale, Ordinal) and len(scale.levels) > 2:
        low, high = scale.levels[: len(scale.levels) // 2], scale.levels[len(scale.levels) // 2 :]
        return f"Write {high[0]}-{high[-1]} for grammatical and {low[0]}-{low[-1]} for ungrammatical sentences."
    if scale.kind == "choice":
        return "Mark the better sentence: expected = 1 or 2 in one row, or status = grammatical in one of two rows."
    if isinstance(scale, Magnitude | Continuous):
        return f"Write a number or a range such as 1-99; the scale has {scale.known()}."
    return f"Write one of {scale.known()}."


@rule(
    "expected-status",
    "error",
    "the expected answer contradicts the status of the sentence",
    source="Pieper et al., section 5.2",
    mend="Mend the column expected or the column status.",
)
def expected_status(draft: Draft) -> Iterator[Flaw]:
    """An ungrammatical sentence is not expected at the top of the scale, nor a grammatical one at the bottom."""
    for row in (row for rows in draft.rows for row in rows if row.function in SCORED):
        scale, answer = row.block.scale, row["expected"]
        if not row.block.task.rated or not isinstance(scale, Ordinal | Binary):
            continue
        if not answer or not is_known(scale, answer):
            continue
        wrong = {"grammatical": scale.levels[0], "ungrammatical": scale.levels[-1]}.get(row["status"] or "")
        if wrong is not None and wrong in scale.expected(answer):
            yield Flaw(f"{row.item} is {row['status']}, but {answer} is expected.", spot=row.spot)
