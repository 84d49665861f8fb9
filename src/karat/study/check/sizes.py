"""Rules about numbers: lexicalisations, fillers, length, calibration, and orders that cannot hold."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import polars as pl

from karat.errors import counted
from karat.judgments.scales import Binary
from karat.messages import Message
from karat.study.check.draft import Draft, conditions_seen, degree, has_factors
from karat.study.check.findings import Flaw, rule
from karat.study.designs.factorial import spelled
from karat.study.orders import OrderError, OrderUndecidedError
from karat.study.plan import Block
from karat.study.size import CALIBRATION, FILLERS_PER_TEST, LEXICALISATIONS, MOST_TRIALS

SPREAD_FROM = 4
"""From this many trials on it is no accident when all stand in one half of several questionnaires."""
QUESTIONNAIRES = 4


DEGREES = {"low": Message("check.low"), "mid": Message("check.mid"), "high": Message("check.high")}


@rule("error", "section 3.1", "Add test items: six for each condition that a participant sees.")
def lexicalisations(draft: Draft) -> Iterator[Flaw]:
    """A participant sees fewer than six lexicalisations of a condition."""
    for index, block, lists in draft.planned():
        if not has_factors(block.settings):
            continue
        names = conditions_seen(block.settings)
        seen = [(count, condition) for trials in lists for condition, count in _seen(trials, names).items()]
        fewest, condition = min(seen, default=(0, ("",) * len(names)))
        if not seen:
            yield Flaw(Message("check.no_tests"), "Add items with the function test.", draft.at("block", index))
        elif fewest < LEXICALISATIONS:
            needed = LEXICALISATIONS * max(len(_seen(trials, names)) for trials in lists)
            values = {"n": fewest, "condition": spelled(names, condition) if names else None, "least": LEXICALISATIONS}
            yield Flaw(
                Message("check.lexicalisations", values),
                f"Use {needed} test items or more, so that a list has {LEXICALISATIONS} of each condition.",
                draft.at("block", index, "factors"),
            )


def _seen(trials: pl.DataFrame, names: list[str]) -> Counter[tuple[str, ...]]:
    test = trials.filter(pl.col("function") == "test")
    rows = test.select(names).rows() if names else [()] * test.height
    return Counter(tuple(map(str, row)) for row in rows)


@rule("warning", "section 3.1", "Add fillers: two for each test trial.")
def ratio(draft: Draft) -> Iterator[Flaw]:
    """There are fewer than two fillers for each test trial (all other functions count as fillers)."""
    for _, block, lists in draft.planned():
        if not has_factors(block.settings):
            continue
        counts = [(_number(trials, "test"), trials.height) for trials in lists]
        tests, total = min(counts, key=lambda pair: (pair[1] - pair[0]) / pair[0] if pair[0] else np.inf)
        fillers = total - tests
        if tests and fillers < FILLERS_PER_TEST * tests:
            shown = {"tests": tests, "fillers": fillers, "ratio": f"{fillers / tests:.2g}", "least": FILLERS_PER_TEST}
            yield Flaw(
                Message("check.ratio", shown),
                f"Add {FILLERS_PER_TEST * tests - fillers} fillers; controls, attention and calibration count too.",
            )


def _number(trials: pl.DataFrame, function: str) -> int:
    return int((trials["function"] == function).sum())


@rule(
    "warning",
    "section 3.1",
    "Use fewer conditions, compare two conditions in a choice, or vary a factor between participants.",
)
def length(draft: Draft) -> Iterator[Flaw]:
    """A participant judges more than about 100 trials."""
    most = max((draft.study.showings(number, judged_only=True) for number in draft.list_numbers), default=0)
    if most > MOST_TRIALS:
        factors = any(has_factors(block.settings) for block in draft.study.blocks)
        pairs = any(block.settings.pairs is not None for block in draft.study.blocks)
        part = "Use fewer pairs." if pairs else "Show each participant a part of the items: subset = { ... }."
        fix = "" if factors else f"{part} Or split them over two studies."
        yield Flaw(Message("check.length", {"n": most, "most": MOST_TRIALS}), fix)


@rule("warning", "section 3.1", "Add calibration trials, six in all, that use the whole scale.")
def calibration(draft: Draft) -> Iterator[Flaw]:
    """A task begins with fewer than six calibration trials."""
    for _, _, trials in _first_of_each_task(draft):
        count = _number(trials, "calibration")
        if count < CALIBRATION:
            code = "check.calibration" if count else "check.no_calibration"
            yield Flaw(
                Message(code, {"n": count, "usual": CALIBRATION}),
                f"Add {counted(CALIBRATION - count, 'item')} with the function calibration.",
            )


@rule(
    "warning",
    "section 3.1",
    "Use clearly natural, doubtful and clearly unnatural sentences, and state it: acceptability = low, mid, high.",
)
def calibration_range(draft: Draft) -> Iterator[Flaw]:
    """Calibration trials do not cover the scale, or do not say what they cover."""
    for index, block, trials in _first_of_each_task(draft):
        rows = trials.filter(pl.col("function") == "calibration").to_dicts()
        if not block.task.rated or not rows:
            continue
        spot = draft.spot_of(index, rows[0]["item"])
        found = [degree(block.scale, row.get("acceptability"), row.get("status")) for row in rows]
        wanted = ("low", "high") if isinstance(block.scale, Binary) else ("low", "mid", "high")
        missing = [name for name in wanted if name not in found]
        unknown = found.count(None)
        if not missing:
            continue
        if unknown:
            yield Flaw(
                Message("check.calibration_unknown", {"n": unknown, "of": len(rows)}),
                "Fill the column acceptability: low, mid or high.",
                spot,
            )
        else:
            lacking = [DEGREES[name] for name in missing]
            yield Flaw(Message("check.calibration_range", {"n": len(rows), "missing": lacking}), spot=spot)


def _first_of_each_task(draft: Draft) -> Iterator[tuple[int, Block, pl.DataFrame]]:
    """The first list of each block whose task no block before it had."""
    met = set()
    for index, block, lists in draft.planned():
        if block.task.acceptability and block.settings.task not in met:
            met.add(block.settings.task)
            yield index, block, lists[0]


@rule("error", "section 3.1", "Add fillers, or state [order] test_adjacent = true.", must=True)
def adjacent_tests(draft: Draft) -> Iterator[Flaw]:
    """Test trials cannot be kept apart."""
    error = draft.order_error
    if error is not None and _is_about_tests(error):
        message, fix = error.what, error.fix
        fix = f"{fix} Or state [order] test_adjacent = true."
        yield Flaw(message, fix, draft.at("order", "test_adjacent"))


@rule("error", "section 3.1 and footnote 7", "Loosen a rule of [order].", must=True)
def order(draft: Draft) -> Iterator[Flaw]:
    """The rules of [order] are not compatible. Orders that the solver proves impossible for another reason."""
    error = draft.order_error
    if error is not None and not isinstance(error, OrderUndecidedError) and not _is_about_tests(error):
        yield Flaw(error.what, error.fix, draft.at("order"))


@rule("warning", fix="Loosen a rule of [order].")
def order_undecided(draft: Draft) -> Iterator[Flaw]:
    """No order was found in time that satisfies [order], and none was proved impossible."""
    error = draft.order_error
    if isinstance(error, OrderUndecidedError):
        yield Flaw(error.what, error.fix, draft.at("order"))


def _is_about_tests(error: OrderError) -> bool:
    return not isinstance(error, OrderUndecidedError) and error.separated == "test"


@rule("warning", "section 3.3", 'State [order] spread = ["control", "attention"].')
def spread(draft: Draft) -> Iterator[Flaw]:
    """Controls or attention trials may be, or always are, at one end of the questionnaire."""
    if not draft.plans or draft.order_error is not None:
        return
    orders = [
        draft.study.questionnaire(list=1 + number % draft.list_count, participant=number + 1).frame
        for number in range(QUESTIONNAIRES)
    ]
    settings = draft.study.settings.order
    for function in ("control", "attention"):
        shares = [_positions(frame, function) for frame in orders]
        fewest = min(len(own) for own in shares)
        if fewest < SPREAD_FROM:
            continue
        half = "first" if all(max(own) <= 0.5 for own in shares) else "second"
        if half == "first" or all(min(own) > 0.5 for own in shares):
            code = "check.spread_first" if half == "first" else "check.spread_second"
            yield Flaw(
                Message(code, {"n": fewest, "function": function}),
                f"Put {function} trials into every block.",
                draft.at("order"),
            )
        elif function not in settings.spread and settings.mixed_blocks < 2:
            yield Flaw(
                Message("check.spread", {"n": fewest, "function": function}),
                f'Add "{function}" to [order] spread.',
                draft.at("order", "spread"),
            )


def _positions(frame: pl.DataFrame, function: str) -> list[float]:
    """The positions of a function's trials as shares of the questionnaire."""
    last = int(frame["trial"].max())  # type: ignore[arg-type]
    return [int(trial) / last for trial in frame.filter(pl.col("function") == function)["trial"].unique().to_list()]
