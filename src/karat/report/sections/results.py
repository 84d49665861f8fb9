"""What they said: every measure in its own sentences, with its figures and tables, and effects before and after."""

from __future__ import annotations

import re

import polars as pl

from karat.errors import KaratError
from karat.measure.effects.contrasts import Contrasts
from karat.measure.export import TABLES, TOLD, figures_of
from karat.measure.measured import Measure
from karat.measure.measures import Measures
from karat.measure.result import MeasureError
from karat.messages import Message, NotComputed
from karat.report.build import NOT_COMPUTED, ReportData
from karat.report.figures import report_figure, sentences
from karat.screen.compare.effects import EffectsBeforeAfter
from karat.section import Figure, Section, Table

SHOWN = {
    "strengths": ["strengths"],
    "measures": ["measures"],
    "contrasts": ["tests", "means", "contrasts"],
    "order effects": ["order-effects"],
    "decisions": ["decisions"],
    "decisions compared": ["decisions-agreement"],
    "stability": ["stability"],
    "number of factors": ["number-of-factors"],
    "factors": ["loadings", "explained"],
    "consensus": ["consensus"],
    "ratings": [],
}
"""The tables of a result that are shown; of the results that are not named here, all."""
LEFT_OUT = ("df", "d_lower", "d_upper", "odds_lower", "odds_upper")
HEADINGS = {"se": "SE", "lower": "from", "upper": "to", "adjusted": "p, adjusted", "n": "answers", "chi2": "χ²",
            "odds_ratio": "odds ratio", "raw": "plain"}  # fmt: skip
MOST_ROWS = 300


def section(gathered: ReportData) -> Section:
    """All measures of the participants who stay.

    >>> import karat
    >>> from karat.report.build import NOT_COMPUTED, ReportData
    >>> screening = karat.screen.run(karat.datasets.load("crowd"), {"completion": {}})
    >>> section(ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED)).paragraphs
    ('Nothing could be measured. It was not computed.',)
    """
    measures = gathered.measures
    if isinstance(measures, NotComputed):
        return Section("results", "What they said", (f"Nothing could be measured. {measures}",))
    people = measures.judgments.participants.height
    compared = isinstance(gathered.effects, EffectsBeforeAfter)
    made = [_part(part, measures, number, compared) for number, part in enumerate(measures.parts)]
    notes = [f"{name[:1].upper()}{name[1:]}: not measured. {why}" for name, why in measures.skipped.items()]
    if isinstance(gathered.effects, EffectsBeforeAfter):
        made.append(_effects(gathered.effects, any(_simplified(part) for part in measures.parts)))
    elif gathered.effects != NOT_COMPUTED:
        notes.append(f"Effects before and after exclusion: not shown. {gathered.effects}")
    who = "the one participant who stays" if people == 1 else f"the {people:,} participants who stay"
    told = f"All results are of the test trials of {who}."
    return Section("results", "What they said", (told,), notes=tuple(notes), sections=tuple(made))


def _simplified(part: Measure) -> bool:
    """Whether contrasts leave out random effects, which the effects before and after exclusion keep."""
    return isinstance(part.result, Contrasts) and bool(part.result.simplified)


def _part(part: Measure, measures: Measures, number: int, compared: bool) -> Section:
    """One result: its sentences, then what it has drawn and tabulated; `compared` with effects before exclusion."""
    key = re.sub(r"[^a-z0-9]+", "-", f"{part.heading} {number}".lower()).strip("-")
    notes = list(map(str, getattr(part.result, "notes", ())))
    tables = TABLES[part.name](part.result)
    shown = SHOWN.get(part.name, list(tables))
    figures, undrawn = _figures(part, measures, key, tables)
    further = (str(Message("discrepancies.contrasts")),) if compared and _simplified(part) else ()
    return Section(
        key, part.heading[:1].upper() + part.heading[1:], (sentences(part.result.summary), *further),
        tuple(_table(f"{key}-{name}", name, tables[name]) for name in shown if tables[name].height),
        tuple(figures), (*notes, *undrawn),
    )  # fmt: skip


def _table(key: str, name: str, frame: pl.DataFrame) -> Table:
    shown = frame.drop([column for column in LEFT_OUT if column in frame.columns])
    empty = [column for column in shown.columns if shown[column].null_count() == shown.height]
    unnamed = ["question"] if "question" in shown.columns and set(shown["question"].to_list()) <= {"", None} else []
    shown = shown.drop(list(dict.fromkeys([*empty, *unnamed]))).head(MOST_ROWS)
    caption = f"The first {MOST_ROWS} of {frame.height:,} rows." if frame.height > MOST_ROWS else ""
    return Table(
        key, TOLD.get(name, name.capitalize()).split(":")[0].rstrip("."), shown, caption, HEADINGS,
        {"variance": 3, "share": 2}, filtered=shown.height > 20,
    )  # fmt: skip


def _figures(
    part: Measure, measures: Measures, key: str, tables: dict[str, pl.DataFrame]
) -> tuple[list[Figure], list[str]]:
    """The figures of a result, and why others could not be drawn."""
    found, undrawn = [], []
    for name, draw in figures_of(part.name, part.result).items():
        try:
            figure = draw(part.result, measures)
        except MeasureError as error:
            undrawn.append(_undrawn(error))
            continue
        data = tables.get(name, next(iter(tables.values())))
        found.append(report_figure(f"{key}-{name}", figure, sentences(part.result.summary), "", data))
    return found, undrawn


def _undrawn(error: Exception) -> str:
    return f"A figure is not shown. {error}"


def _effects(found: EffectsBeforeAfter, simplified: bool) -> Section:
    tests = Table("effects-tests", "Tests of the terms", found.tests, headings={
        "chisq_before": "χ², everybody", "p_before": "p, everybody", "chisq_after": "χ², those who stay",
        "p_after": "p, those who stay"}, digits={"p_before": 3, "p_after": 3})  # fmt: skip
    coefficients = Table("effects-coefficients", "Coefficients", found.coefficients, headings={
        "before": "everybody", "se_before": "SE", "after": "those who stay", "se_after": "SE "})  # fmt: skip
    told = (
        f"The model `{found.settings['formula']}` was fitted to everybody and without {len(found.excluded):,} who are "
        "excluded. A p that changes says nothing on whether the exclusion was right; read the coefficients beside "
        "their standard errors."
    )
    further = (str(Message("discrepancies.effects")),) if simplified else ()
    figures: tuple[Figure, ...] = ()
    undrawn: tuple[str, ...] = ()
    try:
        figures = (report_figure("effects", found.plot(), sentences(found.summary), "", found.means()),)
    except (KaratError, ValueError) as error:
        undrawn = (_undrawn(error),)
    return Section(
        "effects", "Effects before and after exclusion", (told, *further), (tests, coefficients), figures,
        (*map(str, found.notes), *undrawn),
    )  # fmt: skip
