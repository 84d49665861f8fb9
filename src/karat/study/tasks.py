"""The tasks: which scale each is answered on, and which stimuli it shows. A new task is added here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from karat.scales import Binary, Choice, Magnitude, Nominal, Ordinal, Scale
from karat.study.settings import BlockSettings, ScaleSettings

AROUND_MINUTES = 4.0
"""For consent, instructions, background questions and breaks."""


@dataclass(frozen=True)
class Task:
    """A kind of judgment."""

    name: str
    scale: Callable[[ScaleSettings], Scale]
    seconds: float
    """About how long a trial takes on the whole, for the estimated duration: for ratings and choices what the median
    participant of Pieper, Börner and Kiss took, else an assumption."""
    compares: bool = False
    """Whether a trial shows two stimuli."""


def _ordinal(settings: ScaleSettings) -> Ordinal:
    """The points 1 to n; the middle of an odd scale is neutral unless the study says otherwise."""
    count = settings.points_in("likert")
    neutral = settings.neutral if settings.neutral is not None else (count + 1) // 2 if count % 2 else 0
    return Ordinal(count, neutral=neutral or None)


def _differential(settings: ScaleSettings) -> Ordinal:
    """Points around zero, such as -3 to 3; an even number of points has no zero."""
    count = settings.points_in("differential")
    half = count // 2
    points = [*range(-half, 0), *([0] if count % 2 else []), *range(1, half + 1)]
    return Ordinal(points, neutral=0 if count % 2 else None)


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task("yes-no", lambda s: Binary(tuple(s.levels) or ("no", "yes")), 6.0),
        Task("likert", _ordinal, 8.8),
        Task("choice", lambda s: Choice(none=s.no_difference), 9.2, compares=True),
        Task("magnitude", lambda s: Magnitude(s.modulus), 10.0),
        Task("differential", _differential, 4.0),
        Task("label", lambda s: Nominal(s.levels), 5.0),
    )
}


def scale_of(block: BlockSettings) -> Scale:
    """The scale on which a block is answered.

    >>> scale_of(BlockSettings(task="likert", items=["items.csv"])).known()
    '1, 2, 3, 4, 5'
    """
    return TASKS[block.task].scale(block.scale)
