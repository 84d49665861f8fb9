"""karat demo: a complete study on this machine, from design to report."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.options import Json, KeepAnyway, has_screen, has_terminal, option
from karat.cli.progress import counting, working
from karat.signals import signals_handled

if TYPE_CHECKING:
    from karat.demo import Answered, Served

EXAMPLE = "Example: karat demo --out my-demo"
Out = Annotated[Path, option("Write the results to this folder.", "DIR", "-o", "--out")]
Stay = Annotated[bool, option("Keep the server running after the report is written, until Ctrl-C.", None, "--stay")]


def demo(
    out: Out = Path("karat-demo"),
    keep: KeepAnyway = None,
    serve: Annotated[
        bool, option("Serve the study to bots over HTTP, or only simulate the answers.", None, "--serve/--no-serve")
    ] = True,
    show: Annotated[
        bool, option("Open the report in a browser, if there is a display.", None, "--open/--no-open")
    ] = True,
    stay: Stay = False,
    as_json: Json = False,
) -> None:
    """Run a complete example study with 60 bots: design, check, serve, screen, measure, report.

    In a terminal the server and its dashboard run until Ctrl-C; elsewhere they stop once the report is written, unless
    you use --stay.
    """
    from karat import demo as story

    keep = keep or out
    with running_server(lambda: story.serve(keep), keep, serve, as_json) as served:
        simulated = None if served is not None else story.simulated(keep)
        run_bots(served, simulated, keep, "karat demo", stay or (not as_json and has_terminal()), show, as_json)


def run_bots(
    served: Served | None,
    simulated: tuple[list[str], Answered] | None,
    folder: Path,
    command: str,
    stays: bool,
    show: bool,
    as_json: bool,
) -> None:
    """Let bots take part, report on it, and say what happened; the address of a server only where it stays."""
    from karat import demo as story

    lines: list[str] = []

    def say(*new: str) -> None:
        lines.extend(new)
        if not as_json:
            typer.echo("\n".join(new))

    if served is not None:
        say(*served.introduced, *(served.addresses if stays else []))
        with counting("bots are answering", quiet=as_json) as progress:
            answered = served.answered(progress, watched=stays and has_terminal())
    elif simulated is not None:
        introduced, answered = simulated
        say(*introduced)
    else:
        return
    say(answered.line)
    reported = story.report(answered, folder, lambda part: working(part, quiet=as_json), command)
    say(*reported.lines)
    page = reported.page.resolve()
    if as_json:
        typer.echo(json.dumps({"page": str(page), "lines": lines}))
    else:
        typer.echo(f"\nThe report is in {page}")
    if show and has_terminal() and has_screen():
        typer.launch(str(page))
        if served is not None and stays:
            typer.launch(f"{served.server.address}/admin")
    if served is not None and stays:
        if not as_json:
            typer.echo("The server is still running: open its dashboard, or take part yourself. Press Ctrl-C to stop.")
        served.server.wait()


@contextmanager
def running_server(start: Callable[[], Served], keep: Path, wanted: bool, quiet: bool) -> Iterator[Served | None]:
    """The server of the demo, if wanted; stopped at the end, by Ctrl-C and when the demo is terminated."""
    keep.mkdir(parents=True, exist_ok=True)
    if not wanted:
        yield None
        return
    with signals_handled(("SIGTERM", "SIGHUP"), _leave):
        with working("starting the server", quiet=quiet):
            served = start()
        try:
            yield served
        except KeyboardInterrupt:
            typer.echo("Stopped.")
        finally:
            served.server.stop()


def _leave(number: int, _: object) -> None:
    """Exit in order, because the server is a separate process and would keep running."""
    raise SystemExit(128 + number)
