"""Work here and in processes: any number of them gives the same, errors are themselves, the dead are replaced."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from executors import jobs
from executors.jobs import ended
from karat.errors import KaratError, ProblemsError
from karat.executors import SERIAL, Executor, ExecutorError, as_map, open_executor
from karat.executors.executor import portable
from karat.executors.processes import Processes, memory_used
from messages import refuses


@pytest.fixture(scope="module")
def pools() -> Iterator[dict[int, Executor]]:
    with Processes(2) as two, Processes(3) as three:
        yield {1: SERIAL, 2: two, 3: three}


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tasks=st.lists(st.integers(0, 50), max_size=12), number=st.sampled_from([1, 2, 3]), seed=st.integers(0, 9))
def test_any_number_of_processes_gives_the_same(
    pools: dict[int, Executor], tasks: list[int], number: int, seed: int
) -> None:
    assert pools[number].map(jobs.drawn, seed, tasks, name="draws") == [jobs.drawn(seed, task) for task in tasks]


@pytest.mark.parametrize("number", [1, 2])
def test_results_and_progress_are_reported_as_they_come(pools: dict[int, Executor], number: int) -> None:
    said: list[tuple[object, ...]] = []
    pools[number].map(
        jobs.times, 3, [5, 6, 7], name="products",
        progress=lambda done, total: said.append(("done", done, total)),
        each=lambda place, result: said.append(("each", place, result)),
    )  # fmt: skip
    assert sorted(one[1:] for one in said[::2]) == [(0, 15), (1, 18), (2, 21)]
    assert said[1::2] == [("done", 1, 3), ("done", 2, 3), ("done", 3, 3)]


@pytest.mark.slow
def test_processes_stay_for_the_next_map_and_end_with_the_block() -> None:
    with Processes(2) as executor:
        executor.map(jobs.times, 1, [1, 2, 3], name="first")
        before = executor.pids
        executor.map(jobs.times, 2, [1, 2, 3], name="second")
        assert executor.pids == before
        assert len(before) == 2
    assert executor.pids == []
    assert not any(Path(f"/proc/{pid}").exists() for pid in before)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("kind", "error", "names"),
    [
        ("value", ValueError, ["bad value"]),
        ("os", FileNotFoundError, ["x.csv"]),
        ("timeout", TimeoutError, ["too slow"]),
        ("karat", KaratError, ["A sentence."]),
        ("awkward", KaratError, [1, 2]),
        ("strange", ExecutorError, ["StrangeError: odd"]),
    ],
)
def test_an_error_of_a_task_is_raised_as_itself(
    pools: dict[int, Executor], kind: str, error: type[Exception], names: list[object]
) -> None:
    with refuses(error, *names) as raised:
        pools[2].map(jobs.failing, kind, [0, 1, 2, 3], name="failing")
    if kind == "value":
        assert "in failing" in "".join(raised.value.__notes__)
    assert pools[2].map(jobs.times, 2, [1, 2], name="afterwards") == [2, 4]


def test_problems_keep_their_parts(pools: dict[int, Executor]) -> None:
    with pytest.raises(ProblemsError) as raised:
        pools[2].map(jobs.failing, "problems", [0, 1], name="failing")
    assert [(problem.number, problem.column) for problem in raised.value.problems] == [(17, "rt")]
    assert raised.value.headline == "broken.csv:"
    assert not hasattr(portable(KaratError("x")), "__notes__")


@pytest.mark.slow
def test_results_that_cannot_be_carried_are_an_error(pools: dict[int, Executor]) -> None:
    with refuses(Exception, "lambda"):
        pools[2].map(jobs.unpicklable, None, [1, 2], name="functions")


@pytest.mark.slow
def test_what_is_shared_goes_to_each_process_once(tmp_path: Path) -> None:
    with Processes(2) as executor:
        found = executor.map(jobs.size_of, jobs.Counted(tmp_path, 100_000_000), list(range(12)), name="sizes")
        pids = set(executor.pids)
    assert [size for _, size in found] == [100_000_000 + task for task in range(12)]
    assert {pid for pid, _ in found} == pids
    arrived = [int(path.name.split("-")[0]) for path in tmp_path.iterdir()]
    assert sorted(arrived) == sorted(pids)


@pytest.mark.slow
def test_a_process_that_dies_is_replaced_and_its_task_done_again(tmp_path: Path) -> None:
    with Processes(2) as executor:
        assert executor.map(jobs.dying, tmp_path, list(range(6)), name="dying") == list(range(6))
        before = executor.pids
        assert len(before) == 2
        os.kill(before[0], signal.SIGKILL)
        time.sleep(0.2)
        # One that died while there was nothing to do, too.
        assert executor.map(jobs.times, 2, [1, 2, 3], name="afterwards") == [2, 4, 6]


@pytest.mark.slow
def test_a_task_that_kills_every_process_is_given_up() -> None:
    with (
        Processes(2) as executor,
        refuses(ExecutorError, "killers", "3 processes", "signal 9"),
    ):
        executor.map(jobs.always_dying, None, [0, 1, 2], name="killers")
    assert executor.pids == []


@pytest.mark.slow
def test_a_memory_limit_is_kept() -> None:
    most = memory_used() + 2_000_000_000
    with open_executor(processes=2, memory=2 * most) as executor:
        assert executor.map(jobs.greedy, 8_000, [1, 2], name="modest") == [1000, 1000]
    with (
        open_executor(processes=2, memory="800MB") as executor,
        refuses(ExecutorError, "greedy", "400 MB", "--memory", "--processes"),
    ):
        executor.map(jobs.greedy, 900_000_000, [1, 2], name="greedy")
    with open_executor(memory="400MB") as executor, refuses(ExecutorError, "greedy", "--memory"):
        executor.map(jobs.greedy, 900_000_000, [1], name="greedy")


@pytest.mark.slow
def test_processes_use_one_thread_each(pools: dict[int, Executor], monkeypatch: pytest.MonkeyPatch) -> None:
    before = dict(os.environ)
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with Processes(2) as executor:
        assert executor.map(jobs.threads, None, [1, 2], name="threads") == ["1", "1"]
    assert "OPENBLAS_NUM_THREADS" not in os.environ
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    with Processes(2) as executor:
        assert executor.map(jobs.threads, None, [1, 2], name="threads") == ["3", "3"]
    monkeypatch.undo()
    assert dict(os.environ) == before


def test_no_processes_are_refused() -> None:
    with refuses(ExecutorError, "--processes 0"), open_executor(processes=0):
        pass


def test_a_work_as_a_map(pools: dict[int, Executor]) -> None:
    said: list[int] = []
    mapper = as_map(pools[2], name="absolutes", progress=lambda done, total: said.append(total))
    assert list(mapper(abs, range(-3, 0))) == [3, 2, 1]
    assert said == [3, 3, 3]


SCRIPT = """
import sys, time
sys.path[:0] = {paths!r}
from executors import jobs
from executors.jobs import ended
from karat.executors import open_executor
if {guarded} or __name__ == "__main__":
    with open_executor(processes=2) as work:
        def tell(done, total):
            print(*work.pids, flush=True)
        work.map(jobs.slow, {seconds}, [1, 2, 3, 4, 5, 6], name="naps", progress=tell)
"""


def script(tmp_path: Path, root: Path, *, guarded: bool, seconds: float) -> list[str]:
    text = SCRIPT.format(paths=[str(root / "tests")], guarded=not guarded, seconds=seconds)
    (tmp_path / "naps.py").write_text(textwrap.dedent(text))
    return [sys.executable, str(tmp_path / "naps.py")]


def gone(pids: list[int]) -> bool:
    for _ in range(600):
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_interrupting_ends_the_processes(tmp_path: Path, root: Path, end: signal.Signals) -> None:
    """Ctrl-C goes to all processes of a terminal at once; SIGKILL leaves the parent no time to do anything."""
    command = script(tmp_path, root, guarded=True, seconds=1.0)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as done:
        assert done.stdout is not None
        pids = [int(word) for word in done.stdout.readline().split()]
        assert len(pids) == 2
        (os.killpg if end == signal.SIGINT else os.kill)(done.pid, end)
        _, said = ended(done)
        assert done.returncode != 0
    assert gone(pids)
    assert said.count("Traceback") <= 1, said


@pytest.mark.slow
def test_a_script_without_a_guard_is_reported_so(tmp_path: Path, root: Path) -> None:
    done = subprocess.run(script(tmp_path, root, guarded=False, seconds=0.0), capture_output=True, text=True)
    assert done.returncode != 0
    assert 'if __name__ == "__main__":' in done.stderr.splitlines()[-1]
