"""The benchmark of credence: its oracles against slow sums, its scenarios, and what it makes of scores."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.credence_parts import crowds, effect, page, peers, powers, questionnaires, runs, tables, targets
from benchmarks.credence_parts import questionnaire_oracle as oracle
from benchmarks.credence_parts.crowds import GUESSING, KINDS, PATTERN, PRIMARY, Crowd, draw_crowd
from benchmarks.credence_parts.questionnaire_oracle import FAST, LATE, MINORITY
from benchmarks.credence_parts.questionnaires import Questionnaire
from benchmarks.marked import check_page, write_page
from conftest import ROOT
from karat.simulate.behaviours import seconds
from karat.simulate.crowd import Tasks
from messages import refuses


def logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > -700 else 0.0


@pytest.mark.parametrize(("levels", "kind"), list(itertools.product((2, 3), KINDS)))
def test_the_probabilities_of_a_spammer_add_up_to_one(levels: int, kind: str) -> None:
    every = np.array(list(itertools.product(range(levels), repeat=4)))
    before = 1 if kind == PRIMARY else 0
    found = np.exp(crowds.log_spammer(every, levels, kind, before))
    # Those after the first `before` answers are counted once for each of these.
    assert found.sum() == pytest.approx(levels**before, rel=1e-9)


def test_a_primary_chooser_of_two_answers_has_a_run() -> None:
    without_run = np.tile([0, 1], 10)[None, :]
    assert crowds.log_spammer(without_run, 2, PRIMARY)[0] == -np.inf
    assert np.isfinite(crowds.log_spammer(np.zeros((1, 20), dtype=np.int64), 2, PRIMARY)[0])


@pytest.mark.parametrize(("levels", "ordered"), [(2, True), (3, True), (3, False)])
def test_the_probabilities_of_a_credible_worker(levels: int, ordered: bool) -> None:
    """Against sums written out for one worker, and against one in all."""
    labels = np.arange(levels, dtype=np.int8) if ordered else np.array([2, 0, 1], dtype=np.int8)
    tasks = Tasks(np.array([-1.0, 0.4]), np.array([0.1]) if levels == 2 else np.array([-0.3, 0.5]), labels)
    every = np.array(list(itertools.product(range(levels), repeat=2)))
    order = np.broadcast_to(np.arange(2), every.shape)
    terms = crowds.log_credible(tasks, order, every)
    whole = np.exp(terms.sum(axis=1)).mean(axis=1)
    assert whole.sum() == pytest.approx(1.0, abs=1e-9)
    spread = 1.5 if levels == 2 else 0.4
    grid = [spread * ((2 * place + 1) / crowds.GRID - 1) for place in range(crowds.GRID)]
    ends = [-math.inf, *tasks.cuts.tolist(), math.inf]
    slow = 0.0
    answer = every[1]
    for worker in grid:
        product = 1.0
        for task, given_answer in enumerate(answer):
            interval = labels.tolist().index(given_answer)
            cells = [
                logistic(ends[interval + 1] - tasks.effects[task] - worker - cell)
                - (logistic(ends[interval] - tasks.effects[task] - worker - cell) if interval else 0.0)
                for cell in grid
            ]
            product *= sum(cells) / len(cells)
        slow += product / len(grid)
    assert whole[1] == pytest.approx(slow, rel=1e-9)


def test_the_ratio_of_a_late_guesser_is_that_of_the_last_answers() -> None:
    tasks = Tasks(np.array([-3.0, 3.0, 2.0]), np.zeros(1), np.arange(2, dtype=np.int8))
    answers = np.array([[0, 1, 1], [0, 1, 0]])
    order = np.broadcast_to(np.arange(3), answers.shape)
    terms = np.exp(crowds.log_credible(tasks, order, answers))
    until, whole = (terms[:, :count].prod(axis=1).mean(axis=1) for count in (2, 3))
    found = crowds.likelihood_ratio(tasks, order, answers, GUESSING, turn=3)
    np.testing.assert_allclose(found, np.log(whole / until / 0.5), rtol=1e-9)
    assert found[0] > 0 > found[1]


def test_the_blind_oracle_sums_over_kinds_and_changes() -> None:
    """With five answers there are changes after the first and the second only."""
    random = np.random.default_rng(3)
    tasks = Tasks(np.array([-1.0, 0.5, 2.0, -2.0, 0.1]), np.array([-0.5, 0.5]), np.arange(3, dtype=np.int8))
    answers = random.integers(0, 3, (6, 5))
    order = np.broadcast_to(np.arange(5), answers.shape)
    mixed = sum(
        share * np.exp(-crowds.likelihood_ratio(tasks, order, answers, kind, turn)) / 3
        for kind in KINDS for turn, share in ((1, 0.5), (2, 0.25), (3, 0.25))
    )  # fmt: skip
    np.testing.assert_allclose(crowds.blind_ratio(tasks, order, answers), -np.log(mixed), rtol=1e-9)


def test_spammers_come_first_and_change_when_they_should() -> None:
    scenario = Crowd(PATTERN, 0.2, turn=31, trials=60, workers=50)
    scene = draw_crowd(scenario, 3)
    assert scene.kinds.tolist() == [PATTERN] * 10 + ["cooperative"] * 40
    answers = scene.judgments.frame["response"].to_numpy().reshape(50, 60)
    turns = (answers[:, 1:] != answers[:, :-1]).astype(float)
    assert turns[:10, 31:].mean() > 0.7 > 0.6 > turns[:10, :29].mean()
    again = draw_crowd(scenario, 3)
    assert scene.judgments.frame.equals(again.judgments.frame)
    assert not scene.judgments.frame.equals(draw_crowd(scenario, 4).judgments.frame)


def test_the_oracle_tells_them_apart() -> None:
    for kind in KINDS:
        scene = draw_crowd(Crowd(kind, trials=40, workers=60), 1)
        spam = scene.kinds == kind
        assert powers.power_at(scene.oracle[kind][~spam], scene.oracle[kind][spam]) > 0.9


def test_scenarios_have_names_of_their_own() -> None:
    names = [scenario.name for scenario in (*crowds.binary_crowds(), *crowds.crowds_of_five())]
    assert len(set(names)) == len(names)


@pytest.fixture(scope="module")
def likert() -> questionnaires.Scene:
    return questionnaires.draw_questionnaire(Questionnaire("likert", 40), 1)


def test_a_questionnaire_has_everybody(likert: questionnaires.Scene) -> None:
    counted = {kind: int((likert.kinds == kind).sum()) for kind in set(likert.kinds.tolist())}
    assert counted[MINORITY] == 5
    assert (counted[LATE], counted[FAST], counted["guesser"]) == (3, 2, 2)
    times = likert.judgments.frame.group_by("participant", maintain_order=True).agg(pl.col("rt").median())
    median = times["rt"].to_numpy()
    assert median[likert.kinds == "rusher"].max() < 1 < median[likert.kinds == FAST].mean() < median.mean()


def test_the_oracle_of_a_questionnaire(likert: questionnaires.Scene) -> None:
    cooperative = np.isin(likert.kinds, questionnaires.COOPERATIVE)
    for kind in ("guesser", "straight-liner", "rusher", "clever spammer", LATE):
        own = likert.oracle[kind]
        assert own[likert.kinds == kind].max() < np.median(own[cooperative])
    assert (likert.oracle["any"][cooperative] > 0).mean() > 0.9


def test_paces_are_summed_finely_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """A grid ten times as fine says the same."""
    plan = questionnaires.plan_of("choice", 4)
    own_pace = np.array([-0.5, 0.0, 0.2, 0.7])
    random = np.random.default_rng(1)
    times = seconds(plan.frame["function"].to_list(), plan.person, ["attentive"] * 4, own_pace, plan.usual, random)
    changed = np.zeros(len(times), dtype=bool)
    found = oracle.whole(oracle.clock(plan, times, changed))
    monkeypatch.setitem(oracle.POINTS, "pace", 1001)
    np.testing.assert_allclose(found, oracle.whole(oracle.clock(plan, times, changed)), atol=0.05)


@given(st.lists(st.integers(0, 5), min_size=20, max_size=60), st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_the_rate_is_exact_whatever_is_tied(cooperative: list[int], others: list[int]) -> None:
    scores = np.array(cooperative, dtype=float)
    assert powers.power_at(scores, scores) == pytest.approx(powers.RATE)
    assert 0 <= powers.power_at(scores, np.array(others, dtype=float)) <= 1


def test_power_and_lead() -> None:
    cooperative = np.arange(100.0)
    assert powers.power_at(cooperative, np.array([-1.0, 2.0, 50.0, 60.0])) == 0.5
    good, bad = (cooperative, np.full(50, -1.0)), (cooperative, np.full(50, 50.0))
    found = powers.lead(good, bad)
    assert (found.gap, found.error) == (1.0, 1 / 50)


def test_calibration() -> None:
    said = np.array([0.05] * 100 + [0.95] * 100)
    so = np.array([0.0] * 90 + [1.0] * 10 + [1.0] * 95 + [0.0] * 5)
    assert powers.calibration_error(powers.reliability(said, so)) == pytest.approx(0.025)


def test_agreement_and_one_coin_see_the_guesser() -> None:
    scene = draw_crowd(Crowd(GUESSING, trials=40, workers=40), 2)
    spam = scene.kinds == GUESSING
    for score in (peers.agreement, peers.one_coin):
        found = score(scene.judgments)
        assert found[spam].max() < np.median(found[~spam])


@pytest.mark.slow
def test_a_replication_becomes_rows_and_targets() -> None:
    scored = [runs.score(runs.Job(Crowd(GUESSING, 0.2, trials=30, workers=40), seed, runs.CHEAP)) for seed in (1, 2)]
    (row,) = tables.rows_of(scored)
    assert row.people == 16
    assert {"oracle", "credence", "correlation", "one-coin EM"} <= row.flagged.keys()
    assert "controls" not in row.flagged
    assert targets.near_oracle([row], late=False).name.startswith("power within .02")
    _, error, people, planted = tables.calibration_table(scored)
    assert (people, planted) == (80, pytest.approx(0.2))
    assert not targets.calibrated("simulated data", error, people, planted, 0.02, 20_000).holds


def test_removal_of_the_truth_leaves_no_spammer() -> None:
    judgments, spammers = effect.draw_study(1)
    assert len(spammers) == 17
    found = effect.estimate(judgments, effect.TRUTH, spammers, spammers)
    assert (found.spammers_removed, found.others_removed) == (1.0, 0.0)
    everybody = judgments.participants["participant"].to_list()
    assert math.isnan(effect.estimate(judgments, "all", everybody, spammers).effect)


def test_tables_go_between_their_markers(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("a\n<!-- one -->\n<!-- end -->\nb\n<!-- two -->\nkept\n<!-- end -->\n")
    write_page(path, {"one": "new"})
    assert path.read_text() == "a\n<!-- one -->\n\nnew\n\n<!-- end -->\nb\n<!-- two -->\nkept\n<!-- end -->\n"
    with refuses(SystemExit, path, "<!-- summary -->"):
        check_page(path, page.SHORT)
    check_page(ROOT / "docs" / "credence.md", page.SHORT)
    check_page(ROOT / "docs" / "credence-tables.md", page.TABLES)
