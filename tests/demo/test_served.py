"""The served part of the demo: it ends by itself where nobody watches, and tells what it found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import karat
from karat.demo.served import FOLDER, MARK, PEOPLE, STEP, serve
from karat.errors import KaratError


def test_without_a_terminal_it_serves_exports_screens_and_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "karat", "demo", "--keep", str(tmp_path), "--no-open"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "/s/likert/ for participants" in done.stdout
    assert "/admin with the name admin and the password " in done.stdout
    assert "checked    Nothing to mend." in done.stdout
    assert "; 2 left early" in done.stdout
    rules, credence = (
        next(line for line in done.stdout.splitlines() if line.startswith(word)) for word in ("screened", "credence")
    )
    for kind in ("guessers", "rushers", "straight-liners"):
        assert f"4 of 4 {kind}" in rules
        assert f"4 of 4 {kind}" in credence
    assert "earnest" not in rules.split("to judge every sentence")[1]
    assert credence.endswith("to judge every sentence: nobody")
    assert done.stdout.rstrip().endswith(str(tmp_path / "report.html"))
    judgments = karat.read(tmp_path / "judgments.parquet")
    assert judgments.frame["participant"].n_unique() == sum(PEOPLE.values()) == 60
    assert (tmp_path / "screened" / "participants.csv").is_file()


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "mine.txt").touch()
    with pytest.raises(KaratError, match="not from a demo"):
        serve(tmp_path)
    assert (tmp_path / FOLDER / "mine.txt").exists()
    assert not (tmp_path / FOLDER / MARK).exists()


def test_mixing_leaves_nobody_out() -> None:
    people = sum(PEOPLE.values())
    assert {STEP * number % people for number in range(people)} == set(range(people))
