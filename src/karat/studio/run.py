"""Opening the app: a server for one browser, which ends when its last page is closed."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp

import uvicorn

from karat.studio.app import create_app
from karat.studio.folder import StudioError
from karat.studio.guard import Keys, Presence
from karat.studio.uploads import Uploads

HOST = "127.0.0.1"
TICK = 1.0
SECONDS_TO_FINISH = 3


def listen(port: int = 0) -> socket.socket:
    """A socket of this machine alone; port 0 is any that is free."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        raise StudioError(
            f"The page cannot be opened on port {port}: {error.strerror or error}. Leave out --port to use a free one."
        ) from None
    listener.listen()
    return listener


def open_studio(
    target: Path, port: int = 0, ready: Callable[[str], None] = print, studies: Path | None = None
) -> list[Path]:
    """Serve until the page is closed or the process is asked to stop; gives the folders that were kept.

    `ready` gets the address that opens the page, once. All dropped files but those that were kept are deleted at the
    end; the studies in the folder `studies` stay.
    """
    with listen(port) as listener:
        cases = Uploads(Path(mkdtemp(prefix="karat-open-")), target)  # which nobody else can read
        try:
            keys = Keys(listener.getsockname()[1])
            presence = Presence()
            app = create_app(cases, keys, presence, studies)
            settings = uvicorn.Config(
                app, ws="none", lifespan="off", log_level="warning", access_log=False,
                server_header=False, proxy_headers=False, timeout_graceful_shutdown=SECONDS_TO_FINISH,
            )  # fmt: skip
            server = _StudioServer(settings, presence, lambda: ready(keys.address))
            try:
                with _signals(server), contextlib.suppress(KeyboardInterrupt):
                    server.run(sockets=[listener])  # on Ctrl-C uvicorn stops in order and hands the key on
            finally:
                if app.state.servers is not None:
                    app.state.servers.close()
        finally:
            cases.close()
    return cases.kept


class _StudioServer(uvicorn.Server):
    """A server that reports when it is ready, and stops when the last page is closed."""

    def __init__(self, config: uvicorn.Config, presence: Presence, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._presence = presence
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if not self.should_exit:
            self._watch = asyncio.create_task(self._watch_pages())
            self._ready()

    async def _watch_pages(self) -> None:
        while not self._presence.tick(TICK):
            await asyncio.sleep(TICK)
        self.should_exit = True


@contextlib.contextmanager
def _signals(server: uvicorn.Server) -> Iterator[None]:
    """End in order, files deleted, also when the terminal is closed or the system asks."""

    def leave(*_: object) -> None:
        server.should_exit = True

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), leave) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
