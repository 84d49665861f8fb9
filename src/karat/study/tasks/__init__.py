"""The tasks: what participants do in a trial. karat's own are in `TASKS`.

Other packages add tasks with an entry point in the group `karat.tasks`, named like the task. `docs/extending/task.md`
shows both ways.
"""

from collections.abc import Callable, Mapping

from karat.errors import KaratError
from karat.judgments.scales import Binary, Choice, Magnitude, Nominal, Ordinal
from karat.packages import added
from karat.study.block_keys import BlockKeys, ScaleSettings
from karat.study.tasks.task import Task

GROUP = "karat.tasks"
AROUND_MINUTES = 4.0
"""For consent, instructions, background questions and breaks."""
LIKERT_POINTS, DIFFERENTIAL_POINTS = 5, 7


def _likert(settings: ScaleSettings) -> Ordinal:
    """The points 1 to n; the middle of an odd scale is neutral unless the study says otherwise."""
    count = settings.points_or(LIKERT_POINTS)
    neutral = settings.neutral if settings.neutral is not None else (count + 1) // 2 if count % 2 else 0
    return Ordinal(count, neutral=neutral or None)


def _differential(settings: ScaleSettings) -> Ordinal:
    """Points around zero, such as -3 to 3; an even number of points has no zero."""
    count = settings.points_or(DIFFERENTIAL_POINTS)
    half = count // 2
    points = [*range(-half, 0), *([0] if count % 2 else []), *range(1, half + 1)]
    return Ordinal(points, neutral=0 if count % 2 else None)


def _needs(what: str, lacks: Callable[[BlockKeys], bool]) -> Callable[[BlockKeys], str | None]:
    """The flaw of a block that lacks something."""
    return lambda block: what if lacks(block) else None


_KNOWN = (
    # Whether a sentence sounds natural.
    Task(
        "yes-no", lambda settings: Binary(tuple(settings.levels) or ("no", "yes")), seconds=6.0, acceptability=True,
        scale_keys=("levels", "labels"),
        flaw=_needs(
            "a yes-no task has two answers: scale = { levels = [no, yes] }",
            lambda block: len(block.scale.levels) not in (0, 2),
        ),
    ),
    # How natural a sentence sounds, on points from one end to the other.
    Task(
        "likert", _likert, seconds=8.8, acceptability=True, points=LIKERT_POINTS,
        scale_keys=("points", "labels", "neutral", "slider", "colours"),
    ),
    # Which of two sentences sounds more natural.
    Task(
        "choice", lambda settings: Choice(none=settings.no_difference), seconds=9.2, acceptability=True, compares=True,
        scale_keys=("no_difference", "labels"), block_keys=("compared", "pairs"),
        flaw=_needs(
            "a choice between conditions needs compared = the factor whose levels are shown together",
            lambda block: bool(block.factors) and block.compared is None and block.pairs is None,
        ),
    ),
    # A number in proportion to how natural a sentence sounds, compared with a modulus.
    Task(
        "magnitude", lambda settings: Magnitude(settings.modulus), seconds=10.0, acceptability=True,
        scale_keys=("modulus",), block_keys=("modulus_sentence",),
        flaw=_needs(
            "a modulus_sentence needs its number: scale = { modulus = 100 }",
            lambda block: bool(block.modulus_sentence) and block.scale.modulus is None,
        ),
    ),
    # A text rated on pairs of opposite adjectives.
    Task(
        "differential", _differential, seconds=4.0, points=DIFFERENTIAL_POINTS,
        scale_keys=("points", "labels", "slider", "colours"),
        block_keys=("questions", "repeated_questions", "per_page"),
        flaw=_needs("a differential needs its adjective pairs: questions = a table", lambda block: not block.questions),
    ),
    # Which of several categories fits a text best.
    Task(
        "label", lambda settings: Nominal(settings.levels), seconds=5.0, scale_keys=("levels", "labels"),
        flaw=_needs(
            "a label task needs its categories: scale = { levels = [...] }", lambda block: len(block.scale.levels) < 2
        ),
    ),
)  # fmt: skip
TASKS: Mapping[str, Task] = {task.name: task for task in _KNOWN}
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
