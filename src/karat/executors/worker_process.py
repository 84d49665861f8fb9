"""One process that does jobs, and the line between it and who asks it.

The process is started afresh: a copy of one that has threads may stand still for ever. It uses one thread for products
of matrices, since the others have work of their own, and does not hear Ctrl-C, since who started it ends it. It ends by
itself when the line is cut, and when it uses more memory than it may.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import Any

from karat.executors.outcome import MapFunction, Outcome, portable

READY = b"ready"
TOO_MUCH = 77
"""Exit status of a process that used more memory than it may."""
LOOKS = 0.05
"""Seconds between two looks at the memory."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
PATIENCE = 5.0


class WorkerProcess:
    """The line to a process of its own."""

    def __init__(self, memory: int | None = None) -> None:
        context = get_context("spawn")
        self.end, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other, memory), daemon=True)
        with _one_thread_each():
            self.process.start()
        other.close()
        self.ready = False
        """Whether the process has come to life."""

    def give(self, given: bytes) -> None:
        """Send what all jobs of a map share."""
        self.end.send_bytes(b"given")
        self.end.send_bytes(given)

    def ask(self, job: Any) -> None:
        """Send a job."""
        self.end.send_bytes(b"task")
        self.end.send_bytes(pickle.dumps(job, protocol=5))

    def answer(self) -> Outcome | None:
        """What the process said: what became of its job, or None where it only said that it lives.

        EOFError or OSError where it is dead."""
        said = self.end.recv_bytes()
        if said == READY:
            self.ready = True
            return None
        outcome: Outcome = pickle.loads(said)  # noqa: S301 - from a process of our own
        return outcome

    def cut(self) -> int | None:
        """End the process, whatever it does, and say its exit status."""
        self.end.close()
        self.process.terminate()
        self.process.join(PATIENCE)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
        status = self.process.exitcode
        self.process.close()
        return status

    def status(self) -> int | None:
        """The exit status of a process that has hung up."""
        self.process.join(PATIENCE)
        return self.process.exitcode


def _serve(end: Connection, memory: int | None) -> None:
    """What the process does until the line is cut."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if memory is not None:
        Thread(target=_watch, args=(memory,), daemon=True).start()
    given: MapFunction | Outcome = Outcome()
    try:
        end.send_bytes(READY)
        while True:
            kind, what = end.recv_bytes(), end.recv_bytes()
            try:
                known = pickle.loads(what)  # noqa: S301 - from the process that started this one
            except Exception as error:
                known = Outcome(error=portable(error))
            if kind == b"given":
                given = known
            else:
                end.send_bytes(_answer(given, known))
    except (EOFError, OSError):
        return


def _answer(given: MapFunction | Outcome, job: Any) -> bytes:
    failed = next((one for one in (given, job) if isinstance(one, Outcome)), None)
    outcome = failed if failed is not None else given.outcome(job)  # type: ignore[union-attr]
    try:
        return pickle.dumps(outcome, protocol=5)
    except Exception as error:
        return pickle.dumps(Outcome(error=portable(error)))


def _watch(most: int) -> None:
    while memory_used() <= most:
        time.sleep(LOOKS)
    os._exit(TOO_MUCH)


def memory_used() -> int:
    """The bytes of memory that this process uses; where the system does not say, the most that it has used.

    >>> memory_used() > 1_000_000
    True
    """
    pages = Path("/proc/self/statm")
    if pages.exists():
        return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    if sys.platform == "win32":
        return 0
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that are started within it use one thread each, unless the user has said how many."""
    unsaid = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(unsaid, "1"))
    try:
        yield
    finally:
        for name in unsaid:
            os.environ.pop(name, None)
