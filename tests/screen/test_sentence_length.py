"""Times adjusted for length: what only length explains is no outlier, what it does not explain stays one."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.messages import Message
from karat.screen.criteria.remfod import remfod
from karat.screen.time_rules import adjusted_for_length
from messages import codes, raises


def judgments(lengths: list[object], times: list[float], people: list[str] | None = None) -> karat.Judgments:
    frame = {
        "participant": people or ["p1"] * len(times), "item": [f"i{n}" for n in range(len(times))],
        "response": ["1"] * len(times), "trial": list(range(1, len(times) + 1)), "rt": times, "sentence": lengths,
    }  # fmt: skip
    return karat.Judgments(pl.DataFrame(frame, strict=False), karat.Ordinal(5))


power = st.tuples(
    st.lists(st.integers(1, 200), min_size=2, max_size=40),
    st.floats(-1, 2),
    st.lists(st.floats(0.2, 20), min_size=3, max_size=3),
)


@settings(max_examples=40)
@given(power)
def test_times_that_only_depend_on_length_flag_nobody(case: tuple[list[int], float, list[float]]) -> None:
    lengths, slope, levels = case
    people = ["p1", "p2", "p3"]
    times = [level * length**slope for level in levels for length in lengths]
    names = [person for person in people for _ in lengths]
    evidence = remfod(judgments(lengths * 3, times, names), "participant", length="sentence")
    assert evidence.trials.is_empty()
    assert evidence.flagged == []


@settings(max_examples=40)
@given(power)
def test_the_slope_is_found_and_pauses_hardly_move_it(case: tuple[list[int], float, list[float]]) -> None:
    _, slope, levels = case
    lengths = list(range(20, 60))
    times = np.array([levels[0] * length**slope for length in lengths])
    times[::8] *= 30
    frame = judgments(lengths, times.tolist()).frame
    adjusted, (note,) = adjusted_for_length(frame, "sentence")
    assert note.values["power"] == pytest.approx(slope, abs=0.00501)
    plain = np.delete(adjusted["rt"].to_numpy(), np.s_[::8])
    assert np.ptp(plain) <= 1e-6 * plain.max()


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(st.floats(0.2, 60), min_size=8, max_size=40), st.sampled_from([1.0, 2.0, 7.0]))
def test_the_unit_of_length_does_not_matter(times: list[float], unit: float) -> None:
    lengths = [10.0 + (7 * n) % 13 for n in range(len(times))]
    first = adjusted_for_length(judgments(lengths, times).frame, "sentence")[0]["rt"].to_numpy()
    second = adjusted_for_length(judgments([unit * x for x in lengths], times).frame, "sentence")[0]["rt"].to_numpy()
    assert second == pytest.approx(first, rel=1e-9, abs=1e-8)


def test_the_slope_minimises_the_sum_of_absolute_differences() -> None:
    random = np.random.default_rng(1)
    lengths = random.permutation(np.arange(20, 60))
    times = lengths**0.6 * np.exp(random.normal(0, 0.3, 40))
    _, (note,) = adjusted_for_length(judgments(lengths.tolist(), times.tolist()).frame, "sentence")
    order = np.argsort(lengths)
    x, y = np.log(lengths[order]), np.log(times[order])
    run, rise = x[20:] - x[:20], y[20:] - y[:20]
    candidates = np.linspace(-1, 3, 40_001)
    best = candidates[np.argmin([np.abs(rise - slope * run).sum() for slope in candidates])]
    assert note.values["power"] == pytest.approx(best, abs=0.00501)


def test_pause_stays_an_intermission_in_seconds() -> None:
    random = np.random.default_rng(2)
    lengths = random.integers(30, 50, 80)
    lengths[70:] = 150
    times = 0.1 * lengths * np.exp(random.uniform(-0.2, 0.2, 80))
    times[5] = 60.0
    plain = remfod(judgments(lengths.tolist(), times.tolist()))
    assert plain.trials.filter(pl.col("kind") == "intermission")["trial"].to_list() == [6, *range(71, 81)]
    assert plain.flagged == ["p1"]
    evidence = remfod(judgments(lengths.tolist(), times.tolist()), length="sentence")
    assert evidence.trials.filter(pl.col("kind") == "intermission")["trial"].to_list() == [6]
    assert evidence.flagged == []
    last = evidence.cutoffs.row(-1, named=True)
    assert last["lower"] < 0.1 * np.median(lengths) < last["upper"] < 10
    assert evidence.settings["length"] == "sentence"


def test_texts_are_counted_in_characters() -> None:
    times = [1.0, 2.0, 4.0, 8.0]
    texts = adjusted_for_length(judgments(["ü" * n for n in (1, 2, 4, 8)], times).frame, "sentence")
    assert codes(texts[1]) == ["length.adjusted_characters"]
    assert texts[1][0].values == {"length": 3, "column": "sentence", "power": pytest.approx(1)}
    written = adjusted_for_length(judgments(["1", "2", "4", "8"], times).frame, "sentence")
    numbers = adjusted_for_length(judgments([1, 2, 4, 8], times).frame, "sentence")
    assert texts[0]["rt"].to_list() == written[0]["rt"].to_list() == numbers[0]["rt"].to_list() == [3.0] * 4


def test_what_cannot_be_adjusted_is_kept_and_said() -> None:
    times = [1.0, 2.0, 3.0, 50.0]
    for lengths, code in (
        ([7, 7, 7, 7], "length.all_equal"),
        ([0, -1, 0, 0], "length.none"),
        ([None] * 4, "length.none"),
    ):
        evidence = remfod(judgments(lengths, times), length="sentence")
        assert evidence.notes[0].code == code
        assert evidence.timed["rt"].to_list() == times
    assert remfod(judgments([7], [2.0]), length="sentence").notes[0].code == "length.all_equal"
    adjusted, notes = adjusted_for_length(judgments([1, 2, 4, None], [*times[:3], 9.0]).frame, "sentence")
    assert adjusted["rt"][3] == 9.0
    assert notes[1] == Message("length.missing", {"n": 1, "column": "sentence"})
    zero = adjusted_for_length(judgments([1, 2, 4, 8], [0.0, 2.0, 4.0, 8.0]).frame, "sentence")[0]
    assert zero["rt"][0] == 0.0


def test_a_column_of_neither_texts_nor_numbers_is_refused() -> None:
    with raises(karat.KaratError, "length.neither"):
        remfod(judgments([True, False], [1.0, 2.0]), length="sentence")
