"""Power: the probability of a significant planned contrast, with crossed random effects, by simulation.

For every number of participants, number of items and effect, whole studies are simulated (`scale_answers`, on the
`layout` of the design) and analysed as `karat measure` will analyse the real one (`analysis`), after the expected share
of excluded participants has been removed at random. Power is the share of significant results. The results also have
the share by the quick approximation to the same answers, which treats them as numbers, and the errors of significant
results: type S, the share with the wrong sign, and type M, the average exaggeration (Gelman and Carlin 2014).

Studies are simulated in batches. Every batch has random numbers from the seed, the size of the study and the number of
the batch. So the same seed gives the same numbers, whatever the number of processes, their order, and interruptions.

A pilot shows the size of a contrast on the scale, and the differences between participants and between items. Its
answers are fitted by the linear mixed model of `analysis`, and power is then that of the quick approximation. The
standard deviations come from few participants and items, and an effect that was large by chance in the pilot will be
smaller next time (type M error).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.executors import SERIAL, Executor
from karat.judgments import Judgments
from karat.judgments.answer_codes import position
from karat.judgments.scales import Choice, Magnitude, Nominal, Ordinal, Scale
from karat.jupyter import Result
from karat.messages import Message, check_number, check_word
from karat.models.proportions import wilson
from karat.plots import Figure
from karat.plots.lines import power_plot
from karat.plots.style import to_svg
from karat.simulate.analysis import (
    EFFECT,
    INTERCEPT,
    as_measured,
    by_mean_squares,
    by_measured_model,
    by_mixed_model,
    fit_normal,
)
from karat.simulate.behaviours import SimulateError
from karat.simulate.layout import (
    USUAL_EFFECT,
    SimulationLayout,
    fewest_participants,
    layout_of,
    named_contrast,
    orientation,
    rounded_items,
    side_of,
)
from karat.simulate.scale_answers import Model, Normal, Spread, draw_rounds, in_logits, mean_answers, on_scale, unit_of
from karat.study.designs.factorial import answer_family
from karat.study.plan import Block
from karat.study.settings import ContrastSettings
from karat.study.study import Study
from karat.types import Floats, Progress

Unit = Literal["log-odds", "scale"]


def power(
    study: Study,
    participants: Sequence[int] | None = None,
    items: Sequence[int] | None = None,
    effects: Sequence[float] | None = None,
    *,
    unit: Unit = "log-odds",
    contrast: str | None = None,
    pilot: Judgments | None = None,
    exclude: float = 0.0,
    simulations: int | None = None,
    alpha: float = 0.05,
    analysis: Analysis | None = None,
    spread: Spread | None = None,
    seed: int = 1,
    progress: Progress | None = None,
    executor: Executor = SERIAL,
) -> Power:
    """The power of a planned contrast for all these numbers of participants, items and effects.

    The defaults are the numbers of the study and an effect of 0.8 logits. `unit` is that of the effects: log-odds or
    differences on the scale. A `pilot` gives the standard deviations of participants and items and, without `effects`,
    the effect; effects are then differences on the scale. `exclude` is the expected share of excluded participants.
    `analysis` is "model" (the test of `karat measure`), "means" (the quick approximation) or "mixed" (a linear mixed
    model); by default the first, if the task has such a model and there is no pilot. `simulations` are by default 500
    with a model and 1,000 with the approximation. `executor` runs the batches and may keep their results
    (`karat.executors.open_executor`).

    Parameters
    ----------
    participants
        The numbers of participants to try; by default that of the study.
    items
        The numbers of items to try; by default that of the study.
    effects
        The effects to try; by default 0.8 logits.
    contrast
        The name of a planned contrast; by default the first.
    pilot
        The results of a pilot, from which standard deviations are taken.

    >>> import tempfile
    >>> from karat.study.init import write_study
    >>> from karat.study.study import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_study(folder, "yes-no")
    ...     found = power(load(folder), [24, 48], effects=[1.0], simulations=100, analysis="means")
    >>> found.table()["participants"].to_list(), found.table()["power"].is_between(0.3, 1).all()
    ([24, 48], True)
    """
    _check(exclude, simulations, alpha, analysis, unit)
    planned = named_contrast(study, contrast)
    layout, block, own_items = layout_of(study, planned)
    pilot_result = None if pilot is None else read_pilot(pilot, planned, block, layout)
    analysis, quick_only = _analysis(analysis, layout, pilot_result)
    simulations = simulations or (STUDIES if analysis == "means" else FITTED_STUDIES)
    sizes, notes = _sizes(study, layout, participants, items or [own_items], exact=analysis == "model")
    notes += quick_only
    deviations = spread or Spread()
    model: Model = deviations if pilot_result is None else pilot_result.model
    true = _effects(effects, unit, pilot_result, layout, deviations)
    size = FITTED_SIZE if analysis == "model" else SIZE
    each = -(-simulations // size)
    batches = [
        Batch(layout, model, n, m, inner, exclude, analysis, seed, number, min(size, simulations - size * number))
        for (n, m), (_, inner, _) in product(sizes, true)
        for number in range(each)
    ]
    tested = executor.map(run_batch, None, batches, name="power", progress=progress)
    rows = []
    in_logits_too = analysis == "model" and (layout.compared or answer_family(layout.scale) != "gaussian")
    for place, ((n, m), (effect, inner, difference)) in enumerate(product(sizes, true)):
        tested_rows = [row for studies in tested[place * each : (place + 1) * each] for row in studies]
        cell = {"participants": n, "items": m, "effect": effect, "difference": difference}
        rows.append({**cell, **summarised(tested_rows, inner if in_logits_too else difference, alpha)})
    if pilot_result is not None:
        values = {"effect": pilot_result.effect, "error": pilot_result.standard_error}
        notes += [Message("power.pilot", values), *pilot_result.notes]
    unit_name = unit_of(layout.scale)
    effect_unit = unit_name if pilot_result is not None or unit == "scale" else Message("power.log_odds")
    cells = pl.DataFrame(rows, schema_overrides={"type_s": pl.Float64, "type_m": pl.Float64})
    return Power(cells, planned.name, effect_unit, unit_name, alpha, exclude, analysis, seed, tuple(notes))


def _analysis(kind: Analysis | None, layout: SimulationLayout, pilot: Pilot | None) -> tuple[Analysis, list[Message]]:
    """The analysis to simulate, and a note if it differs from that of `karat measure` by default."""
    if kind not in (None, "model"):
        return kind or "model", []
    if pilot is not None:
        return "means", [Message("power.quick_pilot")]
    return ("model", []) if as_measured(layout) else ("means", [Message("power.quick_only")])


def _check(exclude: float, simulations: int | None, alpha: float, analysis: str | None, unit: str) -> None:
    check_number(SimulateError, "exclude", exclude, at_least=0, below=1)
    check_number(SimulateError, "simulations", simulations, at_least=1)
    check_number(SimulateError, "alpha", alpha, above=0, below=1)
    check_word(SimulateError, "analysis", analysis, (None, "model", "means", "mixed"))
    check_word(SimulateError, "unit", unit, ("log-odds", "scale"))


def _sizes(
    study: Study, layout: SimulationLayout, participants: Sequence[int] | None, items: Sequence[int], *, exact: bool
) -> tuple[list[tuple[int, int]], list[Message]]:
    """Every number of participants with every number of items, rounded to the design, and notes on the rounding.

    With `exact` numbers, lists may differ in their numbers of items per condition, like those of `karat plan`.
    """
    people = list(dict.fromkeys(participants or [study.settings.recruitment.participants]))
    least = fewest_participants(layout)
    for number in people:
        if number < least:
            raise SimulateError(Message("power.few_participants", {"n": number, "least": least}))
    fitting = [rounded_items(layout, number) for number in items]
    if exact:
        fitting = [(number, None) for number in items]
    least = 2 * layout.sides.shape[1]
    for number, _ in fitting:
        if number < least:
            raise SimulateError(Message("power.few_items", {"n": number, "least": least}))
    sizes = list(product(people, dict.fromkeys(number for number, _ in fitting)))
    return sizes, [note for _, note in fitting if note is not None]


def _effects(
    effects: Sequence[float] | None, unit: Unit, pilot: Pilot | None, layout: SimulationLayout, spread: Spread
) -> list[tuple[float, float, float]]:
    """Every effect in its unit, in that of the model, and as a difference on the scale."""
    if pilot is not None:
        return [(effect, effect, effect) for effect in dict.fromkeys(effects or [pilot.effect])]
    distinct = dict.fromkeys(effects if effects else [USUAL_EFFECT])
    if unit == "scale":
        if not effects:
            raise SimulateError(Message("power.no_effects"))
        return [(effect, in_logits(layout, spread, effect), effect) for effect in distinct]
    return [(effect, effect, on_scale(layout, spread, effect) if effect else 0.0) for effect in distinct]


Analysis = Literal["model", "means", "mixed"]
SIZE = 50
"""Simulated studies per batch."""
FITTED_SIZE = 5
"""The same where a model is fitted to each."""
STUDIES, FITTED_STUDIES = 1000, 500
"""The default numbers of simulated studies."""


@dataclass(frozen=True)
class Batch:
    """Some simulated studies of one size."""

    layout: SimulationLayout
    model: Model
    participants: int
    items: int
    effect: float
    """In the unit of the model."""
    exclude: float
    analysis: Analysis
    seed: int
    number: int
    size: int


def run_batch(_: None, batch: Batch) -> list[tuple[float, ...]]:
    """Estimate, standard error and p of every study of a batch; with a model, also p by the quick approximation."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", batch.effect))
    random = np.random.default_rng([batch.seed, batch.participants, batch.items, bits, batch.number])
    return [_study(batch, random) for _ in range(batch.size)]


def _study(batch: Batch, random: np.random.Generator) -> tuple[float, ...]:
    layout = batch.layout
    people, things = layout.participant_groups(batch.participants), layout.item_groups(batch.items)
    if batch.exclude:
        people = people[random.random(len(people)) >= batch.exclude]
    rounds = draw_rounds(batch.model, layout, people, things, batch.effect, random)
    answers = mean_answers(rounds, layout, people, things)
    if batch.analysis == "model":
        quick = by_mean_squares(answers, layout, people, things)
        return *by_measured_model(rounds, layout, people, things), quick[2]
    if batch.analysis == "means":
        return by_mean_squares(answers, layout, people, things)
    return by_mixed_model(answers, layout, people, things)


WANTED = 0.8


@dataclass(frozen=True)
class Power(Result):
    """The power of a planned contrast for every simulated size of the study.

    `table()` has one row per size: participants (recruited, before exclusions), items, effect (in `unit`), difference
    (the effect on the scale, in `scale_unit`), simulations, power with Wilson's 95 % interval (lower, upper), type_s
    (the share of significant results with the wrong sign), type_m (the average ratio of significant estimates to the
    true difference) and untested (the number of simulated studies that could not be tested, and so are not
    significant). With `analysis` "model", quick is the power of the approximation in the same simulated answers.
    """

    cells: pl.DataFrame
    contrast: str
    unit: Message
    scale_unit: Message
    alpha: float
    exclude: float
    analysis: str
    seed: int
    notes: tuple[Message, ...] = ()

    def needed(self, wanted: float = WANTED) -> pl.DataFrame:
        """For every number of items and effect, the fewest participants that reach this power; null if none do."""
        reached = pl.col("participants").filter(pl.col("power") >= wanted).min()
        return self.cells.group_by("items", "effect", maintain_order=True).agg(participants=reached)

    def __str__(self) -> str:
        return "\n".join(map(str, (*self.summary, *self.notes)))

    @property
    def summary(self) -> tuple[Message, ...]:
        """For every number of items and effect, the number of participants for the usual power."""
        messages = []
        for row in self.needed().iter_rows(named=True):
            case = {"items": row["items"], "effect": float(f"{row['effect']:.3g}"), "unit": self.unit, "wanted": WANTED}
            if row["participants"] is None:
                best = self.cells.filter(pl.col("items") == row["items"], pl.col("effect") == row["effect"])
                most = best.sort("participants").row(-1, named=True)
                values = {**case, "power": most["power"], "participants": most["participants"]}
                messages.append(Message("power.not_reached", values))
            else:
                messages.append(Message("power.reached", {**case, "participants": row["participants"]}))
        return tuple(messages)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "contrast": self.contrast, "unit": str(self.unit), "scale_unit": str(self.scale_unit), "alpha": self.alpha,
            "exclude": self.exclude, "analysis": self.analysis, "seed": self.seed,
            "notes": [note.to_dict() for note in self.notes],
            "sizes": self.cells.to_dicts(),
        }  # fmt: skip

    def record(self) -> dict[str, Any]:
        """The simulation of one size for [power] in a study file; SimulateError if there are several sizes."""
        if self.cells.height != 1:
            raise SimulateError(Message("power.several_sizes", {"n": self.cells.height}))
        row = self.cells.row(0, named=True)
        unit = "log-odds" if self.unit.code == "power.log_odds" else "scale"
        return {
            "contrast": self.contrast, "participants": row["participants"], "items": row["items"],
            "effect": float(f"{row['effect']:.3g}"), "unit": unit, "power": round(row["power"], 3),
            "alpha": self.alpha, "simulations": row["simulations"], "exclude": self.exclude,
        }  # fmt: skip

    def plot(self) -> Figure:
        """The power curve."""
        xlabel = "participants recruited" if self.exclude else "participants"
        key = f"Contrast {self.contrast}; bars are 95 % intervals of the simulation"
        return power_plot(self.cells, str(self.unit), xlabel, self._finding(), key)

    def _finding(self) -> str:
        """The result of a single line in a sentence, or the number of lines that reach the usual power."""
        needed = self.needed()
        if needed.height == 1:
            return str(self.summary[0])
        reached = needed.height - needed["participants"].null_count()
        most = max(self.cells["participants"].to_list())
        cases = f"{reached} of {needed.height} combinations of items and effect"
        return f"{cases} reach a power of .80 with up to {most} participants"

    def svg(self) -> str:
        """The power curve as SVG."""
        text = " ".join(map(str, (*self.summary, *self.notes)))
        return to_svg(self.plot(), f"Power of the contrast {self.contrast}", text)


def summarised(tested: Sequence[Sequence[float]], difference: float, alpha: float) -> dict[str, float | int | None]:
    """Power, type S and type M errors of simulated studies with a true difference; the fourth column is quick p."""
    table = np.array(tested, dtype=float)
    estimates, p = table[:, 0], table[:, 2]
    significant = p < alpha
    hits = int(significant.sum())
    lower, upper = wilson(hits, len(p))
    defined = hits > 0 and difference != 0
    quick = {} if table.shape[1] < 4 else {"quick": float(np.mean(table[:, 3] < alpha))}
    return {
        "simulations": len(p), "power": hits / len(p), "lower": float(lower), "upper": float(upper),
        "type_s": float(np.mean(np.sign(estimates[significant]) != np.sign(difference))) if defined else None,
        "type_m": float(np.mean(np.abs(estimates[significant])) / abs(difference)) if defined else None,
        "untested": int(np.isnan(p).sum()), **quick,
    }  # fmt: skip


@dataclass(frozen=True)
class Pilot:
    """The effect of a pilot in steps of the scale, its standard error, and the standard deviations."""

    effect: float
    standard_error: float
    model: Normal
    notes: tuple[Message, ...]


def read_pilot(judgments: Judgments, contrast: ContrastSettings, block: Block, layout: SimulationLayout) -> Pilot:
    """The contrast in the judgments of a pilot, which have the columns of the study."""
    frame = judgments.frame.filter(pl.col("function") == "test", pl.col("response").is_not_null())
    if "block" in frame.columns and block.name in frame["block"].unique().to_list():
        frame = frame.filter(pl.col("block") == block.name)
    needed = ["left", "right"] if layout.compared else contrast.own
    lacking = [name for name in (*needed, *contrast.within) if name not in frame.columns]
    if lacking:
        values = {"column": lacking[0], "contrast": contrast.name}
        raise SimulateError(Message("pilot.no_column", values))
    x = side_of(frame, contrast, block.settings)
    y = _numbers(frame, block.scale)
    if isinstance(block.scale, Choice):
        compared = block.settings.compared
        turned = x if layout.compared or compared is None else orientation(
            frame, *block.settings.factors[compared].levels[:2]
        )  # fmt: skip
        y, x = y * turned, np.abs(x) if layout.compared else x * turned
    used = (x != 0) & np.isfinite(y)
    if not contrast.simple:
        y = _without_other_effects(frame, y, x, used, contrast)
    people, things = frame["participant"].to_numpy()[used], frame["item"].to_numpy()[used]
    if len(np.unique(people)) < 3 or len(np.unique(things)) < 3:
        raise SimulateError(Message("pilot.too_small", {"n": int(used.sum()), "contrast": contrast.name}))
    codes = [np.unique(values, return_inverse=True)[1] for values in (people, things)]
    fit = fit_normal(y[used], x[used], codes[0], codes[1], layout.compared)
    deviations = {
        group: dict(zip(fit.random_names[group], np.sqrt(np.diag(fit.covariances[group])), strict=True))
        for group in ("participant", "item")
    }
    intercepts = {group: 0.0 if layout.compared else float(deviations[group][INTERCEPT]) for group in deviations}
    slopes = {
        group: float(terms.get(INTERCEPT if layout.compared else EFFECT, 0.0)) for group, terms in deviations.items()
    }
    residual = float(np.sqrt(fit.residual_variance))
    model = Normal(intercepts["participant"], intercepts["item"], slopes["participant"], slopes["item"], residual)
    notes = [Message("pilot.singular")] if fit.singular else []
    return Pilot(float(fit.coefficients[-1]), float(fit.standard_errors[-1]), model, tuple(notes))


def _without_other_effects(
    frame: pl.DataFrame, y: Floats, x: Floats, used: NDArray[np.bool_], contrast: ContrastSettings
) -> Floats:
    """The answers without all other effects on the means of cells, such as the main effects of the factors."""
    cell_names = frame.select(pl.concat_str(contrast.own, separator="\n")).to_series().to_numpy()[used]
    cells = np.unique(cell_names, return_inverse=True)[1]
    means = (np.bincount(cells, y[used]) / np.bincount(cells))[cells]
    columns = np.column_stack([np.ones(len(means)), x[used]])
    other = y.copy()
    other[used] -= means - columns @ np.linalg.lstsq(columns, means, rcond=None)[0]
    return other


def _numbers(frame: pl.DataFrame, scale: Scale) -> Floats:
    """Answers as numbers, like those of `scale_answers.numeric`."""
    response = pl.col("response")
    if isinstance(scale, Magnitude):
        answers = response.cast(pl.Float64, strict=False).log()
    elif isinstance(scale, Choice | Nominal):
        first = {level: float(level == scale.levels[0]) for level in scale.levels}
        values = {"left": 1.0, "right": -1.0, "none": 0.0} if isinstance(scale, Choice) else first
        answers = response.replace_strict(values, default=None, return_dtype=pl.Float64)
    else:
        answers = position(scale, aligned=isinstance(scale, Ordinal) and "polarity" in frame.columns)
    return frame.select(answers.fill_null(np.nan)).to_series().to_numpy()
