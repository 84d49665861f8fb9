"""Power: how probable it is that the planned contrast is found, with crossed random effects, by simulation.

For every number of participants, items and size of effect, whole studies are simulated (`draw`, on the `layout` of the
design) and analysed (`mean_squares`, or a mixed model), after the share of participants that is expected to be excluded
has been taken out at random. Power is the share of significant results. Beside it stand the errors of those who only
look at significant results: type S, how many of them have the wrong sign, and type M, by how much they exaggerate
(Gelman and Carlin 2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Literal

import polars as pl

from karat.executors import SERIAL, Executor
from karat.judgments import Judgments
from karat.messages import Message
from karat.simulate.batches import SIZE, Analysis, Batch, run_batches
from karat.simulate.contrasts import USUAL_EFFECT, named_contrast
from karat.simulate.draw import Latent, Model, in_logits, on_scale, unit_of
from karat.simulate.errors import SimulateError
from karat.simulate.layout import SimulationLayout, fewest_participants, layout_of, rounded_items
from karat.simulate.pilot import Pilot, read_pilot
from karat.simulate.power_result import Power, summarised
from karat.simulate.spread import Spread
from karat.study.study import Study
from karat.types import Progress

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
    simulations: int = 1000,
    alpha: float = 0.05,
    analysis: Analysis = "means",
    spread: Spread | None = None,
    seed: int = 1,
    progress: Progress | None = None,
    executor: Executor = SERIAL,
) -> Power:
    """The power of a planned contrast for all numbers of participants, items and effects given.

    Without them, the study's own numbers are taken and an effect of 0.8 logits. `unit` says whether effects are
    log-odds or differences on the scale. A `pilot` gives the standard deviations of participants and items and, without
    `effects`, the effect; effects are then differences on the scale. `exclude` is the share of participants that are
    expected to be excluded. `executor` says where it is done, and whether what is done is kept
    (`karat.executors.open_executor`).

    >>> import tempfile
    >>> from karat.study.init import write_study
    >>> from karat.study.study import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_study(folder, "yes-no")
    ...     found = power(load(folder), [24, 48], effects=[1.0], simulations=100)
    >>> found.table()["participants"].to_list(), found.table()["power"].is_between(0.3, 1).all()
    ([24, 48], True)
    """
    _check(exclude, simulations, alpha, analysis, unit)
    planned = named_contrast(study, contrast)
    layout, block, own_items = layout_of(study, planned)
    found = None if pilot is None else read_pilot(pilot, planned, block, layout)
    sizes, notes = _sizes(study, layout, participants, items or [own_items])
    stated = spread or Spread()
    model: Model = Latent(stated) if found is None else found.model
    true = _effects(effects, unit, found, layout, stated)
    each = -(-simulations // SIZE)
    batches = [
        Batch(layout, model, n, m, inner, exclude, analysis, seed, number, min(SIZE, simulations - SIZE * number))
        for (n, m), (_, inner, _) in product(sizes, true)
        for number in range(each)
    ]
    tested = run_batches(batches, executor, progress)
    rows = []
    for place, ((n, m), (effect, _, difference)) in enumerate(product(sizes, true)):
        own = [row for studies in tested[place * each : (place + 1) * each] for row in studies]
        size = {"participants": n, "items": m, "effect": effect, "difference": difference}
        rows.append({**size, **summarised(own, difference, alpha)})
    if found is not None:
        values = {"effect": found.effect, "error": found.standard_error}
        notes += [Message("power.pilot", values), *found.notes]
    told = unit_of(layout.scale)
    shown = told if found is not None or unit == "scale" else Message("power.log_odds")
    cells = pl.DataFrame(rows, schema_overrides={"type_s": pl.Float64, "type_m": pl.Float64})
    return Power(cells, planned.name, shown, told, alpha, exclude, analysis, seed, tuple(notes))


def _check(exclude: float, simulations: int, alpha: float, analysis: str, unit: str) -> None:
    if not 0 <= exclude < 1:
        raise SimulateError(Message("power.exclude", {"value": exclude}))
    if simulations < 1:
        raise SimulateError(Message("power.simulations", {"value": simulations}))
    if not 0 < alpha < 1:
        raise SimulateError(Message("power.alpha", {"value": alpha}))
    if analysis not in ("means", "mixed"):
        raise SimulateError(Message("power.analysis", {"value": analysis}))
    if unit not in ("log-odds", "scale"):
        raise SimulateError(Message("power.unit", {"value": unit}))


def _sizes(
    study: Study, layout: SimulationLayout, participants: Sequence[int] | None, items: Sequence[int]
) -> tuple[list[tuple[int, int]], list[Message]]:
    """Every number of participants with every number of items that the design can hold."""
    people = list(dict.fromkeys(participants or [study.settings.recruitment.participants]))
    least = fewest_participants(layout)
    for number in people:
        if number < least:
            raise SimulateError(Message("power.few_participants", {"n": number, "least": least}))
    fitting = [rounded_items(layout, number) for number in items]
    for number, _ in fitting:
        if number < 2 * layout.sides.shape[1]:
            least = 2 * layout.sides.shape[1]
            raise SimulateError(Message("power.few_items", {"n": number, "least": least}))
    sizes = list(product(people, dict.fromkeys(number for number, _ in fitting)))
    return sizes, [note for _, note in fitting if note is not None]


def _effects(
    effects: Sequence[float] | None, unit: Unit, pilot: Pilot | None, layout: SimulationLayout, spread: Spread
) -> list[tuple[float, float, float]]:
    """Every effect as it was given, as the model takes it, and as a difference on the scale."""
    if pilot is not None:
        return [(effect, effect, effect) for effect in dict.fromkeys(effects or [pilot.effect])]
    given = dict.fromkeys(effects if effects else [USUAL_EFFECT])
    if unit == "scale":
        if not effects:
            raise SimulateError(Message("power.no_effects"))
        return [(effect, in_logits(layout, spread, effect), effect) for effect in given]
    return [(effect, effect, on_scale(layout, spread, effect) if effect else 0.0) for effect in given]
