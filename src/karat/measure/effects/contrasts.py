"""Contrasts of a factorial design: effects of conditions on answers, with participants and items as random effects.

    response ~ a * b + (1 + a * b | participant) + (1 + a * b | item)

Rating scales have a cumulative logit model, yes-or-no answers a logit model, magnitudes and sliders a linear model
(magnitudes as logarithms of the ratio to the modulus). Without a formula, the largest one of the design is fitted
(`karat.measure.effects.data`). If the fit is singular, it is simplified, and the notes list the removed effects.
Terms have Type III tests in sum-to-zero coding. By default, tests and intervals are corrected for small samples: t and
F with Satterthwaite's degrees of freedom, and for measured answers with Kenward and Roger's standard errors and degrees
of freedom. z and chi-squared, which treat variances as known, reject too often with few participants or items
(docs/explanation/coverage.md). Means are estimated marginal means on the scale of the link, beside the plain means of
the answers. Pairs of means are compared with Holm's adjustment within each term.

An interaction may depend on the scale; for this, and for effect sizes, see `karat.measure.effects.interactions`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import polars as pl

from karat.judgments import Judgments
from karat.measure.effects.data import ModelInput, model_input, named_groups, with_levels
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
from karat.models.glrm.formulas.frame import FactorVariable
from karat.models.glrm.formulas.marginal import Adjustment, MarginalMeans
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
"""If the residuals of a group's members are below this, fixed effects distinguish all of them."""
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
    """The requested formula; `notes` list what was removed from it."""
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
        rows = self.interactions
        if rows.height > 1:
            rows = rows.filter(pl.col("p") < 1 - self.level)
        return *(tests or [Message("contrasts.no_terms")]), *(_interaction(row, self.unit) for row in rows.to_dicts())


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
    of the design. `simplify` removes random effects until the fit is not singular. `df` is "satterthwaite" (the
    default), "kenward-roger" (the default for measured answers, and only for them) or "asymptotic" (z and chi-squared).
    `adjust` is for the pairs of means within a term: "holm", "bh" (Benjamini and Hochberg), "tukey" (with simultaneous
    intervals for all pairs) or "none". `levels` gives the order of the levels of conditions, and with it the direction
    of differences; by default they are sorted, numbers by size.

    >>> import karat
    >>> found = contrasts(karat.datasets.load("likert"), "response ~ order + (1 | participant) + (1 | item)")
    >>> found.frame.row(0)[0], found.differences.row(0)[1:3], found.differences["d"].round(2).item()
    ('order', ('OBJ>PP', 'PP>OBJ'), -0.46)
    """
    check_level(level)
    inputs = with_levels(model_input(judgments, formula, conditions, question, functions), levels)
    model, notes = _fitted(inputs, simplify)
    with refused():
        model = model.tested_by(df)
    terms, tests = factor_terms(model), type_three(model)
    table = pl.DataFrame(tests.table(), schema_overrides={"term": pl.String}).rename({"chisq": "chi2"}, strict=False)
    means = {label: marginal_means(model, *names, level=level) for label, names in terms.items()}
    raw = {label: _raw_means(model, names, inputs.plain) for label, names in terms.items()}
    differences = _differences(model, means, raw, level, adjust)
    interactions = differences_of_differences(model, raw, level)
    settings = {
        "conditions": list(inputs.conditions), "question": inputs.question, "functions": list(functions),
        "simplify": simplify, "family": model.family, "df": model.method, "adjust": adjust,
    }  # fmt: skip
    return Contrasts(
        table, _coefficients(model, level), _means(terms, means, raw), differences,
        _with_sizes(model, interactions, level), str(model.formula), inputs.unit, level, settings=settings,
        notes=(*notes, *_scale_notes(interactions, level), *inputs.notes, *tests.notes), model=model,
    )  # fmt: skip


def _fitted(inputs: ModelInput, simplify: bool) -> tuple[Model, list[Message]]:
    """The model; if the largest one does not converge, one without correlations or with intercepts alone."""
    model = _fit(inputs, inputs.formula, simplify)
    reason = model.fit.convergence.reason or Message("fit.reason_stopped")
    notes: list[Message] = []
    for formula in inputs.simpler if simplify else ():
        if model.fit.converged:
            break
        code = "contrasts.not_used" if formula == inputs.simpler[-1] else "contrasts.uncorrelated"
        notes = [Message(code, {"formula": inputs.formula, "reason": reason})]
        model = _fit(inputs, formula, simplify)
    if model.fit.log:
        terms = " + ".join(str(term) for term in model.fit.terms)
        notes.append(Message("contrasts.simplified", {"terms": terms, "steps": len(model.fit.log)}))
    if not model.fit.converged:
        notes.append(Message("contrasts.not_converged", {"convergence": model.fit.convergence.message}))
    notes += _one_per_condition(inputs, model)
    # The steps of a simplification already report that the fit was singular.
    fit_notes = [note for note in model.fit.notes if note.code not in SINGULAR or not model.fit.log]
    return model, [*notes, *named_groups(fit_notes), *model.notes]


def _one_per_condition(inputs: ModelInput, model: Model) -> list[Message]:
    """A note if conditions distinguish all items, or all participants, so that a difference may be theirs alone.

    Their variance is then confounded with effects: it is estimated as zero or cannot be estimated.
    """
    notes = []
    fixed = np.column_stack([np.ones(len(model.response)), model.design.matrix])
    for group, name in GROUPS.items():
        levels, codes = np.unique(np.array(inputs.data[group], dtype=str)[model.frame.complete], return_inverse=True)
        if 1 < len(levels) <= fixed.shape[1]:
            members = np.eye(len(levels))[codes]
            residuals = members - fixed @ np.linalg.lstsq(fixed, members)[0]
            if np.abs(residuals).max() < CONFOUNDED:
                notes.append(Message("contrasts.one_per_condition", {"group": Message(name), "n": len(levels)}))
    return notes


def _fit(inputs: ModelInput, formula: str, simplify: bool) -> Model:
    with refused():
        return fit(formula, inputs.data, inputs.family, simplify="upwards" if simplify else False, levels=inputs.levels)


def _raw_means(model: Model, names: tuple[str, ...], plain: np.ndarray[Any, Any]) -> RawMeans:
    """The plain mean, standard deviation and number of answers of each cell of a term."""
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


def _means(
    terms: Mapping[str, tuple[str, ...]], means: Mapping[str, MarginalMeans], raw: Mapping[str, RawMeans]
) -> pl.DataFrame:
    tables = []
    for label, names in terms.items():
        plain = [raw[label].get(cell, EMPTY) for cell in zip(*means[label].cells.values(), strict=True)]
        columns = [pl.Series(name, [cell[k] for cell in plain]) for k, name in enumerate(("raw", "sd", "n"))]
        table = pl.DataFrame(means[label].table(), schema_overrides=dict.fromkeys(names, pl.String))
        tables.append(table.select(pl.lit(label).alias("term"), pl.all(), *columns))
    if not tables:
        return pl.DataFrame(schema={"term": pl.String, "estimate": pl.Float64})
    factors = list(dict.fromkeys(name for names in terms.values() for name in names))
    whole = pl.concat(tables, how="diagonal")
    return whole.select("term", *factors, pl.exclude("term", *factors))


def _differences(
    model: Model, means: Mapping[str, MarginalMeans], raw: Mapping[str, RawMeans], level: float, adjust: Adjustment
) -> pl.DataFrame:
    tables = []
    for label, term_means in means.items():
        pairs = list(combinations(zip(*term_means.cells.values(), strict=True), 2))
        first, second = ([", ".join(pair[k]) for pair in pairs] for k in (0, 1))
        gaps = [raw[label].get(one, EMPTY)[0] - raw[label].get(other, EMPTY)[0] for one, other in pairs]
        table = {key: column for key, column in term_means.differences(adjust).table().items() if key != "pair"}
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


def _scale_notes(interactions: pl.DataFrame, level: float) -> list[Message]:
    """A note on each significant interaction of two factors: whether another scale would remove it."""
    notes = []
    for row in interactions.filter(pl.col("scale_dependence").is_not_null(), pl.col("p") < 1 - level).to_dicts():
        opposite = Message("contrasts.opposite") if row["raw"] * row["estimate"] < 0 else None
        code = SCALE_NOTES[row["scale_dependence"]]
        notes.append(Message(code, {"term": row["term"], "opposite": opposite}))
    return notes


def term_test(row: dict[str, Any]) -> Message:
    """The test of a term in the format of journals."""
    if "F" in row:
        return statistic_message(row["F"], row["df"], row["denominator"], row["p"])
    return statistic_message(row["chi2"], row["df"], np.inf, row["p"])


def _interaction(row: dict[str, Any], unit: Message) -> Message:
    values = {key: row[key] for key in ("term", "contrast", "estimate")} | {"unit": unit}
    return Message("contrasts.interaction", values | {"interval": interval(row["lower"], row["upper"])})


@dataclass(frozen=True)
class ProportionalOdds(MeasureResult):
    """The coefficients of an ordinal model at each split of the scale, beside the shared ones."""

    frame: pl.DataFrame
    """term, split (such as "3 or more"), estimate, lower, upper, common (the estimate of the ordinal model), differs
    (whether the interval of the split excludes it)."""
    unit: Message
    points: ClassVar = PlotColumns(("term", "split"))

    @property
    def summary(self) -> tuple[Message, ...]:
        """The number of splits that differ from the shared coefficients."""
        known = self.frame.filter(pl.col("estimate").is_not_null())
        return (Message("proportional.splits", {"n": int(known["differs"].sum()), "splits": known.height}),)


def proportional_odds(found: Contrasts, level: float = 0.95) -> ProportionalOdds:
    """Check the assumption of proportional odds: does a condition have the same effect at all points of the scale?

    The answers are split in two at each point, and each split has a logit model with the design and the random effects
    of the ordinal model. If the odds are proportional, all splits estimate the coefficients of the ordinal model.

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
        binary = fit_mixed(above, columns, ["(Intercept)", *model.fit.names], model.fit.terms, simplify=True)
        errors = binary.standard_errors
        if not binary.converged or not np.all(np.isfinite(errors)):
            notes.append(Message("proportional.no_fit", {"split": split}))
            errors = np.full(len(errors), np.nan)
        for term, common, estimate, error in zip(
            model.fit.names, model.fit.coefficients, binary.coefficients[1:], errors[1:], strict=True
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
    """The spread of ratings in each condition, and a test of equal spread."""

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
    """Check the assumption of equal spread: do ratings vary more in one condition than in another?

    The ordinal model is fitted again with a separate spread for each condition (scale effects, McCullagh 1980).

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
        effects = scale_effects(model.fit, model.design.matrix, model.fit.names)
    names = list(dict.fromkeys(name for names_of_term in factor_terms(model).values() for name in names_of_term))
    factors = [column for name in names if isinstance(column := model.frame.raw[name], FactorVariable)]
    if not factors:
        raise MeasureError(Message("contrasts.no_factors"))
    levels = [np.array(factor.levels, dtype=object)[factor.codes] for factor in factors]
    conditions, of_row = np.unique([", ".join(row) for row in zip(*levels, strict=True)], return_inverse=True)
    # Covariates are at their means.
    z = np.array([model.design.matrix[of_row == k].mean(axis=0) for k in range(len(conditions))])
    z = z - z.mean(axis=0)
    middle = z @ effects.estimate
    reach = float(quantile(level, np.array([np.inf]))[0]) * np.sqrt(np.einsum("ij,jk,ik->i", z, effects.covariance, z))
    columns = {"ratio": middle, "lower": middle - reach, "upper": middle + reach}
    frame = pl.DataFrame(
        {"condition": conditions.tolist(), **{name: np.exp(values) for name, values in columns.items()}}
    )
    notes = () if effects.converged else (Message("spread.no_fit"),)
    return SpreadRatios(
        frame, effects.statistic, len(effects.names), effects.p, found.unit, settings={"level": level}, notes=notes
    )
