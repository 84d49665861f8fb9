"""The data of Ba, Mancenido, Chiou and Pan that are public, simulations by their procedure, and what is known of them.

Beside the data stands `golden.json`: what R gives for them (lme4, ordinal, car, irr), and the values that are printed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

import karat
from karat.judgments import Judgments
from karat.judgments.scales import Binary, Nominal, Ordinal

NAMES = {"worker": "participant", "task": "item", "order": "trial", "time": "rt", "truth": "expected"}
SPAMMERS = [f"w{number:03d}" for number in range(1, 13)]
"""The workers of the simulated data who did not answer attentively."""
POOL_KINDS = {
    "primary": ("primary1", "primary0"), "pattern": ("pattern_even1", "pattern_even0"), "random": ("random",),
}  # fmt: skip


@dataclass(frozen=True)
class Crowds:
    """The MTurk data, three simulated crowds, the authors' pool of simulated workers, and the reference values."""

    mturk: Judgments
    binary: Judgments
    ordinal: Judgments
    nominal: Judgments
    pool: pl.DataFrame
    golden: dict[str, Any]


def load(reference: Path) -> Crowds:
    """All of them, workers in the order of their names."""
    folder = reference / "ba"
    golden = json.loads((folder / "golden.json").read_text(encoding="utf-8"))
    return Crowds(
        _read(folder, "mturk", karat.Binary()), _read(folder, "binary_sim", karat.Binary()),
        _read(folder, "ordinal_sim", karat.Ordinal(5)), _read(folder, "nominal_sim", karat.Nominal(list("ABCDE"))),
        _frame(folder, "authors_pool_sim"), golden,
    )  # fmt: skip


def _frame(folder: Path, name: str) -> pl.DataFrame:
    table = pl.read_csv(folder / f"{name}.csv").sort("worker", "order")
    table = table.rename({old: new for old, new in NAMES.items() if old in table.columns})
    return table.with_columns(pl.col("response", "expected").cast(pl.String)).drop("correct")


def _read(folder: Path, name: str, scale: Binary | Ordinal | Nominal) -> Judgments:
    return Judgments(_frame(folder, name), scale)


def pool_of(crowds: Crowds, kind: str, share: int) -> Judgments:
    """The crowd of one point of figure 2: all credible workers of the pool, and the first of a kind.

    At 20 per cent the authors took 15 of one half of a kind and 13 of the other, found by trying which workers give
    the published value; at 10 and 30 per cent as many of both.
    """
    numbers = {10: (6, 6), 20: (15, 13), 30: (23, 23)}.get(share, (0, 0))
    types = POOL_KINDS[kind]
    if len(types) == 1:
        numbers = ({10: 12, 20: 27, 30: 46}.get(share, 0), 0)
    wanted = _workers(crowds.pool, "normal", None)
    for name, number in zip(types, numbers, strict=False):
        wanted += _workers(crowds.pool, name, number)
    return Judgments(crowds.pool.filter(pl.col("participant").is_in(wanted)).drop("type"), karat.Binary())


def _workers(pool: pl.DataFrame, kind: str, number: int | None) -> list[str]:
    names: list[str] = pool.filter(pl.col("type") == kind)["participant"].unique(maintain_order=True).to_list()
    return names[:number]
