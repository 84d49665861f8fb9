"""Rules about expectations: right answers of scored trials, and fillers that use the whole scale."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from karat.errors import ScaleError, counted, shown
from karat.judgments.columns import meant, nearest
from karat.judgments.scales import Binary, Choice, Continuous, Magnitude, NumberRange, Ordinal, Scale, as_number
from karat.messages import Message
from karat.study.check.draft import Draft, Row, degree, grouped, has_factors, items_of, lines_of
from karat.study.check.findings import Flaw, rule
from karat.study.plan import TWO_SIDED, Block

SCORED = ("control", "attention")
SIDES = ("1", "2")
"""The names of the better one of two sentences in a row."""
MOST = 5
"""Up to this many wrong answers of a block are listed one by one."""
DASHES = re.compile(r"\s*[\u2010-\u2015\u2212]\s*|\s*\.\.+\s*")
BETWEEN_ANSWERS = re.compile(r"\s*(?:[,;/]|\bor\b|\boder\b)\s*")
DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[ T].*)?|\d{1,2}[-. ]+[^\W\d_]{3,9}\.?|[^\W\d_]{3,9}[-. ]+\d{1,2}", re.IGNORECASE)
"""Dates that spreadsheets make of a range such as 1-2."""


@rule(
    "error",
    "sections 3.2 and 5.2",
    "Fill the column expected: on five points 3-5 for grammatical and 1-2 for ungrammatical sentences.",
)
def expected(draft: Draft) -> Iterator[Flaw]:
    """A control or attention trial has no expected answer, or an item has one that the scale does not know."""
    yield from _empty(draft)
    for rows in draft.rows:
        wrong = grouped((row["expected"] or "", row) for row in rows if not _is_right(row))
        for answer, members in list(wrong.items())[:MOST]:
            text = f"{items_of(members)}: {shown(answer)} in the column expected is not on the scale, which has "
            yield Flaw(f"{text}{members[0].block.scale.known()}.", _fix(members[0], answer), members[0].spot)
        more = [row for members in list(wrong.values())[MOST:] for row in members]
        if more:
            others = f"{counted(len(more), 'more row')} ({lines_of(more)})"
            text = f"{others} with expected answers that are not on the scale."
            yield Flaw(text, _expected_fix(more[0].block.scale), more[0].spot)


def _empty(draft: Draft) -> Iterator[Flaw]:
    """Scored trials without a right answer, in the lists, because two rows may make one choice."""
    for index, block, lists in draft.planned():
        trials = {row["item"]: row for trials in lists for row in trials.to_dicts()}.values()
        empty = [row for row in trials if row["function"] in SCORED and row.get("expected") is None]
        if isinstance(block.scale, Magnitude):
            empty = [row for row in empty if not row.get("status")]
        if empty:
            first = f", the first is {empty[0]['item']}" if len(empty) > 1 else f": {empty[0]['item']}"
            text = f"{counted(len(empty), 'control or attention trial')} without an expected answer{first}."
            yield Flaw(text, _expected_fix(block.scale), draft.spot_of(index, empty[0]["item"]))


def _is_right(row: Row) -> bool:
    """Whether a row expects nothing, or a possible answer.

    In a choice a row with two sentences names one of them; of two rows, any word marks the better one.
    """
    answer = row["expected"]
    if answer is None or is_known(row.block.scale, answer):
        return True
    if not row.block.task.compares:
        return False
    return answer in SIDES or not any(row[f"{name}_2"] for name in TWO_SIDED)


def is_known(scale: Scale, answer: str) -> bool:
    """Whether a scale has an expected answer: a level, a range, several levels, or at least some of the numbers."""
    try:
        right = scale.expected(answer)
    except ScaleError:
        return False
    if not isinstance(right, NumberRange):
        return bool(right)
    around = isinstance(scale, Continuous) and scale.low is not None and scale.low in right
    return around or any(scale.read(end) is not None for end in (right.low, right.high))


def _fix(row: Row, answer: str) -> str:
    """The fix of an answer that is not on the scale: its probable meaning, and the possible answers."""
    if DATE.fullmatch(answer) and isinstance(row.block.scale, Ordinal | Magnitude | Continuous):
        return "A spreadsheet made a date of it: format the column as text, and write a range such as 1-2 again."
    how = _expected_fix(row.block.scale) if row.function in SCORED else "Correct it, or leave the cell empty."
    close = probable_answer(row.block, answer)
    return f"Did you mean {close}? {how}" if close else how


def probable_answer(block: Block, answer: str) -> str | None:
    """The probable meaning of an answer that the scale does not know; None if it is unclear."""
    scale, labels = block.scale, block.settings.scale.labels
    levels = scale.levels
    word = answer.strip().casefold()
    if len(labels) == len(levels) and word in (folded := [label.strip().casefold() for label in labels]):
        return levels[folded.index(word)]
    dashed = DASHES.sub("-", answer)
    for spelled in (dashed, BETWEEN_ANSWERS.sub("|", dashed), answer.replace(",", ".")):
        if is_known(scale, spelled):
            return spelled
    if isinstance(scale, Choice) and as_number(answer) in (1, 2):
        return str(int(as_number(answer) or 0))
    # Digits are similar by chance.
    return None if any(sign.isdigit() for sign in answer) else nearest(answer.strip(), levels)


def _expected_fix(scale: Scale) -> str:
    if isinstance(scale, Ordinal) and len(scale.levels) > 2:
        low, high = scale.levels[: len(scale.levels) // 2], scale.levels[len(scale.levels) // 2 :]
        return f"Write {high[0]}-{high[-1]} for grammatical and {low[0]}-{low[-1]} for ungrammatical sentences."
    if scale.kind == "choice":
        return "Mark the better sentence: expected = 1 or 2 in one row, or status = grammatical in one of two rows."
    if isinstance(scale, Magnitude | Continuous):
        return f"Write a number or a range such as 1-99; the scale has {scale.known()}."
    return f"Write one of {scale.known()}."


@rule("error", "section 5.2", "Fix the column expected or the column status.")
def expected_status(draft: Draft) -> Iterator[Flaw]:
    """The expected answer contradicts the status of the sentence."""
    for row in draft.all_rows:
        scale, answer = row.block.scale, row["expected"]
        if row.function not in SCORED or not row.block.task.rated or not isinstance(scale, Ordinal | Binary):
            continue
        if not answer or not is_known(scale, answer):
            continue
        wrong = {"grammatical": scale.levels[0], "ungrammatical": scale.levels[-1]}.get(row["status"] or "")
        if wrong is not None and wrong in scale.expected(answer):
            yield Flaw(f"{row.item} is {row['status']}, but {answer} is expected.", spot=row.spot)


@rule("error", "section 5.2", "Let the expected answers reach the end of the scale.")
def expected_points(draft: Draft) -> Iterator[Flaw]:
    """Expected answers leave out the end of the scale to which a status belongs, as where they were written for fewer
    points. Participants who give the clearest right answer would fail."""
    for rows in draft.rows:
        scale = rows[0].block.scale if rows else None
        if not isinstance(scale, Ordinal) or not rows[0].block.task.rated:
            continue
        ends = {"grammatical": scale.levels[-1], "ungrammatical": scale.levels[0]}
        scored = [row for row in rows if row.function in SCORED and row["status"] in ends]
        answered = [(row, answer) for row in scored if (answer := row["expected"]) and is_known(scale, answer)]
        flawed = [row for row, answer in answered if not {scale.levels[0], scale.levels[-1]} & scale.expected(answer)]
        if flawed:
            first, points = flawed[0], len(scale.levels)
            values = {"item": first.item, "n": len(flawed) - 1 or None, "status": first["status"],
                      "answer": first["expected"], "points": points,
                      "end": ends[first["status"] or ""]}  # fmt: skip
            low, high = (f"1-{points // 2}", f"{points // 2 + 1}-{points}")
            fix = f"On {points} points, use {high} for grammatical and {low} for ungrammatical sentences."
            yield Flaw(Message("check.expected_points", values), fix, first.spot)


@rule("warning", fix="Add controls that have another right answer.")
def one_answer(draft: Draft) -> Iterator[Flaw]:
    """One answer is right in all control and attention trials. Participants who always give it pass."""
    scored = [row for row in draft.all_rows if row.function in SCORED and row["expected"] and _is_right(row)]
    if len(scored) < LEAST_SCORED or not all(isinstance(row.block.scale, Ordinal | Binary) for row in scored):
        return
    right = [row.block.scale.expected(row["expected"] or "") for row in scored]
    shared = set.intersection(*(set(answers) for answers in right if isinstance(answers, frozenset)))
    if shared:
        text = f"{min(shared)} is right in all {len(scored)} control and attention trials: participants who always"
        yield Flaw(f"{text} give this answer pass.", spot=scored[0].spot)


LEAST_SCORED = 2
NEGATING = {"not", "nicht", "kein", "non", "pas", "no", "niet", "nie"}
BAD_OF = {"good": "bad", "gut": "schlecht"}


@rule("warning", fix="Turn the labels around, so that the last one is the best.")
def scale_direction(draft: Draft) -> Iterator[Flaw]:
    """The labels of a rating scale run from good to bad, although higher points count as more acceptable."""
    for index, block in enumerate(draft.study.settings.block):
        ends = [set(re.findall(r"\w+", label.casefold())) for label in block.scale.labels]
        if len(ends) < 2 or not isinstance(draft.study.blocks[index].scale, Ordinal):
            continue
        only_first, only_last = ends[0] - ends[-1], ends[-1] - ends[0]
        opposite = {word for base in only_first for word in (f"un{base}", f"in{base}", BAD_OF.get(base))}
        negated = NEGATING & only_last and ends[0] & ends[-1] and not NEGATING & ends[0]
        if opposite & only_last or negated:
            first, last = shown(block.scale.labels[0]), shown(block.scale.labels[-1])
            text = f"the scale runs from {first} (1) to {last}, but higher points count as more acceptable."
            yield Flaw(text, spot=draft.at("block", index, "scale"))


KNOWN_SHARE = 0.8
"""If fewer fillers have an acceptability, their range is unknown."""
SKEWED = 0.75
"""If this share of the fillers is of one kind, ratings crowd there."""
MOST_WORDS = 3
"""Up to this many unknown words are listed one by one."""
WORDS = {"low": "unnatural", "mid": "doubtful", "high": "natural"}


def _degrees(rows: Sequence[Row]) -> Counter[str]:
    degrees = (degree(row.block.scale, row["acceptability"], row["status"]) for row in rows)
    return Counter(name for name in degrees if name is not None)


def _blocks(draft: Draft) -> Iterator[tuple[list[Row], list[Row]]]:
    """The test rows and the ordinary fillers of each rated block with factors.

    Controls and attention trials are clear cases by design, and calibration is over before fillers matter.
    """
    for rows in draft.rows:
        block = rows[0].block if rows else None
        if block is not None and has_factors(block.settings) and block.task.rated:
            fillers = [row for row in rows if row.function == "filler"]
            if fillers:
                yield [row for row in rows if row.function == "test"], fillers


@rule("warning", "section 3.1", "Write low, mid, high or, on a rating scale, a point.")
def acceptability(draft: Draft) -> Iterator[Flaw]:
    """The column acceptability has a value that is not low, mid, high or a point of the scale, and is ignored.

    A misspelt degree, or a point that the scale does not have.
    """
    for rows in draft.rows:
        odd = grouped(
            (value, row) for row in rows
            if (value := row["acceptability"]) and row.block.task.rated and degree(row.block.scale, value, None) is None
        )  # fmt: skip
        if len(odd) > MOST_WORDS:
            group = [row for several in odd.values() for row in several]
            text = f"{len(group)} rows ({lines_of(group)}) have an ignored value in the column acceptability, such as"
            yield Flaw(f"{text} {shown(next(iter(odd)))}.", spot=group[0].spot)
            continue
        for value, group in odd.items():
            text = f"{items_of(group)}: {shown(value)} in the column acceptability is ignored."
            yield Flaw(text, meant(value, tuple(WORDS), ""), group[0].spot)


@rule(
    "hint",
    "section 3.1",
    "Fill the column acceptability (low, mid, high or a point of the scale) or the column status.",
)
def acceptability_unknown(draft: Draft) -> Iterator[Flaw]:
    """The intended acceptability of the fillers is not stated."""
    for _, fillers in _blocks(draft):
        rated = _degrees(fillers).total()
        if rated < KNOWN_SHARE * len(fillers):
            yield Flaw(
                f"{len(fillers) - rated} of {len(fillers)} fillers have no intended "
                "acceptability, so it is unknown whether they use the whole scale.",
                spot=fillers[0].spot,
            )


@rule("warning", "section 3.1", "Add fillers until both ends and the middle of the scale are used.")
def filler_range(draft: Draft) -> Iterator[Flaw]:
    """The fillers leave out an end of the scale or its middle, or nearly all are at one place. Fillers from fully
    unacceptable to fully acceptable, so that ratings neither crowd nor lean."""
    for tests, fillers in _blocks(draft):
        degrees = _degrees(fillers)
        if degrees.total() < KNOWN_SHARE * len(fillers):
            continue
        # If test sentences are meant to be in the middle, `filler_match` asks for fillers there.
        places = ("low", "high", *(() if _degrees(tests)["mid"] else ("mid",)))
        missing = [name for name in places if not degrees[name]]
        name, most = degrees.most_common(1)[0]
        if most >= SKEWED * degrees.total():
            text = f"all {most}" if most == degrees.total() else f"{most} of {degrees.total()}"
            place = {"low": "at the bottom", "mid": "in the middle", "high": "at the top"}[name]
            yield Flaw(
                f"{text} fillers are {WORDS[name]}; ratings will crowd {place} of the scale.",
                f"Add fillers that are {' and '.join(WORDS[other] for other in WORDS if other != name)}.",
                fillers[0].spot,
            )
        elif missing:
            clearly, part = ("", "the middle") if missing[0] == "mid" else ("clearly ", "that end")
            yield Flaw(
                f"none of the {degrees.total()} fillers is {clearly}{WORDS[missing[0]]}; {part} of the scale will not "
                "be used.",
                f"Add fillers that are {clearly}{WORDS[missing[0]]}.",
                fillers[0].spot,
            )


@rule("warning", "section 3.1", "Add fillers that are as acceptable as the test items.")
def filler_match(draft: Draft) -> Iterator[Flaw]:
    """No filler is as acceptable as the test items are meant to be. Beside clear cases only, participants go blind to
    subtle differences between test items."""
    for tests, fillers in _blocks(draft):
        degrees, wanted = _degrees(fillers), _degrees(tests)
        if degrees.total() < KNOWN_SHARE * len(fillers) or len(degrees) == 1:
            continue
        if wanted["mid"] and not degrees["mid"]:
            yield Flaw(
                f"{wanted['mid']} of {len(tests)} test sentences are meant to be {WORDS['mid']}, but none of the "
                f"{degrees.total()} fillers is; clear cases make participants blind to subtle differences.",
                f"Add {WORDS['mid']} fillers: status = marked, or acceptability = mid.",
                tests[0].spot,
            )
