"""Clusters by name: `local`, the address of a scheduler, or a file that says how to start one.

A file in TOML names the class that starts the cluster, how many workers it shall have, and what that class takes. On
SLURM, with dask-jobqueue, where one worker is one job:

    class = "dask_jobqueue.SLURMCluster"
    workers = 20

    [options]
    queue = "short"
    cores = 1
    processes = 1
    memory = "8GB"
    walltime = "02:00:00"
    job_script_prologue = ["source ~/karat/bin/activate"]

On Kubernetes, with dask-kubernetes, from an image with Dask and karat in it:

    class = "dask_kubernetes.operator.KubeCluster"
    workers = 50

    [options]
    name = "karat"
    image = "registry.example/karat:0.1.0"
    resources = { requests = { memory = "8Gi", cpu = "1" }, limits = { memory = "8Gi", cpu = "1" } }

The workers of a queue come when it is their turn: karat begins with the first, and waits for it as long as it takes.
The same file works for any class that can `scale`, `distributed.LocalCluster` among them.
"""

from __future__ import annotations

import importlib
import logging
import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from karat import __version__
from karat.executors.cluster import Cluster, needs_karat
from karat.executors.executor import ExecutorError

PATIENCE = 30.0
"""Seconds until a scheduler that does not answer, or has no workers, is given up."""
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
        raise ExecutorError(f"--memory: the workers at {where} have theirs from where they are started; say it there.")
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
            raise ExecutorError(f"--processes: how many there are at {where} is said where they are started.")
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
            cluster.close(timeout=PATIENCE)
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
            preload=["karat.executors.ignore_sigint"],
        )


@contextmanager
def _client(address: str) -> Iterator[Any]:
    from distributed import Client

    kinds = "Write local, an address such as tcp://host:8786, or a file such as cluster.toml."
    if not re.fullmatch(ADDRESS, address):
        raise ExecutorError(f"--cluster {address} is no place. {kinds}")
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise ExecutorError(f"--cluster {address}: there is no scheduler that answers ({error}). {kinds}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
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
        raise ExecutorError(f"{path} is no TOML file: {error}.") from None
    unknown = sorted(set(stated) - {"class", "workers", "options"})
    if unknown:
        raise ExecutorError(f"{path} knows no {', '.join(unknown)}. Write {EXAMPLE}.")
    if not isinstance(stated.get("class"), str) or "." not in stated["class"]:
        raise ExecutorError(f"{path} must name the class of the cluster. Write {EXAMPLE}.")
    workers = stated.get("workers", 1)
    if not isinstance(workers, int) or isinstance(workers, bool) or workers < 1:
        raise ExecutorError(f"{path}: workers is a number of 1 or more, got {workers!r}.")
    if not isinstance(stated.get("options", {}), dict):
        raise ExecutorError(f"{path}: options is a part, [options], with a line for each. Write {EXAMPLE}.")
    return stated
