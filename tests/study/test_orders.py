"""Orders: every rule holds, or it is proved that they cannot; chance is fair; the checker is right."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.plan import RULES as ALL_RULES
from benchmarks.plan import questionnaire
from karat.study.orders import STATES, Arranger, OrderError, OrderRules, OrderUndecidedError, arrange, violations
from karat.study.orders.rules import broken_rules, columns_of, compile_rules, stretches
from karat.study.orders.search import Patterns, patterns_of, possible
from messages import refuses

CHI_SQUARED_001 = {2: 13.82, 3: 16.27, 4: 18.47, 11: 31.26, 23: 49.73, 99: 148.23}
"""Critical values at p = .001 by degrees of freedom. Seeds are fixed, so a fair arranger passes always."""


def table(functions: str, **columns: str) -> pl.DataFrame:
    """One letter per trial: t, f, c, a, k (calibration), p (practice); a dot for a missing value."""
    names = {"t": "test", "f": "filler", "c": "control", "a": "attention", "k": "calibration", "p": "practice"}
    values = {name: [None if letter == "." else letter for letter in text] for name, text in columns.items()}
    return pl.DataFrame({"function": [names[letter] for letter in functions], **values})


def chi_squared(counts: list[int], expected: float) -> float:
    return sum((count - expected) ** 2 / expected for count in counts)


# --- the rules hold


@pytest.mark.slow
def test_all_rules_at_once_in_a_long_questionnaire() -> None:
    trials = questionnaire()
    arranger = Arranger(trials, ALL_RULES)
    found = [arranger.order(np.random.default_rng([1, person])) for person in range(100)]
    assert all(violations(trials, order.tolist(), ALL_RULES) == [] for order in found)
    assert len({tuple(order.tolist()) for order in found}) == 100


def test_the_same_seed_gives_the_same_order() -> None:
    trials = questionnaire()
    arranger = Arranger(trials, ALL_RULES)
    first, other = (arranger.order(np.random.default_rng(seed)).tolist() for seed in (7, 8))
    assert arrange(trials, ALL_RULES, 7).tolist() == first != other


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("trials", "rules"),
    [
        (table("t" * 40 + "f" * 39), OrderRules(apart=("test",))),
        (table("t" * 30 + "f" * 31, status="ab" * 30 + "a"), OrderRules(apart=("test",), in_a_row={"status": 1})),
        (table("f" * 60, status="a" * 40 + "b" * 20), OrderRules(in_a_row={"status": 2})),
        (table("f" * 48, pair="abcdefghijkl" * 4), OrderRules(distance={"pair": 12})),
        (table("t" * 36 + "f" * 60 + "c" * 12),
         OrderRules(apart=("test", "control"), spread=("control",), keep_ratio=True)),
        (table("k" * 6 + "f" * 12, status="ababab" + "abc" * 4), OrderRules(in_a_row={"status": 1})),
        (table("t" * 12 + "f" * 24, status="ab" * 6 + "abc" * 8), OrderRules(mixed_blocks=4, in_a_row={"status": 2})),
    ],
    ids=["apart", "apart, status", "two of three", "distance", "spread", "across the opening", "blocks"],
)  # fmt: skip
def test_tight_rules_that_shuffling_does_not_meet(trials: pl.DataFrame, rules: OrderRules) -> None:
    arranger = Arranger(trials, rules)
    for seed in range(5):
        assert violations(trials, arranger.order(np.random.default_rng(seed)).tolist(), rules) == []
    random = np.random.default_rng(1)
    assert all(violations(trials, random.permutation(len(trials)).tolist(), rules) for _ in range(200))


def test_the_opening_stands_first_in_its_sequence() -> None:
    trials = table("ttffkkpp")
    order = arrange(trials, OrderRules(), 1).tolist()
    assert [trials["function"][row] for row in order[:4]] == ["practice", "practice", "calibration", "calibration"]
    assert sorted(arrange(trials, OrderRules(first=()), 1).tolist()) == list(range(8))


def test_empty_and_single() -> None:
    assert arrange(table(""), OrderRules(keep_ratio=True, mixed_blocks=2), 1).tolist() == []
    assert arrange(table("t"), OrderRules(apart=("test",), spread=("test",), keep_ratio=True), 1).tolist() == [0]


# --- the checker, by cases worked out by hand


@pytest.mark.parametrize(
    ("trials", "order", "rules", "text"),
    [
        (table("tf"), [0, 0], OrderRules(), "The order does not have every trial exactly once."),
        (table("kf"), [1, 0], OrderRules(), "Position 1 is not a calibration trial."),
        (table("ttf"), [2, 0, 1], OrderRules(apart=("test",)), "Positions 2 and 3 are both test trials."),
        (table("fff", status="aab"), [2, 0, 1], OrderRules(in_a_row={"status": 1}),
         'Position 3 is number 2 in a row with status "a"; 1 are allowed.'),
        (table("fff", pair="a.a"), [0, 1, 2], OrderRules(distance={"pair": 3}),
         'Positions 1 and 3 share pair "a"; they must be at least 3 apart.'),
        (table("ccff"), [0, 1, 2, 3], OrderRules(spread=("control",)),
         "Positions 1 to 2 have 2 control trials instead of 1."),
        (table("ttttffff"), [0, 1, 2, 4, 3, 5, 6, 7], OrderRules(keep_ratio=True),
         'Positions 1 to 2 have 2 trials with function "test"; their share is 1.0.'),
        (table("ttff"), [0, 1, 2, 3], OrderRules(mixed_blocks=2),
         'Positions 1 to 2 have 2 trials with function "test"; their share is 1.0.'),
    ],
)  # fmt: skip
def test_violations_are_reported(trials: pl.DataFrame, order: list[int], rules: OrderRules, text: str) -> None:
    assert violations(trials, order, rules)[0] == text


def test_missing_values_equal_nothing() -> None:
    trials = pl.DataFrame({"function": ["filler"] * 4, "status": [None, None, "", ""]})
    assert violations(trials, [0, 1, 2, 3], OrderRules(in_a_row={"status": 1}, distance={"status": 4})) == []


def test_an_opening_function_may_stand_in_a_row() -> None:
    assert arrange(table("kkkff"), OrderRules(in_a_row={"function": 2}), 1).tolist()[3:] in ([3, 4], [4, 3])


# --- proofs


@pytest.mark.parametrize(
    ("trials", "rules", "names"),
    [
        (table("t" * 12 + "f" * 8), OrderRules(apart=("test",)),
         ["12 test trials", "11 separators", "8 fillers"]),
        (table("t" * 4 + "fc"), OrderRules(apart=("test",)),
         ["4 test trials", "3 separators", "1 filler, 1 control"]),
        (table("t" * 2 + "kkkk"), OrderRules(apart=("test",)), ["2 test trials", "1 separator"]),
        (table("f" * 8, status="aaaaaaab"), OrderRules(in_a_row={"status": 2}),
         ["7 trials", 'status "a"', "2 in a row", "3 separators", "1 filler"]),
        (table("kkkff", status="aaabb"), OrderRules(in_a_row={"status": 2}),
         ["calibration trials", 'status "a"', "2 in a row"]),
        (table("f" * 6, pair="aaabcd"), OrderRules(distance={"pair": 3}),
         ["3 trials", 'pair "a"', "3 positions", "7 positions", 6]),
        (table("kkf"), OrderRules(spread=("calibration",)), ["calibration trials"]),
        (table("kkf"), OrderRules(apart=("calibration",)), ["2 calibration trials"]),
        (table("t" * 16 + "f" * 16 + "k", status="." * 33), OrderRules(apart=("test",), distance={"function": 5}),
         ["5 positions"]),
        (table("ccaaf"), OrderRules(distance={"function": 4}),
         ["same function", "4 positions"]),
        (table("ccff", pair="xx..", status="abab"),
         OrderRules(distance={"pair": 3}, in_a_row={"function": 1, "status": 3}, spread=("control",)),
         ["1 in a row", "same function", "same pair", "3 positions"]),
    ],
)  # fmt: skip
def test_what_cannot_hold_is_proved(trials: pl.DataFrame, rules: OrderRules, names: list[object]) -> None:
    with refuses(OrderError, *names) as raised:
        arrange(trials, rules, 1)
    assert not isinstance(raised.value, OrderUndecidedError)


@pytest.mark.slow
def test_undecided_after_the_time_names_the_tightest_rule() -> None:
    # Each of eight columns alone asks for a sequence that repeats every five positions; together they clash.
    random = np.random.default_rng(3)
    size = 60
    trials = pl.DataFrame({
        "function": ["filler"] * size,
        **{name: [f"{value}" for value in random.permutation(np.arange(size) % 5)] for name in "abcdefgh"},
    })  # fmt: skip
    rules = OrderRules(distance=dict.fromkeys("abcdefgh", 5))
    arranger = Arranger(trials, rules, seconds=0.3)
    with refuses(OrderUndecidedError, "5 positions", "12 of 60 trials"):
        arranger.order(np.random.default_rng(1))


@pytest.mark.parametrize(
    ("rules", "names"),
    [
        (OrderRules(in_a_row={"staus": 2}), ["staus", "status"]),
        (OrderRules(apart=("tset",)), ["tset", "test"]),
        (OrderRules(in_a_row={"status": 0}), ["status", 0, 1]),
        (OrderRules(mixed_blocks=-1), ["mixed_blocks", -1, 0]),
    ],
)
def test_rules_that_make_no_sense(rules: OrderRules, names: list[object]) -> None:
    with refuses(OrderError, *names):
        arrange(table("tf", status="ab"), rules, 1)


def test_a_breach_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    arranger = Arranger(table("ttff"), OrderRules(apart=("test",)))
    draw = Patterns.draw
    monkeypatch.setattr(Patterns, "draw", lambda patterns, random: sorted(draw(patterns, random)))
    with refuses(AssertionError, "1 and 2", "test"):
        arranger.order(np.random.default_rng(1))


# --- against every permutation of small questionnaires


@st.composite
def small_designs(draw: st.DrawFn, most: int = 7) -> tuple[pl.DataFrame, OrderRules]:
    size = draw(st.integers(1, most))
    text = st.text(alphabet="ab.", min_size=size, max_size=size)
    functions = draw(st.text(alphabet="tfcak", min_size=size, max_size=size))
    trials = table(functions, status=draw(text), pair=draw(st.text(alphabet="xyz.", min_size=size, max_size=size)))
    names = st.lists(st.sampled_from(["test", "control", "filler"]), max_size=2, unique=True).map(tuple)
    limits = st.dictionaries(st.sampled_from(["status", "function", "pair"]), st.integers(1, 3), max_size=2)
    return trials, OrderRules(
        first=draw(st.sampled_from([(), ("calibration",)])),
        apart=draw(names),
        in_a_row=draw(limits),
        spread=draw(names),
        distance=draw(st.dictionaries(st.sampled_from(["pair", "status"]), st.integers(1, 4), max_size=1)),
        keep_ratio=draw(st.booleans()),
        mixed_blocks=draw(st.sampled_from([0, 0, 2, 3])),
    )


def holding(trials: pl.DataFrame, rules: OrderRules) -> Iterator[tuple[int, ...]]:
    """All orders that satisfy the rules, found by going through every permutation."""
    columns = columns_of(trials, rules)
    return (order for order in itertools.permutations(range(len(trials))) if not broken_rules(columns, order, rules))


def assert_decided_rightly(trials: pl.DataFrame, rules: OrderRules, states: tuple[int, int] = STATES) -> None:
    error = None
    try:
        order = Arranger(trials, rules, states=states).order(np.random.default_rng(1))
    except OrderError as raised:
        error = raised
    if error is None:
        assert violations(trials, order.tolist(), rules) == []
    else:
        assert not isinstance(error, OrderUndecidedError)
        assert next(holding(trials, rules), None) is None, str(error)


@pytest.mark.slow
@given(small_designs(8))
@settings(max_examples=100)
@example((table("tfttffcc"), OrderRules(apart=("test",), spread=("control",), keep_ratio=True)))
@example((table("tfttffcc"), OrderRules(apart=("test", "control"), spread=("control",), mixed_blocks=3)))
def test_an_order_is_found_whenever_there_is_one(design: tuple[pl.DataFrame, OrderRules]) -> None:
    assert_decided_rightly(*design)


@pytest.mark.slow
@given(small_designs(7))
@settings(max_examples=100)
def test_exchanges_and_search_find_what_there_is(design: tuple[pl.DataFrame, OrderRules]) -> None:
    """As above without the exact count, which small questionnaires would otherwise always get."""
    assert_decided_rightly(*design, states=(0, 0))


@given(small_designs(5))
@settings(max_examples=60)
def test_the_count_is_that_of_all_permutations(design: tuple[pl.DataFrame, OrderRules]) -> None:
    trials, rules = design
    problem = compile_rules(columns_of(trials, rules), rules)
    if any(name in rules.first and name in trials["function"].to_list() for name in rules.spread):
        return  # refused before it is counted
    patterns = {tuple(problem.kind_of[row] for row in order) for order in holding(trials, rules)}
    assert Patterns(problem, 10**6).number == len(patterns)
    assert possible(problem, 10**6) is bool(patterns)


def test_lists_with_the_same_kinds_are_counted_once() -> None:
    rules = OrderRules(apart=("test",))
    first, second, other = (
        compile_rules(columns_of(table(codes), rules), rules) for codes in ("tftf", "tftf", "tftff")
    )
    assert patterns_of(first, 1000) is patterns_of(second, 1000)
    assert patterns_of(first, 1000).number == 3
    assert patterns_of(other, 1000).number == 6
    assert not patterns_of(first, 1).complete


# --- chance


def test_without_rules_every_trial_is_everywhere_equally_often() -> None:
    arranger = Arranger(table("tttfffcccf"), OrderRules())
    counts: Counter[object] = Counter()
    for seed in range(4000):
        counts.update(enumerate(arranger.order(np.random.default_rng(seed)).tolist()))
    # The rows and columns of the 10 x 10 table are fixed, which only makes this statistic smaller.
    assert chi_squared([counts[at, row] for at in range(10) for row in range(10)], 400) < CHI_SQUARED_001[99]


def test_every_order_that_holds_has_the_same_probability() -> None:
    trials, rules = table("ttff"), OrderRules(apart=("test",))
    arranger = Arranger(trials, rules)
    possible_orders = list(holding(trials, rules))
    assert len(possible_orders) == 12
    counts = Counter(tuple(arranger.order(np.random.default_rng(seed)).tolist()) for seed in range(6000))
    assert set(counts) == set(possible_orders)
    assert chi_squared([counts[order] for order in possible_orders], 500) < CHI_SQUARED_001[11]


def test_every_pattern_of_functions_has_the_same_probability() -> None:
    trials = table("ttttffff")
    arranger = Arranger(trials, OrderRules(apart=("test",)))
    counts: Counter[object] = Counter()
    for seed in range(5000):
        order = arranger.order(np.random.default_rng(seed)).tolist()
        counts["".join("t" if row < 4 else "f" for row in order)] += 1
    assert len(counts) == 5
    assert chi_squared(list(counts.values()), 1000) < CHI_SQUARED_001[4]


@pytest.mark.slow
@pytest.mark.parametrize(("first", "last"), [(0, 36), (36, 96)], ids=["test", "filler"])
def test_with_all_rules_trials_that_are_alike_share_their_places(first: int, last: int) -> None:
    """Which of the trials of one function, status, acceptability and polarity comes first is even."""
    trials = questionnaire().with_columns(pair=pl.lit(None, pl.String))
    arranger = Arranger(trials, ALL_RULES)
    columns = ("status", "acceptability", "polarity")
    alike = [row for row in range(first, last) if all(trials[c][row] == trials[c][first] for c in columns)]
    counts: Counter[object] = Counter()
    rounds = 600
    for seed in range(rounds):
        order = arranger.order(np.random.default_rng(seed)).tolist()
        counts[next(row for row in order if row in alike)] += 1
    assert chi_squared([counts[row] for row in alike], rounds / len(alike)) < CHI_SQUARED_001[len(alike) - 1]


def test_values_that_the_rules_treat_alike_share_their_places() -> None:
    """Under a limit on equal values in a row, each value stands in each sixth of the questionnaire equally often."""
    trials = table("f" * 48, status="abcd" * 12)
    arranger = Arranger(trials, OrderRules(in_a_row={"status": 1}, distance={"status": 2}))
    assert not arranger._exact
    counts: Counter[object] = Counter()
    rounds = 1000
    for seed in range(rounds):
        order = arranger.order(np.random.default_rng(seed)).tolist()
        counts.update((at // 8, trials["status"][row]) for at, row in enumerate(order))
    # Places within one order depend on each other, and negatively: the statistic is smaller than with independence.
    assert chi_squared([counts[part, value] for part in range(6) for value in "abcd"], rounds * 2) < CHI_SQUARED_001[23]


def test_the_first_and_the_last_position_are_alike() -> None:
    """The rules read the same backwards, so must the orders: no leftovers gather at the end."""
    trials = table("f" * 40, status="a" * 22 + "b" * 12 + "c" * 6)
    arranger = Arranger(trials, OrderRules(in_a_row={"status": 2}, distance={"status": 1}))
    difference = 0
    rounds = 2000
    for seed in range(rounds):
        values = [trials["status"][row] for row in arranger.order(np.random.default_rng(seed)).tolist()]
        difference += values[:10].count("a") - values[-10:].count("a")
    # One order's difference has a standard deviation under 2.
    assert abs(difference) < 3.3 * 2 * rounds**0.5


def test_stretches_cover_everything_once() -> None:
    for end, parts in itertools.product(range(3, 40), range(1, 12)):
        cut = stretches(3, end, parts)
        assert [at for a, b in cut for at in range(a, b)] == list(range(3, end))
        assert max(b - a for a, b in cut) - min(b - a for a, b in cut) <= 1
