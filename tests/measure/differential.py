"""Semantic differentials whose dimensions are known."""

from __future__ import annotations

import numpy as np
import polars as pl

import karat

PAIRS = ("clear", "precise", "complete", "simple", "direct", "short")
DIMENSIONS = np.array([[0.9, 0], [0.85, 0], [0.8, 0], [0, 0.9], [0, 0.85], [0, 0.8]])


def differential(people: int = 60, texts: int = 12, each: int = 3, seed: int = 1) -> karat.Judgments:
    """Seven points on six pairs of two dimensions (r about .3), each participant some of the texts, sides turned."""
    random = np.random.default_rng(seed)
    of_texts = random.multivariate_normal([0, 0], [[1, 0.3], [0.3, 1]], size=texts)
    rows = []
    for person in range(people):
        own = 0.4 * random.standard_normal(2)
        for text in random.choice(texts, each, replace=False):
            place = DIMENSIONS @ (of_texts[text] + own + 0.3 * random.standard_normal(2))
            place = place + 0.45 * random.standard_normal(len(PAIRS))
            points = np.clip(np.round(4 + 1.4 * place), 1, 7).astype(int)
            for pair, point in zip(PAIRS, points, strict=True):
                side = int(random.choice([-1, 1]))
                rows.append((f"p{person:02}", f"t{text:02}", pair, int(point if side == 1 else 8 - point), side))
    frame = pl.DataFrame(rows, schema=["participant", "item", "question", "response", "polarity"], orient="row")
    who = {"participant": [f"p{person:02}" for person in range(people)],
           "source": ["city" if person % 2 else "country" for person in range(people)]}  # fmt: skip
    return karat.Judgments(frame, karat.Ordinal(7), who)
