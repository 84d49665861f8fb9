"""Whatever is sent to the addresses that the OpenAPI description names, the server answers as the description says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig

from field.server.conftest import KNOWN, TEXTS, Served, write
from field.server.visitor import Visitor
from karat.field.content import flow
from karat.field.server.app import create_app
from karat.field.server.config import ServerConfig
from karat.field.server.security import csrf, token_hash
from karat.field.store import Store, progress

SECRET = b"k" * 32
COOKIE = "karat-study"
HOST = "testserver"
"""The name under which schemathesis asks an application without a network."""
CONFIG = SchemathesisConfig.from_dict({
    # Unknown fields of forms are passed over, and a number may come as a text: a refused answer would be a lost one.
    "checks": {"negative_data_rejection": {"enabled": False}},
    # What a form must answer is known by the study, not by the description.
    "operations": [{"include-path-regex": "^/s/", "checks": {"positive_data_acceptance": {"enabled": False}}}],
})  # fmt: skip
EXAMPLES = pytest.mark.parametrize("examples", [3, pytest.param(40, marks=pytest.mark.slow)])


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A study with every step, on SQLite."""
    folder = tmp_path_factory.mktemp("schema")
    store = Store.open(f"sqlite:///{folder}/karat.db")
    study = write(folder / "study", TEXTS)
    config = ServerConfig(folder, SECRET, base_url=f"http://{HOST}", arrivals_per_minute=0.0)
    with asyncio.Runner() as runner:
        made = Served(create_app([("study", study)], store, config, admin=False), store, study, runner)
        made.set_state("running")
        yield made
    store.close()


@pytest.fixture(scope="module")
def description(served: Served) -> Any:
    return schemathesis.openapi.from_asgi("/api/openapi.json", served.app, config=CONFIG)


class Guest:
    """Somebody with a valid session, who begins another one when it is over."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.begin()

    def begin(self) -> None:
        self.visitor: Visitor = self.served.visitor(headers={"host": HOST})
        self.visitor.go_on(self.visitor.arrive(), KNOWN)

    def token_at(self, step: str) -> str:
        """The token of a session that stands at a step."""
        if self.session is None or self.session.state != "running":
            self.begin()
        assert self.session is not None
        self.served.store.call(progress.set_step, self.session.id, step)
        return self.visitor.cookies[COOKIE]

    @property
    def session(self) -> progress.Session | None:
        known = token_hash(SECRET, "study", self.visitor.cookies.get(COOKIE, ""))
        with self.served.store.read() as connection:
            return progress.load(connection, known) if known else None


def ask_everything(description: Any, examples: int, ask: Callable[[Any], Any]) -> None:
    """Requests for every address of the description: some as it wants them, some that break its rules."""
    operations = [found.ok() for found in description.get_all_operations()]
    assert len(operations) >= 12
    modest = settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    for operation in operations:
        for mode in GenerationMode:
            if mode is GenerationMode.NEGATIVE and "{" not in operation.path:
                continue  # no rule to break

            @modest
            @given(operation.as_strategy(generation_mode=mode))
            def asked(case: Any) -> None:
                ask(case)

            asked()


@EXAMPLES
def test_strangers(description: Any, examples: int) -> None:
    ask_everything(description, examples, lambda case: case.call_and_validate())


@pytest.mark.slow
@EXAMPLES
def test_people_with_a_session(description: Any, served: Served, examples: int) -> None:
    guest = Guest(served)
    statuses = set()

    def ask(case: Any) -> None:
        step = (case.path_parameters or {}).get("step", flow.TRIALS)
        token = guest.token_at(step if step in flow.STEPS else flow.TRIALS)
        headers = {}
        if case.path.startswith("/api/"):
            headers["Authorization"] = f"Bearer {token}"
        else:
            case.cookies[COOKIE] = token
            if isinstance(case.body, dict):
                case.body["csrf"] = csrf(SECRET, token)
        reply = case.call_and_validate(headers=headers)
        statuses.add((case.operation.label, reply.status_code))

    ask_everything(description, examples, ask)
    reached = {label for label, status in statuses if status in (200, 303, 422)}
    assert reached >= {"GET /api/{slug}/trials", "POST /api/{slug}/answers", "GET /s/{slug}/go",
                       "POST /s/{slug}/step/{step}"}, "what lies behind the session was not tried"  # fmt: skip
