"""What criteria about whole patterns of answers share: answers as numbers, stimuli, and correlations by participant.

A stimulus is an item in one of its conditions, and where there are several questions, one of them. Conditions are the
columns that karat does not know by name, as long as they hold text, truth values or whole numbers. A column that tells
nearly every answer apart, such as a count of clicks or the age of the participant, is a measurement and no condition:
one is left out where stimuli would have fewer than 1.5 participants on average with it, and a note says so. So is a
column that never changes within a participant, such as gender or browser: it tells people apart and not stimuli, and
with it everybody would be compared with their like only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.columns import COLUMNS
from karat.errors import counted
from karat.judgments import Judgments
from karat.screen.evidence import ScreenError
from karat.screen.positions import answered, by_scale, is_ordered, position
from karat.screen.presentation import presented

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
SHARED = 1.5
"""How many must share a cell on average for a column to count as a condition: two, less those who dropped out."""


def ordered_answers(judgments: Judgments, criterion: str) -> tuple[pl.DataFrame, list[str]]:
    """The answers on ordered scales in the order of presentation, with their position as `_value`, and notes.

    Positions are aligned (polarity) and count steps from the lowest level; where the questions have different scales,
    they are standardised within each scale, because steps of different scales cannot be compared.
    """
    rows = answered(judgments)
    parts = [(scale, part) for scale, part in by_scale(judgments, presented(rows)) if is_ordered(scale)]
    if not parts:
        kinds = " and ".join(dict.fromkeys(scale.kind for scale in judgments.scales.values()))
        raise ScreenError(
            f"{criterion} needs answers on an ordered scale (ratings, sliders, magnitudes, yes or no), and there are "
            f"none: the scale is {kinds}."
        )
    tables = [part.with_columns(_value=position(scale, aligned="polarity" in part.columns)) for scale, part in parts]
    notes = []
    if len(tables) > 1:
        spread = pl.col("_value").std()
        standard = pl.when(spread > 0).then((pl.col("_value") - pl.col("_value").mean()) / spread).otherwise(0.0)
        tables = [table.with_columns(_value=standard) for table in tables]
        notes.append("The questions have different scales: positions are standardised within each scale.")
    together = pl.concat(tables)
    if together.height < rows.height:
        notes.append(f"{counted(rows.height - together.height, 'answer')} on scales without an order left out.")
    return presented(together), notes


def conditions(rows: pl.DataFrame) -> list[str]:
    """The columns that may be conditions of the design: not known by name, and neither measured numbers nor times."""
    own = ("_value", "_stimulus")
    kinds = (pl.String, pl.Boolean, pl.Int64)
    return [name for name, kind in rows.schema.items() if kind in kinds and name not in COLUMNS and name not in own]


def with_stimuli(rows: pl.DataFrame, further: tuple[str, ...] = ()) -> tuple[pl.DataFrame, list[str]]:
    """The rows with the number of their stimulus in `_stimulus`, and a note on columns that are no conditions.

    `further` are columns that tell stimuli apart besides item, question and conditions.
    """
    keys = [*(name for name in ("item", "question") if name in rows.columns), *further]
    refused = []
    about_people = [name for name in _about_people(rows, conditions(rows)) if name not in keys]
    by_answer = [name for name in conditions(rows) if name not in keys and _follows_from_answer(rows, keys, name)]
    for name in conditions(rows):
        if name in keys or name in about_people or name in by_answer:
            continue
        # Where hardly anything is shared anyway, no column is to blame.
        if _are_shared(rows, [*keys, name]) or not _are_shared(rows, keys):
            keys.append(name)
        else:
            refused.append(name)
    notes = []
    if about_people:
        notes.append(f"Not taken as conditions: {', '.join(about_people)}; the same throughout for each participant.")
    if by_answer:
        notes.append(f"Not taken as conditions: {', '.join(by_answer)}; they follow from the answers.")
    if refused:
        notes.append(f"Not taken as conditions: {', '.join(refused)}; hardly two participants would share a stimulus.")
    return rows.with_columns(_stimulus=numbered(rows, keys)), notes


def _about_people(rows: pl.DataFrame, names: list[str]) -> list[str]:
    """The columns that differ between participants and never within one who has several answers."""
    if not names:
        return []
    several = rows.filter(pl.len().over("participant") > 1)
    if not several.height:
        return []
    most = several.group_by("participant").agg(pl.col(names).n_unique()).select(pl.col(names).max())
    return [name for name in names if most[name][0] == 1 and several[name].n_unique() > 1]


def _follows_from_answer(rows: pl.DataFrame, keys: list[str], name: str) -> bool:
    """Whether a column differs within stimuli but never among those who gave the same answer: right or wrong."""
    if rows.select(*keys, name).n_unique() == rows.select(keys).n_unique():
        return False
    given = rows.select(*keys, "response")
    several = rows.filter(given.is_duplicated())
    if several.select(*keys, name).n_unique() == several.select(keys).n_unique():
        return False
    return several.select(*keys, "response", name).n_unique() == several.select(*keys, "response").n_unique()


def _are_shared(rows: pl.DataFrame, keys: list[str]) -> bool:
    """Whether enough participants answered each combination of these columns, on average."""
    return rows.select("participant", *keys).n_unique() >= SHARED * rows.select(keys).n_unique()


def numbered(rows: pl.DataFrame, keys: list[str]) -> pl.Series:
    """The number of the group that each row belongs to, from 0, in the order in which groups come.

    >>> numbered(pl.DataFrame({"a": ["x", None, "x"]}), ["a"]).to_list()
    [0, 1, 0]
    """
    groups = rows.select(keys).unique(maintain_order=True).with_row_index("_number")
    if len(keys) == 1 and rows.schema[keys[0]] in (pl.String, pl.Enum) and not rows[keys[0]].null_count():
        # The usual case of large crowds, and faster than a join.
        return rows[keys[0]].cast(pl.Enum(groups[keys[0]].cast(pl.String))).to_physical().cast(pl.Int64)
    found = rows.select(keys).join(groups, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return found["_number"].cast(pl.Int64)


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


def exact(value: float, cutoff: float | None, digits: int = 2) -> str:
    """A number rounded, with more digits where rounding would hide on which side of the cutoff it lies.

    >>> exact(2.9996, 3), exact(1.234, 3)
    ('2.9996', '1.23')
    """
    for more in range(digits, 12):
        text = f"{value:.{more}f}"
        if cutoff is None or (
            (float(text) < cutoff) == (value < cutoff) and (float(text) > cutoff) == (value > cutoff)
        ):
            return text
    return repr(value)


def correlation_text(value: float, cutoff: float | None = None) -> str:
    """A correlation as journals print it, without a leading zero.

    >>> correlation_text(0.456), correlation_text(-0.004, 0), correlation_text(1.0)
    ('.46', '-.004', '1.00')
    """
    return without_zero(exact(value, cutoff))


def without_zero(text: str) -> str:
    """A number between -1 and 1 without its leading zero, and zero without a sign.

    >>> without_zero("-0.50"), without_zero("-0.00"), without_zero("1.00")
    ('-.50', '.00', '1.00')
    """
    text = text.lstrip("-") if float(text) == 0 else text
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def stimuli_text(number: int) -> str:
    """A number of stimuli in words.

    >>> stimuli_text(1), stimuli_text(1200)
    ('1 stimulus', '1,200 stimuli')
    """
    return f"{number:,} stimul{'us' if number == 1 else 'i'}"


def owners(people: pl.DataFrame, rows: pl.DataFrame) -> Ints:
    """The place of each row's participant among all people."""
    places = {name: place for place, name in enumerate(people["participant"].to_list())}
    found: Ints = rows["participant"].replace_strict(places, return_dtype=pl.Int64).to_numpy()
    return found


def evidence_table(rows: list[tuple[Any, ...]], further: dict[str, Any]) -> pl.DataFrame:
    """Rows of participant, score, threshold, flagged, reason and further columns as a table."""
    schema = {"participant": pl.String, "score": pl.Float64, "threshold": pl.Float64, "flagged": pl.Boolean}
    return pl.DataFrame(rows, schema={**schema, "reason": pl.String, **further}, orient="row")


def without_score(table: pl.DataFrame) -> list[str]:
    """The note that says for how many participants there is no score."""
    silent = table["score"].null_count()
    return [f"No score for {counted(silent, 'participant')}; the reason is given for each."] if silent else []
