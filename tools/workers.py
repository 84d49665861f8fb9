"""Print how many tests may run at a time on this machine, for make test.

Many tests wait for servers, browsers and databases, so three processes keep two cores busy; each further one has to
collect all tests too. A container may use fewer cores than the machine has, and each test process with its browser and
database needs about a gigabyte of memory.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

MOST = 32
BYTES_PER_WORKER = 1_000_000_000
CGROUP = Path("/sys/fs/cgroup")


def workers(cores: float, memory: float) -> int:
    """Three workers for two cores, as far as the memory goes: at least 2, at most 32.

    >>> [workers(*machine) for machine in ((1, 8e9), (2, 24e9), (64, 256e9), (64, 8e9), (0.5, 1e9))]
    [2, 3, 32, 8, 2]
    """
    return max(2, min(MOST, math.ceil(1.5 * cores), int(min(MOST, memory / BYTES_PER_WORKER))))


def usable_cores(folder: Path = CGROUP) -> float:
    """The cores that this process may use: as many as the machine has, or fewer by affinity or in a container."""
    cores = float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    quota, _, period = _text(folder / "cpu.max").partition(" ")
    return min(cores, int(quota) / int(period)) if quota.isdigit() and period.isdigit() else cores


def free_memory(folder: Path = CGROUP, system: Path = Path("/proc/meminfo")) -> float:
    """The bytes that are free, in the machine and in a container; infinity where the system does not say."""
    found = [line.split() for line in _text(system).splitlines() if line.startswith("MemAvailable:")]
    free = [1024.0 * int(words[1]) for words in found]
    most, used = _text(folder / "memory.max"), _text(folder / "memory.current")
    if most.isdigit() and used.isdigit():
        free.append(float(int(most) - int(used)))
    return min(free, default=math.inf)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


if __name__ == "__main__":
    print(workers(usable_cores(), free_memory()))
