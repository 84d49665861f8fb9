"""ReMFOD over judgments in parts: the same trials, cutoffs and verdicts as `karat.screen.criteria.remfod` has.

Everybody's trials lie in one part, so that cutoffs by participant are computed there. Cutoffs by item function, or over
all times, span the parts; their medians and MADs are found by counting (`karat.models.robust`), exactly.

Every part writes its trials once, sorted by participant and time. Several parts are then put together to a batch, whose
times and item functions are what all later passes read, nine bytes per trial, mapped into memory: a pass has some work
to do for every file, however small. A round takes two passes: one that answers what the counts left open, and one that
finds the outliers of the round, writes them and counts what is left.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.executors import SERIAL
from karat.judgments import Judgments
from karat.judgments.files import replacing
from karat.judgments.trial_order import order_messages, with_positions
from karat.messages import Message
from karat.models.robust import MAD_CONSTANT, medians_and_deviations, summed
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
from karat.screen.evidence import PartedEvidence, ScreenError, everybody
from karat.screen.parted.in_parts import InParts, part_file, write_part
from karat.screen.time_rules import (
    FOUND,
    INTERMISSION,
    RUSH,
    Cutoffs,
    OutlierSearch,
    TimedTrials,
    TimeRule,
    group_codes,
    search_rounds,
    sorted_by_group,
)
from karat.types import Ints

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
    *,
    batch: int = LEAST,
) -> PartedRemfod:
    """Intermissions and rushes, and who answered too few trials without them; settings as those of `remfod`.

    Parts are put together until they have about `batch` trials. `length` cannot be used: how times grow with length is
    a weighted median over pairs of trials of everybody.

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
    given = SharedPasses(stated, mad_constant, inclusive, _spanning(parts, stated), folder, crowd.token)
    batches = part_batches(crowd, parts, batch)
    executor = SERIAL if len(batches) == 1 else crowd.executor

    def each(step: str, number: int, *more: Any) -> list[Any]:
        name = f"remfod, round {number}"
        return executor.map(do_step, (given, step, number, more), batches, name=name, progress=crowd.progress)

    counts = each("tally", 1)

    def cutoffs(number: int) -> tuple[Cutoffs, Ints]:
        bins, groups = summed(counts), len(given.names)
        middle = medians_and_deviations(
            bins, lambda within, shift: summed(each("tally", number, within, shift)), groups, mad_constant
        )
        return Cutoffs.around(*middle, stated), np.bincount(bins.group, bins.count, groups).astype(np.int64)

    def search(number: int, spanning: Cutoffs | None) -> int:
        nonlocal counts
        found = each("search", number, number, spanning)
        counts = [left for _, left in found]
        return sum(new for new, _ in found)

    rounds = search_rounds(given, sum(part.trials for part in parts), cutoffs, search)
    shared = (given, crowd.out, rounds.computed, batches)
    evidence, messages = crowd.judge_files("remfod", _judge, shared, settings)
    notes = trial_notes(sum(part.untimed for part in parts), parts[0].order)
    low, high = min(part.least for part in parts), max(part.most for part in parts)
    same = low == high and sum(part.trials for part in parts) > 1
    notes += alike_notes(given.names, same, stated) + spread_note(sum(one.without_spread for one in messages))
    own = {one.name: getattr(evidence, one.name) for one in fields(evidence)} | {"notes": notes}
    return PartedRemfod(
        **own, rounds=rounds.found, intermissions=sum(one.intermissions for one in messages),
        rushes=sum(one.rushes for one in messages), trial_files=tuple(one.trials for one in messages if one.trials),
        cutoff_files=tuple(one.cutoffs for one in messages if one.cutoffs), spanning=rounds.spanning,
    )  # fmt: skip


def _spanning(parts: Sequence[TimedPart], rule: TimeRule) -> list[str]:
    """The names of the groups that span parts; ScreenError where there are no times."""
    if not any(part.timed for part in parts):
        raise ScreenError(Message("times.none"))
    if not any(part.trials for part in parts):
        raise ScreenError(Message("times.only_practice"))
    if "function" not in rule.by:
        return [] if rule.by else ["all"]
    return list(dict.fromkeys(name for part in parts for name in part.functions))


def part_batches(crowd: InParts, parts: Sequence[TimedPart], least: int = LEAST) -> list[PartBatch]:
    """Parts that follow each other put together, with about as many trials in each batch, and `least` of them."""
    trials = np.array([part.trials for part in parts])
    total, processes = int(trials.sum()), crowd.executor.processes
    wanted = max(min(processes * BATCHES, total // least), processes, -(-total // MOST)) if total > 2 * least else 1
    # A part goes where its middle lies when all trials are divided evenly.
    places = ((np.cumsum(trials) - trials / 2) * wanted / total).astype(np.int64)
    batches = []
    for _, own in itertools.groupby(range(len(parts)), key=lambda number: int(places[number])):
        numbers = list(own)
        stamps = tuple(crowd.parts.stamp(number) for number in numbers)
        batches.append(PartBatch(numbers[0], tuple(parts[number] for number in numbers), stamps))
    return batches


@dataclass(frozen=True)
class _Judged:
    """What is left to say of a part, and where its trials and cutoffs are written."""

    intermissions: int
    rushes: int
    without_spread: int
    trials: Path | None = None
    cutoffs: Path | None = None


def _judge(shared: tuple[SharedPasses, Path, int, list[PartBatch]], number: int) -> tuple[pl.DataFrame, _Judged]:
    """The evidence on the participants of a part; its outlying trials and its cutoffs are written."""
    given, out, rounds, batches = shared
    whole = next(one for one in batches if number < one.first + len(one.parts))
    part, before = whole.parts[number - whole.first], whole.parts[: number - whole.first]
    first, person = sum(one.trials for one in before), sum(one.people for one in before)
    here, persons = slice(first, first + part.trials), slice(person, person + part.people)
    batch = batch_times(given, whole, rounds)
    found = batch.found
    found = found[(found["place"] >= here.start) & (found["place"] < here.stop)]
    found["place"] -= here.start
    own = TimedTrials(given, batch.times[here], batch.counts[persons], batch.groups[here], found)
    people, everyone = own.people, read_frame(given.folder / "people", number)
    names = everyone.drop_nulls("place").sort("place")
    kinds = [found["kind"] == kind for kind in (INTERMISSION, RUSH)]
    numbers = [np.bincount(people[found["place"][kind]], minlength=len(own.counts)) for kind in kinds]
    of_each = [pl.Series(name, one, pl.Int64) for name, one in zip(("intermissions", "rushes"), numbers, strict=True)]
    table = participants_table(
        everyone.select("participant"), names.select("participant", "trials").with_columns(of_each),
        given.rule.genuine_at_least,
    )  # fmt: skip
    outlying = _outlying(found, names["participant"].gather(people[found["place"]]), given, number)
    trials = write_part(outlying, out / "evidence" / "remfod-trials", number)
    cutoffs = None
    if "participant" in given.rule.by:
        cutoffs = write_part(
            own.cutoffs_by_round(rounds, names["participant"]), out / "evidence" / "remfod-cutoffs", number
        )
    without_spread = int((found["lower"] == found["upper"]).sum())
    return table, _Judged(int(kinds[0].sum()), int(kinds[1].sum()), without_spread, trials, cutoffs)


def _outlying(found: NDArray[Any], participants: pl.Series, given: SharedPasses, number: int) -> pl.DataFrame:
    """The outlying trials of a part in the order of its rows, with the columns that `Remfod.trials` has."""
    named = read_frame(given.folder / "trials", number).drop("rt", "function")[found["place"]]
    order = np.argsort(named["row"].to_numpy())
    found = found[order]
    lower = np.where(np.isinf(found["lower"]), np.nan, found["lower"])
    in_order = named.drop("row")[order]
    return pl.DataFrame([
        participants.gather(order).alias("participant"),
        in_order["trial"],
        kinds_in_words(found["kind"]).alias("kind"),
        pl.Series("degree", found["degree"].astype(np.int64)),
        pl.Series("lower", lower, nan_to_null=True),
        pl.Series("upper", np.ascontiguousarray(found["upper"]), nan_to_null=True),
        *in_order.drop("trial").get_columns(),
    ])  # fmt: skip


SMALL = 1 << 16
"""Files of this many bytes are read; larger ones are mapped."""


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
class SharedPasses(OutlierSearch):
    """What all passes share."""

    folder: Path
    token: str
    """Of which run the files are."""


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


def batch_times(given: SharedPasses, batch: PartBatch, found_until: int) -> TimedTrials:
    """The times of a batch, and what has been found of them up to some round."""
    found = load(given.folder / f"found-{found_until}", batch.name) if found_until else np.zeros(0, FOUND)
    times, counts, groups = (load(given.folder / name, batch.name) for name in ("times", "counts", "groups"))
    return TimedTrials(given, times, counts, groups, found)


def do_step(shared: tuple[SharedPasses, str, int, tuple[Any, ...]], batch: PartBatch) -> Any:
    """A step of a round on a batch; at the very first its parts are put together, and what is found is written."""
    given, step, number, more = shared
    if (step, number, more) == ("tally", 1, ()):
        join_parts(given, batch)
    trials = batch_times(given, batch, number - 1)
    if step == "tally":
        return trials.tally(*more) if given.names else None
    new = trials.search(*more)
    save(given.folder / f"found-{number}", batch.name, trials.found)
    # All parts have come as far as the round before: what was found until the one before that is read no more.
    (given.folder / f"found-{number - 2}" / batch.name).unlink(missing_ok=True)
    return new, trials.tally() if given.names else None


def write_frame(frame: pl.DataFrame, folder: Path, number: int) -> None:
    """Write a table of a part so that it can be mapped into memory."""
    with replacing(part_file(folder, number, ".arrow")) as temporary:
        frame.write_ipc(temporary)


def read_frame(folder: Path, number: int, columns: list[str] | None = None) -> pl.DataFrame:
    """A table that a pass has written."""
    return pl.read_ipc(_written(part_file(folder, number, ".arrow")), columns=columns)


def save(folder: Path, name: str, values: NDArray[Any]) -> None:
    """Write the numbers of an array, whole or not at all."""
    with replacing(folder / name) as temporary, temporary.open("wb") as file:
        np.save(file, values)


def load(folder: Path, name: str) -> NDArray[Any]:
    """An array of numbers, mapped into memory."""
    path = _written(folder / name)
    return np.asarray(np.load(path, mmap_mode="r" if path.stat().st_size > SMALL else None))


def _written(path: Path) -> Path:
    if not path.exists():
        raise ScreenError(Message("remfod.file_gone", {"file": str(path)}))
    return path
