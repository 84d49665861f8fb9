"""karat demo: the main job on example data, and a study served on this machine, without an account anywhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.progress import counting, working

if TYPE_CHECKING:
    from karat.demo import Served

EXAMPLE = "Example: karat demo --keep my-demo"


def demo(
    keep: Annotated[Path, typer.Option("--keep", help="The folder for the results.")] = Path("karat-demo"),
    serve: Annotated[bool, typer.Option("--serve/--no-serve", help="Also serve a study to bots.")] = True,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the result where there is a screen.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Screen a bundled example; serve a study to bots who take part over HTTP, and screen them too.

    In a terminal the server runs until Ctrl-C, with its dashboard; elsewhere it ends when the bots are done.
    """
    from karat import demo as story

    with working("running the demo", quiet=as_json):
        result = story.run(keep)
    lines: list[str] = []

    def say(*told: str) -> None:
        lines.extend(told)
        if not as_json:
            typer.echo("\n".join(told))

    say(*result.lines)
    watched = not as_json and story.has_terminal()
    page = result.page.resolve()
    with _server(keep, serve, as_json) as served:
        if served is not None:
            say(*served.lines)
            with counting("bots take part", quiet=as_json) as progress:
                answered = served.answered(progress, watched=watched)
            say(answered, *served.screened())
        if as_json:
            typer.echo(json.dumps({"page": str(page), "lines": lines}))
        else:
            typer.echo(f"\nThe result is in {page}")
        if show and story.has_screen():
            typer.launch(str(page))
        if served is not None and watched:
            typer.echo("The server runs on: look at its dashboard, or take part yourself. Stop with Ctrl-C.")
            served.server.wait()


@contextmanager
def _server(keep: Path, wanted: bool, quiet: bool) -> Iterator[Served | None]:
    """The running server of the demo, if one is wanted, stopped at the end and when Ctrl-C is pressed."""
    from karat import demo as story

    if not wanted:
        yield None
        return
    with working("starting the server", quiet=quiet):
        served = story.serve(keep)
    try:
        yield served
    except KeyboardInterrupt:
        typer.echo("Stopped.")
    finally:
        served.server.stop()
