"""The noise ceiling and decision studies, where the answer is known."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karat
from karat.measure.reliability.decision_study import decision_study
from karat.measure.reliability.noise_ceiling import noise_ceiling
from karat.measure.result import MeasureError
from measure.retest import rated_twice
from messages import codes, raises


def slider(items: int = 120, people: int = 30, seed: int = 1) -> tuple[karat.Judgments, np.ndarray]:
    """Variances of items, participants and the rest: 1, 0.5 and 4."""
    random = np.random.default_rng(seed)
    truth = random.normal(size=items)
    table = truth[:, None] + np.sqrt(0.5) * random.normal(size=people) + 2 * random.normal(size=(items, people))
    item, person = np.nonzero(np.ones_like(table))
    frame = {
        "participant": [f"p{p}" for p in person],
        "item": [f"i{i:03d}" for i in item],
        "response": table[item, person],
    }
    return karat.Judgments(frame, karat.Continuous()), truth


def test_the_truth_reaches_the_ceiling_and_not_more() -> None:
    judgments, truth = slider()
    found = {row["ceiling"]: row for row in noise_ceiling(judgments, samples=50).table().to_dicts()}
    means = judgments.frame.group_by("item").agg(pl.col("response").cast(pl.Float64).mean()).sort("item")["response"]
    reached = np.corrcoef(truth, means.to_numpy())[0, 1]
    assert found["predictions with means"]["estimate"] == pytest.approx(reached, abs=0.03)
    assert found["predictions with means"]["estimate"] == pytest.approx(np.sqrt(30 / 34), abs=0.03)
    table = judgments.frame["response"].cast(pl.Float64).to_numpy().reshape(120, 30)
    single = np.mean([np.corrcoef(truth, table[:, person])[0, 1] for person in range(30)])
    low, high = (found[f"a participant with the mean of {who}"]["estimate"] for who in ("the others", "all"))
    assert low - 0.02 < single < high
    for row in found.values():
        assert row["lower"] < row["estimate"] < row["upper"]


def test_labels_have_the_share_of_the_majority() -> None:
    crowd = karat.datasets.load("crowd")
    found = noise_ceiling(crowd, samples=20)
    row = found.table().filter(pl.col("ceiling") == "answers equal to the majority of the others").row(0, named=True)
    shares = crowd.frame.group_by("item").agg(
        most=pl.col("response").value_counts().struct.field("count").max() / pl.len()
    )
    assert row["estimate"] == pytest.approx(shares["most"].mean(), abs=0.01)
    assert codes(found.summary) == ["noise_ceiling.participants", "noise_ceiling.means", "noise_ceiling.majority"]
    assert found.summary[2].values["estimate"] == pytest.approx(row["estimate"], abs=0.005)
    nominal = karat.Judgments(crowd.frame, karat.Nominal(["0", "1"]))
    assert noise_ceiling(nominal, samples=0).table().height == 1
    few = nominal.frame.filter(pl.col("participant").is_in(nominal.participants["participant"].head(4).implode()))
    assert "noise_ceiling.few_others" in codes(noise_ceiling(karat.Judgments(few, nominal.scales), samples=0).notes)
    assert not noise_ceiling(nominal, samples=0).notes


def test_the_majority_counts_each_participant_once() -> None:
    answers = {"p1": "aaaaaa", "p2": "aaaaaa", "p3": "b"}
    rows = [(who, f"i{place}", answer) for who, text in answers.items() for place, answer in enumerate(text)]
    frame = pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row")
    (row,) = noise_ceiling(karat.Judgments(frame, karat.Nominal(["a", "b"])), samples=0).table().to_dicts()
    # In the first item, each of p1 and p2 has one other who agrees and one who does not.
    assert row["estimate"] == pytest.approx((5.5 / 6 + 5.5 / 6 + 0) / 3)


def test_shares_of_random_answers_are_not_below_none() -> None:
    random = np.random.default_rng(2)
    rows = {"participant": [f"p{n // 6}" for n in range(48)], "item": [f"i{n % 6}" for n in range(48)]}
    rows["response"] = random.integers(1, 8, 48).astype(str).tolist()
    table = noise_ceiling(karat.Judgments(rows, karat.Ordinal(7)), samples=100).table()
    row = table.filter(pl.col("ceiling") == "answers equal to the majority of the others").row(0, named=True)
    assert row["lower"] == 0 < row["estimate"] < row["upper"]


@pytest.mark.slow
def test_a_decision_study_finds_how_many_are_needed() -> None:
    """Reliability .8 takes 4 times the error of one answer: 16 participants, 18 absolute; 32 and 40 items."""
    judgments, _ = slider(items=600, people=300)
    found = decision_study(judgments, wanted=0.8, samples=40)
    needed = {(row["measured"], row["kind"]): row for row in found.table().to_dicts()}
    for key, number in {("stimuli", "relative"): 16, ("stimuli", "absolute"): 18, ("participants", "relative"): 32,
                        ("participants", "absolute"): 40}.items():  # fmt: skip
        assert needed[key]["needed"] == pytest.approx(number, rel=0.2)
        assert needed[key]["lower"] <= needed[key]["needed"] <= needed[key]["upper"]
    assert dict(found.variances.select("source", "variance").iter_rows()) == pytest.approx(
        {"stimuli": 1.0, "participants": 0.5, "rest": 4.0}, rel=0.2
    )


def test_what_is_needed_gives_what_is_wanted() -> None:
    found = decision_study(karat.datasets.load("likert"), wanted=0.9, samples=0)
    row = found.needed.filter(pl.col("measured") == "stimuli", pl.col("kind") == "relative").row(0, named=True)
    plan = found.plan([row["needed"] - 1, row["needed"]], [24])
    assert plan["stimuli_relative"][0] < 0.9 <= plan["stimuli_relative"][1]
    variances = dict(found.variances.select("source", "variance").iter_rows())
    n = row["needed"]
    expected = variances["participants"] / n + variances["stimuli"] / 24 + variances["rest"] / (24 * n)
    assert plan["standard_error"][1] == pytest.approx(np.sqrt(expected))


def test_items_that_do_not_differ_cannot_be_ordered() -> None:
    random = np.random.default_rng(3)
    frame = {"participant": [f"p{n % 10}" for n in range(200)], "item": [f"i{n // 10}" for n in range(200)],
             "response": random.normal(size=200) + 5.0 * (np.arange(200) % 10)}  # fmt: skip
    found = decision_study(karat.Judgments(frame, karat.Continuous()), samples=20)
    row = found.needed.filter(pl.col("measured") == "stimuli", pl.col("kind") == "relative").row(0, named=True)
    assert row["needed"] is None or row["needed"] > 50
    assert ("decision_study.unbounded" in codes(found.notes)) == found.needed["upper"].has_nulls()
    assert found.summary[0].code == (
        "decision_study.equal_stimuli" if row["needed"] is None else "decision_study.stimuli"
    )


def test_what_cannot_be_studied_is_reported() -> None:
    nominal = karat.Judgments(karat.datasets.load("crowd").frame, karat.Nominal(["0", "1"]))
    with raises(MeasureError, "decision_study.no_numbers"):
        decision_study(nominal)
    with raises(MeasureError, "setting.refused", setting="wanted"):
        decision_study(rated_twice(), wanted=1.0)
    alone = karat.Judgments({"participant": ["p1", "p2"], "item": ["a", "b"], "response": [1, 2]}, karat.Ordinal(5))
    with raises(MeasureError, "noise_ceiling.no_shared_stimulus"):
        noise_ceiling(alone)
    with raises(MeasureError, "decision_study.no_shared_stimulus"):
        decision_study(alone)
    with raises(MeasureError, "decision_study.unknown_question"):
        decision_study(rated_twice(), samples=0).plan([10], [10], question="x")


def test_no_numbers_rest_on_a_negative_variance() -> None:
    """Six groups label items of their own and agree; one participant labels all items and errs in every seventh."""
    rows = []
    for block in range(6):
        for item in range(15):
            right = 1 + 2 * ((block + (item % 5 == 0)) % 2)
            rows += [(f"b{block}{k}", f"i{block}-{item}", str(right)) for k in range(4)]
            rows.append(("all", f"i{block}-{item}", str(4 - right if item % 7 == 0 else right)))
    frame = pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row")
    with raises(MeasureError, "decision_study.inseparable"):
        decision_study(karat.Judgments(frame, karat.Ordinal(3)), samples=0)
