"""The definition of a task: everything that karat must know about a kind of judgment, in one place.

All else follows from the scale: the answers that the browser may send, those of simulated participants, the criteria
and measures that apply, and the words of the report.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from karat.errors import KaratError
from karat.judgments.scales import Scale
from karat.study.block_keys import BlockKeys, ScaleSettings

NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")


@dataclass(frozen=True)
class Task:
    """A kind of judgment.

    >>> from karat.judgments.scales import Continuous
    >>> Task("line", lambda settings: Continuous(0, 1), 5.0, {"en": "Mark the line."}).scale(ScaleSettings()).known()
    'numbers from 0 to 1'
    """

    name: str
    """The name in study files and of its browser file, `tasks/NAME.js`."""
    scale: Callable[[ScaleSettings], Scale]
    seconds: float
    """The approximate time of a trial, for the estimated duration: for ratings and choices that of the median
    participant of Pieper, Börner and Kiss, else an assumption."""
    instructions: Mapping[str, str] = field(default_factory=dict)
    """For a task in another package, the instructions for participants by language, with English as the fallback. Those
    of karat's tasks are in the files of the languages."""
    scale_keys: tuple[str, ...] = ()
    """The keys of the scale that apply."""
    block_keys: tuple[str, ...] = ()
    """The keys of a block that apply to this task only."""
    points: int | None = None
    """The usual number of points, if a study may choose it."""
    flaw: Callable[[BlockKeys], str | None] = lambda block: None
    """From a block of this task to a sentence about what it lacks, if anything."""
    compares: bool = False
    """Whether a trial shows two stimuli."""
    acceptability: bool = False
    """Whether it asks how acceptable sentences are, so that the rules about such questionnaires apply."""
    script: Path | None = None
    """The browser file of another package; karat's are in `field/web/static/js/tasks`."""

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise KaratError(f'"{self.name}" cannot be the name of a task. Use lower-case letters, digits and hyphens.')
        if self.instructions and "en" not in self.instructions:
            raise KaratError(f"The task {self.name} has no instructions in English. Add instructions for en.")

    @property
    def rated(self) -> bool:
        """Whether the acceptability of each stimulus is judged by itself."""
        return self.acceptability and not self.compares
