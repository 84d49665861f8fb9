"""karat open: a page on this machine, for people who do not like terminals."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from karat.cli.options import has_screen

EXAMPLE = "Example: karat open"


def open_page(
    keep: Annotated[
        Path, typer.Option("--keep", help="Where the button Keep of the page copies results to.", metavar="FOLDER")
    ] = Path("karat-results"),
    port: Annotated[int, typer.Option(help="The port to listen on; 0 for any that is free.", min=0, max=65535)] = 0,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the page where there is a screen.")] = True,
) -> None:
    """Open a page to drop files on: results become a screening and a report, a study file is checked.

    The page is for this machine and this user alone. Dropped files stay on the machine and are deleted when the page is
    closed or the command ends; what the button Keep has copied stays.
    """
    from karat.studio.run import open_studio

    def ready(address: str) -> None:
        typer.echo(f"page       {address}  (opens once)")
        typer.echo("Close the page, or press Ctrl-C, to end. All files but those you keep are then deleted.")
        sys.stdout.flush()
        if show and has_screen():
            typer.launch(address)

    kept = open_studio(keep.resolve(), port, ready)
    for folder in kept:
        typer.echo(f"kept       {folder}")
    typer.echo(f"Closed. {'Everything else is' if kept else 'All files are'} deleted.")
