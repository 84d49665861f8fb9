"""A browser and a stub server for the tests of the trial page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest

from field.browser import chromium
from field.web.samples import SCALES
from field.web.stub import WEB, Stub, serving

DESK = {"width": 1280, "height": 800}


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


@pytest.fixture(scope="module")
def desk(browser: Any) -> Any:
    """The page of a large screen that the tests of a module use one after the other: a new one takes a process."""
    return browser.new_context(viewport=DESK).new_page()


@pytest.fixture
def visit(browser: Any, desk: Any) -> Iterator[Callable[..., Any]]:
    """Open the page of a session as a participant would; a complaint of the browser in its console fails the test."""
    complaints: list[str] = []
    contexts: list[Any] = []

    def hear(message: Any) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    def fail(error: Any) -> None:
        complaints.append(str(error))

    def open_page(stub: Stub, context: Any = None, complain: bool = True, **settings: Any) -> Any:
        size = settings.pop("viewport", DESK)
        if settings:
            context = browser.new_context(viewport=size, **settings)
            contexts.append(context)
        page = context.new_page() if context else desk
        page.set_viewport_size(size)
        page.set_default_timeout(120_000)
        if complain:
            page.on("console", hear)
            page.on("pageerror", fail)
        page.goto(f"{stub.address}/s/sample/")
        return page

    yield open_page
    for context in contexts:
        context.close()
    as_new(desk, hear, fail)
    assert not complaints


def as_new(page: Any, hear: Callable[[Any], None], fail: Callable[[Any], None]) -> None:
    """Take away what a test has left: each has a server of its own, so that what is stored for one is for no other."""
    for event, listener in (("console", hear), ("pageerror", fail)):
        with suppress(KeyError):  # it was not listened to
            page.remove_listener(event, listener)
    for other in page.context.pages:
        if other is not page:
            other.close()
    page.goto("about:blank")
    page.emulate_media(color_scheme="light")
    page.context.set_offline(False)
    page.context.clear_cookies()
    page.context.clear_permissions()
