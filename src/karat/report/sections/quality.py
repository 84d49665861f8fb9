"""How good the data are: the crowd as a whole, then times, sequences of answers, controls, and every criterion."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from karat.report.drawn import drawn, spelled, told
from karat.report.gather import Gathered
from karat.report.quality_figures import credence_figure
from karat.report.sections import checks, times
from karat.report.sections.beside import compared_with_test_trials
from karat.report.sections.brief import quality_told, without_name
from karat.report.words.english import ENGLISH
from karat.screen.crowd_figures import chance_figure
from karat.screen.deletion import Deletion
from karat.screen.evidence import Evidence
from karat.screen.markov import Markov
from karat.screen.markov_figure import MOST_MATRICES, distance_figure, transition_figure
from karat.screen.spammer_index import SUSPICIOUS, SpammerIndex
from karat.section import Figure, Section, Table
from karat.study.criteria import CRITERIA, title_of

AGREEMENT = {
    "fleiss_kappa": "Fleiss' kappa", "icc_agreement": "ICC(A,1)", "icc_consistency": "ICC(C,1)",
    "icc_fixed_error": "ICC, fixed error",
}  # fmt: skip
WIDTHS = {1: 8.0, 2: 12.0}
"""The width in cm of a figure with so few transition matrices."""
MOST_FLAGGED = "The published rule flags most participants"
"""How the remark of deviance distances begins that explains why nearly everybody is beyond the cutoff."""
SHORT = 90
"""Letters up to which a remark is shown in a cell."""
MOST_DRAWN = 2000
"""Participants above which distances are not drawn."""


def section(gathered: Gathered) -> Section:
    """All that is known of the quality of data; what could not be computed is said in a line.

    >>> import karat
    >>> from karat.report.gather import Gathered
    >>> screening = karat.screen.run(karat.datasets.load("crowd"), {"remfod": {}})
    >>> found = section(Gathered(screening, None, "Too few answers.", "", dict(screening.evidence)))
    >>> [one.key for one in found.sections], found.notes[0]
    (['times', 'criteria'], 'Spammer Index: not shown. Too few answers.')
    """
    parts: tuple[tuple[str, Callable[[Gathered], Section | str]], ...] = (
        ("Spammer Index", _index), ("Credence", _credence), ("Response times", times.section),
        ("Attention trials", checks.attention), ("Control sentences", checks.controls),
        ("Transitions between answers", _transitions), ("Deviance distances", _deviance), ("Criteria", _criteria),
    )  # fmt: skip
    made, notes = [], []
    for name, part in parts:
        found = part(gathered)
        if isinstance(found, str):
            notes.append(f"{name}: not shown. {found[:1].upper()}{found[1:]}")
        else:
            made.append(found)
    beyond = [title_of(name) for name, one in gathered.described.items()
              if isinstance(one, Evidence) and name not in gathered.screening.evidence]  # fmt: skip
    text = (f"Computed for description only, and no rule of this screening: {', '.join(beyond)}.",) if beyond else ()
    return Section("quality", "How good the data are", text, notes=tuple(notes), sections=tuple(made))


def _index(gathered: Gathered) -> Section | str:
    found = gathered.index
    if isinstance(found, str):
        return without_name(found)
    variances = Table(
        "variances", "What the variance is made of", _in_words(found.variances),
        headings={"share": "% of all"}, digits={"variance": 3, "share": 1},
    )  # fmt: skip
    reading = (
        "It is the share of the variance of answers that lies between participants rather than between items. "
        f"From {SUSPICIOUS:.2f} on it is read as the share of participants whose answers deserve a look."
    ).replace(" 0.", " .")
    return Section(
        "spammer-index", "Spammer Index", (quality_told(gathered), reading), (variances, _agreement(found, gathered)),
        notes=tuple(map(spelled, found.notes)),
    )  # fmt: skip


def _in_words(variances: pl.DataFrame) -> pl.DataFrame:
    """The variances, called as everywhere else on the page."""
    words = pl.col("source").str.replace_all("workers", "participants").str.replace_all("tasks", "items")
    return variances.with_columns(words, pl.col("share") * 100)


def _agreement(found: SpammerIndex, gathered: Gathered) -> Table:
    known = {AGREEMENT.get(name, name): value for name, value in found.agreement.items() if value == value}
    frame = pl.DataFrame({"coefficient": list(known), "estimate": list(known.values())},
                         schema={"coefficient": pl.String, "estimate": pl.Float64})  # fmt: skip
    caption = compared_with_test_trials(gathered)
    return Table("crowd-agreement", "Agreement of the participants who stay", frame, caption)


def _credence(gathered: Gathered) -> Section | str:
    found = gathered.evidence("credence")
    if isinstance(found, str):
        return found
    columns = [name for name in ("participant", "score", "behaviour", "switch_trial", "flagged")
               if name in found.participants.columns]  # fmt: skip
    figure = drawn("credence", credence_figure(found), told(found), "Hatched: flagged.",
                   found.participants.select(columns))  # fmt: skip
    how = (
        "Credence joins agreement with the others, controls, the sequence of answers and response times in the "
        "probability that a participant answered in earnest throughout."
    )
    return Section("credence", "Credence", (told(found), how), figures=(figure,), notes=found.notes)


def _transitions(gathered: Gathered) -> Section | str:
    found = gathered.evidence("markov")
    if not isinstance(found, Markov):
        return str(found)
    figures = []
    if found.simulated:
        data = found.participants.select("participant", "score", "threshold", "flagged", "kind", "target")
        caption = "A tick below the axis is a participant."
        figures.append(drawn("markov-distances", distance_figure(found), told(found), caption, data))
    if found.flagged:
        reasons = found.participants.filter("flagged").select("participant", "reason")
        alt = "; ".join(f"{who}: {why}" for who, why in reasons.head(MOST_MATRICES).iter_rows())
        caption = "Rows are answers, columns the answers that follow; a row adds up to one."
        # One or two matrices on the whole width would shout.
        width = WIDTHS.get(len(found.flagged), 16)
        figures.append(drawn("transitions", transition_figure(found, width_cm=width), alt, caption, reasons))
    return Section("transitions", "Transitions between answers", (told(found),), figures=tuple(figures),
                   notes=found.notes)  # fmt: skip


def _deviance(gathered: Gathered) -> Section | str:
    found = gathered.evidence("deletion")
    if not isinstance(found, Deletion):
        return str(found)
    data = found.participants.select("participant", "distance", "df", "p_value", "p_simulated", "flagged")
    # A cutoff that nearly everybody crosses must not stand there without the word that explains it.
    doubts = [note for note in found.notes if note.startswith(MOST_FLAGGED)]
    text, dashed = " ".join([told(found), *doubts]), "The dashed line is the published cutoff."
    figures: tuple[Figure, ...] = ()
    if found.participants.height <= MOST_DRAWN:
        figures = (
            drawn("deviance", found.plot(), text, " ".join([dashed, *doubts]), data),
            drawn("deviance-chance", chance_figure(found), text, " ".join(doubts), data),
        )
    how = "The distance of a participant is how much the deviance of the crowd's model falls without their answers."
    notes = tuple(spelled(note) for note in found.notes if note not in doubts)
    return Section("deviance", "Deviance distances", (text, how), figures=figures, notes=notes)


def _criteria(gathered: Gathered) -> Section | str:
    """One row a criterion: how many it looked at and flagged, by which settings, or why it could not run."""
    screening = gathered.screening
    rows: list[tuple[object, ...]] = [
        (title_of(name), one.participants.height, len(one.flagged), _settings(one), _remarks(one.notes))
        for name, one in screening.evidence.items()
    ]
    rows += [(title_of(name), None, None, "", _capital(why.removeprefix(f"{name}: ")))
             for name, why in screening.skipped.items()]  # fmt: skip
    if not rows:
        return "The rules name no criterion."
    schema = {"criterion": pl.String, "participants": pl.Int64, "flagged": pl.Int64, "settings": pl.String,
              "notes": pl.String}  # fmt: skip
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    table = Table("criteria", "Criteria of this screening", frame, headings={"participants": "looked at"})
    how = (
        "Each criterion looks at those whom earlier stages left, flags and gives a reason; whom to exclude is the rule."
    )
    return Section("criteria", "Criteria", (how,), (table,))


def _settings(one: Evidence) -> str:
    """The settings as a reader sees them; what a criterion found out by itself has three decimals."""
    stated = CRITERIA[one.criterion].settings.model_fields if one.criterion in CRITERIA else {}
    return ", ".join(
        f"{name.replace('_', ' ')} {_value(value, rounded=name not in stated)}"
        for name, value in one.settings.items()
        if value is not None and value is not False and value not in ({}, [], (), "")
    )


def _value(value: object, *, rounded: bool) -> str:
    if isinstance(value, bool):
        return "yes"
    if isinstance(value, float):
        return f"{value:.3f}" if rounded else f"{value:g}"
    return ENGLISH.value(value)


def _remarks(notes: tuple[str, ...]) -> str:
    """One short remark as it is; of more, or a long one, how many there are, and the remarks on demand."""
    if len(notes) == 1 and len(notes[0]) <= SHORT:
        return spelled(notes[0])
    counted_notes = "1 note" if len(notes) == 1 else f"{len(notes)} notes"
    return "\n".join([counted_notes, *map(spelled, notes)]) if notes else ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
