"""Simulated judgments of two sessions, for tests."""

from __future__ import annotations

import numpy as np
import polars as pl

import karat


def rated_twice(
    people: int = 20, items: int = 25, noise: float = 0.8, seed: int = 1, others: bool = False, questions: int = 1
) -> karat.Judgments:
    """Ratings of items from 1 to 7 in two sessions, by the same participants, or by others in the second."""
    random = np.random.default_rng(seed)
    truth = random.normal(4, 1.2, (questions, items))
    rows = []
    for session in ("one", "two"):
        for person in range(people):
            name = f"p{person:02d}" + ("b" if others and session == "two" else "")
            shift = random.normal(0, 0.5)
            for question in range(questions):
                answers = np.clip(np.round(truth[question] + shift + random.normal(0, noise, items)), 1, 7)
                rows += [
                    {"participant": name, "item": f"i{item:02d}", "response": int(answer), "session": session,
                     "question": f"q{question}", "function": "test"}
                    for item, answer in enumerate(answers)
                ]  # fmt: skip
    frame = pl.DataFrame(rows)
    return karat.Judgments(frame.drop("question") if questions == 1 else frame, karat.Ordinal(7))
