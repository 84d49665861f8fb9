"""karat datasets: the example data included with karat."""

from pathlib import Path
from typing import Annotated

import typer

from karat.cli.convert import write_judgments
from karat.cli.options import Json, argument, option, print_json

EXAMPLE = "Example: karat datasets likert -o likert.csv"


def datasets(
    name: Annotated[str | None, argument("The data set; without it, all are listed.", "NAME")] = None,
    out: Annotated[Path | None, option("Write to FILE (CSV or Parquet, by suffix).", "FILE", "-o", "--out")] = None,
    as_json: Json = False,
) -> None:
    """List the example data sets, or summarise one and write it to a file."""
    from karat import datasets as bundled

    if name is None:
        width = max(map(len, bundled.ABOUT))
        lines = [f"{data_set.ljust(width)}  {about}" for data_set, about in bundled.ABOUT.items()]
        print_json(bundled.ABOUT) if as_json else typer.echo("\n".join(lines))
        return
    judgments = bundled.load(name)
    if out is not None:
        write_judgments(judgments, out)
    if as_json:
        print_json({"name": name, "answers": judgments.answers, "written": str(out) if out else None})
    else:
        typer.echo(f"written    {out}" if out else judgments.summary())
