"""The times of parts on disk, as the rounds of ReMFOD over parts read them (`karat.screen.parted.remfod`).

Every part writes its trials once, sorted by participant and time. Several parts are then put together to a batch, whose
times and item functions are what all later passes read, nine bytes a trial, mapped into memory: a pass has some work
to do for every file, however small. What has been found outlying is written anew by each round.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.judgments import Judgments
from karat.judgments.files import replacing
from karat.judgments.trial_order import order_messages, with_positions
from karat.messages import Message
from karat.models.counting import Bins, tally
from karat.screen.evidence import ScreenError, everybody
from karat.screen.parted.in_parts import part_file
from karat.screen.time_rules import Cutoffs, crossing, group_codes, sorted_by_group
from karat.study.time_rules import TimeRule
from karat.types import Floats, Ints

FOUND = np.dtype([("place", "i4"), ("kind", "i1"), ("degree", "i4"), ("lower", "f8"), ("upper", "f8")])
"""What is known of an outlying trial; its place is among the times of its batch, sorted by participant and time."""
SMALL = 1 << 16
"""Files of so many bytes are read; larger ones are mapped."""


@dataclass(frozen=True)
class TimedPart:
    """What is to be known of a part before its times are looked at."""

    trials: int
    people: int
    """Those who have a time."""
    timed: bool
    order: tuple[Message, ...]
    """What is said of the order of trials."""
    untimed: int
    functions: list[str]
    """Its item functions, by its own codes."""
    least: float
    most: float


@dataclass(frozen=True)
class PartBatch:
    """Parts that follow each other and are gone over together; the name of its files says which."""

    first: int
    parts: tuple[TimedPart, ...]
    stamps: tuple[str, ...]
    """Of which state of the parts it is made."""

    @property
    def name(self) -> str:
        """From the first to the last part."""
        return f"{self.first + 1:05}-{self.first + len(self.parts):05}"


@dataclass(frozen=True)
class SharedPasses:
    """What all passes share."""

    folder: Path
    rule: TimeRule
    constant: float
    inclusive: bool
    names: list[str]
    """The groups that span parts: the item functions in the order in which they come, or all; or none."""
    token: str
    """Of which run the files are."""

    @property
    def spanning(self) -> str:
        """What the groups are that span parts."""
        return "function" if self.rule.by else "all"


def take_times(judgments: Judgments, folder: Path, number: int) -> TimedPart:
    """Write the times of a part for the passes to come, and what its trials are called."""
    frame = judgments.frame
    untimed = "rt" not in frame.columns
    if untimed:
        frame = frame.with_columns(rt=pl.lit(None, pl.Float64))
    asked = with_positions(frame).filter(pl.col("function") != "practice")
    kept = asked.filter(pl.col("rt").is_not_null())
    people, codes = group_codes(kept["participant"])
    functions, function = group_codes(kept["function"])
    times = kept["rt"].to_numpy()
    order = sorted_by_group(codes, len(people), np.argsort(times))
    named = kept.select(name for name in ("trial", "session", "question") if name in kept.columns)[order]
    sorted_times = pl.Series("rt", times[order])
    write_frame(
        pl.DataFrame([sorted_times, pl.Series("function", function[order].astype(np.uint8)),
                      pl.Series("row", order.astype(np.uint32)), *named]),
        folder / "trials", number,
    )  # fmt: skip
    counts = pl.DataFrame([people.alias("participant"), pl.Series("trials", np.bincount(codes, minlength=len(people)))])
    counts = counts.with_row_index("place")
    everyone = everybody(judgments).join(counts, on="participant", how="left", maintain_order="left")
    write_frame(everyone, folder / "people", number)
    least, most = (float(times.min()), float(times.max())) if len(times) else (np.inf, -np.inf)
    return TimedPart(
        len(times), len(people), frame["rt"].null_count() < frame.height, order_messages(frame.columns),
        asked.height - kept.height, functions.to_list(), least, most,
    )  # fmt: skip


def join_parts(given: SharedPasses, batch: PartBatch) -> None:
    """Put the times of some parts together, with the numbers of the groups that span parts."""
    times, groups, counts = [], [], []
    for number, part in enumerate(batch.parts, start=batch.first):
        trials = read_frame(given.folder / "trials", number, ["rt", "function"])
        people = read_frame(given.folder / "people", number, ["place", "trials"]).drop_nulls().sort("place")
        times.append(trials["rt"].to_numpy())
        counts.append(people["trials"].to_numpy().astype(np.int64))
        if "function" in given.rule.by:
            own = np.array([given.names.index(name) for name in part.functions], np.uint8)
            groups.append(own[trials["function"].to_numpy()])
        else:
            groups.append(np.zeros(len(trials), np.uint8))
    save(given.folder / "times", batch.name, np.concatenate(times))
    save(given.folder / "groups", batch.name, np.concatenate(groups))
    save(given.folder / "counts", batch.name, np.concatenate(counts))


class BatchTimes:
    """The times of a batch, sorted by participant and time, and what has been found of them up to some round."""

    def __init__(self, given: SharedPasses, batch: PartBatch, found_until: int) -> None:
        self.given, self.batch = given, batch
        self.times: Floats = load(given.folder / "times", batch.name, np.float64)
        self.counts: Ints = load(given.folder / "counts", batch.name, np.int64)
        nothing = np.zeros(0, FOUND)
        self.found = load(given.folder / f"found-{found_until}", batch.name, FOUND) if found_until else nothing

    def groups(self) -> NDArray[np.uint8]:
        """Of each trial the number of its group among those that span parts."""
        groups: NDArray[np.uint8] = load(self.given.folder / "groups", self.batch.name, np.uint8)
        return groups

    def tally(self, within: Bins | None, shift: int) -> Bins:
        """The times that are left, counted by the groups that span parts."""
        # Those found are counted as one group more, which nobody asks for: quicker than to take them out.
        groups, gone = np.array(self.groups()), len(self.given.names)
        groups[self.found["place"]] = gone
        bins = tally(self.times, groups, within, shift)
        return bins.where(bins.group < gone)

    def find(self, number: int, spanning: Cutoffs | None) -> int:
        """One round: find and write what is outlying up to and with it; the number of those that are new."""
        genuine = np.ones(len(self.times), bool)
        genuine[self.found["place"]] = False
        groups: list[tuple[NDArray[np.integer], Cutoffs]] = []
        if "participant" in self.given.rule.by:
            people = people_of(self.counts)
            own = own_cutoffs(self.given, self.times, self.counts, people, self.found["place"])
            groups.append((people, own))
        if spanning is not None:
            groups.append((self.groups(), spanning))
        crossed = crossing(self.times, genuine, groups, self.given.inclusive)
        new = np.empty(len(crossed.places), FOUND)
        new["place"], new["kind"], new["degree"] = crossed.places, crossed.kind, number
        new["lower"], new["upper"] = crossed.lower, crossed.upper
        self.found = np.concatenate([self.found, new])
        save(self.given.folder / f"found-{number}", self.batch.name, self.found)
        # All parts have come as far as the round before: what was found until the one before that is read no more.
        (self.given.folder / f"found-{number - 2}" / self.batch.name).unlink(missing_ok=True)
        return len(new)


def people_of(counts: Ints) -> NDArray[np.int32]:
    """Of each trial the number of its participant, where each has so many."""
    return np.repeat(np.arange(len(counts), dtype=np.int32), counts)


def own_cutoffs(given: SharedPasses, times: Floats, counts: Ints, people: NDArray[np.int32], gone: Ints) -> Cutoffs:
    """The cutoffs of each participant, from times sorted by participant, without those that are gone."""
    still = np.ones(len(times), bool)
    still[gone] = False
    left = counts - np.bincount(people[gone], minlength=len(counts))
    return Cutoffs.of(times[still], left, given.rule, given.constant)


def cutoffs_by_round(
    given: SharedPasses, times: Floats, counts: Ints, found: NDArray[Any], rounds: int, names: pl.Series
) -> pl.DataFrame:
    """The cutoffs of each participant in every round; only who lost a trial in the round before has new ones."""
    people = people_of(counts)
    who = people[found["place"]]
    degree = np.zeros(len(times), np.int32)
    degree[found["place"]] = found["degree"]
    lost = np.zeros((rounds + 1, len(counts)), np.int64)
    np.add.at(lost, (found["degree"], who), 1)
    left = counts - np.cumsum(lost[:rounds], axis=0)
    new = lost[:rounds] > 0
    new[0] = True
    values = [times[own[people] & ((degree == 0) | (degree > before))] for before, own in enumerate(new)]
    made = Cutoffs.of(np.concatenate(values), left[new], given.rule, given.constant)
    # Of each round and participant, which of the cutoffs made holds: the one of the last round with a new one.
    made_at = np.zeros(new.shape, np.int64)
    made_at[new] = np.arange(int(new.sum()))
    place = np.maximum.accumulate(made_at, axis=0).ravel()
    held = Cutoffs(made.centre[place], made.spread[place], made.lower[place], made.upper[place])
    labels = pl.concat([names] * rounds)
    return held.table(np.repeat(np.arange(1, rounds + 1), len(counts)), "participant", labels, left.ravel(), given.rule)


def write_frame(frame: pl.DataFrame, folder: Path, number: int) -> None:
    """Write a table of a part so that it can be mapped into memory."""
    with replacing(part_file(folder, number, ".arrow")) as temporary:
        frame.write_ipc(temporary)


def read_frame(folder: Path, number: int, columns: list[str] | None = None) -> pl.DataFrame:
    """A table that a pass has written."""
    path = part_file(folder, number, ".arrow")
    _must_be(path)
    return pl.read_ipc(path, columns=columns)


def save(folder: Path, name: str, values: NDArray[Any]) -> None:
    """Write the numbers of an array, whole or not at all."""
    with replacing(folder / name) as temporary:
        values.tofile(temporary)


def load(folder: Path, name: str, dtype: Any) -> NDArray[Any]:
    """An array of numbers, mapped into memory."""
    path = folder / name
    _must_be(path)
    if path.stat().st_size <= SMALL:
        return np.fromfile(path, dtype)
    return np.asarray(np.memmap(path, dtype, mode="r"))


def _must_be(path: Path) -> None:
    if not path.exists():
        raise ScreenError(Message("remfod.file_gone", {"file": str(path)}))
