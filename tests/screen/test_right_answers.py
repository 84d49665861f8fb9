"""Right and wrong answers: rights minus wrongs, the trials themselves, and tables with gaps."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.judgments.checks import Checked
from karat.messages import Message
from karat.screen.criteria.attention import attention
from karat.screen.criteria.controls import controls
from karat.screen.right_answers import penalty
from karat.study.criteria import CRITERIA
from messages import codes, raises, refuses

ACCOUNTS = ("positional", "relational", "extended", "strict", "pairwise")
FURTHER = ("rights_minus_wrongs", "rights_minus_wrongs_share", "solved")


def table(answers: Mapping[str, Sequence[Any]], expected: Sequence[str | None], **columns: list[Any]) -> pl.DataFrame:
    """Each participant's answers to the same control trials; `columns` have one value per trial."""
    n = len(expected)
    rows = [
        {"participant": name, "item": f"i{i}", "response": None if given[i] is None else str(given[i]),
         "function": "control", "expected": expected[i]} | {key: values[i] for key, values in columns.items()}
        for name, given in answers.items() for i in range(n)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"response": pl.String, "expected": pl.String})


def ratings(people: Mapping[str, Sequence[Any]], points: int = 5) -> pl.DataFrame:
    """Ratings of eight pairs of a grammatical and an ungrammatical control."""
    half = points // 2
    return table(people, [f"{half + 1}-{points}", f"1-{half}"] * 8, status=["grammatical", "ungrammatical"] * 8,
                 pair=[f"pair{i // 2}" for i in range(16)])  # fmt: skip


def rows(evidence: karat.screen.Evidence) -> dict[str, dict[str, Any]]:
    return {row["participant"]: row for row in evidence.participants.to_dicts()}


def test_rights_minus_wrongs_of_choices() -> None:
    given_answers: dict[str, list[Any]] = {"p1": ["left"] * 5 + ["right"] * 2 + [None], "p2": ["right"] * 8}
    frame = table(given_answers, ["left"] * 8).with_columns(left=pl.lit("a"), right=pl.lit("b"))
    result = rows(controls(karat.Judgments(frame, karat.Choice())))
    assert [result["p1"][name] for name in FURTHER] == [3, 3 / 8, 3]
    assert result["p2"]["solved"] == -8


def test_no_difference_is_neither_right_nor_wrong() -> None:
    frame = table({"p1": ["left"] * 5 + ["right"] + ["none"] * 2}, ["left"] * 8)
    read = karat.Judgments(frame.with_columns(left=pl.lit("a"), right=pl.lit("b")), karat.Choice(none=True))
    result = rows(controls(read))["p1"]
    assert (result["right"], result["rights_minus_wrongs"], result["solved"]) == (5, 4, 4)


def test_one_of_several_right_answers_is_corrected_for_chance() -> None:
    frame = table({"p1": ["A"] * 5 + ["B", "C", "D"]}, ["A"] * 8)
    result = rows(controls(karat.Judgments(frame, karat.Nominal(["A", "B", "C", "D"]))))["p1"]
    assert result["rights_minus_wrongs"] == 2
    assert result["solved"] == pytest.approx(5 - 3 / 3)


def test_sets_of_right_answers_are_corrected_by_their_odds() -> None:
    result = rows(controls(karat.Judgments(ratings({"p1": [5, 1] * 6 + [1, 5] * 2}), karat.Ordinal(5))))["p1"]
    assert result["rights_minus_wrongs"] == 12 - 4
    assert result["solved"] == pytest.approx(12 - 2 * 3 / 2 - 2 * 2 / 3)


@given(st.integers(2, 7), st.data())
def test_guessing_solves_nothing_on_average(points: int, data: st.DataObject) -> None:
    """Over all answers, each equally probable, rights minus the penalty of wrongs is nought."""
    scales: list[karat.Ordinal | karat.Choice] = [karat.Ordinal(points), karat.Choice(none=True), karat.Choice()]
    scale = data.draw(st.sampled_from(scales))
    last = data.draw(st.integers(0, len(scale.levels) - 2))
    expected = scale.levels[0] if isinstance(scale, karat.Choice) else "|".join(scale.levels[: last + 1])
    answers = scale.expected(expected)
    sums = [1.0 if one in answers else 0.0 if one == "none" else -penalty(scale, expected) for one in scale.levels]
    assert sum(sums) == pytest.approx(0)


def test_expected_answers_without_a_wrong_one_take_nothing() -> None:
    assert penalty(karat.Ordinal(5), "1-5") == 0


@pytest.mark.parametrize(("criterion", "function"), [(controls, "control"), (attention, "attention")])
def test_every_judged_trial_is_reported(criterion: Callable[..., karat.screen.Evidence], function: str) -> None:
    frame = ratings({"p1": [5, 1] * 8, "p2": [5, 5] * 7 + [None, 1]}).with_columns(
        function=pl.lit(function), trial=pl.int_range(1, 17).append(pl.int_range(1, 17)), session=pl.lit("a")
    )
    evidence = criterion(karat.Judgments(frame, karat.Ordinal(5)))
    assert evidence.trials is not None
    assert evidence.trials.columns == [
        "participant", "trial", "session", "question", "item", "response", "expected", "right",
    ]  # fmt: skip
    assert evidence.trials.height == 32
    wrong = evidence.trials.filter(pl.col("participant") == "p2", ~pl.col("right"))
    assert wrong["trial"].to_list() == [2, 4, 6, 8, 10, 12, 14, 15]
    bare = criterion(karat.Judgments(frame.drop("trial", "session"), karat.Ordinal(5))).trials
    assert bare is not None
    assert bare.columns == ["participant", "trial", "question", "item", "response", "expected", "right"]


def test_accounts_that_compare_tell_no_single_trials() -> None:
    read = karat.Judgments(ratings({"p1": [5, 1] * 8}), karat.Ordinal(5))
    assert [controls(read, account=account).trials is None for account in ACCOUNTS] == [False, True, True, True, True]


@pytest.mark.parametrize("points", [4, 6])
@pytest.mark.parametrize("account", ACCOUNTS)
def test_even_scales_on_every_account(points: int, account: str) -> None:
    half = points // 2
    people: dict[str, list[Any]] = {
        "good": [points, 1] * 8, "turned": [1, points] * 8, "high": [points] * 16, "near": [half + 1, half] * 8,
        "silent": [None] * 16,
    }  # fmt: skip
    evidence = controls(karat.Judgments(ratings(people, points), karat.Ordinal(points)), account=account)
    flagged = {"positional": ["turned", "high", "silent"], "relational": ["turned", "high", "silent"],
               "extended": ["turned", "high", "near", "silent"], "strict": ["turned", "high", "near", "silent"],
               "pairwise": ["turned", "silent"]}  # fmt: skip
    assert evidence.flagged == flagged[account]
    chance = evidence.participants["guess_probability"].unique().to_list()
    assert len(chance) == 1
    assert 0 < chance[0] < (0.5 if account == "relational" else 0.05)


@pytest.mark.parametrize("account", ACCOUNTS)
def test_one_participant_is_enough(account: str) -> None:
    evidence = controls(karat.Judgments(ratings({"p1": [5, 1] * 8}), karat.Ordinal(5)), account=account)
    assert evidence.participants.height == 1
    assert evidence.flagged == []


def test_an_expected_answer_must_be_on_the_scale() -> None:
    frame = table({"p1": [5] * 3}, ["3-5", "3-7", "3-5"])
    with refuses(karat.KaratError, "row 2, expected", "3-7"):
        karat.Judgments(frame, karat.Ordinal(5))


def test_unreadable_expected_answer_is_left_out_with_reason() -> None:
    frame = table({"p1": [5] * 9}, ["3-5"] * 8 + ["3-7"]).with_columns(status=pl.lit("grammatical"))
    read = karat.Judgments.from_checked(Checked(frame), {"": karat.Ordinal(5)})
    evidence = controls(read)
    assert rows(evidence)["p1"]["trials"] == 8
    assert codes(evidence.notes) == ["answers.left_out"]
    values = evidence.notes[0].values
    assert (values["n"], values["why"].code, values["more"]) == (1, "answers.fix_expected", None)


def test_unbounded_numbers_beside_ratings_are_left_out() -> None:
    frame = table({"p1": [5] * 8 + [70]}, ["3-5"] * 8 + ["50-100"], question=["rate"] * 8 + ["number"])
    evidence = controls(karat.Judgments(frame, {"rate": karat.Ordinal(5), "number": karat.Magnitude()}))
    assert codes(evidence.notes) == ["answers.left_out"]
    assert (evidence.notes[0].values["n"], evidence.notes[0].values["why"].code) == (1, "answers.use_pairs")


@pytest.mark.parametrize(("criterion", "name"), [(controls, "control"), (attention, "attention")])
def test_no_column_function_and_no_such_trials(criterion: Callable[..., Any], name: str) -> None:
    frame = ratings({"p1": [5, 1] * 8})
    for given_table in (frame.drop("function"), frame.with_columns(function=pl.lit("filler"))):
        with raises(karat.KaratError, "answers.no_trials", function=name):
            criterion(karat.Judgments(given_table, karat.Ordinal(5)))


def test_empty_status_comes_from_trials_with_the_same_keys() -> None:
    whole = ratings({"p1": [5, 1] * 8, "p2": [5, 5] * 8})
    some = whole.with_columns(status=pl.when(pl.col("item") != "i0").then("status"))
    for account in ("positional", "relational", "extended", "strict"):
        result = controls(karat.Judgments(some, karat.Ordinal(5)), account=account)
        same = controls(karat.Judgments(whole, karat.Ordinal(5)), account=account)
        assert result.participants.equals(same.participants)
        assert result.notes == (Message("answers.status_filled", {"n": 2}), *same.notes)
    pairs = controls(karat.Judgments(some, karat.Ordinal(5)), account="pairwise")
    assert pairs.participants["trials"].to_list() == [8, 8]


def test_unknown_status_leaves_trials_out_with_a_note() -> None:
    frame = ratings({"p1": [5, 1] * 8})
    some = frame.with_columns(
        status=pl.when(pl.col("item") != "i0").then("status"),
        expected=pl.when(pl.col("item") == "i0").then(pl.lit("4-5")).otherwise("expected"),
    )
    for account in ("positional", "extended"):
        evidence = controls(karat.Judgments(some, karat.Ordinal(5)), account=account)
        assert evidence.notes[0] == Message("answers.other_status", {"n": 1})
        assert rows(evidence)["p1"]["grammatical_trials"] == 7
    marked = frame.with_columns(status=pl.when(pl.col("item") != "i0").then("status").otherwise(pl.lit("marked")))
    evidence = controls(karat.Judgments(marked, karat.Ordinal(5)), account="extended")
    assert evidence.notes[0] == Message("answers.other_status", {"n": 1})


def test_one_named_kind_counts_with_empty_ones() -> None:
    frame = ratings({"p1": [5, 1] * 8}).with_columns(
        status=pl.when(pl.col("status") == "grammatical").then(pl.lit("grammatical"))
    )
    evidence = controls(karat.Judgments(frame, karat.Ordinal(5)))
    assert rows(evidence)["p1"]["trials"] == 16
    assert evidence.notes[0].code == "answers.counted_together"


def test_the_published_rule_says_where_it_changes_nothing() -> None:
    frame = table({"p1": ["A"] * 8}, ["A"] * 8)
    evidence = controls(karat.Judgments(frame, karat.Nominal(["A", "B"])), published=True)
    assert evidence.notes[0].code == "answers.not_published"


@pytest.mark.parametrize("criterion", [controls, attention])
def test_every_setting_of_a_study_file_is_a_parameter(criterion: Callable[..., Any]) -> None:
    fields = CRITERIA[criterion.__name__].settings().model_dump()
    parameters = inspect.signature(criterion).parameters
    assert {name: parameters[name].default for name in fields} == fields
    assert set(parameters) == {"judgments", *fields}
