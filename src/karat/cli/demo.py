"""karat demo: the main job on example data, without a server or an account."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli.progress import working

EXAMPLE = "Example: karat demo --keep my-demo"


def demo(
    keep: Annotated[Path, typer.Option("--keep", help="The folder for the results.")] = Path("karat-demo"),
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the result where there is a screen.")] = True,
) -> None:
    """Read and summarise a bundled example, and say where the result is."""
    from karat import demo as story

    with working("running the demo"):
        result = story.run(keep)
    typer.echo("\n".join(result.lines))
    typer.echo(f"\nThe result is in {result.page.resolve()}")
    if show and story.has_screen():
        typer.launch(str(result.page.resolve()))
