"""Section 5.2 of the first paper without any data: tables 2 to 5 of guessing, beside what is printed."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

from karat.study import chance
from tools.replication.acceptability import printed
from tools.replication.markdown import decimals, probability, table

TABLES = (("2", printed.TABLE_2, "1/2", "table2"), ("3 (a)", printed.TABLE_3A, "3/5", "table3a"),
          ("3 (b)", printed.TABLE_3B, "2/5", "table3b"))  # fmt: skip


def guessing(golden: dict[str, Any]) -> str:
    """All the tables of guessing, and what the paper concludes from them."""
    parts = (
        _counting(golden),
        _joint(golden["table4"]),
        _means(golden["table5"]),
        _quantiles(golden["table5"]),
        _smallest(),
    )
    return (
        "## Tables 2 to 5: guessing\n\n"
        "These tables need no data. karat computes them with fractions ([why](../explanation/chance.md)). In this part "
        'the column "again" is an exact computation by another program, not the authors\' code.\n\n' + "\n".join(parts)
    )


def _counting(golden: dict[str, Any]) -> str:
    """Tables 2 and 3: at least k of N right."""
    summary, ties = [], []
    for name, text, p, key in TABLES:
        cells = [(int(n), k, cell) for n, *line in printed.rows(text) for k, cell in zip(printed.K, line, strict=False)]
        again = dict(zip(golden[key]["N"], golden[key]["values"], strict=True))
        computed = {(n, k): chance.pass_probability(n, k, p) for n, k, _ in cells}
        equal = sum(decimals(computed[n, k]) == cell for n, k, cell in cells)
        exact = sum(abs(computed[n, k] - again[n][k - 1]) < 1e-12 for n, k, _ in cells)
        summary.append((name, p, len(cells), equal, exact))
        for n, k, cell in cells:
            half_up = str(Decimal(str(computed[n, k])).quantize(Decimal("0.001"), ROUND_HALF_UP)).removeprefix("0")
            if half_up != cell:
                ties.append((name, f"{k} of {n}", cell, f"{computed[n, k]:g}".removeprefix("0"), half_up))
    return (
        "### Tables 2 and 3: k of N right\n\n"
        + table(("table", "chance", "cells printed", "karat prints the same", "karat equals again"), summary)
        + "\nThe printed tables leave out the column for 11 right answers. Cells that another rounding changes:\n\n"
        + table(("table", "right", "printed", "exact", "rounded half up"), ties)
        + "\nThese are ties. R and Python round them to the even digit, so neither value is wrong.\n"
    )


def _joint(golden: dict[str, Any]) -> str:
    """Table 4: controls of both kinds."""
    shown = {(int(n), int(k), int(m)): (p, q, both) for n, k, p, m, q, both in printed.rows(printed.TABLE_4)}
    again = {(n, k, m): joint for n, k, _, m, _, joint in golden["rows"]}
    lines = []
    for n in range(2, 9):
        for rule in chance.joint_rules(n, n, below="3/5", slips=1):
            key = (n, rule.grammatical[1], rule.ungrammatical[1])
            p, q = decimals(rule.p_grammatical), decimals(rule.p_ungrammatical)
            cell = shown[key][2] if key in shown else "not printed"
            lines.append((*key[:2], p, key[2], q, cell, decimals(again[key]), decimals(rule.probability)))
            assert key not in shown or shown[key] == (p, q, decimals(rule.probability)), f"table 4: {shown[key]}"
    missing = [line[0] for line in lines if line[5] == "not printed"]
    assert set(missing) == {8}
    header = ("N", "k gramm.", "p", "k ungramm.", "p", "joint: printed", "again", "karat")
    return (
        "### Table 4: controls of both kinds\n\nAll rules that meet the table's own conditions (footnote 20).\n\n"
        + table(header, lines, left=0)
        + f"\nThe {len(lines) - len(missing)} printed rows agree in every cell. The other {len(missing)}, all with "
        "eight controls of each kind, meet the same conditions and are not printed.\n"
    )


def _means(golden: list[dict[str, Any]]) -> str:
    """Table 5: differences of means."""
    again = {row["pairs"]: row for row in golden}
    lines, wrong = [], []
    for pairs_text, outcomes, pure, extended in printed.rows(printed.TABLE_5):
        pairs = int(pairs_text)
        own = again[pairs]
        half = chance.relational(pairs, 5, "1/2")
        ours = decimals(half, 4)
        if ours != extended:
            wrong.append(pairs)
            ours = f"**{ours}**"
        lines.append((
            pairs, f"{int(outcomes):,}", pure, decimals(chance.relational(pairs, 5), 4), extended,
            decimals(own["p_extended_double_arithmetic"], 4), decimals(own["p_extended"], 4), ours,
        ))  # fmt: skip
        assert abs(half - own["p_extended"]) < 1e-12
    lost = again[3]["accepted_extended"] - again[3]["accepted_extended_double_arithmetic"]
    header = ("pairs", "outcomes", "s > 0: printed", "karat", "s ≥ .5: printed", "divided first", "again", "karat")
    assert len(wrong) == 4
    assert chance.relational(3, 5, "1/2") > 0.05 >= chance.relational(4, 5, "1/2")
    return (
        "### Table 5: differences of means\n\n"
        + table(header, lines, left=0)
        + f'\nThe printed column "extended" is wrong for {", ".join(map(str, wrong[:-1]))} and {wrong[-1]} pairs. '
        '"Divided first" computes it in floating point, means before their difference, and gives the printed cells: '
        "outcomes that lie exactly on the threshold are lost. With three pairs these are "
        f"{lost} of {again[3]['accepted_extended']}. karat compares sums of whole numbers. It matters: the text says "
        f"that three pairs are enough to keep guessing under .05. They are not; four are.\n"
    )


def _quantiles(golden: list[dict[str, Any]]) -> str:
    """Footnote 22."""
    again = {row["pairs"]: row["quantile95_of_s"] for row in golden}
    lines = []
    for pairs, quantile in printed.QUANTILES.items():
        assert quantile == again[pairs]
        threshold = chance.relational_threshold(pairs, 5)
        share = Fraction(str(quantile))
        passed = (probability(chance.relational(pairs, 5, share)), probability(chance.relational(pairs, 5, threshold)))
        lines.append((pairs, decimals(quantile, 2), passed[0], decimals(threshold, 3), passed[1]))
    return (
        "### Footnote 22: thresholds from quantiles\n\n"
        + table(
            ("pairs", "quantile printed", "a guesser reaches it", "threshold of karat", "a guesser reaches it"),
            lines,
            0,
        )
        + "\nThe printed values are the 95 % quantiles of what guessing gives. A guesser reaches them with more than "
        ".05, because the quantile itself is often hit. karat takes the next distance that can occur.\n"
    )


def _smallest() -> str:
    """The numbers of trials that section 5.2 recommends."""
    ours = {}
    for name, p in zip(list(printed.SMALLEST)[:3], ("1/2", "3/5", "2/5"), strict=True):
        n, k = chance.smallest(p, slips=1)
        ours[name] = (f"{k} of {n}", chance.pass_probability(n, k, p))
    n, k = chance.smallest_joint()
    ours["both kinds, in each"] = (f"{k} of {n}", chance.joint((n, k), (n, k)))
    pairs = next(pairs for pairs in range(1, 9) if chance.relational(pairs, 5, "1/2") <= 0.05)
    ours["means half the range apart"] = (f"{pairs} pairs", chance.relational(pairs, 5, "1/2"))
    lines = [(name, text, ours[name][0], probability(ours[name][1])) for name, text in printed.SMALLEST.items()]
    return "### What follows for a questionnaire\n\n" + table(
        ("fewest trials, one slip forgiven", "printed", "karat", "a guesser passes"), lines
    )
