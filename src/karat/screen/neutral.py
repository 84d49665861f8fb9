"""The share of neutral answers to controls, and how many of them are tolerated.

The neutral point is the one that the scale names, else the middle of an odd number of points; "no difference" in
choices. An even number of points has none. It decides nothing about a clear case, so the paper allows a largest share
of controls that are answered with it (Pieper, Börner and Kiss, section 5.2.2).
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from karat.judgments import Judgments
from karat.judgments.scales import Choice, Ordinal, Scale
from karat.messages import Message
from karat.screen.evidence import Evidence, ScreenError
from karat.study.guessing import as_fraction


def neutral_point(scale: Scale) -> str | None:
    """The answer of a scale that means neither, or None.

    >>> neutral_point(Ordinal(5)), neutral_point(Ordinal(6)), neutral_point(Choice(none=True))
    ('3', None, 'none')
    """
    if isinstance(scale, Choice):
        return "none" if scale.none else None
    if not isinstance(scale, Ordinal):
        return None
    middle = scale.levels[len(scale.levels) // 2] if len(scale.levels) % 2 else None
    return middle if scale.neutral is None else scale.neutral


def unnamed_middle(scales: Iterable[Scale]) -> list[Message]:
    """The note that the middle of a scale is taken for its neutral point, where it names none.

    >>> unnamed_middle([Ordinal(5)]), unnamed_middle([Ordinal(5, neutral=3), Ordinal(6)])
    ([Message('neutral.middle', {'points': ['3']})], [])
    """
    unnamed = [scale for scale in scales if isinstance(scale, Ordinal) and scale.neutral is None]
    middles = sorted({point for scale in unnamed if (point := neutral_point(scale)) is not None})
    return [Message("neutral.middle", {"points": middles})] if middles else []


def check_share(at_most: float) -> None:
    """Whether a share of neutral answers can be used; ScreenError says why not.

    >>> check_share(0.25)
    """
    if isinstance(at_most, bool) or not 0 <= at_most <= 1:
        raise ScreenError(Message("neutral.bad_share", {"value": at_most}))


def with_neutral_share(evidence: Evidence, judgments: Judgments, at_most: float | None) -> Evidence:
    """The evidence with the share of neutral answers among the answers that could be neutral.

    Where `at_most` is stated, participants with a larger share are flagged too, and the reason says so.
    """
    if evidence.trials is None:
        return evidence
    questions = evidence.trials["question"].fill_null("").unique().to_list()
    points = {question: neutral_point(judgments.scales[question]) for question in questions}
    neutral = {question: point for question, point in points.items() if point is not None}
    asked = pl.col("question").fill_null("")
    answers = evidence.trials.filter(pl.col("response").is_not_null(), asked.is_in(list(neutral)))
    point = asked.replace_strict(neutral, return_dtype=pl.String, default=None)
    counts = answers.group_by("participant").agg(
        (pl.col("response") == point).sum().cast(pl.Int64).alias("neutral"), pl.len().cast(pl.Int64).alias("answers")
    )
    table = evidence.participants.join(counts, on="participant", how="left", maintain_order="left")
    table = table.with_columns(neutral_share=pl.col("neutral") / pl.col("answers"))
    notes = list(evidence.notes)
    if at_most is not None:
        notes += _notes(judgments, points)
        # Whole numbers are compared, so that a share on the limit is not lost to rounding.
        limit = as_fraction(float(at_most), "neutral_at_most")
        over = pl.col("neutral") * limit.denominator > pl.col("answers") * limit.numerator
        told = {
            "neutral": pl.col("neutral"),
            "answers": pl.col("answers"),
            "neutral_at_most": pl.when(pl.col("answers").is_not_null()).then(pl.lit(float(at_most))),
        }
        table = table.with_columns(
            flagged=pl.col("flagged") | over.fill_null(False), values=pl.col("values").struct.with_fields(**told)
        )
    return Evidence(table.drop("neutral", "answers"), evidence.criterion, notes=tuple(notes), trials=evidence.trials)


def _notes(judgments: Judgments, points: dict[str, str | None]) -> list[Message]:
    if not any(points.values()):
        return [Message("neutral.no_point")]
    notes = [Message("neutral.guessing_at_most")]
    return notes + unnamed_middle([judgments.scales[question] for question in points])
