"""The dashboard of a study that bots have answered, as the demo shows it, in a real browser."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from field.browser import chromium, picture
from karat.demo import serve

pytestmark = pytest.mark.browser


@pytest.mark.slow
def test_the_dashboard_tells_how_it_stands(tmp_path: Path) -> None:
    served = serve(tmp_path)
    try:
        # In a thread, since a browser that an earlier test left open has an event loop in this one.
        with ThreadPoolExecutor(1) as pool:
            result = pool.submit(served.answered, lambda done, total: None, watched=False).result()
        with chromium() as browser:
            page = browser.new_page(viewport={"width": 1100, "height": 1000})
            page.goto(f"{served.server.address}/admin/likert")
            page.get_by_label("Name").fill("admin")
            page.get_by_label("Password").fill(served.password)
            page.locator("main form button").click()
            page.goto(f"{served.server.address}/admin/likert/people")
            page.wait_for_selector(".flag", timeout=300_000)
            status = page.inner_text(".status")
            picture(page, "field-dashboard")
    finally:
        served.server.stop()
    assert result.line.endswith("2 left early")
    assert status.startswith("58 of 60 eligible, 2 running, lists ")
    lists = [int(count) for count in status.rsplit(" ", 1)[1].split("/")]
    assert sum(lists) == 58
    # Fifteen of each list came; the two who left early may have had the same one.
    assert max(lists) == 15
