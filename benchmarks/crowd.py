"""The Markov criterion on large crowds, and its cutoffs beside lme4: python benchmarks/crowd.py [WORKERS]

In one run: 30,000 credible and 90,000 patterned workers simulated for 80 tasks, with their distances from every pattern
and the cutoffs that follow, beside the time of one fit of a crossed binary model to 160 workers and 77 tasks in R
(lme4), where R is installed; then transitions and distances of up to a million workers with 100 answers each, with the
peak memory; the whole criterion from judgments of as many workers, beside polars counting the transitions of 100,000,
the first thing that anybody must do; and the paper's procedure on its MTurk data.

Judgments of a million workers have 100 million rows. Names of participants are text, as a reader gives them; items,
answers and functions are categories (polars Enum), since as text they alone would take 5 GB. `--write` puts the ratio
into docs/performance.md; `--smallest` takes 1,000 workers throughout.
"""

from __future__ import annotations

import argparse
import math
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import karat
from karat.judgments import Judgments
from karat.judgments.checks import Checked
from karat.models.markov import (
    Sequences,
    calibrate,
    credible_counts,
    distances,
    judged_together,
    pattern_counts,
    targets,
    transition_counts,
)
from karat.screen.criteria.markov import markov
from karat.screen.criteria.procedure import procedure

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.marked import parse_options, write_rows

GIGABYTES, PROCEDURE = 3.0, 10.0
JUDGMENTS_GIGABYTES = 10.0
POLARS = 3.0
"""The whole criterion may take so many times as long as polars takes to count transitions."""
SIMULATED, SMALLEST = 30_000, 1_000
ROW = "cutoffs of the Markov criterion from 120,000 simulated workers"
MTURK = Path(__file__).resolve().parents[2] / "shared" / "reference" / "ba" / "mturk.csv"
FIT = """
suppressMessages(library(lme4))
table <- read.csv(commandArgs(TRUE)[1])
start <- proc.time()[["elapsed"]]
glmer(response ~ 1 + (1 | worker) + (1 | task), table, binomial, control = glmerControl(optimizer = "bobyqa"))
cat("seconds", proc.time()[["elapsed"]] - start, "\\n")
"""


def seconds(call: Callable[[], object]) -> float:
    """How long a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def peak() -> float:
    """The largest memory of this process so far, in gigabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def cutoffs(workers: int) -> None:
    """Cutoffs from so many credible workers, and the errors of as many who follow each kind of pattern."""
    random = np.random.default_rng(1)
    latent = random.normal(0, np.sqrt(6), 80)
    shares = np.column_stack([1 / (1 + np.exp(latent)), 1 / (1 + np.exp(-latent))])
    seen = Sequences(np.arange(80), np.array([80]))
    patterns = targets(2)
    matrices = [target.matrix for target in patterns]
    null = distances(credible_counts(seen, shares, workers, random), matrices, "average")
    calibration = calibrate(null, judged_together(patterns), 0.05)
    for target in (patterns[0], patterns[3], patterns[4]):
        found = distances(pattern_counts(target, seen.lengths, workers, 2, random), matrices, "average")
        (calibration.grouped(found)[0] < calibration.cutoffs).any(axis=1).mean()


def lme4_seconds() -> float | None:
    """How long lme4 takes for one fit of the MTurk study; None where R, lme4 or the data are missing."""
    program = shutil.which("Rscript")
    if program is None or not MTURK.is_file():
        return None
    done = subprocess.run([program, "-e", FIT, str(MTURK)], capture_output=True, text=True)
    lines = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("seconds")]
    return float(lines[0]) if lines else None


def crowd(workers: int, answers: int) -> Judgments:
    """Judgments of two answers by many workers, one worker after the other in the order of presentation."""
    random = np.random.default_rng(2)
    total = workers * answers
    names = pl.Series([f"w{number:06d}" for number in range(workers)])
    frame = pl.DataFrame({
        "participant": names.gather(np.repeat(np.arange(workers, dtype=np.uint32), answers)),
        "item": categories([f"t{number:03d}" for number in range(answers)],
                           np.tile(np.arange(answers, dtype=np.uint32), workers)),
        "response": categories(["0", "1"], random.integers(0, 2, total, dtype=np.uint32)),
        "trial": np.tile(np.arange(1, answers + 1, dtype=np.int16), workers),
        "function": categories(["test"], np.zeros(total, np.uint32)),
    })  # fmt: skip
    return Judgments.from_checked(Checked(frame), {"": karat.Binary()})


def categories(levels: list[str], codes: np.ndarray) -> pl.Series:
    """A column of categories by their numbers."""
    return pl.Series(levels, dtype=pl.Enum(levels)).gather(codes)


def transitions(judgments: Judgments) -> pl.DataFrame:
    """How often each answer of each worker followed each other one, by polars alone."""
    following = pl.col("response").shift(-1).over("participant")
    counted = judgments.frame.lazy().with_columns(following.alias("next")).group_by("participant", "response", "next")
    return counted.len().collect()


def sizes(usual: tuple[int, ...], largest: int) -> list[int]:
    """The usual sizes up to the largest; where all are larger, that one."""
    return [workers for workers in usual if workers <= largest] or [largest]


def whole_criterion(largest: int) -> tuple[float, bool]:
    """Print times of the criterion from judgments; the last, and whether it or its memory are too much."""
    took, failed, counting = 0.0, False, math.inf
    for workers in sizes((20_000, 100_000, 1_000_000), largest):
        judgments = crowd(workers, 100)
        before = peak()
        took = seconds(lambda: markov(judgments))  # noqa: B023
        text = f"{took:.2f} s, peak {peak():.2f} GB ({before:.2f} GB before)"
        print(f"markov(judgments), {workers:>9,} x 100 answers   {text}")
        if workers == 100_000:
            counting = seconds(lambda: transitions(judgments)) / workers  # noqa: B023
            print(f"{'':>40}   polars counts transitions in {counting * workers:.2f} s")
        if workers >= 100_000:
            ratio = took / workers / counting
            print(f"{'':>40}   {ratio:.1f} times that for each worker (at most {POLARS:g})")
            failed = failed or ratio > POLARS or peak() > JUDGMENTS_GIGABYTES
    return took, failed


def main() -> int:
    """Print times; fail where a limit is not held."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("workers", type=int, nargs="?", default=1_000_000, help="the largest crowd")
    parser.add_argument("--write", action="store_true", help="write the ratio to docs/performance.md")
    asked = parse_options(parser)
    simulated, largest = (SMALLEST, SMALLEST) if asked.smallest else (SIMULATED, asked.workers)
    ours, theirs = seconds(lambda: cutoffs(simulated)), lme4_seconds()
    beside = "R with lme4 is not on this machine" if theirs is None else f"one lme4 fit of 160 x 77 {theirs:.2f} s"
    print(f"cutoffs, {simulated:,} + {3 * simulated:,} workers x 80   {ours:.2f} s; {beside}")
    failed = theirs is not None and ours > theirs and not asked.smallest
    matrices = [target.matrix for target in targets(2)]
    for workers in sizes((10_000, 100_000, 1_000_000), largest):
        codes = np.random.default_rng(3).integers(0, 2, workers * 100, dtype=np.int8)
        lengths = np.full(workers, 100)
        before = peak()
        took = seconds(lambda: distances(transition_counts(codes, lengths, 2), matrices, "rows"))  # noqa: B023
        print(f"{workers:>9,} workers x 100 answers   {took:.2f} s, peak {peak():.2f} GB ({before:.2f} GB before)")
        failed = failed or (workers == 1_000_000 and peak() > GIGABYTES)
    whole, too_much = whole_criterion(largest)
    if asked.write and theirs is not None and asked.workers >= 1_000_000:
        million = f"`markov` on a million workers with 100 answers each takes {whole:.0f} s here"
        write_rows({ROW: f"{ours / theirs:.1f} times its time; {million}"})
    failed = too_much or failed
    took = procedure_seconds()
    if took is None:
        print("the whole procedure on the MTurk data   not run: ../shared/reference is not on this machine")
    else:
        print(f"the whole procedure on the MTurk data   {took:.2f} s, published rules (at most {PROCEDURE:g})")
    return int(failed or (took is not None and took > PROCEDURE))


def procedure_seconds() -> float | None:
    """How long the paper's procedure takes on its MTurk data, where they are."""
    if not MTURK.is_file():
        return None
    names = {"worker": "participant", "task": "item", "order": "trial", "time": "rt"}
    table = pl.read_csv(MTURK).rename(names).select(*names.values(), pl.col("response").cast(pl.String))
    judgments = karat.Judgments(table, karat.Binary(("0", "1")))
    return seconds(lambda: procedure(judgments, cutoffs="published", rule="mean"))


if __name__ == "__main__":
    sys.exit(main())
