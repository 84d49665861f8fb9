"""MACE and Dawid-Skene of crowd-kit as scores of participants, in an environment of its own.

One process of that environment is kept open: it reads the name of a file with answers, and writes another with scores.
MACE's score is the probability that somebody does not spam; that of Dawid and Skene the probability of a right answer,
by the participant's matrix of errors and the shares of the categories.
"""

from __future__ import annotations

import atexit
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

import numpy as np

from benchmarks.peers.environment import environment

from .peers import Answers
from .scenes import Floats

PEER = "crowd-kit==1.4.2"
RESTARTS = 1
"""Of MACE: with its usual ten it alone would take longer than everything else here."""
SCRIPT = """
import sys, warnings
import numpy as np, pandas as pd
warnings.simplefilter("ignore")
from crowdkit.aggregation import MACE, DawidSkene
for line in sys.stdin:
    folder = line.strip()
    made = np.load(folder + "/answers.npz")
    table = pd.DataFrame({"task": made["item"], "worker": made["worker"], "label": made["label"]})
    mace = MACE(n_restarts=int(sys.argv[1]), random_state=1).fit(table)
    model = DawidSkene().fit(table)
    quality = np.zeros(int(table["worker"].max()) + 1)
    for (worker, label), row in model.errors_.iterrows():
        quality[worker] += model.priors_.get(label, 0.0) * row.get(label, 0.0)
    honest = np.zeros(len(quality))
    honest[pd.unique(table["worker"])] = np.asarray(mace.spamming_)[:, 1]
    np.savez(folder + "/scores.npz", mace=honest, dawid_skene=quality)
    print("done", flush=True)
"""


@lru_cache(maxsize=1)
def python() -> Path | None:
    """The Python of the environment, made where it is not there; None where it cannot be."""
    return environment("crowd-kit", [PEER], "crowdkit")


@lru_cache(maxsize=1)
def _process() -> subprocess.Popen[str]:
    opened = subprocess.Popen(
        [str(python()), "-c", SCRIPT, str(RESTARTS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    atexit.register(opened.terminate)
    return opened


def crowd_kit_scores(data: Answers) -> dict[str, Floats]:
    """Both scores of everybody, in the order of the participants; nothing where the environment cannot be used."""
    if python() is None:
        return {}
    process = _process()
    if process.poll() is not None or process.stdin is None or process.stdout is None:
        return {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savez(folder / "answers.npz", item=data.stimulus, worker=data.owner, label=data.level)
        process.stdin.write(f"{folder}\n")
        process.stdin.flush()
        if process.stdout.readline().strip() != "done":
            return {}
        with np.load(folder / "scores.npz") as made:
            return {"MACE": made["mace"], "Dawid-Skene": made["dawid_skene"]}
