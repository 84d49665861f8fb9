"""The jobs of the worker process: read, check, screen and report dropped files; power and rules of a study.

For a drop, the process works in the folder of the files, so that messages use their plain names.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from pydantic import BaseModel, Field

from karat.errors import KaratError
from karat.intake.reading import ProposalError, Question
from karat.judgments.columns import COLUMNS, REQUIRED
from karat.messages import render_all
from karat.studio.column_guesses import ColumnGuesses, FileClasses, classify, columns_of
from karat.studio.corrections import Corrections, scale_text
from karat.studio.folder import StudioError, pack
from karat.studio.worker import JobFailure, Say

if TYPE_CHECKING:
    from karat.intake import Intake
    from karat.judgments import Judgments
    from karat.messages import Message
    from karat.report import ReportData
    from karat.study.check import Report
    from karat.study.item_sheets import CrossedFactors, ItemSets
    from karat.study.study import Study

PREVIEWED = 5
LONGEST_CELL = 60


@dataclass(frozen=True)
class ScaleShown:
    """The scale of a question, or of all questions if the name is empty."""

    question: str
    kind: str
    known: str
    text: str
    """As text for `--scale`; empty if there is no short text."""


@dataclass(frozen=True)
class QuestionShown:
    """A question of karat and its proposals, the best first: label, reason, mapping and options of each."""

    role: str
    text: str
    choices: tuple[tuple[str, str, dict[str, str], dict[str, str]], ...]

    @property
    def takes_columns(self) -> bool:
        """Whether the answer may be another column."""
        return self.role in REQUIRED


@dataclass(frozen=True)
class FoundSets:
    """The items in results, for a new study."""

    sets: ItemSets
    factors: CrossedFactors
    task: str
    """The task for their scale; empty if there is none."""
    tasks: tuple[str, ...] = ()
    """The tasks that a study from them can have."""
    notes: tuple[str, ...] = ()
    """What the results do not contain."""

    @property
    def examples(self) -> list[tuple[str, str]]:
        """The conditions and sentences of the first item."""
        first = next(iter(self.sets.sets.values()), {})
        return list(first.items())[:PREVIEWED]


@dataclass(frozen=True)
class Preview:
    """What karat reads from dropped files."""

    results: tuple[str, ...]
    study: str | None
    title: str = ""
    """The title of the study."""
    columns: ColumnGuesses = field(default_factory=ColumnGuesses)
    scales: tuple[ScaleShown, ...] = ()
    lines: tuple[str, ...] = ()
    """How the results were read, as in the terminal."""
    found: tuple[str, ...] = ()
    """The numbers of participants, items and answers, and their kinds."""
    preview: tuple[tuple[str, ...], tuple[tuple[str, ...], ...]] | None = None
    """Names of columns and the first rows."""
    check: dict[str, Any] | None = None
    """The findings of `karat check` if there is a study without results."""
    failure: JobFailure | None = None
    """Why the results cannot be read; the columns may still be corrected."""
    questions: tuple[QuestionShown, ...] = ()
    """The questions to answer before the results are read."""
    texts: tuple[str, ...] = ()
    """The columns that may have the sentences."""
    items: FoundSets | JobFailure | None = None
    """The items for a new study, or why there are none."""


@dataclass(frozen=True)
class ScreenedPerson:
    """A participant in the result of a screening."""

    name: str
    verdict: str
    reasons: tuple[str, ...]
    """One per criterion that flagged the participant."""
    answers: int
    median: float | None
    """Median response time in seconds."""


@dataclass(frozen=True)
class Output:
    """The verdict and the written files."""

    lines: tuple[str, ...]
    """Verdict and quality of the data."""
    evidence: tuple[str, ...]
    files: tuple[str, ...]
    archive: str
    people: tuple[ScreenedPerson, ...] = ()
    """The excluded first, then those with most flags."""

    @property
    def flagged(self) -> list[ScreenedPerson]:
        """Participants that some criterion flagged."""
        return [person for person in self.people if person.reasons]


def look(files: str, choices: Corrections, say: Say) -> Preview:
    """Classify the dropped files and read them."""
    os.chdir(files)
    say("looking at the files")
    files_by_class = classify(Path())
    if files_by_class.study is None and not files_by_class.results:
        raise StudioError("There are no files. Drop a file of results, or a study file with its items.")
    if not files_by_class.results:
        return _checked(files_by_class, say)
    study, results = _study(files_by_class), files_by_class.results
    seen = Preview(tuple(map(str, results)), _name(files_by_class.study), "" if study is None else study.title)
    try:
        say("finding the columns")
        if not choices.wide:
            seen = replace(seen, columns=columns_of(results, choices))
        say("reading " + ", ".join(path.name for path in results[:3]))
        intake = _intake(files_by_class, choices)
        judgments, notes = _known(intake, study)
    except ProposalError as error:
        return replace(seen, questions=tuple(map(_shown, error.questions)))
    except KaratError as error:
        return replace(seen, failure=JobFailure.of(error))
    lines = [*render_all([*intake.account(), *notes]), *intake.skipped.lines(len(intake.sources) > 1)]
    if choices.new_study:
        say("looking for items and sentences")
        schema = judgments.frame.schema.items()
        texts = tuple(name for name, kind in schema if kind == pl.String and (name == "item" or name not in COLUMNS))
        seen = replace(seen, texts=texts, items=_found_sets(judgments, results[0], choices.sentence))
    return replace(
        seen,
        scales=_scales(judgments),
        lines=tuple(lines),
        found=tuple(judgments.summary().splitlines()),
        preview=_preview(judgments),
    )


def report(files: str, out: str, archive: str, choices: Corrections, say: Say) -> Output:
    """Screen, measure and report the results, and pack everything into one archive."""
    from karat.report import build, write
    from karat.report.sections.brief import quality_sentence, verdict

    os.chdir(files)
    say("reading the files")
    files_by_class = classify(Path())
    study = _study(files_by_class)
    intake = _intake(files_by_class, choices)
    judgments, notes = _known(intake, study)

    @contextmanager
    def step(what: str) -> Iterator[None]:
        say(what)
        yield

    all_notes = tuple(dict.fromkeys([*intake.judgments.notes, *judgments.notes, *notes]))
    command = choices.command(list(map(str, files_by_class.results)), _name(files_by_class.study))
    gathered = build(judgments, study, notes=all_notes, command=command, progress=step)
    say("drawing and writing the report")
    folder = Path(out)
    written = [*write(gathered, folder / "report.html", language=choices.language), *_tables(gathered, folder, say)]
    (folder / "command.txt").write_text(command + "\n", encoding="utf-8")
    say("packing")
    pack(folder, folder / archive)
    names = [path.relative_to(folder).as_posix() for path in written]
    lines = (verdict(gathered.screening), quality_sentence(gathered))
    return Output(
        lines,
        tuple(map(str, (*gathered.screening.evidence.values(), *gathered.screening.summary))),
        (*names, "command.txt"),
        archive,
        _people(gathered),
    )


def _people(gathered: ReportData) -> tuple[ScreenedPerson, ...]:
    """The participants in the order of the report."""
    from karat.report.sections.people import MOST, people_table

    rows = people_table(gathered).head(MOST).to_dicts()
    fields = {who: tuple(f"{title}: {why}" for title, why in flags) for who, flags in gathered.reasons.items()}
    return tuple(
        ScreenedPerson(who, row["verdict"], fields.get(who, ()), row["answers"] or 0, row.get("median"))
        for row in rows
        if (who := row["participant"])
    )


SIZES = 12
QUICK_STUDIES, CONFIRMING_STUDIES = 300, 100
"""How many studies are simulated per size, by the approximation and by the test of `karat measure`."""


class PowerWish(BaseModel, extra="forbid", frozen=True):
    """A contrast, its assumed size, and the share of participants who are excluded."""

    contrast: str = Field("", max_length=500)
    effect: float = Field(0.8, gt=0, le=20)
    exclude: float = Field(0.0, ge=0, le=0.9)
    participants: int | None = Field(None, ge=2, le=2000)
    """The number of participants for the test of `karat measure`; None for a quick curve."""


def power_curve(folder: str, wish: PowerWish, say: Say) -> dict[str, Any]:
    """The power for many numbers of participants by a quick approximation, or for one by the test of the study."""
    from karat.simulate.layout import fewest_participants, layout_of, named_contrast
    from karat.simulate.power import power
    from karat.study.study import load

    study = load(folder)
    planned = named_contrast(study, wish.contrast or None)
    confirming = wish.participants is not None
    least = fewest_participants(layout_of(study, planned)[0])
    sizes = [wish.participants or 0] if confirming else curve_sizes(least, study.settings.recruitment.participants)
    heard = -1

    def progress(done: int, of: int) -> None:
        nonlocal heard
        share = 5 * (20 * done // max(of, 1))
        if share > heard:
            heard = share
            say(f"simulating studies: {share} %")

    result = power(
        study, sizes, effects=[wish.effect], contrast=planned.name, exclude=wish.exclude,
        simulations=CONFIRMING_STUDIES if confirming else QUICK_STUDIES, analysis=None if confirming else "means",
        progress=progress,
    )  # fmt: skip
    rows = [
        {**row, "record": replace(result, cells=result.cells[place : place + 1]).record()}
        for place, row in enumerate(result.cells.iter_rows(named=True))
    ]
    return {**result.to_dict(), "sizes": rows, "summary": list(map(str, (*result.summary, *result.notes)))}


TRIED = 60
SHARES = {"guesser": 0.1, "rusher": 0.1, "straight-liner": 0.1, "clever spammer": 0.05, "drop-out": 0.05}
"""The shares of simulated participants, with enough of each kind to see the effect of rules."""


def try_rules(folder: str, say: Say) -> dict[str, Any]:
    """The effect of each screening rule of a study on simulated participants."""
    from karat.screen import run
    from karat.simulate import answer_study
    from karat.study.criteria import title_of
    from karat.study.study import load

    study = load(folder)
    if not study.screening_rules:
        raise StudioError("The study states no screening rules yet. Add one first.")
    say("simulating participants")
    judgments = answer_study(study, TRIED, shares=SHARES)
    say("screening them")
    screening = run(judgments, study=study)
    behaviours = dict(judgments.participants.select("participant", "behaviour").iter_rows())
    kinds = sorted(Counter(behaviours.values()).items(), key=lambda kind: (kind[0] in SHARES, kind[0]))
    rows = [
        {
            "name": name,
            "title": title_of(name),
            "flagged": _by_kind(evidence.flagged, behaviours, kinds),
            "skipped": "",
        }
        for name, evidence in screening.evidence.items()
    ]
    rows += [
        {"name": name, "title": title_of(name), "flagged": [], "skipped": str(why)}
        for name, why in screening.skipped.items()
    ]
    return {"kinds": kinds, "rows": rows, "excluded": _by_kind(screening.excluded, behaviours, kinds)}


def _by_kind(flagged: Iterable[str], behaviours: dict[str, str], kinds: list[tuple[str, int]]) -> list[int]:
    counts = Counter(behaviours[name] for name in flagged)
    return [counts[kind] for kind, _ in kinds]


def curve_sizes(least: int, wanted: int) -> list[int]:
    """Numbers of participants for a power curve, up to about twice as many as the study wants."""
    step = least * max(1, -(-2 * wanted // (SIZES * least)))
    return sorted({*(step * number for number in range(1, SIZES + 1)), max(wanted, least)})


def _tables(gathered: ReportData, folder: Path, say: Say) -> list[Path]:
    from karat.measure.measures import Measures

    say("writing tables and figures")
    written = gathered.screening.write(folder / "screening")
    if isinstance(gathered.measures, Measures):
        written += gathered.measures.write(folder / "measures")
    return written


def _checked(files: FileClasses, say: Say) -> Preview:
    """The findings of `karat check`."""
    from karat.field.content.texts import words
    from karat.study.check import check

    study = _study(files)
    if study is None:
        raise StudioError("There is no study file.")
    words(study.settings.language, study.settings.texts.words)
    say(f"checking {study.path.name}")
    checked_study: Report = check(study)
    findings = [{"grade": finding.grade, "text": str(finding)} for finding in checked_study.findings]
    data = {
        "head": checked_study.head,
        "findings": findings,
        "summary": checked_study.summary(),
        "errors": checked_study.errors,
    }
    return Preview((), _name(files.study), study.title, check=data)


def _study(files: FileClasses) -> Study | None:
    from karat.study.study import load

    if files.study is None:
        return None
    _check_inside(Path(files.study))
    return load(files.study)


def _check_inside(path: Path) -> None:
    """Refuse a study file that names files outside the drop, because somebody else may have written it."""
    from karat.study.file import read_settings

    folder = Path.cwd().resolve()
    settings, _ = read_settings(path)
    for block in settings.block:
        for name in (*(block.items or ()), block.questions, block.templates, block.lexicon):
            if name and not (path.parent / name).resolve().is_relative_to(folder):
                raise StudioError(
                    f"{path.name} names the file {name}, which is not among the dropped files. Drop it too."
                )


def _intake(files: FileClasses, choices: Corrections) -> Intake:
    from karat.intake import read_files

    return read_files(
        files.results, choices.source, choices.options(), encoding=choices.encoding or None, skip_bad=choices.skip_bad
    )  # fmt: skip


def _known(intake: Intake, study: Study | None) -> tuple[Judgments, list[Message]]:
    from karat.study.results import with_study

    with intake.naming_places():
        return (intake.judgments, []) if study is None else with_study(intake.judgments, study)


def _shown(question: Question) -> QuestionShown:
    """A question for the page."""
    choices = [
        (choice.label, str(choice.detail), dict(choice.mapping), dict(choice.options)) for choice in question.choices
    ]
    return QuestionShown(question.role, str(question.text()), tuple(choices))


def _found_sets(judgments: Judgments, source: Path, sentence: str) -> FoundSets | JobFailure:
    """The items in results for a new study, or why there are none."""
    from karat.study.init import notes_on_task, task_of_results, tasks_for
    from karat.study.item_sheets import sets_from_results

    try:
        sets, factors = sets_from_results(judgments, source, sentence or None)
    except KaratError as error:
        return JobFailure.of(error)
    try:
        task = task_of_results(sets, factors)
    except KaratError as error:
        return FoundSets(sets, factors, "", tasks_for(sets, factors), (*sets.notes, str(error)))
    return FoundSets(sets, factors, task, tasks_for(sets, factors), (*sets.notes, *notes_on_task(sets, task)))


def _scales(judgments: Judgments) -> tuple[ScaleShown, ...]:
    """The scales; only one if all questions have the same."""
    scales = judgments.scales
    if len(set(scales.values())) == 1:
        scales = {"": next(iter(scales.values()))}
    return tuple(ScaleShown(name, scale.kind, scale.known(), scale_text(scale)) for name, scale in scales.items())


def _preview(judgments: Judgments) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    head = judgments.frame.head(PREVIEWED)
    return tuple(head.columns), tuple(tuple(map(_short, row)) for row in head.iter_rows())


def _short(cell: object) -> str:
    """A cell as text; numbers are rounded, because converted milliseconds are not exact to the last digit."""
    text = "" if cell is None else f"{cell:.6g}" if isinstance(cell, float) else str(cell)
    return text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1] + "…"


def _name(path: Path | None) -> str | None:
    return None if path is None else path.as_posix()
