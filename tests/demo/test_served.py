"""The served part of the demo: it ends by itself where nobody watches, and reports what it found."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import karat
from karat.demo import FOLDER, MARK, PEOPLE, STEP, bots_of_all_kinds, serve
from karat.errors import KaratError
from karat.study.init import write_study
from messages import refuses


@pytest.mark.slow
def test_without_a_terminal_it_serves_exports_screens_and_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "karat", "demo", "--keep", str(tmp_path), "--no-open"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "http://" not in done.stdout  # its server has ended with it
    assert "checked    Nothing to fix." in done.stdout
    assert "; 2 left early" in done.stdout
    rules, credence = (
        next(line for line in done.stdout.splitlines() if line.startswith(word)) for word in ("screened", "credence")
    )
    assert all(f"4 of 4 {kind}" in rules for kind in ("guessers", "rushers", "straight-liners"))
    # Who answers which list depends on who arrives first, and credence cannot tell about every guesser in every crowd.
    assert all(f"4 of 4 {kind}" in credence for kind in ("rushers", "straight-liners"))
    assert "of 4 guessers" in credence
    assert credence.endswith("nobody")
    assert done.stdout.rstrip().endswith(str(tmp_path / "report.html"))
    judgments = karat.read(tmp_path / "judgments.parquet")
    assert judgments.frame["participant"].n_unique() == sum(PEOPLE.values()) == 60
    assert (tmp_path / "screened" / "participants.csv").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("when", ["server.log", "karat.db"])
def test_who_ends_the_demo_ends_its_server(tmp_path: Path, when: str) -> None:
    """While the server starts, which then is nowhere but in the list of processes, and while bots take part."""
    command = [sys.executable, "-m", "karat", "demo", "--keep", str(tmp_path), "--no-open"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as running:
        until = time.monotonic() + 120
        while not (tmp_path / FOLDER / "data" / when).exists() or not children(running.pid):
            assert running.poll() is None
            assert time.monotonic() < until
            time.sleep(0.02)
        started = children(running.pid)
        running.terminate()
        assert running.wait(60) == 128 + signal.SIGTERM
    assert started
    assert [process for process in started if Path(f"/proc/{process}").exists()] == []


def children(process: int) -> list[int]:
    """The processes that a process has started; the system keeps a list of them for each thread."""
    lists = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for one in lists for child in one.read_text().split()]


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "mine.txt").touch()
    with refuses(KaratError, tmp_path / FOLDER, "--out"):
        serve(tmp_path)
    assert (tmp_path / FOLDER / "mine.txt").exists()
    assert not (tmp_path / FOLDER / MARK).exists()


def test_mixing_leaves_nobody_out() -> None:
    people = sum(PEOPLE.values())
    assert {STEP * number % people for number in range(people)} == set(range(people))


@pytest.mark.slow
def test_a_rehearsal_leaves_the_study_alone(tmp_path: Path) -> None:
    """A study for Prolific with invitations and two sessions: bots come in and come back, in their own database."""
    folder = tmp_path / "mine"
    write_study(folder, "yes-no")
    text = (folder / "study.toml").read_text(encoding="utf-8")
    for old, new in (
        ("[recruitment]", '[recruitment]\ninvitations = true\nnot_from = [\n  "pilot",\n]'),
        ("[questionnaire]", "[questionnaire]\nsessions = 2\ndays_between = 7"),
    ):
        assert old in text
        text = text.replace(old, new)
    (folder / "study.toml").write_text(text, encoding="utf-8")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    command = [sys.executable, "-m", "karat", "rehearse", str(folder), "--bots", "12", "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "http://" not in done.stdout
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    answers = karat.read(tmp_path / "out" / "judgments.parquet").frame
    assert answers["participant"].n_unique() == 12
    assert answers.group_by("participant").agg(pl.col("session").n_unique())["session"].to_list().count(2) == 11
    people = pl.read_csv(tmp_path / "out" / "screened" / "participants.csv")
    assert 0 < people.filter(pl.col("excluded"))["participant"].n_unique() < 9, "the attentive ones stay"
    assert (tmp_path / "out" / "report.html").is_file()
    assert (tmp_path / "out" / "screened" / "participants.csv").is_file()


def test_too_few_bots_for_all_kinds() -> None:
    with refuses(KaratError, 12, 11):
        bots_of_all_kinds(11)
    assert bots_of_all_kinds(12)["attentive"] == 7
    assert set(bots_of_all_kinds(60).items()) == set(PEOPLE.items())
