"""karat check: find mistakes in a design before you pay anyone."""

from pathlib import Path
from typing import Annotated

import typer

from karat.cli.options import argument, option, print_json
from karat.cli.progress import working

EXAMPLE = "Example: karat check study.toml"


def check(
    study: Annotated[Path, argument("The study file, or its folder.")] = Path("study.toml"),
    as_json: Annotated[bool, option("Print the findings as JSON.", None, "--json")] = False,
    quiet: Annotated[bool, option("Print nothing; the exit status is 1 if there are errors.", None, "--quiet")] = False,
) -> None:
    """Check the design of a study; list errors, warnings and hints, each with its source and a fix.

    The exit status is 1 if there are errors.
    """
    from karat.field.content.texts import words
    from karat.study.check import check as run
    from karat.study.study import load

    loaded = load(study)
    # Page texts belong to the server, a layer above the checks, but a misspelt name should be reported here.
    note = words(loaded.settings.language, loaded.settings.texts.words).note
    with working(f"checking {loaded.path.name}", quiet=quiet or as_json):
        report = run(loaded)
    if as_json:
        print_json({**report.to_dict(), "note": note})
    elif not quiet:
        head, *rest = report.lines()
        typer.echo("\n".join([head, *([f"Note: {note}"] if note else []), *rest]))
    if report.errors:
        raise typer.Exit(1)
