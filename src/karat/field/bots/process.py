"""A server in a separate process, which can be started, measured, stopped and killed."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from karat.errors import KaratError
from karat.signals import signals_held

LOOPBACK = "127.0.0.1"
SECONDS_TO_END = 20


class ServerProcess:
    """`karat serve` on the loopback address. `kill` ends it like a power cut; `start` starts it again on its port."""

    def __init__(
        self,
        study: Path,
        data: Path,
        *,
        more: Sequence[Path] = (),
        database: str = "",
        port: int | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.port = port or free_port()
        self.log = data / "server.log"
        self.data = data
        self._command = [sys.executable, "-m", "karat", "serve", str(study), *map(str, more), "--data", str(data)]
        self._command += ["--host", LOOPBACK, "--port", str(self.port)]
        self._command += ["--database", database] if database else []
        # All bots have one address, so the limit per address does not apply to them.
        self._environment = {**os.environ, "KARAT_ARRIVALS_PER_MINUTE": "0", **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def start(self, seconds: float = 60.0) -> ServerProcess:
        """Start the server, and wait until it answers."""
        self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        until = time.monotonic() + seconds
        try:
            with self.log.open("ab") as log, signals_held():
                self._process = started(self._command, self._environment, log)
            while not answers(self.port, "/healthz"):
                if self._process.poll() is not None or time.monotonic() > until:
                    raise KaratError(f"The server did not start. It said: {self.said()}")
                time.sleep(0.02)
        except BaseException:
            # Also after an interruption, because nobody else could end the process.
            self.kill()
            raise
        return self

    def kill(self) -> None:
        """End the server at once; everything in its memory is lost."""
        self._end(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)

    def stop(self) -> None:
        """Stop the server after its running requests."""
        self._end(signal.SIGTERM)

    def wait(self) -> None:
        """Wait until the server ends by itself."""
        if self._process is not None:
            self._process.wait()

    def said(self) -> str:
        """The log of the server, such as the reason why it did not start."""
        return self.log.read_text(encoding="utf-8", errors="replace").strip() if self.log.exists() else ""

    def memory(self) -> float:
        """The peak memory so far in megabytes; nan if the system does not report it (it does on Linux)."""
        status = Path(f"/proc/{self._process.pid}/status") if self._process else Path("nowhere")
        if not status.is_file():
            return float("nan")
        lines = [line for line in status.read_text().splitlines() if line.startswith("VmHWM:")]
        return int(lines[0].split()[1]) / 1024 if lines else float("nan")

    def __enter__(self) -> ServerProcess:
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            end(self._process, how)
        self._process = None


def end(process: subprocess.Popen[Any], how: signal.Signals = signal.SIGTERM) -> None:
    """Ask a process to end, and kill it if it does not."""
    if process.poll() is None:
        process.send_signal(how)
        try:
            process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def started(command: Sequence[str], environment: Mapping[str, str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a program without the terminal, with its output in a file.

    It gets its own session, so that Ctrl-C reaches only its parent, which then ends it in order.
    """
    return subprocess.Popen(  # noqa: S603 - no part of the command comes from a request
        command, env=dict(environment), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
    )


def free_port() -> int:
    """A port that is free."""
    with socket.socket() as listener:
        listener.bind((LOOPBACK, 0))
        port: int = listener.getsockname()[1]
        return port


def answers(port: int, path: str) -> bool:
    """Whether a server on this port answers for a page."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=2)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
