"""The planned contrasts of a study, and their layout: which lists see which items on which side of them.

Participants fall into groups (lists), items into groups (those that a list shows in the same condition), and every
participant of a group judges every item of the groups shown to it once. Group g sees items of group h with x[g, h], the
side of the contrast: +1/2 and -1/2, or 1 for a choice whose answer is the contrast itself. The estimate is

    sum over g, h of w[g, h] * mean of the answers in (g, h),     w = x / sum of x^2,

so that an effect of 1, which moves the answers by x, has an estimate of 1. Of two levels, w is 1 over the number of
cells on the first side, -1 over those on the second, and 0 elsewhere. An interaction of two factors has x = +1/4 and
-1/4, any other contrast its weights over the sum of their squares.

With c conditions within participants and items, list g shows item group h in condition (g + h) mod c (a Latin square).
Factors between participants multiply the groups of participants, those between items the groups of items. Where every
participant judges a part of the items, these parts are taken to be disjoint.
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
    """Sides and weights, groups of participants x groups of items, and the scale that is answered on."""

    sides: Floats
    scale: Scale
    compared: bool = False
    """Whether the answer is itself the contrast: a choice between its two levels."""
    repeats: int = 1
    """How often every participant judges every item."""
    contrast: ContrastSettings | None = None
    """The planned contrast, where there is one."""
    shown: Mapping[str, NDArray[np.str_]] = field(default_factory=dict)
    """The level of every factor, groups of participants x groups of items; empty where the items are not judged."""

    @cached_property
    def weights(self) -> Floats:
        """w."""
        return np.asarray(self.sides / max(float((self.sides**2).sum()), TINY), dtype=float)

    def item_groups(self, items: int) -> Ints:
        """The group of each of this many items."""
        return np.arange(items, dtype=np.int64) % np.int64(self.sides.shape[1])

    def participant_groups(self, participants: int) -> Ints:
        """The group of each of this many participants, as they come."""
        return np.arange(participants, dtype=np.int64) % np.int64(self.sides.shape[0])


def layout_of(study: Study, contrast: ContrastSettings) -> tuple[SimulationLayout, Block, int]:
    """The layout of a contrast, the block that it is about, and how many test items that block has."""
    named = set(contrast.own)
    block = next((block for block in study.blocks if named <= set(block.settings.factors)), None)
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
    one, cells = _sides(settings, contrast, compared)
    sides = np.asarray(np.kron(np.eye(parts), one), dtype=np.float64)
    own = {} if block.task.compares else {name: _parted(levels, parts) for name, levels in cells.items()}
    return SimulationLayout(sides, block.scale, compared, repeats, contrast, own), block, items


def _parted(levels: NDArray[np.str_], parts: int) -> NDArray[np.str_]:
    """The levels of groups, where each participant judges one of several disjoint parts of the items."""
    g, h = levels.shape
    whole = np.full((parts * g, parts * h), "", dtype=levels.dtype)
    for part in range(parts):
        whole[part * g : (part + 1) * g, part * h : (part + 1) * h] = levels
    return whole


def _sides(
    settings: BlockSettings, contrast: ContrastSettings, compared: bool
) -> tuple[Floats, dict[str, NDArray[np.str_]]]:
    """x for every group of participants and items, and the level of every factor there."""
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
        shown = conditions[(g + h) % count] | people[g // count] | things[h // count]
        sides[g, h] = _side(shown, contrast, compared)
        for name, level in shown.items():
            cells.setdefault(name, []).append(level)
    if not np.any(sides > 0) or (not compared and not np.any(sides < 0)):
        raise SimulateError(Message("layout.no_contrast", {"contrast": contrast.name}))
    return sides, {name: np.array(levels).reshape(sides.shape) for name, levels in cells.items()}


def _side(shown: dict[str, str], contrast: ContrastSettings, compared: bool) -> float:
    if compared:
        if any(shown.get(name) != level for name, level in contrast.within.items()):
            return 0.0
        comparison = shown.get(COMPARISON)
        return 1.0 if comparison is None or set(contrast.levels) == set(comparison.split("/")) else 0.0
    return side_values(contrast).get(tuple(shown.get(name, "") for name in contrast.names), 0.0)


def side_values(contrast: ContrastSettings) -> dict[tuple[str, ...], float]:
    """x for each cell of the contrast's factors.

    >>> side_values(ContrastSettings(name="order", factor="order", levels=["PO", "OP"]))
    {('PO',): 0.5, ('OP',): -0.5}
    """
    squares = sum(weight**2 for weight in contrast.cells.values())
    return {cell: weight / squares for cell, weight in contrast.cells.items()}


def rounded_items(layout: SimulationLayout, items: int) -> tuple[int, Message | None]:
    """The number of items that the design can hold, and a note where it is another one."""
    groups = layout.sides.shape[1]
    if items < 1:
        raise SimulateError(Message("layout.no_items", {"n": items}))
    fitting = -(-items // groups) * groups
    if fitting == items:
        return items, None
    return fitting, Message("layout.items", {"n": items, "groups": groups, "simulated": fitting})


def fewest_participants(layout: SimulationLayout) -> int:
    """How many participants there must at least be, so that every group has two."""
    return 2 * len(layout.sides)


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
        raise SimulateError(unknown_name("contrasts.unknown", name, known, file=study.path.name))
    return found


def stated_effects(study: Study, effects: Mapping[str, float] | float | None) -> list[tuple[ContrastSettings, float]]:
    """Planned contrasts with their effects in logits: all have the usual one unless stated; a number is the first's."""
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

    In a choice it is the share of a preference for the left side: +1 where the first level of the compared factor
    stands left, -1 where it stands right, and half of that, with either sign, where another factor is contrasted.
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
    """+1 where the first level stands left and the second right, -1 the other way round, else 0."""
    sides: Sequence[pl.Expr] = [
        (pl.col(left) == pl.format("{}.{}", "item", pl.lit(first)))
        & (pl.col(right) == pl.format("{}.{}", "item", pl.lit(second)))
        for left, right in (("left", "right"), ("right", "left"))
    ]
    found = trials.select(ahead=sides[0].fill_null(False), behind=sides[1].fill_null(False))
    ahead, behind = (found[name].to_numpy().astype(np.float64) for name in ("ahead", "behind"))
    return np.asarray(ahead - behind)
