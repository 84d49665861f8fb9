"""The words of `words.toml`, by which karat recognises columns, cells and answers in several languages."""

import tomllib
from importlib.resources import files
from typing import Any

_WORDS: dict[str, Any] = tomllib.loads((files("karat.intake") / "words.toml").read_text(encoding="utf-8"))


def word_list(name: str) -> tuple[str, ...]:
    """A list of words, the likeliest first."""
    return tuple(_WORDS[name])


def word_rows(name: str) -> tuple[tuple[str, ...], ...]:
    """Groups of words that belong together, such as the two ends of a scale."""
    return tuple(map(tuple, _WORDS[name]))


def word_lists(name: str) -> dict[str, tuple[str, ...]]:
    """Lists of words by meaning."""
    return {meaning: tuple(words) for meaning, words in _WORDS[name].items()}
