"""karat screen: find participants who did not answer attentively, by the rules of the study."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat.cli.options import (
    ExecutorOptions,
    Json,
    OutFolder,
    Quiet,
    ReadOptions,
    RulesPath,
    SafeAnyway,
    StudyPath,
    found_line,
    load_rules,
    option,
    print_json,
    reads_files,
    with_executor_options,
)
from karat.cli.parted import NumberOfParts, criteria_lines, is_in_parts, lines_on, parts_of, verdict_line
from karat.cli.progress import counting, stepping, working
from karat.errors import KaratError

if TYPE_CHECKING:
    from karat.executors import Executor
    from karat.judgments import Judgments
    from karat.judgments.parts import Parts
    from karat.screen import Multiverse, Screening
    from karat.screen.parted import PartedScreening
    from karat.study.study import Study


EXAMPLE = "Example: karat screen results.csv --study study.toml --out screened"


@reads_files
@with_executor_options
def screen(
    study: StudyPath = None,
    rules: RulesPath = None,
    out: OutFolder = None,
    criteria: Annotated[
        str | None,
        option("Compute only these criteria, such as remfod,attention, as evidence; nobody is excluded.", "A,B"),
    ] = None,
    explain: Annotated[list[str] | None, option("Explain the verdict on this participant. Repeatable.", "NAME")] = None,
    multiverse: Annotated[
        bool, option("Also try all reasonable rules and settings, and show what changes.", None, "--multiverse")
    ] = False,
    contrast: Annotated[
        str | None, option("With --multiverse, follow this difference: FACTOR=LEVEL,LEVEL.", "F=A,B")
    ] = None,
    refit: Annotated[
        bool, option("Print how people of a pilot move, as settings of the criterion automation.", None, "--refit")
    ] = False,
    parts: NumberOfParts = None,
    *,
    reading: ReadOptions,
    place: ExecutorOptions,
    safe_for_spreadsheets: SafeAnyway = True,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find participants who did not answer attentively, give the reasons, and write the remaining judgments.

    --study applies the [screening] section of the study file exactly. Without a study file, as for labels that others
    collected, use --rules with a file that has only this section. Without either, all criteria that apply give evidence
    with their default settings, and nobody is excluded. Screening never pays or rejects anyone.

    --criteria remfod,attention computes only these two, with the settings in the rules if there are any. Rules that
    were written for other criteria are not applied to such a selection.

    --processes 4 or --cluster local shares refits, simulated cutoffs and the multiverse among processes and gives the
    same verdicts.

    A large folder of Parquet files, or a PostgreSQL table (postgresql://user@host/database#table), is screened in parts
    and never held in memory as a whole. Each participant must be in a single file.
    """
    from karat.screen.crowd.spammer_index import index_as_data, index_or_reason, index_unasked
    from karat.screen.screening import refuse_unknown

    if contrast is not None and not multiverse:
        raise KaratError("--contrast needs --multiverse.")
    if criteria is not None and multiverse:
        raise KaratError("--multiverse tries all criteria. Leave out --criteria.")
    followed = _contrast(contrast)
    silent = quiet or as_json
    planned, alone = load_rules(study, rules)
    applied = alone if criteria is None else _chosen(criteria, planned, alone)
    if is_in_parts(reading, place, parts):
        if explain or multiverse:
            raise KaratError("--explain and --multiverse need all participants at once, so they do not work in parts.")
        parts_to_screen = parts_of(reading, place, planned, parts)
        parted = screened(parts_to_screen, applied, planned, place, out, chosen=criteria is not None, quiet=silent)
        if as_json:
            print_json(parted.to_dict())
        elif not quiet:
            typer.echo("\n".join(lines_on(parted, _why_not(planned, chosen=criteria is not None), out)))
        return
    judged = reading.known(planned, "screen", quiet=silent)
    if refit:
        typer.echo(_refitted(judged.judgments))
        return
    for name in explain or []:
        refuse_unknown(name, judged.judgments.participants["participant"].to_list())
    with place.open_executor() as executor:
        screening = _screened(judged.judgments, applied, planned, executor, silent)
        worlds = _multiverse(screening, planned, followed, silent, executor) if multiverse else None
    paragraphs = [screening.explain(name) for name in explain or []]
    with working("writing verdicts and judgments", quiet=silent):
        written = (
            []
            if out is None
            else [path for result in (screening, worlds) if result is not None for path in result.write(out)]
        )
    if not silent:
        typer.echo("\n".join(_lines(screening, planned, judged.lines, chosen=criteria is not None)))
    with working("fitting the Spammer Index", quiet=silent):
        index = index_unasked(screening, only_quick=criteria is not None)
    if as_json:
        data = screening.to_dict() | {"spammer_index": index_as_data(index)}
        data |= {} if worlds is None else {"multiverse": worlds.to_dict()}
        data |= {"explanations": dict(zip(explain or [], paragraphs, strict=True))} if explain else {}
        print_json(data)
    elif not quiet:
        lines = [f"crowd      {index_or_reason(index)}", *([] if worlds is None else [f"multiverse {worlds}"])]
        lines += [f"\n{paragraph}" for paragraph in paragraphs]
        typer.echo("\n".join([*lines, _written(out, written)]))


def _chosen(criteria: str, study: Study | None, rules: Mapping[str, Any] | None) -> dict[str, Any]:
    """The rules for a selection of criteria: their settings from the rules, and nobody excluded."""
    from karat.study.criteria import CRITERIA, criterion_named

    names = list(dict.fromkeys(name.strip() for name in criteria.split(",") if name.strip()))
    for name in names:
        try:
            criterion_named(name)
        except ValueError as error:
            raise KaratError(f"--criteria cannot be used ({error}).") from None
    if not names:
        raise KaratError(f"--criteria: use one or more of {', '.join(CRITERIA)}.")
    rules = (rules if study is None else study.screening_rules) or {}
    return {name: rules.get(name, {}) for name in names} | {"exclude": None}


def _screened(
    judgments: Judgments, rules: dict[str, Any] | None, study: Study | None, executor: Executor, silent: bool
) -> Screening:
    """The screening, showing which criterion is running and how many are done."""
    from karat.screen.rules import resolve_rules
    from karat.screen.run import run

    settings, _ = resolve_rules(rules, study)
    with stepping("screening", len(settings), quiet=silent) as steps:
        return run(judgments, rules, study, executor=executor, progress=steps)


def _contrast(contrast: str | None) -> dict[str, Any] | None:
    """The difference to follow in the multiverse."""
    if not contrast:
        return None
    factor, equals, levels = contrast.partition("=")
    if not equals or levels.count(",") != 1:
        raise KaratError(f"--contrast {contrast}: use the form FACTOR=LEVEL,LEVEL, such as order=PO,OP.")
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


def _lines(screening: Screening, study: Study | None, read: Sequence[str], *, chosen: bool) -> list[str]:
    """The output: what was read, the findings of each stage, what could not run, the verdict, and affected groups."""
    lines = [*(f"changed    {change}" for change in screening.changes), *read]
    lines += [f"found      {found_line(screening.judgments)}", *criteria_lines(screening)]
    lines += [f"warning    {warning}" for warning in screening.composition().warnings]
    everyone = screening.judgments.participants.height
    remaining = everyone - len(screening.excluded)
    return [*lines, verdict_line(screening, everyone, remaining, _why_not(study, chosen=chosen))]


def _why_not(study: Study | None, *, chosen: bool) -> str:
    """Why no rule was applied."""
    if chosen:
        return "no rule applies to a selection by --criteria"
    return "neither --study nor --rules was given" if study is None else f"{study.path.name} has no [screening]"


def _written(out: Path | None, written: list[Path]) -> str:
    if out is None:
        return "Nothing was written. Use --out DIR to keep verdicts, evidence and the remaining judgments."
    return f"written    {written[0]}  " + "  ".join(path.name for path in written[1:])


def _refitted(pilot: Judgments) -> str:
    """The criterion automation with the people of a pilot, as a line of the study file."""
    from karat.screen.criteria.automation import refit

    people = ", ".join(f"{name} = [{middle}, {spread}]" for name, (middle, spread) in refit(pilot).items())
    return f"[screening]\nautomation = {{ people = {{ {people} }} }}"


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
    """Screen parts, with the Spammer Index; for a selection of criteria only if it is quick."""
    from karat.screen.parted import run_in_parts
    from karat.screen.rules import resolve_rules

    settings, _ = resolve_rules(rules, study)
    # Deciding the verdicts is a separate step.
    steps = stepping("screening in parts", len(settings) + 1, quiet=quiet)
    folder = tempfile.TemporaryDirectory(prefix="karat-") if out is None else nullcontext(str(out))
    with folder as written, place.open_executor() as executor, steps as progress:
        return run_in_parts(
            parts, rules, study, executor=executor, out=Path(written), progress=progress,
            spammer_index="quick" if chosen else True,
        )  # fmt: skip
