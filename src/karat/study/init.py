"""A study to begin with: a complete small example for every task, or a study made from a table of sentence pairs."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from karat.errors import KaratError, Problems, ProblemsError, counted
from karat.judgments.tables import FileTable, read_table
from karat.study.file import NAME
from karat.study.items import plain, table_file
from karat.study.setting_base import meant
from karat.study.tasks import AROUND_MINUTES, TASKS, instead_of

TEMPLATES: Mapping[str, str] = {
    "likert": "ratings on a scale of points; two factors, sentences made from templates and a lexicon",
    "yes-no": "natural or not; one factor",
    "choice": "which of two conditions sounds better; two factors, one of them compared",
    "pairs": "which sentence of a pair sounds better; each pair a contrast of its own",
    "magnitude": "numbers relative to a measure; one factor",
    "differential": "ratings on pairs of adjectives; each participant judges some of the sentences",
    "label": "one of several categories; one factor",
    "norming": "the separate study that verifies control sentences",
    "antonyms": "the pre-study of a differential: which pairs of adjectives suit the texts",
}
"""The studies that can be written, and what each is."""
LANGUAGES = ("en", "de")
SENTENCES = (
    ("acceptable", "less_acceptable"),
    ("sentence", "sentence_2"),
    ("sentence_1", "sentence_2"),
    ("good", "bad"),
    ("grammatical", "ungrammatical"),
    ("a", "b"),
)
"""Names of the two columns of a table of pairs, the better sentence first where one is better."""
IDS = ("pair", "pair_id", "item", "id")


class PairsError(ProblemsError):
    """A table of sentence pairs that cannot be made into a study."""


class StudyExistsError(KaratError, FileExistsError):
    """A study that would be written over another one."""


def write_study(folder: str | Path, task: str, language: str = "en") -> list[Path]:
    """Write a complete small study to a folder; nothing that is there already is overwritten.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_study(folder, "yes-no")]
    ['study.toml', 'items.csv']
    """
    return _written(Path(folder), {file.name: file.read_bytes() for file in _template(task, language)})


def study_from_pairs(pairs: str | Path, folder: str | Path, language: str = "en") -> list[Path]:
    """Make a study from a table with two columns of sentences: every pair is shown once, the better one is chosen.

    Calibration, control and attention pairs, texts and screening rules come with it. Sentences are taken over as they
    are: what may be wrong with them is for the check to say.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = Path(folder) / "sentences.csv"
    ...     _ = table.write_text("good,bad\\nIt rained.,Rained it.\\n")
    ...     [path.name for path in study_from_pairs(table, Path(folder) / "study")]
    ['study.toml', 'items.csv', 'fillers.csv']
    """
    contents = {file.name: file.read_bytes() for file in _template("pairs", language)}
    rows = _pairs(Path(pairs))
    extra = contents["fillers.csv"].decode().count("\n") - 1
    contents["items.csv"] = _items(rows)
    contents[NAME] = _about_pairs(contents[NAME].decode(), Path(pairs), len(rows), extra).encode()
    return _written(Path(folder), contents)


def _instead(task: str) -> str:
    """The example study to take in place of one that does not exist."""
    return instead_of(task) or meant(task, list(TEMPLATES))


def _template(task: str, language: str) -> Sequence[Traversable]:
    """The files of a template, the study file first."""
    if task not in TEMPLATES:
        raise KaratError(f"There is no example study for the task {task}. {_instead(task)}")
    if language not in LANGUAGES:
        known = " and ".join(LANGUAGES)
        raise KaratError(f"There are example studies in {known}, not in {language}. Take one and translate its texts.")
    folder = files("karat.study") / "templates" / task / language
    return sorted(folder.iterdir(), key=lambda file: (file.name != NAME, _PLACES.get(file.name, 0), file.name))


_PLACES = {"fillers.csv": 1}
"""Files that are listed after those with the test items."""


def _written(folder: Path, contents: Mapping[str, bytes]) -> list[Path]:
    """Write all files or, where one of them is there already, none."""
    paths = [folder / name for name in contents]
    there = [path for path in paths if path.exists()]
    if there:
        raise StudyExistsError(
            f"{there[0]} is there already, and nothing is overwritten. Choose another folder, or remove what is in it."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in zip(paths, contents.values(), strict=True):
            with path.open("xb") as file:
                file.write(content)
    except OSError as error:
        raise KaratError(f"{folder} cannot be written: {error.strerror or error}.") from None
    return paths


def _pairs(path: Path) -> list[tuple[str, str, str]]:
    """The pairs of a table: a name and two sentences each."""
    if not path.is_file():
        raise KaratError(f"There is no file {path}. Give a CSV file or a spreadsheet with two columns of sentences.")
    table = read_table(table_file(path))
    columns = {plain(name): name for name in table.frame.columns}
    found = next(((columns[a], columns[b]) for a, b in SENTENCES if a in columns and b in columns), None)
    if found is None:
        known = ", ".join(f"{a} and {b}" for a, b in SENTENCES)
        raise PairsError(
            f"{path.name}: which columns are the sentences? There are {', '.join(table.frame.columns)}. "
            f"Name them as one of these: {known}."
        )
    problems = Problems()
    problems.extend(table.problems)
    for column in found:
        for row in table.frame[column].is_null().arg_true().to_list():
            _, place, line = table.locate(row)
            problems.add("is empty", "A pair needs two sentences.", column=column, place=place, number=line)
    names = _names(table, columns, problems)
    if not names and not problems:
        raise PairsError(f"{path.name} has no pairs.")
    if problems:
        raise PairsError(f"{path.name} is not readable as sentence pairs:", problems)
    return list(zip(names, table.frame[found[0]].to_list(), table.frame[found[1]].to_list(), strict=True))


def _names(table: FileTable, columns: Mapping[str, str], problems: Problems) -> list[str]:
    """A name for each pair: what a column says, else a number."""
    column = next((columns[name] for name in IDS if name in columns), None)
    width = len(str(table.frame.height))
    if column is None:
        return [f"{number:0{width}}" for number in range(1, table.frame.height + 1)]
    names = table.frame[column]
    for mask, what, mend in (
        (names.is_null(), "is empty", "Give every pair a name, or leave out the column."),
        (names.is_duplicated() & names.is_not_null(), "is there twice", "Give every pair a name of its own."),
    ):
        for row in mask.arg_true().to_list():
            _, place, line = table.locate(row)
            problems.add(what, mend, column=column, value=names[row], place=place, number=line)
    return [(name or "").zfill(width) if (name or "").isdigit() else name or "" for name in names.to_list()]


def _items(pairs: Sequence[tuple[str, str, str]]) -> bytes:
    """The item table: two rows a pair."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["item", "function", "pair", "sentence"])
    for name, first, second in pairs:
        # A letter in front keeps names of pairs apart from those of the fillers, whatever the table calls them.
        writer.writerow([f"t{name}a", "test", f"t{name}", first])
        writer.writerow([f"t{name}b", "test", f"t{name}", second])
    return text.getvalue().encode()


def _about_pairs(text: str, source: Path, pairs: int, extra: int) -> str:
    """The study file of the template with the head, the title and the duration of these pairs."""
    german = 'language = "de"' in text
    minutes = math.ceil((pairs + extra) * TASKS["choice"].seconds / 60) + int(AROUND_MINUTES)
    # What a file is called may have quotation marks and line breaks, which would end the text of the title.
    table, title = (re.sub(r"[^\w .,()+-]", " ", name).strip() for name in (source.name, source.stem.replace("_", " ")))
    about = f"{title or 'pairs'}: {f'{pairs} Paare' if german else counted(pairs, 'pair')}"
    made = (
        f"# Von `karat init --from-pairs` aus {table} gemacht. Die Paare in fillers.csv sind Beispiele."
        if german
        else f"# Made by `karat init --from-pairs` from {table}. The pairs in fillers.csv are examples."
    )
    for pattern, new in (
        (r"^# .*`karat check`.*$", made),
        (r"^title( *)= .*$", rf'title\1= "{about}"'),
        (r"^minutes( *)= \S+", rf"minutes\1= {minutes}"),
    ):
        text = re.sub(pattern, new, text, count=1, flags=re.MULTILINE)
    return text
