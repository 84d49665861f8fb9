"""karat screen: who answered in earnest, by the rules that the study states."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.convert import Json, Quiet, SafeAnyway
from karat.cli.progress import counting, working
from karat.cli.reading import Reading, reads_files
from karat.errors import KaratError, counted

if TYPE_CHECKING:
    from karat.screen import Multiverse, Screening, SpammerIndex
    from karat.study.study import Study

EXAMPLE = "Example: karat screen results.csv --study study.toml --out screened"
MOST_ANSWERS = 1_000_000
STAGE_WORDS = {"completion": "complete", "clock": "clock", "answers": "answers"}

StudyFile = Annotated[
    Path | None, typer.Option("--study", help="The study file that states the rules, or its folder.", metavar="FILE")
]
Out = Annotated[Path | None, typer.Option("-o", "--out", help="The folder to write to. Without it, only look.")]
Explain = Annotated[
    list[str] | None, typer.Option("--explain", help="Explain the verdict on this participant. Repeat.", metavar="NAME")
]
Contrast = Annotated[
    str | None,
    typer.Option(
        "--contrast", help="With --multiverse, the difference to follow: FACTOR=LEVEL,LEVEL.", metavar="F=A,B"
    ),
]


@reads_files
def screen(
    study: StudyFile = None,
    out: Out = None,
    explain: Explain = None,
    multiverse: Annotated[
        bool, typer.Option("--multiverse", help="Also try all reasonable rules and settings, and show what moves.")
    ] = False,
    contrast: Contrast = None,
    *,
    reading: Reading,
    safe_for_spreadsheets: SafeAnyway = True,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say who answered in earnest, with reasons, and write what remains.

    With --study the criteria, settings and rule of its section screening are applied exactly. Without one, all
    criteria that apply give evidence with their usual settings, and nobody is excluded. Nobody is paid or refused by
    this.
    """
    from karat.screen import run
    from karat.study.study import load

    if contrast is not None and not multiverse:
        raise KaratError("--contrast has a say only with --multiverse.")
    if out is not None and out.exists() and not out.is_dir():
        raise KaratError(f"{out} is a file; give a folder to write to.")
    silent = quiet or as_json
    stated = None if study is None else load(study)
    known = reading.known(stated, quiet=silent)
    with working("screening", quiet=silent):
        screening = run(known.judgments, study=stated)
    worlds = _multiverse(screening, stated, contrast, silent) if multiverse else None
    paragraphs = [screening.explain(name) for name in explain or []]
    written = [] if out is None else screening.write(out)
    if worlds is not None and out is not None:
        written += worlds.write(out)
    index = _index(screening, silent)
    if as_json:
        told = screening.to_dict() | {"spammer_index": index if isinstance(index, str) else index.to_dict()}
        told |= {} if worlds is None else {"multiverse": worlds.to_dict()}
        told |= {"explanations": dict(zip(explain or [], paragraphs, strict=True))} if explain else {}
        typer.echo(json.dumps(told, ensure_ascii=False, indent=2))
    elif not quiet:
        lines = [*known.lines, *_lines(screening, stated)]
        lines.append(f"crowd      {index}")
        lines += [] if worlds is None else [f"multiverse {worlds}"]
        lines += [f"\n{paragraph}" for paragraph in paragraphs]
        lines.append(_written(out, written))
        typer.echo("\n".join(lines))


def _index(screening: Screening, silent: bool) -> SpammerIndex | str:
    """The Spammer Index of those who stay, or the reason why there is none."""
    from karat.screen import ScreenError, spammer_index

    if len(screening.judgments) > MOST_ANSWERS:
        return f"no Spammer Index: it would take long for more than {MOST_ANSWERS:,} answers; see karat.screen."
    try:
        with working("fitting the Spammer Index", quiet=silent):
            return spammer_index(screening.kept)
    except (ScreenError, ValueError) as error:
        return f"no Spammer Index: {error}"


def _multiverse(screening: Screening, study: Study | None, contrast: str | None, silent: bool) -> Multiverse:
    from karat.screen import multiverse

    factor, equals, levels = (contrast or "").partition("=")
    if contrast and (not equals or levels.count(",") != 1):
        raise KaratError(f"--contrast {contrast}: write FACTOR=LEVEL,LEVEL, such as order=PO,OP.")
    asked = {"factor": factor.strip(), "levels": [level.strip() for level in levels.split(",")]} if contrast else None
    rules = None if screening.exclude is None else {**screening.settings, "exclude": screening.exclude}
    with counting("trying other rules", quiet=silent) as progress:
        return multiverse(screening.judgments, rules, contrast=asked, study=study, progress=progress)


def _lines(screening: Screening, study: Study | None) -> list[str]:
    """The account: what each stage found, what could not run, what the verdict is and on whom it falls."""
    from karat.study.criteria import CRITERIA

    lines = [f"found      {screening.judgments.summary().splitlines()[0]}"]
    for stage, word in STAGE_WORDS.items():
        found = [str(one) for name, one in screening.evidence.items() if CRITERIA[name].stage == stage]
        lines += [f"{word if not number else '':<10} {text}" for number, text in enumerate(found)]
    lines += [f"not run    {name}: {why.removeprefix(f'{name}: ')}" for name, why in screening.skipped.items()]
    lines += [
        f"note       {name}: {note.removeprefix(f'{name}: ')}"
        for name, one in screening.evidence.items()
        for note in one.notes
    ]
    lines += [f"warning    {warning}" for warning in screening.composition().warnings]
    everyone = screening.judgments.participants.height
    if screening.exclude is None:
        why = "no study file states rules" if study is None else f"{study.path.name} has no [screening]"
        return [*lines, f"verdict    Evidence only: {why}, so that nobody is excluded."]
    kept = everyone - len(screening.excluded)
    lacking = f"; without {' and '.join(screening.skipped)}, which could not run" if screening.skipped else ""
    return [*lines, f"verdict    {everyone:,} -> {counted(kept, 'participant')} (rule: {screening.exclude}{lacking})"]


def _written(out: Path | None, written: list[Path]) -> str:
    if out is None:
        return "Nothing was written: say --out FOLDER to keep tables, verdicts and the judgments that remain."
    return f"written    {written[0]}  " + "  ".join(path.name for path in written[1:])
