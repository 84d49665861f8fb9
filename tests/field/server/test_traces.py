"""Traces of hands on the server: a few numbers are stored, odd ones cost no answer, and one key turns them off."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from field.server.conftest import KNOWN, TEXTS, Served, write
from field.server.visitor import answer_to
from karat.field.content.texts import words
from karat.field.store import export
from karat.field.store.schema import answer, event

LANGUAGES = ("de", "en", "es", "fr", "he", "it", "ja", "nl", "pl", "tr", "zh")


def answered(served: Served, trace: dict[str, Any]) -> tuple[str, list[Any]]:
    """What a participant reads who answers with these numbers and pastes something, and what is stored of it."""
    person = served.visitor()
    first = person.arrive()
    page = person.go_on(first, KNOWN)
    body = person.api("GET", "trials").json()
    one = {**answer_to(body["trials"][0], body["scales"]), "trace": trace}
    paste = {"kind": "paste", "at": 1_790_000_000_000}
    reply = person.api("POST", "answers", {"answers": [one], "events": [paste], "have": []}).json()
    assert reply["saved"] == [one["key"]]
    stored = [row["details"].get("trace") for row in served.rows(answer)]
    return first.text + page.text, [*stored, *(row["kind"] for row in served.rows(event) if row["kind"] == "paste")]


def test_numbers_are_stored_and_exported(served: Served) -> None:
    shown, stored = answered(served, {"moves": 12, "press": 0.093, "off": 0.4})
    assert stored == [{"moves": 12.0, "press": 0.093, "off": 0.4}, "paste"]
    assert words("en")["privacy.traces"] in shown
    assert "data-traces" not in shown
    with served.app.state.store.read() as connection:
        table = export.judgments(connection, 1, served.app.state.studies["study"]).frame
    assert json.loads(table["trace"][0])["press"] == 0.093
    assert table["received"].null_count() == 0


def test_odd_numbers_and_further_names_cost_no_answer(served: Served) -> None:
    odd = {"moves": -1, "press": None, "path": 1e300, "text": 7.0, "off": 0.5}
    assert answered(served, odd)[1] == [{"off": 0.5}, "paste"]


def test_one_key_turns_them_off(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve(write(tmp_path / "study", TEXTS + "\n[field]\ntraces = false\n"))
    shown, stored = answered(served, {"moves": 12})
    assert stored == [None]
    assert words("en")["privacy.traces"] not in shown
    assert 'data-traces="off"' in shown


def test_every_language_says_so() -> None:
    said = {words(language)["privacy.traces"] for language in LANGUAGES}
    assert len(said) == len(LANGUAGES)
