"""Test-retest within and between participants, by means, by functions and by decisions."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karat
from karat.measure.reliability.stability import Stability, stability
from karat.measure.result import MeasureError
from karat.measure.scaling.ratings import bootstrap_sample, standardised_within
from measure.retest import rated_twice
from messages import raises


def item_means(judgments: karat.Judgments) -> pl.DataFrame:
    return judgments.frame.group_by("item").agg(estimate=pl.col("response").cast(pl.Float64).mean())


def good_or_bad(judgments: karat.Judgments) -> dict[str, str]:
    return {item: "good" if mean > 4 else "bad" for item, mean in item_means(judgments).iter_rows()}


def measured(found: Stability, measure: str) -> dict[str, object]:
    return found.table().filter(pl.col("measure") == measure).row(0, named=True)


def test_groups_that_share_no_stimulus_have_nothing_to_compare() -> None:
    table = rated_twice()
    apart = table.with_frame(table.frame.with_columns(item=pl.col("item") + pl.col("session")))
    with raises(MeasureError, "stability.no_shared_stimulus"):
        stability(apart, samples=100)


def test_correlations_are_those_of_the_means() -> None:
    from scipy.stats import spearmanr

    table = rated_twice()
    found = stability(table, samples=100)
    means = table.frame.group_by("item", "session").agg(pl.col("response").cast(pl.Float64).mean())
    wide = means.pivot("session", index="item", values="response")
    row = measured(found, "Pearson")
    assert row["estimate"] == pytest.approx(np.corrcoef(wide["one"], wide["two"])[0, 1])
    assert row["lower"] < row["estimate"] < row["upper"]
    assert measured(found, "Spearman")["estimate"] == pytest.approx(spearmanr(wide["one"], wide["two"]).statistic)
    assert (row["kind"], row["n"], row["participants"]) == ("within", 25, 20)
    scores = found.scores.sort("item")
    assert scores["one"].to_list() == pytest.approx(wide.sort("item")["one"].to_list())


def test_each_participant_again() -> None:
    table = rated_twice()
    own = stability(table, samples=0).participants
    assert own.height == 20
    frame = table.frame.filter(pl.col("participant") == "p03").sort("item")
    one, two = (frame.filter(pl.col("session") == s)["response"].cast(pl.Float64).to_numpy() for s in ("one", "two"))
    row = own.filter(pl.col("participant") == "p03").row(0, named=True)
    assert row["correlation"] == pytest.approx(np.corrcoef(one, two)[0, 1])
    assert row["equal"] == pytest.approx(np.mean(one == two))
    assert row["stimuli"] == 25


def test_other_participants_are_between() -> None:
    found = stability(rated_twice(others=True), samples=50)
    assert set(found.table()["kind"]) == {"between"}
    assert found.participants.height == 0
    (message,) = found.summary
    assert (message.code, message.values["kind"]) == ("stability.scores", "between")


def test_groups_may_be_known_of_participants() -> None:
    likert = karat.datasets.load("likert")
    found = stability(likert, by="list", conditions=[], samples=20)
    assert found.table().height == 12
    with raises(MeasureError, "unknown.column"):
        stability(likert, by="lst")
    with raises(MeasureError, "stability.one_group"):
        stability(karat.datasets.load("crowd"), by="function")


def test_standardised_scores_take_out_how_people_use_the_scale() -> None:
    values = standardised_within(np.array([0, 0, 0, 1, 1, 1]), np.array([1.0, 2, 3, 10, 20, 30]), 2)
    np.testing.assert_allclose(values, [-1, 0, 1, -1, 0, 1])
    table = rated_twice(people=6, noise=0.3)
    plain, standard = (measured(stability(table, scores=kind, samples=0), "Pearson")["estimate"]
                       for kind in ("mean", "zscore"))  # fmt: skip
    assert plain != standard
    assert standard > 0.9


def test_a_function_gives_the_same_as_means() -> None:
    table = rated_twice(people=8)
    called = stability(table, scores=item_means, samples=10)
    assert measured(called, "Pearson")["estimate"] == pytest.approx(
        measured(stability(table, samples=0), "Pearson")["estimate"]
    )
    by_weights, by_copies = (stability(table, scores=kind, samples=30, seed=2) for kind in ("mean", item_means))
    for name in ("lower", "upper"):
        assert measured(by_copies, "Pearson")[name] == pytest.approx(measured(by_weights, "Pearson")[name], abs=1e-9)
    with raises(MeasureError, "scores.no_table"):
        stability(table, scores=lambda j: 3, samples=0)


def test_copies_have_names_of_their_own() -> None:
    table = rated_twice(people=3)
    drawn = bootstrap_sample(table, {"p00": 2, "p02": 1})
    assert drawn.frame["participant"].unique().sort().to_list() == ["p00", "p00 (2)", "p02"]
    assert len(drawn) == 3 * 50


def test_decisions_are_compared_pair_by_pair() -> None:
    table = rated_twice(noise=2.5, people=6)
    found = stability(table, decisions=good_or_bad, samples=20)
    row = measured(found, "same decision")
    one, two = (good_or_bad(karat.Judgments(table.frame.filter(pl.col("session") == s), karat.Ordinal(7)))
                for s in ("one", "two"))  # fmt: skip
    differ = sorted(item for item in one if one[item] != two[item])
    assert row["estimate"] == pytest.approx(1 - len(differ) / 25)
    assert differ
    assert found.disagreements["pair"].to_list() == differ
    assert 0 <= row["lower"] <= row["estimate"] <= row["upper"] <= 1


def test_ready_made_decisions_have_wilsons_interval() -> None:
    table = rated_twice(people=4)
    one = pl.DataFrame({"pair": ["a", "b", "c", "d"], "decision": ["expert", "none", "expert", "reverse"]})
    two = one.with_columns(decision=pl.Series(["expert", "expert", "expert", "reverse"]))
    found = stability(table, decisions={"one": one, "two": two}, samples=0)
    row = measured(found, "same decision")
    assert (row["estimate"], row["n"]) == (0.75, 4)
    assert (row["lower"], row["upper"]) == (pytest.approx(0.3006, abs=1e-4), pytest.approx(0.9544, abs=1e-4))
    assert found.disagreements.row(0) == ("one", "two", "b", "none", "expert")
    with raises(MeasureError, "stability.no_decisions"):
        stability(table, decisions={"one": one}, samples=0)


def test_labels_need_a_function() -> None:
    table = rated_twice(people=4)
    nominal = karat.Judgments(table.frame, karat.Nominal([str(n) for n in range(1, 8)]))
    with raises(MeasureError, "stability.labels"):
        stability(nominal)
    with raises(MeasureError, "stability.unknown_scores"):
        stability(table, scores="median")


def test_the_same_choice_on_the_other_side_is_equal() -> None:
    rows = [
        {"participant": f"p{person}", "item": f"ab{item}", "session": session, "left": f"{left}{item}",
         "right": f"{right}{item}", "response": side}
        for person in range(4) for item in range(5)
        for session, left, right, side in (
            ("one", "a", "b", "left"), ("two", "b", "a", "right" if item < 4 else "left"),
        )
    ]  # fmt: skip
    found = stability(karat.Judgments(pl.DataFrame(rows), karat.Choice()), samples=0)
    assert found.participants["equal"].to_list() == [0.8] * 4


def test_an_interval_that_cannot_be_reported_is_missing() -> None:
    def only_of_the_study(judgments: karat.Judgments) -> dict[str, str]:
        if any("(" in name for name in judgments.frame["participant"].unique()):
            raise MeasureError("not of copies.")
        return good_or_bad(judgments)

    found = measured(stability(rated_twice(), decisions=only_of_the_study, samples=20), "same decision")
    assert found["estimate"] is not None
    assert (found["lower"], found["upper"]) == (None, None)
