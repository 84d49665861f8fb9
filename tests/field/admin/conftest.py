"""A fielded study and a researcher's browser, for the tests of the dashboard."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from field.admin.fielding import Fielded, log_in, set_password, write_study
from field.server.visitor import Visitor
from karat.errors import KaratError
from karat.field.admin import actions, page
from karat.field.server.app import create_app
from karat.field.server.config import ServerConfig
from karat.field.store import Store
from karat.messages import message_of


@pytest.fixture
def study_path(tmp_path: Path) -> Path:
    return write_study(tmp_path / "blind")


@pytest.fixture
def sqlite_store(sqlite_url: str) -> Iterator[Store]:
    store = Store.open(sqlite_url)
    set_password(store)
    yield store
    store.close()


@pytest.fixture
def fielded(sqlite_store: Store, study_path: Path) -> Fielded:
    return Fielded.start(sqlite_store, study_path)


class Application:
    """The application as a server of today calls it: a response need not watch for a client that goes away."""

    def __init__(self, app: FastAPI) -> None:
        self.app, self.state, self.routes = app, app.state, app.routes

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        scope["asgi"]["spec_version"] = "2.4"
        await self.app(scope, receive, send)


async def here(function: Callable[..., Any], *arguments: object) -> Any:
    """What a process of its own would give back: all that goes in and out of it is pickled."""
    done, given = pickle.loads(pickle.dumps((function, arguments)))
    try:
        return pickle.loads(pickle.dumps(done(*given)))
    except KaratError as error:
        raise KaratError(pickle.loads(pickle.dumps(message_of(error)))) from None


@pytest.fixture
def quick_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Screenings and downloads without the process that each has; it is tested alone and in the browser."""
    for module in (actions, page):
        monkeypatch.setattr(module, "in_child", here)


@pytest.fixture
def visitor(fielded: Fielded, tmp_path: Path, quick_work: None) -> Iterator[Visitor]:
    """Somebody with a browser who is not logged in."""
    config = ServerConfig(tmp_path / "data", b"k" * 32)
    app = create_app([(fielded.slug, fielded.study)], fielded.store, config)
    with asyncio.Runner() as runner:
        yield Visitor(Application(app), runner, fielded.slug)


@pytest.fixture
def researcher(visitor: Visitor) -> Visitor:
    """The same, logged in."""
    assert "Studies" in log_in(visitor).text
    return visitor
