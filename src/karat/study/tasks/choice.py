"""A choice: which of two sentences sounds more natural."""

from karat.judgments.scales import Choice
from karat.study.tasks.task import Task

TASK = Task(
    name="choice",
    scale=lambda settings: Choice(none=settings.no_difference),
    seconds=9.2,
    scale_keys=("no_difference", "labels"),
    block_keys=("compared", "pairs"),
    flaw=lambda block: (
        "a choice between conditions needs compared = the factor whose levels are shown together"
        if block.factors and block.compared is None and block.pairs is None
        else None
    ),
    compares=True,
    acceptability=True,
)
