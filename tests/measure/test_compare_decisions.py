"""Where measures decide differently."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.measure import MeasureError, compare_decisions, decisions
from tests.measure.judged_pairs import judged

WORDS = ["expert", "reverse", "none"]
FIRST = dict(zip("12345", ["expert", "expert", "none", "reverse", "expert"], strict=True))
SECOND = dict(zip("12345", ["expert", "reverse", "none", "none", "expert"], strict=True))
THIRD = dict(zip("12345", ["expert", "expert", "none", "reverse", "none"], strict=True))


def kappa_by_hand(first: list[str], second: list[str]) -> float:
    """Cohen's kappa from its definition, one decision after the other."""
    n = len(first)
    same = sum(a == b for a, b in zip(first, second, strict=True)) / n
    chance = sum(first.count(word) / n * second.count(word) / n for word in WORDS)
    return (same - chance) / (1 - chance)


def test_the_pairs_that_differ() -> None:
    found = compare_decisions({"likert": FIRST, "choice": SECOND, "magnitude": THIRD})
    assert found.table().rows() == [("2", "✓", "×", "✓"), ("4", "×", "~", "×"), ("5", "✓", "✓", "~")]
    assert found.counts.rows() == [("likert", 5, 3, 1, 1), ("choice", 5, 2, 1, 2), ("magnitude", 5, 2, 1, 2)]
    row = found.agreement.row(0, named=True)
    assert (row["first"], row["second"], row["n"], row["opposite"]) == ("likert", "choice", 5, 1)
    assert row["same"] == pytest.approx(0.6)
    assert row["lower"] <= 0.6 <= row["upper"]
    assert str(found).startswith(
        "3 measures decide differently on 3 of 5 pairs. choice and magnitude agree least often"
    )


def test_with_a_reference_only_its_differences_are_told() -> None:
    found = compare_decisions({"likert": FIRST, "choice": SECOND, "magnitude": THIRD}, reference="magnitude")
    assert found.agreement.select("first", "second").rows() == [("magnitude", "likert"), ("magnitude", "choice")]
    again = compare_decisions({"a": FIRST, "b": FIRST, "c": SECOND}, reference="a")
    assert again.table()["pair"].to_list() == ["2", "4"]


@given(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)), min_size=2, max_size=40))
def test_share_and_kappa(rows: list[tuple[str, str]]) -> None:
    first, second = ([row[side] for row in rows] for side in (0, 1))
    tables = {
        name: dict(zip(map(str, range(len(rows))), side, strict=True)) for name, side in (("a", first), ("b", second))
    }
    found = compare_decisions(tables, samples=50).agreement.row(0, named=True)
    assert found["same"] == pytest.approx(np.mean([a == b for a, b in rows]))
    if len(set(first)) == len(set(second)) == 1 and first == second:
        assert found["kappa"] is None
    else:
        assert found["kappa"] == pytest.approx(kappa_by_hand(first, second))


def test_intervals_are_those_of_drawing_pairs() -> None:
    random = np.random.default_rng(4)
    first = random.choice(WORDS, 100).tolist()
    second = [a if random.random() < 0.7 else random.choice(WORDS) for a in first]
    names = [str(number) for number in range(100)]
    tables = {"a": dict(zip(names, first, strict=True)), "b": dict(zip(names, second, strict=True))}
    found = compare_decisions(tables, samples=4000).agreement.row(0, named=True)
    drawn = []
    for _ in range(2000):
        places = random.integers(0, 100, 100)
        drawn.append(kappa_by_hand([first[place] for place in places], [second[place] for place in places]))
    assert (found["kappa_lower"], found["kappa_upper"]) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.02)


def test_symbols_tables_and_decisions_are_understood() -> None:
    made = decisions(judged("likert", [2.0, -2.0, 0.0], people=40), None, "paired")
    symbols = {"0": "✓", "1": "×", "2": "~"}
    table = pl.DataFrame({"pair": [0, 1, 2], "decision": ["expert", "reverse", "none"]})
    found = compare_decisions({"made": made, "symbols": symbols, "table": table})
    assert not found.table().height
    assert set(found.agreement["same"]) == {1.0}


def test_pairs_that_are_not_decided_by_all_are_told() -> None:
    found = compare_decisions({"a": FIRST, "b": {pair: SECOND[pair] for pair in "123"}})
    assert found.agreement["n"].item() == 3
    assert found.notes == ("2 pairs not decided by every measure.",)
    assert found.table()["pair"].to_list() == ["2"]


@pytest.mark.parametrize(
    ("given_tables", "settings", "told"),
    [
        ({"a": FIRST}, {}, "at least two measures"),
        ({"a": FIRST, "b": SECOND}, {"reference": "c"}, "there is no measure c"),
        ({"likert": FIRST, "b": SECOND}, {"reference": "liket"}, "is likert meant"),
        ({"a": FIRST, "b": SECOND}, {"level": 1.0}, "level between 0 and 1"),
        ({"a": FIRST, "b": {"1": "yes"}}, {}, "'yes' is no decision of b"),
        ({"a": FIRST, "b": {"9": "none"}}, {}, "a and b have no pair in common"),
        ({"a": FIRST, "pair": SECOND}, {}, "cannot be called pair"),
        ({"a": FIRST, "b": pl.DataFrame({"pair": ["1"]})}, {}, "must have the columns pair and decision"),
        ({"a": FIRST, "b": pl.DataFrame({"pair": ["1", "1"], "decision": ["none", "none"]})}, {}, "more than once"),
    ],
)
def test_what_cannot_be_compared_is_told(
    given_tables: dict[str, object], settings: dict[str, object], told: str
) -> None:
    with pytest.raises(MeasureError, match=told):
        compare_decisions(given_tables, **settings)  # type: ignore[arg-type]
