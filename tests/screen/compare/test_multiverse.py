"""The multiverse: every universe is a plain screening, the stated one is there, and the number is bounded."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karat
from karat.messages import Message
from karat.plots.specification_curve import level_strokes
from karat.screen.compare.difference import contrast_of, difference
from karat.screen.compare.multiverse import Multiverse, multiverse, options, without_criteria
from karat.screen.run import computing, run
from messages import codes, raises

LIKERT = karat.datasets.load("likert")
RULES = {"completion": {}, "remfod": {}, "controls": {}, "attention": {}, "exclude": "any"}
ORDER = {"factor": "order", "levels": ["PP>OBJ", "OBJ>PP"]}


@pytest.fixture(scope="module")
def whole() -> Multiverse:
    return multiverse(LIKERT, RULES, ORDER)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "exclude", [pytest.param("any", marks=pytest.mark.slow), 2, "remfod and (attention or controls)"]
)
def test_universes_agree_with_plain_screenings(exclude: str | int) -> None:
    rules = RULES | {"exclude": exclude}
    found = multiverse(LIKERT, rules, ORDER)
    grid, _ = options(LIKERT, rules, None, None, computing(LIKERT))
    contrast = contrast_of(LIKERT, ORDER, None)
    assert contrast is not None
    followed = difference(LIKERT, contrast)
    people = LIKERT.participants["participant"].to_list()
    for number in np.random.default_rng(5).choice(found.universes.height, 6, replace=False).tolist():
        row = found.universes.row(number, named=True)
        stated = {name: dict(own)[row[name]] for name, own in grid.items() if row[name] != "out"}
        rule = without_criteria(exclude, stated)
        plain = run(LIKERT, {**stated, "exclude": rule}).excluded if rule is not None else ()
        assert (row["kept"], row["excluded"]) == (48 - len(plain), len(plain))
        kept = np.array([person not in plain for person in people])
        assert (row["estimate"], row["lower"], row["upper"]) == pytest.approx(followed.estimate(kept))


@pytest.mark.slow
def test_the_stated_row_is_the_stated_screening(whole: Multiverse) -> None:
    assert whole.universes.height == whole.combinations == 3 * 6 * 5 * 3
    assert whole.universes["stated"].sum() == 1
    assert whole.stated is not None
    assert whole.stated["kept"] == run(LIKERT, RULES).kept.participants.height
    assert whole.table()["stated"][0]
    assert whole.universes.select(whole.criteria).is_duplicated().sum() == 0


def test_it_speaks(whole: Multiverse) -> None:
    low, high = whole.kept_range
    kept, stated, of_all, apart = whole.summary
    assert whole.stated is not None
    assert kept == Message(
        "multiverse.kept",
        {"combinations": 270, "possible": None, "fewest": low, "most": high, "participants": 48,
         "stated": whole.stated["kept"]},
    )  # fmt: skip
    assert stated.code == "multiverse.stated"
    assert stated.values["estimate"] == whole.stated["estimate"]
    assert str(whole.contrast) in str(whole)
    assert of_all.code == "multiverse.range"
    assert apart == Message("multiverse.all_apart", {"apart": 270, "combinations": 270})


def test_what_moves_is_the_range_of_the_means_by_setting(whole: Multiverse) -> None:
    rows = whole.sensitivity.filter(pl.col("criterion") == "attention").to_dicts()
    means = {
        row["setting"]: whole.universes.filter(pl.col("attention") == row["setting"])["kept"].mean() for row in rows
    }
    assert {row["setting"]: row["kept"] for row in rows} == pytest.approx(means)
    assert rows[0]["kept_moves"] == pytest.approx(max(means.values()) - min(means.values()))
    moves = whole.sensitivity["estimate_moves"].to_list()
    assert moves == sorted(moves, reverse=True)


@pytest.mark.slow
def test_many_combinations_are_sampled_with_the_stated_one() -> None:
    found = multiverse(LIKERT, RULES, ORDER, at_most=12)
    assert (found.universes.height, found.combinations) == (12, 270)
    assert found.stated is not None
    values = {"sample": 12, "combinations": 270, "seed": 1}
    assert found.notes[0] == Message("multiverse.sample_with_stated", values)
    assert (found.summary[0].values["combinations"], found.summary[0].values["possible"]) == (12, 270)
    assert found.universes.equals(multiverse(LIKERT, RULES, ORDER, at_most=12).universes)
    assert not found.universes.equals(multiverse(LIKERT, RULES, ORDER, at_most=12, seed=2).universes)
    assert found.universes.select(found.criteria).is_duplicated().sum() == 0


def test_progress_is_reported() -> None:
    lines: list[tuple[int, int]] = []
    multiverse(LIKERT, {"attention": {}, "completion": {}}, progress=lambda done, total: lines.append((done, total)))
    assert lines[-1] == (9, 9)


def test_without_rules_no_universe_is_the_stated_one() -> None:
    found = multiverse(karat.datasets.load("crowd"))
    assert found.stated is None
    assert found.summary[0].values["stated"] is None
    values = {"factor": "difficulty", "first": "easy", "second": "hard", "where": None}
    assert found.contrast == Message("difference.name", values)


def test_without_a_difference_only_counts() -> None:
    plain = karat.Judgments(LIKERT.frame.drop("order", "integration"), LIKERT.scales, LIKERT.participants)
    found = multiverse(plain, {"attention": {}})
    assert found.universes["estimate"].null_count() == 3
    assert codes(found.summary) == ["multiverse.kept", "multiverse.no_difference"]
    assert codes(found.notes) == ["multiverse.no_factor"]
    with raises(karat.screen.ScreenError, "difference.no_column"):
        multiverse(plain, {"attention": {}}, ORDER)


def test_a_universe_without_anybody_is_reported() -> None:
    found = multiverse(LIKERT, {"speed": {"mean_below": 900.0}}, ORDER, alternatives={"speed": [None]})
    assert found.universes["kept"].to_list() == [0, 48]
    assert found.universes["estimate"][0] is None
    assert found.summary[-1] == Message("multiverse.missing", {"combinations": 1})


def test_no_criteria_are_one_universe_with_everybody() -> None:
    found = multiverse(LIKERT, {"exclude": "any"}, ORDER)
    assert found.universes["kept"].to_list() == [48]
    assert found.sensitivity.height == 0


def test_plain_data_and_files(whole: Multiverse, tmp_path: Path) -> None:
    data = json.loads(json.dumps(whole.to_dict()))
    assert len(data["universes"]) == 270
    names = [path.name for path in whole.write(tmp_path / "new")]
    assert names == ["multiverse.csv", "multiverse.svg"]
    assert pl.read_csv(tmp_path / "new" / "multiverse.csv").height == 270


def test_estimates_are_sorted_and_the_stated_one_is_marked() -> None:
    found = multiverse(LIKERT, {"attention": {}, "controls": {}}, ORDER)
    drawn = found.plot()
    curve, kept, settings = drawn.axes
    heights = np.asarray(curve.lines[0].get_ydata(), dtype=float)
    assert (np.diff(heights) >= 0).all()
    assert "as stated" in {text.get_text() for text in curve.texts}
    assert kept.get_title(loc="left") == "participants who stay, of 48"
    labels = [label.get_text() for label in settings.get_yticklabels()]
    assert labels == ["Control sentences", "positional, .05  ◆", "positional, .01", "extended", "strict", "out",
                      "Attention trials", "positional, .05  ◆", "no slips", "out"]  # fmt: skip
    assert drawn.get_suptitle().replace("\n", " ").startswith("The difference lies between .")


@pytest.mark.few(1)
@pytest.mark.parametrize("rules", [{"attention": {}}, {"exclude": "any"}, None])
def test_draws_with_few_criteria_and_narrow(rules: dict | None) -> None:
    plain = karat.Judgments(LIKERT.frame.drop("order", "integration"), LIKERT.scales, LIKERT.participants)
    drawn = multiverse(plain, rules).plot(width_cm=8)
    assert len(drawn.axes) == 2
    assert "48 participants stay" in drawn.get_suptitle().replace("\n", " ")
    drawn.canvas.draw()


@pytest.mark.slow
def test_the_svg_is_the_same_each_time() -> None:
    found = multiverse(LIKERT, {"attention": {}}, ORDER)
    assert found.to_svg() == found.to_svg()
    assert "sorted by estimate</text>" in found.to_svg()


def test_equal_neighbours_are_one_stroke() -> None:
    x, y = level_strokes(np.array([1.0, 1.0, 2.0]))
    assert x[[0, 1, 3, 4]].tolist() == [0.5, 2.5, 2.5, 3.5]
    assert y.tolist() == [1, 1, 1, 2, 2, 2]
