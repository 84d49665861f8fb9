"""What is asked where a file leaves something open: in a terminal, without one, and with --yes."""

from __future__ import annotations

import os
import pty
import random
import select
import shlex
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import polars as pl
import pytest

import karat
from intake.test_answers_found import written
from karat.cli.main import app
from karat.intake.reading import ProposalError
from messages import codes, refuses

SECONDS = 120


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table with two things to ask: which column holds the answers, and that two columns are the item."""
    draw = random.Random(3)
    rows = [
        (f"secret{person}", verb, content, min(7, max(1, person % 5 + 1 + draw.randint(0, 2))), draw.randint(1, 5))
        for person in range(9) for verb in ("know", "say", "think") for content in ("cat", "dog", "bird", "fish")
    ]  # fmt: skip
    return written(tmp_path / "my results.csv", ["subject", "verb", "content", "acceptability", "wonder"], rows)


def talk(arguments: list[str], answers: list[str], folder: Path) -> str:
    """Run karat in a terminal and answer each question as it comes; gives all that was shown."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "karat", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        close_fds=True,
    )
    os.close(theirs)
    shown, left, until = "", list(answers), time.monotonic() + SECONDS
    while time.monotonic() < until:
        ready, _, _ = select.select([ours], [], [], 0.2)
        if ready:
            try:
                shown += os.read(ours, 4096).decode("utf-8", "replace")
            except OSError:
                break
        elif process.poll() is not None:
            break
        if left and shown.count("Your answer (") > len(answers) - len(left) and shown.rstrip().endswith(":"):
            os.write(ours, f"{left.pop(0)}\n".encode())
    process.wait(SECONDS)
    os.close(ours)
    assert process.returncode == 0, shown
    return shown


@pytest.mark.slow
def test_ctrl_c_ends_a_question_at_once(table: Path, tmp_path: Path) -> None:
    pid, ours = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.execv(sys.executable, [sys.executable, "-m", "karat", "convert", table.name])
    shown, until = "", time.monotonic() + SECONDS
    while time.monotonic() < until and not shown.rstrip().endswith("[1]:"):
        shown += os.read(ours, 4096).decode("utf-8", "replace")
    os.write(ours, b"\x03")
    ended = 0, 0
    while time.monotonic() < until and ended == (0, 0):
        time.sleep(0.1)
        ended = os.waitpid(pid, os.WNOHANG)
    if ended == (0, 0):
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    os.close(ours)
    assert os.waitstatus_to_exitcode(ended[1]) == 1, "the command is aborted, without Enter"
    assert ended[0] == pid


@pytest.mark.slow
def test_answers_are_asked_for_shown_kept_and_used_again(table: Path, tmp_path: Path) -> None:
    shown = talk(["convert", table.name, "-o", "out.parquet"], ["no such column", "1", "1", "1"], tmp_path)
    assert "Which column holds the answers?" in shown
    assert "verb + content (12 combinations, each seen by 9 participants, such as know + cat" in shown
    assert "has no column no such column" in shown
    assert "p1 | know + cat" in shown.replace("\r", "")
    assert "secret" not in shown
    judgments = karat.read(tmp_path / "out.parquet")
    assert judgments.frame["item"].n_unique() == 12
    kept = table.with_name("my results.csv.karat.toml")
    assert tomllib.loads(kept.read_text())["map"] == {"response": "acceptability", "item": "verb+content"}
    again = karat.read(table)
    assert again == judgments
    assert "intake.remembered" in codes(again.notes)
    assert karat.read(table, mapping={"item": "verb"}).frame["item"].n_unique() == 3, "what is said now comes first"
    assert karat.read(tmp_path / table.name).participants.height == 9


def test_without_a_terminal_nothing_is_written(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.parquet"
    with pytest.raises(ProposalError) as error:
        app(["convert", str(table), "-o", str(out)], standalone_mode=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == [table.name]
    assert len(error.value.questions) <= 3
    flags = error.value.flags
    command = next(line for line in str(error.value).splitlines() if line.strip().startswith("karat convert"))
    assert f"'{table}'" in command
    app(["convert", str(table), *flags, "-o", str(out)], standalone_mode=False)
    result = karat.read(out)
    app(["convert", str(table), "--yes", "-o", str(tmp_path / "yes.parquet")], standalone_mode=False)
    assert karat.read(tmp_path / "yes.parquet") == result
    assert " ".join(flags) in capsys.readouterr().out, "--yes says which proposals it took"
    assert not list(tmp_path.glob("*.toml"))


@pytest.mark.parametrize("name", ["report", "screen", "measure"])
def test_a_command_that_asks_is_the_one_to_run_again(name: str, table: Path) -> None:
    with pytest.raises(ProposalError) as error:
        app([name, str(table)], standalone_mode=False)
    words = shlex.split(str(error.value).splitlines()[-1])
    assert words == ["karat", name, str(table), *error.value.flags]


def test_answers_stay_in_the_command_to_run_again(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typed = ["convert", str(table), "--map", "response=acceptability"]
    monkeypatch.setattr("sys.argv", ["karat", *typed])
    with pytest.raises(ProposalError) as error:
        app(typed, standalone_mode=False)
    words = shlex.split(str(error.value).splitlines()[-1])
    assert words == ["karat", *typed, *error.value.flags, "-o", "judgments.parquet"]


@pytest.mark.slow
def test_measure_and_report_take_the_same_flags(table: Path, tmp_path: Path) -> None:
    app(["measure", str(table), "--response", "wonder", "--item", "verb+content", "--conditions", "verb",
         "-o", str(tmp_path / "measures"), "--quiet"], standalone_mode=False)  # fmt: skip
    assert (tmp_path / "measures").is_dir()


def test_a_broken_file_of_kept_answers_is_named(table: Path) -> None:
    table.with_name(f"{table.name}.karat.toml").write_text("[map\n")
    with refuses(karat.IntakeError, f"{table.name}.karat.toml"):
        karat.read(table)


def test_kept_answers_are_no_results(table: Path, tmp_path: Path) -> None:
    table.with_name(f"{table.name}.karat.toml").write_text('[map]\nitem = "verb"\n')
    folder = tmp_path / "folder"
    folder.mkdir()
    for path in (table, table.with_name(f"{table.name}.karat.toml")):
        path.rename(folder / path.name)
    judgments = karat.read(folder, accept=True)
    assert "form.skipped_files" not in codes(judgments.notes)
    assert pl.Series(judgments.frame["participant"]).n_unique() == 9
