"""The short name of a study in addresses and in the store: the folder of `study.toml`, or the name of another file."""

from __future__ import annotations

import re
import unicodedata

from karat.errors import KaratError
from karat.study.file import NAME
from karat.study.study import Study

LONGEST = 60
TAKEN = ("login", "logout")
"""Pages of the dashboard, which no study may hide."""


def slug(text: str) -> str:
    """A text as lower-case letters, digits and hyphens.

    >>> slug("Wortstellung (Mittelfeld) – Prüfung 2")
    'wortstellung-mittelfeld-prufung-2'
    """
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss")).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:LONGEST].strip("-")


def slug_of(study: Study) -> str:
    """The short name of a study; it stays the same while the study file keeps its place.

    >>> from karat.study.init import write_study
    >>> from karat.study.study import load
    >>> folder = getfixture("tmp_path") / "Word order"
    >>> written = write_study(folder, "likert")
    >>> slug_of(load(folder))
    'word-order'
    """
    path = study.path.resolve()
    name = slug(path.parent.name if path.name == NAME else path.stem)
    if not name:
        raise KaratError(f"{path}: no short name can be made of it. Name the folder or the file with letters.")
    return f"{name}-study" if name in TAKEN else name
