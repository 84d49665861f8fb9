"""Where work is done, as people say it: on this machine or a cluster, with how much memory, and what is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from karat.executors.checkpoint import Checkpoint
from karat.executors.executor import Executor, ExecutorError
from karat.executors.processes import Processes

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


@contextmanager
def open_executor(
    cluster: str | None = None,
    *,
    processes: int | None = None,
    memory: int | str | None = None,
    checkpoint: str | Path | None = None,
) -> Iterator[Executor]:
    """A place for work, for the time of a `with` block.

    `cluster` is local, the address of a Dask scheduler or a TOML file (`karat.executors.cluster`); without it,
    work is done here, in so many `processes`. `memory` is what all processes of this machine may use together, besides
    this one. Finished jobs are kept in the folder `checkpoint`: the same work goes on from there.

    >>> with open_executor() as executor:
    ...     executor.map(pow, 2, [1, 2, 3], name="powers")
    [2, 4, 8]
    """
    limit = memory_in_bytes(memory) if isinstance(memory, str) else memory
    if cluster is None:
        with Processes(1 if processes is None else processes, limit) as here:
            yield _keeping(here, checkpoint)
        return
    from karat.executors.cluster import dask_cluster

    with dask_cluster(cluster, processes, limit) as there:
        yield _keeping(there, checkpoint)


def _keeping(executor: Executor, checkpoint: str | Path | None) -> Executor:
    return executor if checkpoint is None else Checkpoint(executor, checkpoint)


def memory_in_bytes(text: str) -> int:
    """An amount of memory as people write it.

    >>> memory_in_bytes("8GB"), memory_in_bytes("500 MB"), memory_in_bytes("1.5gb"), memory_in_bytes("1GiB")
    (8000000000, 500000000, 1500000000, 1073741824)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?\s*", text, re.IGNORECASE)
    if not found or float(found[1]) == 0:
        raise ExecutorError(f"--memory {text}: write an amount such as 8GB or 500MB.")
    power = UNITS[found[2].upper()]
    return int(float(found[1]) * (2 ** (10 * list(UNITS).index(found[2].upper())) if found[3] else power))
