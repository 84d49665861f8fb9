"""Controls on each account, with cases small enough to count by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pytest

import karat
from karat.messages import Message, NotComputed
from karat.screen.criteria.controls import controls, guess_probability
from karat.study import chance
from messages import codes, raises, reasons


def rated(
    people: Mapping[str, Sequence[Sequence[int | None]]],
    points: int = 5,
    expected: tuple[str, str] = ("3-5", "1-2"),
) -> karat.Judgments:
    """Each participant's ratings of grammatical and of ungrammatical controls."""
    rows = [
        {"participant": name, "item": f"{status}{n}", "response": None if answer is None else str(answer),
         "function": "control", "status": status, "expected": right}
        for name, groups in people.items()
        for status, right, answers in zip(("grammatical", "ungrammatical"), expected, groups, strict=True)
        for n, answer in enumerate(answers)
    ]  # fmt: skip
    return karat.Judgments(pl.DataFrame(rows, schema_overrides={"response": pl.String}), karat.Ordinal(points))


def chosen(people: dict[str, str], scale: karat.Scale | None = None) -> karat.Judgments:
    """Each participant's choices: r for right, w for wrong, - for none at all; the right answer is on the left."""
    answers = {"r": "left", "w": "right", "-": None, "n": "none"}
    rows = [
        {"participant": name, "item": f"i{n}", "response": answers[one], "left": "a", "right": "b",
         "function": "control", "expected": "left"}
        for name, text in people.items() for n, one in enumerate(text)
    ]  # fmt: skip
    return karat.Judgments(pl.DataFrame(rows, schema_overrides={"response": pl.String}), scale or karat.Choice())


def rows(evidence: karat.screen.Evidence) -> dict[str, dict[str, Any]]:
    return {row["participant"]: row for row in evidence.participants.to_dicts()}


def test_choices_are_counted_against_chance() -> None:
    evidence = controls(chosen({"p1": "r" * 7 + "w", "p2": "r" * 6 + "ww", "p3": "r" * 6 + "w-"}))
    result = rows(evidence)
    assert evidence.flagged == ["p2", "p3"]
    why = reasons(evidence)
    assert why["p1"] == Message("answers.right", {"right": 7, "trials": 8, "needed": 7, "p": 9 / 256})
    assert why["p3"] == Message("answers.right", {"right": 6, "trials": 8, "needed": 7, "unanswered": 1, "p": 9 / 256})
    assert (result["p2"]["score"], result["p2"]["threshold"]) == (0.75, 0.875)
    assert result["p1"]["guess_probability"] == 9 / 256
    assert evidence.settings == {"account": "positional", "alpha": 0.05, "slips": None, "published": False,
                                 "neutral_at_most": None}  # fmt: skip


def test_stated_slips_hold_with_a_note_despite_guessing() -> None:
    evidence = controls(chosen({"p1": "rrrrww", "p2": "rrrwww"}), slips=2)
    assert evidence.flagged == ["p2"]
    assert codes(evidence.notes) == ["passing.guessing"]
    assert evidence.notes[0].values == {"p": pytest.approx(0.34375), "alpha": 0.05}
    assert controls(chosen({"p1": "r" * 8 + "w"}), slips=0).flagged == ["p1"]


def test_too_few_trials_judge_nobody() -> None:
    evidence = controls(chosen({"p1": "wwww", "p2": "r" * 5}))
    result = rows(evidence)
    assert evidence.flagged == []
    assert result["p1"]["score"] is None
    assert reasons(evidence)["p1"] == Message("passing.too_few", {"n": 4, "p": 0.0625})
    assert result["p2"]["needed"] == 5
    alone = controls(chosen({"p1": "wwww"}))
    assert alone.notes[-1].code == "passing.nobody_judged"
    nothing = controls(chosen({"p1": "rr"}), slips=2)
    assert reasons(nothing)["p1"] == Message("passing.nothing_required", {"n": 2, "slips": 2})


def test_a_third_answer_lowers_the_chance() -> None:
    evidence = controls(chosen({"p1": "rrrrw", "p2": "rrrnn"}, karat.Choice(none=True)))
    assert rows(evidence)["p1"]["needed"] == 4 == chance.needed(5, "1/3")
    assert evidence.flagged == ["p2"]


def test_yes_and_no_are_counted_together_whatever_the_status() -> None:
    frame = {
        "participant": ["p1"] * 8, "item": list("abcdefgh"), "function": ["control"] * 8,
        "status": ["grammatical", "ungrammatical"] * 4, "expected": ["yes", "no"] * 4, "response": ["yes"] * 8,
    }  # fmt: skip
    evidence = controls(karat.Judgments(frame, karat.Binary(("no", "yes"))))
    values = reasons(evidence)["p1"].values
    assert (values["right"], values["trials"], values["needed"]) == (4, 8, 7)
    assert evidence.flagged == ["p1"]


def test_ratings_have_a_number_for_each_group() -> None:
    good, bad = [5, 4, 3, 3, 1], [1, 1, 2, 2, 3]
    evidence = controls(
        rated({"p1": (good, bad), "p2": ([5, 5, 5, 5, 5], [5, 5, 1, 1, 1]), "p3": (good, [1, 1, 1, None, None])})
    )
    result = rows(evidence)
    assert evidence.flagged == ["p2", "p3"]
    assert result["p1"]["guess_probability"] == pytest.approx(chance.joint((5, 4), (5, 4)))
    assert (result["p2"]["score"], result["p2"]["threshold"]) == (0.6, 0.8)
    reason = reasons(evidence)["p3"]
    assert reason.code == "answers.right_by_status"
    assert reason.values == {
        "grammatical_right": 4, "grammatical_trials": 5, "grammatical_needed": 4, "ungrammatical_right": 3,
        "ungrammatical_trials": 5, "ungrammatical_needed": 4, "unanswered": 2, "p": pytest.approx(0.029, abs=5e-4),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("points", "expected", "neutral"),
    [(5, ("3-5", "1-2"), "grammatical"), (5, ("4-5", "1-3"), "ungrammatical"), (5, ("3-5", "1-3"), "both"),
     (5, ("4-5", "1-2"), None), (6, ("4-6", "1-3"), None), (7, ("4-7", "1-3"), "grammatical")],
)  # fmt: skip
def test_the_neutral_point_is_where_the_expected_answers_say(
    points: int, expected: tuple[str, str], neutral: str | None
) -> None:
    result = rows(controls(rated({"p1": ([points] * 12, [1] * 12)}, points, expected)))["p1"]
    rule = chance.joint_rule(12, 12, points, neutral)
    assert (result["grammatical_needed"], result["ungrammatical_needed"]) == (
        rule.grammatical[1],
        rule.ungrammatical[1],
    )
    assert result["guess_probability"] == pytest.approx(rule.probability)


def test_without_room_for_a_slip_the_rule_has_none() -> None:
    evidence = controls(rated({"p1": ([5] * 3, [1] * 3), "p2": ([5] * 2, [1] * 2), "p3": ([5] * 4, [])}))
    messages, why = rows(evidence), reasons(evidence)
    assert (messages["p1"]["grammatical_needed"], messages["p1"]["ungrammatical_needed"]) == (3, 3)
    assert (why["p2"].code, why["p2"].values) == ("passing.too_few", {"n": 4, "p": pytest.approx(0.36 * 0.16)})
    assert (why["p3"].code, why["p3"].values) == ("passing.too_few", {"n": 4, "p": pytest.approx(0.6**4)})


def test_stated_slips_are_tolerated_in_each_group() -> None:
    evidence = controls(rated({"p1": ([5] * 7 + [1], [1] * 7 + [5]), "p2": ([5] * 8, [1] * 6 + [5] * 2)}), slips=1)
    assert evidence.flagged == ["p2"]
    assert rows(evidence)["p1"]["guess_probability"] == pytest.approx(chance.joint((8, 7), (8, 7)))


def test_relational_needs_a_difference_extended_half_the_range() -> None:
    people: dict[str, Any] = {
        "half": ([4] * 8, [2] * 8), "less": ([4] * 7 + [3], [2] * 8), "same": ([3] * 8, [3] * 8),
        "silent": ([None] * 8, [None] * 8), "turned": ([1] * 8, [5] * 8),
    }  # fmt: skip
    relational = controls(rated(people), account="relational")
    assert relational.flagged == ["same", "silent", "turned"]
    assert codes(relational.notes) == ["passing.guessing"]
    assert relational.notes[0].values["p"] == pytest.approx(0.465, abs=5e-4)
    extended = controls(rated(people), account="extended")
    assert extended.flagged == ["less", "same", "silent", "turned"]
    assert extended.notes == ()
    half = reasons(extended)["half"]
    assert half.code == "controls.extended"
    assert (half.values["grammatical"], half.values["ungrammatical"], half.values["apart"]) == (4.0, 2.0, 2.0)
    assert half.values["p"] == pytest.approx(0.003, abs=5e-4)
    assert rows(extended)["less"]["score"] == pytest.approx(15 / 32)


def test_a_tie_of_means_is_not_lost_to_rounding() -> None:
    people: dict[str, Any] = {"p1": ([3, 4, 5], [1, 2, 3])}
    assert controls(rated(people), account="extended").flagged == []
    assert controls(rated({"p1": ([1, 1, 2], [1, 1, 2, 1, 1, 2])}), account="relational").flagged == ["p1"]


def test_strict_allows_no_slip() -> None:
    people: dict[str, Any] = {
        "good": ([4] * 8, [2] * 8), "neutral": ([5] * 7 + [3], [1] * 7 + [3]), "slip": ([5] * 8, [1] * 7 + [4]),
        "middling": ([4] * 7 + [3], [1] * 8), "missing": ([5] * 8, [1] * 7 + [None]),
    }  # fmt: skip
    evidence = controls(rated(people), account="strict")
    assert evidence.flagged == ["slip", "middling", "missing"]
    seven = controls(rated({"p1": ([6, 5, 6, 5], [2, 3, 2, 3]), "p2": ([5] * 4, [1] * 4)}, 7, ("4-7", "1-3")), "strict")
    assert seven.flagged == ["p2"]


def test_means_of_few_trials_carry_a_warning() -> None:
    evidence = controls(rated({"p1": ([5] * 7, [1] * 8)}), account="extended")
    assert evidence.notes[0] == Message("controls.few_for_means", {"enough": 8, "fewest": 7})


@pytest.mark.parametrize("points", [2, 5, 6])
@pytest.mark.parametrize("pairs", [1, 3, 8])
def test_guessing_agrees_with_the_chance_tables(points: int, pairs: int) -> None:
    assert guess_probability(pairs, pairs, points, "relational") == pytest.approx(chance.relational(pairs, points))
    assert guess_probability(pairs, pairs, points, "extended") == pytest.approx(chance.relational(pairs, points, 0.5))


def test_guessing_with_unequal_groups_by_enumeration() -> None:
    every = [(g, u1, u2) for g in range(3) for u1 in range(3) for u2 in range(3)]
    pure = sum(2 * g > u1 + u2 for g, u1, u2 in every) / 27
    far = sum(g - (u1 + u2) / 2 >= 1 for g, u1, u2 in every) / 27
    assert guess_probability(1, 2, 3, "relational") == pytest.approx(pure)
    assert guess_probability(1, 2, 3, "extended") == pytest.approx(far)


def test_accounts_of_ratings_leave_choices_right_or_wrong() -> None:
    evidence = controls(chosen({"p1": "r" * 8, "p2": "w" * 8}), account="extended")
    assert evidence.flagged == ["p2"]
    assert evidence.notes[0] == NotComputed("controls.not_ratings", {"account": "extended"})


def test_people_without_controls_are_not_judged() -> None:
    frame = rated({"p1": ([5] * 8, [1] * 8)}).frame
    more = frame.with_columns(participant=pl.lit("p2"), function=pl.lit("test"))
    both = karat.Judgments(pl.concat([frame, more]), karat.Ordinal(5))
    for account in ("positional", "relational", "strict"):
        evidence = controls(both, account=account)
        result = rows(evidence)["p2"]
        assert (result["score"], result["flagged"]) == (None, False)
        code = "passing.no_trials" if account == "positional" else "controls.not_both"
        assert reasons(evidence)["p2"].code == code


def test_trials_without_expected_answers_are_left_out() -> None:
    frame = chosen({"p1": "r" * 8}).frame
    some = frame.with_columns(expected=pl.when(pl.col("item") == "i0").then(None).otherwise("expected"))
    evidence = controls(karat.Judgments(some, karat.Choice()))
    assert evidence.notes == (Message("answers.left_out", {"n": 1, "why": None, "more": None}),)
    assert rows(evidence)["p1"]["trials"] == 7
    for account in ("positional", "extended"):
        with raises(karat.KaratError, "answers.no_key"):
            controls(karat.Judgments(frame.drop("expected"), karat.Choice()), account=account)


def test_what_cannot_run_says_why() -> None:
    ratings = rated({"p1": ([5] * 8, [1] * 8)})
    with raises(karat.KaratError, "answers.no_trials"):
        controls(karat.Judgments(ratings.frame.with_columns(function=pl.lit("test")), karat.Ordinal(5)))
    with raises(karat.KaratError, "controls.status_missing"):
        controls(karat.Judgments(ratings.frame.drop("status"), karat.Ordinal(5)), account="relational")
    with raises(karat.KaratError, "controls.no_slips"):
        controls(ratings, account="strict", slips=1)
    with raises(karat.KaratError, "setting.refused", setting="account"):
        controls(ratings, account="other")
    with raises(karat.KaratError, "setting.refused", setting="alpha"):
        controls(ratings, alpha=5)
    with raises(karat.KaratError, "setting.refused", setting="slips"):
        controls(ratings, slips=-1)
    with raises(karat.KaratError, "controls.published_only_positional"):
        controls(ratings, account="strict", published=True)
    magnitude = karat.Judgments(ratings.frame, karat.Magnitude())
    with raises(karat.KaratError, "answers.chance_unknown"):
        controls(magnitude)
    with raises(karat.KaratError, "controls.other_scale"):
        controls(magnitude, account="relational")


def test_ratings_without_status_are_counted_together() -> None:
    frame = rated({"p1": ([5] * 6, [1] * 6), "p2": ([5] * 6, [5] * 6)}).frame.drop("status")
    evidence = controls(karat.Judgments(frame, karat.Ordinal(5)))
    assert evidence.flagged == ["p2"]
    assert codes(evidence.notes) == ["answers.counted_together"]


@pytest.mark.parametrize("account", ["relational", "extended", "strict"])
def test_nobody_is_judged_where_nobody_saw_both_kinds(account: str) -> None:
    evidence = controls(rated({"a": [[5] * 9, []], "b": [[], [1] * 9]}), account=account)
    assert evidence.flagged == []
    assert evidence.notes == (Message("passing.nobody_judged", {"why": Message("controls.not_both")}),)
