"""The page in a real browser: a file is dropped, a mapping corrected, the result seen and downloaded."""

from __future__ import annotations

import base64
import shutil
import zipfile
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from field.browser import chromium, picture
from intake.cases import CASES, FIXTURES
from karat.study.init import write_study
from studio.opened import Opened

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[2] / "src" / "karat" / "field" / "web" / "node_modules" / "axe-core" / "axe.min.js"
DROP = """(files) => {
  const transfer = new DataTransfer();
  for (const [name, content] of files) {
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    transfer.items.add(new File([bytes], name));
  }
  const options = { dataTransfer: transfer, bubbles: true, cancelable: true };
  document.querySelector("#drop").dispatchEvent(new DragEvent("dragover", options));
  document.querySelector("#drop").dispatchEvent(new DragEvent("drop", options));
}"""
LONG = 300_000
MAPPED = "Object.fromEntries([...document.querySelectorAll('[data-map]')].map((one) => [one.dataset.map, one.value]))"
RANGES = "worker,sentence,low,high,rating,time,kind\n" + "".join(
    f"w{person},s{item},{item},{item + 1},{item + person % 2},{900 + 70 * item + person},test\n"
    for person in range(4) for item in (1, 2, 3, 4)
)  # fmt: skip


def drop(page: Any, files: dict[str, bytes], ready: str = "#choices") -> None:
    """Drop files on the page and wait for what comes of them."""
    page.wait_for_load_state("load")  # before that, nobody takes what is dropped
    page.evaluate(DROP, [[name, base64.b64encode(content).decode()] for name, content in files.items()])
    page.wait_for_selector(ready, timeout=LONG)


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


@pytest.mark.slow
def test_from_a_file_to_a_report(tmp_path: Path, results: bytes) -> None:
    with Opened(tmp_path) as opened, chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900}, accept_downloads=True)
        said = listening(page)
        page.goto(opened.address)
        page.wait_for_selector("#drop")
        plain = "folder => { document.body.innerHTML = document.body.innerHTML.replaceAll(folder, '~/studies') }"
        page.evaluate(plain, str(opened.studies))
        picture(page, "browser-app")
        page.reload()
        page.wait_for_selector("#drop")
        drop(page, {"results.csv": results})
        assert "10 items" in page.inner_text(".told")
        assert page.input_value("#map-participant") == "workerId"
        picture(page, "browser-app-columns")
        page.select_option("#map-item", "item")
        page.fill("#rest-1", "1-7")
        assert page.input_value("#kind-1") == "ordinal"
        page.click("[data-form=report]")
        page.wait_for_selector("#step", timeout=LONG)  # what it does is shown while it lasts
        page.wait_for_selector("#result", timeout=LONG)
        assert "all 8 participants stay" in page.inner_text("#result")
        assert "80 items" in page.inner_text(".told")
        assert page.input_value("#map-item") == "item"
        assert page.input_value("#rest-1") == "1-7"
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
        assert "1, 2, 3, 4, 5, 6, 7" in report.text_content("main")
        assert report.evaluate("origin") == "null"  # in a sandbox
        report.close()
        page.click("details:has(.people) summary")
        with page.expect_popup() as opening:
            page.click(".people a >> nth=1")
        played = opening.value
        played.wait_for_selector("#playback[open] tbody tr")
        assert played.inner_text("#playback h2") == page.inner_text(".people a >> nth=1")
        assert played.locator("#playback tbody tr").count() == 10
        played.close()
        page.click("[data-send=keep]")
        page.wait_for_selector("#kept:has-text('Kept in')")
        assert (tmp_path / "kept" / "results" / "report.html").is_file()
        page.reload()
        page.wait_for_selector("#result")
        assert (said, complaints) == ([], [])
        page.close(run_before_unload=True)
        result = opened.end()  # nobody is left, so that it ends by itself
        assert result.splitlines()[-2] == f"kept       {tmp_path / 'kept' / 'results'}"
        assert result.splitlines()[-1].startswith("Closed. Other dropped files are deleted.")
        assert opened.folders == []


@pytest.mark.slow
def test_questions_come_first_and_are_answered(tmp_path: Path, crossed: bytes) -> None:
    with Opened(tmp_path) as opened, chromium() as browser:
        page = browser.new_context(bypass_csp=True, viewport={"width": 1280, "height": 900}).new_page()
        said = listening(page)
        page.goto(opened.address)
        page.wait_for_selector("#drop")
        drop(page, {"results.csv": crossed}, "#questions")
        assert page.locator("[data-asked]").count() == 2
        assert (
            page.locator("[data-asked=item] input:checked").get_attribute("data-mapping") == '{"item": "verb+content"}'
        )
        assert violations(page) == []
        page.set_viewport_size({"width": 390, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.select_option("[data-asked=item] [data-column]", "content")
        assert page.locator("[data-asked=item] [data-other]").is_checked()
        page.locator("[data-asked=item] input").first.check()
        page.keyboard.press("Enter")
        page.wait_for_selector("#choices", timeout=LONG)
        assert "9 participants, 12 items, 108 answers" in page.inner_text(".told")
        assert page.input_value("#map-item") == "verb+content"
        assert said == []


@pytest.mark.slow
def test_a_mapping_is_changed_and_two_columns_become_a_range(tmp_path: Path) -> None:
    with Opened(tmp_path) as opened, chromium() as browser:
        page = browser.new_page()
        said = listening(page)
        page.goto(opened.address)
        page.wait_for_selector("#drop")
        drop(page, {"ranges.csv": RANGES.encode()})
        guessed = {name: column for name, column in page.evaluate(MAPPED).items() if column}
        assert guessed == {"participant": "worker", "item": "sentence", "response": "rating", "rt": "time"}
        page.select_option("#map-expected", "low")
        page.select_option("#upto-expected", "high")
        page.select_option("#map-function", "kind")
        page.click("[data-form=look]")
        page.wait_for_selector("td:has-text('1-2')", state="attached", timeout=LONG)
        assert page.input_value("#map-expected") == "low"
        assert page.input_value("#upto-expected") == "high"
        command = "karat report ranges.csv --map function=kind --map expected=low..high"
        assert page.text_content("pre code") == command
        page.select_option("#upto-expected", "")
        page.click("[data-form=look]")
        page.wait_for_selector("td:has-text('1-2')", state="detached", timeout=LONG)
        page.wait_for_selector("#choices", timeout=LONG)
        assert str(page.text_content("pre code")).endswith("--map expected=low")
        assert said == []


@pytest.mark.slow
def test_several_files_broken_ones_and_a_study(tmp_path: Path) -> None:
    good = {
        "first.csv": b"participant,item,response\np1,a,1\np1,b,5\n",
        "second.csv": b"subject,sentence,rating\np3,a,2\n",
    }
    broken = b"participant,item,response,rt\np1,a,1,1200\n,b,2,900\np2,a,2,soon\np2,b\n"
    write_study(tmp_path / "study", "likert")
    study = {path.name: path.read_bytes() for path in (tmp_path / "study").iterdir()}
    with Opened(tmp_path) as opened, chromium() as browser:
        page = browser.new_page()
        said = listening(page)
        page.goto(opened.address)
        page.wait_for_selector("#drop")
        home = page.url
        drop(page, good)
        assert "2 participants, 2 items, 3 answers" in page.inner_text(".told")
        page.goto(home)
        drop(page, {**good, "broken.csv": broken}, ".failure")
        output = page.inner_text(".failure")
        for sentence in (
            "broken.csv, line 3, participant: is empty. Fill the cell.",
            'broken.csv, line 4, rt: "soon" is not a number. Write seconds with a decimal point,',
            "broken.csv, line 5: the row has 2 cells where the header has 4. Fix the row,",
        ):
            assert sentence in output
        page.check("[data-choice=skip_bad]")
        page.click("[data-form=look]")
        page.wait_for_selector(".told", timeout=LONG)
        assert "2 participants, 2 items, 4 answers" in page.inner_text(".told")
        assert "3 of 7 rows could not be read" in str(page.text_content(".notes"))
        page.goto(home)
        drop(page, study, "#check")
        assert "1 warning." in page.inner_text("#check")
        page.goto(home)
        page.set_input_files("#files", [twin(tmp_path / "a"), twin(tmp_path / "b")])
        page.wait_for_selector("#problem:visible")
        assert (
            page.inner_text("#problem") == "Two of these files are called twin.csv. Drop their folders, or rename one."
        )
        assert said == []
        page.close(run_before_unload=True)
        assert opened.end().splitlines()[-1].startswith("Closed. Dropped files are deleted.")
        assert opened.folders == []


def twin(folder: Path) -> str:
    """A file that has the name of another."""
    folder.mkdir()
    (folder / "twin.csv").write_text("participant,item,response\np1,a,1\n")
    return str(folder / "twin.csv")


@pytest.mark.slow
def test_every_format_in_the_browser(tmp_path: Path) -> None:
    found: dict[str, tuple[bool, bool]] = {}
    with Opened(tmp_path) as opened, chromium() as browser:
        page = browser.new_page()
        said = listening(page)
        page.goto(opened.address)
        page.wait_for_selector("#drop")
        home = page.url
        for case in (case for case in CASES if not case.flags):  # what needs options is asked about
            folder = tmp_path / "results" / case.name
            shutil.copytree(FIXTURES / case.name, folder, ignore=shutil.ignore_patterns("case.toml"))
            page.goto(home)
            page.wait_for_load_state("load")
            page.set_input_files("#folder", str(folder))
            page.wait_for_selector("#choices", timeout=LONG)
            mapped, output = page.evaluate(MAPPED), page.text_content("#choices")
            needed = all(mapped[name] for name in ("participant", "item", "response"))
            # Trials without an answer are judgments, and none of the answers that the page counts.
            answers = case.read().judgments.frame["response"].drop_nulls().len()
            found[case.name] = needed, f"{answers:,} answer" in str(output)
        assert said == []
    assert found == dict.fromkeys(found, (True, True))


@pytest.mark.slow
def test_it_is_accessible_to_all(tmp_path: Path, results: bytes) -> None:
    write_study(tmp_path / "study", "likert")
    file = tmp_path / "study" / "study.toml"
    file.write_text(file.read_text(encoding="utf-8").replace("13.00", "9.00"), encoding="utf-8")  # something to fix
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
            ("report", str(tmp_path / "results.csv"), "#choices"),
            ("bad", str(tmp_path / "bad.csv"), ".failure"),
            ("study", study, "#check"),
        ):
            page.goto(home)
            if files:
                page.set_input_files("#files", files)
            page.wait_for_selector(ready, timeout=LONG)
            if name == "study":
                page.emulate_media(color_scheme="light")
                picture(page, "browser-app-check", {"width": 1100, "height": 560})
            if name == "report":
                page.click("[data-form=report]")
                page.wait_for_selector("#result", timeout=LONG)
            page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            for width, scheme in product((1280, 320), ("light", "dark")):
                page.set_viewport_size({"width": width, "height": 800})
                page.emulate_media(color_scheme=scheme)
                found[f"{name} {width} {scheme}"] = violations(page)
                assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    assert not any(found.values()), found
