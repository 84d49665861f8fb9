"""The Spammer Index as workers are added who answer in a known way: how much it would say of them in this crowd.

The answers at hand are taken as they are, and workers of one kind are added until they are a given share of everybody
(Ba, Mancenido, Chiou and Pan, figure 2; drawn by `karat.plots.crowd.index_plot`). The index rises most with
workers who keep to one choice, since these differ most in how often they give each answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from karat.judgments import Judgments
from karat.judgments.scales import Binary, Nominal, Ordinal
from karat.messages import Message
from karat.screen.crowd.answers import crowd
from karat.screen.crowd.spammer_index import spammer_index
from karat.screen.evidence import ScreenError
from karat.simulate import draw_tasks, worker_answers

SHARES = (0.0, 0.1, 0.2, 0.3)
ADDED = ("primary choice", "repeated pattern", "random guessing")


def index_by_share(
    judgments: Judgments,
    added: Mapping[str, Judgments] | None = None,
    shares: Sequence[float] = SHARES,
    seed: int = 1,
) -> pl.DataFrame:
    """The Spammer Index when workers of each kind are added until they are such shares of everybody.

    `added` has workers of each kind, who judged the same items, and the first of them are taken; without it, workers
    who keep to one choice, repeat a pattern or guess are simulated. Columns: kind, share (of added workers), added,
    value, lower, upper.

    >>> import karat
    >>> found = index_by_share(karat.simulate.crowd(30, 24), shares=[0, 0.2])
    >>> found.filter(pl.col("share") > 0).select("kind", "added").row(0)
    ('primary choice', 8)
    """
    if not shares or not all(0 <= share < 1 for share in shares):
        raise ScreenError(Message("index_by_share.shares"))
    people = judgments.frame["participant"].n_unique()
    wanted = [round(people * share / (1 - share)) for share in shares]
    if added is None:
        judgments = _plain(judgments)
        added = {kind: _simulated(judgments, kind, max(wanted), seed) for kind in ADDED}
    rows = []
    alone = spammer_index(judgments) if 0 in wanted else None
    for kind, pool in added.items():
        names = pool.frame["participant"].unique(maintain_order=True)
        if len(names) < max(wanted) or names.is_in(judgments.frame["participant"].unique().to_list()).any():
            values = {"needed": max(wanted), "kind": kind, "known": len(names)}
            raise ScreenError(Message("index_by_share.too_few", values))
        for number in wanted:
            found = (
                alone if number == 0 and alone is not None else spammer_index(_with(judgments, pool, names[:number]))
            )
            rows.append((kind, number / (people + number), number, found.value, found.lower, found.upper))
    schema = {"kind": pl.String, "share": pl.Float64, "added": pl.Int64, "value": pl.Float64, "lower": pl.Float64,
              "upper": pl.Float64}  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def _with(judgments: Judgments, pool: Judgments, names: pl.Series) -> Judgments:
    more = pool.frame.filter(pl.col("participant").is_in(names.to_list()))
    return Judgments(pl.concat([judgments.frame, more], how="diagonal_relaxed"), judgments.scales)


def _plain(judgments: Judgments) -> Judgments:
    """The answers of a crowd by the numbers of tasks and categories, whatever they were called."""
    answers = crowd(judgments, "index_by_share")
    names = [str(code) for code in range(int(answers.response.max()) + 1)]
    scale: Binary | Ordinal | Nominal = Nominal(names)
    if answers.family == "ordinal":
        scale = Ordinal(names)
    elif answers.family == "binary":
        low, high = np.unique(answers.response)
        scale = Binary((str(low), str(high)))
    frame = answers.rows.select(
        "participant",
        pl.col("_stimulus").cast(pl.String).alias("item"),
        pl.col("_code").cast(pl.String).alias("response"),
    )
    return Judgments(frame, scale)


def _simulated(judgments: Judgments, kind: str, workers: int, seed: int) -> Judgments:
    """Workers of a kind who answer every item of plain judgments once."""
    items = judgments.frame["item"].unique(maintain_order=True)
    (scale,) = judgments.scales.values()
    levels = pl.Series(getattr(scale, "levels", ()))
    # They do not look at the tasks: only how many there are matters.
    tasks = draw_tasks(len(items), len(levels), seed=seed)
    codes = worker_answers(kind, max(workers, 1), tasks, seed=seed)
    who = np.repeat(np.arange(len(codes)), len(items))
    frame = pl.DataFrame({
        "participant": pl.Series([f"added {number}" for number in range(1, len(codes) + 1)]).gather(who),
        "item": items.gather(np.tile(np.arange(len(items)), len(codes))),
        "response": levels.gather(codes.ravel().astype(np.int64)),
    })  # fmt: skip
    return Judgments(frame, judgments.scales)
