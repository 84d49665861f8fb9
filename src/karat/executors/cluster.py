"""Jobs on a Dask cluster: processes of this machine, a running scheduler, or a cluster from a configuration.

If a worker dies, the scheduler gives its jobs to another one. If the scheduler is lost, finished results are lost too,
unless `karat.executors.checkpoint` saves them in a folder. Workers that start later, as in a queue, are used from then
on. With Dask's settings, a worker writes data to disk from 70 % of its memory limit on, takes no new jobs from 80 % on,
and is restarted at 95 %.

A TOML file names the class that starts the cluster, the number of workers, and the options of the class; see
docs/scale.md for SLURM and Kubernetes. It works for any class with `scale`, such as `distributed.LocalCluster`. karat
waits for the first worker of a queue as long as it takes.
"""

import importlib
import logging
import os
import pickle
import re
import signal
import threading
import time
import tomllib
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

from karat import __version__
from karat.errors import counted
from karat.executors.executor import Executor, ExecutorError, MapFunction, Outcome
from karat.signals import signals_handled

AHEAD = 2
"""The number of packages of jobs per process in advance; more would only fill its memory with results."""
WORTHWHILE = 0.5
"""The wanted duration of a package in seconds, because each package costs some milliseconds."""
SMALL = 50_000
"""The size in bytes up to which every package includes the shared data, which is then faster than scattering them."""
COUNTED_EVERY = 2.0
"""Seconds between two counts of the workers."""
LOSSES = 5
"""How often the shared data may be lost with all workers that had them."""
MEMORY = (
    "As a rule the memory is too small: use fewer processes, or give them more (--memory, or where the workers are "
    "started)."
)
SOURCE = "__import__('karat.executors.cluster', fromlist=['_do'])._do(call, package)"
LOST = ("scheduler-connection-lost", "scheduler-restart")


class Cluster(Executor):
    """The workers behind a Dask client."""

    def __init__(self, client: Any) -> None:
        self.client = client

    @property
    def processes(self) -> int:
        """How many jobs are done at a time."""
        threads: dict[str, int] = self.client.nthreads()
        return max(1, sum(threads.values()))

    def results(
        self, function: Callable[[Any, Any], Any], shared: Any, jobs: Sequence[Any], name: str
    ) -> Generator[tuple[int, Any]]:
        if not jobs:
            return
        done = 0
        try:
            with _hearing() as interrupted:
                for place, outcome in _ClusterRun(self, MapFunction(function, shared), jobs, name).outcomes():
                    result = outcome.get()
                    done += 1
                    yield place, result
                    if interrupted():
                        raise KeyboardInterrupt
        except _LostError as error:
            raise ExecutorError(
                f"{name}: the scheduler of the cluster no longer answers, after {done} of "
                f"{counted(len(jobs), 'job')} ({error}). The same command with --checkpoint DIR goes on where it "
                "stopped, once there is a scheduler again."
            ) from error


class _LostError(Exception):
    """The scheduler is lost."""


class _ClusterRun:
    """The jobs of one map, waiting or at the scheduler; quick jobs are sent in packages."""

    def __init__(self, cluster: Cluster, function: MapFunction, jobs: Sequence[Any], name: str) -> None:
        from cloudpickle import dumps
        from distributed import as_completed

        self.cluster, self.client, self.function, self.jobs, self.name = cluster, cluster.client, function, jobs, name
        self.waiting = deque(range(len(jobs)))
        self.sent: dict[Any, list[int]] = {}
        self.done, self.seconds = 0, 0.0
        self.losses, self.counted, self.at_once = 0, -COUNTED_EVERY, 0
        with _scheduler():
            self.coming = as_completed(loop=self.client.loop)
        packed = dumps(function)
        self.everywhere = packed if len(packed) <= SMALL else self._scattered()

    def outcomes(self) -> Iterator[tuple[int, Outcome]]:
        """The outcome of every job, as it arrives."""
        self._send()
        while self.sent:
            with _scheduler():
                future = next(self.coming)
            places = self.sent.pop(future.key)
            outcomes = self._found(future, places)
            self._send()
            yield from zip(places, outcomes, strict=False)

    def _send(self) -> None:
        """Send the scheduler as many packages as its workers can run soon."""
        with _scheduler():
            if time.monotonic() - self.counted > COUNTED_EVERY:
                self.counted, self.at_once = time.monotonic(), AHEAD * self.cluster.processes + 1
            while self.waiting and len(self.sent) < self.at_once:
                places = [self.waiting.popleft() for _ in range(self._together())]
                # A pickle, so that Dask does not search it for futures.
                package = pickle.dumps([self.jobs[place] for place in places], protocol=5)
                future = self._submitted(package)
                self.sent[future.key] = places
                self.coming.add(future)

    def _submitted(self, package: bytes) -> Any:
        """Submit a package. Small shared data go as source text, so that a worker without karat can report that."""
        if not isinstance(self.everywhere, bytes):
            return self.client.submit(_do, self.everywhere, package, key=None, pure=False)
        names = {"call": self.everywhere, "package": package}
        return self.client.submit(eval, SOURCE, names, key=None, pure=False)

    def _together(self) -> int:
        """The number of jobs in a package, so that it is worthwhile and all processes end at about the same time."""
        worthwhile = WORTHWHILE * self.done / self.seconds if self.seconds else 1
        return max(1, min(int(worthwhile), len(self.waiting) // self.at_once))

    def _found(self, future: Any, places: list[int]) -> list[Outcome]:
        """The outcomes of a package up to the first error; empty if its jobs must be repeated."""
        from distributed import KilledWorker

        try:
            with _scheduler():
                outcomes, seconds = future.result()
        except _LostError:
            raise
        except CancelledError:
            # The shared data were lost with their workers.
            self.waiting.extendleft(reversed(places))
            if not isinstance(self.everywhere, bytes) and self.everywhere.status != "finished":
                self.losses += 1
                if self.losses > LOSSES:
                    raise ExecutorError(
                        f"{self.name}: the workers died {LOSSES} times, all of them. {MEMORY}"
                    ) from None
                self.everywhere = self._scattered()
            return []
        except KilledWorker as error:
            raise ExecutorError(f"{self.name}: several workers died with the same job. {MEMORY}") from error
        except Exception as error:
            raise self._at_worker(error) from error
        self.done, self.seconds = self.done + len(outcomes), self.seconds + seconds
        return outcomes  # type: ignore[no-any-return]

    def _scattered(self) -> Any:
        """Send the shared data to every worker, so that any worker can run jobs and one may die."""
        while True:
            try:
                with _scheduler():
                    self.client.wait_for_workers(1)
                    return self.client.scatter(self.function, broadcast=True, hash=False)
            except _LostError:
                # No worker or no scheduler answers; a running scheduler reports its workers.
                with _scheduler():
                    self.client.nthreads()
                self.losses += 1
                if self.losses > LOSSES:
                    raise
            except Exception as error:
                raise self._at_worker(error) from error

    def _at_worker(self, error: Exception) -> ExecutorError:
        """The error for a failure of a worker outside its jobs."""
        if "No module named" in f"{error}":
            return ExecutorError(f"{self.name}: {needs_karat(str(error))}")
        return ExecutorError(f"{self.name}: a worker of the cluster could not do a job: {error}")


def needs_karat(why: str) -> str:
    """The sentence about workers without this version of karat."""
    return (
        f"the workers of the cluster have not the karat of this machine ({why}). Install karat {__version__} wherever "
        "they are started."
    )


def _do(call: MapFunction | bytes, package: bytes) -> tuple[list[Outcome], float]:
    """Run the jobs of a package up to the first error; returns the outcomes and the seconds."""
    begun = time.monotonic()
    function = _unpacked(call) if isinstance(call, bytes) else call
    outcomes: list[Outcome] = []
    for job in pickle.loads(package):  # noqa: S301 - from the calling process
        outcomes.append(function.outcome(job))
        if outcomes[-1].error is not None:
            break
    return outcomes, time.monotonic() - begun


@lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> MapFunction:
    function: MapFunction = pickle.loads(packed)  # noqa: S301 - from the calling process
    return function


@contextmanager
def _hearing() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed; Python drops it during finalizers, which Dask often runs."""
    pressed: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield lambda: False
        return

    def note(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        before(number, frame)

    with signals_handled(("SIGINT",), note):
        yield lambda: bool(pressed)


@contextmanager
def _scheduler() -> Iterator[None]:
    """Convert errors from a lost scheduler within the block, in which only the cluster can fail."""
    from distributed.client import ClosedClientError, FutureCancelledError

    try:
        yield
    except FutureCancelledError as error:
        if error.reason not in LOST:
            raise
        raise _LostError(error.reason) from error
    except (ClosedClientError, OSError) as error:
        # OSError includes CommClosedError and TimeoutError; errors of jobs are outcomes.
        raise _LostError(type(error).__name__) from error


PATIENCE = "distributed.comm.timeouts.connect"
"""Dask's setting for how long to wait for a scheduler or its workers, 30 seconds by default."""
ADDRESS = r"(\w+://)?[\w.\-\[\]:%]+:\d+"
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.scheduler.active-memory-manager.start": False,
}
"""Settings that turn off Dask's monitoring, which takes processor time from the jobs on one machine."""
LASTING = {"distributed.deploy.lost-worker-timeout": "1 day"}
"""The time for a dead worker to restart, which may be long on a busy machine; Dask's default is 15 s."""
EXAMPLE = 'class = "dask_jobqueue.SLURMCluster", workers = 20, and what that class takes under [options]'


@contextmanager
def dask_cluster(where: str, processes: int | None = None, memory: int | None = None) -> Iterator[Cluster]:
    """The cluster that `where` names: local, the address of a scheduler, or a TOML file."""
    try:
        import dask
        import distributed
    except ImportError:
        raise ExecutorError("--cluster needs Dask: pip install 'karat[cluster]'") from None
    if memory is not None and where != "local":
        raise ExecutorError(f"--memory: set the memory of the workers at {where} where they are started.")
    # Dask's log about dead workers does not concern the caller, because the result does not change.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if where == "local":
        with (
            dask.config.set(LASTING),
            _ending(_local(processes, memory)) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield Cluster(client)
    elif where.endswith(".toml"):
        with _ending(_configured(Path(where), processes)) as cluster, distributed.Client(cluster) as client:
            client.wait_for_workers(1)
            _check(client)
            yield Cluster(client)
    else:
        if processes is not None:
            raise ExecutorError(f"--processes: set the number of workers at {where} where they are started.")
        with _client(where) as client:
            yield Cluster(client)


@contextmanager
def _ending(cluster: Any) -> Iterator[Any]:
    """Close a cluster at the end of the block."""
    try:
        yield cluster
    finally:
        # If workers died just before, closing fails after all others have ended, and Dask would try again and wait for
        # ever when Python ends.
        with suppress(Exception):
            cluster.close(timeout=30)
        cluster.shutdown_on_close = False


def processors() -> int:
    """How many processors this process may use.

    >>> processors() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _local(processes: int | None, memory: int | None) -> Any:
    import dask
    from distributed import LocalCluster

    number = processes or processors()
    with dask.config.set(QUIET):
        return LocalCluster(
            n_workers=number,
            threads_per_worker=1,
            memory_limit="auto" if memory is None else memory // number,
            dashboard_address="127.0.0.1:0",
            host="127.0.0.1",
            silence_logs=logging.CRITICAL,
            preload=["karat.executors.cluster"],
        )


@contextmanager
def _client(address: str) -> Iterator[Any]:
    import dask
    from distributed import Client

    kinds = "Write local, an address such as tcp://host:8786, or a file such as cluster.toml."
    if not re.fullmatch(ADDRESS, address):
        raise ExecutorError(f"--cluster {address} is not a cluster karat knows. {kinds}")
    try:
        client = Client(address)
    except (OSError, ValueError) as error:
        raise ExecutorError(f"--cluster {address}: no scheduler answers ({error}). {kinds}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=dask.config.get(PATIENCE))
        except TimeoutError:
            raise ExecutorError(
                f"--cluster {address}: the scheduler has no workers. Start some: dask worker {address}"
            ) from None
        _check(client)
        yield client


def _check(client: Any) -> None:
    """Refuse workers without karat or with another version, whose numbers might differ."""
    versions = client.run(eval, "__import__('karat').__version__", on_error="return")
    for address, version in versions.items():
        if isinstance(version, Exception):
            raise ExecutorError(f"{address}: {needs_karat(str(version))}")
        if version != __version__:
            raise ExecutorError(f"{address}: {needs_karat(f'karat {version}')}")


def _configured(path: Path, processes: int | None) -> Any:
    """Start the cluster of a configuration."""
    settings = _settings(path)
    module, _, name = settings["class"].rpartition(".")
    try:
        cluster = getattr(importlib.import_module(module), name)(**settings.get("options", {}))
    except (ImportError, AttributeError) as error:
        package = module.split(".")[0].replace("_", "-")
        raise ExecutorError(f"{path}: there is no {settings['class']} ({error}). Is {package} installed?") from None
    except (TypeError, ValueError) as error:
        raise ExecutorError(f"{path}: {settings['class']} does not take these options: {error}.") from None
    workers = processes or settings.get("workers")
    if workers is not None:
        cluster.scale(workers)
    return cluster


def _settings(path: Path) -> dict[str, Any]:
    """The checked settings of a configuration file."""
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ExecutorError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ExecutorError(f"{path} is not a TOML file: {error}.") from None
    unknown = sorted(set(settings) - {"class", "workers", "options"})
    if unknown:
        raise ExecutorError(f"{path}: {', '.join(unknown)} is not understood. Write {EXAMPLE}.")
    if not isinstance(settings.get("class"), str) or "." not in settings["class"]:
        raise ExecutorError(f"{path} must name the class of the cluster. Write {EXAMPLE}.")
    workers = settings.get("workers", 1)
    if not isinstance(workers, int) or isinstance(workers, bool) or workers < 1:
        raise ExecutorError(f"{path}: workers must be at least 1, not {workers!r}.")
    if not isinstance(settings.get("options", {}), dict):
        raise ExecutorError(f"{path}: options must be a table, [options], with one line per option. Write {EXAMPLE}.")
    return settings


def dask_setup(worker: object) -> None:
    """Ignore SIGINT in a worker of a local cluster, because its parent stops it; Dask calls this at the start."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
