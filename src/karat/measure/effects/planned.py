"""The planned comparisons of a study file.

For ratings, yes-or-no answers and numbers a comparison is a weighted sum of the estimated marginal means of
`contrasts`, over all levels of the other factors or at those that `within` names: one level minus another, the
difference of differences of several factors, or the weights that the file states. For choices between the two levels
it is the intercept of

    first level chosen ~ 1 + (1 | participant) + (1 | item),

the logit of a preference for the first level, without answers "no difference". p is not adjusted, since the comparisons
were planned; where there are several, `adjusted` is Holm's.
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
    choices), raw (of plain means; for choices the share of the first), df (of t; infinite for z). Where the file states
    a bound of equivalence also p_equivalence and equivalence: equivalent, different (beyond the bound) or undecided."""
    unit: Message
    points: ClassVar = PlotColumns(("contrast",))
    files: ClassVar = {"planned": "frame"}
    numbers: ClassVar = ("unit",)

    @property
    def summary(self) -> tuple[Message, ...]:
        """Each difference, what the differences are counted in, and whether they are equivalent to none."""
        rows = self.frame.to_dicts()
        equal = [_verdict(row) for row in rows if row.get("equivalence") is not None]
        return *map(_difference, rows), Message("planned.unit", {"unit": self.unit}), *equal


def _verdict(row: dict[str, Any]) -> Message:
    """Whether the difference is smaller than the bound that the study states."""
    verdicts = {
        "equivalent": Message("planned.equivalent"),
        "different": Message("planned.different"),
        "undecided": Message("planned.undecided"),
    }
    values = {"name": row["contrast"], "verdict": verdicts[row["equivalence"]], "p": row["p_equivalence"]}
    return Message("planned.equivalence", values)


def _difference(row: dict[str, Any]) -> Message:
    """The difference with its interval and p, as far as they are known."""
    values = {"name": row["contrast"], **{key: row[key] for key in ("first", "second", "estimate")}}
    ends = interval(row["lower"], row["upper"])
    if ends is None:
        return Message("planned.no_interval", values)
    return Message("planned.difference", values | {"interval": ends, "p": row["p"]})


def planned_contrasts(plan: Sequence[ContrastSettings], found: Contrasts) -> PlannedContrasts:
    """The planned differences of a fitted design."""
    rows: list[Any] = []
    notes: list[Message] = []
    for one in plan:
        row = _simple(one, found) if one.simple else _weighted(one, found)
        if isinstance(row, Message):
            notes.append(_failed(one, row))
        else:
            rows.append((one.name, *row))
    return _made(rows, found.unit, {"level": found.level}, notes, plan)


def _simple(one: ContrastSettings, found: Contrasts) -> tuple[Any, ...] | Message:
    """The difference of two levels, from the table of all pairs; why there is none."""
    terms = {} if found.model is None else factor_terms(found.model)
    place = {one.factor: "", **one.within}
    names = next((own for own in terms.values() if set(own) == set(place)), None)
    if names is None:
        return Message("planned.no_term", {"factors": list(place)})
    first, second = (", ".join({**place, one.factor: level}[name] for name in names) for level in one.levels)
    row = _row(found.differences, first, second)
    if row is None or not np.isfinite(row[0]):
        return Message("planned.no_answers", {"first": first, "second": second})
    return first, second, *row


def _weighted(one: ContrastSettings, found: Contrasts) -> tuple[Any, ...] | Message:
    """A weighted sum of the means of cells; why there is none."""
    model = found.model
    if model is None:
        return Message("planned.no_factor", {"names": list(one.names)})
    lacking = unplannable(one, model)
    if lacking is not None:
        return lacking
    means = marginal_means(model, *one.names, level=found.level)
    cells = list(zip(*means.cells.values(), strict=True))
    first, second = (", ".join((side, *one.within.values())) for side in one.sides)
    if any(cell not in cells for cell in one.cells):
        return Message("planned.no_answers", {"first": first, "second": second})
    weights = np.array([one.cells.get(cell, 0.0) for cell in cells])
    size = weighted_sum(model, weights, means)
    if not np.isfinite(size.estimate):
        return Message("planned.no_answers", {"first": first, "second": second})
    d = size.estimate / standard_deviation(model)
    plain = {tuple(row[:-1]): row[-1] for row in _plain(one.names, found).iter_rows()}
    raw = None if any(plain.get(cell) is None for cell in one.cells) else sum(
        weight * plain[cell] for cell, weight in one.cells.items()
    )  # fmt: skip
    return first, second, size.estimate, size.se, size.lower, size.upper, size.p, d, raw, size.df


def unplannable(one: ContrastSettings, model: Model | Laid) -> Message | None:
    """What the model lacks for a comparison; None where it has all that it needs."""
    known = {name for name, own in model.frame.raw.items() if isinstance(own, FactorVariable)}
    lacking = [name for name in one.names if name not in known]
    if lacking:
        return Message("planned.no_factor", {"names": lacking})
    terms = [{names_in(model.formula.variables[label].tree)[0].text for label in term}
             for term in model.design.expansion.terms]  # fmt: skip
    if not one.weights and not any(set(one.names) <= term for term in terms):
        return Message("planned.no_term", {"factors": list(one.names)})
    return None


def _plain(names: Sequence[str], found: Contrasts) -> pl.DataFrame:
    """The plain means of the cells of some factors, where a term has them."""
    wanted = [name in names for name in found.factors]
    means = found.means.filter(
        pl.col(name).is_not_null() if own else pl.col(name).is_null()
        for name, own in zip(found.factors, wanted, strict=True)
    )
    return means.select(*names, "raw")


def _failed(one: ContrastSettings, reason: Message) -> Message:
    return Message("planned.failed", {"name": one.name, "reason": reason})


def _row(differences: pl.DataFrame, first: str, second: str) -> tuple[Any, ...] | None:
    """The difference of two cells, in the wanted direction."""
    for turned, (one, other) in enumerate(((first, second), (second, first))):
        found = differences.filter(pl.col("first") == one, pl.col("second") == other)
        if found.height:
            row = found.row(0, named=True)
            sign, ends = (-1, ("upper", "lower")) if turned else (1, ("lower", "upper"))
            size = [sign * row["estimate"], row["se"], *(sign * row[end] for end in ends), row["p"]]
            return (*size, sign * row["d"], None if row["raw"] is None else sign * row["raw"], row["df"])
    return None


def planned_choices(
    plan: Sequence[ContrastSettings], judgments: Judgments, functions: Sequence[str] = ("test",), level: float = 0.95
) -> PlannedContrasts:
    """The planned preferences in choices between two levels of a factor.

    The level of a side stands in left_FACTOR and right_FACTOR, or behind the name of the item, as in "t04.object
    first".
    """
    rows: list[Any] = []
    notes: list[Message] = []
    for one in plan:
        try:
            found, share, lost = _preference(one, judgments, functions, level)
        except MeasureError as error:
            notes.append(_failed(one, message_of(error)))
            continue
        row = found.coefficients.row(0, named=True)
        size = [row[name] for name in ("estimate", "se", "lower", "upper", "p")]
        rows.append((one.name, *one.levels, *size, None, share, row.get("df", np.inf)))
        notes += [*lost, *found.warnings]
    return _made(rows, Message("unit.choosing_first"), {"level": level, "formula": PREFERENCE}, notes, plan)


def _preference(
    one: ContrastSettings, judgments: Judgments, functions: Sequence[str], level: float
) -> tuple[Contrasts, float, list[Message]]:
    """The model of whether the first level was chosen, the share of it, and what was left out."""
    if not one.simple:
        raise MeasureError(Message("planned.choice"))
    rows = judgments.frame.filter(pl.col("function").is_in(list(functions)), pl.col("response").is_not_null())
    for name, at in one.within.items():
        if name not in rows.columns:
            raise MeasureError(Message("planned.no_column", {"column": name}))
        rows = rows.filter(pl.col(name) == at)
    rows = between_levels(rows, one)
    if not rows.height:
        raise MeasureError(Message("planned.no_choice", {"factor": one.factor, "levels": list(one.levels)}))
    sided = rows.filter(pl.col("response") != "none")
    ties = rows.height - sided.height
    notes = [Message("planned.ties", {"name": one.name, "n": ties})] if ties else []
    response = pl.col("_first").cast(pl.Int64).cast(pl.String)
    answers = sided.select("participant", "item", "function", response=response)
    found = contrasts(Judgments(answers, Binary()), PREFERENCE, functions=functions, level=level)
    return found, float(np.mean(answers["response"].to_numpy() == "1")), notes


def between_levels(rows: pl.DataFrame, one: ContrastSettings) -> pl.DataFrame:
    """The choices between the two levels of a comparison; _first says whether the first of them was chosen."""
    rows = rows.with_columns(_left=_level_of(rows, "left", one.factor), _right=_level_of(rows, "right", one.factor))
    left, right = pl.col("_left"), pl.col("_right")
    first = (pl.col("response") == "left") == (left == one.levels[0])
    return rows.filter(left.is_in(one.levels), right.is_in(one.levels), left != right).with_columns(_first=first)


def _level_of(rows: pl.DataFrame, side: str, factor: str) -> pl.Expr:
    """The level of the factor that stood on a side."""
    if f"{side}_{factor}" in rows.columns:
        return pl.col(f"{side}_{factor}").cast(pl.String)
    if side not in rows.columns:
        raise MeasureError(Message("planned.no_sides"))
    return pl.col(side).str.strip_prefix(pl.col("item") + ".")


def _made(
    rows: list[Any], unit: Message, settings: dict[str, Any], notes: list[Message], plan: Sequence[ContrastSettings]
) -> PlannedContrasts:
    if not rows:
        raise MeasureError(sentences(notes) if notes else Message("planned.nothing"))
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    frame = frame.with_columns(adjusted=pl.Series(holm(frame["p"].to_numpy())))
    frame = frame.select(*frame.columns[:8], "adjusted", "d", "raw", "df").with_columns(
        pl.col(pl.Float64).fill_nan(None)
    )
    bounds = {one.name: one.equivalence for one in plan if one.equivalence is not None}
    if bounds:
        tested = [_equivalence(row, bounds.get(row["contrast"]), settings["level"]) for row in frame.to_dicts()]
        columns = {"p_equivalence": pl.Float64, "equivalence": pl.String}
        frame = frame.hstack(pl.DataFrame(tested, schema=columns, orient="row"))
    return PlannedContrasts(frame, unit, settings=settings, notes=tuple(dict.fromkeys(notes)))


def _equivalence(row: dict[str, Any], bound: float | None, level: float) -> tuple[float | None, str | None]:
    """p of the larger of two one-sided tests, and whether the difference is inside or outside of the bound."""
    if bound is None or row["se"] is None or not row["se"] > 0:
        return None, None
    freedom = np.inf if row["df"] is None else row["df"]
    found = by_t(row["estimate"], row["se"], bound, 1 - level, 0, "planned", freedom)
    return found.equivalence, equivalence_verdict(found.equivalence, found.beyond, 1 - level)
