"""What they said: every measure in its own sentences, with its figures and tables, and effects before and after."""

from __future__ import annotations

import re

import polars as pl

from karat.errors import KaratError
from karat.measure.errors import MeasureError
from karat.measure.measures import Measures, Part
from karat.measure.part_files import TABLES, TOLD, figures_of
from karat.measure.summary import TERMINAL
from karat.report.drawn import drawn
from karat.report.gather import Gathered
from karat.report.sections.beside import beside, compared_with_contrasts
from karat.screen.effects import EffectsBeforeAfter
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


def section(gathered: Gathered) -> Section:
    """All measures of the participants who stay.

    >>> import karat
    >>> from karat.report.gather import Gathered
    >>> screening = karat.screen.run(karat.datasets.load("crowd"), {"completion": {}})
    >>> section(Gathered(screening, None, "", "There are no test trials.")).paragraphs
    ('Nothing could be measured: There are no test trials.',)
    """
    measures = gathered.measures
    if isinstance(measures, str):
        return Section("results", "What they said", (f"Nothing could be measured: {measures}",))
    people = measures.judgments.participants.height
    made = [_part(part, measures, number, beside(part, gathered)) for number, part in enumerate(measures.parts)]
    notes = [f"{name[:1].upper()}{name[1:]}: not measured. {_sentence(why)}" for name, why in measures.skipped.items()]
    if isinstance(gathered.effects, EffectsBeforeAfter):
        made.append(_effects(gathered.effects, compared_with_contrasts(gathered)))
    elif gathered.effects:
        notes.append(f"Effects before and after exclusion: not shown. {gathered.effects}")
    who = "the one participant who stays" if people == 1 else f"the {people:,} participants who stay"
    told = f"All results are of the test trials of {who}."
    return Section("results", "What they said", (told,), notes=tuple(notes), sections=tuple(made))


def _part(part: Part, measures: Measures, number: int, further: tuple[str, ...]) -> Section:
    """One result: its sentences and what is to be said beside them, then what it has drawn and tabulated."""
    key = re.sub(r"[^a-z0-9]+", "-", f"{part.heading} {number}".lower()).strip("-")
    text = " ".join(str(part.result).split())
    notes = [" ".join(note.split()) for note in getattr(part.result, "notes", ())]
    for note in notes:
        text = text.replace(note, "")
    tables = TABLES[part.name](part.result)
    shown = SHOWN.get(part.name, list(tables))
    figures, undrawn = _figures(part, measures, key, tables)
    return Section(
        key, part.heading[:1].upper() + part.heading[1:], (_spelled(" ".join(text.split())), *further),
        tuple(_table(f"{key}-{name}", name, tables[name]) for name in shown if tables[name].height),
        tuple(figures), tuple(_spelled(note) for note in [*notes, *undrawn]),
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
    part: Part, measures: Measures, key: str, tables: dict[str, pl.DataFrame]
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
        found.append(drawn(f"{key}-{name}", figure, " ".join(str(part.result).split()), "", data))
    return found, undrawn


def _undrawn(error: Exception) -> str:
    """Why there is no figure, without the name that the program has for the result."""
    why = re.sub(r"^\w+: ", "", str(error))
    return f"A figure is not shown: {why}"


def _effects(found: EffectsBeforeAfter, further: tuple[str, ...]) -> Section:
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
    figures: tuple[Figure, ...] = ()
    undrawn: tuple[str, ...] = ()
    try:
        figures = (drawn("effects", found.plot(), str(found), "", found.means()),)
    except (KaratError, ValueError) as error:
        undrawn = (_undrawn(error),)
    return Section(
        "effects", "Effects before and after exclusion", (told, *further), (tests, coefficients), figures,
        (*found.notes, *undrawn),
    )  # fmt: skip


def _sentence(text: str) -> str:
    return _spelled(text[:1].upper() + text[1:])


def _spelled(text: str) -> str:
    """Options as the command spells them, since more people read the page than write Python."""
    for pattern, spelled in TERMINAL:
        text = re.sub(pattern, spelled, text)
    return text
