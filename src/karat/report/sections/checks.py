"""Attention trials and control sentences: how many participants answered how many of them right, beside guessing."""

from __future__ import annotations

import polars as pl

from karat.judgments import Judgments
from karat.messages import Message, NotComputed
from karat.report.build import ReportData
from karat.report.figures import report_figure, sentences
from karat.report.quality_figures import performance_figure, shares_right
from karat.screen.evidence import Evidence
from karat.section import Figure, Section


def attention(gathered: ReportData) -> Section | NotComputed:
    """Attention trials.

    >>> import karat
    >>> from karat.report.build import NOT_COMPUTED, ReportData
    >>> screening = karat.screen.run(karat.datasets.load("likert"), {"attention": {}})
    >>> attention(ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED, dict(screening.evidence))).paragraphs[0]
    '9 of 48 participants flagged.'
    """
    return _checked(gathered, "attention", "attention trials", "Attention trials")


def controls(gathered: ReportData) -> Section | NotComputed:
    """Control sentences.

    >>> import karat
    >>> from karat.report.build import NOT_COMPUTED, ReportData
    >>> screening = karat.screen.run(karat.datasets.load("crowd"), {"completion": {}})
    >>> controls(ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED)).code
    'report.not_computed'
    """
    return _checked(gathered, "controls", "control sentences", "Control sentences")


def _checked(gathered: ReportData, name: str, what: str, title: str) -> Section | NotComputed:
    found = gathered.evidence(name)
    if isinstance(found, NotComputed):
        return found
    data = shares_right(found)
    if data is not None and not data.height:
        return NotComputed("report.no_scores")
    guess = found.participants["guess_probability"].max() if "guess_probability" in found.participants.columns else None
    texts = [sentences(found.summary)]
    if isinstance(guess, float):
        texts.append(str(Message("report.guessing_passes", {"p": guess})))
    figures: tuple[Figure, ...] = ()
    if data is not None:
        chances = chances_of(found, gathered.judgments)
        caption = "Hatched: flagged." + (" Dotted: what guessing gives on average." if chances else "")
        figures = (report_figure(name, performance_figure(found, data, what, chances), texts[0], caption, data),)
    return Section(name, title, tuple(texts), figures=figures, notes=tuple(map(str, found.notes)))


def chances_of(evidence: Evidence, judgments: Judgments) -> list[float]:
    """The chance of a right answer by guessing, of each trial; none where right answers are not single ones.

    >>> import karat
    >>> likert = karat.datasets.load("likert")
    >>> set(chances_of(karat.screen.attention(likert), likert))
    {0.4}
    """
    trials = evidence.trials
    if trials is None or "expected" not in trials.columns:
        return []
    questions = pl.col("question").fill_null("") if "question" in trials.columns else pl.lit("").alias("question")
    kinds = trials.select(questions, "expected").drop_nulls().group_by("question", "expected").len()
    found = []
    for question, expected, number in kinds.iter_rows():
        scale = judgments.scales.get(question) or next(iter(judgments.scales.values()))
        found += [float(scale.chance(expected))] * number
    return found
