"""Completion: participants who answered too little of the questionnaire, or took part twice.

The share is the number of answered trials in all sessions divided by the length of the questionnaire. Under 90 %, a
questionnaire is usually called incomplete (Pieper, Börner and Kiss). A study knows its length. A results file shows
it only if many participants reached the end: the length is the largest number of trials of any participant if enough
others have 98 % of it. Enough are ten who are half of all who answered anything, four who are three quarters, or all.
Without positions of trials, only ten who are three quarters, or all, are enough, because annotators divide items
among themselves. If participants do as much as they like, there is no such length; only participants who answered
nothing are then incomplete, and a note says so. Participants with the same number of trials as nine others, a tenth
of all, are complete too, because theirs was a shorter list. A trial with several questions, as in a semantic
differential, is answered as soon as one of them is.

Repeated participation is detected in two ways. If a column of the participants names the person, such as the platform's
id, a second record of a person is flagged. And two records whose first ten trials agree in item, answer and response
time are one record under two names, as happens when files are merged. At least five of the ten times must be different,
because times that a tool invented or rounded to seconds prove nothing. The record started first counts, else the most
complete one, else the first. A record without answers never takes precedence, because its owner may have turned back on
the first page.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import polars as pl
from pydantic import Field

from karat.judgments import Judgments
from karat.judgments.times import instants
from karat.judgments.trial_order import presented
from karat.messages import Message
from karat.screen.evidence import Evidence, ScreenError, check_settings, everybody, no_column, verdicts
from karat.screen.one_part import parts_of
from karat.study.criterion import Alternative, Criterion, CriterionSettings

if TYPE_CHECKING:
    from karat.study.study import Study

AT_LEAST = 0.9
ALIKE_TRIALS = 10
DIFFERENT_TIMES = 5
SIGN = "\x1f"
"""The separator of the parts of a fingerprint."""
NEARLY, FEWEST, FEW = 0.98, 10, 4
"""The longest record is the length if this many participants have this share of it."""
HALF, MOST = 0.5, 0.75
"""The share of all with answers that they must be."""
SHORTER = 0.1
"""The least share of all with answers that must share a number of trials to make it a shorter list."""
Record = list[tuple[str, str, float]]
"""Item, answer and response time of each trial."""
PERSON = "person"
"""The column of the participants that names the person by default."""
Duplicate = tuple[str, int | None]
"""The record that counts instead, and the number of equal trials at the start of both (None if the person is named)."""


class CompletionSettings(CriterionSettings):
    """Settings for flagging incomplete questionnaires."""

    at_least: float = Field(AT_LEAST, ge=0, le=1, description="The share of trials that must be answered.")
    trials: int | None = Field(
        None, ge=1, description="How many trials the questionnaire has; by default as the plan says, or the most seen."
    )
    person: str | None = Field(
        None, description="The background column that names the person, else `person`; taking part again is flagged."
    )


def completion(
    judgments: Judgments, at_least: float = AT_LEAST, trials: int | None = None, person: str | None = None
) -> Evidence:
    """The share of the questionnaire that each participant answered, without practice, and repeated participation.

    Participants in the table who gave no answer are flagged too. `person` is the column of the participants that
    names the person. Further columns: answered (trials), last (the position of the last answer, for drop-outs) and
    same_as (the participant whose record counts instead).

    >>> import karat
    >>> evidence = completion(karat.datasets.load("likert"))
    >>> evidence.flagged, evidence.table()["reason"][0]
    (['p31'], 'answered 38 of 72 trials; last answer at position 41')
    """
    check_settings(CompletionSettings, at_least=at_least, trials=trials)
    parts = parts_of(judgments)
    tables, of_parts = parts.keep("completion", _gather, person)
    columns = list(dict.fromkeys(name for names, _ in of_parts for name in names))
    if person is not None and person not in columns:
        raise ScreenError(no_column(person, columns))
    timed = any(has_times for _, has_times in of_parts)
    everyone = tables.scan()
    answered = everyone.select("answered").collect()["answered"]
    length = length_of(answered, trials, "last" in everyone.collect_schema())
    named, absent = _records_by_person(everyone) if (person or PERSON) in columns else ([], 0)
    begin = everyone.select("participant", "_begin", "_part").drop_nulls("_begin").collect()
    # Records with the same fingerprint of their first trials are fetched and compared completely.
    begin = begin.filter(pl.col("_begin").is_duplicated())
    alike = begin.group_by("_begin", maintain_order=True).agg("participant")["participant"].to_list()
    records: dict[str, Record] = {}
    where = sorted(begin["_part"].unique().to_list())
    for part in parts.map(_fetch, begin["participant"].to_list(), name="completion", only=where):
        records |= part
    twice = _duplicates(named, alike, records, _record_order(everyone, [*chain.from_iterable(named), *records]))
    more = 0 if length is None else int((answered > length).sum())
    shorter = [] if trials is not None or length is None else _shorter_lists(answered)
    notes = _notes(length, trials is None, absent, person, timed, more, span(answered))
    settings = {"at_least": at_least, "trials": length, "person": person}
    return tables.judge(_judge, (length, at_least, twice, shorter), settings, notes)


def _gather(judgments: Judgments, person: str | None, number: int) -> tuple[pl.DataFrame, tuple[tuple[str, ...], bool]]:
    """Answers, start, person and first trials of each participant; their columns; and whether there are times."""
    rows, table = _counts(judgments)
    people = judgments.participants
    background: list[pl.Expr | pl.Series] = [pl.col("participant")]
    if "started" in people.columns:
        background.append(pl.Series("_started", instants(people["started"]).dt.epoch("us")).cast(pl.Float64))
    if (person or PERSON) in people.columns:
        name = pl.col(person or PERSON).cast(pl.String).str.strip_chars().replace("", None)
        background.append(name.alias("_person"))
    timed = "rt" in rows.columns and rows["rt"].null_count() < rows.height
    begin = _beginnings(rows) if timed else pl.DataFrame(schema={"participant": pl.String, "_begin": pl.String})
    for columns in (people.select(background), begin):
        table = table.join(columns, on="participant", how="left", maintain_order="left")
    absent = {"_started": pl.Float64, "_person": pl.String}
    lacking = [pl.lit(None, kind).alias(name) for name, kind in absent.items() if name not in table.columns]
    return table.with_columns(*lacking, _part=pl.lit(number, pl.Int64)), (tuple(people.columns), timed)


def _counts(judgments: Judgments) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The answers in the order of presentation, and the number of trials answered by each participant, even 0."""
    rows = presented(judgments.frame.filter(pl.col("function") != "practice", pl.col("response").is_not_null()))
    people = pl.concat([judgments.participants.select("participant"), everybody(judgments)]).unique(maintain_order=True)
    table = people.join(_answer_counts(rows), on="participant", how="left", maintain_order="left")
    return rows, table.with_columns(pl.col("answered").fill_null(0))


def _judge(table: pl.DataFrame, shared: tuple[int | None, float, Mapping[str, Duplicate], list[int]]) -> pl.DataFrame:
    """The table of participants, from the length of the questionnaire, repeated records and shorter lists.

    If the length is unknown, only participants who answered nothing have a share, which is 0.
    """
    length, at_least, twice, shorter = shared
    unique: Duplicate | tuple[None, None] = (None, None)
    again = [twice.get(name, unique) for name in table["participant"].to_list()]
    table = table.with_columns(
        # polars would multiply by 1 / length, by which 28 of 35 are a little under 0.8.
        score=pl.Series([_share(answered, length) for answered in table["answered"].to_list()], dtype=pl.Float64),
        same_as=pl.Series([name for name, _ in again], dtype=pl.String),
        _alike=pl.Series([number for _, number in again], dtype=pl.Int64),
    )
    short = (pl.col("score") < at_least).fill_null(False)
    table = table.with_columns(shorter=short & pl.col("answered").is_in(shorter))
    message = pl.lit("completion.answered_of_unknown" if length is None else "completion.answered")
    flagged = short & ~pl.col("shorter") | pl.col("same_as").is_not_null()
    further = [name for name in ("answered", "last", "same_as") if name in table.columns]
    return verdicts(table, "score", at_least, flagged, message, _values(table, length), *further)


def _values(table: pl.DataFrame, length: int | None) -> dict[str, pl.Expr | str]:
    """The values of the messages: answered trials, the last one, and the repeated record."""
    stopped = pl.col("answered") != pl.lit(length, dtype=pl.Int64)
    last = pl.when(stopped).then("last") if "last" in table.columns else pl.lit(None, dtype=pl.Int64)
    session = pl.when(last.is_not_null()).then("_session") if "_session" in table.columns else pl.lit(None, pl.String)
    record = pl.col("_alike").is_not_null()
    return {
        "answered": "answered", "trials": pl.lit(length, pl.Int64), "last": last, "session": session,
        "same_person": pl.when(~record).then("same_as"), "same_record": pl.when(record).then("same_as"),
        "alike": "_alike", "fewest": pl.when("shorter").then(pl.lit(FEWEST, pl.Int64)),
    }  # fmt: skip


def _share(answered: int, length: int | None) -> float | None:
    if length is None:
        return None if answered else 0.0
    return answered / length


def _notes(
    length: int | None,
    supposed: bool,
    absent: int,
    person: str | None,
    timed: bool,
    more: int,
    answered: tuple[int, int],
) -> tuple[Message, ...]:
    """Notes on assumptions; `answered` holds the fewest and most trials of any participant."""
    notes = []
    if length is None:
        notes.append(Message("completion.length_unknown", {"least": answered[0], "most": answered[1]}))
    elif supposed:
        notes.append(Message("completion.length_assumed", {"trials": length}))
    notes += [Message("completion.no_person", {"n": absent, "column": person or PERSON})] if absent else []
    notes += [] if timed else [Message("completion.no_times")]
    if more and length is not None:
        notes.append(Message("completion.more_than_stated", {"n": more, "trials": length}))
    return tuple(notes)


def _answer_counts(rows: pl.DataFrame) -> pl.DataFrame:
    """The number of trials that each participant answered, and the position of the last."""
    sessions = [name for name in ("session",) if name in rows.columns]
    if "trial" in rows.columns:
        # A row without a position counts as a separate trial.
        unknown = pl.col("trial").is_null()
        trials = pl.struct(*sessions, "trial").filter(~unknown).n_unique() + unknown.sum()
        last = pl.col("trial").drop_nulls().last() if sessions else pl.col("trial").max()
        where = [pl.col(name).last().alias("_session") for name in sessions]
        return rows.group_by("participant", maintain_order=True).agg(
            trials.cast(pl.Int64).alias("answered"), last.alias("last"), *where
        )
    # Without positions, the most frequently answered question about an item shows how often the item was shown.
    item = ["participant", *sessions, "item"]
    questions = [name for name in ("question",) if name in rows.columns]
    times = rows.group_by(*item, *questions, maintain_order=True).len()
    showings = times.group_by(item, maintain_order=True).agg(pl.col("len").max())
    return showings.group_by("participant", maintain_order=True).agg(
        pl.col("len").sum().cast(pl.Int64).alias("answered")
    )


def length_of(answered: pl.Series, trials: int | None, positions: bool = True) -> int | None:
    """The length of the questionnaire, from the number of trials that each participant answered; None if unknown."""
    if trials is not None:
        return trials
    some = answered.filter(answered > 0)
    if not len(some):
        raise ScreenError(Message("completion.nobody_answered"))
    longest = span(some)[1]
    nearly = int((some >= NEARLY * longest).sum())
    share = nearly / len(some)
    plausible = share == 1 or (nearly >= FEWEST and share >= (HALF if positions else MOST))
    return longest if plausible or (positions and nearly >= FEW and share >= MOST) else None


def _shorter_lists(answered: pl.Series) -> list[int]:
    """Numbers of trials that enough participants share to be shorter lists."""
    some = answered.filter(answered > 0)
    counts = some.value_counts().filter(pl.col("count") >= max(FEWEST, SHORTER * len(some)))
    return sorted(counts[some.name].to_list())


def span(answered: pl.Series) -> tuple[int, int]:
    """The fewest and the most trials of participants who answered any.

    >>> span(pl.Series([72, 0, 38]))
    (38, 72)
    """
    some = sorted(number for number in answered.unique().to_list() if number)
    return (some[0], some[-1]) if some else (0, 0)


def _duplicates(
    named: Iterable[list[str]],
    alike: Iterable[list[str]],
    records: Mapping[str, Record],
    order: Mapping[str, tuple[bool, float, int, int]],
) -> dict[str, Duplicate]:
    """The record that counts instead of each repeated one: of one person, or with the same first trials."""
    twice: dict[str, Duplicate] = {}
    for names in named:
        stands, *later = sorted(names, key=order.__getitem__)
        twice |= dict.fromkeys(later, (stands, None))
    for names in alike:
        stands, *later = sorted(names, key=order.__getitem__)
        for name in later:
            twice.setdefault(name, (stands, _alike(records[name], records[stands])))
    return twice


def _record_order(everyone: pl.LazyFrame, names: list[str]) -> dict[str, tuple[bool, float, int, int]]:
    """The sort key of records of one person: empty, start, answers, place."""
    if not names:
        return {}
    late = pl.col("_started").fill_null(float("inf"))
    placed = everyone.select("participant", "answered", late).with_row_index("_place")
    wanted = placed.filter(pl.col("participant").is_in(sorted(set(names)))).collect()
    return {
        name: (not answered, started, -answered, place)
        for place, name, answered, started in wanted.select("_place", "participant", "answered", "_started").iter_rows()
    }


def _records_by_person(everyone: pl.LazyFrame) -> tuple[list[list[str]], int]:
    """The records of each person with several, and the number of participants without a person."""
    absent = everyone.select(pl.col("_person").null_count()).collect().item()
    groups = everyone.drop_nulls("_person").group_by("_person").agg("participant")
    several = groups.filter(pl.col("participant").list.len() > 1).collect()
    return several["participant"].to_list(), int(absent)


def _long_enough(rows: pl.DataFrame) -> pl.DataFrame:
    """The timed answers of participants who have enough of them to compare."""
    timed = rows.filter(pl.col("rt").is_not_null())
    return timed.filter(pl.len().over("participant") >= ALIKE_TRIALS)


def _beginnings(rows: pl.DataFrame) -> pl.DataFrame:
    """A fingerprint of the first trials, for participants with enough of them and enough different times."""
    trial = pl.concat_str("item", "response", pl.col("rt").cast(pl.String), separator=SIGN)
    beginnings = (
        _long_enough(rows)
        .group_by("participant", maintain_order=True)
        .head(ALIKE_TRIALS)
        .group_by("participant", maintain_order=True)
        .agg(trial.str.join(SIGN).alias("_begin"), pl.col("rt").n_unique().alias("_times"))
        .filter(pl.col("_times") >= DIFFERENT_TIMES)
    )
    # Hashes of polars differ between machines; these do not.
    hashes = [hashlib.blake2b(text.encode(), digest_size=12).hexdigest() for text in beginnings["_begin"].to_list()]
    return beginnings.select("participant", pl.Series("_begin", hashes, dtype=pl.String))


def _fetch(judgments: Judgments, names: list[str], number: int) -> dict[str, Record]:
    """The timed answers of some participants, in the order of presentation."""
    rows, _ = _counts(judgments)
    answers = _long_enough(rows).filter(pl.col("participant").is_in(names))
    records: dict[str, Record] = {}
    for name, item, response, rt in answers.select("participant", "item", "response", "rt").iter_rows():
        records.setdefault(name, []).append((item, response, rt))
    return records


def _alike(first: Record, second: Record) -> int:
    """The number of equal trials with which two records begin."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(first), len(second)))


def _of_study(study: Study) -> dict[str, Any]:
    """The number of trials on the longest list, over all sessions."""
    lengths = [
        sum(
            block.settings.showings(study.trials(index, number).filter(pl.col("function") != "practice").height)
            for index, block in enumerate(study.blocks)
        )
        for number in range(1, study.lists + 1)
    ]
    return {"trials": max(lengths) * study.settings.questionnaire.sessions}


CRITERION = Criterion(
    name="completion",
    title="Completion",
    asks="who answered too little of the questionnaire",
    settings=CompletionSettings,
    computed_by=completion,
    stage="completion",
    in_parts=True,
    shown_blind=True,
    from_study=_of_study,
    of_the_study=("trials", "person"),
    wording=lambda settings: ["" if settings.get("trials") is None else "trials"],
    looks_at=lambda _: ("state", "status"),
    careless=False,
    shares=("at_least",),
    cites=("pieper",),
    alternatives=(
        Alternative("90 %", {"at_least": 0.9}, "Pieper, Börner and Kiss", usual=True),
        Alternative("80 %", {"at_least": 0.8}, "lenient", usual=True),
        Alternative("95 %", {"at_least": 0.95}, "strict"),
    ),
)
