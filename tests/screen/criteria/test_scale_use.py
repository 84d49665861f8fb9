"""Scale use: neutral answers, and evidence about the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
import strategies
from karat.judgments.message_tables import with_reasons
from karat.messages import Message
from karat.screen.criteria.scale_use import scale_use
from karat.screen.evidence import ScreenError
from messages import codes, raises
from screen.judged import FIVE, judgments, message


def rows(judgments: karat.Judgments) -> dict[str, dict[str, Any]]:
    return {row["participant"]: row for row in scale_use(judgments).participants.to_dicts()}


def alternating(yes: str, no: str) -> pl.Expr:
    return pl.when(pl.col("trial") % 2 == 1).then(pl.lit(yes)).otherwise(pl.lit(no))


def test_neutral_answers_above_the_limit_are_flagged() -> None:
    table = judgments({"half": [3, 3, 1, 5] * 3, "more": [3, 3, 3, 5] * 3, "none": [1, 2, 4, 5] * 3})
    evidence = scale_use(table)
    assert evidence.flagged == ["more"]
    assert evidence.participants["score"].to_list() == [0.5, 0.75, 0.0]
    more = {"neutral": 9, "answers": 12, "commonest": "3", "share": 0.75}
    assert message(rows(table)["more"]) == ("scale_use.neutral", more)
    assert rows(table)["more"]["points_used"] == 0.4
    assert scale_use(table, neutral_at_most=0.8).flagged == []
    with raises(ScreenError, "setting.refused", setting="neutral_at_most"):
        scale_use(table, neutral_at_most=50)


def test_few_answers_flag_nobody() -> None:
    evidence = scale_use(judgments({"once": [3], "often": [3] * 9, "others": [1, 2, 4, 5, 1, 2, 4, 5, 1]}))
    assert evidence.flagged == []
    assert evidence.participants["values"].struct.field("fewest").to_list() == [10, 10, None]


def test_neutral_answers_that_the_others_give_too_flag_nobody() -> None:
    """Opinions in posts, most of which hold none: only the person who never sees one is flagged."""
    posts = [3, 3, 3, 1, 3, 3, 5, 3, 3, 3] * 4
    slips = {f"p{n}": [5 if item % 13 == n else post for item, post in enumerate(posts)] for n in range(6)}
    evidence = scale_use(judgments({**slips, "never": [3] * 40}))
    assert evidence.flagged == ["never"]
    assert evidence.participants["values"].struct.field("others")[0] == pytest.approx(0.8, abs=0.05)


def test_people_who_prefer_the_middle_are_not_flagged() -> None:
    """A cautious participant rates only clear items apart from the middle; another one leaves it at random."""
    random = np.random.default_rng(4)
    items = random.integers(1, 6, 60)
    usual = {f"p{n}": np.clip(items + random.integers(-1, 2, 60), 1, 5).tolist() for n in range(12)}
    cautious = [item if item in (1, 5) else 3 for item in items.tolist()]
    careless = np.where(random.random(60) < 0.7, 3, random.integers(1, 6, 60)).tolist()
    evidence = scale_use(judgments({**usual, "cautious": cautious, "careless": careless}))
    assert evidence.flagged == ["careless"]
    agreement = dict(
        evidence.participants.select("participant", pl.col("values").struct.field("agreement")).iter_rows()
    )
    assert agreement["cautious"] > 4
    assert agreement["careless"] is None


def test_very_hard_items_flag_nobody() -> None:
    """Nobody knows, and some say so more often than others."""
    random = np.random.default_rng(2)
    people = {f"p{n}": np.where(random.random(40) < n / 12, 3, random.integers(1, 6, 40)).tolist() for n in range(12)}
    evidence = scale_use(judgments(people))
    assert evidence.flagged == []
    assert "scale_use.hard" in codes(evidence.notes)


def test_nobody_is_flagged_without_a_neutral_point() -> None:
    evidence = scale_use(judgments({"p1": [2, 2, 2]}, karat.Ordinal(4)))
    assert evidence.participants["score"].to_list() == [None]
    assert evidence.flagged == []
    assert codes(evidence.notes)[0] == "scale_use.no_neutral_point"
    (row,) = evidence.participants.to_dicts()
    assert message(row) == ("scale_use.commonest", {"commonest": "2", "share": 1.0})
    choices = judgments({"p1": ["none", "none", "left"] * 4}, karat.Choice(none=True))
    assert scale_use(choices).flagged == ["p1"]


@pytest.mark.parametrize("column", ["status", "expected"])
def test_compression_against_the_median_participant(column: str) -> None:
    words = ("grammatical", "ungrammatical") if column == "status" else ("4-5", "1|2")
    people = {"usual": [5, 1, 5, 1], "alike": [5, 1, 5, 1], "narrow": [4, 3, 4, 3], "flat": [2, 2, 2, 2]}
    table = judgments(people | {"wide": [5, 1, 5, 1]}, FIVE, function=pl.lit("filler"), **{column: alternating(*words)})
    assert scale_use(table).notes == ()
    assert [row["compression"] for row in rows(table).values()] == [1.0, 1.0, 0.25, 0.0, 1.0]
    tested = karat.Judgments(table.frame.with_columns(function=pl.lit("test")), FIVE)
    assert codes(scale_use(tested).notes) == ["scale_use.only_test_items"]
    assert rows(tested)["narrow"]["compression"] == 0.25


def test_test_items_do_not_enter_where_others_are_known() -> None:
    function = pl.when(pl.col("trial") <= 2).then(pl.lit("control")).otherwise(pl.lit("test"))
    table = judgments({"p1": [5, 1, 1, 5]}, function=function, status=alternating("grammatical", "ungrammatical"))
    assert rows(table)["p1"]["contrast"] == 1.0


def test_compression_that_cannot_be_known() -> None:
    upside_down = judgments(
        {"p1": [1, 5]}, function=pl.lit("filler"), status=alternating("grammatical", "ungrammatical")
    )
    assert codes(scale_use(upside_down).notes) == ["scale_use.no_contrast"]
    assert codes(scale_use(judgments({"p1": [1, 5]})).notes) == ["scale_use.no_clear_items"]
    unbounded = judgments({"p1": [1, 5]}, karat.Continuous(), expected=pl.lit("3-4"))
    assert rows(unbounded)["p1"]["compression"] is None
    slider = judgments({"p1": [90, 10]}, karat.Continuous(0, 100), expected=alternating("80-100", "0-20"))
    assert rows(slider)["p1"]["contrast"] == pytest.approx(0.8)
    assert rows(judgments({"p1": [3]}, expected=pl.lit("3")))["p1"]["contrast"] is None


def test_practice_and_missing_answers_are_left_out() -> None:
    function = pl.when(pl.col("trial") <= 1).then(pl.lit("practice")).otherwise(pl.lit("test"))
    found = rows(judgments({"p1": [3, 1, 3, None], "p2": [3, None]}, function=function))
    assert (found["p1"]["score"], found["p1"]["answers"]) == (0.5, 2)
    assert (found["p2"]["score"], found["p2"]["flagged"]) == (None, False)
    assert message(found["p2"]) == ("answering.none", {})
    with raises(ScreenError, "answering.nobody"):
        scale_use(judgments({"p1": [1]}, function=pl.lit("practice")))


def test_several_scales() -> None:
    table = judgments({"p1": [3, 1, 3, 2]}).frame.with_columns(question=alternating("a", "b"))
    found = rows(karat.Judgments(table, {"a": FIVE, "b": karat.Nominal(["1", "2", "x"])}))["p1"]
    assert found["score"] == 1.0
    assert found["points_used"] == pytest.approx(3 / 8)
    assert found["commonest_share"] == 0.5


@given(st.lists(st.integers(1, 5), min_size=2, max_size=30))
def test_numbers_against_their_definitions(answers: list[int]) -> None:
    found = rows(judgments({"p1": answers}))["p1"]
    x = np.array(answers, dtype=float)
    assert found["score"] == pytest.approx(np.mean(x == 3))
    assert found["points_used"] == pytest.approx(len(set(answers)) / 5)
    assert found["commonest_share"] == pytest.approx(max(answers.count(a) for a in answers) / len(answers))
    assert found["spread"] == pytest.approx(x.std(ddof=1) / 4)
    if len(set(answers)) == 1:
        assert found["skew"] is None
    else:
        assert found["skew"] == pytest.approx(np.mean((x - x.mean()) ** 3) / x.std() ** 3, abs=1e-9)


@given(strategies.judgments())
def test_everybody_gets_evidence_on_any_scale(table: karat.Judgments) -> None:
    if table.frame["response"].null_count() == len(table):
        return
    evidence = scale_use(table)
    assert (
        evidence.participants["participant"].to_list()
        == table.frame["participant"].unique(maintain_order=True).to_list()
    )
    assert with_reasons(evidence.participants)["reason"].null_count() == 0
    assert evidence.participants["flagged"].null_count() == 0


def test_middle_of_an_odd_scale_is_neutral_by_default() -> None:
    evidence = scale_use(judgments({"p": [3, 3, 3, 5] * 3, "q": [1, 3, 4, 5] * 3}, karat.Ordinal(5)))
    assert evidence.flagged == ["p"]
    assert evidence.notes[0] == Message("neutral.middle", {"points": ["3"]})
