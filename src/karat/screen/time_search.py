"""The search for outlying times, round after round, over trials in one part or in many.

The trials of a participant are in one part, so cutoffs by participant are computed there. Cutoffs by item function, or
over all times, span the parts. Every part stores its times sorted by participant and time. Several parts then form a
batch. All rounds read the times and item functions of batches, nine bytes per trial, mapped into memory if they are in
files. Batches are needed because every file costs a pass some work, however small it is.

A single batch, such as judgments in memory, is processed here, and its medians are those of its values. With several
batches, medians and MADs are computed exactly by counting (`karat.models.robust`). A round then takes two passes: the
first resolves what the counts leave open; the second finds the outliers of the round, stores them for the next round
and counts the rest.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.executors import SERIAL, Executor
from karat.models.robust import SHIFT, Bins, medians_and_deviations, summed, tally
from karat.screen.one_part import Shelf
from karat.screen.time_rules import OUTLIER_ROW, Cutoffs, TimeRule, crossing
from karat.types import Floats, Ints, Progress

BATCHES = 2
"""Batches per process, so that processes end at about the same time."""
LEAST, MOST = 500_000, 4_000_000
"""Trials in a batch: fewer take less time to process than to request, more take much memory. Up to two batches of the
least size form one batch, which is processed here."""
NAMES = ("trial", "session", "question")
"""The columns that identify a trial of a participant."""


@dataclass(frozen=True)
class TimedPart:
    """A summary of a part, needed before its times are processed."""

    trials: int
    people: int
    """Participants with response times."""
    functions: tuple[str, ...]
    """The item functions of the part, by its own codes."""
    least: float
    most: float


def lay_out(frame: pl.DataFrame, shelf: Shelf, number: int) -> TimedPart:
    """Store the times of a part, and the names of its trials, for later passes."""
    people, codes = group_codes(frame["participant"])
    functions, function = group_codes(frame["function"])
    times = frame["rt"].to_numpy()
    order = sorted_by_group(codes, len(people), np.argsort(times))
    sorted_times = {"rt": times[order], "function": function[order].astype(np.uint8), "row": order.astype(np.uint32)}
    counts = pl.Series("trials", np.bincount(codes, minlength=len(people)), pl.Int64)
    shelf.put(pl.DataFrame(sorted_times), "trials", number)
    shelf.put(pl.DataFrame([people.alias("participant"), counts]), "people", number)
    # In memory all columns stay; files have only those that identify a trial.
    shelf.put(
        frame if shelf.in_memory else frame.select(name for name in NAMES if name in frame.columns), "named", number
    )
    least, most = (float(times.min()), float(times.max())) if len(times) else (np.inf, -np.inf)
    return TimedPart(len(times), len(people), tuple(functions.to_list()), least, most)


@dataclass(frozen=True)
class PartBatch:
    """Consecutive parts that are processed together."""

    first: int
    parts: tuple[TimedPart, ...]

    @property
    def name(self) -> str:
        """The name: the first and the last part."""
        return f"{self.first + 1:05}-{self.first + len(self.parts):05}"


def part_batches(parts: Sequence[TimedPart], processes: int = 1, least: int = LEAST) -> list[PartBatch]:
    """Batches of consecutive parts with about equal numbers of trials, at least `least`.

    >>> parts = [TimedPart(trials, 1, ("test",), 1.0, 2.0) for trials in (300, 200, 500)]
    >>> [batch.name for batch in part_batches(parts, least=400)]
    ['00001-00002', '00003-00003']
    """
    trials = np.array([part.trials for part in parts])
    total = int(trials.sum())
    wanted = max(min(processes * BATCHES, total // least), processes, -(-total // MOST)) if total > 2 * least else 1
    # A part belongs to the batch of its middle trial, if all trials are divided evenly.
    places = ((np.cumsum(trials) - trials / 2) * wanted / total).astype(np.int64)
    grouped = [list(part) for _, part in itertools.groupby(range(len(parts)), key=lambda number: int(places[number]))]
    return [PartBatch(numbers[0], tuple(parts[number] for number in numbers)) for numbers in grouped]


@dataclass(frozen=True)
class OutlierSearch:
    """A search in all parts, with the shelf that passes share."""

    rule: TimeRule
    constant: float
    inclusive: bool
    names: tuple[str, ...]
    """The groups that span participants: the item functions in order of appearance, or all times, or none."""
    shelf: Shelf

    @classmethod
    def over(
        cls, parts: Sequence[TimedPart], rule: TimeRule, constant: float, inclusive: bool, shelf: Shelf
    ) -> OutlierSearch:
        """The search in these parts."""
        names = [name for part in parts for name in part.functions] if "function" in rule.by else []
        return cls(rule, constant, inclusive, tuple(dict.fromkeys(names)) if rule.by else ("all",), shelf)

    @property
    def spanning(self) -> str:
        """The kind of groups that span participants."""
        return "function" if self.rule.by else "all"

    def joined(self, batch: PartBatch) -> TimedTrials:
        """The joined times of some parts, with the numbers of the groups that span parts; also stored."""
        times, groups, counts = [], [], []
        for number, part in enumerate(batch.parts, start=batch.first):
            trials = self.shelf.table("trials", number, ["rt", "function"])
            times.append(trials["rt"].to_numpy())
            counts.append(self.shelf.table("people", number, ["trials"])["trials"].to_numpy())
            if "function" in self.rule.by:
                codes = np.array([self.names.index(name) for name in part.functions], np.uint8)
                groups.append(codes[trials["function"].to_numpy()])
            else:
                groups.append(np.zeros(len(trials), np.uint8))
        for name, arrays in (("times", times), ("groups", groups), ("counts", counts)):
            self.shelf.put(np.concatenate(arrays), name, batch.name)
        return self.trials(batch, 0)

    def trials(self, batch: PartBatch, until: int) -> TimedTrials:
        """The times of a batch, and their outliers up to some round."""
        outliers = self.shelf.array(f"outliers-{until}", batch.name) if until else np.zeros(0, OUTLIER_ROW)
        times, counts, groups = (self.shelf.array(name, batch.name) for name in ("times", "counts", "groups"))
        return TimedTrials(self, times, counts, groups, outliers)


class TimedTrials:
    """Times sorted by participant and time, the number per participant, and the outliers up to some round."""

    def __init__(
        self, setup: OutlierSearch, times: Floats, counts: Ints, groups: NDArray[np.integer], outliers: NDArray[Any]
    ) -> None:
        self.setup, self.times, self.counts, self.groups, self.outliers = setup, times, counts, groups, outliers
        self.people = np.repeat(np.arange(len(counts), dtype=np.int32), counts)

    def tally(self, within: Bins | None = None, shift: int = SHIFT) -> Bins:
        """The remaining times, counted by the groups that span participants."""
        # Outliers are counted as one more group, which is dropped: quicker than removing them.
        groups, removed = np.array(self.groups), len(self.setup.names)
        groups[self.outliers["place"]] = removed
        bins = tally(self.times, groups, within, shift)
        return bins.where(bins.group < removed)

    def cutoffs(self) -> tuple[Cutoffs, Ints]:
        """The cutoffs of the groups that span participants, from the remaining times, and the number of these."""
        times, groups, order = self._by_group
        still = np.ones(len(times), bool)
        still[self.outliers["place"]] = False
        still = still[order]
        counts = np.bincount(groups[still], minlength=len(self.setup.names))
        return Cutoffs.of(times[still], counts, self.setup.rule, self.setup.constant), counts

    def part(self, batch: PartBatch, number: int) -> TimedTrials:
        """The times of one part of the batch."""
        before = batch.parts[: number - batch.first]
        first, person = sum(earlier.trials for earlier in before), sum(earlier.people for earlier in before)
        part = batch.parts[number - batch.first]
        rows, persons = slice(first, first + part.trials), slice(person, person + part.people)
        outliers = self.outliers[(self.outliers["place"] >= rows.start) & (self.outliers["place"] < rows.stop)]
        outliers["place"] -= rows.start
        return TimedTrials(self.setup, self.times[rows], self.counts[persons], self.groups[rows], outliers)

    @cached_property
    def _by_group(self) -> tuple[Floats, NDArray[np.integer], NDArray[np.integer]]:
        """The times and groups sorted by group and time, and the order that sorts them."""
        order = sorted_by_group(self.groups.astype(np.int32), len(self.setup.names), np.argsort(self.times))
        return self.times[order], self.groups[order], order

    def search(self, number: int, spanning: Cutoffs | None) -> int:
        """Run one round; returns the number of new outliers, which are added to earlier ones."""
        genuine = np.ones(len(self.times), bool)
        genuine[self.outliers["place"]] = False
        groups: list[tuple[NDArray[np.integer], Cutoffs]] = []
        if "participant" in self.setup.rule.by:
            counts = self.counts - np.bincount(self.people[self.outliers["place"]], minlength=len(self.counts))
            cutoffs = Cutoffs.of(self.times[genuine], counts, self.setup.rule, self.setup.constant)
            groups.append((self.people, cutoffs))
        if spanning is not None:
            groups.append((self.groups, spanning))
        new = crossing(self.times, genuine, groups, self.setup.inclusive)
        new["degree"] = number
        self.outliers = np.concatenate([self.outliers, new])
        return len(new)

    def cutoffs_by_round(self, rounds: int, names: pl.Series) -> pl.DataFrame:
        """The cutoffs of each participant in every round; they change only after a round with outliers of this one."""
        setup, outliers, people = self.setup, self.outliers, self.people
        degree = np.zeros(len(self.times), np.int32)
        degree[outliers["place"]] = outliers["degree"]
        lost = np.zeros((rounds + 1, len(self.counts)), np.int64)
        np.add.at(lost, (outliers["degree"], people[outliers["place"]]), 1)
        counts = self.counts - np.cumsum(lost[:rounds], axis=0)
        new = lost[:rounds] > 0
        new[0] = True
        values = [
            self.times[changed[people] & ((degree == 0) | (degree > before))] for before, changed in enumerate(new)
        ]
        cutoffs = Cutoffs.of(np.concatenate(values), counts[new], setup.rule, setup.constant)
        # The cutoffs that apply to each round and participant are those of the last round with new ones.
        last_change = np.zeros(new.shape, np.int64)
        last_change[new] = np.arange(int(new.sum()))
        place = np.maximum.accumulate(last_change, axis=0).ravel()
        current = Cutoffs(cutoffs.centre[place], cutoffs.spread[place], cutoffs.lower[place], cutoffs.upper[place])
        number = np.repeat(np.arange(1, rounds + 1), len(self.counts))
        return current.table(number, "participant", pl.concat([names] * rounds), counts.ravel(), setup.rule)


@dataclass(frozen=True)
class SearchedRounds:
    """The number of rounds computed and of those with outliers, and the cutoffs that span participants."""

    computed: int
    with_outliers: int
    spanning: pl.DataFrame

    def cutoffs(self, of_participants: pl.DataFrame | None) -> pl.DataFrame:
        """All cutoffs, round by round: those of participants, if any, and those that span participants."""
        every = [table for table in (of_participants, self.spanning) if table is not None and table.width]
        return pl.concat(every).sort("round", maintain_order=True)


def search(
    setup: OutlierSearch, batches: Sequence[PartBatch], executor: Executor = SERIAL, progress: Progress | None = None
) -> SearchedRounds:
    """Search the batches round after round until there is no new outlier; all outliers are stored on the shelf."""
    most = sum(part.trials for batch in batches for part in batch.parts)
    if len(batches) == 1:
        trials = setup.joined(batches[0])
        rounds = _rounds(setup, most, lambda _: trials.cutoffs(), trials.search)
        setup.shelf.put(trials.outliers, f"outliers-{rounds.computed}", batches[0].name)
        return rounds

    def each(step: str, number: int, *more: Any) -> list[Any]:
        name = f"remfod, round {number}"
        return executor.map(do_step, (setup, step, number, more), batches, name=name, progress=progress)

    counts = each("tally", 1)

    def cutoffs(number: int) -> tuple[Cutoffs, Ints]:
        bins, groups = summed(counts), len(setup.names)
        middle = medians_and_deviations(
            bins, lambda within, shift: summed(each("tally", number, within, shift)), groups, setup.constant
        )
        return Cutoffs.around(*middle, setup.rule), np.bincount(bins.group, bins.count, groups).astype(np.int64)

    def find(number: int, spanning: Cutoffs | None) -> int:
        nonlocal counts
        results = each("search", number, number, spanning)
        counts = [remaining for _, remaining in results]
        return sum(new for new, _ in results)

    return _rounds(setup, most, cutoffs, find)


def do_step(shared: tuple[OutlierSearch, str, int, tuple[Any, ...]], batch: PartBatch) -> Any:
    """A step of a round on one of several batches; the very first step joins its parts."""
    setup, step, number, more = shared
    first = (step, number, more) == ("tally", 1, ())
    trials = setup.joined(batch) if first else setup.trials(batch, number - 1)
    if step == "tally":
        return trials.tally(*more) if setup.names else None
    new = trials.search(*more)
    setup.shelf.put(trials.outliers, f"outliers-{number}", batch.name)
    # All parts have finished the previous round, so the outliers of the one before that are not read any more.
    setup.shelf.drop(f"outliers-{number - 2}", batch.name)
    return new, trials.tally() if setup.names else None


def _rounds(
    setup: OutlierSearch, trials: int, cutoffs: Callable[[int], tuple[Cutoffs, Ints]],
    find: Callable[[int, Cutoffs | None], int],
) -> SearchedRounds:  # fmt: skip
    """Run the rounds. `cutoffs` returns those of the groups that span participants, with their remaining trials; `find`
    returns the number of new outliers.
    """
    tables = []
    for number in range(1, trials + 2 if setup.rule.recursive else 2):
        spanning = None
        if setup.names:
            spanning, counts = cutoffs(number)
            tables.append(spanning.table(number, setup.spanning, pl.Series(setup.names), counts, setup.rule))
        new = find(number, spanning)
        if not new:
            break
    return SearchedRounds(number, number if new else number - 1, pl.concat(tables) if tables else pl.DataFrame())


@dataclass(frozen=True)
class Outliers:
    """The kind of each trial (0 genuine, 1 intermission, 2 rush), and the cutoffs of all rounds."""

    kind: NDArray[np.int8]
    cutoffs: pl.DataFrame
    """round, group (participant, function, all), name, trials, median or mean, mad or sd, lower, upper."""


def find_outliers(frame: pl.DataFrame, rule: TimeRule, mad_constant: float, inclusive: bool = False) -> Outliers:
    """The outlying trials of a frame with participant, function and rt; `inclusive` takes times at a cutoff too."""
    shelf = Shelf()
    parts = [lay_out(frame, shelf, 0)]
    setup, batch = OutlierSearch.over(parts, rule, mad_constant, inclusive, shelf), PartBatch(0, tuple(parts))
    rounds = search(setup, [batch])
    trials = setup.trials(batch, rounds.computed)
    kinds = np.zeros(frame.height, np.int8)
    kinds[shelf.table("trials", 0)["row"].to_numpy()[trials.outliers["place"]]] = trials.outliers["kind"]
    people = shelf.table("people", 0)["participant"]
    of_participants = trials.cutoffs_by_round(rounds.computed, people) if "participant" in rule.by else None
    return Outliers(kinds, rounds.cutoffs(of_participants))


def group_codes(column: pl.Series) -> tuple[pl.Series, NDArray[np.int32]]:
    """The groups in order of appearance, and the number of each trial's group.

    >>> labels, codes = group_codes(pl.Series(["b", "a", "b"]))
    >>> labels.to_list(), codes.tolist()
    (['b', 'a'], [0, 1, 0])
    """
    labels = column.unique(maintain_order=True)
    if not len(labels):
        return labels, np.zeros(0, np.int32)
    codes = column.replace_strict(labels, pl.Series(range(len(labels)), dtype=pl.Int32)).to_numpy()
    return labels, codes


def sorted_by_group(codes: NDArray[np.int32], groups: int, order: NDArray[np.integer]) -> NDArray[np.integer]:
    """A given order of trials, such as by time, rearranged one group after the other (stable).

    >>> sorted_by_group(np.array([1, 0, 1], np.int32), 2, np.array([2, 1, 0])).tolist()
    [1, 2, 0]
    """
    # A stable sort by 16 bits of the code at a time, which numpy does by counting, is much faster than a lexsort.
    for shift in range(0, max(groups - 1, 1).bit_length(), 16):
        digits = (codes >> shift).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
    return order
