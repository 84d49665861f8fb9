"""Results: the main comparisons by every exclusion rule, then each measure with its sentences, figures and tables."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import polars as pl

from karat.measure.effects.contrasts import Contrasts
from karat.measure.effects.order_effects import OrderEffects
from karat.measure.export import MEANINGS, figures_of
from karat.measure.measured import Measure
from karat.measure.measures import Measures, main_numbers
from karat.measure.result import MeasureError
from karat.measure.scaling.result import Strengths
from karat.messages import Message, NotComputed, with_code
from karat.report.build import ReportData
from karat.report.comparisons import RIGHT_ANSWERS
from karat.report.course_figures import course_figure
from karat.report.figures import ranking_figure, report_figure, sentences
from karat.report.outcomes import LOG_UNITS, Outcomes
from karat.report.sections.brief import ENGLISH, plainly
from karat.report.sections.people import shown_sentences
from karat.section import Figure, Section, Table, with_shared_notes

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
"""The tables shown of each result; of results that are not listed, all."""
REPEATED = {"agreement": ("coefficient", " by REML"), "noise-ceiling": ("ceiling", "reliability of means")}
"""Rows that repeat another row or table, by a column and the end of its value."""
UNDRAWN = ("contrasts", "planned", "noise ceiling", "agreement", "decision study")
"""The results whose figure is on the first screen, or shows no more than their table."""
PLAIN = {"means": "plain is the mean of the {}answers", "contrasts": "plain is the difference of their plain means"}
"""The meaning of the column plain in the tables of the contrasts."""
LEFT_OUT = ("df", "d_lower", "d_upper", "odds_lower", "odds_upper")
HEADINGS = {"se": "SE", "lower": "from", "upper": "to", "adjusted": "p, adjusted", "n": "answers", "chi2": "χ²",
            "odds_ratio": "odds ratio", "raw": "plain", "denominator": "denominator df"}  # fmt: skip
TITLES = {
    "strengths": "estimates of stimuli", "noise ceiling": "the best any model could predict",
    "decision study": "how many participants and items you need", "planned": "planned comparisons",
    "measures": "correlations between measures", "adequacy": "sampling adequacy",
    "bayes": "posteriors of the comparisons",
}  # fmt: skip
"""Headings of results whose name is unclear or technical."""
UNTRUSTED = (
    "contrasts.not_converged", "contrasts.not_used", "order.not_converged", "strengths.no_stimulus_variance",
    "consensus.key", "consensus.independent",
)  # fmt: skip
"""The notes that are shown beside the numbers they are about."""
BY_QUESTION = "Only the main number of each question is shown; karat measure writes the others."
MOST_ROWS = 300
NEGATIVE = r"^-(\d+(?:\.\d+)?)$"
"""A negative number."""


def shown_parts(measures: Measures, gathered: ReportData) -> list[Measure]:
    """The measures, after the model of right answers and its planned comparisons, if there is one."""
    if not isinstance(gathered.outcomes, Outcomes) or gathered.outcomes.accuracy is None:
        return list(measures.parts)
    right = {"planned": gathered.outcomes.planned, "contrasts": gathered.outcomes.accuracy}
    first = [Measure(name, result, label=RIGHT_ANSWERS) for name, result in right.items() if result is not None]
    return [*first, *measures.parts]


def section(gathered: ReportData) -> Section:
    """The section on all measures of the participants who stay."""
    measures = gathered.measures
    if isinstance(measures, NotComputed):
        return Section("results", "Results", (f"Nothing could be measured. {measures}",))
    people = measures.judgments.participants.height
    parts = shown_parts(measures, gathered)
    sections = [_part(part, gathered, measures, number) for number, part in enumerate(parts)]
    notes = (*map(str, gathered.doubts), *_unmeasured(measures))
    who = "the one participant" if people == 1 else f"the {people:,} participants"
    text = f"All results are from the test trials of {who} in the analysis."
    tests = measures.judgments.frame.filter(pl.col("function") == "test", pl.col("response").is_not_null())
    answering = tests["participant"].n_unique()
    text += f" {answering:,} of them answered test trials." if 0 < answering < people else ""
    tables = _rules(gathered)
    whole = with_shared_notes(Section("results", "Results", (text,), tables, notes=notes, sections=tuple(sections)))
    return replace(whole, sections=tuple(_by_question(parts, whole.sections)))


def _by_question(parts: Sequence[Measure], sections: Sequence[Section]) -> list[Section]:
    """The results of each question in its own section, if several questions were measured."""
    if len({part.question for part in parts} - {""}) < 2:
        return list(sections)
    grouped: list[Section] = []
    for question, group in groupby(zip(parts, sections, strict=True), key=lambda pair: pair[0].question):
        renamed = [replace(section, title=_title(replace(part, question=""))) for part, section in group]
        title = f"Question “{question}”"
        grouped += [Section(f"question-{len(grouped)}", title, sections=tuple(renamed))] if question else renamed
    return grouped


def _unmeasured(measures: Measures) -> tuple[str, ...]:
    """A note for each reason why results are missing, with the results."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for name, why in measures.skipped.items():
        kind = name.split(" (")[0]
        reasons.setdefault(str(why), {}).setdefault(TITLES.get(kind, kind), []).append(name.removeprefix(kind))
    every = len(measures.judgments.scales)
    notes = []
    for reason, kinds in reasons.items():
        # Questions are in brackets; if a result is missing for all of several, none is named.
        several = ([kind] if len(questions) >= max(every, 2) else [f"{kind}{question}" for question in questions]
                   for kind, questions in kinds.items())  # fmt: skip
        names = ENGLISH.several([name for group in several for name in group])
        notes.append(f"{names[:1].upper()}{names[1:]}: not measured. {reason}")
    return tuple(notes)


def _notes(part: Measure, questions: set[str]) -> list[str]:
    """The notes of a result, each once, with the questions that it is about unless these are all."""
    questions_of: dict[str, list[str]] = {}
    for note in (note for note in getattr(part.result, "notes", ()) if note.code not in UNTRUSTED):
        about = note.values if isinstance(note, Message) and note.code == "measure.about_question" else {"note": note}
        questions_of.setdefault(str(about["note"]), []).append(about.get("question", ""))
    of_all = {note for note, names in questions_of.items() if "" in names or set(names) == questions}
    return [note if note in of_all else f"{ENGLISH.several(names)}: {note}" for note, names in questions_of.items()]


def _rules(gathered: ReportData) -> tuple[Table, ...]:
    """The comparisons, or the conditions, under each rule, as the buttons on the page show them."""
    outcomes = gathered.outcomes
    if not isinstance(outcomes, Outcomes):
        return ()
    p = {comparison.name: comparison.p for comparison in outcomes.comparisons}
    frame = outcomes.table()
    if any(value is not None for value in p.values()):
        decided = (pl.col("rule") == outcomes.analysed.name) & pl.col("comparison").is_in(list(p))
        numbers = pl.col("comparison").replace_strict(p, default=None, return_dtype=pl.Float64)
        frame = frame.with_columns(p=pl.when(decided).then(numbers))
    sides = {
        comparison.name: f"{comparison.name}: {comparison.first} minus {comparison.second}"
        for comparison in outcomes.comparisons
    }
    frame = frame.with_columns(pl.col("comparison").replace(sides).str.replace(NEGATIVE, "\N{MINUS SIGN}$1"))
    what = {"answer": "answer", "_pair": "pair"}.get(outcomes.factors[0], "condition")
    what = "comparison" if outcomes.comparisons else what
    shares = "percentage points" if outcomes.comparisons else "%"
    points = "natural logarithms of magnitudes" if outcomes.unit in LOG_UNITS else "points of the response scale"
    caption = f"In {shares if outcomes.percent else points}, with 95 % intervals over participants."
    if any(value is not None for value in p.values()):
        planned = all(comparison.planned for comparison in outcomes.comparisons)
        adjusted = "" if planned else ", Holm-adjusted if a factor has several comparisons"
        caption += f" p comes from the mixed model of the participants in the analysis{adjusted}."
    if outcomes.left_out:
        caption += f" The table has the pairs of the figure, {len(outcomes.cells)} of "
        caption += f"{len(outcomes.cells) + outcomes.left_out:,}."
    if outcomes.question:
        caption = f"The question “{outcomes.question}”. {caption}"
    if len(sides) == 1:
        caption = f"{next(iter(sides.values()))}. {caption}"
        frame = frame.drop("comparison")
    headings = {"lower": "from", "upper": "to", "comparison": what}
    digits = dict.fromkeys(("estimate", "lower", "upper"), max(outcomes.digits, 1))
    return (Table("rules", f"{what.capitalize()}s by exclusion rule", frame, caption, headings, digits),)


def _part(part: Measure, gathered: ReportData, measures: Measures, number: int) -> Section:
    """One result: its sentences, figures and tables."""
    key = re.sub(r"[^a-z0-9]+", "-", f"{part.heading} {number}".lower()).strip("-")
    notes = _notes(part, set(measures.judgments.scales))
    tables = part.result.exported()
    names = SHOWN.get(part.name, list(tables))
    if isinstance(part.result, Strengths) and part.result.alike:
        names = []  # Estimates that do not differ have no ranks.
    figures, undrawn = _figures(part, measures, key, tables, gathered)
    if (main := main_numbers(part)) is not None:
        names = names[:1]
        tables = {names[0]: main}
    text = plainly(part, measures, gathered.study) or (sentences(part.result.summary) if main is None else BY_QUESTION)
    turned = _reversed(part.result) if isinstance(part.result, Contrasts) else []
    text = " ".join([text, *turned, *map(str, with_code(getattr(part.result, "notes", ()), *UNTRUSTED))]).strip()
    return Section(
        key, _title(part), (text,),
        tuple(_table(f"{key}-{name}", name, tables[name], part) for name in names if tables[name].height),
        tuple(figures), (*notes, *undrawn),
    )  # fmt: skip


def _title(part: Measure) -> str:
    """The heading of a result in plain words."""
    heading = part.heading.replace(part.name, TITLES.get(part.name, part.name), 1)
    return heading[:1].upper() + heading[1:]


def _table(key: str, name: str, frame: pl.DataFrame, part: Measure) -> Table:
    if name in REPEATED and not any(with_code(part.result.notes, "agreement.unequal")):
        column, end = REPEATED[name]
        frame = frame.filter(~pl.col(column).str.ends_with(end))
    left_out = [column for column in LEFT_OUT if column != "df" or name != "tests"]
    rows = frame.drop([column for column in left_out if column in frame.columns])
    empty = [column for column in rows.columns if rows[column].null_count() == rows.height]
    unnamed = ["question"] if "question" in rows.columns and set(rows["question"].to_list()) <= {"", None} else []
    rows = rows.drop(list(dict.fromkeys([*empty, *unnamed]))).head(MOST_ROWS)
    caption = f"The first {MOST_ROWS} of {frame.height:,} rows." if frame.height > MOST_ROWS else ""
    if isinstance(part.result, Contrasts) and name in PLAIN:
        unit, logs = part.result.unit, ("unit.log_magnitudes", "unit.log_ratios")
        plain = PLAIN[name].format("log " if unit.code in logs else "")
        caption = f"Estimates, SE and intervals are in {unit}; {plain}. {caption}".strip()
    # Conditions keep the names that they have in the file.
    conditions: Sequence[str] = part.result.conditions if isinstance(part.result, Strengths) else ()
    conditions = part.result.factors if isinstance(part.result, Contrasts) else conditions
    return Table(
        key, MEANINGS.get(name, name.capitalize()).split(":")[0].rstrip("."), rows, caption,
        {**{column: column for column in conditions}, **HEADINGS},
        {"variance": 3, "share": 2}, filtered=rows.height > 20,
    )  # fmt: skip


def _reversed(contrasts: Contrasts) -> list[str]:
    """A sentence on each comparison whose plain means differ in the other direction than the model's."""
    if "raw" not in contrasts.differences.columns:
        return []
    opposite = pl.col("estimate").sign() * pl.col("raw").sign() < 0
    rows = contrasts.differences.filter(opposite, pl.col("adjusted") < 1 - contrasts.level).iter_rows(named=True)
    return [
        f"By the model, “{row['first']}” is {'lower' if row['estimate'] < 0 else 'higher'} than “{row['second']}”; by "
        "plain means it is the other way round. The model takes into account which participants and items each "
        "condition has."
        for row in rows
    ]


def _figures(
    part: Measure, measures: Measures, key: str, tables: dict[str, pl.DataFrame], gathered: ReportData
) -> tuple[list[Figure], list[str]]:
    """The figures of a result, and why others could not be drawn."""
    figures: list[Figure] = []
    undrawn: list[str] = []
    alt = sentences(part.result.summary)
    if isinstance(part.result, Strengths):
        if not part.result.alike:
            figures.append(ranking_figure(f"{key}-strengths", part.result, shown_sentences(gathered), alt))
        return figures, undrawn
    for name, draw in figures_of(part.result).items() if part.name not in UNDRAWN else ():
        data = tables.get(name, next(iter(tables.values())))
        try:
            if isinstance(part.result, OrderEffects):
                figures.append(course_figure(f"{key}-{name}", part.result, alt, data))
            else:
                figures.append(report_figure(f"{key}-{name}", draw(measures), alt, "", data))
        except MeasureError as error:
            undrawn.append(f"A figure is not shown. {error}")
    return figures, undrawn
