"""The number of factors, by several rules."""

from __future__ import annotations

import pytest

from karat.measure import MeasureError, number_of_factors, ratings_matrix
from measure.differential import differential
from messages import raises


def test_two_dimensions_are_counted() -> None:
    found = number_of_factors(ratings_matrix(differential(people=100)), draws=20)
    assert found.number("parallel analysis (factors)") == 2
    assert found.number("parallel analysis (components)") == 2
    assert found.number("MAP") == 2
    (message,) = found.summary
    numbers = found.rules["number"].to_list()
    assert message.code == ("number_of_factors.agreed" if len(set(numbers)) == 1 else "number_of_factors.range")
    assert len(message.values["rules"]) == found.rules.height
    assert found.eigenvalues["component"].sum() == pytest.approx(6)
    # After two components least is left: the averages stand in the row of their number.
    assert found.eigenvalues["map"].fill_nan(None).arg_min() == 1
    with raises(MeasureError, "number_of_factors.unknown_rule"):
        found.number("Kaiser")


def test_the_scree_is_drawn_with_what_random_data_reach() -> None:
    axes = number_of_factors(ratings_matrix(differential()), draws=5).plot().axes[0]
    assert len(axes.lines) == 4
    assert [text.get_text() for text in axes.texts] == ["components", "factors"]


def test_polychoric_correlations() -> None:
    found = number_of_factors(ratings_matrix(differential(people=80)), "polychoric", draws=5)
    assert found.number("parallel analysis (components)") == 2


def test_what_cannot_be_asked_for() -> None:
    matrix = ratings_matrix(differential(people=20))
    with raises(MeasureError, "number_of_factors.settings"):
        number_of_factors(matrix, draws=0)
    with raises(MeasureError, "number_of_factors.too_few_pairs"):
        number_of_factors(matrix.only(["clear", "simple"]))
