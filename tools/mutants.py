"""A plugin of pytest that runs the collected tests once for each mutant, each time in a process of its own.

Tests are collected once, and the process is then forked for every mutant, which takes milliseconds. A first child runs
all tests on the originals: it shows which functions each test calls and how long it takes. A mutant then meets the
tests that call its function, the quickest first, until one fails. Nothing runs before the forks, so that threads
(polars, linear algebra) begin in the children alone.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

KILLED, SURVIVED, TIMEOUT, NO_TEST, UNCLEAR = "killed", "survived", "timeout", "no test", "unclear"
PATIENCE, LEAST = 10, 5
"""A mutant may take this many times the tests' time, and at least this many seconds, of the processor."""
ASLEEP = 1800
"""Seconds after which a process that waits for ever is ended."""


class Trials:
    """The trials of mutants, which are named as in karat.study.chance.x_needed__mutmut_1."""

    def __init__(self, mutants: Sequence[str], workers: int, written: Path) -> None:
        self.mutants, self.workers, self.written = mutants, workers, written
        self.failed: list[str] = []

    def pytest_sessionstart(self) -> None:
        """Properties need not find the simplest example that fails; the first will do."""
        from hypothesis import Phase, settings

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutation", settings(), phases=phases)
        settings.load_profile("mutation")

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Of the examples in docstrings, which mutmut copies with each mutant, keep the original's."""
        items[:] = [item for item in items if "__mutmut" not in item.name or item.name.endswith("__mutmut_orig")]

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note a failure."""
        if report.failed:
            self.failed.append(f"{report.nodeid}\n{report.longreprtext}")

    def pytest_runtestloop(self, session: Any) -> bool:
        """Run the originals, then every mutant, and write what became of each."""
        if session.testsfailed:
            return False
        tests = self._tests_of_functions(session.items)
        called = [name for name in self.mutants if function_of(name) in tests]
        self._write({name: NO_TEST for name in self.mutants if function_of(name) not in tests})
        running: dict[int, str] = {}
        for name in sorted(called, key=lambda name: tests[function_of(name)][1]):
            if len(running) == self.workers:
                self._write(ended(running))
            items, seconds = tests[function_of(name)]
            running[forked(partial(self._try, name, items, seconds))] = name
        while running:
            self._write(ended(running))
        return True

    def _write(self, outcomes: dict[str, str]) -> None:
        with self.written.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps({name: outcome}) + "\n" for name, outcome in outcomes.items())

    def _try(self, name: str, items: Sequence[Any], seconds: float) -> int:
        os.environ["MUTANT_UNDER_TEST"] = name
        limit = int(PATIENCE * seconds + LEAST)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        signal.alarm(ASLEEP)
        return next((1 for _ in self._run(items) if self.failed), 0)

    def _run(self, items: Sequence[Any]) -> Iterator[Any]:
        """Run tests with all that pytest does around them."""
        for item, after in zip(items, [*items[1:], None], strict=True):
            item.ihook.pytest_runtest_protocol(item=item, nextitem=after)
            yield item

    def _tests_of_functions(self, items: Sequence[Any]) -> dict[str, tuple[list[Any], float]]:
        """For every function that can be mutated the tests that call it, the quickest first, and their seconds."""
        path = self.written.with_suffix(".calls.json")
        process = forked(lambda: self._note_calls(items, path))
        if os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]):
            raise SystemExit("The tests fail without any mutant; what failed is in failed.txt beside this.")
        by_function = defaultdict(list)
        for number, (seconds, functions) in enumerate(json.loads(path.read_text(encoding="utf-8"))):
            for function in functions:
                by_function[function].append((seconds, number))
        return {
            function: ([items[number] for _, number in sorted(calls)], sum(seconds for seconds, _ in calls))
            for function, calls in by_function.items()
        }

    def _note_calls(self, items: Sequence[Any], path: Path) -> int:
        from mutmut.mutation import trampoline

        called: set[str] = set()
        trampoline.record_trampoline_hit = lambda name, caller=None: called.add(name)
        os.environ["MUTANT_UNDER_TEST"] = "stats"
        noted: list[tuple[float, list[str]]] = []
        start = time.process_time()
        for _ in self._run(items):
            noted.append((time.process_time() - start, sorted(called)))
            called.clear()
            start = time.process_time()
        path.write_text(json.dumps(noted), encoding="utf-8")
        (path.parent / "failed.txt").write_text("\n\n".join(self.failed), encoding="utf-8")
        return int(bool(self.failed))


def function_of(mutant: str) -> str:
    """The function that a mutant is one of.

    >>> function_of("karat.study.chance.x_needed__mutmut_12")
    'karat.study.chance.x_needed'
    """
    return mutant.rpartition("__mutmut_")[0]


def ended(running: dict[int, str]) -> dict[str, str]:
    """Wait for one of the processes that run: its mutant and what became of it."""
    process, status = os.wait()
    outcome = {0: SURVIVED, 1: KILLED, -signal.SIGXCPU: TIMEOUT, -signal.SIGALRM: TIMEOUT}
    return {running.pop(process): outcome.get(os.waitstatus_to_exitcode(status), UNCLEAR)}


def forked(work: Callable[[], int]) -> int:
    """Do the work in a child; it ends with the number that the work gives."""
    child = os.fork()
    if child:
        return child
    try:
        os._exit(work())
    except BaseException:
        os._exit(1)
