"""Answers that follow the consensus more closely than anybody's, and times without the marks of reading."""

import numpy as np
import polars as pl
import pytest

import karat
from karat import Judgments
from karat.screen import ScreenError, credence, too_regular
from messages import raises


def table(people: int = 24, items: int = 80, seed: int = 1) -> pl.DataFrame:
    """People who read: longer items take longer, practice helps, and slow phases last."""
    random = np.random.default_rng(seed)
    length, easy = random.normal(0, 0.35, items), random.permutation(np.linspace(0.1, 0.9, items))
    rows = []
    for person in range(people):
        order, slow = random.permutation(items), 0.0
        for place, item in enumerate(order):
            slow = 0.6 * slow + random.normal(0, 0.15)
            log = 0.7 + length[item] - 0.15 * np.log(place + 1) + slow + random.normal(0, 0.25)
            rows.append(
                (f"p{person:02}", f"i{item:02}", str(int(random.random() < easy[item])), place + 1, np.exp(log))
            )
    return pl.DataFrame(rows, schema=["participant", "item", "response", "trial", "rt"], orient="row")


def judged(frame: pl.DataFrame) -> Judgments:
    return Judgments(frame, karat.Binary(("0", "1")))


def replaced(frame: pl.DataFrame, **columns: pl.Expr) -> pl.DataFrame:
    first = pl.col("participant") == "p00"
    return frame.with_columns(
        pl.when(first).then(new).otherwise(pl.col(name)).alias(name) for name, new in columns.items()
    )


def test_people_are_not_flagged() -> None:
    assert [too_regular(judged(table(seed=seed))).flagged for seed in (1, 2, 3)] == [[], [], []]


def test_times_drawn_at_random_lack_the_marks() -> None:
    random = np.random.default_rng(4)
    frame = table()
    found = too_regular(
        judged(replaced(frame, rt=pl.Series(np.exp(random.normal(0.5, 0.5, frame.height))).to_frame().to_series()))
    )
    row = found.participants.row(0, named=True)
    assert row["marks"] < 0.01
    assert found.flagged == ["p00"]
    assert row["values"]["signs"] == ["sign.marks"]


def test_equal_waits_are_flagged() -> None:
    found = too_regular(judged(replaced(table(), rt=2.0 + pl.col("rt") / 1000)))
    assert found.flagged == ["p00"]
    assert found.participants.row(0, named=True)["spread"] < 1e-3


def test_order_that_is_not_known_says_nothing_of_marks() -> None:
    found = too_regular(judged(table().drop("trial")))
    assert found.participants["marks"].null_count() == 24
    assert found.participants["spread"].null_count() == 0


@pytest.mark.slow
def test_always_the_most_frequent_follows_the_consensus() -> None:
    frame = table(people=60, items=200).drop("rt", "trial")
    mode = pl.col("response").mode().sort().first().over("item")
    found = too_regular(judged(replaced(frame, response=mode)))
    assert found.flagged == ["p00"]
    assert found.notes[0].code == "too_regular.no_times"
    row = credence(judged(replaced(frame, response=mode))).participants.filter(pl.col("participant") == "p00")
    assert row["behaviour"].item() == "follows the consensus closely"
    assert row["score"].item() <= 0.99
    assert not row["flagged"].item()


def test_little_data_give_no_verdict() -> None:
    with raises(ScreenError, "too_regular.little"):
        too_regular(judged(table(people=4)))
