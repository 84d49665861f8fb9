"""How many answers must be right, so that somebody who guesses seldom passes.

With N trials, each guessed with probability p, the fewest right answers that keep guessing at or under alpha are

    k = min { j : P(X >= j) <= alpha },   X ~ Binomial(N, p)

(Pieper, Börner and Kiss, section 5.2, tables 2 and 3). Two groups of trials have a number each, and their two
probabilities are multiplied (table 4). Where slips are stated, k follows from them and guessing from k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from karat.errors import counted
from karat.screen.evidence import ScreenError
from karat.study import chance
from karat.study.guessing import p_sentence, tails


@dataclass(frozen=True)
class Rule:
    """How many answers of each group must be right, and the probability that a guesser passes; or why there is none."""

    needed: tuple[int, ...]
    probability: float | None
    why_not: str = ""


def check_settings(criterion: str, alpha: float, slips: int | None) -> None:
    """Whether alpha and slips can be used; ScreenError says why not.

    >>> check_settings("controls", 0.05, 2)
    """
    if not 0 < alpha < 1:
        raise ScreenError(f"{criterion}: alpha must be a probability between 0 and 1, got {alpha}.")
    if slips is not None and (isinstance(slips, bool) or not isinstance(slips, int) or slips < 0):
        raise ScreenError(f"{criterion}: slips must be a whole number from 0, got {slips!r}.")


def guess_note(criterion: str, probability: float, alpha: float) -> str:
    """The warning that somebody who guesses passes too often.

    >>> guess_note("controls", 0.344, 0.05)
    'controls: somebody who guesses passes with p = .344, more than .05.'
    """
    limit = f"{alpha:g}".removeprefix("0")
    return f"{criterion}: somebody who guesses passes with {p_sentence(probability)}, more than {limit}."


@lru_cache(maxsize=4096)
def guessing_tails(chances: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """The probabilities that guessing gets at least 0, 1, ..., n right when each trial has a chance of its own.

    >>> guessing_tails((Fraction(1, 2), Fraction(1, 4)))
    (Fraction(1, 1), Fraction(5, 8), Fraction(1, 8))
    """
    if len(set(chances)) == 1:
        return tuple(tails(len(chances), chances[0]))
    exactly = [Fraction(1)]
    for p in chances:
        exactly = [a * (1 - p) + b * p for a, b in zip([*exactly, Fraction(0)], [Fraction(0), *exactly], strict=True)]
    return tuple(reversed(list(accumulate(reversed(exactly)))))


def count_rule(chances: Sequence[Fraction], alpha: float, slips: int | None = None, what: str = "trial") -> Rule:
    """How many of these trials must be right; `what` they are called.

    >>> count_rule([Fraction(1, 2)] * 20, 0.05).needed, count_rule([Fraction(2, 5)] * 12, 0.05).needed
    ((15,), (9,))
    """
    passing = guessing_tails(tuple(sorted(chances)))
    n = len(chances)
    if slips is not None:
        if slips >= n:
            return Rule((), None, f"{counted(n, what)} with {counted(slips, 'slip')} tolerated ask for nothing")
        return Rule((n - slips,), float(passing[n - slips]))
    limit = Fraction(str(alpha))
    k = next((k for k in range(1, n + 1) if passing[k] <= limit), None)
    if k is None:
        return Rule((), None, f"too few {what}s: all {n} right would be guessed with {p_sentence(float(passing[n]))}")
    return Rule((k,), float(passing[k]))


def joint_rule(
    grammatical: Sequence[Fraction],
    ungrammatical: Sequence[Fraction],
    alpha: float,
    slips: int | None = None,
    published: bool = False,
) -> Rule:
    """How many trials of each group must be right; the mildest rule under alpha that allows a slip, if there is one.

    Where the trials of a group differ in chance, the largest is taken: guessing passes with at most the probability.

    >>> twelve = [Fraction(3, 5)] * 12, [Fraction(2, 5)] * 12
    >>> joint_rule(*twelve, 0.05).needed, joint_rule(*twelve, 0.05, published=True).needed
    ((9, 7), (6, 8))
    """
    if slips is not None:
        single = [count_rule(group, alpha, slips) for group in (grammatical, ungrammatical)]
        if any(rule.probability is None for rule in single):
            return next(rule for rule in single if rule.probability is None)
        good, bad = (guessing_tails(tuple(sorted(group))) for group in (grammatical, ungrammatical))
        k, m = single[0].needed[0], single[1].needed[0]
        return Rule((k, m), float(good[k] * bad[m]))
    above, below = max(grammatical), max(ungrammatical)
    # Three points stand for any two chances: only right for one group, for the other, and for both or neither.
    overlap = above + below > 1
    neutral = "both" if overlap else None
    weights = [1 - above, above + below - 1, 1 - below] if overlap else [below, 1 - above - below, above]
    sizes = (len(grammatical), len(ungrammatical))
    try:
        rule = chance.joint_rule(*sizes, 3, neutral, str(alpha), weights, published)
    except chance.ChanceError:
        found = [
            one
            for most in (Fraction(1, 2), 1)
            for one in chance.joint_rules(*sizes, 3, neutral, str(alpha), most, 0, weights)
        ]
        if not found:
            least = float(above ** sizes[0] * below ** sizes[1])
            return Rule((), None, f"too few trials: all {sum(sizes)} right would be guessed with {p_sentence(least)}")
        rule = max(found, key=lambda one: (one.p_grammatical < 0.5 and one.p_ungrammatical < 0.5, one.probability))
    return Rule((rule.grammatical[1], rule.ungrammatical[1]), rule.probability)
