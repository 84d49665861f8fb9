"""Yes or no: whether a sentence sounds natural."""

from karat.judgments.scales import Binary
from karat.study.block_keys import BlockKeys
from karat.study.tasks.task import Task


def _flaw(block: BlockKeys) -> str | None:
    if block.scale.levels and len(block.scale.levels) != 2:
        return "a yes-no task has two answers: scale = { levels = [no, yes] }"
    return None


TASK = Task(
    name="yes-no",
    scale=lambda settings: Binary(tuple(settings.levels) or ("no", "yes")),
    seconds=6.0,
    scale_keys=("levels", "labels"),
    flaw=_flaw,
    acceptability=True,
)
