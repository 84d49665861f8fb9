"""Who took part: how many at each step, who left and why, where and when, and whom exclusion fell on."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import polars as pl

from karat.errors import counted
from karat.figures import to_svg
from karat.report.gather import Gathered
from karat.report.sections.brief import verdict
from karat.screen.composition import Composition
from karat.screen.explain import WORDS
from karat.screen.screening import Screening
from karat.section import Figure, Section, Table

STAGES = {"completion": "completion", "clock": "the clock", "answers": "the answers"}


def section(gathered: Gathered) -> Section:
    """The flow of participants and the composition of the sample.

    >>> import karat
    >>> from karat.report.gather import Gathered
    >>> screening = karat.screen.run(karat.datasets.load("likert"), {"completion": {}, "remfod": {}})
    >>> section(Gathered(screening, None, "not computed", "not computed")).paragraphs[1]
    'Screening by completion left 47 of 48 participants, by the clock 42 of 47.'
    """
    screening = gathered.screening
    paragraphs = [verdict(screening), _flow_told(screening), _fielded(gathered), _where(gathered)]
    tables, figures, notes = [], [], []
    if screening.exclude is not None:
        steps = steps_table(screening)
        caption = "One participant may be counted under several criteria."
        figures.append(Figure("flow", "Flow of participants", _flow_told(screening), screening.flow(), caption, steps))
        tables.append(_flow_table(steps))
        notes += [f"{WORDS.get(name, name)} could not be applied: {why}" for name, why in screening.skipped.items()]
    return Section(
        "sample", "Who took part", tuple(text for text in paragraphs if text), tuple(tables), tuple(figures),
        tuple(notes), (_composition(screening),),
    )  # fmt: skip


def steps_table(screening: Screening) -> pl.DataFrame:
    """One row a stage and criterion: entered, flagged among those excluded there, excluded, remained.

    >>> import karat
    >>> steps_table(karat.screen.run(karat.datasets.load("likert"), {"completion": {}, "remfod": {}})).rows()
    [('completion', 48, 1, 47, 'Completion 1'), ('clock', 47, 5, 42, 'Response times (ReMFOD) 5')]
    """
    rows = [
        (
            step.stage, step.entered, len(step.excluded), step.remained,
            ", ".join(f"{WORDS.get(name, name)} {number:,}" for name, number in step.flagged.items()),
        )
        for step in screening.steps
        if step.flagged or step.excluded
    ]  # fmt: skip
    schema: dict[str, Any] = {"stage": pl.String, "entered": pl.Int64, "excluded": pl.Int64, "remained": pl.Int64,
                              "criteria": pl.String}  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def _flow_table(steps: pl.DataFrame) -> Table:
    told = steps.with_columns(pl.col("stage").replace(STAGES))
    return Table("steps", "Participants at each step", told, headings={"criteria": "flagged among the excluded"})


def _flow_told(screening: Screening) -> str:
    if screening.exclude is None:
        return "Criteria give evidence only, and nobody is excluded."
    steps = [step for step in screening.steps if step.flagged or step.excluded]
    if not steps:
        return ""
    first, *rest = (
        f"by {STAGES[step.stage]} {step.remained:,} of {step.entered:,}"
        if number
        else f"Screening by {STAGES[step.stage]} left {step.remained:,} of {counted(step.entered, 'participant')}"
        for number, step in enumerate(steps)
    )
    return ", ".join([first, *rest]) + "."


def _fielded(gathered: Gathered) -> str:
    """When answers were given, from the first moment to the last that is known."""
    moments = []
    people, frame = gathered.judgments.participants, gathered.judgments.frame
    for table, names in ((people, ("started", "finished")), (frame, ("time",))):
        for name in names:
            if name in table.columns and isinstance(table[name].dtype, pl.Datetime):
                moments += [table[name].min(), table[name].max()]
    days = sorted(f"{moment:%Y-%m-%d}" for moment in moments if isinstance(moment, datetime))
    if not days:
        return "When answers were given is not recorded."
    told = f"on {days[0]}" if days[0] == days[-1] else f"between {days[0]} and {days[-1]}"
    return f"Answers were given {told}.{_minutes(people)}"


def _minutes(people: pl.DataFrame) -> str:
    """How long it took, where that is recorded."""
    if "working_time" not in people.columns or not people["working_time"].dtype.is_numeric():
        return ""
    times = people["working_time"].drop_nulls().cast(pl.Float64)
    if not len(times):
        return ""
    low, middle, high = (float(times.quantile(share) or 0.0) / 60 for share in (0.05, 0.5, 0.95))
    return f" The median working time was {middle:.1f} minutes; nine of ten took {low:.1f} to {high:.1f}."


def _where(gathered: Gathered) -> str:
    """Where participants come from: the sources of the data, else the platform of the study file."""
    people = gathered.judgments.participants
    if "source" in people.columns and people["source"].drop_nulls().len():
        counts = people["source"].drop_nulls().cast(pl.String).value_counts().sort("count", "source", descending=True)
        return (
            "Participants came from " + ", ".join(f"{name} ({number:,})" for name, number in counts.iter_rows()) + "."
        )
    if gathered.study is not None:
        return f"Participants were recruited by {gathered.study.settings.recruitment.platform}."
    return "Where participants come from is not recorded."


def _composition(screening: Screening) -> Section:
    """Who was excluded, by what is known of participants."""
    found = screening.composition()
    if not found.groups.height:
        return Section("composition", "By background", (str(found),))
    rows = found.groups.filter(pl.col("criterion") == found.criterion)
    table = Table(
        "composition", "Groups of participants",
        rows.select("variable", "group", "participants", "flagged", "share", "lower", "upper", "p", "p_adjusted")
        .with_columns(pl.col("share", "lower", "upper") * 100).rename({"p_adjusted": "adjusted"}),
        "Shares with 95 % intervals (Wilson); p by Fisher's exact test, adjusted after Holm.",
        {"flagged": "excluded" if screening.exclude is not None else "flagged", "share": "%", "lower": "from",
         "upper": "to", "adjusted": "p, adjusted"},
        {"share": 0, "lower": 0, "upper": 0},
    )  # fmt: skip
    return Section(
        "composition", "By background", (str(found),), (table,), _drawn(found), (*found.warnings, *found.notes)
    )


def _drawn(found: Composition) -> tuple[Figure, ...]:
    if not int(found.groups.filter(pl.col("criterion") == found.criterion)["flagged"].sum()):
        return ()
    figure = found.plot()
    title = " ".join(figure.get_suptitle().split())
    return (Figure("composition", title, str(found), to_svg(figure, title, str(found)), "", found.groups),)
