"""How large a table of labels may be for its model, how long its Spammer Index takes, and what to do beyond that.

The model of labels holds m x m numbers for every pair of a worker and a task, answered or not, with m one less than the
number of labels. An evaluation of its likelihood solves a system of the m effects of every worker and task, and the
index with its interval takes about 75 evaluations a label. On one processor

    seconds = 0.075 labels (3 + (m few)^2 (m many) / 5,000,000 + m^2 few many / 25,000),

where few is the smaller of the numbers of workers and tasks, and many the larger. It was measured from 60 x 60 to
330 x 330 with three and four labels; it says the order of magnitude, and a busy machine takes longer.
"""

from __future__ import annotations

from karat.messages import Message, NotComputed
from karat.screen.crowd.answers import Crowd
from karat.screen.evidence import ScreenError

LONG = 60.0
"""Seconds that an index may take where nobody has asked for it."""
QUICK = 5.0
"""Seconds that it may take beside a choice of criteria."""
QUICK_ANSWERS = 20_000
"""So many yes-or-no or ordered answers are fitted in a few seconds."""
STEP = 0.98
"""By this the share of a sample is made smaller until it fits."""
NOT_QUICK = NotComputed("spammer_index.not_quick")


def seconds_of(workers: float, tasks: float, labels: int) -> float:
    """About how long the Spammer Index of labels takes.

    >>> round(seconds_of(100, 100, 4)), round(seconds_of(330, 330, 4))
    (4, 71)
    """
    m, few, many = labels - 1, min(workers, tasks), max(workers, tasks)
    return 0.075 * labels * (3 + (m * few) ** 2 * m * many / 5e6 + m * m * few * many / 2.5e4)


def share_in_time(workers: int, tasks: int, labels: int, seconds: float = LONG) -> float:
    """The largest share of the workers, and of the tasks, whose answers are fitted within so many seconds.

    >>> share_in_time(100, 100, 4)
    1.0
    >>> round(share_in_time(2_000, 500, 4), 1)
    0.4
    """
    share = 1.0
    while seconds_of(share * workers, share * tasks, labels) > seconds and share * min(workers, tasks) > 1:
        share *= STEP
    return share


def refuse_large(answers: Crowd, criterion: str) -> None:
    """ScreenError where the model of these labels would not fit into memory.

    >>> import karat
    >>> from karat.screen.crowd.answers import crowd
    >>> refuse_large(crowd(karat.datasets.load("crowd"), "deletion"), "deletion")
    """
    from karat.models.glrm.nominal import LARGEST

    if answers.family != "nominal":
        return
    workers, tasks, labels = (answers.rows[name].n_unique() for name in ("_worker", "_stimulus", "_code"))
    if workers * tasks * (labels - 1) ** 2 > LARGEST:
        raise ScreenError(
            Message(
                "crowd.too_many_labels",
                {"criterion": criterion, "participants": workers, "items": tasks, "labels": labels},
            )
        )


def labels_take(answers: Crowd) -> float:
    """About how many seconds the index of these answers takes, if they are labels; 0 for others, which are quicker.

    >>> import karat
    >>> from karat.screen.crowd.answers import crowd
    >>> labels_take(crowd(karat.datasets.load("crowd"), "spammer_index"))
    0.0
    """
    if answers.family != "nominal":
        return 0.0
    workers, tasks, labels = (answers.rows[name].n_unique() for name in ("_worker", "_stimulus", "_code"))
    return seconds_of(workers, tasks, labels)


def is_quick(family: str, answers: int, workers: int, tasks: int, labels: int) -> bool:
    """Whether the index of so many answers takes only a few seconds.

    >>> is_quick("binary", 9_600, 120, 80, 2), is_quick("nominal", 9_600, 300, 300, 4)
    (True, False)
    """
    if family == "nominal":
        return seconds_of(workers, tasks, labels) <= QUICK
    return answers <= QUICK_ANSWERS
