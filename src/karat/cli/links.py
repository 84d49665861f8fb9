"""karat links: what to paste where, on the platform that recruits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from karat.cli.serve import DATA, BaseUrl, Data, Database, addresses, answering
from karat.cli.stored_study import open_store

EXAMPLE = "Example: karat links study.toml --base-url https://study.example.org"
USUAL = "http://127.0.0.1:8000"


def links(
    study: Annotated[Path, typer.Argument(help="The study file, or its folder.", show_default=False)],
    base_url: BaseUrl = "",
    database: Database = "",
    data: Data = DATA,
) -> None:
    """Print the address of a study for its platform, the completion codes, and the prescreeners to choose.

    Without --base-url the address is the one under which the server of the folder was last started.
    """
    from karat.field.content.links import links as told
    from karat.field.registration import slug_of
    from karat.field.server.config import LOCAL_HOSTS
    from karat.study.study import load

    loaded = load(study)
    address = base_url.rstrip("/") or _last(database, data) or USUAL
    typer.echo(told(loaded, address, slug_of(loaded)))
    if urlsplit(address).hostname in LOCAL_HOSTS:
        typer.echo(
            f"\nnote       {address} is an address of this machine, which participants cannot reach. Say how they "
            "reach the server: --base-url https://study.example.org"
        )


def _last(database: str, data: Path) -> str | None:
    """Where a server of the folder answers, else where one was last reached; None where there was none yet."""
    if not database and not (data / "karat.db").is_file():
        return None
    with open_store(database, data) as store:
        known = addresses(store)
    return next((one for one in known if len(known) > 1 and answering(one)), known[0] if known else None)
