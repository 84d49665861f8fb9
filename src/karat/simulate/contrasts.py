"""The planned contrasts of a study, and which trials stand on which side of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from karat.judgments.columns import nearest
from karat.messages import Message
from karat.simulate.errors import SimulateError
from karat.study.settings import BlockSettings, ContrastSettings
from karat.study.study import Study
from karat.study.tasks import task_named
from karat.types import Floats

USUAL_EFFECT = 0.8
"""In logits, where nothing else is said."""


def planned_contrasts(study: Study) -> list[ContrastSettings]:
    """The contrasts that the study file plans; without any, the first two levels of its first factor."""
    if study.settings.contrast:
        return list(study.settings.contrast)
    for block in study.settings.block:
        for name, factor in block.factors.items():
            if len(factor.levels) > 1:
                return [ContrastSettings(name=name, factor=name, levels=factor.levels[:2])]
    return []


def named_contrast(study: Study, name: str | None) -> ContrastSettings:
    """The contrast of this name, or the first one."""
    contrasts = planned_contrasts(study)
    if not contrasts:
        raise SimulateError(Message("contrasts.none", {"file": study.path.name}))
    if name is None:
        return contrasts[0]
    found = next((contrast for contrast in contrasts if contrast.name == name), None)
    if found is None:
        known = [contrast.name for contrast in contrasts]
        close = nearest(name, known)
        values = {"file": study.path.name, "name": name, "close": close, "known": None if close else known}
        raise SimulateError(Message("contrasts.unknown", values))
    return found


def stated_effects(study: Study, effects: Mapping[str, float] | float | None) -> list[tuple[ContrastSettings, float]]:
    """Every planned contrast with its effect in logits: a number is the first contrast's, others have none."""
    contrasts = planned_contrasts(study)
    if isinstance(effects, Mapping):
        return [(named_contrast(study, name), effect) for name, effect in effects.items()]
    if not contrasts:
        return []
    return [(contrasts[0], USUAL_EFFECT if effects is None else float(effects))]


def side_of(trials: pl.DataFrame, contrast: ContrastSettings, block: BlockSettings) -> Floats:
    """For each trial +1/2 at the first level of a contrast, -1/2 at the second, else 0.

    In a choice it is the share of a preference for the left side: +1 where the first level of the compared factor
    stands left, -1 where it stands right, and half of that, with either sign, where another factor is contrasted.
    """
    held = _where(trials, contrast.within)
    first, second = contrast.levels
    compares = task_named(block.task).compares
    if not compares or contrast.factor != block.compared:
        if contrast.factor not in trials.columns:
            return np.zeros(trials.height)
        level = trials[contrast.factor].cast(pl.String).fill_null("")
        x = 0.5 * ((level == first).to_numpy().astype(float) - (level == second).to_numpy().astype(float))
        if compares and block.compared:
            x = x * orientation(trials, *block.factors[block.compared].levels[:2])
        return np.asarray(x * held, dtype=np.float64)
    return orientation(trials, first, second) * held


def _where(trials: pl.DataFrame, within: Mapping[str, str]) -> Floats:
    held = np.ones(trials.height)
    for name, level in within.items():
        if name not in trials.columns:
            return np.zeros(trials.height)
        held *= (trials[name].cast(pl.String).fill_null("") == level).to_numpy()
    return held


def orientation(trials: pl.DataFrame, first: str, second: str) -> Floats:
    """+1 where the first level stands left and the second right, -1 the other way round, else 0."""
    sides: Sequence[pl.Expr] = [
        (pl.col(left) == pl.format("{}.{}", "item", pl.lit(first)))
        & (pl.col(right) == pl.format("{}.{}", "item", pl.lit(second)))
        for left, right in (("left", "right"), ("right", "left"))
    ]
    found = trials.select(ahead=sides[0].fill_null(False), behind=sides[1].fill_null(False))
    ahead, behind = (found[name].to_numpy().astype(np.float64) for name in ("ahead", "behind"))
    return np.asarray(ahead - behind)
