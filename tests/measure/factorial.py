"""Simulated studies of two by two conditions, for the tests of contrasts."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import karat

FORMULA = "response ~ a * b + (1 | participant) + (1 | item)"


def frame(people: int = 24, items: int = 16, seed: int = 1, **effects: float) -> pl.DataFrame:
    """A Latin square: everybody judges each item once, in one of four conditions; `latent` has the value behind it."""
    random = np.random.default_rng(seed)
    who, what = np.divmod(np.arange(people * items), items)
    cell = (who + what) % 4
    first, second = np.where(cell < 2, 1.0, -1.0), np.where(cell % 2, -1.0, 1.0)
    latent = effects.get("a", 0.5) * first / 2 + effects.get("b", 0.0) * second / 2
    latent = latent + effects.get("ab", 0.0) * first * second / 4
    own, slope = effects.get("own", 0.6), effects.get("slope", 0.0)
    for code, number in ((who, people), (what, items)):
        latent = latent + own * random.normal(size=number)[code]
        latent = latent + slope * random.normal(size=number)[code] * first / 2
    table = {
        "participant": [f"p{k:02}" for k in who], "item": [f"i{k:02}" for k in what],
        "a": np.where(first > 0, "high", "low"), "b": np.where(second > 0, "new", "old"), "latent": latent,
        "trial": np.argsort(np.argsort(random.random((people, items)), axis=1), axis=1).ravel() + 1,
    }  # fmt: skip
    return pl.DataFrame(table)


def rated(table: pl.DataFrame, scale: Any, seed: int = 2) -> karat.Judgments:
    """Answers on a scale: logistic noise for ratings and yes or no, normal noise for numbers."""
    random = np.random.default_rng(seed)
    latent = table["latent"].to_numpy()
    noisy = latent + random.logistic(size=len(latent))
    if isinstance(scale, karat.Ordinal):
        response = (np.digitize(noisy, np.linspace(-2, 2, len(scale.levels) - 1)) + 1).astype(str)
    elif isinstance(scale, karat.Binary):
        response = (noisy > 0).astype(np.int64).astype(str)
    else:
        response = np.round(latent + random.normal(size=len(latent)), 6).astype(str)
        if isinstance(scale, karat.Magnitude):
            response = np.exp(response.astype(np.float64)).astype(str)
    return karat.Judgments(table.with_columns(response=pl.Series(response.tolist())).drop("latent"), scale)
