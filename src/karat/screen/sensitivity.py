"""Sensitivity and bias of yes/no answers to controls (`karat.models.proportions`), as evidence only.

Hits and false alarms are the answers yes - the second level of the scale - where yes is right and where it is not. A
count of right answers does not separate participants who do not know from those who always say yes; these two do.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from karat.judgments.scales import Binary, Scale
from karat.messages import Message
from karat.screen.evidence import Evidence

COUNTS = ("hits", "yes_trials", "false_alarms", "no_trials")


def with_sensitivity(evidence: Evidence, scales: Mapping[str, Scale]) -> Evidence:
    """The evidence with hits, false alarms, d' and c of each participant, where there are answers of yes and no.

    A note says for how many they are not defined.
    """
    from karat.models.proportions import sensitivity

    counts = None if evidence.trials is None else yes_no_counts(evidence.trials, scales)
    if counts is None or not counts.height:
        return evidence
    d_prime, criterion = sensitivity(*(counts[name].to_numpy() for name in COUNTS))
    table = counts.with_columns(
        pl.Series("d_prime", d_prime).fill_nan(None), pl.Series("criterion_c", criterion).fill_nan(None)
    )
    notes = (*evidence.notes, *undefined_note(table["d_prime"].null_count(), table.height))
    people = evidence.participants.join(table, on="participant", how="left", maintain_order="left")
    return Evidence(people, evidence.criterion, notes=notes, trials=evidence.trials)


def undefined_note(undefined: int, people: int) -> list[Message]:
    """For how many of those who answered with yes or no d' and c are not defined, where there are any.

    >>> undefined_note(0, 40)
    []
    """
    return [Message("sensitivity.undefined", {"undefined": undefined, "participants": people})] if undefined else []


def yes_no_counts(trials: pl.DataFrame, scales: Mapping[str, Scale]) -> pl.DataFrame:
    """How often each participant answered yes where it is right and where it is not, and of how many answers.

    `trials` has participant, question, response and expected. Trials without an answer are left out, and so are
    questions that are not answered with yes or no.

    >>> trials = pl.DataFrame({"participant": ["p1"] * 4, "question": [""] * 4, "expected": ["1", "1", "0", "0"],
    ...                        "response": ["1", "1", "1", "0"]})
    >>> yes_no_counts(trials, {"": Binary()}).row(0)
    ('p1', 2, 2, 1, 2)
    """
    binary = {question: scale for question, scale in scales.items() if isinstance(scale, Binary)}
    rows = trials.with_columns(pl.col("question").fill_null("")).filter(
        pl.col("question").is_in(list(binary)), pl.col("response").is_not_null()
    )
    # A cell expected may spell the answer as 1 or true, whatever the levels are called.
    right = [
        (question, text, binary[question].levels[1], binary[question].expected(text))
        for question, text in rows.select("question", "expected").unique(maintain_order=True).iter_rows()
    ]
    spelled = [(question, text, yes, yes in answers) for question, text, yes, answers in right if len(answers) == 1]
    schema = {"question": pl.String, "expected": pl.String, "yes": pl.String, "positive": pl.Boolean}
    known = rows.join(pl.DataFrame(spelled, schema=schema, orient="row"), on=["question", "expected"])
    said_yes, positive = pl.col("response") == pl.col("yes"), pl.col("positive")
    return known.group_by("participant", maintain_order=True).agg(
        (said_yes & positive).sum().cast(pl.Int64).alias("hits"),
        positive.sum().cast(pl.Int64).alias("yes_trials"),
        (said_yes & ~positive).sum().cast(pl.Int64).alias("false_alarms"),
        (~positive).sum().cast(pl.Int64).alias("no_trials"),
    )
