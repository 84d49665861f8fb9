"""karat open: the browser app, for working without a terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from karat.cli.options import KeepAnyway, has_screen

EXAMPLE = "Example: karat open"


def open_page(
    out: Annotated[
        Path, typer.Option("-o", "--out", help="Copy results to this folder when you press Keep.", metavar="DIR")
    ] = Path("karat-results"),
    keep: KeepAnyway = None,
    port: Annotated[
        int, typer.Option(help="Listen on this port; 0 picks a free one.", min=0, max=65535, metavar="N")
    ] = 0,
    show: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser, if there is a display.")
    ] = True,
) -> None:
    """Open the browser app: drop results to get a screening and a report, or a study file to check it.

    Only you can open the page, and only on this machine. Files never leave the machine. They are deleted when you close
    the page or stop the command, except what you copied with Keep.
    """
    from karat.studio.run import open_studio

    def ready(address: str) -> None:
        typer.echo(f"page       {address}  (opens once)")
        typer.echo("Close the page or press Ctrl-C to stop. All files except those you keep are then deleted.")
        sys.stdout.flush()
        if show and has_screen():
            typer.launch(address)

    kept = open_studio((keep or out).resolve(), port, ready)
    for folder in kept:
        typer.echo(f"kept       {folder}")
    typer.echo(f"Closed. {'Everything else is' if kept else 'All files are'} deleted.")
