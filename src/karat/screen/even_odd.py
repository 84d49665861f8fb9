"""Even-odd consistency: whose answers to two halves of the same kind of question do not go together.

The answers of a participant are divided into groups that ask for the same thing. Within each group the answers are
halved, first, third, fifth, ... against second, fourth, ... as the participant saw them; with the means a_g and b_g of
the halves of group g,

    r = correlation of a_g and b_g over the groups,   score = 2 r / (1 + r)

(Jackson 1976; Johnson 2005; Meade and Craig 2012), corrected for the halved length after Spearman and Brown, and cut
at -1, below which the correction has no meaning. Somebody who does not look at what is asked has a score about 0,
whatever answers they like best. This holds for halves by order of presentation: halves by columns of a file would be
different items for everybody in a randomised questionnaire.

The index was made for questionnaires of several scales with several items each. What corresponds to a scale in a
study of judgments is a cell of the design: the groups are question, function, status and the condition columns taken
together. A column that would leave hardly two answers a group (under 1.5 on average), such as the text of the sentence,
is no condition here. Practice is left out. At least three groups with two answers or more are needed; with few groups
the score varies much by chance. The usual cutoff of 0 is cautious: somebody who guesses is below it every second time;
in questionnaires .3 is common too. Where the design's cells do not differ in what people answer, nobody can be
consistent in this sense: look at the scores of all first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from karat.columns import nearest
from karat.errors import counted
from karat.judgments import Judgments
from karat.screen.answer_table import (
    SHARED,
    conditions,
    correlation_text,
    correlations,
    evidence_table,
    numbered,
    ordered_answers,
    owners,
    without_score,
)
from karat.screen.evidence import Evidence, ScreenError, everybody
from karat.screen.presentation import BY_ROWS, order_notes

AT_LEAST = 0.0
FEWEST_GROUPS = 3
FEWEST_ANSWERS = 2
CLEAR = 0.5
"""Under such a score of the median participant, the groups do not ask for clearly different answers."""


def even_odd(judgments: Judgments, at_least: float = AT_LEAST, groups: Sequence[str] | None = None) -> Evidence:
    """How well two halves of each participant's answers go together; flagged where the score is below `at_least`.

    `groups` names the columns that make the groups, instead of question, function, status and conditions. Further
    columns: correlation (of the halves, before the correction), groups and answers (how many were used).

    >>> import karat
    >>> even_odd(karat.datasets.load("likert"), at_least=0.5).flagged
    ['p06', 'p11', 'p35']
    """
    if not -1 <= at_least <= 1:
        raise ScreenError(f"even_odd: at_least must be a correlation from -1 to 1, got {at_least}.")
    rows, notes = ordered_answers(judgments, "even_odd")
    columns, said = _groups(rows, groups)
    people = everybody(judgments)
    halves = _halves(rows, columns)
    owner = owners(people, halves)
    counts = np.bincount(owner, minlength=people.height)
    if counts.max() < FEWEST_GROUPS:
        raise ScreenError(
            f"even_odd needs {FEWEST_GROUPS} groups with two answers or more, and nobody has more than "
            f"{counts.max()} ({', '.join(columns)}). Say groups=[...] if other columns tell apart what is asked."
        )
    found = correlations(owner, halves["odd"].to_numpy(), halves["even"].to_numpy(), people.height)
    answers = np.bincount(owner, halves["answers"].to_numpy(), people.height).astype(np.int64)
    told = []
    names = people["participant"].to_list()
    for name, r, count, used in zip(names, found.tolist(), counts.tolist(), answers.tolist(), strict=True):
        score, reason = None, _why_not(count)
        if count >= FEWEST_GROUPS and r == r:
            score = max(-1.0, 2 * r / (1 + r)) if r > -1 else -1.0
            shown = correlation_text(score, at_least)
            reason = f"two halves of the answers correlate by {shown} (corrected; {count} groups, {used} answers)"
        raw = r if score is not None else None
        told.append((name, score, at_least, score is not None and score < at_least, reason, raw, count, used))
    table = evidence_table(told, {"correlation": pl.Float64, "groups": pl.Int64, "answers": pl.Int64})
    middle = table["score"].median()
    if isinstance(middle, float) and middle < CLEAR:
        said.append(
            f"The median score is {correlation_text(middle, CLEAR)}: these groups hardly differ in what people answer, "
            "so that a low score says little about a person. Say groups=[...] if other columns tell apart what is "
            "asked."
        )
    order = order_notes(rows.columns)
    split = "rows" if BY_ROWS in order else "presentation"
    settings = {"at_least": at_least, "groups": columns, "split": split}
    return Evidence(table, "even_odd", settings, (*notes, *said, *order, *without_score(table)))


def _why_not(count: int) -> str:
    if count < FEWEST_GROUPS:
        return f"not computed: {counted(count, 'group')} with two answers or more, {FEWEST_GROUPS} are needed"
    return f"not computed: the means of a half are the same in all {count} groups"


def _groups(rows: pl.DataFrame, stated: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """The columns that make the groups, and what is said about them."""
    if stated is not None:
        for name in stated:
            if name not in rows.columns or name in ("_value", "participant"):
                close = nearest(name, [column for column in rows.columns if column != "_value"])
                raise ScreenError(
                    f"even_odd: there is no column {name} to make groups of"
                    + (f"; is {close} meant?" if close else ".")
                )
        if not stated:
            raise ScreenError("even_odd: groups names no column; leave it out, or name for example status.")
        return list(dict.fromkeys(stated)), []
    columns: list[str] = [name for name in ("question", "function", "status") if name in rows.columns]
    refused = []
    for name in conditions(rows):
        if rows.height >= SHARED * rows.select("participant", *columns, name).n_unique():
            columns.append(name)
        else:
            refused.append(name)
    notes = [f"The groups are those of {', '.join(columns)}."]
    if refused:
        notes.append(f"{', '.join(refused)} left out of the groups, which would have hardly two answers with it.")
    return columns, notes


def _halves(rows: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    """The means of both halves of each participant's groups, in the order of presentation."""
    keys = ["participant", *columns]
    # Names of columns may be anything, so that the groups get a number first.
    grouped = rows.select("participant", "_value", _group=numbered(rows, keys))
    later = pl.int_range(pl.len()).over("_group") % 2 == 1
    return (
        grouped.with_columns(_later=later)
        .group_by("participant", "_group", maintain_order=True)
        .agg(
            odd=pl.col("_value").filter(~pl.col("_later")).mean(),
            even=pl.col("_value").filter(pl.col("_later")).mean(),
            answers=pl.len().cast(pl.Int64),
        )
        .filter(pl.col("answers") >= FEWEST_ANSWERS)
    )
