"""karat demo: the main job on example data, without a server or an account."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from karat.cli.progress import working

EXAMPLE = "Example: karat demo --keep my-demo"


def demo(
    keep: Annotated[Path, typer.Option("--keep", help="The folder for the results.")] = Path("karat-demo"),
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the result where there is a screen.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Read and summarise a bundled example, and say where the result is."""
    from karat import demo as story

    with working("running the demo", quiet=as_json):
        result = story.run(keep)
    page = result.page.resolve()
    if as_json:
        typer.echo(json.dumps({"page": str(page), "lines": result.lines}))
    else:
        typer.echo("\n".join(result.lines))
        typer.echo(f"\nThe result is in {page}")
    if show and story.has_screen():
        typer.launch(str(page))
