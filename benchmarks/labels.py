"""Credence on 1,000,000 crowd labels with known spammers: python benchmarks/labels.py [LABELS]

A table as an NLP group has it, in Parquet with column names of its own: 5,000 annotators give 200 labels each on
average, of four kinds, in batches of 20 who see the same items; gold is known for one item in 50. About four in a
hundred annotators guess or click one label. Two in a hundred more label as well as others, but faster than one can
read: their answers agree with everybody's, so credence leaves them to the criterion `speed`, and the output says how
many it flags. The table is read without a word about its columns and screened twice, with the times and without them.
Beside the second, the agreement with the majority, with the benefit of knowing where to cut: at the lowest cutoff that
finds as many spammers, how many others are excluded. The run fails where credence flags more than one in a hundred
others, or misses more than one in twenty of the spammers. `--write` puts the figures into docs/performance.md;
`--smallest` takes 10,000 labels.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import karat
from karat.intake.intake import read_files

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.marked import parse_options, write_rows

ROW = "credence on 1,000,000 labels of 5,000 annotators, about 200 of them spammers"
LABELS = np.array(["entailment", "neutral", "contradiction", "unclear"])
LABELS_OF_ROW, SMALLEST = 1_000_000, 10_000
TOGETHER, EACH = 20, 200
GUESSES, ONE_LABEL, TOO_FAST = range(3)
SPAMMERS, FALSE_ALARMS, MISSED = 0.06, 0.01, 0.05


def made(labels: int) -> tuple[pl.DataFrame, np.ndarray, np.ndarray]:
    """The table of labels, who is a spammer, and of which kind."""
    random = np.random.default_rng(7)
    people, items = labels // EACH, labels // TOGETHER
    truth = random.choice(len(LABELS), items, p=[0.4, 0.3, 0.2, 0.1])
    item = np.repeat(np.arange(items), TOGETHER)
    # Annotators who stand apart around the circle, so that nobody gives the same item two labels.
    first = np.repeat(random.integers(0, people, items), TOGETHER)
    worker = (first + np.tile(np.arange(TOGETHER), items) * (people // TOGETHER)) % people
    spammer, kind = random.random(people) < SPAMMERS, random.integers(0, 3, people)
    knows = random.random(labels) < random.beta(9, 2, people)[worker]
    guess = random.integers(0, len(LABELS), labels)
    label = np.where(knows, truth[item], guess)
    label = np.where((spammer & (kind == GUESSES))[worker], guess, label)
    label = np.where((spammer & (kind == ONE_LABEL))[worker], 0, label)
    seconds = np.where(spammer[worker], random.lognormal(0.3, 0.5, labels), random.lognormal(1.9, 0.6, labels))
    begin = np.datetime64("2026-03-01T09:00:00") + (random.random(labels) * 30 * 86400).astype("timedelta64[s]")
    table = pl.DataFrame(
        {
            "annotator_id": pl.Series([f"A{number:05d}" for number in range(people)]).gather(worker),
            "example_id": pl.Series([f"ex-{number:06d}" for number in range(items)]).gather(item),
            "label": LABELS[label],
            "submitted_at": begin.astype("datetime64[ms]"),
            "duration_s": seconds.round(2),
            "gold_label": pl.Series(LABELS[truth[item]]).set(pl.Series(item % 50 != 0), None),
        }
    )
    return table.sort("submitted_at"), spammer, kind


def flagged(table: pl.DataFrame, folder: Path, people: int) -> tuple[np.ndarray, float]:
    """The participants credence flags in a Parquet file, and the seconds from the file to the verdicts."""
    path = folder / "labels.parquet"
    table.write_parquet(path)
    start = time.perf_counter()
    evidence = karat.screen.credence(read_files([path]).judgments.with_row_order())
    took = time.perf_counter() - start
    found = np.zeros(people, bool)
    found[[int(name.removeprefix("A")) for name in evidence.flagged]] = True
    return found, took


def excluded_by_agreement(table: pl.DataFrame, seen: np.ndarray, spammer: np.ndarray, found: int) -> int:
    """How many who are no spammers a cutoff on the agreement with the majority excludes that finds as many spammers."""
    majority = pl.col("label").mode().sort().first().over("example_id")
    agrees = table.select("annotator_id", agrees=pl.col("label") == majority).group_by("annotator_id").mean()
    agreement = agrees.sort("annotator_id")["agrees"].to_numpy()
    return int((agreement[~spammer] <= np.sort(agreement[seen])[found - 1]).sum()) if found else 0


def main() -> None:
    """Screen with times and without; beside the agreement with the majority."""
    options = argparse.ArgumentParser(description="Credence on crowd labels with known spammers.")
    options.add_argument("labels", nargs="?", type=float, default=LABELS_OF_ROW)
    options.add_argument("--write", action="store_true", help="write the figures to docs/performance.md")
    asked = parse_options(options)
    table, spammer, kind = made(SMALLEST if asked.smallest else int(asked.labels))
    blind = spammer & (kind != TOO_FAST)
    failed, words = False, []
    with tempfile.TemporaryDirectory() as name:
        for without in ("", " without times"):
            given = table.drop("duration_s", "submitted_at") if without else table
            found, took = flagged(given, Path(name), len(spammer))
            hit, wrong, others = int((found & blind).sum()), int((found & ~spammer).sum()), int((~spammer).sum())
            failed |= wrong > FALSE_ALARMS * others or hit < (1 - MISSED) * blind.sum()
            quick = int((found & spammer & ~blind).sum())
            print(f"credence{without}: {hit} of {blind.sum()} spammers, {wrong} of {others:,} others, {took:.0f} s")
            print(f"  of {(spammer & ~blind).sum()} who label as well, but too fast to read: {quick}")
            words.append(f"{hit} of {blind.sum()} found and {wrong} of {others:,} others flagged{without}")
        lost = excluded_by_agreement(table, blind, spammer, hit)
    print(f"agreement with the majority, cut where it finds as many: {lost:,} of {others:,} others")
    words[-1] += f" (agreement: {lost:,})"
    if asked.write and asked.labels == LABELS_OF_ROW:
        write_rows({ROW: "; ".join(words)})
    sys.exit(int(failed and not asked.smallest))


if __name__ == "__main__":
    main()
