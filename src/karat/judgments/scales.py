"""Scales: the possible answers, their spelling, and their probability by chance.

Kinds of tasks differ only in their scales. A scale knows the spellings of an answer (`1`, `1.0` and `"1"` are the same
point of a rating scale), reads a set of expected answers (`1-2`, `a|b`), and gives the probability that a guess is in
that set.

The command line takes scales as short texts: `ordinal:1-5`, `choice:none`, `nominal:A,B,C`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, Literal

import polars as pl

from karat.errors import ScaleError, shown

NUMBER_RANGE = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*-\s*([+-]?\d+(?:\.\d+)?)\s*")


def answer_text(answer: object) -> str:
    """An answer as text: whole numbers without a decimal point, truth values in lower case.

    Parameters
    ----------
    answer
        An answer of any type.

    >>> answer_text(1.0), answer_text(True), answer_text("1")
    ('1', 'true', '1')
    """
    if isinstance(answer, bool):
        return "true" if answer else "false"
    if isinstance(answer, float) and answer.is_integer():
        return str(int(answer))
    return str(answer)


def as_number(text: str) -> float | None:
    """The number that a text spells, or None.

    Parameters
    ----------
    text
        The text to read.

    >>> as_number("2.50"), as_number("two"), as_number("nan")
    (2.5, None, None)
    """
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in text else None


@dataclass(frozen=True)
class NumberRange:
    """A range of numbers, ends included, as a set of right answers."""

    low: float
    high: float

    def __contains__(self, answer: object) -> bool:
        number = as_number(answer_text(answer))
        return number is not None and self.low <= number <= self.high


Expected = frozenset[str] | NumberRange


@dataclass(frozen=True)
class Scale:
    """The base of all scales; use one of its kinds."""

    kind: ClassVar[str] = ""

    @property
    def levels(self) -> tuple[str, ...]:
        """The answers, if there are finitely many; empty if the answers are numbers."""
        return ()

    @property
    def is_binary(self) -> bool:
        """Whether there are exactly two answers."""
        return len(self.levels) == 2

    def read(self, answer: object) -> str | None:
        """The answer as this scale spells it, or None if the scale does not know it."""
        raise NotImplementedError

    def expected(self, text: str) -> Expected:
        """The set of right answers that a text such as `4`, `1-2` or `a|b` means."""
        raise NotImplementedError

    def chance(self, expected: str) -> Fraction:
        """The probability that someone who guesses evenly over the scale gives one of the expected answers."""
        raise NotImplementedError

    def known(self) -> str:
        """The answers that the scale knows, in words."""
        raise NotImplementedError

    def read_column(self, answers: pl.Series) -> tuple[pl.Series, pl.Series]:
        """The answers as the scale spells them, and a mask of the answers that it does not know.

        Each distinct answer is read once, so a column of a million ratings costs as much as its few points.
        """
        distinct = answers.drop_nulls().unique()
        spelled = {text: self.read(text) for text in distinct.to_list()}
        unknown = [text for text, canonical in spelled.items() if canonical is None]
        mask = answers.is_in(unknown).fill_null(False) if unknown else pl.repeat(False, len(answers), eager=True)
        respelled = {text: canonical for text, canonical in spelled.items() if canonical not in (None, text)}
        if respelled:
            answers = answers.replace(respelled)
        return answers, mask

    def to_dict(self) -> dict[str, Any]:
        """The scale as plain data, for metadata and JSON."""
        data = {f.name: getattr(self, f.name) for f in fields(self)}
        return {"kind": self.kind} | {k: list(v) if isinstance(v, tuple) else v for k, v in data.items()}


@dataclass(frozen=True)
class _FiniteScale(Scale):
    """A scale with finitely many answers."""

    def expected(self, text: str) -> frozenset[str]:
        whole = self.read(text)
        if whole is not None:
            return frozenset([whole])
        return frozenset(level for part in text.split("|") for level in self._expected_part(part, text))

    def _expected_part(self, part: str, text: str) -> Sequence[str]:
        level = self.read(part)
        if level is not None:
            return [level]
        match = NUMBER_RANGE.fullmatch(part)
        low, high = (self.read(match[1]), self.read(match[2])) if match else (None, None)
        if low is None or high is None:
            raise ScaleError(f"{shown(text)} is not a set of answers on this scale, which has {self.known()}")
        first, last = sorted((self.levels.index(low), self.levels.index(high)))
        return self.levels[first : last + 1]

    def chance(self, expected: str) -> Fraction:
        return Fraction(len(self.expected(expected)), len(self.levels))

    def known(self) -> str:
        # Quotation marks distinguish answers that contain commas.
        levels = [f"“{level}”" for level in self.levels] if any("," in level for level in self.levels) else self.levels
        if len(levels) > 12:
            return f"{', '.join(levels[:10])} and {len(levels) - 10} more"
        return ", ".join(levels)


@dataclass(frozen=True)
class _LevelScale(_FiniteScale):
    """A finite scale whose answers are set by the study."""

    levels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        levels = tuple(answer_text(level).strip() for level in self.levels)
        if len(levels) < 2:
            raise ScaleError(f"{self.kind} scale: at least two levels are needed, got {list(levels)}.")
        if len(set(levels)) < len(levels):
            raise ScaleError(f"{self.kind} scale: a level occurs twice in {list(levels)}.")
        if "" in levels:
            raise ScaleError(f"{self.kind} scale: a level is empty in {list(levels)}; nobody could answer it.")
        object.__setattr__(self, "levels", levels)

    def read(self, answer: object) -> str | None:
        text = answer_text(answer).strip()
        if text in self.levels:
            return text
        number = as_number(text)
        if number is not None:
            return next((level for level in self.levels if as_number(level) == number), None)
        return None


@dataclass(frozen=True)
class Binary(_LevelScale):
    """Two answers, such as no and yes: `0`/`1`, `false`/`true`, or two levels with other names.

    The second level is the positive one; 0/1 and false/true are understood whatever the levels are called.

    >>> Binary().read("TRUE"), Binary(("no", "yes")).read(1), Binary().read("maybe")
    ('1', 'yes', None)
    >>> Binary().chance("1")
    Fraction(1, 2)
    """

    kind: ClassVar[str] = "binary"
    levels: tuple[str, ...] = ("0", "1")

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.levels) != 2:
            raise ScaleError(f"binary scale: exactly two levels are needed, got {list(self.levels)}.")

    def read(self, answer: object) -> str | None:
        level = super().read(answer)
        if level is not None:
            return level
        position = {"0": 0, "1": 1, "false": 0, "true": 1, "0.0": 0, "1.0": 1}.get(answer_text(answer).strip().lower())
        return None if position is None else self.levels[position]


@dataclass(frozen=True)
class Choice(_FiniteScale):
    """The better of two: `left` or `right`, and `none` if "no difference" is a possible answer.

    >>> Choice(none=True).levels
    ('left', 'right', 'none')
    >>> Choice().read("none") is None
    True
    """

    kind: ClassVar[str] = "choice"
    none: bool = False

    @property
    def levels(self) -> tuple[str, ...]:
        """The answers: the two sides, and `none` if it is possible."""
        return ("left", "right", "none") if self.none else ("left", "right")

    def read(self, answer: object) -> str | None:
        text = answer_text(answer).strip().lower()
        return text if text in self.levels else None


@dataclass(frozen=True, init=False)
class Ordinal(_LevelScale):
    """Ordered answers, such as the points of a Likert scale, from the lowest to the highest.

    `levels` is a number of points or the points themselves; `neutral` names the point that means neither.

    >>> Ordinal(5, neutral=3).levels
    ('1', '2', '3', '4', '5')
    >>> sorted(Ordinal(5).expected("1-2")), Ordinal(5).chance("1-2")
    (['1', '2'], Fraction(2, 5))
    """

    kind: ClassVar[str] = "ordinal"
    neutral: str | None = None

    def __init__(self, levels: int | Sequence[object], neutral: object = None) -> None:
        points: Iterable[object] = range(1, levels + 1) if isinstance(levels, int) else levels
        object.__setattr__(self, "levels", tuple(answer_text(point) for point in points))
        self.__post_init__()
        point = None if neutral is None else self.read(neutral)
        if neutral is not None and point is None:
            raise ScaleError(f"ordinal scale: the neutral point {answer_text(neutral)} is not one of {self.known()}.")
        object.__setattr__(self, "neutral", point)

    @property
    def numbers(self) -> tuple[float, ...]:
        """The points as numbers for means: the levels themselves if they are rising numbers, else 1, 2, ...

        >>> Ordinal([0, 1, 2]).numbers, Ordinal(["bad", "fair", "good"]).numbers
        ((0.0, 1.0, 2.0), (1.0, 2.0, 3.0))
        """
        numbers = [number for level in self.levels if (number := as_number(level)) is not None]
        rising = len(numbers) == len(self.levels) and all(a < b for a, b in pairwise(numbers))
        return tuple(numbers) if rising else tuple(float(place + 1) for place in range(len(self.levels)))


@dataclass(frozen=True, init=False)
class Nominal(_LevelScale):
    """Unordered categories; two of them count as binary.

    >>> Nominal(["A", "B", "C"]).expected("A|C") == {"A", "C"}
    True
    >>> Nominal(["same", "different"]).is_binary
    True
    """

    kind: ClassVar[str] = "nominal"

    def __init__(self, levels: Sequence[object]) -> None:
        object.__setattr__(self, "levels", tuple(answer_text(level) for level in levels))
        self.__post_init__()


@dataclass(frozen=True)
class _NumberScale(Scale):
    """A scale whose answers are numbers."""

    _closed: ClassVar[Literal["both", "none"]] = "both"

    def _bounds(self) -> tuple[float, float]:
        raise NotImplementedError

    def read(self, answer: object) -> str | None:
        text = answer_text(answer).strip()
        number = as_number(text)
        low, high = self._bounds()
        if number is None or not low <= number <= high or (self._closed == "none" and number in (low, high)):
            return None
        return text

    def read_column(self, answers: pl.Series) -> tuple[pl.Series, pl.Series]:
        stripped = answers.str.strip_chars()
        numbers = stripped.cast(pl.Float64, strict=False)
        low, high = self._bounds()
        fits = numbers.is_finite() & numbers.is_between(low, high, closed=self._closed)
        return stripped, answers.is_not_null() & ~fits.fill_null(False)

    def expected(self, text: str) -> NumberRange:
        match = NUMBER_RANGE.fullmatch(text)
        low, high = (as_number(match[1] if match else text), as_number(match[2] if match else text))
        if low is None or high is None:
            raise ScaleError(f"{shown(text)} is neither a number nor a range of numbers such as 3-5")
        return NumberRange(min(low, high), max(low, high))

    def chance(self, expected: str) -> Fraction:
        raise ScaleError(f"A {self.kind} scale without both ends has no even guessing.")


@dataclass(frozen=True)
class Magnitude(_NumberScale):
    """Magnitude estimation: positive numbers in proportion to a modulus with a fixed number.

    `zeros` admits 0, which some participants write although it has no logarithm; in the measures it counts as half of
    the smallest positive answer.

    >>> Magnitude(modulus=100).read("50"), Magnitude().read("0") is None, Magnitude(zeros=True).read("0")
    ('50', True, '0')
    """

    kind: ClassVar[str] = "magnitude"
    modulus: float | None = None
    zeros: bool = False
    _closed: ClassVar[Literal["both", "none"]] = "none"

    def __post_init__(self) -> None:
        if self.modulus is not None and not self.modulus > 0:
            raise ScaleError(f"magnitude scale: the modulus must be positive, got {self.modulus}.")

    def _bounds(self) -> tuple[float, float]:
        return -5e-324 if self.zeros else 0.0, float("inf")

    def known(self) -> str:
        return "positive numbers and 0" if self.zeros else "positive numbers"


@dataclass(frozen=True)
class Continuous(_NumberScale):
    """Numbers, such as the positions of a slider, with or without two ends.

    >>> Continuous(0, 100).read("101") is None, Continuous(0, 100).chance("0-25")
    (True, Fraction(1, 4))
    """

    kind: ClassVar[str] = "continuous"
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise ScaleError(f"continuous scale: the low end {self.low} is not below the high end {self.high}.")

    def _bounds(self) -> tuple[float, float]:
        low = float("-inf") if self.low is None else self.low
        return low, float("inf") if self.high is None else self.high

    def chance(self, expected: str) -> Fraction:
        if self.low is None or self.high is None:
            return super().chance(expected)
        wanted = self.expected(expected)
        low, high = max(wanted.low, self.low), min(wanted.high, self.high)
        return max(Fraction(high) - Fraction(low), Fraction(0)) / (Fraction(self.high) - Fraction(self.low))

    def known(self) -> str:
        low = "" if self.low is None else f" from {answer_text(self.low)}"
        return f"numbers{low}{'' if self.high is None else f' to {answer_text(self.high)}'}"


KINDS: Mapping[str, Callable[..., Scale]] = {
    kind.kind: kind for kind in (Binary, Choice, Ordinal, Nominal, Magnitude, Continuous)
}


def from_dict(data: Mapping[str, Any]) -> Scale:
    """The scale that `Scale.to_dict` wrote.

    Parameters
    ----------
    data
        The scale as a dictionary.

    >>> from_dict(Ordinal(5, neutral=3).to_dict()) == Ordinal(5, neutral=3)
    True
    """
    settings = dict(data)
    kind = settings.pop("kind", None)
    if kind not in KINDS:
        raise ScaleError(f"{shown(str(kind))} is not a kind of scale; there are {', '.join(KINDS)}.")
    if "levels" in settings:
        settings["levels"] = tuple(settings["levels"])
    return KINDS[kind](**settings)


def parse_scale(text: str) -> Scale:
    """The scale that a short text describes, as used by `--scale`.

    | text | scale |
    | --- | --- |
    | `binary`, `binary:no,yes` | `Binary()`, `Binary(("no", "yes"))` |
    | `choice`, `choice:none` | two sides, without and with "no difference" |
    | `ordinal:1-5`, `ordinal:1-5:3` | five points, the second with a neutral point |
    | `ordinal:bad,fair,good` | named points, lowest first |
    | `nominal:A,B,C` | categories |
    | `magnitude`, `magnitude:100` | magnitude estimation, with its modulus |
    | `continuous`, `continuous:0-100` | numbers, between two ends |

    Parameters
    ----------
    text
        The short text, such as `ordinal:1-5`.

    >>> parse_scale("ordinal:1-5:3") == Ordinal(5, neutral=3)
    True
    """
    kind, _, rest = text.strip().partition(":")
    try:
        return _parse_settings(kind.strip().lower(), rest.strip())
    except (ScaleError, TypeError) as error:
        raise ScaleError(f"{shown(text)} is not a scale: {error} Write for example ordinal:1-5.") from None


def _parse_settings(kind: str, rest: str) -> Scale:
    if kind == "binary":
        return Binary(_listed(rest)) if rest else Binary()
    if kind == "choice" and rest in ("", "none"):
        return Choice(none=rest == "none")
    if kind == "ordinal" and rest:
        levels, _, neutral = rest.partition(":")
        ends = re.fullmatch(r"\s*([+-]?\d{1,4})\s*-\s*([+-]?\d{1,4})\s*", levels)
        if ends and int(ends[1]) > int(ends[2]):
            raise ScaleError(f"the points go from {ends[1]} down to {ends[2]}; write the lowest point first.")
        points = range(int(ends[1]), int(ends[2]) + 1) if ends else _listed(levels)
        return Ordinal(points, neutral.strip() or None)
    if kind == "nominal" and rest:
        return Nominal(_listed(rest))
    if kind == "magnitude":
        return Magnitude(_parse_number(rest) if rest else None)
    if kind == "continuous":
        match = NUMBER_RANGE.fullmatch(rest)
        if rest and not match:
            raise ScaleError(f"{shown(rest)} is not a range such as 0-100.")
        return Continuous(float(match[1]), float(match[2])) if match else Continuous()
    if kind in KINDS:
        raise ScaleError(f"what follows {kind} is missing or not understood.")
    raise ScaleError(f"there are {', '.join(KINDS)}.")


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def _parse_number(text: str) -> float:
    number = as_number(text)
    if number is None:
        raise ScaleError(f"{shown(text)} is not a number.")
    return number
