"""The Spammer Index of labels: its formula, its interval near zero, and what is reported."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karat
from karat.messages import Message, with_code
from karat.screen import spammer_index
from karat.screen.crowd.answers import crowd, fit
from karat.screen.crowd.spammer_index import index_of_labels
from screen.crowd.test_spammer_index import labels


@pytest.mark.slow
def test_pooled_index_is_the_share_over_all_baselines() -> None:
    answers = crowd(labels(), "x")
    found = index_of_labels(answers)
    workers = tasks = 0.0
    for baseline, value in enumerate(found.baselines["value"]):
        model = fit(answers, baseline)
        worker, task = float(np.sum(model.variances["worker"])), float(np.sum(model.variances["task"]))
        assert value == pytest.approx(worker / (worker + task))
        workers, tasks = workers + worker, tasks + task
    assert found.value == pytest.approx(workers / (workers + tasks))
    assert found.variances["share"].sum() == pytest.approx(1)


@pytest.mark.slow
def test_interval_profiles_the_pooled_index_and_baselines() -> None:
    found = index_of_labels(crowd(labels(), "x"))
    assert found.interval == "profile"
    assert 0 < found.lower < found.value < found.upper < 0.3
    rows = found.baselines
    assert ((rows["lower"] < rows["value"]) & (rows["value"] < rows["upper"])).all()
    # It is about as wide as those of the baselines: no model adds answers.
    widths = rows["upper"] - rows["lower"]
    assert 0.8 * widths.min() < found.upper - found.lower < 1.25 * widths.max()  # type: ignore[operator]


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_workers_who_do_not_vary_have_a_short_interval_from_zero(seed: int) -> None:
    found = index_of_labels(crowd(labels(deviation=0.0, seed=seed), "x"))
    assert found.lower == 0
    assert found.value <= found.upper < 0.1
    assert found.baselines["upper"].max() < 0.1  # type: ignore[operator]


@pytest.mark.slow
def test_the_bootstrap_near_zero_agrees() -> None:
    answers = crowd(labels(15, 12, seed=2, deviation=0.0), "x")
    lines: list[tuple[int, int]] = []
    profile = index_of_labels(answers)
    found = index_of_labels(answers, 19, 1, lambda done, total: lines.append((done, total)))
    assert found.interval == "bootstrap"
    assert lines == [(number, 19) for number in range(1, 20)]
    assert found.lower < 1e-6
    assert found.upper == pytest.approx(profile.upper, abs=0.08)
    assert Message("spammer_index.bootstrap_baseline", {"baseline": "a"}) in found.notes


@pytest.mark.slow
def test_progress_counts_baselines_and_the_pooled_interval() -> None:
    lines: list[tuple[int, int]] = []
    index_of_labels(crowd(labels(12, 10), "x"), progress=lambda done, total: lines.append((done, total)))
    assert lines == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.slow
def test_interval_ignores_the_names_of_categories() -> None:
    read = labels()
    frame = read.frame.with_columns(pl.col("response").replace({"a": "c", "b": "a", "c": "b"}))
    one, other = spammer_index(read), spammer_index(karat.Judgments(frame, read.scales))
    assert (one.lower, one.upper) == pytest.approx((other.lower, other.upper), abs=1e-3)


@pytest.mark.slow
def test_a_model_without_a_maximum_is_reported() -> None:
    """Every task has one label from everyone: the variance of tasks has no bound."""
    who, what = np.repeat(np.arange(10), 9), np.tile(np.arange(9), 10)
    table = {"participant": [f"w{i}" for i in who], "item": [f"t{j}" for j in what],
             "response": ["abc"[j % 3] for j in what]}  # fmt: skip
    index = spammer_index(karat.Judgments(table, karat.Nominal(["a", "b", "c"])))
    inner = [note.values["note"].code for note in with_code(index.notes, "spammer_index.baseline")]
    assert "spammer_index.not_converged" in inner
    assert 0 <= index.lower <= index.value <= index.upper <= 1


def test_notes_name_categories_by_their_label() -> None:
    # Everybody gives each label equally often, so participants have no variance.
    rows = [(f"p{who}", f"i{item}", "xyz"[(item + (item // 3 % 6 == who)) % 3]) for who in range(6)
            for item in range(36)]  # fmt: skip
    table = pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row")
    fitted = fit(crowd(karat.Judgments(table, karat.Nominal(["x", "y", "z"])), "x"))
    zero = list(with_code(fitted.notes, "fit.zero_category"))
    assert zero
    assert {note.values["category"] for note in zero} <= {"y", "z"}
