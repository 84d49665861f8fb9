"""How long `karat --help` takes beside `python -c "import polars"`: python benchmarks/start.py

Both are run in turn, in fresh processes; the medians make the ratio, which `--write` puts into docs/performance.md.
`--smallest` is a single round.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.marked import parse_options, write_rows

ROUNDS = 15
LIMIT = 2.0
ROW = "`karat --help`"
HELP = [sys.executable, "-m", "karat", "--help"]
POLARS = [sys.executable, "-c", "import polars"]


def seconds(command: list[str]) -> float:
    """How long a command takes."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> int:
    """Print both and their ratio; fail where the limit is not held."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the ratio to docs/performance.md")
    asked = parse_options(parser)
    rounds = 1 if asked.smallest else ROUNDS
    for command in (HELP, POLARS):
        seconds(command)
    runs = [(seconds(HELP), seconds(POLARS)) for _ in range(rounds)]
    ours, polars = (statistics.median(column) for column in zip(*runs, strict=True))
    print(f"karat --help     {ours:.3f} s, median of {rounds} runs")
    print(f"import polars    {polars:.3f} s")
    print(f"ratio of times   {ours / polars:.2f} (to be held: {LIMIT})")
    if asked.write:
        write_rows({ROW: f"{ours / polars:.1f} times the time"})
    return int(ours / polars > LIMIT and not asked.smallest)


if __name__ == "__main__":
    sys.exit(main())
