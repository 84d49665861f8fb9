"""Jobs in several processes of this machine; a process that dies is replaced, and its job is repeated.

Processes are spawned, because a fork of a process with threads may deadlock. Each uses one thread for linear algebra,
because the other processes use the other processors, and ignores SIGINT, because its parent stops it. It ends when its
connection is closed, and when it uses more memory than allowed.

`open_executor` opens an executor on this machine or on a cluster, with a limit on memory and a checkpoint.
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
from contextlib import AbstractContextManager, contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import Thread
from typing import Any

from karat.executors.checkpoint import Checkpoint
from karat.executors.executor import SERIAL, Executor, ExecutorError, MapFunction, Outcome, portable

DEATHS = 3
"""How often a process may die with the same job before the map fails."""


class Processes(Executor):
    """A number of processes, which start when they are first needed and stay until the end of a `with` block.

    `memory` is the limit for all of them together, in bytes. A single process without a limit is the current one.

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
        """End the processes; they start again if there is more work."""
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
            # Busy processes run jobs whose results nobody needs any more.
            self.close()
            raise

    def line(self) -> WorkerProcess:
        """A new process."""
        line = WorkerProcess(None if self.memory is None else self.memory // self.processes)
        self._lines.append(line)
        return line

    def lines(self, number: int) -> list[WorkerProcess]:
        """This many processes, started if necessary."""
        while len(self._lines) < number:
            self.line()
        return self._lines[:number]

    def hung_up(self, line: WorkerProcess) -> int | None:
        """Remove a dead process; returns its exit status."""
        self._lines.remove(line)
        status = line.status()
        line.cut()
        return status


class _ProcessRun:
    """The jobs of one map: the waiting ones, and the job of each busy process."""

    def __init__(self, owner: Processes, function: bytes, jobs: Sequence[Any], name: str) -> None:
        self.owner, self.function, self.jobs, self.name = owner, function, jobs, name
        self.waiting = deque(range(len(jobs)))
        self.busy: dict[Any, tuple[WorkerProcess, int]] = {}
        self.deaths: Counter[int] = Counter()
        for line in owner.lines(min(owner.processes, len(jobs))):
            self._next(line, begin=True)

    def outcomes(self) -> list[tuple[int, Outcome]]:
        """Wait for outcomes of jobs; a free process gets the next job."""
        outcomes = []
        for end in wait(list(self.busy)):
            line, place = self.busy[end]
            try:
                outcome = line.answer()
            except (EOFError, OSError):
                self._died(line, place)
                continue
            if outcome is not None:
                outcomes.append((place, outcome))
                self._next(line)
        return outcomes

    def _next(self, line: WorkerProcess, begin: bool = False) -> None:
        self.busy.pop(line.end, None)
        if not self.waiting:
            return
        place = self.waiting.popleft()
        self.busy[line.end] = line, place
        try:
            if begin:
                line.give(self.function)
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
"""The exit status of a process that used too much memory."""
LOOKS = 0.05
"""Seconds between two checks of the memory."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
PATIENCE = 5.0


class WorkerProcess:
    """A worker process and the connection to it."""

    def __init__(self, memory: int | None = None) -> None:
        context = get_context("spawn")
        self.end, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other, memory), daemon=True)
        with _one_thread_each():
            self.process.start()
        other.close()
        self.ready = False
        """Whether the process has started."""

    def give(self, function: bytes) -> None:
        """Send the function and the shared data of a map."""
        self.end.send_bytes(b"function")
        self.end.send_bytes(function)

    def ask(self, job: Any) -> None:
        """Send a job."""
        self.end.send_bytes(b"job")
        self.end.send_bytes(pickle.dumps(job, protocol=5))

    def answer(self) -> Outcome | None:
        """The outcome of the job, or None if the process has only started; EOFError or OSError if it is dead."""
        reply = self.end.recv_bytes()
        if reply == READY:
            self.ready = True
            return None
        outcome: Outcome = pickle.loads(reply)  # noqa: S301 - from our worker process
        return outcome

    def cut(self) -> int | None:
        """End the process; returns its exit status."""
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
        """The exit status of a process whose connection is closed."""
        self.process.join(PATIENCE)
        return self.process.exitcode


def _serve(end: Connection, memory: int | None) -> None:
    """Run jobs until the connection is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if memory is not None:
        Thread(target=_watch, args=(memory,), daemon=True).start()
    function: MapFunction | Outcome = Outcome()
    try:
        end.send_bytes(READY)
        while True:
            kind, content = end.recv_bytes(), end.recv_bytes()
            try:
                loaded = pickle.loads(content)  # noqa: S301 - from the parent process
            except Exception as error:
                loaded = Outcome(error=portable(error))
            if kind == b"function":
                function = loaded
            else:
                end.send_bytes(_answer(function, loaded))
    except (EOFError, OSError):
        return


def _answer(function: MapFunction | Outcome, job: Any) -> bytes:
    if isinstance(function, Outcome):
        job = function  # the function could not be loaded
    outcome = job if isinstance(job, Outcome) else function.outcome(job)  # type: ignore[union-attr]
    try:
        return pickle.dumps(outcome, protocol=5)
    except Exception as error:
        return pickle.dumps(Outcome(error=portable(error)))


def _watch(most: int) -> None:
    while memory_used() <= most:
        time.sleep(LOOKS)
    os._exit(TOO_MUCH)


def memory_used() -> int:
    """The bytes of memory that this process uses; the peak on systems that report only that."""
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
    """Processes that start within the block use one thread each, unless the user has set a number."""
    unset = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(unset, "1"))
    try:
        yield
    finally:
        for name in unset:
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
    """An executor for the duration of a `with` block.

    Parameters
    ----------
    cluster
        `local`, the address of a Dask scheduler, or a TOML file; by default, jobs run in processes of this machine.
    processes
        The number of processes on this machine.
    memory
        The limit for all processes of this machine together, without this one.
    checkpoint
        The folder for finished jobs, from which the same work resumes.

    >>> with open_executor() as executor:
    ...     executor.map(pow, 2, [1, 2, 3], name="powers")
    [2, 4, 8]
    """
    limit = memory_in_bytes(memory) if isinstance(memory, str) else memory
    place: AbstractContextManager[Executor]
    if cluster is None:
        place = Processes(1 if processes is None else processes, limit)
    else:
        from karat.executors.cluster import dask_cluster

        place = dask_cluster(cluster, processes, limit)
    with place as executor:
        yield executor if checkpoint is None else Checkpoint(executor, checkpoint)


def memory_in_bytes(text: str) -> int:
    """The bytes in an amount of memory such as 8GB."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?\s*", text, re.IGNORECASE)
    if not match or float(match[1]) == 0:
        raise ExecutorError(f"--memory {text}: write an amount such as 8GB or 500MB.")
    unit = match[2].upper()
    return int(float(match[1]) * (1024 ** list(UNITS).index(unit) if match[3] else UNITS[unit]))
