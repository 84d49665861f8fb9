"""karat init: an example study to start from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from karat.errors import KaratError

EXAMPLE = "Example: karat init word-order --task likert --language de"


def init(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="DIR",
            help="Folder to write to (default: named after the task or the table).",
            show_default=False,
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            help="Choose likert, yes-no, choice, pairs, magnitude, differential, label, norming or antonyms.",
            metavar="NAME",
        ),
    ] = None,
    language: Annotated[
        str, typer.Option(help="Set the language of texts and examples: en or de.", metavar="CODE")
    ] = "en",
    from_pairs: Annotated[
        Path | None,
        typer.Option(
            "--from-pairs", help="Make a study from this table with two columns of sentences.", metavar="FILE"
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Write a complete small study for you to edit, or make one from sentence pairs."""
    from karat.study.init import TEMPLATES, study_from_pairs, write_study

    if from_pairs is not None:
        if task not in (None, "pairs"):
            raise KaratError(f"--from-pairs always makes a study of pairs. Leave out --task {task}.")
        written = study_from_pairs(from_pairs, folder or Path(from_pairs.stem), language)
    elif task is None:
        width = max(map(len, TEMPLATES))
        known = "".join(f"\n  {name.ljust(width)}  {about}" for name, about in TEMPLATES.items())
        raise KaratError(f"Which task? Use --task with one of these names:{known}")
    else:
        written = write_study(folder or Path(task), task, language)
    if as_json:
        typer.echo(json.dumps({"written": [str(path) for path in written]}, ensure_ascii=False, indent=2))
        return
    names = "  ".join(path.name for path in written)
    typer.echo(f"written    {written[0].parent}: {names}")
    typer.echo(f"Next: edit these files, then run karat check {written[0].as_posix()}")
