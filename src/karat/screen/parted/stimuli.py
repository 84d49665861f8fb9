"""What a stimulus is, over all parts: the decision of `karat.judgments.stimuli`, made from what each part has to say.

Each part writes the different combinations of values that it has, with their numbers. Participants lie in one part
each, so that counts of participants add up.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol, TypeVar

import polars as pl

from karat.judgments import Judgments
from karat.judgments.answer_codes import answered, by_scale
from karat.judgments.files import replacing
from karat.judgments.scales import Choice, Scale
from karat.judgments.stimuli import (
    Stimuli,
    candidates,
    deviations,
    find_stimuli,
    never_falls,
    rows_of_kind,
    value_shares,
    values_within,
)
from karat.screen.parted.part_files import part_file, write_part

Result = TypeVar("Result")


class ReadableParts(Protocol):
    """What must be known of parts to decide on stimuli."""

    @property
    def scratch(self) -> Path:
        """Where passes leave files for each other."""
        ...

    @property
    def scales(self) -> Mapping[str, Scale]:
        """The scale of each question."""
        ...

    def __len__(self) -> int: ...

    def read(self, number: int) -> Judgments:
        """A part."""
        ...

    def with_everybody(self) -> ReadableParts:
        """The same parts with those who are excluded."""
        ...

    def map(self, function: Callable[[Judgments, Any, int], Result], shared: Any, *, name: str) -> list[Result]:
        """`function(judgments, shared, number)` of every part, in their order."""
        ...


def stimuli_in_parts(crowd: ReadableParts) -> dict[bool, Stimuli]:
    """What a stimulus is, decided on everybody once per run; of choices under True, of other answers under False."""
    path = crowd.scratch / "stimuli" / "decision.json"
    if not path.exists():
        # Those whom a stage has excluded have seen the same design.
        whole = crowd.with_everybody()
        kinds = {isinstance(scale, Choice) for scale in crowd.scales.values()}
        found = {kind: find_stimuli(RowsInParts(whole, kind)) for kind in sorted(kinds)}
        with replacing(path) as temporary:
            temporary.write_text(json.dumps({int(kind): asdict(own) for kind, own in found.items()}), encoding="utf-8")
    read = json.loads(path.read_text(encoding="utf-8"))
    return {
        bool(int(kind)): Stimuli(**{name: tuple(columns) for name, columns in own.items()})
        for kind, own in read.items()
    }


def rows_on(judgments: Judgments, scale: Scale) -> pl.DataFrame:
    """The answers on a scale, practice left out."""
    rows = answered(judgments)
    return next((part for own, part in by_scale(judgments, rows) if own == scale), rows.clear())


class RowsInParts:
    """The choices of all parts, or all other answers, as `karat.judgments.stimuli.DesignTable` asks for them."""

    def __init__(self, crowd: ReadableParts, choices: bool) -> None:
        self.crowd, self.choices = crowd, choices
        self.schema: Mapping[str, object] = _rows(crowd.read(0), choices).schema
        self._folder = crowd.scratch / "stimuli"
        self._counted: dict[Path, int] = {}

    def distinct(self, columns: list[str]) -> int:
        """How many different combinations of values there are."""
        return int(self.counts(columns).select(pl.struct(columns).n_unique()).collect().item())

    def participants(self, columns: list[str]) -> int:
        """The number of participants of each combination, summed over combinations."""
        return self._count(columns)[1]

    def people(self, names: list[str]) -> list[str]:
        """The columns that never vary within a participant."""
        found = self.crowd.map(_values_within, (self.choices, names), name="stimuli")
        return [
            name
            for name in names
            if max(within[name] for within, _ in found) <= 1
            and len({repr(value) for _, values in found for value in values[name]}) > 1
        ]

    def counts(self, columns: list[str]) -> pl.LazyFrame:
        """How often each combination occurs."""
        return self._count(columns)[0].group_by(columns).agg(pl.col("len").sum())

    def dispersion(self, keys: list[str], name: str) -> float:
        """How much participants differ in how often they have each value."""
        shares = value_shares(self.counts([*keys, name]), keys, name).collect()
        path = self._folder / f"{_digest(self.choices, [*keys, name])}-shares.parquet"
        with replacing(path) as temporary:
            shares.write_parquet(temporary)
        found = self.crowd.map(_deviations, (self.choices, path, keys, name), name="stimuli")
        squares, variance = (sum(own) for own in zip(*found, strict=True))
        return squares / variance if variance else 0.0

    def rises(self, name: str) -> bool:
        """Whether a number never falls along the trials of any participant, and their order is known."""
        return all(self.crowd.map(_never_falls, (self.choices, name), name="stimuli"))

    def _count(self, columns: list[str]) -> tuple[pl.LazyFrame, int]:
        """The combinations of each part with their numbers, and how many participants have how many of them."""
        here = self._folder / _digest(self.choices, columns)
        if here not in self._counted:
            found = self.crowd.map(_combinations, (self.choices, columns, here), name="stimuli")
            self._counted[here] = sum(found)
        files = [part_file(here, number) for number in range(len(self.crowd))]
        return pl.scan_parquet(files), self._counted[here]


def _rows(judgments: Judgments, choices: bool) -> pl.DataFrame:
    """The rows of a part that the decision looks at, with the columns that it needs."""
    rows = rows_of_kind(answered(judgments), judgments.scales, choices)
    wanted = ("participant", "item", "question", "response", "list", "left", "right", "polarity", "trial", "time",
              "session", "_first", "_second", *candidates(rows.schema))  # fmt: skip
    return rows.select(name for name in wanted if name in rows.columns)


def _digest(choices: bool, columns: list[str]) -> str:
    """A name for one pass, whatever the columns are called."""
    return hashlib.sha256(repr((choices, columns)).encode()).hexdigest()[:16]


def _values_within(
    judgments: Judgments, shared: tuple[bool, list[str]], number: int
) -> tuple[dict[str, int], dict[str, list[object]]]:
    return values_within(_rows(judgments, shared[0]), shared[1])


def _deviations(
    judgments: Judgments, shared: tuple[bool, Path, list[str], str], number: int
) -> tuple[float, float]:  # fmt: skip
    choices, path, keys, name = shared
    return deviations(_rows(judgments, choices), pl.read_parquet(path), keys, name)


def _never_falls(judgments: Judgments, shared: tuple[bool, str], number: int) -> bool:
    rows = _rows(judgments, shared[0])
    return not rows.height or never_falls(rows, shared[1])


def _combinations(judgments: Judgments, shared: tuple[bool, list[str], Path], number: int) -> int:
    """Write the different combinations of a part with their numbers; how many participants have how many of them."""
    choices, columns, folder = shared
    rows = _rows(judgments, choices)
    write_part(rows.group_by(columns).agg(pl.len().cast(pl.Int64)), folder, number)
    return rows.select("participant", *columns).n_unique() if rows.height else 0
