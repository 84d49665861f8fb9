"""karat plan: every participant's questionnaire, and a summary of the design."""

from pathlib import Path
from typing import Annotated

import typer

from karat.cli.options import Json, StudyArgument, no_file, option, print_json
from karat.cli.progress import working
from karat.errors import KaratError

EXAMPLE = "Example: karat plan study.toml --participants 48 -o plan"


def plan(
    study: StudyArgument,
    lists: Annotated[int | None, option("Set the number of lists (default: from the study file).", "N", min=1)] = None,
    participants: Annotated[
        int | None, option("Set the number of participants (default: from the study file).", "N", min=1)
    ] = None,
    seed: Annotated[int | None, option("Set the random seed (default: from the study file).", "N", min=0)] = None,
    out: Annotated[
        Path | None,
        option("Write to this folder (default: plan, next to the study file).", "DIR", "-o", "--out", callback=no_file),
    ] = None,
    as_format: Annotated[str, option("Write the questionnaires as csv or parquet.", "NAME", "--format")] = "csv",
    as_json: Json = False,
) -> None:
    """Make every participant's questionnaire, with a figure of one trial order per list."""
    from karat.study.study import load, with_lists, with_participants
    from karat.study.summary import conditions_per_list, functions_per_list, summary_lines, write_plan

    if as_format not in ("csv", "parquet"):
        raise KaratError(f"--format {as_format}: use csv or parquet.")
    loaded = with_participants(with_lists(load(study), lists), participants)
    folder = loaded.path.parent / "plan" if out is None else out
    people = loaded.settings.recruitment.participants
    with working(f"planning for {people} participants", quiet=as_json):
        lines = summary_lines(loaded, people)
        written = write_plan(loaded, people, folder, as_format, seed)
    if as_json:
        about = {
            "title": loaded.title, "lists": loaded.lists, "participants": people,
            "minutes": round(loaded.minutes(), 1), "functions": functions_per_list(loaded).to_dicts(),
            "conditions": conditions_per_list(loaded).to_dicts(), "written": [str(path) for path in written],
        }  # fmt: skip
        print_json(about)
        return
    typer.echo("\n".join([*lines, *(f"written    {path}" for path in written)]))
