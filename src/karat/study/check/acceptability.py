"""Rules about intended acceptability: fillers use the whole scale and match the test items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from karat.errors import shown
from karat.judgments.columns import nearest
from karat.study.check.draft import Draft, Row, degree, has_factors, items_of, lines_of
from karat.study.check.rules import Flaw, rule

SECTION = "Pieper et al., section 3.1"
OPENING = ("test", "calibration", "practice")
KNOWN_SHARE = 0.8
"""Where fewer fillers state their acceptability, nothing can be said about their range."""
SKEWED = 0.75
"""Where so many fillers are of one kind, ratings crowd there."""
MOST = 3
"""So many words that are not understood are told one by one."""
WORDS = {"low": "unnatural", "mid": "doubtful", "high": "natural"}


def _degrees(rows: Sequence[Row]) -> Counter[str]:
    found = (degree(row.block.scale, row["acceptability"], row["status"]) for row in rows)
    return Counter(name for name in found if name is not None)


def _blocks(draft: Draft) -> Iterator[tuple[list[Row], list[Row]]]:
    """The test rows and the fillers of each rated block with factors; calibration is over before they matter."""
    for rows in draft.rows:
        block = rows[0].block if rows else None
        if block is not None and has_factors(block.settings) and block.task.rated:
            fillers = [row for row in rows if row.function not in OPENING]
            if fillers:
                yield [row for row in rows if row.function == "test"], fillers


@rule(
    "acceptability",
    "warning",
    "the column acceptability says what is neither low, mid or high nor a point of the scale, and so is passed over",
    source=SECTION,
    mend="Write low, mid, high or, on a rating scale, a point.",
)
def acceptability(draft: Draft) -> Iterator[Flaw]:
    """A misspelt degree, or a point that the scale does not have."""
    for rows in draft.rows:
        odd: dict[str, list[Row]] = {}
        for row in rows:
            said = row["acceptability"]
            if said and row.block.task.rated and degree(row.block.scale, said, None) is None:
                odd.setdefault(said, []).append(row)
        if len(odd) > MOST:
            own = [row for several in odd.values() for row in several]
            told = f"{len(own)} rows ({lines_of(own)}) have in the column acceptability what is passed over, such as"
            yield Flaw(f"{told} {shown(next(iter(odd)))}.", spot=own[0].spot)
            continue
        for said, own in odd.items():
            close = nearest(said, tuple(WORDS))
            mend = f"Is {close} meant?" if close else ""
            yield Flaw(f"{items_of(own)}: {shown(said)} in the column acceptability is passed over.", mend, own[0].spot)


@rule(
    "acceptability-unknown",
    "hint",
    "the intended acceptability of the fillers is not stated",
    source=SECTION,
    mend="Fill the column acceptability (low, mid, high or a point of the scale) or the column status.",
)
def acceptability_unknown(draft: Draft) -> Iterator[Flaw]:
    """What is not stated cannot be checked."""
    for _, fillers in _blocks(draft):
        known = _degrees(fillers).total()
        if known < KNOWN_SHARE * len(fillers):
            yield Flaw(
                f"{len(fillers) - known} of {len(fillers)} trials beside the test trials have no intended "
                "acceptability, so that it cannot be seen whether they use the whole scale.",
                spot=fillers[0].spot,
            )


@rule(
    "filler-range",
    "warning",
    "the fillers leave out an end of the scale, or nearly all stand at one",
    source=SECTION,
    mend="Add fillers until both ends of the scale are used.",
)
def filler_range(draft: Draft) -> Iterator[Flaw]:
    """Fillers from fully unacceptable to fully acceptable, so that ratings neither crowd nor lean."""
    for _, fillers in _blocks(draft):
        found = _degrees(fillers)
        if found.total() < KNOWN_SHARE * len(fillers):
            continue
        missing = [name for name in ("low", "high") if not found[name]]
        name, most = found.most_common(1)[0]
        if most >= SKEWED * found.total():
            told = f"all {most}" if most == found.total() else f"{most} of {found.total()}"
            place = {"low": "at the bottom", "mid": "in the middle", "high": "at the top"}[name]
            yield Flaw(
                f"{told} fillers are {WORDS[name]}; ratings will crowd {place} of the scale.",
                f"Add fillers that are {' and '.join(WORDS[other] for other in WORDS if other != name)}.",
                fillers[0].spot,
            )
        elif missing:
            yield Flaw(
                f"none of the {found.total()} fillers is clearly {WORDS[missing[0]]}; that end of the scale will not "
                "be used.",
                f"Add fillers that are clearly {WORDS[missing[0]]}.",
                fillers[0].spot,
            )


@rule(
    "filler-match",
    "warning",
    "no filler is as acceptable as the test items are meant to be",
    source=SECTION,
    mend="Add fillers of the acceptability of the test items.",
)
def filler_match(draft: Draft) -> Iterator[Flaw]:
    """Beside clear cases only, participants go blind for subtle differences between test items."""
    for tests, fillers in _blocks(draft):
        found, wanted = _degrees(fillers), _degrees(tests)
        if found.total() < KNOWN_SHARE * len(fillers) or len(found) == 1:
            continue
        if wanted["mid"] and not found["mid"]:
            yield Flaw(
                f"{wanted['mid']} of {len(tests)} test sentences are meant to be {WORDS['mid']}, but none of the "
                f"{found.total()} fillers is; clear cases blind for subtle differences.",
                f"Add {WORDS['mid']} fillers: status = marked, or acceptability = mid.",
                tests[0].spot,
            )
