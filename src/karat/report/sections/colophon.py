"""The end of the page: words for a paper with the literature to cite, and how the page was made."""

from typing import Any

import polars as pl

from karat.languages import language_of
from karat.measure.effects.contrasts import Contrasts
from karat.measure.export import r_script
from karat.measure.measures import Measures
from karat.report.build import ReportData
from karat.report.literature import bibtex, cited, readable, references
from karat.report.words import methods, preregistration
from karat.section import Listing, Section, Table


def section(gathered: ReportData) -> Section:
    """The versions, fingerprints and command that reproduce the page."""
    names = {"made": gathered.made, "data": gathered.judgments.fingerprint()}
    names |= {"study": gathered.study.fingerprint} if gathered.study is not None else {}
    names |= gathered.versions | {"platform": gathered.platform}
    rows = {"what": list(names), "value": list(names.values())}
    table = Table("versions", "Fingerprints and versions", pl.DataFrame(rows), headings={"what": "", "value": ""})
    text = "A fingerprint changes when an answer, a scale, an item or a rule changes."
    command = (Listing("command", "Command", gathered.command),) if gathered.command else ()
    return Section("colophon", "How this page was made", (text,), (table,), listings=command)


def words_section(gathered: ReportData, language: str = "en") -> Section:
    """The paragraphs for a paper with the numbers of this report, the literature they cite, and R scripts."""
    texts = {"methods": methods(gathered, language)}
    if gathered.study is not None:
        texts["preregistration"] = preregistration(gathered, language)
    keys, scripts = cited(" ".join(texts.values())), _r_scripts(gathered)
    paragraphs = {key: [part for part in text.split("\n\n") if part.strip()] for key, text in texts.items()}
    parts = [
        _worded(key, language, tuple(readable(text, language) for text in texts_of))
        for key, texts_of in paragraphs.items()
    ]
    if keys:
        listing = Listing("literature", "BibTeX", bibtex(keys), "bib")
        parts.append(_worded("literature", language, tuple(references(keys, language)), listings=(listing,)))
    if scripts:
        parts.append(_worded("r-script", language, (language_of(language).say("r-script"),), listings=scripts))
    return _worded("words", language, sections=tuple(parts))


def _worded(key: str, language: str, text: tuple[str, ...] = (), **parts: Any) -> Section:
    """A section with its heading in a language."""
    return Section(key, language_of(language).say(f"heading.{key}"), text, language=language, **parts)


def _r_scripts(gathered: ReportData) -> tuple[Listing, ...]:
    """The models of the contrasts as R scripts; `karat measure` writes their data."""
    parts = gathered.measures.parts if isinstance(gathered.measures, Measures) else ()
    fitted = [part for part in parts if isinstance(part.result, Contrasts) and part.result.model is not None]
    names = [f"model-{number}" if len(fitted) > 1 else "model" for number in range(1, len(fitted) + 1)]
    return tuple(
        Listing(name, f"R, {part.question}" if part.question else "R", r_script(part.result)[0], "R")
        for name, part in zip(names, fitted, strict=True)
    )
