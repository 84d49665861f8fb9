"""Where measures decide differently."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.measure import MeasureError, compare_decisions, decisions
from karat.messages import Message
from messages import codes, raises
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
    first, least, most = found.summary
    assert first == Message("compare_decisions.different", {"measures": 3, "different": 3, "pairs": 5})
    assert (least.code, least.values["first"], least.values["second"], least.values["same"]) == (
        "compare_decisions.agree_least", "choice", "magnitude", 0.4
    )  # fmt: skip
    assert (most.code, most.values["same"]) == ("compare_decisions.agree_most", 0.8)


def test_with_a_reference_only_its_differences_are_reported() -> None:
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


def test_pairs_that_are_not_decided_by_all_are_reported() -> None:
    found = compare_decisions({"a": FIRST, "b": {pair: SECOND[pair] for pair in "123"}})
    assert found.agreement["n"].item() == 3
    assert found.notes == (Message("compare_decisions.undecided", {"n": 2}),)
    assert codes(found.summary) == ["compare_decisions.different", "compare_decisions.agree"]
    assert found.table()["pair"].to_list() == ["2"]


@pytest.mark.parametrize(
    ("given_tables", "settings", "code", "values"),
    [
        ({"a": FIRST}, {}, "one_measure", {}),
        ({"a": FIRST, "b": SECOND}, {"reference": "c"}, "unknown_reference", {"name": "c", "close": None}),
        ({"likert": FIRST, "b": SECOND}, {"reference": "liket"}, "unknown_reference",
         {"name": "liket", "close": "likert"}),
        ({"a": FIRST, "b": {"1": "yes"}}, {}, "unknown_decision",
         {"decision": "yes", "measure": "b", "words": WORDS, "symbols": ["✓", "×", "~"]}),
        ({"a": FIRST, "b": {"9": "none"}}, {}, "no_shared_pair", {"first": "a", "second": "b"}),
        ({"a": FIRST, "pair": SECOND}, {}, "reserved_name", {}),
        ({"a": FIRST, "b": pl.DataFrame({"pair": ["1"]})}, {}, "columns", {"measure": "b"}),
        ({"a": FIRST, "b": pl.DataFrame({"pair": ["1", "1"], "decision": ["none", "none"]})}, {}, "repeated_pair",
         {"measure": "b", "pair": "1"}),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(
    given_tables: dict[str, object], settings: dict[str, object], code: str, values: dict[str, object]
) -> None:
    with raises(MeasureError, f"compare_decisions.{code}", **values):
        compare_decisions(given_tables, **settings)  # type: ignore[arg-type]


def test_levels_beyond_one_are_refused() -> None:
    with raises(MeasureError, "setting.refused"):
        compare_decisions({"a": FIRST, "b": SECOND}, level=1.0)
