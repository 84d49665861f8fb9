"""Tasks in several processes of this machine; a process that dies is replaced, and its job is done again.

A process is started afresh: a copy of one that has threads may stand still for ever. It uses one thread for products of
matrices, since the others have work of their own, and does not hear Ctrl-C, since who started it ends it. It ends by
itself when the line is cut, and when it uses more memory than it may.

`open_executor` is where all code asks for a place: on this machine or a cluster, with how much memory, and what is
kept.
"""

from __future__ import annotations

import os
import pickle
import re
import signal
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import Thread
from typing import Any

from karat.executors.checkpoint import Checkpoint
from karat.executors.executor import SERIAL, Executor, ExecutorError, MapFunction, Outcome, portable

DEATHS = 3
"""How often a process may die with the same job before the work is given up."""


class Processes(Executor):
    """A number of processes, which are started when they are needed first and stay until the end of a `with` block.

    `memory` is what all of them may use together, in bytes. One process without a limit is this one.

    >>> with Processes(1) as executor:
    ...     executor.map(pow, 2, [1, 2, 3], name="powers")
    [2, 4, 8]
    """

    def __init__(self, processes: int, memory: int | None = None) -> None:
        if processes < 1:
            raise ExecutorError(f"--processes {processes}: work needs at least one process.")
        self._number, self.memory = processes, memory
        self._lines: list[WorkerProcess] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes; they are started anew where there is more work."""
        while self._lines:
            self._lines.pop().cut()

    @property
    def processes(self) -> int:
        return self._number

    @property
    def pids(self) -> list[int]:
        """The ids of the processes that have been started."""
        return [line.process.pid for line in self._lines if line.process.pid is not None]

    def results(
        self, function: Callable[[Any, Any], Any], shared: Any, jobs: Sequence[Any], name: str
    ) -> Generator[tuple[int, Any]]:
        if self.memory is None and min(self.processes, len(jobs)) <= 1:
            yield from SERIAL.results(function, shared, jobs, name)
            return
        running = _ProcessRun(self, pickle.dumps(MapFunction(function, shared), protocol=5), jobs, name)
        left = len(jobs)
        try:
            while left:
                for place, outcome in running.outcomes():
                    yield place, outcome.get()
                    left -= 1
        except BaseException:
            # Processes that are busy do jobs that nobody waits for any more.
            self.close()
            raise

    def line(self) -> WorkerProcess:
        """A new process."""
        line = WorkerProcess(None if self.memory is None else self.memory // self.processes)
        self._lines.append(line)
        return line

    def lines(self, number: int) -> list[WorkerProcess]:
        """This many processes that can be asked."""
        while len(self._lines) < number:
            self.line()
        return self._lines[:number]

    def hung_up(self, line: WorkerProcess) -> int | None:
        """Leave a process that is dead, and say how it ended."""
        self._lines.remove(line)
        status = line.status()
        line.cut()
        return status


class _ProcessRun:
    """The jobs of one map: those that wait, and which process is busy with which."""

    def __init__(self, owner: Processes, given: bytes, jobs: Sequence[Any], name: str) -> None:
        self.owner, self.given, self.jobs, self.name = owner, given, jobs, name
        self.waiting = deque(range(len(jobs)))
        self.busy: dict[Any, tuple[WorkerProcess, int]] = {}
        self.deaths: Counter[int] = Counter()
        for line in owner.lines(min(owner.processes, len(jobs))):
            self._next(line, begin=True)

    def outcomes(self) -> list[tuple[int, Outcome]]:
        """What became of some jobs, once something has; a process that is free gets the next job."""
        found = []
        for end in wait(list(self.busy)):
            line, place = self.busy[end]
            try:
                outcome = line.answer()
            except (EOFError, OSError):
                self._died(line, place)
                continue
            if outcome is not None:
                found.append((place, outcome))
                self._next(line)
        return found

    def _next(self, line: WorkerProcess, begin: bool = False) -> None:
        self.busy.pop(line.end, None)
        if not self.waiting:
            return
        place = self.waiting.popleft()
        self.busy[line.end] = line, place
        try:
            if begin:
                line.give(self.given)
            line.ask(self.jobs[place])
        except OSError:
            self._died(line, place)

    def _died(self, line: WorkerProcess, place: int) -> None:
        del self.busy[line.end]
        status, began = self.owner.hung_up(line), line.ready
        self.deaths[place] += 1
        if status == TOO_MUCH:
            share = (self.owner.memory or 0) / self.owner.processes
            raise ExecutorError(
                f"{self.name}: a job needs more than the {share / 1e6:,.0f} MB that each process may use. Allow more "
                "--memory, or fewer --processes."
            )
        if self.deaths[place] == DEATHS:
            raise ExecutorError(f"{self.name}: {_why(began, status)}")
        self.waiting.appendleft(place)
        self._next(self.owner.line(), begin=True)


def _why(began: bool, status: int | None) -> str:
    ended = f"signal {-status}" if status is not None and status < 0 else f"exit status {status}"
    if not began:
        return (
            f"processes could not be started ({ended}). A script that asks for several processes must do so under "
            'if __name__ == "__main__":, since each of them reads the script first.'
        )
    return (
        f"{DEATHS} processes died with the same job ({ended}). As a rule the memory is too small: use fewer processes."
    )


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
    """The bytes of memory that this process uses; where the system does not say, the most that it has used."""
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


UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


@contextmanager
def open_executor(
    cluster: str | None = None,
    *,
    processes: int | None = None,
    memory: int | str | None = None,
    checkpoint: str | Path | None = None,
) -> Iterator[Executor]:
    """A place where jobs run, for the duration of a `with` block.

    Parameters
    ----------
    cluster
        `local`, the address of a Dask scheduler, or a TOML file; by default work is done in processes of this machine.
    processes
        The number of processes on this machine.
    memory
        What all processes of this machine may use together, besides this one.
    checkpoint
        The folder for finished jobs, from which the same work resumes.

    >>> with open_executor() as executor:
    ...     executor.map(pow, 2, [1, 2, 3], name="powers")
    [2, 4, 8]
    """
    limit = memory_in_bytes(memory) if isinstance(memory, str) else memory
    if cluster is None:
        with Processes(1 if processes is None else processes, limit) as here:
            yield _keeping(here, checkpoint)
        return
    from karat.executors.cluster import dask_cluster

    with dask_cluster(cluster, processes, limit) as there:
        yield _keeping(there, checkpoint)


def _keeping(executor: Executor, checkpoint: str | Path | None) -> Executor:
    return executor if checkpoint is None else Checkpoint(executor, checkpoint)


def memory_in_bytes(text: str) -> int:
    """An amount of memory as people write it."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?\s*", text, re.IGNORECASE)
    if not found or float(found[1]) == 0:
        raise ExecutorError(f"--memory {text}: write an amount such as 8GB or 500MB.")
    power = UNITS[found[2].upper()]
    return int(float(found[1]) * (2 ** (10 * list(UNITS).index(found[2].upper())) if found[3] else power))
