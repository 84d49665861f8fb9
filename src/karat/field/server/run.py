"""Run the application in one process with one event loop; it stops once running requests are answered."""

import asyncio
import gc
import importlib.util
import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from karat.field.server.config import ServerConfig, ServerError
from karat.field.server.security import secret_mark
from karat.field.store.store import signing

if importlib.util.find_spec("httptools"):
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Spoken
else:
    from uvicorn.protocols.http.h11_impl import H11Protocol as Spoken  # type: ignore[assignment]

WAITING_CONNECTIONS = 2048
SECONDS_TO_FINISH = 10
SECONDS_KEPT_OPEN = 75
"""Longer than participants think about a sentence, so that their answers need no new connection."""


COLLECT_AFTER = (50_000, 20, 50)
"""The thresholds of garbage collection, which is rare because requests leave few reference cycles."""


def listen(config: ServerConfig) -> socket.socket:
    """The socket on which a server listens; an error if another program uses the port."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((config.host, config.port))
    except OSError as error:
        listener.close()
        raise ServerError(
            f"The server cannot listen on {config.host}, port {config.port}: {error.strerror or error}. "
            "Choose another port with --port, or stop the program that has it."
        ) from None
    listener.listen(WAITING_CONNECTIONS)
    listener.set_inheritable(True)
    return listener


HEADER_BYTES = 32 * 1024
"""The most bytes before a request is complete up to its body; addresses and cookies take less."""
MOST_CONNECTIONS = 8192
"""The most connections at a time; more are closed at once."""


class PatientProtocol(Spoken):
    """A connection with limits on the time and size of a request.

    A proxy in front has such limits; without one, a few slow clients could occupy all connections.
    """

    seconds = 20.0

    _timer: asyncio.TimerHandle | None = None
    _begun: Any = None
    _bytes = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        self._wait()

    def data_received(self, data: bytes) -> None:
        if self._timer is None and not self._under_way():
            self._wait()
        super().data_received(data)
        if self.cycle is not None and self.cycle is not self._begun:
            # The headers are complete. The application limits the size of the body.
            self._begun, self._bytes = self.cycle, 0
            self._wait()
        elif not self._under_way():
            self._bytes += len(data)
            if self._bytes > HEADER_BYTES:
                self.transport.abort()
        if self._under_way() and not self.cycle.more_body:
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _under_way(self) -> bool:
        """Whether a request has no complete answer yet."""
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        self._stop()
        self._timer = asyncio.get_running_loop().call_later(self.seconds, self._too_slow)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        self._timer = None
        if not self._under_way() or self.cycle.more_body:
            self.transport.abort()


class _Server(uvicorn.Server):
    """A server that reports when it is ready; an earlier Ctrl-C would be lost."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None] | None) -> None:
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.ready is not None and not self.should_exit:
            self.ready()


def quiet_settings(app: ASGIApp, **more: Any) -> uvicorn.Config:
    """Settings of a server that logs warnings only, because the addresses of visits contain platform ids."""
    return uvicorn.Config(
        app, ws="none", lifespan="off", log_level="warning", access_log=False, server_header=False, **more
    )


def run(
    app: FastAPI, config: ServerConfig, listener: socket.socket | None = None, ready: Callable[[], None] | None = None
) -> None:
    """Serve until the process is asked to stop (Ctrl-C, SIGTERM); running requests are answered first.

    There is no access log: the address of a visit contains platform ids, and the client's address is personal data.
    """
    settings = quiet_settings(
        app,
        loop="uvloop" if importlib.util.find_spec("uvloop") else "asyncio",
        http=type("Patient", (PatientProtocol,), {"seconds": config.request_seconds}),
        proxy_headers=config.behind_proxy,
        timeout_keep_alive=SECONDS_KEPT_OPEN,
        timeout_graceful_shutdown=SECONDS_TO_FINISH,
        backlog=WAITING_CONNECTIONS,
    )
    with listener or listen(config) as open_socket, signing(app.state.store, secret_mark(config.secret)):
        # The objects of the start stay until the end. Collecting among them again and again took half of the time.
        gc.collect()
        gc.freeze()
        gc.set_threshold(*COLLECT_AFTER)
        try:
            _Server(settings, ready).run(sockets=[open_socket])
        except KeyboardInterrupt:
            return  # uvicorn has stopped in order and raises the interrupt again
