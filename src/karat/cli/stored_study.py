"""What the commands about a fielded study share: the study, its name and its store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat.errors import KaratError

if TYPE_CHECKING:
    from karat.field.store import Store
    from karat.field.store.studies import StudyRow
    from karat.study.study import Study

StudyFile = Annotated[
    Path, typer.Argument(help="The study file, its folder, or its short name on the server.", show_default=False)
]


@dataclass(frozen=True)
class StoredStudy:
    """A study that was fielded, with its store."""

    slug: str
    study: Study
    store: Store
    row: StudyRow


def database_url(database: str, data: Path) -> str:
    """The database that is meant; an SQLite file that is not there is an error, not a new database."""
    if database:
        return database
    path = data.resolve() / "karat.db"
    if not path.is_file():
        raise KaratError(
            f"There is no {path}. Say with --data where the server keeps its data, or give its --database."
        )
    return f"sqlite:///{path}"


@contextmanager
def open_store(database: str, data: Path) -> Iterator[Store]:
    """The store of a server, closed at the end."""
    from karat.field.store import Store

    store = Store.open(database_url(database, data))
    try:
        yield store
    finally:
        store.close()


@contextmanager
def stored_study(study: Path, database: str, data: Path) -> Iterator[StoredStudy]:
    """A study by its file or by its short name, with what the store knows of it."""
    from karat.field.registration import slug_of
    from karat.field.store import studies
    from karat.study.study import load

    with open_store(database, data) as store:
        with store.read() as connection:
            # The server has noted where the file of each study is.
            noted = None if study.exists() else studies.value(connection, f"path:{study}")
            loaded = load(noted or study)
            slug = slug_of(loaded)
            row = studies.find(connection, slug)
            known = [one.slug for one in studies.every(connection)]
        if row is None:
            there = f"There are {', '.join(known)}." if known else "It has none yet: see karat serve."
            raise KaratError(f"The server has no study {slug}. {there}")
        yield StoredStudy(slug, loaded, store, row)
