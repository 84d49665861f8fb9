"""The page of ranks."""

from __future__ import annotations

import numpy as np

from karat.measure.pairs.measure_correlations import compare_measures
from karat.measure.result import MeasureError
from messages import raises


def test_ranks_below_and_correlations_above_the_diagonal() -> None:
    measures = {"likert": {"a": 1, "b": 2, "c": 3, "d": 4}, "choice": {"a": 1, "b": 3, "c": 2, "d": 9}}
    found = compare_measures(measures, samples=100)
    drawn = found.plot()
    name, above, below, other = drawn.axes
    assert [axes.texts[0].get_text() for axes in (name, other)] == ["likert", "choice"]
    assert above.texts[0].get_text().startswith(".80 [")
    points = next(line for line in below.lines if line.get_marker() == "o")
    # The strongest, d, is first in both.
    assert list(zip(*(np.asarray(part).tolist() for part in points.get_data()), strict=True)) == [
        (4, 4), (3, 2), (2, 3), (1, 1),
    ]  # fmt: skip
    left, right = below.get_xlim()
    assert left > right
    assert drawn.get_suptitle().replace("\n", " ").startswith("likert and choice order 4 stimuli")


def test_too_many_measures_for_a_page() -> None:
    one = {"a": 1.0, "b": 2.0, "c": 3.0}
    found = compare_measures({f"m{place}": one for place in range(7)}, samples=0)
    with raises(MeasureError, "measures.too_many"):
        found.plot()
