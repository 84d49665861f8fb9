"""Answers as agreement, stability and consensus look at them: who, to which stimulus, which category, which number.

A stimulus is an item in one of its conditions; each question is looked at by itself. Conditions are columns that karat
does not know by name, hold text or truth values, and differ within an item and within a participant. One that would
leave hardly two participants a stimulus (under 1.5 on average), or that follows from the answer (such as right and
wrong), is none. `conditions` names others, and an empty list takes items as they are.

Answers to questions that were shown the other way round are turned (polarity). A choice counts as the item that was
chosen, not as its side. Points of a rating scale count from 1, yes and no as 1 and 0, magnitudes as logarithms of the
ratio to the modulus, a choice as 1 for the first item by name, 0 for the second and one half for no difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.columns import COLUMNS, FUNCTIONS, nearest
from karat.errors import counted
from karat.judgments import Judgments
from karat.measure.errors import MeasureError
from karat.scales import Binary, Choice, Continuous, Magnitude, Nominal, Ordinal, Scale

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
SHARED = 1.5
"""How many participants must share a stimulus on average for a column to count as a condition."""
LAST = 2**62
"""Where a trial without a position stands."""
OWN = ("_category", "_value", "_stimulus", "_rater")


@dataclass(frozen=True)
class Rated:
    """The answers to one question, one row each."""

    question: str
    scale: Scale
    rows: pl.DataFrame
    """The rows of the judgments with _rater, _stimulus, _category (-1 where there are none) and _value."""
    people: list[str]
    stimuli: pl.DataFrame
    """item and conditions of each stimulus, by its number."""
    levels: tuple[str, ...]
    """The names of the categories; none for numbers."""
    notes: tuple[str, ...] = ()

    @property
    def rater(self) -> Ints:
        """The participant of each answer, by number."""
        return self.rows["_rater"].to_numpy()

    @property
    def stimulus(self) -> Ints:
        """The stimulus of each answer, by number."""
        return self.rows["_stimulus"].to_numpy()

    @property
    def category(self) -> Ints:
        """The category of each answer, by number."""
        return self.rows["_category"].to_numpy()

    @property
    def value(self) -> Floats:
        """Each answer as a number; NaN where there are more than two labels."""
        return self.rows["_value"].to_numpy()

    @property
    def has_numbers(self) -> bool:
        """Whether answers stand for numbers."""
        return not isinstance(self.scale, Nominal)


def rated(
    judgments: Judgments,
    measure: str,
    functions: Sequence[str] = ("test",),
    conditions: Sequence[str] | None = None,
    once: Sequence[str] | None = (),
) -> list[Rated]:
    """The answers to each question, or the reason why a measure has none to look at.

    Of several answers of a participant to a stimulus the first is taken; `once` names columns, such as session, within
    which that holds, and None keeps all.

    >>> import karat
    >>> (found,) = rated(karat.datasets.load("crowd"), "agreement")
    >>> len(found.people), found.stimuli.height, found.levels
    (120, 80, ('0', '1'))
    """
    frame = judgments.frame
    unknown = [name for name in functions if name not in FUNCTIONS]
    if unknown or not functions:
        raise MeasureError(f"{measure}: functions must be some of {', '.join(FUNCTIONS)}, got {list(functions)}.")
    wanted = frame.select(pl.col("function").is_in(list(functions)) & pl.col("response").is_not_null()).to_series()
    rows = frame if wanted.all() else frame.filter(wanted)
    if not rows.height:
        answered = frame.filter(pl.col("response").is_not_null())["function"].unique().sort().to_list()
        only = f", only to {', '.join(answered)}. Say functions=[...] for others." if answered else " and to no others."
        raise MeasureError(f"{measure}: there are no answers to {' or '.join(functions)} trials{only}")
    return [
        _question(question, judgments.scales[question], part, measure, conditions, once)
        for question, part in _questions(judgments, rows)
    ]


def asked_about(found: Sequence[Rated], question: str | None, measure: str) -> Rated:
    """The answers to the question that is named; where there is only one it need not be.

    >>> import karat
    >>> asked_about(rated(karat.datasets.load("crowd"), "strengths"), None, "strengths").rows.height
    9600
    """
    names = [one.question for one in found]
    if question in names:
        return found[names.index(question)]
    if question is None and len(found) == 1:
        return found[0]
    wrong = f"the answers are to {len(found)} questions"
    if question is not None:
        wrong = f"there are no answers to the question {question}"
    close = nearest(question, names) if question else None
    known = ", ".join(name or repr(name) for name in names)
    mend = f"is {close} meant?" if close else f"say question=... for one of {known}."
    raise MeasureError(f"{measure}: {wrong}; {mend}")


def stimulus_labels(stimuli: pl.DataFrame) -> list[str]:
    """The name of each stimulus: its item, and its conditions where there are some.

    >>> stimulus_labels(pl.DataFrame({"item": ["a", "b"], "order": ["SVO", "OVS"]}))
    ['a, SVO', 'b, OVS']
    """
    return [", ".join(str(part) for part in row) for row in stimuli.iter_rows()]


def _questions(judgments: Judgments, rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    if "question" not in rows.columns:
        yield ("" if "" in judgments.scales else next(iter(judgments.scales))), rows
        return
    for question in judgments.scales:
        part = rows.filter(pl.col("question").fill_null("") == question)
        if part.height:
            yield question, part


def _question(
    question: str,
    scale: Scale,
    rows: pl.DataFrame,
    measure: str,
    conditions: Sequence[str] | None,
    once: Sequence[str] | None,
) -> Rated:
    notes = []
    if conditions is None:
        found = design_columns(rows, once or ())
        if found:
            notes.append(f"Stimuli are items by {' and '.join(found)}; say conditions=[...] for others.")
    else:
        found = [known_column(rows, name, measure) for name in conditions]
    keys = ["item", *found]
    # One column by itself is several times faster than a table of one column.
    stimuli = rows["item"].unique(maintain_order=True).to_frame()
    if found:
        stimuli = rows.select(keys).unique(maintain_order=True)
    people = rows["participant"].unique(maintain_order=True)
    rows = rows.with_columns(
        *_numbers(scale, rows), _stimulus=_coded(rows, stimuli), _rater=_coded(rows, people.to_frame())
    )
    if once is not None:
        first = _first_answers(rows, once)
        if len(first) < rows.height:
            more = counted(rows.height - len(first), "answer")
            notes.append(f"{more} left out: somebody's second to the same stimulus.")
            rows = rows[first]
    levels = _level_names(scale, rows)
    return Rated(question, scale, rows, people.to_list(), stimuli, levels, tuple(notes))


def _first_answers(rows: pl.DataFrame, once: Sequence[str]) -> Ints:
    """The places of everybody's first answer to each stimulus, by trial where there is one."""
    code = rows["_rater"].to_numpy() * rows.height + rows["_stimulus"].to_numpy()
    for name in once:
        groups = rows.select(pl.col(name).unique())
        code = code * groups.height + _coded(rows, groups).to_numpy()
    # Sorting alone is much faster than finding places too, and second answers are rare.
    ordered = np.sort(code)
    if (ordered[1:] != ordered[:-1]).all():
        return np.arange(len(code))
    order = np.arange(len(code))
    if "trial" in rows.columns:
        order = np.argsort(rows["trial"].fill_null(LAST).to_numpy(), kind="stable")
    return np.sort(order[np.unique(code[order], return_index=True)[1]])


def _coded(rows: pl.DataFrame, groups: pl.DataFrame) -> pl.Series:
    """The number of each row's group."""
    keys = groups.columns
    if len(keys) == 1 and not groups[keys[0]].null_count():
        # The usual case of large crowds, and faster than a join.
        kind = pl.Enum(groups[keys[0]].cast(pl.String))
        return rows[keys[0]].cast(pl.String).cast(kind).to_physical().cast(pl.Int64)
    numbered = groups.with_row_index("_number")
    found = rows.select(keys).join(numbered, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return found["_number"].cast(pl.Int64)


def design_columns(rows: pl.DataFrame, besides: Sequence[str] = ()) -> list[str]:
    """The columns that are conditions of the design, by the rules above.

    >>> import karat
    >>> likert = karat.datasets.load("likert").frame
    >>> design_columns(likert.filter(pl.col("function") == "test"))
    ['order', 'integration']
    """
    found: list[str] = []
    kinds = (pl.String, pl.Boolean)
    names = [name for name in rows.columns if name not in (*COLUMNS, *besides, *OWN) and rows.schema[name] in kinds]
    # Names of stimuli come last: they tell apart only what no condition does.
    for name in sorted(names, key=lambda name: names_stimuli(rows, name)):
        keys = ["item", *found]
        varies = rows.select(*keys, name).n_unique() > rows.select(keys).n_unique()
        within = rows.group_by("participant").agg(pl.col(name).n_unique())[name].max()
        if not varies or within == 1 or _follows_from_answer(rows, keys, name):
            continue
        if rows.select("participant", *keys, name).n_unique() >= SHARED * rows.select(*keys, name).n_unique():
            found.append(name)
    return found


def names_stimuli(rows: pl.DataFrame, name: str) -> bool:
    """Whether each value of a column belongs to one item, as the name of a stimulus does and a condition does not.

    >>> names_stimuli(pl.DataFrame({"item": ["a", "a", "b", "b"], "version": ["a1", "a2", "b1", "b2"]}), "version")
    True
    """
    if rows["item"].n_unique() < 2:
        return False
    return rows.select("item", name).drop_nulls().n_unique() == rows[name].drop_nulls().n_unique()


def _follows_from_answer(rows: pl.DataFrame, keys: list[str], name: str) -> bool:
    """Whether those who gave the same answer to a stimulus all have the same value."""
    answered = [*keys, "response"]
    shared = rows.filter(rows.select(answered).is_duplicated())
    if shared.select(*keys, name).n_unique() == shared.select(keys).n_unique():
        return False
    return shared.select(*answered, name).n_unique() == shared.select(answered).n_unique()


def known_column(rows: pl.DataFrame, name: str, measure: str) -> str:
    """The name of a column that is there; else an error with the nearest.

    >>> known_column(pl.DataFrame({"order": ["a"]}), "ordre", "agreement")
    Traceback (most recent call last):
    ...
    karat.measure.errors.MeasureError: agreement: there is no column ordre; is order meant?
    """
    if name in rows.columns:
        return name
    close = nearest(name, rows.columns)
    raise MeasureError(f"{measure}: there is no column {name}" + (f"; is {close} meant?" if close else "."))


def _numbers(scale: Scale, rows: pl.DataFrame) -> list[pl.Expr]:
    """The category and the number of each answer."""
    turned = pl.col("polarity") == -1 if "polarity" in rows.columns else pl.lit(False)
    turned = turned.fill_null(False)
    if isinstance(scale, Choice):
        return _chosen(rows, turned)
    if isinstance(scale, Binary | Ordinal | Nominal):
        last = len(scale.levels) - 1
        place = pl.col("response").replace_strict(list(scale.levels), list(range(last + 1)), return_dtype=pl.Int64)
        if not isinstance(scale, Nominal):
            place = pl.when(turned).then(last - place).otherwise(place)
        number = place.cast(pl.Float64) + (1.0 if isinstance(scale, Ordinal) else 0.0)
        # Of two labels the second counts as 1, as yes does; more have no numbers.
        value = pl.lit(float("nan")) if isinstance(scale, Nominal) and last > 1 else number
        return [place.alias("_category"), value.alias("_value")]
    number = pl.col("response").cast(pl.Float64)
    if isinstance(scale, Magnitude):
        number = (number / (scale.modulus or 1.0)).log()
    ends = 0.0
    if isinstance(scale, Continuous) and scale.low is not None and scale.high is not None:
        ends = scale.low + scale.high
    number = pl.when(turned).then(ends - number).otherwise(number)
    return [pl.lit(-1, dtype=pl.Int64).alias("_category"), number.alias("_value")]


def _chosen(rows: pl.DataFrame, turned: pl.Expr) -> list[pl.Expr]:
    """Which item of a pair was chosen, by the order of names; by side where the items are not named."""
    left = pl.col("response") == "left"
    if {"left", "right"} <= set(rows.columns):
        turned = pl.col("left") > pl.col("right")
    first = left != turned
    none = pl.col("response") == "none"
    category = pl.when(none).then(2).when(first).then(0).otherwise(1).cast(pl.Int64)
    value = pl.when(none).then(0.5).when(first).then(1.0).otherwise(0.0)
    return [category.alias("_category"), value.alias("_value")]


def _level_names(scale: Scale, rows: pl.DataFrame) -> tuple[str, ...]:
    if isinstance(scale, Choice):
        named = {"left", "right"} <= set(rows.columns)
        return (("first", "second") if named else ("left", "right")) + (("none",) if scale.none else ())
    levels: tuple[str, ...] = getattr(scale, "levels", ())
    return levels
