"""What was asked: tasks, scales, factors, and how many trials of which function and condition there are."""

from __future__ import annotations

import polars as pl

from karat.errors import counted
from karat.judgments import Judgments
from karat.judgments.columns import FUNCTIONS
from karat.messages import NotComputed
from karat.report.build import ReportData
from karat.section import Section, Table
from karat.study.plan import Block
from karat.study.study import Study

MOST_CELLS = 40


def section(gathered: ReportData) -> Section:
    """The study as its file states it, else as the judgments tell it.

    >>> import karat
    >>> from karat.report.build import NOT_COMPUTED, ReportData
    >>> screening = karat.screen.run(karat.datasets.load("crowd"), {"completion": {}})
    >>> section(ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED)).paragraphs[0]
    '120 participants, 80 items, 9,600 answers. Answers are binary: 0, 1.'
    """
    judgments, study = gathered.judgments, gathered.study
    paragraphs = [_told(judgments)]
    paragraphs += ["No study file was given: the design is read from the judgments."] if study is None else []
    paragraphs += [] if study is None else _planned(study)
    tables = [_functions(judgments), _cells(judgments, _factors(gathered))]
    return Section(
        "asked", "What was asked", tuple(paragraphs), tuple(table for table in tables if table is not None),
        notes=tuple(map(str, gathered.notes)),
    )  # fmt: skip


def _told(judgments: Judgments) -> str:
    first = judgments.summary().splitlines()[0]
    scales = [f"{scale.kind}: {scale.known()}" for scale in dict.fromkeys(judgments.scales.values())]
    return f"{first}. Answers are {'; '.join(scales)}."


def _planned(study: Study) -> list[str]:
    told = [_block(block) for block in study.blocks]
    settings = study.settings
    lists = f"{counted(study.lists, 'list')}, about {study.minutes():.0f} minutes"
    sessions = " in each of 2 sessions" if settings.questionnaire.sessions == 2 else ""
    told.append(f"The study has {lists}{sessions}.")
    if settings.contrast:
        named = "; ".join(
            f"{one.name} ({' × '.join(one.own)}: {' minus '.join(one.sides)})" for one in settings.contrast
        )
        told.append(f"Planned comparisons: {named}.")
    return told


def _block(block: Block) -> str:
    """One block in a sentence or two."""
    settings = block.settings
    name, rows = block.name[:1].upper() + block.name[1:], counted(block.items.frame.height, "row")
    text = f"{name} is a {settings.task} task on {rows} of items"
    labels = settings.scale.labels
    text += f", answered from “{labels[0]}” to “{labels[-1]}”." if len(labels) > 1 else "."
    if settings.prompt:
        text += f" Participants were asked: “{settings.prompt}”"
    factors = "; ".join(f"{name} ({', '.join(one.levels)})" for name, one in settings.factors.items())
    return text + (f" Factors: {factors}." if factors else "")


def _functions(judgments: Judgments) -> Table:
    """What trials are for."""
    frame = judgments.frame
    counts = frame.group_by("function").agg(
        pl.col("item").n_unique().cast(pl.Int64).alias("items"),
        pl.len().cast(pl.Int64).alias("answers"),
        (pl.len() / pl.col("participant").n_unique()).alias("each"),
    )
    order = {name: place for place, name in enumerate(FUNCTIONS)}
    counts = counts.sort(pl.col("function").replace_strict(order, default=len(order), return_dtype=pl.Int64))
    return Table(
        "functions", "Trials by function", counts, headings={"each": "answers a participant"}, digits={"each": 1}
    )


def _factors(gathered: ReportData) -> list[str]:
    """The factors of the study or, without one, those that the contrasts found."""
    if gathered.study is not None:
        return list(dict.fromkeys(name for block in gathered.study.blocks for name in block.settings.factors))
    parts = () if isinstance(gathered.measures, NotComputed) else gathered.measures.parts
    return list(dict.fromkeys(name for part in parts if part.name == "contrasts" for name in part.result.factors))


def _cells(judgments: Judgments, factors: list[str]) -> Table | None:
    """The conditions of test trials."""
    frame = judgments.frame.filter(pl.col("function") == "test")
    names = [name for name in factors if name in frame.columns and frame[name].drop_nulls().n_unique() > 1]
    if not names:
        return None
    cells = frame.drop_nulls(names).group_by(names).agg(
        pl.col("item").n_unique().cast(pl.Int64).alias("items"),
        pl.col("participant").n_unique().cast(pl.Int64).alias("participants"),
        pl.len().cast(pl.Int64).alias("answers"),
    )  # fmt: skip
    if not cells.height or cells.height > MOST_CELLS:
        return None
    return Table("conditions", "Test trials by condition", cells.sort(names))
