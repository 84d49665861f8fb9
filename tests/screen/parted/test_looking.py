"""The first pass over parts: what is said of the reading of all of them together."""

from __future__ import annotations

from pathlib import Path

import karat
from karat.messages import Message
from karat.screen.parted.run import joined_notes
from screen.parted.splitting import split


def test_reading_notes_are_of_all_parts_or_one(tmp_path: Path) -> None:
    parts = split(karat.datasets.load("likert"), (0.5, 0.5), tmp_path)
    shared, single = (Message("error", {"text": text}) for text in ("Times are in seconds.", "A column is empty."))
    one, many, all_of_them = (Message("answers.status_filled", {"n": n}) for n in (1, 1200, 1201))
    assert joined_notes([(shared, many), (shared, single, one)], parts) == (
        shared, all_of_them, Message("parts.note", {"part": parts.name(1), "note": single}),
    )  # fmt: skip
