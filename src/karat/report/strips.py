"""Strips: the times and the answers of one participant, each as a picture of a line's height.

Times are ticks on a logarithmic axis that is the same for everybody; those that ReMFOD found are drawn in another
colour and longer. Answers are bars in the order of trials, as high as the answer stands on its scale; a missing answer
is a gap. A strip is one or two paths, so that a thousand of them stay small.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import polars as pl

from karat.judgments import Judgments
from karat.judgments.answer_codes import by_scale, position
from karat.judgments.trial_order import presented, with_positions
from karat.screen.evidence import Evidence

WIDTH, HEIGHT = 160, 18
MOST = 160
"""So many answers have a bar each; of more, evenly spaced ones are drawn."""


def rt_strips(judgments: Judgments, participants: Sequence[str], remfod: Evidence | None) -> tuple[str, ...]:
    """The times of each participant; empty where there are none.

    >>> import karat
    >>> rt_strips(karat.datasets.load("likert"), ["p01"], None)[0][:54]
    '<svg class="strip" viewBox="0 0 160 18" aria-hidden="t'
    """
    frame = judgments.frame
    if "rt" not in frame.columns:
        return tuple("" for _ in participants)
    rows = with_positions(frame).filter(pl.col("rt") > 0, pl.col("function") != "practice")
    if not rows.height:
        return tuple("" for _ in participants)
    low, high = (math.log(float(rows["rt"].quantile(share) or 1.0)) for share in (0.001, 0.999))
    rows = rows.with_columns(outlying=_outlying(rows, remfod))
    place = ((pl.col("rt").log() - low) / max(high - low, 1e-9)).clip(0, 1) * (WIDTH - 2) + 1
    rows = rows.select("participant", "outlying", place.round(0).cast(pl.Int64).alias("x")).unique(maintain_order=True)
    genuine, found = (
        dict(rows.filter(pl.col("outlying") == which).group_by("participant").agg(pl.col("x").sort()).iter_rows())
        for which in (False, True)
    )
    drawn = {who: _ticks("k", genuine.get(who, []), 10) + _ticks("f", found.get(who, []), 16) for who in participants}
    return tuple(_svg(drawn[who]) if drawn[who] else "" for who in participants)


def answer_strips(judgments: Judgments, participants: Sequence[str]) -> tuple[str, ...]:
    """The answers of each participant in their order.

    >>> import karat
    >>> answer_strips(karat.datasets.load("crowd"), ["w001"])[0].count("M")
    80
    """
    parts = []
    # Trials count anew in each session, so that their numbers alone would mix the sessions.
    frame = presented(judgments.frame.filter(pl.col("function") != "practice")).with_row_index("_shown")
    for scale, rows in by_scale(judgments, frame):
        placed = rows.select("participant", "_shown", position(scale).alias("place"))
        low, high = placed["place"].min(), placed["place"].max()
        if hasattr(scale, "levels"):
            low, high = 0.0, float(max(len(scale.levels) - 1, 1))
        span = max(float(high or 0.0) - float(low or 0.0), 1e-9)  # type: ignore[arg-type]
        parts.append(placed.with_columns(height=(pl.col("place") - float(low or 0.0)) / span * (HEIGHT - 4) + 3))  # type: ignore[arg-type]
    if not parts:
        return tuple("" for _ in participants)
    table = pl.concat(parts).sort("_shown")
    heights = dict(table.group_by("participant", maintain_order=True).agg("height").iter_rows())
    return tuple(_answers(heights.get(who, [])) for who in participants)


def _answers(heights: list[float | None]) -> str:
    if not heights:
        return ""
    step = -(-len(heights) // MOST)
    shown = heights[::step]
    width = WIDTH / len(shown)
    bars = (f"M{_short((n + 0.5) * width)} {HEIGHT}v-{h:.0f}" for n, h in enumerate(shown) if h is not None)
    return _svg(_path("k", bars, max(width * 0.7, 0.6)))


def _outlying(rows: pl.DataFrame, remfod: Evidence | None) -> pl.Series:
    """Whether ReMFOD found a trial, as far as it looked at it."""
    if remfod is None or remfod.trials is None:
        return pl.repeat(False, rows.height, eager=True)
    keys = [name for name in ("participant", "session", "trial", "question") if name in remfod.trials.columns]
    found = remfod.trials.select(keys).unique().with_columns(found=True)
    joined = rows.select(keys).join(found, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return joined["found"].fill_null(False)


def _ticks(kind: str, places: list[int], height: int) -> str:
    return _path(kind, (f"M{x} {(HEIGHT - height) // 2}v{height}" for x in places))


def _path(kind: str, steps: Iterable[str], width: float = 1.0) -> str:
    drawn = "".join(steps)
    return f'<path class="{kind}" d="{drawn}" stroke-width="{_short(width)}"/>' if drawn else ""


def _svg(*paths: str) -> str:
    return f'<svg class="strip" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">{"".join(paths)}</svg>'


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
