"""The languages of messages and methods paragraphs: one table per language, in the file that has its code for a name.

A further language is one more file: copy `en.py`, translate its tables and keep the codes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from karat.errors import KaratError
from karat.languages.language import Language


@cache
def language_codes() -> tuple[str, ...]:
    """The codes of the languages that there are, English first."""
    found = sorted(module.name for module in iter_modules(__path__) if len(module.name) == 2)
    return ("en", *(code for code in found if code != "en"))


@cache
def _table(code: str) -> Language:
    table: Language = import_module(f"karat.languages.{code}").LANGUAGE
    return table


def language_of(code: str, *, planned: bool = False) -> Language:
    """The language of this code, for what was done or for what is planned; de-AT is German too.

    >>> language_of("de").counted(2, "list"), language_of("en-GB", planned=True).planned
    ('2 Listen', True)
    """
    known = code.replace("_", "-").partition("-")[0].lower()
    if known not in language_codes():
        raise KaratError(f"karat has no texts in the language {code}; it has {' and '.join(language_codes())}.")
    return replace(_table(known), planned=planned) if planned else _table(known)
