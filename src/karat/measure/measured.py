"""What was measured in one study: the results, and what does not apply and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import polars as pl

from karat.judgments import Judgments
from karat.measure.errors import MeasureError
from karat.measure.excluded import Excluded, nobody
from karat.messages import Message, NotComputed


@dataclass(frozen=True)
class Measure:
    """One result, such as the strengths by one model."""

    name: str
    result: Any
    question: str = ""
    """Where each question was measured by itself."""
    label: str = ""
    """The model, where there is a choice of models."""

    @property
    def heading(self) -> str:
        """Its name for people."""
        more = ", ".join(one for one in (self.question, self.label) if one)
        return f"{self.name} ({more})" if more else self.name


@dataclass(frozen=True)
class Measured:
    """All results on one set of judgments, without the means to write them."""

    judgments: Judgments
    parts: tuple[Measure, ...]
    skipped: dict[str, NotComputed]
    """What was not measured, with the reason."""
    excluded: Excluded = field(default_factory=nobody)
    """Who was left out beforehand."""
    settings: dict[str, Any] = field(default_factory=dict)
    study: str | None = None
    """The fingerprint of the study."""

    def of(self, name: str, label: str | None = None, question: str | None = None) -> Any:
        """The first result of this name, with this label and question where they are given.

        >>> import karat
        >>> answers = {"participant": [*"aaabbbccc"], "item": [*"xyz"] * 3, "response": [5, 1, 3, 4, 2, 2, 5, 3, 4]}
        >>> karat.measure.run(karat.Judgments(answers, karat.Ordinal(5))).of("strengths").model
        'ordinal'
        """
        for part in self.parts:
            if part.name == name and label in (None, part.label) and question in (None, part.question):
                return part.result
        known = dict.fromkeys(part.name for part in self.parts)
        if name in self.skipped:
            raise MeasureError(Message("measures.not_measured", {"name": name, "reason": self.skipped[name]}))
        raise MeasureError(Message("measures.unknown", {"name": name, "known": list(known)}))

    def table(self) -> pl.DataFrame:
        """One row per result: name, question, label and what it says."""
        rows = [(part.name, part.question, part.label, str(part.result)) for part in self.parts]
        return pl.DataFrame(rows, schema=dict.fromkeys(("name", "question", "label", "told"), pl.String), orient="row")
