"""The tables of docs/scale.md, between markers that name them, and what is to be reached."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.marked import Target

from .generated import TRIALS
from .measured import Measured
from .screened import CRITERIA

PARTS = ("summary", "sizes", "peer", "constants", "cost")
"""The names of the markers."""
ROW = "ReMFOD of 1,000,000 trials in parts, on two processes"
MEMORY_ROW = "memory of three criteria on 100,000,000 trials in parts, on two processes"
PUBLISHED = 100_000_000
"""The trials without which the tables of docs/scale.md are not written."""
GIGABYTES, LINEAR, SPEED_UP, BESIDE_MEMORY = 8.0, 1.25, 1.6, 2.0
TOGETHER = 1_000_000
"""Trials up to which one process does the rounds of ReMFOD, since sending for them would take longer. That is so large
a part of the work that two processes cannot be `SPEED_UP` times as fast: the target is for larger sizes."""
PARTICIPANTS, ANSWERS = 1_000_000, 1_000_000_000
CORES = (2, 32, 256)
SERVER = re.compile(r"\(([\d,]+) per second here\)")


@dataclass(frozen=True)
class Size:
    """What was measured of so many trials."""

    trials: int
    parts: int
    bytes: int
    processes: dict[int, Measured]
    """All criteria on so many processes."""
    memory: Measured | None = None
    """All criteria in one memory."""
    alone: dict[str, Measured] | None = None
    """Each criterion alone, on one process."""
    peer: Measured | None = None
    """ReMFOD by plain dask.dataframe, on two processes."""
    beside_peer: Measured | None = None
    """ReMFOD by karat, on two processes."""


def found_of(measured: Measured) -> dict[str, Any]:
    """What a screening found; the run ends where it failed."""
    if measured.found is None:
        raise SystemExit(f"A screening failed: {measured.why}")
    return measured.found


def seconds_of(measured: Measured) -> float:
    """How long a screening took, the start of the cluster left out."""
    return float(found_of(measured)["seconds"])


def targets(sizes: Sequence[Size]) -> list[Target]:
    """What is to be reached, and whether it is."""
    smallest, largest = sizes[0], sizes[-1]
    peak = max(measured.peak for measured in largest.processes.values()) / 1e9
    name = f"{largest.trials:,} trials within {GIGABYTES:g} GB on 2 cores"
    found = [Target(name, f"{peak:.2f} GB at most, all processes together", peak <= GIGABYTES)]
    if len(sizes) > 1:
        per_trial = [seconds_of(size.processes[2]) / size.trials for size in sizes]
        ratio = per_trial[-1] / per_trial[0]
        name = f"time linear from {smallest.trials:,} to {largest.trials:,} trials"
        found.append(Target(name, f"{ratio:.2f} times the time per trial", ratio <= LINEAR))
    for size in [size for size in sizes if 1 in size.processes and size.trials > TOGETHER][-1:]:
        gain = seconds_of(size.processes[1]) / seconds_of(size.processes[2])
        name = f"2 processes at least {SPEED_UP:g} times as fast as 1, {size.trials:,} trials"
        found.append(Target(name, f"{gain:.2f} times", gain >= SPEED_UP))
    if smallest.memory is not None:
        ratio = seconds_of(smallest.processes[2]) / seconds_of(smallest.memory)
        name = f"local cluster at most {BESIDE_MEMORY:g} times the time in memory, {smallest.trials:,} trials"
        found.append(Target(name, f"{ratio:.2f} times, start not counted", ratio <= BESIDE_MEMORY))
    return found


def summary_table(found: Sequence[Target], command: str, machine: str) -> str:
    """All targets."""
    lines = [f"Written by `{command}` on {machine}.", "", "| target | found | |", "| --- | --- | --- |"]
    return "\n".join(
        [*lines, *(f"| {one.name} | {one.found} | {'holds' if one.holds else 'missed'} |" for one in found)]
    )


def size_table(sizes: Sequence[Size]) -> str:
    """Time and memory by size and number of processes."""
    lines = ["| trials | parts | where | seconds | s per million trials | processor seconds | peak memory | start |",
             "| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |"]  # fmt: skip
    for size in sizes:
        rows = [("in memory", size.memory)] if size.memory else []
        rows += [(f"{number} process{'es' if number > 1 else ''}", one) for number, one in size.processes.items()]
        for where, one in rows:
            start = found_of(one).get("start")
            text = "" if start is None else f"{start:.1f} s"
            lines.append(
                f"| {size.trials:,} | {size.parts if start is not None else 1} | {where} | {seconds_of(one):.1f} | "
                f"{1e6 * seconds_of(one) / size.trials:.2f} | {one.processor:.1f} | {one.peak / 1e9:.2f} GB | {text} |"
            )
    return "\n".join(lines)


def peer_table(sizes: Sequence[Size]) -> str:
    """ReMFOD by karat and by plain dask.dataframe, both on two processes."""
    lines = ["| trials | karat | peak | dask.dataframe | peak | ratio |", "| ---: | ---: | ---: | ---: | ---: | ---: |"]
    for size in sizes:
        if size.peer is None or size.beside_peer is None:
            continue
        ours, peak = seconds_of(size.beside_peer), size.beside_peer.peak / 1e9
        theirs = size.peer.why if size.peer.found is None else f"{seconds_of(size.peer):.0f} s"
        ratio = "" if size.peer.found is None else f"{seconds_of(size.peer) / ours:.0f}"
        lines.append(
            f"| {size.trials:,} | {ours:.1f} s | {peak:.2f} GB | {theirs} | {size.peer.peak / 1e9:.2f} GB | {ratio} |"
        )
    return "\n".join(lines) if len(lines) > 2 else "The peer was not run."


def performance_rows(sizes: Sequence[Size]) -> dict[str, str]:
    """The rows of docs/performance.md: the peer on a million trials, and the memory of the largest size."""
    smallest, largest = sizes[0], sizes[-1]
    peer, ours, rows = smallest.peer, smallest.beside_peer, dict[str, str]()
    if smallest.trials == 1_000_000 and peer is not None and peer.found is not None and ours is not None:
        rows[ROW] = f"{seconds_of(peer) / seconds_of(ours):.0f} times faster"
    if largest.trials == PUBLISHED:
        rows[MEMORY_ROW] = f"{max(one.peak for one in largest.processes.values()) / 1e9:.2f} GB"
    return rows


def constants_of(sizes: Sequence[Size]) -> dict[str, float]:
    """What the cost of other sizes is computed from, measured on the largest size that has it.

    Up to a million trials the rounds of ReMFOD are done without sending for tasks, so that they have no pass to time.
    """
    size = next(size for size in reversed(sizes) if size.alone)
    alone = size.alone or {}
    found = {"bytes": size.bytes / size.trials}
    found["between"] = max(found_of(one)["between"] for one in alone.values()) / size.trials
    found["written"] = sum(found_of(one)["written"] for one in alone.values()) * TRIALS / size.trials
    for name in CRITERIA:
        found[name] = size.trials / seconds_of(alone[name])
    passes = found_of(alone["remfod"])["passes"]["remfod"]
    millions = size.trials / 1e6
    found["first pass"], found["last pass"] = passes[0] / millions, passes[-1] / millions
    if len(passes) > 2:
        found["round pass"] = statistics.median(passes[1:-1]) / millions
    found["rounds"] = found_of(alone["remfod"])["rounds"]
    found["memory"] = max(one.peak / number for s in sizes for number, one in s.processes.items()) / 1e9
    return found


def constants_table(constants: dict[str, float], command: str) -> str:
    """The constants with the command that measures them."""
    rows = [
        ("judgments on disk, bytes an answer", f"{constants['bytes']:.1f}"),
        ("files between passes, bytes an answer", f"{constants['between']:.1f}"),
        ("evidence and verdicts of all three criteria, bytes a participant", f"{constants['written']:.0f}"),
        *((f"{name}, answers a core-second", f"{constants[name]:,.0f}") for name in CRITERIA),
        ("ReMFOD, first pass (reading), core-seconds a million answers", f"{constants['first pass']:.2f}"),
        (
            "ReMFOD, a pass of a round, core-seconds a million answers",
            f"{constants['round pass']:.3f}" if "round pass" in constants else "no pass of its own at this size",
        ),
        ("ReMFOD, last pass (writing), core-seconds a million answers", f"{constants['last pass']:.2f}"),
        ("ReMFOD, rounds that found outliers", f"{constants['rounds']:.0f}"),
        ("memory of a process, GB at most", f"{constants['memory']:.2f}"),
    ]
    lines = ["| constant | measured | by |", "| --- | ---: | --- |"]
    return "\n".join([*lines, *(f"| {name} | {value} | `{command}` |" for name, value in rows)])


def cost_table(constants: dict[str, float], readme: str) -> str:
    """What a billion answers of a million participants cost, from the constants."""
    core_seconds = sum(ANSWERS / constants[name] for name in CRITERIA)
    rows = [
        ("judgments on disk", "bytes an answer x answers", f"{constants['bytes'] * ANSWERS / 1e9:.0f} GB"),
        ("files between passes", "bytes an answer x answers", f"{constants['between'] * ANSWERS / 1e9:.0f} GB"),
        ("evidence and verdicts", "bytes x participants", f"{constants['written'] * PARTICIPANTS / 1e9:.1f} GB"),
        ("three criteria", "answers / answers a core-second", f"{core_seconds / 3600:.1f} core-hours"),
        *(
            (f"the same on {cores} cores", "core-hours / cores, as measured from 1 to 2",
             f"{core_seconds / cores / 60:,.1f} minutes") for cores in CORES
        ),
        ("memory on 2 cores", "a process x 2", f"{2 * constants['memory']:.1f} GB"),
    ]  # fmt: skip
    rate = SERVER.search(readme)
    if rate:
        each_second = int(rate[1].replace(",", ""))
        rows.append((
            "to take the answers in, one server process",
            f"answers / {each_second:,} per second (`benchmarks/field.py`)",
            f"{ANSWERS / each_second / 3600:,.0f} hours",
        ))  # fmt: skip
    lines = ["| what | how | cost |", "| --- | --- | ---: |"]
    return "\n".join([*lines, *(f"| {what} | {how} | {cost} |" for what, how, cost in rows)])
