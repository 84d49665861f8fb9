"""A small report for tests: some participants of the example data, one with a name that tries to break out."""

from __future__ import annotations

from functools import cache

import polars as pl

import karat
from karat.report.build import NOT_COMPUTED, ReportData, build
from karat.report.outcomes import outcomes
from karat.screen.evidence import Evidence

RULES = {"completion": {}, "remfod": {}, "attention": {}, "exclude": "any"}
HOSTILE = "</script><script>document.title='broken'</script>\"'&"
PEOPLE = 18


@cache
def gathered() -> ReportData:
    """Everything computed for 18 participants, the drop-out and some of those who are flagged among them."""
    likert = karat.datasets.load("likert")
    wanted = ["p31", *(f"p{number:02}" for number in range(4, 4 + PEOPLE - 1))]
    named = pl.col("participant").replace({"p05": HOSTILE})
    frame = likert.frame.filter(pl.col("participant").is_in(wanted)).with_columns(named)
    people = likert.participants.filter(pl.col("participant").is_in(wanted)).with_columns(named)
    # Without the second factor the models of the contrasts are quick.
    judgments = karat.Judgments(frame.drop("integration"), likert.scales, people)
    return build(judgments, rules=RULES, command="karat report small.parquet")


@cache
def page() -> str:
    """The page of it."""
    from karat.report.page import html

    return html(gathered())


@cache
def labelled() -> ReportData:
    """Labels with a key, of some participants."""
    crowd = karat.datasets.load("crowd")
    some = crowd.frame.filter(pl.col("participant").is_in(crowd.participants["participant"].head(PEOPLE).implode()))
    keyed = some.with_columns(expected=pl.col("response").mode().first().over("item"))
    found = karat.screen.run(karat.Judgments(keyed, crowd.scales), {"completion": {}})
    return ReportData(found, None, NOT_COMPUTED, NOT_COMPUTED, outcomes=outcomes(found, None, NOT_COMPUTED))


@cache
def light() -> ReportData:
    """A report with little in it, which is made at once: no measures, no background, two figures."""
    likert = karat.datasets.load("likert")
    judgments = karat.Judgments(likert.frame, likert.scales)
    found = karat.screen.run(judgments, {"completion": {}, "attention": {}})
    described: dict[str, Evidence | str] = {"attention": found.evidence["attention"]}
    return ReportData(found, None, NOT_COMPUTED, NOT_COMPUTED, described, made="2026-03-04")
