"""The tasks of trials, one file per task; add new ones to `TASKS`.

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
"""The minutes for consent, instructions, background questions and breaks."""
TASKS: Mapping[str, Task] = {
    task.name: task for task in (yes_no.TASK, likert.TASK, choice.TASK, magnitude.TASK, differential.TASK, label.TASK)
}
_added: dict[str, Task] = {}
"""Registered tasks, and tasks of packages that a study has used."""
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
"""Names of tasks in the literature and in other tools, by karat's task; '' if it has none."""


def instead_of(word: str) -> str | None:
    """The task of karat for another name of it, as a sentence; None for an unknown name."""
    name = "-".join(word.lower().replace("_", " ").split())
    for task, words in _ELSEWHERE.items():
        if name in words.split():
            only = f"karat has judgments of text and pictures only: {', '.join(TASKS)}."
            return f"karat calls this task {task}." if task else only
    return None


def register(task: Task) -> Task:
    """Register a task for study files, in this process.

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
    """The task of this name, of karat, registered or of a package; None if there is none."""
    task = TASKS.get(name) or _added.get(name)
    if task is None and (addition := added(GROUP, name, Task)):
        return register(addition[0])
    return task


def task_named(name: str) -> Task:
    """The task of this name; KaratError if there is none."""
    task = find_task(name)
    if task is None:
        raise KaratError(f'There is no task "{name}". Known: {", ".join(TASKS)}. Is its package installed?')
    return task


def tasks_met() -> tuple[Task, ...]:
    """The tasks of karat, registered ones, and those of packages that a study has used so far."""
    return (*TASKS.values(), *_added.values())
