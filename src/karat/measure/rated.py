"""Answers as numbers for agreement, stability and consensus: participant, stimulus, category and value.

A stimulus is an item in one of its conditions (`karat.judgments.stimuli`); each question is separate. `conditions`
names other columns, and an empty list takes items as stimuli. In choices, different pairs of one item are different
stimuli, regardless of sides; the column `compared` names them.

Answers to questions that were shown the other way round are reversed (polarity). A choice counts as the item that was
chosen, not as its side. Points of a rating scale count from 1, yes and no as 1 and 0, magnitudes as logarithms of the
ratio to the modulus, a choice as 1 for the first item by name, 0 for the second and one half for no difference.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from karat.judgments import Judgments
from karat.judgments.answer_codes import log_magnitude
from karat.judgments.columns import FUNCTIONS, unknown_name
from karat.judgments.scales import Binary, Choice, Continuous, Magnitude, Nominal, Ordinal, Scale
from karat.judgments.stimuli import PAIR, groups_and_numbers, numbered, with_choices
from karat.judgments.trial_order import with_positions
from karat.measure.result import MeasureError
from karat.messages import Message
from karat.types import Floats, Ints

LAST = 2**62
"""The position of a trial without one."""
COMPARED = "compared"
"""The column of `Rated.stimuli` that names the two items of a choice, if an item comes in several pairs."""


@dataclass(frozen=True)
class Rated:
    """The answers to one question, one row each."""

    question: str
    scale: Scale
    rows: pl.DataFrame
    """The rows of the judgments with _rater, _stimulus, _category (-1 without categories) and _value."""
    people: list[str]
    stimuli: pl.DataFrame
    """The item and conditions of each stimulus, by its number."""
    levels: tuple[str, ...]
    """The names of the categories; empty for numbers."""
    notes: tuple[Message, ...] = ()

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
        """Each answer as a number; NaN if there are more than two labels."""
        return self.rows["_value"].to_numpy()

    @property
    def has_numbers(self) -> bool:
        """Whether answers have values."""
        return not isinstance(self.scale, Nominal)


def rated(
    judgments: Judgments,
    measure: str,
    functions: Sequence[str] = ("test",),
    conditions: Sequence[str] | None = None,
    once: Sequence[str] | None = (),
) -> list[Rated]:
    """The answers to each question; an error if a measure has none.

    Of several answers of a participant to a stimulus only the first counts; `once` names columns, such as session,
    within which this applies, and None keeps all answers.
    """
    frame = judgments.frame
    unknown = [name for name in functions if name not in FUNCTIONS]
    if unknown or not functions:
        raise MeasureError(Message("rated.functions", {"known": FUNCTIONS, "given": list(functions)}))
    wanted = frame.select(pl.col("function").is_in(list(functions)) & pl.col("response").is_not_null()).to_series()
    rows = frame if wanted.all() else frame.filter(wanted)
    if not rows.height:
        answered = frame.filter(pl.col("response").is_not_null())["function"].unique().sort().to_list()
        request = {"functions": list(functions), "answered": answered or None}
        raise MeasureError(Message("rated.no_answers", request))
    return [
        _question(question, judgments, part, measure, conditions, once)
        for question, part in _questions(judgments, rows)
    ]


def answers_to(question: str | None, parts: Sequence[Rated], measure: str) -> Rated:
    """The answers to the named question, or to the only one."""
    names = [answers.question for answers in parts]
    if question in names:
        return parts[names.index(question)]
    if question is None and len(parts) == 1:
        return parts[0]
    questions = [name or repr(name) for name in names]
    if question is None:
        raise MeasureError(Message("rated.several_questions", {"n": len(parts), "known": questions}))
    raise MeasureError(unknown_name("rated.no_question", question, questions))


def stimulus_labels(stimuli: pl.DataFrame) -> list[str]:
    """The name of each stimulus: its item with its conditions."""
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
    judgments: Judgments,
    rows: pl.DataFrame,
    measure: str,
    conditions: Sequence[str] | None,
    once: Sequence[str] | None,
) -> Rated:
    notes: list[Message] = []
    scale = judgments.scales[question]
    if conditions is None:
        decided = judgments.stimuli(scale)
        columns = decided.varying(rows, once or ())
        notes += [Message("stimuli.conditions", {"names": columns})] if columns else []
        notes += decided.messages
    else:
        columns = [known_column(rows, name, measure) for name in conditions]
    stimuli, number = _stimuli(rows, scale, columns)
    people, rater = groups_and_numbers(rows, ["participant"])
    rows = rows.with_columns(*_numbers(scale, rows), _stimulus=number, _rater=rater)
    if once is not None:
        first = _first_answers(rows, once)
        if len(first) < rows.height:
            notes.append(Message("rated.second_answers", {"n": rows.height - len(first)}))
            rows = rows[first]
    sided = isinstance(scale, Choice) and {"left", "right"} <= set(rows.columns)
    levels = ("first", "second", *scale.levels[2:]) if sided else scale.levels
    return Rated(question, scale, rows, people["participant"].to_list(), stimuli, levels, tuple(notes))


def _stimuli(rows: pl.DataFrame, scale: Scale, conditions: Sequence[str]) -> tuple[pl.DataFrame, pl.Series]:
    """The stimuli by item, conditions and, if an item comes in several pairs, the two items of the choice."""
    keys = ["item", *conditions]
    if isinstance(scale, Choice) and {"left", "right"} <= set(rows.columns):
        pairs = with_choices(rows).with_columns(pl.concat_str(PAIR, separator=" / ").alias(COMPARED))
        several = groups_and_numbers(pairs, [*keys, COMPARED])
        if several[0].height > rows.select(keys).n_unique():
            return several
    return groups_and_numbers(rows, keys)


def _first_answers(rows: pl.DataFrame, once: Sequence[str]) -> Ints:
    """The places of each participant's first answers to stimuli; the first row if the order of trials is unknown."""
    code = rows["_rater"].to_numpy() * rows.height + rows["_stimulus"].to_numpy()
    for name in once:
        number = numbered(rows, [name]).to_numpy()
        code = code * (number.max(initial=0) + 1) + number
    # Sorting alone is much faster than finding places, and second answers are rare.
    ordered = np.sort(code)
    if (ordered[1:] != ordered[:-1]).all():
        return np.arange(len(code))
    order = np.argsort(with_positions(rows)["trial"].fill_null(LAST).to_numpy(), kind="stable")
    return np.sort(order[np.unique(code[order], return_index=True)[1]])


def known_column(rows: pl.DataFrame, name: str, measure: str) -> str:
    """The name of a column; if it does not exist, an error that names the most similar."""
    if name in rows.columns:
        return name
    raise MeasureError(unknown_name("unknown.column", name, rows.columns))


def _numbers(scale: Scale, rows: pl.DataFrame) -> list[pl.Expr]:
    """The category and the number of each answer."""
    is_reversed = (pl.col("polarity") == -1).fill_null(False) if "polarity" in rows.columns else pl.lit(False)
    if isinstance(scale, Choice):
        return _choice_numbers(rows, is_reversed)
    if isinstance(scale, Binary | Ordinal | Nominal):
        last = len(scale.levels) - 1
        place = pl.col("response").replace_strict(list(scale.levels), list(range(last + 1)), return_dtype=pl.Int64)
        if not isinstance(scale, Nominal):
            place = pl.when(is_reversed).then(last - place).otherwise(place)
        number = place.cast(pl.Float64)
        if isinstance(scale, Ordinal):
            number = place.replace_strict(list(range(last + 1)), list(scale.numbers), return_dtype=pl.Float64)
        # Of two labels the second counts as 1, like yes; more labels have no numbers.
        value = pl.lit(float("nan")) if isinstance(scale, Nominal) and last > 1 else number
        return [place.alias("_category"), value.alias("_value")]
    number = pl.col("response").cast(pl.Float64)
    if isinstance(scale, Magnitude):
        number = log_magnitude(number / (scale.modulus or 1.0))
    ends = 0.0
    if isinstance(scale, Continuous) and scale.low is not None and scale.high is not None:
        ends = scale.low + scale.high
    number = pl.when(is_reversed).then(ends - number).otherwise(number)
    return [pl.lit(-1, dtype=pl.Int64).alias("_category"), number.alias("_value")]


def _choice_numbers(rows: pl.DataFrame, is_reversed: pl.Expr) -> list[pl.Expr]:
    """The category and the number of each choice: the first item by name, or the left side if items have no names."""
    left = pl.col("response") == "left"
    if {"left", "right"} <= set(rows.columns):
        is_reversed = pl.col("left") > pl.col("right")
    first = left != is_reversed
    none = pl.col("response") == "none"
    category = pl.when(none).then(2).when(first).then(0).otherwise(1).cast(pl.Int64)
    value = pl.when(none).then(0.5).when(first).then(1.0).otherwise(0.0)
    return [category.alias("_category"), value.alias("_value")]
