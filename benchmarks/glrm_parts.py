"""Crossed random effects in parts of workers beside the same fit in memory: python benchmarks/glrm_parts.py

Binary answers of many workers to 500 tasks, a tenth of the cells filled, drawn from the model. Each size is fitted in
memory and in eight parts, one after the other in this process and on one thread, so that the ratio is what summing over
parts costs by itself. Then follows what a pass over a million answers takes, which gives the time of any fit:
passes x answers / processes. Times are processor seconds. `--answers 100000 300000 1000000` asks for more than the
default of 30,000 and 100,000. Fails where the log-likelihoods differ by 1e-8 relative, or the ratio is above its limit.
`--write` puts the last ratio into docs/performance.md; `--smallest` takes 3,000 answers.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from karat.models.glrm import fit_crossed, fit_crossed_in_parts
from karat.models.glrm.parts.answers import PartAnswers
from karat.models.numerics import one_thread

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.marked import parse_options, write_rows

TASKS, SHARE, PARTS = 500, 0.1, 8
ROW = "crossed random effects of 100,000 answers in eight parts of workers, one process"
SMALLEST, RATIO = 3_000, 4.0
"""How many times longer the parts may take."""


def crowd(answers: int, seed: int = 1) -> tuple[Any, Any, Any]:
    """About so many yes-or-no answers: response, worker and task, sorted by worker."""
    random = np.random.default_rng(seed)
    workers = max(PARTS, round(answers / (TASKS * SHARE)))
    worker, task = np.nonzero(random.random((workers, TASKS)) < SHARE)
    eta = random.normal(0, 1, workers)[worker] + random.normal(0, 2, TASKS)[task]
    return (eta + random.logistic(size=len(eta)) > 0).astype(np.int64), worker, task


def in_parts(response: Any, worker: Any, task: Any) -> list[PartAnswers]:
    """The same answers in parts of about equally many workers."""
    ends = np.searchsorted(worker, [(worker[-1] + 1) * part // PARTS for part in range(PARTS + 1)])
    slices = [slice(first, last) for first, last in pairwise(ends)]
    return [PartAnswers(response[own], worker[own] - worker[own][0], task[own]) for own in slices]


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """The processor time of a call, and what it returned."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def main(arguments: Sequence[str] | None = None) -> int:
    """Print times and ratios; fail where a limit is not held."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--answers", type=int, nargs="+", default=[30_000, 100_000], help="how many answers")
    parser.add_argument(
        "--write", action="store_true", help="write the ratio of 100,000 answers to docs/performance.md"
    )
    asked, held = parse_options(parser, arguments), True
    for number in [SMALLEST] if asked.smallest else asked.answers:
        response, worker, task = crowd(number)
        parts = in_parts(response, worker, task)
        with one_thread():
            memory, whole = seconds(lambda: fit_crossed(response, worker, task))  # noqa: B023
            parted, fit = seconds(lambda: fit_crossed_in_parts(parts))  # noqa: B023
        gap = abs(fit.log_likelihood / whole.log_likelihood - 1)
        passes = fit.objective.crew.passes
        print(
            f"{len(worker):,} answers of {worker[-1] + 1:,} workers: in memory {memory:.2f} s, in {PARTS} parts "
            f"{parted:.2f} s with {passes} passes; {parted / memory:.2f} times (at most {RATIO:.0f}), "
            f"{1e6 * parted / passes / len(worker):.2f} s a pass over 1,000,000 answers; log-likelihoods differ by "
            f"{gap:.0e} relative"
        )
        if asked.write and number == 100_000:
            write_rows({ROW: f"{parted / memory:.1f} times the time, the same log-likelihood to {gap:.0e}"})
        held &= gap < 1e-8 and (asked.smallest or parted / memory <= RATIO)
    print("held" if held else "NOT held")
    return int(not held)


if __name__ == "__main__":
    sys.exit(main())
