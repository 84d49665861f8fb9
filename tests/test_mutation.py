"""The tools that test the tests: mutants meet the tests that call them, and lines that no test runs are found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from messages import refuses
from tools import mutation, tested_lines
from tools.mutation import Mutant, imported, modules_in, summary

TRAMPOLINE = "def record_trampoline_hit(name, caller=None): ..."
MODULE = """
import os
from mutmut.mutation import trampoline

MUTANTS = {
    "x_add__mutmut_1": lambda a, b: a - b,
    "x_add__mutmut_2": lambda a, b: b + a,
    "x_add__mutmut_3": lambda a, b: os._exit(7),
}

def add(a, b):
    name = os.environ.get("MUTANT_UNDER_TEST", "")
    if name == "stats":
        trampoline.record_trampoline_hit("sums.x_add")
    return MUTANTS.get(name.rpartition(".")[2], lambda a, b: a + b)(a, b)
"""
TEST = """
from sums import add

def test_add():
    assert add(1, 2) == {result}

def test_nothing():
    assert True
"""
RUN = """
from pathlib import Path
import pytest
from tools.mutants import Trials
names = [f"sums.x_add__mutmut_{number}" for number in (1, 2, 3)] + ["sums.x_other__mutmut_1"]
raise SystemExit(pytest.main(["-p", "no:cacheprovider", "-p", "no:xdist", "test_sums.py"],
                             plugins=[Trials(names, 2, Path("outcomes.jsonl"))]))
"""


def tried(folder: Path, root: Path, result: int) -> subprocess.CompletedProcess[str]:
    """The trials of a module that is mutated by hand."""
    (folder / "mutmut" / "mutation").mkdir(parents=True)
    for name in ("mutmut/__init__.py", "mutmut/mutation/__init__.py"):
        (folder / name).write_text("")
    (folder / "mutmut" / "mutation" / "trampoline.py").write_text(TRAMPOLINE)
    (folder / "sums.py").write_text(MODULE)
    (folder / "test_sums.py").write_text(TEST.format(result=result))
    paths = os.pathsep.join([str(folder), str(root)])
    environment = os.environ | {"PYTHONPATH": paths}
    return subprocess.run(
        [sys.executable, "-c", RUN], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="mutants are tried in processes that fork")
def test_a_mutant_is_killed_by_a_test_that_calls_it(tmp_path: Path, root: Path) -> None:
    done = tried(tmp_path, root, 3)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (tmp_path / "outcomes.jsonl").read_text().splitlines()
    found = {name.removeprefix("sums.x_"): what for line in lines for name, what in json.loads(line).items()}
    assert found == {
        "add__mutmut_1": "killed", "add__mutmut_2": "survived", "add__mutmut_3": "unclear", "other__mutmut_1": "no test"
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="mutants are tried in processes that fork")
def test_tests_that_fail_without_mutants_stop_the_trials(tmp_path: Path, root: Path) -> None:
    done = tried(tmp_path, root, 4)
    assert done.returncode != 0
    assert "test_add" in (tmp_path / "failed.txt").read_text()
    assert not (tmp_path / "outcomes.jsonl").exists()


def test_modules_and_their_tests() -> None:
    assert modules_in(["study/chance", "screen/criteria/remfod.py"]) == ["study/chance", "screen/criteria/remfod"]
    glrm = modules_in(["models/glrm"])
    assert {"models/glrm/schur", "models/glrm/__init__"} <= set(glrm)
    with refuses(SystemExit, "study/chances", "screen/criteria/remfod"):
        modules_in(["study/chances"])
    assert mutation.tests_of(["study/chance"]) == ["tests/study/test_chance.py", "src/karat/study/chance.py"]
    assert imported("models/glrm/__init__") == "karat.models.glrm"
    for module, tests in mutation.TESTS.items():
        assert modules_in([module])
        assert all((mutation.ROOT / test).is_file() for test in tests), module


def test_the_table_counts_each_outcome() -> None:
    mutants = [Mutant("a", "1", "killed"), Mutant("a", "2", "survived"), Mutant("b", "3", "timeout")]
    assert summary(mutants).splitlines()[2:] == ["| `a` | 2 | 1 | 1 | 0 | 0 | 0 |", "| `b` | 1 | 0 | 0 | 1 | 0 | 0 |"]


def test_lines_that_no_test_runs() -> None:
    def module(lines: int, missing: list[int]) -> dict[str, object]:
        summary = {"num_statements": lines, "covered_lines": lines - len(missing)}
        return {"summary": summary, "missing_lines": missing}

    files = {
        "src/karat/models/a.py": module(100, []),
        "src/karat/screen/b.py": module(60, [3, 4, 5, 9]),
        "src/karat/study/__init__.py": module(0, []),
        "src/karat/study/c.py": module(40, [7]),
    }
    assert [round(tested_lines.share(files, package), 1) for package in tested_lines.PACKAGES] == [100.0, 93.3, 97.5]
    rows = tested_lines.table(files).splitlines()
    assert rows[2:5] == ["| `models` | 100 | 100.0 % |", "| `screen` | 60 | 93.3 % |", "| `study` | 40 | 97.5 % |"]
    assert rows[8:] == ["| `screen/b` | 60 | 93 % | 3-5, 9 |"]
