"""What a task is: all that karat must know of one kind of judgment, in one place.

Everything else follows from the scale: what the browser may send, how a simulated participant answers, what can be
screened and measured, and how the report names it.
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
    """As study files write it; also the name of its browser file, `tasks/NAME.js`."""
    scale: Callable[[ScaleSettings], Scale]
    seconds: float
    """About how long a trial takes on the whole, for the estimated duration: for ratings and choices what the median
    participant of Pieper, Börner and Kiss took, else an assumption."""
    instructions: Mapping[str, str] = field(default_factory=dict)
    """Of a task in another package: what participants are asked to do, by language; English is shown where there is no
    other. karat's own tasks have theirs in the files of the languages."""
    scale_keys: tuple[str, ...] = ()
    """The keys of the scale that have a say."""
    block_keys: tuple[str, ...] = ()
    """The keys of a block that have a say in this task only."""
    points: int | None = None
    """The usual number of points, where there are points whose number a study may state."""
    flaw: Callable[[BlockKeys], str | None] = lambda block: None
    """What is wrong with a block of this task, if anything: a sentence that says what it needs."""
    compares: bool = False
    """Whether a trial shows two stimuli."""
    acceptability: bool = False
    """Whether it asks how acceptable sentences are, so that the rules about such questionnaires apply."""
    script: Path | None = None
    """The browser file of a package of one's own; karat's are in `field/web/static/js/tasks`."""

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise KaratError(f'"{self.name}" cannot be the name of a task. Use lower-case letters, digits and hyphens.')
        if self.instructions and "en" not in self.instructions:
            raise KaratError(f"The task {self.name} has no instructions in English. Add instructions for en.")

    @property
    def rated(self) -> bool:
        """Whether the acceptability of each stimulus is judged by itself."""
        return self.acceptability and not self.compares
