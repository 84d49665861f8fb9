"""Ratings of a few items by everybody, for the tests of strengths."""

from __future__ import annotations

import numpy as np
import polars as pl

import karat


def ratings(people: int = 12, items: int = 6, scale: karat.Scale | None = None, seed: int = 1) -> karat.Judgments:
    """Everybody rates every item on five points, later items higher."""
    random = np.random.default_rng(seed)
    who, what = np.divmod(np.arange(people * items), items)
    latent = 1 + 4 * what / (items - 1) + random.normal(0, 1, len(who)) + random.normal(0, 0.5, people)[who]
    answers = np.clip(np.round(latent), 1, 5).astype(int)
    table = pl.DataFrame({
        "participant": [f"p{one}" for one in who], "item": [f"i{one}" for one in what], "response": answers,
    })  # fmt: skip
    return karat.Judgments(table, scale or karat.Ordinal(5))
