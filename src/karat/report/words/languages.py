"""The languages that texts can be written in."""

from __future__ import annotations

from dataclasses import replace

from karat.errors import KaratError
from karat.report.words.english import ENGLISH
from karat.report.words.german import GERMAN
from karat.report.words.language import Language

LANGUAGES = {language.code: language for language in (ENGLISH, GERMAN)}


def language_of(code: str, *, planned: bool = False) -> Language:
    """The language of this code, for what was done or for what is planned; de-AT is German too.

    >>> language_of("de").counted(2, "list"), language_of("en-GB", planned=True).planned
    ('2 Listen', True)
    """
    known = LANGUAGES.get(code.replace("_", "-").partition("-")[0].lower())
    if known is None:
        raise KaratError(f"There are no texts in the language {code}; there are {' and '.join(LANGUAGES)}.")
    return replace(known, planned=planned)
