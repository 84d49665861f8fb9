"""What every result of a measure has: a table, messages, a form for JSON and a figure that says what was found."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from functools import cache
from typing import Any

import polars as pl
import pytest

import karat
from karat import measure
from measure.chosen import choices
from measure.differential import differential
from measure.judged_pairs import judged
from measure.retest import rated_twice
from measure.test_dimension_links import texts
from measure.test_suitability import prestudy

WORTH = [-1.2, -0.4, 0.3, 1.3]


@cache
def differences() -> Any:
    return measure.ratings_matrix(differential())


@cache
def solution() -> Any:
    return measure.factors(differences(), 2)


RESULTS: dict[str, Callable[[], Any]] = {
    "agreement": lambda: measure.agreement(karat.datasets.load("likert"), samples=20),
    "noise ceiling": lambda: measure.noise_ceiling(karat.datasets.load("crowd"), samples=0),
    "decision study": lambda: measure.decision_study(karat.datasets.load("likert"), samples=20),
    "stability": lambda: measure.stability(rated_twice(), "session", samples=20),
    "consensus": lambda: measure.consensus(karat.datasets.load("crowd")),
    "decisions": lambda: measure.decisions(judged("likert", [2.0, 0.0]), [("0", "a0", "b0"), ("1", "a1", "b1")]),
    "controls": lambda: measure.select_controls(karat.datasets.load("likert")),
    "assumptions": lambda: measure.choice_assumptions(choices(WORTH, 12, 12, seed=1), samples=19),
    "matrix": differences,
    "factors": solution,
    "adequacy": lambda: measure.adequacy(differences()),
    "suitability": lambda: measure.suitability(prestudy()),
    "reduction": lambda: measure.reduce_pairs(differences(), 2),
    "short form": lambda: measure.short_form(solution()),
    "intervals": lambda: measure.factor_intervals(solution(), draws=10),
    "scores": lambda: measure.dimension_scores(solution()),
    "regression": lambda: measure.overall_regression(texts(), "overall", ["flow", "clarity"]),
    "correlations": lambda: measure.feature_correlations(texts(), ["flow", "clarity"], ["words"]),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", RESULTS)
def test_a_result_has_a_table_messages_and_a_figure(name: str) -> None:
    found = RESULTS[name]()
    assert isinstance(found.table(), pl.DataFrame)
    assert all(isinstance(frame, pl.DataFrame) for frame in found.tables().values())
    assert found.messages[: len(found.summary)] == tuple(found.summary)
    assert json.dumps(found.to_dict(), default=str)
    drawn = found.plot()
    assert drawn.get_suptitle()
    assert [tick.get_text() for tick in drawn.axes[0].get_yticklabels()]


def test_a_difference_and_a_whole_measurement_have_a_figure() -> None:
    found = measure.strengths(karat.datasets.load("crowd"), "mean")
    difference = found.difference(found.labels[0], found.labels[-1])
    assert difference.plot().axes[0].get_xlabel() == "difference"
    whole = measure.Measures(karat.datasets.load("crowd"), (measure_of(found),), {})
    assert whole.plot().get_suptitle() == found.plot().get_suptitle()


def measure_of(result: Any) -> Any:
    from karat.measure.measured import Measure

    return Measure("strengths", result)


def test_every_public_result_can_be_drawn() -> None:
    for name in measure.__all__:
        thing = getattr(measure, name)
        if inspect.isclass(thing) and not issubclass(thing, Exception):
            assert callable(getattr(thing, "plot", None)), name
