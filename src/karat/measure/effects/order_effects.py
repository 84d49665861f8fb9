"""Order effects: do answers change in the course of the study, and do they change more in some conditions?

Odd sentences may sound better after many of them have been judged (satiation), and participants get tired. Both appear
as effects of the position of a trial:

    response ~ condition * scale(trial) + (1 + scale(trial) | participant) + (1 | item)

The slope of a condition is reported as the change of its answers from the first to the last trial of the median
participant, in the unit of the model: logits of the latent scale for ratings, logits for yes or no, the unit of the
answers for sliders, logarithms for magnitudes. Response times have the same model on their logarithms. A slope that
differs between conditions suggests satiation; a slope that all conditions share may also be fatigue, practice or a
changed use of the scale. Orders must be random over participants to separate both from effects of the items.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import polars as pl

from karat.judgments import Judgments
from karat.judgments.scales import Choice, Nominal
from karat.judgments.stimuli import Stimuli, natural_order
from karat.judgments.trial_order import check_order, order_messages, with_positions
from karat.measure.effects.data import answer_unit, columns_of, family_of, one_question, with_people
from karat.measure.rated import Rated, known_column
from karat.measure.result import (
    BriefResult,
    MeasureError,
    check_level,
    interval,
    is_shown,
    refused,
    schema_of,
    sentences,
)
from karat.messages import Message, with_code
from karat.models.glrm import Model, fit, marginal_means, type_three
from karat.models.glrm.families import FamilyName
from karat.models.glrm.formulas.model import quantile, two_sided
from karat.models.numerics import known
from karat.models.proportions import holm, mean_interval
from karat.plots import Figure
from karat.plots.lines import LINES, course_plot

FEW = 2
"""With more conditions than this, the summary names only those with a significant change."""
STRETCHES = 6
"""The number of stretches of the questionnaire in the figure."""
RANDOM = "(1 + scale(trial) | participant) + (1 | item)"
SCHEMA = schema_of("measure:s condition:s first:i last:i change se df lower upper p adjusted unit:s")


@dataclass(frozen=True)
class OrderEffects(BriefResult):
    """The change of answers and response times along the questionnaire, by condition."""

    frame: pl.DataFrame
    """measure (response, rt), condition, first and last trial, change from one to the other, se, df, lower, upper, p,
    adjusted (Holm), unit."""
    tests: pl.DataFrame
    """Type III tests of the position and of its interaction with the conditions: measure, term, statistic, df, p."""
    answers: pl.DataFrame = field(repr=False)
    """participant, condition, trial, value (the answer as a number) and rt (if it was measured); for the figure."""
    by: tuple[str, ...] = ()
    level: float = 0.95
    models: dict[str, Model] = field(default_factory=dict, repr=False)
    units: dict[str, Message] = field(default_factory=dict, repr=False)
    files: ClassVar = {"order-effects": "frame", "order-tests": "tests"}
    figure_file: ClassVar = "order-effects"
    warning_codes: ClassVar = ("order.not_converged",)

    def plot(self) -> Figure:  # type: ignore[override]
        """Means of answers and times along the questionnaire, by condition, with intervals over participants.

        >>> import karat
        >>> figure = order_effects(karat.datasets.load("likert"), by="order").plot()
        >>> [axes.get_ylabel() for axes in figure.axes]
        ['mean answer, with 95 % intervals', 'response time (s), with 95 % intervals']
        """
        conditions, panels = self.course()
        return course_plot(panels, conditions, f"{100 * self.level:.0f} % intervals", self.title)

    def course(self) -> tuple[list[str], dict[str, pl.DataFrame]]:
        """The conditions, and the means along the questionnaire by measure; an error if there are too many lines.

        >>> import karat
        >>> conditions, panels = order_effects(karat.datasets.load("likert"), by="order").course()
        >>> conditions, list(panels)
        (['OBJ>PP', 'PP>OBJ'], ['response', 'rt'])
        """
        conditions = self.frame["condition"].unique(maintain_order=True).to_list()
        if len(conditions) > LINES:
            raise MeasureError(Message("order.too_many_conditions", {"n": len(conditions)}))
        return conditions, {name: self.stretches(name) for name in self.frame["measure"].unique(maintain_order=True)}

    @property
    def title(self) -> str:
        """The title of the figure: whether answers change or, if there are none, response times."""
        measure = self.frame["measure"][0]
        rows = self.frame.filter(pl.col("measure") == measure)
        changed = rows.filter(pl.Series([is_shown(p, self.level) for p in rows["adjusted"]], dtype=pl.Boolean))
        what = "Answers" if measure == "response" else "Response times"
        if not changed.height:
            return f"{what} show no clear change along the questionnaire"
        if rows.height == 1:
            return f"{what} {'rise' if changed['change'].item() > 0 else 'fall'} along the questionnaire"
        parts = [f"{row['condition']} {'rises' if row['change'] > 0 else 'falls'}" for row in changed.to_dicts()]
        return f"{what} change along the questionnaire: {', '.join(parts)}"

    def stretches(self, measure: str) -> pl.DataFrame:
        """condition, place (mean position), mean, lower, upper and participants, for each stretch of trials.

        >>> import karat
        >>> cut = order_effects(karat.datasets.load("likert"), by=[]).stretches("response")
        >>> cut.columns, cut.height
        (['condition', 'place', 'mean', 'lower', 'upper', 'participants'], 6)
        """
        value = pl.col("rt").log() if measure == "rt" else pl.col("value")
        rows = self.answers.with_columns(_value=value)
        rows = rows.filter(pl.col("_value").is_finite(), pl.col("trial").is_not_null())
        edges = np.unique(np.quantile(rows["trial"].to_numpy(), np.linspace(0, 1, STRETCHES + 1)[1:-1]))
        rows = rows.with_columns(_stretch=np.searchsorted(edges, rows["trial"].to_numpy(), side="left"))
        means = rows.group_by("condition", "_stretch", "participant").agg(pl.col("_value", "trial").mean())
        means = means.sort("condition", "_stretch", "participant")
        stretches = [
            (condition, part["trial"].mean(), *mean_interval(part["_value"].to_numpy(), self.level), part.height)
            for (condition, _), part in means.group_by("condition", "_stretch", maintain_order=True)
        ]
        names = ["condition", "place", "mean", "lower", "upper", "participants"]
        table = pl.DataFrame(stretches, schema=names, orient="row").with_columns(
            pl.col("lower", "upper").fill_nan(None)
        )
        return table.with_columns(pl.col("mean", "lower", "upper").exp()) if measure == "rt" else table

    @property
    def summary(self) -> tuple[Message, ...]:
        """The change of answers and of times in each condition, and whether it differs between conditions."""
        return tuple(message for name in self.models for message in _changes(name, self))


def order_effects(
    judgments: Judgments,
    by: Sequence[str] | str | None = None,
    *,
    question: str | None = None,
    functions: Sequence[str] = ("test",),
    simplify: bool = True,
    level: float = 0.95,
) -> OrderEffects:
    """The change of answers and response times from the first to the last trial, for each condition.

    `by` names the condition columns, by default those of the design; an empty list puts all answers together. The
    first and the last trial are those of the median participant.

    Parameters
    ----------
    simplify
        Whether random effects that the data cannot support are removed.

    >>> import karat
    >>> found = order_effects(karat.datasets.load("likert"), by="order")
    >>> found.frame.select("measure", "condition").rows()
    [('response', 'OBJ>PP'), ('response', 'PP>OBJ'), ('rt', 'OBJ>PP'), ('rt', 'PP>OBJ')]
    """
    check_level(level)
    rated_items = one_question(judgments, "order_effects", question, functions)
    scale = rated_items.scale
    check_order(rated_items.rows.columns, MeasureError, "order_effects")
    rows = with_people(rated_items.rows, judgments.participants)
    rows, notes = with_positions(rows), list(order_messages(rows.columns))
    names = _conditions(rows, by, judgments.stimuli(scale))
    rows = rows.with_columns(condition=pl.concat_str(names, separator=", ") if names else pl.lit("all"))
    rows = rows.drop_nulls("condition")
    rated_items = replace(rated_items, rows=rows)
    fixed = "condition * scale(trial)" if names else "scale(trial)"
    models: dict[str, Model] = {}
    units = {"rt": Message("unit.log_seconds")}
    if isinstance(scale, Choice) or (isinstance(scale, Nominal) and not scale.is_binary):
        notes.append(Message("order.no_order"))
    else:
        family = family_of(scale, "order_effects")
        units["response"] = answer_unit(scale, family)
        models["response"] = _model(f"response ~ {fixed} + {RANDOM}", rated_items, family, simplify)
    timed, untimed = _timed(rows)
    if len(timed) == 1 and untimed:
        notes.append(Message("order.untimed", {"conditions": untimed}))
    elif timed:
        models["rt"] = _model(f"log(rt) ~ {fixed} + {RANDOM}", rated_items, "gaussian", simplify)
    if not models:
        raise MeasureError(Message("order.nothing"))
    ends = _ends(rows)
    frame = pl.concat([_slopes(name, model, units[name], ends, bool(names), level) for name, model in models.items()])
    tests = pl.concat([_tests(name, model) for name, model in models.items()], how="diagonal")
    for name, model in models.items():
        notes += _fit_notes(name, model)
    columns = ["participant", "condition", "trial", *(["rt"] if "rt" in models else [])]
    answers = rows.select(*columns, value="_value")
    settings = {"question": rated_items.question, "functions": list(functions), "simplify": simplify}
    return OrderEffects(
        frame, tests, answers, tuple(names), level, models, units, settings=settings, notes=tuple(notes)
    )


def _conditions(rows: pl.DataFrame, by: Sequence[str] | str | None, stimuli: Stimuli) -> list[str]:
    if by is None:
        return stimuli.varying(rows, stimuli.identifiers)
    return [known_column(rows, name, "order_effects") for name in ([by] if isinstance(by, str) else by)]


def _timed(rows: pl.DataFrame) -> tuple[list[str], list[str]]:
    """The conditions with response times, and those without any."""
    time = pl.col("rt") if "rt" in rows.columns else pl.lit(None, dtype=pl.Float64)
    conditions = rows.group_by("condition").agg((time > 0).any().alias("timed"))
    with_times, without = (conditions.filter(pl.col("timed") == timed)["condition"] for timed in (True, False))
    return sorted(with_times, key=natural_order), sorted(without, key=natural_order)


def _model(formula: str, rated_items: Rated, family: FamilyName, simplify: bool) -> Model:
    data, levels = columns_of(rated_items, rated_items.rows, family)
    levels["condition"] = sorted(rated_items.rows["condition"].unique(), key=natural_order)
    with refused():
        return fit(formula, data, family, simplify="upwards" if simplify else False, levels=levels)


def _ends(rows: pl.DataFrame) -> tuple[int, int]:
    """The first and the last trial of the median participant or, if nobody answered twice, of all participants."""
    trial = pl.col("trial")
    ends = rows.group_by("participant").agg(trial.min().alias("first"), trial.max().alias("last"))
    first, last = (ends.select(pl.median(name).round().cast(pl.Int64)).item() for name in ("first", "last"))
    if first < last:
        return first, last
    return rows.select(trial.min().cast(pl.Int64), trial.max().cast(pl.Int64).alias("last")).row(0)


def _slopes(
    name: str, model: Model, unit: Message, ends: tuple[int, int], several: bool, level: float
) -> pl.DataFrame:  # fmt: skip
    """The change of the mean of each condition from the first to the last trial."""
    labels, rows = ["all"], (np.array(model.fit.names) == "scale(trial)")[None] * (ends[1] - ends[0])
    rows = rows / model.frame.scaling["scale(trial)"][1]
    if several:
        start, end = (marginal_means(model, "condition", at={"trial": float(place)}) for place in ends)
        # The thresholds of ordered answers are the same at both positions and cancel.
        labels, rows = start.labels(), (end.contrasts - start.contrasts)[:, : len(model.fit.coefficients)]
    change = rows @ model.fit.coefficients
    se = np.sqrt(np.einsum("ki,ij,kj->k", rows, model.fit.covariance, rows))
    df = model.degrees(rows)
    half = quantile(level, df) * se
    p = two_sided(change / se, df)
    columns = (labels, change, se, df, change - half, change + half, p, holm(p))
    slopes = [(name, label, *ends, *row, str(unit)) for label, *row in zip(*columns, strict=True)]
    return pl.DataFrame(slopes, schema=SCHEMA, orient="row")


def _tests(name: str, model: Model) -> pl.DataFrame:
    """The tests of the position and of its interaction with the conditions."""
    tests = type_three(model)
    table = pl.DataFrame(tests.table(), schema_overrides={"term": pl.String}).rename({tests.kind: "statistic"})
    of_trial = table.filter(pl.col("term").str.contains("scale(trial)", literal=True))
    term = pl.col("term").str.replace("scale(trial)", "trial", literal=True)
    kind = {"chisq": "chi2", "F": "F"}[tests.kind]
    return of_trial.select(pl.lit(name).alias("measure"), term, pl.lit(kind).alias("kind"), pl.exclude("term"))


def _fit_notes(name: str, model: Model) -> list[Message]:
    notes, about = [], {"measure": Message("order.answers") if name == "response" else Message("order.times")}
    if not model.fit.converged:
        notes.append(Message("order.not_converged", about | {"convergence": model.fit.convergence.message}))
    if model.fit.log:
        notes.append(Message("order.simplified", about | {"steps": sentences(model.fit.log)}))
    return notes + [
        Message("order.left_out", about | {"note": note}) for note in with_code(model.notes, "frame.left_out")
    ]


def _changes(name: str, effects: OrderEffects) -> list[Message]:
    """The change of answers or times in each condition, and whether it differs between conditions."""
    rows = effects.frame.filter(pl.col("measure") == name).to_dicts()
    named = [row for row in rows if len(rows) <= FEW or is_shown(known(row["adjusted"]), effects.level)]
    changes = []
    for row in named:
        values = {"condition": row["condition"] if len(rows) > 1 else None, "p": known(row["adjusted"])}
        values |= {"first": row["first"], "last": row["last"]}
        if name == "rt":
            change, lower, upper = (known(100 * np.expm1(row[key])) for key in ("change", "lower", "upper"))
            has_interval = lower is not None and upper is not None
            percent = Message("order.percent", {"lower": lower, "upper": upper}) if has_interval else None
            changes.append(Message("order.time_change", values | {"change": change, "interval": percent}))
        else:
            ends = interval(row["lower"], row["upper"])
            changes.append(Message("order.change", values | {"change": row["change"], "interval": ends}))
    if len(named) < len(rows):
        rest = [p for row in rows if row not in named and (p := known(row["adjusted"])) is not None]
        values = {"n": len(rows) - len(named), "all": len(rows), "p": min(rest, default=None)}
        values["measure"] = Message("order.answers") if name == "response" else Message("order.times")
        changes.append(Message("order.unchanged" if named else "order.all_unchanged", values))
    if name == "response" and named:
        changes.append(Message("order.unit", {"unit": effects.units[name]}))
    if len(rows) > 1:
        changes.append(Message("order.adjusted"))
    crossed = effects.tests.filter(pl.col("measure") == name, pl.col("term") == "condition:trial")
    if crossed.height:
        p = known(crossed["p"].item())
        changes.append(Message("order.differ" if is_shown(p, effects.level) else "order.alike", {"p": p}))
    return changes
