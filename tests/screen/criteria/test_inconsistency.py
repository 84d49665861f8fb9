"""Inconsistency: repeated questions and items, aligned."""

from __future__ import annotations

from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.judgments.scales import Scale
from karat.screen.criteria.inconsistency import inconsistency
from karat.screen.evidence import ScreenError
from messages import codes, raises
from screen.judged import message

SEVEN = karat.Ordinal([-3, -2, -1, 0, 1, 2, 3], neutral=0)


def repeated(people: dict[str, list[tuple[Any, ...]]], scale: Scale = SEVEN, **columns: Any) -> karat.Judgments:
    """Every tuple has the answers to one item."""
    rows: list[dict[str, Any]] = []
    for name, items in people.items():
        answers = [(f"i{n}", answer) for n, item in enumerate(items) for answer in item]
        rows += [
            {"participant": name, "item": item, "response": None if answer is None else str(answer), "trial": trial}
            for trial, (item, answer) in enumerate(answers, start=1)
        ]
    return karat.Judgments(pl.DataFrame(rows, infer_schema_length=None).with_columns(**columns), scale)


def scores(judgments: karat.Judgments) -> dict[str, float | None]:
    return dict(inconsistency(judgments).participants.select("participant", "score").iter_rows())


def test_a_semantic_differential_with_polarity() -> None:
    rows = [
        {"participant": who, "item": item, "question": question, "repetition": n, "polarity": polarity,
         "response": str(answer), "trial": trial}
        for who, second in (("steady", -2), ("turned", 2))
        for trial, item in enumerate(("s1", "s2"), start=1)
        for question, n, polarity, answer in (
            ("good-bad", 1, 1, 2), ("good-bad", 2, -1, second), ("long-short", 1, 1, 3)
        )
    ]  # fmt: skip
    evidence = inconsistency(karat.Judgments(pl.DataFrame(rows), SEVEN))
    assert scores(karat.Judgments(pl.DataFrame(rows), SEVEN)) == {"steady": 0.0, "turned": 4.0}
    assert evidence.participants["repeated"].to_list() == [2, 2]
    assert evidence.participants["identical"].to_list() == [1.0, 0.0]


def test_outliers_by_the_stated_rule() -> None:
    people: dict[str, list[tuple[Any, ...]]] = {f"p{n}": [(0, n % 3), (0, 1)] for n in range(9)}
    evidence = inconsistency(repeated(people | {"wild": [(-3, 3), (3, -3)], "once": [(1,), (2,)]}), upper=2.5)
    assert evidence.flagged == ["wild"]
    middle, deviation = evidence.settings["median"], evidence.settings["mad"]
    assert evidence.participants["threshold"][0] == pytest.approx(middle + 2.5 * deviation)
    rows = {row["participant"]: row for row in evidence.participants.to_dicts()}
    wild = {"questions": 2, "difference": 6.0, "comparisons": 2}
    assert message(rows["wild"]) == ("inconsistency.steps", wild)
    assert (rows["once"]["score"], rows["once"]["flagged"]) == (None, False)
    assert message(rows["once"]) == ("inconsistency.once", {})


def test_no_deviation_is_said() -> None:
    same: dict[str, list[tuple[Any, ...]]] = {f"p{n}": [(1, 1)] for n in range(4)}
    evidence = inconsistency(repeated(same | {"p9": [(1, 2)]}), upper=2.5)
    assert evidence.flagged == ["p9"]
    (note,) = evidence.notes
    assert (note.code, note.values) == ("inconsistency.no_deviation", {"scores": 5, "median": 0.0})
    assert inconsistency(repeated(same), upper=2.5).flagged == []
    assert inconsistency(repeated({"p1": [(1, 3)]}), upper=2.5).flagged == []


def differential(seed: int, noise: float, guessers: int = 11) -> karat.Judgments:
    """110 participants rate three sentences on two pairs of adjectives twice, as in the fourth paper."""
    random = np.random.default_rng(seed)
    people: dict[str, list[tuple[Any, ...]]] = {}
    for number in range(110):
        true = random.normal(0, 1.5, (6, 1)) + random.normal(0, noise, (6, 2))
        answers = np.clip(np.round(true), -3, 3).astype(int) if number >= guessers else random.integers(-3, 4, (6, 2))
        people[f"p{number:03}"] = [tuple(row) for row in answers.tolist()]
    return repeated(people)


def test_guessers_of_a_differential_are_found() -> None:
    guessers, found, others = 0, 0, 0
    for seed in range(5):
        flagged = inconsistency(differential(seed, 0.8)).flagged
        found += sum(name < "p011" for name in flagged)
        others += sum(name >= "p011" for name in flagged)
        guessers += 11
    assert found > 0.5 * guessers
    assert others < 0.01 * 5 * 99


def labellers(seed: int, items: int, accuracy: float) -> karat.Judgments:
    """100 participants label items twice; the first ten guess, and the others are right more or less often."""
    random = np.random.default_rng(seed)
    people: dict[str, list[tuple[Any, ...]]] = {}
    for number in range(100):
        right = np.clip(random.normal(accuracy, 0.08), 0.4, 0.99) if number >= 10 else 1 / 3
        answers = np.where(random.random((items, 2)) < right, 0, random.integers(1, 3, (items, 2)))
        people[f"p{number:03}"] = [tuple("abc"[answer] for answer in row) for row in answers]
    return repeated(people, karat.Nominal("abc"))


@pytest.mark.parametrize(("items", "accuracy", "found"), [(6, 0.8, 0), (6, 0.95, 2), (20, 0.8, 1), (40, 0.9, 9)])
def test_labels_of_those_who_are_less_sure_are_not_guesses(items: int, accuracy: float, found: int) -> None:
    flagged = [inconsistency(labellers(seed, items, accuracy)).flagged for seed in range(5)]
    assert sum(name >= "p010" for names in flagged for name in names) <= 0.01 * 5 * 90
    assert sum(name < "p010" for names in flagged for name in names) >= 5 * found


def test_people_of_uneven_noise_are_not_guessing() -> None:
    """The noise differs by a factor of 1.3 up and down; an eighth of the participants guess."""
    random = np.random.default_rng(7)
    wrongly, found = 0, 0
    for _ in range(5):
        people: dict[str, list[tuple[Any, ...]]] = {}
        for number in range(80):
            noise = 0.8 * np.exp(random.normal(0, 0.25))
            true = random.normal(0, 1.5, (8, 1)) + random.normal(0, noise, (8, 2))
            answers = np.clip(np.round(true), -3, 3) if number >= 10 else random.integers(-3, 4, (8, 2))
            people[f"p{number:03}"] = [tuple(row) for row in answers.astype(int).tolist()]
        flagged = inconsistency(repeated(people)).flagged
        wrongly += sum(name >= "p010" for name in flagged)
        found += sum(name < "p010" for name in flagged)
    assert wrongly <= 0.02 * 5 * 70
    assert found > 0.6 * 50


def test_guessing_passes_as_often_as_is_said() -> None:
    evidence = inconsistency(differential(1, 1.0))
    (stated,) = evidence.participants["guess_probability"].unique().to_list()
    (note,) = evidence.notes
    assert (note.code, note.values) == ("passing.guessing", {"p": round(stated, 4), "alpha": 0.05})
    everybody = [inconsistency(differential(seed, 1.0, 110)).participants["score"].to_numpy() for seed in range(15)]
    passed = np.mean(np.concatenate(everybody) <= evidence.participants["threshold"][0])
    assert passed == pytest.approx(stated, abs=0.035)


def test_too_few_repeats_flag_nobody() -> None:
    table = repeated({"p1": [("a", "b"), ("a", "b")], "p2": [("a", "a"), ("b", "b")]}, karat.Nominal(["a", "b"]))
    evidence = inconsistency(table)
    assert (evidence.flagged, evidence.participants["threshold"].to_list()) == ([], [None, None])
    assert codes(evidence.notes) == ["inconsistency.not_judged"]
    assert codes(inconsistency(repeated({"p1": [(1, 10)] * 9}, karat.Magnitude())).notes) == [
        "inconsistency.not_judged"
    ]


def test_choices_count_the_item_and_not_the_side() -> None:
    table = repeated({"p1": [("left", "right")], "p2": [("left", "left")]}, karat.Choice())
    assert scores(table) == {"p1": 1.0, "p2": 0.0}
    sides = table.frame.with_columns(
        left=pl.when(pl.col("trial") == 1).then(pl.lit("a")).otherwise(pl.lit("b")),
        right=pl.when(pl.col("trial") == 1).then(pl.lit("b")).otherwise(pl.lit("a")),
    )
    assert scores(karat.Judgments(sides, karat.Choice())) == {"p1": 0.0, "p2": 1.0}


def test_an_item_in_another_condition_is_another_sentence() -> None:
    answers = {"participant": ["p1"] * 4, "item": ["a"] * 4, "condition": ["good", "bad", "good", None],
               "response": [5, 1, 4, 2], "trial": [1, 2, 3, 4]}  # fmt: skip
    found = inconsistency(karat.Judgments(answers, karat.Ordinal(5))).participants.row(0, named=True)
    assert (found["score"], found["repeated"], found["comparisons"]) == (1.0, 1, 1)
    once = {name: column[:2] for name, column in answers.items()}
    with raises(ScreenError, "inconsistency.no_repeats"):
        inconsistency(karat.Judgments(once, karat.Ordinal(5)))


def test_categories_and_numbers() -> None:
    letters = karat.Nominal(["a", "b", "c"])
    half = repeated({"p1": [("a", "c"), ("b", "b")]}, letters)
    assert scores(half) == {"p1": pytest.approx(sqrt(0.5))}
    values = {"questions": 2, "difference": 0.5, "comparisons": 2}
    assert message(inconsistency(half).participants.row(0, named=True)) == ("inconsistency.labels", values)
    assert scores(repeated({"p1": [(10, 30)]}, karat.Continuous(0, 100))) == {"p1": 20.0}
    polarity = pl.when(pl.col("trial") == 2).then(-1).otherwise(1)
    assert scores(repeated({"p1": [(10, 90)]}, karat.Continuous(0, 100), polarity=polarity)) == {"p1": 0.0}
    assert scores(repeated({"p1": [("no", "yes")]}, karat.Binary(("no", "yes")))) == {"p1": 1.0}
    assert scores(repeated({"p1": [(1, 10)]}, karat.Magnitude())) == {"p1": pytest.approx(2.302585, abs=1e-6)}


def test_different_scales_are_compared_by_their_width() -> None:
    table = repeated({"p1": [(1, 5), (1, 2)]}, karat.Ordinal(5)).frame.with_columns(question=pl.col("item"))
    evidence = inconsistency(karat.Judgments(table, {"i0": karat.Ordinal(5), "i1": karat.Nominal(["1", "2"])}))
    assert evidence.participants["score"][0] == 1.0
    assert codes(evidence.notes)[0] == "inconsistency.several_scales"
    assert evidence.participants["message"][0] == "inconsistency.widths"
    numbers = {"i0": karat.Magnitude(), "i1": karat.Ordinal(5)}
    assert inconsistency(karat.Judgments(table, numbers)).participants["score"][0] == pytest.approx(sqrt(1.0625 / 2))


def test_practice_and_missing_answers_are_left_out() -> None:
    table = repeated({"p1": [(1, 1, None)], "p2": [(1, None)]})
    assert scores(table) == {"p1": 0.0, "p2": None}
    with raises(ScreenError, "inconsistency.no_repeats"):
        inconsistency(repeated({"p1": [(1, 2)]}, function=pl.lit("practice")))
    with raises(ScreenError, "setting.refused", setting="upper"):
        inconsistency(table, upper=0)


ANSWERS = st.lists(st.lists(st.integers(-3, 3), min_size=1, max_size=4).map(tuple), min_size=1, max_size=5)


@given(st.lists(ANSWERS, min_size=1, max_size=4))
def test_the_score_is_the_root_mean_square_of_all_pairs(people: list[list[tuple[int, ...]]]) -> None:
    named: dict[str, list[tuple[Any, ...]]] = {f"p{n}": list(items) for n, items in enumerate(people)}
    pairs = {name: [a - b for item in items for a, b in combinations(item, 2)] for name, items in named.items()}
    if not any(pairs.values()):
        with raises(ScreenError, "inconsistency.no_repeats"):
            inconsistency(repeated(named))
        return
    found = scores(repeated(named))
    for name, differences in pairs.items():
        plain = sqrt(sum(d * d for d in differences) / len(differences)) if differences else None
        assert found[name] == (None if plain is None else pytest.approx(plain, abs=1e-9))
