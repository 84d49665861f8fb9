"""Environments of Python that have nothing in them, for what must work on a bare machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def interpreter(minor: int) -> str:
    """A Python of this version: the one that runs, one on the path, or one of pyenv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    versions = sorted(pyenv.glob(f"3.{minor}.*/bin/python"), reverse=True)
    for path in (sys.executable, shutil.which(f"python3.{minor}"), *map(str, versions)):
        code = f"import sys; sys.exit(sys.version_info[:2] != (3, {minor}))"
        if path and subprocess.run([path, "-c", code], capture_output=True).returncode == 0:
            return path
    pytest.skip(f"there is no Python 3.{minor} on this machine")


def empty_environment(folder: Path, python: str) -> Path:
    """The interpreter of a new environment in this folder; its pip reaches a package index."""
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    inside = folder / "bin" / "python"
    probe = [str(inside), "-m", "pip", "--disable-pip-version-check", "download", "-q", "--no-deps"]
    if subprocess.run([*probe, "--dest", str(folder / "probe"), "packaging"], capture_output=True).returncode:
        pytest.skip("pip reaches no package index")
    return inside
