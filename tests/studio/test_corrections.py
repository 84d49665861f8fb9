"""Corrections of the page as the options of a terminal."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.main import get_command

from karat.cli.main import app
from karat.errors import KaratError
from karat.intake.guess import NAMES, guess_columns
from karat.judgments.scales import Binary, Continuous, Magnitude, Nominal, Ordinal, parse_scale
from karat.studio.corrections import Corrections, corrected, scale_text
from messages import refuses


@pytest.mark.parametrize(
    "text",
    ["ordinal:1-5", "ordinal:1-7:4", "ordinal:-3-3", "ordinal:bad,fair,good", "binary:0,1", "binary:no,yes", "choice",
     "choice:none", "nominal:A,B,C", "magnitude", "magnitude:100", "continuous", "continuous:0-100"],
)  # fmt: skip
def test_a_scale_and_its_text(text: str) -> None:
    assert scale_text(parse_scale(text)) == text


def test_a_scale_that_no_text_says() -> None:
    assert scale_text(Nominal(["a,b", "c"])) == ""
    assert scale_text(Ordinal(["1", "3", "5"])) == "ordinal:1,3,5"
    for scale in (Binary(), Continuous(), Magnitude()):
        assert parse_scale(scale_text(scale)) == scale


SPELLINGS = sorted({spelling for spellings in NAMES.values() for spelling in spellings[:3]})


@given(st.lists(st.sampled_from(SPELLINGS), min_size=1, max_size=8, unique=True), st.data())
def test_what_is_reported_gives_what_is_wanted(columns: list[str], data: st.DataObject) -> None:
    guessed = guess_columns(columns, {})
    changes = data.draw(st.dictionaries(st.sampled_from(list(NAMES)), st.sampled_from(["", *columns]), max_size=4))
    wanted = {name: guessed.get(name, "") for name in NAMES} | changes
    result = corrected(columns, guessed, wanted, maps=True)
    again = guess_columns(columns, dict(result))
    assert {name: again.get(name, "") for name in NAMES} == wanted
    if wanted == {name: guessed.get(name, "") for name in NAMES}:
        assert result == {}


def test_times_found_by_content_are_not_repeated() -> None:
    columns = ["worker", "sentence", "low", "high", "rating", "time"]
    guessed = {"participant": "worker", "item": "sentence", "response": "rating", "rt": "time"}
    assert corrected(columns, guessed, guessed | {"expected": "low..high", "time": ""}, maps=True) == {
        "expected": "low..high"
    }
    moved = {**guessed, "rt": "", "time": "time", "block": "low"}
    assert corrected(columns, guessed, moved, maps=True) == {"rt": "", "time": "time", "block": "low"}


def test_the_command_is_one_that_karat_knows() -> None:
    choices = Corrections(
        source="table", mapping={"item": "my sentence", "rt": ""}, scales={"": "nominal:a b,c"}, answers="1=a b",
        rt_unit="ms", decimal=",", delimiter="tab", encoding="latin-1", sheet="Sheet 1", skip_bad=True, language="de",
    )  # fmt: skip
    words = shlex.split(choices.command(["my results.csv"], "study.toml"))
    assert words[:3] == ["karat", "report", "my results.csv"]
    convert = get_command(app).commands["convert"]  # type: ignore[attr-defined]
    known = {name for parameter in convert.params for name in parameter.opts}
    flags = {word for word in words if word.startswith("--")} - {"--study", "--language"}
    assert flags <= known
    assert len(flags) == 10


def test_answers_must_be_pairs() -> None:
    assert Corrections(answers="1=left, -1=right").options().answers == {"1": "left", "-1": "right"}
    with refuses(KaratError, "--answers left", "NAME=VALUE"):
        Corrections(answers="left").options()


def test_scales_by_question() -> None:
    result = Corrections(scales={"q1": "ordinal:1-5", "q2": "binary"}).options().scale
    assert result == {"q1": Ordinal(5), "q2": Binary()}
    assert Corrections(scales={"": "ordinal:1-5"}).options().scale == Ordinal(5)
