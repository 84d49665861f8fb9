"""karat links: what to paste where, on the platform that recruits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli.serve import BaseUrl

EXAMPLE = "Example: karat links study.toml --base-url https://study.example.org"


def links(
    study: Annotated[Path, typer.Argument(help="The study file, or its folder.", show_default=False)],
    base_url: BaseUrl = "http://127.0.0.1:8000",
) -> None:
    """Print the address of a study for its platform, the completion codes, and the prescreeners to choose."""
    from karat.field.content.links import links as told
    from karat.field.slugs import slug_of
    from karat.study.study import load

    loaded = load(study)
    typer.echo(told(loaded, base_url.rstrip("/"), slug_of(loaded)))
