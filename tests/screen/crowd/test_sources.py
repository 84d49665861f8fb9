"""Groups side by side: each measure is that of its own function, intervals included, and missing ones are reported."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karat
from karat.messages import with_code
from karat.models.agreement import fleiss_kappa
from karat.models.proportions import wilson
from karat.screen import (
    ScreenError,
    SourceComparison,
    compare,
    deletion,
    markov,
    risk_levels,
    spammer_index,
    time_filter,
)
from karat.screen.crowd.answers import crowd
from karat.screen.crowd.sources import jackknife
from messages import codes, raises

WHOLE = karat.datasets.load("crowd")
ATTENTIVE = pl.col("behaviour") == "attentive"
CROWD = WHOLE.without(WHOLE.participants.filter(ATTENTIVE)["participant"].to_list()[36:])
ODD = CROWD.participants.filter(~ATTENTIVE)["participant"].to_list()[:6]


@pytest.fixture(scope="module")
def both() -> SourceComparison:
    return compare({"all": CROWD, "most": CROWD.without(ODD)}, cutoffs="published", rule="mean")


@pytest.mark.slow
def test_each_number_is_that_of_its_function(both: SourceComparison) -> None:
    row = both.groups.row(0, named=True)
    index, patterns, distances = spammer_index(CROWD), markov(CROWD, "published"), deletion(CROWD, by="published")
    assert (row["workers"], row["tasks"], row["answers"]) == (48, 80, 3840)
    assert (row["spammer_index"], row["lower"], row["upper"]) == (index.value, index.lower, index.upper)
    assert {name: row[name] for name in index.agreement} == index.agreement
    assert row["markov"] == len(patterns.flagged)
    assert row["markov_and_time"] == len({*patterns.flagged} & {*time_filter(CROWD, "mean").flagged})
    assert row["primary_choice"] + row["repeated_pattern"] + row["random_guessing"] == row["markov"]
    assert row["deletion"] == len(distances.flagged)
    levels = risk_levels(CROWD, {*patterns.flagged, *distances.flagged}).participants["level"].drop_nulls()
    assert row["high"] + row["moderate"] + row["undetermined"] == len(levels)
    assert row["high"] == (levels == "high").sum()


def test_intervals_hold_their_values(both: SourceComparison) -> None:
    inside = (pl.col("lower") <= pl.col("value")) & (pl.col("value") <= pl.col("upper"))
    assert both.intervals.select(inside.all()).item()
    share = both.intervals.filter(pl.col("measure") == "markov", pl.col("group") == "all").row(0, named=True)
    low, high = wilson(share["number"], 48)
    assert (share["lower"], share["upper"]) == (float(low), float(high))
    kinds = set(both.intervals["measure"].to_list())
    assert {
        "spammer_index",
        "fleiss_kappa",
        "icc_agreement",
        "icc_consistency",
        "icc_fixed_error",
        "deletion",
        "high",
    } <= kinds


def test_icc_interval_with_fixed_error_is_the_indexs(both: SourceComparison) -> None:
    rows = {row["measure"]: row for row in both.intervals.filter(pl.col("group") == "all").to_dicts()}
    index, fixed = rows["spammer_index"], rows["icc_fixed_error"]
    of = dict(spammer_index(CROWD).variances.select("source", "variance").iter_rows())
    total = of["workers"] + of["tasks"]
    for end in ("value", "lower", "upper"):
        assert fixed[end] == pytest.approx(index[end] * total / (total + np.pi**2 / 3), rel=1e-6)


def test_side_by_side(both: SourceComparison) -> None:
    table = both.table()
    assert table.columns == ["measure", "all", "most"]
    assert table.filter(pl.col("measure") == "workers").row(0)[1:] == (48, 42)
    assert len(str(both).splitlines()) == 2
    assert both.groups["spammer_index"][0] > both.groups["spammer_index"][1]
    assert "compare.different_items" not in codes(both.notes)


def test_without_the_one_who_differs_nothing_varies() -> None:
    answers = {"p1": "0101", "p2": "1111", "p3": "1111"}
    table = {
        "participant": [name for name in answers for _ in range(4)], "item": list("abcd") * 3,
        "response": [answer for own in answers.values() for answer in own],
    }  # fmt: skip
    found = jackknife(crowd(karat.Judgments(table, karat.Binary()), "compare"))
    assert all(np.isnan(end) for _, *ends in found for end in ends)


def test_the_jackknife_of_kappa_worker_by_worker() -> None:
    few = CROWD.frame["participant"].unique(maintain_order=True)[:12].to_list()
    answers = crowd(karat.Judgments(CROWD.frame.filter(pl.col("participant").is_in(few)), CROWD.scales), "x")
    name, lower, upper = jackknife(answers)[0]
    without = [
        fleiss_kappa(answers.task[answers.worker != i], answers.response[answers.worker != i]) for i in range(12)
    ]
    error = np.sqrt(11 / 12 * np.sum((np.array(without) - np.mean(without)) ** 2))
    assert name == "fleiss_kappa"
    # The quantile of t with 11 degrees of freedom.
    assert upper - lower == pytest.approx(2 * 2.200985 * error, rel=1e-5)


@pytest.mark.slow
def test_what_cannot_be_computed_is_null_and_reported() -> None:
    untimed = karat.Judgments(CROWD.frame.drop("rt"), CROWD.scales)
    other = CROWD.frame.with_columns(item=pl.col("item") + "b")
    found = compare({"timed": karat.Judgments(other, CROWD.scales), "untimed": untimed}, cutoffs="published")
    assert found.groups["high"].to_list()[1] is None
    assert found.groups["markov_and_time"].to_list()[1] is None
    assert found.groups["high"].to_list()[0] is not None
    inner = [
        note.values["note"] for note in with_code(found.notes, "compare.note") if note.values["group"] == "untimed"
    ]
    assert "time_filter" in [note.values["criterion"] for note in with_code(inner, "compare.not_computed")]
    assert "compare.different_items" in codes(found.notes)


@pytest.mark.slow
def test_labels_have_no_intraclass_correlations() -> None:
    random = np.random.default_rng(2)
    who, what = np.repeat(np.arange(14), 16), np.tile(np.arange(16), 14)
    logits = random.normal(0, 0.5, (14, 3))[who] + random.normal(0, 2, (16, 3))[what]
    chosen = np.argmax(logits + random.gumbel(size=logits.shape), axis=1)
    table = {"participant": [f"w{i}" for i in who], "item": [f"t{j}" for j in what],
             "response": ["abc"[k] for k in chosen], "rt": np.exp(random.normal(size=len(who)))}  # fmt: skip
    labels = karat.Judgments(table, karat.Nominal(["a", "b", "c"]))
    found = compare({"one": labels, "two": labels.without(["w0"])}, simulations=200)
    assert found.groups["icc_agreement"].to_list() == [None, None]
    assert "icc_agreement" not in found.intervals["measure"].to_list()
    assert found.groups["fleiss_kappa"].null_count() == 0
    fixed = found.intervals.filter(pl.col("measure") == "icc_fixed_error").row(0, named=True)
    assert fixed["lower"] < fixed["value"] < fixed["upper"]


def test_one_group_is_none() -> None:
    with raises(ScreenError, "compare.groups"):
        compare({"all": CROWD})
