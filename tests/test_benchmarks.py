"""Every benchmark runs from its first line to its last, at its smallest size."""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import field
from benchmarks.marked import parse_options
from conftest import ROOT
from field.browser import MISSING, chromium_path

SCRIPTS = sorted((ROOT / "benchmarks").glob("*.py"))
PROCESSOR_SECONDS = 100
"""Two idle cores need less than half of it; on a busy machine the same work takes more processor time."""
HANGS = 500
"""Seconds after which a script is given up, however busy the machine is."""


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_benchmark_runs_at_its_smallest_size(script: Path) -> None:
    if script.stem in ("studio", "timing") and chromium_path() is None:
        pytest.skip(MISSING)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, str(script), "--smallest"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=HANGS)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert "Traceback" not in done.stderr
    assert done.stdout.strip()
    took = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    assert took < PROCESSOR_SECONDS, f"{script.name} --smallest took {took:.0f} s of processors"


def test_figures_of_the_smallest_size_are_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    with pytest.raises(SystemExit):
        parse_options(parser, ["--smallest", "--write"])
    assert "--smallest" in capsys.readouterr().err


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_every_benchmark_has_the_option(script: Path) -> None:
    assert "parse_options(" in script.read_text(encoding="utf-8")


def test_without_psycopg_postgresql_is_not_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with field.databases() as urls:
        assert urls == {"SQLite": ""}
    assert "PostgreSQL" in capsys.readouterr().out
