"""A process that works for the page, one job after the other, and says what it is doing.

Reading and screening may take minutes and much memory. In a process of its own the work can be stopped at once, cannot
hold up the page, and gives its memory back. Should the server be killed, the process notices at the end of its pipe
and deletes the folder in its place.
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
"""Takes the words for what is being done now."""
NEEDED = ("karat.intake", "karat.study.check", "karat.report", "matplotlib.figure", "karat.field.content.texts")
"""What jobs import: loaded while people choose their files."""
SECONDS_TO_END = 5


@dataclass(frozen=True)
class JobFailure:
    """Why a job has no result, in the sentences that a terminal would show."""

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
    """A piece of work: what has been done, what is being done and since when."""

    steps: list[tuple[str, float]] = field(default_factory=list)
    """What was begun, and when."""
    began: float = field(default_factory=time.monotonic)
    stopped: bool = False

    def say(self, step: str) -> None:
        """Note what is being done now."""
        self.steps.append((step, time.monotonic()))

    def progress(self) -> dict[str, Any]:
        """How far it is: the step and its seconds, and the steps before with theirs."""
        now = time.monotonic()
        ends = [begun for _, begun in self.steps[1:]]
        done = [
            {"step": step, "seconds": round(end - begun)}
            for (step, begun), end in zip(self.steps, ends, strict=False)
        ]  # fmt: skip
        step = self.steps[-1][0] if self.steps else "waiting"
        return {"step": step, "seconds": round(now - self.began), "done": done}


class Worker:
    """The process, started at once and anew after it was stopped."""

    def __init__(self, root: Path, needed: tuple[str, ...] = NEEDED) -> None:
        self._root, self._needed = root, needed
        self._one_at_a_time = Lock()
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
        """Have a function called in the process; gives its result, or the failure that it ended with."""
        with self._one_at_a_time:
            if job.stopped or self._closed:
                return STOPPED
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
                self._end()
                self._start()
                return STOPPED if job.stopped else DIED
            finally:
                self._job = None

    def stop(self, job: Job) -> None:
        """Stop a job, whether it has begun or waits for its turn."""
        job.stopped = True
        if self._job is job:
            self._process.kill()

    def close(self) -> None:
        """End the process for good."""
        self._closed = True
        self._end()

    def _end(self) -> None:
        self._process.kill()
        self._process.join(SECONDS_TO_END)
        self._connection.close()


@dataclass
class NamedJob:
    """A job of a page: how far it is, and then what came of it."""

    job: Job = field(default_factory=Job)
    about: dict[str, str] = field(default_factory=dict)
    """The versions of the files that it works on."""
    result: Any = None
    working: bool = True


class Background:
    """Jobs of the pages by their names, one after the other in a process that starts with the first."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._worker: Worker | None = None
        self._jobs: dict[str, NamedJob] = {}
        self._lock = Lock()

    def begin(self, name: str, about: dict[str, str], function: Callable[..., Any], *arguments: Any) -> None:
        """Begin a job, unless one of this name is at work."""
        with self._lock:
            old = self._jobs.get(name)
            if old is not None and old.working:
                raise KaratError("This is being computed already. Wait for it, or stop it.")
            self._worker = self._worker or Worker(self._root)
            self._jobs[name] = made = NamedJob(about=about)
        worker = self._worker

        def run() -> None:
            try:
                made.result = worker.do(made.job, function, *arguments)
            finally:
                made.working = False

        Thread(target=run, daemon=True, name=f"karat open, {name}").start()

    def find(self, name: str) -> NamedJob | None:
        """A job, at work or done; None where there was none in this visit."""
        return self._jobs.get(name)

    def stop(self, name: str) -> None:
        found = self._jobs.get(name)
        if found is not None and found.working and self._worker is not None:
            self._worker.stop(found.job)

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()


def serve(connection: Connection, root: str, needed: tuple[str, ...] = NEEDED) -> None:
    """What the process does: wait for jobs, do them, and tidy up when nobody is left who could ask."""
    for name in ("SIGINT", "SIGHUP"):  # Ctrl-C reaches both processes; the server decides what it means
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
        os.chdir(Path(root).parent)  # some systems do not let a folder go in which somebody stands
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
