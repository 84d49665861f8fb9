"""How strong a stimulus is: the latent value of a trial before participant and chance have their say, in logits.

Control, attention and other trials with a known status or a right answer are clear cases: about 5 logits to the right
side. All others have a strength of their own, drawn once for each item (in a differential for each item and adjective
pair, in a choice for each of the two stimuli, in a label task for each category).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from karat.judgments.scales import Choice, Continuous, Magnitude, Nominal, NumberRange, Scale
from karat.simulate.scale_answers import USUAL_MODULUS, ends_of, levels_of
from karat.types import Floats

CLEAR = 5.0
STATUS = {"grammatical": 4.6, "ungrammatical": -5.0, "marked": -0.6}
LABELS = 1.5
"""How much the utilities of categories differ by chance."""


def base(trials: pl.DataFrame, scale: Scale) -> Floats:
    """The strength that follows from status or right answers, 0 where neither is known; a nominal scale has columns.

    >>> from karat.judgments.scales import Ordinal
    >>> frame = pl.DataFrame({"item": ["a", "b"], "status": ["grammatical", None], "expected": [None, "1-2"]})
    >>> base(frame, Ordinal(5)).tolist()
    [4.6, -5.0]
    """
    expected = _cells(trials, "expected")
    if isinstance(scale, Nominal):
        members = {text: scale.expected(text) for text in set(expected) if text}
        return np.array([
            [CLEAR * (level in members[text]) for level in scale.levels] if text else [0.0] * len(scale.levels)
            for text in expected
        ])  # fmt: skip
    by_answer = {text: _toward(text, scale) for text in set(expected) if text}
    status = [None] * trials.height if isinstance(scale, Choice) else _cells(trials, "status")
    return np.array([
        STATUS[known] if known in STATUS else by_answer[text] if text else 0.0
        for known, text in zip(status, expected, strict=True)
    ])  # fmt: skip


def own(trials: pl.DataFrame, scale: Scale, deviation: float, compared: bool, random: np.random.Generator) -> Floats:
    """The strength that stimuli have of their own; every stimulus has one, wherever it is shown.

    Where conditions of one item are compared, what both have in common falls out and the item's effect says the rest.
    """
    if isinstance(scale, Choice):
        if compared or "left" not in trials.columns:
            return np.zeros(trials.height)
        drawn = _drawn([*_cells(trials, "left"), *_cells(trials, "right")], random)
        return deviation * (drawn[: trials.height] - drawn[trials.height :])
    items = _cells(trials, "item")
    if "question" in trials.columns:
        items = [f"{item}\t{question}" for item, question in zip(items, _cells(trials, "question"), strict=True)]
    if isinstance(scale, Nominal):
        columns = [_drawn(items, random) for _ in scale.levels]
        return LABELS * np.column_stack(columns)
    return deviation * _drawn(items, random)


def by_item(trials: pl.DataFrame, random: np.random.Generator) -> Floats:
    """A standard normal number for each trial, the same for all trials of an item."""
    return _drawn(_cells(trials, "item"), random)


def _drawn(names: Sequence[str | None], random: np.random.Generator) -> Floats:
    """A number for each name, whatever the order in which names come."""
    levels, places = np.unique(np.array([name or "" for name in names], dtype=object).astype(str), return_inverse=True)
    return random.standard_normal(len(levels))[places]


def _toward(expected: str, scale: Scale) -> float:
    """A clear strength on the side of the scale where the right answers are."""
    right = scale.expected(expected)
    if isinstance(right, NumberRange):
        middle = _middle(scale)
        return CLEAR if right.low >= middle else -CLEAR if right.high <= middle else 0.0
    if isinstance(scale, Choice):
        return CLEAR * (("left" in right) - ("right" in right))
    levels = levels_of(scale)
    from_middle = float(np.mean([levels.index(level) for level in right])) - (len(levels) - 1) / 2
    return CLEAR * float(np.sign(from_middle))


def _middle(scale: Scale) -> float:
    """The number that is neither high nor low: the modulus, or the middle of a line."""
    if isinstance(scale, Continuous):
        return sum(ends_of(scale)) / 2
    return (scale.modulus if isinstance(scale, Magnitude) else None) or USUAL_MODULUS


def _cells(trials: pl.DataFrame, column: str) -> list[str | None]:
    if column not in trials.columns:
        return [None] * trials.height
    cells: list[str | None] = trials[column].cast(pl.String).to_list()
    return cells
