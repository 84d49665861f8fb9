"""Yes or no: whether a sentence sounds natural."""

from karat.judgments.scales import Binary
from karat.study.tasks.task import Task

TASK = Task(
    name="yes-no",
    scale=lambda settings: Binary(tuple(settings.levels) or ("no", "yes")),
    seconds=6.0,
    scale_keys=("levels", "labels"),
    flaw=lambda block: (
        None if len(block.scale.levels) in (0, 2) else "a yes-no task has two answers: scale = { levels = [no, yes] }"
    ),
    acceptability=True,
)
