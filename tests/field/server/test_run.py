"""A real server in a process of its own."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from field.server.conftest import TEXTS, write
from karat.field.server.config import ServerConfig, ServerError
from karat.field.server.run import listen

PROGRAM = """
import sys
from pathlib import Path
from karat.field.server.app import create_app
from karat.field.server.config import prepare
from karat.field.server.run import listen, run
from karat.field.store import Store
from karat.study.study import load
config = prepare(Path(sys.argv[1]) / "data", port=0)
store = Store.open(config.database_url)
app = create_app([("study", load(sys.argv[1]))], store, config, admin=False)
listener = listen(config)
run(app, config, listener, lambda: print(listener.getsockname()[1], flush=True))
store.close()
print("closed", flush=True)
"""


def test_served_and_stopped(tmp_path: Path) -> None:
    write(tmp_path, TEXTS)
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            port = int(server.stdout.readline())
            for _ in range(1200):
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz") as reply:
                        assert reply.status == 200
                        assert "server" not in reply.headers
                    break
                except OSError:
                    time.sleep(0.05)
            server.send_signal(signal.SIGINT)
            told, errors = server.communicate(timeout=60)
        finally:
            server.kill()
    assert told.strip() == "closed"
    assert errors == ""  # no access log, and an end in order


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        config = ServerConfig(tmp_path, b"k" * 32, port=taken.getsockname()[1])
        with pytest.raises(ServerError, match="Choose another port with --port"):
            listen(config)
