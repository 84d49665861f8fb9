"""Make the data of glrm_models.R: yes-or-no, measured and ordered answers of participants to items, not balanced.

Run from this folder: python glrm_models_simulate.py
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
PARTICIPANTS, ITEMS = 36, 18
SEED = 20_260_511


def simulate() -> dict[str, list[dict[str, str]]]:
    """The rows of three tables, as text."""
    rng = np.random.default_rng(SEED)
    person, item = (index.ravel() for index in np.indices((PARTICIPANTS, ITEMS)))
    keep = rng.random(len(person)) < 0.85
    person, item = person[keep], item[keep]
    group = np.array(["expert", "novice"])[(np.arange(PARTICIPANTS) % 3 == 0).astype(int)][person]
    # Conditions rotate over items from list to list, so that every item is seen in each of them.
    condition = np.array(["filler", "match", "mismatch"])[(person + item) % 3]
    difficulty = rng.normal(0, 1, ITEMS).round(2)[item]
    length = rng.integers(4, 15, ITEMS)[item]
    steps = {"filler": 0.0, "match": 0.5, "mismatch": -0.7}
    step = np.array([steps[c] for c in condition]) * np.where(group == "novice", 0.4, 1.0)
    slope = rng.normal(0, 0.15, (PARTICIPANTS, 3))[person, (person + item) % 3]
    mean = 0.4 + step - 0.5 * difficulty - 0.3 * (group == "novice") + rng.normal(0, 0.9, PARTICIPANTS)[person]
    mean = mean + rng.normal(0, 0.6, ITEMS)[item]
    logit = mean + 0.35 * difficulty * (condition == "mismatch")
    correct = rng.random(len(logit)) < 1 / (1 + np.exp(-logit))
    time = np.exp(6.5 + 0.15 * mean + slope + rng.normal(0, 0.25, len(mean))).round(1)
    latent = mean + rng.logistic(size=len(mean))
    rating = 1 + np.searchsorted([-1.5, 0.0, 1.2, 2.4], latent)
    common = {
        "participant": [f"p{k:02d}" for k in person], "item": [f"i{k:02d}" for k in item], "group": group,
        "condition": condition, "difficulty": difficulty, "length": length,
    }  # fmt: skip
    tables = {"binary": {"correct": correct.astype(int)}, "gaussian": {"rt": time}, "ordinal": {"rating": rating}}
    return {name: _rows(common | answers) for name, answers in tables.items()}


def _rows(columns: dict[str, object]) -> list[dict[str, str]]:
    values = [[str(value) for value in column] for column in columns.values()]  # type: ignore[attr-defined]
    return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]


def main() -> None:
    """Write the tables beside this file."""
    for name, rows in simulate().items():
        with (HERE / f"glrm_models_{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
