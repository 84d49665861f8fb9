"""Chance against the published tables, against plain enumeration, and against what must hold for any numbers.

Expected values of the tables: `../shared/reference/ajt/golden.json`, made by the authors' R functions and by
an independent program; and the cells as they are printed in Pieper, Börner and Kiss (`tools.replication`).
"""

from __future__ import annotations

import json
import time
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import KaratError
from karat.study import chance
from karat.study.chance import joint_table, overview, relational_table, slips_table, smallest_pairs
from karat.study.guessing import as_fraction, at_least, counts_of_differences, counts_of_sums, p_text, sides, tails
from messages import refuses
from tools.replication.acceptability import printed

PRINTED = {"table2": printed.TABLE_2, "table3a": printed.TABLE_3A, "table3b": printed.TABLE_3B}
CHANCES = {"table2": "1/2", "table3a": "3/5", "table3b": "2/5"}

shares = st.fractions(0, 1, max_denominator=60)
alphas = st.fractions(Fraction(1, 1000), Fraction(1, 2), max_denominator=1000)


@pytest.fixture(scope="session")
def golden(reference: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((reference / "ajt" / "golden.json").read_text(encoding="utf-8"))
    return data


def digits(p: float, places: int = 3) -> str:
    return f"{p:.{places}f}".removeprefix("0")


# The tables, cell by cell.


@pytest.mark.parametrize("name", CHANCES)
def test_tables_2_and_3_as_computed_by_others(name: str, golden: dict[str, Any]) -> None:
    expected = golden["guessing_tables"][name]
    ours = chance.table(expected["N"], expected["k"], CHANCES[name])
    assert ours.columns == ["n", *map(str, expected["k"])]
    assert ours.equals(chance.table(expected["N"], expected["k"], expected["p"]))
    for row, fractions, values in zip(ours.rows(), expected["exact_fractions"], expected["values"], strict=True):
        assert list(row[1:]) == [None if f is None else float(Fraction(f)) for f in fractions]
        assert list(row[1:]) == [None if v is None else pytest.approx(v, rel=1e-11) for v in values]


@pytest.mark.parametrize("name", CHANCES)
def test_tables_2_and_3_as_printed(name: str) -> None:
    cells = 0
    for n, *line in printed.rows(PRINTED[name]):
        for k, cell in zip(printed.K, line, strict=False):
            assert digits(chance.pass_probability(int(n), k, CHANCES[name])) == cell, (n, k)
            cells += 1
    assert cells == 54


def test_two_cells_of_table_2_are_ties_that_were_rounded_down() -> None:
    for k, cell, exact in ((3, ".312", "5/16"), (4, ".062", "1/16")):
        assert chance.pass_probability(4, k, "1/2") == float(Fraction(exact))
        assert digits(float(Fraction(exact))) == cell


def test_table_4_as_computed_by_others(golden: dict[str, Any]) -> None:
    expected = golden["guessing_tables"]["table4"]
    ours = joint_table(range(2, 9))
    assert [(r[0], r[1], r[3]) for r in ours.rows()] == [(r[0], r[1], r[3]) for r in expected["rows"]]
    for row, other in zip(ours.rows(), expected["rows"], strict=True):
        assert row == pytest.approx(other, rel=1e-11)


def test_table_4_as_printed_leaves_out_six_rows(golden: dict[str, Any]) -> None:
    ours = [
        [str(n), str(k), digits(p), str(m), digits(q), digits(both)]
        for n, k, p, m, q, both in joint_table(range(2, 9)).rows()
    ]
    result = printed.rows(printed.TABLE_4)
    assert [row for row in ours if row in result] == result
    left_out = [[int(row[0]), int(row[1]), int(row[3])] for row in ours if row not in result]
    assert left_out == golden["guessing_tables"]["table4"]["rows_satisfying_footnote20_but_not_printed"]


def test_table_5_as_computed_by_others(golden: dict[str, Any]) -> None:
    for row in golden["guessing_tables"]["table5"]:
        counts = counts_of_differences((1,) * 5, row["pairs"])
        zero = 4 * row["pairs"]
        assert sum(counts) == row["outcomes"]
        assert sum(counts[zero + 1 :]) == row["accepted_pure"]
        assert sum(counts[zero + 2 * row["pairs"] :]) == row["accepted_extended"]
        assert chance.relational(row["pairs"], 5) == row["accepted_pure"] / row["outcomes"]
        assert chance.relational(row["pairs"], 5, 0.5) == row["accepted_extended"] / row["outcomes"]


def test_table_5_as_printed_is_wrong_in_four_cells(golden: dict[str, Any]) -> None:
    wrong = {}
    for pairs, outcomes, pure, extended in printed.rows(printed.TABLE_5):
        assert int(outcomes) == 5 ** (2 * int(pairs))
        assert digits(chance.relational(int(pairs), 5), 4) == pure
        exact = digits(chance.relational(int(pairs), 5, "1/2"), 4)
        if exact != extended:
            wrong[int(pairs)] = (extended, exact)
    assert wrong == {3: (".0449", ".0564"), 5: (".0140", ".0158"), 6: (".0076", ".0086"), 7: (".0045", ".0047")}
    lines = [cell for cell in golden["guessing_tables"]["printed_cells_differing"] if cell["table"] == "table5"]
    assert {cell["pairs"]: (cell["printed"][1:], cell["half_up"][1:]) for cell in lines} == wrong


def test_the_printed_cells_come_from_comparing_rounded_shares() -> None:
    """The same enumeration with floats loses the outcomes that lie on the threshold."""
    sums: dict[int, int] = {0: 1}
    for _ in range(3):
        sums = {total: sum(sums.get(total - point, 0) for point in range(1, 6)) for total in range(16)}
    passing = sum(sums[g] * sums[u] for g in sums for u in sums if (g / 3 - u / 3) / 4 >= 0.5)
    assert passing == 702
    assert digits(passing / 5**6, 4) == ".0449"


def test_three_pairs_are_not_enough_and_four_are() -> None:
    assert chance.relational(3, 5, 0.5) > 0.05 >= chance.relational(4, 5, 0.5)
    assert smallest_pairs() == 4


def test_what_the_paper_recommends() -> None:
    assert chance.smallest("1/2", slips=1) == (8, 7)
    assert chance.smallest("3/5", slips=1) == (10, 9)
    assert chance.smallest("2/5", slips=1) == (6, 5)
    assert chance.smallest_joint() == (5, 4)
    assert chance.needed(16, "1/2") == 12
    assert chance.needed(6, "1/2") == 6
    assert overview().select("trials").to_series().to_list() == [8, 5, 6, 10, 10, 8]


def test_the_criteria_of_the_published_screening(golden: dict[str, Any]) -> None:
    for group in golden["forced_choice"]["response_based"].values():
        assert chance.needed(group["N"], 0.5) == group["k"]
    for group in golden["likert"]["response_based_positional"].values():
        for key, as_published in (("criteria_as_run", True), ("criteria_as_intended", False)):
            [expected] = group[key]
            sizes = group["N_grammatical"], group["N_ungrammatical"]
            rule = chance.joint_rule(*sizes, as_published=as_published)
            assert rule.grammatical == (sizes[0], expected["k_grammatical"])
            assert rule.ungrammatical == (sizes[1], expected["k_ungrammatical"])
            assert rule.probability == pytest.approx(expected["joint"], rel=1e-11)
            assert rule.p_grammatical == pytest.approx(expected["p_grammatical"], rel=1e-11)


def test_the_quantile_of_footnote_22_is_a_step_too_low(golden: dict[str, Any]) -> None:
    for row in golden["guessing_tables"]["table5"]:
        pairs, quantile = row["pairs"], Fraction(row["quantile95_of_s"]).limit_denominator(100)
        threshold = Fraction(chance.relational_threshold(pairs, 5)).limit_denominator(100)
        assert chance.relational(pairs, 5, quantile) > 0.05 >= chance.relational(pairs, 5, threshold)
        assert threshold - quantile == Fraction(1, 4 * pairs)


# A second, slow computation.


@pytest.mark.parametrize(("points", "pairs"), [(2, 1), (2, 4), (3, 2), (3, 3), (4, 2), (5, 1), (5, 2), (5, 3), (7, 2)])
def test_relational_by_enumeration(points: int, pairs: int) -> None:
    weights = [1 + (3 * point) % 4 for point in range(points)]
    for given_weights in (None, weights):
        each = given_weights or [1] * points
        passing: dict[int, int] = {}
        for answers in product(range(points), repeat=2 * pairs):
            difference = sum(answers[:pairs]) - sum(answers[pairs:])
            ways = 1
            for answer in answers:
                ways *= each[answer]
            passing[difference] = passing.get(difference, 0) + ways
        total = sum(passing.values())
        most = pairs * (points - 1)
        assert total == sum(each) ** (2 * pairs)
        for least in range(most + 1):
            ways = sum(count for difference, count in passing.items() if difference >= max(least, 1))
            assert chance.relational(pairs, points, Fraction(least, most), given_weights) == ways / total
            assert chance.relational(pairs, points, least / most, given_weights) == ways / total


@pytest.mark.parametrize("n", range(1, 6))
def test_rights_minus_wrongs_by_enumeration(n: int) -> None:
    weights = {1: Fraction(1, 2), 0: Fraction(1, 5), -1: Fraction(3, 10)}
    for least in range(-n - 1, n + 2):
        expected = Fraction(0)
        for answers in product(weights, repeat=n):
            if sum(answers) >= least:
                one = Fraction(1)
                for answer in answers:
                    one *= weights[answer]
                expected += one
        assert chance.rights_minus_wrongs(n, least, 0.5, none=0.2) == float(expected)


@pytest.mark.parametrize("neutral", ["grammatical", "ungrammatical", "both", None])
@pytest.mark.parametrize("points", [3, 4, 5])
def test_joint_by_enumeration(points: int, neutral: str | None) -> None:
    middle = (points + 1) / 2
    right_good = [p for p in range(1, points + 1) if p > middle or (p == middle and neutral in ("grammatical", "both"))]
    right_bad = [
        p for p in range(1, points + 1) if p < middle or (p == middle and neutral in ("ungrammatical", "both"))
    ]
    outcomes = list(product(range(1, points + 1), repeat=5))
    for k, m in product(range(3), range(4)):
        passing = sum(
            sum(a in right_good for a in answers[:2]) >= k and sum(a in right_bad for a in answers[2:]) >= m
            for answers in outcomes
        )
        assert chance.joint((2, k), (3, m), points, neutral) == passing / len(outcomes)


def test_all_rules_are_found() -> None:
    for n in range(1, 8):
        found = {(r.grammatical[1], r.ungrammatical[1]) for r in chance.joint_rules(n, n + 1)}
        slow = {
            (k, m)
            for k in range(1, n + 1)
            for m in range(1, n + 2)
            if at_least(n, k, Fraction(3, 5)) * at_least(n + 1, m, Fraction(2, 5)) <= Fraction(1, 20)
        }
        assert found == slow


@pytest.mark.parametrize("alpha", ["1/20", "1/4", "1/2", "1"])
@pytest.mark.parametrize("p", ["0", "1/20", "1/2", "3/5", "1"])
def test_needed_is_the_first_that_suffices(p: str, alpha: str) -> None:
    for n in range(1, 9):
        enough = [k for k in range(1, n + 1) if at_least(n, k, Fraction(p)) <= Fraction(alpha)]
        assert chance.needed(n, p, alpha) == (enough[0] if enough else None)


WAYS = [
    (5, "grammatical", None),
    (4, None, None),
    (5, "both", [1, 2, 4, 2, 1]),
    (3, "ungrammatical", ["1/4", "1/2", 2]),
]


@pytest.mark.parametrize("alpha", ["1/20", "1/4"])
@pytest.mark.parametrize(("points", "neutral", "weights"), WAYS)
def test_rules_for_other_scales_by_trying_all(points: int, neutral: Any, weights: Any, alpha: str) -> None:
    above, below = sides(points, neutral, weights)
    limit = Fraction(alpha)
    for slips in (0, 1, 2):
        n = next(
            n for n in range(slips + 1, 200) if at_least(n, n - slips, above) * at_least(n, n - slips, below) <= limit
        )
        assert chance.smallest_joint(points, neutral, alpha, slips, weights) == (n, n - slips)
    for most, slips in product((Fraction(1), Fraction(1, 2), Fraction(1, 4)), (0, 1)):
        slow = [
            (float(p * q), (4, k), (5, m), float(p), float(q))
            for m in range(1, 6 - slips)
            for k in range(1, 5 - slips)
            for p, q in [(at_least(4, k, above), at_least(5, m, below))]
            if max(p, q) < most and p * q <= limit
        ]
        rules = chance.joint_rules(4, 5, points, neutral, alpha, most, slips, weights)
        found = [(r.probability, r.grammatical, r.ungrammatical, r.p_grammatical, r.p_ungrammatical) for r in rules]
        assert found == slow


@pytest.mark.parametrize("as_published", [False, True])
@pytest.mark.parametrize(("points", "neutral", "weights"), WAYS)
def test_the_rule_is_the_mildest_of_all(points: int, neutral: Any, weights: Any, as_published: bool) -> None:
    above, below = sides(points, neutral, weights)
    half = Fraction(1, 2)
    allowed = [
        (at_least(9, k, above) * at_least(8, m, below), -k, m)
        for k in range(1, 10)
        for m in range(1, 8)
        if at_least(8, m, below) < half and (as_published or (k < 9 and at_least(9, k, above) < half))
    ]
    kept = [one for one in allowed if one[0] <= Fraction(1, 10) and one[0] < 1]
    if not kept:
        with refuses(chance.ChanceError, 0.1):
            chance.joint_rule(9, 8, points, neutral, 0.1, weights, as_published)
        return
    p, k, _ = max(kept, key=lambda one: one[:2])
    rule = chance.joint_rule(9, 8, points, neutral, 0.1, weights, as_published)
    assert (rule.probability, rule.grammatical) == (float(p), (9, -k))
    assert rule.p_grammatical * rule.p_ungrammatical == pytest.approx(float(p))


def test_what_lies_on_a_limit_passes() -> None:
    assert chance.needed(1, 0.05) == 1
    assert chance.smallest(0.05) == (1, 1)
    assert chance.smallest(0, 0) == (1, 1)
    assert chance.smallest(0.5) == (5, 5)
    assert chance.smallest_joint(neutral=None) == (4, 3)
    assert [rule.probability for rule in chance.joint_rules(1, 0, 2, alpha=0.5)] == [0.5]
    assert chance.joint_rules(1, 0, 2, alpha=0.5, below=0.5) == []
    assert chance.joint_rules(0, 0, alpha=1)[0].grammatical == (0, 0)
    assert chance.relational_threshold(1, 2, "1/4") == 1.0
    assert chance.relational_threshold(2, 3, 1) == 0.25
    assert chance.relational_threshold(2, 3, 0.05, [0, 1, 0]) == 0.25
    assert chance.rights_minus_wrongs(3, 1, 0.5, none=0.5) == 0.875
    # As published, the ungrammatical group is held to its own chance, which has the middle of the scale.
    assert chance.joint_rule(12, 12, 5, "ungrammatical", as_published=True).ungrammatical == (12, 10)
    # Of two rules that are guessed equally often, the one that asks less of the grammatical controls.
    assert chance.joint_rule(8, 8, points=4, alpha=0.1).grammatical == (8, 5)


def test_an_empty_table_has_its_columns() -> None:
    assert dict(chance.table([], [3, 5], 0.5).schema) == {"n": pl.Int64, "3": pl.Float64, "5": pl.Float64}
    assert dict(chance.table([2], [3], 0.5).schema) == {"n": pl.Int64, "3": pl.Float64}


# What must hold for any numbers.


@given(st.integers(0, 40), shares)
def test_probabilities_fall_with_k_and_rise_with_n_and_p(n: int, p: Fraction) -> None:
    assert chance.pass_probability(n, 0, p) == 1
    assert chance.pass_probability(n, n + 1, p) == 0
    assert tails(n, p) == [at_least(n, k, p) for k in range(n + 1)]
    for k in range(n + 1):
        assert at_least(n, k, p) >= at_least(n, k + 1, p)
        assert at_least(n + 1, k, p) >= at_least(n, k, p)
        assert at_least(n, k, min(p + Fraction(1, 60), Fraction(1))) >= at_least(n, k, p)
        # At least k right, or at least n - k + 1 wrong.
        assert at_least(n, k, p) + at_least(n, n - k + 1, 1 - p) == 1


@given(st.lists(st.integers(0, 9), min_size=2, max_size=7).filter(any), st.integers(1, 12))
def test_counts_add_up_and_differences_are_symmetric(weights: list[int], times: int) -> None:
    assert sum(counts_of_sums(tuple(weights), times)) == sum(weights) ** times
    differences = counts_of_differences(tuple(weights), times)
    assert differences == differences[::-1]
    assert sum(differences) == sum(weights) ** (2 * times)
    mirrored = counts_of_differences(tuple(reversed(weights)), times)
    assert mirrored == differences


@given(st.integers(1, 15), st.integers(2, 9), st.lists(shares, min_size=2, max_size=6))
def test_relational_falls_with_the_minimum(pairs: int, points: int, minima: list[Fraction]) -> None:
    found = [chance.relational(pairs, points, minimum) for minimum in sorted(minima)]
    assert found == sorted(found, reverse=True)
    assert chance.relational(pairs, points) < 0.5
    assert chance.relational(pairs, points, 1) == 1 / points ** (2 * pairs)


@given(st.integers(1, 15), st.integers(2, 9), alphas)
def test_the_threshold_is_the_smallest_step(pairs: int, points: int, alpha: Fraction) -> None:
    most = pairs * (points - 1)
    if chance.relational(pairs, points, 1) > alpha:
        with refuses(chance.ChanceError, pairs):
            chance.relational_threshold(pairs, points, alpha)
        return
    threshold = chance.relational_threshold(pairs, points, alpha)
    # The float that comes out can be put in again: no outcome on the threshold is lost.
    assert chance.relational(pairs, points, threshold) <= alpha
    step = round(threshold * most)
    assert float(Fraction(step, most)) == threshold
    assert step == 1 or chance.relational(pairs, points, Fraction(step - 1, most)) > alpha


@given(st.fractions(0, Fraction(9, 10), max_denominator=30), alphas, st.integers(0, 4))
def test_smallest_is_smallest(p: Fraction, alpha: Fraction, slips: int) -> None:
    n, k = chance.smallest(p, alpha, slips)
    assert n - k == slips
    assert at_least(n, k, p) <= alpha
    assert n == slips + 1 or at_least(n - 1, k - 1, p) > alpha


@given(st.integers(0, 30), st.integers(-31, 31), shares)
def test_rights_minus_wrongs_counts_rights_if_all_answer(n: int, least: int, p: Fraction) -> None:
    assert chance.rights_minus_wrongs(n, least, p) == float(at_least(n, -((-n - least) // 2), p))


@given(st.integers(2, 11), st.sampled_from(["grammatical", "ungrammatical", "both", None]))
def test_sides_leave_the_middle_where_it_was_put(points: int, neutral: str | None) -> None:
    above, below = sides(points, neutral)
    middle = Fraction(points % 2, points)
    assert above + below == {"both": 1 + middle, None: 1 - middle}.get(neutral, 1)


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_float_is_read_as_the_fraction_that_was_meant(a: int, b: int) -> None:
    assert float(as_fraction(a / b, "x")) == a / b
    if a <= b <= 1000:
        assert as_fraction(a / b, "x") == Fraction(a, b)


# Speed, guessing that is not uniform, and messages.


def test_a_hundred_pairs_are_instant() -> None:
    counts_of_sums.cache_clear()
    start = time.process_time()
    assert chance.relational(100, 7, 0.5) < 1e-20
    assert chance.relational_threshold(100, 7) == 0.08
    assert time.process_time() - start < 1


def test_other_ways_of_guessing() -> None:
    # Who keeps to the middle never rates anything higher; who keeps to the ends is often far off.
    assert chance.relational(8, 5, 0, [0, 0, 1, 0, 0]) == 0
    assert chance.relational(8, 5, 0.5, [1, 0, 0, 0, 1]) > chance.relational(8, 5, 0.5)
    assert chance.relational(4, 5, 0.5, [0.2] * 5) == chance.relational(4, 5, 0.5)
    # Who finds everything natural passes the grammatical half and never the other.
    assert chance.joint((5, 4), (5, 0), weights=[0, 0, 0, 1, 1]) == 1
    assert chance.joint((5, 4), (5, 1), weights=[0, 0, 0, 1, 1]) == 0


def test_tables_for_looking_up() -> None:
    assert relational_table([1], 2).rows() == [(1, 0.25, 0.25, None, None)]
    assert slips_table("2/5").select("trials", "right").rows() == [(4, 4), (6, 5), (8, 6), (11, 8)]
    assert joint_table([3]).is_empty()
    assert overview(4)["task"].to_list()[-1] == "4 points, both kinds"
    assert smallest_pairs(minimum=0) is None
    assert [p_text(p) for p in (0.0, 0.00049, 0.0005, 0.5, 1.0)] == [".000", "<.001", ".001", ".500", "1.000"]
    assert "grammatical and" not in str(chance.joint_rule(0, 12))


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: chance.pass_probability(4, 2, 1.5), ["chance", 1.5]),
        (lambda: chance.pass_probability(4, 2, "half"), ["chance", "half", 0.4, "2/5"]),
        (lambda: chance.pass_probability(4, 2, float("nan")), ["chance", "nan", 0.4, "2/5"]),
        (lambda: chance.pass_probability(-1, 2, 0.5), ["trials", -1]),
        (lambda: chance.pass_probability(4.5, 2, 0.5), ["trials", 4.5]),  # type: ignore[arg-type]
        (lambda: chance.smallest(1), ["chance", 1]),
        (lambda: chance.smallest(0.99999), ["chance", 0.99999]),
        (lambda: chance.smallest(0.5, 0), ["alpha", 0, 0.05]),
        (
            lambda: chance.joint((5, 4), (5, 4), neutral="middle"),
            ["neutral", "middle", "grammatical, ungrammatical, both"],
        ),
        (lambda: chance.joint_rule(2, 2), ["2 grammatical", "2 ungrammatical", 0.05]),
        (lambda: chance.relational(3, 5, 2), ["minimum", 2]),
        (lambda: chance.relational(0, 5), ["pairs", 0, 1]),
        (lambda: chance.relational(3, 1), ["points", 1, 2]),
        (lambda: chance.relational(3, 5, 0, [1, 2]), ["weights", 2, "5 points"]),
        (lambda: chance.relational(3, 2, 0, [0, 0]), ["weights"]),
        (lambda: chance.relational(3, 2, 0, [-1, 2]), ["weights"]),
        (lambda: chance.rights_minus_wrongs(3, 1, 0.7, none=0.5), ["chance 0.7", "none 0.5"]),
    ],
)
def test_what_cannot_be_is_refused(call: Any, names: list[object]) -> None:
    with refuses(chance.ChanceError, *names) as caught:
        call()
    assert isinstance(caught.value, KaratError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("call", "start"),
    [
        (lambda: chance.pass_probability(-1, 2, 0.5), "trials: -1 is too few"),
        (lambda: chance.pass_probability(4, -2, 0.5), "right answers: -2 is too few"),
        (lambda: chance.pass_probability(4, 2, 2), "chance: 2 is not"),
        (lambda: chance.table([-1], [1], 0.5), "trials: -1"),
        (lambda: chance.table([1], [-1], 0.5), "right answers: -1"),
        (lambda: chance.table([1], [1], 2), "chance: 2"),
        (lambda: chance.needed(-1, 0.5), "trials: -1"),
        (lambda: chance.needed(4, 2), "chance: 2"),
        (lambda: chance.needed(4, 0.5, 2), "alpha: 2"),
        (lambda: chance.smallest(2), "chance: 2"),
        (lambda: chance.smallest(0.5, 2), "alpha: 2"),
        (lambda: chance.smallest(0.5, 0.05, -1), "slips: -1"),
        (lambda: chance.smallest_joint(alpha=2), "alpha: 2"),
        (lambda: chance.smallest_joint(slips=-1), "slips: -1"),
        (lambda: chance.joint((-1, 4), (5, 4)), "grammatical: -1"),
        (lambda: chance.joint((5, -4), (5, 4)), "grammatical: -4"),
        (lambda: chance.joint((5, 4), (-1, 4)), "ungrammatical: -1"),
        (lambda: chance.joint((5, 4), (5, -4)), "ungrammatical: -4"),
        (lambda: chance.joint_rules(-1, 5), "grammatical: -1"),
        (lambda: chance.joint_rules(5, -1), "ungrammatical: -1"),
        (lambda: chance.joint_rules(5, 5, alpha=2), "alpha: 2"),
        (lambda: chance.joint_rules(5, 5, below=2), "below: 2"),
        (lambda: chance.joint_rules(5, 5, slips=-1), "slips: -1"),
        (
            lambda: chance.joint_rule(2, 3),
            "No rule for 2 grammatical and 3 ungrammatical controls keeps guessing at or under 0.05 and allows a slip "
            "in each group. Use more controls.",
        ),
        (lambda: chance.relational(0, 5), "pairs: 0"),
        (lambda: chance.relational(3, 5, 2), "minimum: 2"),
        (lambda: chance.relational_threshold(0, 5), "pairs: 0 is too few; it must be at least 1."),
        (lambda: chance.relational_threshold(5, 5, 2), "alpha: 2"),
        (
            lambda: chance.relational_threshold(1, 2),
            "Even the largest difference is guessed with p = .250 when there is 1 pair. Use more pairs or a scale "
            "with more points.",
        ),
        (
            lambda: chance.relational_threshold(2, 2),
            "Even the largest difference is guessed with p = .062 when there are 2 pairs.",
        ),
        (lambda: chance.rights_minus_wrongs(-1, 1), "trials: -1"),
        (lambda: chance.rights_minus_wrongs(3, 1, 2), "chance: 2"),
        (lambda: chance.rights_minus_wrongs(3, 1, 0.5, 2), "none: 2"),
        (lambda: chance.rights_minus_wrongs(3, 1, 0.7, 0.5), "chance 0.7 and none 0.5 add up to more than 1."),
        (lambda: chance.smallest(0.5, 0), "alpha: 0 is impossible, because a guesser may be correct in all trials."),
        (lambda: chance.smallest(1), "chance: with 1 nearly every guess is right; no number of trials helps."),
    ],
)  # fmt: skip
def test_a_message_names_what_is_wrong(call: Any, start: str) -> None:
    with pytest.raises(chance.ChanceError) as caught:
        call()
    assert str(caught.value).startswith(start)
