"""karat datasets: the example data included with karat."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from karat.cli.convert import write_judgments
from karat.cli.options import Json, argument, option

EXAMPLE = "Example: karat datasets likert -o likert.csv"


def datasets(
    name: Annotated[str | None, argument("The data set; without it, all are listed.", "NAME")] = None,
    out: Annotated[
        Path | None, option("Write the data set to FILE (CSV or Parquet, by suffix).", "FILE", "-o", "--out")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the example data sets, or summarise one and write it to a file."""
    from karat import datasets as bundled

    if name is None:
        width = max(map(len, bundled.ABOUT))
        lines = [f"{one.ljust(width)}  {about}" for one, about in bundled.ABOUT.items()]
        typer.echo(json.dumps(bundled.ABOUT, indent=2) if as_json else "\n".join(lines))
        return
    judgments = bundled.load(name)
    if out is not None:
        write_judgments(judgments, out)
    if as_json:
        typer.echo(json.dumps({"name": name, "answers": judgments.answers, "written": str(out) if out else None}))
    else:
        typer.echo(f"written    {out}" if out else judgments.summary())
