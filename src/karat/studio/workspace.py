"""The studies below a folder: their states, and how to make a new one."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from karat.errors import KaratError
from karat.studio.folder import StudioError, place_of
from karat.studio.study_files import HISTORY, KeyChange, StudyFolder, changed_text, table_bytes
from karat.study.init import study_from_sets, write_study
from karat.study.setting_base import NAME

if TYPE_CHECKING:
    from karat.field.store.studies import StudyRow
    from karat.study.item_sheets import CrossedFactors, ItemSets

DATA = "karat-data"
"""The folder of `karat serve` beside the study file."""
RESULTS = "results"
REHEARSAL = "rehearsal"
PUBLISHED = "for-the-server"
"""The folder for a server, with the study, karat and a password."""
DEEPEST = 3
MOST_STUDIES = 500
NEVER = {HISTORY, DATA, RESULTS, REHEARSAL, PUBLISHED, "node_modules", "__pycache__", "served"}
CHECKED = "checked.json"
"""The file in the history with the versions of the files that have no errors."""

State = Literal["draft", "checked", "running", "paused", "closed", "reported", "unreadable"]


@dataclass(frozen=True)
class Project:
    """A study folder and its state."""

    id: str
    folder: Path
    name: str
    """Its folder below the studies folder."""
    title: str
    state: State
    changed: float

    @property
    def files(self) -> StudyFolder:
        return StudyFolder(self.folder)

    @property
    def data(self) -> Path:
        """The data folder of its server."""
        return self.folder / DATA

    @property
    def when(self) -> str:
        """When one of its files was last changed, in UTC."""
        return f"{datetime.fromtimestamp(self.changed, UTC):%Y-%m-%d %H:%M}"


class NewStudy(BaseModel, extra="forbid", frozen=True):
    """A new study: its name and its source."""

    name: Annotated[str, Field(min_length=1, max_length=120)]
    source: Literal["template", "sheet", "results", "copy"]
    task: str = "likert"
    language: str = "en"
    sheet: str = ""
    """The name of a sheet that was sent before."""
    factors: list[Annotated[str, Field(max_length=2000)]] = Field(default_factory=list, max_length=10)
    """As text for `--factor`, such as length=short,long; empty for guessed ones. For results, only names."""
    study: str = ""
    """The study to copy."""
    case: str = ""
    """The drop with the results for the study."""


class Workspace:
    """The studies folder, and the sheets for new studies."""

    def __init__(self, root: Path, scratch: Path) -> None:
        self.root = root
        self._scratch = scratch / "sheets"

    def projects(self) -> list[Project]:
        """The studies below the folder, the latest first."""
        projects = [self._project(folder) for folder in _study_folders(self.root, DEEPEST)]
        return sorted(projects, key=lambda project: project.changed, reverse=True)[:MOST_STUDIES]

    def find(self, study_id: str) -> Project:
        for folder in _study_folders(self.root, DEEPEST):
            if _id(folder) == study_id:
                return self._project(folder)
        raise StudioError("This study is no longer in the studies folder.")

    def choose(self, folder: str) -> None:
        """Choose another studies folder, which is made if only its last part is missing."""
        path = Path(folder).expanduser()
        if not path.is_absolute():
            path = self.root / path
        if not path.is_dir() and not path.parent.is_dir():
            raise StudioError(f"There is no folder {path}. Write the path of a folder.")
        try:
            path.mkdir(exist_ok=True)
        except OSError as error:
            raise StudioError(f"{path} cannot be used as the studies folder: {error.strerror or error}.") from None
        self.root = path.resolve()

    def keep_sheet(self, name: str, content: bytes) -> str:
        """Save a sheet temporarily; returns its name for making a study.

        Cells pasted from a spreadsheet have tabs between them and become a CSV file, and so does a workbook with a
        plain table of sets, so that its cells can be edited here.
        """
        from karat.judgments.source import SourceFile
        from karat.judgments.tables import SPREADSHEETS, delimiter_of
        from karat.study.item_sheets import read_sets

        folder = self._scratch / secrets.token_hex(8)
        path = place_of(folder, Path(name).name or "sheet.csv")
        folder.mkdir(parents=True)
        path.write_bytes(content)
        if path.suffix.lower() in SPREADSHEETS:
            sets = read_sets(path)
            path = _as_csv(path) if sets.wide and sets.sheet is None else path
        elif path.suffix.lower() not in (".csv", ".tsv", ".txt", ".js", ".itm"):
            raise StudioError(f"{name} is not a sheet. Drop a CSV file or a workbook, or paste the cells.")
        elif path.suffix.lower() in (".csv", ".tsv") and delimiter_of(SourceFile(path).sample) == "\t":
            path = _as_csv(path)
        return path.relative_to(self._scratch).as_posix()

    def sheet(self, name: str, factors: Sequence[str] = ()) -> tuple[ItemSets, CrossedFactors]:
        """The item sets of a sheet and its factors, stated or guessed."""
        from karat.judgments.tables import SPREADSHEETS
        from karat.study.item_sheets import guess_factors, read_sets, stated_factors

        path = place_of(self._scratch, name)
        if not path.is_file():
            raise StudioError("The sheet is gone. Paste or drop it again.")
        sets = read_sets(path)
        if path.suffix.lower() in SPREADSHEETS:
            sets = replace(sets, wide=False)
        return sets, stated_factors(sets.conditions, factors) if factors else guess_factors(sets.conditions)

    def create(self, new: NewStudy, from_results: tuple[ItemSets, CrossedFactors] | None = None) -> Project:
        """Make a study, from results with these item sets; nothing is overwritten."""
        folder = place_of(self.root, folder_name(new.name))
        if folder.exists():
            raise StudioError(f"There is already something called {folder.name} in {self.root}. Choose another name.")
        if new.source == "template":
            write_study(folder, new.task, new.language)
        elif new.source == "sheet":
            study_from_sets(*self.sheet(new.sheet, new.factors), folder, new.language, new.task)
        elif new.source == "results":
            if from_results is None:
                raise StudioError("The results are gone. Drop them again.")
            sets, factors = from_results
            study_from_sets(
                sets, factors.renamed(new.factors) if new.factors else factors, folder, new.language, new.task
            )
        else:
            # Copy a study without its answers, results and history.
            project = self.find(new.study)
            shutil.copytree(project.folder, folder, ignore=shutil.ignore_patterns(*NEVER, ".*"))
            _retitle(folder, f"{project.title} (copy)")
        if new.source in ("sheet", "results"):
            _retitle(folder, new.name)
        return self._project(folder)

    def _project(self, folder: Path) -> Project:
        settings = StudyFolder(folder).settings()
        title = settings.get("title")
        name = folder.name if folder == self.root else folder.relative_to(self.root).as_posix()
        changed = max((path.stat().st_mtime for path in folder.iterdir() if path.is_file()), default=0.0)
        return Project(_id(folder), folder, name, title if isinstance(title, str) else name, state_of(folder), changed)


def state_of(folder: Path) -> State:
    """The state of a study: from its server, else from its reports, else from its last check."""
    try:
        StudyFolder(folder).text()
        row = stored_row(folder)
    except KaratError:
        return "unreadable"
    reported = any((folder / RESULTS).glob("*/report.html"))
    if row is not None and row.state != "draft" and not (reported and row.state == "closed"):
        return row.state  # type: ignore[return-value]
    if reported:
        return "reported"
    return "checked" if was_checked(folder) else "draft"


def database_of(folder: Path) -> str:
    """The database of the server of a study."""
    return f"sqlite:///{(folder / DATA / 'karat.db').resolve()}"


def stored_row(folder: Path) -> StudyRow | None:
    """The row of a study in the store of its server; None if it was never served."""
    if not (folder / DATA / "karat.db").is_file():
        return None
    from karat.field.registration import slug
    from karat.field.store import Store, studies

    name = slug(folder.resolve().name)
    with closing(Store.open(database_of(folder))) as store, store.read() as connection:
        return studies.find(connection, name) or studies.find(connection, f"{name}-study")


def frozen_since(folder: Path) -> str | None:
    """When the rules of a study were frozen, as text; None before it has started."""
    row = stored_row(folder)
    if row is None or row.frozen_at is None:
        return None
    return f"{datetime.fromtimestamp(row.frozen_at, UTC):%Y-%m-%d}"


def note_checked(folder: Path, errors: int) -> None:
    """Record that the current files have no errors, or delete the record."""
    place = folder / HISTORY / CHECKED
    if errors:
        place.unlink(missing_ok=True)
        return
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps({"versions": StudyFolder(folder).versions()}), encoding="utf-8")


def was_checked(folder: Path) -> bool:
    """Whether the current files were checked without errors."""
    try:
        noted: Any = json.loads((folder / HISTORY / CHECKED).read_text(encoding="utf-8"))
        return bool(noted["versions"] == StudyFolder(folder).versions())
    except (OSError, ValueError, KeyError, TypeError, KaratError):
        return False


def folder_name(title: str) -> str:
    """A plain name for the folder of a study."""
    name = re.sub(r"[^\w]+", "-", title.lower()).strip("-_")[:60]
    if not name:
        raise StudioError("Give the study a name with letters or digits.")
    return name


def _study_folders(folder: Path, depth: int) -> Iterator[Path]:
    """Folders with a study file, including this one."""
    if (folder / NAME).is_file():
        yield folder
    if depth == 0:
        return
    try:
        inner = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False))
    except OSError:
        return
    for name in inner:
        if not name.startswith(".") and name not in NEVER:
            yield from _study_folders(folder / name, depth - 1)


def _id(folder: Path) -> str:
    return hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:12]


def _as_csv(path: Path) -> Path:
    """A table as a CSV file beside it."""
    from karat.judgments.source import SourceFile
    from karat.judgments.tables import SPREADSHEETS, read_table, sheets_of

    file = SourceFile(path)
    names = sheets_of(file) if path.suffix.lower() in SPREADSHEETS else []
    table = read_table(file, sheet=names[0] if names else None)
    rows = [["" if cell is None else str(cell) for cell in row] for row in table.frame.iter_rows()]
    csv_path = path.with_suffix(".csv")
    names = ["" if name.startswith("unnamed_") else name for name in table.frame.columns]
    csv_path.write_bytes(table_bytes(names, rows))
    return csv_path


def _retitle(folder: Path, title: str) -> None:
    files = StudyFolder(folder)
    text = changed_text(files.text(), [KeyChange(path=["title"], after=title)])
    files.path.write_text(text, encoding="utf-8", newline="\n")
