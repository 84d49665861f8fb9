"""Dawid and Skene's model against a slow computation, at its maximum, and with known truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from karat.models.dawid_skene import dawid_skene, label_shares

Answers = tuple[np.ndarray, np.ndarray, np.ndarray]


def crowd(
    seed: int, items: int = 12, people: int = 5, kinds: int = 3, share: float = 0.9
) -> tuple[Answers, np.ndarray]:
    random = np.random.default_rng(seed)
    truth = random.integers(0, kinds, items)
    item, rater = np.nonzero(random.random((items, people)) < share)
    # Every participant answers something, so codes have no gaps.
    item, rater = np.concatenate([item, np.arange(items)]), np.concatenate([rater, np.arange(items) % people])
    right = random.random(len(item)) < np.linspace(0.5, 0.9, people)[rater]
    return (item, rater, np.where(right, truth[item], random.integers(0, kinds, len(item)))), truth


def slow(
    item: np.ndarray, rater: np.ndarray, label: np.ndarray, kinds: int, rounds: int
) -> tuple[np.ndarray, np.ndarray]:
    """The same algorithm answer by answer, with products of probabilities rescaled after each answer."""
    q = np.array([[np.mean(label[item == j] == k) for k in range(kinds)] for j in range(item.max() + 1)])
    for _ in range(rounds):
        p = q.mean(axis=0)
        e = np.zeros((rater.max() + 1, kinds, kinds))
        for i in range(len(e)):
            for k in set(label[rater == i]):
                e[i, k] = np.maximum(q[item[(rater == i) & (label == k)]].sum(axis=0), 1e-10)
            e[i] /= e[i].sum(axis=0)
        for j in range(len(q)):
            likelihood = p.copy()
            for i, k in zip(rater[item == j], label[item == j], strict=True):
                likelihood = likelihood * e[i, k]
                likelihood = likelihood / likelihood.sum()
            q[j] = likelihood
    return q, e


@given(st.integers(0, 5000), st.integers(1, 6))
def test_rounds_agree_with_a_slow_computation(seed: int, rounds: int) -> None:
    answers, _ = crowd(seed)
    result = dawid_skene(*answers, kinds=3, iterations=rounds, tolerance=0)
    if result.iterations == rounds:
        np.testing.assert_allclose(result.posteriors, slow(*answers, 3, rounds)[0], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("people", [8, 90])
def test_items_may_have_few_or_many_answers(people: int) -> None:
    """With 90 answers the product of probabilities may underflow."""
    (item, rater, label), _ = crowd(3, items=12, people=people, share=1.0)
    kept = np.random.default_rng(1).random(len(item)) < (item / 11)  # some items have hardly any answers, in any order
    item, rater, label = (codes[kept][::-1] for codes in (item, rater, label))
    answers = item - 1, rater, label
    result = dawid_skene(*answers, kinds=3, iterations=3, tolerance=0)
    np.testing.assert_allclose(result.posteriors, slow(*answers, 3, 3)[0], rtol=1e-6, atol=1e-9)
    # The posterior of an item without answers is the prior.
    alone = dawid_skene(item, rater, label, kinds=3)
    np.testing.assert_allclose(alone.posteriors[0], alone.priors, atol=1e-6)


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", [2, 6])
def test_few_answers_converge_although_em_is_slow(seed: int) -> None:
    """EM alone takes 700 to 800 rounds here."""
    answers, _ = crowd(seed, items=150, people=40, share=0.08)
    item, rater, label = answers
    result = dawid_skene(*answers, kinds=3)
    assert result.converged
    assert result.iterations < 400
    rising = [dawid_skene(*answers, kinds=3, iterations=rounds, tolerance=0).log_likelihood for rounds in range(59, 75)]
    assert (np.diff(rising) > -1e-9).all()
    q = label_shares(item, label, np.ones(len(item)), 150, 3)
    for _ in range(1000):
        sums = np.zeros((40, 3, 3))
        np.add.at(sums, (rater, label), q[item])
        given = np.zeros((40, 3, 1))
        given[rater, label] = 1
        errors = np.maximum(sums, 1e-10) * given
        logs = np.tile(np.log(q.mean(axis=0)), (150, 1))
        np.add.at(logs, item, np.log((errors / errors.sum(axis=1, keepdims=True))[rater, label]))
        q = np.exp(logs - logs.max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(result.posteriors, q, atol=1e-6)


def log_likelihood(answers: Answers, priors: np.ndarray, errors: np.ndarray) -> float:
    item, rater, label = answers
    logs = np.tile(np.log(priors), (item.max() + 1, 1))
    np.add.at(logs, item, np.log(np.maximum(errors[rater, label], 1e-300)))
    return float(np.logaddexp.reduce(logs, axis=1).sum())


def test_the_solution_is_a_stationary_point() -> None:
    """The slope of the likelihood in the shares of labels and the errors, within the simplices, is zero."""
    answers, _ = crowd(3, items=300, people=6, share=1.0)
    result = dawid_skene(*answers, iterations=5000, tolerance=1e-15)
    assert result.converged
    assert result.log_likelihood == pytest.approx(log_likelihood(answers, result.priors, result.errors), abs=1e-6)
    step = 1e-5
    for person in range(6):
        for truth in range(3):
            for to, source in ((0, 1), (1, 2), (2, 0)):
                slopes = []
                for sign in (1, -1):
                    errors = result.errors.copy()
                    errors[person, to, truth] += sign * step
                    errors[person, source, truth] -= sign * step
                    slopes.append(log_likelihood(answers, result.priors, errors))
                assert result.errors[person, source, truth] > 2 * step
                assert abs(slopes[0] - slopes[1]) / (2 * step) < 0.05
    moved = result.priors + np.array([step, -step, 0])
    back = result.priors - np.array([step, -step, 0])
    up, down = (log_likelihood(answers, priors, result.errors) for priors in (moved, back))
    assert abs(up - down) / (2 * step) < 0.05


def test_likelihood_increases_and_truth_is_recovered() -> None:
    answers, truth = crowd(4, items=2000, people=12, kinds=4, share=0.4)
    rising = [dawid_skene(*answers, iterations=rounds, tolerance=0).log_likelihood for rounds in range(1, 12)]
    assert (np.diff(rising) > -1e-6).all()
    result = dawid_skene(*answers)
    majority = label_shares(answers[0], answers[2], np.ones(len(answers[0])), 2000, 4).argmax(axis=1)
    assert (result.posteriors.argmax(axis=1) == truth).mean() > (majority == truth).mean() > 0.9
    by_accuracy = [np.mean(np.diag(table)) for table in result.errors]
    np.testing.assert_allclose(by_accuracy, np.linspace(0.5, 0.9, 12) * 0.75 + 0.25, atol=0.05)
    np.testing.assert_allclose(result.errors.sum(axis=1), 1)


@pytest.mark.parametrize("ordered", [False, True])
def test_names_of_people_and_items_do_not_matter(ordered: bool) -> None:
    (item, rater, label), _ = crowd(5, items=60)
    first = dawid_skene(item, rater, label, 3, ordered)
    second = dawid_skene(59 - item, 4 - rater, label, 3, ordered)
    np.testing.assert_allclose(first.posteriors, second.posteriors[::-1], atol=1e-6)
    turned = dawid_skene(item, rater, 2 - label, 3, ordered)
    np.testing.assert_allclose(first.posteriors, turned.posteriors[:, ::-1], atol=1e-6)


def ordered_crowd(seed: int) -> tuple[Answers, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    truth = random.integers(0, 5, 400)
    parameters = np.column_stack([np.linspace(-0.8, 0.8, 20), np.linspace(0.4, 2.5, 20)])
    item, rater = np.nonzero(random.random((400, 20)) < 0.3)
    distance = np.arange(5) - truth[item][:, None]
    weights = np.exp(parameters[rater, :1] * distance - parameters[rater, 1:] * distance**2 / 2)
    chances = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    label = (random.random(len(item))[:, None] > chances).sum(axis=1)
    return (item, rater, label), truth, parameters


def test_ordered_errors_improve_sparse_labels() -> None:
    answers, truth, parameters = ordered_crowd(6)
    result = dawid_skene(*answers, kinds=5, ordered=True)
    free = dawid_skene(*answers, kinds=5)
    assert result.converged
    assert np.corrcoef(result.ordered.T[0], parameters.T[0])[0, 1] > 0.9
    assert np.corrcoef(result.ordered.T[1], parameters.T[1])[0, 1] > 0.9
    hits = [(one.posteriors.argmax(axis=1) == truth).mean() for one in (result, free)]
    assert hits[0] > hits[1]


def test_the_ordered_step_is_at_its_maximum() -> None:
    """Bias and precision against a general optimiser, at the posteriors of the last round."""
    answers, _, _ = ordered_crowd(7)
    item, rater, label = answers
    result = dawid_skene(*answers, kinds=5, ordered=True)
    distance = np.arange(5)[:, None] - np.arange(5)
    for person in (0, 9, 19):
        counts = np.full((5, 5), 0.01 / 25)
        for j, k in zip(item[rater == person], label[rater == person], strict=True):
            counts[k] += result.posteriors[j]

        def loss(parameters: np.ndarray, counts: np.ndarray = counts) -> float:
            linear = parameters[0] * distance - parameters[1] * distance**2 / 2
            return float(-(counts * (linear - np.logaddexp.reduce(linear, axis=0))).sum())

        best = minimize(loss, [0.0, 1.0], method="BFGS", options={"gtol": 1e-7})
        np.testing.assert_allclose(result.ordered[person], best.x, atol=1e-4)


def test_a_perfect_crowd_stays_finite() -> None:
    item, rater = np.repeat(np.arange(9), 3), np.tile(np.arange(3), 9)
    for ordered in (False, True):
        result = dawid_skene(item, rater, item % 3, 3, ordered)
        assert np.isfinite(result.posteriors).all()
        assert (result.posteriors.argmax(axis=1) == np.arange(9) % 3).all()


def test_repeated_answers_count_twice() -> None:
    result = dawid_skene([0, 0, 0, 1, 1], [0, 0, 1, 0, 1], [0, 0, 1, 1, 1], iterations=1)
    np.testing.assert_allclose(
        label_shares(np.array([0, 0, 0]), np.array([0, 0, 1]), np.ones(3), 1, 2), [[2 / 3, 1 / 3]]
    )
    assert result.posteriors.shape == (2, 2)
