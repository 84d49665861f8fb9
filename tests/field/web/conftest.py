"""A browser and a stub server for the tests of the trial page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from field.browser import chromium
from field.web.samples import SCALES
from field.web.stub import WEB, Stub, serving


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, once for all tests of a module: while it is open, no other event loop can run in this process."""
    if not (WEB / "vendor" / "jspsych.js").is_file():
        pytest.skip("the browser assets are missing: make setup")
    with chromium() as running:
        yield running


@pytest.fixture
def serve() -> Iterator[Callable[..., Stub]]:
    """Serve a session with some trials."""
    with ExitStack() as stack:

        def start(trials: list[dict[str, Any]], **page: Any) -> Stub:
            return stack.enter_context(serving(Stub(trials, SCALES, **page)))

        yield start


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open the page of a session as a participant would; a complaint of the browser in its console fails the test."""
    complaints: list[str] = []
    contexts: list[Any] = []

    def open_page(stub: Stub, context: Any = None, complain: bool = True, **settings: Any) -> Any:
        if context is None:
            context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **settings})
            contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        if complain:
            page.on("console", lambda message: message.type in ("error", "warning") and complaints.append(message.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"{stub.address}/s/sample/")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints
