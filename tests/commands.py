"""The command karat as a user types it, in this process: starting Python anew takes longer than most commands."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from karat.cli.main import main


@contextmanager
def _plain() -> Iterator[None]:
    """A terminal of 120 columns without colours."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("COLUMNS", "120"), ("TERM", "dumb")):
            patch.setenv(name, value)
        yield


def status_of(arguments: list[str]) -> int:
    """Run a command; the status it ends with."""
    try:
        main(arguments)
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def run(*arguments: str | Path, status: int = 0) -> tuple[str, str]:
    """What a command prints on both streams; it must end with this status."""
    out, err = io.StringIO(), io.StringIO()
    with _plain(), redirect_stdout(out), redirect_stderr(err):
        ended = status_of([str(one) for one in arguments])
    assert ended == status, out.getvalue() + err.getvalue()
    return out.getvalue(), err.getvalue()


def printed(*arguments: str) -> str:
    """What a command prints on either stream, in its order, whatever it ends with."""
    both = io.StringIO()
    with _plain(), redirect_stdout(both), redirect_stderr(both):
        status_of(list(arguments))
    return both.getvalue()
