"""The literature to cite: the sources, citation keys in a text as pandoc and Quarto read them, and BibTeX.

A text cites by key, [@bates2015; @barr2013]. `cited` finds the keys, `bibtex` writes their entries, `readable` turns
the keys into names and years for a page, and `references` lists the sources for readers. The sources are in
`literature.bib`, which has only verified entries; the DOI of some is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files

from karat.errors import KaratError
from karat.judgments.columns import meant
from karat.languages import language_of

ENTRY = re.compile(r"@(\w+)\{(\w+),\n(.*?)\n\}\n", re.DOTALL)
FIELD = re.compile(r"^  (\w+) = \{(.*)\},$", re.MULTILINE)
CITATION = re.compile(r"\[(@[a-z]+\d*(?:; @[a-z]+\d*)*)\]")
SEVERAL = 3
"""The number of authors from which a citation names only the first."""


def source(key: str) -> Source:
    """The source of this key."""
    if key not in SOURCES:
        raise KaratError(f"There is no source {key}. {meant(key, list(SOURCES), '')}".strip())
    return SOURCES[key]


def cited(text: str) -> tuple[str, ...]:
    """The keys that a text cites, in the order of their first occurrence."""
    keys = (key.removeprefix("@") for match in CITATION.findall(text) for key in match.split("; "))
    return tuple(dict.fromkeys(keys))


def bibtex(keys: Iterable[str] | None = None) -> str:
    """The entries of these keys, or of all, as a BibTeX file in UTF-8, in alphabetical order."""
    wanted = sorted(set(SOURCES if keys is None else keys))
    return "\n".join(_entry(source(key)) for key in wanted)


def readable(text: str, language: str = "en") -> str:
    """The text with names and years in place of the keys."""

    def cited(match: re.Match[str]) -> str:
        keys = (key.removeprefix("@") for key in match.group(1).split("; "))
        return "(" + "; ".join(_short(source(key), language) for key in keys) + ")"

    return CITATION.sub(cited, text)


def references(keys: Sequence[str], language: str = "en") -> list[str]:
    """The sources of these keys as a list of references, in alphabetical order."""
    sources = sorted((source(key) for key in set(keys)), key=lambda entry: (entry.authors[0].casefold(), entry.year))
    return [_reference(entry, language) for entry in sources]


def _entry(source: Source) -> str:
    fields = {"author": " and ".join(source.authors), "title": source.title, "year": source.year, **source.fields}
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{source.kind}{{{source.key},", *lines, "}\n"])


def _short(source: Source, language: str) -> str:
    words, names = language_of(language), [author.partition(",")[0] for author in source.authors]
    who = f"{names[0]} et al." if len(names) >= SEVERAL else words.several(names)
    return f"{who}, {source.year or words.say('undated')}"


def _reference(source: Source, language: str) -> str:
    words = language_of(language)
    who = "; ".join(source.authors[:-1]) + (f" {words.joint} " if len(source.authors) > 1 else "") + source.authors[-1]
    title = source.title.replace("{", "").replace("}", "")
    parts = [f"{who} ({source.year or words.say('undated')}). {title}."]
    place = source.fields
    if "journal" in place:
        issue = place["volume"] + (f"({place['number']})" if "number" in place else "")
        parts.append(f"{place['journal']} {issue}, {place['pages'].replace('--', '–')}.")
    elif "booktitle" in place:
        parts.append(place["booktitle"].replace("{", "").replace("}", "") + ".")
    elif "eprint" in place:
        parts.append(f"{place['archiveprefix']}:{place['eprint']}.")
    else:
        parts.append(f"{place.get('publisher', place.get('note', ''))}.")
    if "doi" in place:
        parts.append(f"https://doi.org/{place['doi']}")
    return " ".join(parts)


@dataclass(frozen=True)
class Source:
    """One entry of the literature."""

    key: str
    kind: str
    """The type of the BibTeX entry."""
    authors: tuple[str, ...]
    """Family name, comma, given names."""
    title: str
    year: str
    """Empty for a manuscript without a date."""
    fields: dict[str, str] = field(default_factory=dict)
    """Further fields of the entry, such as journal, volume, pages and doi."""


def _sources() -> dict[str, Source]:
    """The sources by their key, from the BibTeX file beside this one."""
    sources = {}
    for kind, key, entry in ENTRY.findall(files("karat.report").joinpath("literature.bib").read_text(encoding="utf-8")):
        fields = dict(FIELD.findall(entry))
        authors = tuple(fields.pop("author").split(" and "))
        sources[key] = Source(key, kind, authors, fields.pop("title"), fields.pop("year", ""), fields)
    return sources


SOURCES = _sources()
