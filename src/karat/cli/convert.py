"""karat convert: results of other tools as judgments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.convert_questions import read_and_ask
from karat.cli.reading import ReadOptions, intake_lines, reads_files
from karat.errors import KaratError

if TYPE_CHECKING:
    from karat.judgments import Judgments

EXAMPLE = "Example: karat convert results.csv prolific_export.csv --map item=sentence_id -o judgments.parquet"

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]
SafeAnyway = Annotated[
    bool,
    typer.Option(
        "--safe-for-spreadsheets", hidden=True, help="Accepted for consistency with convert; CSV is always safe here."
    ),
]


@reads_files
def convert(
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="Write the judgments to FILE (CSV or Parquet, by suffix); without it, nothing is written.",
            metavar="FILE",
        ),
    ] = None,
    *,
    reading: ReadOptions,
    parts: Annotated[
        int | None,
        typer.Option(
            "--parts",
            min=1,
            metavar="N",
            help="Write a folder of N Parquet files, with each participant in one of them.",
        ),
    ] = None,
    safe_for_spreadsheets: Annotated[
        bool,
        typer.Option(
            "--safe-for-spreadsheets/--raw",
            help="In CSV, mark text that a spreadsheet would run as a formula, or leave it as it is.",
        ),
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Read results from other tools into one table of judgments, and summarise it.

    In a terminal, karat asks at most three questions if a file is ambiguous, and saves the answers in FILE.karat.toml
    next to it. Elsewhere it prints its suggestions as a command and writes nothing; --yes accepts them.

    --parts divides the table by participant, so that karat screen can screen it in parts. The table may then be larger
    than memory; it is read a few rows at a time.
    """
    if parts is not None:
        from karat.cli.parted import dealt_lines, write_parts

        dealt = write_parts(reading, out, parts, quiet=quiet or as_json)
        if as_json:
            data = dealt.account | {"written": [str(path) for path in dealt.files]}
            typer.echo(json.dumps(data, ensure_ascii=False, indent=2))
        elif not quiet:
            typer.echo("\n".join(dealt_lines(dealt, out)))
        return
    _check_out(out, reading.files, safe_for_spreadsheets)
    intake = read_and_ask(reading, quiet=quiet or as_json)
    if out is not None:
        write_judgments(intake.judgments, out, safe_for_spreadsheets=safe_for_spreadsheets)
    if as_json:
        typer.echo(json.dumps(intake.to_dict() | {"written": str(out) if out else None}, ensure_ascii=False, indent=2))
    elif not quiet:
        typer.echo("\n".join(intake_lines(intake)))
        typer.echo(f"written    {out}" if out else "Nothing was written. Use -o judgments.parquet to keep the table.")


def write_judgments(judgments: Judgments, out: Path, *, safe_for_spreadsheets: bool = False) -> None:
    """Write judgments in the format of the file name."""
    _check_name(out)
    if out.suffix == ".csv":
        judgments.to_csv(out, safe_for_spreadsheets=safe_for_spreadsheets)
    else:
        judgments.to_parquet(out)


def _check_name(out: Path) -> None:
    if out.suffix not in (".csv", ".parquet"):
        raise KaratError(f"{out}: use a name that ends in .parquet or .csv.")


def _check_out(out: Path | None, files: list[Path], safe_for_spreadsheets: bool) -> None:
    if out is None:
        return
    _check_name(out)
    if safe_for_spreadsheets and out.suffix != ".csv":
        raise KaratError("--safe-for-spreadsheets is for CSV. Use -o with a name that ends in .csv.")
    if any(out.exists() and file.exists() and out.samefile(file) for file in files):
        raise KaratError(f"{out} is one of the files to read. Choose another name, so that nothing is lost.")
