"""What criteria about whole patterns of answers share: numbers, stimuli, and correlations per participant."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.judgments import Judgments
from karat.judgments.answer_codes import answered, by_scale, is_ordered, position
from karat.judgments.scales import Scale
from karat.judgments.trial_order import presented
from karat.messages import Message
from karat.screen.evidence import ScreenError
from karat.types import Floats, Ints


def ordered_answers(judgments: Judgments, criterion: str) -> tuple[pl.DataFrame, list[Message]]:
    """The answers on ordered scales in the order of presentation, with their position as `_value`, and messages.

    Positions are aligned (polarity) and count steps from the lowest level; where the questions have different scales,
    they are standardised within each scale, because steps of different scales cannot be compared.
    """
    rows = answered(judgments)
    parts = [(scale, part) for scale, part in by_scale(judgments, presented(rows)) if is_ordered(scale)]
    if not parts:
        kinds = list(dict.fromkeys(scale.kind for scale in judgments.scales.values()))
        raise ScreenError(Message("answers.not_ordered", {"name": criterion, "kinds": kinds}))
    tables = [part.with_columns(_value=position(scale, aligned="polarity" in part.columns)) for scale, part in parts]
    notes = []
    if len(tables) > 1:
        spread = pl.col("_value").std()
        standard = pl.when(spread > 0).then((pl.col("_value") - pl.col("_value").mean()) / spread).otherwise(0.0)
        tables = [table.with_columns(_value=standard) for table in tables]
        notes.append(Message("answers.standardised"))
    together = pl.concat(tables)
    if together.height < rows.height:
        notes.append(Message("answers.unordered_left_out", {"n": rows.height - together.height}))
    return presented(together), notes


def with_stimuli(
    judgments: Judgments, rows: pl.DataFrame, further: tuple[str, ...] = (), scale: Scale | None = None
) -> tuple[pl.DataFrame, list[Message]]:
    """The rows with the number of their stimulus in `_stimulus`, and messages on columns that are not conditions.

    What a stimulus is, is decided on the whole table (`karat.judgments.stimuli`). `further` are columns that tell
    stimuli apart as well; `scale` is needed for choices.
    """
    found = judgments.stimuli(scale)
    return rows.with_columns(_stimulus=found.number(rows, further)), list(found.messages)


def correlations(owner: Ints, x: Floats, y: Floats, people: int, centre: Ints | None = None) -> Floats:
    """The correlation of x and y within each participant, missing (NaN) where either does not vary.

    Values are centred within each participant (`owner`), or within each group of `centre`, which must be finer; a
    `centre` of -1 throughout leaves the values as they are.

    >>> correlations(np.array([0, 0, 0, 1]), np.array([1.0, 2, 3, 1]), np.array([1.0, 3, 5, 1]), 2).round(6).tolist()
    [1.0, nan]
    """
    groups = owner if centre is None else centre
    dx, dy = x, y
    if len(groups) and groups.min() >= 0:
        sizes = np.maximum(np.bincount(groups), 1)
        dx = x - (np.bincount(groups, x) / sizes)[groups]
        dy = y - (np.bincount(groups, y) / sizes)[groups]
    sxx, syy, sxy = (np.bincount(owner, product, people) for product in (dx * dx, dy * dy, dx * dy))
    # What differs only by rounding does not vary.
    varies = (sxx > 1e-20 * np.bincount(owner, x * x, people)) & (syy > 1e-20 * np.bincount(owner, y * y, people))
    product = np.sqrt(sxx * syy)
    found: Floats = np.divide(sxy, product, out=np.full(people, np.nan), where=varies & (product > 0))
    return np.clip(found, -1.0, 1.0)


def owners(people: pl.DataFrame, rows: pl.DataFrame) -> Ints:
    """The place of each row's participant among all people."""
    places = {name: place for place, name in enumerate(people["participant"].to_list())}
    found: Ints = rows["participant"].replace_strict(places, return_dtype=pl.Int64).to_numpy()
    return found


def without_score(table: pl.DataFrame) -> list[Message]:
    """The message that says how many participants have no score."""
    silent = table["score"].null_count()
    return [Message("answers.no_score", {"n": silent})] if silent else []
