"""The reasons of credence: what was found about a participant's answers, and never about their intentions.

What counted for and against is reported only where the probability is not high: otherwise there is nothing to explain.
"""

from __future__ import annotations

import polars as pl

KINDS = ("agreement", "controls", "sequence", "times")
"""The kinds of evidence that are reported."""
HIGH = 0.95
COUNTS = 0.5
"""The size from which a part of the log odds is reported."""
LEAST, MOST = 0.001, 0.999
"""Smaller and larger probabilities are not written with digits."""


def reasons(groups: int = 1) -> tuple[pl.Expr, pl.Expr]:
    """The message about each participant of a table of credence, and its values.

    >>> found = {"earnest": 0.02, "behaviour": "primary choice", "switch_trial": 41, "switch_from": 38, "switch_to": 44}
    >>> parts = {"agreement": -1.2, "controls": 0.0, "sequence": -6.0, "times": 0.9, "speakers": 1}
    >>> values = pl.DataFrame([found | parts]).select(reasons()[1]).to_series()[0]
    >>> values["probability"], values["against"], values["in_favour"]
    (0.02, ['evidence.sequence', 'evidence.agreement'], ['evidence.times'])
    """
    attentive, switch = pl.col("earnest"), pl.col("switch_trial")
    other = pl.col("behaviour") != "earnest"
    between = other & switch.is_not_null() & (pl.col("switch_from") != pl.col("switch_to"))
    unsure = attentive < HIGH
    values = pl.struct(
        probability=pl.when(attentive.is_between(LEAST, MOST)).then(attentive.round(3)),
        below=pl.when(attentive < LEAST).then(pl.lit(LEAST)),
        above=pl.when(attentive > MOST).then(pl.lit(MOST)),
        behaviour=pl.when(other).then("behaviour"),
        switch=pl.when(other).then(switch),
        switch_from=pl.when(between).then("switch_from"),
        switch_to=pl.when(between).then("switch_to"),
        against=pl.when(unsure).then(_counting(-1)),
        in_favour=pl.when(unsure).then(_counting(1)),
        speakers=pl.when(groups > 1).then(pl.col("speakers").cast(pl.Int64)),
    )
    return pl.lit("credence.probability"), values


def _counting(sign: int) -> pl.Expr:
    """The kinds of evidence that count with this sign, the strongest first; none where there are none."""
    found = pl.concat_list(
        pl.when(sign * pl.col(kind) >= COUNTS).then(
            pl.struct(size=pl.col(kind).abs().neg(), kind=pl.lit(f"evidence.{kind}"))
        )
        for kind in KINDS
    )
    names = found.list.drop_nulls().list.sort().list.eval(pl.element().struct.field("kind"))
    return pl.when(names.list.len() > 0).then(names)
