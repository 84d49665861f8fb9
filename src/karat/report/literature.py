"""The literature to cite: keys in a text, as pandoc and Quarto read them, and the BibTeX file that belongs to them.

A text cites by key, [@bates2015; @barr2013]. `cited` finds the keys, `bibtex` writes their entries, `readable` turns
the keys into names and years for a page, and `references` lists the sources as people read them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from karat.errors import KaratError
from karat.judgments.columns import nearest
from karat.report.sources import SOURCES, Source

CITATION = re.compile(r"\[(@[a-z]+\d*(?:; @[a-z]+\d*)*)\]")
WORDS = {"en": ("and", "manuscript"), "de": ("und", "Manuskript")}
"""Between two authors, and instead of a year."""
SEVERAL = 3
"""From so many authors on, the first stands for all."""


def source(key: str) -> Source:
    """The source of this key.

    >>> source("barr2013").title
    'Random effects structure for confirmatory hypothesis testing: Keep it maximal'
    """
    if key not in SOURCES:
        close = nearest(key, list(SOURCES))
        raise KaratError(f"There is no source {key}" + (f"; is {close} meant?" if close else "."))
    return SOURCES[key]


def cited(text: str) -> tuple[str, ...]:
    """The keys that a text cites, in the order in which they first come.

    >>> cited("Models were maximal [@barr2013; @bates2015], p adjusted [@holm1979; @barr2013].")
    ('barr2013', 'bates2015', 'holm1979')
    """
    keys = (key.removeprefix("@") for found in CITATION.findall(text) for key in found.split("; "))
    return tuple(dict.fromkeys(keys))


def bibtex(keys: Iterable[str] | None = None) -> str:
    """The entries of these keys, or of all, as a BibTeX file in UTF-8, in alphabetical order.

    >>> print(bibtex(["holm1979"]))
    @article{holm1979,
      author = {Holm, Sture},
      title = {A simple sequentially rejective multiple test procedure},
      year = {1979},
      journal = {Scandinavian Journal of Statistics},
      volume = {6},
      number = {2},
      pages = {65--70},
    }
    <BLANKLINE>
    """
    wanted = sorted(set(SOURCES if keys is None else keys))
    return "\n".join(_entry(source(key)) for key in wanted)


def readable(text: str, language: str = "en") -> str:
    """The text with names and years in place of the keys.

    >>> readable("Mixed models [@bates2015] with Holm's adjustment [@holm1979].")
    "Mixed models (Bates et al., 2015) with Holm's adjustment (Holm, 1979)."
    """

    def told(found: re.Match[str]) -> str:
        keys = (key.removeprefix("@") for key in found.group(1).split("; "))
        return "(" + "; ".join(_short(source(key), language) for key in keys) + ")"

    return CITATION.sub(told, text)


def references(keys: Sequence[str], language: str = "en") -> list[str]:
    """The sources of these keys as a list of references, in alphabetical order.

    >>> references(["brennan2001"])
    ['Brennan, Robert L. (2001). Generalizability theory. Springer.']
    """
    found = sorted((source(key) for key in set(keys)), key=lambda one: (one.authors[0].casefold(), one.year))
    return [_reference(one, language) for one in found]


def _entry(one: Source) -> str:
    fields = {"author": " and ".join(one.authors), "title": one.title, "year": one.year, **one.fields}
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{one.kind}{{{one.key},", *lines, "}\n"])


def _short(one: Source, language: str) -> str:
    joint, undated = WORDS[language]
    names = [author.partition(",")[0] for author in one.authors]
    who = f"{names[0]} et al." if len(names) >= SEVERAL else f" {joint} ".join(names)
    return f"{who}, {one.year or undated}"


def _reference(one: Source, language: str) -> str:
    joint, undated = WORDS[language]
    who = "; ".join(one.authors[:-1]) + (f" {joint} " if len(one.authors) > 1 else "") + one.authors[-1]
    title = one.title.replace("{", "").replace("}", "")
    parts = [f"{who} ({one.year or undated}). {title}."]
    place = one.fields
    if "journal" in place:
        issue = place["volume"] + (f"({place['number']})" if "number" in place else "")
        parts.append(f"{place['journal']} {issue}, {place['pages'].replace('--', '–')}.")
    elif "booktitle" in place:
        parts.append(f"{place['booktitle']}.")
    elif "eprint" in place:
        parts.append(f"{place['archiveprefix']}:{place['eprint']}.")
    else:
        parts.append(f"{place.get('publisher', place.get('note', ''))}.")
    if "doi" in place:
        parts.append(f"https://doi.org/{place['doi']}")
    return " ".join(parts)
