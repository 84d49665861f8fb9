"""What a screening says of itself beside the verdict."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import karat
from karat.messages import Message
from karat.screen.run import run

LIKERT = karat.datasets.load("likert")


def test_notes_are_gathered_and_a_shared_one_is_said_once(tmp_path: Path) -> None:
    screening = run(LIKERT, {"even_odd": {}, "person_total": {}, "completion": {}, "exclude": "any"})
    said = [note for one in screening.evidence.values() for note in one.notes]
    assert len(said) > len(set(said)) > 1
    first, second = screening.evidence["even_odd"], screening.evidence["person_total"]
    (shared,) = set(first.notes) & set(second.notes)
    assert Message("screening.note", {"criteria": ["even_odd", "person_total"], "note": shared}) in screening.notes
    assert len(screening.notes) == len(set(said))
    for note in said:
        assert len([one for one in screening.notes if one.values["note"] == note]) == 1
    screening.write(tmp_path)
    text = json.loads((tmp_path / "screening.json").read_text(encoding="utf-8"))
    assert text["summary"]["notes"] == list(map(str, screening.notes))


def test_a_note_that_a_criterion_gives_twice_is_there_once() -> None:
    screening = run(LIKERT, {"completion": {}})
    note = Message("screening.nobody_left")
    own = replace(screening.evidence["completion"], notes=(note, note))
    (found,) = replace(screening, evidence={"completion": own}).notes
    assert found == Message("screening.note", {"criteria": ["completion"], "note": note})
