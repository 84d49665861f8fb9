"""karat measure: what they said - strengths, contrasts, decisions, agreement, dimensions, labels."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from karat.cli.convert import Json, Quiet, SafeAnyway
from karat.cli.options import ExecutorOptions, with_executor_options
from karat.cli.progress import working
from karat.cli.reading import ReadOptions, reads_files
from karat.errors import KaratError

EXAMPLE = "Example: karat measure results.csv --study study.toml --without screened/screening.json --out measured"

Model = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        help="ordinal, mean, zscore, binary, magnitude, thurstone, davidson, bradley-terry; by default the recommended "
        "one of the scale. Repeat to compare.",
        metavar="NAME",
    ),
]
StudyFile = Annotated[
    Path | None,
    typer.Option("--study", help="The study file: its factors, planned contrasts and item tables.", metavar="FILE"),
]
Without = Annotated[
    Path | None,
    typer.Option(
        "--without",
        help="Leave out whom a screening excluded: screening.json, its folder, or a CSV with the column participant.",
        metavar="FILE",
    ),
]
Formula = Annotated[
    str | None, typer.Option("--formula", help='Of the contrasts, as in R: "response ~ a * b + (1 | participant)".')
]
Pairs = Annotated[
    Path | None,
    typer.Option("--pairs", help="Pairs to decide on: a CSV of pair, better and worse, by experts.", metavar="FILE"),
]
Question = Annotated[str | None, typer.Option("--question", help="Measure this question alone.", metavar="NAME")]
Conditions = Annotated[
    str | None,
    typer.Option("--conditions", help="The columns that are conditions; an empty text for none.", metavar="NAME,..."),
]
Functions = Annotated[str, typer.Option("--functions", help="Which trials are measured.", metavar="NAME,...")]
By = Annotated[
    str | None,
    typer.Option("--by", help="Stability by this column; by default session, else source.", metavar="NAME"),
]
Dimensions = Annotated[
    int | None,
    typer.Option("--factors", help="Dimensions of a semantic differential; by default by parallel analysis.", min=1),
]
Posterior = Annotated[
    bool, typer.Option("--posterior", help="The full posterior of Thurstone's model (extra bayes; takes longer).")
]
Out = Annotated[Path | None, typer.Option("-o", "--out", help="The folder to write to. Without it, only look.")]


@reads_files
@with_executor_options
def measure(
    model: Model = None,
    study: StudyFile = None,
    without: Without = None,
    formula: Formula = None,
    pairs: Pairs = None,
    question: Question = None,
    conditions: Conditions = None,
    functions: Functions = "test",
    by: By = None,
    factors: Dimensions = None,
    posterior: Posterior = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers.", min=0)] = 1,
    out: Out = None,
    *,
    reading: ReadOptions,
    place: ExecutorOptions,
    safe_for_spreadsheets: SafeAnyway = True,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure what participants said: strengths, contrasts, decisions, agreement, stability, dimensions, labels.

    What applies to these judgments is computed, and what does not says why. Only test trials are measured unless others
    are asked for. Nobody is excluded here: --without takes the verdicts of karat screen.

    Bootstrap samples can be shared among processes, with the same numbers: --processes 4, or --cluster local.
    """
    from karat.measure import run
    from karat.measure.measured import excluded, nobody
    from karat.study.study import load

    if out is not None and out.exists() and not out.is_dir():
        raise KaratError(f"{out} is a file; give a folder to write to.")
    silent = quiet or as_json
    stated = None if study is None else load(study)
    known = reading.known(stated, quiet=silent)
    with place.open_executor() as executor:
        found = run(
            known.judgments, model or [], formula=formula, pairs=pairs, question=question,
            conditions=None if conditions is None else _names(conditions), functions=_names(functions), by=by,
            factors=factors, posterior=posterior, study=stated,
            without=nobody(reading.files) if without is None else excluded(known.judgments, without), seed=seed,
            progress=partial(working, quiet=silent), executor=executor,
        )  # fmt: skip
    with working("writing tables and figures", quiet=silent):
        written = [] if out is None else found.write(out)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
    elif not quiet:
        typer.echo("\n".join([*known.lines, *found.lines(), _written(out, written)]))


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _written(out: Path | None, written: list[Path]) -> str:
    if out is None:
        return "Nothing was written: say --out FOLDER to keep tables and figures."
    tables = sum(path.suffix == ".csv" for path in written)
    figures = sum(path.suffix == ".svg" for path in written)
    return f"written    {out}: {tables} tables, {figures} figures and measures.json; README.txt says what is where."
