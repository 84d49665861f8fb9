"""The answers and conditions of a formula in the form that models need.

`response` in a formula is the answer: the points of a rating scale in their order, yes or no, the number of a slider,
or the logarithm of a magnitude's ratio to the modulus. as.numeric(response) is the points of a rating scale as
measured numbers. Another column may stand there, such as log(rt). Columns that
only the table of participants has, such as their age or group, may be used as well.

Without a formula, the largest one that the design supports is taken (`karat.study.designs.factorial`). The numbers of
a condition, such as 1 to 4, are then names of its levels, unless there are more than `MOST_LEVELS`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from karat.judgments import Judgments
from karat.judgments.scales import Magnitude, Nominal, Ordinal, Scale
from karat.judgments.stimuli import Stimuli, natural_order
from karat.measure.rated import Rated, asked_about, known_column, rated
from karat.measure.result import MeasureError, refused
from karat.messages import Message
from karat.models.glrm.families import FamilyName
from karat.models.glrm.formulas.formula import names_in, read_formula
from karat.models.glrm.formulas.syntax import Call
from karat.study.designs.factorial import DesignFormula, answer_family, largest_formula
from karat.types import Floats

ANSWER = "response"
MOST_LEVELS = 12
"""A condition in numbers with more values than this is a measurement, whose effect is taken to be linear."""


@dataclass(frozen=True)
class Asked:
    """The model to fit."""

    formula: str
    simple: str
    """The formula to fall back on; empty if a formula was given."""
    family: FamilyName
    data: dict[str, Any]
    levels: dict[str, Sequence[str]]
    plain: Floats
    """The answers as numbers, for plain means."""
    question: str
    conditions: tuple[str, ...]
    unit: Message | None
    """None if it is that of the family."""
    notes: tuple[Message, ...]


def one_question(judgments: Judgments, measure: str, question: str | None, functions: Sequence[str]) -> Rated:
    """The answers to one question; where there are several it must be named."""
    return asked_about(rated(judgments, measure, functions, [], once=None), question, measure)


def asked_for(
    judgments: Judgments,
    formula: str | None,
    conditions: Sequence[str] | None,
    question: str | None,
    functions: Sequence[str],
) -> Asked:
    """The formula and the data of contrasts."""
    if formula is not None and conditions is not None:
        raise MeasureError(Message("contrasts.formula_and_conditions"))
    one = one_question(judgments, "contrasts", question, functions)
    rows = with_people(one.rows, judgments.participants)
    if formula is None:
        names = _conditions(rows, conditions, judgments.stimuli(one.scale))
        rows, notes = _in_levels(rows, names)
        made = design_formula(rows, names)
        text, simple, notes = made.text, made.simple, [*notes, *made.notes]
    else:
        text, simple, notes = formula, "", []
    with refused():
        read = read_formula(text)
    answers = [name.text for name in names_in(read.response.tree)]
    tree = read.response.tree
    as_number = isinstance(tree, Call) and tree.function == "as.numeric"
    if answers == [ANSWER] and not as_number:
        family, unit, plain = family_of(one.scale, "contrasts"), scale_unit(one), one.value
    else:
        family, plain = "gaussian", one.value if answers == [ANSWER] else _measured(rows, answers)
        unit = Message("unit.column", {"column": read.response.label})
    data, levels = columns_of(one, rows, family)
    named = [name.text for variable in read.variables.values() for name in names_in(variable.tree)]
    factors = [name for name in named if name != ANSWER and rows.schema.get(name) == pl.String]
    levels |= {name: _ordered((), data[name]) for name in factors}
    keys = list(dict.fromkeys(["participant", "item", *(name for name in named if name in rows.columns)]))
    repeats = rows.height - rows.select(keys).n_unique()
    notes += [Message("contrasts.repeats", {"n": repeats})] if repeats else []
    return Asked(
        text, simple, family, data, levels, plain, one.question, tuple(dict.fromkeys(named)), unit, tuple(notes)
    )


def with_levels(asked: Asked, levels: Mapping[str, Sequence[str]] | None) -> Asked:
    """The same with the levels of conditions in another order."""
    named = (levels or {}).items()
    known = {name: _ordered(own, asked.data[name]) for name, own in named if name in asked.conditions}
    return replace(asked, levels={**asked.levels, **known})


def _ordered(stated: Sequence[str], values: Any) -> list[str]:
    """The levels that occur: first those with a stated order, then others in natural order."""
    there = {str(value) for value in values if value is not None}
    return [level for level in stated if level in there] + sorted(there - set(stated), key=natural_order)


def columns_of(one: Rated, rows: pl.DataFrame, family: FamilyName) -> tuple[dict[str, Any], dict[str, Sequence[str]]]:
    """All columns as the models take them, with the answers turned the right way round, and the order of answers."""
    data: dict[str, Any] = {
        name: rows[name].to_numpy() if rows[name].dtype.is_numeric() else rows[name].to_list()
        for name in rows.columns
        if not name.startswith("_") and (rows[name].dtype in (pl.String, pl.Boolean) or rows[name].dtype.is_numeric())
    }
    if family == "gaussian":
        data[ANSWER] = one.value
        return data, {}
    data[ANSWER] = np.array(one.levels, dtype=object)[one.category]
    return data, {ANSWER: one.levels}


def with_people(rows: pl.DataFrame, people: pl.DataFrame) -> pl.DataFrame:
    """The answers with what is known of the participants, where the answers have no column of that name."""
    new = [name for name in people.columns if name not in rows.columns]
    return rows.join(people.select("participant", *new), on="participant", how="left", maintain_order="left")


def _conditions(rows: pl.DataFrame, conditions: Sequence[str] | None, stimuli: Stimuli) -> list[str]:
    if conditions is None:
        found = stimuli.effects(rows)
        if not found:
            raise MeasureError(Message("contrasts.no_condition"))
        return found
    if not conditions:
        raise MeasureError(Message("contrasts.empty_conditions"))
    return [known_column(rows, name, "contrasts") for name in conditions]


def _in_levels(rows: pl.DataFrame, conditions: Sequence[str]) -> tuple[pl.DataFrame, list[Message]]:
    """The rows with conditions in few numbers as text, so that they are factors; where that matters, a note on it."""
    numbers = {name: rows[name].drop_nulls().n_unique() for name in conditions if rows[name].dtype.is_numeric()}
    few = [name for name, n in numbers.items() if n <= MOST_LEVELS]
    several, many = [name for name in few if numbers[name] > 2], [name for name in numbers if name not in few]
    notes = [Message("contrasts.numbers_levels", {"names": several})] if several else []
    notes += [Message("contrasts.numbers_linear", {"names": many})] if many else []
    return rows.with_columns(pl.col(few).cast(pl.String)), notes


def _measured(rows: pl.DataFrame, names: Sequence[str]) -> Floats:
    """The first column behind a response that is not the answer, as it is; the model says where there is none."""
    if not names or names[0] not in rows.columns or not rows[names[0]].dtype.is_numeric():
        return np.full(rows.height, np.nan)
    return rows[names[0]].cast(pl.Float64).fill_null(np.nan).to_numpy()


def scale_unit(one: Rated) -> Message | None:
    """The unit of a model's estimates where the scale decides it; None where it is that of the family."""
    if isinstance(one.scale, Ordinal):
        return Message("unit.latent_logits")
    if isinstance(one.scale, Magnitude):
        return Message("unit.log_ratios") if one.scale.modulus else Message("unit.log_magnitudes")
    return None


def family_of(scale: Scale, measure: str) -> FamilyName:
    """The family of models that a scale's answers have."""
    family = answer_family(scale)
    if family is not None:
        return family
    if isinstance(scale, Nominal):
        raise MeasureError(Message("contrasts.labels", {"measure": measure}))
    raise MeasureError(Message("contrasts.choices", {"measure": measure}))


def design_formula(rows: pl.DataFrame, conditions: Sequence[str]) -> DesignFormula:
    """The maximal formula for these conditions."""
    if not rows.drop_nulls(list(conditions)).height:
        raise MeasureError(Message("contrasts.no_values", {"conditions": list(conditions)}))
    return largest_formula(rows, conditions)


def named_groups(notes: Sequence[Message]) -> list[Message]:
    """The notes of a fit, with participants and items in place of the levels of a factor."""
    return [_same(note) if note.code == "fit.same_answers" else note for note in notes]


def _same(note: Message) -> Message:
    values = {"n": note.values["n"], "total": note.values["levels"]}
    if note.values["group"] == "participant":
        return Message("contrasts.same_participants", values)
    return Message("contrasts.same_items", values) if note.values["group"] == "item" else note
