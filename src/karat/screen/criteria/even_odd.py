"""Even-odd consistency: participants whose answers to two halves of the same kind of question do not agree.

The answers of a participant are divided into groups of questions of the same kind. Within each group, the first, third,
fifth, ... answer that the participant gave make one half, and the second, fourth, ... the other. With the means a_g and
b_g of the halves of group g,

    r = correlation of a_g and b_g over the groups,   score = 2 r / (1 + r)

(Jackson 1976; Johnson 2005; Meade and Craig 2012). The score corrects for the halved length (Spearman and Brown), and
is cut at -1, below which the correction has no meaning. Answers that do not depend on the questions have a score near
0, whatever their distribution. This holds for halves by order of presentation; in a randomised questionnaire, halves
by columns of a file would be different items for everybody.

The index was made for questionnaires of several scales with several items each. In a study of judgments, a cell of
the design corresponds to a scale: the groups are question, function, status and the condition columns together. A
column that would leave fewer than 1.5 answers per group on average, such as the sentence, is no condition here.
Practice is left out. At least three groups with two answers or more are needed; with so few, the score varies much by
chance.

The usual cutoff of 0 is cautious, because half of all guessers are above it; questionnaires often use .3. If groups
are few or alike, attentive participants are below it too. Participants are therefore flagged only if their answers
also agree with the others' neither above chance (p < .05) nor nearly as much as usual. If agreement cannot be
computed, nobody is flagged. If people answer all cells of the design alike, nobody can be consistent in this sense,
so look at the distribution of scores first.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from pydantic import Field

from karat.judgments import Judgments
from karat.judgments.columns import unknown_name
from karat.judgments.stimuli import SHARED, numbered
from karat.judgments.trial_order import check_order, order_messages
from karat.messages import Message
from karat.screen.evidence import (
    Evidence,
    ScreenError,
    check_settings,
    correlations,
    everybody,
    ordered_answers,
    owners,
    round_beside,
    verdicts,
    without_score,
)
from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out
from karat.types import Floats, Ints

AT_LEAST = 0.0
FEWEST_GROUPS = 3
FEWEST_ANSWERS = 2
CLEAR = 0.5
"""If the median score is below this, the groups do not get clearly different answers."""


class EvenOddSettings(CriterionSettings):
    """Settings for flagging answers that disagree between two halves of the same questions."""

    at_least: float = Field(AT_LEAST, ge=-1, le=1, description="The correlation of both halves that is required.")
    groups: list[str] | None = Field(
        None,
        description="The columns that distinguish what is asked; by default question, function, status, conditions.",
    )


def even_odd(judgments: Judgments, at_least: float = AT_LEAST, groups: Sequence[str] | None = None) -> Evidence:
    """The agreement of two halves of each participant's answers; flagged if the score is below `at_least`.

    `groups` names the columns that make the groups, instead of question, function, status and conditions. Further
    columns: correlation (of the halves, before the correction), groups and answers (how many were used).

    >>> import karat
    >>> even_odd(karat.datasets.load("likert"), at_least=0.5).flagged
    ['p06', 'p11', 'p35']
    """
    check_settings(EvenOddSettings, at_least=at_least)
    check_order(judgments.frame.columns, ScreenError, "even_odd")
    rows, notes = ordered_answers(judgments, "even_odd")
    columns, on_groups = _groups(rows, groups, judgments.stimuli().design)
    people = everybody(judgments)
    halves = _halves(rows, columns)
    owner = owners(people, halves)
    counts = np.bincount(owner, minlength=people.height)
    if counts.max() < FEWEST_GROUPS:
        few = {"fewest": FEWEST_GROUPS, "most": int(counts.max()), "columns": columns}
        raise ScreenError(Message("even_odd.few_groups", few))
    r = correlations(owner, halves["odd"].to_numpy(), halves["even"].to_numpy(), people.height)
    answers = np.bincount(owner, halves["answers"].to_numpy(), people.height).astype(np.int64)
    table = _verdicts(people, r, counts, answers, at_least, judgments)
    settings = {"at_least": at_least, "groups": columns, "split": "presentation"}
    middle = table.select(round_beside(pl.col("score").median(), pl.lit(CLEAR))).item()
    low = [Message("even_odd.low_median", {"median": middle})] if middle is not None and middle < CLEAR else []
    every = (*notes, *on_groups, *low, *order_messages(rows.columns), *without_score(table))
    return Evidence(table, "even_odd", settings, every)


def _verdicts(
    people: pl.DataFrame, correlation: Floats, counts: Ints, answers: Ints, at_least: float, judgments: Judgments
) -> pl.DataFrame:
    """The table of participants with their verdicts; participants who agree with the others are not flagged."""
    from karat.screen.credence_model import who_disagree

    r, enough = pl.col("correlation"), pl.col("groups") >= FEWEST_GROUPS
    table = people.with_columns(correlation=pl.Series(correlation).fill_nan(None), groups=counts, answers=answers)
    table = table.with_columns(correlation=pl.when(enough).then(r)).with_columns(
        score=pl.when(r > -1).then((2 * r / (1 + r)).clip(-1.0)).when(r.is_not_null()).then(-1.0),
        message=pl.when(~enough).then(pl.lit("even_odd.few"))
        .when(r.is_null()).then(pl.lit("even_odd.same")).otherwise(pl.lit("even_odd.correlation")),
    )  # fmt: skip
    low = (pl.col("score") < at_least).fill_null(False)
    apart = who_disagree(judgments) if table.filter(low).height else []
    spared = low & ~pl.col("participant").is_in(apart)
    values = {
        "score": round_beside(pl.col("score"), pl.lit(at_least)), "groups": "groups",
        "answers": pl.when(r.is_not_null()).then("answers"),
        "fewest": pl.when(~enough).then(pl.lit(FEWEST_GROUPS, pl.Int64)),
    }  # fmt: skip
    message = pl.when(spared).then(pl.lit("even_odd.agrees")).otherwise("message")
    return verdicts(table, "score", at_least, low & ~spared, message, values, "correlation", "groups", "answers")


def _groups(rows: pl.DataFrame, names: Sequence[str] | None, design: Sequence[str]) -> tuple[list[str], list[Message]]:
    """The columns that define the groups, and notes about them."""
    if names is not None:
        for name in names:
            if name not in rows.columns or name in ("_value", "participant"):
                allowed = [column for column in rows.columns if column != "_value"]
                raise ScreenError(unknown_name("even_odd.unknown_group", name, allowed))
        if not names:
            raise ScreenError(Message("even_odd.empty_groups"))
        return list(dict.fromkeys(names)), []
    columns: list[str] = [name for name in ("question", "function", "status") if name in rows.columns]
    refused = []
    for name in [name for name in rows.columns if name in design]:
        if rows.height >= SHARED * rows.select("participant", *columns, name).n_unique():
            columns.append(name)
        else:
            refused.append(name)
    notes = [Message("even_odd.groups", {"columns": columns})]
    if refused:
        notes.append(Message("even_odd.left_out", {"columns": refused}))
    return columns, notes


def _halves(rows: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    """The means of both halves of each participant's groups, in the order of presentation."""
    keys = ["participant", *columns]
    # Columns may have any name, so groups are numbered first.
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


CRITERION = Criterion(
    name="even_odd",
    title="Even-odd consistency",
    asks="whose answers to two halves of the questions do not go together",
    settings=EvenOddSettings,
    computed_by=even_odd,
    cites=("johnson2005", "meade2012"),
    alternatives=(
        Alternative("r >= 0", {"at_least": 0.0}, "usual"),
        Alternative("r >= .3", {"at_least": 0.3}, "strict"),
        left_out(),
    ),
)
