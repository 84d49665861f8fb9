"""The planned contrasts of a study, and their layout: the side of each item in each list.

Participants form groups (lists), items form groups (those that a list shows in the same condition), and every
participant of a group judges every item of the groups shown to it once. Group g sees items of group h with x[g, h], the
side of the contrast: +1/2 and -1/2, or 1 for a choice whose answer is the contrast itself. The estimate is

    sum over g, h of w[g, h] * mean of the answers in (g, h),     w = x / sum of x^2,

so that an effect of 1, which moves the answers by x, has an estimate of 1. Of two levels, w is 1 over the number of
cells on the first side, -1 over those on the second, and 0 elsewhere. An interaction of two factors has x = +1/4 and
-1/4, any other contrast its weights over the sum of their squares.

With c conditions within participants and items, list g shows item group h in condition (g + h) mod c (a Latin square).
Factors between participants multiply the groups of participants, those between items the groups of items. If every
participant judges a part of the items, these parts are assumed to be disjoint.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.judgments.columns import unknown_name
from karat.judgments.scales import Scale
from karat.messages import Message
from karat.simulate.behaviours import SimulateError
from karat.study.plan import COMPARISON, Block
from karat.study.settings import BlockSettings, ContrastSettings
from karat.study.study import Study
from karat.study.tasks import task_named
from karat.types import Floats, Ints

TINY = 1e-300


@dataclass(frozen=True)
class SimulationLayout:
    """Sides and weights, groups of participants x groups of items, and the scale of the answers."""

    sides: Floats
    scale: Scale
    compared: bool = False
    """Whether the answer is itself the contrast: a choice between its two levels."""
    repeats: int = 1
    """How often every participant judges every item."""
    contrast: ContrastSettings | None = None
    """The planned contrast, if there is one."""
    shown: Mapping[str, NDArray[np.str_]] = field(default_factory=dict)
    """The level of every factor, groups of participants x groups of items; empty if the items are not judged."""

    @cached_property
    def weights(self) -> Floats:
        """w."""
        return np.asarray(self.sides / max(float((self.sides**2).sum()), TINY), dtype=float)

    def item_groups(self, items: int) -> Ints:
        """The groups of this many items."""
        return np.arange(items, dtype=np.int64) % np.int64(self.sides.shape[1])

    def participant_groups(self, participants: int) -> Ints:
        """The groups of this many participants, in order."""
        return np.arange(participants, dtype=np.int64) % np.int64(self.sides.shape[0])


def layout_of(study: Study, contrast: ContrastSettings) -> tuple[SimulationLayout, Block, int]:
    """The layout of a contrast, its block, and the number of test items of that block."""
    factors = set(contrast.own)
    block = next((block for block in study.blocks if factors <= set(block.settings.factors)), None)
    if block is None:
        values = {"factor": " and ".join(contrast.own), "file": study.path.name}
        raise SimulateError(Message("layout.no_factor", values))
    frame = block.items.frame
    items = frame.filter(frame["function"] == "test")["item"].n_unique()
    settings = block.settings
    parts = 1 if settings.subset is None else max(1, round(items / settings.subset.per_participant))
    repeats = settings.rounds * study.settings.questionnaire.sessions
    compared = block.task.compares and settings.compared in contrast.own
    if compared and not contrast.simple:
        raise SimulateError(Message("layout.choice", {"contrast": contrast.name, "factor": settings.compared}))
    group_sides, cells = _sides(settings, contrast, compared)
    sides = np.asarray(np.kron(np.eye(parts), group_sides), dtype=np.float64)
    level_cells = {} if block.task.compares else {name: _parted(levels, parts) for name, levels in cells.items()}
    return SimulationLayout(sides, block.scale, compared, repeats, contrast, level_cells), block, items


def _parted(levels: NDArray[np.str_], parts: int) -> NDArray[np.str_]:
    """The levels of groups if each participant judges one of several disjoint parts of the items."""
    g, h = levels.shape
    whole = np.full((parts * g, parts * h), "", dtype=levels.dtype)
    for part in range(parts):
        whole[part * g : (part + 1) * g, part * h : (part + 1) * h] = levels
    return whole


def _sides(
    settings: BlockSettings, contrast: ContrastSettings, compared: bool
) -> tuple[Floats, dict[str, NDArray[np.str_]]]:
    """x for every group of participants and items, and the level of every factor."""
    within = {name: factor.levels for name, factor in settings.factors.items()
              if factor.between is None and name != settings.compared}  # fmt: skip
    if settings.compared is not None and len(settings.factors[settings.compared].levels) > 2:
        levels = settings.factors[settings.compared].levels
        within[COMPARISON] = ["/".join(pair) for pair in combinations(levels, 2)]
    between = {
        kind: {name: factor.levels for name, factor in settings.factors.items() if factor.between == kind}
        for kind in ("participants", "items")
    }
    conditions, people, things = (
        [dict(zip(factors, levels, strict=True)) for levels in product(*factors.values())]
        for factors in (within, between["participants"], between["items"])
    )
    count = len(conditions)
    sides = np.zeros((count * len(people), count * len(things)))
    cells: dict[str, list[str]] = {}
    for g, h in np.ndindex(*sides.shape):
        levels_of_cell = conditions[(g + h) % count] | people[g // count] | things[h // count]
        sides[g, h] = _side(levels_of_cell, contrast, compared)
        for name, level in levels_of_cell.items():
            cells.setdefault(name, []).append(level)
    if not np.any(sides > 0) or (not compared and not np.any(sides < 0)):
        raise SimulateError(Message("layout.no_contrast", {"contrast": contrast.name}))
    return sides, {name: np.array(levels).reshape(sides.shape) for name, levels in cells.items()}


def _side(levels: dict[str, str], contrast: ContrastSettings, compared: bool) -> float:
    if compared:
        if any(levels.get(name) != level for name, level in contrast.within.items()):
            return 0.0
        comparison = levels.get(COMPARISON)
        return 1.0 if comparison is None or set(contrast.levels) == set(comparison.split("/")) else 0.0
    return side_values(contrast).get(tuple(levels.get(name, "") for name in contrast.names), 0.0)


def side_values(contrast: ContrastSettings) -> dict[tuple[str, ...], float]:
    """x for each cell of the contrast's factors.

    >>> side_values(ContrastSettings(name="order", factor="order", levels=["PO", "OP"]))
    {('PO',): 0.5, ('OP',): -0.5}
    """
    squares = sum(weight**2 for weight in contrast.cells.values())
    return {cell: weight / squares for cell, weight in contrast.cells.items()}


def rounded_items(layout: SimulationLayout, items: int) -> tuple[int, Message | None]:
    """The next number of items that fits the design, and a note if it differs."""
    groups = layout.sides.shape[1]
    if items < 1:
        raise SimulateError(Message("layout.no_items", {"n": items}))
    fitting = -(-items // groups) * groups
    if fitting == items:
        return items, None
    return fitting, Message("layout.items", {"n": items, "groups": groups, "simulated": fitting})


def fewest_participants(layout: SimulationLayout) -> int:
    """The fewest participants, two in every group."""
    return 2 * len(layout.sides)


USUAL_EFFECT = 0.8
"""The default effect, in logits."""


def planned_contrasts(study: Study) -> list[ContrastSettings]:
    """The planned contrasts of the study file, by default that of the first two levels of its first factor."""
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
    match = next((contrast for contrast in contrasts if contrast.name == name), None)
    if match is None:
        names = [contrast.name for contrast in contrasts]
        raise SimulateError(unknown_name("contrasts.unknown", name, names, file=study.path.name))
    return match


def stated_effects(study: Study, effects: Mapping[str, float] | float | None) -> list[tuple[ContrastSettings, float]]:
    """Planned contrasts with their effects in logits, by default the usual one; a number is that of the first."""
    contrasts = planned_contrasts(study)
    if isinstance(effects, Mapping):
        return [(named_contrast(study, name), effect) for name, effect in effects.items()]
    if not contrasts:
        return []
    if effects is None:
        return [(contrast, USUAL_EFFECT) for contrast in contrasts]
    return [(contrasts[0], float(effects))]


def side_of(trials: pl.DataFrame, contrast: ContrastSettings, block: BlockSettings) -> Floats:
    """For each trial +1/2 at the first level of a contrast, -1/2 at the second, else 0; for others see the module.

    In a choice it is the share of a preference for the left side: +1 with the first level of the compared factor on the
    left, -1 with it on the right, and half of that, with either sign, for a contrast of another factor.
    """
    compares = task_named(block.task).compares
    if not compares or block.compared not in contrast.own:
        if any(name not in trials.columns for name in contrast.names):
            return np.zeros(trials.height)
        cells = trials.select(pl.col(name).cast(pl.String).fill_null("") for name in contrast.names).rows()
        values = side_values(contrast)
        x = np.array([values.get(cell, 0.0) for cell in cells], dtype=np.float64)
        if compares and block.compared:
            x = x * orientation(trials, *block.factors[block.compared].levels[:2])
        return x
    first, second = contrast.levels
    return orientation(trials, first, second) * _where(trials, contrast.within)


def _where(trials: pl.DataFrame, within: Mapping[str, str]) -> Floats:
    held = np.ones(trials.height)
    for name, level in within.items():
        if name not in trials.columns:
            return np.zeros(trials.height)
        held *= (trials[name].cast(pl.String).fill_null("") == level).to_numpy()
    return held


def orientation(trials: pl.DataFrame, first: str, second: str) -> Floats:
    """+1 with the first level on the left and the second on the right, -1 the other way round, else 0."""
    sides: Sequence[pl.Expr] = [
        (pl.col(left) == pl.format("{}.{}", "item", pl.lit(first)))
        & (pl.col(right) == pl.format("{}.{}", "item", pl.lit(second)))
        for left, right in (("left", "right"), ("right", "left"))
    ]
    matches = trials.select(ahead=sides[0].fill_null(False), behind=sides[1].fill_null(False))
    ahead, behind = (matches[name].to_numpy().astype(np.float64) for name in ("ahead", "behind"))
    return np.asarray(ahead - behind)
