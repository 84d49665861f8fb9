"""The Spammer Index that comes with a screening or a report, where nobody has asked for it by name.

It is of those who stay. It is fitted where that takes minutes at most; else a sentence says why it is not, and how to
have it nevertheless.
"""

from __future__ import annotations

from karat.screen.crowd import crowd
from karat.screen.evidence import ScreenError
from karat.screen.screening import Screening
from karat.screen.spammer_index import SpammerIndex, spammer_index
from karat.screen.spammer_size import LEFT_OUT, QUICK, QUICK_ANSWERS, labels_take, refuse_large

NO_INDEX = "no Spammer Index: "
NOBODY = "nobody is left after exclusion."
NO_ROOM = "its model does not fit into memory."
MOST_ANSWERS = 1_000_000
LONGEST = 600.0
"""Seconds that the index of labels may take."""
IN_PYTHON = "karat.screen.spammer_index fits it nevertheless, in Python; of a folder of parts (--parts) it is sampled."


def index_unasked(screening: Screening, *, only_quick: bool = False) -> SpammerIndex | str:
    """The index of those who stay, with `only_quick` where it takes a few seconds; else why there is none.

    >>> import karat
    >>> index_unasked(karat.screen.run(karat.datasets.load("crowd"), {"straightlining": {}})).value > 0
    True
    """
    kept = screening.kept
    if not kept.participants.height:
        return NOBODY
    if only_quick and len(kept) > QUICK_ANSWERS:
        return LEFT_OUT
    if len(screening.judgments) > MOST_ANSWERS:
        return f"it would take long for more than {MOST_ANSWERS:,} answers. {IN_PYTHON}"
    try:
        answers = crowd(kept, "spammer_index")
        refuse_large(answers, "spammer_index")
        seconds = labels_take(answers)
        if only_quick and seconds > QUICK:
            return LEFT_OUT
        if seconds > LONGEST:
            return f"for these labels it would take about {round(seconds / 60):,} minutes. {IN_PYTHON}"
        return spammer_index(kept)
    except MemoryError:
        return NO_ROOM
    except (ScreenError, ValueError) as error:
        return str(error).removeprefix("spammer_index: ")
