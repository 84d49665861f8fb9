"""Results saved in a folder, so that interrupted work resumes where it stopped.

The name of a result is a fingerprint of the function, the shared data and the job, so other data or settings are
computed again. This process writes each result when it arrives, so the machines of a cluster do not need the folder.
The files are Python pickles, to be read only by the user who wrote them.

The fingerprint is that of the pickle and the same in every process. The order of sets differs between processes, so
their elements are ordered by their fingerprints.
"""

import copyreg
import hashlib
import pickle
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path
from types import BuiltinFunctionType, FunctionType
from typing import Any

from karat import __version__
from karat.executors.executor import Executor, ExecutorError, Result
from karat.judgments.files import replacing


class Checkpoint(Executor):
    """An executor that saves the results of another one.

    >>> import tempfile
    >>> from karat.executors import SERIAL
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = Checkpoint(SERIAL, folder).map(pow, 2, [1, 2, 3], name="powers")
    ...     len(list(Path(folder).iterdir()))
    3
    """

    def __init__(self, executor: Executor, folder: str | Path) -> None:
        # A process may change its working directory between two maps.
        self.executor, self.folder = executor, Path(folder).absolute()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ExecutorError(f"--checkpoint {folder} cannot be made: {error.strerror or error}.") from None

    @property
    def processes(self) -> int:
        """How many jobs are done at a time."""
        return self.executor.processes

    def results(
        self, function: Callable[[Any, Any], Any], shared: Any, jobs: Sequence[Any], name: str
    ) -> Generator[tuple[int, Any]]:
        """Saved results first, then the others, each saved before it is returned."""
        about = digest((__version__, function, shared))
        paths = [self.folder / f"{digest((about, job))}.pickle" for job in jobs]
        left = []
        for place, path in enumerate(paths):
            if (before := _read(path)) is None:
                left.append(place)
            else:
                yield place, before[0]
        if not left:
            return
        with closing(self.executor.results(function, shared, [jobs[place] for place in left], name)) as coming:
            for number, result in coming:
                self._write(paths[left[number]], result)
                yield left[number], result

    def once(self, about: Any, compute: Callable[[], Result]) -> Result:
        """The saved result for a description; computed and saved if there is none.

        >>> import tempfile
        >>> from karat.executors import SERIAL
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     checkpoint = Checkpoint(SERIAL, folder)
        ...     checkpoint.once("answer", lambda: 42), checkpoint.once("answer", lambda: 43)
        (42, 42)
        """
        path = self.folder / f"{digest((__version__, about))}.pickle"
        before = _read(path)
        if before is not None:
            return before[0]  # type: ignore[no-any-return]
        result = compute()
        self._write(path, result)
        return result

    def _write(self, path: Path, result: Any) -> None:
        try:
            with replacing(path) as temporary:
                temporary.write_bytes(pickle.dumps(result, protocol=5))
        except OSError as error:
            raise ExecutorError(f"--checkpoint {self.folder} cannot be written: {error.strerror or error}.") from None


def _read(path: Path) -> tuple[Any] | None:
    """A saved result in a tuple; None if there is no readable one, so that it is computed again."""
    try:
        return (pickle.loads(path.read_bytes()),)  # noqa: S301 - the user's own folder, as the docstring says
    except Exception:
        return None


BY_NAME = (type, FunctionType, BuiltinFunctionType)


def digest(what: Any) -> str:
    """The first 40 digits of the SHA-256 of a pickle, which is never in memory as a whole."""
    into = _Hashing()
    _Pickler(into, protocol=5).dump(_ordered(what))
    return into.hash.hexdigest()[:40]


class _Hashing:
    """A file object that only computes a fingerprint."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()

    def write(self, part: Any) -> int:
        self.hash.update(part)
        return memoryview(part).nbytes


class _Pickler(pickle.Pickler):
    """Pickles objects with the sets among their parts in order."""

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, BY_NAME) or type(thing) in copyreg.dispatch_table:
            return NotImplemented
        parts = thing.__reduce_ex__(5)
        return parts if isinstance(parts, str) else (parts[0], *(_ordered(part) for part in parts[1:3]), *parts[3:])


def _ordered(what: Any) -> Any:
    """The same value with lists of fingerprints instead of sets."""
    if type(what) in (set, frozenset):
        return ["set", *sorted(digest(element) for element in what)]
    if type(what) is dict:
        return {key: _ordered(value) for key, value in what.items()}
    if type(what) in (list, tuple):
        return type(what)(_ordered(element) for element in what)
    return what
