"""Effects before and after: which models are fitted, to which participants, and what is reported and drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import chdtrc, expit

import karat
from karat.messages import Message, message_of
from karat.models import glrm
from karat.models.glrm.formulas.syntax import FormulaError
from karat.screen import ScreenError, effects_before_after, markov
from karat.screen.crowd.gold import columns_of
from messages import codes, raises

CROWD = karat.datasets.load("crowd")
LIKERT = karat.datasets.load("likert")
ODD = CROWD.participants.filter(pl.col("behaviour") != "attentive")["participant"].to_list()
FORMULA = "correct ~ difficulty + (1 | participant) + (1 | item)"


def design(people: int = 16, items: int = 12) -> karat.Judgments:
    """Two crossed factors within everybody."""
    random = np.random.default_rng(4)
    who, what = np.repeat(np.arange(people), items), np.tile(np.arange(items), people)
    a, b = np.array(["x", "y"])[what % 2], np.array(["u", "v", "w"])[(what // 2 + who) % 3]
    eta = 0.5 + 0.6 * random.normal(size=people)[who] + (a == "y") + 0.8 * (a == "y") * (b == "w")
    right = eta + random.logistic(size=len(who)) > 0
    table = {
        "participant": [f"p{i}" for i in who], "item": [f"i{j}" for j in what], "a": a, "b": b,
        "response": np.where(right, "1", "0"), "expected": ["1"] * len(who), "rt": np.exp(random.normal(size=len(who))),
    }  # fmt: skip
    return karat.Judgments(table, karat.Binary(("0", "1")))


@pytest.mark.slow
def test_it_is_the_model_fitted_by_hand_twice() -> None:
    found = effects_before_after(CROWD, ODD, FORMULA)
    for when, frame in (("before", CROWD.frame), ("after", CROWD.without(ODD).frame)):
        data = {name: frame[name].to_list() for name in ("difficulty", "participant", "item")}
        data["correct"] = (frame["response"] == frame["expected"]).to_list()
        model = glrm.fit(FORMULA, data, coding="treatment")
        assert found.coefficients[when].to_numpy() == pytest.approx(model.fit.coefficients, abs=1e-6)
        assert found.coefficients[f"se_{when}"].to_numpy() == pytest.approx(model.fit.standard_errors, rel=1e-5)
    assert found.coefficients["change"].to_numpy() == pytest.approx(
        (found.coefficients["after"] - found.coefficients["before"]).to_numpy()
    )
    assert found.settings["family"] == "binary"


def test_tests_are_walds_with_the_intercept_first() -> None:
    found = effects_before_after(design(), ["p0"], "correct ~ a * b + (1 | participant)")
    assert found.tests["term"].to_list() == ["(Intercept)", "a", "b", "a:b"]
    assert found.tests["df"].to_list() == [1, 1, 2, 2]
    fit = found.before.fit
    b, v = fit.coefficients[4:], fit.covariance[4:, 4:]
    by_hand = float(b @ np.linalg.inv(v) @ b)
    assert found.tests["chisq_before"][3] == pytest.approx(by_hand)
    assert found.tests["p_before"][3] == pytest.approx(float(chdtrc(2, by_hand)))
    ratio = fit.coefficients[0] / fit.standard_errors[0]
    assert found.tests["chisq_before"][0] == pytest.approx(ratio**2)
    assert found.tests["p_before"][0] == pytest.approx(float(chdtrc(1, ratio**2)))
    averaged = effects_before_after(design(), ["p0"], "correct ~ a * b + (1 | participant)", coding="sum")
    assert len(found.notes) == len(averaged.notes) + 1, "on simple effects"


@pytest.mark.slow
def test_evidence_stands_for_those_it_flags() -> None:
    evidence = markov(CROWD, "published")
    assert effects_before_after(CROWD, evidence, FORMULA).excluded == tuple(evidence.flagged)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("judgments", "formula", "family"),
    [
        (LIKERT, "response ~ order + (1 | participant)", "ordinal"),
        (CROWD, "response ~ difficulty + (1 | participant)", "binary"),
        (CROWD, "log(rt) ~ difficulty + (1 | participant)", "gaussian"),
    ],
)
def test_the_family_follows_from_the_answers(judgments: karat.Judgments, formula: str, family: str) -> None:
    somebody = judgments.frame["participant"][0]
    found = effects_before_after(judgments, [somebody], formula)
    assert found.before.family == family
    assert len(found.before.response) > len(found.after.response)
    assert found.plot().axes


@pytest.mark.slow
def test_columns_of_participants_may_be_named() -> None:
    found = effects_before_after(CROWD, ODD[:4], "correct ~ behaviour + (1 | participant)")
    assert found.tests["term"].to_list() == ["(Intercept)", "behaviour"]
    gone = CROWD.participants.filter(pl.col("participant").is_in(ODD))
    one_kind = gone.filter(pl.col("behaviour") == "guesser")["participant"].to_list()
    lost = effects_before_after(CROWD, one_kind, "correct ~ behaviour + (1 | participant)").coefficients
    assert lost.filter(pl.col("term") == "behaviourguesser")["after"].to_list() == [None]


def test_correct_is_computed_and_doubtful_items_are_left_out() -> None:
    frame = CROWD.frame
    item = frame.group_by("item").agg((pl.col("response") == pl.col("expected")).mean().alias("share"))
    easy = item.sort("share", "item")["item"][-1]
    turned = pl.when(pl.col("item") == easy).then(pl.col("expected").replace({"0": "1", "1": "0"}))
    wrong = karat.Judgments(frame.with_columns(expected=turned.otherwise(pl.col("expected"))), CROWD.scales)
    rows, notes = columns_of(wrong, "x", True)
    assert rows.filter(pl.col("correct").is_null())["item"].unique().to_list() == [easy]
    assert "gold.left_out" in codes(notes)
    counted, _ = columns_of(wrong, "x", True, "counted")
    assert counted["correct"].null_count() == 0
    own = karat.Judgments(frame.with_columns(correct=pl.lit(1)), CROWD.scales)
    assert columns_of(own, "x", True)[1] == [Message("effects.correct_column")]


def test_means_and_figure_of_an_interaction() -> None:
    found = effects_before_after(design(), ["p0", "p1"], "correct ~ a * b + (1 | participant)")
    means = found.means()
    assert means.columns == ["when", "a", "b", "estimate", "se", "lower", "upper"]
    assert means.height == 12
    fit = found.after.fit
    last = means.filter(pl.col("when") == "after", pl.col("a") == "y", pl.col("b") == "w")
    assert last["estimate"][0] == pytest.approx(float(expit(fit.coefficients[[0, 1, 3, 5]].sum())))
    assert ((means["lower"] < means["estimate"]) & (means["estimate"] < means["upper"])).all()
    figure = found.plot()
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "before (16 participants)",
        "after (14 participants)",
    ]
    assert {text.get_text() for text in figure.axes[0].texts} == {"a: x", "a: y"}
    assert [label.get_text() for label in figure.axes[1].get_xticklabels()] == ["u", "v", "w"]
    assert figure.get_suptitle().startswith("a by b: χ²(2) = ")
    turned = found.plot("b", "a", width_cm=8)
    assert {text.get_text() for text in turned.axes[0].texts} == {"b: u", "b: v", "b: w"}
    with raises(ScreenError, "effects.factors"):
        found.plot("a", "b", "a")


def test_nothing_to_draw_is_said() -> None:
    found = effects_before_after(design(), ["p0"], "correct ~ rt + (1 | participant)")
    with raises(ScreenError, "effects.no_factor"):
        found.plot()


@pytest.mark.slow
def test_it_is_reported_in_lines() -> None:
    found = effects_before_after(CROWD, ODD, FORMULA)
    compared, *tests = found.summary
    assert compared == Message("effects.compared", {"formula": FORMULA, "excluded": 12})
    assert codes(tests) == ["effects.test"] * 2
    assert [one.values for one in tests] == found.tests.to_dicts()
    assert found.tests["term"].to_list() == ["(Intercept)", "difficulty"]
    assert str(found).split("\n")[0] == str(compared)


@pytest.mark.parametrize(
    ("excluded", "formula", "code"),
    [
        ("w017", FORMULA, "effects.one_name"),
        (["w17"], FORMULA, "unknown.participant"),
        (CROWD.participants["participant"].to_list(), FORMULA, "effects.nobody_left"),
        (["w017"], "corect ~ difficulty + (1 | participant)", "unknown.column"),
        (["w017"], "item ~ difficulty + (1 | participant)", "effects.family"),
    ],
)
def test_what_is_wrong_is_an_error(excluded: Any, formula: str, code: str) -> None:
    with raises(ScreenError, code):
        effects_before_after(CROWD, excluded, formula)


@pytest.mark.parametrize(
    ("formula", "code"),
    [("correct ~ dificulty + (1 | participant)", "formula.at"), ("correct ~ difficulty", "model.no_random")],
)
def test_a_formula_that_cannot_be_read_keeps_its_message(formula: str, code: str) -> None:
    with raises(ScreenError, code) as caught:
        effects_before_after(CROWD, ["w017"], formula)
    assert message_of(caught.value).values["formula"] == formula
    cause = caught.value.__cause__
    assert isinstance(cause, FormulaError)
    assert message_of(caught.value) == message_of(cause)


def test_evidence_may_flag_who_gave_no_answer() -> None:
    people = [*(f"p{n}" for n in range(16)), "silent"]
    judgments = karat.Judgments(design().frame, design().scales, {"participant": people})
    flagged = karat.screen.completion(judgments)
    assert flagged.flagged == ["silent"]
    found = effects_before_after(judgments, flagged, "correct ~ a + (1 | participant)")
    assert found.excluded == ("silent",)
    assert found.coefficients["change"].abs().max() == 0
    with raises(ScreenError, "effects.nobody_left"):
        effects_before_after(judgments, people[:16], "correct ~ a + (1 | participant)")
