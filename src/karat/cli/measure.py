"""karat measure: acceptability estimates, contrasts, decisions, agreement, dimensions, labels."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from karat.cli.options import (
    ExecutorOptions,
    Json,
    OutFolder,
    Quiet,
    ReadOptions,
    SafeAnyway,
    Seed,
    option,
    print_json,
    reads_files,
    with_executor_options,
)
from karat.cli.progress import working
from karat.errors import counted

EXAMPLE = "Example: karat measure results.csv --study study.toml --without screened/screening.json --out measured"


@reads_files
@with_executor_options
def measure(
    model: Annotated[
        list[str] | None,
        option(
            "Choose ordinal, mean, zscore, binary, magnitude, thurstone, davidson or bradley-terry (default: the "
            "model recommended for the scale). Repeatable, to compare.",
            "NAME",
        ),
    ] = None,
    study: Annotated[
        Path | None, option("Use the factors, planned contrasts and item tables of this study file.", "FILE")
    ] = None,
    without: Annotated[
        Path | None,
        option(
            "Leave out the participants in FILE: screening.json, its folder, or a CSV with a column participant.",
            "FILE",
        ),
    ] = None,
    formula: Annotated[
        str | None, option('Set the model formula, as in R: "response ~ a * b + (1 | participant)".', "TEXT")
    ] = None,
    pairs: Annotated[
        Path | None, option("Test the expert pairs in this CSV with the columns pair, better and worse.", "FILE")
    ] = None,
    question: Annotated[str | None, option("Measure only this question.", "NAME")] = None,
    conditions: Annotated[
        str | None, option("Use these columns as conditions; an empty text for none.", "NAME,...")
    ] = None,
    functions: Annotated[str, option("Measure the trials with these functions.", "NAME,...")] = "test",
    by: Annotated[
        str | None, option("Compare the halves of this column for stability (default: session, else source).", "NAME")
    ] = None,
    dimensions: Annotated[
        int | None,
        option("Set the number of dimensions of a semantic differential (default: by parallel analysis).", "N", min=1),
    ] = None,
    factors: Annotated[int | None, option("An older name of --dimensions.", hidden=True)] = None,
    posterior: Annotated[
        bool,
        option("Sample the full posterior of Thurstone's model (slower; needs the extra bayes).", None, "--posterior"),
    ] = False,
    bayes: Annotated[
        bool,
        option(
            "Add posteriors of the planned contrasts by a Bayesian mixed model (slower; needs the extra bayes).",
            None,
            "--bayes",
        ),
    ] = False,
    machines: Annotated[
        str | None,
        option(
            "Compare these participants, such as language models, with the others, and leave them out of everything "
            "else: names, patterns or COLUMN=VALUE.",
            "NAME,...",
        ),
    ] = None,
    margin: Annotated[
        float | None,
        option("Set how much more often than a machine a participant may agree better (default: .1).", "SHARE"),
    ] = None,
    seed: Seed = 1,
    out: OutFolder = None,
    *,
    reading: ReadOptions,
    place: ExecutorOptions,
    safe_for_spreadsheets: SafeAnyway = True,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Estimate acceptability, contrasts, decisions, agreement, stability, dimensions and labels.

    karat computes everything that applies to these judgments and gives a reason for the rest. Only test trials are
    measured unless --functions names others. Nobody is excluded unless --without names the verdicts of karat screen.

    --processes 4 or --cluster local shares the bootstrap among processes and gives the same numbers.
    """
    from karat.measure import run
    from karat.measure.measured import excluded, nobody
    from karat.measure.reliability.annotator_test import MARGIN, machine_names
    from karat.study.study import load

    silent = quiet or as_json
    planned = None if study is None else load(study)
    judged = reading.known(planned, "measure", quiet=silent)
    named = set(machine_names(judged.judgments, _names(machines or "")))
    # The note on participants named after language models is answered if all of them are machines.
    answered = [n for n in judged.intake.notes if n.code == "intake.models" and named >= {*n.values["flag"].split(",")}]
    notes = tuple(note for note in judged.intake.notes if note not in answered)
    judged = replace(judged, intake=replace(judged.intake, notes=notes))
    with place.open_executor() as executor:
        measures = run(
            judged.judgments, model or [], formula=formula, pairs=pairs, question=question,
            conditions=None if conditions is None else _names(conditions), functions=_names(functions), by=by,
            factors=dimensions or factors, posterior=posterior, study=planned,
            without=nobody(reading.files) if without is None else excluded(judged.judgments, without), seed=seed,
            machines=_names(machines or ""), margin=MARGIN if margin is None else margin,
            progress=partial(working, quiet=silent), executor=executor, bayes=bayes,
        )  # fmt: skip
    with working("writing tables and figures", quiet=silent):
        written = [] if out is None else measures.write(out)
    if as_json:
        print_json(measures.to_dict())
    elif not quiet:
        typer.echo("\n".join([*judged.lines, *measures.lines(), _written(out, written)]))


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _written(out: Path | None, written: list[Path]) -> str:
    if out is None:
        return "Nothing was written. Use --out DIR to keep tables and figures."
    tables = counted(sum(path.suffix == ".csv" for path in written), "table")
    figures = counted(sum(path.suffix == ".svg" for path in written), "figure")
    return f"written    {out}: {tables}, {figures} and measures.json; README.txt describes them."
