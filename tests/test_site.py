"""The site in a real browser: the study on the home page, and pages that are accessible, wide and narrow, and found."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from field.browser import chromium
from field.web.test_access import AXE, violations
from tools import site

pytestmark = pytest.mark.browser

DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


class Quiet(SimpleHTTPRequestHandler):
    """The files of a folder, as a web server without any program would send them."""

    def log_message(self, *_: Any) -> None:
        return


@contextmanager
def hosted(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not (site.WEB / "vendor" / "jspsych.js").is_file() or not AXE.is_file():
        pytest.skip("the browser assets are missing: make setup")
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the demo alone, without its report."""
    folder = tmp_path_factory.mktemp("demo")
    files = {"index.html": site.demo_page(*site.answered(folder / "work")), **site.scripts()}
    files |= {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "demo").iterdir()}
    for name, text in files.items():
        path = folder / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with hosted(folder / "site") as address:
        yield f"{address}/"


@pytest.mark.slow
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_six_trials_end_beside_simulated_participants(browser: Any, demo: str, size: dict[str, int]) -> None:
    context = browser.new_context(viewport=size)
    page = context.new_page()
    trouble: list[str] = []
    page.on("console", lambda message: message.type in ("error", "warning") and trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("request", lambda one: (one.method == "GET" and one.url.startswith(demo)) or trouble.append(one.url))
    page.goto(demo)
    page.get_by_role("button", name="Start").click()
    for place in range(6):
        page.wait_for_timeout(200)
        page.locator(f".progress[aria-valuenow='{round(100 * place / 6)}']").wait_for(state="attached")
        assert violations(page) == []
        page.keyboard.press(str(1 + place % 5))
        page.wait_for_timeout(250)
    page.locator(".beside").first.wait_for()
    own = [bar.inner_text().split() for bar in page.locator(".bars .own").all()]
    assert [answer[-1] for answer in own] == ["you"] * 6
    places = page.evaluate(
        "[...document.querySelectorAll('.bars .own')].map((one) => [...one.parentNode.children].indexOf(one))"
    )
    assert places == [0, 1, 2, 3, 4, 0]
    counts = [int(text) for text in page.locator(".beside").first.locator("li > span:first-child").all_inner_texts()]
    assert sum(counts) == site.PEOPLE
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert page.evaluate("Object.keys(document.cookie).length") == 0
    assert context.storage_state()["origins"] == []
    page.get_by_role("button", name="Start again").click()
    page.get_by_role("button", name="Start", exact=True).wait_for()
    context.close()
    assert trouble == []


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the whole site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})
    with hosted(folder) as address:
        yield address


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["", "tutorials/screening/", "reference/study-file/", "gallery/studies/"])
def test_axe_finds_nothing(browser: Any, built: str, name: str, scheme: str) -> None:
    for size in (DESK, PHONE):
        context = browser.new_context(viewport=size, color_scheme=scheme)
        page = context.new_page()
        page.goto(f"{built}/{name}")
        page.wait_for_timeout(500)
        assert violations(page) == [], size
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        context.close()


@pytest.mark.slow
def test_search_finds_the_screening_tutorial(browser: Any, built: str) -> None:
    context = browser.new_context(viewport=DESK)
    page = context.new_page()
    page.goto(f"{built}/")
    page.locator("input[name=query]").first.click()
    page.keyboard.type("exclude participants")
    first = page.locator(".md-search-result__link").first
    first.wait_for()
    page.wait_for_timeout(500)
    assert "tutorials/screening/" in first.get_attribute("href")
    context.close()
