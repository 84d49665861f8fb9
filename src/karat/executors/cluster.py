"""Tasks on a Dask cluster: processes of this machine, a scheduler somewhere, or one that a configuration starts.

A worker that dies is no trouble: the scheduler gives its jobs to another one. Where the scheduler itself is lost, what
is done is lost with it, unless `karat.executors.checkpoint` keeps it in a folder. Workers that come later, as those of
a queue do, are used from then on. A worker that is short of memory puts what it holds on disk, from 70 % of its limit
on, and waits with new jobs from 80 % on; one that goes on growing is ended at 95 % and started again (these are Dask's
settings).

A file in TOML names the class that starts the cluster, how many workers it shall have, and what that class takes; see
docs/scale.md for SLURM and Kubernetes. It works for any class that can `scale`, `distributed.LocalCluster` among them.
The workers of a queue come when it is their turn: karat begins with the first, and waits for it as long as it takes.
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
"""Packages of jobs that wait at each process; more would only fill its memory with results."""
WORTHWHILE = 0.5
"""Seconds that a package of jobs shall take: sending for one costs some milliseconds, here and at the scheduler."""
SMALL = 50_000
"""Bytes up to which what all jobs share is sent along with every package, which takes less than to deal it out."""
COUNTED_EVERY = 2.0
"""Seconds between two looks at how many workers there are."""
LOSSES = 5
"""How often what all jobs share may be lost with all workers that held it."""
MEMORY = (
    "As a rule the memory is too small: use fewer processes, or give them more (--memory, or where the workers are "
    "started)."
)
IN_WORDS = "__import__('karat.executors.cluster', fromlist=['_do'])._do(given, package)"
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
    """The scheduler is gone."""


class _ClusterRun:
    """The jobs of one map: those that wait, and those that the scheduler has; of quick ones, several at a time."""

    def __init__(self, cluster: Cluster, given: MapFunction, jobs: Sequence[Any], name: str) -> None:
        from cloudpickle import dumps
        from distributed import as_completed

        self.cluster, self.client, self.given, self.jobs, self.name = cluster, cluster.client, given, jobs, name
        self.waiting = deque(range(len(jobs)))
        self.sent: dict[Any, list[int]] = {}
        self.done, self.seconds = 0, 0.0
        self.losses, self.counted, self.at_once = 0, -COUNTED_EVERY, 0
        with _scheduler():
            self.coming = as_completed(loop=self.client.loop)
        packed = dumps(given)
        self.everywhere = packed if len(packed) <= SMALL else self._scattered()

    def outcomes(self) -> Iterator[tuple[int, Outcome]]:
        """What became of every job, as it comes in."""
        self._send()
        while self.sent:
            with _scheduler():
                future = next(self.coming)
            places = self.sent.pop(future.key)
            found = self._found(future, places)
            self._send()
            yield from zip(places, found, strict=False)

    def _send(self) -> None:
        """Give the scheduler as many packages as its workers can soon do."""
        with _scheduler():
            if time.monotonic() - self.counted > COUNTED_EVERY:
                self.counted, self.at_once = time.monotonic(), AHEAD * self.cluster.processes + 1
            while self.waiting and len(self.sent) < self.at_once:
                places = [self.waiting.popleft() for _ in range(self._together())]
                # A pickle, so that Dask does not look into it for results that are still to come.
                package = pickle.dumps([self.jobs[place] for place in places], protocol=5)
                future = self._submitted(package)
                self.sent[future.key] = places
                self.coming.add(future)

    def _submitted(self, package: bytes) -> Any:
        """A package at the scheduler. Sent along, karat is asked for in words: a worker without it can then say so."""
        if not isinstance(self.everywhere, bytes):
            return self.client.submit(_do, self.everywhere, package, key=None, pure=False)
        given = {"given": self.everywhere, "package": package}
        return self.client.submit(eval, IN_WORDS, given, key=None, pure=False)

    def _together(self) -> int:
        """How many jobs make a package: it shall be worthwhile, and all processes shall end at about the same time."""
        worthwhile = WORTHWHILE * self.done / self.seconds if self.seconds else 1
        return max(1, min(int(worthwhile), len(self.waiting) // self.at_once))

    def _found(self, future: Any, places: list[int]) -> list[Outcome]:
        """What became of the jobs of a package, up to the first error; nothing where they are to be done again."""
        from distributed import KilledWorker

        try:
            with _scheduler():
                outcomes, seconds = future.result()
        except _LostError:
            raise
        except CancelledError:
            # What all jobs share was lost with the workers that held it.
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
        """What all jobs share, sent to every worker, so that any of them can be given jobs and one may die."""
        while True:
            try:
                with _scheduler():
                    self.client.wait_for_workers(1)
                    return self.client.scatter(self.given, broadcast=True, hash=False)
            except _LostError:
                # No worker answers, or no scheduler: a scheduler that lives says how many workers there are.
                with _scheduler():
                    self.client.nthreads()
                self.losses += 1
                if self.losses > LOSSES:
                    raise
            except Exception as error:
                raise self._at_worker(error) from error

    def _at_worker(self, error: Exception) -> ExecutorError:
        """What went wrong at a worker, but not in a job."""
        if "No module named" in f"{error}":
            return ExecutorError(f"{self.name}: {needs_karat(str(error))}")
        return ExecutorError(f"{self.name}: a worker of the cluster could not do a job: {error}")


def needs_karat(why: str) -> str:
    """What to say of workers that do not know karat."""
    from karat import __version__

    return (
        f"the workers of the cluster have not the karat of this machine ({why}). Install karat {__version__} wherever "
        "they are started."
    )


def _do(given: MapFunction | bytes, package: bytes) -> tuple[list[Outcome], float]:
    """Do the jobs of a package, up to the first error, and say how long it took."""
    begun = time.monotonic()
    own = _unpacked(given) if isinstance(given, bytes) else given
    outcomes: list[Outcome] = []
    for job in pickle.loads(package):  # noqa: S301 - from the process that asks
        outcomes.append(own.outcome(job))
        if outcomes[-1].error is not None:
            break
    return outcomes, time.monotonic() - begun


@lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> MapFunction:
    given: MapFunction = pickle.loads(packed)  # noqa: S301 - from the process that asks
    return given


@contextmanager
def _hearing() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed. Python drops it where it comes while something is tidied up, as Dask often does."""
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
    """Within it only the cluster can fail; a lost scheduler is distinguished from everything else."""
    from distributed.client import ClosedClientError, FutureCancelledError

    try:
        yield
    except FutureCancelledError as error:
        if error.reason not in LOST:
            raise
        raise _LostError(error.reason) from error
    except (ClosedClientError, OSError) as error:
        # Among them are CommClosedError and TimeoutError; errors of jobs come back as outcomes.
        raise _LostError(type(error).__name__) from error


PATIENCE = "distributed.comm.timeouts.connect"
"""Dask's setting, 30 seconds by default, of how long to wait for a scheduler that does not answer or has no workers."""
ADDRESS = r"(\w+://)?[\w.\-\[\]:%]+:\d+"
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.scheduler.active-memory-manager.start": False,
}
"""What Dask watches in itself beside the work; on one machine it takes processor time from it."""
LASTING = {"distributed.deploy.lost-worker-timeout": "1 day"}
"""A worker that died comes again, on a busy machine after a while; by default Dask gives its place up after 15 s."""
EXAMPLE = 'class = "dask_jobqueue.SLURMCluster", workers = 20, and what that class takes under [options]'


@contextmanager
def dask_cluster(where: str, processes: int | None = None, memory: int | None = None) -> Iterator[Cluster]:
    """The cluster that `where` names: local, the address of a scheduler, or a TOML file that says how to start one."""
    try:
        import dask
        import distributed
    except ImportError:
        raise ExecutorError("--cluster needs Dask: pip install 'karat[cluster]'") from None
    if memory is not None and where != "local":
        raise ExecutorError(f"--memory: set the memory of the workers at {where} where they are started.")
    # What Dask logs of a worker that died is no news to the caller, who waits for the result, which does not change.
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
    """A cluster that was started here, and is ended at the end of the block."""
    try:
        yield cluster
    finally:
        # Where workers died just before, Dask stumbles over them after it has ended all others, and would wait for
        # ever when it tries again as Python ends.
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
    """Refuse workers without karat, or with another one, whose numbers might differ."""
    found = client.run(eval, "__import__('karat').__version__", on_error="return")
    for address, version in found.items():
        if isinstance(version, Exception):
            raise ExecutorError(f"{address}: {needs_karat(str(version))}")
        if version != __version__:
            raise ExecutorError(f"{address}: {needs_karat(f'karat {version}')}")


def _configured(path: Path, processes: int | None) -> Any:
    """The cluster of a configuration: the class that starts it, its options, and how many workers it shall have."""
    stated = _stated(path)
    module, _, name = stated["class"].rpartition(".")
    try:
        made = getattr(importlib.import_module(module), name)(**stated.get("options", {}))
    except (ImportError, AttributeError) as error:
        package = module.split(".")[0].replace("_", "-")
        raise ExecutorError(f"{path}: there is no {stated['class']} ({error}). Is {package} installed?") from None
    except (TypeError, ValueError) as error:
        raise ExecutorError(f"{path}: {stated['class']} does not take these options: {error}.") from None
    workers = processes or stated.get("workers")
    if workers is not None:
        made.scale(workers)
    return made


def _stated(path: Path) -> dict[str, Any]:
    try:
        stated = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ExecutorError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ExecutorError(f"{path} is not a TOML file: {error}.") from None
    unknown = sorted(set(stated) - {"class", "workers", "options"})
    if unknown:
        raise ExecutorError(f"{path}: {', '.join(unknown)} is not understood. Write {EXAMPLE}.")
    if not isinstance(stated.get("class"), str) or "." not in stated["class"]:
        raise ExecutorError(f"{path} must name the class of the cluster. Write {EXAMPLE}.")
    workers = stated.get("workers", 1)
    if not isinstance(workers, int) or isinstance(workers, bool) or workers < 1:
        raise ExecutorError(f"{path}: workers must be at least 1, not {workers!r}.")
    if not isinstance(stated.get("options", {}), dict):
        raise ExecutorError(f"{path}: options must be a table, [options], with one line per option. Write {EXAMPLE}.")
    return stated


def dask_setup(worker: object) -> None:
    """Called by Dask as a worker of a local cluster begins: Ctrl-C is for the process that started it and ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
