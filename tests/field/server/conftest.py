"""Studies that are served without a network, for people with browsers without screens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from field.server.visitor import Visitor
from karat.field.server.app import create_app
from karat.field.server.config import ServerConfig
from karat.field.store import Store, studies
from karat.study.study import Study, load

TEXTS = """
[texts]
consent = "You may stop at any time."
debriefing = "It was about word order."
instructions = "Rate each sentence."
quiz = [
  { question = "What do you rate?", answers = ["Sentences", "Pictures"], right = 1, feedback = "Only sentences." },
]

[[background]]
name = "first_language"
question = "Which language did you learn first?"
answers = ["English", "German", "Another"]
eligible = ["English"]

[[background]]
name = "remark"
question = "Which dialect do you speak?"
required = false

[[background]]
name = "age"
question = "How old are you?"
when = "after"
"""
KNOWN = {"What do you rate?": "Sentences", "Which language did you learn first?": "English", "How old are you?": "31"}
BLOCK = """
[[block]]
task = "likert"
items = "items.csv"
scale = { points = 5 }
"""
ITEMS = """item,function,sentence,expected
t1,test,The dog sleeps.,
t2,test,Sleeps the dog.,
c1,control,Dog the sleeps.,1-2
"""


@dataclass
class Served:
    """A study that is served."""

    app: Any
    store: Store
    study: Study
    runner: asyncio.Runner
    slug: str = "study"

    def visitor(self, **given: Any) -> Visitor:
        return Visitor(self.app, self.runner, self.slug, **given)

    @property
    def study_id(self) -> int:
        return int(self.app.state.served_studies[self.slug].id)

    def rows(self, table: Any) -> list[dict[str, Any]]:
        with self.store.read() as connection:
            return [dict(row) for row in connection.execute(table.select().order_by(*table.primary_key)).mappings()]

    def set_state(self, state: str) -> None:
        self.store.call(studies.set_state, self.study_id, state)


def write(folder: Path, more: str = "", head: str = 'title = "Word order"', items: str = ITEMS) -> Study:
    """A small study with a block of three sentences; `more` is the rest of its file."""
    folder.mkdir(exist_ok=True)
    (folder / "items.csv").write_text(items)
    (folder / "study.toml").write_text(f"{head}\n{BLOCK if '[[block]]' not in more else ''}\n{more}")
    return load(folder)


# The pages ask the store alone, which the tests of the store run on both; visits on PostgreSQL are in the tests of
# several processes.
@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def store_url(request: pytest.FixtureRequest) -> str:
    """The address of an empty database, on SQLite and in the slow tests on PostgreSQL."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as made:
        yield made


@pytest.fixture
def serve(store: Store, tmp_path: Path, runner: asyncio.Runner) -> Callable[..., Served]:
    """Serve a study; it runs unless another state is wanted."""

    def served(study: Study, state: str = "running", **config: Any) -> Served:
        stated = {"arrivals_per_minute": 0.0, **config}
        app = create_app([("study", study)], store, ServerConfig(tmp_path, b"k" * 32, **stated), admin=False)
        made = Served(app, store, study, runner)
        if state != "draft":
            made.set_state(state)
        return made

    return served


@pytest.fixture
def served(serve: Callable[..., Served], tmp_path: Path) -> Served:
    """A small study with every step."""
    return serve(write(tmp_path / "study", TEXTS))
