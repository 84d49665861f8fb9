"""Labels of real crowds by models of labels: right answers, convergence, and crowd-kit where it is installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karat
from benchmarks.real_crowds import real_crowd
from karat.measure.consensus import consensus
from karat.models.dawid_skene import dawid_skene, glad, mace


def codes(reference: Path, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, pl.DataFrame]:
    frame = pl.read_csv(reference / "crowds" / f"{name}.csv", infer_schema_length=0)
    ranks = [
        frame[column].rank("dense").cast(pl.Int64).to_numpy() - 1 for column in ("item", "participant", "response")
    ]
    return ranks[0], ranks[1], ranks[2], frame


def share_right(found: karat.measure.Consensus, reference: Path, name: str) -> float:
    frame = pl.read_csv(reference / "crowds" / f"{name}.csv", infer_schema_length=0)
    gold = frame.select("item", "gold").drop_nulls().unique("item")
    joined = found.labels.join(gold, on="item")
    return float((joined["label"] == joined["gold"]).mean())  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "method"), [("music", "mace"), ("music", "glad"), ("duck", "mace")])
def test_models_beat_the_majority(name: str, method: str, reference: Path) -> None:
    judgments = real_crowd(name).judgments
    found = consensus(judgments, method)
    assert "consensus.converged" in [note.code for note in found.notes]
    assert share_right(found, reference, name) > share_right(consensus(judgments, "majority"), reference, name) + 0.05


@pytest.mark.slow
def test_product_is_as_published(reference: Path) -> None:
    """Zheng et al. (2017, table 6): majority .8966, GLAD .9220, Dawid and Skene .9366, of 8,315 pairs."""
    judgments = real_crowd("product").judgments
    assert share_right(consensus(judgments, "majority"), reference, "product") == pytest.approx(0.8966, abs=1e-3)
    assert share_right(consensus(judgments, "glad"), reference, "product") == pytest.approx(0.922, abs=0.01)
    assert share_right(consensus(judgments), reference, "product") == pytest.approx(0.9366, abs=0.01)


def rounds_of_em(item: np.ndarray, rater: np.ndarray, label: np.ndarray, posteriors: np.ndarray) -> np.ndarray:
    """The posteriors after 200 more rounds, written out for a table of items, participants and answers."""
    gave = np.zeros((len(posteriors), rater.max() + 1, posteriors.shape[1]))
    np.add.at(gave, (item, rater, label), 1)
    for _ in range(200):
        counts = np.tensordot(gave, posteriors, (0, 0))
        counts = np.where(gave.any(axis=0)[:, :, None], np.maximum(counts, 1e-10), 0)
        errors = counts / counts.sum(axis=1, keepdims=True)
        logs = np.log(errors, out=np.zeros_like(errors), where=errors > 0)
        posteriors = np.log(np.maximum(posteriors.mean(axis=0), 1e-10)) + np.tensordot(gave, logs, 2)
        posteriors = np.exp(posteriors - posteriors.max(axis=1, keepdims=True))
        posteriors /= posteriors.sum(axis=1, keepdims=True)
    return posteriors


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["duck", "music", "aspects", "relations"])
def test_converged_posteriors_do_not_move(name: str, reference: Path) -> None:
    *answers, _ = codes(reference, name)
    found = dawid_skene(*answers)
    assert found.converged
    assert np.abs(rounds_of_em(*answers, found.posteriors) - found.posteriors).max() < 2e-6
    if name == "music":
        # The likelihood hardly rises after 400 rounds, and posteriors still move.
        early = dawid_skene(*answers, iterations=400)
        assert not early.converged
        assert np.abs(early.posteriors - found.posteriors).max() > 1e-3


def test_mace_is_its_updates_written_out(reference: Path) -> None:
    """Twelve rounds of variational Bayes by loops over answers."""
    from scipy.special import digamma

    item, rater, label, _ = codes(reference, "relations")
    size, people, rows = label.max() + 1, rater.max() + 1, item.max() + 1
    competence, habit = np.full((people, 2), 0.5), np.full((people, size), 1 / size)
    for _ in range(12):
        posteriors = np.ones((rows, size))
        for i, j, k in zip(item, rater, label, strict=True):
            posteriors[i] *= competence[j, 0] * habit[j, k] + competence[j, 1] * (np.arange(size) == k)
        posteriors /= posteriors.sum(axis=1, keepdims=True)
        knowing, habits = np.zeros((people, 2)), np.zeros((people, size))
        for i, j, k in zip(item, rater, label, strict=True):
            guess = competence[j, 0] * habit[j, k]
            knew = posteriors[i, k] * competence[j, 1] / (guess + competence[j, 1])
            knowing[j] += [1 - knew, knew]
            habits[j, k] += 1 - knew
        competence = np.exp(digamma(knowing + 0.5) - digamma((knowing + 0.5).sum(axis=1, keepdims=True)))
        habit = np.exp(digamma(habits + 10) - digamma((habits + 10).sum(axis=1, keepdims=True)))
    found = mace(item, rater, label, iterations=12)
    np.testing.assert_allclose(found.posteriors, posteriors, atol=1e-9)
    np.testing.assert_allclose(found.ability, (knowing[:, 1] + 0.5) / (knowing.sum(axis=1) + 1), atol=1e-9)


@pytest.mark.slow
def test_glad_is_at_a_maximum(reference: Path) -> None:
    """The slope of the penalised likelihood, by differences, is flat in every ability and easiness."""
    item, rater, label, _ = codes(reference, "duck")
    found = glad(item, rater, label)
    assert found.easiness is not None
    at = np.concatenate([found.ability, np.log(found.easiness)])

    def value(parameters: np.ndarray) -> float:
        logit = parameters[: len(found.ability)][rater] * np.exp(parameters[len(found.ability) :])[item]
        right, wrong = -np.logaddexp(0, -logit), -np.logaddexp(0, logit)
        each = np.zeros((len(found.posteriors), 2))
        for kind in (0, 1):
            each[:, kind] = np.bincount(item, np.where(label == kind, right, wrong))
        return float(np.logaddexp(each[:, 0], each[:, 1]).sum() - ((parameters - 1) ** 2).sum() / 2)

    step = 1e-5 * np.eye(len(at))
    slopes = [(value(at + move) - value(at - move)) / 2e-5 for move in step]
    assert np.abs(slopes).max() < 0.02


@pytest.mark.parametrize("name", ["music", "duck", "relations"])
def test_labels_are_those_of_crowd_kit(name: str, reference: Path) -> None:
    aggregation = pytest.importorskip("crowdkit.aggregation")
    *_, frame = codes(reference, name)
    table = frame.select(task="item", worker="participant", label="response").to_pandas()
    for method, peer in (("mace", aggregation.MACE(n_iter=300)), ("glad", aggregation.GLAD())):
        own = dict(consensus(real_crowd(name).judgments, method).labels.select("item", "label").iter_rows())
        theirs = peer.fit_predict(table).astype(str).to_dict()
        assert np.mean([own[task] == label for task, label in theirs.items()]) > 0.97
