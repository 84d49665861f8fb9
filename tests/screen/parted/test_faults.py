"""Screening in parts on a cluster, of which a process dies."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import karat
from karat import screen
from karat.executors import open_executor
from karat.judgments.parts.folder import Folder
from karat.screen.parted import run_in_parts
from screen.parted.splitting import split, whole
from screen.parted.test_run import assert_same_screening

RULES = {"completion": {}, "remfod": {}, "straightlining": {}, "exclude": "any"}


@dataclass(frozen=True)
class Deadly(Folder):
    """Parts of which one kills the process that reads it, so many times."""

    here: int = 0
    """The process that is not killed."""
    deaths: Path = Path()

    def read(self, number: int) -> karat.Judgments:
        if number == 1 and os.getpid() != self.here:
            killed = len(list(self.deaths.iterdir()))
            # In the middle of the second pass, and once more later.
            reads = self.deaths.parent / f"reads-{os.getpid()}"
            reads.touch()
            if killed < 2 and len(list(self.deaths.parent.glob("reads-*"))) > killed:
                (self.deaths / str(os.getpid())).touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return super().read(number)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [2, 4])
def test_a_process_that_dies_changes_nothing(processes: int, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    (tmp_path / "in").mkdir()
    (tmp_path / "deaths").mkdir()
    parts: Any = split(karat.datasets.load("likert"), (0.3, 0.3, 0.4), tmp_path / "in")
    together = screen.run(whole(parts), RULES)
    deadly = Deadly(**vars(parts), here=os.getpid(), deaths=tmp_path / "deaths")
    with open_executor("local", processes=processes) as executor:
        parted = run_in_parts(deadly, RULES, executor=executor, out=tmp_path / "out")
    assert len(list((tmp_path / "deaths").iterdir())) == 2
    assert_same_screening(replace(parted, parts=parts), together)
