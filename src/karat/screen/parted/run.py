"""The criteria together on judgments in parts: evidence, and the rule of the study, as `karat.screen.run` has them.

Stages, rule and unknown verdicts are those of the run in memory. Excluded participants are in files, one per part and
stage, so that no list of participants is sent between processes. Criteria that need everybody's answers at once cannot
run in parts and are listed with the reason.
"""

import hashlib
import json
import shutil
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import polars as pl

from karat import __version__
from karat.errors import KaratError, counted
from karat.executors import SERIAL, Executor
from karat.judgments import Judgments
from karat.judgments.files import write_text
from karat.judgments.message_tables import with_reasons
from karat.judgments.parts import Parts, PartsError
from karat.judgments.scales import Scale
from karat.messages import Message, NotComputed
from karat.screen.crowd.answers import NOT_QUICK, QUICK_ANSWERS
from karat.screen.crowd.gold import gold_over_parts
from karat.screen.crowd.spammer_index import NO_ROOM, NOBODY, SpammerIndex, index_as_data
from karat.screen.evidence import PartedEvidence, ScreenError
from karat.screen.parted.in_parts import InParts, excluded_from, loaded, part_file, write_part
from karat.screen.rules import newly_excluded, resolve_rules
from karat.screen.run import Exclusions, begin, end, stages, with_doubts
from karat.screen.screening import AnyScreening, ScreeningStage
from karat.study.criteria import CRITERIA
from karat.study.results import with_study
from karat.study.study import Study
from karat.types import Progress


@dataclass(frozen=True)
class PartedScreening(AnyScreening):
    """The evidence of every criterion on judgments in parts, how many the rule excludes, and what did not run."""

    parts: Parts
    evidence: dict[str, PartedEvidence]
    participants: int
    answers: int
    excluded: int
    skipped: dict[str, NotComputed]
    """Criteria that could not run, with the reason."""
    exclude: str | int | None
    """The rule that combines the criteria; None if none was stated."""
    steps: tuple[ScreeningStage, ...] = ()
    study: str | None = None
    """The fingerprint of the study whose rules these are."""
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    fingerprint: str = ""
    """The fingerprint of the data; it changes when a part changes."""
    read: tuple[Message, ...] = ()
    """Assumptions made when the parts were read."""
    files: tuple[Path, ...] = field(default=(), repr=False)
    """One row per participant, in one file per part."""
    spammer_index: SpammerIndex | NotComputed | None = None
    """The Spammer Index of the remaining participants, or why there is none; None if it was not requested."""

    @property
    def counts(self) -> tuple[int, int]:
        return self.excluded, self.participants

    def scan(self) -> pl.LazyFrame:
        """One row per participant, lazily: whether excluded, and each criterion's score, threshold, verdict, reason."""
        return pl.scan_parquet(list(self.files))

    def write(self, folder: Path) -> list[Path]:
        """Write screening.json and flow.svg beside the tables of each part."""
        data, picture = folder / "screening.json", folder / "flow.svg"
        write_text(data, json.dumps(self.to_dict(), ensure_ascii=False, indent=2) + "\n")
        write_text(picture, self.flow())
        return [data, picture]

    def to_dict(self) -> dict[str, Any]:
        """The screening as plain data, without results per participant, which are in `files`."""
        index = self.spammer_index
        crowd = {} if index is None else {"spammer_index": index_as_data(index)}
        source = {"data": self.fingerprint, "study": self.study, "answers": self.answers, "parts": len(self.parts)}
        return self.as_data(**source, changes=[]) | crowd


PEOPLE = "people"
UNFINISHED = NotComputed("spammer_index.unfinished")
"""Files written before the fit, so that an interrupted fit does not lose the verdicts."""


def run_in_parts(
    parts: Parts,
    rules: Mapping[str, Any] | None = None,
    study: Study | None = None,
    *,
    out: str | Path,
    spammer_index: bool | Literal["quick"] = False,
    progress: Progress | None = None,
    executor: Executor = SERIAL,
) -> PartedScreening:
    """Run the criteria that `rules` state on judgments in parts, or all that can run, and write verdicts to a folder.

    `rules` and `study` are those of `karat.screen.run`. `out` gets the evidence of each criterion and the verdicts,
    part by part, with `screening.json` and `flow.svg`. After an interruption, it continues where it stopped if the
    `executor` stores finished tasks. With `spammer_index`, that of the remaining participants is fitted after
    everything else is written; "quick" fits it only if that takes a few seconds.

    Parameters
    ----------
    parts
        The judgments, from `karat.judgments.parts.open_parts`.
    spammer_index
        Whether to fit the Spammer Index of the remaining participants; "quick" only if it takes a few seconds.

    >>> import karat, tempfile
    >>> from karat.judgments.parts import open_parts, repartition
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = repartition([karat.datasets.load("likert")], Path(folder) / "in", 3)
    ...     parts = open_parts(Path(folder) / "in")
    ...     run_in_parts(parts, {"completion": {}, "remfod": {}, "exclude": "any"}, out=folder).remaining
    {'completion': 47, 'clock': 42, 'answers': 42}
    """
    folder = Path(out).absolute()
    if folder.exists() and not folder.is_dir():
        raise KaratError(f"{folder} is a file; give a folder to write to.")
    settings, exclude = resolve_rules(rules, study)
    crowd = _begin(parts, folder, study, executor, progress, [settings, exclude, spammer_index])
    overview = look(crowd, crowd.scratch / PEOPLE)
    remaining, excluded = crowd, 0

    def compute(name: str) -> PartedEvidence:
        if not CRITERIA[name].in_parts:
            raise ScreenError(Message("screening.not_in_parts"))
        if excluded == overview.participants:
            raise ScreenError(Message("screening.nobody_left"))
        result: PartedEvidence = CRITERIA[name].compute(remaining, **settings[name])
        return result

    def take_out(stage: str, evidence: Mapping[str, PartedEvidence], pending: list[str]) -> Exclusions:
        """Write the participants excluded after a stage to files."""
        nonlocal remaining, excluded
        before, after = remaining.excluded, f"excluded-{stage}"
        rule = (remaining.scratch, before, after, list(settings), _files(evidence), exclude, pending)
        result = remaining.each(_exclude, rule, name=f"exclusion after {stage}")
        remaining, new = replace(remaining, excluded=after), sum(number for number, _ in result)
        excluded += new
        return new, {name: sum(counts[name] for _, counts in result) for name in settings}, ()

    evidence, skipped, steps = stages(settings, exclude, overview.participants, compute, take_out, progress)
    if evidence and "expected" in overview.columns:
        checked = gold_over_parts(crowd)
        evidence = with_doubts(evidence, () if checked is None else checked.notes)
    files = _verdicts(remaining, evidence)
    screening = PartedScreening(
        parts, evidence, overview.participants, overview.answers, excluded, skipped, exclude, steps,
        None if study is None else study.fingerprint, settings, overview.fingerprint, overview.notes,
        files, UNFINISHED if spammer_index else None,
    )  # fmt: skip
    screening.write(folder)
    end(progress, Message("screening.written_before_index" if spammer_index is True else "screening.written"))
    if spammer_index:
        index = _index(remaining, screening, only_quick=spammer_index == "quick")
        screening = replace(screening, spammer_index=index)
        screening.write(folder)
    shutil.rmtree(crowd.scratch, ignore_errors=True)
    return screening


def _begin(
    parts: Parts, out: Path, study: Study | None, executor: Executor, progress: Progress | None, options: list[Any]
) -> InParts:
    """A crowd with an empty folder for files between passes, or with that of the same run if it was interrupted."""
    stamps = [parts.stamp(number) for number in range(len(parts))]
    about = json.dumps([__version__, stamps, None if study is None else study.fingerprint, options], default=str)
    digest = hashlib.sha256(about.encode()).hexdigest()
    scratch = out / "scratch"
    run = scratch / "run.json"
    try:
        record = json.loads(run.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        record = {}
    if record.get("about") != digest:
        for name in ("scratch", "evidence", "participants"):
            shutil.rmtree(out / name, ignore_errors=True)
        record = {"about": digest, "token": uuid.uuid4().hex}
        write_text(run, json.dumps(record))
    return InParts(
        parts, out, executor, progress, None if study is None else study.path.absolute(), "", record["token"], scratch
    )


def _files(evidence: Mapping[str, PartedEvidence]) -> dict[str, dict[str, Path]]:
    """The files of each criterion by the name of the part."""
    return {name: {path.name: path for path in result.files} for name, result in evidence.items()}


def _exclude(
    rule: tuple[Path, str, str, list[str], dict[str, dict[str, Path]], Any, list[str]], number: int
) -> tuple[int, dict[str, int]]:
    """Write the participants excluded from a part so far; returns how many are new, and flagged by each criterion."""
    scratch, before, after, criteria, files, exclude, pending = rule
    people = pl.read_parquet(part_file(scratch / PEOPLE, number))["participant"]
    earlier = excluded_from(scratch, before, number).to_list()
    flagged: dict[str, list[str]] = {}
    for name in criteria:
        path = files.get(name, {}).get(part_file(Path(), number).name)
        table = None if path is None else pl.scan_parquet(path).filter("flagged").select("participant").collect()
        flagged[name] = [] if table is None else table["participant"].to_list()
    new, counts = newly_excluded(people.to_list(), flagged, earlier, exclude, pending)
    excluded = pl.Series("participant", [*earlier, *new], pl.String)
    write_part(people.filter(people.is_in(excluded.implode())).to_frame(), scratch / after, number)
    return len(new), counts


def _verdicts(crowd: InParts, evidence: Mapping[str, PartedEvidence]) -> tuple[Path, ...]:
    """Write one row per participant: whether excluded, and the result of each criterion."""
    written = {name: result.written for name, result in evidence.items()}
    shared = (crowd.scratch, crowd.excluded, _files(evidence), written, crowd.out / "participants")
    return tuple(crowd.each(_verdict, shared, name="verdicts"))


def _verdict(
    shared: tuple[Path, str, dict[str, dict[str, Path]], dict[str, tuple[str, ...]], Path], number: int
) -> Path:
    scratch, excluded, files, written, out = shared
    table = pl.read_parquet(part_file(scratch / PEOPLE, number), columns=["participant"])
    table = table.with_columns(excluded=pl.col("participant").is_in(excluded_from(scratch, excluded, number).implode()))
    for name, by_part in files.items():
        path = by_part.get(part_file(Path(), number).name)
        columns = {column: f"{name}_{column}" for column in written[name]}
        if path is None:
            # The types are those of a part with participants.
            some = next(iter(by_part.values()), None)
            results = None if some is None else pl.read_parquet(some, n_rows=0)
        else:
            schema = pl.read_parquet_schema(path)
            read = ("participant", *columns, "message", "values")
            results = pl.read_parquet(path, columns=[column for column in read if column in schema])
        if results is not None:
            results = with_reasons(results).select("participant", *(pl.col(c).alias(columns[c]) for c in columns))
            table = table.join(results, on="participant", how="left", maintain_order="left")
    return write_part(table, out, number)


def _index(crowd: InParts, screening: PartedScreening, *, only_quick: bool) -> SpammerIndex | NotComputed:
    """The Spammer Index of the remaining participants, or the reason why there is none."""
    from karat.screen.crowd.spammer_parts import spammer_index_in_parts

    begin(crowd.progress, "spammer_index")
    if screening.excluded == screening.participants:
        return NOBODY
    if only_quick and screening.answers > QUICK_ANSWERS:
        return NOT_QUICK
    try:
        index = spammer_index_in_parts(crowd, only_quick=only_quick)
        # The counts are of all participants, so they are comparable only if nobody is excluded.
        flagged = {} if screening.excluded else {name: result.flagged for name, result in screening.evidence.items()}
        return index.beside(flagged)
    except MemoryError:
        return NO_ROOM
    except ValueError as error:
        return NotComputed.of(error)


NAMED = 5
COUNT = "n"
"""The value of a note that is a number of answers, added up over parts."""


@dataclass(frozen=True)
class PartsOverview:
    """Counts and columns of a part, or of all parts together."""

    participants: int
    answers: int
    fingerprint: str
    notes: tuple[Message, ...]
    columns: tuple[str, ...]
    scales: dict[str, Scale]


def look(crowd: InParts, folder: Path) -> PartsOverview:
    """Read every part once and write its participants; raises PartsError if a participant is in two parts."""
    overviews = crowd.map(_look, (folder, crowd.parts, crowd.study), name="reading")
    _refuse_two_parts(crowd.parts, [part_file(folder, number) for number in range(len(crowd))])
    for number, overview in enumerate(overviews):
        if set(overview.columns) != set(overviews[0].columns) or overview.scales != overviews[0].scales:
            differ = sorted(set(overview.columns) ^ set(overviews[0].columns)) or ["a scale"]
            raise PartsError(
                f"Of {crowd.parts.name(number)} and {crowd.parts.name(0)}, only one gets {differ[0]} from the study "
                "file: write it into the files."
            )
    digest = hashlib.sha256("".join(overview.fingerprint for overview in overviews).encode()).hexdigest()[:16]
    people, answers = (sum(getattr(part, what) for part in overviews) for what in ("participants", "answers"))
    notes = joined_notes([overview.notes for overview in overviews], crowd.parts)
    return PartsOverview(people, answers, digest, notes, overviews[0].columns, overviews[0].scales)


def _look(judgments: Judgments, shared: tuple[Path, Parts, Path | None], number: int) -> PartsOverview:
    folder, parts, study = shared
    write_part(judgments.participants.select("participant"), folder, number)
    notes = judgments.notes
    if study is not None:
        notes += tuple(with_study(parts.read(number), loaded(study))[1])
    return PartsOverview(
        judgments.participants.height, judgments.answers, parts.fingerprint(number), notes,
        tuple(judgments.frame.columns), judgments.scales,
    )  # fmt: skip


def _refuse_two_parts(parts: Parts, files: Sequence[Path]) -> None:
    everybody = pl.concat(
        pl.scan_parquet(file).with_columns(_part=pl.lit(number)) for number, file in enumerate(files)
    ).collect()
    twice = everybody.filter(pl.col("participant").is_duplicated())
    if not twice.height:
        return
    where = twice.group_by("participant", maintain_order=True).agg("_part")
    named = [
        f"{name} in {' and '.join(parts.name(part) for part in numbers[:3])}"
        for name, numbers in where.head(NAMED).iter_rows()
    ]
    more = f" and {counted(where.height - NAMED, 'other')}" if where.height > NAMED else ""
    raise PartsError(
        f"Every participant must be in one part, and {counted(where.height, 'participant')} "
        f"{'is' if where.height == 1 else 'are'} in several: {', '.join(named)}{more}. "
        f"Divide them again: {parts.fix()}"
    )


def joined_notes(notes: Sequence[tuple[Message, ...]], parts: Parts) -> tuple[Message, ...]:
    """The assumptions of all parts: numbers of answers are added up; a note on some parts only names one of them."""
    counts: dict[Message, dict[int, int]] = {}
    for number, of_part in enumerate(notes):
        for note in of_part:
            kind = Message(note.code, {name: value for name, value in note.values.items() if name != COUNT})
            counts_of_note = counts.setdefault(kind, {})
            counts_of_note[number] = counts_of_note.get(number, 0) + note.values.get(COUNT, 0)
    messages: list[Message] = []
    for kind, having in counts.items():
        answers = sum(having.values())
        note = Message(kind.code, {**kind.values, COUNT: answers}) if answers else kind
        everywhere = bool(answers) or len(having) == len(notes)
        first = {"part": parts.name(next(iter(having))), "note": note}
        messages.append(note if everywhere else Message("parts.note", first))
    return tuple(messages)
