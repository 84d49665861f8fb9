"""Labels: which of several categories fits a text best."""

from karat.judgments.scales import Nominal
from karat.study.tasks.task import Task

TASK = Task(
    name="label",
    scale=lambda settings: Nominal(settings.levels),
    seconds=5.0,
    scale_keys=("levels", "labels"),
    flaw=lambda block: (
        None if len(block.scale.levels) > 1 else "a label task needs its categories: scale = { levels = [...] }"
    ),
)
