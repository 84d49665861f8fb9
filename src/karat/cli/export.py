"""karat export: the data of a study as files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.convert import write_judgments
from karat.cli.options import Json, OutTable, SafeCsv, found_line, option
from karat.cli.progress import working
from karat.cli.serve import DATA, Data, Database
from karat.cli.status import StoredStudy, StudyFile, stored_study
from karat.errors import KaratError

if TYPE_CHECKING:
    import polars as pl

EXAMPLE = "Example: karat export study.toml -o judgments.parquet"


def export(
    study: StudyFile,
    out: OutTable,
    participants: Annotated[Path | None, option("Also write one row per participant to this CSV file.", "FILE")] = None,
    events: Annotated[Path | None, option("Also write the event log to this CSV file.", "FILE")] = None,
    codebook: Annotated[Path | None, option("Also write a codebook to this CSV file.", "FILE")] = None,
    safe_for_spreadsheets: SafeCsv = True,
    safe: Annotated[bool, option("CSV is always so, unless --raw is given.", None, "--safe", hidden=True)] = True,
    with_ids: Annotated[
        bool, option("With --participants, include the platform ids, which are personal data.", None, "--with-ids")
    ] = False,
    database: Database = "",
    data: Data = DATA,
    as_json: Json = False,
) -> None:
    """Write the judgments of a study and, on request, its participants, events and a codebook.

    In CSV, text that a spreadsheet would run as a formula is marked with an apostrophe, which karat removes when it
    reads the file. Use --raw for other programs.

    Exporting before the study is closed ends blinding. The dashboard then shows when that happened.
    """
    for path in (participants, events, codebook):
        if path is not None and path.suffix != ".csv":
            raise KaratError(f"{path}: use a name that ends in .csv.")
    if with_ids and participants is None:
        raise KaratError("--with-ids needs --participants FILE.")
    with stored_study(study, database, data) as entry, working("exporting", quiet=as_json):
        notes = [*_unblinded(entry), *_versions(entry)]
        written, summary = _write(
            entry, out, participants, events, codebook, safe=safe_for_spreadsheets, with_ids=with_ids
        )
    if as_json:
        typer.echo(json.dumps({"written": [str(path) for path in written], "summary": summary, "notes": notes}))
        return
    typer.echo("\n".join([f"exported   {summary}", *(f"note       {note}" for note in notes)]))
    typer.echo("\n".join(f"written    {path}" for path in written))


def _write(
    entry: StoredStudy,
    out: Path,
    participants: Path | None,
    events: Path | None,
    codebook: Path | None,
    *,
    safe: bool,
    with_ids: bool,
) -> tuple[list[Path], str]:
    from karat.field.admin.jobs import write_table
    from karat.field.store import export as stored
    from karat.field.store.export import codebook as columns
    from karat.judgments.files import files_of

    with entry.store.read() as connection:
        judgments = stored.judgments(connection, entry.row.id, entry.study)
        tables: list[tuple[Path | None, Callable[[], pl.DataFrame]]] = [
            (participants, lambda: stored.participants(connection, entry.row.id, with_ids=with_ids)),
            (events, lambda: stored.events(connection, entry.row.id)),
            (codebook, lambda: columns(judgments, entry.study)),
        ]
        write_judgments(judgments, out, safe_for_spreadsheets=safe)
        for path, table in tables:
            if path is not None:
                write_table(table(), path, safe=safe)
    written = [*files_of(out, judgments.participants), *(path for path, _ in tables if path is not None)]
    return written, found_line(judgments)


def _versions(entry: StoredStudy) -> list[str]:
    """A note if participants began with different versions of the study."""
    from karat.field.registration import changed_items, restored
    from karat.field.store import export as stored
    from karat.field.store import studies

    with entry.store.read() as connection:
        people = stored.participants(connection, entry.row.id)
        files = studies.versions(connection, entry.row.id)
    if "version" not in people.columns or people["version"].n_unique() < 2:
        return []
    counts = people["version"].drop_nulls().value_counts(sort=True, name="count").rows()
    restored_studies = [restored(contents, version, entry.study.path) for version, contents in files.items()]
    readable = [study for study in restored_studies if study is not None]
    which = changed_items(readable[0], readable[-1]) if len(readable) > 1 else ()
    return [
        f"The study was changed while it ran: {', '.join(f'{number} started with {name}' for name, number in counts)}. "
        f"The column version shows which."
        + (f" Items that differ between the first and the last: {', '.join(which)}." if which else "")
    ]


def _unblinded(entry: StoredStudy) -> list[str]:
    """Record that answers were seen before the study was closed; returns a note."""
    from karat.field.store import studies

    if entry.row.state == "closed":
        return []
    entry.store.call(studies.note_unblinded, entry.slug)
    return [f"{entry.slug} is {entry.row.state}, so it is no longer blind; the dashboard shows this."]
