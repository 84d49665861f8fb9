"""A language that texts are written in: its sentences, its words, and how it writes numbers.

Sentences are templates with {places} for what is known. One template serves a plan and its report where only the verb
differs: "[rated|will rate]" has the words of the report first and those of the plan second.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

SMALLEST_P = 0.001
TENSES = re.compile(r"\[([^\[\]|@]*)\|([^\[\]|@]*)\]")


@dataclass(frozen=True)
class Language:
    """A language, in the past of a report or the future of a plan."""

    code: str
    texts: Mapping[str, str]
    nouns: Mapping[str, tuple[str, str]]
    """From a word of the code to its singular and plural."""
    joint: str
    """Between the last two of several."""
    decimal: str
    thousands: str
    quotes: tuple[str, str]
    leading_zero: bool = False
    """Whether a probability is written with the zero before its decimals."""
    planned: bool = False
    """Whether the texts are about what will be done."""

    def knows(self, key: str) -> bool:
        """Whether there is a text of this name."""
        return key in self.texts

    def say(self, key: str, **values: object) -> str:
        """The text of this name, with its places filled."""
        template = TENSES.sub(r"\2" if self.planned else r"\1", self.texts[key])
        return template.format(**values)

    def places(self, key: str) -> set[str]:
        """The names of the places of a text."""
        return {name for _, name, _, _ in Formatter().parse(self.texts[key]) if name}

    def counted(self, number: int, noun: str) -> str:
        """A number with its word."""
        return f"{self.number(number)} {self.nouns[noun][number != 1]}"

    def number(self, value: float, digits: int | None = None) -> str:
        """A number; without digits, as few as say it."""
        text = (
            f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}" if digits is not None else f"{value:g}"
        )
        return text.translate(str.maketrans(",.", self.thousands + self.decimal))

    def share(self, value: float) -> str:
        """A share in per cent, with as few decimals as say it."""
        return f"{self.number(round(100 * value, 4))} %"

    def probability(self, value: float, digits: int | None = None) -> str:
        """A probability or another number that is never above 1, as the language's journals write it."""
        text = self.number(value, digits)
        bare = abs(value) < 1 and not self.leading_zero
        return text.replace(f"0{self.decimal}", self.decimal, 1) if bare else text

    def p_value(self, value: float) -> str:
        """The p of a test with its sign, so that none is written as nothing: = .041, or < .001."""
        return f"= {self.probability(value, 3)}" if value >= SMALLEST_P else f"< {self.probability(SMALLEST_P)}"

    def quoted(self, text: str) -> str:
        """A text in quotation marks, its ends and line breaks evened out."""
        return f"{self.quotes[0]}{' '.join(text.split())}{self.quotes[1]}"

    def several(self, words: Sequence[str]) -> str:
        """Words one after the other: a, b and c."""
        if len(words) < 2:
            return "".join(words)
        return f"{', '.join(words[:-1])} {self.joint} {words[-1]}"

    def value(self, value: Any) -> str:
        """A setting as a reader sees it."""
        if isinstance(value, bool):
            return self.texts["yes" if value else "no"]
        if isinstance(value, int | float):
            return self.number(value)
        if isinstance(value, Mapping):
            return "; ".join(f"{name}: {self.value(one)}" for name, one in value.items())
        if isinstance(value, list | tuple):
            return ", ".join(self.value(one) for one in value)
        return str(value)
