"""Answers against what was offered: every task of `karat init`, and what an unfriendly client may send."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from karat.field.content.answers import EVENTS, Offer, PageEvent, PostedAnswer, check, details, event_refusal, offers
from karat.field.content.texts import words
from karat.field.content.trials import scales
from karat.judgments.scales import Continuous
from karat.study.init import TEMPLATES
from tests.field.content.pages import pages_of, template, trials_of

KEY = "0b9f2c1e-6a55-4c1e-9d8a-1c2d3e4f5a6b"
PAGE = {"kind": "trial", "questions": None}
YES_NO = Offer({"no": "no", "yes": "yes"})


def answer(**values: Any) -> PostedAnswer:
    return PostedAnswer(**({"trial": "t", "key": KEY, "rt": 1.5} | values))


@pytest.mark.parametrize("task", TEMPLATES)
def test_what_the_browser_offers_is_what_is_accepted(task: str) -> None:
    study = template(task)
    sent = scales(study, words("en"))
    by_block = offers(study)
    for page in pages_of(study):
        if page.shown["kind"] != "trial":
            assert check(page.shown, by_block[page.block], answer(response=None)).rows[0].response is None
            continue
        values = [point["value"] for point in sent[page.shown["scale"]]["points"]] or ["0.5", "12", "100.25"]
        scale = study.blocks[0].scale
        for value in values:
            if page.shown["questions"]:
                asked = [question["id"] for question in page.shown["questions"]]
                given_answer = answer(responses=dict.fromkeys(asked, value), rts=dict.fromkeys(asked, 2.0), rt=30)
            else:
                asked, given_answer = [""], answer(response=value)
            checked = check(page.shown, by_block[page.block], given_answer)
            assert checked.refusal is None
            assert [row.question for row in checked.rows] == asked
            assert all(scale.read(row.response) == row.response for row in checked.rows)


def test_differential_stores_the_place_as_a_level() -> None:
    """As in simulated results: the answer is not turned, the column polarity says which way round it was shown."""
    study = template("differential")
    page = next(page for page in trials_of(pages_of(study)) if {row["polarity"] for row in page.rows} == {1, -1})
    asked = [question["id"] for question in page.shown["questions"]]
    sent = answer(responses=dict.fromkeys(asked, "1"))
    checked = check(page.shown, offers(study)[page.block], sent)
    assert {row.response for row in checked.rows} == {"-3"}
    assert {row.rt for row in checked.rows} == {1.5}
    one = answer(responses={question: str(1 + place % 7) for place, question in enumerate(asked)},
                 rts={asked[0]: 2.25})  # fmt: skip
    rows = check(page.shown, offers(study)[page.block], one).rows
    assert [row.response for row in rows[:3]] == ["-3", "-2", "-1"]
    assert [row.rt for row in rows[:2]] == [2.25, 1.5]


@pytest.mark.parametrize(
    ("values", "refusal"),
    [
        ({"response": "maybe"}, "not offered"),
        ({"response": "YES"}, "not offered"),
        ({"response": " yes"}, "not offered"),
        ({"response": ""}, "not offered"),
        ({"response": None}, "not offered"),
        ({"response": "yes", "responses": {"q1": "yes"}}, "not offered"),
        ({"responses": {"q1": "yes"}}, "not offered"),
        ({"response": "yes", "first_response": "maybe"}, "not offered"),
        ({"response": "yes", "first_response": "no"}, None),
    ],
)
def test_what_was_not_offered_is_refused(values: dict[str, Any], refusal: str | None) -> None:
    checked = check(PAGE, YES_NO, answer(**values))
    assert checked.refusal == refusal
    assert bool(checked.rows) == (refusal is None)


@pytest.mark.parametrize(
    ("values", "refusal"),
    [
        ({"responses": {"q1": "1"}}, "not all questions are answered"),
        ({"responses": {"q1": "1", "q2": "8"}}, "not offered"),
        ({"responses": {"q1": "1", "q2": "-3"}}, "not offered"),
        ({"responses": {"q1": "1", "q2": "2", "q3": "2"}}, "not offered"),
        ({"responses": {"q1": "1", "q2": "2"}, "response": "1"}, "not offered"),
        ({"responses": {"q1": "1", "q2": "2"}, "rts": {"q9": 1.0}}, "not offered"),
        ({"response": "1"}, "not offered"),
        ({"responses": {"q1": "1", "q2": "2"}}, None),
    ],
)
def test_pages_with_several_questions(values: dict[str, Any], refusal: str | None) -> None:
    page = {"kind": "trial", "questions": [{"id": "q1"}, {"id": "q2"}]}
    offer = Offer({str(place): str(place - 4) for place in range(1, 8)})
    assert check(page, offer, answer(**values)).refusal == refusal


def test_a_page_without_a_question_takes_no_answer() -> None:
    for kind in ("break", "text"):
        page = {"kind": kind, "questions": None}
        assert check(page, YES_NO, answer(response="yes")).refusal == "not offered"
        assert check(page, YES_NO, answer(responses={"q1": "yes"})).refusal == "not offered"
        assert check(page, YES_NO, answer()).rows[0].response is None


@pytest.mark.parametrize("number", ["1", "0.5", ".5", "007", "1000000", "0.000001"])
def test_magnitudes_are_positive_numbers(number: str) -> None:
    assert check(PAGE, Offer(None), answer(response=number)).rows[0].response == number
    assert float(number) > 0


@pytest.mark.parametrize(
    "number", ["0", "0.0", "-1", "+1", "1,5", "1e3", "inf", "nan", "", ".", "1.", "१२", "1 000", "9" * 16, "1\n", "0x1"]
)
def test_other_texts_are_no_magnitudes(number: str) -> None:
    assert check(PAGE, Offer(None), answer(response=number)).refusal == "not offered"


def test_what_was_typed_first_may_have_been_no_number() -> None:
    (row,) = check(PAGE, Offer(None), answer(response="25", first_response="2x", first_rt=1.0, changes=2)).rows
    assert (row.response, row.first_response, row.changes) == ("25", None, 2)


@pytest.mark.parametrize(
    "values",
    [
        {"rt": -0.1}, {"rt": float("nan")}, {"rt": float("inf")}, {"rt": 86_401}, {"rt": None}, {"key": "short"},
        {"key": "x" * 65}, {"key": "<script>x"}, {"trial": ""}, {"trial": "x" * 65}, {"response": "x" * 501},
        {"responses": {"question": "1"}}, {"responses": {"q1": 5}}, {"changes": -1}, {"away": float("inf")},
        {"pointer": "eye"}, {"window": [1]}, {"window": [-1, 5]}, {"device": "watch"}, {"feedback": "x"},
        {"unknown": 1}, {"rts": {"q1": -1}}, {"frame_rate": float("nan")},
    ],
    ids=str,
)  # fmt: skip
def test_answers_that_cannot_be_are_refused_when_read(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        answer(**values)


def test_the_rest_of_an_answer_is_kept_as_details() -> None:
    result = details(answer(shown_at=1.0, answered_at=2.0, window=[390, 844], device="phone", frame_rate=59.9))
    assert result["window"] == [390, 844]
    assert result["frame_rate"] == 59.9
    assert not {"response", "rt", "key", "trial"} & set(result)


def test_events_of_known_kinds_only() -> None:
    for kind in EVENTS:
        assert event_refusal(PageEvent(kind=kind, at=1.0, details={"after": 0.2, "ignored": True})) is None
    assert event_refusal(PageEvent(kind="refused-answer", at=1.0)) == "unknown kind"
    assert event_refusal(PageEvent(kind="trace", at=1.0, details={"moves": float("inf")})) == "not a number"
    for text in ({"a b": 1}, {"x": "y\x00"}, {"x": ["list"]}, {f"k{number}": 1 for number in range(41)}):
        with pytest.raises(ValidationError):
            PageEvent(kind="trace", at=1.0, details=text)


@given(st.text(max_size=20) | st.none(), st.dictionaries(st.from_regex(r"q[1-9]", fullmatch=True), st.text(max_size=3)))
def test_only_what_was_offered_gets_through(response: str | None, responses: dict[str, str]) -> None:
    sent = answer(response=response, responses=responses or None)
    checked = check(PAGE, YES_NO, sent)
    assert (checked.refusal is None) == (response in ("no", "yes") and not responses)
    for row in check(PAGE, Offer(None), sent).rows:
        assert 0 < float(row.response or "") < float("inf")


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(), st.integers(-50, 50), st.integers(1, 50))
def test_line_accepts_every_place_between_its_ends(sent: float, low: int, length: int) -> None:
    line = Offer(None, Continuous(low, low + length))
    text = str(sent)
    written = re.fullmatch(r"-?\d{1,15}(\.\d{1,22})?", text) is not None
    assert line.read(text) == (text if written and low <= sent <= low + length else None)


@given(st.text(max_size=12))
def test_on_a_line_what_is_no_number_is_refused(text: str) -> None:
    if Offer(None, Continuous(0, 100)).read(text) is not None:
        assert 0 <= float(text) <= 100
        assert text.isascii()
