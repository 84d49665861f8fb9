"""ReMFOD as one would write it with dask.dataframe: python plain_dask.py FOLDER PROCESSES

Medians by `groupby(...).median()`, which brings the values of a group together, computed anew in every round. It runs
in an environment of its own and imports nothing of karat. Prints a line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any


def remfod(folder: str) -> tuple[int, int]:
    """The number of outlying trials and of rounds that found some."""
    import dask.dataframe as dd
    from distributed import wait

    files = sorted(str(path) for path in Path(folder).glob("*.parquet"))
    # Not held in memory yet: dask 2026.8 loses a table that is persisted straight after reading some of its columns.
    kept: Any = dd.read_parquet(files, columns=["participant", "function", "rt"])
    total, rounds = 0, 0
    while True:
        limits = []
        for column in ("participant", "function"):
            median = kept.groupby(column)["rt"].median().compute()
            away = kept.assign(away=(kept["rt"] - kept[column].map(median, meta=("rt", "f8"))).abs())
            deviation = away.groupby(column)["away"].median().compute() * 1.4826
            limits.append((column, median - 1.5 * deviation, median + 2.5 * deviation))
        marked = kept.map_partitions(mark, limits, meta=kept._meta.assign(out=True)).persist()
        wait(marked)
        found = int(marked["out"].sum().compute())
        if not found:
            return total, rounds
        total, rounds = total + found, rounds + 1
        kept = marked[~marked["out"]][["participant", "function", "rt"]].persist()
        # Before the table that it is made of is let go.
        wait(kept)


def mark(frame: Any, limits: list[tuple[str, Any, Any]]) -> Any:
    """Which trials of a partition cross the cutoffs of both groups."""
    low = high = True
    for column, lower, upper in limits:
        low = low & (frame["rt"] < frame[column].map(lower).astype("f8"))
        high = high & (frame["rt"] > frame[column].map(upper).astype("f8"))
    return frame.assign(out=(low | high).astype(bool))


def main() -> None:
    """Start the processes, run, print."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=int(sys.argv[2]), threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        start = time.perf_counter()
        found, rounds = remfod(sys.argv[1])
        print(json.dumps({"seconds": time.perf_counter() - start, "outlying": found, "rounds": rounds}))


if __name__ == "__main__":
    main()
