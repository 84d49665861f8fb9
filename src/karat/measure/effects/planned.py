"""The planned comparisons of a study file.

For ratings, yes-or-no answers and numbers, a comparison is a weighted sum of the estimated marginal means of
`contrasts`, averaged over the other factors or at the levels in `within`: one level minus another, the difference of
differences of several factors, or the weights in the study file. For choices between the two levels it is the intercept
of

    first level chosen ~ 1 + (1 | participant) + (1 | item),

the logit of a preference for the first level, without answers "no difference". p is not adjusted, because the
comparisons were planned; `adjusted` is p with Holm's adjustment over all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from karat.judgments import Judgments
from karat.judgments.scales import Binary
from karat.measure.effects.contrasts import Contrasts, contrasts
from karat.measure.effects.interactions import factor_terms, standard_deviation, weighted_sum
from karat.measure.pairs.pair_measures import by_t, equivalence_verdict
from karat.measure.result import MeasureError, MeasureResult, PlotColumns, interval, schema_of, sentences
from karat.messages import Message, message_of
from karat.models.glrm import Model, marginal_means
from karat.models.glrm.formulas.formula import names_in
from karat.models.glrm.formulas.frame import FactorVariable
from karat.models.glrm.formulas.model import Laid
from karat.models.proportions import holm

if TYPE_CHECKING:
    from karat.study.settings import ContrastSettings

PREFERENCE = "response ~ 1 + (1 | participant) + (1 | item)"
SCHEMA = schema_of("contrast:s first:s second:s estimate se lower upper p d raw df")


@dataclass(frozen=True)
class PlannedContrasts(MeasureResult):
    """The planned comparisons."""

    frame: pl.DataFrame
    """contrast, first, second, estimate (the first minus the second), se, lower, upper, p, adjusted, d (not for
    choices), raw (of plain means; for choices the share of the first), df (of t; infinite for z). If the study file has
    a bound of equivalence, also p_equivalence and equivalence: equivalent, different (beyond the bound) or
    undecided."""
    unit: Message
    points: ClassVar = PlotColumns(("contrast",))
    files: ClassVar = {"planned": "frame"}
    numbers: ClassVar = ("unit",)

    @property
    def summary(self) -> tuple[Message, ...]:
        """Each difference, the unit, and the tests of equivalence."""
        rows = self.frame.to_dicts()
        equal = [_verdict(row) for row in rows if row.get("equivalence") is not None]
        return *map(_difference, rows), Message("planned.unit", {"unit": self.unit}), *equal


def _verdict(row: dict[str, Any]) -> Message:
    """Whether the difference is smaller than the bound of the study."""
    verdicts = {
        "equivalent": Message("planned.equivalent"),
        "different": Message("planned.different"),
        "undecided": Message("planned.undecided"),
    }
    values = {"name": row["contrast"], "verdict": verdicts[row["equivalence"]], "p": row["p_equivalence"]}
    return Message("planned.equivalence", values)


def _difference(row: dict[str, Any]) -> Message:
    """The difference with its interval and p, if they are known."""
    values = {"name": row["contrast"], **{key: row[key] for key in ("first", "second", "estimate")}}
    ends = interval(row["lower"], row["upper"])
    if ends is None:
        return Message("planned.no_interval", values)
    return Message("planned.difference", values | {"interval": ends, "p": row["p"]})


def planned_contrasts(plan: Sequence[ContrastSettings], fitted: Contrasts) -> PlannedContrasts:
    """The planned differences of a fitted design."""
    rows: list[Any] = []
    notes: list[Message] = []
    for contrast in plan:
        row = _simple(contrast, fitted) if contrast.simple else _weighted(contrast, fitted)
        if isinstance(row, Message):
            notes.append(_failed(contrast, row))
        else:
            rows.append((contrast.name, *row))
    return _result(rows, fitted.unit, {"level": fitted.level}, notes, plan)


def _simple(contrast: ContrastSettings, fitted: Contrasts) -> tuple[Any, ...] | Message:
    """The difference of two levels from the table of all pairs, or the reason why there is none."""
    terms = {} if fitted.model is None else factor_terms(fitted.model)
    cell = {contrast.factor: "", **contrast.within}
    names = next((factors for factors in terms.values() if set(factors) == set(cell)), None)
    if names is None:
        return Message("planned.no_term", {"factors": list(cell)})
    first, second = (", ".join({**cell, contrast.factor: level}[name] for name in names) for level in contrast.levels)
    row = _difference_of(fitted.differences, first, second)
    if row is None or not np.isfinite(row[0]):
        return Message("planned.no_answers", {"first": first, "second": second})
    return first, second, *row


def _weighted(contrast: ContrastSettings, fitted: Contrasts) -> tuple[Any, ...] | Message:
    """A weighted sum of the means of cells, or the reason why there is none."""
    model = fitted.model
    if model is None:
        return Message("planned.no_factor", {"names": list(contrast.names)})
    reason = unplannable(contrast, model)
    if reason is not None:
        return reason
    means = marginal_means(model, *contrast.names, level=fitted.level)
    cells = list(zip(*means.cells.values(), strict=True))
    first, second = (", ".join((side, *contrast.within.values())) for side in contrast.sides)
    if any(cell not in cells for cell in contrast.cells):
        return Message("planned.no_answers", {"first": first, "second": second})
    weights = np.array([contrast.cells.get(cell, 0.0) for cell in cells])
    size = weighted_sum(model, weights, means)
    if not np.isfinite(size.estimate):
        return Message("planned.no_answers", {"first": first, "second": second})
    d = size.estimate / standard_deviation(model)
    plain = {tuple(row[:-1]): row[-1] for row in _plain(contrast.names, fitted).iter_rows()}
    raw = None if any(plain.get(cell) is None for cell in contrast.cells) else sum(
        weight * plain[cell] for cell, weight in contrast.cells.items()
    )  # fmt: skip
    return first, second, size.estimate, size.se, size.lower, size.upper, size.p, d, raw, size.df


def unplannable(contrast: ContrastSettings, model: Model | Laid) -> Message | None:
    """The factors or the term that the model lacks for a comparison; None if it has all of them."""
    factors = {name for name, column in model.frame.raw.items() if isinstance(column, FactorVariable)}
    missing = [name for name in contrast.names if name not in factors]
    if missing:
        return Message("planned.no_factor", {"names": missing})
    terms = [{names_in(model.formula.variables[label].tree)[0].text for label in term}
             for term in model.design.expansion.terms]  # fmt: skip
    if not contrast.weights and not any(set(contrast.names) <= term for term in terms):
        return Message("planned.no_term", {"factors": list(contrast.names)})
    return None


def _plain(names: Sequence[str], fitted: Contrasts) -> pl.DataFrame:
    """The plain means of the cells of these factors; empty if no term has them."""
    means = fitted.means.filter(
        pl.col(name).is_not_null() if name in names else pl.col(name).is_null() for name in fitted.factors
    )
    return means.select(*names, "raw")


def _failed(contrast: ContrastSettings, reason: Message) -> Message:
    return Message("planned.failed", {"name": contrast.name, "reason": reason})


def _difference_of(differences: pl.DataFrame, first: str, second: str) -> tuple[Any, ...] | None:
    """The first cell minus the second; None if the table has neither direction."""
    for sign, cells, ends in ((1, (first, second), ("lower", "upper")), (-1, (second, first), ("upper", "lower"))):
        rows = differences.filter(pl.col("first") == cells[0], pl.col("second") == cells[1])
        if rows.height:
            row = rows.row(0, named=True)
            size = [sign * row["estimate"], row["se"], *(sign * row[end] for end in ends), row["p"]]
            return (*size, sign * row["d"], None if row["raw"] is None else sign * row["raw"], row["df"])
    return None


def planned_choices(
    plan: Sequence[ContrastSettings], judgments: Judgments, functions: Sequence[str] = ("test",), level: float = 0.95
) -> PlannedContrasts:
    """The planned preferences in choices between two levels of a factor.

    The level of a side is in left_FACTOR and right_FACTOR, or after the name of the item, as in "t04.object first".
    """
    rows: list[Any] = []
    notes: list[Message] = []
    for contrast in plan:
        try:
            preference, share, ties = _preference(contrast, judgments, functions, level)
        except MeasureError as error:
            notes.append(_failed(contrast, message_of(error)))
            continue
        row = preference.coefficients.row(0, named=True)
        size = [row[name] for name in ("estimate", "se", "lower", "upper", "p")]
        rows.append((contrast.name, *contrast.levels, *size, None, share, row.get("df", np.inf)))
        notes += [*ties, *preference.warnings]
    return _result(rows, Message("unit.choosing_first"), {"level": level, "formula": PREFERENCE}, notes, plan)


def _preference(
    contrast: ContrastSettings, judgments: Judgments, functions: Sequence[str], level: float
) -> tuple[Contrasts, float, list[Message]]:
    """The model of choosing the first level, the share of such choices, and a note on ties."""
    if not contrast.simple:
        raise MeasureError(Message("planned.choice"))
    rows = judgments.frame.filter(pl.col("function").is_in(list(functions)), pl.col("response").is_not_null())
    for name, within in contrast.within.items():
        if name not in rows.columns:
            raise MeasureError(Message("planned.no_column", {"column": name}))
        rows = rows.filter(pl.col(name) == within)
    rows = between_levels(rows, contrast)
    if not rows.height:
        raise MeasureError(Message("planned.no_choice", {"factor": contrast.factor, "levels": list(contrast.levels)}))
    sided = rows.filter(pl.col("response") != "none")
    ties = rows.height - sided.height
    notes = [Message("planned.ties", {"name": contrast.name, "n": ties})] if ties else []
    response = pl.col("_first").cast(pl.Int64).cast(pl.String)
    answers = sided.select("participant", "item", "function", response=response)
    preference = contrasts(Judgments(answers, Binary()), PREFERENCE, functions=functions, level=level)
    return preference, float(np.mean(answers["response"].to_numpy() == "1")), notes


def between_levels(rows: pl.DataFrame, contrast: ContrastSettings) -> pl.DataFrame:
    """The choices between the two levels of a comparison; _first is whether the first level was chosen."""
    sides = {f"_{side}": _level_of(rows, side, contrast.factor) for side in ("left", "right")}
    left, right = pl.col("_left"), pl.col("_right")
    between = left.is_in(contrast.levels), right.is_in(contrast.levels), left != right
    first = (pl.col("response") == "left") == (left == contrast.levels[0])
    return rows.with_columns(**sides).filter(*between).with_columns(_first=first)


def _level_of(rows: pl.DataFrame, side: str, factor: str) -> pl.Expr:
    """The level of the factor on a side."""
    if f"{side}_{factor}" in rows.columns:
        return pl.col(f"{side}_{factor}").cast(pl.String)
    if side not in rows.columns:
        raise MeasureError(Message("planned.no_sides"))
    return pl.col(side).str.strip_prefix(pl.col("item") + ".")


def _result(
    rows: list[Any], unit: Message, settings: dict[str, Any], notes: list[Message], plan: Sequence[ContrastSettings]
) -> PlannedContrasts:
    if not rows:
        raise MeasureError(sentences(notes) if notes else Message("planned.nothing"))
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    frame = frame.with_columns(adjusted=pl.Series(holm(frame["p"].to_numpy())))
    frame = frame.select(*frame.columns[:8], "adjusted", "d", "raw", "df").with_columns(
        pl.col(pl.Float64).fill_nan(None)
    )
    bounds = {contrast.name: contrast.equivalence for contrast in plan if contrast.equivalence is not None}
    if bounds:
        tests = [_equivalence(row, bounds.get(row["contrast"]), settings["level"]) for row in frame.to_dicts()]
        columns = {"p_equivalence": pl.Float64, "equivalence": pl.String}
        frame = frame.hstack(pl.DataFrame(tests, schema=columns, orient="row"))
    return PlannedContrasts(frame, unit, settings=settings, notes=tuple(dict.fromkeys(notes)))


def _equivalence(row: dict[str, Any], bound: float | None, level: float) -> tuple[float | None, str | None]:
    """The larger p of two one-sided tests, and whether the difference is inside or outside of the bound."""
    if bound is None or row["se"] is None or not row["se"] > 0:
        return None, None
    df = np.inf if row["df"] is None else row["df"]
    test = by_t(row["estimate"], row["se"], bound, 1 - level, 0, "planned", df)
    return test.equivalence, equivalence_verdict(test.equivalence, test.beyond, 1 - level)
