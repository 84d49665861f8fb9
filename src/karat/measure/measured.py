"""The results on one study, the reasons for missing ones, and the participants excluded before.

Exclusions are read from the output of `karat screen --out`, or from your own list: `screening.json`, its folder, or a
CSV with the column participant. If the CSV has a column `excluded`, as `participants.csv` has, only rows with true are
excluded; otherwise all are.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from karat.errors import cause
from karat.judgments import Judgments
from karat.judgments.files import unescape_formulas
from karat.judgments.tables import delimiter_of
from karat.measure.result import MeasureError
from karat.messages import Message, NotComputed


@dataclass(frozen=True)
class Measure:
    """One result, such as the strengths by one model."""

    name: str
    result: Any
    question: str = ""
    """The question, if each was measured separately."""
    label: str = ""
    """The model, if there are several."""

    @property
    def heading(self) -> str:
        """The name of the result with question and model."""
        more = ", ".join(text for text in (self.question, self.label) if text)
        return f"{self.name} ({more})" if more else self.name


@dataclass(frozen=True)
class Measured:
    """All results on one set of judgments, without methods to write them."""

    judgments: Judgments
    parts: tuple[Measure, ...]
    skipped: dict[str, NotComputed]
    """The reason why a result is missing, by its name."""
    excluded: Excluded = field(default_factory=lambda: nobody())
    """The participants who were excluded before."""
    settings: dict[str, Any] = field(default_factory=dict)
    study: str | None = None
    """The fingerprint of the study."""

    def of(self, name: str, label: str | None = None, question: str | None = None) -> Any:
        """The first result of this name, with this label and question if they are given.

        >>> import karat
        >>> answers = {"participant": [*"aaabbbccc"], "item": [*"xyz"] * 3, "response": [5, 1, 3, 4, 2, 2, 5, 3, 4]}
        >>> karat.measure.run(karat.Judgments(answers, karat.Ordinal(5))).of("strengths").model
        'ordinal'
        """
        for part in self.parts:
            if part.name == name and label in (None, part.label) and question in (None, part.question):
                return part.result
        names = dict.fromkeys(part.name for part in self.parts)
        if name in self.skipped:
            raise MeasureError(Message("measures.not_measured", {"name": name, "reason": self.skipped[name]}))
        raise MeasureError(Message("measures.unknown", {"name": name, "known": list(names)}))

    def table(self) -> pl.DataFrame:
        """One row per result: name, question, label and its text."""
        rows = [(part.name, part.question, part.label, str(part.result)) for part in self.parts]
        return pl.DataFrame(rows, schema=dict.fromkeys(("name", "question", "label", "told"), pl.String), orient="row")


NAME = "screening.json"
TRUE, FALSE = ("true", "1", "yes", "wahr", "ja"), ("false", "0", "no", "falsch", "nein", "")
"""How a file says whether a participant is excluded, also one that a German spreadsheet saved again."""


@dataclass(frozen=True)
class Excluded:
    """Participants who are left out of the measures, with a description."""

    participants: tuple[str, ...]
    """The excluded participants, in the order of the judgments."""
    source: str
    description: Message
    """The number of excluded participants, and the source."""

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"participants": list(self.participants), "source": self.source, "told": str(self.description)}


def nobody(files: list[Path] | None = None) -> Excluded:
    """No exclusions; the description says if the judgments are the output of a screening."""
    for file in files or []:
        beside = file.parent / NAME
        if file.name == "judgments.parquet" and beside.is_file():
            people = _people(beside)
            remaining = sum(not is_excluded for is_excluded in people.values())
            about = {"file": str(file), "kept": remaining, "participants": len(people)}
            return Excluded((), str(beside), Message("excluded.screened", about))
    return Excluded((), "", Message("excluded.nobody", {"file": NAME}))


def excluded(judgments: Judgments, path: str | Path) -> Excluded:
    """The participants of these judgments that a screening, or a list, excludes."""
    file_path = Path(path) / NAME if Path(path).is_dir() else Path(path)
    listed = _people(file_path)
    people = judgments.participants["participant"].to_list()
    names = {name for name, is_excluded in listed.items() if is_excluded}
    here = tuple(name for name in people if name in names)
    unknown = [name for name in people if name not in listed]
    file = str(file_path)
    if not names:
        return Excluded(here, file, Message("excluded.nobody_in_file", {"file": file}))
    if not here and (file_path.suffix != ".json" or unknown):
        raise MeasureError(Message("excluded.other_study", {"file": file, "participant": min(names)}))
    if not here:
        return Excluded(here, file, Message("excluded.nobody_left", {"file": file}))
    if len(here) == len(people):
        raise MeasureError(Message("excluded.everybody", {"file": file}))
    unknown = unknown if file_path.suffix == ".json" else []
    values = {"unknown": len(unknown) or None, "example": unknown[0] if unknown else None}
    values |= {"n": len(here), "participants": len(people), "file": file}
    return Excluded(here, file, Message("excluded.some", values))


def _people(path: Path) -> dict[str, bool]:
    """Every participant that a file names, and whether they are excluded."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise MeasureError(Message("excluded.unreadable", {"file": str(path), "why": error.strerror})) from None
    except UnicodeDecodeError:
        raise MeasureError(Message("excluded.not_text", {"file": str(path)})) from None
    if path.suffix != ".json":
        return _of_csv(path, text)
    try:
        return {str(name): bool(row["excluded"]) for name, row in json.loads(text)["participants"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise MeasureError(Message("excluded.not_screening", {"file": str(path)})) from None


def _of_csv(path: Path, text: str) -> dict[str, bool]:
    try:
        table = unescape_formulas(pl.read_csv(text.encode(), infer_schema=False, separator=delimiter_of(text)))
    except pl.exceptions.PolarsError as error:
        about = {"file": str(path), "why": cause(error)}
        raise MeasureError(Message("excluded.not_csv", about)) from None
    if "participant" not in table.columns:
        raise MeasureError(Message("excluded.no_column", {"file": str(path), "columns": table.columns}))
    names = table["participant"].drop_nulls().to_list()
    if "excluded" not in table.columns:
        return dict.fromkeys(names, True)
    flags = table.drop_nulls("participant")["excluded"].fill_null("").str.strip_chars().to_list()
    other = next((flag for flag in flags if flag.lower() not in (*TRUE, *FALSE)), None)
    if other is not None:
        raise MeasureError(Message("excluded.no_flag", {"file": str(path), "value": other}))
    return {name: flag.lower() in TRUE for name, flag in zip(names, flags, strict=True)}
