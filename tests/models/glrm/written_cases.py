"""A small study for models that are written as formulas."""

from __future__ import annotations

from typing import Any

import numpy as np

GROUPS = "(1 | participant) + (1 | item)"


def study(seed: int = 5, participants: int = 20, items: int = 12) -> dict[str, Any]:
    """Unbalanced answers of every kind, with two factors and a covariate."""
    rng = np.random.default_rng(seed)
    person, item = (index.ravel() for index in np.indices((participants, items)))
    kept = rng.random(len(person)) < 0.9
    person, item = person[kept], item[kept]
    rows = len(person)
    condition = np.array(["a", "b", "c"])[(person + item) % 3]
    group = np.array(["old", "young"])[person % 5 // 3]
    size = rng.normal(1.0, 1.0, items).round(2)[item]
    mean = 0.8 * (condition == "b") - 0.6 * (group == "old") * (condition == "c") + 0.3 * size
    mean = mean + rng.normal(0, 0.8, participants)[person] + rng.normal(0, 0.5, items)[item]
    latent = mean + rng.logistic(size=rows)
    return {
        "participant": np.array([f"p{k}" for k in person]), "item": item, "condition": condition, "group": group,
        "size": size, "yes": latent > 0.4, "rating": 1 + np.searchsorted([-1.0, 0.5, 2.0], latent),
        "time": mean + rng.normal(0, 1, rows),
    }  # fmt: skip
