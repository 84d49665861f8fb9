"""Scales as the browser shows them: points from left to right, options with their keys, a number, or a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from karat.field.content.texts import Words
from karat.judgments.scales import Binary, Choice, Continuous, Magnitude, Ordinal
from karat.study.plan import Block
from karat.study.study import Study

KEYS = "123456789"


def scales(study: Study, words: Words) -> dict[str, dict[str, Any]]:
    """The scales of all blocks, by the key that trials name them with."""
    return {scale_key(number): shown_scale(block, words) for number, block in enumerate(study.blocks)}


def scale_key(block: int) -> str:
    """The key of a block's scale, which says nothing about the block; blocks count from 0.

    >>> scale_key(0)
    's1'
    """
    return f"s{block + 1}"


def shown_scale(block: Block, words: Words) -> dict[str, Any]:
    """The scale of a block, with the words of the study or of the language.

    >>> from karat.field.content.texts import words
    >>> from karat.study.init import write_study
    >>> from karat.study.study import load
    >>> folder = getfixture("tmp_path") / "study"
    >>> written = write_study(folder, "yes-no")
    >>> [option["label"] for option in shown_scale(load(folder).blocks[0], words("en"))["points"]]
    ['No', 'Yes']
    """
    scale = block.scale
    if isinstance(scale, Magnitude):
        return _scale("number", [])
    if isinstance(scale, Continuous):
        ends = list(block.settings.scale.labels) or None
        return _scale("line", [], ends=ends, low=scale.low, high=scale.high)
    if isinstance(scale, Ordinal):
        return _rating(block, scale)
    return _scale("options", _options(block, words))


def _scale(kind: str, points: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"kind": kind, "points": points, "ends": None, "slider": False, "colours": False, "neutral": None, **more}


def _rating(block: Block, scale: Ordinal) -> dict[str, Any]:
    """Points with a word each, or with words at the ends; in a differential the value is the place on the screen."""
    settings, levels, neutral = block.settings.scale, scale.levels, scale.neutral
    placed = block.questions is not None
    values = [str(place) if placed else level for place, level in enumerate(levels, start=1)]
    whole = len(settings.labels) == len(levels)
    labels = settings.labels if whole else [""] * len(levels)
    return _scale(
        "points",
        [{"value": value, "label": label} for value, label in zip(values, labels, strict=True)],
        ends=list(settings.labels) if settings.labels and not whole else None,
        slider=settings.slider,
        colours=settings.colours,
        neutral=None if neutral is None else values[levels.index(neutral)],
    )


def _options(block: Block, words: Words) -> list[dict[str, Any]]:
    """Answers to choose from, with digits as keys as far as they reach."""
    levels: Sequence[str] = block.scale.levels  # type: ignore[attr-defined]
    labels = list(block.settings.scale.labels)
    if not labels:
        # The language's own words stand for answers that the study did not name itself.
        own = isinstance(block.scale, Choice) or (isinstance(block.scale, Binary) and tuple(levels) == ("no", "yes"))
        labels = [words[f"scale.{level}"] if own else level for level in levels]
    return [
        {"value": level, "label": label, "key": KEYS[place] if place < len(KEYS) else None}
        for place, (level, label) in enumerate(zip(levels, labels, strict=True))
    ]
