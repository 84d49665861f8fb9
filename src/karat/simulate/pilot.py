"""What a pilot says of a contrast: its size on the scale, and how much participants and items differ.

The answers of the pilot are fitted by the mixed model of `analysis`. Its standard deviations are those of few people
and items; and an effect that was found because it was large in the pilot will be smaller next time (type M error).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from karat.judgments import Judgments
from karat.judgments.scales import Choice, Continuous, Magnitude, Scale
from karat.messages import Message
from karat.simulate.analysis import EFFECT, INTERCEPT, fit_normal
from karat.simulate.draw import Normal
from karat.simulate.layout import SimulationLayout, orientation, side_of
from karat.simulate.marked import SimulateError
from karat.simulate.scale_answers import levels_of
from karat.study.plan import Block
from karat.study.settings import ContrastSettings
from karat.types import Floats


@dataclass(frozen=True)
class Pilot:
    """The effect of a pilot in steps of the scale, its standard error, and the standard deviations."""

    effect: float
    standard_error: float
    model: Normal
    notes: tuple[Message, ...]


def read_pilot(judgments: Judgments, contrast: ContrastSettings, block: Block, layout: SimulationLayout) -> Pilot:
    """The contrast in the judgments of a pilot with the columns of the study."""
    frame = judgments.frame.filter(pl.col("function") == "test", pl.col("response").is_not_null())
    if "block" in frame.columns and block.name in frame["block"].unique().to_list():
        frame = frame.filter(pl.col("block") == block.name)
    needed = ["left", "right"] if layout.compared else [contrast.factor]
    lacking = [name for name in (*needed, *contrast.within) if name not in frame.columns]
    if lacking:
        values = {"column": lacking[0], "contrast": contrast.name}
        raise SimulateError(Message("pilot.no_column", values))
    x = side_of(frame, contrast, block.settings)
    y = _numbers(frame, block.scale)
    if isinstance(block.scale, Choice):
        compared = block.settings.compared
        turned = x if layout.compared or compared is None else orientation(
            frame, *block.settings.factors[compared].levels[:2]
        )  # fmt: skip
        y, x = y * turned, np.abs(x) if layout.compared else x * turned
    kept = (x != 0) & np.isfinite(y)
    people, things = frame["participant"].to_numpy()[kept], frame["item"].to_numpy()[kept]
    if len(np.unique(people)) < 3 or len(np.unique(things)) < 3:
        raise SimulateError(Message("pilot.too_small", {"n": int(kept.sum()), "contrast": contrast.name}))
    codes = [np.unique(values, return_inverse=True)[1] for values in (people, things)]
    fit = fit_normal(y[kept], x[kept], codes[0], codes[1], layout.compared)
    deviations = {
        group: dict(zip(fit.random_names[group], np.sqrt(np.diag(fit.covariances[group])), strict=True))
        for group in ("participant", "item")
    }
    own = {group: 0.0 if layout.compared else float(deviations[group][INTERCEPT]) for group in deviations}
    slopes = {
        group: float(found.get(INTERCEPT if layout.compared else EFFECT, 0.0)) for group, found in deviations.items()
    }
    residual = float(np.sqrt(fit.residual_variance))
    model = Normal(own["participant"], own["item"], slopes["participant"], slopes["item"], residual)
    notes = [Message("pilot.singular")] if fit.singular else []
    return Pilot(float(fit.coefficients[-1]), float(fit.standard_errors[-1]), model, tuple(notes))


def _numbers(frame: pl.DataFrame, scale: Scale) -> Floats:
    """Answers as `draw.numeric` has them."""
    response = pl.col("response")
    if isinstance(scale, Magnitude):
        found = frame.select(response.cast(pl.Float64, strict=False).log()).to_series()
    elif isinstance(scale, Continuous):
        found = frame.select(response.cast(pl.Float64, strict=False)).to_series()
    else:
        levels = levels_of(scale)
        values = {level: float(place) for place, level in enumerate(levels)}
        if isinstance(scale, Choice):
            values = {"left": 1.0, "right": -1.0, "none": 0.0}
        elif scale.kind == "nominal":
            values = {level: float(level == levels[0]) for level in levels}
        found = frame.select(response.replace_strict(values, default=None, return_dtype=pl.Float64)).to_series()
        if "polarity" in frame.columns and scale.kind == "ordinal":
            mirrored = (frame["polarity"].fill_null(1) == -1).to_numpy()
            numbers = found.fill_null(np.nan).to_numpy()
            return np.where(mirrored, len(levels) - 1 - numbers, numbers)
    return found.fill_null(np.nan).to_numpy()
