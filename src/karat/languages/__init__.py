"""The languages of messages and methods paragraphs: one table per language, in the file that has its code for a name.

A further language is one more file: copy `en.toml`, translate its tables and keep the keys.
"""

import tomllib
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from karat.errors import KaratError
from karat.languages.language import Language


@cache
def language_codes() -> tuple[str, ...]:
    """The codes of the languages that there are, English first."""
    found = sorted(file.name[:2] for file in files(__name__).iterdir() if len(file.name) == len("en.toml"))
    return ("en", *(code for code in found if code != "en"))


@cache
def _file(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__name__) / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def _table(code: str) -> Language:
    tables = {name: forms | _file(code)[name] for name, forms in _file("forms").items()}
    return Language(code=code, **_file(code) | tables)


def language_of(code: str, *, planned: bool = False) -> Language:
    """The language of this code, for what was done or for what is planned; de-AT is German too.

    >>> language_of("de").counted(2, "list"), language_of("en-GB", planned=True).planned
    ('2 Listen', True)
    """
    known = code.replace("_", "-").partition("-")[0].lower()
    if known not in language_codes():
        raise KaratError(f"karat has no texts in the language {code}; it has {' and '.join(language_codes())}.")
    return replace(_table(known), planned=planned) if planned else _table(known)
