"""karat links: what to paste into the recruitment platform."""

from pathlib import Path
from urllib.parse import urlsplit

import typer

from karat.cli.options import StudyArgument
from karat.cli.serve import DATA, BaseUrl, Data, Database, addresses, answering
from karat.cli.status import open_store

EXAMPLE = "Example: karat links study.toml --base-url https://study.example.org"
USUAL = "http://127.0.0.1:8000"


def links(
    study: StudyArgument,
    base_url: BaseUrl = "",
    database: Database = "",
    data: Data = DATA,
) -> None:
    """Print the study link for the recruitment platform, its completion codes and the prescreeners to choose.

    Without --base-url, the link uses the address at which the server was last started.
    """
    from karat.field.content.links import links as described
    from karat.field.registration import slug_of
    from karat.field.server.config import LOCAL_HOSTS, site_address
    from karat.study.study import load

    loaded = load(study)
    address = site_address(base_url) if base_url else _last(database, data) or USUAL
    typer.echo(described(loaded, address, slug_of(loaded)))
    if urlsplit(address).hostname in LOCAL_HOSTS:
        typer.echo(
            f"\nnote       {address} works only on this machine. Use --base-url with the public address of the server, "
            "such as --base-url https://study.example.org"
        )


def _last(database: str, data: Path) -> str | None:
    """The address of a server that answers, else of the last one that was started, if any."""
    if not database and not (data / "karat.db").is_file():
        return None
    with open_store(database, data) as store:
        started = addresses(store)
    running = (address for address in started if len(started) > 1 and answering(address))
    return next(running, started[0] if started else None)
