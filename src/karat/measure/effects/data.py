"""The answers and conditions of a formula in the form that models need.

`response` in a formula is the answer: the points of a rating scale in their order, yes or no, the number of a slider,
or the logarithm of a magnitude's ratio to the modulus. as.numeric(response) treats the points of a rating scale as
measured numbers. The left side may also be another column, such as log(rt). Columns of the table of participants, such
as age or group, can be used as well.

Without a formula, the largest one that the design supports is fitted (`karat.study.designs.factorial`). The numbers of
a condition, such as 1 to 4, are then names of levels, unless there are more than `MOST_LEVELS`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from karat.judgments import Judgments
from karat.judgments.scales import Magnitude, Nominal, Ordinal, Scale
from karat.judgments.stimuli import Stimuli, natural_order
from karat.measure.rated import Rated, answers_to, known_column, rated
from karat.measure.result import MeasureError, refused
from karat.messages import Message
from karat.models.glrm.families import FamilyName
from karat.models.glrm.formulas.formula import names_in, read_formula
from karat.models.glrm.formulas.syntax import Call
from karat.study.designs.factorial import DesignFormula, answer_family, largest_formula
from karat.types import Floats

ANSWER = "response"
MOST_LEVELS = 12
"""A numeric condition with more values than this is a measurement with a linear effect."""


@dataclass(frozen=True)
class ModelInput:
    """The formula and data of the model to fit."""

    formula: str
    simpler: tuple[str, ...]
    """The simpler formulas to use if the first cannot be fitted; none if the user gave a formula."""
    family: FamilyName
    data: dict[str, Any]
    levels: dict[str, Sequence[str]]
    plain: Floats
    """The answers as numbers, for plain means."""
    question: str
    conditions: tuple[str, ...]
    unit: Message
    notes: tuple[Message, ...]


def one_question(judgments: Judgments, measure: str, question: str | None, functions: Sequence[str]) -> Rated:
    """The answers to one question, which must be named if there are several."""
    return answers_to(question, rated(judgments, measure, functions, [], once=None), measure)


def model_input(
    judgments: Judgments,
    formula: str | None,
    conditions: Sequence[str] | None,
    question: str | None,
    functions: Sequence[str],
) -> ModelInput:
    """The formula and the data of contrasts."""
    if formula is not None and conditions is not None:
        raise MeasureError(Message("contrasts.formula_and_conditions"))
    rated_items = one_question(judgments, "contrasts", question, functions)
    rows = with_people(rated_items.rows, judgments.participants)
    if formula is None:
        names = _conditions(rows, conditions, judgments.stimuli(rated_items.scale))
        rows, notes = _in_levels(rows, names)
        design = design_formula(rows, names)
        text, simpler, notes = design.text, design.simpler, [*notes, *design.notes]
    else:
        text, simpler, notes = formula, (), []
    with refused():
        parsed = read_formula(text)
    tree = parsed.response.tree
    answers = [name.text for name in names_in(tree)]
    plain = rated_items.value if answers == [ANSWER] else _measured(rows, answers)
    if answers == [ANSWER] and not (isinstance(tree, Call) and tree.function == "as.numeric"):
        family = family_of(rated_items.scale, "contrasts")
        unit = answer_unit(rated_items.scale, family)
    else:
        family, unit = "gaussian", Message("unit.column", {"column": parsed.response.label})
    data, levels = columns_of(rated_items, rows, family)
    named = [name.text for variable in parsed.variables.values() for name in names_in(variable.tree)]
    factors = [name for name in named if name != ANSWER and rows.schema.get(name) == pl.String]
    levels |= {name: _ordered((), data[name]) for name in factors}
    keys = list(dict.fromkeys(["participant", "item", *(name for name in named if name in rows.columns)]))
    repeats = rows.height - rows.select(keys).n_unique()
    notes += [Message("contrasts.repeats", {"n": repeats})] if repeats else []
    return ModelInput(
        text, simpler, family, data, levels, plain, rated_items.question, tuple(dict.fromkeys(named)), unit,
        tuple(notes),
    )  # fmt: skip


def with_levels(inputs: ModelInput, levels: Mapping[str, Sequence[str]] | None) -> ModelInput:
    """The same model with the levels of conditions in another order."""
    orders = (levels or {}).items()
    ordered = {name: _ordered(order, inputs.data[name]) for name, order in orders if name in inputs.conditions}
    return replace(inputs, levels={**inputs.levels, **ordered})


def _ordered(order: Sequence[str], values: Any) -> list[str]:
    """The levels that occur: those in `order` first, then the others in natural order."""
    levels = {str(value) for value in values if value is not None}
    return [level for level in order if level in levels] + sorted(levels - set(order), key=natural_order)


def columns_of(
    answers: Rated, rows: pl.DataFrame, family: FamilyName
) -> tuple[dict[str, Any], dict[str, Sequence[str]]]:
    """All columns in the form that models need, with reversed answers turned round; and the order of the answers."""
    data: dict[str, Any] = {
        name: rows[name].to_numpy() if rows[name].dtype.is_numeric() else rows[name].to_list()
        for name in rows.columns
        if not name.startswith("_") and (rows[name].dtype in (pl.String, pl.Boolean) or rows[name].dtype.is_numeric())
    }
    if family == "gaussian":
        data[ANSWER] = answers.value
        return data, {}
    data[ANSWER] = np.array(answers.levels, dtype=object)[answers.category]
    return data, {ANSWER: answers.levels}


def with_people(rows: pl.DataFrame, people: pl.DataFrame) -> pl.DataFrame:
    """The answers with those columns about participants that they do not have yet."""
    new = [name for name in people.columns if name not in rows.columns]
    return rows.join(people.select("participant", *new), on="participant", how="left", maintain_order="left")


def _conditions(rows: pl.DataFrame, conditions: Sequence[str] | None, stimuli: Stimuli) -> list[str]:
    if conditions is None:
        names = stimuli.effects(rows)
        if not names:
            raise MeasureError(Message("contrasts.no_condition"))
        return names
    if not conditions:
        raise MeasureError(Message("contrasts.empty_conditions"))
    return [known_column(rows, name, "contrasts") for name in conditions]


def _in_levels(rows: pl.DataFrame, conditions: Sequence[str]) -> tuple[pl.DataFrame, list[Message]]:
    """The rows with numeric conditions of few values as text, which makes them factors; and notes on other numbers."""
    numbers = {name: rows[name].drop_nulls().n_unique() for name in conditions if rows[name].dtype.is_numeric()}
    few = [name for name, n in numbers.items() if n <= MOST_LEVELS]
    several, many = [name for name in few if numbers[name] > 2], [name for name in numbers if name not in few]
    notes = [Message("contrasts.numbers_levels", {"names": several})] if several else []
    notes += [Message("contrasts.numbers_linear", {"names": many})] if many else []
    return rows.with_columns(pl.col(few).cast(pl.String)), notes


def _measured(rows: pl.DataFrame, names: Sequence[str]) -> Floats:
    """The first column of a response other than the answer; NaN if it has no numbers, which the model reports."""
    if not names or names[0] not in rows.columns or not rows[names[0]].dtype.is_numeric():
        return np.full(rows.height, np.nan)
    return rows[names[0]].cast(pl.Float64).fill_null(np.nan).to_numpy()


def answer_unit(scale: Scale, family: FamilyName) -> Message:
    """The unit of a model's estimates."""
    if isinstance(scale, Ordinal):
        return Message("unit.latent_logits")
    if isinstance(scale, Magnitude):
        return Message("unit.log_ratios") if scale.modulus else Message("unit.log_magnitudes")
    return Message("unit.logits") if family == "binary" else Message("unit.answers")


def family_of(scale: Scale, measure: str) -> FamilyName:
    """The family of models for the answers of a scale; an error if there is none."""
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
    return [_same_answers(note) if note.code == "fit.same_answers" else note for note in notes]


def _same_answers(note: Message) -> Message:
    values = {"n": note.values["n"], "total": note.values["levels"]}
    if note.values["group"] == "participant":
        return Message("contrasts.same_participants", values)
    return Message("contrasts.same_items", values) if note.values["group"] == "item" else note
