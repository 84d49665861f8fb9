"""Which share of lines the default tests run in models, screen and study; fails under 95 % of a package: make coverage

The tests are those of the three packages and the examples in their docstrings. Processes that a test starts are not
followed. Modules under 95 % are listed with the lines that no test runs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PACKAGES = ("models", "screen", "study")
LEAST = 95.0


def main() -> int:
    """Run the tests, print the table and what is below; 1 where a test fails or a package is under the threshold."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "coverage.json"
        command = [sys.executable, "-m", "pytest", "-p", "pytest_cov", "-n", "auto", "--dist", "worksteal"]
        command += ["-m", "not slow"]
        command += [f"--cov=karat.{package}" for package in PACKAGES]
        command += [f"--cov-report=json:{written}"]
        command += [f"{folder}/{package}" for folder in ("tests", "src/karat") for package in PACKAGES]
        done = subprocess.run(command, cwd=ROOT, check=False)
        if done.returncode:
            return done.returncode
        files = json.loads(written.read_text(encoding="utf-8"))["files"]
    shares = {package: share(files, package) for package in PACKAGES}
    print(table(files))
    short = [f"karat.{package} has {found:.1f} %" for package, found in shares.items() if found < LEAST]
    if short:
        print(f"Under {LEAST:g} % of lines: {'; '.join(short)}.", file=sys.stderr)
    return int(bool(short))


def share(files: Mapping[str, Any], package: str) -> float:
    """The percentage of a package's lines that ran.

    >>> one = {"summary": {"num_statements": 40, "covered_lines": 30}}
    >>> share({"src/karat/study/a.py": one, "src/karat/screen/b.py": {}}, "study")
    75.0
    """
    own = [each["summary"] for path, each in files.items() if f"karat/{package}/" in path]
    covered, lines = (sum(int(each[key]) for each in own) for key in ("covered_lines", "num_statements"))
    return 100 * covered / lines


def table(files: Mapping[str, Any]) -> str:
    """The packages, then the modules under the threshold with the lines that did not run."""
    lines = ["| package | lines | run |", "| --- | --- | --- |"]
    for package in PACKAGES:
        own = [each["summary"]["num_statements"] for path, each in files.items() if f"karat/{package}/" in path]
        lines.append(f"| `{package}` | {sum(own):,} | {share(files, package):.1f} % |")
    lines += ["", "| module | lines | run | not run |", "| --- | --- | --- | --- |"]
    for path, each in sorted(files.items()):
        summary = each["summary"]
        if summary["num_statements"] and 100 * summary["covered_lines"] / summary["num_statements"] < LEAST:
            found = 100 * summary["covered_lines"] / summary["num_statements"]
            name = path.partition("karat/")[2].removesuffix(".py")
            lines.append(f"| `{name}` | {summary['num_statements']} | {found:.0f} % | {spans(each['missing_lines'])} |")
    return "\n".join(lines)


def spans(numbers: Iterable[int]) -> str:
    """Line numbers, with a dash for those in a row.

    >>> spans([3, 4, 5, 9])
    '3-5, 9'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


if __name__ == "__main__":
    sys.exit(main())
