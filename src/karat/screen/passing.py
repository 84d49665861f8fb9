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

from karat.messages import Message
from karat.screen.evidence import ScreenError
from karat.study import chance
from karat.study.guessing import tails

ENOUGH_FOR_MEANS = 8


@dataclass(frozen=True)
class PassingRule:
    """How many answers of each group must be right, and the probability that a guesser passes; or why there is none."""

    needed: tuple[int, ...]
    probability: float | None
    why_not: Message | None = None


def check_settings(alpha: float, slips: int | None) -> None:
    """Whether alpha and slips can be used; ScreenError says why not.

    >>> check_settings(0.05, 2)
    """
    if not 0 < alpha < 1:
        raise ScreenError(Message("passing.bad_alpha", {"value": alpha}))
    if slips is not None and (isinstance(slips, bool) or not isinstance(slips, int) or slips < 0):
        raise ScreenError(Message("passing.bad_slips", {"value": slips}))


def guess_note(probability: float, alpha: float) -> Message:
    """The warning that guessing passes too often.

    >>> str(guess_note(0.344, 0.05))
    'Guessing passes with p = .344, more than alpha (.05).'
    """
    return Message("passing.guessing", {"p": probability, "alpha": alpha})


def means_note(fewest: int) -> list[Message]:
    """The warning that somebody has too few trials for means of ratings, where it is so.

    >>> means_note(8)
    []
    """
    few = Message("controls.few_for_means", {"enough": ENOUGH_FOR_MEANS, "fewest": fewest})
    return [few] if fewest < ENOUGH_FOR_MEANS else []


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


def count_rule(chances: Sequence[Fraction], alpha: float, slips: int | None = None) -> PassingRule:
    """How many of these trials must be right.

    >>> count_rule([Fraction(1, 2)] * 20, 0.05).needed, count_rule([Fraction(2, 5)] * 12, 0.05).needed
    ((15,), (9,))
    """
    passing = guessing_tails(tuple(sorted(chances)))
    n = len(chances)
    if slips is not None:
        if slips >= n:
            return PassingRule((), None, Message("passing.nothing_required", {"n": n, "slips": slips}))
        return PassingRule((n - slips,), float(passing[n - slips]))
    limit = Fraction(str(alpha))
    k = next((k for k in range(1, n + 1) if passing[k] <= limit), None)
    if k is None:
        return PassingRule((), None, Message("passing.too_few", {"n": n, "p": float(passing[n])}))
    return PassingRule((k,), float(passing[k]))


def joint_rule(
    grammatical: Sequence[Fraction],
    ungrammatical: Sequence[Fraction],
    alpha: float,
    slips: int | None = None,
    published: bool = False,
) -> PassingRule:
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
        return PassingRule((k, m), float(good[k] * bad[m]))
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
            return PassingRule((), None, Message("passing.too_few", {"n": sum(sizes), "p": least}))
        rule = max(found, key=lambda one: (one.p_grammatical < 0.5 and one.p_ungrammatical < 0.5, one.probability))
    return PassingRule((rule.grammatical[1], rule.ungrammatical[1]), rule.probability)
