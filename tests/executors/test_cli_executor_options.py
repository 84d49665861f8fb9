"""The flags that say where work is done: on four commands, with the same results, and nothing of Dask without them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

import karat
from karat.cli.main import app, main
from karat.study.init import write_study

COMMANDS = ("screen", "measure", "power", "simulate")
FLAGS = ("--cluster", "--memory", "--checkpoint", "--processes")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A study, and results of another."""
    write_study(tmp_path / "study", "yes-no")
    karat.datasets.load("likert").to_parquet(tmp_path / "likert.parquet")
    return tmp_path


def said(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def asked(command: str, files: Path) -> Sequence[object]:
    return {
        "screen": ("screen", files / "likert.parquet", "--multiverse", "--json"),
        "measure": ("measure", files / "likert.parquet", "--json"),
        "power": ("power", files / "study", "--participants", "12,16", "--simulations", "40", "--json"),
        "simulate": ("simulate", files / "study", "-o", files / "made.csv", "--participants", "120", "--json"),
    }[command]


def results(command: str, files: Path, *flags: object) -> str:
    result = said(*asked(command, files), *flags)
    return (files / "made.csv").read_text() if command == "simulate" else result


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_the_flags_and_an_example(command: str) -> None:
    text = re.sub(r"\s+", " ", re.sub(r"[│\x1b]|\[\d+m", "", said(command, "--help")))
    assert all(flag in text for flag in FLAGS)
    assert "--processes 4 or --cluster" in text


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    "command", [pytest.param(one, marks=[pytest.mark.slow] * (one != "simulate")) for one in COMMANDS]
)
def test_processes_and_folders_give_the_same(command: str, files: Path) -> None:
    alone = results(command, files, "--processes", 1)
    assert results(command, files, "--processes", 2, "--checkpoint", files / "kept") == alone
    kept = sorted((files / "kept").iterdir())
    assert kept
    before = [path.stat().st_mtime_ns for path in kept]
    assert results(command, files, "--checkpoint", files / "kept") == alone
    assert [path.stat().st_mtime_ns for path in sorted((files / "kept").iterdir())] == before


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_cluster_gives_the_same(command: str, files: Path) -> None:
    pytest.importorskip("distributed")
    assert results(command, files, "--cluster", "local", "--processes", 2, "--memory", "4GB") == results(command, files)


@pytest.mark.parametrize(
    ("flags", "name"),
    [
        (["--memory", "much"], "--memory much"),
        (["--cluster", "nonsense"], "--cluster nonsense"),
        (["--cluster", "none.toml"], "none.toml"),
        (["--cluster", "tcp://127.0.0.1:1", "--memory", "1GB"], "--memory"),
    ],
)
def test_places_that_are_none(flags: list[str], name: str, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("distributed")
    with pytest.raises(SystemExit) as ended:
        main([*(str(word) for word in asked("power", files)), *flags])
    assert ended.value.code == 2
    assert name in json.loads(capsys.readouterr().out)["error"]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["simulate", "power"])
def test_nothing_of_dask_is_imported_without_a_cluster(command: str, files: Path) -> None:
    words = [str(word) for word in asked(command, files)]
    code = (
        "import sys\nfrom karat.cli.main import main\n"
        "if __name__ == '__main__':\n"
        f"    try:\n        main({[*words, '--processes', '2', '--checkpoint', str(files / 'kept')]!r})\n"
        "    except SystemExit:\n        pass\n"
        "    print([name for name in ('dask', 'distributed', 'tornado') if name in sys.modules])\n"
    )
    (files / "run.py").write_text(code)
    run = subprocess.run([sys.executable, str(files / "run.py")], capture_output=True, text=True, env=dict(os.environ))
    assert run.stdout.splitlines()[-1] == "[]", run.stderr
