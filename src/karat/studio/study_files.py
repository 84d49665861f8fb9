"""The editing of a study folder: the study file with its comments, the tables, and a history of every save.

A page sends its changes with the values before them. Changes by others to other keys stay; if somebody else changed the
same key or table, nothing is written until the researcher has chosen. Every save copies the changed files to
`history/`, in a folder named after the moment (UTC).
"""

import csv
import hashlib
import io
import os
import secrets
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import tomlkit
from pydantic import BaseModel, Field
from tomlkit.items import AoT, InlineTable, String, StringType, Trivia
from tomlkit.items import Table as TomlTable

from karat.errors import KaratError
from karat.studio.folder import StudioError, place_of
from karat.study.setting_base import NAME

HISTORY = "history"
MOST_ROWS = 100_000
MOST_COLUMNS = 200
TABLE_KEYS = ("items", "templates", "lexicon", "questions")
"""The keys of a block that name tables."""
MOMENT = "%Y%m%d-%H%M%S"
LOCKED = (
    "The screening rules were frozen when the study started ({when}). Participants were promised these rules, so they "
    "stay. To try others, copy the study and change the copy."
)
Cell = Annotated[str, Field(max_length=100_000)]


class KeyChange(BaseModel, extra="forbid", frozen=True):
    """One changed key of the study file: its path, its value on the page before, and its new value."""

    path: list[str | int] = Field(min_length=1, max_length=8)
    before: Any = None
    after: Any = None


class TableEdit(BaseModel, extra="forbid", frozen=True):
    """A table of the page, and the version of the file with which it began."""

    version: str = ""
    columns: list[Cell] = Field(min_length=1, max_length=MOST_COLUMNS)
    rows: list[list[Cell]] = Field(max_length=MOST_ROWS)


class StudyEdit(BaseModel, extra="forbid", frozen=True):
    """The changes of a page, to save or to check."""

    changes: list[KeyChange] = Field(default_factory=list, max_length=1000)
    tables: dict[str, TableEdit] = Field(default_factory=dict, max_length=20)
    conflict: Literal["ask", "mine", "theirs", "both"] = "ask"
    """What to do if somebody else changed a file: ask, write the page's version, leave the file, or keep both."""


@dataclass(frozen=True)
class GridTable:
    """A table for the grid."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    """The line of the file on which each row begins."""
    version: str
    editable: bool = True
    delimiter: str = ","


@dataclass(frozen=True)
class Snapshot:
    """A moment of the history and the files that changed then."""

    name: str
    files: tuple[str, ...]

    @property
    def when(self) -> str:
        """The moment as text, in UTC."""
        moment = datetime.strptime(self.name[:15], MOMENT).replace(tzinfo=UTC)
        return f"{moment:%Y-%m-%d %H:%M:%S}"


class EditConflictError(StudioError):
    """Somebody else changed files since the page was opened; `places` are the keys and tables concerned."""

    def __init__(self, places: Sequence[str]) -> None:
        super().__init__(
            f"Somebody changed {', '.join(places)} outside this window after you opened it. Nothing was saved yet."
        )
        self.places = tuple(places)


class StudyFolder:
    """The files of one study."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def path(self) -> Path:
        return self.folder / NAME

    def text(self) -> str:
        """The text of the study file."""
        try:
            return self.path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise StudioError(f"{self.path} cannot be read: {error}.") from None

    def settings(self) -> dict[str, Any]:
        """The study file as plain data; empty if it cannot be read or is not TOML."""
        try:
            return tomllib.loads(self.text())
        except (StudioError, tomllib.TOMLDecodeError):
            return {}

    def table_names(self) -> list[str]:
        """The tables that the study file names in its folder."""
        inside = self.folder.resolve()
        return [name for name in named_tables(self.settings()) if (inside / name).resolve().is_relative_to(inside)]

    def versions(self) -> dict[str, str]:
        """The version of the study file and of each table."""
        return {name: version_of(self.folder / name) for name in (NAME, *self.table_names())}

    def table(self, name: str, sheet: str | None = None) -> GridTable:
        """A table of the study; spreadsheets are read-only."""
        if name not in self.table_names():
            raise StudioError(f"The study names no table {name}.")
        return read_grid(self.folder / name, name, sheet)

    def edited(self, edit: StudyEdit) -> dict[str, bytes]:
        """The changed files with the changes of a page, by name."""
        from karat.judgments.tables import SPREADSHEETS

        files: dict[str, bytes] = {}
        text = self.text()
        if edit.changes:
            changed = changed_text(text, edit.changes)
            if changed != text:
                files[NAME] = changed.encode()
        for name, table in edit.tables.items():
            place_of(self.folder, name)
            old = self.folder / name
            delimiter = read_grid(old, name).delimiter if old.is_file() and old.suffix not in SPREADSHEETS else ","
            files[name] = table_bytes(table.columns, table.rows, "\t" if old.suffix == ".tsv" else delimiter)
        return files

    def save(self, edit: StudyEdit, frozen: str | None = None) -> list[str]:
        """Write the changes of a page and add them to the history; returns the names of the written files.

        `frozen` is when the study started, as text, and None before it has.
        """
        if frozen and any(change.path[0] == "screening" for change in edit.changes):
            raise StudioError(LOCKED.format(when=frozen))
        unknown = [name for name in edit.tables if name not in self.table_names()]
        if unknown:
            raise StudioError(f"The study names no table {unknown[0]}.")
        places = list(self._conflicts(edit))
        if places and edit.conflict == "ask":
            raise EditConflictError(places)
        files = self.edited(edit)
        if edit.conflict == "both":
            files = {(_beside(self.folder, name) if name in places else name): text for name, text in files.items()}
        files = {name: content for name, content in files.items() if _content(self.folder / name) != content}
        if not files:
            return []
        there = (NAME, *self.table_names())
        self._remember(there)  # also changes by others
        if edit.conflict == "theirs":
            self._remember(files, files)
            self._remember(there)  # the current files come last
            return []
        for name, content in files.items():
            _replace(self.folder / name, content)
        self._remember(files)
        return list(files)

    def _conflicts(self, edit: StudyEdit) -> Iterator[str]:
        settings = self.settings()
        for change in edit.changes:
            now = value_at(settings, change.path)
            if _filled(now) != _filled(change.before) and _filled(now) != _filled(change.after):
                yield key_name(change.path)
        for name, table in edit.tables.items():
            if table.version != version_of(self.folder / name):
                yield name

    def history(self) -> list[Snapshot]:
        """Every moment of the history, the latest first."""
        snapshots = []
        for place in sorted((self.folder / HISTORY).glob("*"), reverse=True):
            files = sorted(path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file())
            if place.is_dir() and files and place.name[:8].isdigit():
                snapshots.append(Snapshot(place.name, tuple(files)))
        return snapshots

    def restore(self, name: str) -> list[str]:
        """Restore the files of a moment of the history; the current ones stay in the history."""
        earlier = [snapshot for snapshot in self.history() if snapshot.name <= name]
        if not earlier or earlier[0].name != name:
            raise StudioError("This version is not in the history.")
        contents = {file: content for file, content in self._latest(earlier).items() if content is not None}
        changed = [file for file, content in contents.items() if _content(self.folder / file) != content]
        self._remember((NAME, *self.table_names()))
        for file in changed:
            _replace(self.folder / file, contents[file])
        self._remember(changed)
        return changed

    def _latest(self, snapshots: Iterable[Snapshot]) -> dict[str, bytes | None]:
        """The content of each file in the first of these moments that has it."""
        places: dict[str, Path] = {}
        for snapshot in snapshots:
            for file in snapshot.files:
                places.setdefault(file, self.folder / HISTORY / snapshot.name / file)
        return {file: _content(path) for file, path in places.items()}

    def _remember(self, names: Iterable[str], contents: Mapping[str, bytes | None] | None = None) -> None:
        """Add files, or contents that were not written, to the history if they differ from their latest version."""
        snapshots = self.history()
        last = self._latest(snapshots)
        current = contents or {name: _content(self.folder / name) for name in dict.fromkeys(names)}
        new = {name: content for name, content in current.items() if content is not None and last.get(name) != content}
        if not new:
            return
        moment, number = datetime.now(UTC).strftime(MOMENT), 1
        taken = {snapshot.name for snapshot in snapshots}
        while f"{moment}-{number:03}" in taken:
            number += 1
        for name, content in new.items():
            _replace(self.folder / HISTORY / f"{moment}-{number:03}" / name, content)


def named_tables(settings: Mapping[str, Any]) -> list[str]:
    """The tables that a study file names, even if it is invalid otherwise."""
    blocks = settings.get("block", [])
    values = [block.get(key) for block in _listed(blocks) if isinstance(block, dict) for key in TABLE_KEYS]
    return list(dict.fromkeys(name for value in values for name in _listed(value) if isinstance(name, str)))


def version_of(path: Path) -> str:
    """A short text that changes with a file; empty if there is none."""
    content = _content(path)
    return "" if content is None else hashlib.sha256(content).hexdigest()[:16]


def read_grid(path: Path, name: str, sheet: str | None = None) -> GridTable:
    """Read a table cell by cell, without interpretation."""
    if not path.is_file():
        raise StudioError(f"There is no file {name}. Put it back, or take it out of the study file.")
    from karat.judgments.source import SourceFile
    from karat.judgments.tables import SPREADSHEETS, delimiter_of, read_table, records, sheets_of

    file = SourceFile(path)
    if file.suffix in SPREADSHEETS:
        table = read_table(file, sheet=sheet or (sheets_of(file) or [None])[0])  # type: ignore[list-item]
        rows = tuple(tuple("" if cell is None else str(cell) for cell in row) for row in table.frame.iter_rows())
        lines = tuple(table.locate(number)[2] or 0 for number in range(len(rows)))
        return GridTable(name, tuple(table.frame.columns), rows, lines, version_of(path), editable=False)
    delimiter = "\t" if file.suffix == ".tsv" else delimiter_of(file.sample)
    filled = [record for record in records(file.text(), delimiter, name) if any(record.cells)]
    if not filled:
        return GridTable(name, ("item", "sentence"), (), (), version_of(path))
    head, *body = filled
    width = max(len(record.cells) for record in filled)
    header = [*head.cells, *(f"column {number + 1}" for number in range(len(head.cells), width))]
    rows = tuple((*record.cells, *[""] * (width - len(record.cells))) for record in body)
    columns, lines = tuple(cell.strip() for cell in header), tuple(record.line for record in body)
    return GridTable(name, columns, rows, lines, version_of(path), delimiter=delimiter)


def table_bytes(columns: Sequence[str], rows: Sequence[Sequence[str]], delimiter: str = ",") -> bytes:
    """A table as CSV, without empty rows."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(row[: len(columns)] for row in rows if any(cell.strip() for cell in row))
    return text.getvalue().encode()


def changed_text(text: str, changes: Sequence[KeyChange]) -> str:
    """Change keys of a study file; comments, order and layout of everything else stay."""
    try:
        document = tomlkit.parse(text)
    except tomlkit.exceptions.TOMLKitError as error:
        raise StudioError(f"{NAME} is not readable as TOML, so it cannot be edited here: {error}.") from None
    for change in changes:
        _assign(document, change.path, change.after)
    changed = tomlkit.dumps(document)
    try:
        read = tomllib.loads(changed)
    except tomllib.TOMLDecodeError as error:
        raise StudioError(f"The change cannot be written to {NAME}: {error}.") from None
    for change in changes:
        if _filled(value_at(read, change.path)) != _filled(change.after):
            raise StudioError(f"{key_name(change.path)} cannot be written to {NAME}. Edit the file itself.")
    return changed


def value_at(settings: Any, path: Sequence[str | int]) -> Any:
    """The value at a path of a study file; None if there is none."""
    for part in path:
        try:
            settings = settings[part]
        except (KeyError, IndexError, TypeError):
            return None
    return settings


def key_name(path: Sequence[str | int]) -> str:
    """A path of a study file in words."""
    words: list[str] = []
    for part in path:
        if isinstance(part, int) and words:
            words[-1] += f" {part + 1}"
        else:
            words.append(str(part))
    return ", ".join(words)


def _assign(container: Any, path: Sequence[str | int], value: Any) -> None:
    """Set a key and make its missing tables; an empty value deletes the key."""
    *before, last = path
    for number, part in enumerate(before):
        following = path[number + 1]
        if isinstance(part, str) and part not in container:
            if not _filled(value):
                return
            table = tomlkit.inline_table() if isinstance(container, InlineTable) else tomlkit.table()
            container[part] = tomlkit.aot() if isinstance(following, int) else table
        if isinstance(part, int):
            if part > len(container):
                raise StudioError(f"{key_name(path)} no longer exists. Reload the page.")
            if part == len(container):
                container.append(tomlkit.table())
        container = container[part]
    if isinstance(last, int):
        if last < len(container):
            container[last] = value
        else:
            container.append(value)
    elif not _filled(value):
        if last in container:
            container.remove(last)
    else:
        _set(container, last, value)


def _set(container: Any, key: str, value: Any) -> None:
    """Set a key; an existing table is changed key by key, so that its comments stay."""
    old = container.get(key)
    if old is not None and (old.unwrap() if hasattr(old, "unwrap") else old) == value:
        return
    if isinstance(value, dict) and isinstance(old, InlineTable | TomlTable) and list(old) == list(value):
        for name, entry in value.items():
            _set(old, name, entry)
    elif isinstance(value, list) and value and all(isinstance(table, dict) for table in value):
        _set_tables(container, key, value)
    else:
        container[key] = _item(value)


def _set_tables(container: Any, key: str, value: Sequence[Mapping[str, Any]]) -> None:
    """Set a list of tables, such as the contrasts, element by element."""
    tables = container.get(key)
    if not isinstance(tables, AoT):
        if tables is not None:
            container.remove(key)
        tables = tomlkit.aot()
        for wanted in value:
            tables.append(_spaced(wanted))
        container[key] = tables
        return
    while len(tables) > len(value):
        del tables[len(tables) - 1]
    for number, wanted in enumerate(value):
        if number == len(tables):
            tables.append(_spaced(wanted))
            continue
        table = tables[number]
        for name in [name for name in table if name not in wanted]:
            table.remove(name)
        for name, entry in wanted.items():
            _set(table, name, entry)


def _spaced(value: Mapping[str, Any]) -> Any:
    table = tomlkit.table()
    for name, entry in value.items():
        table.add(name, _item(entry))
    table.add(tomlkit.nl())
    return table


def _item(value: Any) -> Any:
    """A value in TOML: texts with line breaks on several lines, tables on one line."""
    if isinstance(value, str) and "\n" in value:
        long = tomlkit.string(value, multiline=True)
        return String(StringType.MLB, value, "\n" + long.as_string()[3:-3], Trivia())
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        for name, entry in value.items():
            table.append(name, _item(entry))
        return table
    return value


def _filled(value: Any) -> Any:
    """A value, or None for an empty one."""
    return None if value in (None, "", []) else value


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _beside(folder: Path, name: str) -> str:
    """A name for a second version of a file."""
    path, number = Path(name), 1
    while True:
        number += 1
        other = path.with_name(f"{path.stem} ({number}){path.suffix}").as_posix()
        if not (folder / other).exists():
            return other


def _replace(path: Path, content: bytes) -> None:
    """Write a file in one step, so that nobody reads an incomplete one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        part.write_bytes(content)
        os.replace(part, path)
    except OSError as error:
        raise KaratError(f"{path} cannot be written: {error.strerror or error}.") from None
    finally:
        part.unlink(missing_ok=True)
