"""Data quality: the crowd as a whole, response times, sequences of answers, attention and control trials, criteria."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
import polars as pl

from karat.errors import counted
from karat.judgments import Judgments
from karat.measure.result import schema_of
from karat.messages import Message, NotComputed
from karat.report.build import NOT_COMPUTED, ReportData, trusted
from karat.report.course_figures import densities_figure, rows_figure
from karat.report.figures import credence_figure, performance_figure, report_figure, sentences, shares_right
from karat.report.sections.brief import ENGLISH, quality_sentence
from karat.screen.criteria.remfod import Remfod
from karat.screen.criteria.speed import SECONDS
from karat.screen.crowd import SUSPICIOUS
from karat.screen.crowd.spammer_index import SpammerIndex
from karat.screen.evidence import Evidence
from karat.section import Figure, Section, Table, with_shared_notes
from karat.study.criteria import CRITERIA, title_of

SOURCES = {
    "workers": "participants", "tasks": "items", "workers:time": "participants:time", "tasks:time": "items:time",
}  # fmt: skip
"""Sources of variance, named as everywhere else on the page."""
SHORT = 90
"""The most letters of a remark in a cell."""
MOST_DRAWN = 2000
"""The most participants whose distances are drawn."""


def section(gathered: ReportData) -> Section:
    """Everything on data quality, with a note on each part that could not be computed."""
    sections: list[Section] = []
    parts: tuple[tuple[str, Any, Callable[[Any], Section | NotComputed]], ...] = (
        ("Spammer Index", gathered.index, partial(_index, gathered)),
        ("Credence", gathered.evidence("credence"), _credence),
        ("Response times", gathered.evidence("remfod"), times_section),
        *((title, gathered.evidence(name), partial(checked, gathered, name, title))
          for name, title in (("attention", "Attention trials"), ("controls", "Control sentences"))),
        ("Transitions between answers", _of(gathered, "markov"), _transitions),
        (title_of("deletion"), _of(gathered, "deletion"), _deviance),
        ("Criteria", sections, partial(_criteria, gathered)),
    )  # fmt: skip
    notes = []
    for title, what, part in parts:
        result = what if isinstance(what, NotComputed) else part(what)
        if isinstance(result, NotComputed):
            unasked = result == NOT_COMPUTED and part in (_transitions, _deviance)
            notes += [] if unasked else [f"{title}: not shown. {result}"]
        else:
            sections.append(result)
    for name, evidence in gathered.screening.evidence.items():
        if any(evidence.flagged) and not gathered.counts(name, evidence):
            flagged, people = len(evidence.flagged), counted(evidence.participants.height, "participant")
            notes.append(f"{title_of(name)} flags {flagged:,} of {people}, too many to go by, and is not counted.")
    table = look_table(gathered)
    text = (look_sentence(gathered),) if table.height else ()
    table = table if gathered.deciding else table.drop("role")
    tables = [Table("look", "Participants by criterion", table, headings={
        "participants": "looked at", "alone": "by no other"})] if table.height else []  # fmt: skip
    several = flags_table(gathered)
    if several.height > 1:
        tables.append(Table("flags", "Participants by number of flags", several, AT_RANDOM, digits={"at random": 1}))
    whole = Section(
        "quality", "What the criteria flag", text, tuple(tables), notes=tuple(notes), sections=tuple(sections)
    )
    return with_shared_notes(whole)


def looked_at(gathered: ReportData) -> dict[str, Evidence]:
    """The evidence whose flags count, by criterion: first that of the rules, then that for information."""
    evidence = dict(gathered.screening.evidence)
    evidence |= {
        name: result
        for name, result in gathered.described.items()
        if isinstance(result, Evidence) and name not in evidence
    }
    return {name: result for name, result in evidence.items() if gathered.counts(name, result)}


def look_table(gathered: ReportData) -> pl.DataFrame:
    """One row per criterion: its role, and the participants it looked at, flagged, and flagged alone."""
    evidence, deciding = looked_at(gathered), gathered.deciding
    flagged = {name: set(result.flagged) for name, result in evidence.items()}
    rows = []
    for name, result in evidence.items():
        others = set().union(*(who for other, who in flagged.items() if other != name))
        role = "decides" if name in deciding else "for information"
        rows.append((title_of(name), role, result.participants.height, len(flagged[name]), len(flagged[name] - others)))
    schema = schema_of("criterion:s role:s participants:i flagged:i alone:i")
    return pl.DataFrame(rows, schema=schema, orient="row")


AT_RANDOM = (
    "At random: how many there would be if each criterion flagged as many participants, regardless of who they are. "
    "Criteria of the same evidence, such as two of response times, flag the same participants more often in any case."
)


def flags_table(gathered: ReportData) -> pl.DataFrame:
    """The number of participants with at least so many flags, and the number expected at random.

    At random, each criterion flags the same share of the participants that it looked at.
    """
    evidence = looked_at(gathered)
    flags = Counter(name for result in evidence.values() for name in result.flagged)
    shares: dict[str, list[float]] = {}
    for result in evidence.values():
        for name in result.participants["participant"]:
            shares.setdefault(name, []).append(len(result.flagged) / result.participants.height)
    expected = np.zeros(len(evidence) + 1)
    for risks, participants in Counter(map(tuple, shares.values())).items():
        numbers = reduce(np.convolve, ([1 - share, share] for share in risks), np.ones(1))
        expected[: numbers.size] += participants * numbers
    rows = [
        (f"{least} or more", sum(number >= least for number in flags.values()), float(expected[least:].sum()))
        for least in range(1, max(flags.values(), default=0) + 1)
    ]
    schema = {"flags": pl.String, "participants": pl.Int64, "at random": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


FAST = 0.5
"""The share of the overall median, besides the criterion's seconds, below which a median response time is too fast."""


def look_counts(gathered: ReportData) -> dict[str, Any]:
    """The participants flagged by any criterion, by several and by the rule, and those who are always fast.

    ReMFOD compares each response time with the participant's own, so it accepts participants who are always fast. It
    does not flag `fast` of them; the criterion speed flags `speed` of these (null if it did not run).
    """
    numbers = {flags: {"participants": observed, "at_random": expected}
               for flags, observed, expected in flags_table(gathered).iter_rows()}  # fmt: skip
    none = {"participants": 0, "at_random": 0.0}
    counts: dict[str, Any] = {
        "participants": gathered.judgments.participants.height, "excluded": len(gathered.screening.excluded),
        "criteria": len(looked_at(gathered)), "flagged": numbers.get("1 or more", none)["participants"],
        "several": numbers.get("2 or more", none)["participants"], "flags": numbers,
    }  # fmt: skip
    remfod, speed, frame = gathered.evidence("remfod"), gathered.evidence("speed"), gathered.judgments.frame
    if not isinstance(remfod, Evidence) or "rt" not in frame.columns:
        return counts
    timed = frame.filter(pl.col("rt") > 0, pl.col("function") != "practice")
    medians = timed.group_by("participant").agg(pl.col("rt").median())
    usual = medians["rt"].median()
    if not isinstance(usual, float):
        return counts
    fast = pl.col("rt") < min(FAST * usual, SECONDS)
    missed = medians.filter(fast, ~pl.col("participant").is_in(list(remfod.flagged)))
    fast_people = set(missed["participant"].to_list())
    by_speed = len(fast_people & set(speed.flagged)) if isinstance(speed, Evidence) else None
    return counts | {"fast": missed.height, "fastest": missed["rt"].min(), "median": usual, "speed": by_speed}


def look_sentence(gathered: ReportData) -> str:
    """The number of flagged participants, what a flag means, and what the rule decides."""
    counts = look_counts(gathered)
    criteria = counts["criteria"]
    people = counted(counts["participants"], "participant")
    sentences = [f"No criterion flags any of the {people}."]
    if counts["flagged"]:
        sentences = [
            f"{f'At least one of {criteria} criteria' if criteria > 1 else 'The one criterion'} flags "
            f"{counts['flagged']:,} of {people}. A flag is neither a verdict nor an exclusion: every criterion can "
            "flag attentive participants, so the more criteria there are, the more participants have a flag."
        ]
    if gathered.screening.exclude is not None:
        sentences.append(f"The stated rule decides; it excludes {counts['excluded']:,}.")
    elif counts["flagged"]:
        sentences.append("Only a stated rule excludes participants, and there is none.")
    if counts.get("fast"):
        sentences.append(
            f"ReMFOD does not flag {counted(counts['fast'], 'participant')} who answered fast throughout, because it "
            "compares each response time with the participant's own. The fastest of their medians is "
            f"{counts['fastest']:.2f} s; the median of all participants is {counts['median']:.2f} s."
        )
        sentences += [_of_speed(counts["speed"], counts["fast"])] if counts["speed"] is not None else []
    return " ".join(sentences)


def _of_speed(flagged: int, fast: int) -> str:
    """How many of the participants who are always fast the criterion speed flags."""
    if flagged == fast:
        return f"Speed flags {({1: 'this one', 2: 'both'}).get(fast, 'all of them')}."
    return f"Speed flags {f'{flagged:,}' if flagged else 'none'} of them."


def _section(key: str, title: str, texts: Sequence[str], notes: Sequence[Message], *figures: Figure,
             tables: tuple[Table, ...] = ()) -> Section:  # fmt: skip
    return Section(key, title, tuple(texts), tables, figures, notes=tuple(map(str, notes)))


def _index(gathered: ReportData, index: SpammerIndex) -> Section:
    rows = index.variances.with_columns(pl.col("source").replace(SOURCES), pl.col("share") * 100)
    variances = Table(
        "variances", "What the variance is made of", rows, "Variances are on the logit scale of the model.",
        headings={"share": "%"}, digits={"variance": 3, "share": 1},
    )  # fmt: skip
    reading = "It is the share of the variance of answers that lies between participants rather than between items."
    if index.suspicious:
        low = ENGLISH.value(SUSPICIOUS, ".2r")
        reading += f" From {low} on, it is read as the share of participants whose answers deserve a look."
    texts = (quality_sentence(gathered), reading)
    return _section("spammer-index", "Spammer Index", texts, index.notes, tables=(variances,))


def _credence(evidence: Evidence) -> Section:
    columns = [name for name in ("participant", "score", "behaviour", "switch_trial", "flagged")
               if name in evidence.participants.columns]  # fmt: skip
    text = sentences(evidence.summary)
    data = evidence.participants.select(columns)
    figure = credence_figure(evidence, text, "Hatched: flagged.", data)
    how = (
        "Credence joins agreement with the others, controls, the sequence of answers and response times in the "
        "probability that a participant answered attentively throughout."
    )
    return _section("credence", "Credence", (text, how), evidence.notes, figure)


def _of(gathered: ReportData, name: str) -> Evidence | NotComputed:
    """The evidence of a criterion, whether it is in the rules or not, or why there is none."""
    return gathered.screening.evidence.get(name) or gathered.screening.skipped.get(name) or gathered.evidence(name)


def _transitions(evidence: Evidence) -> Section | NotComputed:
    from karat.screen.criteria.markov import Markov

    if not isinstance(evidence, Markov):
        return NOT_COMPUTED
    text, figures = sentences(evidence.summary), []
    if evidence.simulated:
        data = evidence.participants.select("participant", "score", "threshold", "flagged", "kind", "target")
        caption = "A tick below the axis is a participant."
        figures.append(report_figure("markov-distances", evidence.plot(), text, caption, data))
    return _section("transitions", "Transitions between answers", (text,), evidence.notes, *figures)


def _deviance(evidence: Evidence) -> Section | NotComputed:
    from karat.screen.criteria.deletion import Deletion

    if not isinstance(evidence, Deletion):
        return NOT_COMPUTED
    if not trusted(evidence):
        return NotComputed("deletion.flags_most")
    data = evidence.participants.select("participant", "distance", "df", "p_value", "p_simulated", "flagged")
    published = evidence.settings["by"] == "published"
    text, dashed = sentences(evidence.summary), "The dashed line is the published cutoff." * published
    few = evidence.participants.height <= MOST_DRAWN
    figures = [report_figure("deviance", evidence.plot(), text, dashed, data)] if few else []
    how = "The distance of a participant is how much the deviance of the crowd's model falls without their answers."
    return _section("deviance", title_of("deletion"), (text, how), evidence.notes, *figures)


def _criteria(gathered: ReportData, above: list[Section]) -> Section | NotComputed:
    """One row per criterion: the participants it looked at and flagged, its settings, or why it could not run.

    Notes of the sections above are not repeated, and a note of several criteria appears once.
    """
    screening, repeated = gathered.screening, {note for section in above for note in section.notes}
    repeated |= set(map(str, gathered.doubts))
    titles: dict[str, list[str]] = {}
    for name, evidence in screening.evidence.items():
        for note in dict.fromkeys(map(str, evidence.notes)):
            titles.setdefault(note, []).append(title_of(name))
    single = {note for note, names in titles.items() if len(names) == 1} - repeated
    shared = [note for note, names in titles.items() if len(names) > 1 and note not in repeated]
    rows: list[tuple[object, ...]] = [
        (title_of(name), evidence.participants.height,
         len(evidence.flagged) if gathered.counts(name, evidence) else None,
         _settings(evidence), _remarks([str(note) for note in evidence.notes if str(note) in single]))
        for name, evidence in screening.evidence.items()
    ]  # fmt: skip
    rows += [(title_of(name), None, None, "", str(why)) for name, why in screening.skipped.items()]
    if not rows:
        return NotComputed("report.no_criteria")
    schema = schema_of("criterion:s participants:i flagged:i settings:s notes:s")
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    table = Table("criteria", "Settings of each criterion", frame, headings={"participants": "looked at"})
    how = "Each criterion looks at the participants that earlier stages left."
    how += " The stated rule decides who is excluded." * (screening.exclude is not None)
    notes = tuple(f"{ENGLISH.several(titles[note])}: {note}" for note in shared)
    return Section("criteria", "Settings of the criteria", (how,), (table,), notes=notes)


def _settings(evidence: Evidence) -> str:
    """The settings in words; values that a criterion computed have three decimals."""
    fields = CRITERIA[evidence.criterion].settings.model_fields if evidence.criterion in CRITERIA else {}
    return ", ".join(
        f"{name.replace('_', ' ')} {_value(value, rounded=name not in fields)}"
        for name, value in evidence.settings.items()
        if value is not None and value is not False and value not in ({}, [], (), "")
    )


def _value(value: object, *, rounded: bool) -> str:
    if isinstance(value, bool):
        return "yes"
    if isinstance(value, float):
        return f"{value:.3f}" if rounded else f"{value:g}"
    return ENGLISH.value(value)


def _remarks(notes: list[str]) -> str:
    """A short remark as it is; otherwise the number of remarks, and below it the remarks."""
    if len(notes) == 1 and len(notes[0]) <= SHORT:
        return notes[0]
    counted_notes = "1 note" if len(notes) == 1 else f"{len(notes)} notes"
    return "\n".join([counted_notes, *notes]) if notes else ""


def checked(gathered: ReportData, name: str, title: str, found: Evidence) -> Section | NotComputed:
    """The section on right answers to attention trials or control sentences."""
    data = shares_right(found)
    if data is not None and not data.height:
        return NotComputed("report.no_scores")
    guess = found.participants["guess_probability"].max() if "guess_probability" in found.participants.columns else None
    texts = [sentences(found.summary)]
    if isinstance(guess, float):
        texts.append(str(Message("report.guessing_passes", {"p": guess})))
    if data is None:
        return _section(name, title, texts, found.notes)
    chances = chances_of(found, gathered.judgments)
    caption = "Hatched: flagged." + (" Dotted: what guessing gives on average." if chances else "")
    figure = performance_figure(name, found, data, title.lower(), chances, texts[0], caption)
    return _section(name, title, texts, found.notes, figure)


def chances_of(evidence: Evidence, judgments: Judgments) -> list[float]:
    """The chance of a right answer by guessing in each trial; empty if trials have no right answer."""
    trials = evidence.trials
    if trials is None or "expected" not in trials.columns:
        return []
    questions = pl.col("question").fill_null("") if "question" in trials.columns else pl.lit("").alias("question")
    kinds = trials.select(questions, "expected").drop_nulls().group_by("question", "expected").len()
    chances = []
    for question, expected, number in kinds.iter_rows():
        scale = judgments.scales.get(question) or next(iter(judgments.scales.values()))
        chances += [float(scale.chance(expected))] * number
    return chances


MOST_ROWS = 20_000
"""The most times in the table behind a figure; of more it has medians, to keep the page small."""


def times_section(found: Evidence) -> Section | NotComputed:
    """The section on response times, with ReMFOD's cutoffs."""
    if not isinstance(found, Remfod):
        return NOT_COMPUTED
    medians = found.timed.group_by("function").agg(pl.col("rt").median()).sort("rt")
    alt = f"Median response times: {', '.join(f'{name} {median:.1f} s' for name, median in medians.iter_rows())}."
    text = sentences(found.summary)
    everybody = found.participants.select(
        "participant", "trials", "intermissions", "rushes", "genuine_share", "flagged"
    )
    figures = [
        densities_figure(found, alt, "Kernel densities of log times.", _times(found)),
        rows_figure(found, text, "Participants with the smallest shares of genuine trials.", everybody),
    ]
    return _section("times", "Response times", (text,), found.notes, *figures, tables=(_functions(found),))


def _functions(remfod: Remfod) -> Table:
    """Times by item function with the cutoffs of the last round."""
    cutoffs = remfod.cutoffs.filter(pl.col("group") == "function").sort("round").unique("name", keep="last")
    # A cutoff below zero flags no time.
    lower = pl.when(pl.col("lower") > 0).then("lower").alias("lower")
    cutoffs = cutoffs.select(pl.col("name").alias("function"), lower, "upper")
    rows = remfod.timed.group_by("function").agg(
        pl.len().cast(pl.Int64).alias("trials"),
        pl.col("rt").median().alias("median"),
        pl.col("rt").quantile(0.05).alias("from"),
        pl.col("rt").quantile(0.95).alias("to"),
    )
    rows = rows.join(cutoffs, on="function", how="left").sort("median")
    headings = {"median": "median (s)", "from": "5 % (s)", "to": "95 % (s)", "lower": "rush under (s)",
                "upper": "intermission over (s)"}  # fmt: skip
    return Table(
        "times", "Times by item function", rows,
        "A trial counts as outlying only if it also crosses the participant's own cutoff.", headings,
    )  # fmt: skip


def _times(remfod: Remfod) -> pl.DataFrame:
    if remfod.timed.height <= MOST_ROWS:
        return remfod.timed.select("participant", "function", pl.col("rt").round(3))
    return remfod.timed.group_by("participant", "function", maintain_order=True).agg(
        pl.col("rt").median().alias("median")
    )
