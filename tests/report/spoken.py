"""The numbers that a page speaks, and the results that they come from.

Each section of the page may speak of some results and of no others, so that a wrong number is seldom another right one.
A number of the page is right where one of these results, rounded to as many decimals, is that number: as it is, in per
cent before a per cent sign, or as the change that a slope of logarithms means. Remarks of results (notes, reasons, why
something is missing) are quoted whole and are not looked into; names are not numbers, nor is the list of literature.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

NUMBER = re.compile(r"(?<![\w.,\-–+/])[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?![\w/])")
GERMAN = re.compile(r"(?<![\w.,\-–+/])[-+−]?(?:\d{1,3}(?:\.\d{3})+|\d+)?(?:,\d+)?(?![\w/])")
CITATION = re.compile(r"\b(?:1[89]|20)\d\d(?=[;)])")
DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b|\b\d{1,2}\.? [A-Z][a-zä]+ \d{4}\b")
QUOTED = re.compile(r"`[^`]*`|“[^”]*”|„[^“]*“")
METHOD = {
    "all": (), "": (0.95,), "results": (0.95,),
    "spammer-index": (0.10,), "methods": (0.95,), "preregistration": (0.95,), "composition": (0.95,),
    "decision-study": (0.80,), "consensus": (0.99,), "times": (0.9,),
    "transitions": (6,),
}  # fmt: skip
"""Constants that are words of the method: levels, a cutoff, how many matrices are drawn."""
VOID = ("br", "img", "input", "meta", "link", "path", "use", "rect", "hr")
READ = ("p", "li", "figcaption", "summary", "title", "desc", "dd", "strong")
SOURCES = {
    "": ("design", "screening.summary", "simulated", "rules", "excluded_by"),
    "asked": ("design", "study", "screening.skipped"),
    "sample": ("screening.summary", "sample"),
    "composition": ("composition", "screening.summary"),
    "quality": ("look",),
    "spammer-index": ("spammer_index",),
    "credence": ("evidence.credence",),
    "times": ("evidence.remfod",),
    "attention": ("evidence.attention",),
    "controls": ("evidence.controls",),
    "transitions": ("evidence.markov",),
    "deviance": ("evidence.deletion",),
    "criteria": (),
    "people": ("screening.summary",),
    "results": ("measures.participants",),
    "methods": ("design", "sample", "screening.summary", "study", "spammer_index", "evidence", "measures.settings",
                "measures.parts"),
    "preregistration": ("study",),
    "colophon": (),
    "words": (),
    "r-script": (),
}  # fmt: skip
"""Which results each section speaks of; the sections of measures speak of their part."""
LONG = 20
"""Sentences name only the first and the last row of tables with more estimates than this."""
QUOTABLE = ("notes", "reason", "skipped")
"""Keys of remarks, which the page quotes as they are."""
SENTENCES = (*QUOTABLE, "told", "warnings")
PEOPLE = ("times", "transitions")
"""Sections that speak of single participants; elsewhere their rows are left out."""


@dataclass
class Spoken:
    """A piece of running text with the section that it stands in."""

    section: str
    text: str
    language: str = "en"


@dataclass
class Reader(HTMLParser):
    """All running text of a page: paragraphs, items, captions, titles and descriptions of figures, facts."""

    found: list[Spoken] = field(default_factory=list)
    inside: list[str] = field(default_factory=list)
    open: list[tuple[str, Spoken | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        result = dict(attributes)
        if tag in VOID:
            return
        if tag == "details":
            self.inside.append(result.get("id") or (self.inside[-1] if self.inside else ""))
        # Rows of a ranking repeat the cells of the table below it, which are not running text.
        reading = tag in READ and not any(name in ("head", "nav", "row") for name, _ in self.open)
        spoken = Spoken(self.inside[-1] if self.inside else "", "", result.get("lang") or "en") if reading else None
        self.open.append(("row" if result.get("class") == "row" else tag, spoken))
        if spoken is not None:
            self.found.append(spoken)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        self.open.pop()
        if tag == "details":
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        innermost = next((spoken for _, spoken in reversed(self.open) if spoken is not None), None)
        if innermost is not None:
            code = any(name == "code" for name, _ in self.open)
            innermost.text += f"`{data}`" if code else data.replace("\u202f", " ")


def spoken(page: str) -> list[Spoken]:
    """All running text of a page."""
    reader = Reader()
    reader.feed(page)
    return [one for one in reader.found if one.text.strip()]


def strange(pieces: list[Spoken], data: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The numbers that come from no result: section, number, text."""
    quotes = remarks(data)
    names = identifiers(data)
    known: dict[str, list[float]] = {}
    found = []
    for piece in pieces:
        if piece.section == "literature" or re.fullmatch(r"\d+ notes?", piece.text):
            continue
        if piece.section not in known:
            known[piece.section] = sources(piece.section, data)
        text = bare(piece.text, quotes, names)
        for number, after in numbers(text, piece.language):
            if not derived(number, after, known[piece.section], piece.section):
                found.append((piece.section, number, piece.text))
    return found


def numbers(text: str, language: str = "en") -> Iterator[tuple[str, str]]:
    """The numbers of a text in English spelling, each with what stands around it."""
    for match in (NUMBER if language == "en" else GERMAN).finditer(text):
        if not re.search(r"\d", match[0]):
            continue
        number = match[0] if language == "en" else match[0].translate(str.maketrans(",.", ".,"))
        sign = text[max(match.start() - 2, 0) : match.start()].strip()
        yield number.replace(",", ""), (sign if sign in ("<", ">") else "") + text[match.end() : match.end() + 2]


def derived(number: str, around: str, known: list[float], section: str) -> bool:
    """Whether a result, rounded as the number is, gives the number."""
    value = abs(float(number.replace("−", "-")))
    decimals = len(number.partition(".")[2])
    if around.startswith("<"):
        return any(abs(one) < value for one in known)
    if around.startswith(">"):
        return any(value < one <= 1 for one in known)
    percent = re.match(r"\W?%", around) is not None
    for one in known:
        ways = [100 * one, 100 * math.expm1(one)] if percent and abs(one) <= 5 else [one]
        # A whole number is a count, or a large result without its decimals.
        if decimals == 0 and not percent and one != int(one) and abs(one) < 5:
            continue
        if any(abs(abs(way) - value) <= 0.5 * 10**-decimals + 1e-9 for way in ways):
            return True
    return False


def sources(section: str, data: dict[str, Any]) -> list[float]:
    """The values that a section may speak of."""
    stem = re.sub(r"-\d+$", "", section)
    part = re.search(r"-(\d+)$", section)
    values = list(METHOD.get(stem, ()))
    if part and section not in SOURCES:
        one = data["measures"]["parts"][int(part[1])]
        values += [*values_of(one), data["measures"]["settings"]["level"], data["measures"]["participants"]]
        values += [*gaps(one), *values_of(at(data, "design.scales"))]
        return values
    for path in SOURCES[section]:
        values += values_of(at(data, path), people=section in PEOPLE)
    for rule in data["rules"].get("rules", []) if section == "" else []:
        means = [one["ends"][0] for one in rule["cells"]]
        values += [max(means) - min(means)] if means else []
    return values


def gaps(part: dict[str, Any]) -> list[float]:
    """How far thresholds lie apart, and how many strengths lie beyond the outermost ones."""
    cuts = part.get("thresholds", [])
    if not cuts:
        return []
    strengths = [row["estimate"] for row in part["tables"]["strengths"]]
    beyond = [sum(one > cuts[-1] for one in strengths), sum(one < cuts[0] for one in strengths)]
    return [high - low for low, high in pairwise(cuts)] + beyond


def values_of(data: Any, *, people: bool = False) -> list[float]:
    """Every number of plain data, and the lengths of its lists; of long tables of estimates, the ends."""
    if isinstance(data, dict):
        inner = [
            values_of(own, people=people)
            for key, own in data.items()
            if key not in SENTENCES and (people or key != "participants" or isinstance(own, int))
        ]
        return [value for own in inner for value in own]
    if isinstance(data, list):
        long = len(data) > LONG and isinstance(data[0], dict) and "estimate" in data[0]
        shown = [data[0], data[-1]] if long else data
        return [len(data), *(value for own in shown for value in values_of(own, people=people))]
    if isinstance(data, bool) or data is None:
        return []
    if isinstance(data, int | float):
        return [float(data)]
    return [float(data)] if re.fullmatch(r"\d+", str(data)) else []


def at(data: Any, path: str) -> Any:
    """What stands at a dotted path."""
    for key in path.split("."):
        data = data.get(key) if isinstance(data, dict) else None
    return data


def remarks(data: Any, key: str = "") -> set[str]:
    """The sentences of results that are quoted: notes, reasons, and why something is missing."""
    if isinstance(data, dict) and {"code", "values", "text"} <= set(data):
        return {" ".join(data["text"].split())}
    if isinstance(data, dict):
        inner = (remarks(own, key if key in QUOTABLE else name) for name, own in data.items())
        return set().union(*inner)
    if isinstance(data, list):
        return set().union(*(remarks(own, key) for own in data))
    return {" ".join(data.split())} if isinstance(data, str) and key in QUOTABLE else set()


def identifiers(data: Any, key: str = "") -> set[str]:
    """Names with digits: of participants, items, conditions, coefficients, versions, fingerprints."""
    if isinstance(data, dict):
        names = {name for name in data if re.search(r"\d", name)}
        return names.union(*(identifiers(own, name) for name, own in data.items() if name not in SENTENCES))
    if isinstance(data, list):
        return set().union(*(identifiers(own, key) for own in data))
    if not isinstance(data, str) or not re.search(r"\d", data) or re.fullmatch(r"\d*\.?\d+", data):
        return set()
    return {data}


def bare(text: str, quotes: set[str], names: set[str]) -> str:
    """A text without quoted remarks, names, formulas, days and years of citations."""
    text = " ".join(text.split())
    for quote in sorted((one for one in quotes if one), key=len, reverse=True):
        # A remark may begin with a capital letter on the page, and end without its full stop.
        for way in (quote.rstrip("."), quote[0].upper() + quote.rstrip(".")[1:]):
            text = text.replace(way, " ")
    for name in sorted((one for one in names if one in text), key=len, reverse=True):
        text = re.sub(rf"(?<!\w)(?<!\d\.){re.escape(name)}(?!\w)", "NAME", text)
    for pattern in (QUOTED, DATE, CITATION):
        text = pattern.sub(" ", text)
    return text
