"""karat serve: run studies on the web."""

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

from karat.cli.options import argument, has_screen, option
from karat.cli.progress import working
from karat.errors import KaratError, counted

if TYPE_CHECKING:
    from karat.field.server.config import ServerConfig
    from karat.field.store import Store
    from karat.study.study import Study

EXAMPLE = "Example: karat serve study.toml --port 8000"

Data = Annotated[Path, option("Use this folder of the server, with its database, secret and backups.", "DIR")]
Database = Annotated[
    str, option("Use this database, such as postgresql+psycopg://USER@HOST/NAME (default: SQLite in --data).", "URL")
]
BaseUrl = Annotated[str, option("Set the public address of the server, such as https://study.example.org", "URL")]
DATA = Path("karat-data")
ADDRESS = "address"
"""The key under which the store keeps the last address of its server."""
SERVERS = "servers"
"""The key for the addresses of servers that were started and did not stop cleanly."""
MOST_SERVERS = 5
PROBE_SECONDS = 2.0
WIDTH = 110


def serve(
    studies: Annotated[list[Path], argument("Study files, or their folders.", show_default=False)],
    host: Annotated[str, option("Listen on this address; 0.0.0.0 for all.", "HOST")] = "127.0.0.1",
    port: Annotated[int, option("Listen on this port; 0 picks a free one.", "N", min=0, max=65535)] = 8000,
    database: Database = "",
    data: Data = DATA,
    behind_proxy: Annotated[
        bool, option("Trust the proxy in front of the server for TLS and client addresses.", None, "--behind-proxy")
    ] = False,
    base_url: BaseUrl = "",
    draft: Annotated[
        bool, option("Do not start the studies; nobody counts until you start them in the dashboard.", None, "--draft")
    ] = False,
    show: Annotated[bool, option("Open the dashboard in a browser, if there is a display.", None, "--open")] = False,
    new_password: Annotated[
        bool, option("Set a new password for the dashboard if you lost the old one.", None, "--new-password")
    ] = False,
    changed: Annotated[
        bool, option("Serve a study whose items, scale or rules have changed since it started.", None, "--changed")
    ] = False,
    new_database: Annotated[
        bool, option("Start with an empty database if the old one is gone.", None, "--new-database")
    ] = False,
) -> None:
    """Serve studies on the web, with pages for participants and a dashboard for researchers.

    Each study is checked first. Its screening rules are frozen when it starts. The first start asks for a dashboard
    password; without a terminal, the password comes from KARAT_ADMIN_PASSWORD or is generated and shown once.
    """
    from karat.field.server.app import create_app
    from karat.field.server.config import prepare
    from karat.field.server.run import listen, run
    from karat.field.store import Store

    # After the first start, `karat serve */` names the data folder too.
    loaded = _checked_studies([path for path in studies if path.resolve() != data.resolve()] or studies)
    _check_database(data, database, new_database)
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
    typer.echo("Stopped. All confirmed answers are saved.")


def _check_database(data: Path, database: str, new_database: bool) -> None:
    """Refuse a folder whose database is gone, because a new one would look like a study without answers."""
    if database or new_database or not (data / "secret").exists() or (data / "karat.db").exists():
        return
    raise KaratError(
        f"{data} has the secret of a server but no database karat.db. If the file was moved, put it back. To start "
        "with an empty database, use --new-database."
    )


def addresses(store: Store) -> list[str]:
    """The addresses of servers that were started and did not stop cleanly, the latest first."""
    from karat.field.store import studies

    with store.read() as connection:
        last, running = studies.value(connection, ADDRESS), studies.value(connection, SERVERS)
    return list(dict.fromkeys([*json.loads(running or "[]"), *([last] if last else [])]))


def note_address(store: Store, address: str, gone: bool = False) -> None:
    """Record the address of a server, or that it has stopped."""
    from sqlalchemy.exc import DBAPIError

    from karat.field.store import studies

    with store.read() as connection:
        # Only servers that did not stop cleanly: the last one of all may have done so.
        running = json.loads(studies.value(connection, SERVERS) or "[]")
    others = [server for server in running if server != address][: MOST_SERVERS - 1]
    if not gone:
        store.call(studies.set_value, ADDRESS, address)
    servers = others if gone else [address, *others]
    # At the end the database may be full, or have been moved away.
    with suppress(KaratError, DBAPIError) if gone else nullcontext():
        store.call(studies.set_value, SERVERS, json.dumps(servers))


def answering(address: str, mark: int | None = None) -> bool:
    """Whether a server of karat answers at an address; with a mark, one with this secret."""
    from urllib.request import urlopen

    try:
        with urlopen(f"{address}/healthz", timeout=PROBE_SECONDS) as reply:  # noqa: S310 - an address of our own
            state = json.load(reply)
    except (OSError, ValueError):
        return False
    return isinstance(state, dict) and "server" in state and mark in (None, state["server"])


def _others(store: Store, config: ServerConfig) -> list[str]:
    """Other servers that answer and have the same SQLite database."""
    from karat.field.server.security import secret_mark

    if config.database.startswith("postgres"):
        return []
    mark = secret_mark(config.secret)
    return [other for other in addresses(store) if other != config.address and answering(other, mark)]


def _checked_studies(paths: list[Path]) -> list[tuple[str, Study]]:
    """The checked studies with their short names; errors stop the server before it starts."""
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
                f"{study.path} has {counted(report.errors, 'error')}. Fix what the report names; if something is "
                "intended, declare it in the study file as the report's last line shows."
            )
        slug = slug_of(study)
        if slug in named:
            raise KaratError(f"{study.path} and {named[slug].path} have the same short name {slug}. Rename one folder.")
        named[slug] = study
    return list(named.items())


def set_login(store: Store, renew: bool) -> None:
    """Set the dashboard login on the first start, or again on request."""
    from karat.field.admin.login import NAME, first_password, hashed
    from karat.field.store import admins

    with store.read() as connection:
        if not renew and admins.password_hash(connection, NAME) is not None:
            return
    ask = getpass.getpass if sys.stdin.isatty() and sys.stderr.isatty() else None
    first = first_password(ask, os.environ)
    if renew:
        store.call(admins.set_password, NAME, hashed(first.password))
    elif not store.call(admins.set_first_password, NAME, hashed(first.password)):
        typer.echo(
            f"dashboard  Another server process has just set the password of {NAME}. If it was generated, that process "
            "printed it. Use --new-password to set a new one."
        )
        return
    if first.made:
        typer.echo(f"dashboard  The password of {NAME} is {first.password} (shown only now).")


def _register(store: Store, slug: str, study: Study, draft: bool, forced: bool) -> None:
    """Register the study and start it; refuse changes to what was frozen, unless forced."""
    from karat.field.registration import changes, registration, restored
    from karat.field.store import studies

    row = store.call(studies.register, registration(slug, study))
    if row.rules_changed and not forced:
        raise KaratError(
            f"{study.path.name}: the screening rules have changed since {slug} started "
            f"(fingerprint {row.screening_fingerprint}). Restore them, or run this as a new study in a folder with "
            "another name. Use --changed to serve it with the frozen rules."
        )
    if row.changed:
        with store.read() as connection:
            files = studies.version_files(connection, row.id, row.fingerprint)
            before = None if files is None else restored(files, row.fingerprint, study.path)
            differences = changes(study, row.settings, studies.items_of(connection, slug), before)
        if differences.asked and not forced:
            raise KaratError(f"{slug}: {differences} To serve it anyway, use --changed.")
        line = f"{'warning' if differences.asked else 'note':<10} {slug}: {differences}"
        typer.echo(fill(line, WIDTH, subsequent_indent=" " * 11, break_on_hyphens=False), err=True)
    store.call(studies.set_value, f"path:{slug}", str(study.path.resolve()))
    if row.state == "draft" and not draft:
        store.call(studies.set_state, row.id, "running")


def _ready(config: ServerConfig, named: list[tuple[str, Study]], show: bool, others: list[str]) -> None:
    from karat.field.server.visits import preview_path

    for slug, study in named:
        typer.echo(f"{'study':<10} {config.address}/s/{slug}/  ({study.title})")
        typer.echo(f"{'try it':<10} {config.address}{preview_path(config.secret, slug, 1)}  (list 1; does not count)")
    typer.echo(f"dashboard  {config.address}/admin  (log in as admin)")
    typer.echo(f"data       {config.data.resolve()}")
    if not config.secure and config.host not in ("127.0.0.1", "localhost", "::1"):
        typer.echo(
            "warning    Without TLS, others can read the traffic. Use a proxy: --behind-proxy --base-url https://..."
        )
    for other in others:
        typer.echo(f"note       Another server with this data folder is running at {other}. Both use the same answers.")
    typer.echo("Press Ctrl-C to stop.")
    sys.stdout.flush()
    if show and has_screen():
        typer.launch(f"{config.address}/admin")
