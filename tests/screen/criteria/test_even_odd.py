"""Even-odd consistency: halves by presentation, groups of the design."""

from __future__ import annotations

from collections import defaultdict
from math import sqrt
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.messages import Message
from karat.screen.criteria.even_odd import even_odd
from karat.screen.evidence import ScreenError
from karat.study.criteria import criterion_settings
from messages import codes, raises
from screen.judged import message


def table(people: dict[str, list[tuple[str, float]]], scale: Any = None, **columns: Any) -> karat.Judgments:
    """Every participant has (condition, answer) in the order of presentation."""
    rows = [
        {"participant": name, "item": f"i{n}", "response": str(answer), "trial": n, "condition": condition}
        for name, answers in people.items()
        for n, (condition, answer) in enumerate(answers, start=1)
    ]
    frame = pl.DataFrame(rows).with_columns(**columns)
    return karat.Judgments(frame, scale or karat.Continuous())


def by_loops(answers: list[tuple[str, float]]) -> tuple[float | None, int]:
    """The score and the number of groups as the methods section defines it, step by step."""
    groups: dict[str, list[float]] = defaultdict(list)
    for condition, answer in answers:
        groups[condition].append(answer)
    pairs = []
    for own in groups.values():
        first, second = own[0::2], own[1::2]
        if second:
            pairs.append((sum(first) / len(first), sum(second) / len(second)))
    n = len(pairs)
    if n < 3:
        return None, n
    a, b = sum(x for x, _ in pairs) / n, sum(y for _, y in pairs) / n
    sxy = sum((x - a) * (y - b) for x, y in pairs)
    sxx, syy = sum((x - a) ** 2 for x, _ in pairs), sum((y - b) ** 2 for _, y in pairs)
    if sxx < 1e-12 or syy < 1e-12:
        return None, n
    r = sxy / sqrt(sxx * syy)
    return (-1.0 if r <= -1 / 3 else 2 * r / (1 + r)), n


ANSWERS = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(-3, 3).map(float)), min_size=1, max_size=16)


@pytest.mark.slow
@settings(max_examples=50)
@given(st.lists(ANSWERS, min_size=1, max_size=4))
def test_the_score_by_loops(people: list[list[tuple[str, float]]]) -> None:
    named = {f"p{n}": answers for n, answers in enumerate(people)}
    known = {name: by_loops(answers) for name, answers in named.items()}
    if max(groups for _, groups in known.values()) < 3:
        with raises(ScreenError, "even_odd.few_groups"):
            even_odd(table(named), groups=["condition"])
        return
    evidence = even_odd(table(named), groups=["condition"])
    found = dict(evidence.participants.select("participant", "score").iter_rows())
    assert found.keys() == known.keys()
    for name, (score, _) in known.items():
        assert found[name] == (None if score is None else pytest.approx(score, abs=1e-9))


@pytest.mark.slow
@settings(max_examples=25)
@given(st.permutations(range(12)), st.integers(2, 5), st.integers(-9, 9))
def test_the_order_of_rows_and_the_unit_do_not_matter(order: list[int], factor: int, shift: int) -> None:
    rng = np.random.default_rng(5)
    answers = [("abcd"[n % 4], float(n % 4 + rng.integers(0, 3))) for n in range(12)]
    plain = even_odd(table({"p": answers}))
    turned = table({"p": [(c, factor * a + shift) for c, a in answers]})
    shuffled = karat.Judgments(turned.frame[order], karat.Continuous())
    assert even_odd(shuffled).participants["score"][0] == pytest.approx(plain.participants["score"][0])


def test_halves_are_by_presentation_and_not_by_row_or_item() -> None:
    answers = [("a", 1.0), ("b", 3.0), ("c", 5.0), ("a", 2.0), ("b", 3.0), ("c", 4.0)]
    frame = table({"p": answers}).frame.sort("item", descending=True)
    evidence = even_odd(karat.Judgments(frame, karat.Continuous()))
    row = evidence.participants.to_dicts()[0]
    assert row["score"] == row["correlation"] == pytest.approx(1.0)
    assert (row["groups"], row["answers"]) == (3, 6)
    assert message(row) == ("even_odd.correlation", {"score": 1.0, "groups": 3, "answers": 6})
    assert evidence.settings == {"at_least": 0.0, "groups": ["function", "condition"], "split": "presentation"}
    with raises(karat.screen.ScreenError, "order.needed"):
        even_odd(karat.Judgments(frame.drop("trial"), karat.Continuous()))


def test_guessers_score_low_and_attentive_people_high() -> None:
    rng = np.random.default_rng(11)
    people: dict[str, list[tuple[str, float]]] = {}
    for n in range(60):
        kinds = rng.permutation(np.repeat(np.arange(12), 6))
        attentive = n < 30
        values = kinds / 4 + rng.normal(0, 0.7, 72) if attentive else rng.integers(1, 6, 72)
        people[f"{'attentive' if attentive else 'guesser'}{n}"] = [
            (f"c{k}", float(v)) for k, v in zip(kinds, values, strict=True)
        ]
    scores = dict(even_odd(table(people)).participants.select("participant", "score").iter_rows())
    attentive_scores = [score for name, score in scores.items() if name.startswith("attentive")]
    guessed = [score for name, score in scores.items() if name.startswith("guesser")]
    assert min(attentive_scores) > 0.7
    assert np.median(guessed) < 0.3


def test_the_example_data() -> None:
    judgments = karat.datasets.load("likert")
    evidence = even_odd(judgments)
    rows = {row["participant"]: row for row in evidence.participants.to_dicts()}
    assert len(rows) == 48
    assert rows["p23"]["score"] is None
    assert not rows["p23"]["flagged"]
    assert message(rows["p23"]) == ("even_odd.same", {"groups": 13})
    assert Message("answers.no_score", {"n": 1}) in evidence.notes
    kinds = dict(judgments.participants.select("participant", "behaviour").iter_rows())
    assert all(row["score"] > 0.5 for name, row in rows.items() if kinds[name] == "cooperative")
    assert {kinds[name] for name in evidence.flagged} <= {"rusher", "guesser"}


def test_too_few_groups_are_said_for_each_or_for_all() -> None:
    answers = [("a", 1.0), ("b", 3.0), ("c", 5.0)] * 2
    evidence = even_odd(table({"p1": answers, "p2": answers[:4], "p3": answers[:1]}))
    assert evidence.participants["score"].is_null().to_list() == [False, True, True]
    assert message(evidence.participants.row(1, named=True)) == ("even_odd.few", {"groups": 1, "fewest": 3})
    assert evidence.flagged == []
    with raises(ScreenError, "even_odd.few_groups", most=2):
        even_odd(karat.datasets.load("crowd"))


def test_columns_that_tell_every_answer_apart_make_no_groups() -> None:
    answers = [("a", 1.0), ("b", 3.0), ("c", 5.0)] * 2
    judgments = table({"p1": answers}, sentence=pl.format("sentence {}", "item"), weight=pl.col("trial") / 7)
    evidence = even_odd(judgments)
    assert evidence.settings["groups"] == ["function", "condition"]
    assert codes(evidence.notes) == ["even_odd.groups", "even_odd.left_out"]
    assert evidence.notes[1].values == {"columns": ["sentence"]}


def test_polarity_is_aligned_and_scales_standardised() -> None:
    answers = [("a", 1.0), ("b", 3.0), ("c", 5.0)] * 2
    turned = pl.when(pl.col("trial") > 3).then(-1).otherwise(1)
    mirrored = pl.when(pl.col("trial") > 3).then(6 - pl.col("response").cast(pl.Float64)).otherwise(pl.col("response"))
    judgments = table({"p": answers}, karat.Ordinal(5), polarity=turned, response=mirrored.cast(pl.String))
    assert even_odd(judgments).participants["score"][0] == pytest.approx(1.0)
    frame = table({"p": answers}).frame.with_columns(question=pl.col("condition"))
    scales = {"a": karat.Ordinal(5), "b": karat.Continuous(0, 100), "c": karat.Nominal(["1", "3", "5.0", "5"])}
    mixed = frame.with_columns(response=pl.col("response").str.strip_suffix(".0"))
    more = mixed.with_columns(question=pl.lit("b"), trial=pl.col("trial") + 6)
    evidence = even_odd(karat.Judgments(pl.concat([mixed, more]), scales))
    assert Message("answers.standardised") in evidence.notes
    assert Message("answers.unordered_left_out", {"n": 2}) in evidence.notes


def test_what_it_cannot_take() -> None:
    answers = [("a", 1.0), ("b", 2.0), ("c", 1.0)] * 2
    judgments = table({"p": answers}, karat.Nominal(["1", "2"]))
    with raises(karat.KaratError, "answers.not_ordered"):
        even_odd(judgments)
    with raises(ScreenError, "setting.refused", setting="at_least"):
        even_odd(table({"p": answers}), at_least=2)
    with raises(ScreenError, "even_odd.unknown_group", name="conditon", close="condition"):
        even_odd(table({"p": answers}), groups=["conditon"])
    with raises(ScreenError, "even_odd.empty_groups"):
        even_odd(table({"p": answers}), groups=[])
    practice = table({"p": answers}, function=pl.lit("practice"))
    with raises(karat.KaratError, "answers.not_ordered"):
        even_odd(practice)


def test_settings_fit_the_function() -> None:
    stated = criterion_settings("even_odd", {"at_least": 0.3, "groups": ["condition"]}).model_dump()
    assert even_odd(table({"p": [("a", 1.0), ("b", 3.0), ("c", 5.0)] * 2}), **stated).flagged == []


def test_groups_that_do_not_differ_are_said_to_tell_nothing() -> None:
    rng = np.random.default_rng(3)

    def people(apart: float) -> dict[str, list[tuple[str, float]]]:
        return {
            f"p{p}": [(f"c{n % 4}", round(apart * (n % 4) + float(rng.normal()), 3)) for n in range(16)]
            for p in range(20)
        }

    assert "even_odd.low_median" in codes(even_odd(table(people(0.0))).notes)
    assert "even_odd.low_median" not in codes(even_odd(table(people(3.0))).notes)


def test_chance_in_few_groups_accuses_nobody() -> None:
    """What is asked hardly differs between conditions, but all agree on the items; one guesses."""
    rng = np.random.default_rng(6)
    quality = rng.normal(0, 1.2, 24)
    people = {
        f"p{p:02}": [(f"c{n % 4}", float(level + rng.normal(0, 0.5)) if p else float(rng.normal()))
                     for n, level in enumerate(quality)]
        for p in range(40)
    }  # fmt: skip
    found = even_odd(table(people))
    assert (found.participants["score"] < 0).sum() >= 5
    assert set(found.flagged) <= {"p00"}
    assert "even_odd.agrees" in found.participants["message"].to_list()
