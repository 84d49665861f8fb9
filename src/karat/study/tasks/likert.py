"""A Likert scale: how natural a sentence sounds, on points from one end to the other."""

from karat.judgments.scales import Ordinal
from karat.study.block_keys import ScaleSettings
from karat.study.tasks.task import Task

POINTS = 5


def _scale(settings: ScaleSettings) -> Ordinal:
    """The points 1 to n; by default, the middle of an odd scale is neutral."""
    count = settings.points_or(POINTS)
    neutral = settings.neutral if settings.neutral is not None else (count + 1) // 2 if count % 2 else 0
    return Ordinal(count, neutral=neutral or None)


TASK = Task(
    name="likert",
    scale=_scale,
    seconds=8.8,
    scale_keys=("points", "labels", "neutral", "slider", "colours"),
    points=POINTS,
    acceptability=True,
)
