"""Agreement by question: what a scale admits, intervals, and what is reported."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.measure.reliability.agreement import agreement
from karat.measure.reliability.decision_study import decision_study
from karat.measure.result import MeasureError
from karat.messages import Message, with_code
from karat.models.agreement import fleiss_kappa, icc_agreement
from measure.retest import rated_twice
from messages import codes, raises

ICC = ["ICC(1)", "ICC(A,1)", "ICC(C,1)", "ICC(1,k)", "ICC(A,k)", "ICC(C,k)"]
KAPPA, ALPHA = "Fleiss' kappa", "Krippendorff's alpha"
KAPPAS = [KAPPA, "Cohen's kappa", "Gwet's AC1"]


def answers(scale: karat.judgments.scales.Scale, levels: list[object]) -> karat.Judgments:
    random = np.random.default_rng(2)
    columns = {"participant": [], "item": [], "response": []}
    for item in range(12):
        usual = random.integers(0, len(levels))
        for person in range(8):
            columns["participant"].append(f"p{person}")
            columns["item"].append(f"i{item}")
            columns["response"].append(levels[usual if random.random() < 0.7 else random.integers(0, len(levels))])
    return karat.Judgments(columns, scale)


@pytest.mark.parametrize(
    ("scale", "levels", "expected"),
    [
        (karat.Nominal(["a", "b", "c"]), ["a", "b", "c"], [*KAPPAS, f"{ALPHA} (nominal)"]),
        (karat.Choice(), ["left", "right"], [*KAPPAS, f"{ALPHA} (nominal)", "split-half"]),
        (karat.Binary(), [0, 1], [*KAPPAS, f"{ALPHA} (nominal)", *ICC, "split-half"]),
        (karat.Ordinal(3), [1, 2, 3],
         [*KAPPAS[:2], "Cohen's weighted kappa", KAPPAS[2],
          *(f"{ALPHA} ({kind})" for kind in ("nominal", "ordinal", "interval")), *ICC, "split-half"]),
        (karat.Magnitude(100), [50, 100, 200], [f"{ALPHA} (interval)", *ICC, "split-half"]),
        (karat.Continuous(0, 1), [0.1, 0.5, 0.6], [f"{ALPHA} (interval)", *ICC, "split-half"]),
    ],
)  # fmt: skip
def test_only_what_the_scale_admits(
    scale: karat.judgments.scales.Scale, levels: list[object], expected: list[str]
) -> None:
    found = agreement(answers(scale, levels), samples=50)
    assert found.table()["coefficient"].to_list() == expected
    rows = found.table().filter(pl.col("coefficient") != "split-half")
    assert ((rows["lower"] <= rows["estimate"]) & (rows["estimate"] <= rows["upper"])).all()
    assert found.summary[0].code == "agreement.alpha"
    assert found.summary[0].values["coefficient"].startswith("Krippendorff's alpha (")
    assert codes(found.summary)[1:] == (["agreement.split_half"] if "split-half" in expected else [])


def test_missing_cells_have_correlations_by_reml_too() -> None:
    whole = answers(karat.Ordinal(5), [1, 2, 3, 4, 5])
    assert not any("REML" in name for name in agreement(whole, samples=0).table()["coefficient"])
    kept = whole.frame.filter(pl.int_range(pl.len()) % 7 > 0)
    found = agreement(karat.Judgments(kept, karat.Ordinal(5)), samples=0)
    (note,) = [note for note in found.notes if note.code == "agreement.k"]
    single, mean = (found.of(f"ICC(C,{k}) by REML")["estimate"] for k in ("1", "k"))
    k = note.values["k"]
    assert mean == pytest.approx(k * single / (1 + (k - 1) * single))
    assert single == pytest.approx(found.of("ICC(C,1)")["estimate"], abs=0.03)


def test_values_are_those_of_the_engines() -> None:
    crowd = karat.datasets.load("crowd")
    found = agreement(crowd, samples=0)
    table = crowd.frame.with_columns(pl.col("item", "participant").rank("dense").cast(pl.Int64) - 1)
    item, rater, value = (table[name].cast(pl.Int64).to_numpy() for name in ("item", "participant", "response"))
    assert found.of(KAPPA)["estimate"] == pytest.approx(fleiss_kappa(item, value))
    assert found.of("ICC(A,1)")["estimate"] == pytest.approx(icc_agreement(item, rater, value))
    assert found.of(KAPPA)["lower"] is None
    assert found.of(KAPPA)["answers"] == 9600
    with raises(MeasureError, "agreement.unknown_coefficient"):
        found.of("kappa")


def test_questions_are_told_apart_and_sessions_used_once() -> None:
    found = agreement(rated_twice(questions=2), samples=20)
    assert found.table()["question"].unique(maintain_order=True).to_list() == ["q0", "q1"]
    assert set(found.table()["answers"]) == {500}
    noted = [note.values for note in with_code(found.notes, "measure.about_question")]
    assert {note["question"] for note in noted} == {"q0", "q1"}
    assert [message.values["question"] for message in found.summary] == ["q0", "q0", "q1", "q1"]
    assert str(found).count("\n") == 3


def test_the_same_seed_gives_the_same_intervals() -> None:
    table = rated_twice(people=8)
    assert agreement(table, samples=30, seed=4).table().equals(agreement(table, samples=30, seed=4).table())
    assert not agreement(table, samples=30, seed=4).table().equals(agreement(table, samples=30, seed=5).table())


def test_more_participants_make_intervals_shorter() -> None:
    widths = []
    few = agreement(rated_twice(people=4), samples=200)
    assert few.coefficients["lower"].null_count() == few.coefficients.height
    assert "agreement.too_few" in codes(few.notes)
    for people in (8, 60):
        row = agreement(rated_twice(people=people), samples=200).of(f"{ALPHA} (ordinal)")
        widths.append(row["upper"] - row["lower"])
    assert widths[1] < 0.6 * widths[0]


@pytest.mark.parametrize(("people", "items"), [(1, 6), (6, 1)])
def test_of_one_nothing_is_defined(people: int, items: int) -> None:
    who, what = np.repeat(np.arange(people), items), np.tile(np.arange(items), people)
    columns = {"participant": who.astype(str), "item": what.astype(str), "response": (who + what) % 5 + 1}
    found = agreement(karat.Judgments(columns, karat.Ordinal(5)), samples=20)
    assert found.coefficients["estimate"].null_count() == found.coefficients.height > 5
    assert set(codes(found.summary)) == {"agreement.undefined"}


@pytest.mark.slow
@given(st.integers(0, 4000))
def test_coefficients_and_intervals_stay_in_range(seed: int) -> None:
    """Answers of few participants that mean nothing, or contradict each other."""
    random = np.random.default_rng(seed)
    people, items = int(random.integers(2, 9)), int(random.integers(2, 8))
    who, what = np.repeat(np.arange(people), items), np.tile(np.arange(items), people)
    against = np.where(who % 2, what, items - what) if seed % 2 else 0
    answers = np.clip(random.integers(1, 8, len(who)) * (seed % 3) + against, 1, 7)
    columns = {"participant": who.astype(str), "item": what.astype(str), "response": answers}
    table = agreement(karat.Judgments(columns, karat.Ordinal(7)), samples=30).coefficients
    values = table.select("estimate", "lower", "upper").drop_nulls("estimate")
    assert values.select(pl.all().is_between(-1, 1).all()).row(0) == (True, True, True) or not values.height
    inside = values.drop_nulls().filter(pl.col("estimate").is_between(pl.col("lower"), pl.col("upper")))
    assert inside.height == values.drop_nulls().height


def test_what_cannot_be_compared_is_reported() -> None:
    alone = karat.Judgments({"participant": ["p1", "p2"], "item": ["a", "b"], "response": [1, 2]}, karat.Ordinal(5))
    with raises(MeasureError, "agreement.no_shared_stimulus"):
        agreement(alone)
    with raises(MeasureError, "setting.refused"):
        agreement(rated_twice(), samples=-1)
    columns = {"participant": ["p1", "p2", "p1"], "item": ["a", "a", "b"], "response": [1, 2, 3]}
    mixed = agreement(karat.Judgments(columns, karat.Ordinal(5)), samples=0)
    assert Message("agreement.single_answers", {"n": 1}) in mixed.notes


def test_a_coefficient_that_is_not_defined_is_said() -> None:
    columns = {"participant": ["p1", "p2"] * 3, "item": ["a", "a", "b", "b", "c", "c"], "response": [3] * 6}
    found = agreement(karat.Judgments(columns, karat.Ordinal(5)), samples=0)
    assert codes(found.summary) == ["agreement.undefined", "agreement.undefined"]


@pytest.mark.slow
def test_intervals_hold_the_truth() -> None:
    """The value for very many participants lies in 95 % intervals of 40 participants in about 95 % of studies."""
    from karat.models.agreement import krippendorff_alpha
    from karat.models.resampling import percentile_interval, resamples

    random = np.random.default_rng(8)
    truth = random.normal(size=(40, 1))

    def study(people: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        table = truth + 0.7 * random.normal(size=(1, people)) + 1.2 * random.normal(size=(40, people))
        item, rater = np.nonzero(np.ones_like(table))
        return item, rater, table[item, rater]

    expected = krippendorff_alpha(*study(20_000), "interval")[0]
    held = 0
    for seed in range(400):
        lower, upper = percentile_interval(krippendorff_alpha(*study(40), "interval", resamples(40, 400, seed)))
        held += lower <= expected <= upper
    assert 0.89 <= held / 400 <= 0.98


def test_stimuli_with_many_more_answers_are_named() -> None:
    """Two fillers that everybody rated beside items that few did: the reader learns what dominates the numbers."""
    rows = [(f"p{who}", item, 1 + (who * 3 + place * 2) % 5) for who in range(20)
            for place, item in enumerate(("f1", "f2", f"i{who % 5}", f"j{who % 5}"))]  # fmt: skip
    table = pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row")
    judged = karat.Judgments(table, karat.Ordinal(5))
    for found in (agreement(judged, samples=0), decision_study(judged, samples=0)):
        assert "agreement.unequal" in codes(found.messages)
    assert "agreement.unequal" not in codes(agreement(karat.datasets.load("crowd"), samples=0).messages)


def test_halves_need_two_answers_to_most_stimuli() -> None:
    """Two of ten items have two answers: what halves of these two say does not hold for the means of all."""
    rows = [(f"p{who}", f"i{who}{item}" if item else f"i{who % 2}", 1 + (3 * who + item) % 5) for who in range(4)
            for item in range(3)]  # fmt: skip
    table = pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row")
    found = agreement(karat.Judgments(table, karat.Ordinal(5)), samples=0)
    assert "split-half" not in found.coefficients["coefficient"].to_list()


def test_answers_without_any_disagreement_or_chance() -> None:
    """Of each item one answer, the same by everybody who gave one: the mixed model has no residual variance."""
    rows = [(f"p{k % 5}", f"i{k % 6}", 40.0 + 20 * (k % 2)) for k in range(29) if k % 7]
    table = pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row").unique(["participant", "item"])
    found = agreement(karat.Judgments(table, karat.Continuous()), samples=0)
    assert found.of("ICC(A,1)")["estimate"] == pytest.approx(1)
    assert "ICC(A,1) by REML" not in found.coefficients["coefficient"].to_list()
