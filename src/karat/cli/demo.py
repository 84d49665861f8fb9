"""karat demo: the life of a study on this machine, without an account anywhere."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.options import has_screen, has_terminal
from karat.cli.progress import counting, working

if TYPE_CHECKING:
    from karat.demo import Served

EXAMPLE = "Example: karat demo --keep my-demo"


def demo(
    keep: Annotated[Path, typer.Option("--keep", help="The folder for the results.")] = Path("karat-demo"),
    serve: Annotated[
        bool, typer.Option("--serve/--no-serve", help="Serve the study to bots over HTTP; else simulate answers.")
    ] = True,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the result where there is a screen.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """The life of a study: written, checked, served, answered by 60 bots, screened, measured and reported.

    In a terminal the server runs until Ctrl-C, with its dashboard; elsewhere it ends when the report is written.
    """
    from karat import demo as story

    lines: list[str] = []

    def say(*told: str) -> None:
        lines.extend(told)
        if not as_json:
            typer.echo("\n".join(told))

    watched = not as_json and has_terminal()
    keep.mkdir(parents=True, exist_ok=True)
    with _server(keep, serve, as_json) as served:
        if served is None:
            introduced, answered = story.simulated(keep)
            say(*introduced)
        else:
            say(*served.lines)
            with counting("bots take part", quiet=as_json) as progress:
                answered = served.answered(progress, watched=watched)
        say(answered.line)
        told = story.report(answered, keep, lambda part: working(part, quiet=as_json))
        say(*told.lines)
        page = told.page.resolve()
        if as_json:
            typer.echo(json.dumps({"page": str(page), "lines": lines}))
        else:
            typer.echo(f"\nThe report is in {page}")
        if show and has_terminal() and has_screen():
            typer.launch(str(page))
            if served is not None:
                typer.launch(f"{served.server.address}/admin")
        if served is not None and watched:
            typer.echo("The server runs on: look at its dashboard, or take part yourself. Stop with Ctrl-C.")
            served.server.wait()


@contextmanager
def _server(keep: Path, wanted: bool, quiet: bool) -> Iterator[Served | None]:
    """The running server of the demo, if one is wanted, stopped at the end, by Ctrl-C and when the demo is ended."""
    from karat import demo as story

    if not wanted:
        yield None
        return
    with _asked_to_end():
        with working("starting the server", quiet=quiet):
            served = story.serve(keep)
        try:
            yield served
        except KeyboardInterrupt:
            typer.echo("Stopped.")
        finally:
            served.server.stop()


@contextmanager
def _asked_to_end() -> Iterator[None]:
    """Leave in order when the system or a closed terminal asks: the server is a process of its own and would stay."""

    def leave(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), leave) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
