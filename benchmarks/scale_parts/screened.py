"""One screening in a process of its own: python -m benchmarks.scale_parts.screened WHAT FOLDER OUT [PROCESSES]

WHAT is memory (one file, in one memory), or parts (a folder, on a local cluster of so many processes with one thread
each), or one criterion in parts. Prints a line of JSON: the seconds of every step, and what was found.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

CRITERIA = ("remfod", "straightlining", "markov")


class Timed:
    """Work that notes how long every pass takes, and how much the files between passes take."""

    def __init__(self, executor: Any, scratch: Path) -> None:
        self.executor, self.scratch, self.between = executor, scratch, 0
        self.passes: dict[str, list[float]] = defaultdict(list)

    @property
    def processes(self) -> int:
        """How many tasks are done at a time."""
        return int(self.executor.processes)

    def map(self, function: Callable[..., Any], shared: Any, tasks: Sequence[Any], **named: Any) -> list[Any]:
        """The results of the work; the seconds are kept by its name."""
        start = time.perf_counter()
        found: list[Any] = self.executor.map(function, shared, tasks, **named)
        name, *again = named["name"].split(",")
        self.passes[name].append(time.perf_counter() - start)
        if not again:
            self.between = max(self.between, sum(path.stat().st_size for path in self.scratch.rglob("*")))
        return found


def ready(shared: None, number: int) -> None:
    """Load what the screening needs, and stay long enough for the other processes to get a task too."""
    load()
    time.sleep(0.1)


def load() -> None:
    """Load what computes the criteria, which otherwise comes when it is asked for first."""
    from karat.study.criteria import CRITERIA as KNOWN

    for name in CRITERIA:
        assert callable(KNOWN[name].function)


def rules_of(what: str) -> dict[str, Any]:
    """The criteria that are run; participants flagged by any of them are excluded."""
    return {name: {} for name in CRITERIA if what in (name, "memory", "parts")} | {"exclude": "any"}


def in_memory(path: Path) -> dict[str, Any]:
    """Read one file and screen it."""
    import karat
    from karat.screen import run

    start = time.perf_counter()
    judgments = karat.read(path)
    read = time.perf_counter() - start
    screening = run(judgments, rules_of("memory"))
    seconds = time.perf_counter() - start
    flagged = {name: len(evidence.flagged) for name, evidence in screening.evidence.items()}
    return {"seconds": seconds, "read": read, "excluded": len(screening.excluded), "flagged": flagged}


def in_parts(what: str, folder: Path, out: Path, processes: int) -> dict[str, Any]:
    """Screen a folder on a local cluster."""
    from karat.executors import open_executor
    from karat.judgments.parts import open_parts
    from karat.screen import run_in_parts

    start = time.perf_counter()
    load()
    with open_executor("local", processes=processes) as executor:
        # First tasks for each process, so that all have started and loaded karat.
        executor.map(ready, None, list(range(4 * processes)), name="start")
        started = time.perf_counter()
        timed = Timed(executor, out / "scratch")
        screening = run_in_parts(open_parts(folder), rules_of(what), executor=timed, out=out)
        seconds = time.perf_counter() - started
    flagged = {name: evidence.flagged for name, evidence in screening.evidence.items()}
    rounds = getattr(screening.evidence.get("remfod"), "rounds", None)
    return {
        "seconds": seconds, "start": started - start, "excluded": screening.excluded, "flagged": flagged,
        "rounds": rounds, "passes": {name: [round(one, 4) for one in own] for name, own in timed.passes.items()},
        "skipped": screening.skipped, "between": timed.between,
        "written": sum(path.stat().st_size for path in out.rglob("*.parquet")),
    }  # fmt: skip


def main() -> None:
    """Do what is asked and print it."""
    what, folder, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    found = in_memory(folder) if what == "memory" else in_parts(what, folder, out, int(sys.argv[4]))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
