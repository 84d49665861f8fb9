"""Inconsistency: who answered the same question differently when it came again.

Repetitions are answers of one participant to the same item in the same condition and, where there are several, the same
question: repeated adjective pairs of a semantic differential, or items that come again in any task or session. Answers
are aligned first: a question shown the other way round (polarity -1) is reversed, a choice counts as the item chosen,
not as its side. With x and y running over all M pairs of answers to the same question, the score is

    sqrt(1/M sum (x - y)^2)   in scale steps;

on nominal scales and in choices a pair differs by 0 or 1, on magnitudes the logarithms are compared. Flagged is a score
above median + `upper` MAD of all participants' scores, MAD = 1.4826 median |score - median|.

Macketanz et al. use an inconsistency score on repeated adjective pairs and cite Naderi (2018) for it, without a formula
or a cutoff: the formula and the rule here are karat's reading of it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from pydantic import Field

from karat.judgments import Judgments
from karat.judgments.answer_codes import answered, by_scale, is_ordered, position, width
from karat.judgments.scales import Choice, Scale
from karat.judgments.stimuli import Stimuli
from karat.messages import Message
from karat.models.robust import MAD_CONSTANT
from karat.screen.evidence import Evidence, ScreenError, everybody
from karat.screen.one_part import AnyParts, Found, OnePart
from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out
from karat.types import Floats

UPPER = 2.5
REPEATED = {
    "participant": pl.String, "comparisons": pl.Int64, "equal": pl.Int64, "squares": pl.Float64, "_scale": pl.Int64,
}  # fmt: skip


class InconsistencySettings(CriterionSettings):
    """Who answered repeated questions differently."""

    upper: float = Field(UPPER, gt=0, description="MADs above the median from which a score is flagged.")


def inconsistency(judgments: Judgments, upper: float = UPPER) -> Evidence:
    """How far each participant's answers to repeated questions lie apart, and whose lie apart unusually far.

    Further columns: repeated (how many questions came again), comparisons (pairs of answers) and identical (the share
    of pairs without a difference).

    >>> import karat
    >>> twice = {"participant": ["p1"] * 4, "item": ["a", "a", "b", "b"], "response": [5, 1, 2, 4],
    ...          "trial": [1, 2, 3, 4], "polarity": [1, -1, 1, 1]}
    >>> inconsistency(karat.Judgments(twice, karat.Ordinal(5))).participants["values"][0]
    {'questions': 2, 'difference': 1.41, 'comparisons': 2}
    """
    return over_parts(OnePart(judgments), upper)


def over_parts(parts: AnyParts[Found], upper: float = UPPER) -> Found:
    """The same of judgments in parts: the median and the deviation are those of everybody's scores."""
    if not upper > 0:
        raise ScreenError(Message("inconsistency.upper", {"upper": upper}))
    scales = list(dict.fromkeys(parts.scales.values()))
    kept, widths = parts.keep("inconsistency", _gather, (parts.stimuli(), scales))
    widest: dict[Scale, float] = {}
    for own in widths:
        for scale, most in own.items():
            widest[scale] = max(most, widest.get(scale, 0.0))
    if not widest:
        raise ScreenError(Message("inconsistency.no_repeats"))
    scores = np.concatenate(kept.map(_scores, (scales, widest)))
    middle = float(np.median(scores))
    deviation = MAD_CONSTANT * float(np.median(np.abs(scores - middle)))
    settings = {"upper": upper, "mad_constant": MAD_CONSTANT, "median": middle, "mad": deviation}
    notes = _notes(len(widest), len(scores), middle, deviation)
    return kept.judge(_judge, (scales, widest, middle + upper * deviation), settings, notes)


def _gather(
    judgments: Judgments, shared: tuple[Mapping[bool, Stimuli], list[Scale]], number: int
) -> tuple[pl.DataFrame, dict[Scale, float]]:
    """Everybody's repeated questions, each with the number of its scale, and the greatest mean difference on each.

    Who repeated no question has one row without values.
    """
    stimuli, scales = shared
    found = repeated_questions(judgments.with_stimuli(stimuli))
    tables = [own.with_columns(_scale=pl.lit(scales.index(scale), pl.Int64)) for scale, own in found.items()]
    repeated = pl.concat([pl.DataFrame(schema=REPEATED), *tables])
    table = everybody(judgments).join(repeated, on="participant", how="left", maintain_order="left_right")
    return table, {scale: _widest(own) for scale, own in found.items()}


def _per_person(table: pl.DataFrame, scales: list[Scale], widest: Mapping[Scale, float]) -> pl.DataFrame:
    """The score of everybody who answered a question again, in shares of the scales' widths where there are several.

    `widest` has every scale on which anybody repeated a question, and the greatest mean difference on it.
    """
    repeated = table.drop_nulls("_scale")
    if len(widest) > 1:
        units = {scales.index(scale): _unit(scale, most) ** 2 for scale, most in widest.items()}
        unit = pl.col("_scale").replace_strict(units, return_dtype=pl.Float64)
        repeated = repeated.with_columns(pl.col("squares") / unit)
    return repeated.group_by("participant").agg(
        pl.len().cast(pl.Int64).alias("repeated"), pl.col("comparisons").sum(),
        (pl.col("equal").sum() / pl.col("comparisons").sum()).alias("identical"),
        # Differences that are only rounding would make a deviation of 0 a tiny one.
        (pl.col("squares").sum() / pl.col("comparisons").sum()).sqrt().round(12).alias("score"),
    )  # fmt: skip


def _scores(table: pl.DataFrame, shared: tuple[list[Scale], Mapping[Scale, float]]) -> Floats:
    return _per_person(table, *shared)["score"].to_numpy()


def _judge(table: pl.DataFrame, shared: tuple[list[Scale], Mapping[Scale, float], float]) -> pl.DataFrame:
    """The table of participants, given the cutoff."""
    scales, widest, threshold = shared
    apart = pl.lit("inconsistency.widths") if len(widest) > 1 else pl.lit("inconsistency.steps")
    people = table.select(pl.col("participant").unique(maintain_order=True))
    found = people.join(_per_person(table, scales, widest), on="participant", how="left", maintain_order="left")
    message = pl.when(pl.col("score").is_not_null()).then(apart).otherwise(pl.lit("inconsistency.once"))
    values = pl.struct(questions="repeated", difference=pl.col("score").round(2), comparisons="comparisons")
    return found.select(
        "participant", "score", pl.lit(threshold).alias("threshold"),
        (pl.col("score") > threshold).fill_null(False).alias("flagged"),
        message.alias("message"), values.alias("values"),
        pl.col("repeated", "comparisons").fill_null(0), "identical",
    )  # fmt: skip


def repeated_questions(judgments: Judgments) -> dict[Scale, pl.DataFrame]:
    """The repeated questions on each scale that has any."""
    scales = by_scale(judgments, answered(judgments))
    return {
        scale: repeated
        for scale, rows in scales
        if (repeated := _repeated(scale, rows, judgments.stimuli(scale))).height
    }


def _notes(scales: int, scores: int, middle: float, deviation: float) -> tuple[Message, ...]:
    """Notes on the unit of the scores and on the cutoff."""
    notes = []
    if scales > 1:
        notes.append(Message("inconsistency.several_scales"))
    if deviation == 0:
        notes.append(Message("inconsistency.no_deviation", {"scores": scores, "median": middle}))
    return tuple(notes)


def _repeated(scale: Scale, rows: pl.DataFrame, stimuli: Stimuli) -> pl.DataFrame:
    """The questions that a participant answered more than once, with the sum of squared differences of all pairs."""
    # An item in another condition is another stimulus.
    rows = rows.with_columns(_stimulus=stimuli.number(rows))
    keys = ["participant", "_stimulus"]
    value = position(scale, aligned="polarity" in rows.columns)
    if isinstance(scale, Choice) and {"left", "right"} <= set(rows.columns):
        side, here = pl.col("response"), pl.col("left").is_not_null() & pl.col("right").is_not_null()
        chosen = pl.when(side == "left").then("left").when(side == "right").then("right").otherwise(side)
        value = pl.when(here).then(chosen).otherwise(value.cast(pl.String))
    groups = rows.select(*keys, value.alias("value")).filter(pl.len().over(keys) > 1)
    same = groups.group_by(*keys, "value").len("times").group_by(keys).agg(
        (pl.col("times").cast(pl.Int64) * (pl.col("times").cast(pl.Int64) - 1) // 2).sum().alias("equal"),
        pl.col("times").cast(pl.Int64).sum().alias("answers"),
    ).with_columns(comparisons=pl.col("answers") * (pl.col("answers") - 1) // 2)  # fmt: skip
    if is_ordered(scale):
        # The squared differences of all pairs of m answers sum to m times their squared deviations from the mean.
        spread = groups.group_by(keys).agg((pl.col("value").var(ddof=0) * pl.len() ** 2).alias("squares"))
        same = same.join(spread, on=keys, nulls_equal=True)
    else:
        same = same.with_columns(squares=(pl.col("comparisons") - pl.col("equal")).cast(pl.Float64))
    return same.select("participant", "comparisons", "equal", "squares")


def _widest(repeated: pl.DataFrame) -> float:
    """The greatest mean difference that anybody has in a question."""
    widest = (repeated["squares"] / repeated["comparisons"]).sqrt().max()
    return float(widest) if isinstance(widest, float) else 0.0


def _unit(scale: Scale, widest: float) -> float:
    """The width of a scale; without ends, the greatest mean difference there is."""
    whole = width(scale)
    return whole if whole is not None else widest if widest > 0 else 1.0


CRITERION = Criterion(
    name="inconsistency",
    title="Repeated questions",
    asks="who answered repeated questions differently",
    settings=InconsistencySettings,
    computed_by=inconsistency,
    needs_repeated_questions=True,
    in_parts=over_parts,
    cites=("macketanz2022",),
    alternatives=(
        Alternative("2.5 MADs", {"upper": 2.5}, "usual"),
        Alternative("3 MADs", {"upper": 3.0}, "lenient"),
        left_out(),
    ),
)
