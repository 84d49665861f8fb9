"""ReMFOD beside straightforward pandas, and on ten million trials: python benchmarks/screen.py [TRIALS]

In one run: the first paper's Likert study where its data are at hand (../shared/reference/ajt), and a simulated one of
the same size (70 people, 108 trials), karat beside pandas (group medians by `transform`, recomputed every round), with
the CPU time of the authors' R code as it was recorded with the data; then 1e5 up to 1e7 trials, 100 a participant, with
the time per million trials, which should stay level and below that of pandas for one million, and the peak memory.
`--write` puts the ratios into docs/performance.md; `--smallest` takes one round and 10,000 trials.
"""

from __future__ import annotations

import argparse
import math
import resource
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl

import karat
from karat.judgments import Judgments
from karat.judgments.checks import Checked
from karat.screen import completion, remfod

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.marked import parse_options, write_rows

ROUNDS, SMALLEST = 15, 10_000
ROW = "ReMFOD on a questionnaire of 70 x 108 trials"
GIGABYTES = 3.0
AUTHORS_R_SECONDS = 0.62
"""CPU time of the published R functions on the Likert study, R 4.2.2 after warm-up, as its README records it."""
LIKERT = Path(__file__).resolve().parents[2] / "shared" / "reference" / "ajt" / "likert.csv"
FUNCTIONS = np.array(["test", "filler", "control", "attention", "calibration"])


def questionnaire(people: int, trials: int, seed: int = 1) -> Judgments:
    """Log-normal times by participant and function, with some pauses and rushes."""
    random = np.random.default_rng(seed)
    total = people * trials
    person = np.repeat(np.arange(people), trials)
    function = random.choice(5, total, p=[0.34, 0.28, 0.22, 0.11, 0.05])
    times = np.exp(random.normal(1.6, 0.4, total) + random.normal(0, 0.3, people)[person] + 0.1 * function)
    times *= np.where(random.random(total) < 0.03, 6, 1) * np.where(random.random(total) < 0.01, 0.1, 1)
    names = pl.Series([f"p{number:06d}" for number in range(people)])
    frame = pl.DataFrame({
        "participant": names.gather(person), "item": pl.Series(["i"]).gather(np.zeros(total, np.int64)),
        "response": pl.Series(["1"]).gather(np.zeros(total, np.int64)),
        "trial": np.tile(np.arange(1, trials + 1), people), "rt": times,
        "function": pl.Series(FUNCTIONS).gather(function),
    })  # fmt: skip
    return Judgments.from_checked(Checked(frame), {"": karat.Ordinal(5)})


def pandas_remfod(frame: pd.DataFrame) -> int:
    """The number of outlying trials, as one would write it with pandas."""
    kept, found = frame, 0
    while True:
        low, high = np.full(len(kept), np.inf), np.full(len(kept), -np.inf)
        for column in ("participant", "function"):
            median = kept.groupby(column)["rt"].transform("median")
            deviation = (kept["rt"] - median).abs().groupby(kept[column]).transform("median") * 1.4826
            low, high = np.minimum(low, median - 1.5 * deviation), np.maximum(high, median + 2.5 * deviation)
        out = (kept["rt"] < low) | (kept["rt"] > high)
        if not out.any():
            return found
        found += int(out.sum())
        kept = kept[~out]


def real_study() -> Judgments | None:
    """The Likert study without those who did not complete it, as the authors screened it; None where it is missing."""
    if not LIKERT.is_file():
        return None
    whole = karat.read(LIKERT, mapping={"expected": "expected_min..expected_max"})
    kept = ~pl.col("participant").is_in(completion(whole).flagged)
    return Judgments(whole.frame.filter(kept), whole.scales)


def seconds(call: Callable[[], object]) -> float:
    """How long a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def as_pandas(judgments: Judgments) -> pd.DataFrame:
    """What the version in pandas reads."""
    return judgments.frame.select("participant", "function", "rt").to_pandas()


def beside_pandas(judgments: Judgments, rounds: int) -> tuple[float, float]:
    """The median seconds of karat and of pandas in alternating runs, after checking that both find the same."""
    table = as_pandas(judgments)
    assert pandas_remfod(table) == remfod(judgments).trials.height
    runs = [(seconds(lambda: remfod(judgments)), seconds(lambda: pandas_remfod(table))) for _ in range(rounds)]
    ours, theirs = zip(*runs, strict=True)
    return statistics.median(ours), statistics.median(theirs)


def peak() -> float:
    """The largest memory of this process so far, in gigabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def main() -> int:
    """Print times and ratios; fail where a limit is not held."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("trials", type=int, nargs="?", default=10_000_000, help="the largest number of trials")
    parser.add_argument("--write", action="store_true", help="write the ratios to docs/performance.md")
    asked = parse_options(parser)
    real = real_study()
    ratios = {}
    for name, judgments in (("Likert study", real), ("simulated", questionnaire(70, 108))):
        if judgments is None:
            print(f"{name}: its data are not on this machine ({LIKERT.name})")
            continue
        ours, theirs = beside_pandas(judgments, 1 if asked.smallest else ROUNDS)
        ratio = f"karat {ours * 1000:.1f} ms, pandas {theirs * 1000:.1f} ms: {theirs / ours:.1f} times"
        print(f"{name + ', 70 x 108':<23}  {ratio}")
        ratios[name] = theirs / ours
        if judgments is real:
            print(f"{'':<23}  authors' R code {AUTHORS_R_SECONDS} s CPU (recorded, not measured here)")
    if asked.write:
        r_code = f"the authors' R code is recorded at {AUTHORS_R_SECONDS} s, karat takes {ours:.3f} s"
        each = " and ".join(f"{ratio:.1f} ({name})" for name, ratio in ratios.items())
        write_rows({ROW: f"{each} times faster; {r_code}"})
    failed, limit = False, math.inf
    usual = [total for total in (100_000, 1_000_000, 10_000_000) if total <= asked.trials]
    for total in [SMALLEST] if asked.smallest else usual:
        judgments = questionnaire(total // 100, 100)
        before, took = peak(), seconds(partial(remfod, judgments))
        million = took / total * 1e6
        print(
            f"{total:>10,} trials        {took:.2f} s, {million:.2f} s a million, "
            f"peak {peak():.2f} GB ({before:.2f} GB before)"
        )
        if total == 1_000_000:
            limit = seconds(partial(pandas_remfod, as_pandas(judgments)))
            print(f"{'':<23}  pandas {limit:.2f} s a million, the most that karat may take")
        failed = failed or (total >= 1_000_000 and (million > limit or peak() > GIGABYTES))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
