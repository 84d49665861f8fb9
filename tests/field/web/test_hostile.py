"""Script in the item table and in the texts of a study: the browser shows it as what it is, text."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from field.server.conftest import write
from field.web.real import served
from field.web.samples import settle
from field.web.test_visit import Complaints, arrive
from karat.field.store.schema import answer

pytestmark = pytest.mark.browser

ATTACKS = (
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[click](javascript:alert(1))",
    "![x](https://elsewhere.example.org/x.png)", "<a href='javascript:alert(1)'>click</a>",
    "<svg onload=alert(1)></svg><iframe srcdoc='<script>alert(1)</script>'></iframe>", "</script><script>alert(1)//",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
)  # fmt: skip


def hostile(folder: Path, markdown: bool) -> Any:
    """A study in which every text is an attack."""
    folder.mkdir()
    every = " ".join(ATTACKS)
    with (folder / "hostile.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["item", "function", "sentence", "context", "gloss"])
        table.writerow(["t1", "test", every, every, ""])
        table.writerow(["t2", "test", every, every, every])
    quoted = json.dumps(every)
    more = f"""
[[block]]
task = "likert"
items = "hostile.csv"
scale = {{ points = 5, labels = [{quoted}, {quoted}] }}
prompt = {quoted}
instructions = {quoted}
markdown = {str(markdown).lower()}
[texts]
welcome = {quoted}
consent = {quoted}
instructions = {quoted}
debriefing = {quoted}
completion = {quoted}
words = {{ "page.continue" = {quoted}, "browser.next" = {quoted} }}
"""
    return write(folder, more, head=f"title = {quoted}")


@pytest.mark.slow
@pytest.mark.parametrize("markdown", [False, True])
def test_what_looks_like_script_is_text(markdown: bool, browser: Any, tmp_path: Path) -> None:
    with served(hostile(tmp_path / "study", markdown), tmp_path) as real:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(120_000)
        complaints, dialogs, asked, shown = Complaints(), [], [], []
        complaints.listen(page)
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"http://127.0.0.1:{real.port}/s/study/")
        while page.locator("main form[action*='/s/study/']").count():
            check(page)
            with page.expect_navigation():
                page.locator("main form button").first.click()
            while page.locator("#trials").count():
                settle(page)
                check(page)
                page.evaluate("document.querySelector('.trial').dataset.seen = ''")
                if page.locator(".scale").count():
                    shown.append(page.locator(".stimulus").first.inner_text())
                    page.locator(".scale label").nth(1).click()
                else:
                    page.locator(".trial button").click()
                arrive(page)
        check(page)
        page.close()
        assert sum(row["response"] == "2" for row in real.rows(answer)) == 2
    assert " ".join(ATTACKS) in shown  # the other sentence stands word by word above its gloss
    assert (dialogs, list(complaints)) == ([], [])
    assert all(url.startswith(f"http://127.0.0.1:{real.port}/") for url in asked)


def check(page: Any) -> None:
    """No element that runs or loads anything, and no link but to the web."""
    assert page.locator("main :is(img, svg, iframe, script, object, embed)").count() == 0
    addresses = page.evaluate("Array.from(document.querySelectorAll('a'), (a) => a.getAttribute('href'))")
    assert all(address.startswith(("#", "/", "https://")) for address in addresses), addresses
    handlers = (
        "Array.from(document.querySelectorAll('*')).some((e) => e.getAttributeNames().some((n) => /^on/.test(n)))"
    )
    assert not page.evaluate(handlers)
