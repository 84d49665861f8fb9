"""Decisions on pairs: check, cross and tilde, on every scale."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import karat
from karat.measure import MeasureError, decisions, stability, strengths
from karat.messages import Message
from karat.models.proportions import holm
from messages import codes, raises, refuses
from tests.measure.judged_pairs import judged

CLEAR = [2.0, -2.0, 0.0, 1.5]
PAIRS = [(str(number), f"a{number}", f"b{number}") for number in range(len(CLEAR))]


@pytest.mark.parametrize(
    ("kind", "model", "measure"),
    [
        ("likert", None, "ordinal"),
        ("likert", "paired", "paired"),
        ("likert", "zscore", "zscore"),
        ("yes-no", None, "binary"),
        ("yes-no", "paired", "paired"),
        ("magnitude", None, "paired"),
        ("slider", None, "paired"),
        ("choice", None, "binomial"),
        ("forced", None, "binomial"),
    ],
)
def test_clear_pairs_are_decided_on_every_scale(kind: str, model: str | None, measure: str) -> None:
    judgments = judged(kind, CLEAR, people=60)
    found = decisions(judgments, PAIRS, model)
    assert found.frame["decision"].to_list() == ["expert", "reverse", "none", "expert"]
    assert found.frame["symbol"].to_list() == ["✓", "×", "~", "✓"]
    assert set(found.frame["measure"]) == {measure}
    assert found.counts == {"expert": 2, "reverse": 1, "none": 1}
    assert found.frame["pair"].to_list() == list("0123")
    assert found.summary[0].code == "decisions.counts"
    assert found.summary[0].values == {"pairs": 4, "model": measure, "expert": 2, "reverse": 1, "none": 1}
    # The pairs follow from status or from the right side too.
    assert decisions(judgments, model=model).frame.equals(found.frame)


@pytest.mark.parametrize("kind", ["likert", "magnitude", "yes-no", "forced"])
def test_turned_pairs_get_the_opposite_decision(kind: str) -> None:
    judgments = judged(kind, CLEAR)
    turned = [(pair, worse, better) for pair, better, worse in PAIRS]
    model = None if kind == "forced" else "paired"
    first, second = (decisions(judgments, pairs, model).frame for pairs in (PAIRS, turned))
    opposite = {"expert": "reverse", "reverse": "expert", "none": "none"}
    assert second["decision"].to_list() == [opposite[word] for word in first["decision"]]
    assert second["p"].to_list() == pytest.approx(first["p"].to_list())
    assert second["equivalence"].to_list() == first["equivalence"].to_list()


def test_a_tilde_is_no_evidence_of_no_difference() -> None:
    few, many = (decisions(judged("likert", [0.0] * 3, people), PAIRS[:3], "paired") for people in (8, 300))
    assert set(few.frame["decision"]) == set(many.frame["decision"]) == {"none"}
    assert set(few.frame["equivalence"]) == {"undecided"}
    assert set(many.frame["equivalence"]) == {"equivalent"}
    equivalent = Message("decisions.equivalent", {"equal": 3, "rope": 6 * 0.1, "unit": Message("unit.scale_points")})
    assert many.summary[1].code == equivalent.code
    assert str(many.summary[1]) == str(equivalent)


def test_a_check_may_be_too_small_to_matter() -> None:
    found = decisions(judged("likert", [0.3], people=600), PAIRS[:1], "paired", rope=0.6)
    assert found.frame.select("decision", "equivalence").row(0) == ("expert", "equivalent")


def test_adjustments() -> None:
    judgments = judged("likert", [0.4, 0.5, 0.6, 0.2, 0.0, -0.3], people=24)
    pairs = [(str(number), f"a{number}", f"b{number}") for number in range(6)]
    found = {adjust: decisions(judgments, pairs, "paired", adjust=adjust).frame for adjust in ("holm", "bh", "none")}
    p = found["none"]["p"].to_numpy()
    np.testing.assert_allclose(found["none"]["adjusted"], p)
    np.testing.assert_allclose(found["holm"]["adjusted"], holm(p))
    np.testing.assert_allclose(found["bh"]["adjusted"], stats.false_discovery_control(p))
    assert found["holm"]["p"].to_list() == found["none"]["p"].to_list()
    assert all((found["holm"]["decision"] == "none") | (found["none"]["decision"] != "none"))


@given(st.integers(0, 10_000))
def test_without_differences_few_pairs_are_decided(seed: int) -> None:
    """Holm's method holds 5 % over all pairs of a study, so that two false decisions at once are rare."""
    found = decisions(judged("likert", [0.0] * 8, people=12, seed=seed), None, "paired")
    assert found.counts["none"] >= 6


@pytest.mark.slow
def test_false_decisions_are_as_rare_as_alpha_says() -> None:
    """Of 2,400 contrasts without a difference about 5 % have p < .05, and fewer where a model draws them together."""
    seen: dict[str, list[bool]] = {"ordinal": [], "paired": []}
    for seed in range(300):
        judgments = judged("likert", [0.0] * 8 + [2.0, -2.0], seed=1000 + seed)
        for model, found in seen.items():
            found += (decisions(judgments, model=model).frame.head(8)["p"] < 0.05).to_list()
    assert np.mean(seen["paired"]) == pytest.approx(0.05, abs=0.015)
    assert 0.02 < np.mean(seen["ordinal"]) < 0.055


def test_ties_are_left_out_of_the_test_and_reported() -> None:
    judgments = judged("choice", CLEAR, people=40)
    found = decisions(judgments, PAIRS)
    row = found.frame.row(2, named=True)
    answers = judgments.frame.filter(pl.col("item") == "i2")["response"]
    assert row["ties"] == pytest.approx((answers == "none").mean())
    assert row["n"] == 40
    assert "decisions.ties" in codes(found.notes)


def test_models_of_choices_agree_with_the_direct_ones() -> None:
    judgments = judged("choice", CLEAR, people=60)
    thurstone = decisions(judgments, PAIRS, "thurstone")
    davidson = decisions(judgments, PAIRS, "davidson", prior_sd=2.0)
    for found, code, sd in ((thurstone, "choices.wide_prior", 10.0), (davidson, "choices.prior", 2.0)):
        assert found.frame["symbol"].to_list() == ["✓", "×", "~", "✓"]
        (note,) = found.notes
        apart = note.values["apart"]
        assert (note.code, note.values["sd"], apart.code, apart.values["n"]) == (code, sd, "choices.only_pairs", 4)
    assert thurstone.settings["rope"] == 0.2
    assert str(thurstone.unit) == str(strengths(judgments, "thurstone").unit)
    assert (round(davidson.settings["rope"], 2), davidson.unit.code) == (0.36, "unit.logits")
    with raises(MeasureError, "choices.pairs_apart"):
        decisions(judgments, PAIRS, "davidson")


def test_choices_without_all_pairs_take_a_model() -> None:
    random = np.random.default_rng(6)
    strength = {"a0": 1.5, "b0": -1.5, "x": 0.0}
    rows = [
        {"participant": f"p{person}", "item": f"{left}:x", "left": left, "right": "x",
         "response": "left" if random.normal(strength[left], 1.4) > 0 else "right"}
        for person in range(60) for left in ("a0", "b0")
    ]  # fmt: skip
    found = decisions(karat.Judgments(pl.DataFrame(rows), karat.Choice()), [("0", "a0", "b0")])
    assert (found.settings["model"], found.counts["expert"]) == ("bradley-terry", 1)


def test_pairs_without_answers_are_reported() -> None:
    found = decisions(judged("likert", CLEAR), [*PAIRS, ("9", "a9", "b9")], "paired")
    assert found.frame.height == 4
    assert Message("decisions.left_out", {"n": 1, "pairs": ["9"], "more": None}) in found.notes
    with raises(MeasureError, "unknown.stimulus", name="a00", close="a0"):
        decisions(judged("likert", CLEAR), [("1", "a00", "b00")], "paired")
    with raises(MeasureError, "decisions.too_few_answers"):
        decisions(judged("forced", CLEAR), [("1", "a0", "b1")], "binomial")


def test_conditions_are_part_of_the_name() -> None:
    random = np.random.default_rng(2)
    rows = [
        {"participant": f"p{person}", "item": f"t{item}", "order": order,
         "response": int(np.clip(np.round(random.normal(centre)), 1, 7))}
        for person in range(20) for item in range(2) for order, centre in (("AB", 6), ("BA", 2))
    ]  # fmt: skip
    judgments = karat.Judgments(pl.DataFrame(rows), karat.Ordinal(7))
    for model in ("paired", "ordinal"):
        found = decisions(judgments, [("t0", "t0, AB", "t0, BA"), ("t1", "t1, AB", "t1, BA")], model)
        assert found.counts["expert"] == 2
        assert found.notes[0] == Message("stimuli.conditions", {"names": ["order"]})


def test_questions_are_decided_one_by_one() -> None:
    frame = judged("likert", CLEAR).frame
    both = pl.concat([frame.with_columns(question=pl.lit(name)) for name in ("natural", "clear")])
    judgments = karat.Judgments(both, karat.Ordinal(7))
    with raises(MeasureError, "rated.several_questions"):
        decisions(judgments, PAIRS, "paired")
    with raises(MeasureError, "rated.no_question", name="nice", close=None, known=["natural", "clear"]):
        decisions(judgments, PAIRS, "paired", question="nice")
    assert decisions(judgments, PAIRS, "paired", question="clear").settings["question"] == "clear"


@pytest.mark.parametrize(
    ("settings", "code", "values"),
    [
        ({"alpha": 0.0}, "setting.refused", {"setting": "alpha"}),
        ({"adjust": "bonferroni"}, "setting.refused", {"setting": "adjust"}),
        ({"rope": -1.0}, "setting.refused", {"setting": "rope"}),
        ({"model": "binomial"}, "decisions.wrong_model", {"model": "binomial", "kind": "ordinal", "usual": "paired"}),
        ({"model": "paired", "posterior": True}, "decisions.no_option", {"model": "paired", "option": "posterior"}),
        ({"model": "paired", "prior_sd": 1.0}, "decisions.no_option", {"model": "paired", "option": "prior_sd"}),
        (
            {"model": "thurstone"},
            "strengths.no_model",
            {"model": "thurstone", "kinds": ["ordinal"], "models": ["ordinal", "mean", "zscore"]},
        ),
        ({"model": "ordinal", "prior_sd": 1.0}, "strengths.only_choices", {"option": "prior_sd", "model": "ordinal"}),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, object], code: str, values: dict[str, object]) -> None:
    with raises(MeasureError, code, **values):
        decisions(judged("likert", CLEAR), PAIRS, **settings)  # type: ignore[arg-type]


def test_labels_have_no_better_and_worse() -> None:
    table = {"participant": ["p1", "p1"], "item": ["a", "b"], "response": ["x", "y"]}
    with raises(MeasureError, "decisions.labels"):
        decisions(karat.Judgments(table, karat.Nominal(["x", "y"])), [("1", "a", "b")])


def test_decisions_of_two_sessions_can_be_compared() -> None:
    first, second = (judged("likert", CLEAR, seed=seed).frame for seed in (1, 2))
    both = pl.concat([first.with_columns(session=pl.lit("1")), second.with_columns(session=pl.lit("2"))])
    found = stability(
        karat.Judgments(both, karat.Ordinal(7)), decisions=lambda part: decisions(part, PAIRS, "paired"), samples=10
    )
    assert found.table().filter(pl.col("measure") == "same decision")["estimate"].item() == 1


def test_a_posterior_is_drawn_with_the_seed_that_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    # By its name, since karat.measure.decisions is the function.
    module = import_module("karat.measure.pairs.decisions")
    asked: list[object] = []

    def noted(*arguments: object, seed: int, **options: object) -> object:
        asked.append(seed)
        raise MeasureError("enough")

    monkeypatch.setattr(module, "strengths", noted)
    rows = {"participant": ["p1", "p2"], "item": ["ab", "ab"], "left": ["a", "a"], "right": ["b", "b"],
            "response": ["left", "right"]}  # fmt: skip
    with refuses(MeasureError, "enough"):
        decisions(karat.Judgments(rows, karat.Choice()), [("1", "a", "b")], "thurstone", posterior=True, seed=7)
    assert asked == [7]
