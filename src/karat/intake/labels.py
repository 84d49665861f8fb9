"""What the names that experimenters give their trials and columns say about them."""

from __future__ import annotations

import re

ITEM_IDS = (
    "item", "itemid", "itemnumber", "itemnum", "itemno", "stimulusid", "stimid", "sentenceid", "sentencenumber",
    "textid", "pairid", "satzid", "satznummer", "satznr",
)  # fmt: skip
"""What columns with the names or numbers of items are called, without case and signs, the likeliest first."""
RESPONSE_TIMES = (
    "rt", "rts", "rtms", "reactiontime", "reactiontimems", "responsetime", "responsetimems", "latency", "latencyms",
)  # fmt: skip
"""What columns with response times are called."""
_WORDS = {
    "filler": ("filler", "fillers", "füller", "distractor", "distractors"),
    "attention": ("attention", "attentions", "catch"),
    "practice": ("training", "übung"),
}


def function_named_in(label: str) -> str:
    """The item function that a label names: `practice_1`, `filler`, `attention-check`; else `test`.

    >>> function_named_in("PracticeTrial"), function_named_in("experiment-filler"), function_named_in("exp")
    ('practice', 'filler', 'test')
    """
    label = label.lower()
    if "practice" in label or "practise" in label:
        return "practice"
    words = set(re.split(r"[\W\d_]+", label))
    return next((function for function, names in _WORDS.items() if not words.isdisjoint(names)), "test")
