"""Results that are kept: found again by the same work alone, in any process, and computed where they are damaged."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from executors import jobs
from karat.executors import SERIAL, ExecutorError, open_executor
from karat.executors import checkpoint as keeping
from karat.executors.checkpoint import Checkpoint, digest
from karat.executors.processes import memory_in_bytes
from messages import refuses


def done(folder: Path) -> int:
    """How often tasks were done."""
    return sum(len(path.read_text()) for path in folder.iterdir())


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


def test_the_same_work_is_found_and_other_work_is_not(tmp_path: Path, marks: Path) -> None:
    executor = Checkpoint(SERIAL, tmp_path / "kept")
    first = executor.map(jobs.noted, marks, [1, 2], name="squares")
    assert done(marks) == 2
    said: list[tuple[int, int]] = []
    got: dict[int, int] = {}
    again = executor.map(
        jobs.noted, marks, [2, 3, 1], name="squares", progress=lambda *at: said.append(at),
        each=lambda place, result: got.update({place: result}),
    )  # fmt: skip
    assert (first, again) == ([1, 4], [4, 9, 1])
    assert done(marks) == 3
    assert said == [(1, 3), (2, 3), (3, 3)]
    assert got == {0: 4, 1: 9, 2: 1}
    other = tmp_path / "other"
    other.mkdir()
    executor.map(jobs.noted, other, [1], name="squares")
    assert done(other) == 1
    assert executor.map(jobs.times, 2, [1], name="products") == [2]


def test_damaged_results_are_computed_again(tmp_path: Path, marks: Path) -> None:
    executor = Checkpoint(SERIAL, tmp_path / "kept")
    executor.map(jobs.noted, marks, [1, 2, 3], name="squares")
    one, two, _ = sorted((tmp_path / "kept").iterdir())
    one.write_bytes(b"")
    two.write_bytes(two.read_bytes()[:-3])
    assert executor.map(jobs.noted, marks, [1, 2, 3], name="squares") == [1, 4, 9]
    assert done(marks) == 5


def test_an_error_leaves_what_was_done_before(tmp_path: Path) -> None:
    executor = Checkpoint(SERIAL, tmp_path)
    with refuses(ValueError, "bad value"):
        executor.map(jobs.failing, "value", [0, 1, 2], name="failing")
    assert len(list(tmp_path.iterdir())) == 1


def test_the_folder_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    executor = Checkpoint(SERIAL, "kept")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    executor.map(jobs.times, 2, [1, 2], name="products")
    assert len(list((tmp_path / "kept").iterdir())) == 2


def test_folders_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        refuses(ExecutorError, "--checkpoint", tmp_path / "file"),
        open_executor(checkpoint=tmp_path / "file"),
    ):
        pass
    executor = Checkpoint(SERIAL, tmp_path / "kept")
    (tmp_path / "kept").rmdir()
    (tmp_path / "kept").touch()
    with refuses(ExecutorError, "--checkpoint", tmp_path / "kept"):
        executor.map(jobs.times, 2, [1], name="products")


def test_what_is_shared_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[object] = []
    monkeypatch.setattr(keeping, "digest", lambda what: looked.append(what) or digest(what))
    shared = np.arange(10.0)
    Checkpoint(SERIAL, tmp_path).map(jobs.pair, shared, [1, 2, 3], name="pairs")
    assert sum(any(part is shared for part in one) for one in looked if isinstance(one, tuple)) == 1
    assert len(looked) == 4


@pytest.mark.slow
def test_names_are_the_same_in_every_process() -> None:
    code = (
        "import numpy as np, polars as pl\nfrom karat.executors.checkpoint import digest\n"
        "print(digest((np.arange(5), pl.DataFrame({'a': [1, 2], 'b': ['x', None]}), {'k': (1.5, {'a', 'b', 'c'})})))"
    )
    result = set()
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
        result.add(run.stdout.strip())
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", None]})
    assert result == {digest((np.arange(5), frame, {"k": (1.5, {"a", "b", "c"})}))}
    assert digest({"a", "b"}) != digest({"a", "c"})
    assert digest([{"a"}]) != digest([{"b"}])
    # Large arrays are not copied into the pickle, but handed over as they are.
    assert digest(np.arange(100_000)) != digest(np.arange(100_001))
    assert digest((np.zeros((300, 300)),)) == digest((np.zeros((300, 300)),))


@pytest.mark.parametrize("text", ["", "8", "8GB", "much", "0GB", "-1GB", "8 gib"])
def test_amounts_of_memory(text: str) -> None:
    amounts = {"8": 8, "8GB": 8 * 10**9, "8 gib": 8 * 2**30}
    if text in amounts:
        assert memory_in_bytes(text) == amounts[text]
    else:
        with refuses(ExecutorError, "--memory", "8GB", "500MB"):
            memory_in_bytes(text)
