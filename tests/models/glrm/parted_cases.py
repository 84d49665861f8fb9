"""Answers split into parts of workers, their likelihood, and a part whose process dies when it is first read."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from karat.models.glrm.parts.answers import Crew, PartAnswers, Placed, View, in_turn
from karat.models.glrm.parts.objective import PartedObjective


def split(
    response: Any, worker: Any, task: Any, design: Any = None, *, parts: int = 2, ends: Sequence[int] | None = None
) -> list[PartAnswers]:
    """The answers of workers (any names, in their order) in so many parts; `ends` are the last workers of parts."""
    _, number = np.unique(worker, return_inverse=True)
    workers = int(number.max()) + 1
    last = [0, *ends, workers] if ends is not None else [workers * part // parts for part in range(parts + 1)]
    found = []
    for first, end in pairwise(last):
        own = (number >= first) & (number < end)
        found.append(
            PartAnswers(response[own], number[own] - first, task[own], None if design is None else design[own])
        )
    return found


def parted_objective(
    response: Any, worker: Any, task: Any, design: Any = None, *, parts: int = 2, family: Any = "binary"
) -> PartedObjective:
    """The likelihood of answers in parts, without a search for its parameters."""
    pieces = split(response, worker, task, design, parts=parts)
    firsts = np.cumsum([0, *(piece.workers for piece in pieces[:-1])])
    placed = [Placed(piece, int(first)) for piece, first in zip(pieces, firsts, strict=True)]
    columns = int(family == "binary") if design is None else design.shape[1]
    view = View(family, np.unique(task), np.unique(response))
    return PartedObjective(Crew(placed, in_turn, 1000), view, columns, tuple(piece.workers for piece in pieces))


@dataclass(frozen=True)
class DyingPart:
    """A part whose process is killed in the middle of the given reading, once."""

    answers: PartAnswers
    folder: Path
    reading: int

    @property
    def workers(self) -> int:
        return self.answers.workers

    def read(self) -> PartAnswers:
        count = len(list(self.folder.iterdir()))
        (self.folder / f"{count}").touch()
        if count == self.reading:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.answers
