"""The studio in a real browser: from an empty folder to a report, and a grid that behaves like a spreadsheet."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from field.browser import chromium, picture
from karat.field.bots import Client, visit
from karat.field.bots.behaviour import crowd
from karat.field.bots.walk import Way, known_answers
from karat.study.init import write_study
from karat.study.study import load
from studio.opened import Opened
from studio.test_browser import LONG, listening, violations

pytestmark = pytest.mark.browser

NAMES = "Ann Ben Cleo Dan Eva Finn Gwen Hal Ida Jon Kim Leo Mia Ned Ola Pia Quin Ron Sue Tom Uma Vic Wes Zoe"
DEEDS = """sold the car/burnt the rice/lost the key/fixed the bike/found the book/cut the cake/drew the map
sent the letter/cleaned the floor/moved the table/baked the bread/hid the coin/broke the vase/wrote the poem
sang the song/built the wall/bought the lamp/ate the soup/drank the tea/wore the coat/threw the ball/stole the ring
painted the fence/folded the shirt"""


def sheet() -> str:
    """24 sets in four conditions, as a spreadsheet puts them on the clipboard."""
    names, deeds = NAMES.split(), DEEDS.replace("\n", "/").split("/")
    rows = ["item\tthat short\tthat long\twhether short\twhether long"]
    for number, (who, deed, other) in enumerate(zip(names, deeds, [*names[7:], *names[:7]], strict=True), start=1):
        verb = deed.split()[0]
        rows.append(
            f"{number}\tWho thinks that {who} {deed}?\tWhat does {other} think that {who} {verb}?\t"
            f"Who wonders whether {who} {deed}?\tWhat does {other} wonder whether {who} {verb}?"
        )
    return "\n".join(rows) + "\n"


PASTE = """(text) => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
  document.querySelector("[role=grid]").dispatchEvent(event);
}"""


def go(page: Any, tab: str) -> None:
    page.click(f".study-tabs a[href$='/{tab}']")
    page.wait_for_selector(f"#work[data-page={tab}]")
    page.wait_for_load_state("load")


def until(page: Any, expression: str) -> None:
    """Wait until an expression is true; the policy of the page forbids playwright's own way."""
    end = time.monotonic() + LONG / 1000
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(50)


def saved(page: Any) -> None:
    page.click("#save")
    page.wait_for_selector("#save:disabled", timeout=LONG)


def made(page: Any, opened: Opened) -> Path:
    """A study of a pasted sheet."""
    page.wait_for_load_state("load")
    page.fill("#new-name", "Whether islands")
    page.fill("#paste", sheet())
    page.wait_for_selector("#sheet-factors:visible", timeout=LONG)
    assert page.inner_text("#sheet-read").count("; ") == 3  # names of conditions may have commas
    page.click("#new-study button[type=submit]")
    page.wait_for_selector("#work[data-checked]", timeout=LONG)
    folder: Path = opened.studies / "whether-islands"
    return folder


@pytest.mark.slow
def test_from_an_empty_folder_to_a_report(tmp_path: Path) -> None:
    with Opened(tmp_path) as opened, chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        said = listening(page)
        page.goto(opened.address)
        page.wait_for_selector("#new-study")
        home = page.url
        folder = made(page, opened)
        picture(page, "studio-design")
        page.click("[data-add=contrast]")
        row = page.locator(".contrast").last
        row.locator("input[type=text]").fill("island effect")
        for box in row.locator("input[type=checkbox]").all():
            box.check()
        assert row.locator(".kind").inner_text() == "interaction"
        # Two findings to fix: a question without an end, and no way back to the platform.
        page.fill('[data-path=\'["block", 0, "scale", "points"]\']', "9")
        page.wait_for_selector(".field.invalid:has([id$=scale-labels])", timeout=LONG)
        page.fill('[data-path=\'["block", 0, "scale", "points"]\']', "5")
        until(page, "!document.querySelector('.field.invalid')")
        page.select_option('[data-path=\'["recruitment", "platform"]\']', "link")
        until(page, "!document.querySelector('#found').textContent.includes('completion-code')")
        saved(page)
        study = load(folder)
        assert [list(one.factors) for one in study.settings.contrast][-1] == ["complementizer", "length"]
        assert "# a break after every 30 trials" in study.path.read_text(encoding="utf-8")

        # Somebody else works on the same folder with the command line and an editor.
        text = study.path.read_text(encoding="utf-8")
        study.path.write_text(text.replace('title    = "Whether islands"', 'title    = "Bridges"'), encoding="utf-8")
        page.wait_for_selector("#study-title:has-text('Bridges')", timeout=LONG)
        page.wait_for_selector("#work[data-checked]", timeout=LONG)

        go(page, "items")
        page.wait_for_selector("#grid[data-ready]")
        page.focus("[role=grid]")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Delete")
        page.wait_for_selector("#work[data-errors='1']", timeout=LONG)
        assert "is empty" in page.inner_text(".body-row.bad .check-cell")
        picture(page, "studio-items")
        page.keyboard.press("Control+z")
        page.wait_for_selector("#work[data-errors='0']", timeout=LONG)
        assert page.is_disabled("#save")

        go(page, "preview")
        frame = page.frame_locator("iframe")
        frame.locator("button[type=submit], .button").first.wait_for(timeout=LONG)

        go(page, "rehearse")
        page.click("[data-form-act] button")
        page.wait_for_selector("#rehearsed", timeout=LONG)
        assert "30 bots" in page.inner_text("#rehearsed")
        assert page.locator("#rehearsed li strong").count() == page.locator("#rehearsed li").count()
        assert page.get_attribute("#rehearsed", "class") == "notice good"

        go(page, "run")
        page.click("[data-act='run/start']")
        page.wait_for_selector("#participant-link", timeout=LONG)
        link = page.get_attribute("#participant-link", "href")
        with page.expect_popup() as opening:
            page.click("#participant-link")
        opening.value.wait_for_selector("button")
        opening.value.close()
        take_part(str(link), folder)
        go(page, "design")
        assert page.is_disabled("[data-screening] input >> nth=0")
        go(page, "run")
        page.click("text=Close the study")  # the question is not answered
        assert page.inner_text("#run-state") == "running"
        page.once("dialog", lambda asked: asked.accept())
        page.click("text=Close the study")
        page.wait_for_selector("#run-state:has-text('closed')", timeout=LONG)
        page.click("[data-act='run/stop']")
        page.wait_for_selector("[data-act='run/start']", timeout=LONG)

        go(page, "results")
        page.click("[data-act=results]")
        page.wait_for_selector("#choices", timeout=LONG)
        page.click("[data-form=report]")
        page.wait_for_selector("#result", timeout=LONG)
        page.click("[data-send=keep]")
        page.wait_for_selector("#kept:has-text('Kept in')")
        (report,) = (folder / "results").glob("*/report.html")
        assert "island effect" in report.read_text(encoding="utf-8")
        page.goto(home)
        assert page.inner_text(".projects .state") == "reported"
        done = subprocess.run([sys.executable, "-m", "karat", "check", str(folder)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
        assert said == []


def take_part(link: str, folder: Path) -> None:
    """Twelve bots answer the study over HTTP."""
    found = re.fullmatch(r"(http://[^/]+)/s/([^/]+)/", link)
    assert found is not None
    address, slug = found.groups()
    study = load(folder)

    async def everybody() -> None:
        for number, bot in enumerate(crowd(study, ["attentive"] * 12)):
            client = Client(address)
            try:
                await visit(client, Way(slug, {"pid": f"p{number}"}, known_answers(study, number), speed=0.0), bot)
            finally:
                await client.close()

    # playwright has a loop of its own in this thread
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, everybody()).result()


@pytest.mark.slow
def test_other_tools_results_become_a_published_study(tmp_path: Path) -> None:
    with Opened(tmp_path) as opened, chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        said = listening(page)
        page.goto(opened.address)
        page.wait_for_selector("#new-study")
        page.wait_for_load_state("load")
        page.check("input[name=source][value=results]")
        page.set_input_files("#result-files", str(old_results(tmp_path / "pilot.csv")))
        page.wait_for_selector("#make-study", timeout=LONG)
        assert page.input_value("[data-factor] >> nth=0") == "complementizer"
        picture(page, "studio-from-results", {"width": 1100, "height": 760})
        page.fill("#study-name", "Whether islands")
        page.click("#make-study button[type=submit]")
        page.wait_for_selector("#work[data-checked]", timeout=LONG)
        study = load(opened.studies / "whether-islands")
        assert (study.lists, study.settings.block[0].scale.points) == (4, 7)
        page.evaluate("document.querySelector('#h-order').scrollIntoView()")
        picture(page, "studio-order", {"width": 1280, "height": 620})

        go(page, "preview")
        page.fill("#trial-number", "14")
        page.click("text=Show it")
        page.frame_locator("iframe").locator("#trials").wait_for(timeout=LONG)
        page.frame_locator("iframe").locator("[role=radiogroup], input, button").first.wait_for(timeout=LONG)
        assert page.input_value("#trial-number") == "14"
        page.evaluate("scrollTo(0, 0)")
        picture(page, "studio-trial", {"width": 1100, "height": 1140})

        go(page, "rehearse")
        page.click("#power-form button")
        page.wait_for_selector("#power", timeout=LONG)
        slider = page.locator("#power input[type=range]")
        slider.focus()
        page.keyboard.press("Home")
        for _ in range(6):
            page.keyboard.press("ArrowRight")
        assert slider.input_value() == "6"
        page.evaluate("document.activeElement.blur()")
        page.evaluate("document.querySelector('#h-power').scrollIntoView()")
        picture(page, "studio-power", {"width": 1100, "height": 900})

        go(page, "run")
        page.click("text=Publish the study")
        page.fill("#server-address", "study.example.org")
        page.click("#publish-form button")
        page.wait_for_selector("#server-password", timeout=LONG)
        page.evaluate("document.querySelector('#server-password').textContent = '…'")
        page.evaluate("document.querySelector('section code').textContent = 'studies/whether-islands/for-the-server'")
        picture(page, "studio-publish", {"width": 1280, "height": 820})
        go(page, "run")
        assert "https://study.example.org/s/whether-islands/" in page.inner_text("pre >> nth=0")
        page.evaluate("document.querySelector('#text-prolific').scrollIntoView({ block: 'center' })")
        picture(page, "studio-texts", {"width": 1100, "height": 620})

        page.click("[data-act='run/start']")
        page.wait_for_selector("#participant-link", timeout=LONG)
        page.click("[data-act='run/dashboard']")
        dashboard = page.frame_locator("iframe")
        dashboard.locator("h2 a").first.click(timeout=LONG)
        dashboard.locator("[data-live]").wait_for(timeout=LONG)
        assert "0 of 36 eligible" in dashboard.locator("main").inner_text()
        picture(page, "studio-dashboard", {"width": 1280, "height": 620})
        page.click("[data-act='dashboard/leave']")
        page.wait_for_selector("#dashboard-address", timeout=LONG)
        assert said == []


def old_results(path: Path) -> Path:
    """Results of a pilot with another tool: 24 items in four conditions, each participant one condition of each."""
    names, rows = sheet().splitlines()[0].split("\t")[1:], [line.split("\t") for line in sheet().splitlines()[1:]]
    lines = ["subject,item,condition,sentence,rating"]
    for who in range(8):
        for place, (item, *sentences) in enumerate(rows):
            cell = (who + place) % 4
            lines.append(f"s{who},{item},{names[cell]},{sentences[cell]},{(3 * who + place) % 7 + 1}")
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_change_by_others_is_told_from_a_save(tmp_path: Path) -> None:
    with Opened(tmp_path) as opened, chromium() as browser:
        write_study(opened.studies / "likert", "likert")
        file = opened.studies / "likert" / "study.toml"
        title = load(file).title
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        said = listening(page)
        page.goto(opened.address)
        page.wait_for_load_state("load")

        # The file changes after the page was made, and before it looks for the first time.
        def change(route: Any) -> None:
            file.write_text(file.read_text(encoding="utf-8").replace(title, "Bridges"), encoding="utf-8")
            route.continue_()

        page.route("**/state", change, times=1)
        page.click(".project")
        page.wait_for_selector("#study-title:has-text('Bridges')", timeout=LONG)
        page.wait_for_selector("#work[data-checked]", timeout=LONG)

        # Somebody types on while the answer to a save is on its way.
        def type_on(route: Any) -> None:
            answer = route.fetch()
            page.fill("#f-public_title", "How bridges sound")
            page.fill("#f-title", "Old bridges")
            page.evaluate("dispatchEvent(new Event('focus'))")
            page.wait_for_timeout(500)
            route.fulfill(response=answer)

        page.route("**/save", type_on, times=1)
        page.fill("#f-title", "New bridges")
        with page.expect_response("**/save"):
            page.click("#save")
        until(page, "!document.querySelector('#save').disabled")
        assert not page.is_visible("#outside")
        assert load(file).title == "New bridges"
        page.keyboard.press("Control+s")
        page.keyboard.press("Control+s")
        page.wait_for_selector("#study-title:has-text('Old bridges')", timeout=LONG)
        assert not page.is_visible("#conflict")
        settings = load(file).settings
        assert (settings.title, settings.public_title) == ("Old bridges", "How bridges sound")
        assert said == []


@pytest.mark.slow
def test_the_grid_keeps_every_key_of_a_long_table(tmp_path: Path) -> None:
    with Opened(tmp_path) as opened, chromium() as browser:
        write_study(opened.studies / "large", "yes-no")
        items = opened.studies / "large" / "items.csv"
        header, *rows = items.read_text(encoding="utf-8").splitlines()
        many = [re.sub("^[^,]*", f"t{n:05}", rows[n % 2]) for n in range(5000)]
        items.write_text("\n".join([header, *many]) + "\n", encoding="utf-8")
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        said = listening(page)
        page.goto(opened.address)
        page.click(".project")
        page.wait_for_selector("#design")
        go(page, "items")
        page.wait_for_selector("#grid[data-ready]", timeout=LONG)
        assert page.get_attribute("[role=grid]", "aria-rowcount") == "5001"
        assert page.locator("[role=row]").count() < 80
        page.focus("[role=grid]")
        page.keyboard.press("Control+End")
        page.wait_for_selector("#active-cell")
        assert page.locator("#active-cell").get_attribute("data-r") == "4999"
        page.keyboard.press("Control+Home")
        page.evaluate(PASTE, "\n".join("\t".join(f"c{r}-{c}" for c in range(8)) for r in range(1000)))
        until(page, "karatGrid.at.r === 999")
        page.keyboard.press("Control+Home")
        typed = "Every key that somebody types is kept."
        page.keyboard.type(typed)
        page.keyboard.press("Enter")
        assert page.evaluate("karatGrid.rows[0].cells[0]") == typed
        page.keyboard.press("Control+z")
        page.keyboard.press("Control+z")
        assert page.evaluate("karatGrid.rows[999].cells[0]") == "t00999"
        page.keyboard.press("Control+y")
        assert page.evaluate("karatGrid.rows[999].cells[0]") == "c999-0"
        page.keyboard.press("Control+z")
        page.keyboard.press("Control+f")
        page.fill("#find-text", "t049")
        page.fill("#replace-text", "u049")
        page.click("[data-do=replace-all]")
        assert page.inner_text("#find-said") == "100 cells changed."
        saved(page)
        text = items.read_text(encoding="utf-8")
        assert (text.count("\nu049"), text.count("\n")) == (100, 5001)
        assert said == []


@pytest.mark.slow
def test_the_studio_is_accessible(tmp_path: Path) -> None:
    found: dict[str, list[str]] = {}
    with Opened(tmp_path) as opened, chromium() as browser:
        write_study(opened.studies / "likert", "likert")
        page = browser.new_context(bypass_csp=True, reduced_motion="reduce").new_page()
        page.goto(opened.address)
        page.wait_for_selector("#new-study")
        home = page.url
        page.click(".project")
        page.wait_for_selector("#design")
        start = page.url.removesuffix("design")
        outside = {"home": home, "dashboard": f"{home}dashboard"}
        for name in (*outside, "design", "items", "preview", "rehearse", "run", "results", "history"):
            page.goto(outside.get(name, f"{start}{name}"))
            page.wait_for_load_state("load")
            if name in ("design", "items"):
                page.wait_for_selector("#work[data-checked]", timeout=LONG)
            page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            for width, scheme in ((1280, "light"), (768, "dark"), (390, "light")):
                page.set_viewport_size({"width": width, "height": 800})
                page.emulate_media(color_scheme=scheme)
                found[f"{name} {width} {scheme}"] = violations(page)
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
    assert not any(found.values()), found
