"""What was asked for when everything is measured, and the results as they come in, with the reasons for gaps."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from karat.measure.errors import MeasureError
from karat.measure.measures import Part
from karat.work import HERE, Work

if TYPE_CHECKING:
    from karat.study.study import Study

Progress = Callable[[str], AbstractContextManager[None]]
"""Given what is being computed, a context that shows it as long as it lasts."""


@dataclass(frozen=True)
class Wanted:
    """What was asked for."""

    models: tuple[str, ...]
    formula: str | None
    pairs: Any
    conditions: list[str] | None
    functions: tuple[str, ...]
    by: str | None
    factors: int | None
    posterior: bool
    level: float
    seed: int
    study: Study | None
    work: Work = HERE


class Collected:
    """The results so far, and what could not be computed."""

    def __init__(self, progress: Progress) -> None:
        self.parts: list[Part] = []
        self.skipped: dict[str, str] = {}
        self.progress = progress

    def add(
        self, name: str, compute: Callable[[], Any], question: str = "", label: str = "", must: bool = False
    ) -> Any:
        """Compute a part and keep it, or the reason why there is none; what was asked for by name must be there."""
        heading = Part(name, None, question, label).heading
        try:
            with self.progress(f"measuring {heading}"):
                result = compute()
        except MeasureError as error:
            if must:
                raise
            self.skip(heading, str(error))
            return None
        self.parts.append(Part(name, result, question, label))
        return result

    def skip(self, heading: str, why: str) -> None:
        """Keep a reason, without the name of the function that gave it."""
        function, colon, rest = why.partition(": ")
        known = function.replace("_", "").isalpha() and " " not in function and function.islower()
        self.skipped[heading] = rest if colon and known else why
