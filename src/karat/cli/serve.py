"""karat serve: put studies on the web."""

from __future__ import annotations

import getpass
import json
import os
import sys
from contextlib import closing, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.options import has_screen
from karat.cli.progress import working
from karat.errors import KaratError, counted

if TYPE_CHECKING:
    from karat.field.server.config import ServerConfig
    from karat.field.store import Store
    from karat.study.study import Study

EXAMPLE = "Example: karat serve study.toml --port 8000"

Studies = Annotated[list[Path], typer.Argument(help="Study files, or their folders.", show_default=False)]
Data = Annotated[
    Path, typer.Option("--data", help="The folder of the server: database, secret, backups.", metavar="FOLDER")
]
Database = Annotated[
    str,
    typer.Option(
        help="A database: postgresql+psycopg://USER@HOST/NAME. By default an SQLite file in the folder.", metavar="URL"
    ),
]
BaseUrl = Annotated[
    str, typer.Option("--base-url", help="How participants reach the server: https://study.example.org", metavar="URL")
]
DATA = Path("karat-data")
ADDRESS = "address"
"""Under this name the store knows where its server was last reached."""
SERVERS = "servers"
"""And under this one, where servers were started that have not ended in order."""
MOST_SERVERS = 5
PROBE_SECONDS = 2.0
WIDTH = 110


def serve(
    studies: Studies,
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 for all.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 for any that is free.", min=0, max=65535)] = 8000,
    database: Database = "",
    data: Data = DATA,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="A proxy in front ends TLS and says who the client is.")
    ] = False,
    base_url: BaseUrl = "",
    draft: Annotated[
        bool, typer.Option("--draft", help="Do not start the studies: nobody counts until the dashboard starts them.")
    ] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the dashboard where there is a screen.")] = False,
    new_password: Annotated[
        bool, typer.Option("--new-password", help="Set a new password for the dashboard, where the old one is lost.")
    ] = False,
    changed: Annotated[
        bool, typer.Option("--changed", help="Serve a study whose items, scale or rules were changed after its start.")
    ] = False,
    new_database: Annotated[
        bool, typer.Option("--new-database", help="Begin with an empty database where the old one is gone.")
    ] = False,
) -> None:
    """Put studies on the web: participants' pages, and a dashboard for researchers.

    Each study is checked first. When it starts, its screening rules are frozen. The first start asks for a password for
    the dashboard; without a terminal it comes from KARAT_ADMIN_PASSWORD, or is made and shown once.
    """
    from karat.field.server.app import create_app
    from karat.field.server.config import prepare
    from karat.field.server.run import listen, run
    from karat.field.store import Store

    loaded = _named(studies)
    _not_lost(data, database, new_database)
    config = prepare(data, database=database, base_url=base_url, behind_proxy=behind_proxy, host=host, port=port)
    store = Store.open(config.database_url)
    with closing(store), listen(config) as listener:
        config = replace(config, port=listener.getsockname()[1])
        try:
            set_login(store, new_password)
            others = _others(store, config)
            note_address(store, config.address)
            for slug, study in loaded:
                _register(store, slug, study, draft, changed)
            app = create_app(loaded, store, config)
            run(app, config, listener, ready=lambda: _ready(config, loaded, show, others))
        finally:
            note_address(store, config.address, gone=True)
    typer.echo("Stopped. Everything that was acknowledged is saved.")


def _not_lost(data: Path, database: str, new_database: bool) -> None:
    """Refuse a folder whose database is gone: a new one in its place would look like a study without answers."""
    if database or new_database or not (data / "secret").exists() or (data / "karat.db").exists():
        return
    raise KaratError(
        f"{data} has the secret of a server but no database karat.db. If the file was moved, put it back. If you want "
        "to begin with an empty database, use --new-database."
    )


def addresses(store: Store) -> list[str]:
    """Where the servers of a store were started and not ended in order, the latest first.

    >>> import tempfile
    >>> from karat.field.store import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store.open(f"sqlite:///{folder}/karat.db")
    ...     note_address(store, "http://127.0.0.1:8000")
    ...     known = addresses(store)
    ...     store.close()
    >>> known
    ['http://127.0.0.1:8000']
    """
    from karat.field.store import studies

    with store.read() as connection:
        last, known = studies.value(connection, ADDRESS), studies.value(connection, SERVERS)
    return list(dict.fromkeys([*json.loads(known or "[]"), *([last] if last else [])]))


def note_address(store: Store, address: str, gone: bool = False) -> None:
    """Keep where a server is reached, or that it no longer is."""
    from sqlalchemy.exc import DBAPIError

    from karat.field.store import studies

    known = [one for one in addresses(store) if one != address][: MOST_SERVERS - 1]
    if not gone:
        store.call(studies.set_value, studies.ServerValue(ADDRESS, address))
    kept = known if gone else [address, *known]
    # At the end the database may be full, or have been moved away.
    with suppress(KaratError, DBAPIError) if gone else nullcontext():
        store.call(studies.set_value, studies.ServerValue(SERVERS, json.dumps(kept)))


def answering(address: str, mark: int | None = None) -> bool:
    """Whether a server of karat answers at an address; with a mark, one with this secret.

    >>> answering("http://127.0.0.1:1")
    False
    """
    from urllib.request import urlopen

    try:
        with urlopen(f"{address}/healthz", timeout=PROBE_SECONDS) as reply:  # noqa: S310 - an address of our own
            told = json.load(reply)
    except (OSError, ValueError):
        return False
    return isinstance(told, dict) and "server" in told and mark in (None, told["server"])


def _others(store: Store, config: ServerConfig) -> list[str]:
    """Other servers that answer and have the same SQLite database."""
    from karat.field.server.security import secret_mark

    if config.database.startswith("postgres"):
        return []
    mark = secret_mark(config.secret)
    return [one for one in addresses(store) if one != config.address and answering(one, mark)]


def _named(paths: list[Path]) -> list[tuple[str, Study]]:
    """The studies with their short names, checked; errors stop the server before it starts."""
    from karat.field.registration import slug_of
    from karat.study.check import check
    from karat.study.study import load

    named: dict[str, Study] = {}
    for path in paths:
        study = load(path)
        with working(f"checking {study.path.name}"):
            report = check(study)
        if report.errors:
            typer.echo("\n".join(report.lines()), err=True)
            raise KaratError(
                f"{study.path} has {counted(report.errors, 'error')}. Fix what it names; what is intended can be "
                "stated in the study file, as the last line of the report says."
            )
        slug = slug_of(study)
        if slug in named:
            raise KaratError(f"{study.path} and {named[slug].path} have the same short name {slug}. Rename a folder.")
        named[slug] = study
    return list(named.items())


def set_login(store: Store, renew: bool) -> None:
    """The login of the dashboard, set on the first start, or again where that is wanted."""
    from karat.field.admin.login import NAME, first_password, hashed
    from karat.field.store import admins

    with store.read() as connection:
        if not renew and admins.password_hash(connection, NAME) is not None:
            return
    ask = getpass.getpass if sys.stdin.isatty() and sys.stderr.isatty() else None
    first = first_password(ask, os.environ)
    login = admins.SetPassword(NAME, hashed(first.password))
    if renew:
        store.call(admins.set_password, login)
    elif not store.call(admins.set_first_password, login):
        typer.echo(
            f"dashboard  Another start has set the password of {NAME} meanwhile, and that one holds. If it was made "
            "up, it is printed there. Where it is lost: --new-password."
        )
        return
    if first.made:
        typer.echo(f"dashboard  The password of {NAME} is {first.password} (shown only now).")


def _register(store: Store, slug: str, study: Study, draft: bool, forced: bool) -> None:
    """Make the study known and start it; what differs from what was frozen is refused unless that is wanted."""
    from karat.field.registration import changes, registration, restored
    from karat.field.store import studies

    row = store.call(studies.register, registration(slug, study))
    if row.rules_changed and not forced:
        raise KaratError(
            f"{study.path.name}: the screening rules differ from those that were frozen when {slug} started "
            f"(fingerprint {row.screening_fingerprint}). Put them back, or field this as another study in a folder "
            "of another name. With --changed the study is served, and the frozen rules hold."
        )
    if row.changed:
        with store.read() as connection:
            files = studies.version_files(connection, row.id, row.fingerprint)
            before = None if files is None else restored(files, row.fingerprint, study.path)
            found = changes(study, row.settings, studies.items_of(connection, slug), before)
        if found.asked and not forced:
            raise KaratError(f"{slug}: {found} To serve it all the same, use --changed.")
        told = f"{'warning' if found.asked else 'note':<10} {slug}: {found}"
        typer.echo(fill(told, WIDTH, subsequent_indent=" " * 11, break_on_hyphens=False), err=True)
    store.call(studies.set_value, studies.ServerValue(f"path:{slug}", str(study.path.resolve())))
    if row.state == "draft" and not draft:
        store.call(studies.set_state, studies.SetState(row.id, "running"))


def _ready(config: ServerConfig, named: list[tuple[str, Study]], show: bool, others: list[str]) -> None:
    from karat.field.server.visits import preview_path

    for slug, study in named:
        typer.echo(f"{'study':<10} {config.address}/s/{slug}/  ({study.title})")
        typer.echo(f"{'try it':<10} {config.address}{preview_path(config.secret, slug, 1)}  (list 1; does not count)")
    typer.echo(f"dashboard  {config.address}/admin  (log in as admin)")
    typer.echo(f"data       {config.data.resolve()}")
    if not config.secure and config.host not in ("127.0.0.1", "localhost", "::1"):
        typer.echo(
            "warning    Without TLS others can read along. Put a proxy in front: --behind-proxy --base-url https://..."
        )
    for other in others:
        typer.echo(f"note       Another server with this data folder answers at {other}. Both serve the same answers.")
    typer.echo("Stop with Ctrl-C.")
    sys.stdout.flush()
    if show and has_screen():
        typer.launch(f"{config.address}/admin")
