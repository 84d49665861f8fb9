"""karat open: the studio in a browser, for working without a terminal."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from karat.cli.options import KeepAnyway, argument, has_screen, option
from karat.errors import KaratError

EXAMPLE = "Example: karat open my-studies"
STUDIES = "karat-studies"
"""In the home folder: where studies are if karat was not started in a folder of its own."""


def open(  # noqa: A001
    studies: Annotated[
        Path, argument("List and make studies in this folder, which is created if needed.", "DIR", show_default=False)
    ] = Path(),
    out: Annotated[Path, option("Copy results to this folder when you press Keep.", "DIR", "-o", "--out")] = Path(
        "karat-results"
    ),
    keep: KeepAnyway = None,
    port: Annotated[int, option("Listen on this port; 0 picks a free one.", "N", min=0, max=65535)] = 0,
    show: Annotated[
        bool, option("Open the page in a browser, if there is a display.", None, "--open/--no-open")
    ] = True,
) -> None:
    """Open the studio in a browser: design, check, preview, rehearse and run studies, and report results of any tool.

    Only you can open the page, and only on this machine. Files never leave the machine. Studies are saved in DIR
    (default: the current folder). Dropped results are deleted when you close the page or stop the command, except what
    you copied with Keep.
    """
    from karat.studio.app import open_studio

    def ready(address: str) -> None:
        typer.echo(f"page       {address}  (opens once)")
        typer.echo("Close the page or press Ctrl-C to stop. Dropped files except those you keep are then deleted.")
        sys.stdout.flush()
        if show and has_screen():
            typer.launch(address)

    if not studies.is_dir():
        try:
            studies.mkdir(parents=True)
        except OSError as error:
            raise KaratError(f"The folder {studies} cannot be created: {error.strerror}.") from None
        typer.echo(f"created    {studies.resolve()}")
    folders = open_studio((keep or out).resolve(), port, ready, studies.resolve())
    for folder in folders:
        typer.echo(f"kept       {folder}")
    dropped = "Other dropped" if folders else "Dropped"
    typer.echo(f"Closed. {dropped} files are deleted. Studies stay in {studies.resolve()}.")


def open_by_default() -> None:
    """Open the studio as `karat` without arguments does, in the current folder or in one for studies.

    A launcher starts programs in the home folder or at the root of the disk, which are not folders for studies.
    """
    here, home = Path.cwd().resolve(), Path.home().resolve()
    folder = home / STUDIES if here in (home, Path(here.anchor)) else here
    folder.mkdir(exist_ok=True)
    open(studies=folder, out=folder / "karat-results", keep=None, port=0, show=True)
