"""Judgments that can be shared: participants have new names, and columns that identify them are removed.

New names are assigned at random, so they reveal neither the old name nor the order of arrival. In the table of
participants every column is personal except those on the course of the study. In the table of judgments a column is
personal if it names or describes a person, contains old names, addresses or ids of a platform, or if it is unknown to
karat and to the study and constant within each participant. Times are personal too, because a platform's log has them.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import polars as pl

from karat.errors import KaratError
from karat.intake.personal import PROLIFIC_ID, describes_a_person, names_a_person
from karat.judgments import Judgments
from karat.judgments.checks import Checked
from karat.judgments.columns import COLUMNS, meant
from karat.study.study import Study

HARMLESS = (
    "participant", "list", "source", "platform", "state", "status", "working_time", "quiz_attempts", "quiz_passed",
    "device", "pilot", "planned",
)  # fmt: skip
"""Columns of the participants that do not describe a person."""
IDS = re.compile(
    rf"{PROLIFIC_ID.pattern}|A[0-9A-Z]{{12,14}}|[^@\s]+@[^@\s]+\.[^@\s]+|\d{{1,3}}(\.\d{{1,3}}){{3}}", re.IGNORECASE
)
"""Ids of platforms, mail addresses and IP addresses."""
PREFIX = "p"


@dataclass(frozen=True)
class Pseudonymous:
    """Judgments with new names and all columns, and the personal ones among these."""

    judgments: Judgments
    names: dict[str, str]
    """From the old name of each participant to the new one. Store it separately, or not at all."""
    personal: dict[str, str]
    """The personal columns of both tables, and why they are personal."""


def names_platform_ids(judgments: Judgments) -> bool:
    """Whether participants are named by ids of a platform or by addresses, which nobody should publish."""
    return any(IDS.fullmatch(name) for name in judgments.participants["participant"].to_list())


def pseudonymous(judgments: Judgments, study: Study | None = None, seed: int | None = None) -> Pseudonymous:
    """The judgments with new names; the same seed gives the same names, and without a seed they cannot be repeated."""
    old = judgments.participants["participant"].to_list()
    names = _dealt(old, seed)
    renamed = pl.col("participant").replace_strict(names)
    moved = Judgments.from_checked(
        Checked(judgments.frame.with_columns(renamed), notes=list(judgments.notes)), judgments.scales,
        judgments.participants.with_columns(renamed),
    )  # fmt: skip
    moved.frozen = judgments.frozen
    return Pseudonymous(moved, names, _personal(judgments, study))


def stripped(judgments: Judgments, removed: Collection[str]) -> Judgments:
    """The judgments without these columns in either table, sorted by participant."""
    frame, people = (
        table.drop([name for name in table.columns if name in removed]).sort("participant", maintain_order=True)
        for table in (judgments.frame, judgments.participants)
    )
    remaining = Judgments.from_checked(Checked(frame, notes=list(judgments.notes)), judgments.scales, people)
    remaining.frozen = judgments.frozen
    return remaining


def removed_columns(personal: Collection[str], keep: Collection[str], judgments: Judgments) -> list[str]:
    """The personal columns that are not in `keep`; an unknown name in `keep` is an error."""
    columns = list(dict.fromkeys([*judgments.frame.columns, *judgments.participants.columns]))
    for name in keep:
        if name not in columns:
            raise KaratError(f"archive: there is no column {name} to keep. {meant(name, columns)}")
    return [name for name in personal if name not in keep]


def _dealt(old: list[str], seed: int | None) -> dict[str, str]:
    """A new name for each participant that none of them had before."""
    width = max(2, len(str(len(old))))
    prefix, new = PREFIX, list(old)
    while set(new) & set(old):
        new = [f"{prefix}{number:0{width}d}" for number in range(1, len(old) + 1)]
        prefix += PREFIX
    order = np.random.default_rng(seed).permutation(len(old)).tolist()
    return {name: new[place] for name, place in zip(old, order, strict=True)}


def _personal(judgments: Judgments, study: Study | None) -> dict[str, str]:
    """The personal columns of both tables, and why."""
    reasons: dict[str, str] = {}
    people = set(judgments.participants["participant"].to_list())
    questions = set() if study is None else {question.name for question in study.settings.background}
    for column in judgments.participants.get_columns():
        why = _names(column, people)
        if column.name not in HARMLESS and not why:
            personal = column.name in questions or describes_a_person(column.name)
            why = "describes participants" if personal else "may describe participants"
        if why and column.name != "participant":
            reasons[column.name] = why
    design = set() if study is None else {
        name for block in study.blocks for name in (*block.settings.factors, *block.items.frame.columns)
    }  # fmt: skip
    for column in judgments.frame.get_columns():
        name = column.name
        if name in ("time", "received"):
            reasons[name] = "says when somebody answered"
        elif name == "trace":
            reasons[name] = "says how somebody moved"
        elif name not in COLUMNS and name not in design:
            why = _names(column, people) or _describes(judgments.frame, name)
            if why:
                reasons[name] = why
    return reasons


def _names(column: pl.Series, people: set[str]) -> str:
    """Why a column identifies participants; empty if it does not."""
    if names_a_person(column.name):
        return "names people"
    if column.dtype.is_temporal():
        return "says when somebody took part"
    if column.dtype != pl.String:
        return ""
    values = column.drop_nulls().unique().to_list()
    if any(IDS.fullmatch(value.strip()) for value in values):
        return "holds ids or addresses"
    return "holds names of participants" if 2 * sum(value in people for value in values) > len(values) else ""


def _describes(frame: pl.DataFrame, name: str) -> str:
    """Why a column of the judgments describes participants: its name, or that it never varies within one."""
    if describes_a_person(name):
        return "describes participants"
    column = frame.select("participant", name).drop_nulls()
    if not column.height or column[name].n_unique() == 1:
        return ""
    within = column.group_by("participant").agg(pl.col(name).n_unique())[name].max()
    return "may describe participants" if within == 1 else ""
