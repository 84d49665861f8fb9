"""What a plan amounts to: lists, trials, conditions, minutes."""

from __future__ import annotations

from typing import Any

import polars as pl

from karat.errors import counted
from karat.judgments.columns import FUNCTIONS
from karat.study.study import Study


def functions_per_list(study: Study) -> pl.DataFrame:
    """How many trials of each function each list has."""
    rows = []
    for number in range(1, study.lists + 1):
        trials = pl.concat([study.trials(index, number) for index in range(len(study.blocks))], how="diagonal_relaxed")
        counts = dict(trials["function"].value_counts().iter_rows())
        rows.append({"list": number} | {name: counts.get(name, 0) for name in FUNCTIONS} | {"trials": trials.height})
    return pl.DataFrame(rows)


def conditions_per_list(study: Study) -> pl.DataFrame:
    """How often each list has each condition of the test items."""
    rows: list[dict[str, Any]] = []
    for index, block in enumerate(study.blocks):
        factors = [name for name in block.settings.factors if name != block.settings.compared]
        if not factors:
            continue
        for number in range(1, study.lists + 1):
            tests = study.trials(index, number).filter(pl.col("function") == "test")
            counts = tests.group_by(factors).len("trials").sort(factors)
            rows += [{"block": block.name, "list": number} | row for row in counts.to_dicts()]
    return pl.DataFrame(rows, infer_schema_length=None)


def _shown(study: Study, number: int) -> int:
    """How many trials a list shows in one session, rounds included."""
    blocks = enumerate(study.blocks)
    return sum(study.trials(index, number).height * block.settings.rounds for index, block in blocks)


def summary_lines(study: Study, participants: int) -> list[str]:
    """The plan in a few lines."""
    per_list = functions_per_list(study)
    shown = [_shown(study, number) for number in range(1, study.lists + 1)]
    smallest, largest = min(shown), max(shown)
    trials = f"{smallest}" if smallest == largest else f"{smallest} to {largest}"
    minutes = max(study.minutes(number) for number in range(1, study.lists + 1))
    each = "" if study.lists == 1 else " each"
    if study.settings.questionnaire.sessions == 2:
        each = " in each of 2 sessions"
    lines = [f"{study.title}: {counted(study.lists, 'list')} of {trials} trials, about {minutes:.0f} minutes{each}"]
    first = per_list.row(0, named=True)
    lines.append("trials     " + ", ".join(f"{first[name]} {name}" for name in FUNCTIONS if first[name]))
    conditions = conditions_per_list(study)
    if conditions.height:
        low, high = conditions.select(low=pl.col("trials").min(), high=pl.col("trials").max()).row(0)
        told = f"{low}" if low == high else f"{low} to {high}"
        kinds = conditions.drop("list", "trials").unique().height
        lines.append(f"conditions {kinds}, each {told} times in a list")
    people, extra = divmod(participants, study.lists)
    spread = f"{people} in each list" if not extra else f"{people} or {people + 1} in each list"
    lines.append(f"people     {counted(participants, 'participant')}, {spread}")
    lines += [f"note       {note}" for plan in study.plan() for note in plan.notes]
    return lines
