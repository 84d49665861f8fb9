"""Simulate the answers that `glrm_slopes.R` fits: run it from this folder, then `Rscript glrm_slopes.R`.

`glrm_slopes.csv`: 60 participants x 24 items, a condition x within both, intercepts and slopes that vary between
both; one answer in twelve is missing. `glrm_rounds.csv`: 24 participants x 18 items in 4 rounds, where both drift
between rounds.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def correlated(random: np.random.Generator, levels: int, deviations: list[float], correlation: float) -> np.ndarray:
    one, other = random.normal(size=(2, levels))
    other = correlation * one + np.sqrt(1 - correlation**2) * other
    return np.column_stack([deviations[0] * one, deviations[1] * other])


def answers(random: np.random.Generator, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Yes or no, a rating from 1 to 5 and a measure, of the same predictor."""
    yes = (eta + random.logistic(size=len(eta)) > 0).astype(int)
    rating = 1 + np.digitize(eta + random.logistic(size=len(eta)), [-2.0, -0.5, 0.7, 2.2])
    return yes, rating, 5 + eta + random.normal(0, 1.3, len(eta))


def write(name: str, header: list[str], columns: list[np.ndarray]) -> None:
    with (HERE / name).open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(header)
        rows.writerows(zip(*columns, strict=True))


def slopes() -> None:
    random = np.random.default_rng(20)
    who, what = np.indices((60, 24)).reshape(2, -1)
    kept = random.random(len(who)) > 1 / 12
    who, what = who[kept], what[kept]
    x = np.where((who + what) % 2 == 0, 0.5, -0.5)
    length = np.round(random.normal(0, 1, 24), 2)[what]
    by_person = correlated(random, 60, [1.0, 1.2], 0.4)[who]
    by_item = correlated(random, 24, [0.8, 0.9], -0.3)[what]
    eta = 0.4 + 0.9 * x - 0.3 * length + (by_person + by_item)[:, 0] + (by_person + by_item)[:, 1] * x
    yes, rating, value = answers(random, eta)
    header = ["participant", "item", "x", "length", "yes", "rating", "value"]
    names = [np.char.add("p", who.astype(str)), np.char.add("i", what.astype(str))]
    write("glrm_slopes.csv", header, [*names, x, length, yes, rating, np.round(value, 4)])


def rounds() -> None:
    random = np.random.default_rng(21)
    who, what, when = np.indices((24, 18, 4)).reshape(3, -1)
    person, item = random.normal(0, 1, 24)[who], random.normal(0, 0.9, 18)[what]
    drift = random.normal(0, 0.7, (24, 4))[who, when] + random.normal(0, 0.6, (18, 4))[what, when]
    yes, rating, value = answers(random, 0.3 + person + item + drift)
    names = [np.char.add("p", who.astype(str)), np.char.add("i", what.astype(str)), np.char.add("r", when.astype(str))]
    header = ["participant", "item", "round", "yes", "rating", "value"]
    write("glrm_rounds.csv", header, [*names, yes, rating, np.round(value, 4)])


if __name__ == "__main__":
    slopes()
    rounds()
