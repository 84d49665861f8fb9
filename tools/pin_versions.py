"""Resolve the versions of everything karat uses, for Python 3.11 to 3.13 at once: make constraints

The result is plain pins with markers, and names no package registry. What the container installs is written once more
with the hash of every file, so that nothing else can come in its place.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
GROUPS = ("dev", "coverage", "mutation")
HASHED = "# Made by `make constraints`: what the container installs, by version and hash.\n"
BUILT_WITH = "hatchling>=1.27\n"
HEADER = "# Made by `make constraints`; holds for Python 3.11 to 3.13.\n"


def main() -> None:
    """Write constraints.txt."""
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "uv"], check=True)
    command = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "--all-extras"]
    command += [part for group in GROUPS for part in ("--group", group)]
    command += ["--universal", "-q", "--python-version", "3.11", "--no-annotate", "--no-header", "--upgrade"]
    pins = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    (ROOT / "constraints.txt").write_text(HEADER + pins, encoding="utf-8")
    command = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "-", "--extra", "postgres"]
    command += ["--constraint", "constraints.txt", "--python-version", "3.12", "--python-platform", "linux"]
    command += ["--generate-hashes", "-q", "--no-annotate", "--no-header"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, input=BUILT_WITH)
    (ROOT / "deploy" / "requirements.txt").write_text(HASHED + done.stdout, encoding="utf-8")


if __name__ == "__main__":
    main()
