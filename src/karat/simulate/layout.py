"""The layout of a contrast: which lists see which items on which side of it.

Participants fall into groups (lists), items into groups (those that a list shows in the same condition), and every
participant of a group judges every item of the groups shown to it once. Group g sees items of group h with x[g, h], the
side of the contrast: +1/2 and -1/2, or 1 for a choice whose answer is the contrast itself. The estimate is

    sum over g, h of w[g, h] * mean of the answers in (g, h),

where w is 1 over the number of cells on the first side, -1 over those on the second, and 0 elsewhere.

With c conditions within participants and items, list g shows item group h in condition (g + h) mod c (a Latin square).
Factors between participants multiply the groups of participants, those between items the groups of items. Where every
participant judges a part of the items, these parts are taken to be disjoint.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

import numpy as np

from karat.judgments.scales import Scale
from karat.messages import Message
from karat.simulate.errors import SimulateError
from karat.study.plan import COMPARISON, Block
from karat.study.settings import BlockSettings, ContrastSettings
from karat.study.study import Study
from karat.types import Floats, Ints


@dataclass(frozen=True)
class SimulationLayout:
    """Sides and weights, groups of participants x groups of items, and the scale that is answered on."""

    sides: Floats
    scale: Scale
    compared: bool = False
    """Whether the answer is itself the contrast: a choice between its two levels."""
    repeats: int = 1
    """How often every participant judges every item."""

    @cached_property
    def weights(self) -> Floats:
        """w."""
        first, second = self.sides > 0, self.sides < 0
        weights = first / max(first.sum(), 1)
        if not self.compared:
            weights = weights - second / max(second.sum(), 1)
        return np.asarray(weights, dtype=float)

    def item_groups(self, items: int) -> Ints:
        """The group of each of so many items."""
        return np.arange(items, dtype=np.int64) % np.int64(self.sides.shape[1])

    def participant_groups(self, participants: int) -> Ints:
        """The group of each of so many participants, as they come."""
        return np.arange(participants, dtype=np.int64) % np.int64(self.sides.shape[0])


def layout_of(study: Study, contrast: ContrastSettings) -> tuple[SimulationLayout, Block, int]:
    """The layout of a contrast, the block that it is about, and how many test items that block has.

    >>> import tempfile
    >>> from karat.simulate.contrasts import named_contrast
    >>> from karat.study.init import write_study
    >>> from karat.study.study import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_study(folder, "yes-no")
    ...     study = load(folder)
    >>> layout, block, items = layout_of(study, named_contrast(study, None))
    >>> layout.sides.tolist(), items
    ([[0.5, -0.5], [-0.5, 0.5]], 12)
    """
    block = next((block for block in study.blocks if contrast.factor in block.settings.factors), None)
    if block is None:
        values = {"factor": contrast.factor, "file": study.path.name}
        raise SimulateError(Message("layout.no_factor", values))
    frame = block.items.frame
    items = frame.filter(frame["function"] == "test")["item"].n_unique()
    settings = block.settings
    parts = 1 if settings.subset is None else max(1, round(items / settings.subset.per_participant))
    repeats = settings.rounds * study.settings.questionnaire.sessions
    compared = block.task.compares and contrast.factor == settings.compared
    sides = np.asarray(np.kron(np.eye(parts), _sides(settings, contrast, compared)), dtype=np.float64)
    return SimulationLayout(sides, block.scale, compared, repeats), block, items


def _sides(settings: BlockSettings, contrast: ContrastSettings, compared: bool) -> Floats:
    """x for every group of participants and items."""
    within = {name: factor.levels for name, factor in settings.factors.items()
              if factor.between is None and name != settings.compared}  # fmt: skip
    if settings.compared is not None and len(settings.factors[settings.compared].levels) > 2:
        levels = settings.factors[settings.compared].levels
        within[COMPARISON] = ["/".join(pair) for pair in combinations(levels, 2)]
    between = {
        kind: {name: factor.levels for name, factor in settings.factors.items() if factor.between == kind}
        for kind in ("participants", "items")
    }
    conditions = [dict(zip(within, levels, strict=True)) for levels in product(*within.values())]
    people = [dict(zip(between["participants"], levels, strict=True))
              for levels in product(*between["participants"].values())]  # fmt: skip
    things = [dict(zip(between["items"], levels, strict=True)) for levels in product(*between["items"].values())]
    count = len(conditions)
    sides = np.zeros((count * len(people), count * len(things)))
    for g, h in np.ndindex(*sides.shape):
        shown = conditions[(g + h) % count] | people[g // count] | things[h // count]
        sides[g, h] = _side(shown, contrast, compared)
    if not np.any(sides > 0) or (not compared and not np.any(sides < 0)):
        raise SimulateError(Message("layout.no_contrast", {"contrast": contrast.name}))
    return sides


def _side(shown: dict[str, str], contrast: ContrastSettings, compared: bool) -> float:
    if any(shown.get(name) != level for name, level in contrast.within.items()):
        return 0.0
    first, second = contrast.levels
    if compared:
        comparison = shown.get(COMPARISON)
        return 1.0 if comparison is None or {first, second} == set(comparison.split("/")) else 0.0
    level = shown.get(contrast.factor)
    return 0.5 if level == first else -0.5 if level == second else 0.0


def rounded_items(layout: SimulationLayout, items: int) -> tuple[int, Message | None]:
    """The number of items that the design can hold, and a note where it is another one.

    >>> from karat.judgments.scales import Binary
    >>> rounded_items(SimulationLayout(np.array([[0.5, -0.5], [-0.5, 0.5]]), Binary()), 13)
    (14, Message('layout.items', {'n': 13, 'groups': 2, 'simulated': 14}))
    """
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
