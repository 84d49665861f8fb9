"""Screening judgments that lie in parts on disk, by size and processes: python benchmarks/scale_out.py [TRIALS ...]

Of every size, judgments of participants with 100 trials each are written to a temporary folder, in 6 to 512 Parquet
files. ReMFOD, straightlining and the Markov criterion then screen them on a local cluster of one and of two processes
with one thread each, sizes above 20,000,000 on two only; the memory is that of all processes together at its largest,
scheduler included. The smallest size is also screened in one memory, with as many threads as polars takes, and up to
20,000,000 every criterion runs alone on one process. Up to 2,000,000 a run takes a few seconds, which any other program
on the machine can double: of three, the quickest counts, in parts as in memory, with the largest memory of the three.
Criteria alone, and ReMFOD beside its peer, are run once. All must flag the same people.

That two processes are faster is a target above 1,000,000 trials: up to there one process does the rounds of ReMFOD, and
only the table of sizes shows how much the second one helps. The peer is the same ReMFOD written with plain
dask.dataframe (`groupby`, `median`), in an environment of its own, on the smallest size.

Sizes are given as 1e6 1e7 1e8; without any, it is 1e6, which takes some minutes, most of them for the peer; --smallest
is 5,000 trials in two parts, one turn, without the peer. 1e8 takes about 6 GB of disk. --write puts rows into
docs/performance.md and, with 1e8 among the sizes, the tables into docs/scale.md. The run fails where a target is
missed.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.marked import PERFORMANCE, check_page, parse_options, write_page, write_rows
from benchmarks.peers.environment import environment
from benchmarks.scale_parts.generated import BYTES, generate, parts_for
from benchmarks.scale_parts.measured import ONE_THREAD, Measured, check_room, measure, python
from benchmarks.scale_parts.page import (
    PARTS,
    PUBLISHED,
    Size,
    constants_of,
    constants_table,
    cost_table,
    found_of,
    peer_table,
    performance_rows,
    seconds_of,
    size_table,
    summary_table,
    targets,
)
from benchmarks.scale_parts.screened import CRITERIA
from karat.judgments import Judgments
from karat.judgments.parts import open_parts

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "scale.md"
PEER = Path(__file__).resolve().parent / "scale_parts" / "plain_dask.py"
MEMORY = 3_000_000_000
"""Free memory without which nothing is begun."""
ALONE = 20_000_000
"""Trials up to which one process is measured too, and every criterion alone."""
SHORT, TURNS = 2_000_000, 3
"""Trials up to which the quickest of some turns counts."""
SMALLEST = 5_000
"""Trials that only show that everything runs."""


def quickest(run: Callable[[], Measured], turns: int) -> Measured:
    """The quickest of some turns."""
    done = [run() for _ in range(turns)]
    return replace(min(done, key=seconds_of), peak=max(one.peak for one in done))


def screened(what: str, folder: Path, out: Path, processes: int, turns: int) -> Measured:
    """A screening in parts, in processes of its own; what it wrote is removed."""

    def once() -> Measured:
        shutil.rmtree(out, ignore_errors=True)
        return measure(python("screened", what, folder, out, processes), ONE_THREAD)

    done = quickest(once, turns)
    shutil.rmtree(out, ignore_errors=True)
    text = f"{seconds_of(done):.1f} s, {done.processor:.1f} s of processors, {done.peak / 1e9:.2f} GB"
    print(f"  {what} on {processes}: {text}", flush=True)
    return done


def in_memory(folder: Path, path: Path, turns: int) -> Measured:
    """The same judgments from one file, in one memory."""
    parts = open_parts(folder)
    frames = [parts.read(number).frame for number in range(len(parts))]
    Judgments(pl.concat(frames), parts.scales).to_parquet(path)
    done = quickest(lambda: measure(python("screened", "memory", path, folder)), turns)
    path.unlink()
    text = f"{seconds_of(done):.1f} s, {done.processor:.1f} s of processors, {done.peak / 1e9:.2f} GB"
    print(f"  in memory: {text}", flush=True)
    return done


def peer(folder: Path, limit: float) -> Measured | None:
    """Plain dask.dataframe on the same files; None where it cannot be installed."""
    own = environment("dask", ["dask[dataframe]", "distributed"], "dask.dataframe, distributed")
    if own is None:
        print("  dask.dataframe cannot be installed here: without the peer", flush=True)
        return None
    done = measure([str(own), str(PEER), str(folder), "2"], ONE_THREAD, limit)
    result = done.why if done.found is None else f"{seconds_of(done):.0f} s"
    print(f"  dask.dataframe: {result}, {done.peak / 1e9:.2f} GB", flush=True)
    return done


def check_same(size: Size) -> None:
    """End where two ways to screen the same judgments do not find the same."""
    every = [*size.processes.values(), *([size.memory] if size.memory else [])]
    found = [(found_of(one)["excluded"], found_of(one)["flagged"]) for one in every]
    if any(one != found[0] for one in found):
        raise SystemExit(f"{size.trials:,} trials: not the same was found: {found}")
    if any(found_of(one).get("skipped") for one in every):
        raise SystemExit(f"{size.trials:,} trials: a criterion was skipped: {found_of(every[0])['skipped']}")


def measured_size(
    trials: int, folder: Path, smallest: bool, with_peer: bool, limit: float, parts: int | None = None
) -> Size:
    """All that is measured of one size."""
    check_room(folder, trials * BYTES, MEMORY if trials > SMALLEST else 0)
    judgments, out = folder / "judgments", folder / "out"
    number = parts_for(trials) if parts is None else parts
    held = generate(judgments, trials, number)
    print(f"{trials:,} trials in {number} parts, {held / 1e6:.1f} MB", flush=True)
    # What one process does alone is known from smaller sizes; of the smallest, nothing is to be known.
    large, turns = trials > ALONE, TURNS if SMALLEST < trials <= SHORT else 1
    processes = {
        one: screened("parts", judgments, out, one, turns) for one in ((1, 2) if SMALLEST < trials <= ALONE else (2,))
    }
    memory = in_memory(judgments, folder / "whole.parquet", turns) if smallest else None
    alone = None if large else {name: screened(name, judgments, out, 1, 1) for name in CRITERIA}
    beside = screened("remfod", judgments, out, 2, 1) if smallest and with_peer else None
    theirs = peer(judgments, limit) if smallest and with_peer else None
    shutil.rmtree(judgments)
    size = Size(trials, number, held, processes, memory, alone, theirs, beside)
    check_same(size)
    return size


def machine() -> str:
    """The cores and memory of this machine, and how busy it is."""
    load = f"; load {os.getloadavg()[0]:.1f} at the end" if hasattr(os, "getloadavg") else ""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {commit.stdout.strip() or 'no commit'}{load}"


def main() -> int:
    """Measure, print the tables; fail where a target is missed."""
    parser = argparse.ArgumentParser(description="Screening judgments in parts, by size and processes.")
    parser.add_argument("trials", nargs="*", type=float, default=[1e6], help="sizes, such as 1e6 1e7 1e8")
    parser.add_argument(
        "--write", action="store_true", help="write the figures to docs/scale.md and docs/performance.md"
    )
    parser.add_argument("--without-peer", action="store_true", help="do not run dask.dataframe")
    parser.add_argument("--parts", type=int, help="files of every size; 6 to 512 unless given")
    parser.add_argument("--limit", type=float, default=3600, help="seconds after which the peer is given up")
    parser.add_argument("--folder", type=Path, help="where the temporary folder is made")
    asked = parse_options(parser)
    if asked.smallest:
        asked.trials, asked.parts, asked.without_peer = [SMALLEST], 2, True
    if asked.write:
        check_page(PAGE, PARTS)
    sizes = sorted({int(one) for one in asked.trials})
    with tempfile.TemporaryDirectory(prefix="karat-scale-", dir=asked.folder) as folder:
        done = [
            measured_size(trials, Path(folder), trials == sizes[0], not asked.without_peer, asked.limit, asked.parts)
            for trials in sizes
        ]
    command = " ".join(["python benchmarks/scale_out.py", *(f"{size:.0e}".replace("e+0", "e") for size in sizes)])
    command += " --without-peer" if asked.without_peer else ""
    command += f" --parts {asked.parts}" if asked.parts else ""
    found, constants = targets(done), constants_of(done)
    tables = {
        "summary": summary_table(found, f"{command} --write", machine()),
        "sizes": size_table(done), "peer": peer_table(done), "constants": constants_table(constants, command),
        "cost": cost_table(constants, PERFORMANCE.read_text(encoding="utf-8")),
    }  # fmt: skip
    print("\n" + "\n\n".join(tables.values()) + "\n")
    print("\n".join(str(one) for one in found))
    if asked.write:
        if done[-1].trials == PUBLISHED:
            write_page(PAGE, tables)
        write_rows(performance_rows(done))
    return int(not all(one.holds for one in found) and not asked.smallest)


if __name__ == "__main__":
    sys.exit(main())
