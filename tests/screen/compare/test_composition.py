"""Who is excluded: shares, comparisons and sentences, with a plain count beside them."""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.messages import Message, with_code
from karat.screen.compare.composition import Composition, composition
from karat.screen.criteria import BUILT_IN
from karat.screen.evidence import Evidence
from karat.screen.screening import Screening
from karat.study.criteria import ABOUT_PEOPLE, CRITERIA
from messages import codes, refuses


def screening(background: dict[str, list[Any]], excluded: list[bool], **flags: list[bool | None]) -> Screening:
    """A screening with these flags; None where a criterion did not look at somebody."""
    names = [f"p{number}" for number in range(len(excluded))]
    frame = pl.DataFrame({"participant": names, "item": ["i"] * len(names), "response": ["1"] * len(names)})
    people = pl.DataFrame({"participant": names, **background})
    evidence = {
        name: Evidence(pl.DataFrame({"participant": names, "flagged": own}).drop_nulls(), name)
        for name, own in flags.items()
    }
    out = tuple(name for name, gone in zip(names, excluded, strict=True) if gone)
    return Screening(karat.Judgments(frame, karat.Ordinal(5), people), evidence, out, {}, "any")


def unlucky() -> Screening:
    """Six of nine in one group are flagged, and three of thirty-nine others."""
    flagged = [True] * 6 + [False] * 3 + [True] * 3 + [False] * 36
    return screening({"native_language": ["de"] * 9 + ["en"] * 39}, flagged, attention=flagged)


def counted_p(flagged: int, group: int, marked: int, everybody: int) -> float:
    ways = {k: comb(group, k) * comb(everybody - group, marked - k) for k in range(min(group, marked) + 1)}
    return sum(number for number in ways.values() if number <= ways[flagged]) / sum(ways.values())


def test_a_criterion_that_falls_on_one_group_is_named() -> None:
    found = composition(unlucky())
    assert isinstance(found, Composition)
    p = counted_p(6, 9, 9, 48)
    row = found.groups.row(0, named=True)
    assert (row["variable"], row["group"], row["criterion"]) == ("native_language", "de", "verdict")
    assert (row["participants"], row["flagged"], row["share"]) == (9, 6, pytest.approx(6 / 9))
    assert (row["share_of_all"], row["share_of_flagged"]) == pytest.approx((9 / 48, 6 / 9))
    assert row["p"] == pytest.approx(p)
    assert row["p_adjusted"] == pytest.approx(2 * p), "two criteria, and two groups are one comparison"
    assert codes(found.warnings) == ["composition.excluded_more", "composition.flagged_more"]
    values = {"criterion": "attention", "variable": "native_language", "group": "de", "flagged": 6, "participants": 9,
              "p": pytest.approx(p), "p_adjusted": pytest.approx(2 * p), "others_flagged": 3, "others": 39}  # fmt: skip
    assert found.warnings[1].values == values
    assert found.groups["warning"].to_list() == [True, False, True, False]
    assert found.table()["warning"].to_list() == [True, True, False, False]
    assert found.summary == (
        Message("composition.excluded", {"flagged": 9, "participants": 48, "criterion": "verdict"}),
        Message("composition.groups_differ", {"variables": ["native_language"], "comparisons": 2}),
    )


def test_nothing_is_compared_where_nobody_is_excluded() -> None:
    found = composition(screening({"town": ["a", "b"] * 3}, [False] * 6, attention=[False] * 6))
    assert codes(found.summary) == ["composition.nobody_excluded"]


def test_a_group_that_is_spared_is_named_too() -> None:
    flagged = [False] * 30 + [True, False] * 10
    groups = ["a"] * 30 + ["b", "b", "c", "c", "d"] * 4
    (first, *_) = composition(screening({"town": groups}, flagged)).warnings
    assert first.code == "composition.excluded_less"
    counts = ("group", "flagged", "participants", "others_flagged", "others")
    assert [first.values[name] for name in counts] == ["a", 0, 30, 10, 20]


def test_groups_too_small_to_tell_are_said() -> None:
    flagged = [True, True] + [False] * 18
    found = composition(screening({"town": ["a"] * 2 + ["b"] * 18, "level": ["x"] + ["y"] * 19}, flagged))
    group = Message("composition.group", {"group": "x", "participants": 1})
    values = {"variable": "level", "groups": [group], "excluded": 2, "participants": 20}
    assert found.notes == (Message("composition.too_small", values),)


def test_unseen_participants_do_not_count_as_passing() -> None:
    groups = {"town": ["a", "a", "b", "b"]}
    found = composition(screening(groups, [True, False, False, False], attention=[None, False, True, False]), ["town"])
    attention = found.groups.filter(pl.col("criterion") == "attention")
    assert attention["participants"].to_list() == [1, 2]
    assert attention["share"].to_list() == [0, 0.5]


def test_eligibility_falls_on_groups_by_intention() -> None:
    one = unlucky()
    settings = {"eligibility": {"answers": {"native_language": ["en"]}, "same": {}}}
    assert composition(replace(one, settings=settings)).variables == ()
    found = composition(replace(one, settings=settings), ["native_language"])
    assert [row["criterion"] for row in found.groups.filter(pl.col("warning")).to_dicts()] == ["attention"]
    assert found.notes[0] == Message("composition.intended", {"variable": "native_language"})


def test_columns_of_criteria_are_no_background() -> None:
    columns = {"state": ["complete", "withdrawn"] * 20, "quiz_passed": ["yes", "no"] * 20, "town": ["a", "b"] * 20}
    found = composition(screening(columns, [True, False] * 20))
    assert found.variables == ("town",)
    why = {note.values["column"]: note.values["why"].code for note in with_code(found.notes, "background.left_out")}
    assert why == {"state": "background.criterion", "quiz_passed": "background.criterion"}


def test_nothing_to_compare_is_an_empty_result_that_says_so() -> None:
    found = composition(screening({}, [True, False]))
    assert found.groups.height == 0
    assert codes(found.summary) == ["composition.no_background"]
    assert found.criterion is None
    nobody = composition(screening({"town": ["a", "b"]}, [False, False]))
    assert nobody.warnings == ()
    assert nobody.groups["p"].to_list() == [1, 1]
    assert nobody.groups["share_of_flagged"].null_count() == 2


def test_without_a_rule_the_criteria_are_compared_and_no_verdict() -> None:
    found = composition(replace(unlucky(), exclude=None, excluded=()))
    assert found.groups["criterion"].unique().to_list() == ["attention"]
    assert (found.summary[0].code, found.summary[0].values["criterion"]) == ("composition.flagged", "attention")


GROUP = st.sampled_from(["a", "b", "c", None])


@given(st.lists(st.tuples(GROUP, st.booleans(), st.sampled_from([True, False, None])), min_size=1, max_size=40))
def test_shares_intervals_and_sums(people: list[tuple[str | None, bool, bool | None]]) -> None:
    towns, excluded, flags = (list(column) for column in zip(*people, strict=True))
    found = composition(screening({"town": towns}, excluded, attention=flags), ["town"]).groups
    verdict = found.filter(pl.col("criterion") == "verdict")
    assert verdict["participants"].sum() == len(people)
    assert verdict["flagged"].sum() == sum(excluded)
    assert found.filter(pl.col("criterion") == "attention")["participants"].sum() == sum(f is not None for f in flags)
    for row in found.to_dicts():
        own = [(out, flag) for town, out, flag in people if (town or "not known") == row["group"]]
        assert row["flagged"] == sum(bool(one[row["criterion"] == "attention"]) for one in own)
        assert 0 <= row["p"] <= row["p_adjusted"] <= 1
        for share, low, high in (
            ("share", "lower", "upper"),
            ("share_of_flagged", "lower_of_flagged", "upper_of_flagged"),
        ):
            if row[share] is not None:
                assert 0 <= row[low] <= row[share] <= row[high] <= 1


def test_simulated_behaviour_is_background_only_by_name() -> None:
    flagged = [True] * 6 + [False] * 42
    found = screening({"behaviour": ["guesser"] * 6 + ["attentive"] * 42, "town": ["a", "b"] * 24}, flagged)
    usual = composition(found)
    assert usual.variables == ("town",)
    simulated = Message("background.simulated")
    assert Message("background.left_out", {"column": "behaviour", "why": simulated}) in usual.notes
    assert usual.warnings == ()
    assert composition(found, ["behaviour"]).warnings


def test_criteria_that_are_not_asked_look_at_no_background() -> None:
    stated = {"answers": {"age": ["18"]}, "same": {"age": "years"}}
    looking = [name for name in BUILT_IN if CRITERIA[name].looks_at(stated)]
    assert sorted(looking) == sorted(ABOUT_PEOPLE)


def test_the_title_says_on_whom_the_verdict_falls() -> None:
    drawn = composition(unlucky()).plot()
    title = drawn.get_suptitle().replace("\n", " ")
    assert title == "6 of 9 with native_language = de are excluded, 3 of 39 others"
    (axis,) = drawn.axes
    assert [label.get_text() for label in axis.get_yticklabels()] == ["de", "en"]
    assert {text.get_text() for text in axis.texts} == {"excluded", "6 of 9", "3 of 39"}


def test_one_criterion_and_nobody_flagged() -> None:
    found = composition(screening({"town": ["a", "b", "b"]}, [False] * 3, attention=[True, False, False]))
    assert "Nobody of 3 is excluded" in found.plot(width_cm=8).get_suptitle()
    assert "1 of 3 are flagged by attention" in found.plot("attention").get_suptitle().replace("\n", " ")
    with refuses(karat.KaratError, "atention", "attention"):
        found.plot("atention")


@pytest.mark.slow
def test_the_svg_is_text_and_nothing_to_draw_is_a_sentence() -> None:
    assert composition(unlucky()).to_svg() == composition(unlucky()).to_svg()
    assert "<desc" in composition(unlucky()).to_svg()
    with refuses(karat.KaratError, Message("composition.no_background")):
        composition(screening({}, [True])).plot()
