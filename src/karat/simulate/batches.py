"""Simulated studies in batches: what is handed to a process, and what it hands back.

Every batch has random numbers of its own, from the seed, the size of the study and the number of the batch. So the same
seed gives the same numbers, however many processes share the work, in which order, and after which interruption.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from karat.executors import Executor
from karat.simulate.draw import Model, draw_answers
from karat.simulate.layout import SimulationLayout
from karat.simulate.mean_squares import Tested, by_mean_squares
from karat.types import Progress

Analysis = Literal["means", "mixed"]
SIZE = 50
"""Simulated studies a batch."""


@dataclass(frozen=True)
class Batch:
    """Some simulated studies of one size."""

    layout: SimulationLayout
    model: Model
    participants: int
    items: int
    effect: float
    """In the unit of the model."""
    exclude: float
    analysis: Analysis
    seed: int
    number: int
    size: int


def run_batch(batch: Batch) -> list[Tested]:
    """Estimate, standard error and p of every study of a batch."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", batch.effect))
    random = np.random.default_rng([batch.seed, batch.participants, batch.items, bits, batch.number])
    return [_study(batch, random) for _ in range(batch.size)]


def _study(batch: Batch, random: np.random.Generator) -> Tested:
    layout = batch.layout
    people, things = layout.participant_groups(batch.participants), layout.item_groups(batch.items)
    if batch.exclude:
        people = people[random.random(len(people)) >= batch.exclude]
    answers = draw_answers(batch.model, layout, people, things, batch.effect, random)
    if batch.analysis == "means":
        return by_mean_squares(answers, layout, people, things)
    from karat.simulate.mixed_model_test import by_mixed_model

    return by_mixed_model(answers, layout, people, things)


def run_batches(batches: Sequence[Batch], executor: Executor, progress: Progress | None = None) -> list[list[Tested]]:
    """The results of every batch, in their order."""
    return executor.map(_run, None, batches, name="power", progress=progress)


def _run(_: None, batch: Batch) -> list[Tested]:
    return run_batch(batch)
