"""A screening on disk: tables for people, JSON for machines, the judgments that remain, and the flow of participants.

The CSV files are made for spreadsheets: text that a spreadsheet would run as a formula is marked as text.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from karat.errors import KaratError
from karat.judgments.files import escape_formulas, replacing
from karat.judgments.trial_order import with_positions
from karat.screen.credence import Credence
from karat.screen.explain import explanations

if TYPE_CHECKING:
    from karat.screen.screening import Screening

NAMES = ("participants.csv", "trials.csv", "screening.json", "judgments.parquet", "flow.svg")
KEYS = ("participant", "session", "trial", "item", "question")
IN_TRIALS = ("participant", "session", "trial", "item", "function", "question", "response", "rt")


def write(screening: Screening, folder: Path) -> list[Path]:
    """Write everything to a folder, which is made where it is missing; returns the files."""
    if folder.exists() and not folder.is_dir():
        raise KaratError(f"{folder} is a file; give a folder to write to.")
    paths = [folder / name for name in NAMES]
    for path, table in zip(paths, (participants_table(screening), trials_table(screening)), strict=False):
        with replacing(path) as temporary:
            escape_formulas(table).write_csv(temporary)
    with replacing(paths[2]) as temporary:
        text = json.dumps(screening.to_dict(), ensure_ascii=False, indent=2)
        temporary.write_text(text + "\n", encoding="utf-8")
    screening.kept.to_parquet(paths[3])
    with replacing(paths[4]) as temporary:
        temporary.write_text(screening.flow(), encoding="utf-8")
    return paths + _composition(screening, folder) + _credence(screening, folder)


def _composition(screening: Screening, folder: Path) -> list[Path]:
    """The composition of the excluded, where something is known of participants and a rule was stated."""
    found = screening.composition()
    if found.groups.is_empty() or screening.exclude is None:
        return []
    table, picture = folder / "composition.csv", folder / "composition.svg"
    with replacing(table) as temporary:
        escape_formulas(found.groups).write_csv(temporary)
    with replacing(picture) as temporary:
        temporary.write_text(found.to_svg(), encoding="utf-8")
    return [table, picture]


def _credence(screening: Screening, folder: Path) -> list[Path]:
    """The probabilities of having answered attentively, where they were computed."""
    found = screening.evidence.get("credence")
    if not isinstance(found, Credence):
        return []
    picture = folder / "credence.svg"
    with replacing(picture) as temporary:
        temporary.write_text(found.to_svg(), encoding="utf-8")
    return [picture]


def participants_table(screening: Screening) -> pl.DataFrame:
    """One row per participant: every criterion's score, threshold, verdict and reason, and the explanation."""
    table = screening.table()
    paragraphs = explanations(screening, table["participant"].to_list())
    return table.with_columns(pl.Series("explanation", paragraphs, dtype=pl.String))


def trials_table(screening: Screening) -> pl.DataFrame:
    """One row a judgment, with what the criteria found about it: kind and degree of outlying times, right answers."""
    frame = with_positions(screening.judgments.frame)
    names = [name for name in IN_TRIALS if name in frame.columns]
    if "question" in names:
        frame = frame.with_columns(pl.col("question").fill_null(""))
    table = frame.select(names).with_columns(excluded=pl.col("participant").is_in(list(screening.excluded)))
    for criterion, evidence in screening.evidence.items():
        if evidence.trials is None:
            continue
        keys = [name for name in KEYS if name in evidence.trials.columns and name in table.columns]
        known = [*table.columns, "question"]
        found = evidence.trials.drop([name for name in evidence.trials.columns if name in known and name not in keys])
        if "question" in keys:
            found = found.with_columns(pl.col("question").fill_null(""))
        found = found.rename({name: f"{criterion}_{name}" for name in found.columns if name not in keys})
        table = table.join(
            found.unique(keys, keep="first", maintain_order=True), on=keys, how="left", nulls_equal=True,
            maintain_order="left",
        )  # fmt: skip
    return table
