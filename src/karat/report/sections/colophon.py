"""The end of the page: words for a paper with the literature to cite, and how the page was made."""

import polars as pl

from karat.measure.effects.contrasts import Contrasts
from karat.measure.export import r_script
from karat.measure.measures import Measures
from karat.report.build import ReportData
from karat.report.literature import bibtex, cited, readable, references
from karat.report.words import methods, preregistration
from karat.section import Listing, Section, Table


def section(gathered: ReportData) -> Section:
    """What somebody needs to make the same page again."""
    names = {"made": gathered.made, "data": gathered.judgments.fingerprint()}
    names |= {"study": gathered.study.fingerprint} if gathered.study is not None else {}
    names |= gathered.versions | {"platform": gathered.platform}
    rows = {"what": list(names), "value": list(names.values())}
    table = Table("versions", "Fingerprints and versions", pl.DataFrame(rows), headings={"what": "", "value": ""})
    text = "A fingerprint changes when an answer, a scale, an item or a rule changes."
    command = (Listing("command", "Command", gathered.command),) if gathered.command else ()
    return Section("colophon", "How this page was made", (text,), (table,), listings=command)


TITLES = {
    "en": ("Words for a paper", "Methods", "Preregistration", "Literature"),
    "de": ("Text für den Artikel", "Methoden", "Präregistrierung", "Literatur"),
}
"""The headings in each language."""


def words_section(gathered: ReportData, language: str = "en") -> Section:
    """The paragraphs with the settings and numbers of this report, and the literature that they cite."""
    title, first, second, third = TITLES[language]
    texts = {"methods": (first, methods(gathered, language))}
    if gathered.study is not None:
        texts["preregistration"] = (second, preregistration(gathered, language))
    keys = cited(" ".join(text for _, text in texts.values()))
    parts = [
        Section(key, heading, _paragraphs(text, language), language=language) for key, (heading, text) in texts.items()
    ]
    if keys:
        listing = Listing("literature", "BibTeX", bibtex(keys), "bib")
        parts.append(
            Section("literature", third, tuple(references(keys, language)), listings=(listing,), language=language)
        )
    scripts = _r_scripts(gathered)
    if scripts:
        heading, text = R_SCRIPT[language]
        parts.append(Section("r-script", heading, (text,), listings=scripts, language=language))
    return Section("words", title, sections=tuple(parts), language=language)


R_SCRIPT = {
    "en": ("R script", "`karat measure` writes the script together with the data that it reads."),
    "de": ("R-Skript", "`karat measure` schreibt das Skript mit den Daten, die es liest."),
}


def _r_scripts(gathered: ReportData) -> tuple[Listing, ...]:
    """The models of the contrasts as R scripts; `karat measure` writes the rows that they read."""
    parts = gathered.measures.parts if isinstance(gathered.measures, Measures) else ()
    fitted = [part for part in parts if isinstance(part.result, Contrasts) and part.result.model is not None]
    names = [f"model-{number}" if len(fitted) > 1 else "model" for number in range(1, len(fitted) + 1)]
    return tuple(
        Listing(name, f"R, {one.question}" if one.question else "R", r_script(one.result)[0], "R")
        for name, one in zip(names, fitted, strict=True)
    )


def _paragraphs(text: str, language: str) -> tuple[str, ...]:
    return tuple(readable(one, language) for one in text.split("\n\n") if one.strip())
