"""Screening and downloads, computed in a separate process so that the server stays small and responsive.

Each function opens the store, reads, and returns plain data or files. While a study runs, the page is blind: it shows
the reasons of criteria about completeness, times or trials with a right answer, but only the verdicts of criteria that
use all answers, because their reasons quote answers to test trials.

A job frees its memory when it ends. Its process reads the function and its arguments from standard input and writes the
result to standard output. Both ends are ours, so pickled data are safe here.
"""

import asyncio
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import time
from typing import Any, TypeVar

import polars as pl
from sqlalchemy import Connection

from karat.errors import KaratError
from karat.field.store import Store, StoreError, export, studies
from karat.field.store.export import codebook
from karat.judgments import Judgments
from karat.judgments.checks import Place
from karat.judgments.files import escape_formulas, replacing
from karat.messages import message_of
from karat.study.criteria import CRITERIA
from karat.study.study import Study

T = TypeVar("T")
LONGEST_SECONDS = 300.0
NICENESS = 5
"""Participants have priority; with 10, two busy processors delayed a dashboard for minutes."""


async def in_child(function: Callable[..., T], *arguments: object, seconds: float = LONGEST_SECONDS) -> T:
    """The result of a module-level function in another process; its KaratError is raised again here."""
    call = pickle.dumps((function, arguments))
    process = subprocess.Popen(
        [sys.executable, "-m", "karat.field.admin.jobs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    # A thread waits for the process, because asyncio's own watcher may never end if the server stops meanwhile.
    work = asyncio.get_running_loop().run_in_executor(None, process.communicate, call)
    try:
        received, _ = await asyncio.wait_for(asyncio.shield(work), seconds)
    except TimeoutError:
        raise KaratError(
            f"This took longer than {seconds:,.0f} seconds and was stopped. Do it in a terminal: karat export, then "
            "karat screen."
        ) from None
    finally:
        process.kill()
        await asyncio.wait([work])
    if process.returncode:
        raise KaratError("The process that was to compute this ended without a result; the server's log says why.")
    done, result = pickle.loads(received)  # noqa: S301 - written by our own process
    if not done:
        raise KaratError(result)
    value: T = result
    return value


def main() -> None:
    """Run the job from standard input."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    function, arguments = pickle.load(sys.stdin.buffer)  # noqa: S301 - written by our own server
    out, sys.stdout = sys.stdout, sys.stderr
    try:
        result = (True, function(*arguments))
    except KaratError as error:
        result = (False, message_of(error))
    out.buffer.write(pickle.dumps(result))
    out.flush()


if __name__ == "__main__":
    main()


QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Verdict:
    """The verdict of one criterion on one participant."""

    criterion: str
    flagged: bool
    words: str


@dataclass(frozen=True)
class FunctionTimes:
    """Response times of the trials of one function."""

    function: str
    count: int
    quantiles: tuple[float, ...]


@dataclass(frozen=True)
class Screened:
    """The verdicts of the criteria of a study so far."""

    verdicts: dict[str, tuple[Verdict, ...]] = field(default_factory=dict)
    excluded: frozenset[str] = frozenset()
    """The participants that the rule of the study would exclude now."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Criteria that cannot be computed yet, with the reason."""
    times: tuple[FunctionTimes, ...] = ()
    receipts: dict[str, Verdict] = field(default_factory=dict)
    """Whether response times fit between the server's receipts, also for active participants."""
    made: float = 0.0
    note: str = ""


def portable(study: Study) -> Study:
    """A study that can be pickled: without its cache and without places in files."""
    blocks = tuple(replace(block, items=replace(block.items, locate=_nowhere)) for block in study.blocks)
    return replace(study, blocks=blocks, _cache={})


def _nowhere(row: int) -> Place:
    return "", "row", row + 1


def screen_now(database: str, slug: str, study: Study, rules: dict[str, Any] | None, blind: bool) -> Screened:
    """Apply the criteria of a study to the answers so far."""
    try:
        with _stored(database, slug) as (connection, study_id):
            judgments = export.judgments(connection, study_id, study)
    except StoreError as error:
        return Screened(made=time(), note=str(error))
    times, receipts = _times(judgments), _receipts(judgments)
    if rules is None:
        return Screened(times=times, receipts=receipts, made=time(), note="The study states no screening rules.")
    # Active participants would be flagged for what they have not answered yet.
    screened = judgments.without(judgments.participants.filter(pl.col("state") == "running")["participant"].to_list())
    if not screened.participants.height:
        return Screened(times=times, receipts=receipts, made=time(), note="Nobody has finished yet.")
    from karat.judgments.message_tables import with_reasons
    from karat.screen.run import run

    screening = run(screened, rules, study)
    verdicts: dict[str, list[Verdict]] = {}
    for name, evidence in screening.evidence.items():
        for who, flagged, reason in (
            with_reasons(evidence.participants).select("participant", "flagged", "reason").iter_rows()
        ):
            if blind and not CRITERIA[name].shown_blind:
                reason = "flagged (the reason is shown when the study is closed)" if flagged else "not flagged"
            verdicts.setdefault(who, []).append(Verdict(name, bool(flagged), reason))
    skipped = {
        name: str(why) if not blind or CRITERIA[name].shown_blind else "cannot be computed yet"
        for name, why in screening.skipped.items()
    }
    by_person = {who: tuple(of_one) for who, of_one in verdicts.items()}
    return Screened(by_person, frozenset(screening.excluded), skipped, times, receipts, time())


def _receipts(judgments: Judgments) -> dict[str, Verdict]:
    from karat.judgments.message_tables import with_reasons
    from karat.screen.criteria.receipt_times import receipt_times

    table = with_reasons(receipt_times(judgments).participants).select("participant", "flagged", "reason")
    return {who: Verdict("receipt_times", bool(flagged), reason) for who, flagged, reason in table.iter_rows()}


def _times(judgments: Judgments) -> tuple[FunctionTimes, ...]:
    """Quantiles of the response times per function of the trials, over all conditions."""
    rows = (
        judgments.frame.filter(pl.col("rt").is_not_null(), pl.col("rt") > 0)
        .group_by("function", maintain_order=True)
        .agg(pl.len(), *(pl.col("rt").quantile(q, "linear").alias(str(q)) for q in QUANTILES))
        .sort("function")
        .rows()
    )
    return tuple(FunctionTimes(row[0], row[1], tuple(float(value) for value in row[2:])) for row in rows)


@contextmanager
def _stored(database: str, slug: str) -> Iterator[tuple[Connection, int]]:
    """A connection for reading, and the number of the study in the store."""
    with closing(Store.open(database)) as store, store.read() as connection:
        row = studies.find(connection, slug)
        if row is None:
            raise StoreError(f"The store has no study {slug}. Is it the database of this study?")
        yield connection, row.id


DOWNLOADS = {
    "judgments.parquet": "Judgments, Parquet: answers, scales and participants in one file",
    "judgments-csv.zip": "Judgments, CSV with participants and codebook; safe to open in a spreadsheet",
    "judgments-raw-csv.zip": "The same for other programs: text that a spreadsheet would run is not marked",
    "participants.csv": "Participants, without the ids of the platform",
    "participants-with-ids.csv": "Participants, with the ids of the platform (personal data)",
    "events.csv": "Events: blur, paste, refused answers, ...",
    "codebook.csv": "Codebook: what each column means",
}
"""The downloads and their descriptions."""
UNBLINDING = ("judgments.parquet", "judgments-csv.zip", "judgments-raw-csv.zip")
"""Downloads that contain answers to test trials."""


def write_download(database: str, slug: str, study: Study, name: str, folder: Path) -> Path:
    """Write one download to a folder; returns its file."""
    path = folder / name
    with _stored(database, slug) as (connection, study_id):
        if name in UNBLINDING:
            return _write_judgments(export.judgments(connection, study_id, study), study, path)
        if name == "codebook.csv":
            table = codebook(export.judgments(connection, study_id, study), study)
        elif name == "events.csv":
            table = export.events(connection, study_id)
        else:
            table = export.participants(connection, study_id, with_ids=name == "participants-with-ids.csv")
    write_table(table, path, safe=True)
    return path


def write_table(table: pl.DataFrame, path: Path, *, safe: bool) -> None:
    """A table as CSV, with times as ISO texts."""
    moments = [name for name, dtype in table.schema.items() if isinstance(dtype, pl.Datetime)]
    plain = table.with_columns(pl.col(moments).dt.strftime("%Y-%m-%dT%H:%M:%S%.3fZ"))
    with replacing(path) as temporary:
        (escape_formulas(plain) if safe else plain).write_csv(temporary)


def _write_judgments(judgments: Judgments, study: Study, path: Path) -> Path:
    if path.suffix == ".parquet":
        judgments.to_parquet(path)
        return path
    from zipfile import ZIP_DEFLATED, ZipFile

    safe = path.name != "judgments-raw-csv.zip"
    inside = path.parent / "inside"
    inside.mkdir()
    judgments.to_csv(inside / "judgments.csv", safe_for_spreadsheets=safe)
    write_table(codebook(judgments, study), inside / "codebook.csv", safe=safe)
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for file in sorted(inside.iterdir()):
            archive.write(file, file.name)
    return path
