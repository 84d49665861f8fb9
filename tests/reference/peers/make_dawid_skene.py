"""Make dawid_skene.json with crowd-kit, in an environment that has it: python make_dawid_skene.py

Simulated answers with missing cells, workers who never use a label, and items whose workers never saw one; posteriors
and shares after a number of rounds, without stopping earlier, and Krippendorff's alpha of the same answers.
"""

from __future__ import annotations

import json
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd


def answers(seed: int, items: int, people: int, kinds: int, share: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Answers of workers who are right with probabilities of their own, one a cell, some cells missing."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, kinds, items)
    seen = random.random((items, people)) < share
    seen[np.arange(items), np.arange(items) % people] = True
    item, rater = np.nonzero(seen)
    right = random.random(len(item)) < random.uniform(0.3, 0.95, people)[rater]
    return item, rater, np.where(right, truth[item], random.integers(0, kinds, len(item)))


def main() -> None:
    """Write the file beside this script."""
    from crowdkit.aggregation import DawidSkene
    from crowdkit.metrics.data import alpha_krippendorff

    warnings.simplefilter("ignore")
    cases = []
    settings = [("sparse", 1, 60, 15, 4, 0.15), ("dense", 2, 40, 8, 3, 0.9), ("few", 3, 25, 20, 5, 0.1)]
    for name, seed, items, people, kinds, share in settings:
        item, rater, label = answers(seed, items, people, kinds, share)
        table = pd.DataFrame({"task": item, "worker": rater, "label": label})
        for rounds in (1, 5, 20):
            model = DawidSkene(n_iter=rounds, tol=-1e300).fit(table)
            posteriors = model.probas_.sort_index().reindex(columns=range(kinds), fill_value=0.0)
            case = {
                "data": name, "iterations": rounds, "kinds": kinds, "items": item.tolist(), "raters": rater.tolist(),
                "labels": label.tolist(), "posteriors": posteriors.to_numpy().round(10).tolist(),
                "priors": model.priors_.reindex(range(kinds), fill_value=0.0).to_numpy().round(10).tolist(),
            }  # fmt: skip
            if rounds == 1:
                several = table[table.groupby("task")["worker"].transform("size") > 1]
                if len(several) == len(table):
                    case["alpha"] = alpha_krippendorff(table)
            cases.append(case)
    versions = {name: version(name) for name in ("crowd-kit", "numpy", "pandas")}
    text = json.dumps({"made with": versions, "cases": cases}, separators=(",", ":"))
    Path(__file__).with_name("dawid_skene.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
