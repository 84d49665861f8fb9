"""The words by which columns, cells and answers are recognised, in all languages that karat knows: `words.toml`."""

import tomllib
from importlib.resources import files
from typing import Any

_WORDS: dict[str, Any] = tomllib.loads((files("karat.intake") / "words.toml").read_text(encoding="utf-8"))


def word_list(name: str) -> tuple[str, ...]:
    """The words of this name, the likeliest first."""
    return tuple(_WORDS[name])


def word_rows(name: str) -> tuple[tuple[str, ...], ...]:
    """Words that belong together, such as the two ends of a scale."""
    return tuple(map(tuple, _WORDS[name]))


def word_lists(name: str) -> dict[str, tuple[str, ...]]:
    """Words by what they mean."""
    return {meaning: tuple(known) for meaning, known in _WORDS[name].items()}
