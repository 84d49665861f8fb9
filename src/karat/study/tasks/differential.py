"""A semantic differential: a text rated on pairs of opposite adjectives."""

from karat.judgments.scales import Ordinal
from karat.study.block_keys import ScaleSettings
from karat.study.tasks.task import Task

POINTS = 7


def _scale(settings: ScaleSettings) -> Ordinal:
    """Points around zero, such as -3 to 3; an even number of points has no zero."""
    count = settings.points_or(POINTS)
    half = count // 2
    points = [*range(-half, 0), *([0] if count % 2 else []), *range(1, half + 1)]
    return Ordinal(points, neutral=0 if count % 2 else None)


TASK = Task(
    name="differential",
    scale=_scale,
    seconds=4.0,
    scale_keys=("points", "labels", "slider", "colours"),
    block_keys=("questions", "repeated_questions", "per_page"),
    points=POINTS,
    flaw=lambda block: None if block.questions else "a differential needs its adjective pairs: questions = a table",
)
