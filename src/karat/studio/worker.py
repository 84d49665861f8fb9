"""A process that runs the jobs of the page, one after the other, and reports their steps.

Reading and screening may take minutes and much memory. In a separate process, a job can be stopped at once, does not
block the page, and frees its memory. If the server is killed, the process notices it by the end of its pipe and deletes
the temporary folder.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from karat.errors import KaratError

Say = Callable[[str], None]
"""Called with the current step in words."""
NEEDED = ("karat.intake", "karat.study.check", "karat.report", "matplotlib.figure", "karat.field.content.texts")
"""The imports of jobs, loaded while users choose their files."""
SECONDS_TO_END = 5


@dataclass(frozen=True)
class JobFailure:
    """The reason why a job has no result, in the sentences of the terminal."""

    headline: str
    lines: tuple[str, ...] = ()

    @classmethod
    def of(cls, error: KaratError) -> JobFailure:
        """The sentences of an error: the first line, then one line per problem."""
        text = str(error)
        first, *more = text.splitlines() or [""]
        return cls(first, tuple(line.strip() for line in more))


STOPPED = JobFailure("This was stopped.")
DIED = JobFailure("The work ended all of a sudden; perhaps the memory of this machine was not enough for these files.")


@dataclass
class Job:
    """The steps of a job."""

    steps: list[tuple[str, float]] = field(default_factory=list)
    """Each step and when it began."""
    began: float = field(default_factory=time.monotonic)
    stopped: bool = False

    def say(self, step: str) -> None:
        """Record the current step."""
        self.steps.append((step, time.monotonic()))

    def progress(self) -> dict[str, Any]:
        """The current step, the seconds of the job, and the steps before with their seconds."""
        now = time.monotonic()
        ends = [begun for _, begun in self.steps[1:]]
        done = [
            {"step": step, "seconds": round(end - begun)}
            for (step, begun), end in zip(self.steps, ends, strict=False)
        ]  # fmt: skip
        step = self.steps[-1][0] if self.steps else "waiting"
        return {"step": step, "seconds": round(now - self.began), "done": done}


class Worker:
    """The process, which is started at once and again after it was stopped."""

    def __init__(self, root: Path, needed: tuple[str, ...] = NEEDED) -> None:
        self._root, self._needed = root, needed
        self._one_at_a_time, self._stopping = Lock(), Lock()
        self._job: Job | None = None
        self._closed = False
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        arguments = (theirs, str(self._root), self._needed)
        self._process = context.Process(target=serve, args=arguments, name="karat open, at work")
        self._process.start()
        theirs.close()

    def do(self, job: Job, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function in the process; returns its result, or the failure with which it ended."""
        with self._one_at_a_time:
            if job.stopped or self._closed:
                return STOPPED
            if not self._process.is_alive():  # the last job was stopped just when it was done
                self._restart()
            self._job = job
            try:
                self._connection.send((function, arguments))
                while True:
                    kind, reply = self._connection.recv()
                    if kind != "step":
                        return reply
                    job.say(reply)
            except (EOFError, OSError):
                if self._closed:
                    return STOPPED
                self._restart()
                return STOPPED if job.stopped else DIED
            finally:
                with self._stopping:
                    self._job = None

    def stop(self, job: Job) -> None:
        """Stop a job, whether it has begun or is waiting."""
        job.stopped = True
        with self._stopping:
            if self._job is job:
                self._process.kill()
                self._process.join(SECONDS_TO_END)

    def close(self) -> None:
        """End the process."""
        self._closed = True
        self._end()

    def _restart(self) -> None:
        self._end()
        self._start()

    def _end(self) -> None:
        self._process.kill()
        self._process.join(SECONDS_TO_END)
        self._connection.close()


@dataclass
class NamedJob:
    """A job of a page: its progress, and then its result."""

    job: Job = field(default_factory=Job)
    about: dict[str, str] = field(default_factory=dict)
    """The versions of the files that it works on."""
    result: Any = None
    working: bool = True


class Background:
    """Jobs of the pages by name, run one after the other in a process that starts with the first job."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._worker: Worker | None = None
        self._jobs: dict[str, NamedJob] = {}
        self._lock = Lock()

    def begin(self, name: str, about: dict[str, str], function: Callable[..., Any], *arguments: Any) -> None:
        """Begin a job, unless one with this name is running."""
        with self._lock:
            old = self._jobs.get(name)
            if old is not None and old.working:
                raise KaratError("This is being computed already. Wait for it, or stop it.")
            self._worker = self._worker or Worker(self._root)
            self._jobs[name] = named = NamedJob(about=about)
        worker = self._worker

        def run() -> None:
            try:
                named.result = worker.do(named.job, function, *arguments)
            finally:
                named.working = False

        Thread(target=run, daemon=True, name=f"karat open, {name}").start()

    def find(self, name: str) -> NamedJob | None:
        """The job with this name, running or done; None if there was none."""
        return self._jobs.get(name)

    def stop(self, name: str) -> None:
        named = self._jobs.get(name)
        if named is not None and named.working and self._worker is not None:
            self._worker.stop(named.job)

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()


def serve(connection: Connection, root: str, needed: tuple[str, ...] = NEEDED) -> None:
    """Run jobs until the server ends, then delete the temporary folder."""
    for name in ("SIGINT", "SIGHUP"):  # Ctrl-C reaches both processes, and the server handles it
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    for module in needed:
        importlib.import_module(module)
    while True:
        try:
            function, arguments = connection.recv()
        except (EOFError, OSError):
            shutil.rmtree(root, ignore_errors=True)
            return
        answer = _answer(function, arguments, lambda step: connection.send(("step", step)))
        os.chdir(Path(root).parent)  # some systems cannot delete a working directory
        with contextlib.suppress(OSError):
            connection.send(("end", answer))


def _answer(function: Callable[..., Any], arguments: tuple[Any, ...], say: Say) -> Any:
    try:
        return function(*arguments, say)
    except KaratError as error:
        return JobFailure.of(error)
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        return JobFailure(
            f"Something happened that karat did not foresee ({type(error).__name__}: {error}). "
            "The terminal shows where; please tell us."
        )
