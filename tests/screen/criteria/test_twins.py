"""Participants whose answers agree with each other more than the items explain."""

import numpy as np
import polars as pl
import pytest

import karat
from karat import Judgments, Ordinal
from karat.screen import ScreenError, twins
from karat.screen.criteria.twins import answers_of
from messages import raises

LEVELS = ("1", "2", "3", "4", "5")


def crowd(people: int = 14, items: int = 90, seed: int = 3) -> np.ndarray:
    """Answers of people who answer for themselves: item, participant and chance."""
    random = np.random.default_rng(seed)
    where = random.normal(0, 1.2, items) + random.normal(0, 0.3, (people, 1)) + random.normal(0, 0.9, (people, items))
    return np.digitize(where, [-1.5, -0.5, 0.5, 1.5])


def judged(table: np.ndarray) -> Judgments:
    rows = [
        (f"p{person:02}", f"i{item:03}", LEVELS[level])
        for person, own in enumerate(table)
        for item, level in enumerate(own)
        if level >= 0
    ]
    return Judgments(pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row"), Ordinal(LEVELS))


def with_copies(share: float, copies: int = 2) -> np.ndarray:
    """The last participants answer as the first does, but for a share of answers."""
    table, random = crowd(), np.random.default_rng(5)
    for place in range(1, copies):
        own = table[0].copy()
        again = random.random(len(own)) < share
        own[again] = random.permutation(own[again])
        table[-place] = own
    return table


def test_nobody_is_flagged_who_answers_alone() -> None:
    assert [twins(judged(crowd(seed=seed))).flagged for seed in (3, 4)] == [[], []]


@pytest.mark.parametrize("copies", [2, 3])
def test_copies_are_flagged_and_nobody_else(copies: int) -> None:
    found = twins(judged(with_copies(0.2, copies)))
    assert found.flagged == ["p00", *(f"p{14 - place:02}" for place in range(copies - 1, 0, -1))]
    row = found.participants.row(0, named=True)
    assert row["message"] == "twins.pair"
    assert row["partner"] in found.flagged
    assert row["others"] == copies - 1


def test_the_common_share_is_that_of_a_slow_computation() -> None:
    """The expected agreement, item by item, of a Dirichlet distribution given everybody else's answers."""
    table = with_copies(0.1)
    prior = answers_of(table, 5).prior
    agree = expected = 0.0
    for item in range(table.shape[1]):
        a = prior + np.bincount(table[1:-1, item], minlength=5)
        expected += (a * (a + 1)).sum() / (a.sum() * (a.sum() + 1))
        agree += table[0, item] == table[-1, item]
    found = twins(judged(table)).participants.row(0, named=True)
    assert found["score"] == pytest.approx((agree - expected) / (table.shape[1] - expected))


def test_rows_and_columns_in_any_order_give_the_same() -> None:
    judgments = judged(with_copies(0.2, 3))
    shuffled = Judgments(judgments.frame.sample(fraction=1, shuffle=True, seed=2), judgments.scales)
    first, second = (twins(one).participants.sort("participant") for one in (judgments, shuffled))
    assert first.equals(second)


def test_few_shared_items_give_no_verdict() -> None:
    table = crowd()
    table[0, 20:] = -1
    row = twins(judged(table)).participants.row(0, named=True)
    assert (row["score"], row["flagged"], row["message"]) == (None, False, "twins.few_shared")


def test_without_comparable_pairs_it_does_not_run() -> None:
    with raises(ScreenError, "twins.few_pairs"):
        twins(judged(crowd(people=6, items=20)))


@pytest.mark.parametrize(("apart", "code"), [(True, "twins.few_pairs"), (False, "twins.too_many")])
def test_a_large_crowd_is_refused_for_its_own_reason(apart: bool, code: str) -> None:
    """3,001 participants with 10 items each: of their own, or the same for all."""
    rows = pl.DataFrame({"person": np.repeat(np.arange(3001), 10), "place": np.tile(np.arange(10), 3001)})
    frame = rows.select(
        pl.format("p{}", "person").alias("participant"),
        pl.format("i{}", pl.col("person") * 10 * apart + pl.col("place")).alias("item"),
        pl.lit("3").alias("response"),
    )
    with raises(ScreenError, code):
        twins(Judgments(frame, Ordinal(LEVELS)), shared=10)


def test_a_second_grammar_is_no_copy() -> None:
    """Half of the people turn a third of the items round: they share a grammar, not answers."""
    table = crowd(people=16)
    table[::2, :30] = 4 - table[::2, :30]
    assert twins(judged(table)).flagged == []


def test_ratings_and_labels_are_compared() -> None:
    table = with_copies(0.1)
    frame = judged(table).frame
    labels = Judgments(frame, karat.Nominal(LEVELS[::-1]))
    assert twins(labels).flagged == twins(judged(table)).flagged == ["p00", "p13"]


def reluctant(seed: int, people: int = 16, items: int = 140, answers: int = 8) -> Judgments:
    """Feelings in faces, of which the first two people name only strong ones; every item has a few answers."""
    random = np.random.default_rng(seed)
    kind, strength = random.integers(1, 4, items), random.normal(0.3, 1, items)
    table = np.zeros((people, items), dtype=np.int64)
    for person in range(people):
        limit, noise = (1.2, 0.5) if person < 2 else (random.normal(0, 0.5), 0.8)
        other = random.random(items) < 0.15 * (person > 1)
        named = np.where(other, random.integers(1, 4, items), kind)
        table[person] = np.where(strength + random.normal(0, noise, items) > limit, named, 0)
    for item in range(items):
        table[random.permutation(np.arange(2, people))[answers - 2 :], item] = -1
    return Judgments(judged(table).frame, karat.Nominal(LEVELS))


MODELS = ["gpt-4o", "gpt-4o-mini", "llama-31", "mistral-v03", "gemini-1.5", "claude-3"]


def beside_models(copied: bool = False, items: int = 200, labels: int = 12) -> Judgments:
    """Two experts, six people who often guess, and six language models that share another notion."""
    random = np.random.default_rng(1)
    right, notion = random.integers(0, labels, items), random.integers(0, labels, items)

    def given(knows: float, shares: float) -> np.ndarray:
        place, guess = random.random(items), random.integers(0, labels, items)
        return np.where(place < knows, right, np.where(place < knows + shares, notion, guess))

    rows = {f"p{n}": given(0.8, 0.0) for n in range(2)} | {f"p{n}": given(0.3, 0.0) for n in range(2, 8)}
    rows |= {name: given(0.1, 0.7) for name in MODELS}
    rows["p3"] = rows["p2"] if copied else rows["p3"]
    names = [f"l{label:02}" for label in range(labels)]
    cells = [(who, f"i{place}", names[label]) for who, own in rows.items() for place, label in enumerate(own)]
    return Judgments(pl.DataFrame(cells, ["participant", "item", "response"], orient="row"), karat.Nominal(names))


@pytest.mark.parametrize("copied", [False, True])
def test_experts_beside_language_models_are_no_copies(copied: bool) -> None:
    assert twins(beside_models(copied)).flagged == ["p2", "p3"] * copied


@pytest.mark.parametrize("seed", [2, 3, 8])
def test_the_same_answer_when_in_doubt_is_no_copy(seed: int) -> None:
    assert twins(reluctant(seed)).flagged == []


def knowers(seed: int, people: int = 30, items: int = 80) -> Judgments:
    """Three people know the right answers, a fourth nearly; the others share a wider notion and answered half."""
    random = np.random.default_rng(seed)
    right = random.random(items) < 0.35
    notion = right | (random.random(items) < 0.6)
    table = np.where((np.arange(people) < 4)[:, None], right, notion)
    slips = np.where(np.arange(people) < 4, 0.0, 0.25)
    table = np.where(random.random(table.shape) < slips[:, None], ~table, table).astype(int)
    for person, where in ((1, [5]), (2, [44]), (3, [9, 30, 31])):
        table[person, where] = 1 - table[person, where]
    table[3:, 40:] = -1
    return Judgments(judged(table).frame, karat.Nominal(LEVELS[:2]))


@pytest.mark.parametrize("seed", range(8))
def test_knowing_the_right_answers_is_no_copy(seed: int) -> None:
    assert twins(knowers(seed)).flagged == []


def test_alike_pairs_of_yes_or_no_answers_are_only_named() -> None:
    table = twins(knowers(3)).participants.filter(pl.col("message") == "twins.knowledge")
    assert {"p00", "p01", "p02"} <= set(table["participant"])
    assert table["score"].min() >= 0.4


def few_knowers(seed: int, knowers: int, guessers: int, items: int = 400) -> Judgments:
    """Labels of music: a few people know most genres and judged many clips, as did many who press any button."""
    random = np.random.default_rng(seed)
    right, hard = random.integers(0, 10, items), random.random(items) < 0.2
    people = knowers + guessers + 20
    table = np.full((people, items), -1)
    for person in range(people):
        own = random.permutation(items)[: 130 if person < knowers + guessers else 12]
        known = np.where(random.random(items) < np.where(hard, 0.3, 0.95), right, random.integers(0, 10, items))
        # A hard clip tempts everybody who knows music to the same wrong genre.
        known = np.where(hard & (random.random(items) < 0.5), (right + 1) % 10, known)
        table[person, own] = (random.integers(0, 10, items) if knowers <= person < knowers + guessers else known)[own]
    rows = [(f"p{p:02}", f"i{i:03}", f"genre {a}") for p, own in enumerate(table) for i, a in enumerate(own) if a >= 0]
    frame = pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row")
    return Judgments(frame, karat.Nominal([f"genre {a}" for a in range(10)]))


@pytest.mark.parametrize("seed", range(6))
def test_a_few_who_know_among_guessers_are_no_copies(seed: int) -> None:
    assert twins(few_knowers(seed, 2 + seed % 3, 9)).flagged == []
