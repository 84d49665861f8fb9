"""The arithmetic of guessing: fractions and whole numbers, so that no outcome on a threshold is lost to rounding.

A share such as .35 has no exact binary form, so comparing two rounded shares can go either way. Here every probability
is a fraction and every comparison uses whole numbers; only returned values are floats.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import comb, lcm

from karat.errors import KaratError, shown
from karat.languages import language_of

Share = float | Fraction | str
"""A number that may be given as 0.4, Fraction(2, 5), "2/5" or "0.4"."""
SIMPLE = 10**6
NEUTRAL = ("grammatical", "ungrammatical", "both", None)


class ChanceError(KaratError, ValueError):
    """A question about guessing without an answer."""


def as_fraction(number: Share, what: str) -> Fraction:
    """A number as the simplest fraction that is stored as this float."""
    try:
        exact = Fraction(number.strip() if isinstance(number, str) else number)
    except (ValueError, TypeError, OverflowError, ZeroDivisionError, AttributeError):
        raise ChanceError(f"{what}: {shown(str(number))} is not a number. Write it as 0.4 or 2/5.") from None
    if isinstance(number, float):
        simple = exact.limit_denominator(SIMPLE)
        return simple if float(simple) == number else Fraction(str(float(number)))
    return exact


def share(number: Share, what: str) -> Fraction:
    """A number from 0 to 1, as a fraction."""
    fraction = as_fraction(number, what)
    if not 0 <= fraction <= 1:
        raise ChanceError(f"{what}: {number} is not between 0 and 1.")
    return fraction


def whole(number: int, what: str, least: int = 0) -> int:
    """A whole number of at least `least`."""
    if not hasattr(number, "__index__") or isinstance(number, bool):
        raise ChanceError(f"{what}: {number!r} is not a whole number.")
    if number < least:
        raise ChanceError(f"{what}: {number} is too few; it must be at least {least}.")
    return int(number)


def guessing_weights(points: int, weights: Sequence[Share] | None = None) -> tuple[int, ...]:
    """The relative frequency with which a guesser gives each point of a scale, as whole numbers; by default equal."""
    whole(points, "points", 2)
    if weights is None:
        return (1,) * points
    fractions = [as_fraction(weight, "weights") for weight in weights]
    if len(fractions) != points:
        raise ChanceError(f"weights: {len(fractions)} for {points} points. Give one weight for each point.")
    if min(fractions) < 0 or not any(fractions):
        raise ChanceError("weights: none may be below 0, and one must be above it.")
    return as_whole_numbers(fractions)


def as_whole_numbers(fractions: Sequence[Fraction]) -> tuple[int, ...]:
    """Whole numbers in the proportions of fractions."""
    denominator = lcm(*(fraction.denominator for fraction in fractions))
    return tuple(int(fraction * denominator) for fraction in fractions)


def sides(points: int, neutral: str | None, weights: Sequence[Share] | None = None) -> tuple[Fraction, Fraction]:
    """The chances of answering a grammatical and an ungrammatical sentence on the right side of the scale.

    The middle point counts as right for `neutral`: "grammatical", "ungrammatical", "both" or None for neither. A scale
    with an even number of points has no middle.
    """
    if neutral not in NEUTRAL:
        raise ChanceError(f"neutral: {shown(str(neutral))} is not one of grammatical, ungrammatical, both and None.")
    counts = guessing_weights(points, weights)
    half, total = points // 2, sum(counts)
    middle = counts[half] if points % 2 else 0
    above = sum(counts[points - half :]) + (middle if neutral in ("grammatical", "both") else 0)
    below = sum(counts[:half]) + (middle if neutral in ("ungrammatical", "both") else 0)
    return Fraction(above, total), Fraction(below, total)


def at_least(n: int, k: int, p: Fraction) -> Fraction:
    """The probability of k or more successes in n independent trials."""
    right, total = p.numerator, p.denominator
    wrong = total - right
    first = max(k, 0)
    return Fraction(sum(comb(n, j) * right**j * wrong ** (n - j) for j in range(first, n + 1)), total**n)


def tails(n: int, p: Fraction) -> list[Fraction]:
    """The probabilities of at least 0, 1, ..., n successes in n independent trials."""
    counts = counts_of_sums((p.denominator - p.numerator, p.numerator), n)
    return [Fraction(ways, p.denominator**n) for ways in reversed(list(accumulate(reversed(counts))))]


@lru_cache(maxsize=4096)
def guessing_tails(chances: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """The probabilities that guessing gets at least 0, 1, ..., n right if each trial has its own chance."""
    if len(set(chances)) == 1:
        return tuple(tails(len(chances), chances[0]))
    exactly = [Fraction(1)]
    for p in chances:
        exactly = [a * (1 - p) + b * p for a, b in zip([*exactly, Fraction(0)], [Fraction(0), *exactly], strict=True)]
    return tuple(reversed(list(accumulate(reversed(exactly)))))


@lru_cache(maxsize=64)
def counts_of_sums(weights: tuple[int, ...], times: int) -> tuple[int, ...]:
    """The number of ways to get each sum from `times` values 0, 1, 2, ... with these weights.

    This is the power of a polynomial. Its coefficients are packed into the slots of one long integer, so that Python's
    multiplication of integers does the convolution, exactly and fast.
    """
    slot = (sum(weights) ** times).bit_length() // 8 + 1
    packed = int.from_bytes(b"".join(weight.to_bytes(slot, "little") for weight in weights), "little") ** times
    length = (len(weights) - 1) * times + 1
    data = packed.to_bytes(slot * length, "little")
    return tuple(int.from_bytes(data[i * slot : (i + 1) * slot], "little") for i in range(length))


def counts_of_differences(weights: tuple[int, ...], pairs: int) -> tuple[int, ...]:
    """The number of ways in which the grammatical sum exceeds the ungrammatical one by -most, ..., 0, ..., most."""
    # A sum over mirrored points is the negative of a sum, so the difference of two sums is also a sum.
    points = len(weights)
    one_pair = [0] * (2 * points - 1)
    for up, ways_up in enumerate(weights):
        for down, ways_down in enumerate(reversed(weights)):
            one_pair[up + down] += ways_up * ways_down
    return counts_of_sums(tuple(one_pair), pairs)


LEAST_P = 0.0005
"""Below this, p would be rounded to .000 and is written as < .001."""


def p_text(p: float) -> str:
    """A probability as journals print it, without the zero before the point."""
    return "<.001" if 0 < p < LEAST_P else language_of("en").value(p, ".3r")


def p_sentence(p: float) -> str:
    """A probability as journals print it within a sentence."""
    return "p < .001" if 0 < p < LEAST_P else f"p = {p_text(p)}"
