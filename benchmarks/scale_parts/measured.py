"""A command with the largest memory that all its processes take together, and room on the machine looked at before."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
EVERY = 0.25
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS", "ARROW_DEFAULT_NUM_THREADS"),
    "1",
)


@dataclass(frozen=True)
class Measured:
    """What a command printed last, as data (None where it took too long or failed), and its peak memory in bytes."""

    found: dict[str, Any] | None
    peak: int
    processor: float
    """The seconds of processor time that all of them took, their start included."""
    why: str = ""


def measure(command: Sequence[str], environment: Mapping[str, str] | None = None, limit: float = 7200) -> Measured:
    """Run a command and watch the memory of it and of all processes below it."""
    before = _processor()
    running = subprocess.Popen(
        command, cwd=ROOT, env=os.environ | dict(environment or {}), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    watch = _Watch(running.pid)
    watch.start()
    try:
        out, err = running.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        for process in reversed(family(running.pid)):
            _end(process)
        running.communicate()
        return Measured(None, watch.peak, _processor() - before, f"not done after {limit:.0f} s")
    finally:
        watch.done.set()
        watch.join()
    if running.returncode:
        return Measured(None, watch.peak, _processor() - before, (err.strip().splitlines() or ["failed"])[-1])
    return Measured(json.loads(out.strip().splitlines()[-1]), watch.peak, _processor() - before)


def python(module: str, *arguments: object) -> list[str]:
    """The command for a module of this benchmark."""
    return [sys.executable, "-m", f"benchmarks.scale_parts.{module}", *map(str, arguments)]


class _Watch(threading.Thread):
    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.process, self.peak, self.done = process, 0, threading.Event()

    def run(self) -> None:
        while not self.done.wait(EVERY):
            self.peak = max(self.peak, sum(map(memory, family(self.process))))


def family(process: int) -> list[int]:
    """A process and all below it; only itself where the system does not tell."""
    found = [process]
    for one in found:
        try:
            for thread in Path(f"/proc/{one}/task").iterdir():
                found += [int(child) for child in (thread / "children").read_text().split()]
        except OSError:
            continue
    return found


def memory(process: int) -> int:
    """What a process takes, pages that several share divided among them; 0 where it is gone."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def _processor() -> float:
    """The processor time of all processes that were started here and are done."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _end(process: int) -> None:
    try:
        os.kill(process, 9)
    except OSError:
        return


def check_room(folder: Path, disk: int, memory_needed: int) -> None:
    """End with a word where there is too little disk or memory for what is to come."""
    free = shutil.disk_usage(folder).free
    if free < disk:
        raise SystemExit(f"{folder} has {free / 1e9:.0f} GB free, and this takes up to {disk / 1e9:.0f} GB.")
    available = available_memory()
    if available is not None and available < memory_needed:
        raise SystemExit(
            f"{available / 1e9:.1f} GB of memory are free, and this may take {memory_needed / 1e9:.1f} GB."
        )


def available_memory() -> int | None:
    """The bytes of memory that can be had; None where the system does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)
