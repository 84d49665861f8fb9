"""karat participants: import earlier participants, show their stored data, and compare with the platform."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.options import argument, option, print_json
from karat.cli.serve import DATA, Data, Database
from karat.cli.status import database_url, open_store
from karat.errors import KaratError, counted

if TYPE_CHECKING:
    import polars as pl

    from karat.field.store import Store

EXAMPLE = "Example: karat participants import prolific-export.csv --study norming-2025 --platform prolific"
ID_COLUMNS = ("participant id", "participant_id", "prolific_pid", "workerid", "worker_id", "platform_id", "pid", "id")
SUBMISSION_COLUMNS = ("submission id", "submission_id", "session_id", "assignmentid", "assignment_id")
STATUS_COLUMNS = ("status", "assignmentstatus", "state")
PAID = ("approved", "awaiting review", "awaiting_review", "submitted", "completed", "complete")
ACTIONS = "import, show, reconcile or vacuum"


def participants(
    action: Annotated[str, argument(f"One of {ACTIONS}.", "ACTION", show_default=False)],
    what: Annotated[
        str,
        argument(
            "The table from the platform for import and reconcile; the participant for show.",
            "FILE or NAME",
            show_default=False,
        ),
    ] = "",
    study: Annotated[str, option("Give the short name of the study.", "NAME")] = "",
    platform: Annotated[str, option("Name the platform the ids come from.", "NAME")] = "prolific",
    database: Database = "",
    data: Data = DATA,
) -> None:
    """Import participants of earlier studies, show what is stored about one, or compare with the platform.

    `import FILE --study NAME` imports participants of an earlier study; only keyed hashes of their ids are stored. A
    study can then turn them away with recruitment.not_from, or invite only them with recruitment.only_from.

    `show NAME --study STUDY` prints all data on a participant as JSON, to answer a request for access.

    `reconcile FILE --study STUDY` compares the participants of a study with the submissions on the platform.

    `vacuum` rewrites the database, so that no traces of deleted data remain. Stop the server first.
    """
    if action == "vacuum":
        from karat.field.store.engine import vacuum

        vacuum(database_url(database, data))
        typer.echo("vacuumed   The database was rewritten, without traces of deleted data.")
        return
    if action not in ("import", "show", "reconcile"):
        raise KaratError(f"karat participants {action}: use {ACTIONS}.")
    if not what or not study:
        raise KaratError(f"karat participants {action} needs {'a name' if action == 'show' else 'a file'} and --study.")
    ids = _ids(Path(what)) if action == "import" else []
    with open_store(database, data) as store:
        if action == "import":
            _import(store, ids, study, platform)
        elif action == "show":
            _show(store, what, study)
        else:
            _reconcile(store, Path(what), study)


def _import(store: Store, ids: list[str], study: str, platform: str) -> None:
    from karat.field.content.platforms import person_hash
    from karat.field.store import arrivals

    secret = store.secret("person")
    new = sum(
        store.call(
            arrivals.note_participation,
            arrivals.PriorParticipation(study, person_hash(secret, platform, name), platform, complete=True),
        )
        for name in ids
    )
    typer.echo(f"imported   {counted(len(ids), 'participant')} of {study}, {new} of them new")


def _study_id(store: Store, study: str) -> int:
    from karat.field.store import studies

    with store.read() as connection:
        row = studies.find(connection, study)
        slugs = [entry.slug for entry in studies.every(connection)]
    if row is None:
        raise KaratError(f"The server has no study {study}. It has {', '.join(slugs) or 'none yet'}.")
    return row.id


def _show(store: Store, name: str, study: str) -> None:
    """Print all stored data about a participant."""
    from karat.field.store import people

    study_id = _study_id(store, study)
    with store.read() as connection:
        rows = people.stored_rows(connection, study_id, name)
    if not rows["session"]:
        raise KaratError(f"{study} has no participant {name}. The dashboard and the export list the names.")
    print_json(rows)


def _reconcile(store: Store, file: Path, study: str) -> None:
    """Compare the participants of a study with the list of the platform, and print the differences."""
    from karat.field.store import people

    frame = _table(file)
    ids, submissions, states = (_column(frame, names) for names in (ID_COLUMNS, SUBMISSION_COLUMNS, STATUS_COLUMNS))
    if ids is None:
        raise KaratError(f"{file.name}: no column of ids. Name it {', '.join(ID_COLUMNS[:-1])} or {ID_COLUMNS[-1]}.")
    listed = dict(zip(ids, states or [""] * len(ids), strict=True))
    pairs = None if submissions is None else set(zip(ids, submissions, strict=True))
    study_id = _study_id(store, study)
    with store.read() as connection:
        here = people.submissions(connection, study_id)
    unknown = [name for name, _, person, _ in here if person not in listed]
    elsewhere = [name for name, _, person, sent in here if pairs is not None and person in listed and sent
                 and (person, sent) not in pairs]  # fmt: skip
    unpaid = [name for name, state, person, _ in here if state == "complete" and listed.get(person)
              and listed[person].lower() not in PAID]  # fmt: skip
    finished = {person for _, state, person, _ in here if state == "complete"}
    paid = [person for person, state in listed.items() if state.lower() in PAID and person not in finished]
    typer.echo(f"compared   {counted(len(here), 'participant')} here, {counted(len(listed), 'participant')} listed")
    for title, names in (
        ("not listed by the platform, so the id was probably made up", unknown),
        ("listed with another submission", elsewhere),
        ("complete here, but not submitted or paid on the platform", unpaid),
        ("submitted or paid on the platform, but not complete here (ids of the platform)", paid),
    ):
        if names:
            typer.echo(f"differs    {len(names)} {title}: {', '.join(names)}")
    if not (unknown or elsewhere or unpaid or paid):
        typer.echo("agrees     Everybody is listed, and the states agree.")


def _table(file: Path) -> pl.DataFrame:
    from karat.judgments.source import SourceFile
    from karat.judgments.tables import read_table

    if not file.is_file():
        raise KaratError(f"There is no file {file}.")
    return read_table(SourceFile(file)).frame


def _column(frame: pl.DataFrame, choices: tuple[str, ...]) -> list[str] | None:
    """The cells of the first column with one of these names; None if there is none."""
    names = {name.strip().lower(): name for name in frame.columns}
    column = next((names[name] for name in choices if name in names), None)
    return None if column is None else [str(cell or "").strip() for cell in frame[column].to_list()]


def _ids(file: Path) -> list[str]:
    """The ids in a file, each once: from a column with a name that platforms use, or one id per line."""
    frame = _table(file)
    column = _column(frame, ID_COLUMNS)
    if column is None and frame.width > 1:
        raise KaratError(f"{file.name}: no column of ids. Name it {', '.join(ID_COLUMNS[:-1])} or {ID_COLUMNS[-1]}.")
    # A file with one id per line has no header, so its first line is an id too.
    cells = [frame.columns[0], *frame.to_series(0).to_list()] if column is None else column
    ids = [str(cell).strip() for cell in cells if cell is not None and str(cell).strip()]
    if not ids:
        raise KaratError(f"{file.name} has no ids.")
    return list(dict.fromkeys(ids))
