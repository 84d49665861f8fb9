"""The Markov criterion: patterns, cutoffs for the design, and who is not judged."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
import strategies
from karat.judgments.message_tables import with_reasons
from karat.messages import Message, message_of
from karat.screen.criteria.markov import Markov, markov
from karat.screen.evidence import ScreenError
from messages import codes, raises
from screen.judged import judgments, message

CROWD = karat.datasets.load("crowd")
QUICK = 1000


def attentive(people: int, trials: int, levels: int, seed: int = 1) -> dict[str, list[Any]]:
    """People who mostly agree about each item."""
    random = np.random.default_rng(seed)
    truth = random.integers(levels, size=trials)
    noise = random.integers(levels, size=(people, trials))
    answers = np.where(random.random((people, trials)) < 0.75, truth, noise) + 1
    return {f"e{n}": row.tolist() for n, row in enumerate(answers)}


def rows(evidence: Markov) -> dict[str, dict[str, Any]]:
    return {row["participant"]: row for row in evidence.participants.to_dicts()}


@pytest.fixture(scope="module")
def crowd() -> Markov:
    return markov(CROWD)


def test_the_bundled_crowd(crowd: Markov) -> None:
    """All who keep to one answer or alternate are found, under their kind, and few of the attentive."""
    found = crowd.participants.join(CROWD.participants, on="participant")
    for behaviour, kind in (("one answer", "primary choice"), ("repeated pattern", "repeated pattern")):
        assert found.filter(pl.col("behaviour") == behaviour)["kind"].to_list() == [kind] * 4
    assert found.filter(pl.col("behaviour") == "attentive")["flagged"].mean() <= 0.08  # type: ignore[operator]
    assert found.filter(~pl.col("flagged"))["kind"].null_count() == 120 - len(crowd.flagged)
    assert found["akld"].null_count() == 0
    assert (found["mkld"] <= found["akld"]).all()


def test_flags_follow_scores_and_p_values(crowd: Markov) -> None:
    table = crowd.participants.filter(pl.col("message") != "markov.agrees")
    assert table.filter(pl.col("flagged") != (pl.col("score") < pl.col("threshold"))).height == 0
    assert table.filter(pl.col("flagged") != (pl.col("p") <= 0.05)).height == 0


def test_who_agrees_with_the_others_is_spared(crowd: Markov) -> None:
    """One in twenty attentive people is near a pattern by chance; who looked agrees with the others all the same."""
    table = crowd.participants.join(CROWD.participants, on="participant")
    spared = table.filter(pl.col("message") == "markov.agrees")
    assert set(spared["behaviour"]) == {"attentive"}
    assert (spared["p"] <= 0.05).all()
    assert (spared["score"] < spared["threshold"]).all()
    assert not set(table.filter("flagged")["behaviour"]) & {"attentive"}


@pytest.mark.parametrize("scale", [karat.Ordinal(5), karat.Nominal(list("12345"))], ids=lambda scale: scale.kind)
def test_sharing_a_pattern_protects_nobody(scale: Any) -> None:
    """A quarter goes round in the order of presentation, which is the same for all: they agree, but not with others."""
    people = attentive(45, 60, 5) | {f"p{number}": [1, 2, 3] * 20 for number in range(15)}
    table = markov(judgments(people, scale), simulations=QUICK)
    assert set(table.flagged) >= {f"p{number}" for number in range(15)}


@pytest.mark.parametrize(("better", "flagged"), [(1.0, []), (0.5, ["same"])])
def test_one_answer_throughout_may_be_the_best(better: float, flagged: list[str]) -> None:
    """The right item is the better one in all pairs, or in half of them."""
    random = np.random.default_rng(2)
    share = np.where(np.arange(60) < better * 60, 0.9, 0.1)
    crowd = {f"p{n}": np.where(random.random(60) < share, "right", "left").tolist() for n in range(40)}
    found = markov(judgments(crowd | {"same": ["right"] * 60}, karat.Choice()), simulations=500).participants
    assert found.filter("flagged", participant="same")["participant"].to_list() == flagged


def test_published_cutoffs_spare_nobody() -> None:
    table = markov(CROWD, cutoffs="published").participants
    assert table.filter(pl.col("flagged") != (pl.col("score") <= pl.col("threshold"))).height == 0


def test_rows_and_transitions_are_those_of_the_participants(crowd: Markov) -> None:
    assert crowd.rows.columns == ["participant", "target", "state", "kld"]
    assert crowd.rows.height == 120 * 5 * 2
    named = crowd.participants.select("participant", "target", "akld", "mkld", "score")
    per_target = crowd.rows.group_by("participant", "target").agg(
        mean=pl.col("kld").mean(), low=pl.col("kld").min(), high=pl.col("kld").max()
    )
    both = named.join(per_target, on=["participant", "target"])
    assert both.height == 120
    np.testing.assert_allclose(both["akld"], both["mean"])
    np.testing.assert_allclose(both["mkld"], both["low"])
    np.testing.assert_allclose(both["score"], both["high"])
    assert crowd.transitions["count"].sum() == 120 * 79


def test_the_result_has_cutoffs_and_what_they_miss(crowd: Markov) -> None:
    assert crowd.cutoffs["target"].to_list() == ["always 0", "always 1", "staying", "round 0, 1", "evenly at random"]
    missed = dict(crowd.errors.select("kind", "type_two").iter_rows())
    assert missed["repeated pattern"] < 0.01
    assert missed["random guessing"] > 0.8
    assert codes(crowd.notes)[0] == "markov.missed"
    assert "primary choice" in [one.values["kind"] for one in crowd.notes[0].values["missed"]]


def test_every_kind_is_named_without_a_word_on_why() -> None:
    people = attentive(60, 60, 5)
    people |= {"same": [3] * 60, "mostly": ([2] * 9 + [4]) * 6, "zigzag": [1, 5] * 30, "up": [1, 2, 3, 4, 5] * 12}
    people |= {"three": [1, 2, 4] * 20}
    evidence = markov(judgments(people, karat.Ordinal(5)), simulations=QUICK)
    found = rows(evidence)
    reasons = dict(with_reasons(evidence.participants).select("participant", "reason").iter_rows())
    code, values = message(found["same"])
    assert (code, values["way"], values["score"]) == ("markov.primary_choice", ["3"], 0.0)
    assert reasons["same"].startswith("answers keep to one choice (3): largest row divergence 0.00, below")
    assert found["mostly"]["target"] == "always 2"
    assert found["zigzag"]["target"] == "round 1, 5"
    assert message(found["up"])[0] == "markov.repeated_pattern"
    assert found["up"]["values"]["way"] == ["1", "2", "3", "4", "5"]
    assert found["three"]["target"] == "round 1, 2, 4"
    for name in ("same", "mostly", "zigzag", "up", "three"):
        assert found[name]["flagged"]
        assert "spam" not in reasons[name]


def test_the_order_is_that_of_presentation() -> None:
    people = attentive(30, 40, 2) | {"p": [1, 2] * 20}
    table = judgments(people, karat.Ordinal(2))
    turned = karat.Judgments(table.frame.sort("response"), table.scales)
    assert (
        markov(turned, simulations=QUICK)
        .participants.sort("participant")
        .equals(markov(table, simulations=QUICK).participants.sort("participant"))
    )
    unordered = karat.Judgments(turned.frame.drop("trial"), table.scales)
    with raises(ScreenError, "order.needed"):
        markov(unordered, simulations=QUICK)
    assert rows(markov(unordered.with_row_order(), simulations=QUICK))["p"]["target"] != "round 1, 2"


def test_practice_and_missing_answers_are_left_out() -> None:
    people = attentive(30, 30, 2) | {"p": [1, 1, 1] + [1, 2, None] * 9}
    practice = pl.when(pl.col("trial") <= 3).then(pl.lit("practice")).otherwise(pl.lit("test"))
    found = rows(markov(judgments(people, karat.Ordinal(2), function=practice), simulations=QUICK))["p"]
    assert found["answers"] == 18
    assert found["target"] == "round 1, 2"
    assert found["akld"] == 0


def test_who_answered_little_is_not_judged_and_breaks_nothing() -> None:
    people = attentive(30, 30, 2) | {"one": [1], "two": [1, 1], "nine": [1] * 9, "none": [None] * 5, "ten": [2] * 10}
    table = judgments(people, karat.Ordinal(2))
    for evidence in (markov(table, simulations=QUICK), markov(table, cutoffs="published")):
        found = rows(evidence)
        for name, number in (("one", 1), ("two", 2), ("nine", 9), ("none", 0)):
            assert not found[name]["flagged"]
            assert found[name]["score"] is None
            assert message(found[name]) == ("markov.few_answers", {"answers": number})
        assert found["ten"]["score"] == 0


def test_same_seed_same_cutoffs() -> None:
    first, again, other = (markov(CROWD, seed=seed, simulations=QUICK) for seed in (1, 1, 2))
    assert first.cutoffs.equals(again.cutoffs)
    assert not first.cutoffs.equals(other.cutoffs)


def test_an_unbalanced_design_has_a_cutoff_for_each_choice() -> None:
    """Nine of ten tasks are 1: to answer 1 is what everybody does, to answer 2 is not."""
    random = np.random.default_rng(7)
    truth = np.where(np.arange(80) % 10 == 9, 2, 1)
    answers = np.where(random.random((80, 80)) < 0.9, truth, 3 - truth)
    people: dict[str, list[Any]] = {f"e{n}": row.tolist() for n, row in enumerate(answers)}
    people |= {"rare": random.choice([1, 2], 80, p=[0.12, 0.88]).tolist()}
    evidence = markov(judgments(people, karat.Ordinal(2)))
    cutoffs = dict(evidence.cutoffs.select("target", "cutoff").iter_rows())
    assert cutoffs["always 2"] > 3 * cutoffs["always 1"]
    assert rows(evidence)["rare"]["kind"] == "primary choice"
    assert len(evidence.flagged) < 10
    assert isinstance(evidence.notes[0], Message)
    assert [one.values for one in evidence.notes[0].values["balance"]] == [
        {"answer": "1", "share": 0.9},
        {"answer": "2", "share": 0.1},
    ]


def test_sides_of_choices_are_stimuli_of_their_own() -> None:
    """Which side holds the better sentence differs between people; their answers follow it."""
    random = np.random.default_rng(8)
    better_left = random.random((40, 40)) < 0.5
    answers = np.where(better_left, "left", "right")
    people = {f"p{n}": row.tolist() for n, row in enumerate(answers)}
    table = judgments(people, karat.Choice()).frame.with_columns(
        left=pl.when(pl.Series(better_left.ravel())).then(pl.lit("good")).otherwise(pl.lit("bad")),
        right=pl.when(pl.Series(better_left.ravel())).then(pl.lit("bad")).otherwise(pl.lit("good")),
    )
    evidence = markov(karat.Judgments(table, karat.Choice()), simulations=QUICK)
    shares = evidence.designs[0].shares()
    assert np.minimum(shares, 1 - shares).max() < 0.1
    assert len(evidence.flagged) <= 6


def test_several_scales_together_hold_the_level() -> None:
    people = attentive(40, 60, 5) | {"p": [1, 2] * 30}
    table = judgments(people, karat.Ordinal(5)).frame.with_columns(
        question=pl.when(pl.col("trial") % 2 == 0).then(pl.lit("a")).otherwise(pl.lit("b"))
    )
    evidence = markov(karat.Judgments(table, {"a": karat.Ordinal(5), "b": karat.Ordinal(7)}), simulations=QUICK)
    assert len(evidence.designs) == 2
    assert rows(evidence)["p"]["target"] in ("always 1", "always 2")
    assert rows(evidence)["p"]["values"]["scale"] in ("1 to 5", "1 to 7")
    assert evidence.rows.columns == ["participant", "target", "state", "kld", "scale"]
    assert len(evidence.flagged) <= 6
    sliders = {"a": karat.Ordinal(5), "b": karat.Continuous(0, 10)}
    notes = markov(karat.Judgments(table, sliders), simulations=QUICK).notes
    (left_out,) = (note for note in notes if isinstance(note, Message) and note.code == "markov.left_out")
    assert left_out.values["scales"] == [Message("markov.scale_numbers", {"scale": "continuous"})]


def test_without_a_crowd_all_stimuli_share_their_answers() -> None:
    people = attentive(12, 30, 2)
    table = judgments(people, karat.Ordinal(2))
    alone = karat.Judgments(table.frame.with_columns(item=pl.format("{}-{}", "participant", "item")), table.scales)
    evidence = markov(alone, simulations=QUICK)
    assert codes(evidence.notes)[0] == "markov.no_crowd"
    assert np.ptp(evidence.designs[0].shares(), axis=0).max() == 0


def test_what_cannot_be_judged_is_refused_with_the_reason() -> None:
    for table, why in (
        (judgments({"p": [1.5] * 20}, karat.Continuous(0, 10)), "markov.scale_numbers"),
        (judgments({"p": [1, 2, 1]}, karat.Ordinal(2)), "markov.scale_short"),
        (judgments({"p": [1] * 20}, karat.Ordinal(20)), "markov.scale_answers"),
    ):
        with raises(ScreenError, "markov.no_sequences") as refused:
            markov(table)
        assert [scale.code for scale in message_of(refused.value).values["scales"]] == [why]
    with raises(ScreenError, "markov.no_sequences") as refused:
        markov(judgments({"p": [None]}, karat.Ordinal(2), response=pl.lit(None, dtype=pl.String)))
    assert message_of(refused.value).values["scales"] is None
    with raises(ScreenError, "markov.published_for_two"):
        markov(judgments(attentive(3, 20, 3), karat.Ordinal(3)), cutoffs="published")
    with raises(ScreenError, "markov.no_published_minimum"):
        markov(CROWD, cutoffs="published", strategy="minimum")
    with raises(ScreenError, "markov.few_simulations") as refused:
        markov(CROWD, alpha=0.001, simulations=500)
    assert message_of(refused.value).values == {"simulations": 500, "alpha": 0.001, "least": 1000}
    with raises(ScreenError, "setting.refused", setting="alpha"):
        markov(CROWD, alpha=0)
    with raises(ScreenError, "setting.refused", setting="cutoffs"):
        markov(CROWD, cutoffs="printed")  # type: ignore[arg-type]


def test_published_cutoffs_far_from_their_design_have_a_note() -> None:
    evidence = markov(judgments(attentive(5, 20, 2), karat.Ordinal(2)), cutoffs="published")
    assert evidence.notes == (Message("markov.published_length", {"answers": 20}),)
    assert evidence.participants["p"].null_count() == 5
    assert evidence.cutoffs.height == 0
    assert evidence.errors.height == 0


@pytest.mark.slow
@settings(max_examples=30)
@given(strategies.judgments(), st.sampled_from(["rows", "average", "minimum"]))
def test_everybody_gets_evidence_whatever_the_scale(table: karat.Judgments, strategy: Any) -> None:
    try:
        evidence = markov(table, strategy=strategy, simulations=50)
    except ScreenError:
        return
    found = rows(evidence)
    assert found.keys() == set(table.frame["participant"])
    assert all(with_reasons(evidence.participants)["reason"])
    for row in found.values():
        near = row["score"] is not None and row["score"] < row["threshold"]
        assert row["flagged"] == (near and row["message"] != "markov.agrees")


def test_too_few_simulations_per_scale_are_refused() -> None:
    table = judgments(attentive(6, 24, 5), karat.Ordinal(5)).frame.with_columns(
        question=pl.when(pl.col("trial") % 2 == 0).then(pl.lit("a")).otherwise(pl.lit("b"))
    )
    several = karat.Judgments(table, {"a": karat.Ordinal(5), "b": karat.Ordinal(5, neutral=3)})
    with raises(ScreenError, "markov.few_simulations", least=40):
        markov(several, simulations=25)
    assert markov(several, simulations=39).cutoffs["cutoff"].is_finite().any()
