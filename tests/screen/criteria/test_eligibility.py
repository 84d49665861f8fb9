"""Background answers against what the study asks for."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.messages import Message
from karat.screen.criteria.eligibility import eligibility, parts_of, plain
from karat.study.criteria import criterion_settings
from messages import raises, reasons


def judgments(**columns: list[Any]) -> karat.Judgments:
    people = [f"p{n}" for n in range(1, len(next(iter(columns.values()))) + 1)]
    frame = {"participant": ["p1"], "item": ["a"], "response": ["1"]}
    return karat.Judgments(frame, karat.Ordinal(5), pl.DataFrame({"participant": people, **columns}))


def not_admitted(question: str, given: str, admitted: list[str]) -> Message:
    one = Message("eligibility.not_admitted", {"question": question, "given": given, "admitted": admitted})
    return Message("eligibility.contradicted", {"contradictions": [one]})


def as_required(number: int, **more: Any) -> Message:
    return Message("eligibility.as_required", {"n": number, **more})


def test_answers_that_admit() -> None:
    read = judgments(native_language=["German", " german", "English", None, ""], age=[30, 17, 40, 50, 60])
    stated = {"native_language": ["German", "Low German"], "age": ["30", "40", "50", "60"]}
    evidence = eligibility(read, answers=stated)
    assert evidence.flagged == ["p2", "p3"]
    assert list(reasons(evidence).values()) == [
        as_required(2),
        not_admitted("age", "17", ["30", "40", "50", "60"]),
        not_admitted("native_language", "English", ["German", "Low German"]),
        as_required(1, absent=["native_language"]),
        as_required(1, absent=["native_language"]),
    ]
    assert evidence.participants["score"].to_list() == [0, 1, 1, 0, 0]
    assert evidence.participants["missing"].to_list() == [0, 0, 0, 1, 1]
    assert evidence.participants["statements"].to_list() == [2, 2, 2, 1, 1]
    assert evidence.notes == (Message("eligibility.unanswered", {"n": 2}),)
    assert evidence.settings == {"answers": stated, "same": {}}


def test_the_platform_must_say_the_same() -> None:
    read = judgments(
        native_language=["German", "german", "German", "English", "German", None],
        first=["German", '["Danish", "German"]', "Danish, English", "english ", "DATA_EXPIRED", "German"],
    )
    values = {"question": "native_language", "given": "German", "other": "first", "says": "Danish, English"}
    not_the_same = Message("eligibility.not_the_same", values)
    assert list(reasons(eligibility(read, same={"native_language": "first"})).values()) == [
        as_required(1),
        as_required(1),
        Message("eligibility.contradicted", {"contradictions": [not_the_same]}),
        as_required(1),
        Message("eligibility.no_answer", {"absent": ["first"]}),
        Message("eligibility.no_answer", {"absent": ["native_language"]}),
    ]
    both = eligibility(read, answers={"native_language": ["German"]}, same={"native_language": "first"})
    assert both.flagged == ["p3", "p4"]


@pytest.mark.parametrize(
    "cell", ["German, Danish", "Danish; German", "danish|GERMAN", '["Danish", "German"]', "['Danish', 'German']"]
)
def test_several_answers_in_one_cell(cell: str) -> None:
    read = judgments(languages=[cell, "Danish"])
    assert eligibility(read, answers={"languages": ["German"]}).flagged == ["p2"]


def test_lists_truth_values_and_answers_with_commas() -> None:
    read = judgments(languages=[["German", "Danish"], ["Danish"], []], native=[True, False, None])
    evidence = eligibility(read, answers={"languages": ["German"], "native": ["true"]})
    assert evidence.flagged == ["p2"]
    assert evidence.participants["missing"].to_list() == [0, 0, 2]
    read = judgments(reads=["Yes, daily", "Yes, seldom"])
    assert eligibility(read, answers={"reads": ["yes, daily"]}).flagged == ["p2"]


def test_what_is_not_stated_or_not_there() -> None:
    read = judgments(native_language=["German"])
    with raises(karat.KaratError, "eligibility.nothing_stated"):
        eligibility(read)
    with raises(karat.KaratError, "participants.no_column", close="native_language"):
        eligibility(read, answers={"native_langauge": ["German"]})
    with raises(karat.KaratError, "participants.no_column", known=["native_language"]):
        eligibility(read, same={"native_language": "prescreen"})
    for wrong in ([], "German"):
        with raises(karat.KaratError, "eligibility.no_list"):
            eligibility(read, answers={"native_language": wrong})
    stated = criterion_settings("eligibility", {"answers": {"native_language": ["German"]}}).model_dump()
    assert eligibility(read, **stated).flagged == []
    with raises(karat.KaratError, "eligibility.nothing_stated"):
        eligibility(read, **criterion_settings("eligibility", {}).model_dump())


WORDS = st.text(st.characters(categories=["L", "N"], include_characters=" "), min_size=1, max_size=8).filter(str.strip)


@given(WORDS, st.lists(WORDS, max_size=3))
def test_an_answer_admits_itself_in_any_spelling_and_company(word: str, company: list[str]) -> None:
    assert plain(f"  {word} ") == plain(word)
    assert plain(word) in parts_of(", ".join([*company, word]))
    assert plain(word) in parts_of(word)
