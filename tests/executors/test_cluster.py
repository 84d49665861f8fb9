"""Work on a Dask cluster: the same as here, with 2 and with 4 processes; errors, lost workers, lost schedulers."""

from __future__ import annotations

import importlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import karat
from executors import jobs
from executors.jobs import ended
from karat.errors import ProblemsError
from karat.executors import SERIAL, Executor, ExecutorError, open_executor
from karat.executors.cluster import Cluster
from messages import refuses

dask = pytest.importorskip("dask")
if find_spec("distributed") is None:  # which takes a second to load
    pytest.skip("distributed is not installed: make setup-dev", allow_module_level=True)


def having(setting: str, value: str) -> Any:
    """A setting of Dask for a block; loaded only within it, all settings would be lost at its end."""
    importlib.import_module("distributed")
    return dask.config.set({f"distributed.{setting}": value})


def patience(time: str) -> Any:
    """For a block: how long Dask waits for a scheduler and its workers."""
    return having("comm.timeouts.connect", time)


def pids_of(executor: Executor) -> list[int]:
    """The processes of the workers of a cluster."""
    assert isinstance(executor, Cluster)
    return list(executor.client.run(os.getpid).values())


@pytest.fixture(scope="module")
def two() -> Iterator[Executor]:
    """Workers that die come again, also where Dask is set to wait no longer than a busy machine makes it wait."""
    with having("deploy.lost-worker-timeout", "10 ms"), open_executor("local", processes=2) as executor:
        yield executor


@contextmanager
def scheduler(folder: Path, workers: int = 1, tests: Path | None = None) -> Iterator[tuple[str, dict[str, int]]]:
    """A scheduler in a process of its own, its address, and the ids of it and its workers; ended at the end."""
    where = {"PYTHONPATH": str(tests)} if tests else {}
    environment = os.environ | where | {"PYTHONDONTWRITEBYTECODE": "1"}
    with ExitStack() as stack:

        def start(name: str, *arguments: str) -> subprocess.Popen[str]:
            command = [sys.executable, "-m", f"distributed.cli.{name}", *arguments]
            said = stack.enter_context((folder / f"{name}.log").open("w"))
            process = subprocess.Popen(command, stderr=said, stdout=said, text=True, cwd=folder, env=environment)
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        first = start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        address = _said(folder / "dask_scheduler.log", r"tcp://127.0.0.1:\d+")
        pids = {"scheduler": first.pid}
        for number in range(workers):
            one = start("dask_worker", address, "--no-nanny", "--nthreads", "1", "--no-dashboard")
            pids[f"worker {number + 1}"] = one.pid
        yield address, pids


def _said(path: Path, pattern: str) -> str:
    for _ in range(600):
        found = re.search(pattern, path.read_text())
        if found:
            return found[0]
        time.sleep(0.1)
    raise AssertionError(path.read_text())


def test_results_in_order_with_progress(two: Executor) -> None:
    said: list[tuple[int, int]] = []
    kept: dict[int, object] = {}
    tasks = list(range(20))
    found = two.map(
        jobs.drawn, 3, tasks, name="draws",
        progress=lambda *at: said.append(at), each=lambda place, result: kept.update({place: result}),
    )  # fmt: skip
    assert found == SERIAL.map(jobs.drawn, 3, tasks, name="draws")
    assert said == [(done, 20) for done in range(1, 21)]
    assert kept == dict(enumerate(found))
    assert two.processes == 2
    assert two.map(jobs.times, 2, [], name="nothing") == []


@pytest.mark.parametrize("shared", [(1, 2), [1, 2], {"a": 1}, "text", None])
def test_whatever_is_shared_and_asked_comes_as_it_is(two: Executor, shared: object) -> None:
    tasks = [(1, [2]), {"a": (1,)}, None, "a-key"]
    assert two.map(jobs.pair, shared, tasks, name="pairs") == [(shared, task) for task in tasks]


@pytest.mark.parametrize(
    ("kind", "error", "names"),
    [
        ("os", FileNotFoundError, ["x.csv"]),
        ("timeout", TimeoutError, ["too slow"]),
        ("problems", ProblemsError, ["broken.csv", "line 17", "rt"]),
        ("strange", ExecutorError, ["StrangeError: odd"]),
    ],
)
def test_an_error_of_a_task_is_no_lost_scheduler(
    two: Executor, kind: str, error: type[Exception], names: list[str]
) -> None:
    with refuses(error, *names):
        two.map(jobs.failing, kind, [0, 1, 2], name="failing")
    with refuses(OSError, "disk full"):
        two.map(jobs.times, 2, [1, 2], name="products", each=full)
    assert two.map(jobs.times, 2, [1, 2], name="afterwards") == [2, 4]


def full(place: int, result: object) -> None:
    raise OSError("disk full")


@pytest.mark.slow
def test_what_is_shared_goes_to_each_worker_once(two: Executor, tmp_path: Path) -> None:
    found = two.map(jobs.size_of, jobs.Counted(tmp_path, 100_000_000), list(range(12)), name="sizes")
    pids = pids_of(two)
    assert [size for _, size in found] == [100_000_000 + task for task in range(12)]
    assert {pid for pid, _ in found} == set(pids)
    arrived = [int(path.name.split("-")[0]) for path in tmp_path.iterdir()]
    assert sorted(arrived) == sorted(pids)


@pytest.mark.slow
def test_workers_that_die_change_nothing(two: Executor) -> None:
    """One in the middle, then both at once, so that what all tasks share is lost with them."""
    killing = jobs.Killing(two, lambda: pids_of(two))
    assert killing.map(jobs.slow, 0.1, list(range(16)), name="naps") == list(range(16))
    assert killing.killed
    assert isinstance(two, Cluster)
    two.client.wait_for_workers(2)

    def kill_all(done: int, total: int) -> None:
        if done == 3:
            for pid in pids_of(two):
                os.kill(pid, signal.SIGKILL)

    assert two.map(jobs.slow, 0.1, list(range(16)), name="naps", progress=kill_all) == list(range(16))
    two.client.wait_for_workers(2)


@pytest.mark.slow
def test_a_task_that_kills_every_worker_is_given_up() -> None:
    with (
        open_executor("local", processes=2) as executor,
        refuses(ExecutorError, "killers", "--memory"),
    ):
        executor.map(jobs.always_dying, None, [0, 1, 2], name="killers")


@pytest.mark.slow
def test_work_goes_on_from_the_folder_of_a_lost_scheduler(tmp_path: Path, root: Path) -> None:
    marks, folder = tmp_path / "marks", tmp_path / "kept"
    marks.mkdir()
    tasks = list(range(12))
    with scheduler(tmp_path, 2, root / "tests") as (address, pids):

        def lose(done: int, total: int) -> None:
            if done == 5:
                os.kill(pids["scheduler"], signal.SIGKILL)

        with (
            refuses(ExecutorError, "squares", "12 jobs", "--checkpoint DIR"),
            open_executor(address, checkpoint=folder) as executor,
        ):
            executor.map(jobs.noted, marks, tasks, name="squares", progress=lose)
    kept = len(list(folder.iterdir()))
    assert 5 <= kept < 12
    before = {path.name: len(path.read_text()) for path in marks.iterdir()}
    with open_executor("local", processes=2, checkpoint=folder) as executor:
        said: list[tuple[int, int]] = []
        found = executor.map(jobs.noted, marks, tasks, name="squares", progress=lambda *at: said.append(at))
    assert found == [task**2 for task in tasks]
    assert said == [(done, 12) for done in range(1, 13)]
    again = sum(len(path.read_text()) - before.get(path.name, 0) for path in marks.iterdir())
    assert again == 12 - kept


def test_places_that_are_none(tmp_path: Path) -> None:
    for where in ("nonsense", "tcp://127.0.0.1:1"):
        names = f"--cluster {where}", "local", "cluster.toml"
        with patience("500 ms"), refuses(ExecutorError, *names), open_executor(where):
            pass
    with refuses(ExecutorError, tmp_path / "none.toml"), open_executor(str(tmp_path / "none.toml")):
        pass
    with (
        refuses(ExecutorError, "--memory"),
        open_executor("tcp://127.0.0.1:1", memory="1GB"),
    ):
        pass
    with refuses(ExecutorError, "--processes"), open_executor("tcp://127.0.0.1:1", processes=2):
        pass


@pytest.mark.slow
def test_workers_without_karat_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    libraries = Path(distributed.__file__).parent.parent
    with scheduler(tmp_path, 0) as (address, _):
        with (
            patience("2 s"),
            refuses(ExecutorError, f"dask worker {address}"),
            open_executor(address),
        ):
            pass
        # Without site, so that what is only linked into the libraries, as karat is here, is not found.
        command = [sys.executable, "-S", "-m", "distributed.cli.dask_worker", address, "--no-nanny", "--no-dashboard"]
        environment = os.environ | {"PYTHONPATH": str(libraries)}
        with (tmp_path / "bare.log").open("w") as said:
            bare = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=said, stderr=said)
        try:
            if (libraries / "karat").exists():
                pytest.skip("karat is installed beside Dask")
            with (
                refuses(ExecutorError, f"karat {karat.__version__}"),
                open_executor(address),
            ):
                pass
            # One that came later: the first task says so.
            monkeypatch.setattr(distributed.Client, "run", lambda *_, **__: {})
            with (
                refuses(ExecutorError, "naps", f"karat {karat.__version__}"),
                open_executor(address) as executor,
            ):
                executor.map(jobs.slow, 0.0, [1, 2], name="naps")
        finally:
            bare.kill()
            bare.wait()


CONFIGURATION = """
class = "distributed.LocalCluster"
workers = 2

[options]
n_workers = 0
threads_per_worker = 1
dashboard_address = ":0"
host = "127.0.0.1"
"""


@pytest.mark.slow
def test_a_configuration_starts_a_cluster(tmp_path: Path) -> None:
    path = tmp_path / "cluster.toml"
    path.write_text(CONFIGURATION)
    with open_executor(str(path)) as executor:
        assert isinstance(executor, Cluster)
        executor.client.wait_for_workers(2)
        assert executor.map(jobs.times, 2, list(range(9)), name="products") == [2 * task for task in range(9)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("class = ", ["TOML"]),
        ("workers = 2", ["class"]),
        ('class = "x"', ["class"]),
        ('class = "a.B"\nqueue = "short"', ["queue"]),
        ('class = "no_such.Cluster"', ["no_such.Cluster", "no-such"]),
        ('class = "distributed.NoCluster"', ["distributed.NoCluster"]),
        ('class = "fractions.Fraction"\n[options]\nnumerator = "x"', ["fractions.Fraction", "options"]),
        ('class = "a.B"\nworkers = 0', ["workers", "0"]),
        ('class = "a.B"\noptions = 1', ["[options]"]),
    ],
)
def test_configurations_that_cannot_be(tmp_path: Path, text: str, names: list[str]) -> None:
    path = tmp_path / "cluster.toml"
    path.write_text(text)
    with refuses(ExecutorError, path, *names), open_executor(str(path)):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGINT])
def test_interrupting_ends_the_workers(tmp_path: Path, root: Path, end: signal.Signals) -> None:
    text = f"""
import os, sys
sys.path[:0] = [{str(root / "tests")!r}]
from executors import jobs
from executors.jobs import ended
from karat.executors import open_executor
if __name__ == "__main__":
    with open_executor("local", processes=2) as work:
        pids = list(work.client.run(os.getpid).values())
        work.map(jobs.slow, 0.5, list(range(50)), name="naps", progress=lambda *_: print(*pids, flush=True))
"""
    (tmp_path / "naps.py").write_text(text)
    command = [sys.executable, str(tmp_path / "naps.py")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as done:
        assert done.stdout is not None
        pids = [int(word) for word in done.stdout.readline().split()]
        assert len(pids) == 2
        os.killpg(done.pid, end)
        _, said = ended(done)
        assert done.returncode != 0
        assert "KeyboardInterrupt" in said
    for _ in range(600):
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            break
        time.sleep(0.1)
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


@pytest.mark.slow
def test_without_a_cluster_nothing_of_dask_is_imported() -> None:
    code = (
        "import sys, karat.executors as w\n"
        "with w.open_executor(processes=1) as work: work.map(pow, 2, [1, 2], name='powers')\n"
        "heavy = ['dask', 'distributed', 'tornado', 'numpy', 'polars']\n"
        "print([name for name in heavy[:3] if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.slow
def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with refuses(ExecutorError, "pip install 'karat[cluster]'"), open_executor("local"):
        pass
