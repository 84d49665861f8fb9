"""Background variables as groups: which columns about participants can be compared, and how numbers are cut.

A number with many values is cut at its quartiles, or its tertiles where fewer than 40 values are known. The cuts are
rounded to three digits and then used, so that a label such as "27 to under 35" says exactly who is in the group.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.errors import KaratError
from karat.judgments.columns import nearest
from karat.messages import Message

MOST_GROUPS = 12
MOST_NUMBERS = 5
"""Numbers with more different values are cut."""
ENOUGH_FOR_QUARTILES = 40
NOT_KNOWN = "not known"
QUIZ = ("quiz_attempts", "quiz_passed")
TIMES = ("started", "finished", "working_time", "time", "duration")


@dataclass(frozen=True)
class BackgroundVariable:
    """A background variable and who is in each of its groups; together the groups are everybody."""

    name: str
    groups: dict[str, NDArray[np.bool_]]


def background(
    people: pl.DataFrame, columns: Sequence[str] | None = None, ids: Collection[str] = ()
) -> tuple[list[BackgroundVariable], list[Message]]:
    """The variables that can be compared, or those that are named, and notes on the columns left out.

    >>> people = pl.DataFrame({"participant": list("abc"), "student": [True, False, None], "comment": list("xyz")})
    >>> variables, notes = background(people)
    >>> [(one.name, list(one.groups)) for one in variables]
    [('student', ['false', 'true', 'not known'])]
    >>> print(notes[0])
    comment is left out: every participant has a different value.
    """
    known = [name for name in people.columns if name != "participant"]
    if columns is not None:
        for name in columns:
            if name not in known:
                close = nearest(name, known)
                mend = f"is {close} meant?" if close else f"there are {', '.join(known) or 'none'}."
                raise KaratError(f"Nothing called {name} is known of participants; {mend}")
        return [_named(people[name]) for name in columns], []
    variables, notes = [], []
    for name in known:
        why = Message("background.names") if name in ids else _unfit(people[name])
        if why is not None:
            notes.append(Message("background.left_out", {"column": name, "why": why}))
        else:
            variables.append(BackgroundVariable(name, _groups(people[name])))
    return variables, notes


def _unfit(column: pl.Series) -> Message | None:
    """Why a column is no background variable, if it is none."""
    name = column.name.lower()
    if column.dtype.is_temporal() or name in TIMES:
        return Message("background.time")
    if name == "id" or name.endswith("_id"):
        return Message("background.names")
    if name in QUIZ:
        return Message("background.criterion")
    texts = _texts(column).drop_nulls()
    different = texts.n_unique()
    if different < 2:
        same = different and len(texts) == len(column)
        return Message("background.same_value" if same else "background.too_few_values")
    # Two participants that differ are two groups; three and more who all differ are names, or as good as names.
    if different == len(texts) and different > 2:
        return Message("background.all_different")
    if not column.dtype.is_numeric() and different > MOST_GROUPS:
        return Message("background.too_many_values", {"values": different})
    return None


def _named(column: pl.Series) -> BackgroundVariable:
    """A variable that was asked for by name."""
    if column.dtype.is_temporal():
        raise KaratError(f"{column.name} is a time, which has no groups. Add a column that says which time is meant.")
    different = _texts(column).drop_nulls().n_unique()
    if not column.dtype.is_numeric() and different > MOST_GROUPS:
        raise KaratError(
            f"{column.name} has {different} different values, too many to compare. Add a column with at most "
            f"{MOST_GROUPS} groups."
        )
    return BackgroundVariable(column.name, _groups(column))


def _texts(column: pl.Series) -> pl.Series:
    """The values as text, empty ones missing."""
    if column.dtype.is_float():
        column = column.fill_nan(None)
    texts = column.cast(pl.String).str.strip_chars()
    return texts.set(texts == "", None)


def _groups(column: pl.Series) -> dict[str, NDArray[np.bool_]]:
    numeric = column.dtype.is_numeric()
    if numeric and column.drop_nulls().n_unique() > MOST_NUMBERS:
        groups = _cut(column.cast(pl.Float64).fill_nan(None))
    else:
        texts = _texts(column)
        found = texts.drop_nulls().unique().to_list()
        ordered = sorted(found, key=float) if numeric else sorted(found)
        groups = {}
        for text in ordered:
            # Numbers that differ by rounding only are one group.
            label = f"{float(text):.10g}" if numeric else text
            groups[label] = groups.get(label, np.zeros(len(column), dtype=bool)) | _mask(texts == text)
    missing = _mask(_texts(column).is_null())
    if missing.any():
        groups[NOT_KNOWN] = groups.get(NOT_KNOWN, np.zeros_like(missing)) | missing
    return groups


def _cut(numbers: pl.Series) -> dict[str, NDArray[np.bool_]]:
    """Numbers in groups between their quartiles or tertiles; groups that would be empty are left out."""
    known = np.sort(numbers.drop_nulls().to_numpy())
    parts = 4 if len(known) >= ENOUGH_FOR_QUARTILES else 3
    wanted = [float(f"{known[len(known) * part // parts]:.3g}") for part in range(1, parts)]
    cuts = sorted({cut for cut in wanted if known[0] < cut <= known[-1]})
    ends = [-np.inf, *cuts, np.inf]
    groups = {}
    for low, high in pairwise(ends):
        label = f"{low:,.10g} to under {high:,.10g}"
        label = f"under {high:,.10g}" if low == -np.inf else f"{low:,.10g} and over" if high == np.inf else label
        mask = _mask(
            (numbers >= low) & (numbers < high if high < np.inf else pl.repeat(True, len(numbers), eager=True))
        )
        if mask.any():
            groups["all" if not cuts else label] = mask
    return groups


def _mask(values: pl.Series) -> NDArray[np.bool_]:
    return values.fill_null(False).to_numpy().astype(bool)
