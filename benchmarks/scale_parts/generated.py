"""Judgments of a crowd of any size on disk, in parts: a hundred labels a worker, in two answers, with times."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl

import karat
from karat.judgments import Judgments
from karat.judgments.checks import Checked

TRIALS = 100
"""Answers per participant."""
PARTS = {1_000_000: 6, 10_000_000: 64, 100_000_000: 512}
FUNCTIONS = np.array(["test", "filler", "control", "attention", "calibration"])
SHARES = (34, 28, 22, 11, 5)
"""Items of each function among the hundred."""
BYTES = 60
"""Room on the disk for an answer: the judgments, the files between passes and the evidence."""


def parts_for(trials: int) -> int:
    """How many parts so many trials are in."""
    return next((parts for size, parts in PARTS.items() if trials <= size), max(PARTS.values()))


def part_of(number: int, people: range, seed: int = 1) -> Judgments:
    """The judgments of some participants: most are attentive, some guess, some keep to one answer, some alternate."""
    random = np.random.default_rng([seed, number])
    size = len(people)
    item = np.argsort(random.random((size, TRIALS)), axis=1)
    person = np.repeat(np.arange(size), TRIALS)
    easy = np.random.default_rng(seed).normal(0, 2, TRIALS)
    latent = easy[item] + random.normal(0, 0.5, (size, 1)) + random.logistic(0, 1, item.shape)
    answer = latent > 0
    behaviour = random.choice(4, size, p=[0.94, 0.02, 0.02, 0.02])
    answer[behaviour == 1] = random.random((int((behaviour == 1).sum()), TRIALS)) < 0.5
    answer[behaviour == 2] = True
    answer[behaviour == 3] = np.arange(TRIALS) % 2 == 0
    function = np.repeat(np.arange(len(SHARES)), SHARES)[item].ravel()
    times = np.exp(random.normal(1.6, 0.4, size * TRIALS) + random.normal(0, 0.3, size)[person] + 0.1 * function)
    pause, rush = random.random(size * TRIALS) < 0.03, random.random(size * TRIALS) < 0.01
    # To a millisecond, as browsers tell it.
    times = np.round(times * np.where(pause, 6, 1) * np.where(rush, 0.1, 1), 3)
    names = pl.Series([f"p{place:07d}" for place in people])
    items = pl.Series([f"i{place:02d}" for place in range(TRIALS)])
    frame = pl.DataFrame({
        "participant": names.gather(person), "item": items.gather(item.ravel()),
        "response": pl.Series(["0", "1"]).gather(answer.ravel().astype(np.int64)),
        "trial": np.tile(np.arange(1, TRIALS + 1), size), "rt": times,
        "function": pl.Series(FUNCTIONS).gather(function),
    })  # fmt: skip
    return Judgments.from_checked(Checked(frame), {"": karat.Binary()})


def write_part(folder: Path, total: int, parts: int, number: int) -> int:
    """Write one part; its size on the disk."""
    people = range(total * number // parts, total * (number + 1) // parts)
    path = folder / f"part-{number + 1:05}.parquet"
    part_of(number, people).to_parquet(path)
    return path.stat().st_size


def generate(folder: Path, trials: int, parts: int, processes: int = 2) -> int:
    """Write so many trials in parts; the bytes they take."""
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "POLARS_MAX_THREADS"), "1"))
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        return sum(pool.map(partial(write_part, folder, trials // TRIALS, parts), range(parts)))
