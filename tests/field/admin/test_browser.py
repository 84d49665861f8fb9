"""The dashboard in a real browser: it updates in place, obeys its own policy, and is accessible."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from field.admin.fielding import ANSWERS, PASSWORD, Fielded, Server, write_study
from field.browser import chromium
from karat.field.store import Store

pytestmark = [pytest.mark.browser, pytest.mark.slow]

AXE = Path(__file__).parents[3] / "src" / "karat" / "field" / "web" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Fielded, str]]:
    folder = tmp_path_factory.mktemp("served")
    study_path = write_study(folder / "blind")
    server = Server(study_path, "--data", folder / "data")
    store = Store.open(f"sqlite:///{folder}/data/karat.db")
    try:
        yield Fielded.start(store, study_path), server.address()
    finally:
        store.close()
        server.stop()


def log_in(page: Any, address: str) -> None:
    page.set_default_timeout(120_000)
    page.goto(f"{address}/admin/blind")
    page.fill("#password", PASSWORD)
    page.click("button[type=submit]")
    page.wait_for_url("**/admin/blind")


def test_it_updates_in_place(served: tuple[Fielded, str], browser: Any) -> None:
    fielded, address = served
    first = fielded.finish()
    said: list[str] = []
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    log_in(page, address)
    page.goto(f"{address}/admin/blind/people")
    rows = page.locator("table.people tbody tr")
    before = rows.count()
    assert page.inner_text(".status").startswith(f"{before} of 8 eligible")
    page.focus(f"#person-{first}-1 a")
    page.evaluate("window.kept = document.activeElement; window.heading = document.querySelector('h1')")
    second = fielded.finish()
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_selector(f"#person-{second}-1", timeout=300_000)
    assert page.inner_text(".status").startswith(f"{before + 1} of 8 eligible")
    assert page.evaluate("kept === document.activeElement && kept.isConnected && heading.isConnected")
    assert rows.count() == before + 1
    page.close()
    assert said == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (320, "dark")])
def test_it_is_accessible(served: tuple[Fielded, str], browser: Any, width: int, scheme: str) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: npm ci in src/karat/field/web")
    fielded, address = served
    region = "north" if width > 320 else "south"  # there is room for four of each
    # One button throughout is flagged whatever the order.
    names = [fielded.finish(region), fielded.finish(region, always=ANSWERS[0])]
    # The policy of the page keeps the checker out, and is tested elsewhere.
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(f"{address}/admin/login")
    found = {"/admin/login": violations(page)}
    log_in(page, address)
    page.goto(f"{address}/admin/blind/people")
    page.wait_for_selector(".flag", timeout=300_000)  # the criteria come from a process that lets others go first
    paths = ["", "/blind", "/blind/people", "/blind/data", "/blind/danger", f"/blind/people/{names[1]}"]
    for path in (*paths, "/blind/download/judgments.parquet", "/nothing"):
        page.goto(f"{address}/admin{path}")
        found[path] = violations(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert page.evaluate("document.documentElement.scrollHeight") <= 5000, path
    context.close()
    assert not any(found.values()), found


def violations(page: Any) -> list[str]:
    page.add_script_tag(path=str(AXE))
    found = page.evaluate("axe.run()")["violations"]
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]
