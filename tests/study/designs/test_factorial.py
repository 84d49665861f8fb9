"""Latin squares: every promised balance holds for random designs, and notes appear exactly where it does not."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import lcm

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.messages import message_of
from karat.study.designs import DesignError, DesignFactor, Lists, balance_sides, factorial
from karat.study.designs.balance import edge_colours, even_lists
from messages import codes, raises


def table(factors: list[DesignFactor], per_group: list[int], fillers: int = 2) -> pl.DataFrame:
    """Items for every combination of levels between items, each in all its conditions."""
    between = [factor for factor in factors if not factor.within_items]
    rows = []
    number = 0
    for place, group in enumerate(product(*(factor.levels for factor in between))):
        fixed = dict(zip([factor.name for factor in between], group, strict=True))
        for _ in range(per_group[place % len(per_group)]):
            number += 1
            for levels in product(*([fixed[f.name]] if f.name in fixed else f.levels for f in factors)):
                own = dict(zip([f.name for f in factors], levels, strict=True))
                rows.append({"item": str(number), "function": "test", **own})
    rows += [{"item": f"f{i}", "function": "filler", **{f.name: "" for f in factors}} for i in range(fillers)]
    return pl.DataFrame(rows)


@st.composite
def designs(draw: st.DrawFn) -> tuple[list[DesignFactor], pl.DataFrame]:
    factors = [
        DesignFactor(
            f"f{i}", tuple(f"l{j}" for j in range(draw(st.integers(1, 3)))), draw(st.booleans()), draw(st.booleans())
        )
        for i in range(draw(st.integers(0, 3)))
    ]
    return factors, table(factors, draw(st.lists(st.integers(1, 7), min_size=1, max_size=4)))


def level(items: pl.DataFrame, row: int, names: list[str]) -> tuple[str, ...]:
    return tuple(items[name][row] for name in names)


@given(designs(), st.one_of(st.none(), st.integers(1, 14)))
def test_every_promise_holds(design: tuple[list[DesignFactor], pl.DataFrame], wanted: int | None) -> None:
    factors, items = design
    groups = 1
    for factor in factors:
        groups *= 1 if factor.within_participants else len(factor.levels)
    if wanted is not None and wanted < groups:
        with raises(DesignError, "design.too_few_lists"):
            factorial(items, factors, lists=wanted)
        return
    made = factorial(items, factors, lists=wanted)
    rotated = [f.name for f in factors if f.within_items and f.within_participants]
    between = [f.name for f in factors if not f.within_items]
    shown_once = [f.name for f in factors if not f.within_participants]
    conditions = 1
    for factor in factors:
        conditions *= len(factor.levels) if factor.name in rotated else 1
    assert len(made.rows) == (conditions * groups if wanted is None else wanted)
    over_lists: Counter[int] = Counter()
    uneven = False
    for rows in made.rows:
        tests = [row for row in rows if items["function"][row] == "test"]
        assert sorted(set(rows)) == list(rows)
        assert {row for row in range(items.height) if items["function"][row] != "test"} <= set(rows)
        assert len({items["item"][row] for row in tests}) == len(tests)
        assert len({level(items, row, shown_once) for row in tests}) == 1
        by_kind: dict[tuple[str, ...], Counter[tuple[str, ...]]] = {}
        for row in tests:
            by_kind.setdefault(level(items, row, between), Counter())[level(items, row, rotated)] += 1
        for count in by_kind.values():
            counts = [*count.values(), *[0] * (conditions - len(count))]
            assert max(counts) - min(counts) <= 1
            assert (max(counts) == min(counts)) == (sum(counts) % conditions == 0)
            uneven |= max(counts) > min(counts)
        over_lists.update(tests)
    seen = [over_lists[row] for row in range(items.height) if items["function"][row] == "test"]
    if len(made.rows) % (conditions * groups) == 0:
        assert len(set(seen)) == 1
    else:
        assert made.notes
    assert max(seen) - min(seen) <= 2  # groups of participants may have one list more, and that list is named
    if uneven:
        assert "design.uneven_conditions" in codes(made.notes)
    if wanted is None and not uneven and not shown_once:
        assert not made.notes


@given(
    st.lists(st.sets(st.sampled_from("abcd"), min_size=1), min_size=1, max_size=9).filter(
        lambda options: set().union(*options) == set("abcd")
    ),
    st.integers(1, 13),
)
def test_incomplete_items_are_as_even_as_they_can_be(options: list[set[str]], wanted: int) -> None:
    rows = [(str(i), "test", c) for i, own in enumerate(options) for c in sorted(own)]
    items = pl.DataFrame(rows, schema=["item", "function", "c"], orient="row")
    made = factorial(items, [DesignFactor("c", tuple("abcd"))], lists=wanted)
    count = Counter(row for rows in made.rows for row in rows)
    for item, own in enumerate(options):
        each = [count[row] for row in range(items.height) if items["item"][row] == str(item)]
        assert sum(each) == wanted
        assert max(each) - min(each) <= 1
        if wanted % len(own) == 0:
            assert len(set(each)) == 1
    in_lists = [Counter(items["c"][row] for row in rows) for rows in made.rows]
    assert all(sum(one.values()) == len(options) for one in in_lists)
    if len({frozenset(own) for own in options}) > 1:
        for condition in "abcd":
            numbers = [one[condition] for one in in_lists]
            assert max(numbers) - min(numbers) <= 1
    lacking = any(own != set("abcd") for own in options)
    assert lacking == ("design.items_lack_condition" in codes(made.notes))
    assert (wanted % lcm(*map(len, options)) > 0) == ("design.uneven_items" in codes(made.notes))


def brute_force_even_lists(options: list[set[str]], lists: int) -> bool:
    """Whether any lists have every condition equally often and every item equally often in each of its conditions."""
    one_list = [
        choice
        for choice in product(*map(sorted, options))
        if len(set(Counter(choice).values())) == 1 and set(choice) == set().union(*options)
    ]
    for plan in product(one_list, repeat=lists):
        seen = [Counter(choice[item] for choice in plan) for item in range(len(options))]
        if all(len({seen[i][c] for c in own}) == 1 for i, own in enumerate(options)):
            return True
    return False


@pytest.mark.parametrize("options", [["ab", "ab"], ["ab", "a"], ["bc", "ac", "ab"], ["abc", "abc", "ab"], ["ab", "bc"]])
def test_where_notes_are_reported_no_search_finds_even_lists(options: list[str]) -> None:
    rows = [(str(i), "test", c) for i, own in enumerate(options) for c in own]
    items = pl.DataFrame(rows, schema=["item", "function", "c"], orient="row")
    lists = lcm(*map(len, options))
    made = factorial(items, [DesignFactor("c", tuple(sorted(set("".join(options)))))], lists=lists)
    even = not {"design.uneven_conditions", "design.uneven_items"} & set(codes(made.notes))
    assert even == brute_force_even_lists([set(own) for own in options], lists)


def test_a_cell_that_nobody_has_is_reported_once() -> None:
    cells = [("x", "1"), ("x", "2"), ("y", "1")]
    rows = [(str(i), "test", a, b) for i in range(6) for a, b in cells]
    items = pl.DataFrame(rows, schema=["item", "function", "a", "b"], orient="row")
    made = factorial(items, {"a": DesignFactor("a", ("x", "y")), "b": DesignFactor("b", ("1", "2"))})
    assert len(made.rows) == 3
    (note,) = made.notes
    assert (note.code, note.values["condition"]) == ("design.condition_missing", ["a = y", "b = 2"])


def test_item_without_a_level_between_participants_is_reported() -> None:
    items = pl.DataFrame({"item": ["1", "1", "2"], "function": ["test"] * 3, "g": ["x", "y", "x"]})
    made = factorial(items, [DesignFactor("g", ("x", "y"), within_participants=False)])
    assert made.rows == ((0, 2), (1,))
    assert codes(made.notes) == ["design.items_lack_level", "design.uneven_lengths"]
    assert made.notes[0].values["items"].values["names"] == ["2"]
    assert made.notes[1].values == {"least": 1, "most": 2}


ITEMS = pl.DataFrame({"item": ["1", "1", "2"], "function": ["test"] * 3, "a": ["x", "y", "x"]})
A = DesignFactor("a", ("x", "y"))


@pytest.mark.parametrize(
    ("items", "factors", "code"),
    [
        (ITEMS, [DesignFactor("a", ("x", "y"), within_items=False)], "design.between_items"),
        (ITEMS, [DesignFactor("a", ("x",))], "design.unknown_level"),
        (ITEMS, [DesignFactor("a", ("x", "y", "z"))], "design.unused_level"),
        (ITEMS.with_columns(a=pl.lit("x")), [DesignFactor("a", ("x",))], "design.cell_twice"),
        (ITEMS.with_columns(a=pl.lit("")), [A], "design.no_level"),
        (ITEMS.with_columns(function=pl.lit("filler")), [A], "design.no_test_items"),
        (ITEMS, [DesignFactor("b", ("x",))], "design.no_column"),
        (ITEMS, [A, A], "design.factor_twice"),
    ],
)
def test_what_cannot_be_is_named(items: pl.DataFrame, factors: list[DesignFactor], code: str) -> None:
    with raises(DesignError, code):
        factorial(items, factors)


def test_levels_are_named_once() -> None:
    with raises(DesignError, "design.levels"):
        DesignFactor("a", ("x", "x"))


def test_no_lists_are_refused() -> None:
    with raises(DesignError, "design.too_few_lists") as caught:
        factorial(ITEMS, [A], lists=0)
    assert message_of(caught.value).values["advice"].values == {"n": 1}


def test_a_table_without_functions_is_all_test() -> None:
    assert factorial(pl.DataFrame({"item": ["1", "2", "1", "2"], "a": ["x", "x", "y", "y"]}), [A]) == Lists(
        ((0, 3), (1, 2))
    )


@given(st.lists(st.integers(0, 2), max_size=15), st.integers(0, 9))
def test_sides_of_a_participant(groups: list[int], seed: int) -> None:
    pairs = [(2 * i, 2 * i + 1) for i in range(len(groups))]
    made = balance_sides(pairs, seed, groups)
    assert [tuple(sorted(pair)) for pair in made] == pairs
    for group in [{0}, {1}, {2}, {0, 1, 2}]:
        kept = [a < b for (a, b), own in zip(made, groups, strict=True) if own in group]
        assert abs(2 * sum(kept) - len(kept)) <= 1


def test_sides_of_a_participant_are_random() -> None:
    first = sum(balance_sides([(0, 1)], seed)[0] == (0, 1) for seed in range(1000))
    assert 430 < first < 570


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=40))
def test_colours_never_meet(edges: list[tuple[int, int]]) -> None:
    degree = Counter([("left", a) for a, _ in edges] + [("right", b) for _, b in edges])
    colours = edge_colours(edges, max(degree.values(), default=1))
    for side in (0, 1):
        used = [(edge[side], colour) for edge, colour in zip(edges, colours, strict=True)]
        assert len(set(used)) == len(used)


def test_options_come_from_the_item() -> None:
    assert all(one[0] == "a" for one in even_lists([["a"], ["a", "b"]], 3))
