"""The Spammer Index that comes with a screening or a report, where nobody has asked for it by name.

It is of those who stay. It is fitted where that takes minutes at most; else a message says why it is not, and how to
get it anyway.
"""

from __future__ import annotations

from karat.messages import Message, NotComputed
from karat.screen.crowd import crowd
from karat.screen.screening import Screening
from karat.screen.spammer_index import SpammerIndex, spammer_index
from karat.screen.spammer_size import NOT_QUICK, QUICK, QUICK_ANSWERS, labels_take, refuse_large

NOBODY = NotComputed("spammer_index.nobody")
NO_ROOM = NotComputed("spammer_index.no_room")
MOST_ANSWERS = 1_000_000
LONGEST = 600.0
"""Seconds that the index of labels may take."""


def index_unasked(screening: Screening, *, only_quick: bool = False) -> SpammerIndex | NotComputed:
    """The index of those who stay, with `only_quick` where it takes a few seconds; else why there is none.

    >>> import karat
    >>> index_unasked(karat.screen.run(karat.datasets.load("crowd"), {"straightlining": {}})).value > 0
    True
    """
    kept = screening.kept
    if not kept.participants.height:
        return NOBODY
    if only_quick and len(kept) > QUICK_ANSWERS:
        return NOT_QUICK
    if len(screening.judgments) > MOST_ANSWERS:
        return NotComputed("spammer_index.too_many_answers", {"answers": MOST_ANSWERS})
    try:
        answers = crowd(kept, "spammer_index")
        refuse_large(answers, "spammer_index")
        seconds = labels_take(answers)
        if only_quick and seconds > QUICK:
            return NOT_QUICK
        if seconds > LONGEST:
            return NotComputed("spammer_index.takes_long", {"minutes": round(seconds / 60)})
        return spammer_index(kept)
    except MemoryError:
        return NO_ROOM
    except ValueError as error:
        return NotComputed.of(error)


def index_or_reason(index: SpammerIndex | NotComputed) -> Message:
    """What there is to say of the index: its summary, or why there is none.

    >>> print(index_or_reason(NO_ROOM))
    No Spammer Index. Its model does not fit into memory.
    """
    return Message("spammer_index.none", {"why": index}) if isinstance(index, NotComputed) else index.summary[0]


def index_as_data(index: SpammerIndex | NotComputed) -> object:
    """The index as plain data, or the sentence that says why there is none."""
    return str(index_or_reason(index)) if isinstance(index, NotComputed) else index.to_dict()
