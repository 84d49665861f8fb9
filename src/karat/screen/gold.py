"""Gold answers, checked first: where the recorded right answer disagrees with a near-unanimous crowd.

Files carry label errors, and whoever is right against a wrong key looks inaccurate. An item is doubtful where at least
`near_unanimous` of the answers, and at least five of them, are one and the same answer that is not among the right
ones; on an ordered scale, where so many are on the same side of the right ones. The crowd can be wrong together, as
on a trick question, so this is a reason to look at the key and not a new key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from karat.errors import ScaleError, counted
from karat.judgments import Judgments
from karat.scales import Ordinal, Scale
from karat.screen.answers import scored
from karat.screen.evidence import ScreenError
from karat.screen.positions import answered

NEAR_UNANIMOUS = 0.9
ENOUGH = 5
KEYS = ["question", "item", "expected"]
Doubtful = Literal["left out", "counted"]


@dataclass(frozen=True)
class Gold:
    """The recorded right answers beside the crowd's."""

    items: pl.DataFrame
    """question, item, expected, majority, share (of the majority), right_share, answers, doubtful."""
    notes: tuple[str, ...] = ()

    def table(self) -> pl.DataFrame:
        """The items, doubtful ones first."""
        return self.items.sort("doubtful", descending=True, maintain_order=True)

    @property
    def doubtful(self) -> pl.DataFrame:
        """The items whose recorded right answer disagrees with a near-unanimous crowd."""
        return self.items.filter(pl.col("doubtful"))

    def __str__(self) -> str:
        found = self.doubtful.height
        told = f"{found} of {counted(self.items.height, 'item')} with a recorded right answer"
        return f"Gold answers: {told} disagree{'s' if found == 1 else ''} with a near-unanimous crowd."


def gold(judgments: Judgments, near_unanimous: float = NEAR_UNANIMOUS) -> Gold:
    """The recorded right answers (column expected) beside what the crowd answered, and which of them are doubtful.

    >>> import karat
    >>> found = gold(karat.datasets.load("crowd"))
    >>> print(found)
    Gold answers: 0 of 80 items with a recorded right answer disagree with a near-unanimous crowd.
    """
    if not 0.5 < near_unanimous <= 1:
        raise ScreenError("gold: near_unanimous is a share above one half and at most 1.")
    rows = answered(judgments)
    if not has_key(rows):
        raise ScreenError("gold: no trial says which answer is right (column expected).")
    rows = with_key(rows)
    counts = rows.group_by(*KEYS, "response", maintain_order=True).len("answers")
    table, refused = with_sides(counts, judgments.scales)
    items = judged_items(table.sort(KEYS, maintain_order=True), near_unanimous)
    # In the order in which items come in the judgments.
    order = rows.select(KEYS).unique(maintain_order=True)
    items = order.join(items, on=KEYS, how="inner", maintain_order="left")
    return Gold(items, tuple(doubts_of(items, refused)))


def has_key(rows: pl.DataFrame) -> bool:
    """Whether any right answer is recorded.

    >>> has_key(pl.DataFrame({"expected": [None, "1"]})), has_key(pl.DataFrame({"response": ["1"]}))
    (True, False)
    """
    return "expected" in rows.columns and rows["expected"].null_count() < rows.height


def with_key(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows whose right answer is recorded; the only question has an empty name."""
    question = pl.col("question").fill_null("") if "question" in rows.columns else pl.lit("").alias("question")
    return rows.with_columns(question).filter(pl.col("expected").is_not_null())


def check_doubtful(doubtful: str, criterion: str) -> None:
    """ScreenError where it is not said what happens to doubtful items."""
    if doubtful not in ("left out", "counted"):
        raise ScreenError(f"{criterion}: doubtful is left out or counted.")


def with_accuracy(
    judgments: Judgments, rows: pl.DataFrame, criterion: str, doubtful: Doubtful
) -> tuple[pl.DataFrame, list[str]]:
    """The rows with `correct` (0 or 1), missing where no right answer is known or the key is in doubt; and notes.

    >>> import karat
    >>> crowd = karat.datasets.load("crowd")
    >>> rows, notes = with_accuracy(crowd, crowd.frame, "risk", "left out")
    >>> rows["correct"].unique().sort().to_list(), notes
    ([0, 1], [])
    """
    checked = gold(judgments)
    notes = list(checked.notes)
    rows = rows.with_row_index("_row")
    known = with_key(rows).select("_row", *KEYS, "response")
    if doubtful == "left out" and checked.doubtful.height:
        known = known.join(checked.doubtful.select(KEYS), on=KEYS, how="anti")
        notes.append(f"{counted(checked.doubtful.height, 'doubtful item')} left out of accuracy.")
    if not known.height:
        raise ScreenError(f"{criterion}: every recorded right answer disagrees with the crowd; check column expected.")
    trials, told = scored(known, judgments.scales, criterion)
    right = trials.select("_row", pl.col("right").cast(pl.Int64).alias("correct"))
    return rows.join(right, on="_row", how="left", maintain_order="left").drop("_row"), notes + told


def with_sides(counts: pl.DataFrame, scales: Mapping[str, Scale]) -> tuple[pl.DataFrame, int]:
    """How often each answer was given, with its side, and how many kinds of right answers have no sides."""
    sides, refused = [], 0
    for question, expected in counts.select("question", "expected").unique(maintain_order=True).iter_rows():
        found = sides_of(scales[question], expected)
        refused += found is None
        sides += [(question, expected, answer, side) for answer, side in (found or {}).items()]
    schema = {"question": pl.String, "expected": pl.String, "response": pl.String, "side": pl.Int64}
    table = pl.DataFrame(sides, schema=schema, orient="row")
    return counts.join(table, on=["question", "expected", "response"], how="inner", maintain_order="left"), refused


def sides_of(scale: Scale, expected: str) -> dict[str, int] | None:
    """Of each answer 0 where it is right, else which wrong answer it is or, on an ordered scale, on which side."""
    levels: tuple[str, ...] = getattr(scale, "levels", ())
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


def judged_items(table: pl.DataFrame, near_unanimous: float) -> pl.DataFrame:
    """One row for each right answer that is recorded: how many gave it, and whether it is doubtful."""
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


def doubts_of(items: pl.DataFrame, refused: int) -> list[str]:
    """What is to be said of recorded answers that the crowd does not share."""
    doubtful = items.filter(pl.col("doubtful"))
    notes = []
    if doubtful.height:
        named = ", ".join(doubtful["item"].head(5).to_list()) + (" and others" if doubtful.height > 5 else "")
        notes.append(
            f"{counted(doubtful.height, 'item')} ({named}): the recorded right answer disagrees with a near-unanimous "
            "crowd. Check the key before anybody is called inaccurate."
        )
    if refused:
        notes.append(f"{counted(refused, 'kind')} of right answers could not be compared: numbers, or no known answer.")
    return notes
