"""karat init: an example study to start from."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.convert import read_and_ask
from karat.cli.options import Json, ReadOptions, argument, option, print_json
from karat.errors import KaratError
from karat.messages import render_all
from karat.signals import interruptible

if TYPE_CHECKING:
    from karat.study.item_sheets import CrossedFactors, ItemSets

EXAMPLE = "Example: karat init islands --from-sets items.xlsx --factor structure --factor length"


def init(
    folder: Annotated[
        Path | None,
        argument("Folder to write to (default: named after the task or the table).", "DIR", show_default=False),
    ] = None,
    task: Annotated[
        str | None,
        option("Choose likert, yes-no, choice, pairs, magnitude, differential, label, norming or antonyms.", "NAME"),
    ] = None,
    language: Annotated[
        str | None,
        option("Set the language of texts and examples: en or de (default: as your sentences, else en).", "CODE"),
    ] = None,
    from_pairs: Annotated[
        Path | None, option("Make a study from this table with two columns of sentences.", "FILE")
    ] = None,
    from_sets: Annotated[
        Path | None,
        option(
            "Make a study from item sets: a sheet with one column per condition (CSV or a workbook), an item file "
            "of Linger, Ibex or Turktools, or a table of PCIbex or L-Rex.",
            "FILE",
        ),
    ] = None,
    from_results: Annotated[
        Path | None,
        option("Make a study from the results of another tool: their items, conditions, sentences and scale.", "FILE"),
    ] = None,
    sentence: Annotated[str | None, option("Take the sentences of the results from this column.", "NAME")] = None,
    mapping: Annotated[
        list[str] | None, option("Use column B of the results as karat's column A. Repeatable.", "A=B", "--map")
    ] = None,
    scale: Annotated[list[str] | None, option("Set the scale of the results, such as ordinal:1-7.", "SCALE")] = None,
    yes: Annotated[
        bool, option("Accept karat's first suggestion wherever the results are ambiguous.", None, "--yes")
    ] = False,
    factor: Annotated[
        list[str] | None,
        option(
            "Name a factor of the item sets, with its levels where the sheet does not show them, such as "
            "length=short,long. Repeat it for each factor; the last one changes fastest.",
            "NAME[=LEVELS]",
        ),
    ] = None,
    fillers: Annotated[Path | None, option("Take the fillers of the item sets from another file.", "FILE")] = None,
    sheet: Annotated[str | None, option("Read the item sets or pairs from this sheet of a workbook.", "NAME")] = None,
    experiment: Annotated[str | None, option("Take this experiment of an item file with several.", "NAME")] = None,
    probes: Annotated[
        bool,
        option(
            "Add examples of honeypots, shibboleths and modality checks to a likert or yes-no study.", None, "--probes"
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a complete small study for you to edit, or make one from item sets, sentence pairs or results."""
    from karat.study.init import TEMPLATES, USUAL_LANGUAGE, language_for, read_pairs, study_from_pairs, write_study

    notes: tuple[str, ...] = ()
    sources = [source for source in (from_sets, from_pairs, from_results) if source is not None]
    if len(sources) > 1:
        raise KaratError("--from-sets, --from-pairs and --from-results each make a study. Use one of them.")
    belonging: dict[str, tuple[object, object, str]] = {
        "--probes": (probes, not sources, "--task likert or --task yes-no. Copy its probes.csv for other studies"),
        "--fillers": (fillers, from_sets, "--from-sets FILE"),
        "--sheet": (sheet, from_sets or from_pairs, "--from-sets FILE or --from-pairs FILE"),
        "--experiment": (experiment, from_sets, "--from-sets FILE"),
        "--factor": (factor, from_sets or from_results, "--from-sets FILE or --from-results FILE"),
        "--sentence": (sentence, from_results, "--from-results FILE"),
        "--map": (mapping, from_results, "--from-results FILE"),
        "--scale": (scale, from_results, "--from-results FILE"),
        "--yes": (yes, from_results, "--from-results FILE"),
    }  # fmt: skip
    for name, (value, home, words) in belonging.items():
        if value and not home:
            raise KaratError(f"{name} belongs to {words}.")
    if from_results is not None:
        reading = ReadOptions([from_results], mapping=mapping, scale=scale, yes=yes)
        written, notes = _from_results(reading, folder, language, task, factor or [], sentence, quiet=as_json)
    elif from_sets is not None:
        written, notes = _from_sets(from_sets, folder, language, task, factor or [], fillers, sheet, experiment)
    elif from_pairs is not None:
        if task not in (None, "pairs"):
            raise KaratError(f"--from-pairs always makes a study of pairs. Leave out --task {task}.")
        written = study_from_pairs(from_pairs, folder or Path(from_pairs.stem), language, sheet)
        pairs = read_pairs(from_pairs, sheet)
        notes = (*render_all(pairs.notes), *language_for(pairs.texts, language)[1])
    elif task is None:
        width = max(map(len, TEMPLATES))
        tasks = "".join(f"\n  {name.ljust(width)}  {about}" for name, about in TEMPLATES.items())
        raise KaratError(f"Which task? Use --task with one of these names:{tasks}")
    else:
        written = write_study(folder or Path(task), task, language or USUAL_LANGUAGE, probes)
    if as_json:
        print_json({"written": [str(path) for path in written], "notes": list(notes)})
        return
    for note in notes:
        typer.echo(f"note       {note}")
    names = "  ".join(path.name for path in written)
    typer.echo(f"written    {written[0].parent}: {names}")
    typer.echo(f"Next: edit these files, then run karat check {written[0].as_posix()}")


def _from_results(
    reading: ReadOptions,
    folder: Path | None,
    language: str | None,
    task: str | None,
    factor_texts: list[str],
    sentence: str | None,
    *,
    quiet: bool,
) -> tuple[list[Path], tuple[str, ...]]:
    """Make a study from the items in results, with stated or guessed factors."""
    from karat.study.init import language_for, notes_on_task, study_from_sets, task_of_results
    from karat.study.item_sheets import sets_from_results, stated_factors

    (source,) = reading.files
    sets, factors = sets_from_results(read_and_ask(reading, quiet=quiet).judgments, source, sentence)
    notes = list(sets.notes)
    if factor_texts and not any("=" in text for text in factor_texts):
        factors = factors.renamed(factor_texts)
    elif factor_texts:
        factors = stated_factors(sets.conditions, factor_texts).with_compared(factors)
    elif factors.levels:
        summary = "; ".join(f"{name} ({', '.join(levels)})" for name, levels in factors.levels.items())
        notes.append(f"Factors: {summary}. If that is wrong, use --factor.")
    chosen = task or task_of_results(sets, factors)
    code, on_language = language_for(_sentences(sets), language)
    notes += [*notes_on_task(sets, chosen), *on_language]
    return study_from_sets(sets, factors, folder or Path(source.stem), code, chosen), tuple(notes)


def _from_sets(
    source: Path,
    folder: Path | None,
    language: str | None,
    task: str | None,
    factor_texts: list[str],
    fillers: Path | None,
    sheet: str | None,
    experiment: str | None,
) -> tuple[list[Path], tuple[str, ...]]:
    """Make a study from item sets, with factors that are stated, typed in the terminal, or guessed."""
    from karat.study.init import compared_factor, language_for, study_from_sets
    from karat.study.item_sheets import CrossedFactors, guess_factors, read_sets, stated_factors, with_fillers
    from karat.study.tasks import TASKS

    sets = read_sets(source, sheet, experiment)
    if fillers is not None:
        sets = with_fillers(sets, fillers)
    factors = stated_factors(sets.conditions, factor_texts) if factor_texts else guess_factors(sets.conditions)
    notes = list(sets.notes)
    if not factor_texts and sys.stdin.isatty():
        typer.echo(f"conditions {', '.join(sets.conditions)}")
        if not factors.guessed:
            typer.echo("The columns do not show which factors cross in them.")
            question = "Which factors? Answer as in structure=island,none length=short,long, or leave it empty"
            with interruptible():
                factor_texts = shlex.split(typer.prompt(question, default="", show_default=False))
            factors = stated_factors(sets.conditions, factor_texts) if factor_texts else factors
        with interruptible():
            names = [
                typer.prompt(f"Name of the factor with the levels {', '.join(levels)}", default=name)
                for name, levels in factors.levels.items()
            ]
        factors = CrossedFactors(dict(zip(names, factors.levels.values(), strict=True)), factors.cells)
    elif not factor_texts:
        notes.append(_about_factors(factors))
    task = task or "likert"
    if task in TASKS and TASKS[task].compares and (compared := compared_factor(factors)):
        notes.append(
            f"Each choice shows both levels of {compared}. To compare another factor, change compared and the "
            "contrasts in study.toml."
        )
    code, on_language = language_for(_sentences(sets), language)
    written = study_from_sets(sets, factors, folder or Path(source.stem), code, task)
    return written, (*notes, *on_language)


def _sentences(sets: ItemSets) -> list[str]:
    return [sentence for item_set in sets.sets.values() for sentence in item_set.values()]


def _about_factors(factors: CrossedFactors) -> str:
    """A note on the guessed factors, and how to state others."""
    separator = "; " if any("," in level for levels in factors.levels.values() for level in levels) else ", "
    summary = "; ".join(f"{name} ({separator.join(levels)})" for name, levels in factors.levels.items())
    if factors.guessed or len(factors.cells) < LEAST_CROSSED:
        return f"Guessed from the conditions: {summary}. If that is wrong, use --factor."
    example = "--factor structure=island,none --factor length=short,long"
    return f"The conditions do not show which factors cross in them: {summary}. State these, such as {example}."


LEAST_CROSSED = 4
"""Two factors with two levels each make this many conditions."""
