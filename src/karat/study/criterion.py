"""What a screening criterion is: its name, its settings, what a design must have for it, and what computes it."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from karat.study.setting_base import Settings


class CriterionSettings(Settings):
    """What the settings of all criteria share."""

    @classmethod
    def resolved(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """The settings with the values that are used where none is given and something else decides, such as a rule."""
        return dict(given)


@dataclass(frozen=True)
class Criterion:
    """A criterion: its name in `[screening]`, what it asks, its settings, and what computes it."""

    name: str
    title: str
    """How it is called in sentences, diagrams and reports."""
    asks: str
    """Whom it flags, as the end of a sentence: who rushed or paused in too many trials."""
    settings: type[CriterionSettings]
    computed_by: str | Callable[..., Any]
    """A function from judgments and the settings to `Evidence`, or where it is, as "module:function"."""
    stage: Literal["completion", "clock", "answers"] = "answers"
    """When it runs: cutoffs are computed on the data that earlier stages left."""
    needs_functions: tuple[str, ...] = ()
    """Item functions of which there must be trials."""
    needs_repeated_questions: bool = False
    needs_quiz: bool = False
    needs_eligibility: bool = False
    by_the_key: bool = False
    """Whether it compares answers with right ones, so that doubts about these are a note of it."""
    unasked: bool = True
    """Whether it also runs where no criteria are stated."""
    in_tasks: bool = False
    """Whether it is made of many tasks, which may be done elsewhere: the function takes `executor` too."""
    in_parts: str = ""
    """Where the function is that computes it on judgments in parts; without one it does not run there."""

    def compute(self, *given: Any, **settings: Any) -> Any:
        """Its evidence; what computes it is loaded now, where it is named."""
        function = pkgutil.resolve_name(self.computed_by) if isinstance(self.computed_by, str) else self.computed_by
        return function(*given, **settings)

    def compute_in_parts(self, *given: Any, **settings: Any) -> Any:
        """Its evidence on judgments in parts."""
        return pkgutil.resolve_name(self.in_parts)(*given, **settings)
