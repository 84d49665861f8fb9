"""What a screening found: the evidence of every criterion, the verdict, and what could not run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from karat.errors import counted
from karat.judgments import Judgments
from karat.jupyter import Shown
from karat.screen.composition import Composition, composition
from karat.screen.evidence import Evidence
from karat.screen.explain import explain
from karat.screen.flow import flow_svg
from karat.screen.noted import notes_of
from karat.screen.written import write


@dataclass(frozen=True)
class Step:
    """One stage: how many participants went in, whom each criterion flagged, and who was taken out."""

    stage: str
    entered: int
    flagged: dict[str, int]
    """Of those taken out here, how many each criterion of this stage flagged; one person may count several times."""
    excluded: tuple[str, ...]

    @property
    def remained(self) -> int:
        """How many participants were left."""
        return self.entered - len(self.excluded)


@dataclass(frozen=True)
class Screening(Shown):
    """The evidence of every criterion, whom the stated rule excludes, and what could not run."""

    judgments: Judgments
    evidence: dict[str, Evidence]
    excluded: tuple[str, ...]
    skipped: dict[str, str]
    """Criteria that could not run, with the reason."""
    exclude: str | int | None
    """The rule that joins the criteria; None where none was stated."""
    steps: tuple[Step, ...] = ()
    study: str | None = None
    """The fingerprint of the study whose rules these are."""
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The settings of each criterion, as stated or as usual."""

    @property
    def remaining(self) -> dict[str, int]:
        """How many participants were left after each stage."""
        return {step.stage: step.remained for step in self.steps}

    @property
    def notes(self) -> tuple[str, ...]:
        """What the criteria have to say beside their verdicts; a note that several share is said once, with all names.

        >>> import karat
        >>> karat.screen.run(karat.datasets.load("crowd"), {"completion": {}}).notes
        ('completion: The questionnaire is taken to have 80 trials, the most anybody has.',)
        """
        return notes_of(self.evidence)

    @property
    def kept(self) -> Judgments:
        """The judgments of those who stay."""
        return self.judgments.without(self.excluded)

    def table(self) -> pl.DataFrame:
        """One row a participant: whether excluded, and each criterion's score, threshold, verdict and reason."""
        table = self.judgments.participants.select("participant")
        table = table.with_columns(excluded=pl.col("participant").is_in(list(self.excluded)))
        for name, evidence in self.evidence.items():
            own = evidence.participants.select(
                "participant", *(pl.col(c).alias(f"{name}_{c}") for c in evidence.written)
            )
            table = table.join(own, on="participant", how="left", maintain_order="left")
        return table

    def explain(self, participant: str) -> str:
        """One paragraph on a participant, in plain words, fit to send to a co-author."""
        return explain(self, participant)

    def composition(self, columns: list[str] | None = None) -> Composition:
        """Who was excluded, by what is known of participants: see `karat.screen.composition`."""
        return composition(self, columns)

    def flow(self) -> str:
        """The flow of participants through the stages, as an SVG."""
        return flow_svg(self.judgments.participants.height, self.steps, self.exclude)

    def write(self, folder: str | Path) -> list[Path]:
        """Write participants.csv, trials.csv, screening.json, judgments.parquet and flow.svg to a folder."""
        return write(self, Path(folder))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, as `screening.json` holds it."""
        people: dict[str, dict[str, Any]] = {
            name: {"excluded": False, "criteria": {}} for name in self.judgments.participants["participant"].to_list()
        }
        for name in self.excluded:
            people[name]["excluded"] = True
        for criterion, evidence in self.evidence.items():
            for row in evidence.participants.select("participant", *evidence.written).to_dicts():
                people[row.pop("participant")]["criteria"][criterion] = row
        return {
            "participants": people,
            "skipped": self.skipped,
            "summary": {
                "participants": len(people), "excluded": len(self.excluded), "kept": len(people) - len(self.excluded),
                "remaining": self.remaining,
                "flagged": {name: len(evidence.flagged) for name, evidence in self.evidence.items()},
                "notes": list(self.notes),
                "data": self.judgments.fingerprint(), "study": self.study,
            },
            "settings": {name: evidence.settings for name, evidence in self.evidence.items()}
            | {"exclude": self.exclude},
        }  # fmt: skip

    def __str__(self) -> str:
        lines = [str(evidence) for evidence in self.evidence.values()]
        lines += [f"{name} could not run: {why}" for name, why in self.skipped.items()]
        everyone = self.judgments.participants.height
        if self.exclude is None:
            return "\n".join([*lines, "Nobody is excluded: no rule was stated."])
        verdict = f"{len(self.excluded):,} of {counted(everyone, 'participant')} excluded (rule: {self.exclude})."
        return "\n".join([*lines, verdict])
