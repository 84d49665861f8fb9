"""The tasks: what participants do in a trial. One file per task; add new ones to `TASKS`.

Other packages add tasks with an entry point in the group `karat.tasks`, named like the task. `docs/extending/task.md`
shows both ways.
"""

from collections.abc import Mapping

from karat.errors import KaratError
from karat.packages import added
from karat.study.tasks import choice, differential, label, likert, magnitude, yes_no
from karat.study.tasks.task import Task

GROUP = "karat.tasks"
AROUND_MINUTES = 4.0
"""For consent, instructions, background questions and breaks."""
TASKS: Mapping[str, Task] = {
    task.name: task for task in (yes_no.TASK, likert.TASK, choice.TASK, magnitude.TASK, differential.TASK, label.TASK)
}
_added: dict[str, Task] = {}
"""Registered tasks, and tasks of packages once a study has named them."""
_ELSEWHERE: Mapping[str, str] = {
    "likert": "rating ratings acceptability scale slider vas visual-analogue-scale naturalness",
    "yes-no": "binary yesno grammaticality truth-value truth-value-judgment felicity acceptable true-false",
    "choice": "2afc afc forced-choice preference comparison paired-comparison pairwise best-worst bws ranking",
    "magnitude": "magnitude-estimation me ratio",
    "differential": "semantic-differential adjectives osgood",
    "label": "classification category categories annotation nli sentiment multiple-choice tagging",
    "": "audio sound speech video recording self-paced-reading spr maze eye-tracking eyetracking mouse-tracking cloze "
    "completion production lexical-decision priming recall drag-and-drop spans",
}
"""Names of tasks in the literature and in other tools, by the task karat has for them; '' if it has none."""


def instead_of(word: str) -> str | None:
    """What karat offers for a task that goes by another name, if it knows the name."""
    name = "-".join(word.lower().replace("_", " ").split())
    for task, words in _ELSEWHERE.items():
        if name in words.split():
            only = f"karat has judgments of text and pictures only: {', '.join(TASKS)}."
            return f"karat calls this task {task}." if task else only
    return None


def register(task: Task) -> Task:
    """Add a task to those that study files may name, in this process.

    >>> register(TASKS["likert"])
    Traceback (most recent call last):
    ...
    karat.errors.KaratError: karat already has a task likert. Choose another name.
    """
    if task.name in TASKS:
        raise KaratError(f"karat already has a task {task.name}. Choose another name.")
    if not task.instructions:
        raise KaratError(f"The task {task.name} has no instructions in English. Add instructions for en.")
    _added[task.name] = task
    return task


def find_task(name: str) -> Task | None:
    """The task of a name: one of karat, one that was registered, or one of a package; None where there is none."""
    known = TASKS.get(name) or _added.get(name)
    if known is None and (found := added(GROUP, name, Task)):
        return register(found[0])
    return known


def task_named(name: str) -> Task:
    """The task of a name that must be there."""
    task = find_task(name)
    if task is None:
        raise KaratError(f'There is no task "{name}". Known: {", ".join(TASKS)}. Is its package installed?')
    return task


def tasks_met() -> tuple[Task, ...]:
    """The tasks of karat, those that were registered, and those of packages that a study has named so far."""
    return (*TASKS.values(), *_added.values())
