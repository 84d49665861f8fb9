"""The drops of a run: their files, their jobs, and their results."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from karat.studio.corrections import Corrections, corrected
from karat.studio.folder import LIMIT, MOST_FILES, TOO_LARGE, StudioError, files_in, keep, place_of
from karat.studio.worker import Job, JobFailure, Worker

if TYPE_CHECKING:
    from karat.studio import jobs

MOST_UPLOADS = 100
SECONDS_TO_STOP = 10


@dataclass
class Upload:
    """One drop: its files and its results."""

    id: str
    folder: Path
    choices: Corrections = field(default_factory=Corrections)
    job: Job | None = None
    """The running job."""
    seen: jobs.Preview | None = None
    written: jobs.Output | None = None
    failure: JobFailure | None = None
    """Why the last job has no result."""
    kept: Path | None = None
    home: Path | None = None
    """The folder for its saved results if it differs, such as the folder of its study."""
    size: int = 0
    running: Future[None] | None = None

    @property
    def files(self) -> Path:
        """The folder of the dropped files."""
        return self.folder / "files"

    @property
    def made(self) -> Path:
        """The folder of the results."""
        return self.folder / "made"

    @property
    def names(self) -> list[str]:
        """The names of the dropped files."""
        return [path.relative_to(self.files).as_posix() for path in files_in(self.files)]

    @property
    def title(self) -> str:
        """The title on the page."""
        if self.seen is not None and not self.seen.results and self.seen.title:
            return self.seen.title
        names = (
            self.names if self.seen is None else [*self.seen.results, *([self.seen.study] if self.seen.study else [])]
        )
        more = f" and {len(names) - 2} more" if len(names) > 3 else ""
        return (", ".join(names[:2]) + more) if more else ", ".join(names) or "No files yet"

    @property
    def stem(self) -> str:
        """A plain name for the results, from the first file's name."""
        first = Path((self.seen.results if self.seen and self.seen.results else self.names or ["results"])[0]).stem
        return re.sub(r"[^\w.-]+", "-", first).strip("-.")[:60] or "results"

    @property
    def command(self) -> str:
        """The command that does the same in a terminal."""
        if self.seen is None or not self.seen.results:
            return f"karat check {self.seen.study}" if self.seen and self.seen.study else ""
        return self.choices.command(self.seen.results, self.seen.study)

    def take(self, name: str, more: int) -> Path:
        """The path for a dropped file; it replaces a file of the same name."""
        place = place_of(self.files, name)
        before = place.stat().st_size if place.is_file() else 0
        if self.size - before + more > LIMIT:
            raise StudioError(TOO_LARGE)
        if len(self.names) >= MOST_FILES:
            raise StudioError(f"There are more than {MOST_FILES:,} files. Pack them into one zip, or drop fewer.")
        if place.is_dir() or any(parent.is_file() for parent in place.parents):
            raise StudioError(f"There is already a file or folder called {name}. Rename one of them.")
        place.parent.mkdir(parents=True, exist_ok=True)
        return place


class Uploads:
    """All drops of a run, and the process that works on them."""

    def __init__(self, root: Path, target: Path) -> None:
        self.root = root
        self.target = target
        """The folder for saved results."""
        self.known: dict[str, Upload] = {}
        self.kept: list[Path] = []
        self._worker = Worker(root)
        self._hands = ThreadPoolExecutor(4, thread_name_prefix="karat open")

    def new(self) -> Upload:
        """A case without files."""
        if len(self.known) >= MOST_UPLOADS:
            raise StudioError(
                f"There are {MOST_UPLOADS} drops on this page already. Delete one, or start karat open again."
            )
        name = secrets.token_hex(8)
        case = Upload(name, self.root / name)
        case.files.mkdir(parents=True)
        self.known[name] = case
        return case

    def look(self, case: Upload, wanted: Corrections | None = None) -> None:
        """Read the files, with the corrections of the page."""
        self._begin(case, wanted, self._look)

    def report(self, case: Upload, wanted: Corrections | None = None) -> None:
        """Read, screen and report the results."""
        self._begin(case, wanted, self._report)

    def _begin(self, case: Upload, wanted: Corrections | None, work: Callable[[Upload, Job], None]) -> None:
        if case.job is not None:
            raise StudioError("The last step is not done yet. Wait for it, or stop it.")
        if wanted is not None:
            case.choices = settled(case, wanted)
        case.failure = case.written = case.kept = None
        shutil.rmtree(case.made, ignore_errors=True)
        case.job = job = Job()

        def run() -> None:
            try:
                work(case, job)
            finally:
                case.job = None

        case.running = self._hands.submit(run)

    def _look(self, case: Upload, job: Job) -> None:
        from karat.studio import jobs

        preview = self._worker.do(job, jobs.look, str(case.files), case.choices)
        if isinstance(preview, JobFailure):
            case.failure = preview
            return
        # If even the columns cannot be read, the previous ones can be corrected.
        columns = case.seen.columns if case.seen and preview.failure and not preview.columns.names else preview.columns
        case.seen = replace(preview, columns=columns)

    def _report(self, case: Upload, job: Job) -> None:
        from karat.studio import jobs

        self._look(case, job)
        if case.failure or case.seen is None or case.seen.failure or case.seen.questions or not case.seen.results:
            return
        case.made.mkdir()
        archive = f"{case.stem}-karat.zip"
        output = self._worker.do(job, jobs.report, str(case.files), str(case.made), archive, case.choices)
        if isinstance(output, JobFailure):
            case.failure = output
        else:
            case.written = output

    def stop(self, case: Upload) -> None:
        if case.job is not None:
            self._worker.stop(case.job)

    def keep(self, case: Upload) -> Path:
        """Copy the results to their final folder."""
        if case.written is None:
            raise StudioError("There is nothing to keep yet.")
        if case.kept is None:
            case.kept = keep(case.made, case.home or self.target, case.stem).resolve()
            self.kept.append(case.kept)
        return case.kept

    def delete(self, case: Upload) -> None:
        """Delete a case with all its files."""
        self.stop(case)
        del self.known[case.id]
        if case.running is not None:
            wait([case.running], SECONDS_TO_STOP)
        shutil.rmtree(case.folder, ignore_errors=True)

    def close(self) -> None:
        """Stop the worker and delete everything that was not saved."""
        self._worker.close()
        self._hands.shutdown(wait=True, cancel_futures=True)
        shutil.rmtree(self.root, ignore_errors=True)


def settled(case: Upload, wanted: Corrections) -> Corrections:
    """The choices that differ from karat's guesses; if other cells are read, columns are guessed again."""
    same = {"new_study": wanted.new_study or case.choices.new_study, "sentence": wanted.sentence}
    if case.seen is None or not case.choices.reads_like(wanted):
        return wanted.model_copy(update={"mapping": {}, "scales": {}, "answered": {}, "wide": "", **same})
    carried = {
        "answered": {**case.choices.answered, **wanted.answered}, "wide": wanted.wide or case.choices.wide, **same,
    }  # fmt: skip
    if case.seen.questions:
        return case.choices.model_copy(update={**carried, "answers": wanted.answers or case.choices.answers})
    columns = case.seen.columns
    changed = corrected(columns.names, columns.guessed, wanted.mapping, columns.maps)
    return wanted.model_copy(update={"mapping": changed, **carried})
