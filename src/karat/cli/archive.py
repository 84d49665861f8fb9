"""karat archive: data, study, screening and report in one folder for a repository."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.options import (
    Json,
    Quiet,
    ReadOptions,
    RulesPath,
    StudyPath,
    load_rules,
    option,
    print_json,
    reads_files,
)
from karat.cli.progress import working
from karat.errors import KaratError

if TYPE_CHECKING:
    from karat.report.archive import Archive

EXAMPLE = "Example: karat archive results.parquet --study study.toml -o archive --keep age_group"


@reads_files
def archive(
    out: Annotated[Path, option("Write to this folder, which must be new or empty.", "DIR", "-o", "--out")],
    study: StudyPath = None,
    rules: RulesPath = None,
    keep: Annotated[list[str] | None, option("Keep this column although it is personal. Repeatable.", "COLUMN")] = None,
    creator: Annotated[
        list[str] | None, option("Name a creator of the data set for its description. Repeatable.", "NAME")
    ] = None,
    license_: Annotated[str, option("Set the licence of the data set, such as CC-BY-4.0.", "NAME", "--license")] = "",
    key: Annotated[
        Path | None,
        option("Also write the table of old and new participant names to this CSV file, outside the archive.", "FILE"),
    ] = None,
    report: Annotated[
        bool, option("Measure, and write the report and the methods paragraph.", None, "--report/--no-report")
    ] = True,
    *,
    reading: ReadOptions,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write data, study, screening, report and checksums to a Psych-DS folder for OSF or Zenodo.

    Participants get new names. Personal columns (background, timestamps, ids, comments) are removed unless --keep names
    them. Read the README.md in the folder before you publish it.
    """
    from karat.report.archive import archive as write

    if key is not None and key.resolve().is_relative_to(out.resolve()):
        raise KaratError(f"{key} is inside the archive. The table of old and new names must stay outside it.")
    if key is not None and key.exists():
        raise KaratError(f"{key} already exists. Choose another name, so that nothing is lost.")
    silent = quiet or as_json
    planned, applied = load_rules(study, rules)
    judged = reading.known(planned, "archive", quiet=silent)
    written = write(
        judged.judgments, out, planned, applied, keep=keep or [], creators=creator or [], license=license_,
        report=report, progress=partial(working, quiet=silent),
    )  # fmt: skip
    if key is not None:
        _write_key(written, key)
    if as_json:
        data = {"folder": str(out), "files": [path.as_posix() for path in written.files], "removed": written.removed,
                "notes": list(written.notes)}  # fmt: skip
        print_json(data)
    elif not quiet:
        typer.echo("\n".join([*judged.lines, *_lines(written, key)]))


def _write_key(archive: Archive, key: Path) -> None:
    import polars as pl

    from karat.judgments.files import replacing

    table = pl.DataFrame({"participant": list(archive.names), "archived_as": list(archive.names.values())})
    with replacing(key) as temporary:
        table.write_csv(temporary)


def _lines(archive: Archive, key: Path | None) -> list[str]:
    lines = [f"removed    {name}: {why}" for name, why in archive.removed.items()]
    lines += [f"note       {note}" for note in archive.notes]
    lines.append(f"written    {archive.folder}: {len(archive.files)} files; README.md describes them")
    lines += [f"written    {key}: old and new names; keep it separate from the archive"] if key is not None else []
    return lines
