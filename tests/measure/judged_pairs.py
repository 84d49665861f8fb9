"""Simulated judgments of minimal pairs on any scale, for tests."""

from __future__ import annotations

import numpy as np
import polars as pl

import karat
from karat.judgments.scales import Choice, Scale

SCALES: dict[str, Scale] = {
    "likert": karat.Ordinal(7), "yes-no": karat.Binary(), "magnitude": karat.Magnitude(100),
    "slider": karat.Continuous(0, 100), "choice": karat.Choice(none=True), "forced": karat.Choice(),
}  # fmt: skip


def judged(
    kind: str, differences: list[float], people: int = 30, seed: int = 1, halves: bool = False
) -> karat.Judgments:
    """Judgments of the pairs `a0` and `b0`, `a1` and `b1` and so on, where a is better by the differences.

    With `halves`, half of the participants judged the first of each pair, the others the second.
    """
    random = np.random.default_rng(seed)
    rows = []
    for person in range(people):
        shift = random.normal(0, 0.4)
        for number, difference in enumerate(differences):
            seen = random.normal([difference / 2, -difference / 2], 1.0)
            about = {"participant": f"p{person:02d}", "pair": str(number)}
            if isinstance(SCALES[kind], Choice):
                rows.append(about | _choice(kind, number, float(seen[0] - seen[1]), random))
                continue
            sides = "ab"[person % 2] if halves else "ab"
            for side, value in zip("ab", seen, strict=True):
                if side in sides:
                    status = "grammatical" if side == "a" else "ungrammatical"
                    answer = _answer(kind, float(value) + shift)
                    rows.append(about | {"item": f"{side}{number}", "response": answer, "status": status})
    return karat.Judgments(pl.DataFrame(rows), SCALES[kind])


def _answer(kind: str, value: float) -> str:
    if kind == "likert":
        return str(int(np.clip(np.round(4 + value), 1, 7)))
    if kind == "yes-no":
        return "1" if value > 0 else "0"
    if kind == "magnitude":
        return f"{100 * np.exp(value / 2):.4f}"
    return f"{100 / (1 + np.exp(-value)):.4f}"


def _choice(kind: str, number: int, difference: float, random: np.random.Generator) -> dict[str, str]:
    turned = bool(random.integers(2))
    left, right = (f"b{number}", f"a{number}") if turned else (f"a{number}", f"b{number}")
    side = "left" if (difference > 0) != turned else "right"
    answer = "none" if kind == "choice" and abs(difference) < 0.3 else side
    key = "right" if turned else "left"
    return {"item": f"i{number}", "left": left, "right": right, "response": answer, "expected": key}
