"""The first pass over parts: what is said of the reading of all of them together."""

from __future__ import annotations

from pathlib import Path

import karat
from karat.screen.parted.looking import _notes
from screen.parted.splitting import split


def test_notes_on_reading_are_said_of_all_parts_or_of_the_one_that_has_them(tmp_path: Path) -> None:
    parts = split(karat.datasets.load("likert"), (0.5, 0.5), tmp_path)
    shared, single = "Times are read as seconds.", "A column is empty."
    notes = [(shared, "Right answers taken from the study for 1,200 answers."),
             (shared, single, "Right answers taken from the study for 1 answer.")]  # fmt: skip
    assert _notes(notes, parts) == (
        shared, "Right answers taken from the study for 1,201 answers.", f"{parts.name(1)}: {single}",
    )  # fmt: skip
