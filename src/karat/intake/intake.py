"""From files to judgments: choose each file's reader, combine the readings, check them, report what was done."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import reduce
from pathlib import Path
from typing import Any

import polars as pl

from karat.errors import IntakeError, JudgmentsError, Problems, counted
from karat.intake.cells import chained, filled_up
from karat.intake.content import words_of
from karat.intake.forms import several_at_once
from karat.intake.guess import (
    MODEL_NAMES,
    are_codes,
    are_rankings,
    beginnings,
    binary_of,
    guess_scale,
    joined,
    missing_codes,
)
from karat.intake.lacking import lacking, refuse_misspelt, skipped_note
from karat.intake.personal import names_a_person
from karat.intake.readers import READERS, reader_for, reader_named
from karat.intake.readers.generic import in_seconds
from karat.intake.reading import (
    BEGIN,
    SUFFIX,
    Options,
    Proposal,
    ProposalError,
    Question,
    Reader,
    Reading,
    as_message,
    with_remembered,
)
from karat.intake.table_repair import COMMENT
from karat.judgments import Judgments
from karat.judgments.checks import Checked, Place, check, frame_row, located, text_column
from karat.judgments.columns import FUNCTIONS, REQUIRED, laid_over, nearest, selector
from karat.judgments.files import companions
from karat.judgments.message_tables import listed
from karat.judgments.scales import Choice, Continuous, Magnitude, Nominal, Ordinal, Scale, as_number
from karat.judgments.source import SourceFile
from karat.messages import Message, render, render_all


@dataclass(frozen=True)
class Intake:
    """Judgments with an account of how they were read."""

    judgments: Judgments
    sources: tuple[tuple[str, str], ...]
    """Each file with the title of its reader."""
    units_in: int
    unit: str
    set_aside: dict[Message, int]
    """What was not a judgment, by reason."""
    skipped: Problems
    """Unreadable rows that were left out at the user's request."""
    skipped_units: int
    notes: tuple[Message, ...]
    locate: Callable[[int], Place] = field(default=frame_row, repr=False, compare=False)
    """The place in the files where a row of the judgments comes from."""

    @contextmanager
    def naming_places(self) -> Iterator[None]:
        """Report problems in rows of these judgments by their files and lines.

        Code that joins a study to them knows only the rows of the table.
        """
        try:
            yield
        except JudgmentsError as error:
            problems = Problems()
            for flaw in error.problems:
                if flaw.file is None and flaw.place == "row" and flaw.number is not None:
                    file, place, number = self.locate(flaw.number - 1)
                    flaw = replace(flaw, file=file, place=place, number=number)
                problems.extend([flaw])
            if not problems:
                raise
            raise unreadable([file for file, _ in self.sources], problems) from None

    def set_aside_notes(self) -> tuple[Message, ...]:
        """The note on what was not a judgment: how much of which kind; empty if everything was."""
        if not self.set_aside:
            return ()
        reasons = [
            Message("intake.set_aside_reason", {"n": count, "reason": reason})
            for reason, count in self.set_aside.items()
        ]
        count = sum(self.set_aside.values())
        values = {"n": count, "units_in": self.units_in, "unit": _unit(self.unit), "reasons": reasons}
        return (Message("intake.set_aside", values),)

    def skipped_notes(self) -> tuple[Message, ...]:
        """The note on what was left out: how many rows, which, and why; empty if there are none."""
        if not self.skipped:
            return ()
        several = len(self.sources) > 1
        return (skipped_note(self.skipped, self.skipped_units, self.units_in, _unit(self.unit), name_files=several),)

    def __str__(self) -> str:
        return "\n".join([*render_all(self.account()), self.judgments.summary()])

    def account(self) -> tuple[Message, ...]:
        """How the files were read: by which readers, what was not a judgment, and what was assumed."""
        messages = [Message("intake.read", {"file": file, "title": title}) for file, title in self.sources]
        return (*messages, *self.set_aside_notes(), *self.skipped_notes(), *self.notes)

    @property
    def expected(self) -> int:
        """The number of answers with a known correct answer."""
        frame = self.judgments.frame
        if "expected" not in frame.columns:
            return 0
        return frame.filter(pl.col("response").is_not_null(), pl.col("expected").is_not_null()).height

    def to_dict(self) -> dict[str, Any]:
        """The account as plain data, for `--json`."""
        frame = self.judgments.frame
        return {
            "sources": [{"file": file, "reader": title} for file, title in self.sources],
            "participants": frame["participant"].n_unique(),
            "items": frame["item"].n_unique(),
            "rows": frame.height,
            "answers": self.judgments.answers,
            "expected": self.expected,
            "functions": dict(sorted(frame["function"].value_counts().iter_rows())),
            "scales": {question: scale.to_dict() for question, scale in self.judgments.scales.items()},
            "columns": {name: str(dtype) for name, dtype in frame.schema.items()},
            "units_in": self.units_in,
            "unit": self.unit,
            "set_aside": [reason.to_dict() | {"count": count} for reason, count in self.set_aside.items()],
            "skipped": self.skipped_units,
            "problems": [str(problem) for problem in self.skipped],
            "notes": [note.to_dict() for note in self.notes],
        }


def read_files(
    paths: Sequence[str | Path],
    source: str | Reader = "auto",
    options: Options | None = None,
    *,
    encoding: str | None = None,
    skip_bad: bool = False,
) -> Intake:
    """Read the files of a study, from one or several sources, as one table of judgments.

    `paths` are files and folders. `source` names the tool if karat should not detect it. `options` are the arguments
    of `karat.read`. `skip_bad` leaves out rows that cannot be read.

    >>> import karat
    >>> intake = read_files([karat.datasets.path("likert")])
    >>> len(intake.judgments), intake.judgments.scale.known()
    (3566, '1, 2, 3, 4, 5')
    """
    options, remembered = with_remembered(paths, options or Options())
    files, skipped = _without_strays(_files(paths, encoding), paths, source)
    groups = by_reader(files, source)
    parts = [_with_mapping(_read(reader, group, options), reader, options) for reader, group in groups]
    parts = [_without_names(part, *group, options) for part, group in zip(parts, groups, strict=True)]
    parts = _with_people_apart(parts)
    parts = _without_apart(parts, options.apart)
    answering = [part for part in parts if part.frame.width]
    problems = Problems()
    request = Path(paths[0]).name if len(paths) == 1 else files[0].name, [str(path) for path in paths]
    accepted = _confirm(answering, request, options)
    for part in parts:
        problems.extend(part.problems)
    if not answering:
        raise IntakeError(_no_judgments(files, parts), problems)
    frame = _with_functions(_respelled(_stacked([part.frame for part in answering]), options), options)
    frame, name_notes = _functions_of_names(frame, groups, options)
    accepted += name_notes
    frame, beginning_notes = _by_beginning(frame, answering, options, request)
    accepted += beginning_notes
    missing = lacking(frame.columns, answering, files[0].name)
    if missing:
        problems.extend(missing)
        raise unreadable([file.name for file in files], problems)
    notes = [*remembered, *skipped, *accepted, *(note for part in parts for note in part.notes)]
    frame, scales, more = _scales(frame, answering, options, files)
    locate = chained([(part.frame.height, part.locate) for part in answering])
    checked = check(frame, scales, locate)
    problems.extend(checked.problems)
    if options.rt_unit or any(note.code in ("rt.named_milliseconds", "rt.milliseconds") for note in notes):
        checked.notes = [note for note in checked.notes if note.code != "rt.long"]  # The unit is known.
    checked, kept_rows, lost = _settled(checked, scales, problems, skip_bad, files)
    judgments = Judgments.from_checked(checked, scales, _participants(parts))
    judgments, part_notes = _with_item_parts(judgments, groups)
    judgments.frozen = next((part.frozen for part in parts if part.frozen is not None), None)
    if not judgments.frame.height:
        raise IntakeError(_no_judgments(files, parts))
    all_notes = tuple(
        dict.fromkeys([
            *notes, *more, *checked.notes, *part_notes, *_models(judgments), *_factors(judgments, groups),
            *_submissions(judgments, groups, parts),
        ])
    )  # fmt: skip
    intake = Intake(
        judgments,
        tuple((file.name, reader.title) for reader, group in groups for file in group),
        units_in=sum(part.units_in for part in parts),
        unit=answering[0].unit,
        set_aside=_added(part.set_aside for part in parts),
        skipped=problems,
        skipped_units=lost + sum(part.bad_units for part in parts),
        notes=all_notes,
        locate=locate if kept_rows is None else located(locate, kept_rows),
    )
    # The account lists what was left out separately; the judgments alone have only their notes.
    judgments.notes = (*all_notes, *intake.set_aside_notes(), *intake.skipped_notes())
    return intake


MOST_ROWS = 200_000
MOST_GRADES = 11
"""With more numbers around zero, the scale is a slider between two sides."""


PART_SIGNS = ("-", "_", ".", "|", "/")
FEWEST_NAMES = 8
MOST_PART_LEVELS = 12
MOST_PARTS = 2
FEWEST_WORDS = 3
"""Names with this many words are sentences, not codes made of parts."""


def _with_item_parts(
    judgments: Judgments, groups: Sequence[tuple[Reader, Sequence[SourceFile]]]
) -> tuple[Judgments, list[Message]]:
    """The leading parts of the items' names as columns, if no column is a factor and all names have the same form."""
    frame = judgments.frame
    if all(reader.keeps_names for reader, _ in groups) or frame.height > MOST_ROWS or "left" in frame.columns:
        return judgments, []
    names = sorted(frame.filter(pl.col("function") == "test")["item"].unique().to_list())
    pattern, places = _parts_of(names) if len(names) >= FEWEST_NAMES else ("", [])
    if not places or judgments.factors():
        return judgments, []
    columns = {f"item_part_{at}": pl.col("item").str.extract(pattern, at) for at in places[:MOST_PARTS]}
    parts = [pl.when(pl.col("function") == "test").then(part).alias(name) for name, part in columns.items()]
    parted = Judgments.from_checked(
        Checked(frame.with_columns(parts), notes=list(judgments.notes)), judgments.scales, judgments.participants
    )
    return parted, [Message("intake.item_parts", {"item": names[0], "n": len(columns), "columns": list(columns)})]


def _parts_of(names: Sequence[str]) -> tuple[str, list[int]]:
    """The common pattern of all names, and the groups in it whose words recur.

    Parts are separated by a sign, or are a number and the letter of a condition.

    >>> _parts_of([f"{verb}-{wh}-{n}" for verb in ("know", "tell") for wh in ("who", "where") for n in range(3)])[1]
    [1, 2]
    >>> _parts_of(["1a", "1b", "2a", "2b"])[1], _parts_of(["1a", "2b", "3a", "4b"])[1]
    ([2], [])
    """
    if all(len(name.split()) >= FEWEST_WORDS for name in names):
        return "", []
    signs = [(f"[^{re.escape(sign)}]*", re.escape(sign), names[0].count(sign) + 1) for sign in PART_SIGNS]
    patterns = [f"^{sign.join([f'({part})'] * number)}$" for part, sign, number in signs if number > 1]
    if 2 * len({name[:-1] for name in names}) <= len(names):
        patterns.append(r"^(.*\d)([a-zA-Z])$")
    for pattern in patterns:
        matches = [re.match(pattern, name) for name in names]
        recurring = []
        for at, values in enumerate(zip(*(match.groups() for match in matches if match), strict=True), 1):
            counts = Counter(values)
            recurs = min(counts.values()) > 1 and 1 < len(counts) <= MOST_PART_LEVELS
            if recurs and all(re.search(r"[^\W\d_]", value) for value in counts):
                recurring.append(at)
        if recurring and all(matches):
            return pattern, recurring
    return "", []


def _factors(judgments: Judgments, groups: Sequence[tuple[Reader, Sequence[SourceFile]]]) -> list[Message]:
    """The note on the factors of the design, if the file rather than karat names them."""
    if all(reader.keeps_names for reader, _ in groups) or judgments.frame.height > MOST_ROWS:
        return []
    factors = judgments.factors()
    values = {"n": len(factors), "names": factors, "flag": ",".join(factors)}
    return [Message("intake.factors", values)] if factors else []


def _confirm(parts: Sequence[Reading], request: tuple[str, list[str]], options: Options) -> list[Message]:
    """Raise ProposalError if a reading rests on unconfirmed proposals; otherwise, the note on what was accepted.

    `request` is the name of what is read, and the paths from the user.
    """
    questions = [question for part in parts for question in part.open]
    whole = all(set(REQUIRED) - {"item"} <= set(part.frame.columns) for part in parts)
    if not questions or not whole:
        return []
    if not options.accept or any(question.by_name for question in questions):
        raise ProposalError(request[0], questions, request[1])
    flags = [flag for question in questions for flag in question.choices[0].flags]
    return [Message("role.accepted", {"flags": " ".join(flags)})]


def _files(paths: Sequence[str | Path], encoding: str | None) -> list[SourceFile]:
    """The files to read; files with the same name are labelled with their folders."""
    expanded = _expanded(paths)
    names = Counter(path.name for path in expanded)
    labels = [str(Path(*path.parts[-2:])) if names[path.name] > 1 else path.name for path in expanded]
    return [SourceFile(path, encoding, label=label) for path, label in zip(expanded, labels, strict=True)]


NO_RESULTS = (
    ".r", ".rmd", ".py", ".ipynb", ".md", ".html", ".htm", ".js", ".css", ".png", ".jpg", ".jpeg", ".svg", ".gif",
    ".pdf", ".docx", ".doc", ".tex", ".rds", ".rdata", ".log", ".toml", ".yml", ".yaml", ".sh", ".qmd",
    ".psyexp", ".pptx",
)  # fmt: skip
"""Suffixes of files that come with results and hold none."""


def _without_strays(
    files: list[SourceFile], paths: Sequence[str | Path], source: str | Reader
) -> tuple[list[SourceFile], list[Message]]:
    """The files of a folder without scripts and notes, and without tables among the files of a tool."""
    if not any(Path(path).is_dir() for path in paths) or len(files) < 2:
        return files, []
    roots = {Path(path) for path in paths}
    planned = _tables_of_studies([file.path for file in files])
    stray = [file for file in files if file.path not in roots and (file.suffix in NO_RESULTS or file.path in planned)]
    results = [file for file in files if file not in stray]
    if planned and not results:
        raise IntakeError(
            f"{listed([str(path) for path in paths])} is the folder of a study and holds no results. Give the file of "
            f"results, and the study with --study. karat export writes the results of a study that karat serve runs."
        )
    if source == "auto" and len(results) > 2:
        readers = Counter(reader_for(file).name for file in results)
        (most, count), *_ = readers.most_common()
        if most != READERS[-1].name and count >= 0.5 * len(results):
            tables = [file for file in results if file.path not in roots and reader_for(file) is READERS[-1]]
            stray, results = stray + tables, [file for file in results if file not in tables]
    if not stray or not results:
        return files, []
    return results, [Message("form.skipped_files", {"n": len(stray), "files": listed([file.name for file in stray])})]


def _stacked(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Tables stacked into one; those without item functions have test items, even beside tables that have functions."""
    if any("function" in frame.columns for frame in frames):
        frames = [f if "function" in f.columns else f.with_columns(function=pl.lit("test")) for f in frames]
    return pl.concat(frames, how="diagonal_relaxed")


def _expanded(paths: Sequence[str | Path]) -> list[Path]:
    """The files that the paths stand for; a folder stands for its files, except those that describe others."""
    files: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(
                p for p in path.rglob("*") if p.is_file() and not p.name.startswith(".") and not _is_memory(p)
            )
            if not inside:
                raise IntakeError(f"The folder {path} is empty.")
            describing = companions(inside)
            files += [p for p in inside if p not in describing]
        elif path.is_file() and path.name.endswith(".toml"):
            raise IntakeError(f"{path} is not a file of results. If it is a study file, use --study {path}.")
        elif path.is_file():
            files.append(path)
        else:
            raise IntakeError(f"There is no file {path}.")
    return files


def _tables_of_studies(files: Sequence[Path]) -> set[Path]:
    """The tables that study files among the files name, and the questionnaires that karat plan wrote."""
    tables: set[Path] = set()
    for path in files:
        if path.suffix != ".toml" or _is_memory(path):
            continue
        try:
            blocks = tomllib.loads(path.read_text(encoding="utf-8")).get("block", [])
            values = [value for block in blocks for value in block.values()]
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, AttributeError, TypeError):
            continue
        lists = (value if isinstance(value, list) else [value] for value in values)
        tables |= {path.parent / str(name) for names in lists for name in names}
        tables |= {path.parent / "plan" / name for name in ("questionnaires.csv", "questionnaires.parquet")}
    return tables & set(files)


def _is_memory(path: Path) -> bool:
    """Whether a file holds the user's answers about another file, which karat remembers."""
    return path.name.endswith(SUFFIX)


def by_reader(files: Sequence[SourceFile], source: str | Reader) -> list[tuple[Reader, list[SourceFile]]]:
    """The readers with their files: one file at a time, or together if a tool spreads a study over several.

    >>> import karat
    >>> [(reader.name, [file.name for file in group])
    ...  for reader, group in by_reader([SourceFile(karat.datasets.path("likert"))], "auto")]
    [('karat', ['likert.parquet'])]
    """
    groups: list[tuple[Reader, list[SourceFile]]] = []
    for file in files:
        if isinstance(source, Reader):
            reader = source
        else:
            reader = reader_for(file) if source == "auto" else reader_named(source)
        mates = next(
            (g for other, g in groups if other is reader and (reader.together or _alike(reader, g, file))), None
        )
        if mates is None:
            groups.append((reader, [file]))
        else:
            mates.append(file)
    return groups


def _alike(reader: Reader, group: Sequence[SourceFile], file: SourceFile) -> bool:
    """Whether a table has the same header as others: a file per participant is not enough on its own."""
    if reader is not READERS[-1] or group[0].suffix != file.suffix:
        return False
    if file.is_json and group[0].is_json:
        keys = [_keys_of(other) for other in (group[0], file)]
        return bool(keys[0]) and keys[0] == keys[1]
    if file.suffix not in DELIMITED:
        return False
    lines = ([*other.sample.lstrip("\ufeff").splitlines(), ""] for other in (group[0], file))
    heads = [next(line.strip() for line in rows if not COMMENT.match(line) or not line) for rows in lines]
    return heads[0] == heads[1] and any(sign in heads[0] for sign in ",;\t ")


def _keys_of(file: SourceFile) -> set[str]:
    """The names in the first object of a JSON file."""
    try:
        first = next(iter(file.json_documents()), (0, None))[1]
    except (IntakeError, UnicodeDecodeError):
        return set()
    return set(first) if isinstance(first, dict) else set()


DELIMITED = (".csv", ".tsv", ".txt", ".tab", ".xpd", ".dat")


def _read(reader: Reader, files: Sequence[SourceFile], options: Options) -> Reading:
    """A file's reading. External readers must pass the test that karat's own readers pass: no unit is lost."""
    reading = reader.read(files, options)
    if reader not in READERS and not reading.is_balanced:
        total = reading.frame.height + sum(reading.set_aside.values()) + reading.bad_units
        raise IntakeError(
            f"The reader {reader.name} accounts for {total:,} of {reading.units_in:,} {reading.unit}: each must become "
            "a judgment, be set apart with a reason, or have a problem."
        )
    # A reader from another package may report its assumptions as text.
    return replace(reading, notes=[as_message(note) for note in reading.notes])


def _with_mapping(reading: Reading, reader: Reader, options: Options) -> Reading:
    """The reading with the user's mapping on top, unless the tool's own reader has already used it."""
    unused = {column: source for column, source in options.mapping.items() if column not in reading.used}
    if reader.maps or not unused or not reading.frame.width:
        return reading
    frame = reading.frame
    refuse_misspelt(unused, frame.columns)
    mapping = dict(unused)
    for column, source in unused.items():
        parts = joined(source, frame.columns)
        absent = next((part for part in parts if part and part not in frame.columns), None)
        if absent is not None:
            close = nearest(absent, frame.columns)
            raise IntakeError(
                f"There is no column {absent} for --map {column}={source}.{f' Is it {close}?' if close else ''} "
                f"The columns are {', '.join(frame.columns)}."
            )
        if len(parts) > 1:
            texts = [text_column(frame[part]).alias(part) for part in parts]
            both = pl.DataFrame(texts).select(pl.concat_str(pl.all(), separator=" + ", ignore_nulls=True))
            filled = both.to_series().replace("", None).alias(f" {column}")
            frame = frame.with_columns(
                filled if column not in frame.columns else filled.fill_null(text_column(frame[column]))
            )
            mapping[column] = f" {column}"
        elif parts:
            mapping[column] = parts[0]
    frame = laid_over(frame, mapping)
    notes = list(reading.notes)
    if options.mapping.get("rt") and "participant" in frame.columns:
        frame, more = in_seconds(frame, options, options.mapping["rt"], "This file")
        notes += more
    return replace(reading, frame=frame, notes=notes)


def _without_names(reading: Reading, reader: Reader, files: Sequence[SourceFile], options: Options) -> Reading:
    """The reading without columns that identify people, unless the user mapped them or karat wrote them."""
    if reader.keeps_names:
        return reading
    tables = [reading.frame] + ([] if reading.participants is None else [reading.participants])
    columns = {name for table in tables for name in table.columns}
    personal = [name for name in sorted(columns) if names_a_person(name) and name not in options.mapping]
    values = {"file": files[0].name, "n": len(personal), "columns": personal}
    notes = [Message("personal.left_out_unless_mapped", values)] if personal else []
    frame, *people = (table.drop(personal, strict=False) for table in tables)
    return replace(reading, frame=frame, participants=people[0] if people else None, notes=[*reading.notes, *notes])


def _without_apart(parts: Sequence[Reading], names: Sequence[str]) -> list[Reading]:
    """The readings without the answers of the participants in `--set-apart`, which are set aside.

    Raise IntakeError if a name matches nobody: it may be misspelt, and the answers would then count.
    """
    readings = list(parts)
    for name in names:
        column, value = selector(name)
        is_known, people = False, []
        for at, part in enumerate(readings):
            if column in part.frame.columns:
                cells = text_column(part.frame[column])
                people += cells.drop_nulls().unique(maintain_order=True).to_list()
                matching = [person for person in people if fnmatchcase(person, value)]
                reason = Message("aside.apart", {"name": name})
                readings[at] = part.without(cells.is_in(matching).fill_null(False), reason)
                is_known = is_known or bool(matching)
        if not is_known:
            close = nearest(value, people)
            hint = f" Is it {close}?" if close else ""
            raise IntakeError(f"--set-apart {name}: no {column} is called {value}.{hint}")
    return readings


def _with_people_apart(parts: Sequence[Reading]) -> list[Reading]:
    """The parts, in which a table with one row per participant of the others describes participants, not answers.

    Proliferate, for example, writes questions about participants into a separate file beside the trials.
    """
    people: set[str | None] = set()
    spellings = ["participant"]
    for part in parts:
        if len(parts) == 1 or not {*REQUIRED} <= set(part.frame.columns):
            continue
        ids = text_column(part.frame["participant"]).unique()
        if 2 * len(ids) <= part.frame.height:
            people |= set(ids)
            spellings += [source for source, role in part.taken.items() if role == "participant"]
    readings = list(parts)
    for at, part in enumerate(parts):
        if {*REQUIRED} <= set(part.frame.columns) and not part.open:
            continue
        roles = {source: role or source for source, role in part.taken.items()}
        for person in (roles.get(name, name) for name in spellings):
            ids = text_column(part.frame[person]) if person in part.frame.columns else pl.Series(dtype=pl.String)
            once = len(ids) > 0 and ids.n_unique() == len(ids) and not ids.null_count()
            if once and 2 * len(people.intersection(ids)) >= len(ids):
                about = part.frame.with_columns(ids)
                names = {role: source for source, role in roles.items() if role in about.columns}
                free = {role: source for role, source in names.items() if source not in about.columns}
                about = about.rename({"participant": "participant_"} | free | {person: "participant"}, strict=False)
                readings[at] = replace(part, frame=pl.DataFrame(), participants=about, open=[], notes=[])
                readings[at].set_apart(Message("aside.descriptions"), len(ids))
                break
    return readings


def _models(judgments: Judgments) -> list[Message]:
    """The note on participants named after language models: they count like people unless set apart."""
    people = judgments.participants["participant"]
    names = people.filter(people.str.contains(MODEL_NAMES)).sort().to_list()
    if not names or len(names) == len(people):
        return []
    return [Message("intake.models", {"n": len(names), "names": listed(names), "flag": ",".join(names)})]


def _submissions(
    judgments: Judgments, groups: Sequence[tuple[Reader, Sequence[SourceFile]]], parts: Sequence[Reading]
) -> list[Message]:
    """The notes on participants that a platform's export lacks or reports as not completed."""
    answering = judgments.frame["participant"].unique()
    return [
        note
        for (reader, _), part in zip(groups, parts, strict=True)
        if reader.discrepancies is not None and part.participants is not None
        for note in reader.discrepancies(answering, part.participants)
    ]


def _respelled(frame: pl.DataFrame, options: Options) -> pl.DataFrame:
    """The answers, also expected ones, as `--answers` respells them."""
    if not options.answers or BEGIN in options.answers:
        return frame
    names = [name for name in ("response", "expected") if name in frame.columns]
    return frame.with_columns(text_column(frame[name]).replace(dict(options.answers)) for name in names)


def _with_functions(frame: pl.DataFrame, options: Options) -> pl.DataFrame:
    """Item functions from `--item-functions`, applied to the column with these values."""
    if not options.functions:
        return frame
    wrong = [function for function in options.functions.values() if function not in FUNCTIONS]
    if wrong:
        raise IntakeError(f"{wrong[0]} is not an item function. The functions are {', '.join(FUNCTIONS)}.")
    for name in [name for name in frame.columns if name not in ("participant", "response", "function")]:
        values = text_column(frame[name]).drop_nulls().unique().to_list()
        by_value = {
            value: function for value in values for pattern, function in list(options.functions.items())[::-1]
            if fnmatchcase(value, pattern)
        }  # fmt: skip
        if by_value:
            before = pl.col("function") if "function" in frame.columns else pl.lit("test")
            functions = text_column(frame[name]).replace_strict(by_value, default=None, return_dtype=pl.String)
            return frame.with_columns(pl.coalesce(functions, before).alias("function"))
    raise IntakeError(f"No column has the values {', '.join(options.functions)} that --item-functions names.")


NO_SENTENCE = r"^[\w.\-|/:+]+$"
OF_NAMES = {
    "filler": "filler", "fillers": "filler", "füller": "filler", "distractor": "filler", "practice": "practice",
    "practise": "practice", "attention": "attention", "attentioncheck": "attention",
}  # fmt: skip
"""Words that can only be an item function in an item's name; train and catch may be what is judged."""
FEWEST_OF_FUNCTION = 2
MOST_OF_FUNCTION = 0.8
FEWEST_EMPTY = 2
"""Columns of the design that are empty for some items only."""


def _no_judgments(files: Sequence[SourceFile], parts: Sequence[Reading]) -> str:
    """The error text for files without judgments: what they hold instead."""
    counts: dict[str, int] = {}
    for part in parts:
        for reason, count in part.set_aside.items():
            counts[render(reason)] = counts.get(render(reason), 0) + count
    names = ", ".join(file.name for file in files)
    contents = ", ".join(f"{what} ({count:,})" for what, count in counts.items())
    text = f"There are no judgments in {names}" + (f", only these lines: {contents}." if contents else ".")
    if any(Message("aside.questionnaire_rows") in part.set_aside for part in parts):
        text += " If some of its questions are ratings, put them in a table with columns participant, item, response."
    return text


def _functions_of_names(
    frame: pl.DataFrame, groups: Sequence[tuple[Reader, Sequence[SourceFile]]], options: Options
) -> tuple[pl.DataFrame, list[Message]]:
    """Item functions from names such as tv_filler_1 beside tv_test_1, if nothing else in the file gives them."""
    if "item" not in frame.columns or "function" in options.mapping or all(r.keeps_names for r, _ in groups):
        return frame, []
    if "function" in frame.columns and set(text_column(frame["function"].unique()).drop_nulls()) - {"test"}:
        return frame, []
    items = text_column(frame["item"])
    names = items.drop_nulls().unique().sort()
    if names.len() < FEWEST_NAMES or not names.str.contains(NO_SENTENCE).all():
        return frame, []
    parts = {name: re.findall(r"[^\W\d_]+|\d+", name.lower()) for name in names}
    by_name = {
        name: OF_NAMES[word] for name, words in parts.items() for word in words[::-1]
        if len(words) > 1 and word in OF_NAMES
    }  # fmt: skip
    if not FEWEST_OF_FUNCTION <= len(by_name) <= MOST_OF_FUNCTION * names.len():
        notes = [] if by_name else _perhaps_fillers(names.to_list())
        marked = items.is_in([name for name in names if notes and name.startswith(notes[0].values["pattern"][:-1])])
        empty = [name for name in frame.columns if (text_column(frame[name]).fill_null("").eq("") == marked).all()]
        if not marked.any() or len(empty) < FEWEST_EMPTY:
            return frame, notes
        # Fillers have no place in the design, so its columns are empty for them alone.
        by_name = dict.fromkeys(items.filter(marked).unique(), "filler")
        examples = [f"{notes[0].values['pattern']}=filler"]
    else:
        examples = [f"{name}={function}" for name, function in list(by_name.items())[:3]]
    functions = items.replace_strict(by_name, default="test", return_dtype=pl.String).alias("function")
    note = Message("role.functions", {"column": "item", "functions": examples})
    return frame.with_columns(functions), [note]


def _perhaps_fillers(names: Sequence[str]) -> list[Message]:
    """The note on items named F.1, F.2 beside others, which may be fillers; F may be short for something else, too.

    >>> _perhaps_fillers([f"{name}.{n}" for name in ("F", "whether") for n in range(9)])[0].values
    {'n': 9, 'item': 'F.0', 'pattern': 'F.*'}
    >>> _perhaps_fillers([f"{name}.{n}" for name in ("F", "M") for n in range(9)])
    []
    >>> _perhaps_fillers([f"{name}.{n}.{kind}" for name, kind in (("F", "UG"), ("S", "IS")) for n in (1, 2)])[0].values
    {'n': 2, 'item': 'F.1.UG', 'pattern': 'F.*'}
    """
    marked = [name for name in names if re.match(r"[Ff][._-]?\d", name)]
    starts = {re.split(r"\d", name)[0] for name in marked}
    others = [name for name in names if name not in marked]
    if len(starts) != 1 or len(marked) < FEWEST_OF_FUNCTION or not others:
        return []
    (start,) = starts
    ends = {re.split(r"\d+", name)[-1] for name in marked}
    single = [name for name in others if not re.match(r"[^\W\d_]{2}", name)]
    # A single letter before a number may be a condition like F, unless its names end in other conditions.
    if any(name.startswith(start) for name in others) or any(re.split(r"\d+", name)[-1] in ends for name in single):
        return []
    return [Message("role.perhaps_fillers", {"n": len(marked), "item": marked[0], "pattern": f"{start}*"})]


def _by_beginning(
    frame: pl.DataFrame, parts: Sequence[Reading], options: Options, request: tuple[str, list[str]]
) -> tuple[pl.DataFrame, list[Message]]:
    """Answers in sentences reduced to their few beginnings; raise ProposalError if nobody confirmed that."""
    if options.scale is not None or "response" not in frame.columns or any(part.scales for part in parts):
        return frame, []
    groups = beginnings(text_column(frame["response"].unique()))
    if groups is None:
        return frame, []
    kinds = sorted(set(groups.values()))
    detail = Message("ask.answers_begin", {"n": len(groups), "beginnings": kinds})
    question = Question("answers", (Proposal({}, detail, {"answers": "begin"}),))
    if BEGIN not in options.answers and not options.accept:
        raise ProposalError(request[0], [question], request[1])
    respelled = text_column(frame["response"]).replace(groups)
    note = [] if BEGIN in options.answers else [Message("role.accepted", {"flags": "--answers begin"})]
    return frame.with_columns(respelled.alias("response"), frame["response"].alias("answer_text")), note


def _scales(
    frame: pl.DataFrame, parts: Sequence[Reading], options: Options, files: Sequence[SourceFile]
) -> tuple[pl.DataFrame, dict[str, Scale], list[Message]]:
    """The scale of each question: from the user, from the source, or guessed from the answers.

    For guessed scales, numbers that stand for a missing answer leave the table.
    """
    questions: list[str] = [""]
    if "question" in frame.columns:
        questions = [name or "" for name in text_column(frame["question"]).unique(maintain_order=True).to_list()]
    scales: dict[str, Scale] = {}
    for part in parts:
        scales |= part.scales or {}
    user_scale = options.scale
    if isinstance(user_scale, Scale):
        scales = dict.fromkeys(questions, user_scale)
    elif user_scale is not None:
        scales |= user_scale
    notes: list[Message] = []
    answers = text_column(frame["response"].unique())
    if not set(questions) <= set(scales) and frame.height and not answers.count():
        raise _no_answers(frame, parts, files)
    for question in questions:
        if question not in scales:
            rows = pl.repeat(True, frame.height, eager=True)
            if "question" in frame.columns:
                rows = text_column(frame["question"]).fill_null("") == question
                answers = text_column(frame["response"].filter(rows).unique())
            if are_rankings(answers):
                of = f" ({question})" if question else ""
                raise several_at_once(files[0].name, f"rankings: each answer puts several options into an order{of}")
            numbers = answers.cast(pl.Float64, strict=False)
            words = answers.filter(numbers.is_in(missing_codes(numbers.drop_nulls()))).sort().to_list()
            if words:
                missing = rows & text_column(frame["response"]).is_in(words).fill_null(False)
                notes.append(Message("table.missing", {"n": int(missing.sum()), "words": words}))
                frame = frame.with_columns(pl.when(~missing).then(text_column(frame["response"])).alias("response"))
            _refuse_two_kinds(answers, frame["response"].filter(rows), question, files[0].name)
            scales[question], note = _guess(frame.filter(rows), question, files[0].name)
            notes.append(note)
    return frame, {question: scales[question] for question in questions}, notes


def _no_answers(frame: pl.DataFrame, parts: Sequence[Reading], files: Sequence[SourceFile]) -> IntakeError:
    """The error if nobody answered and no scale is known: another column may hold the answers."""
    name = next((name for part in parts for name, role in part.taken.items() if role == "response"), "response")
    column = "the column response" if name == "response" else f"the column {name}, taken as response,"
    return IntakeError(
        f"There is no answer in {', '.join(file.name for file in files[:3])}: {column} is empty in all "
        f"{counted(frame.height, 'row')}. Name the column with the answers: --map response=NAME; or, if nobody "
        "answered, on which scale: --scale, such as ordinal:1-5."
    )


FEWEST_POINTS, FEW_OF_A_KIND = 3, 0.05


def _refuse_two_kinds(answers: pl.Series, rows: pl.Series, question: str, file: str) -> None:
    """Raise IntakeError if some answers are scale points and others yes and no: two questions share a column."""
    number = answers.cast(pl.Float64, strict=False).is_not_null()
    words = answers.filter(~number).drop_nulls().sort().to_list()
    if number.sum() < FEWEST_POINTS or binary_of(words) is None:
        return
    answered = text_column(rows).drop_nulls()
    share = answered.is_in(words).sum() / len(answered)
    if not FEW_OF_A_KIND < share < 1 - FEW_OF_A_KIND:
        return
    of = f" to {question}" if question else ""
    raise IntakeError(
        f"In {file}, {1 - share:.0%} of the answers{of} are numbers, and the others are {words[0]} and {words[1]}: two "
        "questions share a column. Name the column that distinguishes them, --map question=NAME, or take the rows of "
        "one of them out of the file."
    )


def _guess(rows: pl.DataFrame, question: str, file: str) -> tuple[Scale, Message]:
    responses = text_column(rows["response"])
    if {"left", "right"} <= set(rows.columns) and rows["left"].null_count() < rows.height:
        sides = rows.select(text_column(rows[name]).alias(name) for name in ("left", "right"))
        names_an_item = (responses == sides["left"]) | (responses == sides["right"])
        if responses.drop_nulls().len() and names_an_item.drop_nulls().all():
            return Choice(), Message("scale.sides")
        _refuse_numbers_of_sides(responses.drop_nulls().unique().to_list(), file)
    expected = text_column(rows["expected"]) if "expected" in rows.columns else None
    scale, note = guess_scale(responses, question, expected)
    if isinstance(scale, Ordinal) and note.code == "scale.points" and are_codes(rows, scale):
        return Nominal(scale.levels), Message("scale.codes", note.values)
    return _of_modulus(rows, scale, question) or (scale, note)


def _of_modulus(rows: pl.DataFrame, scale: Scale, question: str) -> tuple[Scale, Message] | None:
    """A magnitude scale, if a column has the number of the reference and no answer is negative."""
    name = next((name for name in rows.columns if "modulus" in words_of(name)), None)
    numbers = rows["response"].cast(pl.Float64, strict=False).drop_nulls()
    if name is None or not isinstance(scale, Continuous | Magnitude) or not len(numbers) or (numbers < 0).any():
        return None
    references = rows[name].cast(pl.Float64, strict=False).drop_nulls().unique().to_list()
    modulus = references[0] if len(references) == 1 and references[0] > 0 else None
    values = {"question": question or None, "name": name, "modulus": modulus}
    return Magnitude(modulus, zeros=bool((numbers == 0).any())), Message("scale.modulus", values)


def _refuse_numbers_of_sides(words: Sequence[str], file: str) -> None:
    """Raise IntakeError for numbers such as -1 and 1 beside two options: only the user knows which side each means."""
    numbers = {word: number for word in words if (number := as_number(word)) is not None}
    distinct = set(numbers.values())
    low = int(min(distinct, default=0))
    mirrored = 1 < len(distinct) <= MOST_GRADES and distinct == {-number for number in distinct}
    if len(numbers) < len(words) or not (mirrored or distinct in ({0, 1}, {1, 2, 3})):
        return
    names = {-1: "right", 0: "none", 1: "left"} if mirrored else {low: "left", low + 1: "right", low + 2: "none"}
    ordered = sorted(numbers, key=numbers.__getitem__)
    signs = {word: (numbers[word] > 0) - (numbers[word] < 0) if mirrored else int(numbers[word]) for word in ordered}
    sides = [f"{word}={names[signs[word]]}" for word in ordered]
    raise IntakeError(
        f"The answers in {file} are the numbers {', '.join(ordered)}, and two columns hold what was compared. Say "
        f"which side each number means, such as --answers={','.join(sides)}. If the answers are not choices, name "
        "their scale with --scale."
    )


def _settled(
    checked: Checked, scales: Mapping[str, Scale], problems: Problems, skip_bad: bool, files: Sequence[SourceFile]
) -> tuple[Checked, pl.Series | None, int]:
    """A table without problems: unchanged, or without its bad rows at the user's request.

    Returns it, the rows that remain if some do not, and the number of rows that were dropped.
    """
    if not problems:
        return checked, None, 0
    everywhere = any(problem.number is None for problem in problems)
    if not skip_bad or everywhere:
        raise unreadable([file.name for file in files], problems)
    dropped = len(checked.bad_rows)
    good = checked.frame.with_row_index("_row").filter(~pl.col("_row").is_in(list(checked.bad_rows)))
    return check(good.drop("_row"), scales), good["_row"], dropped


def unreadable(files: Sequence[str], problems: Problems) -> IntakeError:
    """The error that names the files and lists their problems."""
    names = ", ".join(dict.fromkeys(files[:3])) + (", ..." if len(files) > 3 else "")
    return IntakeError(
        f"{names} {'is' if len(files) == 1 else 'are'} not readable as judgments:", problems, len(files) > 1
    )


def _participants(parts: Sequence[Reading]) -> pl.DataFrame | None:
    """What the files hold about people, one row each; one file may fill what another leaves empty.

    Files that only describe people come first: a recruitment platform knows best who finished and when.
    """
    parts = sorted(parts, key=lambda part: part.frame.width > 0)
    tables = [part.participants for part in parts if part.participants is not None]
    if not tables:
        return None
    return reduce(filled_up, tables)


def _added(counts: Iterable[Mapping[Message, int]]) -> dict[Message, int]:
    total: dict[Message, int] = {}
    for part in counts:
        for reason, count in part.items():
            total[reason] = total.get(reason, 0) + count
    return total


def _unit(name: str) -> Message:
    """The unit that a reader counts; those of karat's own readers have a word in every language."""
    units = {
        "rows": Message("unit.rows"),
        "cells": Message("unit.cells"),
        "results": Message("unit.results"),
        "answers and rows": Message("unit.answers_and_rows"),
    }
    return units.get(name) or as_message(name)
