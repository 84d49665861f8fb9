"""What a screening says of itself beside the verdict."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import karat
from karat.screen.run import run

LIKERT = karat.datasets.load("likert")


def test_notes_are_gathered_and_a_shared_one_is_said_once(tmp_path: Path) -> None:
    screening = run(LIKERT, {"even_odd": {}, "person_total": {}, "completion": {}, "exclude": "any"})
    said = [note for one in screening.evidence.values() for note in one.notes]
    assert len(said) > len(set(said)) > 1
    first, second = screening.evidence["even_odd"], screening.evidence["person_total"]
    (shared,) = set(first.notes) & set(second.notes)
    assert f"even_odd, person_total: {shared}" in screening.notes
    assert len(screening.notes) == len(set(said))
    for note in said:
        assert len([told for told in screening.notes if told.endswith(note)]) == 1
    screening.write(tmp_path)
    told = json.loads((tmp_path / "screening.json").read_text(encoding="utf-8"))
    assert told["summary"]["notes"] == list(screening.notes)


def test_a_note_that_begins_with_the_name_of_its_criterion_has_it_once() -> None:
    screening = run(LIKERT, {"completion": {}})
    own = replace(screening.evidence["completion"], notes=("completion: so it is.", "completion: so it is."))
    assert replace(screening, evidence={"completion": own}).notes == ("completion: so it is.",)
