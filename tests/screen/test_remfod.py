"""ReMFOD: beside a slow computation by plain loops, on odd data, and on what cannot be judged."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.screen import remfod

Trial = tuple[str, str, float]


def slow_remfod(trials: list[Trial], upper: float = 2.5, lower: float = 1.5) -> dict[int, tuple[str, int]]:
    """The kind and round of every outlying trial, by loops that follow the paper's sentences."""
    found: dict[int, tuple[str, int]] = {}
    for number in range(1, len(trials) + 2):
        kept = [index for index in range(len(trials)) if index not in found]
        new: dict[int, tuple[str, int]] = {}
        for index in kept:
            person, function, time = trials[index]
            cutoffs = []
            for group in (
                [trials[i][2] for i in kept if trials[i][0] == person],
                [trials[i][2] for i in kept if trials[i][1] == function],
            ):
                median = statistics.median(group)
                mad = 1.4826 * statistics.median([abs(value - median) for value in group])
                cutoffs.append((median - lower * mad, median + upper * mad))
            if time < min(low for low, _ in cutoffs):
                new[index] = ("rush", number)
            elif time > max(high for _, high in cutoffs):
                new[index] = ("intermission", number)
        if not new:
            return found
        found |= new
    return found


def judgments(trials: list[Trial]) -> karat.Judgments:
    people, functions, times = (list(column) for column in zip(*trials, strict=True))
    frame = {
        "participant": people, "item": [f"i{n}" for n in range(len(trials))], "response": ["1"] * len(trials),
        "trial": list(range(1, len(trials) + 1)), "rt": times, "function": functions,
    }  # fmt: skip
    return karat.Judgments(frame, karat.Ordinal(5))


trials = st.lists(
    st.tuples(
        st.sampled_from(["p1", "p2", "p3"]),
        st.sampled_from(["test", "filler", "control"]),
        st.one_of(st.integers(1, 6).map(float), st.floats(0.125, 64).map(lambda x: round(x * 8) / 8), st.just(500.0)),
    ),
    min_size=1,
    max_size=40,
)


@given(trials)
def test_it_agrees_with_plain_loops(given_trials: list[Trial]) -> None:
    evidence = remfod(judgments(given_trials))
    expected = {(index + 1, *what) for index, what in slow_remfod(given_trials).items()}
    assert set(evidence.trials.select("trial", "kind", "degree").iter_rows()) == expected
    rows = evidence.participants
    assert rows["intermissions"].sum() + rows["rushes"].sum() == len(expected)


@given(trials, st.integers(1, 1000))
def test_scaling_all_times_changes_nothing(given_trials: list[Trial], factor: int) -> None:
    scaled = [(person, function, time * 2.0 ** (factor % 8)) for person, function, time in given_trials]
    first, second = remfod(judgments(given_trials)), remfod(judgments(scaled))
    assert first.trials.select("trial", "kind", "degree").equals(second.trials.select("trial", "kind", "degree"))


def test_equal_times_flag_nobody() -> None:
    evidence = remfod(judgments([("p1", "test", 2.0)] * 20))
    assert evidence.trials.is_empty()
    assert evidence.flagged == []


def test_one_long_pause_is_an_intermission_with_its_cutoffs() -> None:
    times = [2.0, 2.1, 1.9, 2.2, 2.05, 1.95, 60.0]
    evidence = remfod(judgments([("p1", "test", time) for time in times]))
    (row,) = evidence.trials.to_dicts()
    assert (row["participant"], row["trial"], row["kind"], row["degree"]) == ("p1", 7, "intermission", 1)
    assert row["lower"] < 2 < row["upper"] < 60
    assert evidence.participants.row(0, named=True)["reason"] == "1 intermission and 0 rushes in 7 timed trials"
    assert evidence.flagged == ["p1"]


def test_practice_and_missing_times_are_left_out() -> None:
    frame = judgments([("p1", "test", 2.0)] * 9 + [("p1", "practice", 900.0), ("p2", "test", 1.0)]).frame
    frame = frame.with_columns(rt=frame["rt"].set(frame["participant"] == "p2", None))
    evidence = remfod(karat.Judgments(frame, karat.Ordinal(5)))
    rows = {row["participant"]: row for row in evidence.participants.to_dicts()}
    assert rows["p1"]["trials"] == 9
    assert (rows["p2"]["score"], rows["p2"]["flagged"], rows["p2"]["reason"]) == (None, False, "no timed trials")


def test_without_functions_all_are_test_and_without_trials_rows_count() -> None:
    frame = {
        "participant": ["p1"] * 8,
        "item": list("abcdefgh"),
        "response": [1] * 8,
        "rt": [2, 2, 2.1, 1.9, 2, 2, 2, 99],
    }
    evidence = remfod(karat.Judgments(frame, karat.Ordinal(5)))
    assert evidence.trials.select("trial", "kind").rows()[-1] == (8, "intermission")
    assert evidence.cutoffs.filter(evidence.cutoffs["group"] == "function")["name"].unique().to_list() == ["test"]


def test_what_cannot_run_says_why() -> None:
    without = karat.Judgments({"participant": ["p"], "item": ["a"], "response": [1]}, karat.Ordinal(5))
    with pytest.raises(karat.KaratError, match="remfod needs response times, and these judgments have none"):
        remfod(without)
    only_practice = judgments([("p1", "practice", 1.0)])
    with pytest.raises(karat.KaratError, match="outside practice"):
        remfod(only_practice)
    with pytest.raises(karat.KaratError, match="must be above 0"):
        remfod(judgments([("p1", "test", 1.0)]), upper=0)
