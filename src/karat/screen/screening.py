"""What a screening found: the evidence of every criterion, the verdict, and what could not run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from karat.judgments import Judgments
from karat.judgments.message_tables import with_reasons
from karat.jupyter import NotebookDisplay
from karat.messages import Message, NotComputed
from karat.screen.composition import Composition, composition
from karat.screen.evidence import Evidence, reason_rows
from karat.screen.explain import explain
from karat.screen.export import write
from karat.screen.flow import flow_svg

if TYPE_CHECKING:
    from karat.screen.parted.evidence import PartedEvidence


@dataclass(frozen=True)
class ScreeningStage:
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
class Screening(NotebookDisplay):
    """The evidence of every criterion, whom the stated rule excludes, and what could not run."""

    judgments: Judgments
    evidence: dict[str, Evidence]
    excluded: tuple[str, ...]
    skipped: dict[str, NotComputed]
    """Criteria that could not run, with the reason."""
    exclude: str | int | None
    """The rule that joins the criteria; None where none was stated."""
    steps: tuple[ScreeningStage, ...] = ()
    study: str | None = None
    """The fingerprint of the study whose rules these are."""
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The settings of each criterion, as stated or as usual."""

    @property
    def remaining(self) -> dict[str, int]:
        """How many participants were left after each stage."""
        return {step.stage: step.remained for step in self.steps}

    @property
    def notes(self) -> tuple[Message, ...]:
        """What the criteria have to say beside their verdicts; a note that several share is given once, with all names.

        >>> import karat
        >>> screening = karat.screen.run(karat.datasets.load("crowd"), {"completion": {}})
        >>> [note.values["criteria"] for note in screening.notes]
        [['completion']]
        """
        return notes_of(self.evidence)

    @property
    def kept(self) -> Judgments:
        """The judgments of those who stay."""
        return self.judgments.without(self.excluded)

    def table(self, language: str = "en") -> pl.DataFrame:
        """One row per participant: whether excluded, and each criterion's score, threshold, verdict and reason."""
        table = self.judgments.participants.select("participant")
        table = table.with_columns(excluded=pl.col("participant").is_in(list(self.excluded)))
        for name, evidence in self.evidence.items():
            own = with_reasons(evidence.participants, language).select(
                "participant", *(pl.col(c).alias(f"{name}_{c}") for c in evidence.written)
            )
            table = table.join(own, on="participant", how="left", maintain_order="left")
        return table

    def explain(self, participant: str, language: str = "en") -> str:
        """One paragraph on a participant, in plain words, fit to send to a co-author."""
        return explain(self, participant, language)

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
            for row in reason_rows(evidence.participants, evidence.written):
                people[row.pop("participant")]["criteria"][criterion] = row
        return {
            "participants": people,
            "skipped": {name: str(why) for name, why in self.skipped.items()},
            "summary": {
                "participants": len(people), "excluded": len(self.excluded), "kept": len(people) - len(self.excluded),
                "remaining": self.remaining,
                "flagged": {name: len(evidence.flagged) for name, evidence in self.evidence.items()},
                "notes": list(map(str, self.notes)),
                "data": self.judgments.fingerprint(), "study": self.study,
            },
            "settings": {name: evidence.settings for name, evidence in self.evidence.items()}
            | {"exclude": self.exclude},
        }  # fmt: skip

    @property
    def summary(self) -> tuple[Message, ...]:
        """What could not run, and the verdict."""
        return summary_of(self.skipped, self.exclude, len(self.excluded), self.judgments.participants.height)

    def __str__(self) -> str:
        return "\n".join(map(str, (*self.evidence.values(), *self.summary)))


def summary_of(
    skipped: Mapping[str, NotComputed], exclude: str | int | None, excluded: int, participants: int
) -> tuple[Message, ...]:
    """What could not run, and how many are excluded by which rule.

    >>> [str(message) for message in summary_of({}, "any", 2, 60)]
    ['2 of 60 participants excluded (rule: any).']
    """
    not_run = [Message("screening.skipped", {"criterion": name, "why": why}) for name, why in skipped.items()]
    if exclude is None:
        return (*not_run, Message("screening.no_rule"))
    values = {"excluded": excluded, "participants": participants, "rule": exclude}
    return (*not_run, Message("screening.excluded", values))


def notes_of(evidence: Mapping[str, Evidence | PartedEvidence]) -> tuple[Message, ...]:
    """The notes of all criteria; one that several share is given once, with all names.

    >>> note = Message("screening.nobody_left")
    >>> shared = {name: Evidence(pl.DataFrame(), name, notes=(note,)) for name in ("remfod", "speed")}
    >>> [(message.values["criteria"], message.values["note"].code) for message in notes_of(shared)]
    [(['remfod', 'speed'], 'screening.nobody_left')]
    """
    shared: dict[Message, list[str]] = {}
    for name, one in evidence.items():
        for note in dict.fromkeys(one.notes):
            shared.setdefault(note, []).append(name)
    return tuple(Message("screening.note", {"criteria": names, "note": note}) for note, names in shared.items())
