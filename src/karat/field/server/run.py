"""Running the application: one process, one event loop, and an end that waits for what is being saved."""

from __future__ import annotations

import gc
import importlib.util
import socket
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from karat.field.server.config import ServerConfig, ServerError
from karat.field.server.security import secret_mark
from karat.field.store.advisory_locks import signing

WAITING_CONNECTIONS = 2048
SECONDS_TO_FINISH = 10
SECONDS_KEPT_OPEN = 75
"""Longer than people think about a sentence, so that their answers need no new connection."""


COLLECT_AFTER = (50_000, 20, 50)
"""When garbage is collected: seldom, since requests leave few circles behind."""


def listen(config: ServerConfig) -> socket.socket:
    """The socket on which a server waits; an error in words where another program has it.

    >>> from pathlib import Path
    >>> with listen(ServerConfig(Path("data"), b"k" * 32, port=0)) as listener:
    ...     listener.getsockname()[0]
    '127.0.0.1'
    """
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


class _Server(uvicorn.Server):
    """A server that tells when it can be reached, and so also when it can be stopped: a Ctrl-C before would be lost."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None] | None) -> None:
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.ready is not None and not self.should_exit:
            self.ready()


def run(
    app: FastAPI, config: ServerConfig, listener: socket.socket | None = None, ready: Callable[[], None] | None = None
) -> None:
    """Serve until the process is asked to stop (Ctrl-C, SIGTERM); requests that are under way are answered first.

    No access log is kept: the address of a visit carries the ids of the platform, and the client's address is
    personal data.
    """
    settings = uvicorn.Config(
        app,
        loop="uvloop" if importlib.util.find_spec("uvloop") else "asyncio",
        http="httptools" if importlib.util.find_spec("httptools") else "h11",
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=config.behind_proxy,
        timeout_keep_alive=SECONDS_KEPT_OPEN,
        timeout_graceful_shutdown=SECONDS_TO_FINISH,
        backlog=WAITING_CONNECTIONS,
    )
    with listener or listen(config) as open_socket, signing(app.state.store, secret_mark(config.secret)):
        # What was made at the start stays to the end. Looking through it again and again took half of the time.
        gc.collect()
        gc.freeze()
        gc.set_threshold(*COLLECT_AFTER)
        try:
            _Server(settings, ready).run(sockets=[open_socket])
        except KeyboardInterrupt:
            return  # uvicorn has stopped in order and hands the key on
