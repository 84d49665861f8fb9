"""karat status: the progress of a running study."""

from __future__ import annotations

import json

import typer

from karat.cli.convert import Json
from karat.cli.serve import DATA, Data, Database
from karat.cli.stored_study import StudyFile, stored_study

EXAMPLE = "Example: karat status study.toml"


def status(study: StudyFile, database: Database = "", data: Data = DATA, as_json: Json = False) -> None:
    """Show the progress of a running study: completions, lists and where participants left. Shows no answers."""
    from karat.field.admin.status import status as counted

    with stored_study(study, database, data) as found, found.store.read() as connection:
        progress = counted(connection, found.row.id, found.row.state, found.study)
    if as_json:
        about = {"study": found.slug, "title": found.row.title, "rules": found.row.screening_fingerprint}
        typer.echo(json.dumps(about | progress.to_dict(), ensure_ascii=False, indent=2))
        return
    typer.echo("\n".join([f"{found.row.title}: {found.row.state}", *progress.lines()]))
