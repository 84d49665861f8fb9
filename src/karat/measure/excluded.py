"""Whom a screening excluded, as `karat screen --out` wrote it down, or as a list of one's own.

Taken are `screening.json`, the folder it is in, and a CSV with the column participant: all who are in it, or where it
has a column `excluded`, as `participants.csv` has, those for whom that is true.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from karat.errors import counted
from karat.files import unescape_formulas
from karat.judgments import Judgments
from karat.measure.errors import MeasureError

NAME = "screening.json"
TRUE = ("true", "1", "yes")


@dataclass(frozen=True)
class Excluded:
    """Participants who are left out of the measures, and what is to be said of it."""

    participants: tuple[str, ...]
    """Those who are left out here, in the order of the judgments."""
    source: str
    told: str

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"participants": list(self.participants), "source": self.source, "told": self.told}


def nobody(files: list[Path] | None = None) -> Excluded:
    """Nobody is left out; says so, and whether the judgments are what a screening left.

    >>> nobody().told
    'nobody: say --without screening.json to leave out whom a screening excluded.'
    """
    for file in files or []:
        beside = file.parent / NAME
        if file.name == "judgments.parquet" and beside.is_file():
            everybody = _people(beside)
            kept = sum(not gone for gone in everybody.values())
            told = (
                f"nobody here: {file} has the {kept:,} of {counted(len(everybody), 'participant')} that screening left."
            )
            return Excluded((), str(beside), told)
    return Excluded((), "", f"nobody: say --without {NAME} to leave out whom a screening excluded.")


def excluded(judgments: Judgments, path: str | Path) -> Excluded:
    """Those of the participants of these judgments whom a screening, or a list, excludes.

    >>> import karat, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "excluded.csv").write_text("participant\\np01\\np02\\n")
    ...     excluded(karat.datasets.load("likert"), Path(folder, "excluded.csv")).participants
    ('p01', 'p02')
    """
    found = Path(path) / NAME if Path(path).is_dir() else Path(path)
    everybody = _people(found)
    there = judgments.participants["participant"].to_list()
    gone = {name for name, out in everybody.items() if out}
    here = tuple(name for name in there if name in gone)
    told = f"{len(here):,} of {counted(len(there), 'participant')}, by {found}."
    unknown = [name for name in there if name not in everybody]
    if not gone:
        told = f"nobody: {found} excludes nobody."
    elif not here and (found.suffix != ".json" or unknown):
        raise MeasureError(
            f"{found}: none of those who are excluded is among these participants, such as {min(gone)}. Is it the "
            "screening of another study?"
        )
    elif not here:
        told = f"nobody more: those whom {found} excludes have left these judgments already."
    elif found.suffix == ".json" and unknown:
        told += f" It knows nothing of {counted(len(unknown), 'participant')}, such as {unknown[0]}: they stay."
    if len(here) == len(there):
        raise MeasureError(f"{found} excludes every participant; nothing is left to measure.")
    return Excluded(here, str(found), told)


def _people(path: Path) -> dict[str, bool]:
    """Everybody whom a file names, and whether they are excluded."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise MeasureError(f"{path} cannot be read: {why}. Give screening.json or a CSV of participants.") from None
    return _of_json(path, text) if path.suffix == ".json" else _of_csv(path, text)


def _of_json(path: Path, text: str) -> dict[str, bool]:
    try:
        return {str(name): bool(one["excluded"]) for name, one in json.loads(text)["participants"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise MeasureError(f"{path} is no screening as `karat screen --out` writes it.") from None


def _of_csv(path: Path, text: str) -> dict[str, bool]:
    try:
        table = unescape_formulas(pl.read_csv(text.encode(), infer_schema=False))
    except pl.exceptions.PolarsError as error:
        raise MeasureError(f"{path} is no CSV: {str(error).splitlines()[0]}") from None
    if "participant" not in table.columns:
        raise MeasureError(f"{path} has no column participant; it has {', '.join(table.columns)}.")
    names = table["participant"].drop_nulls().to_list()
    if "excluded" not in table.columns:
        return dict.fromkeys(names, True)
    flags = table.drop_nulls("participant")["excluded"].fill_null("").to_list()
    return {name: flag.strip().lower() in TRUE for name, flag in zip(names, flags, strict=True)}
