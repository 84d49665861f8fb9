"""Answers and response times along the questionnaire: means of stretches of trials, by condition.

Positions are cut into stretches with about equally many answers. In each, a participant's answers of a condition are
averaged first, so that the intervals (Student's) are over participants. Times are averaged as logarithms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karat.figures import figure, log_seconds, say
from karat.measure.contrasts.figure import COLOURS, MARKERS, name_lines
from karat.measure.errors import MeasureError
from karat.messages import Message
from karat.models.means import mean_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from karat.measure.contrasts.order_effects import OrderEffects

STRETCHES = 6
SHIFT = 0.008
"""How far apart the points of conditions stand, as a share of the axis."""


def order_figure(found: OrderEffects) -> Figure:
    """Draw the answers, and the times beside them where there are any.

    >>> import karat
    >>> from karat.measure.contrasts.order_effects import order_effects
    >>> drawn = order_figure(order_effects(karat.datasets.load("likert"), by="order"))
    >>> [axes.get_ylabel() for axes in drawn.axes]
    ['mean answer, with 95 % intervals', 'response time (s), with 95 % intervals']
    """
    conditions = found.frame["condition"].unique(maintain_order=True).to_list()
    if len(conditions) > len(COLOURS):
        raise MeasureError(Message("order.too_many_conditions", {"n": len(conditions)}))
    measures = found.frame["measure"].unique(maintain_order=True).to_list()
    with figure(16 if len(measures) > 1 else 12, 8) as drawn:
        all_axes = np.atleast_1d(drawn.subplots(1, len(measures)))
        for axes, measure in zip(all_axes, measures, strict=True):
            _panel(axes, found, measure, conditions)
        say(drawn, _finding(found, measures[0]))
    return drawn


def stretches(found: OrderEffects, measure: str) -> pl.DataFrame:
    """condition, place (mean position), mean, lower, upper and participants, for each stretch of trials.

    >>> import karat
    >>> from karat.measure.contrasts.order_effects import order_effects
    >>> cut = stretches(order_effects(karat.datasets.load("likert"), by=[]), "response")
    >>> cut.columns, cut.height
    (['condition', 'place', 'mean', 'lower', 'upper', 'participants'], 6)
    """
    value = pl.col("rt").log() if measure == "rt" else pl.col("value")
    rows = found.answers.with_columns(_drawn=value).filter(pl.col("_drawn").is_finite(), pl.col("trial").is_not_null())
    edges = np.unique(np.quantile(rows["trial"].to_numpy(), np.linspace(0, 1, STRETCHES + 1)[1:-1]))
    rows = rows.with_columns(_stretch=np.searchsorted(edges, rows["trial"].to_numpy(), side="left"))
    own = rows.group_by("condition", "_stretch", "participant").agg(pl.col("_drawn", "trial").mean())
    told = []
    for (condition, _), part in own.sort("condition", "_stretch", "participant").group_by(
        "condition", "_stretch", maintain_order=True
    ):
        told.append(
            (condition, part["trial"].mean(), *mean_interval(part["_drawn"].to_numpy(), found.level), part.height)
        )
    names = ["condition", "place", "mean", "lower", "upper", "participants"]
    cut = pl.DataFrame(told, schema=names, orient="row")
    return cut.with_columns(pl.col("mean", "lower", "upper").exp()) if measure == "rt" else cut


def _panel(axes: Axes, found: OrderEffects, measure: str, conditions: list[str]) -> None:
    cut = stretches(found, measure)
    width = SHIFT * (float(cut["place"].max()) - float(cut["place"].min()))  # type: ignore[arg-type]
    ends = []
    for number, condition in enumerate(conditions):
        part = cut.filter(pl.col("condition") == condition)
        x = part["place"].to_numpy() + (number - (len(conditions) - 1) / 2) * width
        axes.vlines(x, part["lower"].to_numpy(), part["upper"].to_numpy(), color=COLOURS[number], linewidth=0.8)
        axes.plot(x, part["mean"].to_numpy(), color=COLOURS[number], marker=MARKERS[number], markersize=4)
        # A condition may have answers and no times.
        ends.append(float(part["mean"][-1]) if part.height else np.nan)
    interval = f", with {100 * found.level:.0f} % intervals"
    axes.set_xlabel("position in the questionnaire")
    if measure == "rt":
        log_seconds(axes, "y", f"response time (s){interval}")
    else:
        axes.set_ylabel(f"mean answer{interval}")
        if len(conditions) > 1:
            name_lines(axes, float(cut["place"].max()), ends, conditions)  # type: ignore[arg-type]


def _finding(found: OrderEffects, measure: str) -> str:
    rows = found.frame.filter(pl.col("measure") == measure)
    changed = rows.filter(pl.col("adjusted") < 1 - found.level)
    what = "Answers" if measure == "response" else "Response times"
    if not changed.height:
        return f"{what} are not shown to change along the questionnaire"
    if rows.height == 1:
        return f"{what} {'rise' if changed['slope'].item() > 0 else 'fall'} along the questionnaire"
    parts = [f"{row['condition']} {'rises' if row['slope'] > 0 else 'falls'}" for row in changed.to_dicts()]
    return f"{what} change along the questionnaire: {', '.join(parts)}"
