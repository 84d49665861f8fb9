"""What a screening of judgments in parts found: the evidence of every criterion, the verdict, and what did not run."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from karat.judgments.files import replacing
from karat.judgments.parts import Parts
from karat.messages import Message, NotComputed
from karat.screen.crowd.spammer_index import SpammerIndex, index_as_data
from karat.screen.evidence import PartedEvidence
from karat.screen.flow import flow_svg
from karat.screen.screening import notes_of, summary_of


@dataclass(frozen=True)
class PartedStep:
    """One stage: how many participants went in, whom each criterion flagged, and how many were taken out."""

    stage: str
    entered: int
    flagged: dict[str, int]
    """Of those taken out here, how many each criterion of this stage flagged; one person may count several times."""
    excluded: int

    @property
    def remained(self) -> int:
        """How many participants were left."""
        return self.entered - self.excluded


@dataclass(frozen=True)
class PartedScreening:
    """The evidence of every criterion on judgments in parts, how many the rule excludes, and what did not run."""

    parts: Parts
    evidence: dict[str, PartedEvidence]
    participants: int
    answers: int
    excluded: int
    skipped: dict[str, NotComputed]
    """Criteria that could not run, with the reason."""
    exclude: str | int | None
    """The rule that joins the criteria; None where none was stated."""
    steps: tuple[PartedStep, ...] = ()
    study: str | None = None
    """The fingerprint of the study whose rules these are."""
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    fingerprint: str = ""
    """Of the data: changes when a part changes."""
    read: tuple[Message, ...] = ()
    """What was assumed when the parts were read."""
    files: tuple[Path, ...] = field(default=(), repr=False)
    """One row a participant, a file for each part."""
    spammer_index: SpammerIndex | NotComputed | None = None
    """The Spammer Index of those who stay, or why there is none; None where it was not asked for."""

    @property
    def remaining(self) -> dict[str, int]:
        """How many participants were left after each stage."""
        return {step.stage: step.remained for step in self.steps}

    @property
    def notes(self) -> tuple[Message, ...]:
        """What the criteria have to say beside their verdicts; a note that several share is given once."""
        return notes_of(self.evidence)

    def scan(self) -> pl.LazyFrame:
        """One row a participant, lazily: whether excluded, and score, threshold, verdict, reason of each criterion."""
        return pl.scan_parquet(list(self.files))

    def flow(self) -> str:
        """The flow of participants through the stages, as an SVG."""
        return flow_svg(self.participants, self.steps, self.exclude)

    def write(self, folder: Path) -> list[Path]:
        """Write screening.json and flow.svg beside the tables of each part."""
        paths = [folder / "screening.json", folder / "flow.svg"]
        text = json.dumps(self.to_dict(), ensure_ascii=False, indent=2) + "\n"
        for path, content in zip(paths, (text, self.flow()), strict=True):
            with replacing(path) as temporary:
                temporary.write_text(content, encoding="utf-8")
        return paths

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, without what was found of each participant, which is in `files`."""
        index = self.spammer_index
        told = {} if index is None else {"spammer_index": index_as_data(index)}
        return {
            "skipped": {name: str(why) for name, why in self.skipped.items()},
            "summary": {
                "participants": self.participants, "excluded": self.excluded,
                "kept": self.participants - self.excluded, "remaining": self.remaining,
                "flagged": {name: evidence.flagged for name, evidence in self.evidence.items()},
                "notes": list(map(str, self.notes)), "data": self.fingerprint, "study": self.study,
                "answers": self.answers, "parts": len(self.parts),
            },
            "settings": {name: evidence.settings for name, evidence in self.evidence.items()}
            | {"exclude": self.exclude},
        } | told  # fmt: skip

    @property
    def summary(self) -> tuple[Message, ...]:
        """What could not run, and the verdict."""
        return summary_of(self.skipped, self.exclude, self.excluded, self.participants)

    def __str__(self) -> str:
        return "\n".join(map(str, (*self.evidence.values(), *self.summary)))
