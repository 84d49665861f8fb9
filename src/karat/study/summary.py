"""The summary of a plan in lines, and its files: questionnaires, a summary, and a picture of the orders."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from karat.errors import counted
from karat.judgments.columns import FUNCTIONS
from karat.judgments.files import replacing, write_text
from karat.plots import BLUE, GREEN, ORANGE, VERMILLION, YELLOW
from karat.study.study import Study


def functions_per_list(study: Study) -> pl.DataFrame:
    """The number of trials of each function in each list."""
    rows = []
    for number in range(1, study.lists + 1):
        trials = pl.concat([study.trials(index, number) for index in range(len(study.blocks))], how="diagonal_relaxed")
        counts = dict(trials["function"].value_counts().iter_rows())
        rows.append({"list": number} | {name: counts.get(name, 0) for name in FUNCTIONS} | {"trials": trials.height})
    return pl.DataFrame(rows)


def conditions_per_list(study: Study) -> pl.DataFrame:
    """The frequency of each condition of the test items in each list."""
    rows: list[dict[str, Any]] = []
    for index, block in enumerate(study.blocks):
        factors = block.settings.condition_factors
        if not factors:
            continue
        for number in range(1, study.lists + 1):
            tests = study.trials(index, number).filter(pl.col("function") == "test")
            counts = tests.group_by(factors).len("trials").sort(factors)
            rows += [{"block": block.name, "list": number} | row for row in counts.to_dicts()]
    return pl.DataFrame(rows, infer_schema_length=None)


def summary_lines(study: Study, participants: int) -> list[str]:
    """The plan in a few lines."""
    lines = [f"{study.title}: {study.outline(range(1, study.lists + 1))}"]
    first = functions_per_list(study).row(0, named=True)
    lines.append("trials     " + ", ".join(f"{first[name]} {name}" for name in FUNCTIONS if first[name]))
    conditions = conditions_per_list(study)
    if conditions.height:
        low, high = conditions.select(low=pl.col("trials").min(), high=pl.col("trials").max()).row(0)
        text = f"{low}" if low == high else f"{low} to {high}"
        kinds = conditions.drop("list", "trials").unique().height
        lines.append(f"conditions {kinds}, each {text} times in a list")
    people, extra = divmod(participants, study.lists)
    spread = f"{people} in each list" if not extra else f"{people} or {people + 1} in each list"
    lines.append(f"people     {counted(participants, 'participant')}, {spread}")
    lines += [f"note       {note}" for plan in study.plan() for note in plan.notes]
    return lines


PICTURED_LISTS = 48


def questionnaires(study: Study, participants: int, seed: int | None = None) -> pl.DataFrame:
    """The trials of all participants, who get the lists in turn."""
    parts = []
    for number in range(participants):
        which = number % study.lists + 1
        name = f"p{number + 1:0{max(3, len(str(participants)))}d}"
        frame = study.questionnaire(list=which, participant=name, seed=seed).frame
        parts.append(frame.with_columns(participant=pl.lit(name)))
    whole = pl.concat(parts, how="diagonal_relaxed")
    return whole.select("participant", *(name for name in whole.columns if name != "participant"))


def write_plan(study: Study, participants: int, folder: Path, as_format: str, seed: int | None = None) -> list[Path]:
    """Write the questionnaires, the summary and the picture to a folder; returns their paths."""
    table = questionnaires(study, participants, seed)
    paths = [folder / f"questionnaires.{as_format}", folder / "design.md", folder / "orders.svg"]
    with replacing(paths[0]) as temporary:
        table.write_csv(temporary) if as_format == "csv" else table.write_parquet(temporary)
    write_text(paths[1], _design(study, participants))
    write_text(paths[2], _picture(study, table))
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


COLOURS = {
    "test": BLUE, "filler": "#C8C8C8", "control": ORANGE, "attention": VERMILLION, "calibration": GREEN,
    "practice": YELLOW,
}  # fmt: skip
"""Okabe and Ito's colours, which colour-blind readers can distinguish; letters do the same in grey print."""
LETTERS = {"test": "T", "filler": "", "control": "C", "attention": "A", "calibration": "K", "practice": "P"}
CELL, HEIGHT, LEFT = 9, 18, 56


def order_picture(orders: Sequence[tuple[str, Sequence[str]]], title: str) -> str:
    """An SVG of orders, each a name and the functions of its trials."""
    longest = max((len(functions) for _, functions in orders), default=0)
    width, height = max(LEFT + longest * CELL + 8, 460), 64 + len(orders) * (HEIGHT + 6)
    rows = [_row(name, functions, 34 + number * (HEIGHT + 6)) for number, (name, functions) in enumerate(orders)]
    functions_shown = [name for name in FUNCTIONS if any(name in functions for _, functions in orders)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="11" fill="#1a1a1a">\n<title>{escape(title)}</title>\n'
        f'<rect width="{width}" height="{height}" fill="#fff"/>\n'
        f'<text x="8" y="18" font-size="13">{escape(title)}</text>\n'
        + "".join(rows) + _legend(functions_shown, height - 14) + "</svg>\n"
    )  # fmt: skip


def _row(name: str, functions: Sequence[str], top: int) -> str:
    cells = [f'<text x="8" y="{top + 13}">{escape(name)}</text>\n']
    for position, function in enumerate(functions):
        x = LEFT + position * CELL
        tip = f"<title>{position + 1}: {escape(function)}</title>"
        cells.append(
            f'<rect x="{x}" y="{top}" width="{CELL - 1}" height="{HEIGHT}" fill="{COLOURS[function]}">{tip}</rect>\n'
        )
        if LETTERS[function]:
            ink = "#fff" if function in ("test", "attention") else "#1a1a1a"
            cells.append(
                f'<text x="{x + (CELL - 1) / 2}" y="{top + 12}" font-size="8" text-anchor="middle" fill="{ink}">'
                f"{LETTERS[function]}</text>\n"
            )
    return "".join(cells)


def _legend(functions: Sequence[str], y: int) -> str:
    parts, x = [], 8
    for function in functions:
        parts.append(f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{COLOURS[function]}" stroke="#777"/>')
        letter = f" ({LETTERS[function]})" if LETTERS[function] else ""
        parts.append(f'<text x="{x + 14}" y="{y}">{function}{letter}</text>\n')
        x += 14 + 7 * len(function + letter) + 10
    return "".join(parts)
