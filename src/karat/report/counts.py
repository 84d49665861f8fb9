"""Counts of a report as plain data: design, sample, background and evidence.

The page and its JSON both take their numbers from here, so they agree.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import polars as pl

from karat.intake.personal import describes_a_person
from karat.judgments import Judgments
from karat.judgments.times import instants
from karat.measure.export import plain
from karat.screen.compare.composition import Composition
from karat.screen.criteria.remfod import Remfod
from karat.screen.evidence import Evidence, reason_rows
from karat.screen.screening import Screening
from karat.study.criteria import title_of
from karat.study.study import Study

if TYPE_CHECKING:
    from karat.report.build import ReportData

WORKING = {"shortest": 0.0, "low": 0.05, "median": 0.5, "high": 0.95, "longest": 1.0}
"""The quantiles of the working time that are reported."""
SECONDS = {"seconds": 1, "minutes": 60}
"""The units in which a working time is reported."""


def design_counts(judgments: Judgments) -> dict[str, Any]:
    """The numbers of participants, items, answers and trials of each function, and the scales."""
    frame = judgments.frame
    each = frame.filter(pl.col("response").is_not_null()).group_by("participant").len()["len"]
    scales = dict.fromkeys(judgments.scales.values())
    return {
        "participants": judgments.participants.height,
        "items": frame["item"].n_unique(),
        "rows": frame.height,
        "answers": int(each.sum()),
        "median_answers": plain(each.median()),
        "functions": dict(frame["function"].value_counts().sort("function").iter_rows()),
        "questions": len(judgments.scales),
        "scales": [{"kind": scale.kind} | _levels(scale) for scale in scales],
    }


def sample_counts(gathered: ReportData) -> dict[str, Any]:
    """Participants: sources, days, working time, background, and how many remained at each step."""
    judgments, people = gathered.judgments, gathered.judgments.participants
    return {
        "participants": people.height,
        "sources": commonest(people["source"]) if "source" in people.columns else {},
        "days": days(judgments),
        "working_time": working_time(people),
        "background": {name: _background(people[name]) for name in background_columns(people, gathered.study)},
        "steps": step_counts(gathered.screening),
    }


def step_counts(screening: Screening) -> list[dict[str, Any]]:
    """For each stage, the participants who entered, were excluded and remained, and the flagged among the excluded."""
    return [
        {"stage": step.stage, "entered": step.entered, "excluded": len(step.excluded), "remained": step.remained,
         "flagged": dict(step.flagged)}
        for step in screening.steps
        if step.flagged or step.excluded
    ]  # fmt: skip


def days(judgments: Judgments) -> list[str]:
    """The first and the last recorded day of answers; empty if none is recorded."""
    moments = []
    for table, names in ((judgments.participants, ("started", "finished")), (judgments.frame, ("time",))):
        for name in names:
            times = instants(table[name]).drop_nulls() if name in table.columns else pl.Series([])
            moments += [times.min(), times.max()] if len(times) else []
    dates = sorted(f"{moment:%Y-%m-%d}" for moment in moments if isinstance(moment, datetime))
    return [dates[0], dates[-1]] if dates else []


def working_time(people: pl.DataFrame) -> dict[str, Any]:
    """The unit of working times, their median, the middle nine of ten, the shortest and the longest.

    It is empty if none is known. The unit is minutes, or seconds if most took less than a minute or if tenths of a
    minute hide the spread.

    >>> working_time(pl.DataFrame({"working_time": [60, 120, 180]}))["median"]
    2.0
    >>> working_time(pl.DataFrame({"working_time": [6, 7, 8]}))
    {'unit': 'seconds', 'shortest': 6.0, 'low': 6.1, 'median': 7.0, 'high': 7.9, 'longest': 8.0}
    """
    if "working_time" not in people.columns or not people["working_time"].dtype.is_numeric():
        return {}
    times = people["working_time"].drop_nulls().cast(pl.Float64)
    if not len(times):
        return {}
    taken = {name: float(times.quantile(share, "linear") or 0.0) for name, share in WORKING.items()}
    low, high = (round(taken[name] / 60, 1) for name in ("low", "high"))
    hidden = low == high and taken["low"] < taken["high"]
    unit = "seconds" if taken["median"] < 60 or hidden else "minutes"
    return {"unit": unit} | {name: seconds / SECONDS[unit] for name, seconds in taken.items()}


def background_columns(people: pl.DataFrame, study: Study | None) -> list[str]:
    """The columns that describe participants: the study's questions, else those with such names."""
    if study is not None and study.settings.background:
        return [question.name for question in study.settings.background if question.name in people.columns]
    return [name for name in people.columns if describes_a_person(name)]


def composition_counts(found: Composition) -> dict[str, Any]:
    """The flagged participants in each group, and the groups with a warning beside all others."""
    groups, names = found.groups.to_dicts(), ("flagged", "participants")
    out = []
    for row in groups:
        if row["warning"]:
            beside = [other for other in groups if all(other[key] == row[key] for key in ("variable", "criterion"))]
            others = {f"other_{name}": sum(other[name] for other in beside) - row[name] for name in names}
            out.append({key: row[key] for key in ("variable", "group", "criterion", *names)} | others)
    return {
        "variables": list(found.variables), "groups": plain(groups), "standing_out": out,
        "warnings": [other.to_dict() for other in found.warnings], "notes": [other.to_dict() for other in found.notes],
    }  # fmt: skip


def evidence_counts(evidence: Evidence) -> dict[str, Any]:
    """The evidence of a criterion: numbers looked at and flagged, settings, and one row per participant."""
    people = evidence.participants
    counts = {
        "looked_at": people.height, "flagged": len(evidence.flagged), "settings": plain(evidence.settings),
        "notes": [note.to_dict() for note in evidence.notes], "participants": plain(reason_rows(people)),
    }  # fmt: skip
    if "guess_probability" in people.columns:
        counts["guess_probability"] = plain(people["guess_probability"].max())
    if isinstance(evidence, Remfod):
        counts |= _times(evidence)
    if "distance" not in people.columns:
        return counts
    from karat.screen.criteria.deletion import Deletion

    if isinstance(evidence, Deletion):
        rows = people.drop_nulls("distance")
        counts |= {"mean_distance": plain(rows["distance"].mean()), "mean_df": plain(rows["df"].mean())}
    return counts


def _times(evidence: Remfod) -> dict[str, Any]:
    """Rounds, outlying trials, and medians by item function and by participant with the ratio of their ends."""
    timed = evidence.timed.filter(pl.col("rt") > 0)
    medians = {
        name: dict(timed.group_by(name).agg(pl.col("rt").median()).sort("rt", name).iter_rows())
        for name in ("function", "participant")
    }
    apart = {name: max(values.values()) / min(values.values()) for name, values in medians.items() if values}
    return {
        "rounds": evidence.rounds, "intermissions": int(evidence.participants["intermissions"].sum()),
        "rushes": int(evidence.participants["rushes"].sum()), "median_by_function": medians["function"],
        "medians_apart": apart,
    }  # fmt: skip


def _levels(scale: Any) -> dict[str, Any]:
    names = ("levels", "low", "high", "modulus")
    settings = {name: getattr(scale, name) for name in names if getattr(scale, name, None) not in (None, ())}
    return {
        name: [str(level) for level in value] if name == "levels" else plain(value) for name, value in settings.items()
    }


def commonest(column: pl.Series) -> dict[str, int]:
    """The count of each answer, the commonest first, without missing ones."""
    # Renamed, because a question may be called count.
    values = column.drop_nulls().cast(pl.String).alias("value")
    table = values.value_counts().sort("count", "value", descending=[True, False])
    return dict(table.iter_rows())


def _background(column: pl.Series) -> dict[str, Any]:
    """The ends and the median of numbers, or the count of each other answer."""
    if column.dtype.is_numeric():
        return {"low": plain(column.min()), "median": plain(column.median()), "high": plain(column.max())}
    return commonest(column) | ({"missing": column.null_count()} if column.null_count() else {})


def excluded_by(screening: Screening) -> list[tuple[str, set[str]]]:
    """The title of each criterion with the excluded participants that it flags, most first.

    A participant may be flagged by several criteria, as in the figure and the table of the flow.
    """
    excluded = set(screening.excluded)
    flagged = ((title_of(name), excluded & set(evidence.flagged)) for name, evidence in screening.evidence.items())
    return sorted(((title, names) for title, names in flagged if names), key=lambda by: -len(by[1]))
