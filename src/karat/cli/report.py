"""karat report: one page with the design, the participants, the data quality and the results."""

from __future__ import annotations

import gc
import shlex
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.options import (
    Json,
    Quiet,
    ReadOptions,
    RulesPath,
    SafeAnyway,
    load_rules,
    option,
    print_json,
    reads_files,
)
from karat.cli.progress import working
from karat.errors import KaratError
from karat.judgments.columns import COLUMNS

if TYPE_CHECKING:
    from karat.judgments import Judgments

EXAMPLE = "Example: karat report results.csv --study study.toml -o report.html"
GARBAGE = 200_000
"""New objects after which Python looks for garbage while a report is made."""


class Format(StrEnum):
    """The formats of a report."""

    html = "html"
    json = "json"
    md = "md"


class LanguageOption(StrEnum):
    """The language of the paragraphs on methods and preregistration."""

    en = "en"
    de = "de"


@reads_files
def report(
    study: Annotated[Path | None, option("Use the design and the rules of this study file.", "FILE")] = None,
    rules: RulesPath = None,
    out: Annotated[
        Path | None, option("Write the report to FILE (default: report.html).", "FILE", "-o", "--out")
    ] = None,
    format: Annotated[Format | None, option("Choose html, json or md (default: by suffix).", "NAME")] = None,  # noqa: A002
    language: Annotated[
        LanguageOption, option("Set the language of the methods and preregistration paragraphs: en or de.", "CODE")
    ] = LanguageOption.en,
    conditions: Annotated[str | None, option("Use only these columns as conditions.", "NAME,...")] = None,
    quick: Annotated[
        bool, option("Leave out bootstrap intervals, credence and the Spammer Index.", None, "--quick")
    ] = False,
    bayes: Annotated[
        bool, option("Add posteriors of the comparisons (takes minutes; needs the extra bayes).", None, "--bayes")
    ] = False,
    playback: Annotated[
        bool, option("Let readers replay a participant trial by trial.", None, "--playback/--no-playback")
    ] = True,
    *,
    reading: ReadOptions,
    safe_for_spreadsheets: SafeAnyway = True,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a report: design, participants, data quality, results, and paragraphs for the paper.

    --study applies the [screening] section of the study file; --rules applies a file with only this section. Without
    either, all criteria that apply give evidence, and nobody is excluded. The HTML page is self-contained and loads
    nothing from the network. Markdown has its figures in a folder next to it.
    """
    # The objects of the packages stay until the end: looking through them for garbage again and again takes time.
    gc.set_threshold(GARBAGE)
    from karat.report import build, write
    from karat.report.export import as_data, format_of

    silent = quiet or as_json
    kind = format or (None if out else Format.html)
    target = out or Path(f"report.{kind}")
    format_of(target, kind)
    if target in reading.files:
        raise KaratError(f"{target} is one of the files to read. Choose another name.")
    planned, applied = load_rules(study, rules)
    data = reading.known(planned, "report", quiet=silent)
    notes = tuple(dict.fromkeys([*data.judgments.notes, *data.notes]))
    judged = data.judgments if conditions is None else _with_conditions(data.judgments, conditions)
    gathered = build(
        judged, planned, applied, notes=notes, command=shlex.join(["karat", *reading.typed("report")]),
        progress=partial(working, quiet=silent), file=reading.files[0].name if reading.files else "", quick=quick,
        playback=playback, bayes=bayes,
    )  # fmt: skip
    if as_json and out is None:
        print_json(as_data(gathered, language))
        return
    with working("drawing and writing", quiet=silent):
        written = write(gathered, target, format=kind, language=language)
    if as_json:
        print_json({"written": [str(path) for path in written]})
    elif not quiet:
        from karat.languages import language_of
        from karat.report.sections.brief import quality_sentence, verdict
        from karat.report.words.sample import simulated_notice

        notice = simulated_notice(language_of("en"), data.judgments)
        lines = [*data.lines, *(f"simulated  {text}" for text in notice)]
        lines.append(f"verdict    {verdict(gathered.screening)}")
        lines.append(f"crowd      {quality_sentence(gathered)}")
        more = f" and {len(written) - 1} figures in {written[1].parent}" if len(written) > 1 else ""
        typer.echo("\n".join([*lines, f"written    {target}{more}"]))


def _with_conditions(judgments: Judgments, conditions: str) -> Judgments:
    """The judgments with these columns as the only ones that may be conditions."""
    names = [name.strip() for name in conditions.split(",") if name.strip()]
    frame = judgments.frame
    absent = [name for name in names if name not in frame.columns]
    if absent:
        known = ", ".join(frame.columns)
        raise KaratError(f"There is no column {absent[0]} for --conditions. The columns are {known}.")
    return judgments.with_frame(frame.select(name for name in frame.columns if name in COLUMNS or name in names))
