"""The command itself: bound to this machine, and without a trace when it has ended."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from karat.cli.open import open as open_command
from karat.errors import KaratError
from karat.studio.app import listen, open_studio
from karat.studio.folder import StudioError
from messages import refuses
from studio.opened import Opened


@pytest.mark.parametrize(
    "name", ["SIGTERM", *(pytest.param(name, marks=pytest.mark.slow) for name in ("SIGINT", "SIGHUP"))]
)
def test_it_ends_in_order_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    if not hasattr(signal, name):
        pytest.skip(f"this system has no {name}")
    with Opened(tmp_path) as opened:
        assert (Path(opened.created), opened.studies.is_dir()) == (opened.studies.resolve(), True)
        (folder,) = opened.folders
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "left behind").write_text("x")
        with urllib.request.urlopen(opened.address) as reply:
            assert reply.status == 200
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(opened.address)
        assert refused.value.code == 403
        refused.value.close()
        result = opened.end(signal.Signals[name])
        assert result.splitlines()[-1].startswith("Closed. Dropped files are deleted.")
        assert opened.process.returncode == 0
        assert opened.folders == []


@pytest.mark.slow
def test_even_killed_it_leaves_nothing(tmp_path: Path) -> None:
    with Opened(tmp_path) as opened:
        (folder,) = opened.folders
        (folder / "left behind").write_text("x")
        opened.process.kill()
        opened.process.wait()
        until = time.monotonic() + 60
        while opened.folders and time.monotonic() < until:
            time.sleep(0.1)
        assert opened.folders == []


@pytest.mark.slow
def test_only_this_machine_is_answered(tmp_path: Path) -> None:
    with Opened(tmp_path) as opened:
        port = urlsplit(opened.address).port
        assert port is not None
        others = {"127.0.0.2"}
        with suppress(socket.gaierror):  # not every machine knows its own name
            others |= {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), port, socket.AF_INET)}
        for address in others - {"127.0.0.1"}:
            with pytest.raises((ConnectionError, TimeoutError)), socket.create_connection((address, port), timeout=10):
                pass
        opened.end(signal.SIGTERM)


def test_a_file_is_no_folder_for_studies(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with refuses(KaratError, tmp_path / "file"):
        open_command(tmp_path / "file")


def test_a_port_that_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with listen() as taken, refuses(StudioError, "--port"):
        open_studio(tmp_path / "kept", taken.getsockname()[1])
    assert list(tmp_path.iterdir()) == []


def test_bare_command_opens_on_desktops_or_prints_help(tmp_path: Path) -> None:
    known = {name: value for name, value in os.environ.items() if name not in ("CI", "DISPLAY", "WAYLAND_DISPLAY")}
    home = {**known, "HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "PATH": str(tmp_path)}
    command = [sys.executable, "-m", "karat"]
    if sys.platform not in ("win32", "darwin"):
        helped = subprocess.run(command, env=home, cwd=tmp_path, capture_output=True, text=True)
        assert (helped.returncode, "Usage:" in helped.stdout) == (2, True)
    opened = subprocess.Popen(command, env={**home, "DISPLAY": ":9"}, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        assert opened.stdout is not None
        assert opened.stdout.readline().split()[1].startswith("http://127.0.0.1:")
        assert (tmp_path / "karat-studies").is_dir(), "the home folder itself is no studies folder"
    finally:
        opened.terminate()
        opened.communicate()


def test_the_first_page_does_not_wait_for_tables_and_models() -> None:
    code = "import sys, karat.studio.app; print({'polars', 'numpy', 'sqlalchemy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "set()", done.stderr
