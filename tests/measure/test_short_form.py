"""One pair for each dimension, and the study that asks for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from karat.measure import MeasureError, factors, ratings_matrix, short_form
from karat.measure.dimensions.reduction import ShortForm, with_value
from karat.messages import Message
from karat.simulate import answer_study
from karat.study import load
from karat.study.check import check
from karat.study.init import write_study
from measure.differential import differential
from messages import raises


def test_each_dimension_gets_the_pair_that_stands_for_it_alone() -> None:
    found = factors(ratings_matrix(differential(people=150)), 2)
    short = short_form(found)
    assert short.frame["dimension"].to_list() == ["F1", "F2"]
    for row in short.frame.to_dicts():
        number = found.names.index(row["dimension"])
        place = found.pairs.index(row["pair"])
        assert abs(found.loadings[place, number]) == abs(found.loadings[place]).max()
        gap = row["loading"] - row["other"]
        same = [i for i, factor in enumerate(found.frame["factor"]) if factor == row["dimension"]]
        sizes = abs(found.loadings)
        assert gap == pytest.approx(max(sizes[i, number] - sizes[i, 1 - number] for i in same))
    (message,) = short.summary
    assert (message.code, message.values["n"]) == ("short_form.pairs", 2)
    assert [pair.values["dimension"] for pair in message.values["pairs"]] == ["F1", "F2"]


@pytest.mark.slow
def test_the_whole_way_from_a_study_to_the_next(tmp_path: Path) -> None:
    write_study(tmp_path / "first", "differential", "de")
    first = load(tmp_path / "first")
    short = short_form(factors(ratings_matrix(answer_study(first, 40)), 1))
    paths = short.write(tmp_path / "first", tmp_path / "second")
    assert [path.name for path in paths] == ["study.toml", "items.csv", "questions.csv"]
    second = load(tmp_path / "second")
    assert second.title == f"{first.title} (short form)"
    block, before = second.blocks[0], first.blocks[0]
    assert block.questions is not None
    assert block.questions["question"].to_list() == short.pairs
    assert block.items.frame.equals(before.items.frame)
    assert block.settings.repeated_questions == 1
    assert second.settings.recruitment.minutes is not None
    assert first.settings.recruitment.minutes is not None
    assert second.settings.recruitment.minutes < first.settings.recruitment.minutes
    assert second.settings.screening == first.settings.screening
    assert not [finding for finding in check(second).findings if finding.grade == "error"]


def test_nothing_is_overwritten_and_misfits_are_reported(tmp_path: Path) -> None:
    short = short_form(factors(ratings_matrix(differential(people=60)), 2))
    write_study(tmp_path / "first", "differential")
    write_study(tmp_path / "likert", "likert")
    with raises(MeasureError, "short_form.unknown_question"):
        short.write(tmp_path / "first", tmp_path / "second")
    with raises(MeasureError, "short_form.study"):
        short.write(tmp_path / "likert", tmp_path / "second")
    fitting = ShortForm(short.frame.with_columns(pair=pl.Series(["clarity", "flow"])))
    with raises(MeasureError, "short_form.folder"):
        fitting.write(tmp_path / "first", tmp_path / "likert")
    assert not (tmp_path / "second").exists()


def test_a_factor_without_a_pair_is_reported() -> None:
    found = factors(ratings_matrix(differential(people=60)), 2)
    short = short_form(replace(found, loadings=found.loadings * [1, 0.01]))
    assert short.frame["dimension"].to_list() == ["F1"]
    assert short.notes == (Message("short_form.no_pair", {"dimension": "F2"}),)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('title = "A \\"B\\" # c"  # why', 'title = "X"  # why'),
        ("title='a b'", 'title="X"'),
        ("# title = 1", "# title = 1"),
    ],
)
def test_a_key_of_the_study_file_is_replaced(line: str, expected: str) -> None:
    assert with_value(line, "title", '"X"') == expected
