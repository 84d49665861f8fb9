"""The order of trials: by their positions, else by the times of answers, else by rows."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.judgments.parts import open_parts
from karat.judgments.trial_order import order_messages, presented, with_positions
from karat.messages import Message
from karat.screen.parted import run_in_parts
from messages import codes, raises

START = datetime(2026, 3, 1, 9)
BY_TIME = Message("order.by_time")
LIKERT = karat.datasets.load("likert")
RULES = {"remfod": {}, "straightlining": {}, "markov": {"simulations": 200}, "even_odd": {}}


def by_time(judgments: karat.Judgments, *, missing: bool = False) -> karat.Judgments:
    """The same answers, with times instead of positions, in another order of rows."""
    when = pl.lit(START) + pl.duration(seconds=pl.col("trial") * 10)
    frame = judgments.frame.with_columns(time=when)
    if not missing:
        frame = frame.sample(fraction=1.0, shuffle=True, seed=1)
    # The first in the table decides in which order participants are reported, and simulated people are drawn.
    frame = frame.join(judgments.participants.select("participant").with_row_index("_who"), on="participant")
    frame = frame.sort("_who", maintain_order=True).drop("trial", "_who")
    if missing:
        frame = frame.with_columns(time=pl.when(pl.int_range(pl.len()) % 7 > 0).then("time"))
    return karat.Judgments(frame, judgments.scales, judgments.participants)


@pytest.mark.parametrize("missing", [False, True])
def test_verdicts_by_time_are_those_by_position(missing: bool) -> None:
    stated, timed = karat.screen.run(LIKERT, RULES), karat.screen.run(by_time(LIKERT, missing=missing), RULES)
    for name in RULES:
        assert timed.evidence[name].participants.equals(stated.evidence[name].participants), name
        assert BY_TIME in timed.evidence[name].notes
        assert BY_TIME not in stated.evidence[name].notes


def test_in_parts_as_in_memory(tmp_path: Path) -> None:
    judgments = by_time(LIKERT)
    names = judgments.participants["participant"]
    folder = tmp_path / "parts"
    folder.mkdir()
    judgments.without(names[20:]).to_parquet(folder / "1.parquet")
    judgments.without(names[:20]).to_parquet(folder / "2.parquet")
    rules = {"remfod": {}, "straightlining": {}}
    parted = run_in_parts(open_parts(folder), rules, out=tmp_path / "out", spammer_index=False)
    together = karat.screen.run(judgments, rules)
    for name in rules:
        assert parted.evidence[name].flagged == len(together.evidence[name].flagged)
        assert BY_TIME in parted.evidence[name].notes
    assert parted.excluded == len(together.excluded)


def test_what_is_said() -> None:
    assert [codes(order_messages(columns)) for columns in (["trial"], ["trial", "time"], ["time"], ["rt"])] == [
        [], [], ["order.by_time"], ["order.unknown"],
    ]  # fmt: skip


def test_order_methods_do_not_run_on_unknown_order() -> None:
    unordered = karat.Judgments(LIKERT.frame.drop("trial", "time"), LIKERT.scales, LIKERT.participants)
    found = karat.screen.run(unordered, RULES)
    assert set(found.skipped) == {"straightlining", "markov", "even_odd"}
    for criterion in (karat.screen.straightlining, karat.screen.markov, karat.screen.even_odd):
        with raises(karat.screen.ScreenError, "order.needed"):
            criterion(unordered)
    with raises(karat.screen.ScreenError, "order.needed"):
        karat.screen.risk_levels(unordered, [])
    with raises(karat.measure.MeasureError, "order.needed"):
        karat.measure.order_effects(unordered)
    with raises(karat.screen.ScreenError, "order.needed"):
        karat.screen.deletion_windows(unordered, 20)
    # Credence does without.
    few = unordered.without(unordered.participants["participant"].to_list()[12:])
    assert Message("order.no_sequences") in karat.screen.credence(few).notes


def test_rows_that_are_in_order_can_be_said_to_be() -> None:
    frame = LIKERT.frame.sort("participant", "trial", maintain_order=True)
    ordered = karat.Judgments(frame, LIKERT.scales, LIKERT.participants)
    stated = karat.Judgments(frame.drop("trial", "time"), LIKERT.scales, LIKERT.participants).with_row_order()
    rules = {"straightlining": {}, "markov": {"simulations": 200}}
    first, second = (karat.screen.run(one, rules) for one in (ordered, stated))
    for name in rules:
        assert second.evidence[name].participants.equals(first.evidence[name].participants), name
    # Positions that are recorded are not replaced.
    assert LIKERT.with_row_order() == LIKERT


@given(st.lists(st.tuples(st.sampled_from("pq"), st.none() | st.integers(0, 4)), max_size=12))
def test_positions_and_order_agree(rows: list[tuple[str, int | None]]) -> None:
    frame = pl.DataFrame(rows, schema={"participant": pl.String, "time": pl.Int64}, orient="row").with_row_index("_n")
    frame = frame.with_columns(time=pl.lit(START) + pl.col("time") * timedelta(seconds=1))
    numbered = with_positions(frame)
    for name in frame["participant"].unique():
        own = numbered.filter(pl.col("participant") == name)
        assert sorted(own["trial"]) == list(range(1, own.height + 1))
        shown = presented(frame).filter(pl.col("participant") == name)
        assert shown["_n"].to_list() == own.sort("trial")["_n"].to_list()
        times = [time for time in shown["time"] if time is not None]
        assert times == sorted(times)


def test_positions_of_some_and_times_of_others(tmp_path: Path) -> None:
    names = LIKERT.participants["participant"]
    timed = by_time(LIKERT)
    frame = pl.concat([LIKERT.without(names[20:]).frame, timed.without(names[:20]).frame], how="diagonal_relaxed")
    mixed = karat.Judgments(frame, LIKERT.scales, LIKERT.participants)
    stated, found = karat.screen.run(LIKERT, RULES), karat.screen.run(mixed, RULES)
    for name in RULES:
        assert found.evidence[name].participants.equals(stated.evidence[name].participants), name
