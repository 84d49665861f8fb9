"""karat convert: results of other tools as judgments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from karat.cli.progress import working
from karat.errors import KaratError

if TYPE_CHECKING:
    from karat.intake import Intake
    from karat.judgments import Judgments
    from karat.scales import Scale

EXAMPLE = "Example: karat convert results.csv prolific_export.csv --map item=sentence_id -o judgments.parquet"

Files = Annotated[list[Path], typer.Argument(help="Result files or folders of one study.", show_default=False)]
Source = Annotated[str, typer.Option("--from", help="The tool that wrote the files, or auto.", metavar="NAME")]
Mapping = Annotated[
    list[str] | None,
    typer.Option("--map", help="karat's column = the file's column; empty to leave it out. Repeat.", metavar="A=B"),
]
ScaleText = Annotated[
    list[str] | None,
    typer.Option("--scale", help="Such as ordinal:1-5, choice:none, nominal:A,B; for one question: Q=ordinal:1-5."),
]
Answers = Annotated[
    str | None, typer.Option("--answers", help="How the file spells answers, such as 1=left,-1=right,0=none.")
]
RtUnit = Annotated[str | None, typer.Option("--rt-unit", help="Unit of response times: s or ms.", metavar="UNIT")]
Decimal = Annotated[str | None, typer.Option("--decimal", help="Decimal sign: . or ,", metavar="SIGN")]
Delimiter = Annotated[str | None, typer.Option("--delimiter", help="What separates cells.", metavar="SIGN")]
Encoding = Annotated[str | None, typer.Option("--encoding", help="Such as utf-8 or latin-1.", metavar="NAME")]
Sheet = Annotated[str | None, typer.Option("--sheet", help="Which sheet of a spreadsheet.", metavar="NAME")]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave out rows that cannot be read, and list them.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


def convert(
    files: Files,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Where to write: .parquet or .csv. Without it, only look.")
    ] = None,
    source: Source = "auto",
    mapping: Mapping = None,
    scale: ScaleText = None,
    answers: Answers = None,
    rt_unit: RtUnit = None,
    decimal: Decimal = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    skip_bad: SkipBad = False,
    safe_for_spreadsheets: Annotated[
        bool,
        typer.Option("--safe-for-spreadsheets", help="In CSV, mark text that a spreadsheet would run as a formula."),
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Read result files of other tools as one table of judgments and say what was found."""
    _check_out(out, files, safe_for_spreadsheets)
    intake = take_in(
        files, source=source, mapping=mapping, scale=scale, answers=answers, rt_unit=rt_unit, decimal=decimal,
        delimiter=delimiter, encoding=encoding, sheet=sheet, skip_bad=skip_bad, quiet=quiet or as_json,
    )  # fmt: skip
    if out is not None:
        write_judgments(intake.judgments, out, safe_for_spreadsheets=safe_for_spreadsheets)
    if as_json:
        typer.echo(json.dumps(intake.to_dict() | {"written": str(out) if out else None}, ensure_ascii=False, indent=2))
    elif not quiet:
        typer.echo("\n".join(intake.lines()))
        typer.echo(f"written    {out}" if out else "Nothing was written: say -o judgments.parquet to keep the table.")


def take_in(
    files: list[Path], *, source: str = "auto", mapping: list[str] | None = None, scale: list[str] | None = None,
    answers: str | None = None, rt_unit: str | None = None, decimal: str | None = None, delimiter: str | None = None,
    encoding: str | None = None, sheet: str | None = None, skip_bad: bool = False, quiet: bool = False,
) -> Intake:  # fmt: skip
    """Read files as the flags say; every command that takes result files takes these flags."""
    from karat.intake import Options, read_files

    options = Options(
        mapping=_pairs(mapping or [], "--map"),
        scale=_scales(scale or []),
        answers=_pairs((answers or "").split(",") if answers else [], "--answers"),
        rt_unit=_rt_unit(rt_unit),
        decimal=_decimal(decimal),
        delimiter=_delimiter(delimiter),
        sheet=sheet,
    )
    with working(f"reading {', '.join(file.name for file in files[:3])}", quiet=quiet):
        return read_files(files, source, options, encoding=encoding, skip_bad=skip_bad)


def write_judgments(judgments: Judgments, out: Path, *, safe_for_spreadsheets: bool = False) -> None:
    """Write judgments in the format that the name asks for."""
    _check_name(out)
    if out.suffix == ".csv":
        judgments.to_csv(out, safe_for_spreadsheets=safe_for_spreadsheets)
    else:
        judgments.to_parquet(out)


def _check_name(out: Path) -> None:
    if out.suffix not in (".csv", ".parquet"):
        raise KaratError(f"{out}: judgments are written as .parquet or .csv.")


def _check_out(out: Path | None, files: list[Path], safe_for_spreadsheets: bool) -> None:
    if out is None:
        return
    _check_name(out)
    if safe_for_spreadsheets and out.suffix != ".csv":
        raise KaratError("--safe-for-spreadsheets is for CSV: say -o with a name that ends in .csv.")
    if any(out.exists() and file.exists() and out.samefile(file) for file in files):
        raise KaratError(f"{out} is one of the files to be read; choose another name, so that nothing is lost.")


def _pairs(texts: list[str], flag: str) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise KaratError(f"{flag} {text}: write NAME=VALUE.")
        pairs[name.strip()] = value.strip()
    return pairs


def _scales(texts: list[str]) -> Scale | dict[str, Scale] | None:
    from karat.scale_texts import parse_scale

    if not texts:
        return None
    if len(texts) == 1 and "=" not in texts[0].partition(":")[0]:
        return parse_scale(texts[0])
    named = {}
    for text in texts:
        question, equals, scale = text.partition("=")
        if not equals:
            raise KaratError(f"--scale {text}: with several scales, say for which question: QUESTION={text}.")
        named[question.strip()] = parse_scale(scale)
    return named


def _rt_unit(text: str | None) -> Literal["s", "ms"] | None:
    if text in ("s", "ms", None):
        return text  # type: ignore[return-value]
    raise KaratError(f"--rt-unit {text}: write s or ms.")


def _decimal(text: str | None) -> Literal[".", ","] | None:
    if text in (".", ",", None):
        return text  # type: ignore[return-value]
    raise KaratError(f"--decimal {text}: write . or ,")


def _delimiter(text: str | None) -> str | None:
    sign = {"tab": "\t", "\\t": "\t"}.get(text or "", text)
    if sign is not None and (len(sign) != 1 or sign in '"\r\n' or not sign.isascii()):
        raise KaratError(f"--delimiter {text}: write one sign such as , or ; or the word tab.")
    return sign
