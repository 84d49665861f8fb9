"""The tasks: what participants do with a trial. One file a task; a new one is named in `TASKS`.

A package of one's own adds a task by an entry point in the group `karat.tasks`, under the name of the task.
`docs/extending/task.md` shows both ways.
"""

from __future__ import annotations

from collections.abc import Mapping

from karat.errors import KaratError
from karat.judgments.scales import Scale
from karat.packages import added
from karat.study.block_keys import BlockKeys
from karat.study.tasks import choice, differential, label, likert, magnitude, yes_no
from karat.study.tasks.task import Task

GROUP = "karat.tasks"
AROUND_MINUTES = 4.0
"""For consent, instructions, background questions and breaks."""
TASKS: Mapping[str, Task] = {
    task.name: task for task in (yes_no.TASK, likert.TASK, choice.TASK, magnitude.TASK, differential.TASK, label.TASK)
}
_added: dict[str, Task] = {}
"""Tasks that were registered, and those of packages from when a study first named them."""


def register(task: Task) -> Task:
    """Add a task to those that study files may name, in this process.

    >>> register(TASKS["likert"])
    Traceback (most recent call last):
    ...
    karat.errors.KaratError: karat has a task likert itself. Choose another name.
    """
    if task.name in TASKS:
        raise KaratError(f"karat has a task {task.name} itself. Choose another name.")
    if not task.instructions:
        raise KaratError(f"The task {task.name} has no instructions in English. Add instructions for en.")
    _added[task.name] = task
    return task


def find_task(name: str) -> Task | None:
    """The task of a name: one of karat, one that was registered, or one of a package; None where there is none.

    >>> find_task("likert").seconds, find_task("lickert")
    (8.8, None)
    """
    known = TASKS.get(name) or _added.get(name)
    if known is not None:
        return known
    found = added(GROUP, name, Task)
    if found is None:
        return None
    return register(found[0])


def task_named(name: str) -> Task:
    """The task of a name that must be there.

    >>> task_named("choice").compares
    True
    """
    task = find_task(name)
    if task is None:
        raise KaratError(f'There is no task "{name}". Known: {", ".join(TASKS)}. Is the package that has it installed?')
    return task


def tasks_met() -> tuple[Task, ...]:
    """The tasks of karat, those that were registered, and those of packages that a study has named so far."""
    return (*TASKS.values(), *_added.values())


def scale_of(block: BlockKeys) -> Scale:
    """The scale on which a block is answered.

    >>> scale_of(BlockKeys(task="likert", items=["items.csv"])).known()
    '1, 2, 3, 4, 5'
    """
    return task_named(block.task).scale(block.scale)
