"""How pages lie on a screen: what a pointer that rests shows, what fits on a small phone, what stands apart."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import pytest

from field.browser import picture, taken
from field.server.conftest import write
from field.web.real import served
from field.web.samples import SCALES, TASKS, options, runs, scale, settle, trial
from field.web.stub import Stub
from karat.field.content.texts import words
from karat.study.init import write_study
from karat.study.study import load

pytestmark = [pytest.mark.browser, pytest.mark.slow]

Serve = Callable[..., Stub]
Visit = Callable[..., Any]
BORDERS = """
const shown = (mark) => getComputedStyle(mark.closest(".option") ?? mark).borderTopColor;
return [...document.querySelectorAll(".point .mark, .option .mark")].map(shown);
"""
SMALL = {"width": 320, "height": 568}
TO_PROLIFIC = '[recruitment]\nplatform = "prolific"\ncompletion_code = "C1ABCDEF"\n'


def borders(page: Any) -> list[str]:
    colours: list[str] = page.evaluate(f"() => {{ {BORDERS} }}")
    return colours


@pytest.mark.parametrize("kind", ["likert", "yes-no"])
def test_a_pointer_that_rests_does_not_show_the_answer_before(kind: str, serve: Serve, visit: Visit) -> None:
    page = visit(serve([trial("t1", kind), trial("t2", kind)]))
    settle(page)
    page.mouse.move(10, 10)
    place = page.get_by_role("radio").nth(1).bounding_box()
    page.mouse.move(place["x"] + 20, place["y"] + 20)
    assert len(set(borders(page))) == 2  # what is under a pointer that moves is marked
    page.mouse.down()
    page.mouse.up()
    page.locator("input:checked").wait_for(state="detached")
    settle(page)
    assert len(set(borders(page))) == 1
    page.mouse.move(place["x"] + 22, place["y"] + 20)
    assert len(set(borders(page))) == 2


def in_letters(page: Any, family: str, percent: int) -> None:
    """Show a page in the fonts of a family; where they are not installed, in DejaVu, which comes with matplotlib."""
    shipped = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    for kind, variable in (("Sans", "--interface"), ("Serif", "--book")):
        name, data = f"{family} {kind}", b64encode((shipped / f"DejaVu{kind}.ttf").read_bytes()).decode()
        source = f'local("{name}"), local("{name} Regular"), url("data:font/ttf;base64,{data}")'
        page.add_style_tag(
            content=f"@font-face {{ font-family: of-the-test-{kind}; src: {source}; size-adjust: {percent}%; }}"
            f":root {{ {variable}: of-the-test-{kind}; }}"
        )
        assert page.evaluate(f"async () => (await document.fonts.load('1rem of-the-test-{kind}')).length") == 1


def heights(page: Any, targets: str) -> tuple[float, list[float]]:
    """How high a page is, and its targets for thumbs."""
    whole: float = page.evaluate("document.documentElement.scrollHeight")
    return whole, [one.bounding_box()["height"] for one in page.locator(targets).all()]


def test_a_trial_fits_on_a_small_phone(serve: Serve, visit: Visit) -> None:
    page = visit(serve([trial("t1", "labelled")]), viewport=SMALL)
    settle(page)
    whole, targets = heights(page, ".point, .foot a")
    assert whole <= SMALL["height"]
    assert len(targets) == 6
    assert min(targets) >= 44


@pytest.mark.parametrize("percent", [100, 112])
@pytest.mark.parametrize("family", ["DejaVu", "Liberation", "Noto"])
def test_a_trial_fits_on_a_small_phone_in_any_font(family: str, percent: int, serve: Serve, visit: Visit) -> None:
    page = visit(serve([trial("t1", "labelled")]), viewport=SMALL, bypass_csp=True)
    settle(page)
    in_letters(page, family, percent)
    whole, targets = heights(page, ".point, .foot a")
    assert whole <= SMALL["height"]
    assert min(targets) >= 44


@pytest.mark.parametrize("kind", TASKS)
def test_every_task_fits_on_a_small_phone_in_wide_letters(kind: str, serve: Serve, visit: Visit) -> None:
    page = visit(serve([trial("t1", kind)]), viewport=SMALL, bypass_csp=True, has_touch=True, is_mobile=True)
    settle(page)
    in_letters(page, "DejaVu", 112)
    whole, targets = heights(page, ".point, input[type=radio], .slider, .number, .actions .button:visible, .foot a")
    assert whole <= SMALL["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= SMALL["width"]
    assert len(targets) > 1
    assert min(targets) >= 44


def test_being_offline_hides_nothing(serve: Serve, visit: Visit) -> None:
    trials = [trial(f"t{number}", "labelled") for number in (1, 2, 3)]
    page = visit(serve(trials), viewport=SMALL, complain=False, has_touch=True, is_mobile=True)
    settle(page)
    page.context.set_offline(True)
    page.locator(".point").last.tap()
    line = page.locator(".state-line.shown")
    line.wait_for(timeout=20_000)
    end = line.evaluate("line => line.getBoundingClientRect().bottom")
    tops = [one.bounding_box()["y"] for one in page.locator(".stimulus, .point").all()]
    assert len(tops) == 6
    assert min(tops) >= end


def test_long_words_are_broken_on_a_small_phone(serve: Serve, visit: Visit) -> None:
    long = {"text": runs(f"Die {'Donaudampfschifffahrts' * 3}gesellschaft fährt."), "gloss": None, "image": None}
    page = visit(serve([trial("t1", "choice", stimuli=[long, long])]), viewport=SMALL)
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= SMALL["width"]


def test_the_label_of_an_option_is_not_broken_on_a_desk(serve: Serve, visit: Visit) -> None:
    stub = serve([trial("t1", "label")])
    names = ("Gleichzeitigkeit", "Gegensatz", "Grund")
    stub.scales = {**SCALES, "label": scale("options", options(*zip(names, names, strict=True)))}
    page = visit(stub)
    settle(page)
    assert len({label.bounding_box()["height"] for label in page.locator(".option-label").all()}) == 1


@pytest.mark.parametrize(("words", "stays"), [("The battery is full.", True), ("A longer text. " * 20, False)])
def test_a_short_sentence_stays_beside_its_pairs(words: str, stays: bool, serve: Serve, visit: Visit) -> None:
    pairs = [{"id": f"q{n}", "left": runs("cold"), "right": runs("warm")} for n in range(1, 16)]
    stimulus = {"text": runs(words), "gloss": None, "image": None}
    page = visit(serve([trial("t1", "differential", questions=pairs, stimuli=[stimulus])]), viewport=SMALL)
    settle(page)
    page.get_by_role("radio").last.check(force=True)
    top = page.locator("#stimulus").evaluate("sentence => sentence.getBoundingClientRect().top")
    assert (top >= 0) is stays
    assert page.get_by_role("radio").last.evaluate("one => one.getBoundingClientRect().top") > 100


def test_texts_stand_apart_from_the_buttons_of_the_last_page(browser: Any, tmp_path: Path) -> None:
    study = write(tmp_path / "study", TO_PROLIFIC, items="item,function,sentence\nt1,test,The dog sleeps.\n")
    with served(study, tmp_path) as real:
        page = browser.new_page(viewport={"width": 375, "height": 812})
        page.set_default_timeout(120_000)
        page.goto(f"http://127.0.0.1:{real.port}/s/study/?PROLIFIC_PID={'5f' * 12}")
        page.get_by_role("button", name="Start").click()
        page.get_by_role("button", name="Continue").click()
        settle(page)
        page.get_by_role("radio").nth(1).click()
        page.get_by_role("button", name="Continue").click()
        page.get_by_role("link", name="Return to Prolific").wait_for()
        below = {
            row.inner_text(): row.evaluate(
                "row => row.nextElementSibling.getBoundingClientRect().top - row.getBoundingClientRect().bottom"
            )
            for row in page.locator(".actions").all()
        }
        page.close()
    assert set(below) == {"Copy", "Return to Prolific"}
    assert min(below.values()) >= 16


HEBREW = """
title = "סדר המילים"
language = "he"
[[block]]
task = "likert"
items = "items.csv"
prompt = "עד כמה המשפט נשמע טבעי?"
scale = { labels = ["לא טבעי", "טבעי"] }
"""


def test_hebrew_runs_from_right_to_left(browser: Any, tmp_path: Path) -> None:
    """Points and words begin on the right."""
    study = write(tmp_path / "study", HEBREW, "", items="item,function,sentence\nt1,test,הילד אכל את התפוח.\n")
    own = words("he")
    with served(study, tmp_path) as real:
        page = browser.new_page(viewport={"width": 900, "height": 700})
        page.set_default_timeout(120_000)
        page.goto(f"http://127.0.0.1:{real.port}/s/study/")
        page.get_by_role("button", name=own["landing.begin"]).click()
        page.get_by_role("button", name=own["page.continue"]).click()
        settle(page)
        assert page.locator("html").get_attribute("dir") == "rtl"
        assert page.locator("html").get_attribute("lang") == "he"
        lefts = [point.bounding_box()["x"] for point in page.get_by_role("radio").all()]
        assert lefts == sorted(lefts, reverse=True)
        ends = page.locator(".ends > *").all()
        assert [one.inner_text() for one in ends] == ["לא טבעי", "טבעי"]
        assert ends[0].bounding_box()["x"] > ends[1].bounding_box()["x"]
        picture(page, "field-hebrew-desk")
        page.close()


QUESTIONS = "".join(
    f'[[background]]\nname = "{name}"\nquestion = "What about {name}?"\nanswers = {answers}\nrequired = {required}\n'
    for name, answers, required in (
        ("language", [f"language {number}" for number in range(9)], "true"),
        ("gender", ["woman", "man", "prefer not to say"], "true"),
        ("glasses", ["yes", "no"], "false"),
        ("region", [f"region {number}" for number in range(8)], "true"),
    )
)


@pytest.mark.parametrize("width", [390, 1280])
def test_background_questions_are_short_pages_on_a_phone(width: int, browser: Any, tmp_path: Path) -> None:
    """One page each for the long questions and one for the two short ones; on a wide screen, all on one page."""
    study = write(tmp_path / "study", QUESTIONS, items="item,function,sentence\nt1,test,The dog sleeps.\n")
    with served(study, tmp_path) as real:
        page = browser.new_page(viewport={"width": width, "height": 844})
        page.set_default_timeout(120_000)
        sent: list[str] = []
        page.on("request", lambda request: request.method == "POST" and sent.append(request.post_data or ""))
        page.goto(f"http://127.0.0.1:{real.port}/s/study/")
        page.get_by_role("button", name="Start").click()
        page.get_by_text("What about language?").wait_for()
        sent.clear()
        shown = []
        onward = page.get_by_role("button", name="Continue")
        if width == 390:
            page.get_by_text("1 of 3").wait_for()
            onward.click()
            assert page.locator(".error").all_inner_texts() == [words("en")["page.required"]]
            page.get_by_label("language 2").check()
            assert page.locator(".error").count() == 0
            onward.click()
            page.get_by_role("button", name="Back").click()
            assert page.get_by_label("language 2").is_checked()
        for label in ("language 3", "prefer not to say", "region 1"):
            if not page.get_by_label(label).is_visible():
                onward.click()
            shown.append(page.locator("fieldset:visible").count())
            if width == 390:
                assert page.evaluate("document.documentElement.scrollHeight") <= 844
            page.get_by_label(label).check()
        assert sent == []
        onward.click()
        page.get_by_role("heading", name="What to do").wait_for()
        page.close()
    assert shown == ([1, 2, 1] if width == 390 else [4, 4, 4])
    (form,) = sent
    assert {"language=language+3", "gender=prefer+not+to+say", "region=region+1"} <= set(form.split("&"))


TEMPLATES = ("likert", "yes-no", "choice", "pairs", "magnitude", "label", "differential", "antonyms", "norming")
SCREENS = {"phone": {"width": 390, "height": 844}, "desk": {"width": 1280, "height": 800}}


@pytest.mark.parametrize(
    "template", [pytest.param(name, marks=[pytest.mark.slow] * (place > 0)) for place, name in enumerate(TEMPLATES)]
)
def test_the_first_pages_of_a_template(template: str, browser: Any, tmp_path: Path) -> None:
    """The start page has the public title, consent and instructions have lists, and no page needs to be scrolled."""
    write_study(tmp_path / "study", template)
    study = load(tmp_path / "study")
    eligible = {one.question: one.eligible[0] for one in study.settings.background if one.eligible}
    pages: dict[str, list[bytes]] = {screen: [] for screen in SCREENS}
    with served(study, tmp_path) as real:
        page = browser.new_page()
        page.set_default_timeout(120_000)
        page.goto(f"http://127.0.0.1:{real.port}/s/study/?PROLIFIC_PID={'5f' * 12}")
        assert page.locator("h1").inner_text() == study.settings.public_title != study.title
        for step in ("Start", "I agree and want to take part", "Continue"):
            assert step == "Start" or page.locator(".prose > ul > li").count() >= 3
            for screen, size in SCREENS.items():
                page.set_viewport_size(size)
                assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
                assert page.evaluate("document.documentElement.scrollHeight") <= size["height"]
                pages[screen].append(taken(page))
            page.get_by_role("button", name=step).click()
            page.wait_for_load_state()
            for group in page.locator("form.background fieldset").all():
                if not group.is_visible():
                    page.get_by_role("button", name="Continue").click()
                good = eligible.get(group.locator("legend").inner_text())
                (group.get_by_label(good, exact=True) if good else group.get_by_role("radio").last).check()
            if page.locator("form.background").count():
                page.get_by_role("button", name="Continue").click()
                page.get_by_role("heading", name="What to do").wait_for()
        page.close()
    for screen, taken_pages in pages.items():
        picture(taken_pages, f"template-{template}-{screen}")
