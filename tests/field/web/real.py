"""The real server for one study, in a thread of the test, so that the test can look into its store."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from karat.field.server.app import create_app
from karat.field.server.config import ServerConfig
from karat.field.store import Store, studies
from karat.study.study import Study


@dataclass
class Real:
    """A study that is served under /s/study/."""

    study: Study
    store: Store
    port: int

    def rows(self, table: Any) -> list[dict[str, Any]]:
        with self.store.read() as connection:
            return [dict(row) for row in connection.execute(table.select()).mappings()]


@contextmanager
def served(
    study: Study, folder: Path, certificate: tuple[Path, Path] | None = None, base_url: str = ""
) -> Iterator[Real]:
    """Serve a study that runs, on SQLite; over TLS with a certificate and its key."""
    store = Store.open(f"sqlite:///{folder}/karat.db")
    config = ServerConfig(folder, b"k" * 32, base_url=base_url, behind_proxy=certificate is not None)
    app = create_app([("study", study)], store, config, admin=False)
    store.call(studies.set_state, app.state.served_studies["study"].id, "running")
    made, key = certificate or (None, None)
    server = uvicorn.Server(uvicorn.Config(
        app, lifespan="off", log_level="warning", access_log=False, ssl_certfile=made, ssl_keyfile=key,
        timeout_graceful_shutdown=2,
    ))  # fmt: skip
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.02)
        try:
            yield Real(study, store, listener.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(60)
    store.close()
