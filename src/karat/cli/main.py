"""The command `karat` and what all its commands share."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import NoReturn

import typer

from karat import __version__
from karat.cli import (
    archive,
    backup,
    chance,
    check,
    convert,
    datasets,
    demo,
    export,
    init,
    links,
    measure,
    participants,
    plan,
    power,
    report,
    screen,
    serve,
    simulate,
    size,
    status,
)
from karat.cli import open as open_command
from karat.errors import KaratError, ProblemsError

WRITE_NOTHING = {"chance", "check", "links", "power", "serve", "size", "status"}
"""Commands of which nobody expects a file: that none was written goes without saying."""

app = typer.Typer(
    name="karat",
    help="Plan, field, screen, measure and report studies in which people judge language.",
    epilog="Start here: karat demo. Or with results of your own: karat convert results.csv -o judgments.parquet",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def karat(version: bool = typer.Option(False, "--version", help="Show the version and stop.")) -> None:
    """Plan, field, screen, measure and report studies in which people judge language."""
    if version:
        typer.echo(f"karat {__version__}")
        raise typer.Exit


app.command("convert", epilog=convert.EXAMPLE)(convert.convert)
app.command("datasets", epilog=datasets.EXAMPLE)(datasets.datasets)
app.command("demo", epilog=demo.EXAMPLE)(demo.demo)
app.command("init", epilog=init.EXAMPLE)(init.init)
app.command("check", epilog=check.EXAMPLE)(check.check)
app.command("plan", epilog=plan.EXAMPLE)(plan.plan)
app.command("simulate", epilog=simulate.EXAMPLE)(simulate.simulate)
app.command("power", epilog=power.EXAMPLE)(power.power)
app.command("rehearse", epilog=demo.REHEARSE_EXAMPLE)(demo.rehearse)
app.command("serve", epilog=serve.EXAMPLE)(serve.serve)
app.command("links", epilog=links.EXAMPLE)(links.links)
app.command("status", epilog=status.EXAMPLE)(status.status)
app.command("export", epilog=export.EXAMPLE)(export.export)
app.command("backup", epilog=backup.EXAMPLE)(backup.backup)
app.command("participants", epilog=participants.EXAMPLE)(participants.participants)
app.command("people", hidden=True, deprecated=True)(participants.participants)
app.command("screen", epilog=screen.EXAMPLE)(screen.screen)
app.command("open", epilog=open_command.EXAMPLE)(open_command.open_page)
app.command("measure", epilog=measure.EXAMPLE)(measure.measure)
app.command("report", epilog=report.EXAMPLE)(report.report)
app.command("archive", epilog=archive.EXAMPLE)(archive.archive)
app.command("chance", epilog=chance.EXAMPLE)(chance.chance)
app.command("size", epilog=size.EXAMPLE)(size.size)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; a KaratError, or a file that cannot be read or written, becomes a sentence and exit status 2."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        app(arguments)
    except KaratError as error:
        _refuse(error, arguments)
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(1) from None
    except OSError as error:
        if error.filename is None:
            raise
        told = f"{error.filename} cannot be used: {error.strerror or error}. Look at its path and its rights."
        _refuse(KaratError(told), arguments)


def _refuse(error: KaratError, arguments: Sequence[str]) -> NoReturn:
    if "--json" in arguments:
        typer.echo(json.dumps(_as_data(error), ensure_ascii=False, indent=2))
    typer.echo(f"{error}", err=True)
    if isinstance(error, ProblemsError) and arguments[0] not in WRITE_NOTHING:
        typer.echo("Nothing was written.", err=True)
    raise SystemExit(2) from None


def _as_data(error: KaratError) -> dict[str, object]:
    if not isinstance(error, ProblemsError):
        return {"error": str(error), "problems": []}
    problems = [asdict(problem) for problem in error.problems]
    return {"error": error.headline, "problems": problems}
