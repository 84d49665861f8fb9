"""Item sets and the factors that cross in their conditions.

The crossed factors are guessed from the names of the conditions: "a (that, short)", "that_long" or "comp=null/length=
long". If the names do not show them, the researcher states them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from karat.errors import ProblemsError, counted
from karat.study.items import COLUMN_NAMES
from karat.study.setting_base import known_words

if TYPE_CHECKING:
    from karat.judgments.scales import Scale

_WORDS: Mapping[str, Sequence[str]] = known_words()["sets"]
BESIDE_SETS, CONDITIONS, TEXTS = _WORDS["beside"], _WORDS["conditions"], _WORDS["texts"]
"""Columns of a sheet with sentences or words that are no conditions, with conditions, and with sentences."""
ITEMS = (*_WORDS["items"], *COLUMN_NAMES["item"])
LEVELS_OF: Mapping[str, Sequence[str]] = known_words()["levels"]
"""The usual levels of factors, by name."""


class SetsError(ProblemsError):
    """Item sets from which no study can be made."""


@dataclass(frozen=True)
class CrossedFactors:
    """The factors of a design with their levels, and the levels of each condition."""

    levels: Mapping[str, tuple[str, ...]]
    cells: Mapping[str, tuple[str, ...]]
    guessed: bool = True
    """Whether the levels come from the names of the conditions; else the conditions are the levels of one factor."""
    between: tuple[str, ...] = ()
    """The factors with one level per item."""
    compared: str | None = None
    """In choices, the factor whose levels were shown side by side."""

    @property
    def lists(self) -> int:
        """The number of lists that show every item once in each of its conditions."""
        return prod(len(levels) for name, levels in self.levels.items() if name not in (*self.between, self.compared))

    def renamed(self, names: Sequence[str]) -> CrossedFactors:
        """The same factors under other names."""
        if len(names) != len(self.levels) or not all(names) or len(set(names)) < len(names):
            raise SetsError(f"Give each of the {counted(len(self.levels), 'factor')} a name of its own.")
        new = dict(zip(self.levels, names, strict=True))
        return replace(
            self, levels={new[name]: levels for name, levels in self.levels.items()},
            between=tuple(new[name] for name in self.between), compared=new.get(self.compared or ""),
        )  # fmt: skip

    def with_compared(self, found: CrossedFactors) -> CrossedFactors:
        """The factors with the compared factor of results, identified by its levels."""
        levels = set(found.levels.get(found.compared or "", ()))
        compared = next((name for name, own_levels in self.levels.items() if set(own_levels) == levels), None)
        return replace(self, compared=compared)


@dataclass(frozen=True)
class ItemSets:
    """The sentences of each set by condition, and other sentences: fillers, controls, practice."""

    source: Path
    sets: Mapping[str, Mapping[str, str]]
    conditions: tuple[str, ...]
    fillers: tuple[Mapping[str, str], ...] = ()
    wide: bool = False
    """Whether a study can read the source directly, column by column."""
    sheet: str | None = None
    """The sheet of a workbook with several."""
    notes: tuple[str, ...] = ()
    beside: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    """Other columns of a sentence, such as its status, by set and condition."""
    scale: Scale | None = None
    """The scale of the answers, if the sets come from results."""
    paired: bool = False
    """Whether a set is a pair of sentences that were shown together, without conditions."""


SEPARATORS = (
    r"\s*[,;/|×]\s*", r"(?<=\w)\s*\+\s*(?=\w)", r"[_.]", r"(?<=\w)\s*[-–:]\s*(?=\w)", r"\s+", r"(?<=[a-zß-ÿ])(?=[A-Z])",
    r"(?<=[A-Za-z])(?=\d)",
)  # fmt: skip
"""Separators of levels in the name of a condition: a sign, a blank, or the place before a capital letter or digit."""


def guess_factors(conditions: Sequence[str]) -> CrossedFactors:
    """The factors that cross in conditions, from their names; a single factor if these show no others."""
    for separator in SEPARATORS:
        parts = [[part for part in re.split(separator, _bare(name)) if part] for name in conditions]
        levels = [tuple(dict.fromkeys(column)) for column in zip(*parts, strict=False)]
        even = len({len(words) for words in parts}) == 1 and len({tuple(words) for words in parts}) == len(conditions)
        varied = [number for number, words in enumerate(levels) if len(words) > 1]
        if even and len(parts[0]) > 1 and varied and prod(len(levels[number]) for number in varied) == len(conditions):
            names = factor_names([levels[number] for number in varied])
            factors = {name: tuple(map(_value, levels[number])) for name, number in zip(names, varied, strict=True)}
            cells = {
                name: tuple(_value(words[number]) for number in varied)
                for name, words in zip(conditions, parts, strict=True)
            }
            return CrossedFactors(factors, cells)
    bare = [_value(_bare(name)) for name in conditions]
    levels_alone = bare if len(set(bare)) == len(bare) else list(conditions)
    cells = {name: (level,) for name, level in zip(conditions, levels_alone, strict=True)}
    plain = all(_bare(name) != name for name in conditions)
    return CrossedFactors({factor_names([list(conditions)])[0]: tuple(levels_alone)}, cells, plain)


def stated_factors(conditions: Sequence[str], texts: Sequence[str]) -> CrossedFactors:
    """The factors that a researcher states: "length=short,long" with levels, or only new names for the guessed ones.

    If the conditions do not show their levels, they are in the usual order: the last factor changes fastest.
    """
    guess = guess_factors(conditions)
    pairs = [text.partition("=") for text in texts]
    names = [name.strip() for name, _, _ in pairs]
    stated_levels = [tuple(level.strip() for level in levels.split(",") if level.strip()) for _, _, levels in pairs]
    if not any(stated_levels):
        if len(names) != len(guess.levels):
            guesses = "; ".join(", ".join(levels) for levels in guess.levels.values())
            raise SetsError(
                f"{counted(len(names), 'factor')} for {counted(len(guess.levels), 'factor')} in the sheet: {guesses}. "
                "State the levels too, such as --factor length=short,long."
            )
        return CrossedFactors(dict(zip(names, guess.levels.values(), strict=True)), guess.cells)
    if prod(map(len, stated_levels)) != len(conditions) or not all(stated_levels):
        raise SetsError(
            f"The factors make {counted(prod(map(len, stated_levels)), 'condition')}, but there are {len(conditions)}: "
            f"{', '.join(conditions)}. State every factor with all its levels, such as --factor length=short,long."
        )
    levels = dict(zip(names, stated_levels, strict=True))
    order = [
        next((n for n, known_levels in enumerate(guess.levels.values()) if set(known_levels) == set(wanted)), None)
        for wanted in stated_levels
    ]
    if None not in order:
        return CrossedFactors(levels, {name: tuple(cell[n] for n in order if n is not None)
                                for name, cell in guess.cells.items()})  # fmt: skip
    return CrossedFactors(levels, dict(zip(conditions, product(*stated_levels), strict=True)))


def with_rows(sets: ItemSets, rows: Sequence[Mapping[str, str]]) -> ItemSets:
    """Sets with more fillers, each renamed if a set or another filler has its name."""
    names = set(sets.sets) | {row["item"] for row in sets.fillers}
    fillers = list(sets.fillers)
    for row in rows:
        name = f"{row['function'][0]}{row['item']}" if row["item"] in names or row["item"].isdigit() else row["item"]
        number, free = 2, name
        while free in names:
            number, free = number + 1, f"{name}-{number}"
        names.add(free)
        fillers.append({**row, "item": free})
    return replace(sets, fillers=tuple(fillers))


def are_sentences(cells: pl.Series, more_than: int = 2) -> bool:
    """Whether most texts have several words each."""
    texts = cells.drop_nulls().to_list()
    long = sum(len(text.split()) > more_than or (len(text) > 5 and not text.isascii()) for text in texts)
    return bool(texts) and long >= 0.8 * len(texts)


def _bare(condition: str) -> str:
    """The name of a condition without the letter that numbers it.

    Such a letter is followed by a bracket, a colon, a full stop or a dash.
    """
    bracket = re.fullmatch(r"\s*\w{1,2}\s*[(\[](.+)[)\]]\s*|\s*[(\[]([^()\[\]]+)[)\]]\s*", condition)
    if bracket:
        return (bracket[1] or bracket[2]).strip()
    return re.sub(r"^\s*(?:[A-Za-z]|\d{1,2})\s*[).:–-]\s*(?=\S)", "", condition).strip()


def _value(part: str) -> str:
    """The level in "length=long"; other texts unchanged."""
    return part.partition("=")[2].strip() or part.strip()


def factor_names(levels: Sequence[Sequence[str]]) -> list[str]:
    """A name for each factor: from its levels, the usual name for such levels, else a number."""
    names: list[str] = []
    for number, texts in enumerate(levels, start=1):
        prefixes = {level.partition("=")[0].strip() for level in texts if "=" in level}
        usual = [name for name, words in LEVELS_OF.items() if all(level.lower() in words for level in texts)]
        fallback = "condition" if len(levels) == 1 else f"factor_{number}"
        name = next(iter(prefixes)) if len(prefixes) == 1 else usual[0] if usual else fallback
        names.append(f"factor_{number}" if name in names else name)
    return names
