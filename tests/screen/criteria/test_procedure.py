"""The procedure: its steps in any order, everybody's path, and what stops it."""

from __future__ import annotations

from functools import cache
from string import ascii_lowercase
from typing import Any

import numpy as np
import polars as pl
import pytest

import karat
from karat.judgments.message_tables import with_reasons
from karat.messages import Message, NotComputed, with_code
from karat.screen import Evidence, ScreenError, completion, deletion, markov, procedure, time_filter
from karat.screen.criteria.deletion import Deletion
from karat.screen.criteria.procedure import Procedure, accuracy_step
from karat.screen.crowd import spammer_index
from messages import message_at, raises

WHOLE = karat.datasets.load("crowd")
CROWD = WHOLE.without(WHOLE.participants.filter(pl.col("behaviour") == "attentive")["participant"].to_list()[36:])
"""12 who do not look at the task, and 36 who answer attentively."""
PEOPLE = CROWD.participants.height
PUBLISHED: dict[str, Any] = {"cutoffs": "published", "rule": "mean"}


@cache
def published_deletion() -> Deletion:
    return deletion(CROWD, by="published")


@cache
def published() -> Procedure:
    return procedure(CROWD, **PUBLISHED)


def test_flagged_is_who_meets_every_step() -> None:
    found = published()
    by_hand = (
        {*markov(CROWD, "published").flagged} & {*time_filter(CROWD, "mean").flagged} & {*published_deletion().flagged}
    )
    assert set(found.flagged) == by_hand != set()
    assert found.participants.filter("flagged")["score"].to_list() == [3.0] * len(by_hand)
    assert found.participants["threshold"].unique().to_list() == [3.0]
    assert found.index is not None
    assert found.index.value >= 0.10


@pytest.mark.few(1)
@pytest.mark.parametrize("candidates_only", [True, False])
def test_order_and_focus_do_not_change_who_meets_all_steps(candidates_only: bool) -> None:
    first = published()
    other = procedure(CROWD, "deletion first", candidates_only=candidates_only, **PUBLISHED)
    assert set(first.flagged) == set(other.flagged)
    assert first.flow["step"].to_list() == ["markov", "time", "deletion"]
    assert other.flow["step"].to_list() == ["deletion", "time", "markov"]
    assert other.flow["entered"][0] == PEOPLE
    assert other.flow["entered"].to_list()[1:] == other.flow["met"].to_list()[:-1]


def test_every_path_ends_where_it_ends() -> None:
    found = published()
    for participant, rows in found.path.group_by("participant", maintain_order=True):
        steps, outcomes = rows["step"].to_list(), rows["outcome"].to_list()
        assert (steps[0], steps[-1]) == ("index", "verdict")
        flagged = participant[0] in found.flagged
        assert outcomes[-1] == ("flagged" if flagged else "cleared")
        assert steps[1:-1] == ["markov", "time", "deletion"][: len(steps) - 2]
        assert all(outcome == "goes on" for outcome in outcomes[:-2])
        assert (outcomes[-2] == "goes on") == flagged
    assert found.path_table()["reason"].str.len_chars().min() > 0  # type: ignore[operator]
    assert set(found.path["message"]) == {"procedure.index_reached", "procedure.why", "procedure.met"}
    assert found.path["participant"].n_unique() == PEOPLE


def test_with_all_workers_everything_is_noted_of_everybody() -> None:
    found = procedure(CROWD, candidates_only=False, **PUBLISHED)
    assert found.path.height == PEOPLE * 5
    assert found.steps["deletion"].flagged == published_deletion().flagged
    cleared = found.path.filter(pl.col("outcome") == "cleared", pl.col("step") == "markov")["participant"].to_list()
    after = found.path.filter(pl.col("participant").is_in(cleared), pl.col("step").is_in(["time", "deletion"]))
    assert after["outcome"].unique().to_list() == ["noted"]


def test_candidates_have_the_distances_of_the_whole_analysis() -> None:
    found = published().steps["deletion"].participants
    whole = published_deletion().participants
    joined = found.join(whole, on="participant")
    assert 0 < found.height < PEOPLE
    for row in joined.iter_rows(named=True):
        assert row["score"] == pytest.approx(row["distance_right"], abs=1e-6)
        assert row["p_value"] == pytest.approx(row["p_value_right"])
        assert row["flagged"] == row["flagged_right"]


@pytest.mark.slow
def test_any_criterion_with_the_auxiliary_factor() -> None:
    found = procedure(CROWD, candidates_only=False, verdict="any criterion", **PUBLISHED)
    either = {*markov(CROWD, "published").flagged} | {*published_deletion().flagged}
    assert set(found.flagged) == either & {*time_filter(CROWD, "mean").flagged}
    assert found.participants.filter("flagged")["score"].min() >= 2  # type: ignore[operator]
    assert found.participants["threshold"].unique().to_list() == [2.0]
    with raises(ScreenError, "procedure.verdict"):
        procedure(CROWD, verdict="any criterion")


@pytest.mark.parametrize("name", ["markov", "deletion"])
def test_one_criterion_alone_without_an_auxiliary_factor(name: Any) -> None:
    found = procedure(CROWD, criteria=[name], auxiliary=None, cutoffs="published")
    alone = markov(CROWD, "published") if name == "markov" else published_deletion()
    assert set(found.flagged) == set(alone.flagged)
    assert found.flow["step"].to_list() == [name]


def test_accuracy_checks_the_key_first() -> None:
    found = procedure(CROWD, criteria=["markov"], auxiliary="accuracy", **PUBLISHED)
    assert found.gold is not None
    shares = CROWD.frame.group_by("participant").agg((pl.col("response") == pl.col("expected")).mean().alias("share"))
    low = shares.filter(pl.col("share") < pl.col("share").mean())["participant"].to_list()
    assert set(found.flagged) == {*markov(CROWD, "published").flagged} & set(low)


def test_accuracy_without_a_key_is_agreement_with_the_majority() -> None:
    frame = CROWD.frame.drop("expected")
    found = procedure(
        karat.Judgments(frame, CROWD.scales), criteria=["markov"], auxiliary="accuracy", **PUBLISHED
    )  # fmt: skip
    assert found.gold is None
    assert "accuracy" in [note.values["step"] for note in with_code(found.notes, "procedure.note")]
    yes = frame.group_by("item").agg((pl.col("response") == "1").mean().alias("yes"))
    with_most = (pl.col("response") == "1") == (pl.col("yes") > 0.5)
    rows = frame.join(yes.filter(pl.col("yes") != 0.5), on="item")
    shares = rows.group_by("participant").agg(with_most.mean().alias("share"))
    low = shares.filter(pl.col("share") < pl.col("share").mean())["participant"].to_list()
    assert set(found.flagged) == {*markov(CROWD, "published").flagged} & set(low) != set()
    messages = found.steps["accuracy"].participants["message"]
    assert set(messages) == {"accuracy.majority", "accuracy.majority_below"}


def test_a_wrong_key_is_reported_and_left_out() -> None:
    item = WHOLE.frame.group_by("item").agg((pl.col("response") == pl.col("expected")).mean().alias("share"))
    easy = item.sort("share", "item")["item"][-1]
    turned = pl.when(pl.col("item") == easy).then(pl.col("expected").replace({"0": "1", "1": "0"}))
    frame = WHOLE.frame.with_columns(expected=turned.otherwise(pl.col("expected")))
    found = procedure(karat.Judgments(frame, WHOLE.scales), criteria=["markov"], auxiliary="accuracy", **PUBLISHED)
    assert found.gold is not None
    assert found.gold.doubtful["item"].to_list() == [easy]
    assert [note.values["step"] for note in with_code(found.notes, "procedure.note")].count("accuracy") >= 2


def test_completeness_or_any_evidence_as_auxiliary_factor() -> None:
    frame = CROWD.frame.filter((pl.col("participant") != "w017") | (pl.col("trial") <= 60))
    partly = karat.Judgments(frame, CROWD.scales)
    assert completion(partly).flagged == ["w017"]
    found = procedure(partly, criteria=["markov"], auxiliary="completeness", cutoffs="published")
    assert found.flagged == ["w017"]
    own = Evidence(
        pl.DataFrame({"participant": ["w017"], "score": [1.0], "threshold": [1.0], "flagged": [True], "reason": ["x"]}),
        "my own",
    )
    mine = procedure(CROWD, criteria=["markov"], auxiliary=own, cutoffs="published")
    assert mine.flagged == ["w017"]
    assert mine.flow["step"].to_list() == ["markov", "my own"]
    others = len(markov(CROWD, "published").flagged) - 1
    assert Message("procedure.not_judged", {"step": "my own", "participants": others}) in mine.notes
    result = dict(mine.path_table().filter(pl.col("step") == "my own").select("participant", "reason").iter_rows())
    assert result.pop("w017") == "x"
    assert set(result.values()) == {"not in this evidence"}


@pytest.mark.parametrize("candidates_only", [True, False])
def test_a_low_index_stops_it_and_says_how_to_go_on(candidates_only: bool) -> None:
    found = procedure(CROWD, least_index=0.5, candidates_only=candidates_only)
    assert found.flagged == []
    assert found.steps == {}
    assert found.flow["entered"].to_list() == [0, 0, 0]
    assert found.path["outcome"].unique().to_list() == ["cleared"]
    assert Message("procedure.stopped", {"least": 0.5}) in found.notes
    assert found.participants["message"].unique().to_list() == ["procedure.index_below"]
    assert found.participants["values"][0]["least"] == 0.5
    assert "below .500" in with_reasons(found.participants)["reason"][0]


def test_who_gave_few_answers_is_not_judged_and_counted() -> None:
    frame = CROWD.frame.filter((pl.col("participant") != "w001") | (pl.col("trial") <= 4))
    found = procedure(karat.Judgments(frame, CROWD.scales), **PUBLISHED)
    row = found.path.filter(pl.col("participant") == "w001", pl.col("step") == "markov").row(0, named=True)
    assert row["outcome"] == "not judged"
    assert row["message"] == "procedure.why"
    assert row["values"]["first"]["message"] is not None
    assert Message("procedure.not_judged", {"step": "markov", "participants": 1}) in found.notes


def test_the_simulated_null_decides_where_it_is_asked_for() -> None:
    seen: list[tuple[int, int]] = []
    found = procedure(CROWD, deletion_simulations=39, progress=lambda *done: seen.append(done), **PUBLISHED)
    table = found.steps["deletion"].participants
    assert table["p_simulated"].is_between(1 / 40, 1).all()
    assert table["flagged"].to_list() == (table["p_simulated"] < 0.05).to_list()
    assert table["score"].to_list() == table["p_simulated"].to_list()
    assert set(table["message"]) <= {"deletion.usual", "deletion.unusual"}
    assert with_reasons(table)["reason"].str.contains("among redrawn answers p = ").all()
    assert seen[-1] == (table.height, table.height)
    no_test = Message("procedure.note", {"step": "deletion", "note": Message("deletion.no_test")})
    assert no_test in published().notes
    assert no_test not in found.notes


def test_the_path_in_words_and_the_verdict() -> None:
    found = published()
    result = found.path_of(found.flagged[0])
    rows = found.path.filter(pl.col("participant") == found.flagged[0])
    assert rows["step"].to_list() == ["index", "markov", "time", "deletion", "verdict"]
    assert rows["outcome"].to_list() == [*["goes on"] * 4, "flagged"]
    last = message_at(rows, -1)
    assert (last.code, last.values["met"], last.values["steps"]) == ("procedure.met", 3, 3)
    assert result.split(";\n  ")[-1] == f"verdict, flagged ({last})"
    assert found.summary[0] == Message(
        "screening.flagged", {"criterion": "procedure", "flagged": len(found.flagged), "participants": PEOPLE}
    )
    entered, met = found.flow.filter(pl.col("step") == "deletion").select("entered", "met").row(0)
    assert found.summary[-1] == Message("procedure.go_on", {"step": "deletion", "entered": entered, "met": met})
    assert met == len(found.flagged)
    assert str(found).split("\n") == [str(one) for one in found.summary]
    with raises(ScreenError, "unknown.participant", name="nobody", close=None, known=None):
        found.path_of("nobody")


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"order": "time first"}, "setting.refused"),
        ({"criteria": []}, "setting.refused"),
        ({"criteria": "markov"}, "setting.refused"),
        ({"auxiliary": "mood"}, "setting.refused"),
        ({"alpha": 0}, "setting.refused"),
        ({"verdict": "none"}, "setting.refused"),
        ({"doubtful": "kept"}, "setting.refused"),
        ({"deletion_simulations": 9, "order": "deletion first"}, "deletion.too_few"),
        ({"auxiliary": Evidence(pl.DataFrame(), "markov")}, "procedure.same_criterion"),
    ],
)
def test_what_is_wrong_is_an_error(settings: dict[str, Any], code: str) -> None:
    with raises(ScreenError, code):
        procedure(CROWD, **settings)


def test_no_auxiliary_factor_has_a_word_for_study_files() -> None:
    found = procedure(CROWD, criteria=["markov"], auxiliary="none", cutoffs="published")
    assert found.flow["step"].to_list() == ["markov"]
    assert found.settings["auxiliary"] == "none"


@pytest.mark.slow
def test_labels_go_through_with_a_simulated_null() -> None:
    kinds = {"primary choice": 2, "repeated pattern": 2, "random guessing": 2}
    labels = karat.simulate.crowd(20, 20, kinds, scale=karat.Nominal(list("ABC")), seed=2)
    found = procedure(labels, deletion_simulations=29, least_index=0, candidates_only=False, simulations=300)
    assert found.participants.height == labels.participants.height


def test_accuracy_that_everybody_shares_is_not_below_its_mean() -> None:
    right = [1, 1, 1, 0, 1, 1, 0, 1, 1, 0]
    table = pl.DataFrame({
        "participant": [f"p{n}" for n in range(11) for _ in right], "item": [f"i{n}" for n in range(10)] * 11,
        "response": right * 11, "expected": ["1"] * 110,
    })  # fmt: skip
    for rule in ("mean", "mean-sd"):
        assert accuracy_step(karat.Judgments(table, karat.Binary()), rule, "counted").flagged == []  # type: ignore[arg-type]


def test_too_many_labels_are_a_reason() -> None:
    places = range(0, 320 * 320, 31)
    frame = pl.DataFrame({
        "participant": [f"w{place // 320}" for place in places], "item": [f"t{place % 320}" for place in places],
        "response": np.random.default_rng(1).choice(list(ascii_lowercase), len(places)),
    })  # fmt: skip
    judgments = karat.Judgments(frame, karat.Nominal(ascii_lowercase))
    screening = karat.screen.run(judgments, {"procedure": {}, "deletion": {}, "exclude": None})
    why = screening.skipped["procedure"]
    assert (why.code, why.values["why"].code) == ("procedure.no_index", "crowd.too_many_labels")
    values = {"criterion": "deletion", "participants": 320, "items": 320, "labels": 26}
    assert screening.skipped["deletion"] == NotComputed("crowd.too_many_labels", values)


def test_whatever_the_model_refuses_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **named: object) -> None:
        raise ValueError("There is no likelihood.")

    monkeypatch.setattr(spammer_index, "spammer_index", refused)
    screening = karat.screen.run(karat.datasets.load("crowd"), {"procedure": {}, "exclude": None})
    assert screening.skipped["procedure"] == NotComputed("procedure.no_model", {"why": "There is no likelihood."})
