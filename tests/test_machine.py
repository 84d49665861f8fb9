"""What karat writes does not depend on the machine: its time zone, its language, its number of cores."""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.workers import free_memory, usable_cores, workers

MACHINES = {
    "plain": {"TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "1"},
    # Python takes a locale that is not installed for C; the time zone is another one on every machine.
    "other": {"TZ": "XXX-9:30", "LC_ALL": "tr_TR.UTF-8", "PYTHONHASHSEED": "2"},
}
CODE = """
import os, sys, time
from pathlib import Path
root, out = Path(sys.argv[1]), Path(sys.argv[2])
if os.environ["TZ"] != "UTC":
    os.cpu_count = lambda: 7
    assert time.timezone == -(9 * 60 + 30) * 60
sys.path.insert(0, str(root / "tests"))
from intake.cases import CASES
from karat.cli.main import main
for case in CASES:
    case.read().judgments.to_csv(out / f"{case.name}.csv")
study = root / "examples" / "yes-no" / "study.toml"
for words in (["plan", study, "--out", out / "plan"], ["check", study]):
    try:
        main([str(word) for word in words])
    except SystemExit as ended:
        assert not ended.code, words
"""


def written(root: Path, folder: Path, machine: dict[str, str]) -> dict[str, str]:
    """The files that karat writes on such a machine, by name, as hashes; and what it prints."""
    folder.mkdir()
    known = os.environ | machine | {"LANG": machine["LC_ALL"], "COLUMNS": "120", "TERM": "dumb"}
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(root), "."], env=known, cwd=folder, capture_output=True, timeout=600
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    files["what it prints"] = done.stdout
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


@pytest.mark.slow
def test_files_are_the_same_on_every_machine(root: Path, tmp_path: Path) -> None:
    plain, other = (written(root, tmp_path / name, machine) for name, machine in MACHINES.items())
    assert len(plain) > 40
    assert other == plain


def test_as_many_tests_at_a_time_as_a_machine_has_room_for(tmp_path: Path) -> None:
    machines = {(1, 8e9): 2, (2, 24e9): 3, (64, 256e9): 32, (64, 8e9): 8, (0.5, 1e9): 2, (4, math.inf): 6}
    assert {machine: workers(*machine) for machine in machines} == machines
    assert usable_cores(tmp_path) >= 1
    for name, text in {"cpu.max": "50000 100000", "memory.max": "3000", "memory.current": "1000"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert (usable_cores(tmp_path), free_memory(tmp_path)) == (0.5, 2000)
    for name in ("cpu.max", "memory.max"):
        (tmp_path / name).write_text("max 100000" if name == "cpu.max" else "max", encoding="utf-8")
    assert usable_cores(tmp_path) >= 1
    assert free_memory(tmp_path, tmp_path / "missing") == math.inf
