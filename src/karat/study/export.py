"""A plan on disk: questionnaires, a summary and a picture of the orders."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from karat.judgments.files import replacing
from karat.study.picture import order_picture
from karat.study.study import Study
from karat.study.summary import conditions_per_list, functions_per_list, summary_lines

PICTURED_LISTS = 48


def questionnaires(study: Study, participants: int, seed: int | None = None) -> pl.DataFrame:
    """The trials of all participants, who are dealt to the lists in turn."""
    parts = []
    for number in range(participants):
        which = number % study.lists + 1
        name = f"p{number + 1:0{max(3, len(str(participants)))}d}"
        frame = study.questionnaire(list=which, participant=name, seed=seed).frame
        parts.append(frame.with_columns(participant=pl.lit(name)))
    whole = pl.concat(parts, how="diagonal_relaxed")
    return whole.select("participant", *(name for name in whole.columns if name != "participant"))


def write_plan(study: Study, participants: int, folder: Path, as_format: str, seed: int | None = None) -> list[Path]:
    """Write the questionnaires, the summary and the picture into a folder; returns what was written."""
    table = questionnaires(study, participants, seed)
    paths = [folder / f"questionnaires.{as_format}", folder / "design.md", folder / "orders.svg"]
    with replacing(paths[0]) as temporary:
        table.write_csv(temporary) if as_format == "csv" else table.write_parquet(temporary)
    with replacing(paths[1]) as temporary:
        temporary.write_text(_design(study, participants), encoding="utf-8")
    with replacing(paths[2]) as temporary:
        temporary.write_text(_picture(study, table), encoding="utf-8")
    return paths


def _design(study: Study, participants: int) -> str:
    """The summary as Markdown, with the tables of functions and conditions."""
    parts = [f"# {study.title}\n", "```text", *summary_lines(study, participants), "```\n", "## Trials of each list\n"]
    parts.append(_markdown(functions_per_list(study)))
    conditions = conditions_per_list(study)
    if conditions.height:
        parts += ["## Conditions of each list\n", _markdown(conditions)]
    return "\n".join([*parts, f"Fingerprint of study and items: {study.fingerprint}\n"])


def _markdown(table: pl.DataFrame) -> str:
    cells = [table.columns, *table.iter_rows()]
    rows = [[str(cell).replace("|", r"\|") for cell in row] for row in cells]
    rows.insert(1, ["---"] * table.width)
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def _picture(study: Study, table: pl.DataFrame) -> str:
    """The order of the first participant of each list."""
    orders = []
    for number in range(1, min(study.lists, PICTURED_LISTS) + 1):
        rows = table.filter(pl.col("list") == str(number))
        if rows.height:
            first = rows.filter(pl.col("participant") == rows["participant"][0]).unique("trial", maintain_order=True)
            orders.append((f"list {number}", first["function"].to_list()))
    return order_picture(orders, f"{study.title}: one order of each list")
