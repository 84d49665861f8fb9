"""Dawid and Skene's model on 1,000,000 labels beside crowd-kit: python benchmarks/consensus.py [LABELS]

In one run, the same answers and the same number of rounds: karat's consensus from judgments to labels and posteriors,
and crowd-kit's DawidSkene from its pandas table, installed into an environment of its own under the temporary folder.
karat's judgments have names as text, crowd-kit's table has numbers, which are faster for it. Both turn about, and the
best of each counts, in processor seconds of all threads together. The greatest difference of posteriors is printed; the
run fails where it is above 1e-6 or where karat is less than ten times faster. Then, for karat alone, the rounds until
convergence, and the bootstrap of the coefficients of agreement. `--write` puts the ratio into docs/performance.md;
`--smallest` takes 5,000 labels.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import karat
from karat.judgments import Judgments
from karat.judgments.checks import Checked
from karat.measure.consensus import consensus
from karat.measure.reliability.agreement import agreement

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.marked import parse_options, write_rows
from benchmarks.peers.environment import environment

PEER = "crowd-kit==1.4.2"
ROW = "Dawid and Skene's model of 1,000,000 labels, 20 rounds"
ROUNDS, TURNS, KINDS, FASTER = 20, 3, 5, 10.0
PEER_SECONDS, SMALLEST = 400, 5_000
SCRIPT = """
import json, sys, time, warnings
import numpy as np, pandas as pd
warnings.simplefilter("ignore")
from crowdkit.aggregation import DawidSkene
made = np.load(sys.argv[1] + "/answers.npz")
table = pd.DataFrame({"task": made["item"], "worker": made["rater"], "label": made["label"]})
model = DawidSkene(n_iter=int(sys.argv[2]), tol=-1e300)
start = time.process_time()
model.fit(table)
seconds = time.process_time() - start
np.save(sys.argv[1] + "/posteriors.npy", model.probas_.sort_index().reindex(columns=range(int(sys.argv[3]))).to_numpy())
print(json.dumps(seconds))
"""


def seconds(call: Callable[[], object]) -> tuple[float, object]:
    """How much of the processor a call takes, and what it gives."""
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


def answers(labels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Five answers per item by workers of different quality, no worker twice."""
    random = np.random.default_rng(5)
    items, people = labels // 5, max(20, labels // 200)
    truth = random.integers(0, KINDS, items)
    item = np.repeat(np.arange(items), 5)
    # Five workers who stand apart around the circle, so that nobody gives the same item two labels.
    rater = (np.repeat(random.integers(0, people, items), 5) + np.tile(np.arange(5), items) * (people // 5)) % people
    right = random.random(len(item)) < random.beta(8, 3, people)[rater]
    return item, rater, np.where(right, truth[item], random.integers(0, KINDS, len(item)))


def judgments_of(item: np.ndarray, rater: np.ndarray, label: np.ndarray) -> Judgments:
    """The answers as judgments, with names as text."""
    names = {"participant": ("w", rater), "item": ("t", item), "response": ("l", label)}
    columns = {
        name: pl.Series([f"{letter}{number}" for number in range(int(codes.max()) + 1)]).gather(codes)
        for name, (letter, codes) in names.items()
    }
    frame = pl.DataFrame(columns).with_columns(function=pl.lit("test"))
    return Judgments.from_checked(Checked(frame), {"": karat.Nominal([f"l{number}" for number in range(KINDS)])})


def peer_seconds(python: Path, folder: Path) -> float | None:
    """How much of the processor crowd-kit takes; None where it takes longer than it is given."""
    command = [python, "-c", SCRIPT, str(folder), str(ROUNDS), str(KINDS)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PEER_SECONDS, check=True)
    except subprocess.TimeoutExpired:
        return None
    return float(json.loads(done.stdout))


def beside_peer(
    judgments: Judgments, made: tuple[np.ndarray, np.ndarray, np.ndarray], write: bool, smallest: bool
) -> bool:
    """Print both times and the difference; whether a limit is not held."""
    python = environment("crowd-kit", [PEER], "crowdkit", install=not smallest)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savez(folder / "answers.npz", item=made[0], rater=made[1], label=made[2])
        ours: list[float] = []
        theirs: list[float | None] = []
        for _ in range(1 if smallest else TURNS):
            took, found = seconds(lambda: consensus(judgments, iterations=ROUNDS, tolerance=0.0))
            ours.append(took)
            if python is not None:
                theirs.append(peer_seconds(python, folder))
        print(f"karat, {len(judgments):,} labels, {ROUNDS} rounds       {min(ours):.2f} s")
        if python is None:
            print(f"{PEER} is not here: no comparison")
            return False
        known = [took for took in theirs if took is not None]
        if not known:
            print(f"{PEER}: not done after {PEER_SECONDS} s, more than {PEER_SECONDS / min(ours):.0f} times as long")
            return False
        posteriors = found.soft_labels().select(pl.exclude("item")).to_numpy()  # type: ignore[attr-defined]
        difference = float(np.abs(posteriors - np.load(folder / "posteriors.npy")).max())
    ratio = min(known) / min(ours)
    print(f"{PEER}, the same             {min(known):.2f} s: {ratio:.1f} times as long (at least {FASTER:g})")
    print(f"greatest difference of posteriors         {difference:.1e}")
    if write:
        write_rows({ROW: f"{ratio:.0f} times faster; posteriors differ by at most {difference:.0e}"})
    return (ratio < FASTER and not smallest) or difference > 1e-6


def main() -> int:
    """Print times; fail where a limit is not held."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("labels", type=int, nargs="?", default=1_000_000, help="how many labels")
    parser.add_argument("--write", action="store_true", help="write the ratio to docs/performance.md")
    asked = parse_options(parser)
    made = answers(SMALLEST if asked.smallest else asked.labels)
    judgments = judgments_of(*made)
    failed = beside_peer(judgments, made, asked.write, asked.smallest)
    took, found = seconds(lambda: consensus(judgments))
    print(f"until convergence                         {took:.2f} s; {found.notes[-1]}")  # type: ignore[attr-defined]
    took, _ = seconds(lambda: agreement(judgments, samples=100))
    print(f"agreement with 100 bootstrap samples      {took:.2f} s")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
