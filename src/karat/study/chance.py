"""Chance: how probable it is that someone who guesses passes the control and attention trials.

Sources: Pieper, Börner and Kiss, section 5.2, tables 2 to 5 and appendix A. Their values are computed here for any
number of trials, any scale and any way of guessing, with fractions and whole numbers (see `guessing`). The tables at
the end are overviews: the needs of the usual tasks, rules for two groups, pairs.

>>> n, k = smallest(0.5, slips=1)
>>> print(f"{k} of {n} right: p = {pass_probability(n, k, 0.5):.3f}")
7 of 8 right: p = 0.035
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, log, prod

import polars as pl

from karat.study.guessing import (
    ChanceError,
    Share,
    as_whole_numbers,
    at_least,
    counts_of_differences,
    counts_of_sums,
    guessing_weights,
    p_sentence,
    share,
    sides,
    tails,
    whole,
)

__all__ = [
    "ChanceError", "JointRule", "joint", "joint_rule", "joint_rules", "needed", "pass_probability", "relational",
    "relational_threshold", "rights_minus_wrongs", "smallest", "smallest_joint", "table",
]  # fmt: skip
MOST_TRIALS = 5000


def pass_probability(n: int, k: int, p: Share) -> float:
    """The probability that guessing gives at least k right answers in n trials, each right with probability p.

    Parameters
    ----------
    n
        The number of trials.
    k
        How many of them must be right.
    p
        The probability that a guess is right.

    >>> round(pass_probability(6, 5, 0.4), 3)
    0.041
    """
    return float(at_least(whole(n, "trials"), whole(k, "right answers"), share(p, "chance")))


def table(ns: Iterable[int], ks: Iterable[int], p: Share) -> pl.DataFrame:
    """One row for each number of trials, one column for each number of right answers; tables 2 and 3 are examples.

    Parameters
    ----------
    ns
        The numbers of trials.
    ks
        The numbers of right answers.
    p
        The probability that a guess is right.

    >>> table([4, 6], [3, 5], 0.5).rows()
    [(4, 0.3125, None), (6, 0.65625, 0.109375)]
    """
    ns, ks = list(ns), list(ks)
    chance = share(p, "chance")
    rows = [[float(tail) for tail in tails(whole(n, "trials"), chance)] for n in ns]
    columns = {str(whole(k, "right answers")): [row[k] if k < len(row) else None for row in rows] for k in ks}
    schema = {"n": pl.Int64} | dict.fromkeys(columns, pl.Float64)
    return pl.DataFrame({"n": ns} | columns, schema=schema)


def needed(n: int, p: Share, alpha: Share = 0.05) -> int | None:
    """The fewest right answers in n trials that guessing reaches with at most alpha; None if n are not enough.

    Parameters
    ----------
    n
        The number of trials.
    p
        The probability that a guess is right.

    >>> needed(16, 0.5), needed(4, 0.5)
    (12, None)
    """
    limit, chances = share(alpha, "alpha"), tails(whole(n, "trials"), share(p, "chance"))
    return next((k for k in range(1, n + 1) if chances[k] <= limit), None)


def smallest(p: Share, alpha: Share = 0.05, slips: int = 0) -> tuple[int, int]:
    """The smallest (n, k) that guessing passes with at most alpha although `slips` answers may be wrong.

    Parameters
    ----------
    p
        The probability that a guess is right.
    slips
        How many wrong answers are forgiven.

    >>> smallest(0.5, slips=1), smallest(0.4, slips=1), smallest(0.6, slips=1)
    ((8, 7), (6, 5), (10, 9))
    """
    chance = share(p, "chance")
    return _smallest([chance], share(alpha, "alpha"), whole(slips, "slips"))


def smallest_joint(
    points: int = 5,
    neutral: str | None = "grammatical",
    alpha: Share = 0.05,
    slips: int = 1,
    weights: Sequence[Share] | None = None,
) -> tuple[int, int]:
    """The smallest (n, k) for n grammatical and n ungrammatical controls, of which k each must be right.

    Parameters
    ----------
    slips
        How many wrong answers are forgiven in each group.

    >>> smallest_joint()
    (5, 4)
    """
    return _smallest(sides(points, neutral, weights), share(alpha, "alpha"), whole(slips, "slips"))


def joint(
    grammatical: tuple[int, int],
    ungrammatical: tuple[int, int],
    points: int = 5,
    neutral: str | None = "grammatical",
    weights: Sequence[Share] | None = None,
) -> float:
    """The probability of passing both groups of controls by guessing, on the positional account.

    Each group is (n, k): at least k of n sentences on the right side of the scale. `neutral` says for which group the
    middle point is on the right side: "grammatical", "ungrammatical", "both", or None for neither.

    Parameters
    ----------
    grammatical
        The number of grammatical controls, and how many of them must be right.
    ungrammatical
        The same for ungrammatical controls.

    >>> round(joint(grammatical=(5, 4), ungrammatical=(5, 4)), 3)
    0.029
    """
    above, below = sides(points, neutral, weights)
    good = at_least(whole(grammatical[0], "grammatical"), whole(grammatical[1], "grammatical"), above)
    bad = at_least(whole(ungrammatical[0], "ungrammatical"), whole(ungrammatical[1], "ungrammatical"), below)
    return float(good * bad)


@dataclass(frozen=True)
class JointRule:
    """How many grammatical and ungrammatical controls must be right, and how often a guesser passes.

    >>> print(joint_rule(12, 12))
    9 of 12 grammatical and 7 of 12 ungrammatical controls must be right: a guesser passes with p = .036.
    """

    probability: float
    grammatical: tuple[int, int]
    ungrammatical: tuple[int, int]
    p_grammatical: float
    p_ungrammatical: float

    def __str__(self) -> str:
        groups = {"grammatical": self.grammatical, "ungrammatical": self.ungrammatical}
        text = " and ".join(f"{k} of {n} {name}" for name, (n, k) in groups.items() if n)
        return f"{text} controls must be right: a guesser passes with {p_sentence(self.probability)}."


def joint_rules(
    grammatical: int,
    ungrammatical: int,
    points: int = 5,
    neutral: str | None = "grammatical",
    alpha: Share = 0.05,
    below: Share = 1,
    slips: int = 0,
    weights: Sequence[Share] | None = None,
) -> list[JointRule]:
    """All rules for this many controls that guessing passes with at most alpha, ordered as in table 4.

    `below` keeps rules whose groups are each passed with a smaller probability (1 keeps all in which something must
    be right), and `slips` those that allow this many wrong answers in each group. A group without trials has no rule.

    Parameters
    ----------
    grammatical
        The number of grammatical controls.
    ungrammatical
        The number of ungrammatical controls.
    slips
        How many wrong answers a rule must allow in each group.

    >>> [(rule.grammatical[1], rule.ungrammatical[1]) for rule in joint_rules(6, 6, below=0.6, slips=1)]
    [(5, 4), (4, 5), (5, 5)]
    """
    limit, most = share(alpha, "alpha"), share(below, "below")
    above_chance, below_chance = sides(points, neutral, weights)
    good = _group(whole(grammatical, "grammatical"), above_chance, most, whole(slips, "slips"))
    bad = _group(whole(ungrammatical, "ungrammatical"), below_chance, most, slips)
    return [
        JointRule(float(p * q), (grammatical, k), (ungrammatical, m), float(p), float(q))
        for m, q in bad
        for k, p in good
        if p * q <= limit
    ]


def joint_rule(
    grammatical: int,
    ungrammatical: int,
    points: int = 5,
    neutral: str | None = "grammatical",
    alpha: Share = 0.05,
    weights: Sequence[Share] | None = None,
    as_published: bool = False,
) -> JointRule:
    """The rule for this many controls that comes closest to alpha: the mildest one that still excludes guessers.

    In each group guessing must pass with less than one half and one slip must be allowed. The notebook published with
    the paper intended that, but an operator exempts the grammatical group from these conditions; `as_published` returns
    its result (6 and 8 of 12, where a guesser passes the grammatical half with .842).

    Parameters
    ----------
    grammatical
        The number of grammatical controls.
    ungrammatical
        The number of ungrammatical controls.

    >>> joint_rule(12, 12, as_published=True).grammatical
    (12, 6)
    """
    rules = joint_rules(grammatical, ungrammatical, points, neutral, alpha, Fraction(1, 2), 1, weights)
    if as_published:
        allowed = {k for k, _ in _group(ungrammatical, sides(points, neutral, weights)[1], Fraction(1, 2), 1)}
        rules = joint_rules(grammatical, ungrammatical, points, neutral, alpha, weights=weights)
        rules = [rule for rule in rules if rule.ungrammatical[1] in allowed]
    if not rules:
        raise ChanceError(
            f"No rule for {grammatical} grammatical and {ungrammatical} ungrammatical controls keeps guessing at or "
            f"under {float(share(alpha, 'alpha')):g} and allows a slip in each group. Use more controls."
        )
    return max(rules, key=lambda rule: (rule.probability, -rule.grammatical[1]))


def relational(pairs: int, points: int, minimum: Share = 0, weights: Sequence[Share] | None = None) -> float:
    """The probability that guessing rates grammatical controls far enough above ungrammatical ones, on average.

    `pairs` is the number of sentences of each kind, `minimum` the difference of the means as a share of the range:
    0 means strictly above 0 (the relational account), a positive one "at least" (0.5: the extended account).

    >>> round(relational(3, 5, 0.5), 4), round(relational(4, 5, 0.5), 4), round(relational(100, 7), 4)
    (0.0564, 0.0296, 0.493)
    """
    pairs = whole(pairs, "pairs", 1)
    counts = counts_of_differences(guessing_weights(points, weights), pairs)
    most = pairs * (points - 1)
    least = share(minimum, "minimum") * most
    # The first difference in whole points that suffices; more than 0 is 1 or more.
    first = max(1, -floor(-least))
    return float(Fraction(sum(counts[most + first :]), sum(counts)))


def relational_threshold(pairs: int, points: int, alpha: Share = 0.05, weights: Sequence[Share] | None = None) -> float:
    """The smallest attainable difference of the means, as a share of the range, that guessing reaches with <= alpha.

    The 95 % quantile that footnote 22 proposes (.35 for five pairs) is one step too low: guessing reaches "at least the
    quantile" with more than 5 %.

    Parameters
    ----------
    pairs
        The number of sentences of each kind.

    >>> relational_threshold(5, 5), round(relational(5, 5, 0.35), 3), round(relational(5, 5, 0.4), 3)
    (0.4, 0.074, 0.047)
    """
    pairs, limit = whole(pairs, "pairs", 1), share(alpha, "alpha")
    counts = counts_of_differences(guessing_weights(points, weights), pairs)
    most, total = pairs * (points - 1), sum(counts)
    passing, step = 0, most + 1
    while step > 1 and passing + counts[most + step - 1] <= limit * total:
        step -= 1
        passing += counts[most + step]
    if step > most:
        raise ChanceError(
            f"Even the largest difference is guessed with {p_sentence(counts[-1] / total)} when there "
            f"{'is 1 pair' if pairs == 1 else f'are {pairs} pairs'}. Use more pairs or a scale with more points."
        )
    return float(Fraction(step, most))


def rights_minus_wrongs(n: int, least: int, p: Share = 0.5, none: Share = 0) -> float:
    """The probability that guessing gives at least `least` more right than wrong answers in n trials.

    `none` is the probability of an answer that is neither, such as "no difference", and scores 0.

    Parameters
    ----------
    n
        The number of trials.
    least
        The smallest difference that passes.
    p
        The probability that a guess is right.

    >>> rights_minus_wrongs(8, 6), round(rights_minus_wrongs(8, 6, "1/3", none="1/3"), 4)
    (0.03515625, 0.0069)
    """
    right, neither = share(p, "chance"), share(none, "none")
    if right + neither > 1:
        raise ChanceError(f"chance {p} and none {none} add up to more than 1.")
    n = whole(n, "trials")
    counts = counts_of_sums(as_whole_numbers([1 - right - neither, neither, right]), n)
    return float(Fraction(sum(counts[max(0, n + least) :]), sum(counts)))


def _group(n: int, chance: Fraction, below: Fraction, slips: int) -> list[tuple[int, Fraction]]:
    """The thresholds of one group of controls, each with its probability under guessing."""
    if n == 0:
        return [(0, Fraction(1))]
    chances = tails(n, chance)
    return [(k, chances[k]) for k in range(1, n + 1 - slips) if chances[k] < below]


def _smallest(chances: Sequence[Fraction], alpha: Fraction, slips: int) -> tuple[int, int]:
    """The smallest group size, the same in all groups, by bisection, as each further trial makes guessing harder."""

    def passes(n: int) -> bool:
        return prod((at_least(n, n - slips, chance) for chance in chances), start=Fraction(1)) <= alpha

    certain = float(min(chances))
    if alpha == 0 and min(chances) > 0:
        raise ChanceError("alpha: 0 is impossible, because a guesser may be correct in all trials. Use 0.05.")
    if min(chances) == 1 or (alpha > 0 and certain > 0 and log(alpha) / log(certain) > MOST_TRIALS * len(chances)):
        raise ChanceError(f"chance: with {certain:g} nearly every guess is right; no number of trials helps.")
    low, high = slips, slips + 1
    while not passes(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high, high - slips


MOST_PAIRS = 200


def overview(
    points: int = 5, alpha: Share = 0.05, slips: int = 1, weights: Sequence[Share] | None = None
) -> pl.DataFrame:
    """One row per usual task with the fewest trials, how many must be right, and p of guessing."""
    # An even number of points has no middle.
    wrong, right = ", middle is wrong", ", middle is right"
    odd = points % 2 == 1
    single: dict[str | None, str] = {None: wrong, "ungrammatical": right} if odd else {None: ""}
    both: dict[str | None, str] = {"grammatical": f"{right} if grammatical", None: wrong} if odd else {None: ""}
    chances: dict[str, Share] = {"choice of two, or yes/no": "1/2", 'choice of two, or "no difference"': "1/3"}
    for neutral, words in single.items():
        chances[f"{points} points, ungrammatical only{words}"] = sides(points, neutral, weights)[1]
    rows: list[tuple[str, int, str, float]] = []
    for task, chance in chances.items():
        n, k = smallest(chance, alpha, slips)
        rows.append((task, n, f"{k} of {n}", pass_probability(n, k, chance)))
    for neutral, words in both.items():
        n, k = smallest_joint(points, neutral, alpha, slips, weights)
        probability = joint((n, k), (n, k), points, neutral, weights)
        rows.append((f"{points} points, both kinds{words}", 2 * n, f"{k} of {n} of each kind", probability))
    return pl.DataFrame(
        rows, schema={"task": pl.String, "trials": pl.Int64, "right": pl.String, "p": pl.Float64}, orient="row"
    )


def slips_table(p: Share, alpha: Share = 0.05, slips: Iterable[int] = range(4)) -> pl.DataFrame:
    """The fewest trials for each number of allowed slips, with how many must be right and p of guessing."""
    sizes = [(number, *smallest(p, alpha, number)) for number in slips]
    rows = [(number, n, k, pass_probability(n, k, p)) for number, n, k in sizes]
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
    """Guessing on the relational accounts, one row per number of pairs: table 5, and the threshold of footnote 22.

    `above_0` is the relational account, `at_least` the extended one (at least `minimum` of the range), `threshold`
    the smallest attainable share of the range that keeps guessing at or under alpha (null if there is none), and
    `at_threshold` the probability there.
    """
    rows = []
    for n in pairs:
        try:
            threshold = relational_threshold(n, points, alpha, weights)
        except ChanceError:
            # Too few pairs is a valid result here; invalid arguments fail again in the next lines.
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
    """
    limit, least = share(alpha, "alpha"), share(minimum, "minimum")
    if least == 0:
        return None
    # A minimum between two attainable steps is rounded up, so that one more pair can let more guessers pass. This
    # repeats with the denominator: a property of a whole period holds from there on.
    period = (least * (whole(points, "points", 2) - 1)).denominator
    fewest = None
    for n in range(1, MOST_PAIRS + 1):
        fewest = (fewest or n) if relational(n, points, least, weights) <= limit else None
        if fewest and n >= fewest + period:
            return fewest
    return None
