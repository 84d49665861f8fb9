"""Work in a process of its own: results, errors and what takes too long come back as they should."""

from __future__ import annotations

import asyncio
import os
import time

import pytest

from karat.errors import KaratError
from karat.field.admin.jobs import in_child
from karat.judgments.files import csv_types
from karat.judgments.source import SourceFile
from messages import refuses


def test_another_process_does_it() -> None:
    assert asyncio.run(in_child(os.getpid)) != os.getpid()


def test_an_error_of_the_house_is_raised_here() -> None:
    import polars as pl

    with refuses(KaratError, "a (List(Int64))"):
        asyncio.run(in_child(csv_types, pl.DataFrame({"a": [[1]]})))


def test_another_error_is_reported_without_a_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    with refuses(KaratError):
        asyncio.run(in_child(SourceFile, "one", "two", "three", "four", "five"))
    assert "TypeError" in capfd.readouterr().err


def test_what_cannot_be_sent_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subprocess.Popen", lambda *_, **__: pytest.fail("a process that nobody would end"))
    with refuses(AttributeError, "lambda"):
        asyncio.run(in_child(lambda: 1))


def test_what_takes_too_long_is_stopped() -> None:
    with refuses(KaratError, "0 seconds", "karat export"):
        asyncio.run(in_child(time.sleep, 60, seconds=0.5))


def test_what_a_function_prints_does_not_spoil_the_result(capfd: pytest.CaptureFixture[str]) -> None:
    assert asyncio.run(in_child(print, "hello")) is None
    assert "hello" in capfd.readouterr().err
