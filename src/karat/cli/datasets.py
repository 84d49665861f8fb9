"""karat datasets: the example data that come with karat."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.errors import KaratError

EXAMPLE = "Example: karat datasets likert -o likert.csv"


def datasets(
    name: Annotated[str | None, typer.Argument(help="A data set; without it, all are listed.")] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Write it here: .csv or .parquet.")] = None,
) -> None:
    """List the example data, or write one of them to a file."""
    from karat import datasets as bundled

    if name is None:
        width = max(map(len, bundled.ABOUT))
        typer.echo("\n".join(f"{one.ljust(width)}  {about}" for one, about in bundled.ABOUT.items()))
        return
    judgments = bundled.load(name)
    if out is None:
        typer.echo(judgments.summary())
    elif out.suffix == ".csv":
        judgments.to_csv(out)
    elif out.suffix == ".parquet":
        judgments.to_parquet(out)
    else:
        raise KaratError(f"{out}: data sets are written as .csv or .parquet.")
    if out is not None:
        typer.echo(f"written    {out}")
