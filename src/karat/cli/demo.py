"""karat demo: the life of a study on this machine, without an account anywhere."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.options import has_screen, has_terminal
from karat.cli.progress import counting, working

if TYPE_CHECKING:
    from karat.demo import Answered, Served

EXAMPLE = "Example: karat demo --keep my-demo"


def demo(
    keep: Annotated[Path, typer.Option("--keep", help="The folder for the results.")] = Path("karat-demo"),
    serve: Annotated[
        bool, typer.Option("--serve/--no-serve", help="Serve the study to bots over HTTP; else simulate answers.")
    ] = True,
    stay: Annotated[
        bool, typer.Option("--stay", help="Keep the server running when the report is written, until Ctrl-C.")
    ] = False,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the result where there is a screen.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """The life of a study: written, checked, served, answered by 60 bots, screened, measured and reported.

    In a terminal the server runs until Ctrl-C, with its dashboard; elsewhere it ends when the report is written, unless
    --stay is given.
    """
    from karat import demo as story

    with _server(lambda: story.serve(keep), keep, serve, as_json) as served:
        simulated = None if served is not None else story.simulated(keep)
        _told(served, simulated, keep, "karat demo", stay or (not as_json and has_terminal()), show, as_json)


REHEARSE_EXAMPLE = "Example: karat rehearse my-study --bots 30"


def rehearse(
    study: Annotated[Path, typer.Argument(help="A study file, or a folder with study.toml.")] = Path("study.toml"),
    bots: Annotated[int, typer.Option("--bots", help="How many bots take part, of all kinds.", min=12)] = 30,
    keep: Annotated[Path, typer.Option("--keep", help="The folder for the results.")] = Path("karat-rehearsal"),
    stay: Annotated[
        bool, typer.Option("--stay", help="Keep the server running when the report is written, until Ctrl-C.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Rehearse a study: bots of all kinds answer it on a server of its own, then it is screened and reported.

    The bots go through every page, as participants do. Their answers are kept apart from those of the study.
    """
    from karat import demo as story
    from karat.study.study import load

    loaded = load(study)
    with _server(lambda: story.rehearse(loaded, keep, bots), keep, True, as_json) as served:
        _told(served, None, keep, "karat rehearse", stay, False, as_json)


def _told(
    served: Served | None,
    simulated: tuple[list[str], Answered] | None,
    keep: Path,
    command: str,
    stays: bool,
    show: bool,
    as_json: bool,
) -> None:
    """Let bots take part, report on it, and say what happened; the address of a server only where it stays."""
    from karat import demo as story

    lines: list[str] = []

    def say(*told: str) -> None:
        lines.extend(told)
        if not as_json:
            typer.echo("\n".join(told))

    if served is not None:
        say(*served.introduced, *(served.addresses if stays else []))
        with counting("bots take part", quiet=as_json) as progress:
            answered = served.answered(progress, watched=stays and has_terminal())
    elif simulated is not None:
        introduced, answered = simulated
        say(*introduced)
    else:
        return
    say(answered.line)
    told = story.report(answered, keep, lambda part: working(part, quiet=as_json), command)
    say(*told.lines)
    page = told.page.resolve()
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
            typer.echo("The server runs on: look at its dashboard, or take part yourself. Stop with Ctrl-C.")
        served.server.wait()


@contextmanager
def _server(start: Callable[[], Served], keep: Path, wanted: bool, quiet: bool) -> Iterator[Served | None]:
    """The running server of the demo, if one is wanted, stopped at the end, by Ctrl-C and when the demo is ended."""
    keep.mkdir(parents=True, exist_ok=True)
    if not wanted:
        yield None
        return
    with _asked_to_end():
        with working("starting the server", quiet=quiet):
            served = start()
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
