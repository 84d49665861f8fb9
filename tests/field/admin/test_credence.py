"""Credence on the dashboard: live like the other criteria, its reason shown when the study is closed, no scipy here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from field.admin.fielding import ANSWERS, TOML, Fielded, write_study
from field.admin.test_pages import screened
from field.server.visitor import Visitor
from karat.field.store import studies


@pytest.fixture
def study_path(tmp_path: Path) -> Path:
    path = write_study(tmp_path / "blind")
    stated = TOML.replace("straightlining = {}", "credence = { below = 0.5 }")
    assert stated != TOML
    path.write_text(stated, encoding="utf-8")
    return path


@pytest.mark.slow
def test_it_is_computed_live_and_reported_like_the_others(researcher: Visitor, fielded: Fielded) -> None:
    names = [fielded.finish(region=region) for region in ("north", "north", "north", "south", "south")]
    always = fielded.finish(region="south", attentive=False, always=ANSWERS[1])
    screened(researcher, fielded)
    person = researcher.get(f"/admin/blind/people/{always}").text
    assert "credence" in person
    assert "flagged (the reason is shown when the study is closed)" in person
    assert "attentive with probability" not in person
    fielded.store.call(studies.set_state, fielded.id, "closed")
    screened(researcher, fielded)
    assert "attentive with probability" in researcher.get(f"/admin/blind/people/{always}").text
    assert "attentive with probability" in researcher.get(f"/admin/blind/people/{names[0]}").text


@pytest.mark.slow
def test_the_server_does_not_load_what_computes_it() -> None:
    code = (
        "import sys, karat.field.server.app, karat.field.admin.actions\n"
        "heavy = ('scipy', 'matplotlib', 'karat.models', 'karat.screen')\n"
        "print(sorted(name for name in sys.modules if name.startswith(heavy)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
