"""Labels by majority, by weights and by Dawid and Skene's model."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.measure.consensus import Consensus, consensus
from karat.measure.result import MeasureError
from karat.messages import Message
from karat.models.dawid_skene import dawid_skene
from messages import codes, raises

SMALL = {
    "participant": ["p1", "p2", "p3"] * 3, "item": ["a"] * 3 + ["b"] * 3 + ["c"] * 3,
    "response": ["x", "x", "y", "y", "y", "x", "x", "y", "z"],
}  # fmt: skip
LABELS = karat.Nominal(["x", "y", "z"])


def right(found: Consensus, judgments: karat.Judgments) -> float:
    key = judgments.frame.select("item", "expected").unique()
    joined = found.labels.join(key, on="item")
    return float((joined["label"] == joined["expected"]).mean())


def test_majority_by_hand() -> None:
    found = consensus(karat.Judgments(SMALL, LABELS), "majority")
    rows = found.table().sort("item").to_dicts()
    assert [(row["label"], round(row["probability"], 3), row["tie"]) for row in rows] == [
        ("x", 0.667, False), ("y", 0.667, False), ("x", 0.333, True),
    ]  # fmt: skip
    assert found.soft_labels().columns == ["item", "x", "y", "z"]
    assert found.confusion.height == 0


def test_given_weights_decide() -> None:
    judgments = karat.Judgments(SMALL, LABELS)
    found = consensus(judgments, "weighted", weights={"p1": 0.1, "p2": 0.1, "p3": 1.0})
    assert found.labels.sort("item")["label"].to_list() == ["y", "x", "z"]
    assert found.participants["weight"].to_list() == [0.1, 0.1, 1.0]
    equal = consensus(judgments, "weighted", weights=dict.fromkeys(["p1", "p2", "p3"], 2.0))
    assert equal.soft_labels().equals(consensus(judgments, "majority").soft_labels())
    with raises(MeasureError, "consensus.no_weight", participant="p2", more=1):
        consensus(judgments, "weighted", weights={"p1": 1})
    with raises(MeasureError, "consensus.weights"):
        consensus(judgments, "weighted", weights={"p1": 1, "p2": -1, "p3": 1})


def test_quality_outweighs_numbers() -> None:
    """Three who know and four who guess: weights and the model find what the majority does not."""
    random = np.random.default_rng(5)
    truth = random.integers(0, 3, 300)
    rows = []
    for item, label in enumerate(truth):
        for person in range(7):
            answer = label if random.random() < (0.95 if person < 3 else 0.4) else random.integers(0, 3)
            rows.append({"participant": f"p{person}", "item": f"i{item}", "response": "xyz"[answer],
                         "expected": "xyz"[label]})  # fmt: skip
    judgments = karat.Judgments(pl.DataFrame(rows), LABELS)
    plain, weighted, model = (right(consensus(judgments, method), judgments)
                              for method in ("majority", "weighted", "dawid-skene"))  # fmt: skip
    assert plain < weighted <= model + 0.01
    assert model > 0.97
    people = consensus(judgments).participants.sort("participant")["right"]
    assert people[:3].min() > people[3:].max()


def test_guessers_have_no_weight() -> None:
    crowd = karat.datasets.load("crowd")
    weights = consensus(crowd, "weighted").participants.join(crowd.participants, on="participant")
    guessing = weights.filter(pl.col("behaviour") == "random guessing")
    assert guessing.height == 0 or guessing["weight"].median() < 0.5 * weights["weight"].median()
    assert weights["weight"].min() >= 0


def test_the_model_is_that_of_the_engine() -> None:
    crowd = karat.datasets.load("crowd")
    found = consensus(crowd, iterations=3, tolerance=0.0)
    (fit,) = [note for note in found.notes if note.code == "consensus.not_converged"]
    assert fit == Message("consensus.not_converged", {"method": "dawid-skene", "n": 3})
    assert str(found).endswith(str(fit))
    names = crowd.frame["item"].unique(maintain_order=True).to_list()
    people = crowd.frame["participant"].unique(maintain_order=True).to_list()
    item = crowd.frame["item"].replace_strict(names, list(range(80)), return_dtype=pl.Int64)
    rater = crowd.frame["participant"].replace_strict(people, list(range(120)), return_dtype=pl.Int64)
    engine = dawid_skene(item, rater, crowd.frame["response"].cast(pl.Int64), iterations=3, tolerance=0.0)
    np.testing.assert_allclose(found.soft_labels().select("0", "1").to_numpy(), engine.posteriors)
    row = found.confusion.filter(participant="w007", truth="1", answer="0").row(0, named=True)
    assert row["probability"] == pytest.approx(engine.errors[people.index("w007"), 0, 1])
    sums = found.confusion.group_by("participant", "truth").agg(pl.col("probability").sum())
    np.testing.assert_allclose(sums["probability"], 1)


def test_ordered_labels_are_medians() -> None:
    columns = {"participant": [f"p{n}" for n in range(5)], "item": ["a"] * 5, "response": [1, 1, 3, 4, 5]}
    found = consensus(karat.Judgments(columns, karat.Ordinal(5)), "majority")
    assert found.labels.select("label", "mean").row(0) == ("3", pytest.approx(2.8))
    even = {"participant": ["p1", "p2"], "item": ["a", "a"], "response": [2, 4]}
    assert consensus(karat.Judgments(even, karat.Ordinal(5)), "majority").labels["tie"].to_list() == [True]


def test_ordered_errors_have_bias_and_precision() -> None:
    likert = karat.datasets.load("likert")
    found = consensus(likert, conditions=["order", "integration"])
    assert {"bias", "precision"} <= set(found.participants.columns)
    assert found.confusion.height == 48 * 25
    free = consensus(likert, errors="free", conditions=["order", "integration"])
    assert "bias" not in free.participants.columns
    with raises(MeasureError, "consensus.unordered"):
        consensus(karat.datasets.load("crowd"), errors="ordered")


def test_questions_are_labelled_by_themselves() -> None:
    columns = {key: value * 2 for key, value in SMALL.items()} | {"question": ["q1"] * 9 + ["q2"] * 9}
    found = consensus(karat.Judgments(columns, LABELS), "majority")
    assert found.labels.select("question", "item").height == 6
    assert found.soft_labels().columns == ["question", "item", "x", "y", "z"]
    slider = karat.Continuous(0, 1)
    numbers = {key: [*value, 0.5 if key == "response" else value[0]] for key, value in columns.items()}
    numbers["question"][-1] = "q3"
    mixed = consensus(karat.Judgments(numbers, {"q1": LABELS, "q2": LABELS, "q3": slider}), "majority")
    numbers = Message("consensus.numbers")
    assert Message("measure.about_question", {"question": "q3", "note": numbers}) in mixed.notes
    with raises(MeasureError, "consensus.no_categories"):
        consensus(karat.Judgments(SMALL | {"response": [0.5] * 9}, slider))


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"method": "vote"}, "setting.refused"),
        ({"method": "majority", "weights": {}}, "consensus.weights_without_method"),
        ({"method": "majority", "errors": "free"}, "consensus.errors"),
        ({"iterations": 0}, "setting.refused"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, object], code: str) -> None:
    with raises(MeasureError, code):
        consensus(karat.Judgments(SMALL, LABELS), **settings)


@pytest.mark.slow
@given(st.integers(0, 5000), st.sampled_from(["majority", "weighted", "dawid-skene", "mace", "glad"]))
def test_probabilities_sum_to_one_and_labels_fit_them(seed: int, method: str) -> None:
    random = np.random.default_rng(seed)
    number = int(random.integers(1, 40))
    columns = {"participant": [f"p{n}" for n in random.integers(0, 6, number)],
               "item": [f"i{n}" for n in random.integers(0, 8, number)],
               "response": [str(n) for n in random.choice(["x", "y", "z"], number)]}  # fmt: skip
    columns["trial"] = list(range(1, number + 1))
    found = consensus(karat.Judgments(columns, LABELS), method)
    soft = found.soft_labels().select("x", "y", "z").to_numpy()
    np.testing.assert_allclose(soft.sum(axis=1), 1)
    highest = [found.labels["label"][row] == "xyz"[int(soft[row].argmax())] for row in range(len(soft))]
    assert all(highest)
    assert codes(found.summary) == ["consensus.labels", "consensus.right"]
    assert (found.summary[0].values["items"], found.summary[0].values["method"]) == (len(soft), method)


def test_labels_are_compared_with_recorded_answers() -> None:
    keyed = SMALL | {"expected": ["x"] * 3 + ["x|y"] * 3 + [None, "z", "z"]}
    found = consensus(karat.Judgments(keyed, LABELS), "majority")
    (note,) = [note for note in found.notes if note.code == "consensus.key"]
    assert (note.values["n"], note.values["sure"]) == (3, None)
    assert note.values["right"] == 0.67
    assert "consensus.key" not in codes(consensus(karat.Judgments(SMALL, LABELS), "majority").notes)
    modelled = consensus(karat.Judgments(keyed, LABELS))
    assert {"consensus.key", "consensus.independent"} <= set(codes(modelled.notes))
