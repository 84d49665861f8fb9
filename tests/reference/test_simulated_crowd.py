"""Simulated workers beside those of the third paper's procedure: ../shared/reference/ba/*_sim.csv, golden.json.

Its README says how these were made. The same task effects must give the same accuracies, and workers of the same kind
the same shares, within four standard errors.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from karat.simulate import draw_tasks, worker_answers
from karat.simulate.crowd import Tasks, runs_of


def table(reference: Path, name: str) -> pl.DataFrame:
    return pl.read_csv(reference / "ba" / f"{name}.csv").sort("worker", "order")


def answers_of(frame: pl.DataFrame, kind: str) -> np.ndarray:
    """Workers x trials."""
    rows = frame.filter(pl.col("type").str.starts_with(kind))
    return rows["response"].to_numpy().reshape(rows["worker"].n_unique(), -1)


@pytest.mark.parametrize("name", ["ordinal_sim", "nominal_sim"])
def test_credible_workers_are_as_accurate(reference: Path, name: str) -> None:
    frame = table(reference, name)
    tasks = frame.unique("task").sort("task_effect")
    effects = tasks["task_effect"].to_numpy()
    levels = sorted(set(tasks["truth"].to_list()))
    truth = np.array([levels.index(one) for one in tasks["truth"].to_list()])
    # Classes follow each other in the order of the effects, whatever they are called.
    labels = truth[np.concatenate([[True], truth[1:] != truth[:-1]])]
    assert len(labels) == 5
    cuts = [(effects[i] + effects[i + 1]) / 2 for i in np.flatnonzero(truth[1:] != truth[:-1])]
    ours = Tasks(effects, np.quantile(effects, [0.2, 0.4, 0.6, 0.8]), labels.astype(np.int8))
    assert ours.cuts == pytest.approx(cuts, abs=0.35)
    assert (ours.truth == truth).mean() > 0.97
    found = (worker_answers("credible", 4000, ours, decision="sign", seed=1) == ours.truth).mean(axis=0)
    normal = frame.filter(pl.col("type") == "normal")
    theirs = dict(normal.group_by("task").agg(pl.col("correct").mean()).rows())
    compared = np.array([theirs[task] for task in tasks["task"].to_list()])
    same = ours.truth == truth
    error = np.sqrt((found * (1 - found) / 108 + 1e-4)[same])
    assert np.mean(np.abs(compared - found)[same] < 4 * error) > 0.95
    assert compared[same].mean() == pytest.approx(found[same].mean(), abs=0.02)


def test_accuracies_of_decisions_are_within_the_spread(reference: Path) -> None:
    golden = json.loads((reference / "ba" / "golden.json").read_text())["simulated"]["cutoff_resimulation"]
    for decision, key in (("sign", "deterministic"), ("draw", "bernoulli")):
        drawn = []
        for seed in range(60):
            tasks = draw_tasks(80, seed=seed)
            answers = worker_answers("credible", 200, tasks, decision=decision, seed=seed)  # type: ignore[arg-type]
            drawn.append((answers == tasks.truth).mean())
        theirs = golden[f"tasks_seed123_{key}_normals"]["acc_normal"]
        assert theirs == pytest.approx(np.mean(drawn), abs=3 * np.std(drawn))


def test_spammers_of_the_authors_pool(reference: Path) -> None:
    frame = table(reference, "authors_pool_sim")
    tasks = draw_tasks(80, seed=1)
    ours = {kind: worker_answers(kind, 4000, tasks, seed=2)
            for kind in ("primary choice", "repeated pattern", "random guessing")}  # fmt: skip
    primary = answers_of(frame, "primary")
    favourite = (primary.mean(axis=1) > 0.5)[:, None]
    assert runs_of(primary == favourite).min() >= 10
    shares = [np.maximum(rows.mean(axis=1), 1 - rows.mean(axis=1)) for rows in (primary, ours["primary choice"])]
    assert shares[0].mean() == pytest.approx(shares[1].mean(), abs=4 * shares[1].std() / np.sqrt(len(primary)))
    pattern = answers_of(frame, "pattern")
    changes = [(rows[:, 1:] != rows[:, :-1]).mean(axis=1) for rows in (pattern, ours["repeated pattern"])]
    assert changes[0].mean() == pytest.approx(changes[1].mean(), abs=4 * changes[1].std() / np.sqrt(len(pattern)))
    guesses = answers_of(frame, "random")
    assert guesses.mean() == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(guesses.size))
