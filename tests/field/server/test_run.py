"""A real server in a process of its own."""

from __future__ import annotations

import http.client
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import closing, suppress
from pathlib import Path

from field.server.conftest import TEXTS, write
from karat.field.server.config import ServerConfig, ServerError
from karat.field.server.run import listen
from messages import refuses

ADDRESS = "203.0.113.77"
PROGRAM = """
import sys
from dataclasses import replace
from pathlib import Path
from karat.field.server.app import create_app
from karat.field.server.config import prepare
from karat.field.server.run import listen, run
from karat.field.store import Store
from karat.study.study import load
config = replace(prepare(Path(sys.argv[1]) / "data", port=0), request_seconds=1.0)
store = Store.open(config.database_url)
app = create_app([("study", load(sys.argv[1]))], store, config, admin=False)
listener = listen(config)
run(app, config, listener, lambda: print(listener.getsockname()[1], flush=True))
store.close()
print("closed", *(name for name in ("scipy", "matplotlib", "pandas") if name in sys.modules), flush=True)
"""


SLOW = {
    "says nothing": (b"", b""),
    "headers that do not end": (b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"X-A: 1\r\n"),
    "a body that does not end": (
        b"POST /s/study/begin HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n", b"x",
    ),
    "headers that are too large": (
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X-A: 1\r\n" * 20_000, b"X-B: 2\r\n",
    ),
}  # fmt: skip


def assert_slow_clients_are_sent_away(port: int) -> None:
    """All at the same time: each is sent away, while a patient one on an open connection is answered."""
    patient = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    patient.request("GET", "/healthz")
    assert patient.getresponse().read()
    slow = {name: socket.create_connection(("127.0.0.1", port), timeout=0.05) for name in SLOW}
    until = time.monotonic() + 20
    for name, connection in slow.items():
        with suppress(OSError):
            connection.sendall(SLOW[name][0])
    while slow and time.monotonic() < until:
        for name, connection in list(slow.items()):
            try:
                connection.sendall(SLOW[name][1])
                gone = connection.recv(1000) == b""
            except TimeoutError:
                gone = False
            except OSError:
                gone = True
            if gone:
                slow.pop(name).close()
        time.sleep(0.1)
    assert sorted(slow) == []
    patient.request("GET", "/healthz")
    assert patient.getresponse().status == 200
    patient.close()


def test_served_and_stopped(tmp_path: Path) -> None:
    """Nothing of a visit is logged, and no statistics are loaded, so that the memory of a server stays small."""
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
            for path in ("/s/study/?pid=person-1&SESSION_ID=visit-2", "/s/study/go?pid=person-1", "/no?pid=person-1"):
                with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as line:
                    line.request("GET", path, headers={"x-forwarded-for": ADDRESS})
                    assert line.getresponse().read()
            assert_slow_clients_are_sent_away(port)
            server.send_signal(signal.SIGINT)
            messages, errors = server.communicate(timeout=60)
        finally:
            server.kill()
    assert messages.strip() == "closed"
    assert errors == ""  # no access log, and an end in order
    written = b"".join(path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file())
    for text in (ADDRESS, "127.0.0.1", "person-1", "visit-2"):
        assert text.encode() not in written


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        config = ServerConfig(tmp_path, b"k" * 32, port=taken.getsockname()[1])
        with refuses(ServerError, f"port {config.port}", "--port"):
            listen(config)
