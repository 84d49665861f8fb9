"""Judgments in parts for tests, and the table that the parts stand for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import karat
from karat.judgments.parts import Parts, open_parts
from karat.screen.evidence import Evidence, PartedEvidence
from karat.screen.parted.in_parts import InParts

SPLITS = [(1.0,), (0.5, 0.5), (0.05, 0.6, 0.1, 0.05, 0.2)]
"""Shares of participants in each part: one, two, and five uneven parts."""
FIVE_FIRST = [SPLITS[2], *(pytest.param(split, marks=pytest.mark.slow) for split in SPLITS[:2])]
"""The same for tests: five parts by default, the others where there is more time."""


def split(judgments: karat.Judgments, shares: Sequence[float], folder: Path) -> Parts:
    """The judgments as Parquet files in a folder, so many participants in each."""
    people = judgments.participants["participant"].to_list()
    start, total = 0, 0.0
    for number, share in enumerate(shares):
        total += share
        end = len(people) if number == len(shares) - 1 else round(total * len(people))
        own = people[start:end]
        judgments.without([name for name in people if name not in set(own)]).to_parquet(folder / f"{number:03}.parquet")
        start = end
    return open_parts(folder)


def whole(parts: Parts) -> karat.Judgments:
    """The table that the parts stand for: one after the other."""
    read = [parts.read(number) for number in range(len(parts))]
    people = pl.concat([one.participants for one in read], how="diagonal")
    return karat.Judgments(pl.concat([one.frame for one in read]), parts.scales, people)


def crowd(judgments: karat.Judgments, shares: Sequence[float], folder: Path) -> InParts:
    """The judgments as a crowd in parts."""
    (folder / "data").mkdir(parents=True)
    return InParts(split(judgments, shares, folder / "data"), folder / "out")


def assert_same(parted: PartedEvidence, together: Evidence) -> None:
    """Whether the evidence in parts is that of the whole, with its notes and settings."""
    # Whole numbers, flags and reasons are compared as they are; probabilities may differ in their last digits.
    assert_frame_equal(parted.scan().collect(), together.participants, check_exact=False, rel_tol=1e-10, abs_tol=0)
    assert parted.participants == together.participants.height
    assert parted.flagged == len(together.flagged)
    assert parted.settings == together.settings
    assert parted.notes == together.notes
    assert str(parted) == str(together)
