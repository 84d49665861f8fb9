"""The difference of two conditions as one number, to see how it changes with the excluded participants.

For each participant i and two levels a and b of a factor, with x the position of an answer on its scale,

    d_i = mean(x of i where the factor is a) - mean(x of i where it is b),     estimate = mean of d_i

over test trials, with Student's 95 % interval over participants. Positions are steps of a rating scale, 1 and 0 for yes
and no, and logarithms of magnitudes. In choices between a and b, x is 1 if a was chosen, -1 if b was, and 0 for no
difference. If participants saw one level each, the estimate is the difference of both groups, with Welch's interval. An
interaction or a weighted contrast is the weighted sum of a participant's means, d_i = sum w mean(x), over participants
who answered in every cell. The number serves to compare screenings and does not replace a model of participants and
items.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import ValidationError

from karat.judgments import Judgments
from karat.judgments.answer_codes import by_scale, is_ordered, position
from karat.judgments.columns import COLUMNS, unknown_name
from karat.judgments.scales import Binary, Choice, Magnitude, Ordinal, Scale
from karat.messages import Message
from karat.models.proportions import Estimate, difference_interval, mean_interval
from karat.screen.evidence import ScreenError
from karat.study.settings import ContrastSettings
from karat.study.study import Study
from karat.types import Floats


@dataclass(frozen=True)
class ScreenedDifference:
    """The contribution of each participant to the difference, in the order of `judgments.participants`."""

    first: Floats
    second: Floats
    name: Message
    unit: Message

    @property
    def between(self) -> bool:
        """Whether participants saw one level each."""
        both = ~np.isnan(self.first) & ~np.isnan(self.second)
        return not both.any()

    def estimate(self, kept: NDArray[np.bool_]) -> Estimate:
        """The difference and its interval for the kept participants; NaN if none contributes."""
        first, second = self.first[kept], self.second[kept]
        if self.between:
            return difference_interval(first[~np.isnan(first)], second[~np.isnan(second)])
        both = first - second
        return mean_interval(both[~np.isnan(both)])


def contrast_of(
    judgments: Judgments, contrast: ContrastSettings | Mapping[str, Any] | None, study: Study | None
) -> ContrastSettings | None:
    """The comparison to follow: the given one, the study's first, or the first design column with two levels."""
    if isinstance(contrast, ContrastSettings):
        return contrast
    if contrast is not None:
        try:
            return ContrastSettings.model_validate({"name": "contrast", **contrast})
        except ValidationError as error:
            problems = [f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()]
            raise ScreenError(Message("difference.contrast", {"problems": problems})) from None
    if study is not None and study.settings.contrast:
        return study.settings.contrast[0]
    factors = [] if study is None else [item for block in study.settings.block for item in block.factors.items()]
    for name, factor in factors:
        if len(factor.levels) == 2:
            return ContrastSettings(name=name, factor=name, levels=factor.levels)
    test = judgments.frame.filter(pl.col("function") == "test")
    for name in test.columns:
        if name not in COLUMNS:
            levels = sorted(test[name].drop_nulls().cast(pl.String).unique().to_list())
            if len(levels) == 2:
                return ContrastSettings(name=name, factor=name, levels=levels)
    return None


def difference(judgments: Judgments, contrast: ContrastSettings) -> ScreenedDifference:
    """The contribution of each participant to a contrast; a `ScreenError` says why it cannot be computed."""
    rows = judgments.frame.filter(pl.col("function") == "test", pl.col("response").is_not_null())
    for name, level in contrast.within.items():
        rows = rows.filter(pl.col(_known(rows, name)).cast(pl.String) == _level(rows, name, level))
    if not contrast.simple:
        return _weighted(judgments, rows, contrast)
    parts = list(by_scale(judgments, rows))
    first, second = contrast.levels
    if parts and all(isinstance(scale, Choice) for scale, _ in parts):
        placed, unit = _chosen(rows, contrast.factor, first, second), Message("difference.choices")
    else:
        placed, unit = _rated(parts, contrast.factor, first, second)
    means = placed.group_by("participant").agg(
        pl.col("x").filter(pl.col("level") == level).mean().alias(key)
        for key, level in (("a", first), ("b", second))
    )  # fmt: skip
    return _of_everybody(judgments, means, contrast, contrast.factor, unit)


def _weighted(judgments: Judgments, rows: pl.DataFrame, contrast: ContrastSettings) -> ScreenedDifference:
    """Each participant's sum over the cells with a positive weight, and over those with a negative one."""
    for name in contrast.own:
        _known(rows, name)
    held = len(contrast.own)
    cells = pl.concat_str([pl.col(name).cast(pl.String) for name in contrast.own], separator="\n")
    weights = {"\n".join(cell[:held]): weight for cell, weight in contrast.cells.items()}
    placed, unit = _rated(list(by_scale(judgments, rows.with_columns(_cell=cells))), "_cell", *weights)
    means = placed.filter(pl.col("level").is_in(list(weights))).group_by("participant", "level").agg(pl.col("x").mean())
    weight = pl.col("level").replace_strict(weights, return_dtype=pl.Float64)
    sides = means.with_columns(_w=weight).group_by("participant").agg(
        pl.len(), *((pl.col("x") * pl.col("_w").abs()).filter(pl.col("_w") * sign > 0).sum().alias(key)
                    for key, sign in (("a", 1), ("b", -1)))
    )  # fmt: skip
    whole = sides.filter(pl.col("len") == len(weights))
    if not whole.height:
        first, second = contrast.sides
        raise ScreenError(Message("difference.no_whole", {"first": first, "second": second}))
    return _of_everybody(judgments, whole, contrast, " × ".join(contrast.own), unit)


def _of_everybody(
    judgments: Judgments, sides: pl.DataFrame, contrast: ContrastSettings, factor: str, unit: Message
) -> ScreenedDifference:
    """The difference, from both sides a and b of the participants who have them."""
    people = judgments.participants.select("participant").join(
        sides, on="participant", how="left", maintain_order="left"
    )
    where = [Message("difference.level", {"name": name, "level": level}) for name, level in contrast.within.items()]
    first, second = contrast.sides
    values = {"factor": factor, "first": first, "second": second, "where": where or None}
    a, b = (people[key].cast(pl.Float64).fill_null(np.nan).to_numpy() for key in ("a", "b"))
    return ScreenedDifference(a, b, Message("difference.name", values), unit)


def _rated(parts: list[tuple[Scale, pl.DataFrame]], factor: str, *levels: str) -> tuple[pl.DataFrame, Message]:
    """The position of every answer on an ordered scale, with its level."""
    ordered = [(scale, rows) for scale, rows in parts if is_ordered(scale)]
    if len(ordered) != 1:
        code = "difference.several_scales" if ordered else "difference.no_order"
        raise ScreenError(Message(code, {"scales": len(ordered)}))
    ((scale, rows),) = ordered
    _known(rows, factor)
    for level in levels:
        _level(rows, factor, level)
    x = position(scale, aligned="polarity" in rows.columns)
    return rows.select("participant", level=pl.col(factor).cast(pl.String), x=x), _unit(scale)


def _unit(scale: Scale) -> Message:
    if isinstance(scale, Binary):
        return Message("difference.share", {"level": scale.levels[1]})
    if isinstance(scale, Ordinal):
        return Message("difference.steps")
    return Message("difference.logarithm" if isinstance(scale, Magnitude) else "difference.points")


def _chosen(rows: pl.DataFrame, factor: str, first: str, second: str) -> pl.DataFrame:
    """For each choice between the two levels, 1, 0 or -1 at the first level and 0 at the second.

    The level of a side is in left_FACTOR and right_FACTOR, or after the name of the item in left and right.
    """
    sides = {}
    for side in ("left", "right"):
        if f"{side}_{factor}" in rows.columns:
            sides[side] = pl.col(f"{side}_{factor}").cast(pl.String)
        elif side in rows.columns:
            named = pl.format("{}.{}", "item", pl.lit(first)), pl.format("{}.{}", "item", pl.lit(second))
            sides[side] = (
                pl.when(pl.col(side) == named[0]).then(pl.lit(first))
                .when(pl.col(side) == named[1]).then(pl.lit(second))
            )  # fmt: skip
    if len(sides) < 2:
        raise ScreenError(Message("difference.no_sides"))
    compared = [pl.col(side).is_in([first, second]) for side in ("_left", "_right")]
    choices = rows.with_columns(_left=sides["left"], _right=sides["right"])
    choices = choices.filter(*compared, pl.col("_left") != pl.col("_right"))
    if not choices.height:
        raise ScreenError(Message("difference.no_choice", {"factor": factor, "first": first, "second": second}))
    chosen = pl.when(pl.col("response") == "left").then("_left").when(pl.col("response") == "right").then("_right")
    x = pl.when(chosen == first).then(1.0).when(chosen == second).then(-1.0).otherwise(0.0)
    at_first = choices.select("participant", level=pl.lit(first), x=x)
    return pl.concat([at_first, at_first.with_columns(level=pl.lit(second), x=pl.lit(0.0))])


def _known(rows: pl.DataFrame, name: str) -> str:
    if name not in rows.columns:
        design = [column for column in rows.columns if column not in COLUMNS]
        raise ScreenError(unknown_name("difference.no_column", name, design))
    return name


def _level(rows: pl.DataFrame, name: str, level: str) -> str:
    levels = sorted(rows[name].drop_nulls().cast(pl.String).unique().to_list())
    if level not in levels:
        raise ScreenError(unknown_name("difference.no_level", level, levels, column=name))
    return level
