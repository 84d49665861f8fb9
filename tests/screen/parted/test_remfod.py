"""ReMFOD over parts: trials, cutoffs, verdicts and notes are those of one table, to the last bit."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import karat
from karat.executors import Executor, open_executor
from karat.judgments import Judgments
from karat.judgments.parts import Parts, open_parts
from karat.screen import remfod
from karat.screen.criteria.remfod import PartedRemfod
from karat.screen.parted.in_parts import InParts
from karat.screen.time_rules import TIME_RULES
from karat.screen.time_search import BATCHES, TimedPart, part_batches
from messages import codes, raises

FUNCTIONS = np.array(["test", "filler", "control", "practice"])


class Held:
    """Parts that are in memory after all."""

    def __init__(self, judgments: list[Judgments]) -> None:
        self.judgments = judgments

    def __len__(self) -> int:
        return len(self.judgments)

    def read(self, number: int) -> Judgments:
        return self.judgments[number]

    def stamp(self, number: int) -> str:
        return str(number)


def questionnaire(people: int = 26, trials: int = 40, seed: int = 1, **columns: Any) -> Judgments:
    """Times by participant and function with pauses, rushes, gaps and practice trials."""
    random = np.random.default_rng(seed)
    total, person = people * trials, np.repeat(np.arange(people), trials)
    function = random.choice(4, total, p=[0.5, 0.3, 0.15, 0.05])
    times = np.exp(random.normal(1.6, 0.4, total) + random.normal(0, 0.3, people)[person] + 0.2 * function)
    times *= np.where(random.random(total) < 0.06, 6, 1) * np.where(random.random(total) < 0.03, 0.1, 1)
    frame = pl.DataFrame({
        "participant": [f"p{number:03}" for number in person], "item": [f"i{number}" for number in range(total)],
        "response": "1", "trial": np.tile(np.arange(1, trials + 1), people), "function": FUNCTIONS[function],
        "rt": pl.Series(times).set(pl.Series(random.random(total) < 0.02), None),
    })  # fmt: skip
    return Judgments(frame.with_columns(**columns), karat.Ordinal(5))


def divided(judgments: Judgments, cuts: list[int]) -> list[Judgments]:
    """The judgments in parts that end after so many participants each; some may be empty."""
    people = judgments.participants["participant"].to_list()
    bounds = [0, *sorted(min(cut, len(people)) for cut in cuts), len(people)]
    return [judgments.without(people[:a] + people[b:]) for a, b in itertools.pairwise(bounds)]


def even(judgments: Judgments, number: int) -> list[Judgments]:
    people = judgments.participants.height
    return divided(judgments, [people * place // number for place in range(1, number)])


def in_parts(parts: list[Judgments], folder: Path, **settings: Any) -> PartedRemfod:
    return remfod(InParts(cast(Parts, Held(parts)), folder), **settings, batch=1)


def assert_same(found: PartedRemfod, judgments: Judgments, **settings: Any) -> None:
    whole = remfod(judgments, **settings)
    assert_frame_equal(found.scan().collect(), whole.participants, check_exact=True)
    assert_frame_equal(found.trials().collect(), whole.trials, check_exact=True)
    assert_frame_equal(found.cutoffs().collect(), whole.cutoffs, check_exact=True)
    assert (found.rounds, found.notes, found.settings) == (whole.rounds, whole.notes, whole.settings)
    assert (found.participants, found.flagged) == (whole.participants.height, len(whole.flagged))
    assert str(found) == str(whole)


@pytest.mark.few(1)
@pytest.mark.parametrize("number", [1, 2, 5, 13])
def test_parts_of_one_size(number: int, tmp_path: Path) -> None:
    judgments = questionnaire()
    assert remfod(judgments).rounds > 2
    assert_same(in_parts(even(judgments, number), tmp_path), judgments)


@pytest.mark.slow
@settings(max_examples=8)
@given(st.lists(st.integers(0, 12), max_size=6), st.integers(1, 50))
def test_parts_of_any_size(tmp_path_factory: pytest.TempPathFactory, cuts: list[int], seed: int) -> None:
    judgments = questionnaire(12, 15, seed)
    assert_same(in_parts(divided(judgments, cuts), tmp_path_factory.mktemp("out")), judgments)


@pytest.mark.slow
@settings(max_examples=15)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(FUNCTIONS[:3].tolist()),
                          st.one_of(st.integers(0, 3).map(float), st.floats(0, 1e6))), min_size=1, max_size=40),
       st.lists(st.integers(0, 4), max_size=3), st.sampled_from(list(TIME_RULES)), st.booleans())  # fmt: skip
def test_any_times(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str, float]],
    cuts: list[int],
    rule: str,
    inclusive: bool,
) -> None:
    rows.sort(key=lambda row: row[0])
    frame = pl.DataFrame(rows, schema=["participant", "function", "rt"], orient="row")
    judgments = Judgments(
        frame.with_columns(item=pl.int_range(pl.len()).cast(pl.String), response=pl.lit("1")), karat.Ordinal(5)
    )
    found = in_parts(divided(judgments, cuts), tmp_path_factory.mktemp("out"), rule=rule, inclusive=inclusive)
    assert_same(found, judgments, rule=rule, inclusive=inclusive)


@pytest.mark.parametrize("rule", list(TIME_RULES))
def test_every_rule(rule: str, tmp_path: Path) -> None:
    judgments = questionnaire(10, 30)
    assert_same(in_parts(even(judgments, 3), tmp_path, rule=rule), judgments, rule=rule)


def test_every_setting(tmp_path: Path) -> None:
    judgments = questionnaire(10, 30)
    stated = {"upper": 3.0, "lower": 1.2, "genuine_at_least": 0.95, "mad_constant": 1.0, "inclusive": True}
    assert_same(in_parts(even(judgments, 3), tmp_path, **stated), judgments, **stated)


def test_sessions_and_questions_are_reported(tmp_path: Path) -> None:
    judgments = questionnaire(8, 20, session=pl.lit("s1"), question=pl.lit("q"))
    found = in_parts(even(judgments, 2), tmp_path)
    assert found.trials().collect_schema().names()[-2:] == ["session", "question"]
    assert_same(found, judgments)


def test_notes_are_those_of_everybody(tmp_path: Path) -> None:
    judgments = questionnaire(6, 10)
    plain = Judgments(judgments.frame.drop("trial").with_columns(rt=2.0, function=pl.lit("test")), karat.Ordinal(5))
    found = in_parts(even(plain, 3), tmp_path)
    assert codes(found.notes) == ["order.unknown", "remfod.one_function", "remfod.all_times_equal"]
    assert_same(found, plain)
    rounded = Judgments(judgments.frame.with_columns(rt=(pl.col("rt") / 20).round()), karat.Ordinal(5))
    again = in_parts(even(rounded, 3), tmp_path / "rounded")
    assert "remfod.no_spread" in codes(again.notes)
    assert_same(again, rounded)


def test_a_part_without_times(tmp_path: Path) -> None:
    first, second = even(questionnaire(6, 10), 2)
    silent = Judgments(first.frame.with_columns(rt=pl.lit(None, pl.Float64)), karat.Ordinal(5))
    whole = Judgments(pl.concat([silent.frame, second.frame]), karat.Ordinal(5))
    assert_same(in_parts([silent, second], tmp_path), whole)


def test_what_cannot_be_done_is_said(tmp_path: Path) -> None:
    judgments = questionnaire(4, 10)
    with raises(karat.KaratError, "remfod.no_length_in_parts"):
        in_parts([judgments], tmp_path, length="item")
    with raises(karat.KaratError, "times.none"):
        in_parts([Judgments(judgments.frame.drop("rt"), karat.Ordinal(5))], tmp_path)
    practice = Judgments(judgments.frame.with_columns(function=pl.lit("practice")), karat.Ordinal(5))
    with raises(karat.KaratError, "times.only_practice"):
        in_parts([practice], tmp_path)


class Broken:
    """Work that breaks off before a pass, and does every task twice, as after a loss."""

    processes = 1

    def __init__(self, after: int) -> None:
        self.passes, self.after = 0, after

    def map(self, function: Any, shared: Any, tasks: Any, **named: Any) -> list[Any]:
        self.passes += 1
        if self.passes > self.after:
            raise InterruptedError
        for task in tasks:
            function(shared, task)
        return [function(shared, task) for task in tasks]


def test_tasks_may_be_done_twice_and_passes_again(tmp_path: Path) -> None:
    judgments = questionnaire(10, 30)
    parts = cast(Parts, Held(even(judgments, 3)))
    for after in (2, 4, 5):
        with pytest.raises(InterruptedError):
            remfod(InParts(parts, tmp_path, cast(Executor, Broken(after))), batch=1)
    assert_same(remfod(InParts(parts, tmp_path, cast(Executor, Broken(99))), batch=1), judgments)


def test_what_one_round_leaves_is_read_by_the_next_only(tmp_path: Path) -> None:
    judgments = questionnaire()
    found = in_parts(even(judgments, 2), tmp_path)
    left = sorted({path.parent.name for path in tmp_path.glob("scratch/remfod/*/outliers-*/*")})
    assert left == [f"outliers-{number}" for number in (found.rounds, found.rounds + 1)]


def test_from_files_and_with_a_checkpoint(tmp_path: Path) -> None:
    judgments = questionnaire()
    for number, part in enumerate(even(judgments, 3)):
        part.to_parquet(tmp_path / "in" / f"part-{number}.parquet")
    parts = open_parts(tmp_path / "in")
    for _ in range(2):
        with open_executor(checkpoint=tmp_path / "kept") as executor:
            assert_same(remfod(InParts(parts, tmp_path / "out", executor), batch=1), judgments)


@pytest.mark.parametrize(
    ("processes", "least", "expected"), [(1, 1, BATCHES), (2, 1, 2 * BATCHES), (2, 300, 3), (1, 10**6, 1)]
)
def test_batches(processes: int, least: int, expected: int) -> None:
    """As many as the processes need, none too small, and all parts in them once and in order."""
    parts = [TimedPart(30 + number % 9, 1, ("test",), 0.5, 9.0) for number in range(26)]
    batches = part_batches(parts, processes, least)
    assert [part for batch in batches for part in batch.parts] == parts
    assert [batch.first for batch in batches] == [
        sum(len(one.parts) for one in batches[:n]) for n in range(len(batches))
    ]
    assert len(batches) == pytest.approx(expected, abs=1)
