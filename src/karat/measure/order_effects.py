"""Order effects: do answers change in the course of the study, and do they change more in some conditions?

Sentences that are odd may come to sound better the more of them are judged (satiation), and people get tired. Both
show in the position of the trial:

    response ~ condition * scale(trial) + (1 + scale(trial) | participant) + (1 | item)

The slope of a condition is how much its answers change along the questionnaire, in the unit of the model: logits of the
latent scale for ratings, logits for yes or no, the unit of the answers for sliders, logarithms for magnitudes. Response
times have the same model on their logarithms. A slope that differs between conditions is the sign of satiation; one
that all share may as well be fatigue, practice or another use of the scale. Orders must be random over participants for
either to be told from the items themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from karat.judgments import Judgments
from karat.measure.contrast_data import columns_of, one_question, with_people
from karat.measure.contrast_formula import family_of
from karat.measure.errors import MeasureError
from karat.measure.rated import Rated, design_columns, known_column, names_stimuli
from karat.models.glrm import Model, fit, marginal_means, type_three
from karat.models.glrm.model import p_told, quantile, two_sided
from karat.models.glrm.variables import Numeric
from karat.models.proportions import holm
from karat.scales import Choice, Nominal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PER = 10
"""Slopes are told for so many trials."""
RANDOM = "(1 + scale(trial) | participant) + (1 | item)"
UNITS = {"ordinal": "logits of the latent scale", "binary": "logits", "gaussian": "units of the answers"}
LOG_TIME = "logarithms of seconds"
SCHEMA: dict[str, Any] = {
    "measure": pl.String, "condition": pl.String, "slope": pl.Float64, "se": pl.Float64, "df": pl.Float64,
    "lower": pl.Float64, "upper": pl.Float64, "p": pl.Float64, "adjusted": pl.Float64, "change": pl.Float64,
    "unit": pl.String,
}  # fmt: skip


@dataclass(frozen=True)
class OrderEffects:
    """How answers and response times change along the questionnaire, by condition."""

    frame: pl.DataFrame
    """measure (response, rt), condition, slope over ten trials, se, df, lower, upper, p, adjusted (Holm), change (from
    the first to the last position), unit."""
    tests: pl.DataFrame
    """Type III tests of the position and of its interaction with the conditions: measure, term, statistic, df, p."""
    answers: pl.DataFrame = field(repr=False)
    """participant, condition, trial, value (the answer as a number) and rt where it is there; for the picture."""
    by: tuple[str, ...] = ()
    level: float = 0.95
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    models: dict[str, Model] = field(default_factory=dict, repr=False)

    def table(self) -> pl.DataFrame:
        """The slopes."""
        return self.frame

    def figure(self) -> Figure:
        """Means of answers and times along the questionnaire, by condition, with intervals over participants."""
        from karat.measure.order_figure import order_figure

        return order_figure(self)

    def __str__(self) -> str:
        told = [_told(name, self) for name in self.models]
        return " ".join([*told, *(note for note in self.notes if note.startswith("Do not trust"))])


def order_effects(
    judgments: Judgments,
    by: Sequence[str] | str | None = None,
    *,
    question: str | None = None,
    functions: Sequence[str] = ("test",),
    simplify: bool = True,
    level: float = 0.95,
) -> OrderEffects:
    """The slopes of answers and of response times over the position of the trial, for each condition.

    `by` names the condition columns, by default those of the design; an empty list takes all answers together.

    >>> import karat
    >>> found = order_effects(karat.datasets.load("likert"), by="order")
    >>> found.frame.select("measure", "condition").rows()
    [('response', 'OBJ>PP'), ('response', 'PP>OBJ'), ('rt', 'OBJ>PP'), ('rt', 'PP>OBJ')]
    """
    if not 0 < level < 1:
        raise MeasureError(f"order_effects: the level lies between 0 and 1, not {level}.")
    one = one_question(judgments, "order_effects", question, functions)
    rows, notes = _with_position(with_people(one.rows, judgments.participants))
    names = _conditions(rows, by)
    rows = rows.with_columns(condition=pl.concat_str(names, separator=", ") if names else pl.lit("all"))
    one = replace(one, rows=rows.drop_nulls("condition"))
    models: dict[str, Model] = {}
    if isinstance(one.scale, Choice) or (isinstance(one.scale, Nominal) and not one.scale.is_binary):
        notes.append("The answers have no order, so that only response times are looked at.")
    else:
        models["response"] = _answers_model(one, names, simplify)
    timed, untimed = _timed(one.rows)
    if len(timed) == 1 and untimed:
        notes.append(f"Response times are not looked at: there are none in {', '.join(untimed)}.")
    elif timed:
        models["rt"] = _model(f"log(rt) ~ {_fixed(names)} + {RANDOM}", one, "gaussian", simplify)
    if not models:
        raise MeasureError("order_effects: the answers have no order and there are no times: nothing can change.")
    frame = pl.concat([_slopes(name, model, bool(names), level) for name, model in models.items()])
    tests = pl.concat([_tests(name, model) for name, model in models.items()], how="diagonal")
    for name, model in models.items():
        notes += _fit_notes(name, model)
    kept = ["participant", "condition", "trial", *(["rt"] if "rt" in models else [])]
    answers = one.rows.select(*kept, value="_value")
    settings = {"question": one.question, "functions": list(functions), "simplify": simplify}
    return OrderEffects(frame, tests, answers, tuple(names), level, settings, tuple(notes), models)


def _with_position(rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The rows with the position of the trial; the order of rows where there is none."""
    if "trial" in rows.columns and rows["trial"].null_count() < rows.height:
        return rows, []
    position = pl.int_range(1, pl.len() + 1).over("participant").alias("trial")
    return rows.with_columns(position), ["There is no column trial; the order of rows was taken for that of trials."]


def _conditions(rows: pl.DataFrame, by: Sequence[str] | str | None) -> list[str]:
    if by is None:
        return [name for name in design_columns(rows) if not names_stimuli(rows, name)]
    return [known_column(rows, name, "order_effects") for name in ([by] if isinstance(by, str) else by)]


def _timed(rows: pl.DataFrame) -> tuple[list[str], list[str]]:
    """The conditions that have response times, and those that have none."""
    time = pl.col("rt") if "rt" in rows.columns else pl.lit(None, dtype=pl.Float64)
    found = rows.group_by("condition").agg((time > 0).any().alias("timed"))
    with_times, without = (
        found.filter(pl.col("timed") == there)["condition"].sort().to_list() for there in (True, False)
    )
    return with_times, without


def _fixed(names: Sequence[str]) -> str:
    return "condition * scale(trial)" if names else "scale(trial)"


def _answers_model(one: Rated, names: Sequence[str], simplify: bool) -> Model:
    family = family_of(one.scale, "order_effects")
    return _model(f"response ~ {_fixed(names)} + {RANDOM}", one, family, simplify)


def _model(formula: str, one: Rated, family: Any, simplify: bool) -> Model:
    data, levels = columns_of(one, one.rows, family)
    try:
        return fit(formula, data, family, simplify=simplify, levels=levels)
    except ValueError as error:
        raise MeasureError(f"order_effects: {error}") from error


def _slopes(name: str, model: Model, several: bool, level: float) -> pl.DataFrame:
    """The change of each condition's mean when the trial moves on."""
    trial, deviation = model.frame.raw["trial"], model.frame.scaling["scale(trial)"][1]
    labels, rows = ["all"], (np.array(model.fit.names) == "scale(trial)")[None] * (PER / deviation)
    if several:
        start, end = (marginal_means(model, "condition", at={"trial": place}) for place in (0.0, float(PER)))
        # The thresholds of ordered answers are the same at both places, and cancel.
        labels, rows = start.labels(), (end.contrasts - start.contrasts)[:, : len(model.fit.coefficients)]
    slope = rows @ model.fit.coefficients
    se = np.sqrt(np.einsum("ki,ij,kj->k", rows, model.fit.covariance, rows))
    df = model.degrees(rows)
    half = quantile(level, df) * se
    p = two_sided(slope / se, df)
    change = slope * float(np.ptp(trial.values)) / PER if isinstance(trial, Numeric) else np.full(len(slope), np.nan)
    unit = LOG_TIME if name == "rt" else UNITS[model.family]
    columns = (labels, slope, se, df, slope - half, slope + half, p, holm(p), change)
    return pl.DataFrame([(name, *row, unit) for row in zip(*columns, strict=True)], schema=SCHEMA, orient="row")


def _tests(name: str, model: Model) -> pl.DataFrame:
    """Of the position, and of what it does in the conditions."""
    tests = type_three(model)
    table = pl.DataFrame(tests.table(), schema_overrides={"term": pl.String}).rename({tests.kind: "statistic"})
    kept = table.filter(pl.col("term").str.contains("scale(trial)", literal=True))
    named = pl.col("term").str.replace("scale(trial)", "trial", literal=True)
    kind = {"chisq": "chi2", "F": "F"}[tests.kind]
    return kept.select(pl.lit(name).alias("measure"), named, pl.lit(kind).alias("kind"), pl.exclude("term"))


def _fit_notes(name: str, model: Model) -> list[str]:
    notes = [] if model.fit.converged else [f"Do not trust the slopes of {name}: {model.fit.convergence.message}"]
    if model.fit.log:
        notes.append(f"The model of {name} was simplified, since its fit was singular. {' '.join(model.fit.log)}")
    return notes + [f"{name}: {note}" for note in model.notes if "left out" in note]


def _told(name: str, found: OrderEffects) -> str:
    """One sentence on the answers, or on the times."""
    rows = found.frame.filter(pl.col("measure") == name).to_dicts()
    what = "Answers" if name == "response" else "Response times"
    parts = []
    for row in rows:
        where = f"{row['condition']} " if len(rows) > 1 else ""
        size = f"{row['slope']:+.2f} [{row['lower']:+.2f}, {row['upper']:+.2f}]"
        if name == "rt":
            size = f"{_percent(row['slope'])} [{_percent(row['lower'])}, {_percent(row['upper'])}]"
        parts.append(f"{where}{size}, p {p_told(row['p'])}")
    unit = "" if name == "rt" else f" ({rows[0]['unit']})"
    told = f"{what} change over {PER} trials by {'; '.join(parts)}{unit}."
    crossed = found.tests.filter(pl.col("measure") == name, pl.col("term") == "condition:trial")
    if crossed.height:
        p = crossed["p"].item()
        differ = "The conditions differ in it" if p < 1 - found.level else "No difference between conditions is shown"
        told += f" {differ} (p {p_told(p)})."
    return told


def _percent(logarithm: float) -> str:
    return f"{100 * np.expm1(logarithm):+.1f} %"
