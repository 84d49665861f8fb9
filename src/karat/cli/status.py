"""karat status: how a fielded study goes."""

from __future__ import annotations

import json

import typer

from karat.cli.convert import Json
from karat.cli.serve import DATA, Data, Database
from karat.cli.stored_study import StudyFile, stored_study

EXAMPLE = "Example: karat status study.toml"


def status(study: StudyFile, database: Database = "", data: Data = DATA, as_json: Json = False) -> None:
    """Say how a fielded study goes: who finished, who is at work, the lists, and where people left. No answers."""
    from karat.field.admin.status import status as counted

    with stored_study(study, database, data) as found, found.store.read() as connection:
        told = counted(connection, found.row.id, found.row.state, found.study)
    if as_json:
        about = {"study": found.slug, "title": found.row.title, "rules": found.row.screening_fingerprint}
        typer.echo(json.dumps(about | told.to_dict(), ensure_ascii=False, indent=2))
        return
    typer.echo("\n".join([f"{found.row.title}: {found.row.state}", *told.lines()]))
