"""Rules about what is expected: right answers where trials are scored, and fillers that use the whole scale."""

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
"""How a row with two sentences names the better one."""
MOST = 5
"""Up to this many wrong answers of a block are listed one by one."""
DASHES = re.compile(r"\s*[\u2010-\u2015\u2212]\s*|\s*\.\.+\s*")
BETWEEN_ANSWERS = re.compile(r"\s*(?:[,;/]|\bor\b|\boder\b)\s*")
DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[ T].*)?|\d{1,2}[-. ]+[^\W\d_]{3,9}\.?|[^\W\d_]{3,9}[-. ]+\d{1,2}", re.IGNORECASE)
"""What spreadsheets make of a range such as 1-2."""


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
        for answer, own in list(wrong.items())[:MOST]:
            text = f"{items_of(own)}: {shown(answer)} in the column expected is not on the scale, which has "
            yield Flaw(f"{text}{own[0].block.scale.known()}.", _fix(own[0], answer), own[0].spot)
        more = [row for own in list(wrong.values())[MOST:] for row in own]
        if more:
            others = f"{counted(len(more), 'more row')} ({lines_of(more)})"
            text = f"{others} with expected answers that are not on the scale."
            yield Flaw(text, _mend_expected(more[0].block.scale), more[0].spot)


def _empty(draft: Draft) -> Iterator[Flaw]:
    """Scored trials without a right answer. They are looked for in the lists: two rows may make one choice."""
    for index, block, lists in draft.planned():
        trials = {row["item"]: row for trials in lists for row in trials.to_dicts()}.values()
        empty = [row for row in trials if row["function"] in SCORED and row.get("expected") is None]
        if isinstance(block.scale, Magnitude):
            empty = [row for row in empty if not row.get("status")]
        if empty:
            first = f", the first is {empty[0]['item']}" if len(empty) > 1 else f": {empty[0]['item']}"
            text = f"{counted(len(empty), 'control or attention trial')} without an expected answer{first}."
            yield Flaw(text, _mend_expected(block.scale), draft.spot_of(index, empty[0]["item"]))


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
    """Whether a scale has what an expected answer says: a level, a range, several; of numbers, at least a part."""
    try:
        right = scale.expected(answer)
    except ScaleError:
        return False
    if not isinstance(right, NumberRange):
        return bool(right)
    around = isinstance(scale, Continuous) and scale.low is not None and scale.low in right
    return around or any(scale.read(end) is not None for end in (right.low, right.high))


def _fix(row: Row, answer: str) -> str:
    """How to fix an answer that is not on the scale: what it may mean, and what is possible."""
    if DATE.fullmatch(answer) and isinstance(row.block.scale, Ordinal | Magnitude | Continuous):
        return "A spreadsheet made a date of it: format the column as text, and write a range such as 1-2 again."
    how = _mend_expected(row.block.scale) if row.function in SCORED else "Correct it, or leave the cell empty."
    close = probable_answer(row.block, answer)
    return f"Did you mean {close}? {how}" if close else how


def probable_answer(block: Block, answer: str) -> str | None:
    """The answer that was probably meant by one that the scale does not know."""
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
        known = [(row, answer) for row in scored if (answer := row["expected"]) and is_known(scale, answer)]
        flawed = [row for row, answer in known if not {scale.levels[0], scale.levels[-1]} & scale.expected(answer)]
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
    shared = set.intersection(*(set(one) for one in right if isinstance(one, frozenset)))
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
"""Where fewer fillers state their acceptability, nothing can be said about their range."""
SKEWED = 0.75
"""Where this many fillers are of one kind, ratings crowd there."""
MOST_WORDS = 3
"""Up to this many unknown words are listed one by one."""
WORDS = {"low": "unnatural", "mid": "doubtful", "high": "natural"}


def _degrees(rows: Sequence[Row]) -> Counter[str]:
    found = (degree(row.block.scale, row["acceptability"], row["status"]) for row in rows)
    return Counter(name for name in found if name is not None)


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
            (said, row) for row in rows
            if (said := row["acceptability"]) and row.block.task.rated and degree(row.block.scale, said, None) is None
        )  # fmt: skip
        if len(odd) > MOST_WORDS:
            own = [row for several in odd.values() for row in several]
            text = f"{len(own)} rows ({lines_of(own)}) have an ignored value in the column acceptability, such as"
            yield Flaw(f"{text} {shown(next(iter(odd)))}.", spot=own[0].spot)
            continue
        for said, own in odd.items():
            text = f"{items_of(own)}: {shown(said)} in the column acceptability is ignored."
            yield Flaw(text, meant(said, tuple(WORDS), ""), own[0].spot)


@rule(
    "hint",
    "section 3.1",
    "Fill the column acceptability (low, mid, high or a point of the scale) or the column status.",
)
def acceptability_unknown(draft: Draft) -> Iterator[Flaw]:
    """The intended acceptability of the fillers is not stated."""
    for _, fillers in _blocks(draft):
        known = _degrees(fillers).total()
        if known < KNOWN_SHARE * len(fillers):
            yield Flaw(
                f"{len(fillers) - known} of {len(fillers)} fillers have no intended "
                "acceptability, so it is unknown whether they use the whole scale.",
                spot=fillers[0].spot,
            )


@rule("warning", "section 3.1", "Add fillers until both ends and the middle of the scale are used.")
def filler_range(draft: Draft) -> Iterator[Flaw]:
    """The fillers leave out an end of the scale or its middle, or nearly all are at one place. Fillers from fully
    unacceptable to fully acceptable, so that ratings neither crowd nor lean."""
    for tests, fillers in _blocks(draft):
        found = _degrees(fillers)
        if found.total() < KNOWN_SHARE * len(fillers):
            continue
        # Where test sentences are meant to be in the middle, `filler_match` asks for fillers there.
        places = ("low", "high", *(() if _degrees(tests)["mid"] else ("mid",)))
        missing = [name for name in places if not found[name]]
        name, most = found.most_common(1)[0]
        if most >= SKEWED * found.total():
            text = f"all {most}" if most == found.total() else f"{most} of {found.total()}"
            place = {"low": "at the bottom", "mid": "in the middle", "high": "at the top"}[name]
            yield Flaw(
                f"{text} fillers are {WORDS[name]}; ratings will crowd {place} of the scale.",
                f"Add fillers that are {' and '.join(WORDS[other] for other in WORDS if other != name)}.",
                fillers[0].spot,
            )
        elif missing:
            clearly, part = ("", "the middle") if missing[0] == "mid" else ("clearly ", "that end")
            yield Flaw(
                f"none of the {found.total()} fillers is {clearly}{WORDS[missing[0]]}; {part} of the scale will not "
                "be used.",
                f"Add fillers that are {clearly}{WORDS[missing[0]]}.",
                fillers[0].spot,
            )


@rule("warning", "section 3.1", "Add fillers that are as acceptable as the test items.")
def filler_match(draft: Draft) -> Iterator[Flaw]:
    """No filler is as acceptable as the test items are meant to be. Beside clear cases only, participants go blind to
    subtle differences between test items."""
    for tests, fillers in _blocks(draft):
        found, wanted = _degrees(fillers), _degrees(tests)
        if found.total() < KNOWN_SHARE * len(fillers) or len(found) == 1:
            continue
        if wanted["mid"] and not found["mid"]:
            yield Flaw(
                f"{wanted['mid']} of {len(tests)} test sentences are meant to be {WORDS['mid']}, but none of the "
                f"{found.total()} fillers is; clear cases make participants blind to subtle differences.",
                f"Add {WORDS['mid']} fillers: status = marked, or acceptability = mid.",
                tests[0].spot,
            )
