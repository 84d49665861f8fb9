"""Time and memory of reading beside bare polars: python benchmarks/read.py [ROWS] [--narrow]

A judgments CSV of a million rows is generated; `karat.read` (find the reader, read, check, summarise assumptions) and a
bare `polars.read_csv` are run in turn, each in a fresh process, several times; the medians make the ratio. The modules
of karat's readers are loaded within its time, from bytecode as installed packages have it. Memory is the peak of the
process above what Python with polars imported needs. `--narrow` leaves out the columns that make a real
file wide: what text costs in memory then weighs more beside a file of few bytes a row. `--write` puts the ratios into
docs/performance.md; `--smallest` reads 1,000 rows once.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.marked import parse_options, write_rows

ROUNDS, SMALLEST = 5, 1_000
TIME_LIMIT, MEMORY_LIMIT = 4.0, 4.0
ROW = "`karat.read` of a CSV with 1,000,000 judgments, found, read and checked"
BARE = "polars.read_csv(sys.argv[1])"
KARAT = "karat.read(sys.argv[1])"
PROBE = """
import sys, time
import polars
import karat, karat.intake, karat.intake.readers
polars.DataFrame({"a": ["x"]}).group_by("a").len()
def peak():
    return int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:"))) * 1024
before, start = peak(), time.perf_counter()
table = CALL
print(time.perf_counter() - start, peak() - before)
"""


def write_judgments(path: Path, rows: int, narrow: bool = False) -> None:
    """A questionnaire with 100 trials per participant, as a recruitment platform and a browser would leave it."""
    random = np.random.default_rng(1)
    people = rows // 100 + 1
    if narrow:
        ids = np.array([f"p{number:05d}" for number in range(people)])
    else:
        ids = np.array([f"{value:024x}" for value in random.integers(16**11, 16**12, people)])
    order = np.arange(rows)
    pl.DataFrame({
        "participant": ids[order // 100],
        "item": np.array([f"item{i:03d}" for i in range(400)])[random.integers(0, 400, rows)],
        "response": random.integers(1, 8, rows),
        "trial": order % 100 + 1,
        "rt": np.round(random.lognormal(1, 0.6, rows), 3),
        "function": random.choice(["test", "filler", "control", "attention"], rows),
        "condition": random.choice(["grammatical", "ungrammatical"], rows),
        "list": random.choice(["A", "B", "C", "D"], rows),
    }).drop(["condition", "list"] if narrow else []).write_csv(path)  # fmt: skip


def measure(call: str, path: Path) -> tuple[float, int]:
    """Seconds and bytes of one call in a fresh process."""
    probe = [sys.executable, "-c", PROBE.replace("CALL", call), str(path)]
    compiled = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(path.parent)}
    done = subprocess.run(probe, env=compiled, capture_output=True, text=True, check=True)
    seconds, memory = done.stdout.split()
    return float(seconds), int(memory)


def main() -> int:
    """Print both and their ratio; fail where a limit is not held."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", type=int, nargs="?", default=1_000_000, help="rows of the file")
    parser.add_argument("--narrow", action="store_true", help="fewer columns")
    parser.add_argument("--write", action="store_true", help="write the ratios to docs/performance.md")
    asked = parse_options(parser)
    rows, rounds = (SMALLEST, 1) if asked.smallest else (asked.rows, ROUNDS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "judgments.csv"
        write_judgments(path, rows, asked.narrow)
        size = path.stat().st_size
        measure(KARAT, path)  # which compiles what is loaded
        bare, ours = zip(*[(measure(BARE, path), measure(KARAT, path)) for _ in range(rounds)], strict=True)
    bare_time, time = (statistics.median(seconds for seconds, _ in runs) for runs in (bare, ours))
    bare_memory, memory = (statistics.median(memory for _, memory in runs) for runs in (bare, ours))
    print(f"{rows:,} rows, {size / 1e6:.0f} MB, median of {rounds} runs each")
    print(f"polars.read_csv  {bare_time:.3f} s  {bare_memory / size:.1f} times the file in memory")
    print(f"karat.read       {time:.3f} s  {memory / size:.1f} times the file in memory")
    print(f"ratio of times   {time / bare_time:.2f} (to be held: {TIME_LIMIT})")
    print(f"peak memory      {memory / size:.2f} times the file (to be held: {MEMORY_LIMIT})")
    if asked.write:
        in_memory = f"{memory / size:.1f} times the file in memory (polars: {bare_memory / size:.1f})"
        write_rows({ROW: f"{time / bare_time:.1f} times the time; {in_memory}"})
    too_much = time / bare_time > TIME_LIMIT or memory / size > MEMORY_LIMIT
    return int(too_much and not asked.smallest)


if __name__ == "__main__":
    sys.exit(main())
