"""A language that texts are written in: its sentences, its words, and how it writes numbers.

Sentences are templates with places for values:

    {name}              a text as it is, a number with as few digits as it needs, a list as "a, b"
    {n:participant}     a number with its noun, in the plural where it must be (`Language.nouns`)
    {n:spelled list}    the same with a small number in words; {n:spelled} is the number alone
    {n:was|were}        the first form for 1, the second for all other numbers
    {x:.2}              a number with two decimals; {x:.2+} with two, or more where the value has more
    {x:.2r}             a number that is never above 1, such as a correlation or a probability: .83
    {x:%}               a share in per cent; {x:%-} as the first part of a compound, which German joins: 95-%-Intervall
    {x:p}               the p of a test with its sign: = .041, or < .001
    {x:and}, {x:or}     a list as "a, b and c"
    {x:quoted}          in the quotation marks of the language
    {x:word}            the text under `word.<value>`, such as the name of a behaviour or of a criterion
    [[, {x} of them]]   a part that is left out where one of its values is missing (None)

One template serves a plan and its report where only the verb differs: "[rated|will rate]" has the words of the report
first and those of the plan second.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import Any

SMALLEST_P = 0.001
TENSES = re.compile(r"\[([^\[\]|@]*)\|([^\[\]|@]*)\]")
OPTIONAL = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
TIGHT = re.compile(r"(?<=\d) (?=%)|(?<=[<>=≤≥]) (?=[.,−]?\d)|(?<=\b[pαtzFMr]) (?=[<>=≤≥] )|(?<=\)) (?=[<>=] [.\d])")
NARROW = "\N{NARROW NO-BREAK SPACE}"
INTERVAL = re.compile(r"(\[−?[\d.,]+(?:\s%)?[,;]) (?=−?[\d.,]+(?:\s%)?\])")
"""The first end of an interval, before the space that follows it."""
DECIMALS = re.compile(r"\.(\d)(r?)(\+?)")
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Language:
    """A language, in the past of a report or the future of a plan."""

    code: str
    texts: Mapping[str, str]
    nouns: Mapping[str, Sequence[str]]
    """From a word of the code to its singular and plural, and to one of it in words where numerals have none."""
    joint: str
    """Between the last two of several."""
    decimal: str
    thousands: str
    quotes: Sequence[str]
    leading_zero: bool = False
    """Whether a probability is written with the zero before its decimals."""
    planned: bool = False
    """Whether the texts are about what will be done."""
    messages: Mapping[str, str] = field(default_factory=dict)
    """From the code of a message to its sentence, and from word.<value> to the word for a value."""
    either: str = "or"
    numerals: Sequence[str] = ()
    """The words for small numbers, from 0 on; an empty one is written in digits."""
    months: Sequence[str] = ()
    day: str = "{year}-{month}-{day}"
    """How a date is written."""

    def knows(self, key: str) -> bool:
        """Whether there is a text of this name."""
        return key in self.texts

    def say(self, key: str, **values: object) -> str:
        """The text of this name, with its places filled."""
        return self.fill(self.texts[key], values)

    def places(self, key: str) -> set[str]:
        """The names of the places of a text."""
        return set(places(self.texts[key]))

    def sentence(self, code: str, values: Mapping[str, Any]) -> str:
        """The sentence of a message, with its places filled."""
        return self.fill(self.messages[code], values)

    def fill(self, template: str, values: Mapping[str, Any]) -> str:
        """A template with its places filled.

        >>> from karat.languages import language_of
        >>> language_of("en").fill("{n:participant} {n:was|were} fast[[, p {p:p}]].", {"n": 1, "p": None})
        '1 participant was fast.'
        """
        pieces = OPTIONAL.split(template)
        # Every second piece is one that may be left out.
        return "".join(
            self._filled(piece, values)
            for number, piece in enumerate(pieces)
            if number % 2 == 0 or all(values.get(name) is not None for name in places(piece))
        )

    def _filled(self, template: str, values: Mapping[str, Any]) -> str:
        template = TENSES.sub(r"\2" if self.planned else r"\1", template)
        filled = []
        for text, name, spec, _ in Formatter().parse(template):
            filled.append(text)
            if name is not None:
                filled.append(self.value(values[name], spec or ""))
        return "".join(filled)

    def value(self, value: Any, spec: str = "") -> str:
        """A value as a place of a template asks for it.

        >>> from karat.languages import language_of
        >>> english, german = language_of("en"), language_of("de")
        >>> english.value(-0.456, ".2r"), german.value(1234.5), english.value(["a", "b", "c"], "and")
        ('−.46', '1.234,5', 'a, b and c')
        >>> english.value(1234.5, "df"), english.value(1025.0, "df")
        ('1234.5', '1025')
        """
        if not spec:
            return self._plain(value)
        if spec in self.nouns:
            return self.counted(value, spec)
        if "|" in spec:
            return spec.split("|")[int(value != 1)]
        if spec.startswith("spelled"):
            return self.spelled(value, spec[8:])
        if found := DECIMALS.fullmatch(spec):
            return self._decimals(value, int(found[1]), bool(found[2]), bool(found[3]))
        if spec in ("and", "or"):
            return self.several([self._plain(one) for one in value], self.joint if spec == "and" else self.either)
        simple: dict[str, Callable[[Any], str]] = {
            "%": self.share,
            "%-": lambda share: f"{self.share(share)}-".replace(" ", "-"),
            "df": lambda number: self._decimals(number, int(number % 1 != 0), False, False).replace(self.thousands, ""),
            "p": self.p_value,
            "quoted": self.quoted,
            "word": self.word,
        }
        return simple[spec](value)

    def word(self, value: Any) -> str:
        """The word for a value that has one in every language; several as a list."""
        if isinstance(value, list | tuple):
            return ", ".join(map(self.word, value))
        return self.messages[f"word.{value}"]

    def _plain(self, value: Any) -> str:
        """A value as a reader sees it."""
        if value is None:
            return ""
        if isinstance(value, bool):
            return self.texts["yes" if value else "no"]
        if isinstance(value, int | float):
            return self.number(value)
        if isinstance(value, Mapping):
            return "; ".join(f"{name}: {self._plain(one)}" for name, one in value.items())
        if isinstance(value, list | tuple):
            return ", ".join(map(self._plain, value))
        return str(value)

    def _decimals(self, value: float, digits: int, bare: bool, more: bool) -> str:
        if more:
            digits = max(digits, len(repr(float(value)).partition(".")[2]))
        if round(value, digits) == 0:
            value = 0.0
        text = self.probability(value, digits) if bare else self.number(value, digits)
        return text.replace("-", MINUS)

    def counted(self, number: int, noun: str) -> str:
        """A number with its word."""
        return f"{self.number(number)} {self.nouns[noun][number != 1]}"

    def spelled(self, number: int, noun: str = "") -> str:
        """A small number in words, as running text has it, with its noun if one is given.

        >>> from karat.languages import language_of
        >>> language_of("en").spelled(4, "list"), language_of("de").spelled(24, "item")
        ('four lists', '24 Items')
        """
        forms = self.nouns.get(noun, ())
        if number == 1 and len(forms) > 2:
            return forms[2]
        word = self.numerals[number] if 0 <= number < len(self.numerals) else ""
        return " ".join([word or self.number(number), *([forms[number != 1]] if forms else [])])

    def date(self, day: str) -> str:
        """A day, given as 2026-03-02, as running text has it.

        >>> from karat.languages import language_of
        >>> [language_of(code).date("2026-03-02") for code in ("en", "de")]
        ['2 March 2026', '2. März 2026']
        """
        year, month, number = day.split("-")
        return self.day.format(year=year, month=self.months[int(month) - 1], day=int(number))

    def number(self, value: float, digits: int | None = None) -> str:
        """A number; without digits, as few as it needs."""
        if isinstance(value, int):
            text = f"{value:,}"
        elif digits is None and abs(value) < 1e6:
            text = f"{round(value, 6):,.6f}".rstrip("0").rstrip(".") if abs(value) >= 1000 else f"{value:g}"
        else:
            text = f"{value:,.{digits}f}" if digits is not None else f"{value:g}"
        return text.translate(str.maketrans(",.", self.thousands + self.decimal))

    def share(self, value: float) -> str:
        """A share in per cent, with as few decimals as it needs."""
        return f"{self.number(round(100 * value, 4))} %"

    def probability(self, value: float, digits: int | None = None) -> str:
        """A probability or another number that is never above 1, as the language's journals write it."""
        text = self.number(value, digits)
        bare = abs(value) < 1 and not self.leading_zero
        return text.replace(f"0{self.decimal}", self.decimal, 1) if bare else text

    def p_value(self, value: float) -> str:
        """The p of a test with its sign, so that none is written as nothing or as certain: = .041, < .001 or > .999."""
        if value < SMALLEST_P:
            return f"< {self.probability(SMALLEST_P)}"
        most = 1 - SMALLEST_P
        return f"= {self.probability(value, 3)}" if round(value, 3) <= most else f"> {self.probability(most)}"

    def quoted(self, text: str) -> str:
        """A text in quotation marks, its ends and line breaks evened out."""
        return f"{self.quotes[0]}{' '.join(text.split())}{self.quotes[1]}"

    def several(self, words: Sequence[str], joint: str | None = None) -> str:
        """Words one after the other: a, b and c."""
        if len(words) < 2:
            return "".join(words)
        return f"{', '.join(words[:-1])} {joint or self.joint} {words[-1]}"


def typeset(text: str) -> str:
    """A text for paper or a page, in which no line ends within 90 %, p < .001 or an interval."""
    return INTERVAL.sub("\\1\N{NO-BREAK SPACE}", TIGHT.sub(NARROW, text))


def places(template: str) -> dict[str, str]:
    """The places of a template, each with what it asks for."""
    return {name: spec or "" for _, name, spec, _ in Formatter().parse(template) if name}
