"""Receipt times: response times that do not fit between the moments at which the server received the answers.

A response time is what the browser claims; `received` is what the server saw. A page appears after the previous one was
answered, so a response time of ten seconds needs ten seconds between two receipts. There are two allowances:

- Several answers may arrive in one request after a lost connection, and an answer that had to wait leaves less time
  until the next receipt. The delay of a receipt is therefore credited to the answers after it, up to `credit`
  seconds, about as long as karat's page waits before it tries again. Breaks have no answers and are credited in the
  same way.
- The total of missing seconds may be up to `slack`, because clocks are adjusted and connections are slow.

This detects scripts that post answers one by one within seconds and claim minutes, even if they wait first. A
questionnaire is also too fast, whatever its response times, if its receipts leave less time than reading at
`words_per_minute` takes. Hardly anybody reads and understands 700 words per minute (Brysbaert 2019 reports a mean of
238 and few readers above 400). Finally, the browser's clock runs backwards if later answers have earlier times more
than twice; clocks may be set back once or twice.

A script that takes as long as it claims is not detected.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import polars as pl
from pydantic import Field

from karat.judgments import Judgments
from karat.judgments.times import instants
from karat.messages import Message
from karat.screen.evidence import Evidence, ScreenError, check_settings, everybody, verdicts
from karat.screen.one_part import parts_of
from karat.study.criterion import Criterion, CriterionSettings, left_out

SLACK, CREDIT, WORDS_PER_MINUTE = 10.0, 60.0, 700.0
TEXTS = ("sentence", "sentence_2")
LEAST_PAGES = 20
"""Shorter questionnaires are not compared with their reading time."""
AHEAD = 10
"""The number of pages that a browser may show before its first answer arrives."""
REACTION = 0.2
"""The seconds that any answer takes at least."""
SET_BACK = 2
"""How often a clock may be set back, by more than a second."""
VALUES = dict.fromkeys(("missing", "claimed", "elapsed", "reading", "took"), pl.Float64) | dict.fromkeys(
    ("pages", "backwards"), pl.Int64
)
"""The values of reasons."""
SUMMARY = {"participant": pl.String, **VALUES}


class ReceiptTimesSettings(CriterionSettings):
    """Settings for flagging response times that do not fit between the server's receipts."""

    slack: float = Field(SLACK, gt=0, description="Seconds that may be missing between receipts in all.")
    credit: float = Field(CREDIT, ge=0, description="Seconds that a late receipt leaves to the answers after it.")
    words_per_minute: float = Field(
        WORDS_PER_MINUTE, gt=0, description="Reading faster than this on the whole questionnaire is flagged."
    )


def receipt_times(
    judgments: Judgments, slack: float = SLACK, credit: float = CREDIT, words_per_minute: float = WORDS_PER_MINUTE
) -> Evidence:
    """The seconds of each participant's response times that do not fit between receipts; see the module.

    Participants are flagged for more than `slack` such seconds, a questionnaire faster than its reading time, or a
    clock that runs backwards. The score is the missing seconds. Nothing is computed without the column `received`.

    >>> import karat
    >>> from karat.simulate.hands import with_hands
    >>> evidence = receipt_times(with_hands(karat.simulate.crowd(6, 20), {"w001": "http"}))
    >>> evidence.flagged
    ['w001']
    """
    settings = check_settings(ReceiptTimesSettings, slack=slack, credit=credit, words_per_minute=words_per_minute)
    tables, with_receipts = parts_of(judgments).keep("receipt_times", _gather, (credit, words_per_minute))
    if not any(with_receipts):
        raise ScreenError(Message("receipt_times.no_receipts"))
    silent = tables.scan().select((pl.col("pages") == 0).sum()).collect().item()
    notes = (Message("receipt_times.without", {"n": silent}),) if silent else ()
    return tables.judge(_judge, slack, settings, notes)


def _gather(judgments: Judgments, shared: tuple[float, float], number: int) -> tuple[pl.DataFrame, bool]:
    """The missing seconds of everybody who answered, and whether there are receipts at all."""
    frame, rows = judgments.frame, []
    received = instants(frame["received"]) if "received" in frame.columns else pl.Series(dtype=pl.Datetime("us"))
    has_receipts = received.null_count() < len(received)
    if has_receipts:
        starts = _starts(judgments.participants)
        pages = _pages(frame.with_columns(received.alias("_received")))
        rows = [
            _of_one(pages_of_one, starts.get(name), *shared)
            for (name,), pages_of_one in pages.group_by("participant", maintain_order=True)
        ]
    summaries = pl.DataFrame(rows, schema=SUMMARY, orient="row")
    table = everybody(judgments).join(summaries, on="participant", how="left", maintain_order="left")
    return table.with_columns(pl.col("pages").fill_null(0)), has_receipts


def _starts(people: pl.DataFrame) -> dict[str, float]:
    """The start of each participant by the server's clock, if known: seconds since 1970."""
    if "started" not in people.columns:
        return {}
    began = instants(people["started"]).dt.epoch("us").cast(pl.Float64) / 1e6
    return {name: moment for name, moment in zip(people["participant"], began, strict=True) if moment is not None}


def _pages(frame: pl.DataFrame) -> pl.DataFrame:
    """One row per page in order of receipt: time of receipt, response time, words, the browser's clock."""
    rows = frame.filter(pl.col("_received").is_not_null())
    words = [
        pl.col(name).cast(pl.String).str.count_matches(r"\S+").fill_null(0)
        for name in TEXTS if name in rows.columns
    ]  # fmt: skip
    seconds = pl.col("_received").dt.epoch("us") / 1e6
    clock = pl.lit(None, pl.Float64)
    if "time" in rows.columns:
        clock = instants(rows["time"]).dt.epoch("us").cast(pl.Float64) / 1e6  # type: ignore[assignment]
    rows = rows.with_columns(
        _seconds=seconds,
        _rt=pl.col("rt") if "rt" in rows.columns else pl.lit(None, pl.Float64),
        _words=pl.sum_horizontal(words) if words else pl.lit(0),
        _clock=clock,
        _place=pl.col("trial") if "trial" in rows.columns else pl.int_range(pl.len()),
        _session=pl.col("session").cast(pl.String) if "session" in rows.columns else pl.lit(""),
    )
    # The questions of a page arrive together, and the page takes as long as the last of them.
    page = rows.group_by("participant", "_session", "_place", maintain_order=True).agg(
        pl.col("_seconds").max(), pl.col("_rt").max(), pl.col("_words").max(), pl.col("_clock").max()
    )
    return page.sort("_seconds", maintain_order=True)


def _of_one(pages: pl.DataFrame, started: float | None, credit: float, words_per_minute: float) -> tuple[Any, ...]:
    """The values of one participant."""
    missing = claimed = elapsed = reading = took = 0.0
    backwards = 0
    for place, part in enumerate(pages.partition_by("_session", maintain_order=True)):
        moments, times = part["_seconds"].to_list(), part["_rt"].fill_null(0.0).to_list()
        begin = started if place == 0 and started is not None and started <= moments[0] else None
        lacks, available = _missing(moments, times, begin, credit)
        missing += lacks
        claimed += sum(times) if begin is not None else sum(times[1:])
        elapsed += available
        needed = part["_words"] * 60 / words_per_minute
        later = [max(REACTION, seconds) for seconds in needed.to_list()[AHEAD:]] if len(moments) >= LEAST_PAGES else []
        if later:
            reading += sum(later)
            took += moments[-1] - moments[0]
        backwards += _set_back(part["_clock"].to_list(), moments)
    return pages["participant"][0], missing, claimed, elapsed, reading, took, pages.height, backwards


def _missing(
    moments: Sequence[float], times: Sequence[float], begin: float | None, credit: float
) -> tuple[float, float]:
    """The missing seconds, and the seconds available."""
    if begin is None:
        # Neither the start of the first page nor the delay of its answer is known.
        spare, before, rest = credit, moments[0], range(1, len(moments))
    else:
        spare, before, rest = 0.0, begin, range(len(moments))
    lacking = 0.0
    for place in rest:
        spare = spare + (moments[place] - before) - times[place]
        before = moments[place]
        together = place + 1 < len(moments) and moments[place + 1] == before
        if together:
            continue  # The next answer came in the same request and shares the time before it.
        if spare < 0:
            lacking, spare = lacking - spare, 0.0
        spare = min(spare, credit)
    return round(lacking, 3), moments[-1] - (moments[0] if begin is None else begin)


def _set_back(clock: Sequence[float | None], moments: Sequence[float]) -> int:
    """The number of times the browser's clock went back by more than a second; times of the server do not count."""
    trusted = [t for t, moment in zip(clock, moments, strict=True) if t is not None and abs(t - moment) > 1e-5]
    return sum(later < earlier - 1 for earlier, later in pairwise(trusted))


def _judge(table: pl.DataFrame, slack: float) -> pl.DataFrame:
    lacks = (pl.col("missing") > slack).fill_null(False)
    fast = (pl.col("took") < pl.col("reading")).fill_null(False)
    back = (pl.col("backwards") > SET_BACK).fill_null(False)
    some = lacks | fast | back
    conditions = {
        "missing": lacks, "claimed": lacks, "elapsed": lacks, "reading": fast, "took": fast, "pages": pl.lit(True),
        "backwards": back,
    }  # fmt: skip
    message = (
        pl.when(pl.col("pages") == 0).then(pl.lit("receipt_times.none"))
        .when(some).then(pl.lit("receipt_times.found")).otherwise(pl.lit("receipt_times.fit"))
    )  # fmt: skip
    values = {
        name: pl.when(where).then(pl.col(name).round(1) if VALUES[name] == pl.Float64 else pl.col(name))
        for name, where in conditions.items()
    }
    return verdicts(table, "missing", slack, some, message, values)


CRITERION = Criterion(
    name="receipt_times",
    title="Receipt times",
    asks="whose response times do not fit between the receipts of the server",
    settings=ReceiptTimesSettings,
    computed_by=receipt_times,
    stage="clock",
    in_parts=True,
    shown_blind=True,
    careless=False,
    cites=("brysbaert2019",),
    alternatives=(left_out(),),
)
