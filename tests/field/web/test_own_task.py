"""A task of a package: installed, served, answered in a browser, exported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from field.web.real import Real, served
from field.web.samples import settle
from field.web.test_access import AXE, violations
from field.web.test_visit import Complaints
from karat.field.store import export
from karat.study.study import load
from own_package import files_of, installed

pytestmark = pytest.mark.browser

STUDY = """title = "Temperature"
[[block]]
task = "thermometer"
items = "items.csv"
scale = { labels = ["cold", "hot"] }
prompt = "How natural does this sound?"
"""
ITEMS = "item,function,sentence\nt1,test,The dog sleeps.\nt2,test,Sleeps the dog.\nf1,filler,Dogs sleep.\n"
WORDS = "Mark on the thermometer how natural it sounds to you."


@pytest.fixture
def thermometer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tasks: None) -> Iterator[Real]:
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "items.csv").write_text(ITEMS)
    (folder / "study.toml").write_text(STUDY)
    with (
        installed(tmp_path / "site", "thermometer", files_of("task.md"), monkeypatch),
        served(load(folder), tmp_path / "data") as real,
    ):
        yield real


@pytest.mark.slow
def test_it_is_answered_and_exported(thermometer: Real, browser: Any) -> None:
    page = browser.new_context(viewport={"width": 375, "height": 700}).new_page()
    page.set_default_timeout(120_000)
    complaints = Complaints()
    complaints.listen(page)
    scripts: list[Any] = []
    page.on("response", lambda response: response.url.endswith("/thermometer.js") and scripts.append(response))
    page.goto(f"http://127.0.0.1:{thermometer.port}/s/study/")
    page.get_by_role("button", name="Start").click()
    page.get_by_text(WORDS).wait_for()
    page.locator("main form button").first.click()
    degrees = []
    for number in range(3):
        settle(page)
        slider = page.get_by_role("slider")
        assert slider.get_attribute("aria-valuetext") == "not set"
        assert not page.get_by_role("button", name="Next").is_visible()
        if number == 0:
            assert not AXE.is_file() or violations(page) == []
            box = slider.bounding_box()
            page.mouse.click(box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2)
        else:
            slider.press("ArrowRight" if number == 1 else "Home")
        degrees.append(slider.get_attribute("aria-valuetext"))
        shown = page.locator(".sentence").inner_text()
        if number == 1:
            slider.press("Enter")
        else:
            page.get_by_role("button", name="Next").click()
        page.wait_for_function("text => document.querySelector('.sentence')?.innerText !== text", arg=shown)
    page.get_by_role("heading").first.wait_for()
    assert degrees[1:] == ["51 °", "0 °"]
    with thermometer.store.read() as connection:
        frame = export.judgments(connection, 1, thermometer.study).frame
    assert [f"{response} °" for response in frame.sort("trial")["response"]] == degrees
    assert 70 <= int(degrees[0].removesuffix(" °")) <= 90
    assert frame["rt"].is_between(0.15, 20).all()
    assert set(frame["pointer"]) == {"mouse", "key"}
    (script,) = {(one.url.partition("/s/")[2], one.headers["content-type"]) for one in scripts}
    assert script == ("study/task/thermometer.js", "text/javascript; charset=utf-8")
    assert not complaints
    page.context.close()
