"""The Markov criterion in parts: cutoffs for the design of all parts, and everybody's transitions in their own.

Every part is read once. Its answers go to files as numbers, one byte each, with the number of the stimulus within the
part. Stimuli are then numbered over all parts in the order in which they come, the counts of their answers are added
up, and the cutoffs are simulated from the sequences of the same participants that would be drawn in memory, which are
fetched from the files. So they are the same cutoffs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.judgments import Judgments
from karat.judgments.files import replacing
from karat.judgments.scales import Choice, Scale
from karat.judgments.stimuli import PAIR, SHOWN, numbered
from karat.judgments.trial_order import check_order, order_messages, presented
from karat.messages import Message
from karat.models.markov import Strategy
from karat.models.markov_null import Sequences
from karat.screen.criteria.markov import (
    ALPHA,
    SIMULATIONS,
    by_published,
    by_simulation,
    check_settings,
    check_simulations,
    errors_note,
    fit_for_published,
    verdicts,
)
from karat.screen.evidence import PartedEvidence, ScreenError, everybody
from karat.screen.markov_cutoffs import (
    LEAST,
    CutoffDesign,
    Simulated,
    design_of,
    levels_of,
    looked_at,
    simulate_cutoffs,
)
from karat.screen.parted.in_parts import InParts, part_file, rows_on, stimuli_in_parts, write_part
from karat.types import Ints

MOST_STIMULI = 20_000_000
"""More of them would not fit into the memory of the process that adds up their answers."""
NUMBERS = ("codes", "stimuli", "lengths", "counts")


@dataclass(frozen=True)
class DesignInParts(CutoffDesign):
    """What was asked and answered on one scale, where answers and stimuli lie in the files of each part."""

    merged: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64), repr=False)
    """How often each stimulus was answered by each level."""
    folder: Path = Path()
    people: tuple[int, ...] = ()
    """How many participants of each part answered."""
    token: str = ""
    """Of which run the files are; what another run has kept does not hold for them."""

    def counts(self) -> NDArray[np.int64]:
        """How often each stimulus (row) was answered by each level (column)."""
        return self.merged

    def some(self, members: Ints) -> tuple[Sequences, NDArray[np.int8]]:
        """What some participants saw and answered, from the files of their parts."""
        lengths = self.lengths[members]
        begin = np.cumsum(lengths) - lengths
        stimuli, codes = np.empty(lengths.sum(), dtype=np.int64), np.empty(lengths.sum(), dtype=np.int8)
        ends = np.cumsum(self.people)
        part_of = np.searchsorted(ends, members, side="right")
        for number in np.unique(part_of).tolist():
            own, known = _load(self.folder, number), np.load(_path(self.folder, "numbers", number))
            starts = np.cumsum(own["lengths"]) - own["lengths"]
            first = int(ends[number]) - self.people[number]
            for place in np.flatnonzero(part_of == number):
                start, size = starts[members[place] - first], lengths[place]
                here = slice(begin[place], begin[place] + size)
                codes[here] = own["codes"][start : start + size]
                stimuli[here] = known[own["stimuli"][start : start + size]]
        return Sequences(stimuli, lengths), codes


@dataclass(frozen=True)
class _Cutoffs:
    """The simulation for those who gave from so many to so many answers."""

    least: int
    most: int
    simulated: Simulated


def markov_in_parts(
    crowd: InParts,
    cutoffs: Literal["simulated", "published"] = "simulated",
    alpha: float = ALPHA,
    strategy: Strategy = "rows",
    seed: int = 1,
    simulations: int = SIMULATIONS,
) -> PartedEvidence:
    """How near each participant's answers are to a pattern; flagged where nearer than credible answers would be."""
    check_settings(cutoffs, alpha, strategy, simulations)
    root = crowd.scratch / "markov"
    found, order = _found(crowd, root)
    designs, notes = looked_at(found, order)
    made: list[list[_Cutoffs]] = []
    if cutoffs == "published":
        notes += fit_for_published(designs, strategy)
    else:
        check_simulations(alpha / len(designs), simulations)
        simulated = [
            tuple(
                simulate_cutoffs(
                    design, alpha / len(designs), strategy, seed, simulations, LEAST, crowd.executor, crowd.progress
                )
            )
            for design in designs
        ]
        notes += [errors_note(design, own) for design, own in zip(designs, simulated, strict=True)]
        made = [[_trimmed(design, one) for one in own] for design, own in zip(designs, simulated, strict=True)]
    folders = [(design.levels, design.folder) for design in designs if isinstance(design, DesignInParts)]
    settings = {"cutoffs": cutoffs, "alpha": alpha, "strategy": strategy, "seed": seed, "simulations": simulations}
    evidence, _ = crowd.judge_files("markov", _judge, (root, folders, made, strategy), settings)
    return replace(evidence, notes=tuple(notes))


def _found(
    crowd: InParts, root: Path
) -> tuple[list[tuple[Scale, CutoffDesign | None, list[Message]]], tuple[Message, ...]]:
    """The design of each scale on which anybody answered, over all parts; and what is said of the order of trials."""
    scales = list(dict.fromkeys(crowd.scales.values()))
    columns = crowd.read(0).frame.clear()
    keys: dict[int, list[str]] = {}
    notes: dict[int, list[Message]] = {}
    check_order(columns.columns, ScreenError, "markov")
    decided = stimuli_in_parts(crowd)
    sides = [name for name in SHOWN if name in columns.columns]
    for place, scale in enumerate(scales):
        if levels_of(scale):
            stimuli = decided[isinstance(scale, Choice)]
            # The same two items on other sides are shown otherwise, so that the sides stand for the pair.
            keys[place] = [*(name for name in stimuli.keys if name not in PAIR), *sides]
            notes[place] = list(stimuli.messages)
    seen = crowd.map(_encode, (root, scales, keys), name="markov")
    found: list[tuple[Scale, CutoffDesign | None, list[Message]]] = []
    for place, scale in enumerate(scales):
        if not any(one[place] for one in seen):
            continue
        design = _merged(root / str(place), levels_of(scale), keys[place], crowd) if place in keys else None
        found.append((scale, design, notes.get(place, [])))
    return found, order_messages(columns.columns)


def _encode(judgments: Judgments, shared: tuple[Path, list[Scale], dict[int, list[str]]], number: int) -> list[int]:
    """Write the answers of a part as numbers; how many there are on each scale."""
    root, scales, keys = shared
    write_part(everybody(judgments), root / "everybody", number)
    seen = []
    for place, scale in enumerate(scales):
        rows = presented(rows_on(judgments, scale))
        seen.append(rows.height)
        if place not in keys:
            continue
        folder, levels = root / str(place), levels_of(scale)
        design = design_of(rows, numbered(rows, keys[place]), levels)
        write_part(rows.select(keys[place]).unique(maintain_order=True), folder / "stimuli", number)
        write_part(pl.DataFrame({"participant": design.participants}), folder / "participants", number)
        counts = design.counts() if rows.height else np.zeros((0, len(levels)), dtype=np.int64)
        arrays: tuple[NDArray[Any], ...] = (design.codes, design.stimuli.astype(np.int32), design.lengths, counts)
        for name, array in zip(NUMBERS, arrays, strict=True):
            _save(_path(folder, name, number), array)
    return seen


def _merged(folder: Path, levels: tuple[str, ...], keys: list[str], crowd: InParts) -> DesignInParts:
    """Stimuli numbered over all parts, their counts added up, and everybody's number of answers."""
    tables = [pl.read_parquet(part_file(folder / "stimuli", number)) for number in range(len(crowd))]
    together = numbered(pl.concat(tables), keys).to_numpy()
    stimuli = int(together.max()) + 1
    if stimuli > MOST_STIMULI:
        raise ScreenError(Message("markov.many_stimuli", {"stimuli": stimuli, "most": MOST_STIMULI}))
    merged = np.zeros((stimuli, len(levels)), dtype=np.int64)
    lengths, start = [], 0
    for number, table in enumerate(tables):
        known = together[start : start + table.height]
        start += table.height
        own = _load(folder, number)
        # Within a part every stimulus has one number, so that none is added twice.
        merged[known] += own["counts"]
        lengths.append(np.array(own["lengths"]))
        _save(_path(folder, "numbers", number), known)
    empty = np.empty(0, dtype=np.int64)
    return DesignInParts(
        levels, pl.Series([], dtype=pl.String), empty.astype(np.int8), empty, np.concatenate(lengths), merged, folder,
        tuple(len(one) for one in lengths), crowd.token,
    )  # fmt: skip


def _trimmed(design: CutoffDesign, simulated: Simulated) -> _Cutoffs:
    """A simulation without those who share it, who are known by the number of their answers."""
    lengths = design.lengths[simulated.members]
    bare = replace(simulated, members=np.empty(0, dtype=np.int64), followers={}, credible={})
    return _Cutoffs(int(lengths.min()), int(lengths.max()), bare)


def _judge(
    shared: tuple[Path, Sequence[tuple[tuple[str, ...], Path]], list[list[_Cutoffs]], Strategy], number: int
) -> tuple[pl.DataFrame, None]:
    root, folders, made, strategy = shared
    tables = []
    for place, (levels, folder) in enumerate(folders):
        own = _load(folder, number)
        if not len(own["lengths"]):
            continue
        people = pl.read_parquet(part_file(folder / "participants", number))["participant"]
        lengths = np.array(own["lengths"])
        design = CutoffDesign(levels, people, np.array(own["codes"]), np.empty(0, dtype=np.int64), lengths)
        if not made:
            tables.append(by_published(design, strategy))
            continue
        here = [
            replace(one.simulated, members=members)
            for one in made[place]
            if len(members := np.flatnonzero((lengths >= one.least) & (lengths <= one.most)))
        ]
        tables.append(by_simulation(design, tuple(here), strategy, len(folders)))
    everyone = pl.read_parquet(part_file(root / "everybody", number))
    return verdicts(everyone, tables, strategy, several=len(folders) > 1), None


def _path(folder: Path, name: str, number: int) -> Path:
    return part_file(folder / name, number, ".npy")


def _save(path: Path, array: NDArray[Any]) -> None:
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.save(file, array)


def _load(folder: Path, number: int) -> dict[str, NDArray[Any]]:
    """The numbers of a part, mapped into memory: only what is looked at is read."""
    paths = {name: _path(folder, name, number) for name in NUMBERS}
    return {name: np.load(path, mmap_mode="r") for name, path in paths.items()}
