"""An environment of its own for a peer, kept under the temporary folder, so that it is installed once."""

from __future__ import annotations

import subprocess
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path

INSTALL_SECONDS = 900


def environment(
    name: str, packages: Sequence[str], module: str, constraints: Path | None = None, *, install: bool = True
) -> Path | None:
    """The Python of an environment in which the module can be imported, made if need be; None where it cannot be.

    Without `install`, None where it is not there yet.
    """
    folder = Path(tempfile.gettempdir()) / f"karat-benchmark-{name}"
    python = folder / "bin" / "python"
    if python.exists() and not subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode:
        return python
    if not install:
        return None
    venv.create(folder, with_pip=True, clear=True)
    pinned = [] if constraints is None else ["--constraint", str(constraints)]
    command = [str(python), "-m", "pip", "-q", "--disable-pip-version-check", "install", *pinned, *packages]
    try:
        done = subprocess.run(command, capture_output=True, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    return None if done.returncode else python
