"""Adequacy: KMO, Bartlett's test and Kaiser's words."""

from __future__ import annotations

import numpy as np
import pytest

from karat.measure import MeasureError, adequacy, ratings_matrix
from karat.measure.dimensions.adequacy import word
from karat.messages import Message, message_of
from measure.differential import differential
from messages import raises


def test_a_differential_is_adequate_and_says_so() -> None:
    found = adequacy(ratings_matrix(differential()))
    assert 0.7 < found.kmo < 0.9
    assert found.bartlett.p_value < 1e-10
    kmo, bartlett = found.summary
    assert (kmo.code, kmo.values["word"]) == ("adequacy.kmo", word(found.kmo))
    assert (bartlett.code, bartlett.values["cases"]) == ("adequacy.bartlett", 180)
    assert bartlett.values["p"] == found.bartlett.p_value
    assert found.table()["kmo"].is_sorted()
    assert "ratings.dependent_cases" in [note.code for note in found.notes]


def test_a_pair_that_belongs_to_nothing_is_named() -> None:
    random = np.random.default_rng(1)
    values = np.column_stack([
        random.standard_normal((80, 1)) + 0.5 * random.standard_normal((80, 3)), random.standard_normal(80)
    ])  # fmt: skip
    found = adequacy({name: values[:, number].tolist() for number, name in enumerate(("a", "b", "c", "noise"))})
    assert found.table()["pair"][0] == "noise"
    assert found.summary[-1] == Message("adequacy.low", {"limit": 0.5, "pairs": ["noise"]})


@pytest.mark.parametrize(("value", "text"), [(0.95, "marvellous"), (0.5, "miserable"), (0.49, "unacceptable")])
def test_kaisers_words(value: float, text: str) -> None:
    assert word(value) == text


def test_too_few_cases_are_refused() -> None:
    with raises(MeasureError, "adequacy.too_few_cases") as caught:
        adequacy([[1, 0.6, 0.5], [0.6, 1, 0.4], [0.5, 0.4, 1]], observations=4)
    assert message_of(caught.value).values == {"cases": 4, "pairs": 3}
