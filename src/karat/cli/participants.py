"""karat participants: import participants of earlier studies, who are no longer naive."""

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
    action: Annotated[str, typer.Argument(help="What to do: import.", metavar="import", show_default=False)],
    file: Annotated[
        Path,
        typer.Argument(help="Platform ids: a table with an id column, or one id per line.", show_default=False),
    ],
    study: Annotated[
        str, typer.Option("--study", help="Give the short name of the study they took part in.", metavar="NAME")
    ],
    platform: Annotated[str, typer.Option(help="Name the platform the ids come from.", metavar="NAME")] = "prolific",
    database: Database = "",
    data: Data = DATA,
) -> None:
    """Import participants of earlier studies; only keyed hashes of their ids are stored.

    A study can then turn them away with recruitment.not_from, or invite only them with recruitment.only_from.
    """
    from karat.field.content.platforms import person_hash
    from karat.field.store import prior_participation

    if action != "import":
        raise KaratError(f"karat participants {action}: the only action is import.")
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
    typer.echo(f"imported   {counted(len(ids), 'participant')} of {study}, {new} of them new")


def _ids(file: Path) -> list[str]:
    """The ids in a file, each once: from a column with a name that platforms use, or one id per line."""
    from karat.judgments.source import SourceFile
    from karat.judgments.tables import read_table

    if not file.is_file():
        raise KaratError(f"There is no file {file}.")
    frame = read_table(SourceFile(file)).frame
    names = {name.strip().lower(): name for name in frame.columns}
    known = next((names[name] for name in ID_COLUMNS if name in names), None)
    if known is None and frame.width > 1:
        raise KaratError(f"{file.name}: no column of ids. Name it {', '.join(ID_COLUMNS[:-1])} or {ID_COLUMNS[-1]}.")
    # A file with one id per line has no header, so its first line is an id too.
    cells = frame[known].to_list() if known else [frame.columns[0], *frame.to_series(0).to_list()]
    ids = [str(cell).strip() for cell in cells if cell is not None and str(cell).strip()]
    if not ids:
        raise KaratError(f"{file.name} has no ids.")
    return list(dict.fromkeys(ids))
