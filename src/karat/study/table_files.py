"""The tables that a study file names, as they lie beside it: how their text is read.

Tables that are not UTF-8 are read as Windows-1252, as everywhere in karat. Old tables of a Mac are not: in them
"Bäuerin" has the byte that is Š in Windows-1252, and no word has a capital letter or a dagger in its middle. Where that
would happen, and Mac Roman gives ordinary letters in every word, Mac Roman is taken.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from karat.judgments.source import ENCODING_NAMES, SourceFile
from karat.judgments.tables import SPREADSHEETS, delimiter_of

MAC = "mac_roman"
IMPOSSIBLE = re.compile(r"(?<=[A-Za-z])[ŠŽŒŸ†‡‰ˆ˜™§\ufffd](?=[a-z])")
"""What Windows-1252 reads in the middle of words for letters of Mac Roman."""
AT_AN_EDGE = re.compile(r"(?<![^\W_])[‘’“”•–—]|[‘’“”•–—](?![^\W_])")
"""Quotation marks and dashes where they belong: at an edge of a word, which Mac Roman would read as letters."""
INSIDE = re.compile(r"(?<=[A-Za-z])[^\x00-\x7f](?=[a-z])")
LIGATURES = "ﬁﬂı"
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical lines"}
NAMES = {**ENCODING_NAMES, MAC.replace("_", "-"): "Mac Roman"}
MARKED = ("utf-8", "utf-8-sig", "utf-16")
"""Encodings that are no guess: UTF-8, and UTF-16 with the mark at its beginning that says so."""


def table_file(path: Path) -> SourceFile:
    """A table as it lies on disk, with the encoding in which it is read."""
    file = SourceFile(path)
    guessed = file.suffix not in SPREADSHEETS and file.encoding in ("cp1252", "latin-1")
    return SourceFile(path, MAC) if guessed and is_mac_roman(path.read_bytes()) else file


def is_mac_roman(content: bytes) -> bool:
    """Whether bytes that are not UTF-8 are surely Mac Roman and not Windows-1252.

    >>> is_mac_roman("Die Bäuerin".encode("mac_roman")), is_mac_roman("Die Bäuerin".encode("cp1252"))
    (True, False)
    """
    windows, mac = content.decode("cp1252", "replace"), content.decode(MAC)
    if not IMPOSSIBLE.search(windows) or AT_AN_EDGE.search(windows):
        return False
    return all(_is_ordinary(letter) for letter in INSIDE.findall(mac))


def _is_ordinary(letter: str) -> bool:
    """Whether a sign stands in the middle of ordinary words: a small Latin letter, or an apostrophe."""
    small = unicodedata.name(letter, "").startswith("LATIN SMALL") and letter not in LIGATURES
    return small or letter == "’"


def read_as(file: SourceFile) -> tuple[str, str | None] | None:
    """How a table was read whose encoding had to be guessed, and a word to judge it by, where there is one.

    None for spreadsheets, UTF-8, and UTF-16 that says what it is.

    >>> read_as(SourceFile(Path("items.csv"), content="item;sentence\\n1;Die Bäuerin.\\n".encode("latin-1")))
    ('was read as Latin-1 (Windows-1252), with semicolons between its cells', 'Bäuerin')
    """
    if file.suffix in SPREADSHEETS or file.encoding in MARKED:
        return None
    text = file.text()
    separator = SEPARATORS.get(delimiter_of(file.sample))
    name = "UTF-16" if file.encoding.startswith("utf-16") else NAMES.get(file.encoding, file.encoding)
    cells = f", with {separator} between its cells" if separator else ""
    word = re.search(r"\w*[^\W\x00-\x7f]\w*", text) or re.search(r"[^\s\x00-\x7f]+", text)
    return f"was read as {name}{cells}", word[0] if word else None
