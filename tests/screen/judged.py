"""Small crowds with known behaviour, on any scale, for the tests of credence, and tables of stated answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import karat
from karat.judgments.scales import Choice, Magnitude, Nominal, Scale

FIVE = karat.Ordinal(5, neutral=3)


def message(row: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The code of a participant's message and its values, without those that are missing."""
    return row["message"], {name: value for name, value in row["values"].items() if value is not None}


def judgments(people: dict[str, list[Any]], scale: Scale = FIVE, **columns: Any) -> karat.Judgments:
    """The answers of each participant, one item after the other."""
    rows = [
        {"participant": name, "item": f"i{n}", "response": None if answer is None else str(answer), "trial": n}
        for name, answers in people.items()
        for n, answer in enumerate(answers, start=1)
    ]
    return karat.Judgments(pl.DataFrame(rows, infer_schema_length=None).with_columns(**columns), scale)


def crowd(scale: Scale, people: int = 20, items: int = 30, spammers: int = 2, seed: int = 1) -> karat.Judgments:
    """People who mostly agree about items, the last `spammers` of them guessing; each has an order of their own."""
    random = np.random.default_rng(seed)
    strength = random.permutation(np.linspace(-2.5, 2.5, items))
    item = np.stack([random.permutation(items) for _ in range(people)])
    latent = strength[item] + random.normal(0, 0.4, (people, 1)) + random.logistic(0, 0.6, item.shape)
    latent[people - spammers :] = random.normal(0, 2, (spammers, items))
    pace = np.exp(random.normal(1, 0.2, (people, 1)) + random.normal(0, 0.3, item.shape))
    flat = item.ravel()
    frame: dict[str, Any] = {
        "participant": np.repeat([f"p{n:02}" for n in range(people)], items),
        "item": [f"i{n:02}" for n in flat], "trial": np.tile(np.arange(1, items + 1), people), "rt": pace.ravel(),
    }  # fmt: skip
    if isinstance(scale, Choice):
        turned = random.random(flat.size) < 0.5
        first, second = ([f"{letter}{n:02}" for n in flat] for letter in "ab")
        frame["left"], frame["right"] = np.where(turned, second, first), np.where(turned, first, second)
        result = np.where((latent.ravel() > 0) == turned, "left", "right")
        if scale.none:
            result = np.where(np.abs(latent.ravel()) < 0.4, "none", result)
    elif isinstance(scale, Nominal):
        spread = np.argmax(random.normal(0, 0.4, (flat.size, len(scale.levels))) + 1.5 * np.eye(3)[flat % 3], axis=1)
        guessed = np.arange(flat.size) >= (people - spammers) * items
        result = np.array(scale.levels)[np.where(guessed, random.integers(0, 3, flat.size), spread)]
    elif isinstance(scale, Magnitude):
        result = np.exp(latent.ravel()).round(3).astype(str)
    else:
        cuts = np.linspace(-1.5, 1.5, len(scale.levels) - 1) if len(scale.levels) > 2 else [0.0]  # type: ignore[attr-defined]
        result = np.array(scale.levels)[np.searchsorted(cuts, latent.ravel())]  # type: ignore[attr-defined]
    return karat.Judgments(pl.DataFrame(frame | {"response": result}), scale)


def guessers(judgments: karat.Judgments, number: int = 2) -> list[str]:
    """Those of a crowd who guess."""
    return sorted(judgments.participants["participant"].to_list())[-number:]


def interleaved(seed: int = 0) -> pl.DataFrame:
    """Every third item is good; the first two participants answer in a pattern of three of their own."""
    rng = np.random.default_rng(seed)
    rows = []
    for p in range(24):
        good, other = (iter(rng.permutation(n).tolist()) for n in (25, 50))
        for trial in range(1, 76):
            item = f"g{next(good)}" if trial % 3 == p % 3 else f"x{next(other)}"
            usual = item[0] == "g" or int(item[1:]) % 8 == 0
            answer = (trial % 3 == p + 1) if p < 2 else usual != (rng.random() < 0.03)
            rows.append((f"p{p:02}", item, "yes" if answer else "no", trial))
    return pl.DataFrame(rows, schema=["participant", "item", "response", "trial"], orient="row")
