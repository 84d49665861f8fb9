"""Independent work gives the same numbers wherever it is done, even if workers die, and after an interruption.

What is done while a process is killed is not also done in peace: the numbers must be the same in either case.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from executors import jobs, studies
from karat.executors import SERIAL, Executor, open_executor
from karat.executors.checkpoint import Checkpoint
from karat.executors.processes import Processes


@cache
def here(name: str) -> str:
    return studies.SHARED[name](SERIAL)


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    with Processes(2) as executor:
        yield executor


@pytest.fixture(scope="module")
def two() -> Iterator[Any]:
    pytest.importorskip("distributed")
    with open_executor("local", processes=2) as executor:
        yield executor


@pytest.fixture(scope="module")
def four() -> Iterator[Any]:
    pytest.importorskip("distributed")
    with open_executor("local", processes=4) as executor:
        yield executor


@pytest.mark.slow
@pytest.mark.parametrize("name", studies.OTHERS)
def test_two_processes_give_the_numbers_of_one(processes: Processes, name: str) -> None:
    assert studies.SHARED[name](processes) == here(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", studies.SHARED)
def test_a_cluster_of_four_gives_the_numbers_of_one(four: Executor, name: str) -> None:
    assert studies.SHARED[name](four) == here(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", studies.KILLED)
def test_a_process_killed_in_the_middle_changes_nothing(processes: Processes, name: str) -> None:
    killing = jobs.Killing(processes, lambda: processes.pids)
    assert studies.KILLED[name](killing) == here(name)
    assert killing.killed
    assert killing.killed not in processes.pids


@pytest.mark.slow
@pytest.mark.parametrize("name", studies.KILLED)
def test_a_worker_killed_in_the_middle_changes_nothing(two: Any, name: str) -> None:
    two.client.wait_for_workers(2)
    killing = jobs.Killing(two, lambda: list(two.client.run(os.getpid).values()))
    assert studies.KILLED[name](killing) == here(name)
    assert killing.killed


class Counting(Executor):
    """A work that counts the tasks that it is given, and breaks off after some of them."""

    def __init__(self, most: int | None = None) -> None:
        self.tasks, self.most = 0, most

    @property
    def processes(self) -> int:
        return 1

    def results(self, function: Any, shared: Any, jobs: Any, name: str) -> Generator[tuple[int, Any]]:
        for one in SERIAL.results(function, shared, jobs, name):
            self.tasks += 1
            yield one
            if self.most is not None and self.tasks >= self.most:
                raise ConnectionAbortedError("broken off")


@pytest.mark.slow
@pytest.mark.parametrize("name", studies.SHARED)
def test_work_that_was_broken_off_goes_on_from_its_folder(tmp_path: Path, name: str) -> None:
    whole = Counting()
    studies.SHARED[name](Checkpoint(whole, tmp_path / "whole"))
    first, second = Counting(most=max(1, whole.tasks // 2)), Counting()
    with pytest.raises(ConnectionAbortedError):
        studies.SHARED[name](Checkpoint(first, tmp_path / "halves"))
    assert studies.SHARED[name](Checkpoint(second, tmp_path / "halves")) == here(name)
    assert first.tasks + second.tasks == whole.tasks


SCRIPT = """
import sys
sys.path[:0] = [{tests!r}]
from executors import studies
from executors.test_same_numbers import Counting
from karat.executors.checkpoint import Checkpoint
counting = Counting()
for name, do in studies.SHARED.items():
    do(Checkpoint(counting, {folder!r}))
    print(name, counting.tasks)
    counting.tasks = 0
"""


@pytest.mark.slow
def test_what_was_kept_is_found_by_another_process(tmp_path: Path, root: Path) -> None:
    """The order of a set is another in every process, and must not be part of a name."""
    code = SCRIPT.format(tests=str(root / "tests"), folder=str(tmp_path))
    lines = []
    for seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | {"PYTHONHASHSEED": seed}
        )
        assert not run.returncode, run.stderr
        lines.append(dict(line.split() for line in run.stdout.splitlines()))
    assert all(int(tasks) > 1 for tasks in lines[0].values())
    assert set(lines[1].values()) == {"0"}, lines[1]
