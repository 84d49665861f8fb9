"""Scale use: participants who mostly chose the neutral answer, and how everybody used the scale.

Participants are flagged if more than `neutral_at_most` of their answers are neutral: "no difference" in choices, or the
middle of a scale with an odd number of points. Nobody is flagged

- for fewer than ten answers;
- for neutral answers that others give too: the number of neutral answers must exceed the sum of the shares of others
  who answered the same stimuli neutrally, in a one-sided test at 1 %;
- whose answers agree with the others' above chance (p < .05, in a test without a model) or not clearly (99 %) less than
  usual. Such participants read the items, and prefer the middle where others commit themselves;
- if most participants do not agree above chance, as with very hard items, because then agreement shows nothing.

Attentive participants use scales differently, so the other columns are for information only:

- points_used: the share of the scale's points used at all;
- commonest and commonest_share: the most frequent answer and its share;
- spread: the standard deviation of the answers, as a share of the scale's width (in numbers or logarithms if the scale
  has no ends);
- skew: the third standardised moment, mean((x - mean)^3) / sd^3; negative if answers are mostly high;
- contrast: the mean answer to items that should be high minus the mean answer to items that should be low;
- compression: the contrast relative to that of the median participant. 1 is usual; near 0, clear cases are hardly
  distinguished.

Items that should be high or low have the status grammatical or ungrammatical, or else an expected answer in the upper
or lower half of the scale. Fillers, controls and other items that are not tested are used, or all items if none of
these is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl
from pydantic import Field

from karat.judgments import Judgments
from karat.judgments.answer_codes import answered, by_scale, is_ordered, position, width
from karat.judgments.scales import Choice, Expected, NumberRange, Ordinal, Scale, as_number
from karat.messages import Message
from karat.screen.evidence import Evidence, ScreenError, check_settings, everybody, verdicts, with_stimuli
from karat.screen.right_answers import neutral_point, unnamed_middle
from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out

if TYPE_CHECKING:
    from karat.study.check.draft import Draft

NEUTRAL_AT_MOST = 0.5
FEWEST, MORE = 10, 2.33
"""The fewest answers to flag anybody, and how many standard errors neutral answers exceed the others' by (p < .01)."""


class ScaleUseSettings(CriterionSettings):
    """Settings for flagging narrow use of the scale."""

    neutral_at_most: float = Field(
        NEUTRAL_AT_MOST, ge=0, le=1, description="The share of neutral answers that is tolerated."
    )


def scale_use(judgments: Judgments, neutral_at_most: float = NEUTRAL_AT_MOST) -> Evidence:
    """The share of neutral answers of each participant, and how the scale was used otherwise. Practice is left out.

    >>> import karat
    >>> evidence = scale_use(karat.datasets.load("likert"))
    >>> evidence.flagged
    []
    """
    from karat.screen.credence_model import AGREEMENT, AGREES, above_chance, few_agree

    check_settings(ScaleUseSettings, neutral_at_most=neutral_at_most)
    rows = answered(judgments)
    if not rows.height:
        raise ScreenError(Message("answering.nobody"))
    parts = list(by_scale(judgments, rows))
    scales = [scale for scale, _ in parts]
    without = [] if any(map(neutral_point, scales)) else [Message("scale_use.no_neutral_point")]
    compression, on_contrast = _compression(parts)
    notes = (*without, *unnamed_middle(scales), *on_contrast)
    table = everybody(judgments)
    for more in (_counts(parts), _beyond_others(judgments, parts), _moments(parts), compression):
        table = table.join(more, on="participant", how="left", maintain_order="left")
    message = (
        pl.when(pl.col("answers").is_null()).then(pl.lit("answering.none"))
        .when(pl.col("neutral_share").is_null()).then(pl.lit("scale_use.commonest"))
        .otherwise(pl.lit("scale_use.neutral"))
    )  # fmt: skip
    with_neutral, above = pl.col("neutral_share").is_not_null(), pl.col("neutral_share") > neutral_at_most
    few = above & (pl.col("could_be_neutral") < FEWEST)
    usual = above & ~few & (pl.col("beyond") < MORE).fill_null(False)
    accused = table.filter(above & ~few & ~usual).height
    agreement = above_chance(judgments) if accused else pl.DataFrame(schema=AGREEMENT)
    table = table.join(agreement, on="participant", how="left", maintain_order="left")
    agrees = above & ~few & ~usual & ((pl.col("above") >= AGREES) | ~pl.col("hardly")).fill_null(False)
    hard = few_agree(agreement)
    notes += (Message("scale_use.hard"),) if hard else ()
    values = {
        "neutral": pl.when(with_neutral).then("neutral"), "answers": pl.when(with_neutral).then("could_be_neutral"),
        "commonest": "commonest", "share": pl.col("commonest_share").round(2),
        "others": pl.when(usual).then(pl.col("others").round(2)),
        "agreement": pl.when(agrees).then(pl.col("above").round(1)), "fewest": pl.when(few).then(pl.lit(FEWEST)),
    }  # fmt: skip
    flagged = above & ~few & ~usual & ~agrees & (not hard)
    participants = verdicts(
        table, "neutral_share", neutral_at_most, flagged, message, values, pl.col("answers").fill_null(0),
        "points_used", "commonest", "commonest_share", "neutral_share", "spread", "skew", "contrast", "compression",
    )  # fmt: skip
    return Evidence(participants, "scale_use", {"neutral_at_most": neutral_at_most}, notes)


def _counts(parts: list[tuple[Scale, pl.DataFrame]]) -> pl.DataFrame:
    """Counts of the answers: points used, commonest answer, neutral answers."""
    tables = []
    for number, (scale, rows) in enumerate(parts):
        levels, neutral = len(scale.levels), neutral_point(scale)
        tables.append(
            rows.group_by("participant", "response", maintain_order=True)
            .agg(pl.len().cast(pl.Int64).alias("times"))
            .with_columns(
                scale=pl.lit(number),
                levels=pl.lit(levels or None, dtype=pl.Int64),
                neutral=pl.lit(None, dtype=pl.Boolean) if neutral is None else pl.col("response") == neutral,
            )
        )
    counts = pl.concat(tables)
    levelled, could = pl.col("levels").is_not_null(), pl.col("neutral").is_not_null()
    offered = pl.struct("scale", "levels").filter(levelled).unique().struct.field("levels").sum()
    per_person = counts.group_by("participant").agg(
        pl.col("times").sum().alias("answers"),
        levelled.sum().cast(pl.Int64).alias("points"),
        offered.alias("offered"),
        pl.col("response").sort_by("times", descending=True, maintain_order=True).first().alias("commonest"),
        (pl.col("times").max() / pl.col("times").sum()).alias("commonest_share"),
        pl.col("times").filter(pl.col("neutral").fill_null(False)).sum().alias("neutral"),
        pl.col("times").filter(could).sum().alias("could_be_neutral"),
    )
    return per_person.with_columns(
        points_used=pl.when(pl.col("offered") > 0).then(pl.col("points") / pl.col("offered")),
        neutral_share=pl.when(pl.col("could_be_neutral") > 0).then(pl.col("neutral") / pl.col("could_be_neutral")),
    ).drop("points", "offered")


def _beyond_others(judgments: Judgments, parts: list[tuple[Scale, pl.DataFrame]]) -> pl.DataFrame:
    """The expected neutral answers, from others to the same stimuli, and by how many standard errors there are more."""
    tables = []
    for scale, rows in parts:
        neutral = neutral_point(scale)
        if neutral is not None:
            answers, _ = with_stimuli(judgments, rows, scale=scale)
            answers = answers.with_columns(neutral=(pl.col("response") == neutral).cast(pl.Int64))
            neutral_others = pl.col("neutral").sum().over("_stimulus") - pl.col("neutral")
            others = pl.len().over("_stimulus") - 1
            answers = answers.select("participant", "neutral", others=others, neutral_others=neutral_others)
            tables.append(answers.filter(pl.col("others") > 0))
    if not tables:
        return pl.DataFrame(schema={"participant": pl.String, "others": pl.Float64, "beyond": pl.Float64})
    # Half an answer of each kind is added to those of the others, because unanimity is no certainty.
    share = (pl.col("neutral_others") + 0.5) / (pl.col("others") + 1)
    return (
        pl.concat(tables)
        .group_by("participant")
        .agg(
            (pl.col("neutral_others") / pl.col("others")).mean().alias("others"),
            ((pl.col("neutral") - share).sum() / (share * (1 - share)).sum().sqrt()).alias("beyond"),
        )
    )


def _moments(parts: list[tuple[Scale, pl.DataFrame]]) -> pl.DataFrame:
    """Spread and skew of the answers on ordered scales, as they were given on the screen."""
    places = [rows.select("participant", x=position(scale) / (width(scale) or 1.0)) for scale, rows in parts
              if is_ordered(scale)]  # fmt: skip
    empty = pl.DataFrame(schema={"participant": pl.String, "x": pl.Float64})
    x = pl.col("x")
    return pl.concat([empty, *places]).group_by("participant").agg(
        x.std().alias("spread"), pl.when(x.n_unique() > 1).then(x.skew()).alias("skew")
    )  # fmt: skip


def _compression(parts: list[tuple[Scale, pl.DataFrame]]) -> tuple[pl.DataFrame, list[Message]]:
    """The contrast of items that should be high and low, relative to the median participant's; and notes."""
    notes = []
    sides = [_sides(scale, rows) for scale, rows in parts if is_ordered(scale)]
    empty = pl.DataFrame(schema={"participant": pl.String, "x": pl.Float64, "high": pl.Boolean, "test": pl.Boolean})
    clear = pl.concat([empty, *sides])
    if clear.height and clear["test"].all():
        notes.append(Message("scale_use.only_test_items"))
    elif clear.height:
        clear = clear.filter(~pl.col("test"))
    x, high = pl.col("x"), pl.col("high")
    contrast = clear.group_by("participant").agg((x.filter(high).mean() - x.filter(~high).mean()).alias("contrast"))
    usual: Any = contrast["contrast"].median()
    if usual is None:
        notes.append(Message("scale_use.no_clear_items"))
    elif usual <= 0:
        notes.append(Message("scale_use.no_contrast"))
    share = pl.col("contrast") / usual if usual is not None and usual > 0 else pl.lit(None, dtype=pl.Float64)
    return contrast.with_columns(compression=share), notes


def _sides(scale: Scale, rows: pl.DataFrame) -> pl.DataFrame:
    """The answers to items that should be rated high or low, as shares of the scale's width, polarity undone."""
    high = pl.lit(None, dtype=pl.Boolean)
    if "expected" in rows.columns:
        texts = rows["expected"].drop_nulls().unique().to_list()
        by_expected = {text: side for text in texts if (side := _upper_half(scale, scale.expected(text))) is not None}
        if by_expected:
            high = pl.col("expected").replace_strict(by_expected, default=None, return_dtype=pl.Boolean)
    if "status" in rows.columns:
        by_status = pl.col("status").replace_strict(
            {"grammatical": True, "ungrammatical": False}, default=None, return_dtype=pl.Boolean
        )
        high = pl.coalesce(by_status, high)
    x = position(scale, aligned="polarity" in rows.columns) / (width(scale) or 1.0)
    sided = rows.select("participant", x=x, high=high, test=pl.col("function") == "test")
    return sided.filter(pl.col("high").is_not_null())


def _upper_half(scale: Scale, expected: Expected) -> bool | None:
    """Whether the middle of the expected answers is in the upper half of the scale; None in its middle or unknown."""
    if isinstance(expected, NumberRange):
        whole, low = width(scale), as_number(str(getattr(scale, "low", "")))
        if whole is None or low is None:
            return None
        middle = ((expected.low + expected.high) / 2 - low) / whole
    else:
        middle = sum(scale.levels.index(level) for level in expected) / len(expected) / (len(scale.levels) - 1)
    return None if middle == 0.5 else middle > 0.5


def _impossible(draft: Draft, settings: ScaleUseSettings) -> Iterator[tuple[str, str]]:
    """The problem that no scale has a neutral answer."""
    if not any(
        (isinstance(scale, Ordinal) and scale.neutral is not None) or (isinstance(scale, Choice) and scale.none)
        for scale in (block.scale for block in draft.study.blocks)
    ):
        yield "scale_use counts neutral answers, and no scale has one.", "Use an odd number of points, or take it out."


CRITERION = Criterion(
    name="scale_use",
    title="Use of the scale",
    asks="who used only a small part of the scale",
    settings=ScaleUseSettings,
    computed_by=scale_use,
    careless=False,
    impossible=_impossible,
    shares=("neutral_at_most",),
    alternatives=(
        Alternative("half neutral", {"neutral_at_most": 0.5}, "usual"),
        Alternative("a third neutral", {"neutral_at_most": 0.33}, "strict"),
        left_out(),
    ),
)
