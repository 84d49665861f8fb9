"""A studio with one browser before it, without a network."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from field.server.visitor import Reply, Visitor
from karat.studio.app import create_app
from karat.studio.guard import Keys, Presence
from karat.studio.uploads import Uploads

PORT = 8000
SECONDS = 300


@dataclass
class Browser(Visitor):
    """The browser that was shown the way."""

    keys: Keys = field(default_factory=lambda: Keys(PORT))
    headers: dict[str, str] = field(default_factory=lambda: {"origin": f"http://127.0.0.1:{PORT}"})

    def enter(self) -> Browser:
        parts = urlsplit(self.keys.address)
        reply = self.get(f"{parts.path}?{parts.query}")
        assert reply.status == 200, reply.text
        return self

    def inside(self, path: str, headers: dict[str, str] | None = None) -> Reply:
        return self.ask("GET", f"{self.keys.base}{path}", headers={"accept": "text/html", **(headers or {})})

    def send(self, method: str, path: str, data: Any = None, headers: dict[str, str] | None = None) -> Reply:  # type: ignore[override]
        body = b"" if data is None else data if isinstance(data, bytes) else json.dumps(data).encode()
        kind = {} if data is None else {"content-type": "application/json"}
        return self.ask(method, f"{self.keys.base}{path}", body, {**kind, **(headers or {})})

    def drop(self, files: dict[str, bytes], look: bool = True) -> str:
        """Drop files as the page does; gives the path of their case, read."""
        address = self.send("POST", "/cases").json()["address"].removeprefix(self.keys.base)
        for name, content in files.items():
            reply = self.send("PUT", f"{address}/files/{quote(name)}", content)
            assert reply.status == 204, reply.text
        if look:
            assert self.send("POST", f"{address}/look").status == 202
            self.wait(address)
        return str(address)

    def wait(self, address: str) -> None:
        """Wait until the work is done, as the page does."""
        until = time.monotonic() + SECONDS
        while self.inside(f"{address}/progress").json()["working"]:
            assert time.monotonic() < until, self.inside(f"{address}/progress").json()
            time.sleep(0.05)


@dataclass
class StudioApp:
    """An application behind a studio, and its parts."""

    app: Any
    cases: Uploads
    keys: Keys
    presence: Presence
    runner: asyncio.Runner

    def browser(self) -> Browser:
        return Browser(self.app, self.runner, keys=self.keys)


@pytest.fixture(scope="session")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Uploads]:
    """Drops with a process that works on them, once for all tests: it takes a while to start."""
    target = tmp_path_factory.mktemp("studies") / "kept"
    target.mkdir()
    made = Uploads(Path(mkdtemp(prefix="karat-open-")), target)
    yield made
    made.close()
    assert not made.root.exists()


@pytest.fixture
def studio(cases: Uploads) -> Iterator[StudioApp]:
    """A studio that nobody has come through yet."""
    keys, presence = Keys(PORT), Presence()
    with asyncio.Runner() as runner:
        yield StudioApp(create_app(cases, keys, presence), cases, keys, presence, runner)


@pytest.fixture
def browser(studio: StudioApp) -> Browser:
    """The browser that has come through the studio."""
    return studio.browser().enter()


@pytest.fixture(scope="session")
def results() -> bytes:
    """Results of a small study, under names that karat must guess, with two columns that could be the item."""
    draw = random.Random(7)
    lines = ["workerId,item,sentence,verdict,ANSWER,rt"]
    for person in range(8):
        for item in range(10):
            answer = min(5, max(1, round(1 + item / 2.2 + draw.gauss(0, 0.8))))
            row = (f"w{person}", f"line {person * 10 + item}", f"s{item:02}", "ok", answer, draw.randint(900, 6000))
            lines.append(",".join(map(str, row)))
    return ("\n".join(lines) + "\n").encode()


@pytest.fixture(scope="session")
def crossed() -> bytes:
    """Results in which what was judged is two columns together, so that karat asks."""
    draw = random.Random(3)
    lines = ["subject,verb,content,acceptability"]
    lines += [
        f"s{person},{verb},{content},{min(7, max(1, person % 5 + 1 + draw.randint(0, 2)))}"
        for person in range(9) for verb in ("know", "say", "think") for content in ("cat", "dog", "bird", "fish")
    ]  # fmt: skip
    return ("\n".join(lines) + "\n").encode()
