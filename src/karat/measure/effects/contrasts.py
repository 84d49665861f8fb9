"""Contrasts of a factorial design: what conditions do to the answers, with participants and items as random effects.

    response ~ a * b + (1 + a * b | participant) + (1 + a * b | item)

Rating scales are fitted by the cumulative logit model, yes or no by the logit, magnitudes and sliders by a linear model
(magnitudes as logarithms of the ratio to the modulus). Without a formula the largest one of the design is taken
(`karat.measure.effects.data`); where its fit is singular it is simplified, and the notes say what was left out.
Terms have Type III tests in sum-to-zero coding. Tests and intervals are those for small samples, by default: t and F
with Satterthwaite's degrees of freedom, for measured answers with Kenward and Roger's standard errors and degrees of
freedom. z and chi-squared, which take variances as known, reject too often with few participants or items
(docs/explanation/coverage.md). Means are estimated marginal means, on the scale of the link, with the plain means of
the answers beside them. Pairs of means are compared with Holm's adjustment within each term.

An interaction may be a matter of the scale; for that, and for sizes of effects, see
`karat.measure.effects.interactions`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import polars as pl

from karat.judgments import Judgments
from karat.measure.effects.data import Asked, asked_for, named_groups, with_levels
from karat.measure.effects.interactions import (
    EMPTY,
    REMOVABLE,
    SHOWN,
    UNSURE,
    RawMeans,
    differences_of_differences,
    effect_sizes,
    factor_terms,
)
from karat.measure.result import (
    BriefResult,
    MeasureError,
    MeasureResult,
    PlotColumns,
    check_level,
    interval,
    is_shown,
    refused,
    schema_of,
    table_of,
)
from karat.messages import Message
from karat.models.glrm import Model, fit, fit_mixed, intervals, marginal_means, scale_effects, type_three
from karat.models.glrm.families import FamilyName
from karat.models.glrm.formulas.frame import FactorVariable
from karat.models.glrm.formulas.marginal import Adjustment
from karat.models.glrm.formulas.model import Method, quantile
from karat.models.glrm.formulas.wald import statistic_message
from karat.models.glrm.mixed.search import SINGULAR
from karat.models.numerics import known
from karat.plots import Figure
from karat.plots.lines import LINES, means_plot

MOST_FACTORS = 3
"""The most factors of a figure."""
GROUPS = {"participant": "contrasts.participants", "item": "contrasts.items"}
CONFOUNDED = 1e-6
"""The residual of a group's members below which effects distinguish all of them."""
SCALE_NOTES = {SHOWN: "contrasts.crossover", REMOVABLE: "contrasts.removable", UNSURE: "contrasts.unsure"}
"""The notes on interactions, by whether another scale would remove them."""


@dataclass(frozen=True)
class Contrasts(BriefResult):
    """Tests, means and differences of the conditions of a design."""

    frame: pl.DataFrame
    """Type III tests: term, F (or chi2), df, denominator (F only), p."""
    coefficients: pl.DataFrame
    """term, estimate, se, t and df (or z), lower, upper, p."""
    means: pl.DataFrame
    """term, a column for each factor (null where it is averaged over), estimate, se, df, lower, upper, raw, sd
    (of the answers), n."""
    differences: pl.DataFrame
    """term, first, second, estimate, se, df, lower, upper, p, adjusted, d with its interval, odds ratio with its
    interval (yes-or-no and ordered answers), raw."""
    interactions: pl.DataFrame
    """Differences of differences: term, contrast, estimate, se, df, lower, upper, p, raw, scale_dependence, and sizes
    as in `differences`."""
    formula: str
    """The requested formula; `notes` say what was left out of it."""
    unit: Message
    level: float
    model: Model | None = field(default=None, repr=False)
    files: ClassVar = {
        "tests": "frame", "contrasts": "differences", "interactions": "interactions", "means": "means",
        "coefficients": "coefficients",
    }  # fmt: skip
    figure_file: ClassVar = "means"
    numbers: ClassVar = ("formula", "unit", "level", "simplified")
    warning_codes: ClassVar = (
        "contrasts.not_used", "contrasts.simplified", "contrasts.not_converged", "contrasts.one_per_condition",
        "contrasts.crossover", "contrasts.removable", "contrasts.unsure", "design.dropped",
    )  # fmt: skip

    @property
    def factors(self) -> tuple[str, ...]:
        """The factors that have means, in the order of the formula."""
        return tuple(self.means.columns[1 : self.means.columns.index("estimate")])

    @property
    def simplified(self) -> tuple[Message, ...]:
        """The steps that removed random effects, with reasons."""
        return self.model.fit.log if self.model else ()

    def plot(self) -> Figure:  # type: ignore[override]
        """The means of the largest term with their intervals: dots for one factor, lines for two, panels for three.

        >>> import karat
        >>> likert = karat.datasets.load("likert")
        >>> found = contrasts(likert, "response ~ order * integration + (1 | participant) + (1 | item)")
        >>> found.plot().axes[0].get_xlabel()
        'order'
        """
        terms = self.means["term"].unique(maintain_order=True).to_list()
        if not terms:
            raise MeasureError(Message("contrasts.no_factors"))
        term = max(terms, key=lambda name: (len(self.factors_of(name)), -terms.index(name)))
        rows, names = self.means.filter(pl.col("term") == term), self.factors_of(term)
        if len(names) > MOST_FACTORS:
            raise MeasureError(Message("contrasts.too_many_factors", {"n": len(names)}))
        if len(names) > 1 and rows[names[1]].n_unique() > LINES:
            raise MeasureError(Message("contrasts.too_many_levels", {"factor": names[1], "most": LINES}))
        if not np.isfinite(rows.select("lower", "estimate", "upper").to_numpy()).any():
            raise MeasureError(Message("contrasts.no_means"))
        ylabel = f"{self.unit}, with {100 * self.level:.0f} % intervals"
        panels = {"": rows}
        if len(names) > 2:
            panels = {f"{names[2]}: {level}": part for (level,), part in rows.group_by(names[2], maintain_order=True)}
        return means_plot(panels, names[:2], ylabel, self._finding(term), self._points())

    def factors_of(self, term: str) -> list[str]:
        """The factors of a term, in the order of the formula.

        >>> import karat
        >>> likert = karat.datasets.load("likert")
        >>> contrasts(likert, "response ~ order * integration + (1 | participant)").factors_of("order:integration")
        ['order', 'integration']
        """
        first = self.means.filter(pl.col("term") == term).row(0, named=True)
        return [name for name in self.factors if first[name] is not None]

    def _points(self) -> tuple[list[float], list[str]]:
        """The thresholds of an ordinal scale and the answers between them."""
        if self.model is None or self.model.family != "ordinal":
            return [], []
        thresholds = self.model.fit.thresholds
        return (thresholds - thresholds.mean()).tolist(), list(self.model.answers)

    def _finding(self, term: str) -> str:
        """The title of the figure: the difference, the difference of differences, or the test of the term."""
        of_term, pairs = (table.filter(pl.col("term") == term) for table in (self.interactions, self.differences))
        if of_term.height:
            row, names = of_term.row(0, named=True), self.factors_of(term)
            changes = "changes" if is_shown(row["p"], self.level) else "is not shown to change"
            return f"The difference of {names[0]} {changes} with {' and '.join(names[1:])}: {_value(row)}"
        if pairs.height == 1 and pairs["estimate"].is_finite().item():
            row = pairs.row(0, named=True)
            return f"{row['first']} minus {row['second']} is {_value(row)}"
        tests = self.frame.filter(pl.col("term") == term)
        if not tests.height:
            return f"Means of {' and '.join(self.factors_of(term))}: cells of the design are empty"
        return f"{term}: {term_test(tests.row(0, named=True))}"

    @property
    def summary(self) -> tuple[Message, ...]:
        """The test of each term, and the interactions."""
        tests = [
            Message("contrasts.test", {"term": row["term"], "test": term_test(row)}) for row in self.frame.to_dicts()
        ]
        shown = self.interactions
        if shown.height > 1:
            shown = shown.filter(pl.col("p") < 1 - self.level)
        return *(tests or [Message("contrasts.no_terms")]), *(_interaction(row, self.unit) for row in shown.to_dicts())


def _value(row: dict[str, Any]) -> Message:
    ends = interval(row["lower"], row["upper"])
    return Message("estimate.test", {"estimate": row["estimate"], "interval": ends, "p": known(row["p"])})


def contrasts(
    judgments: Judgments,
    formula: str | None = None,
    *,
    conditions: Sequence[str] | None = None,
    question: str | None = None,
    functions: Sequence[str] = ("test",),
    simplify: bool = True,
    level: float = 0.95,
    df: Method | None = None,
    adjust: Adjustment = "holm",
    levels: Mapping[str, Sequence[str]] | None = None,
) -> Contrasts:
    """Effects of conditions with participant and item effects: tests, means, differences and effect sizes.

    `formula` is written as in R's lme4; without it, the largest model of the `conditions` is fitted, by default those
    of the design. `simplify` leaves out random effects until the fit is not singular. `df` is "satterthwaite",
    "kenward-roger" (measured answers) or "asymptotic" (z and chi-squared); by default the first, and for measured
    answers the second. `adjust` is for the pairs of means within a term: "holm", "bh" (Benjamini and Hochberg), "tukey"
    (with intervals that hold for all pairs together) or "none". `levels` gives the order of the levels of conditions,
    and so what is subtracted from what; without it they are sorted, numbers by size.

    >>> import karat
    >>> found = contrasts(karat.datasets.load("likert"), "response ~ order + (1 | participant) + (1 | item)")
    >>> found.frame.row(0)[0], found.differences.row(0)[1:3], found.differences["d"].round(2).item()
    ('order', ('OBJ>PP', 'PP>OBJ'), -0.46)
    """
    check_level(level)
    asked = with_levels(asked_for(judgments, formula, conditions, question, functions), levels)
    model, notes = _fitted(asked, simplify)
    with refused():
        model = model.tested_by(df)
    terms, tests = factor_terms(model), type_three(model)
    table = pl.DataFrame(tests.table(), schema_overrides={"term": pl.String}).rename({"chisq": "chi2"}, strict=False)
    raw = {label: _raw_means(model, names, asked.plain) for label, names in terms.items()}
    differences = _differences(model, raw, level, adjust)
    interactions = differences_of_differences(model, raw, level)
    settings = {
        "conditions": list(asked.conditions), "question": asked.question, "functions": list(functions),
        "simplify": simplify, "family": model.family, "df": model.method, "adjust": adjust,
    }  # fmt: skip
    return Contrasts(
        table, _coefficients(model, level), _means(model, raw, level), differences,
        _with_sizes(model, interactions, level), str(model.formula), asked.unit or family_unit(model.family), level,
        settings=settings, notes=(*notes, *_scale_notes(interactions, level), *asked.notes, *tests.notes), model=model,
    )  # fmt: skip


def _fitted(asked: Asked, simplify: bool) -> tuple[Model, list[Message]]:
    """The model, or where the largest one has no maximum to be found, the one with intercepts alone."""
    model = _fit(asked, asked.formula, simplify)
    notes: list[Message] = []
    if not model.fit.converged and asked.simple and simplify:
        reason = model.fit.convergence.reason or Message("fit.reason_stopped")
        notes.append(Message("contrasts.not_used", {"formula": asked.formula, "reason": reason}))
        model = _fit(asked, asked.simple, simplify)
    if model.fit.log:
        left = " + ".join(str(term) for term in model.fit.terms)
        notes.append(Message("contrasts.simplified", {"terms": left, "steps": len(model.fit.log)}))
    if not model.fit.converged:
        notes.append(Message("contrasts.not_converged", {"convergence": model.fit.convergence.message}))
    notes += _one_per_condition(asked, model)
    kept = [note for note in model.fit.notes if note.code not in SINGULAR or not model.fit.log]
    return model, [*notes, *named_groups(kept), *model.notes]


def _one_per_condition(asked: Asked, model: Model) -> list[Message]:
    """Where the conditions tell all items apart, or all participants: a difference may be one of these alone.

    Their variance is then confounded with effects, and found to be zero or not found at all.
    """
    notes = []
    fixed = np.column_stack([np.ones(len(model.response)), model.design.matrix])
    for group, name in GROUPS.items():
        levels, codes = np.unique(np.array(asked.data[group], dtype=str)[model.frame.complete], return_inverse=True)
        if 1 < len(levels) <= fixed.shape[1]:
            members = np.eye(len(levels))[codes]
            left = members - fixed @ np.linalg.lstsq(fixed, members)[0]
            if np.abs(left).max() < CONFOUNDED:
                notes.append(Message("contrasts.one_per_condition", {"group": Message(name), "n": len(levels)}))
    return notes


def _fit(asked: Asked, formula: str, simplify: bool) -> Model:
    with refused():
        return fit(formula, asked.data, asked.family, simplify="upwards" if simplify else False, levels=asked.levels)


def _raw_means(model: Model, names: tuple[str, ...], plain: np.ndarray[Any, Any]) -> RawMeans:
    """The plain mean and standard deviation of the answers in every cell of a term."""
    columns = {name: column for name in names if isinstance(column := model.frame.raw[name], FactorVariable)}
    levels = {name: [column.levels[code] for code in column.codes] for name, column in columns.items()}
    rows = pl.DataFrame({**levels, "_plain": plain[model.frame.complete]})
    grouped = rows.group_by(names, maintain_order=True).agg(
        pl.col("_plain").mean(), pl.col("_plain").std().alias("_sd"), pl.len()
    )
    return {tuple(row[:-3]): (row[-3], row[-2], row[-1]) for row in grouped.rows()}


def _coefficients(model: Model, level: float) -> pl.DataFrame:
    table = pl.DataFrame(model.table(), schema_overrides={"term": pl.String})
    ends = intervals(model, level=level, parameters=list(model.fit.names))
    return table.with_columns(lower=ends.lower, upper=ends.upper).select(pl.exclude("p"), "p")


def _means(model: Model, raw: dict[str, RawMeans], level: float) -> pl.DataFrame:
    tables, terms = [], factor_terms(model)
    for label, names in terms.items():
        found = marginal_means(model, *names, level=level)
        of_cells = [raw[label].get(cell, EMPTY) for cell in zip(*found.cells.values(), strict=True)]
        plain = [pl.Series(name, [one[k] for one in of_cells]) for k, name in enumerate(("raw", "sd", "n"))]
        table = pl.DataFrame(found.table(), schema_overrides=dict.fromkeys(names, pl.String))
        tables.append(table.select(pl.lit(label).alias("term"), pl.all(), *plain))
    if not tables:
        return pl.DataFrame(schema={"term": pl.String, "estimate": pl.Float64})
    factors = list(dict.fromkeys(name for names in terms.values() for name in names))
    whole = pl.concat(tables, how="diagonal")
    return whole.select("term", *factors, pl.exclude("term", *factors))


def _differences(model: Model, raw: dict[str, RawMeans], level: float, adjust: Adjustment) -> pl.DataFrame:
    tables = []
    for label, names in factor_terms(model).items():
        found = marginal_means(model, *names, level=level)
        pairs, plain = found.differences(adjust), raw[label]
        cells = list(zip(*found.cells.values(), strict=True))
        named = [(", ".join(one), ", ".join(other)) for one, other in combinations(cells, 2)]
        gaps = [plain.get(one, EMPTY)[0] - plain.get(other, EMPTY)[0] for one, other in combinations(cells, 2)]
        table = {key: column for key, column in pairs.table().items() if key != "pair"}
        first, second = ([pair[k] for pair in named] for k in (0, 1))
        tables.append(pl.DataFrame({"term": label, "first": first, "second": second, **table, "raw": gaps}))
    if not tables:
        return pl.DataFrame(schema={"term": pl.String, "first": pl.String, "second": pl.String, "estimate": pl.Float64})
    return _with_sizes(model, pl.concat(tables), level)


def _with_sizes(model: Model, table: pl.DataFrame, level: float) -> pl.DataFrame:
    """The table with effect sizes."""
    if not table.height:
        return table
    sizes = effect_sizes(model, table["estimate"], table["lower"], table["upper"], level)
    return table.with_columns(pl.Series(name, column) for name, column in sizes._asdict().items() if column is not None)


def family_unit(family: FamilyName) -> Message:
    """The unit of a family's differences."""
    if family == "ordinal":
        return Message("unit.latent_logits")
    return Message("unit.logits") if family == "binary" else Message("unit.answers")


def _scale_notes(interactions: pl.DataFrame, level: float) -> list[Message]:
    """A note on every significant interaction of two factors: whether another scale would remove it."""
    notes = []
    for row in interactions.filter(pl.col("scale_dependence").is_not_null(), pl.col("p") < 1 - level).to_dicts():
        opposite = Message("contrasts.opposite") if row["raw"] * row["estimate"] < 0 else None
        values = {"term": row["term"], "opposite": opposite}
        code = SCALE_NOTES.get(row["scale_dependence"])
        if code is not None:
            notes.append(Message(code, values))
    return notes


def term_test(row: dict[str, Any]) -> Message:
    """The test of a term in the form of journals."""
    if "F" in row:
        return statistic_message(row["F"], row["df"], row["denominator"], row["p"])
    return statistic_message(row["chi2"], row["df"], np.inf, row["p"])


def _interaction(row: dict[str, Any], unit: Message) -> Message:
    values = {key: row[key] for key in ("term", "contrast", "estimate")} | {"unit": unit}
    return Message("contrasts.interaction", values | {"interval": interval(row["lower"], row["upper"])})


@dataclass(frozen=True)
class ProportionalOdds(MeasureResult):
    """The coefficients of an ordinal model at each split of the scale, beside those that all splits share."""

    frame: pl.DataFrame
    """term, split (such as "3 or more"), estimate, lower, upper, common (the estimate of the ordinal model), differs
    (whether the interval of the split excludes it)."""
    unit: Message
    points: ClassVar = PlotColumns(("term", "split"))

    @property
    def summary(self) -> tuple[Message, ...]:
        """How many splits differ from what they have in common."""
        known = self.frame.filter(pl.col("estimate").is_not_null())
        return (Message("proportional.splits", {"n": int(known["differs"].sum()), "splits": known.height}),)


def proportional_odds(found: Contrasts, level: float = 0.95) -> ProportionalOdds:
    """Check the assumption of proportional odds: does a condition move all points of the scale alike?

    The answers are cut into two at each point, and each cut has a logit model with the design and the random effects of
    the ordinal one. If the odds are proportional, all cuts estimate the coefficients that the ordinal model has.

    Parameters
    ----------
    found
        The result of `contrasts`.

    >>> import karat
    >>> likert = karat.datasets.load("likert")
    >>> found = contrasts(likert, "response ~ order + (1 | participant) + (1 | item)")
    >>> proportional_odds(found).table()["split"].to_list()
    ['2 or more', '3 or more', '4 or more', '5 or more']
    """
    model = found.model
    if model is None or model.family != "ordinal":
        raise MeasureError(Message("proportional.not_ordinal"))
    columns = np.column_stack([np.ones(len(model.response)), model.design.matrix])
    reach, rows, notes = float(quantile(level, np.array([np.inf]))[0]), [], []
    for cut in range(1, len(model.answers)):
        split = f"{model.answers[cut]} or more"
        above = (model.response >= cut).astype(np.int64)
        one = fit_mixed(above, columns, ["(Intercept)", *model.fit.names], model.fit.terms, simplify=True)
        errors = one.standard_errors
        if not one.converged or not np.all(np.isfinite(errors)):
            notes.append(Message("proportional.no_fit", {"split": split}))
            errors = np.full(len(errors), np.nan)
        for term, common, estimate, error in zip(
            model.fit.names, model.fit.coefficients, one.coefficients[1:], errors[1:], strict=True
        ):
            ends = (estimate - reach * error, estimate + reach * error)
            value = estimate if np.isfinite(error) else np.nan
            rows.append((term, split, value, *ends, common, bool(not ends[0] <= common <= ends[1])))
    schema = schema_of("term:s split:s estimate lower upper common differs:b")
    frame = table_of(rows, schema)
    return ProportionalOdds(
        frame.sort("term", maintain_order=True), found.unit, settings={"level": level}, notes=tuple(notes)
    )


@dataclass(frozen=True)
class SpreadRatios(MeasureResult):
    """How widely ratings are spread in each condition, and whether the differences could be chance."""

    frame: pl.DataFrame
    """condition (the levels), ratio (of the latent standard deviation to its geometric mean over conditions), lower,
    upper."""
    statistic: float
    """Twice the gain in the log-likelihood over equal spread."""
    df: int
    p: float
    unit: Message
    points: ClassVar = PlotColumns(("condition",), "ratio", "spread, 1 being the mean")

    @property
    def summary(self) -> tuple[Message, ...]:
        """The test of equal spread."""
        return (Message("spread.test", {"chi2": self.statistic, "df": self.df, "p": self.p}),)


def spread_ratios(found: Contrasts, level: float = 0.95) -> SpreadRatios:
    """Check the assumption of equal spread: are ratings in one condition more scattered than in another?

    The ordinal model is fitted again with a spread of its own for each condition (scale effects, McCullagh 1980).

    Parameters
    ----------
    found
        The result of `contrasts`.

    >>> import karat
    >>> likert = karat.datasets.load("likert")
    >>> found = spread_ratios(contrasts(likert, "response ~ order + (1 | participant) + (1 | item)"))
    >>> found.frame["condition"].to_list(), found.df
    (['OBJ>PP', 'PP>OBJ'], 1)
    """
    model = found.model
    if model is None or model.family != "ordinal":
        raise MeasureError(Message("spread.not_ordinal"))
    with refused():
        made = scale_effects(model.fit, model.design.matrix, model.fit.names)
    names = list(dict.fromkeys(name for own in factor_terms(model).values() for name in own))
    factors = [column for name in names if isinstance(column := model.frame.raw[name], FactorVariable)]
    if not factors:
        raise MeasureError(Message("contrasts.no_factors"))
    levels = [np.array(one.levels, dtype=object)[one.codes] for one in factors]
    conditions, of_row = np.unique([", ".join(row) for row in zip(*levels, strict=True)], return_inverse=True)
    # Covariates are at their means.
    z = np.array([model.design.matrix[of_row == k].mean(axis=0) for k in range(len(conditions))])
    z = z - z.mean(axis=0)
    middle = z @ made.estimate
    reach = float(quantile(level, np.array([np.inf]))[0]) * np.sqrt(np.einsum("ij,jk,ik->i", z, made.covariance, z))
    columns = {"ratio": middle, "lower": middle - reach, "upper": middle + reach}
    frame = pl.DataFrame(
        {"condition": conditions.tolist(), **{name: np.exp(values) for name, values in columns.items()}}
    )
    notes = () if made.converged else (Message("spread.no_fit"),)
    return SpreadRatios(
        frame, made.statistic, len(made.names), made.p, found.unit, settings={"level": level}, notes=notes
    )
