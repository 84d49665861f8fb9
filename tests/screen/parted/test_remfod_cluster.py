"""ReMFOD over parts on a cluster: any number of processes, and a process that dies, change nothing."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import karat
from karat.executors import open_executor
from karat.executors.cluster import Cluster
from karat.judgments import Judgments
from karat.judgments.parts import open_parts
from karat.screen import remfod
from karat.screen.parted.in_parts import InParts

pytest.importorskip("distributed")


def crowd_of(folder: Path, parts: int) -> Judgments:
    """A questionnaire of 40 participants, written in parts; the whole of it."""
    random = np.random.default_rng(3)
    person = np.repeat(np.arange(40), 30)
    times = np.exp(random.normal(1.5, 0.4, 1200)) * np.where(random.random(1200) < 0.06, 6, 1)
    frame = pl.DataFrame({
        "participant": [f"p{number:02}" for number in person], "item": [f"i{number}" for number in range(1200)],
        "response": "1", "trial": np.tile(np.arange(1, 31), 40), "rt": times,
        "function": np.array(["test", "filler", "control"])[random.integers(0, 3, 1200)],
    })  # fmt: skip
    whole = Judgments(frame, karat.Ordinal(5))
    folder.mkdir()
    for number in range(parts):
        own = frame.filter(pl.Series(person * parts // 40 == number))
        Judgments(own, karat.Ordinal(5)).to_parquet(folder / f"part-{number:02}.parquet")
    return whole


def assert_same(crowd: InParts, whole: Judgments) -> None:
    found, expected = remfod(crowd, batch=1), remfod(whole)
    assert_frame_equal(found.scan().collect(), expected.participants, check_exact=True)
    assert_frame_equal(found.trials().collect(), expected.trials, check_exact=True)
    assert_frame_equal(found.cutoffs().collect(), expected.cutoffs, check_exact=True)
    assert found.rounds == expected.rounds > 1


@pytest.mark.slow
@pytest.mark.parametrize("processes", [2, 4])
def test_on_a_cluster(processes: int, tmp_path: Path) -> None:
    whole = crowd_of(tmp_path / "in", 7)
    with open_executor("local", processes=processes) as executor:
        assert_same(InParts(open_parts(tmp_path / "in"), tmp_path / "out", executor), whole)


@pytest.mark.slow
def test_a_process_killed_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    whole = crowd_of(tmp_path / "in", 7)
    with open_executor("local", processes=2) as executor:
        assert isinstance(executor, Cluster)
        client = executor.client
        killed: list[int] = []

        def kill(done: int, total: int) -> None:
            """After a task of the second pass."""
            passes.append(done)
            if not killed and len(passes) > 9:
                killed.extend(client.run(os.getpid).values())
                os.kill(killed[0], signal.SIGKILL)

        passes: list[int] = []
        assert_same(InParts(open_parts(tmp_path / "in"), tmp_path / "out", executor, kill), whole)
        assert killed
