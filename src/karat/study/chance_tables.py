"""Tables of chance that people look things up in: what the usual tasks need, rules for two groups, pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from karat.study.chance import (
    ChanceError,
    joint,
    joint_rules,
    pass_probability,
    relational,
    relational_threshold,
    smallest,
    smallest_joint,
)
from karat.study.guessing import Share, share, sides, whole

MOST_PAIRS = 200


def overview(
    points: int = 5, alpha: Share = 0.05, slips: int = 1, weights: Sequence[Share] | None = None
) -> pl.DataFrame:
    """What the usual tasks need: one row a task, with the fewest trials, how many must be right, and p of guessing.

    >>> overview().select("task", "trials", "right").rows()[0]
    ('choice of two, or yes/no', 8, '7 of 8')
    """
    rows: list[tuple[str, int, str, float]] = []

    def group(task: str, chance: Share) -> None:
        n, k = smallest(chance, alpha, slips)
        rows.append((task, n, f"{k} of {n}", pass_probability(n, k, chance)))

    group("choice of two, or yes/no", "1/2")
    group('choice of two, or "no difference"', "1/3")
    middle = points % 2 == 1
    for neutral, words in ((None, ", middle is wrong" if middle else ""), ("ungrammatical", ", middle is right")):
        if neutral is None or middle:
            group(f"{points} points, ungrammatical only{words}", sides(points, neutral, weights)[1])
    told = {"grammatical": ", middle is right if grammatical", None: ", middle is wrong"} if middle else {None: ""}
    for neutral, words in told.items():
        n, k = smallest_joint(points, neutral, alpha, slips, weights)
        probability = joint((n, k), (n, k), points, neutral, weights)
        rows.append((f"{points} points, both kinds{words}", 2 * n, f"{k} of {n} of each kind", probability))
    return pl.DataFrame(
        rows, schema={"task": pl.String, "trials": pl.Int64, "right": pl.String, "p": pl.Float64}, orient="row"
    )


def slips_table(p: Share, alpha: Share = 0.05, slips: Iterable[int] = range(4)) -> pl.DataFrame:
    """The fewest trials for each number of slips that is forgiven, with how many must be right and p of guessing.

    >>> slips_table(0.5, slips=[0, 1]).rows()
    [(0, 5, 5, 0.03125), (1, 8, 7, 0.03515625)]
    """
    found = [(one, *smallest(p, alpha, one)) for one in slips]
    rows = [(one, n, k, pass_probability(n, k, p)) for one, n, k in found]
    schema = {"slips": pl.Int64, "trials": pl.Int64, "right": pl.Int64, "p": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def joint_table(
    ns: Iterable[int],
    points: int = 5,
    neutral: str | None = "grammatical",
    alpha: Share = 0.05,
    below: Share = 0.6,
    slips: int = 1,
    weights: Sequence[Share] | None = None,
) -> pl.DataFrame:
    """The rules for n grammatical and n ungrammatical controls that keep guessing at or under alpha: table 4.

    As there, each group alone is guessed with less than .6 and allows a slip; `below=1, slips=0` gives all rules.

    >>> joint_table([5]).select("n", "k_grammatical", "k_ungrammatical").rows()
    [(5, 4, 4)]
    """
    rows = [
        (n, rule.grammatical[1], rule.p_grammatical, rule.ungrammatical[1], rule.p_ungrammatical, rule.probability)
        for n in ns
        for rule in joint_rules(n, n, points, neutral, alpha, below, slips, weights)
    ]
    schema = {
        "n": pl.Int64, "k_grammatical": pl.Int64, "p_grammatical": pl.Float64,
        "k_ungrammatical": pl.Int64, "p_ungrammatical": pl.Float64, "joint": pl.Float64,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def relational_table(
    pairs: Iterable[int],
    points: int = 5,
    minimum: Share = 0.5,
    alpha: Share = 0.05,
    weights: Sequence[Share] | None = None,
) -> pl.DataFrame:
    """Guessing on the relational accounts, one row for each number of pairs: table 5, and the threshold of footnote 22.

    `above_0` is the relational account, `at_least` the extended one (at least `minimum` of the range), `threshold`
    the smallest attainable share of the range that keeps guessing at or under alpha (null where there is none), and
    `at_threshold` the probability there.

    >>> relational_table([4]).rows()
    [(4, 0.4511488, 0.029568, 0.5, 0.029568)]
    """
    rows = []
    for n in pairs:
        try:
            threshold = relational_threshold(n, points, alpha, weights)
        except ChanceError:
            # Too few pairs is an answer here, not a flaw; flawed arguments fail again in the next lines.
            threshold = None
        above, least = relational(n, points, 0, weights), relational(n, points, minimum, weights)
        passing = None if threshold is None else relational(n, points, threshold, weights)
        rows.append((n, above, least, threshold, passing))
    schema = {
        "pairs": pl.Int64, "above_0": pl.Float64, "at_least": pl.Float64,
        "threshold": pl.Float64, "at_threshold": pl.Float64,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def smallest_pairs(
    points: int = 5, minimum: Share = 0.5, alpha: Share = 0.05, weights: Sequence[Share] | None = None
) -> int | None:
    """The fewest pairs from which on guessing reaches `minimum` of the range with at most alpha.

    None if that takes more than 200 pairs, or if no number of pairs will do.

    >>> smallest_pairs(), smallest_pairs(minimum=0)
    (4, None)
    """
    limit, least = share(alpha, "alpha"), share(minimum, "minimum")
    if least == 0:
        return None
    # Where the minimum falls between two attainable steps it is rounded up, so that one pair more can pass more
    # guessers. That pattern repeats with the denominator: what holds for a whole period holds from there on.
    period = (least * (whole(points, "points", 2) - 1)).denominator
    found = None
    for n in range(1, MOST_PAIRS + 1):
        found = (found or n) if relational(n, points, least, weights) <= limit else None
        if found and n >= found + period:
            return found
    return None
