"""Finished batches in a file, so that interrupted work continues where it was.

The first line says which work it is; every further line is a finished batch. A last line that was cut off when the work
was interrupted is dropped. A file that belongs to other work is refused, not overwritten.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from karat.simulate.errors import SimulateError
from karat.simulate.mean_squares import Tested


class Checkpoint:
    """The file of some work, described by plain data.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "power.jsonl"
    ...     Checkpoint(path, {"seed": 1}).add("24/16/0.5/0", [(0.5, 0.1, 0.001)])
    ...     Checkpoint(path, {"seed": 1}).done
    {'24/16/0.5/0': [(0.5, 0.1, 0.001)]}
    """

    def __init__(self, path: Path, work: Mapping[str, Any]) -> None:
        self.path = path
        self.done: dict[str, list[Tested]] = {}
        head = json.dumps({"karat": "power", "work": work}, sort_keys=True)
        try:
            text = path.read_text(encoding="utf-8") if path.exists() else ""
            if not text:
                path.write_text(head + "\n", encoding="utf-8")
                return
            self._take(text, head)
        except OSError as error:
            raise SimulateError(f"{path} cannot be used as a checkpoint: {error.strerror or error}.") from None

    def _take(self, text: str, head: str) -> None:
        lines = text.split("\n")
        whole, cut_off = lines[:-1], lines[-1]
        if not whole or not _same(whole[0], head):
            raise SimulateError(
                f"{self.path} holds other work, or the same with other settings. Give another file, or remove it."
            )
        for line in whole[1:]:
            try:
                batch = json.loads(line)
                self.done[batch["batch"]] = [_numbers(row) for row in batch["tested"]]
            except (ValueError, KeyError, TypeError):
                raise SimulateError(f"{self.path} is damaged. Remove it, and begin anew.") from None
        if cut_off:
            self.path.write_text("\n".join(whole) + "\n", encoding="utf-8")

    def add(self, batch: str, tested: list[Tested]) -> None:
        """Note a finished batch."""
        self.done[batch] = tested
        rows = [[None if number != number else number for number in row] for row in tested]
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"batch": batch, "tested": rows}) + "\n")


def _same(line: str, head: str) -> bool:
    try:
        return bool(json.loads(line) == json.loads(head))
    except ValueError:
        return False


def _numbers(row: list[float | None]) -> Tested:
    estimate, error, p = (float("nan") if number is None else number for number in row)
    return estimate, error, p
