"""Simulated crowds: proportions as theory says, seeds, kinds of workers, balance."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

import karat
from karat.simulate import SimulateError, WorkerSettings, crowd, draw_tasks, worker_answers
from karat.simulate.crowd import Tasks, longest_run, runs_of
from messages import raises

SPAMMERS = {"primary choice": 4, "repeated pattern": 4, "random guessing": 4}


def triangle(width: float, at: float) -> float:
    """P(w + c <= at) for w, c uniform on (-width, width)."""
    z = np.clip(at / width, -2, 2)
    return float(0.5 + z / 2 - np.sign(z) * z**2 / 8)


def test_credible_workers_are_right_as_often_as_theory_says() -> None:
    tasks = Tasks(np.array([-2.0, 0.5, 1.0, 4.0]), np.zeros(1), np.array([0, 1], dtype=np.int8))
    by_sign = worker_answers("credible", 40_000, tasks, decision="sign", seed=3).mean(axis=0)
    expected = [1 - triangle(1.5, -effect) for effect in tasks.effects]
    assert by_sign == pytest.approx(expected, abs=0.01)
    drawn = worker_answers("credible", 40_000, tasks, seed=3).mean(axis=0)
    for effect, share in zip(tasks.effects, drawn, strict=True):
        density = lambda s, u=effect: expit(u + s) * (3 - abs(s)) / 9  # noqa: E731
        assert share == pytest.approx(quad(density, -3, 3)[0], abs=0.01)


def test_sign_and_draw_have_the_accuracies_of_the_procedure() -> None:
    """Over tasks with variance 6: the paper states .75 to .9."""
    right = quad(lambda u: 2 * norm.pdf(u, scale=np.sqrt(6)) * (1 - triangle(1.5, -u)), 0, 20)[0]
    tasks = draw_tasks(4000, seed=5)
    found = (worker_answers("credible", 300, tasks, decision="sign", seed=6) == tasks.truth).mean()
    assert found == pytest.approx(right, abs=0.012)
    assert 0.75 < found < 0.9


def test_spammers_have_their_shares() -> None:
    tasks = draw_tasks(80, seed=1)
    guesses = worker_answers("random guessing", 2000, tasks, seed=2)
    assert guesses.mean() == pytest.approx(0.5, abs=0.005)
    pattern = worker_answers("repeated pattern", 2000, tasks, seed=2)
    inner = quad(lambda e: expit(2 + e) / 0.2, -0.1, 0.1)[0]
    changes = (pattern[:, 1:] != pattern[:, :-1]).mean()
    assert changes == pytest.approx(inner**2 + (1 - inner) ** 2, abs=0.005)
    five = draw_tasks(80, 5, seed=1)
    primary = worker_answers("primary choice", 2000, five, seed=2)
    counts = np.array([np.bincount(row, minlength=5).max() for row in primary])
    assert counts.mean() / 80 == pytest.approx(0.88, abs=0.003)
    cycle = worker_answers("repeated pattern", 2000, five, seed=2)
    steps = ((cycle[:, 1:] - cycle[:, :-1]) % 5 == 1).mean()
    assert steps == pytest.approx(0.96**2 + 0.04**2 / 4, abs=0.004)


@pytest.mark.slow
def test_primary_choosers_keep_to_one_answer_for_long() -> None:
    assert [longest_run(tasks) for tasks in (80, 40, 2)] == [10, 9, 2]
    tasks = draw_tasks(80, seed=1)
    answers = worker_answers("primary choice", 3000, tasks, seed=4)
    favourite = answers.mean(axis=1) > 0.5
    assert runs_of(answers == favourite[:, None]).min() >= 10
    free = worker_answers("primary choice", 3000, tasks, settings=WorkerSettings(run=0), seed=4)
    assert runs_of(free == (free.mean(axis=1) > 0.5)[:, None]).min() < 10
    expected = quad(lambda e: expit(1.4 + e) / 0.6, -0.3, 0.3)[0]
    assert np.maximum(free.mean(axis=1), 1 - free.mean(axis=1)).mean() == pytest.approx(expected, abs=0.005)
    with raises(SimulateError, "crowd.long_run"):
        worker_answers("primary choice", 3, tasks, settings=WorkerSettings(run=80, primary_logit=(0.0, 0.0)), seed=1)


@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_longest_runs(marked: list[bool]) -> None:
    text = "".join("x" if one else " " for one in marked)
    assert runs_of(np.array([marked])).tolist() == [max(map(len, text.split(" ")))]


def test_halfway_is_credible_first() -> None:
    tasks = draw_tasks(80, seed=1)
    answers = worker_answers("halfway random guessing", 2000, tasks, decision="sign", seed=2)
    right = answers == tasks.truth
    assert right[:, 40:].mean() == pytest.approx(0.5, abs=0.01)
    assert right[:, :40].mean() > 0.75
    late = worker_answers("halfway random guessing", 2000, tasks, decision="sign", turn=71, seed=2) == tasks.truth
    assert late[:, 40:70].mean() > 0.7
    with raises(SimulateError, "setting.refused", setting="turn"):
        worker_answers("halfway random guessing", 2, tasks, turn=90)


@pytest.mark.parametrize("scale", [karat.Binary(), karat.Ordinal(5), karat.Nominal("ABCDE")], ids=lambda s: s.kind)
@pytest.mark.parametrize("shuffled", [True, False])
def test_judgments_are_as_the_checks_want_them(scale: karat.Ordinal, shuffled: bool) -> None:
    judgments = crowd(30, 20, SPAMMERS, scale=scale, shuffled=shuffled, seed=9)
    assert karat.Judgments(judgments.frame, judgments.scales, judgments.participants) == judgments
    assert judgments == crowd(30, 20, SPAMMERS, scale=scale, shuffled=shuffled, seed=9)
    assert judgments != crowd(30, 20, SPAMMERS, scale=scale, shuffled=shuffled, seed=10)
    assert judgments.frame["expected"].n_unique() == len(scale.levels)
    assert judgments.frame.group_by("item").agg(pl.col("expected").n_unique())["expected"].max() == 1
    behaviours = dict(judgments.participants["behaviour"].value_counts().rows())
    assert behaviours == {**SPAMMERS, "credible": 18}


def test_the_credible_are_right_wherever_a_task_stands() -> None:
    frame = crowd(40, 60, decision="sign", scale=karat.Ordinal(5), seed=1).frame
    right = frame.with_columns(right=pl.col("response") == pl.col("expected"))
    assert right["right"].mean() > 0.75
    assert right.group_by("trial").agg(pl.col("right").mean())["right"].min() > 0.5


@given(st.floats(0.1, 0.9), st.integers(0, 1000))
def test_balance(share: float, seed: int) -> None:
    truth = draw_tasks(100, balance=[share, 1 - share], seed=seed).truth
    assert abs((truth == 0).mean() - share) <= 0.011
    nominal = draw_tasks(100, 3, ordered=False, balance=[0.1, 0.3, 0.6], seed=seed).truth
    assert np.bincount(nominal).tolist() == [10, 30, 60]


def test_what_cannot_be() -> None:
    for wrong in ({"primary": 3}, {"primary choice": 31}, {"random guessing": -1}):
        with pytest.raises(SimulateError):
            crowd(30, 20, wrong)
    with raises(SimulateError, "crowd.balance"):
        draw_tasks(10, balance=[0.5, 0.6])
    with raises(SimulateError, "crowd.workers"):
        worker_answers("lazy", 3, draw_tasks(10))
