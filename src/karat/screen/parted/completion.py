"""Completion in parts: the longest questionnaire, and who is there twice, over all parts.

Records that begin alike are looked for by a fingerprint of their first ten trials; only records that share one are then
fetched and compared, trial by trial.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from karat.judgments import Judgments
from karat.screen.criteria.completion import (
    ALIKE_TRIALS,
    AT_LEAST,
    DIFFERENT_TIMES,
    PERSON,
    Duplicate,
    Record,
    check_settings,
    counts,
    has_times,
    known_persons,
    length_of,
    long_enough,
    notes_on,
    record_order,
    records_of,
    span,
    standing,
    verdicts,
)
from karat.screen.evidence import ScreenError, no_column
from karat.screen.parted.crowd import InParts
from karat.screen.parted.evidence import PartedEvidence
from karat.screen.parted.part_files import part_file, write_part

SIGN = "\x1f"
"""What stands between the parts of a fingerprint."""


@dataclass(frozen=True)
class _CompletionFacts:
    """What a part says of itself."""

    more: int
    timed: bool
    columns: tuple[str, ...]


def completion_in_parts(
    crowd: InParts, at_least: float = AT_LEAST, trials: int | None = None, person: str | None = None
) -> PartedEvidence:
    """The share of the questionnaire that each participant answered, and who is there twice, in whatever part."""
    check_settings(at_least, trials)
    folder = crowd.scratch / "completion"
    seen = crowd.map(_gather, (folder, trials, person), name="completion")
    columns = list(dict.fromkeys(name for one in seen for name in one.columns))
    if person is not None and person not in columns:
        raise ScreenError(no_column(person, columns))
    timed = any(one.timed for one in seen)
    files = [part_file(folder, number) for number in range(len(crowd))]
    answered = pl.scan_parquet(files).select("answered").collect()["answered"]
    length = length_of(answered, trials)
    named, absent = _named(files) if (person or PERSON) in columns else ([], 0)
    begin = _beginning_alike(files) if timed else pl.DataFrame({"participant": [], "_part": []})
    found: dict[str, Record] = {}
    for one in crowd.map(_fetch, begin["participant"].to_list(), name="completion", only=_places(begin)):
        found |= one
    twice = standing(named, found, _order(files, [name for names in named for name in names] + list(found)))
    settings = {"at_least": at_least, "trials": length, "person": person}
    evidence, _ = crowd.judge("completion", _judge, (length, at_least, twice), settings)
    more = sum(one.more for one in seen)
    return replace(evidence, notes=notes_on(length, trials is None, absent, person, timed, more, span(answered)))


def _gather(judgments: Judgments, shared: tuple[Path, int | None, str | None], number: int) -> _CompletionFacts:
    """What a part is like, and a file of everybody: person, start, number of answers, fingerprint of the beginning."""
    folder, trials, person = shared
    rows, table = counts(judgments)
    order = record_order(judgments, table)
    people = table.select(
        "participant",
        "answered",
        pl.Series("_started", [order[name][1] for name in table["participant"].to_list()], dtype=pl.Float64),
    ).with_row_index("_place")
    if (person or PERSON) in judgments.participants.columns:
        people = people.join(known_persons(judgments, person), on="participant", how="left", maintain_order="left")
    else:
        people = people.with_columns(_person=pl.lit(None, dtype=pl.String))
    timed = has_times(rows)
    begin = _beginnings(rows) if timed else pl.DataFrame(schema={"participant": pl.String, "_begin": pl.String})
    people = people.join(begin, on="participant", how="left", maintain_order="left")
    write_part(people, folder, number)
    more = 0 if trials is None else table.filter(pl.col("answered") > trials).height
    return _CompletionFacts(more, timed, tuple(judgments.participants.columns))


def _beginnings(rows: pl.DataFrame) -> pl.DataFrame:
    """A fingerprint of the first trials of everybody who has enough of them, at enough different times."""
    trial = pl.concat_str(
        "item", pl.col("response"), pl.col("rt").cast(pl.String), separator=SIGN
    ).head(ALIKE_TRIALS)  # fmt: skip
    found = (
        long_enough(rows)
        .group_by("participant", maintain_order=True)
        .agg(trial.str.join(SIGN).alias("_begin"), pl.col("rt").head(ALIKE_TRIALS).n_unique().alias("_times"))
        .filter(pl.col("_times") >= DIFFERENT_TIMES)
    )
    # A hash that is the same on every machine, unlike those of tables.
    told = [hashlib.blake2b(text.encode(), digest_size=12).hexdigest() for text in found["_begin"].to_list()]
    return found.select("participant", pl.Series("_begin", told, dtype=pl.String))


def _named(files: list[Path]) -> tuple[list[list[str]], int]:
    """The names under which one person comes, and how many participants have no person."""
    everybody = pl.scan_parquet(files)
    absent = everybody.select(pl.col("_person").is_null().sum()).collect().item()
    groups = everybody.filter(pl.col("_person").is_not_null()).group_by("_person").agg("participant")
    several = groups.filter(pl.col("participant").list.len() > 1).collect()
    return several["participant"].to_list(), int(absent)


def _beginning_alike(files: list[Path]) -> pl.DataFrame:
    """participant and _part of the records that share their fingerprint."""
    begun = pl.concat(
        pl.scan_parquet(file).select("participant", "_begin", _part=pl.lit(number)).drop_nulls("_begin")
        for number, file in enumerate(files)
    ).collect()
    return begun.filter(pl.col("_begin").is_duplicated()).select("participant", "_part")


def _places(begin: pl.DataFrame) -> list[int]:
    return sorted(begin["_part"].unique().to_list())


def _fetch(judgments: Judgments, names: list[str], number: int) -> dict[str, Record]:
    """The records of some participants."""
    rows, _ = counts(judgments)
    return records_of(long_enough(rows), names)


def _order(files: list[Path], names: list[str]) -> dict[str, tuple[bool, float, int, int]]:
    """By what the records of these participants are ordered, over all parts."""
    if not names:
        return {}
    order, first = {}, 0
    wanted = pl.Series(sorted(set(names)), dtype=pl.String)
    for file in files:
        people = pl.read_parquet(file, columns=["participant", "answered", "_started", "_place"])
        for name, answered, started, place in people.filter(pl.col("participant").is_in(wanted.implode())).iter_rows():
            order[name] = (not answered, started, -answered, first + place)
        first += people.height
    return order


def _judge(
    judgments: Judgments, shared: tuple[int | None, float, dict[str, Duplicate]], number: int
) -> tuple[pl.DataFrame, None]:
    length, at_least, twice = shared
    _, table = counts(judgments)
    return verdicts(table, length, at_least, twice), None
