"""Controls chosen from the ratings of the first paper: ../shared/reference/ajt/likert.csv.

The paper's own controls are taken as a norming study of themselves. There are no published values for this; what is
compared is a second computation by polars and scipy.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from scipy import stats

import karat
from karat.measure.scaling.select_controls import select_controls


@pytest.fixture(scope="module")
def ratings(reference: Path) -> karat.Judgments:
    return karat.read(reference / "ajt" / "likert.csv", mapping={"expected": "expected_min..expected_max"})


def clear_by_hand(judgments: karat.Judgments) -> dict[str, str]:
    """The clear controls with their status: interval beyond 2 or 4, deviation up to 1."""
    found = {}
    rows = judgments.frame.filter(pl.col("function") == "control").with_columns(pl.col("response").cast(pl.Float64))
    for (item, status), own in rows.group_by("item", "status"):
        values = own["response"].to_numpy()
        low, high = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values))
        beyond = high < 2 if status == "ungrammatical" else low > 4
        if beyond and values.std(ddof=1) <= 1:
            found[str(item)] = str(status)
    return found


def test_controls_of_everybody(ratings: karat.Judgments) -> None:
    found = select_controls(ratings, functions=["control"])
    assert found.table().height == 24
    assert dict(found.chosen.select("item", "status").iter_rows()) == clear_by_hand(ratings)
    # Every control of the paper lies on the side that its status says.
    assert "select_controls.other_side" not in found.frame["message"].to_list()
    assert set(found.chosen.select("status", "expected").iter_rows()) == {
        ("grammatical", "3-5"), ("ungrammatical", "1-2"),
    }  # fmt: skip


def test_controls_are_clearer_among_the_eligible(ratings: karat.Judgments) -> None:
    frame = ratings.frame.filter(pl.col("eligible_published") == 1)
    eligible = karat.Judgments(frame, ratings.scales)
    found = select_controls(eligible, functions=["control"])
    assert dict(found.chosen.select("item", "status").iter_rows()) == clear_by_hand(eligible)
    deviations = {name: select_controls(one, functions=["control"]).table()["sd"].mean() for name, one in
                  (("all", ratings), ("eligible", eligible))}  # fmt: skip
    assert deviations["eligible"] < deviations["all"]  # type: ignore[operator]
