"""karat screen: who answered attentively, by the rules that the study states; large tables part by part."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat.cli.convert import Json, Quiet, SafeAnyway
from karat.cli.options import ExecutorOptions, RulesPath, StudyPath, found_line, load_rules, with_executor_options
from karat.cli.parted import NumberOfParts, is_in_parts, lines_on, parts_of
from karat.cli.progress import counting, stepping, working
from karat.cli.reading import ReadOptions, reads_files
from karat.cli.screen_output import criteria_lines, verdict_line
from karat.errors import KaratError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from karat.executors import Executor
    from karat.judgments import Judgments
    from karat.judgments.parts import Parts
    from karat.messages import NotComputed
    from karat.screen import Multiverse, Screening, SpammerIndex
    from karat.screen.parted import PartedScreening
    from karat.study.study import Study


EXAMPLE = "Example: karat screen results.csv --study study.toml --out screened"

Out = Annotated[Path | None, typer.Option("-o", "--out", help="The folder to write to. Without it, only look.")]
Explain = Annotated[
    list[str] | None, typer.Option("--explain", help="Explain the verdict on this participant. Repeat.", metavar="NAME")
]
Criteria = Annotated[
    str | None,
    typer.Option(
        "--criteria", help="Only these criteria, as evidence: nobody is excluded. Such as remfod,attention.",
        metavar="A,B",
    ),
]  # fmt: skip
Contrast = Annotated[
    str | None,
    typer.Option(
        "--contrast", help="With --multiverse, the difference to follow: FACTOR=LEVEL,LEVEL.", metavar="F=A,B"
    ),
]


@reads_files
@with_executor_options
def screen(
    study: StudyPath = None,
    rules: RulesPath = None,
    out: Out = None,
    criteria: Criteria = None,
    explain: Explain = None,
    multiverse: Annotated[
        bool, typer.Option("--multiverse", help="Also try all reasonable rules and settings, and show what moves.")
    ] = False,
    contrast: Contrast = None,
    parts: NumberOfParts = None,
    *,
    reading: ReadOptions,
    place: ExecutorOptions,
    safe_for_spreadsheets: SafeAnyway = True,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say who answered attentively, with reasons, and write what remains.

    With --study the criteria, settings and rule of its section screening are applied exactly. Where there is no study,
    as for labels that others collected, --rules takes a file that has this section alone. Without either, all criteria
    that apply give evidence with their usual settings, and nobody is excluded. Nobody is paid or refused by this.

    --criteria remfod,attention looks at these two alone: with the settings that are stated for them, else with the
    usual ones. A rule that was stated for other criteria is not applied to a choice of them.

    Refits, simulated cutoffs and the multiverse can be shared among processes, with the same verdicts: --processes 4,
    or --cluster local.

    A folder of Parquet files that is large, or a PostgreSQL table (postgresql://user@host/database#table), is looked at
    in parts and never held in memory as a whole; every participant must be in one file.
    """
    from karat.screen.crowd.spammer_index import index_as_data, index_or_reason
    from karat.screen.screening import refuse_unknown

    if contrast is not None and not multiverse:
        raise KaratError("--contrast has a say only with --multiverse.")
    if criteria is not None and multiverse:
        raise KaratError("--multiverse tries all criteria: leave out --criteria.")
    if out is not None and out.exists() and not out.is_dir():
        raise KaratError(f"{out} is a file; give a folder to write to.")
    followed = _contrast(contrast)
    silent = quiet or as_json
    planned, alone = load_rules(study, rules)
    applied = alone if criteria is None else _chosen(criteria, planned, alone)
    if is_in_parts(reading, place, parts):
        if explain or multiverse:
            raise KaratError(
                "--explain and --multiverse look at all participants at once: they cannot be used in parts."
            )
        found = parts_of(reading, place, planned, parts)
        parted = screened(found, applied, planned, place, out, chosen=criteria is not None, quiet=silent)
        if as_json:
            typer.echo(json.dumps(parted.to_dict(), ensure_ascii=False, indent=2))
        elif not quiet:
            typer.echo("\n".join(lines_on(parted, _why_not(planned, chosen=criteria is not None), out)))
        return
    known = reading.known(planned, quiet=silent)
    for name in explain or []:
        refuse_unknown(name, known.judgments.participants["participant"].to_list())
    with place.open_executor() as executor:
        screening = _screened(known.judgments, applied, planned, executor, silent)
        worlds = _multiverse(screening, planned, followed, silent, executor) if multiverse else None
    paragraphs = [screening.explain(name) for name in explain or []]
    written = [] if out is None else screening.write(out)
    if worlds is not None and out is not None:
        written += worlds.write(out)
    index = _index(screening, silent, chosen=criteria is not None)
    if as_json:
        told = screening.to_dict() | {"spammer_index": index_as_data(index)}
        told |= {} if worlds is None else {"multiverse": worlds.to_dict()}
        told |= {"explanations": dict(zip(explain or [], paragraphs, strict=True))} if explain else {}
        typer.echo(json.dumps(told, ensure_ascii=False, indent=2))
    elif not quiet:
        lines = [f"changed    {change}" for change in screening.changes]
        lines += [*known.lines, *_lines(screening, planned, chosen=criteria is not None)]
        lines.append(f"crowd      {index_or_reason(index)}")
        lines += [] if worlds is None else [f"multiverse {worlds}"]
        lines += [f"\n{paragraph}" for paragraph in paragraphs]
        lines.append(_written(out, written))
        typer.echo("\n".join(lines))


def _chosen(criteria: str, study: Study | None, rules: Mapping[str, Any] | None) -> dict[str, Any]:
    """The rules for a choice of criteria: their settings as they are stated, and nobody excluded."""
    from karat.study.criteria import CRITERIA, criterion_named

    names = list(dict.fromkeys(name.strip() for name in criteria.split(",") if name.strip()))
    for name in names:
        try:
            criterion_named(name)
        except ValueError as error:
            raise KaratError(f"--criteria cannot be used ({error}).") from None
    if not names:
        raise KaratError(f"--criteria: name one or more of {', '.join(CRITERIA)}.")
    rules = (rules if study is None else study.screening_rules) or {}
    return {name: rules.get(name, {}) for name in names} | {"exclude": None}


def _screened(
    judgments: Judgments, rules: dict[str, Any] | None, study: Study | None, executor: Executor, silent: bool
) -> Screening:
    """The screening, saying which criterion runs and how many are done."""
    from karat.screen.rules import asked
    from karat.screen.run import run

    settings, _ = asked(rules, study)
    with stepping("screening", len(settings), quiet=silent) as steps:
        return run(judgments, rules, study, executor=executor, progress=steps)


def _index(screening: Screening, silent: bool, *, chosen: bool) -> SpammerIndex | NotComputed:
    """The Spammer Index of those who stay, or the reason why there is none."""
    from karat.screen.crowd.spammer_index import index_unasked

    with working("fitting the Spammer Index", quiet=silent):
        return index_unasked(screening, only_quick=chosen)


def _contrast(contrast: str | None) -> dict[str, Any] | None:
    """The difference to follow, as the multiverse takes it."""
    if not contrast:
        return None
    factor, equals, levels = contrast.partition("=")
    if not equals or levels.count(",") != 1:
        raise KaratError(f"--contrast {contrast}: write FACTOR=LEVEL,LEVEL, such as order=PO,OP.")
    return {"factor": factor.strip(), "levels": [level.strip() for level in levels.split(",")]}


def _multiverse(
    screening: Screening, study: Study | None, contrast: dict[str, Any] | None, silent: bool, executor: Executor
) -> Multiverse:
    from karat.screen import multiverse

    rules = None if screening.exclude is None else {**screening.settings, "exclude": screening.exclude}
    with counting("trying other rules", quiet=silent) as progress:
        return multiverse(
            screening.judgments, rules, contrast=contrast, study=study, progress=progress, executor=executor
        )


def _lines(screening: Screening, study: Study | None, *, chosen: bool) -> list[str]:
    """The account: what each stage found, what could not run, what the verdict is and on whom it falls."""
    lines = [f"found      {found_line(screening.judgments)}", *criteria_lines(screening)]
    lines += [f"warning    {warning}" for warning in screening.composition().warnings]
    everyone = screening.judgments.participants.height
    kept = everyone - len(screening.excluded)
    return [*lines, verdict_line(screening, everyone, kept, _why_not(study, chosen=chosen))]


def _why_not(study: Study | None, *, chosen: bool) -> str:
    """Why no rule is applied."""
    if chosen:
        return "--criteria is a choice, to which no rule is applied"
    return "no rules are stated, by --study or --rules" if study is None else f"{study.path.name} has no [screening]"


def _written(out: Path | None, written: list[Path]) -> str:
    if out is None:
        return "Nothing was written. Use --out FOLDER to keep tables, verdicts and the judgments that remain."
    return f"written    {written[0]}  " + "  ".join(path.name for path in written[1:])


def screened(
    parts: Parts,
    rules: Mapping[str, Any] | None,
    study: Study | None,
    place: ExecutorOptions,
    out: Path | None,
    *,
    chosen: bool,
    quiet: bool,
) -> PartedScreening:
    """Screen parts where the flags say, with the Spammer Index; beside a choice of criteria only where it is quick."""
    from karat.screen.parted import run_in_parts
    from karat.screen.rules import asked

    settings, _ = asked(rules, study)
    # The verdicts are a step of their own.
    steps = stepping("screening in parts", len(settings) + 1, quiet=quiet)
    with _folder(out) as folder, place.open_executor() as executor, steps as progress:
        return run_in_parts(
            parts, rules, study, executor, out=folder, progress=progress, spammer_index="quick" if chosen else True
        )


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """The folder to write to, or one for the time of the screening."""
    if out is not None:
        yield out
        return
    with tempfile.TemporaryDirectory(prefix="karat-") as folder:
        yield Path(folder)
