"""Which items of a norming study can be controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
import pytest
from scipy import stats

import karat
from karat.measure.result import MeasureError
from karat.measure.scaling.select_controls import Controls, select_controls
from karat.messages import Message
from messages import raises

ANSWERS: dict[str, list[int]] = {
    "clear high": [5, 5, 5, 5, 5, 4, 5, 5, 5, 5],
    "higher still": [5] * 10,
    "clear low": [1, 1, 1, 2, 1, 1, 1, 1, 1, 1],
    "torn": [1, 5, 5, 5, 1, 5, 5, 5, 5, 5],
    "middling": [3, 3, 4, 3, 2, 3, 3, 3, 4, 3],
    "wrong way": [1] * 10,
}
STATUS = {"wrong way": "grammatical", "clear low": "ungrammatical", "clear high": "grammatical"}


def normed(
    answers: Mapping[str, Sequence[object]] = ANSWERS,
    scale: karat.Scale | None = None,
    status: Mapping[str, str] = STATUS,
) -> karat.Judgments:
    rows = [(f"p{who}", item, str(answer), status.get(item)) for item, own in answers.items()
            for who, answer in enumerate(own)]  # fmt: skip
    schema = {"participant": pl.String, "item": pl.String, "response": pl.String, "status": pl.String}
    return karat.Judgments(pl.DataFrame(rows, schema=schema, orient="row"), scale or karat.Ordinal(5))


def reasons(found: Controls) -> dict[str, str | None]:
    names = found.frame["message"].str.strip_prefix("select_controls.")
    return dict(zip(found.frame["item"], names, strict=True))


def test_the_clear_ones_and_the_reasons_of_the_others() -> None:
    found = select_controls(normed())
    assert set(found.chosen["item"]) == {"clear high", "higher still", "clear low"}
    assert reasons(found) == {
        "clear high": None, "higher still": None, "clear low": None,
        "torn": "not_near_end", "middling": "not_near_end", "wrong way": "other_side",
    }  # fmt: skip
    assert found.table()["reason"].null_count() == 3
    result = dict(found.chosen.select("item", "expected").iter_rows())
    assert result == {"clear high": "3-5", "higher still": "3-5", "clear low": "1-2"}
    number, not_clear = found.summary
    assert number == Message("select_controls.clear", {"clear": 3, "n": 6, "chosen": 3, "low": 1, "high": 2})
    counts = [(count.values["n"], count.values["reason"]) for count in not_clear.values["reasons"]]
    assert counts == [(2, "select_controls.not_near_end"), (1, "select_controls.other_side")]
    assert found.table()["expected"].null_count() == 3


def test_means_deviations_and_intervals() -> None:
    for row in select_controls(normed(), level=0.9).table().to_dicts():
        own = np.array(ANSWERS[row["item"]], dtype=float)
        assert (row["mean"], row["sd"], row["n"]) == pytest.approx((own.mean(), own.std(ddof=1), 10))
        if own.std():
            ends = stats.t.interval(0.9, 9, own.mean(), stats.sem(own))
            assert (row["lower"], row["upper"]) == pytest.approx(ends)


def test_limits_can_be_moved() -> None:
    torn = [5, 5, 5, 5, 5, 5, 5, 5, 5, 1] * 4
    answers = {"a": torn, "b": [1] * 40}
    assert reasons(select_controls(normed(answers))) == {"b": None, "a": "variation"}
    assert reasons(select_controls(normed(answers), max_sd=1.3)) == {"b": None, "a": None}
    assert reasons(select_controls(normed(answers), max_sd=1.3, clearly=0.1))["a"] == "not_near_end"


def test_n_at_each_end_takes_the_clearest() -> None:
    found = select_controls(normed(), n=1)
    assert set(found.chosen["item"]) == {"higher still", "clear low"}
    spare = found.frame.filter(pl.col("item") == "clear high").row(0, named=True)
    assert (spare["clear"], spare["chosen"], spare["message"]) == (True, False, "select_controls.others_clearer")
    assert Message("select_controls.too_few_low", {"number": 1, "n": 2}) in select_controls(normed(), n=2).notes


def test_few_answers_verify_nothing() -> None:
    found = select_controls(normed({"a": [5, 5, 5, 5], "b": [1] * 5}))
    assert reasons(found) == {"b": None, "a": "too_few_answers"}


def test_marked_items_are_no_controls() -> None:
    found = select_controls(normed(status={"clear high": "marked"}))
    assert reasons(found)["clear high"] == "marked"


@pytest.mark.parametrize(("expected", "clear"), [("3-5", True), ("4-5", True), ("1-2", False), ("2-4", True)])
def test_the_expected_answer_says_the_side(expected: str, clear: bool) -> None:
    whole = normed({"a": [5, 5, 5, 5, 5, 4]}, status={})
    result = karat.Judgments(whole.frame.with_columns(expected=pl.lit(expected)), karat.Ordinal(5))
    assert select_controls(result).table()["clear"].to_list() == [clear]


def test_versions_of_an_item_are_told_apart_by_status() -> None:
    good, bad = normed({"a": [5] * 8}, status={"a": "grammatical"}), normed({"a": [1] * 8},
                                                                          status={"a": "ungrammatical"})  # fmt: skip
    found = select_controls(karat.Judgments(pl.concat([good.frame, bad.frame]), karat.Ordinal(5)))
    assert found.chosen.select("item", "status", "expected").sort("status").rows() == [
        ("a", "grammatical", "3-5"), ("a", "ungrammatical", "1-2"),
    ]  # fmt: skip


def test_yes_and_no() -> None:
    answers = {"a": [1] * 19 + [0], "b": [0] * 20, "c": [1, 0] * 10}
    found = select_controls(normed(answers, karat.Binary(("no", "yes"))))
    assert dict(found.chosen.select("item", "expected").iter_rows()) == {"a": "yes", "b": "no"}


def test_sliders_need_both_ends() -> None:
    answers = {"a": [95, 97, 99, 96, 98, 95], "b": [50, 40, 60, 50, 55, 45]}
    found = select_controls(normed(answers, karat.Continuous(0, 100)))
    assert found.chosen.select("item", "expected").rows() == [("a", "50-100")]
    with raises(MeasureError, "select_controls.no_ends"):
        select_controls(normed(answers, karat.Continuous(0)))


def test_settings_out_of_range() -> None:
    for name, value in {"n": 0, "max_sd": 0.0, "clearly": 0.6, "level": 1.0}.items():
        with raises(MeasureError, "setting.refused", setting=name, value=repr(value)):
            select_controls(normed(), **{name: value})  # type: ignore[arg-type]


def test_named_levels_are_expected_by_name() -> None:
    names = ["bad", "poor", "good", "fine"]
    found = select_controls(normed({"a": ["fine"] * 6, "b": ["bad"] * 6}, karat.Ordinal(names)))
    assert dict(found.chosen.select("item", "expected").iter_rows()) == {"a": "good|fine", "b": "bad|poor"}
