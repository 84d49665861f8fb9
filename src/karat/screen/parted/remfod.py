"""ReMFOD over judgments in parts: the same trials, cutoffs and verdicts as `karat.screen.criteria.remfod` has.

Everybody's trials lie in one part, so that cutoffs by participant are computed there. Cutoffs by item function, or over
all times, span the parts; their medians and MADs are found by counting (`karat.models.counting`), exactly.

Every part writes its times once (`karat.screen.parted.remfod_times`). A round then takes two passes over them: one that
answers what the counts left open, and one that finds the outliers of the round and counts what is left.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.executors import SERIAL
from karat.messages import Message
from karat.models.counting import SHIFT, Bins, medians_and_deviations, summed
from karat.models.robust import MAD_CONSTANT
from karat.screen.criteria.remfod import (
    alike_notes,
    as_settings,
    found_message,
    kinds_in_words,
    participants_table,
    spread_note,
    stated_rule,
    trial_notes,
)
from karat.screen.evidence import PartedEvidence, ScreenError
from karat.screen.parted.in_parts import InParts, write_part
from karat.screen.parted.remfod_times import (
    BatchTimes,
    PartBatch,
    SharedPasses,
    TimedPart,
    cutoffs_by_round,
    join_parts,
    people_of,
    read_frame,
    take_times,
)
from karat.screen.time_rules import INTERMISSION, RUSH, Cutoffs
from karat.study.time_rules import TimeRule

BATCHES = 2
"""Batches for each process, so that they end at about the same time."""
LEAST, MOST = 500_000, 4_000_000
"""Trials in a batch: fewer take less time than to send for them, more take much memory. As few as two batches of the
least size are one batch, which is gone over here."""


@dataclass(frozen=True)
class PartedRemfod(PartedEvidence):
    """The evidence of ReMFOD on judgments in parts, with the outlying trials and the cutoffs of every round."""

    rounds: int = 0
    """How many rounds found outliers."""
    intermissions: int = 0
    rushes: int = 0
    trial_files: tuple[Path, ...] = field(default=(), repr=False)
    cutoff_files: tuple[Path, ...] = field(default=(), repr=False)
    spanning: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)
    """The cutoffs of the groups that span parts."""

    def trials(self) -> pl.LazyFrame:
        """The outlying trials, with the columns that `Remfod.trials` has, in the order of parts."""
        return pl.scan_parquet(list(self.trial_files))

    def cutoffs(self) -> pl.LazyFrame:
        """The cutoffs of every round, with the columns that `Remfod.cutoffs` has, round by round."""
        own = [pl.scan_parquet(list(self.cutoff_files))] if self.cutoff_files else []
        every = pl.concat([*own, *([self.spanning.lazy()] if self.spanning.height else [])])
        return every.sort("round", maintain_order=True)

    @property
    def summary(self) -> tuple[Message, ...]:
        """What was found, without the notes."""
        found = (self.intermissions, self.rushes, self.rounds, self.flagged, self.participants, self.settings)
        return (found_message(*found),)


def remfod_in_parts(
    crowd: InParts,
    rule: str = "remfod",
    upper: float | None = None,
    lower: float | None = None,
    genuine_at_least: float | None = None,
    mad_constant: float = MAD_CONSTANT,
    length: str | None = None,
    inclusive: bool = False,
) -> PartedRemfod:
    """Intermissions and rushes, and who answered too few trials without them; settings as those of `remfod`.

    `length` cannot be used: how times grow with length is a weighted median over pairs of trials of everybody.

    >>> import karat, tempfile
    >>> from karat.judgments.parts import open_parts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     karat.datasets.load("likert").to_parquet(f"{folder}/in/likert.parquet")
    ...     print(remfod_in_parts(InParts(open_parts(f"{folder}/in"), Path(folder) / "out")))
    remfod: 140 intermissions, 7 rushes in 6 rounds; 5 of 48 participants flagged (under 90 % genuine).
    """
    stated = stated_rule(rule, upper, lower, genuine_at_least, mad_constant)
    if length is not None:
        raise ScreenError(Message("remfod.no_length_in_parts"))
    settings = as_settings(stated, mad_constant, length, inclusive)
    about = repr((settings, crowd.excluded, crowd.token)).encode()
    folder = crowd.scratch / "remfod" / hashlib.sha256(about).hexdigest()[:12]
    parts = crowd.map(take_times, folder, name="remfod")
    given = SharedPasses(folder, stated, mad_constant, inclusive, _spanning(parts, stated), crowd.token)
    batches = _batches(crowd, parts)
    rounds = _rounds(crowd, given, batches)
    places = [place for batch in batches for place in _places(batch)]
    evidence, told = crowd.judge_files("remfod", _judge, (given, crowd.out, rounds.computed, places), settings)
    notes = trial_notes(sum(part.untimed for part in parts), parts[0].order)
    low, high = min(part.least for part in parts), max(part.most for part in parts)
    same = low == high and sum(part.trials for part in parts) > 1
    notes += alike_notes(given.names, same, stated) + spread_note(sum(one.without_spread for one in told))
    own = {one.name: getattr(evidence, one.name) for one in fields(evidence)} | {"notes": notes}
    return PartedRemfod(
        **own, rounds=rounds.found, intermissions=sum(one.intermissions for one in told),
        rushes=sum(one.rushes for one in told), trial_files=tuple(one.trials for one in told if one.trials),
        cutoff_files=tuple(one.cutoffs for one in told if one.cutoffs), spanning=rounds.spanning,
    )  # fmt: skip


@dataclass(frozen=True)
class _Rounds:
    """How the rounds went: how many were computed, how many found anything, and the cutoffs that span parts."""

    computed: int
    found: int
    spanning: pl.DataFrame


def _spanning(parts: Sequence[TimedPart], rule: TimeRule) -> list[str]:
    """The names of the groups that span parts; ScreenError where there are no times."""
    if not any(part.timed for part in parts):
        raise ScreenError(Message("times.none"))
    if not any(part.trials for part in parts):
        raise ScreenError(Message("times.only_practice"))
    if "function" not in rule.by:
        return [] if rule.by else ["all"]
    return list(dict.fromkeys(name for part in parts for name in part.functions))


def _rounds(crowd: InParts, given: SharedPasses, batches: Sequence[PartBatch]) -> _Rounds:
    """Round after round, until none finds an outlier."""

    executor = SERIAL if len(batches) == 1 else crowd.executor

    def pass_over(function: Callable[[Any, Any], Any], number: int, *shared: Any) -> list[Any]:
        name = f"remfod, round {number}"
        return executor.map(function, (given, number, *shared), batches, name=name, progress=crowd.progress)

    def ask(number: int, within: Bins, shift: int) -> Bins:
        return summed(pass_over(_count, number, within, shift))

    counted, tables = pass_over(_join, 1), []
    total = sum(part.trials for batch in batches for part in batch.parts)
    for number in range(1, total + 2 if given.rule.recursive else 2):
        cutoffs = None
        if given.names:
            bins = summed(counted)
            middle = medians_and_deviations(bins, partial(ask, number), len(given.names), given.constant)
            cutoffs = Cutoffs.around(*middle, given.rule)
            trials = np.bincount(bins.group, bins.count, len(given.names)).astype(np.int64)
            tables.append(cutoffs.table(number, given.spanning, pl.Series(given.names), trials, given.rule))
        told = pass_over(_find, number, cutoffs)
        new, counted = sum(one[0] for one in told), [one[1] for one in told]
        if not new:
            break
    return _Rounds(number, number if new else number - 1, pl.concat(tables) if tables else pl.DataFrame())


def _batches(crowd: InParts, parts: Sequence[TimedPart]) -> list[PartBatch]:
    """Parts that follow each other put together, with about as many trials in each batch."""
    trials = np.array([part.trials for part in parts])
    total, processes = int(trials.sum()), crowd.executor.processes
    wanted = max(min(processes * BATCHES, total // LEAST), processes, -(-total // MOST)) if total > 2 * LEAST else 1
    # A part goes where its middle lies when all trials are divided evenly.
    places = ((np.cumsum(trials) - trials / 2) * wanted / total).astype(np.int64)
    batches = []
    for _, own in itertools.groupby(range(len(parts)), key=lambda number: int(places[number])):
        numbers = list(own)
        stamps = tuple(crowd.parts.stamp(number) for number in numbers)
        batches.append(PartBatch(numbers[0], tuple(parts[number] for number in numbers), stamps))
    return batches


@dataclass(frozen=True)
class _PartSlice:
    """Where a part lies in its batch: which of the trials and which of the participants are its own."""

    batch: PartBatch
    trials: slice
    people: slice


def _places(batch: PartBatch) -> list[_PartSlice]:
    places, trials, people = [], 0, 0
    for part in batch.parts:
        places.append(_PartSlice(batch, slice(trials, trials + part.trials), slice(people, people + part.people)))
        trials, people = trials + part.trials, people + part.people
    return places


def _join(shared: tuple[SharedPasses, int], batch: PartBatch) -> Bins | None:
    """Put the parts of a batch together and count all their times."""
    given, _ = shared
    join_parts(given, batch)
    return BatchTimes(given, batch, 0).tally(None, SHIFT) if given.names else None


def _count(shared: tuple[SharedPasses, int, Bins, int], batch: PartBatch) -> Bins:
    """The times of a batch that are left in a round and lie in some bins, counted anew."""
    given, number, within, shift = shared
    return BatchTimes(given, batch, number - 1).tally(within, shift)


def _find(shared: tuple[SharedPasses, int, Cutoffs | None], batch: PartBatch) -> tuple[int, Bins | None]:
    """One round on a batch: how many outliers it finds, and the counts of what is left."""
    given, number, spanning = shared
    times = BatchTimes(given, batch, number - 1)
    found = times.find(number, spanning)
    return found, times.tally(None, SHIFT) if given.names else None


@dataclass(frozen=True)
class _Judged:
    """What is left to say of a part, and where its trials and cutoffs are written."""

    intermissions: int
    rushes: int
    without_spread: int
    trials: Path | None = None
    cutoffs: Path | None = None


def _judge(shared: tuple[SharedPasses, Path, int, list[_PartSlice]], number: int) -> tuple[pl.DataFrame, _Judged]:
    """The evidence on the participants of a part; its outlying trials and its cutoffs are written."""
    given, out, rounds, places = shared
    place = places[number]
    batch = BatchTimes(given, place.batch, rounds)
    times, counts = batch.times[place.trials], batch.counts[place.people]
    found = batch.found
    found = found[(found["place"] >= place.trials.start) & (found["place"] < place.trials.stop)]
    found["place"] -= place.trials.start
    people, everyone = people_of(counts), read_frame(given.folder / "people", number)
    names = everyone.drop_nulls("place").sort("place")
    kinds = [found["kind"] == kind for kind in (INTERMISSION, RUSH)]
    numbers = [np.bincount(people[found["place"][kind]], minlength=len(counts)) for kind in kinds]
    of_each = [pl.Series(name, own, pl.Int64) for name, own in zip(("intermissions", "rushes"), numbers, strict=True)]
    table = participants_table(
        everyone.select("participant"), names.select("participant", "trials").with_columns(of_each),
        given.rule.genuine_at_least,
    )  # fmt: skip
    outlying = _outlying(found, names["participant"].gather(people[found["place"]]), given, number)
    trials = write_part(outlying, out / "evidence" / "remfod-trials", number)
    cutoffs = None
    if "participant" in given.rule.by:
        own = cutoffs_by_round(given, times, counts, found, rounds, names["participant"])
        cutoffs = write_part(own, out / "evidence" / "remfod-cutoffs", number)
    without_spread = int((found["lower"] == found["upper"]).sum())
    return table, _Judged(int(kinds[0].sum()), int(kinds[1].sum()), without_spread, trials, cutoffs)


def _outlying(found: NDArray[Any], participants: pl.Series, given: SharedPasses, number: int) -> pl.DataFrame:
    """The outlying trials of a part in the order of its rows, with the columns that `Remfod.trials` has."""
    named = read_frame(given.folder / "trials", number).drop("rt", "function")[found["place"]]
    order = np.argsort(named["row"].to_numpy())
    found = found[order]
    lower = np.where(np.isinf(found["lower"]), np.nan, found["lower"])
    told = named.drop("row")[order]
    return pl.DataFrame([
        participants.gather(order).alias("participant"),
        told["trial"],
        kinds_in_words(found["kind"]).alias("kind"),
        pl.Series("degree", found["degree"].astype(np.int64)),
        pl.Series("lower", lower, nan_to_null=True),
        pl.Series("upper", np.ascontiguousarray(found["upper"]), nan_to_null=True),
        *told.drop("trial").get_columns(),
    ])  # fmt: skip
