"""Small crossed answers for the tests of the fits."""

from __future__ import annotations

from typing import Any

import numpy as np


def answers(
    family: str = "binary", workers: int = 20, tasks: int = 12, share: float = 1.0, sheets: int = 1, seed: int = 1,
    deviations: tuple[float, float, float] = (1.0, 1.5, 0.0),
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    """Response, worker, task and a covariate with the effect 0.7."""
    random = np.random.default_rng(seed)
    worker, task = np.divmod(np.tile(np.arange(workers * tasks), sheets), tasks)
    kept = random.random(len(worker)) < share
    worker, task = worker[kept], task[kept]
    x = random.normal(size=len(worker))
    of_worker, of_task, of_cell = deviations
    eta = 0.7 * x + random.normal(0, of_worker, workers)[worker] + random.normal(0, of_task, tasks)[task]
    eta += random.normal(0, of_cell, workers * tasks)[worker * tasks + task] if of_cell else 0
    if family == "gaussian":
        return eta + random.normal(size=len(eta)), worker, task, x
    latent = eta + random.logistic(size=len(eta))
    return np.digitize(latent, [0] if family == "binary" else [-1.5, 0, 1.5]), worker, task, x
