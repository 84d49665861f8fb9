"""What the names that experimenters give their trials and columns say about them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

ITEM_IDS = (
    "item", "itemid", "itemnumber", "itemnum", "itemno", "stimulusid", "stimid", "sentenceid", "sentencenumber",
    "textid", "pairid", "satzid", "satznummer", "satznr",
)  # fmt: skip
"""What columns with the names or numbers of items are called, without case and signs, the likeliest first."""
RESPONSE_TIMES = (
    "rt", "rts", "rtms", "reactiontime", "reactiontimems", "responsetime", "responsetimems", "latency", "latencyms",
)  # fmt: skip
"""What columns with response times are called."""
MISSPELT_FROM = 6
_WORDS = {
    "filler": ("filler", "fillers", "fill", "füller", "distractor", "distractors", "distracter", "distracters"),
    "attention": ("attention", "attentions", "catch", "attentioncheck", "catchtrial"),
    "practice": (
        "training",
        "train",
        "trained",
        "prac",
        "pract",
        "übung",
        "example",
        "examples",
        "warmup",
        "warm",
        "tutorial",
        "demo",
        "entrenamiento",
        "entraînement",
        "entrainement",
        "beispiel",
        "oefening",
        "esempio",
        "esercizio",
    ),
}
_MORE_WORDS = {
    "control": ("control", "controls", "ctrl"),
    "calibration": ("calibration", "calibrator", "calibrators", "anchor", "anchors"),
    "test": (
        "test",
        "tests",
        "critical",
        "crit",
        "target",
        "targets",
        "experimental",
        "experiment",
        "exp",
        "main",
        "items",
        "stimuli",
        "testitem",
        "testtrial",
    ),
}
"""Words that say what a trial is for where a whole column holds nothing but such words."""


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


def function_word(value: str) -> str | None:
    """The item function that a value names, also misspelt or joined to other words; None where it names none.

    >>> function_word("controlGood"), function_word("attenetion"), function_word("Train"), function_word("must")
    ('control', 'attention', 'practice', None)
    """
    words = [word for word in re.split(r"[\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", value).lower()) if word]
    if any("practice" in word or "practise" in word for word in words):
        return "practice"
    for function, names in {**_WORDS, **_MORE_WORDS}.items():
        if not set(words).isdisjoint(names):
            return function
    if len(words) == 1 and len(words[0]) >= MISSPELT_FROM:
        known = {name: function for function, names in _WORDS.items() for name in names if len(name) >= MISSPELT_FROM}
        close = get_close_matches(words[0], list(known), n=1, cutoff=0.85)
        return known[close[0]] if close else None
    return None


_SPEAKER = re.compile(r"(?<![\w'’])([A-ZÀ-Þ][\w'’-]{1,20}):(?=\s|$)")
FEWEST_DIALOGUES = 0.8
"""Most texts must have speakers for their names to be left out."""


def without_speakers(texts: Sequence[str]) -> list[str] | None:
    """Dialogues without the names of their speakers, where the same words come with different names; None where not.

    >>> without_speakers(["Ann: Is it big? Bo: Yes. Is Bo right?", "Cy: Is it big? Di: Yes. Is Di right?"])
    ['A: Is it big? B: Yes. Is B right?', 'A: Is it big? B: Yes. Is B right?']
    """
    if sum(_SPEAKER.search(text) is not None for text in texts) < FEWEST_DIALOGUES * max(len(texts), 1):
        return None
    labelled = {text: _anonymous(text, labels_only=True) for text in set(texts)}
    speakers: dict[str, set[tuple[str, ...]]] = {}
    for text, only in labelled.items():
        speakers.setdefault(only, set()).add(tuple(_SPEAKER.findall(text)))
    # A name that stays when the speakers change belongs to what is said.
    bare = [only if len(speakers[only := labelled[text]]) > 1 else _anonymous(text) for text in texts]
    return bare if len(set(bare)) < 0.9 * len(set(texts)) else None


def _anonymous(text: str, *, labels_only: bool = False) -> str:
    end = r"(?=:(?:\s|$))" if labels_only else r"(?!\w)"
    for place, name in enumerate(dict.fromkeys(_SPEAKER.findall(text))):
        text = re.sub(rf"(?<![\w'’]){re.escape(name)}{end}", chr(ord("A") + place % 26), text)
    return text


_BESIDE = ("is", "trial", "trials", "item", "check", "question", "block", "phase")


def flagged_function(words: Sequence[str]) -> str | None:
    """The item function of trials that a column marks, by the words of the column's name; None where it marks none.

    >>> flagged_function(["is", "filler"]), flagged_function(["attention", "check"]), flagged_function(["practice"])
    ('filler', 'attention', 'practice')
    >>> flagged_function(["training", "correct"]), flagged_function(["critical"])
    (None, None)
    """
    named = [word for word in words if word not in _BESIDE]
    if len(named) != 1:
        return None
    if named[0] in ("comprehension", "instructional") and "check" in words:
        return "attention"
    function = function_word(named[0])
    return function if function not in (None, "test") else None
