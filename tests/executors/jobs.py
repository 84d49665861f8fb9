"""Tasks for the tests of work: functions of a module, as other processes can find them."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from karat.errors import KaratError, Problem, ProblemsError
from karat.executors import Executor
from karat.types import Progress


class AwkwardError(KaratError):
    """Cannot be made from its words alone."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} is not {two}.")


class StrangeError(Exception):
    """Cannot be carried at all."""

    def __reduce__(self) -> Any:
        raise TypeError("never")


def times(shared: int, task: int) -> int:
    return shared * task


def drawn(shared: int, task: int) -> list[float]:
    return np.random.default_rng([shared, task]).normal(size=3).tolist()


def slow(shared: float, task: int) -> int:
    time.sleep(shared)
    return task


def length(shared: bytes, task: int) -> int:
    return len(shared) + task


class Counted:
    """Something whose journeys into another process can be counted: each leaves a file."""

    def __init__(self, folder: Path, size: int) -> None:
        self.folder, self.size = folder, size

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.folder, "size": self.size, "filling": b"x" * self.size}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.folder, self.size = state["folder"], len(state["filling"])
        (self.folder / f"{os.getpid()}-{time.monotonic_ns()}").touch()


def size_of(shared: Counted, task: int) -> tuple[int, int]:
    """Wait for a second process, so that a machine of any speed has two that work."""
    until = time.monotonic() + 60
    while len(list(shared.folder.iterdir())) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    return os.getpid(), shared.size + task


def noted(shared: Path, task: int) -> int:
    """Leave a mark each time that a task is done."""
    with (shared / f"{task}").open("a") as file:
        file.write("x")
    time.sleep(0.1)
    return task**2


def failing(shared: str, task: int) -> int:
    if task != 1:
        return task
    errors: dict[str, Exception] = {
        "value": ValueError("bad value"), "os": FileNotFoundError(2, "No such file", "x.csv"),
        "timeout": TimeoutError("too slow"), "karat": KaratError("A sentence."),
        "problems": ProblemsError("broken.csv:", [Problem("is not a number", column="rt", number=17)]),
        "awkward": AwkwardError(1, 2), "strange": StrangeError("odd"),
    }  # fmt: skip
    raise errors[shared]


def unpicklable(shared: None, task: int) -> Any:
    return lambda: task


def dying(shared: Path, task: int) -> int:
    """The process dies with task 1, the first time."""
    if task == 1 and not (shared / "died").exists():
        (shared / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def always_dying(shared: None, task: int) -> int:
    if task == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def greedy(shared: int, task: int) -> int:
    filled = np.ones(shared // 8)
    time.sleep(1)
    return len(filled)


def threads(shared: None, task: int) -> str:
    return os.environ.get("OPENBLAS_NUM_THREADS", "")


class Killing:
    """A work in the middle of which a process is killed, once, after the first task is done."""

    def __init__(self, executor: Executor, pids: Callable[[], Sequence[int]]) -> None:
        self.executor, self.pids, self.killed = executor, pids, 0

    @property
    def processes(self) -> int:
        return self.executor.processes

    def map(self, function: Any, shared: Any, tasks: Any, *, name: str, progress: Progress | None = None,
            each: Any = None) -> list[Any]:  # fmt: skip
        def report(done: int, total: int) -> None:
            if not self.killed and done < total:
                self.killed = self.pids()[-1]
                with suppress(ProcessLookupError):
                    os.kill(self.killed, signal.SIGKILL)
            if progress is not None:
                progress(done, total)

        return self.executor.map(function, shared, tasks, name=name, progress=report, each=each)


def same(first: Any, second: Any) -> bool:
    """Bit for bit, whatever it is."""
    return pickle.dumps(first) == pickle.dumps(second)


def pair(shared: Any, task: Any) -> tuple[Any, Any]:
    return shared, task


def ended(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What a process said until its end, for which it has two minutes."""
    try:
        return process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
