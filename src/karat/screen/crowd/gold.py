"""Gold answers, checked against the crowd: items whose recorded right answer disagrees with nearly everybody.

Files contain label errors, and correct answers look wrong if the key is wrong. An item is doubtful if at least
`near_unanimous` of the answers, and at least five of them, are the same answer and not among the right ones; on an
ordered scale, if this many are on the same side of the right ones. The whole crowd can be wrong, as with a trick
question, so this is a reason to check the key, not a new key.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from karat.errors import ScaleError
from karat.judgments import Judgments
from karat.judgments.answer_codes import answered
from karat.judgments.scales import Ordinal, Scale
from karat.jupyter import Result
from karat.messages import Message, check_number, check_word
from karat.screen.evidence import ScreenError
from karat.screen.one_part import AnyParts, OnePart
from karat.screen.right_answers import scored

NEAR_UNANIMOUS = 0.9
ENOUGH = 5
NAMED = 5
"""The number of doubtful items named in a note."""
KEYS = ["question", "item", "expected"]
Doubtful = Literal["left out", "counted"]


@dataclass(frozen=True)
class Gold(Result):
    """The recorded right answers compared with the crowd's."""

    items: pl.DataFrame
    """question, item, expected, majority, share (of the majority), right_share, answers, doubtful."""
    notes: tuple[Message, ...] = ()

    def table(self) -> pl.DataFrame:
        """The items, doubtful ones first."""
        return self.items.sort("doubtful", descending=True, maintain_order=True)

    @property
    def doubtful(self) -> pl.DataFrame:
        """The items whose recorded right answer disagrees with a near-unanimous crowd."""
        return self.items.filter(pl.col("doubtful"))

    @property
    def summary(self) -> tuple[Message, ...]:
        """The result, without the notes."""
        return (Message("gold.found", {"doubtful": self.doubtful.height, "items": self.items.height}),)


def gold(judgments: Judgments, near_unanimous: float = NEAR_UNANIMOUS) -> Gold:
    """The recorded right answers (column expected) compared with the crowd's answers, with doubtful ones marked.

    Parameters
    ----------
    near_unanimous
        The share of equal answers from which the crowd counts as near-unanimous.

    >>> import karat
    >>> result = gold(karat.datasets.load("crowd"))
    >>> print(result)
    The recorded correct answer disagrees with a near-unanimous crowd for 0 of 80 items.
    """
    check_number(ScreenError, "near_unanimous", near_unanimous, above=0.5, at_most=1)
    result = gold_over_parts(OnePart(judgments), near_unanimous)
    if result is None:
        raise ScreenError(Message("gold.no_key"))
    return result


def gold_over_parts(parts: AnyParts[Any], near_unanimous: float = NEAR_UNANIMOUS) -> Gold | None:
    """The same for judgments in parts; None if no right answer is recorded."""
    counts = [part for part in parts.map(_count, None, name="right answers") if part is not None]
    if not counts:
        return None
    together = pl.concat(counts).group_by(*KEYS, "response", maintain_order=True).agg(pl.col("answers").sum())
    table, refused = _with_sides(together, parts.scales)
    items = _judged_items(table.sort(KEYS, maintain_order=True), near_unanimous)
    # In the order of items in the judgments.
    order = table.select(KEYS).unique(maintain_order=True)
    items = order.join(items, on=KEYS, how="inner", maintain_order="left")
    return Gold(items, tuple(_doubts(items, refused)))


def _count(judgments: Judgments, _: None, number: int) -> pl.DataFrame | None:
    """The count of each answer to each item with a recorded right answer."""
    rows = answered(judgments)
    if not has_key(rows):
        return None
    # Numbers are not compared: all of them count as one answer.
    numbers = [question for question, scale in judgments.scales.items() if not scale.levels]
    response = pl.when(~pl.col("question").is_in(numbers)).then("response")
    return with_key(rows).group_by(*KEYS, response, maintain_order=True).len("answers")


def has_key(rows: pl.DataFrame) -> bool:
    """Whether any right answer is recorded.

    >>> has_key(pl.DataFrame({"expected": [None, "1"]})), has_key(pl.DataFrame({"response": ["1"]}))
    (True, False)
    """
    return "expected" in rows.columns and rows["expected"].null_count() < rows.height


def with_key(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with a recorded right answer; a single question has an empty name."""
    question = pl.col("question").fill_null("") if "question" in rows.columns else pl.lit("").alias("question")
    return rows.with_columns(question).filter(pl.col("expected").is_not_null())


def check_doubtful(doubtful: str) -> None:
    """Raise ScreenError unless `doubtful` states what happens to doubtful items."""
    check_word(ScreenError, "doubtful", doubtful, ("left out", "counted"))


def with_accuracy(judgments: Judgments, rows: pl.DataFrame, doubtful: Doubtful) -> tuple[pl.DataFrame, list[Message]]:
    """The rows with `correct` (0 or 1), missing if the right answer is unknown or doubtful; and notes.

    >>> import karat
    >>> crowd = karat.datasets.load("crowd")
    >>> rows, notes = with_accuracy(crowd, crowd.frame, "left out")
    >>> rows["correct"].unique().sort().to_list(), notes
    ([0, 1], [])
    """
    checked = gold(judgments)
    notes = list(checked.notes)
    rows = rows.with_row_index("_row")
    keyed = with_key(rows).select("_row", *KEYS, "response")
    if doubtful == "left out" and checked.doubtful.height:
        keyed = keyed.join(checked.doubtful.select(KEYS), on=KEYS, how="anti")
        notes.append(Message("gold.left_out", {"n": checked.doubtful.height}))
    if not keyed.height:
        raise ScreenError(Message("gold.all_doubtful"))
    trials, messages = scored(keyed, judgments.scales)
    right = trials.select("_row", pl.col("right").cast(pl.Int64).alias("correct"))
    return rows.join(right, on="_row", how="left", maintain_order="left").drop("_row"), notes + messages


def _with_sides(counts: pl.DataFrame, scales: Mapping[str, Scale]) -> tuple[pl.DataFrame, int]:
    """The count of each answer with its side, and the number of kinds of right answers without sides."""
    sides, refused = [], 0
    for question, expected in counts.select("question", "expected").unique(maintain_order=True).iter_rows():
        side_of = sides_of(scales[question], expected)
        refused += side_of is None
        sides += [(question, expected, answer, side) for answer, side in (side_of or {}).items()]
    schema = {"question": pl.String, "expected": pl.String, "response": pl.String, "side": pl.Int64}
    table = pl.DataFrame(sides, schema=schema, orient="row")
    return counts.join(table, on=["question", "expected", "response"], how="inner", maintain_order="left"), refused


def sides_of(scale: Scale, expected: str) -> dict[str, int] | None:
    """For each answer, 0 if it is right, else the number of the wrong answer or, on an ordered scale, its side."""
    levels = scale.levels
    if not levels:
        return None
    try:
        right = scale.expected(expected)
    except ScaleError:
        return None
    places = [place for place, level in enumerate(levels) if level in right]
    if isinstance(scale, Ordinal):
        sides = np.sign(np.arange(len(levels)) - np.mean(places))
        return {level: 0 if level in right else int(side) or 1 for level, side in zip(levels, sides, strict=True)}
    return {level: 0 if level in right else place + 1 for place, level in enumerate(levels)}


def _judged_items(table: pl.DataFrame, near_unanimous: float) -> pl.DataFrame:
    """One row per recorded right answer: how many gave it, and whether it is doubtful."""
    per_side = table.group_by(*KEYS, "side").agg(pl.col("answers").sum())
    wrong = per_side.filter(pl.col("side") != 0).group_by(KEYS).agg(pl.col("answers").max().alias("_wrong"))
    items = table.group_by(KEYS, maintain_order=True).agg(
        pl.col("response").sort_by("answers", descending=True, maintain_order=True).first().alias("majority"),
        (pl.col("answers").max() / pl.col("answers").sum()).alias("share"),
        (pl.col("answers").filter(pl.col("side") == 0).sum() / pl.col("answers").sum()).alias("right_share"),
        pl.col("answers").sum().cast(pl.Int64),
    )
    items = items.join(wrong, on=KEYS, how="left", maintain_order="left")
    enough = (pl.col("_wrong").fill_null(0) / pl.col("answers") >= near_unanimous) & (pl.col("answers") >= ENOUGH)
    return items.with_columns(doubtful=enough).drop("_wrong")


def _doubts(items: pl.DataFrame, refused: int) -> list[Message]:
    """The notes on recorded answers that disagree with the crowd."""
    doubtful = items.filter(pl.col("doubtful"))
    notes = []
    if doubtful.height:
        named = doubtful["item"].head(NAMED).to_list()
        more = doubtful.height - len(named)
        notes.append(Message("gold.doubtful", {"n": doubtful.height, "items": named, "more": more or None}))
    if refused:
        notes.append(Message("gold.not_comparable", {"n": refused}))
    return notes


def columns_of(
    judgments: Judgments, criterion: str, with_correct: bool, doubtful: Doubtful = "left out"
) -> tuple[pl.DataFrame, list[Message]]:
    """The answers without practice, with the participants' columns and, if requested, `correct` (0 or 1)."""
    check_doubtful(doubtful)
    rows = answered(judgments)
    notes: list[Message] = []
    if with_correct and "correct" in rows.columns:
        notes = [Message("effects.correct_column")]
    elif with_correct:
        rows, notes = with_accuracy(judgments, rows, doubtful)
    people = judgments.participants
    further = [name for name in people.columns if name not in rows.columns]
    if further:
        rows = rows.join(people.select("participant", *further), on="participant", how="left", maintain_order="left")
    return rows, notes
