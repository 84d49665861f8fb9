"""The page in a real browser: a file is dropped, a mapping corrected, the result seen and downloaded."""

from __future__ import annotations

import base64
import zipfile
from pathlib import Path
from typing import Any

import pytest

from door.opened import Opened
from field.browser import chromium, picture
from karat.study.init import write_study

AXE = Path(__file__).parents[2] / "src" / "karat" / "field" / "web" / "node_modules" / "axe-core" / "axe.min.js"
DROP = """([name, content]) => {
  const transfer = new DataTransfer();
  const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
  transfer.items.add(new File([bytes], name));
  const told = { dataTransfer: transfer, bubbles: true, cancelable: true };
  document.querySelector("#drop").dispatchEvent(new DragEvent("dragover", told));
  document.querySelector("#drop").dispatchEvent(new DragEvent("drop", told));
}"""
LONG = 90_000


def listening(page: Any) -> list[str]:
    """What the browser complains of, as it comes."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    return said


def violations(page: Any) -> list[str]:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: npm ci in src/karat/field/web")
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(path=str(AXE))
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]


def test_from_a_file_to_a_report(tmp_path: Path, results: bytes) -> None:
    with Opened(tmp_path) as opened, chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900}, accept_downloads=True)
        said = listening(page)
        page.goto(opened.address)
        page.wait_for_selector("#drop")
        page.wait_for_load_state("load")  # before that, nobody takes what is dropped
        picture(page, "open-door")
        page.evaluate(DROP, ["results.csv", base64.b64encode(results).decode()])
        page.wait_for_selector("#choices", timeout=LONG)
        assert "80 items" in page.inner_text(".told")
        assert page.input_value("#map-participant") == "workerId"
        picture(page, "open-door-columns")
        page.select_option("#map-item", "sentence")
        page.fill("#rest-1", "1-7")
        assert page.input_value("#kind-1") == "ordinal"
        page.click("[data-form=report]")
        page.wait_for_selector("#step", timeout=LONG)  # what it does is shown while it lasts
        page.wait_for_selector("#result", timeout=LONG)
        assert "all 8 participants stay" in page.inner_text("#result")
        assert "10 items" in page.inner_text(".told")
        assert page.input_value("#map-item") == "sentence"
        assert page.input_value("#rest-1") == "1-7"
        picture(page, "open-door-result")
        with page.expect_download() as coming:
            page.click("text=Download everything")
        path = tmp_path / coming.value.suggested_filename
        coming.value.save_as(path)
        assert "results-karat/report.html" in zipfile.ZipFile(path).namelist()
        with page.expect_popup() as opening:
            page.click("text=Open the report")
        report = opening.value
        complaints = listening(report)
        report.wait_for_selector("h1")
        assert "1, 2, 3, 4, 5, 6, 7" in report.inner_text("main")
        assert report.evaluate("origin") == "null"  # in a sandbox
        report.close()
        page.click("[data-send=keep]")
        page.wait_for_selector("#kept:has-text('Kept in')")
        assert (tmp_path / "kept" / "results" / "report.html").is_file()
        page.reload()
        page.wait_for_selector("#result")
        assert (said, complaints) == ([], [])
        page.close(run_before_unload=True)
        told = opened.end()  # nobody is left, so that it ends by itself
        assert told.splitlines()[-2:] == [
            f"kept       {tmp_path / 'kept' / 'results'}", "Closed. Everything else is deleted.",
        ]  # fmt: skip
        assert opened.folders == []


def test_it_is_accessible_to_all(tmp_path: Path, results: bytes) -> None:
    write_study(tmp_path / "study", "likert")
    study = [str(path) for path in sorted((tmp_path / "study").iterdir())]
    (tmp_path / "results.csv").write_bytes(results)
    (tmp_path / "bad.csv").write_bytes(b"participant,item,response\np1,a,1\n,b,2\n")
    found: dict[str, list[str]] = {}
    with Opened(tmp_path) as opened, chromium() as browser:
        # The policy of the page keeps the checker out, and is tested elsewhere.
        page = browser.new_context(bypass_csp=True, reduced_motion="reduce").new_page()
        page.goto(opened.address)
        page.wait_for_selector("#drop")
        home = page.url
        for name, files, ready in (
            ("home", [], "#drop"),
            ("results", str(tmp_path / "results.csv"), "#choices"),
            ("bad", str(tmp_path / "bad.csv"), ".failure"),
            ("study", study, "#check"),
        ):
            page.goto(home)
            if files:
                page.set_input_files("#files", files)
            page.wait_for_selector(ready, timeout=LONG)
            page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            for width, scheme in ((1280, "light"), (320, "dark")):
                page.set_viewport_size({"width": width, "height": 800})
                page.emulate_media(color_scheme=scheme)
                found[f"{name} {width}"] = violations(page)
                assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    assert not any(found.values()), found
