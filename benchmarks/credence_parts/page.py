"""The tables of docs/credence.md and docs/credence-tables.md, between markers that name them."""

from __future__ import annotations

from collections.abc import Sequence

from .crowds import Crowd
from .effect import PARTICIPANTS, Estimate, planned
from .families import Family
from .injected import Injected
from .questionnaires import Questionnaire
from .runs import Scored
from .tables import calibration_table, effect_table, number, power_table, rows_of, verdict_table
from .targets import Target

SHORT = ("summary", "fairness")
TABLES = (
    "full-time", "switching", "five", "questionnaires", "verdicts", "injected", "calibration", "families", "effect",
)  # fmt: skip
"""The names of the markers in docs/credence.md and in docs/credence-tables.md."""


def page_parts(
    scored: Sequence[Scored], studies: Sequence[Estimate], found: Sequence[Target], command: str, first: int
) -> dict[str, str]:
    """All tables by the names of their markers."""
    rows = rows_of(scored)
    binary = [row for row in rows if isinstance(row.scenario, Crowd) and row.scenario.levels == 2]
    five = [row for row in rows if isinstance(row.scenario, Crowd) and row.scenario.levels > 2]
    real = [row for row in rows if isinstance(row.scenario, Injected)]
    asked = [one for one in scored if isinstance(one.job.scenario, Questionnaire)]
    simulated = [one for one in scored if not isinstance(one.job.scenario, Injected)]
    parts = {
        "summary": _summary(found, command, first),
        "full-time": power_table([row for row in binary if not row.is_late], "scenario"),
        "switching": power_table([row for row in binary if row.is_late], "scenario"),
        "five": power_table(five, "scenario"),
        "questionnaires": "\n\n".join(
            f"{name.capitalize()}:\n\n{power_table([row for row in rows if row.scenario.name == name], 'behaviour')}"
            for name in dict.fromkeys(one.job.scenario.name for one in asked)
        ),
        "verdicts": verdict_table(asked),
        "families": verdict_table([one for one in scored if isinstance(one.job.scenario, Family)]),
        "calibration": _calibration(simulated, "simulated"),
        "effect": _effect(studies),
    }
    if real:
        injected = [one for one in scored if isinstance(one.job.scenario, Injected)]
        names = dict.fromkeys(row.scenario.data for row in real if isinstance(row.scenario, Injected))
        tables = [
            f"{name}:\n\n{power_table([row for row in real if row.name.startswith(name)], 'injected')}"
            for name in names
        ]
        parts["injected"] = "\n\n".join([*tables, _calibration(injected, "injected")])
    return parts


def _summary(found: Sequence[Target], command: str, first: int) -> str:
    lines = [f"Written by `{command} --write`; seeds from {first:,} on.", ""]
    lines += ["| target | found | |", "| --- | --- | --- |"]
    return "\n".join(
        [*lines, *(f"| {one.name} | {one.found} | {'holds' if one.holds else 'missed'} |" for one in found)]
    )


def _calibration(scored: Sequence[Scored], what: str) -> str:
    table, error, people, planted = calibration_table(scored)
    text = f"{people:,} {what} participants, {100 * planted:.1f} % of them not attentive; ECE {number(error, 4)}."
    return f"{text}\n\n{table}"


def _effect(studies: Sequence[Estimate]) -> str:
    number_of = len(studies) // len({one.removal for one in studies})
    true = f"the true effect is {planned()[1]:.3f} steps of the scale"
    text = f"{number_of} studies with {PARTICIPANTS} participants; {true}."
    return f"{text}\n\n{effect_table(studies)}"
