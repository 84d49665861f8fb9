"""`karat open` in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self


class Opened:
    """A running command, whose files are in a folder of the test."""

    def __init__(self, folder: Path) -> None:
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.studies = folder / "studies"
        command = [
            sys.executable,
            "-m",
            "karat",
            "open",
            str(self.studies),
            "--no-open",
            "--keep",
            str(folder / "kept"),
        ]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=os.environ | {"TMPDIR": str(self.temporary)},
        )  # fmt: skip
        assert self.process.stdout is not None
        self.created, self.address = (self.process.stdout.readline().split()[1] for _ in range(2))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # Asked first, so that it ends the servers of studies that it started.
        self.process.terminate()
        try:
            self.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()

    @property
    def folders(self) -> list[Path]:
        """The private folders that are there."""
        return list(self.temporary.glob("karat-open-*"))

    def end(self, number: signal.Signals | None = None) -> str:
        """Wait until it has ended, by a signal or by itself; gives what it said after the address."""
        if number is not None:
            self.process.send_signal(number)
        messages, errors = self.process.communicate(timeout=60)
        assert errors == ""
        return str(messages)
