"""The common base of parts: their number, the scales of their answers, and each part as judgments."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import polars as pl

from karat.errors import JudgmentsError, KaratError
from karat.judgments.checks import Place, check
from karat.judgments.columns import COLUMNS, meant
from karat.judgments.scales import Scale
from karat.judgments.table import Judgments

WORKING_COPIES = 4
"""The memory that a criterion needs for a part and its results, as a multiple of the part."""
CONVERT = "karat convert {where} --parts {parts} -o OUT"


class PartsError(KaratError, ValueError):
    """Parts that cannot be read as one table; the message says how to fix that."""


@dataclass(frozen=True)
class Parts:
    """Judgments in parts, with each participant in one of them. The object is small when sent to another process."""

    where: str
    """The folder, or the address of the table without its password."""
    scales: dict[str, Scale]
    """The scale of each question, over all parts."""
    rows: tuple[int, ...] = field(repr=False)
    """How many rows each part has."""

    def __len__(self) -> int:
        return len(self.rows)

    def read(self, number: int) -> Judgments:
        """One part, by its number from 0, with the usual checks of a table of judgments."""
        raise NotImplementedError

    def name(self, number: int) -> str:
        """The name of a part in messages."""
        raise NotImplementedError

    def stamp(self, number: int) -> str:
        """A text that changes when a part is replaced, so that earlier results for it are no longer valid."""
        raise NotImplementedError

    def fingerprint(self, number: int) -> str:
        """A text that changes when an answer of a part changes."""
        return self.read(number).fingerprint()

    def fix(self, parts: int | None = None) -> str:
        """The command that writes parts with each participant in one of them."""
        return CONVERT.format(where=self.where, parts=parts or len(self))


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
    """Raise PartsError if a mapping names a column that karat, or the file, does not have."""
    for column, source in mapping.items():
        if column not in COLUMNS:
            hint = meant(column, list(COLUMNS), "")
            raise PartsError(f"--map {column}={source}: karat has no column {column}. {hint}".strip())
        if source and source not in columns:
            raise PartsError(f"--map {column}={source}: {where} has no column {source}. {meant(source, columns)}")


def refuse_large(name: str, size: int, memory: int | None, parts: int, fix: str) -> None:
    """Raise PartsError if a part of this size needs too much memory; `fix` has {parts} for the number to make."""
    needed = WORKING_COPIES * size
    if memory is None or needed <= memory:
        return
    more = max(2, parts * -(-needed // memory))
    raise PartsError(
        f"{name} needs about {needed / 1e9:.2g} GB of memory, but only {memory / 1e9:.2g} GB are available. "
        f"Make smaller parts: {fix.replace('{parts}', str(more))}"
    )
