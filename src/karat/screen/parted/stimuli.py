"""Which columns tell stimuli apart, over all parts; the same choice as `karat.screen.answer_table.with_stimuli` makes.

A column that never changes within a participant, that follows from the answers, or with which hardly two participants
would share a stimulus is no condition. Whether one is such a column is known only from all parts: each gives the
different combinations that it has, with their numbers, and how many participants have each.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from karat.judgments import Judgments
from karat.scales import Scale
from karat.screen.answer_table import SHARED, conditions
from karat.screen.parted.crowd import InParts, part_file, write_part
from karat.screen.positions import answered, by_scale


@dataclass(frozen=True)
class _People:
    """Of those with several answers: in how many ways a column differs within one, and two of its values."""

    within: dict[str, int]
    values: dict[str, list[object]]


def keys_of_stimuli(
    crowd: InParts, scale: Scale, rows: pl.DataFrame, further: list[str]
) -> tuple[list[str], list[str]]:
    """The columns that tell the stimuli of a scale apart, and notes on those that do not. `rows` are some of a part.

    `further` are columns that tell stimuli apart besides item, question and conditions.
    """
    keys = [*(name for name in ("item", "question") if name in rows.columns), *further]
    names = [name for name in conditions(rows) if name not in keys]
    if not names:
        return keys, []
    folder = crowd.scratch / "stimuli"
    about_people = _about_people(crowd, scale, names)
    by_answer = [name for name in names if _follows_from_answer(crowd, folder, scale, keys, name)]
    refused = []
    for name in names:
        if name in about_people or name in by_answer:
            continue
        # Where hardly anything is shared anyway, no column is to blame.
        if _are_shared(crowd, folder, scale, [*keys, name]) or not _are_shared(crowd, folder, scale, keys):
            keys.append(name)
        else:
            refused.append(name)
    told = (
        (about_people, "the same throughout for each participant"),
        (by_answer, "they follow from the answers"),
        (refused, "hardly two participants would share a stimulus"),
    )
    return keys, [f"Not taken as conditions: {', '.join(which)}; {why}." for which, why in told if which]


def rows_on(judgments: Judgments, scale: Scale) -> pl.DataFrame:
    """The answers on a scale, practice left out."""
    rows = answered(judgments)
    return next((part for own, part in by_scale(judgments, rows) if own == scale), rows.clear())


def _about_people(crowd: InParts, scale: Scale, names: list[str]) -> list[str]:
    found = crowd.map(_within_people, (scale, names), name="stimuli")
    return [
        name
        for name in names
        if max(one.within[name] for one in found) == 1
        and len({repr(value) for one in found for value in one.values[name]}) > 1
    ]


def _within_people(judgments: Judgments, shared: tuple[Scale, list[str]], number: int) -> _People:
    scale, names = shared
    several = rows_on(judgments, scale).filter(pl.len().over("participant") > 1)
    most = several.group_by("participant").agg(pl.col(names).n_unique()).select(pl.col(names).max().fill_null(0))
    return _People(
        {name: int(most[name][0]) for name in names},
        {name: several[name].unique(maintain_order=True).head(2).to_list() for name in names},
    )


def _follows_from_answer(crowd: InParts, folder: Path, scale: Scale, keys: list[str], name: str) -> bool:
    """Whether a column differs within stimuli but never among those who gave the same answer."""
    here = _place(folder, scale, "answers", [*keys, name])
    crowd.map(_combinations, (scale, [*keys, "response", name], here), name="stimuli")
    given = pl.scan_parquet([part_file(here, number) for number in range(len(crowd))])
    given = given.group_by(*keys, "response", name).agg(pl.col("len").sum())
    given = given.with_columns(_answers=pl.col("len").sum().over(*keys, "response"))
    several = pl.col("_answers") > 1

    def different(columns: list[str], where: pl.Expr) -> pl.Expr:
        return pl.struct(columns).filter(where).n_unique()

    everywhere = pl.col("len") > 0
    told = given.select(
        different([*keys, name], everywhere).alias("with"), different(keys, everywhere).alias("without"),
        different([*keys, name], several).alias("several_with"), different(keys, several).alias("several_without"),
        different([*keys, "response", name], several).alias("answers_with"),
        different([*keys, "response"], several).alias("answers_without"),
    ).collect().row(0, named=True)  # fmt: skip
    if told["with"] == told["without"] or told["several_with"] == told["several_without"]:
        return False
    return bool(told["answers_with"] == told["answers_without"])


def _are_shared(crowd: InParts, folder: Path, scale: Scale, keys: list[str]) -> bool:
    """Whether enough participants answered each combination of these columns, on average."""
    here = _place(folder, scale, "shared", keys)
    people = sum(crowd.map(_combinations, (scale, keys, here), name="stimuli"))
    files = [part_file(here, number) for number in range(len(crowd))]
    different = pl.scan_parquet(files).select(pl.struct(keys).n_unique()).collect().item()
    return bool(people >= SHARED * different)


def _place(folder: Path, scale: Scale, what: str, columns: list[str]) -> Path:
    """A folder for one pass, whatever the columns are called."""
    return folder / hashlib.sha256(repr((scale, what, columns)).encode()).hexdigest()[:16]


def _combinations(judgments: Judgments, shared: tuple[Scale, list[str], Path], number: int) -> int:
    """Write the different combinations of a part with their numbers; how many participants have how many of them."""
    scale, columns, folder = shared
    rows = rows_on(judgments, scale)
    write_part(rows.group_by(columns).agg(pl.len().cast(pl.Int64)), folder, number)
    return rows.select("participant", *columns).n_unique() if rows.height else 0
