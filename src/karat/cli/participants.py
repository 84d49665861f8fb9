"""karat participants: who has taken part elsewhere, and so is no longer naive."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli.serve import DATA, Data, Database
from karat.cli.stored_study import open_store
from karat.errors import KaratError, counted

EXAMPLE = "Example: karat participants import prolific-export.csv --study norming-2025 --platform prolific"
ID_COLUMNS = ("participant id", "participant_id", "prolific_pid", "workerid", "worker_id", "platform_id", "pid", "id")


def participants(
    action: Annotated[str, typer.Argument(help="import", metavar="import", show_default=False)],
    file: Annotated[
        Path,
        typer.Argument(
            help="Ids of a platform: a table with a column of them, or one in each line.", show_default=False
        ),
    ],
    study: Annotated[str, typer.Option("--study", help="The study that they took part in: its short name.")],
    platform: Annotated[str, typer.Option(help="The platform whose ids they are.")] = "prolific",
    database: Database = "",
    data: Data = DATA,
) -> None:
    """Tell the server who has taken part elsewhere; only keyed hashes of the ids are kept.

    A study then refuses them with recruitment.not_from, or invites only them with recruitment.only_from.
    """
    from karat.field.content.platforms import person_hash
    from karat.field.store import prior_participation

    if action != "import":
        raise KaratError(f"karat participants {action}: there is only karat participants import.")
    ids = _ids(file)
    with open_store(database, data) as store:
        secret = store.secret("person")
        new = sum(
            store.call(
                prior_participation.add,
                prior_participation.PriorParticipation(
                    study, person_hash(secret, platform, name), platform, complete=True
                ),
            )
            for name in ids
        )
    typer.echo(f"noted      {counted(len(ids), 'participant')} of {study}, {new} of them new")


def _ids(file: Path) -> list[str]:
    """The ids in a file, each once: a column that is named as platforms name it, or a file with one id a line."""
    from karat.judgments.source import SourceFile
    from karat.judgments.tables import read_table

    if not file.is_file():
        raise KaratError(f"There is no file {file}.")
    frame = read_table(SourceFile(file)).frame
    names = {name.strip().lower(): name for name in frame.columns}
    known = next((names[name] for name in ID_COLUMNS if name in names), None)
    if known is None and frame.width > 1:
        raise KaratError(f"{file.name}: no column of ids. Name it {', '.join(ID_COLUMNS[:-1])} or {ID_COLUMNS[-1]}.")
    # A file with one id a line has no header: its first line is an id too.
    cells = frame[known].to_list() if known else [frame.columns[0], *frame.to_series(0).to_list()]
    ids = [str(cell).strip() for cell in cells if cell is not None and str(cell).strip()]
    if not ids:
        raise KaratError(f"{file.name} has no ids.")
    return list(dict.fromkeys(ids))
