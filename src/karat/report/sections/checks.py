"""Attention trials and control sentences: how many participants answered how many of them right, beside guessing."""

from __future__ import annotations

import polars as pl

from karat.judgments import Judgments
from karat.report.drawn import drawn, told
from karat.report.gather import Gathered
from karat.report.quality_figures import performance_figure, shares_right
from karat.screen.evidence import Evidence
from karat.section import Figure, Section


def attention(gathered: Gathered) -> Section | str:
    """Attention trials.

    >>> import karat
    >>> from karat.report.gather import Gathered
    >>> screening = karat.screen.run(karat.datasets.load("likert"), {"attention": {}})
    >>> attention(Gathered(screening, None, "", "", dict(screening.evidence))).paragraphs[0]
    '9 of 48 participants flagged.'
    """
    return _checked(gathered, "attention", "attention trials", "Attention trials")


def controls(gathered: Gathered) -> Section | str:
    """Control sentences.

    >>> import karat
    >>> from karat.report.gather import Gathered
    >>> screening = karat.screen.run(karat.datasets.load("crowd"), {"completion": {}})
    >>> controls(Gathered(screening, None, "", "", {"controls": "There are no control trials."}))
    'There are no control trials.'
    """
    return _checked(gathered, "controls", "control sentences", "Control sentences")


def _checked(gathered: Gathered, name: str, what: str, title: str) -> Section | str:
    found = gathered.evidence(name)
    if isinstance(found, str):
        return found
    data = shares_right(found)
    if data is not None and not data.height:
        return "Nobody has a score."
    guess = found.participants["guess_probability"].max() if "guess_probability" in found.participants.columns else None
    texts = [told(found)]
    if isinstance(guess, float):
        texts.append(f"Somebody who guesses passes with a probability of {_at_most(guess)}.")
    figures: tuple[Figure, ...] = ()
    if data is not None:
        chances = chances_of(found, gathered.judgments)
        caption = "Hatched: flagged." + (" Dotted: what guessing gives on average." if chances else "")
        figures = (drawn(name, performance_figure(found, data, what, chances), told(found), caption, data),)
    return Section(name, title, tuple(texts), figures=figures, notes=found.notes)


def _at_most(p: float) -> str:
    return f"at most {p:.3f}".replace(" 0.", " .") if p >= 0.001 else "less than .001"


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
