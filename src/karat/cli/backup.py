"""karat backup: a copy of the database while the server runs."""

from pathlib import Path
from typing import Annotated

import typer

from karat.cli.options import option
from karat.cli.progress import working
from karat.cli.serve import DATA, Data, Database
from karat.cli.status import database_url

EXAMPLE = "Example: karat backup -o backup.db"


def backup(
    out: Annotated[Path, option("Write the copy to this file.", "FILE", "-o", "--out", show_default=False)],
    database: Database = "",
    data: Data = DATA,
) -> None:
    """Copy the database of a server to a file, even while participants are answering.

    The copy contains personal data.
    """
    from karat.field.store.engine import backup as copy

    with working("copying the database"):
        written = copy(database_url(database, data), out)
    typer.echo(f"written    {written}")
