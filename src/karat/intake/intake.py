"""From files to judgments: find each file's reader, put the readings together, check them, say what was done."""

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
from karat.intake.cells import chained, filled_up, seconds_of
from karat.intake.content import words_of
from karat.intake.forms import several_at_once
from karat.intake.guess import (
    MODEL_NAMES,
    are_codes,
    are_rankings,
    beginnings,
    binary_of,
    guess_rt_unit,
    guess_scale,
    joined,
    missing_codes,
)
from karat.intake.lacking import lacking, refuse_misspelt, skipped_note
from karat.intake.personal import names_a_person
from karat.intake.readers import READERS, reader_for, reader_named
from karat.intake.readers.prolific import READER as PROLIFIC
from karat.intake.readers.prolific import discrepancies
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
    """Judgments, with the account of how they were read."""

    judgments: Judgments
    sources: tuple[tuple[str, str], ...]
    """Each file and the title of the reader that took it."""
    units_in: int
    unit: str
    set_aside: dict[Message, int]
    """What was not a judgment, by reason."""
    skipped: Problems
    """What could not be read and was left out, because the user said so."""
    skipped_units: int
    notes: tuple[Message, ...]
    locate: Callable[[int], Place] = field(default=frame_row, repr=False, compare=False)
    """Where a row of the judgments comes from."""

    @contextmanager
    def naming_places(self) -> Iterator[None]:
        """What is found wrong with rows of these judgments afterwards, reported with their files and lines.

        Code that lays a study over them knows only the rows of the table.
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
        """What is none of the judgments, as a note: how much of which kind; nothing where all are."""
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
        """What was left out, as a note: how many rows, which, and why; nothing where nothing was."""
        if not self.skipped:
            return ()
        several = len(self.sources) > 1
        return (skipped_note(self.skipped, self.skipped_units, self.units_in, _unit(self.unit), name_files=several),)

    def __str__(self) -> str:
        return "\n".join([*render_all(self.account()), self.judgments.summary()])

    def account(self) -> tuple[Message, ...]:
        """How the files were read: by which readers, what is none of the judgments, and what was assumed."""
        messages = [Message("intake.read", {"file": file, "title": title}) for file, title in self.sources]
        return (*messages, *self.set_aside_notes(), *self.skipped_notes(), *self.notes)

    @property
    def expected(self) -> int:
        """For how many answers a right one is known."""
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
    """Read files of one study, of one or of several sources, as one table of judgments.

    `paths` are files and folders. `source` names the tool, if karat should not find out itself. `options` are what
    `karat.read` takes as arguments. `skip_bad` leaves out rows that cannot be read.

    >>> import karat
    >>> found = read_files([karat.datasets.path("likert")])
    >>> len(found.judgments), found.judgments.scale.known()
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
    asked = Path(paths[0]).name if len(paths) == 1 else files[0].name, [str(path) for path in paths]
    accepted = _confirm(answering, asked, options)
    for part in parts:
        problems.extend(part.problems)
    if not answering:
        raise IntakeError(_no_judgments(files, parts), problems)
    frame = _with_functions(_respelled(_stacked([part.frame for part in answering]), options), options)
    frame, named = _functions_of_names(frame, groups, options)
    accepted += named
    frame, grouped = _by_beginning(frame, answering, options, asked)
    accepted += grouped
    missed = lacking(frame.columns, answering, files[0].name)
    if missed:
        problems.extend(missed)
        raise unreadable([file.name for file in files], problems)
    notes = [*remembered, *skipped, *accepted, *(note for part in parts for note in part.notes)]
    frame, scales, more = _scales(frame, answering, options, files)
    locate = chained([(part.frame.height, part.locate) for part in answering])
    checked = check(frame, scales, locate)
    problems.extend(checked.problems)
    if options.rt_unit or any(note.code in ("rt.named_milliseconds", "rt.milliseconds") for note in notes):
        checked.notes = [note for note in checked.notes if note.code != "rt.long"]  # The unit is known.
    checked, kept, lost = _settled(checked, scales, problems, skip_bad, files)
    judgments = Judgments.from_checked(checked, scales, _participants(parts))
    judgments, parted = _with_item_parts(judgments, groups)
    judgments.frozen = next((part.frozen for part in parts if part.frozen is not None), None)
    if not judgments.frame.height:
        raise IntakeError(_no_judgments(files, parts))
    all_notes = tuple(
        dict.fromkeys([
            *notes, *more, *checked.notes, *parted, *_models(judgments), *_factors(judgments, groups),
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
        locate=locate if kept is None else located(locate, kept),
    )
    # The account lists what was left out in lines of its own; the judgments alone have only their notes.
    judgments.notes = (*all_notes, *intake.set_aside_notes(), *intake.skipped_notes())
    return intake


MOST_LOOKED_AT = 200_000
MOST_GRADES = 11
"""More numbers around zero are of a slider between two sides."""


PART_SIGNS = ("-", "_", ".", "|", "/")
FEWEST_NAMES = 8
MOST_PART_LEVELS = 12
MOST_PARTS = 2
FEWEST_WORDS = 3
"""Names of this many words are sentences, not codes made of parts."""


def _with_item_parts(
    judgments: Judgments, groups: Sequence[tuple[Reader, Sequence[SourceFile]]]
) -> tuple[Judgments, list[Message]]:
    """The first parts of the items' names as columns, where no column is a factor and all names are built alike."""
    frame = judgments.frame
    if all(reader.keeps_names for reader, _ in groups) or frame.height > MOST_LOOKED_AT or "left" in frame.columns:
        return judgments, []
    names = sorted(frame.filter(pl.col("function") == "test")["item"].unique().to_list())
    pattern, places = _parts_of(names) if len(names) >= FEWEST_NAMES else ("", [])
    if not places or judgments.factors():
        return judgments, []
    own = {f"item_part_{at}": pl.col("item").str.extract(pattern, at) for at in places[:MOST_PARTS]}
    parts = [pl.when(pl.col("function") == "test").then(part).alias(name) for name, part in own.items()]
    made = Judgments.from_checked(
        Checked(frame.with_columns(parts), notes=list(judgments.notes)), judgments.scales, judgments.participants
    )
    return made, [Message("intake.item_parts", {"item": names[0], "n": len(own), "columns": list(own)})]


def _parts_of(names: Sequence[str]) -> tuple[str, list[int]]:
    """The pattern of which all names are, and those of its groups whose words come again.

    Parts have a sign between them, or are a number and the letter of a condition.

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
        rows = [re.match(pattern, name) for name in names]
        found = []
        for at, values in enumerate(zip(*(row.groups() for row in rows if row), strict=True), 1):
            counts = Counter(values)
            again = min(counts.values()) > 1 and 1 < len(counts) <= MOST_PART_LEVELS
            if again and all(re.search(r"[^\W\d_]", value) for value in counts):
                found.append(at)
        if found and all(rows):
            return pattern, found
    return "", []


def _factors(judgments: Judgments, groups: Sequence[tuple[Reader, Sequence[SourceFile]]]) -> list[Message]:
    """The note on the factors of the design, where the file and not karat says what they are."""
    if all(reader.keeps_names for reader, _ in groups) or judgments.frame.height > MOST_LOOKED_AT:
        return []
    found = judgments.factors()
    return [Message("intake.factors", {"n": len(found), "names": found, "flag": ",".join(found)})] if found else []


def _confirm(parts: Sequence[Reading], asked: tuple[str, list[str]], options: Options) -> list[Message]:
    """ProposalError where a reading rests on proposals that nobody confirmed; else the note on what was accepted.

    `asked` is the name of what is read, and the paths as they were given.
    """
    questions = [question for part in parts for question in part.open]
    whole = all(set(REQUIRED) - {"item"} <= set(part.frame.columns) for part in parts)
    if not questions or not whole:
        return []
    if not options.accept or any(question.by_name for question in questions):
        raise ProposalError(asked[0], questions, asked[1])
    flags = [flag for question in questions for flag in question.choices[0].flags]
    return [Message("role.accepted", {"flags": " ".join(flags)})]


def _files(paths: Sequence[str | Path], encoding: str | None) -> list[SourceFile]:
    """The files to read; those that share a name are distinguished by their folders."""
    found = _expanded(paths)
    names = Counter(path.name for path in found)
    labels = [str(Path(*path.parts[-2:])) if names[path.name] > 1 else path.name for path in found]
    return [SourceFile(path, encoding, label=label) for path, label in zip(found, labels, strict=True)]


NO_RESULTS = (
    ".r", ".rmd", ".py", ".ipynb", ".md", ".html", ".htm", ".js", ".css", ".png", ".jpg", ".jpeg", ".svg", ".gif",
    ".pdf", ".docx", ".doc", ".tex", ".rds", ".rdata", ".log", ".toml", ".yml", ".yaml", ".sh", ".qmd",
    ".psyexp", ".pptx",
)  # fmt: skip
"""Endings of files that lie among results and hold none."""


def _without_strays(
    files: list[SourceFile], paths: Sequence[str | Path], source: str | Reader
) -> tuple[list[SourceFile], list[Message]]:
    """The files of a folder without scripts and notes, and without tables among the files of one tool."""
    if not any(Path(path).is_dir() for path in paths) or len(files) < 2:
        return files, []
    named = {Path(path) for path in paths}
    planned = _tables_of_studies([file.path for file in files])
    stray = [file for file in files if file.path not in named and (file.suffix in NO_RESULTS or file.path in planned)]
    kept = [file for file in files if file not in stray]
    if planned and not kept:
        raise IntakeError(
            f"{listed([str(path) for path in paths])} is the folder of a study and holds no results. Give the file of "
            f"results, and the study with --study. karat export writes the results of a study that karat serve runs."
        )
    if source == "auto" and len(kept) > 2:
        readers = Counter(reader_for(file).name for file in kept)
        (most, count), *_ = readers.most_common()
        if most != READERS[-1].name and count >= 0.5 * len(kept):
            more = [file for file in kept if file.path not in named and reader_for(file) is READERS[-1]]
            stray, kept = stray + more, [file for file in kept if file not in more]
    if not stray or not kept:
        return files, []
    return kept, [Message("form.skipped_files", {"n": len(stray), "files": listed([file.name for file in stray])})]


def _stacked(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Tables below each other; one without item functions has test items, also beside one that has them."""
    if any("function" in frame.columns for frame in frames):
        frames = [f if "function" in f.columns else f.with_columns(function=pl.lit("test")) for f in frames]
    return pl.concat(frames, how="diagonal_relaxed")


def _expanded(paths: Sequence[str | Path]) -> list[Path]:
    """The files that the paths name; a folder stands for the files in it, but for those that describe others."""
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(
                p for p in path.rglob("*") if p.is_file() and not p.name.startswith(".") and not _is_kept(p)
            )
            if not inside:
                raise IntakeError(f"The folder {path} is empty.")
            describing = companions(inside)
            found += [p for p in inside if p not in describing]
        elif path.is_file() and path.name.endswith(".toml"):
            raise IntakeError(f"{path} is not a file of results. If it is a study file, use --study {path}.")
        elif path.is_file():
            found.append(path)
        else:
            raise IntakeError(f"There is no file {path}.")
    return found


def _tables_of_studies(files: Sequence[Path]) -> set[Path]:
    """The tables that study files among the files name, and the questionnaires that karat plan wrote."""
    named: set[Path] = set()
    for path in files:
        if path.suffix != ".toml" or _is_kept(path):
            continue
        try:
            blocks = tomllib.loads(path.read_text(encoding="utf-8")).get("block", [])
            values = [value for block in blocks for value in block.values()]
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, AttributeError, TypeError):
            continue
        named |= {path.parent / str(name) for one in values for name in (one if isinstance(one, list) else [one])}
        named |= {path.parent / "plan" / name for name in ("questionnaires.csv", "questionnaires.parquet")}
    return named & set(files)


def _is_kept(path: Path) -> bool:
    """Whether a file holds answers that karat has kept about another."""
    return path.name.endswith(SUFFIX)


def by_reader(files: Sequence[SourceFile], source: str | Reader) -> list[tuple[Reader, list[SourceFile]]]:
    """The readers with their files: one at a time, or together where a tool spreads a study over several.

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
    """Whether a table has the header of others: one file per participant says little by itself."""
    if reader is not READERS[-1] or group[0].suffix != file.suffix:
        return False
    if file.is_json and group[0].is_json:
        keys = [_keys_of(one) for one in (group[0], file)]
        return bool(keys[0]) and keys[0] == keys[1]
    if file.suffix not in DELIMITED:
        return False
    lines = ([*one.sample.lstrip("\ufeff").splitlines(), ""] for one in (group[0], file))
    heads = [next(line.strip() for line in own if not COMMENT.match(line) or not line) for own in lines]
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
    """What a reader found. One from elsewhere is held to what karat's own are tested for: no unit is lost."""
    reading = reader.read(files, options)
    if reader not in READERS and not reading.is_balanced:
        total = reading.frame.height + sum(reading.set_aside.values()) + reading.bad_units
        raise IntakeError(
            f"The reader {reader.name} accounts for {total:,} of {reading.units_in:,} {reading.unit}: each must become "
            "a judgment, be set apart with a reason, or have a problem."
        )
    # A reader of another package may have said what it assumed in words.
    return replace(reading, notes=[as_message(note) for note in reading.notes])


def _with_mapping(reading: Reading, reader: Reader, options: Options) -> Reading:
    """The user's mapping on top of what a tool's own reader found, unless the reader has used it already."""
    given = {column: source for column, source in options.mapping.items() if column not in reading.used}
    if reader.maps or not given or not reading.frame.width:
        return reading
    frame = reading.frame
    refuse_misspelt(given, frame.columns)
    mapping = dict(given)
    for column, source in given.items():
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
        unit: str | None = options.rt_unit
        if unit is None:
            numbers = frame["rt"].cast(pl.Float64, strict=False)
            unit, note = guess_rt_unit(numbers, frame["participant"], options.mapping["rt"], "This file")
            notes += [] if note is None else [note]
        frame = frame.with_columns(seconds_of(frame["rt"]).alias("rt")) if unit == "ms" else frame
    return replace(reading, frame=frame, notes=notes)


def _without_names(reading: Reading, reader: Reader, files: Sequence[SourceFile], options: Options) -> Reading:
    """The reading without columns that name people, unless the user mapped them or karat wrote them."""
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
    """The readings without the answers of the participants that `--set-apart` names, which are set aside.

    IntakeError where a name is nobody's: it may be misspelt, and then their answers would count.
    """
    kept = list(parts)
    for name in names:
        column, value = selector(name)
        found, there = False, []
        for at, part in enumerate(kept):
            if column in part.frame.columns:
                cells = text_column(part.frame[column])
                there += cells.drop_nulls().unique(maintain_order=True).to_list()
                meant = [one for one in there if fnmatchcase(one, value)]
                kept[at] = part.without(cells.is_in(meant).fill_null(False), Message("aside.apart", {"name": name}))
                found = found or bool(meant)
        if not found:
            close = nearest(value, there)
            hint = f" Is it {close}?" if close else ""
            raise IntakeError(f"--set-apart {name}: no {column} is called {value}.{hint}")
    return kept


def _with_people_apart(parts: Sequence[Reading]) -> list[Reading]:
    """The parts, where a table with one row for each of the participants of others describes these and is no answers.

    Proliferate, for example, writes what was asked about participants into a file beside that of the trials.
    """
    people: set[str | None] = set()
    called = ["participant"]
    for part in parts:
        if len(parts) == 1 or not {*REQUIRED} <= set(part.frame.columns):
            continue
        own = text_column(part.frame["participant"]).unique()
        if 2 * len(own) <= part.frame.height:
            people |= set(own)
            called += [theirs for theirs, ours in part.taken.items() if ours == "participant"]
    kept = list(parts)
    for at, part in enumerate(parts):
        if {*REQUIRED} <= set(part.frame.columns) and not part.open:
            continue
        known = {theirs: ours or theirs for theirs, ours in part.taken.items()}
        for named in (known.get(name, name) for name in called):
            own = text_column(part.frame[named]) if named in part.frame.columns else pl.Series(dtype=pl.String)
            once = len(own) > 0 and own.n_unique() == len(own) and not own.null_count()
            if once and 2 * len(people.intersection(own)) >= len(own):
                about = part.frame.with_columns(own)
                names = {ours: theirs for theirs, ours in known.items() if ours in about.columns}
                free = {ours: theirs for ours, theirs in names.items() if theirs not in about.columns}
                about = about.rename({"participant": "participant_"} | free | {named: "participant"}, strict=False)
                kept[at] = replace(part, frame=pl.DataFrame(), participants=about, open=[], notes=[])
                kept[at].set_apart(Message("aside.descriptions"), len(own))
                break
    return kept


def _models(judgments: Judgments) -> list[Message]:
    """The note on participants that are called after language models: they count like people unless set apart."""
    people = judgments.participants["participant"]
    names = people.filter(people.str.contains(MODEL_NAMES)).sort().to_list()
    if not names or len(names) == len(people):
        return []
    return [Message("intake.models", {"n": len(names), "names": listed(names), "flag": ",".join(names)})]


def _submissions(
    judgments: Judgments, groups: Sequence[tuple[Reader, Sequence[SourceFile]]], parts: Sequence[Reading]
) -> list[Message]:
    """The note on participants whose submissions are missing from Prolific's export or were not completed."""
    answering = judgments.frame["participant"].unique()
    exports = [part.participants for (reader, _), part in zip(groups, parts, strict=True) if reader is PROLIFIC]
    return [note for people in exports if people is not None for note in discrepancies(answering, people)]


def _respelled(frame: pl.DataFrame, options: Options) -> pl.DataFrame:
    """The answers as `--answers` respells them, expected ones too."""
    if not options.answers or BEGIN in options.answers:
        return frame
    names = [name for name in ("response", "expected") if name in frame.columns]
    return frame.with_columns(text_column(frame[name]).replace(dict(options.answers)) for name in names)


def _with_functions(frame: pl.DataFrame, options: Options) -> pl.DataFrame:
    """Item functions as `--item-functions` names them: by the values of the column that has these values."""
    if not options.functions:
        return frame
    wrong = [function for function in options.functions.values() if function not in FUNCTIONS]
    if wrong:
        raise IntakeError(f"{wrong[0]} is not an item function. The functions are {', '.join(FUNCTIONS)}.")
    for name in [name for name in frame.columns if name not in ("participant", "response", "function")]:
        values = text_column(frame[name]).drop_nulls().unique().to_list()
        known = {
            value: function for value in values for pattern, function in list(options.functions.items())[::-1]
            if fnmatchcase(value, pattern)
        }  # fmt: skip
        if known:
            before = pl.col("function") if "function" in frame.columns else pl.lit("test")
            functions = (
                text_column(frame[name]).replace_strict(known, default=None, return_dtype=pl.String).alias(" stated")
            )
            return (
                frame.with_columns(functions)
                .with_columns(pl.coalesce(" stated", before).alias("function"))
                .drop(" stated")
            )
    raise IntakeError(f"No column has the values {', '.join(options.functions)} that --item-functions names.")


NO_SENTENCE = r"^[\w.\-|/:+]+$"
OF_NAMES = {
    "filler": "filler", "fillers": "filler", "füller": "filler", "distractor": "filler", "practice": "practice",
    "practise": "practice", "attention": "attention", "attentioncheck": "attention",
}  # fmt: skip
"""Words that mean nothing but an item function in the name of an item; train and catch may be what is judged."""
FEWEST_OF_FUNCTION = 2
MOST_OF_FUNCTION = 0.8


def _no_judgments(files: Sequence[SourceFile], parts: Sequence[Reading]) -> str:
    """What is said where a file holds nothing that is a judgment: what it holds instead."""
    held: dict[str, int] = {}
    for part in parts:
        for reason, count in part.set_aside.items():
            held[render(reason)] = held.get(render(reason), 0) + count
    names = ", ".join(file.name for file in files)
    found = ", ".join(f"{what} ({count:,})" for what, count in held.items())
    text = f"There are no judgments in {names}" + (f", only these lines: {found}." if found else ".")
    if any(Message("aside.questionnaire_rows") in part.set_aside for part in parts):
        text += " If some of its questions are ratings, put them in a table with columns participant, item, response."
    return text


def _functions_of_names(
    frame: pl.DataFrame, groups: Sequence[tuple[Reader, Sequence[SourceFile]]], options: Options
) -> tuple[pl.DataFrame, list[Message]]:
    """Item functions by names such as tv_filler_1 beside tv_test_1, where nothing else in the file says them."""
    if "item" not in frame.columns or "function" in options.mapping or all(r.keeps_names for r, _ in groups):
        return frame, []
    if "function" in frame.columns and set(text_column(frame["function"].unique()).drop_nulls()) - {"test"}:
        return frame, []
    items = text_column(frame["item"])
    names = items.drop_nulls().unique().sort()
    if names.len() < FEWEST_NAMES or not names.str.contains(NO_SENTENCE).all():
        return frame, []
    parts = {name: re.findall(r"[^\W\d_]+|\d+", name.lower()) for name in names}
    known = {
        name: OF_NAMES[word] for name, words in parts.items() for word in words[::-1]
        if len(words) > 1 and word in OF_NAMES
    }  # fmt: skip
    if not FEWEST_OF_FUNCTION <= len(known) <= MOST_OF_FUNCTION * names.len():
        return frame, [] if known else _perhaps_fillers(names.to_list())
    shown = [f"{name}={function}" for name, function in list(known.items())[:3]]
    functions = items.replace_strict(known, default="test", return_dtype=pl.String).alias("function")
    note = Message("role.functions", {"column": "item", "functions": shown})
    return frame.with_columns(functions), [note]


def _perhaps_fillers(names: Sequence[str]) -> list[Message]:
    """The note on items named F.1, F.2 beside others, which may be fillers; F may be short for something else, too.

    >>> _perhaps_fillers([f"{name}.{n}" for name in ("F", "whether") for n in range(9)])[0].values
    {'n': 9, 'item': 'F.0', 'pattern': 'F.*'}
    >>> _perhaps_fillers([f"{name}.{n}" for name in ("F", "M") for n in range(9)])
    []
    """
    marked = [name for name in names if re.match(r"[Ff][._-]?\d", name)]
    starts = {re.split(r"\d", name)[0] for name in marked}
    others = [name for name in names if name not in marked]
    if len(starts) != 1 or len(marked) < FEWEST_OF_FUNCTION or not others:
        return []
    (start,) = starts
    if any(name.startswith(start) or not re.match(r"[^\W\d_]{2}", name) for name in others):
        return []
    return [Message("role.perhaps_fillers", {"n": len(marked), "item": marked[0], "pattern": f"{start}*"})]


def _by_beginning(
    frame: pl.DataFrame, parts: Sequence[Reading], options: Options, asked: tuple[str, list[str]]
) -> tuple[pl.DataFrame, list[Message]]:
    """Answers that are sentences, as the few ways in which they begin; ProposalError where nobody confirmed that."""
    if options.scale is not None or "response" not in frame.columns or any(part.scales for part in parts):
        return frame, []
    groups = beginnings(text_column(frame["response"].unique()))
    if groups is None:
        return frame, []
    kinds = sorted(set(groups.values()))
    detail = Message("ask.answers_begin", {"n": len(groups), "beginnings": kinds})
    question = Question("answers", (Proposal({}, detail, {"answers": "begin"}),))
    if BEGIN not in options.answers and not options.accept:
        raise ProposalError(asked[0], [question], asked[1])
    respelled = text_column(frame["response"]).replace(groups)
    note = [] if BEGIN in options.answers else [Message("role.accepted", {"flags": "--answers begin"})]
    return frame.with_columns(respelled.alias("response"), frame["response"].alias("answer_text")), note


def _scales(
    frame: pl.DataFrame, parts: Sequence[Reading], options: Options, files: Sequence[SourceFile]
) -> tuple[pl.DataFrame, dict[str, Scale], list[Message]]:
    """The scale of each question: given by the user, by the source, or guessed from the answers.

    Where it is guessed, numbers that stand for no answer leave the table.
    """
    questions: list[str] = [""]
    if "question" in frame.columns:
        questions = [name or "" for name in text_column(frame["question"]).unique(maintain_order=True).to_list()]
    known: dict[str, Scale] = {}
    for part in parts:
        known |= part.scales or {}
    stated_scale = options.scale
    if isinstance(stated_scale, Scale):
        known = dict.fromkeys(questions, stated_scale)
    elif stated_scale is not None:
        known |= stated_scale
    notes: list[Message] = []
    answers = text_column(frame["response"].unique())
    if not set(questions) <= set(known) and frame.height and not answers.count():
        raise _silence(frame, parts, files)
    for question in questions:
        if question not in known:
            asked = pl.repeat(True, frame.height, eager=True)
            if "question" in frame.columns:
                asked = text_column(frame["question"]).fill_null("") == question
                answers = text_column(frame["response"].filter(asked).unique())
            if are_rankings(answers):
                of = f" ({question})" if question else ""
                raise several_at_once(files[0].name, f"rankings: each answer puts several options into an order{of}")
            numbers = answers.cast(pl.Float64, strict=False)
            words = answers.filter(numbers.is_in(missing_codes(numbers.drop_nulls()))).sort().to_list()
            if words:
                gone = asked & text_column(frame["response"]).is_in(words).fill_null(False)
                notes.append(Message("table.missing", {"n": int(gone.sum()), "words": words}))
                frame = frame.with_columns(pl.when(~gone).then(text_column(frame["response"])).alias("response"))
            _refuse_two_kinds(answers, frame["response"].filter(asked), question, files[0].name)
            known[question], note = _guess(frame.filter(asked), question, files[0].name)
            notes.append(note)
    return frame, {question: known[question] for question in questions}, notes


def _silence(frame: pl.DataFrame, parts: Sequence[Reading], files: Sequence[SourceFile]) -> IntakeError:
    """The error where nobody answered and no scale is known: then another column may hold the answers."""
    own = [name for part in parts for name, ours in part.taken.items() if ours == "response"]
    column = f"the column {own[0]}, taken as response," if own and own[0] != "response" else "the column response"
    return IntakeError(
        f"There is no answer in {', '.join(file.name for file in files[:3])}: {column} is empty in all "
        f"{counted(frame.height, 'row')}. Name the column with the answers: --map response=NAME; or, if nobody "
        "answered, on which scale: --scale, such as ordinal:1-5."
    )


FEWEST_POINTS, FEW_OF_A_KIND = 3, 0.05


def _refuse_two_kinds(answers: pl.Series, rows: pl.Series, question: str, file: str) -> None:
    """IntakeError where some answers are points of a scale and others yes and no: two questions share a column."""
    number = answers.cast(pl.Float64, strict=False).is_not_null()
    words = answers.filter(~number).drop_nulls().sort().to_list()
    if number.sum() < FEWEST_POINTS or binary_of(words) is None:
        return
    given = text_column(rows).drop_nulls()
    share = given.is_in(words).sum() / len(given)
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
    """Magnitudes, where a column has the number of the reference beside numbers that are not negative."""
    name = next((name for name in rows.columns if "modulus" in words_of(name)), None)
    numbers = rows["response"].cast(pl.Float64, strict=False).drop_nulls()
    if name is None or not isinstance(scale, Continuous | Magnitude) or not len(numbers) or (numbers < 0).any():
        return None
    known = rows[name].cast(pl.Float64, strict=False).drop_nulls().unique().to_list()
    modulus = known[0] if len(known) == 1 and known[0] > 0 else None
    values = {"question": question or None, "name": name, "modulus": modulus}
    return Magnitude(modulus, zeros=bool((numbers == 0).any())), Message("scale.modulus", values)


def _refuse_numbers_of_sides(words: Sequence[str], file: str) -> None:
    """Numbers such as -1 and 1 beside what was shown on either side: only the user knows which side each means."""
    numbers = {word: number for word in words if (number := as_number(word)) is not None}
    known = set(numbers.values())
    low = int(min(known, default=0))
    mirrored = 1 < len(known) <= MOST_GRADES and known == {-number for number in known}
    if len(numbers) < len(words) or not (mirrored or known in ({0, 1}, {1, 2, 3})):
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
    """A table without problems: as it is, or without its bad rows where the user wants them left out.

    Returns it, which rows were kept if not all were, and how many were not.
    """
    if not problems:
        return checked, None, 0
    everywhere = any(problem.number is None for problem in problems)
    if not skip_bad or everywhere:
        raise unreadable([file.name for file in files], problems)
    lost = len(checked.bad_rows)
    kept = checked.frame.with_row_index("_row").filter(~pl.col("_row").is_in(list(checked.bad_rows)))
    return check(kept.drop("_row"), scales), kept["_row"], lost


def unreadable(files: Sequence[str], problems: Problems) -> IntakeError:
    """The error that names the files and lists what is wrong with them."""
    names = ", ".join(dict.fromkeys(files[:3])) + (", ..." if len(files) > 3 else "")
    return IntakeError(
        f"{names} {'is' if len(files) == 1 else 'are'} not readable as judgments:", problems, len(files) > 1
    )


def _participants(parts: Sequence[Reading]) -> pl.DataFrame | None:
    """What the files say of people, one row each; what one file leaves empty another may fill.

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
    """What is counted in the files of a reader; those of karat have a word for it in every language."""
    known = {
        "rows": Message("unit.rows"),
        "cells": Message("unit.cells"),
        "results": Message("unit.results"),
        "answers and rows": Message("unit.answers_and_rows"),
    }
    return known.get(name) or as_message(name)
