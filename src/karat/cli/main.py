"""The command `karat` and its groups of commands."""

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from typing import NoReturn

import typer

from karat import __version__
from karat.cli.options import HelpCommand, HelpGroup, has_screen, print_json
from karat.errors import KaratError, ProblemsError

WRITE_NOTHING = {"chance", "check", "links", "power", "serve", "size", "status"}
"""Commands that never write a file, so an error need not say that nothing was written."""


def karat(
    context: typer.Context, version: bool = typer.Option(False, "--version", help="Show the version and exit.")
) -> None:
    """Design, run, screen, measure and report studies in which people judge language."""
    if version:
        typer.echo(f"karat {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        if has_screen() and not os.environ.get("CI"):
            import_module("karat.cli.open").open_by_default()
        else:
            typer.echo(context.get_help())
            raise typer.Exit(2)


GROUPS = {
    "Design": ("init", "check", "size", "chance", "power", "plan", "simulate"),
    "Run": ("rehearse", "serve", "links", "status", "export", "backup", "participants"),
    "Screen": ("screen",),
    "Measure": ("measure",),
    "Report": ("report", "archive"),
    "Tools": ("demo", "open", "convert", "datasets"),
}
"""The commands as `karat --help` lists them. Each is a function in the module of its name, beside its example."""


def program(only: str | None = None) -> typer.Typer:
    """The program with all commands, or with only one, because typer takes a while to prepare each."""
    typer_app = typer.Typer(
        name="karat",
        help="Design, run, screen, measure and report studies in which people judge language.",
        epilog="Start with: karat demo. If you have results already: karat report results.csv -o report.html",
        cls=HelpGroup,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    typer_app.callback(invoke_without_command=True)(karat)
    for group, commands in GROUPS.items():
        for name in commands:
            if only in (name, None):
                module = import_module(f"karat.cli.{name}")
                command = typer_app.command(name, epilog=module.EXAMPLE, rich_help_panel=group, cls=HelpCommand)
                command(getattr(module, name))
    if only is None:
        typer_app.command("people", hidden=True, deprecated=True)(import_module("karat.cli.participants").participants)
    return typer_app


app = program()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command. A KaratError, or a file that cannot be read or written, exits with status 2 and a message."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    # The matrices of a study are small, so more threads would cost more than they save.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # At the end, Python need not search the objects of all packages for garbage.
    atexit.register(gc.freeze)
    typed = arguments[0] if arguments else ""
    run = program(typed) if any(typed in commands for commands in GROUPS.values()) else app
    try:
        run(arguments)
    except KaratError as error:
        _refuse(error, arguments)
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(1) from None
    except OSError as error:
        if error.filename is None:
            raise
        message = f"{error.filename} cannot be used: {error.strerror or error}. Check its path and permissions."
        _refuse(KaratError(message), arguments)


def _refuse(error: KaratError, arguments: Sequence[str]) -> NoReturn:
    if "--json" in arguments:
        problems = [asdict(problem) for problem in error.problems] if isinstance(error, ProblemsError) else []
        print_json({"error": getattr(error, "headline", str(error)), "problems": problems})
    typer.echo(f"{error}", err=True)
    if isinstance(error, ProblemsError) and arguments[0] not in WRITE_NOTHING:
        typer.echo("Nothing was written.", err=True)
    raise SystemExit(2) from None
