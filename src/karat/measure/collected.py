"""What was asked for when everything is measured, and the results as they come in, with the reasons for gaps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from karat.executors import SERIAL, Executor
from karat.measure.errors import MeasureError
from karat.measure.measures import Measure
from karat.messages import Message, NotComputed, message_of
from karat.types import NamedSteps

if TYPE_CHECKING:
    from karat.study.study import Study


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
    executor: Executor = SERIAL


class Collected:
    """The results so far, and what could not be computed."""

    def __init__(self, progress: NamedSteps) -> None:
        self.parts: list[Measure] = []
        self.skipped: dict[str, NotComputed] = {}
        self.progress = progress

    def add(
        self, name: str, compute: Callable[[], Any], question: str = "", label: str = "", must: bool = False
    ) -> Any:
        """Compute a part and keep it, or the reason why there is none; what was asked for by name must be there."""
        heading = Measure(name, None, question, label).heading
        try:
            with self.progress(f"measuring {heading}"):
                result = compute()
        except MeasureError as error:
            if must:
                raise
            self.skip(heading, message_of(error))
            return None
        self.parts.append(Measure(name, result, question, label))
        return result

    def skip(self, heading: str, reason: Message) -> None:
        """Keep the reason why a part is missing."""
        self.skipped[heading] = NotComputed(reason.code, reason.values)
