"""The Spammer Index: its formula, its interval, labels and what it reports."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import karat
from karat.messages import NotComputed
from karat.screen import SpammerIndex, spammer_index
from karat.screen.crowd.answers import crowd, fit
from karat.screen.crowd.spammer_index import index_unasked
from messages import codes, raises

CROWD = karat.datasets.load("crowd")


def labels(workers: int = 25, tasks: int = 20, seed: int = 1, deviation: float = 0.7) -> karat.Judgments:
    random = np.random.default_rng(seed)
    who, what = np.repeat(np.arange(workers), tasks), np.tile(np.arange(tasks), workers)
    logits = random.normal(0, deviation, (workers, 3))[who] + random.normal(0, 2, (tasks, 3))[what]
    chosen = np.argmax(logits + random.gumbel(size=logits.shape), axis=1)
    frame = {
        "participant": [f"w{i}" for i in who],
        "item": [f"t{j}" for j in what],
        "response": ["abc"[k] for k in chosen],
    }
    return karat.Judgments(frame, karat.Nominal(["a", "b", "c"]))


def test_it_is_the_share_of_the_variance_between_workers() -> None:
    index = spammer_index(CROWD)
    variances = dict(index.variances.select("source", "variance").iter_rows())
    assert index.value == pytest.approx(variances["workers"] / (variances["workers"] + variances["tasks"]))
    assert 0 <= index.lower < index.value < index.upper <= 1
    assert index.interval == "profile"
    assert index.beside({"markov": 12}).suspicious == round(index.value * 120)
    model = fit(crowd(CROWD, "x"))
    assert index.log_likelihood == model.log_likelihood


@pytest.mark.slow
def test_missing_cells_are_handled() -> None:
    frame = CROWD.frame.sample(fraction=0.6, seed=1, shuffle=False)
    partly = spammer_index(karat.Judgments(frame, CROWD.scales))
    assert partly.value == pytest.approx(spammer_index(CROWD).value, abs=0.05)
    assert np.isfinite(partly.agreement["icc_agreement"])


@pytest.mark.slow
def test_labels_have_an_index_for_every_baseline_and_one_without() -> None:
    index = spammer_index(labels())
    assert index.baselines is not None
    assert index.baselines["baseline"].to_list() == ["a", "b", "c"]
    assert index.baselines["value"].n_unique() == 3
    assert index.baselines["value"].min() <= index.value <= index.baselines["value"].max()  # type: ignore[operator]
    assert "spammer_index.pooled" in codes(index.notes)
    assert np.isnan(index.agreement["icc_agreement"])


@pytest.mark.slow
def test_pooled_index_ignores_the_names_of_categories() -> None:
    read = labels()
    turned = {"a": "c", "b": "a", "c": "b"}
    frame = read.frame.with_columns(pl.col("response").replace(turned))
    assert spammer_index(karat.Judgments(frame, read.scales)).value == pytest.approx(
        spammer_index(read).value, abs=1e-5
    )


@pytest.mark.slow
def test_bootstrap_interval_reports_progress_and_repeats_by_seed() -> None:
    small = karat.Judgments(
        CROWD.frame.filter(pl.col("item").is_in(CROWD.frame["item"].unique().sort()[:25])), CROWD.scales
    )
    lines: list[tuple[int, int]] = []
    first = spammer_index(small, simulations=12, seed=3, progress=lambda done, total: lines.append((done, total)))
    again = spammer_index(small, simulations=12, seed=3)
    assert (first.lower, first.upper) == (again.lower, again.upper)
    assert first.interval == "bootstrap"
    assert lines[-1] == (12, 12)
    assert first.lower < first.value < first.upper


@pytest.mark.slow
def test_ratings_choices_and_conditions() -> None:
    likert = karat.datasets.load("likert")
    items, found = spammer_index(likert), spammer_index(likert, conditions=None)
    stated = spammer_index(likert, conditions=["order", "integration"])
    assert found.family == items.family == "ordinal"
    assert (found.value, found.log_likelihood) == (stated.value, stated.log_likelihood)
    assert found.log_likelihood > items.log_likelihood
    with raises(karat.screen.ScreenError, "unknown.column", name="ordr", close="order"):
        spammer_index(likert, conditions=["ordr"])


@pytest.mark.parametrize(
    ("people", "items", "answers", "scale", "why"),
    [
        (["p"] * 4, list("abcd"), ["1", "0"] * 2, karat.Binary(("0", "1")), "crowd.too_few"),
        (["p", "p", "q", "q"], list("abab"), ["1"] * 4, karat.Binary(("0", "1")), "crowd.same_answer"),
        (["p", "q"], ["a", "a"], ["1", "2"], karat.Magnitude(), "crowd.no_categories"),
    ],
)
def test_what_cannot_be_compared_is_an_error(
    people: list[str], items: list[str], answers: list[str], scale: karat.judgments.scales.Scale, why: str
) -> None:
    with raises(karat.screen.ScreenError, why):
        spammer_index(karat.Judgments({"participant": people, "item": items, "response": answers}, scale))


def test_it_reads_as_a_sentence_that_accuses_nobody() -> None:
    found = spammer_index(CROWD)
    (message,) = found.beside({"markov": 15}).summary
    assert (message.code, message.values["suspicious"]) == ("spammer_index.suspicious", 13)


@pytest.mark.parametrize("value", [0.0, 0.3])
def test_an_interval_from_nothing_to_everything_says_nothing(value: float) -> None:
    found = replace(spammer_index(CROWD).beside({"markov": 15}), value=value, lower=0.0, upper=0.95)
    assert codes(found.summary) == ["spammer_index.unknown"]


def test_a_number_of_participants_needs_its_conditions() -> None:
    found = spammer_index(CROWD)
    assert codes(found.doubts) == ["spammer_index.alone"]
    assert found.suspicious is None
    # Completion and scale use say nothing of careless answers, and 40 are more than the index allows for.
    for flagged in ({"completion": 13, "scale_use": 13}, {"markov": 40}, {"markov": 0}):
        one = found.beside(flagged)
        assert codes(one.doubts) == ["spammer_index.no_criterion"]
        assert one.summary[0].code == "spammer_index.raised"
    alike = found.variances.with_columns(
        pl.when(pl.col("source") == "tasks").then(1.0).otherwise(pl.col("variance")).alias("variance")
    )
    assert codes(replace(found.beside({"markov": 13}), variances=alike).doubts) == ["spammer_index.items_alike"]


def test_what_takes_long_is_left_out() -> None:
    answers = [(f"w{who}", f"t{item}", "abcd"[(who + item) % 4]) for who in range(150) for item in range(150)]
    table = pl.DataFrame(answers, schema=["participant", "item", "response"], orient="row")
    labels = karat.Judgments(table.gather_every(11), karat.Nominal("abcd"))
    screening = karat.screen.run(labels, {"completion": {}})
    assert index_unasked(screening, only_quick=True) == NotComputed("spammer_index.not_quick")
    assert index_unasked(screening, longest=1).code == "spammer_index.takes_long"
    many = karat.screen.run(karat.Judgments(table, karat.Ordinal(["a", "b", "c", "d"])), {"completion": {}})
    assert index_unasked(many, only_quick=True) == NotComputed("spammer_index.not_quick")


def test_ratings_are_never_read_as_a_number_of_participants() -> None:
    likert = karat.datasets.load("likert")
    screening = karat.screen.run(likert, {"person_total": {}, "exclude": None})
    index = index_unasked(screening)
    assert isinstance(index, SpammerIndex)
    assert "spammer_index.ordered" in codes(index.doubts)
