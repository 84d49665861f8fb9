"""karat demo: a complete study on this machine, from design to report."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.options import KeepAnyway, has_screen, has_terminal
from karat.cli.progress import counting, working

if TYPE_CHECKING:
    from karat.demo import Served

EXAMPLE = "Example: karat demo --out my-demo"


def demo(
    out: Annotated[Path, typer.Option("-o", "--out", help="Write the results to this folder.", metavar="DIR")] = Path(
        "karat-demo"
    ),
    keep: KeepAnyway = None,
    serve: Annotated[
        bool,
        typer.Option("--serve/--no-serve", help="Serve the study to bots over HTTP, or only simulate the answers."),
    ] = True,
    show: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the report in a browser, if there is a display.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Run a complete example study with 60 bots: design, check, serve, screen, measure, report.

    In a terminal the server and its dashboard run until Ctrl-C; elsewhere they stop once the report is written.
    """
    from karat import demo as story

    keep = keep or out
    lines: list[str] = []

    def say(*new: str) -> None:
        lines.extend(new)
        if not as_json:
            typer.echo("\n".join(new))

    watched = not as_json and has_terminal()
    keep.mkdir(parents=True, exist_ok=True)
    with _server(keep, serve, as_json) as served:
        if served is None:
            introduced, answered = story.simulated(keep)
            say(*introduced)
        else:
            say(*served.lines)
            with counting("bots are answering", quiet=as_json) as progress:
                answered = served.answered(progress, watched=watched)
        say(answered.line)
        reported = story.report(answered, keep, lambda part: working(part, quiet=as_json))
        say(*reported.lines)
        page = reported.page.resolve()
        if as_json:
            typer.echo(json.dumps({"page": str(page), "lines": lines}))
        else:
            typer.echo(f"\nThe report is in {page}")
        if show and has_terminal() and has_screen():
            typer.launch(str(page))
            if served is not None:
                typer.launch(f"{served.server.address}/admin")
        if served is not None and watched:
            typer.echo("The server is still running: open its dashboard, or take part yourself. Press Ctrl-C to stop.")
            served.server.wait()


@contextmanager
def _server(keep: Path, wanted: bool, quiet: bool) -> Iterator[Served | None]:
    """The server of the demo, if wanted; stopped at the end, by Ctrl-C and when the demo is terminated."""
    from karat import demo as story

    if not wanted:
        yield None
        return
    with _terminating_cleanly():
        with working("starting the server", quiet=quiet):
            served = story.serve(keep)
        try:
            yield served
        except KeyboardInterrupt:
            typer.echo("Stopped.")
        finally:
            served.server.stop()


@contextmanager
def _terminating_cleanly() -> Iterator[None]:
    """Exit cleanly on SIGTERM and SIGHUP, because the server is a separate process and would keep running."""

    def leave(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), leave) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
