"""What parts are: how many there are, on which scales their answers are, and each of them as judgments."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import polars as pl

from karat.errors import JudgmentsError, KaratError
from karat.judgments.checks import Place, check
from karat.judgments.columns import COLUMNS, meant
from karat.judgments.scales import Scale
from karat.judgments.table import Judgments

WORKING_COPIES = 4
"""How often a part is in memory while a criterion looks at it, with what is computed from it."""
MEND = "karat convert {where} --parts {parts} -o OUT"


class PartsError(KaratError, ValueError):
    """Parts that cannot be read as one table, with what to do about it."""


@dataclass(frozen=True)
class Parts:
    """Judgments in parts, of which every participant is in one. What is given to another process is small."""

    where: str
    """What people call it: the folder, or the table without its password."""
    scales: dict[str, Scale]
    """The scale of each question, over all parts."""
    rows: tuple[int, ...] = field(repr=False)
    """How many rows each part has."""

    def __len__(self) -> int:
        return len(self.rows)

    def read(self, number: int) -> Judgments:
        """One part, by its number from 0, checked as every table of judgments is."""
        raise NotImplementedError

    def name(self, number: int) -> str:
        """What people call a part."""
        raise NotImplementedError

    def stamp(self, number: int) -> str:
        """A text that changes where a part is another one; what was computed before then holds no longer."""
        raise NotImplementedError

    def fingerprint(self, number: int) -> str:
        """A text that changes where an answer of a part changes."""
        return self.read(number).fingerprint()

    def fix(self, parts: int | None = None) -> str:
        """The command that writes parts of which every participant is in one."""
        return MEND.format(where=self.where, parts=parts or len(self))


def checked_part(
    frame: pl.DataFrame,
    scales: Mapping[str, Scale],
    name: str,
    locate: Callable[[int], Place],
    participants: pl.DataFrame | None = None,
) -> Judgments:
    """A table as judgments; errors name the part."""
    checked = check(frame, scales, locate)
    if checked.problems:
        raise JudgmentsError(f"{name} is not a table of judgments:", checked.problems)
    return Judgments.from_checked(checked, scales, participants)


def refuse_mapping(mapping: Mapping[str, str], columns: list[str], where: str) -> None:
    """PartsError where a mapping names a column that karat, or the file, does not have."""
    for ours, theirs in mapping.items():
        if ours not in COLUMNS:
            hint = meant(ours, list(COLUMNS), "")
            raise PartsError(f"--map {ours}={theirs}: karat has no column {ours}. {hint}".strip())
        if theirs and theirs not in columns:
            raise PartsError(f"--map {ours}={theirs}: {where} has no column {theirs}. {meant(theirs, columns)}")


def refuse_large(name: str, needed: int, memory: int | None, parts: int, fix: str) -> None:
    """PartsError where a part needs more memory than it may have; `fix` has {parts} for how many there should be."""
    if memory is None or needed <= memory:
        return
    more = max(2, parts * -(-needed // memory))
    raise PartsError(
        f"{name} needs about {needed / 1e9:.2g} GB of memory, but only {memory / 1e9:.2g} GB are available. "
        f"Make smaller parts: {fix.format(parts=more)}"
    )
