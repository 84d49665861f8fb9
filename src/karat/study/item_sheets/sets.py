"""Item sets and the factors that cross in their conditions.

Which factors cross is guessed from the names of the conditions: "a (that, short)", "that_long" or "comp=null/length=
long". What the names do not show, the researcher states.
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
"""Columns of a sheet: those that hold sentences or words, but no condition; of conditions; and of sentences."""
ITEMS = (*_WORDS["items"], *COLUMN_NAMES["item"])
LEVELS_OF: Mapping[str, Sequence[str]] = known_words()["levels"]
"""Names of factors by the levels that they usually have."""


class SetsError(ProblemsError):
    """Item sets that cannot be made into a study."""


@dataclass(frozen=True)
class CrossedFactors:
    """The factors of a design with their levels, and the level of each that a condition has."""

    levels: Mapping[str, tuple[str, ...]]
    cells: Mapping[str, tuple[str, ...]]
    guessed: bool = True
    """Whether the names of the conditions showed the levels; else the conditions are the levels of one factor."""
    between: tuple[str, ...] = ()
    """The factors of which each item has one level."""
    compared: str | None = None
    """The factor whose levels were shown side by side, in choices."""

    @property
    def lists(self) -> int:
        """How many lists show every item once in each of its conditions."""
        shown = [len(own) for name, own in self.levels.items() if name not in (*self.between, self.compared)]
        return prod(shown)

    def renamed(self, names: Sequence[str]) -> CrossedFactors:
        """The same factors under other names."""
        if len(names) != len(self.levels) or not all(names) or len(set(names)) < len(names):
            raise SetsError(f"Give each of the {counted(len(self.levels), 'factor')} a name of its own.")
        new = dict(zip(self.levels, names, strict=True))
        return replace(
            self, levels={new[name]: own for name, own in self.levels.items()},
            between=tuple(new[name] for name in self.between), compared=new.get(self.compared or ""),
        )  # fmt: skip

    def with_compared(self, found: CrossedFactors) -> CrossedFactors:
        """The factors with the one that results compare, known by its levels."""
        levels = set(found.levels.get(found.compared or "", ()))
        return replace(self, compared=next((name for name, own in self.levels.items() if set(own) == levels), None))


@dataclass(frozen=True)
class ItemSets:
    """For each set a sentence per condition, and the sentences beside them: fillers, controls, practice."""

    source: Path
    sets: Mapping[str, Mapping[str, str]]
    conditions: tuple[str, ...]
    fillers: tuple[Mapping[str, str], ...] = ()
    wide: bool = False
    """Whether a study can read the source itself, column by column."""
    sheet: str | None = None
    """The sheet of a workbook, where it has several."""
    notes: tuple[str, ...] = ()
    beside: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    """What else is known of a sentence, such as its status, by set and condition."""
    scale: Scale | None = None
    """The scale on which the sentences were judged, where the sets come from results."""
    paired: bool = False
    """Whether a set is a pair of sentences that were shown together, and nothing says how they differ."""


SEPARATORS = (
    r"\s*[,;/|×]\s*", r"(?<=\w)\s*\+\s*(?=\w)", r"[_.]", r"(?<=\w)\s*[-–:]\s*(?=\w)", r"\s+", r"(?<=[a-zß-ÿ])(?=[A-Z])",
    r"(?<=[A-Za-z])(?=\d)",
)  # fmt: skip
"""What stands between the levels in the name of a condition: a sign, a blank, a capital letter or a digit."""


def guess_factors(conditions: Sequence[str]) -> CrossedFactors:
    """The factors that cross in conditions, from their names; a single factor where these show nothing else."""
    for separator in SEPARATORS:
        parts = [[part for part in re.split(separator, _bare(name)) if part] for name in conditions]
        levels = [tuple(dict.fromkeys(column)) for column in zip(*parts, strict=False)]
        even = len({len(own) for own in parts}) == 1 and len({tuple(own) for own in parts}) == len(conditions)
        varied = [number for number, own in enumerate(levels) if len(own) > 1]
        if even and len(parts[0]) > 1 and varied and prod(len(levels[number]) for number in varied) == len(conditions):
            names = factor_names([levels[number] for number in varied])
            found = {name: tuple(map(_value, levels[number])) for name, number in zip(names, varied, strict=True)}
            cells = {
                name: tuple(_value(own[number]) for number in varied)
                for name, own in zip(conditions, parts, strict=True)
            }
            return CrossedFactors(found, cells)
    bare = [_value(_bare(name)) for name in conditions]
    levels_alone = bare if len(set(bare)) == len(bare) else list(conditions)
    cells = {name: (level,) for name, level in zip(conditions, levels_alone, strict=True)}
    shown = all(_bare(name) != name for name in conditions)
    return CrossedFactors({factor_names([list(conditions)])[0]: tuple(levels_alone)}, cells, shown)


def stated_factors(conditions: Sequence[str], stated: Sequence[str]) -> CrossedFactors:
    """The factors as a researcher states them: "length=short,long" with levels, or names alone for those guessed.

    Where the conditions do not show their levels, they are taken in the usual order: the last factor changes fastest.
    """
    guess = guess_factors(conditions)
    named = [one.partition("=") for one in stated]
    names = [name.strip() for name, _, _ in named]
    given = [tuple(level.strip() for level in levels.split(",") if level.strip()) for _, _, levels in named]
    if not any(given):
        if len(names) != len(guess.levels):
            found = "; ".join(", ".join(levels) for levels in guess.levels.values())
            raise SetsError(
                f"{counted(len(names), 'factor')} for {counted(len(guess.levels), 'factor')} in the sheet: {found}. "
                "State the levels too, such as --factor length=short,long."
            )
        return CrossedFactors(dict(zip(names, guess.levels.values(), strict=True)), guess.cells)
    if prod(map(len, given)) != len(conditions) or not all(given):
        raise SetsError(
            f"The factors make {counted(prod(map(len, given)), 'condition')}, but there are {len(conditions)}: "
            f"{', '.join(conditions)}. State every factor with all its levels, such as --factor length=short,long."
        )
    levels = dict(zip(names, given, strict=True))
    order = [
        next((n for n, own in enumerate(guess.levels.values()) if set(own) == set(wanted)), None) for wanted in given
    ]
    if None not in order:
        return CrossedFactors(levels, {name: tuple(cell[n] for n in order if n is not None)
                                for name, cell in guess.cells.items()})  # fmt: skip
    return CrossedFactors(levels, dict(zip(conditions, product(*given), strict=True)))


def with_rows(sets: ItemSets, rows: Sequence[Mapping[str, str]]) -> ItemSets:
    """Sets with fillers, each with a name that no set and no other filler has."""
    taken = set(sets.sets) | {row["item"] for row in sets.fillers}
    fillers = list(sets.fillers)
    for row in rows:
        name = f"{row['function'][0]}{row['item']}" if row["item"] in taken or row["item"].isdigit() else row["item"]
        number, free = 2, name
        while free in taken:
            number, free = number + 1, f"{name}-{number}"
        taken.add(free)
        fillers.append({**row, "item": free})
    return replace(sets, fillers=tuple(fillers))


def are_sentences(cells: pl.Series, more_than: int = 2) -> bool:
    """Whether texts have several words each, as a rule."""
    texts = cells.drop_nulls().to_list()
    long = sum(len(text.split()) > more_than or (len(text) > 5 and not text.isascii()) for text in texts)
    return bool(texts) and long >= 0.8 * len(texts)


def _bare(condition: str) -> str:
    """The name of a condition without the letter that numbers it.

    A letter is one where a bracket, a colon, a full stop or a dash follows it.
    """
    bracket = re.fullmatch(r"\s*\w{1,2}\s*[(\[](.+)[)\]]\s*|\s*[(\[]([^()\[\]]+)[)\]]\s*", condition)
    if bracket:
        return (bracket[1] or bracket[2]).strip()
    return re.sub(r"^\s*(?:[A-Za-z]|\d{1,2})\s*[).:–-]\s*(?=\S)", "", condition).strip()


def _value(part: str) -> str:
    """The level in "length=long"; else the whole."""
    return part.partition("=")[2].strip() or part.strip()


def factor_names(levels: Sequence[Sequence[str]]) -> list[str]:
    """A name for each factor: as its levels state it, as such levels are usually called, else a number."""
    names: list[str] = []
    for number, own in enumerate(levels, start=1):
        stated = {level.partition("=")[0].strip() for level in own if "=" in level}
        usual = [name for name, known in LEVELS_OF.items() if all(level.lower() in known for level in own)]
        one = "condition" if len(levels) == 1 else f"factor_{number}"
        name = next(iter(stated)) if len(stated) == 1 else usual[0] if usual else one
        names.append(f"factor_{number}" if name in names else name)
    return names
