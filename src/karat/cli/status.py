"""karat status: the progress of a running study; and what the commands on one share, its name and its store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.options import Json, argument, print_json
from karat.cli.serve import DATA, Data, Database
from karat.errors import KaratError

if TYPE_CHECKING:
    from karat.field.store import Store
    from karat.field.store.studies import StudyRow
    from karat.study.study import Study

EXAMPLE = "Example: karat status study.toml"

StudyFile = Annotated[
    Path, argument("The study file, its folder, or its short name on the server.", show_default=False)
]


def status(study: StudyFile, database: Database = "", data: Data = DATA, as_json: Json = False) -> None:
    """Show the progress of a running study: completions, lists and where participants left. Shows no answers."""
    from karat.field.admin.status import status as counted

    with stored_study(study, database, data) as entry, entry.store.read() as connection:
        progress = counted(connection, entry.row.id, entry.row.state, entry.study)
    if as_json:
        about = {"study": entry.slug, "title": entry.row.title, "rules": entry.row.screening_fingerprint}
        print_json(about | progress.to_dict())
        return
    typer.echo("\n".join([f"{entry.row.title}: {entry.row.state}", *progress.lines()]))


@dataclass(frozen=True)
class StoredStudy:
    """A study on the server, with its store."""

    slug: str
    study: Study
    store: Store
    row: StudyRow


def database_url(database: str, data: Path) -> str:
    """The URL of the database; a missing SQLite file is an error and not a new database."""
    if database:
        return database
    path = data.resolve() / "karat.db"
    if not path.is_file():
        raise KaratError(
            f"There is no database at {path}. Start the server first with karat serve. If its data are elsewhere, use "
            "--data with their folder, or --database."
        )
    return f"sqlite:///{path}"


def open_store(database: str, data: Path) -> closing[Store]:
    """The store of a server, closed at the end of a `with` block."""
    from karat.field.store import Store

    return closing(Store.open(database_url(database, data)))


@contextmanager
def stored_study(study: Path, database: str, data: Path) -> Iterator[StoredStudy]:
    """A study by its file or short name, with its entry in the store."""
    from karat.field.registration import slug_of
    from karat.field.store import studies
    from karat.study.study import load

    with open_store(database, data) as store:
        with store.read() as connection:
            # The server records the path of each study file.
            noted = None if study.exists() else studies.value(connection, f"path:{study}")
            loaded = load(noted or study)
            slug = slug_of(loaded)
            row = studies.find(connection, slug)
            slugs = [entry.slug for entry in studies.every(connection)]
        if row is None:
            there = f"It has {', '.join(slugs)}." if slugs else "It has no studies yet; karat serve adds them."
            raise KaratError(f"The server has no study {slug}. {there}")
        yield StoredStudy(slug, loaded, store, row)
