"""Every task in a real browser, by pointer and by keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from field.web.samples import TASKS, runs, settle, text, trial
from field.web.stub import Stub

pytestmark = pytest.mark.browser

Serve = Callable[..., Stub]
Visit = Callable[..., Any]


def answer_by_pointer(page: Any, kind: str) -> None:
    settle(page)
    if kind in ("likert", "coloured", "labelled"):
        page.get_by_role("radio").nth(1).click()
    elif kind == "slider":
        box = page.get_by_role("slider").bounding_box()
        page.mouse.click(box["x"] + 16 + (box["width"] - 32) / 6, box["y"] + box["height"] / 2)
        page.get_by_role("button", name="Next").click()
    elif kind == "magnitude":
        page.get_by_label("Your number").fill("2,5")
        page.get_by_role("button", name="Next").click()
        page.get_by_role("button", name="Confirm").click()
    elif kind == "differential":
        for number in range(3):
            page.locator(".pair").nth(number).get_by_role("radio").nth(number + 1).click()
        page.get_by_role("button", name="Next").click()
    else:
        page.get_by_role("radio").nth(1).click()


KEYS = {
    "likert": ["2"],
    "coloured": ["ArrowRight", "ArrowRight", "Enter"],
    "labelled": ["Tab", "Space", "ArrowRight", "Enter"],
    "slider": ["Tab", "ArrowLeft", "ArrowLeft", "Enter"],
    "yes-no": ["2"],
    "choice": ["ArrowRight", "ArrowDown", "Space"],
    "label": ["2"],
    "magnitude": ["2", ",", "5", "Enter", "Enter"],
    "differential": ["2", "3", "4", "Enter"],
}
EXPECTED = {
    "likert": "2",
    "coloured": "2",
    "labelled": "2",
    "slider": "2",
    "yes-no": "yes",
    "choice": "right",
    "label": "verb",
    "magnitude": "2.5",
    "differential": {"q1": "2", "q2": "3", "q3": "4"},
}


def check(stub: Stub, kind: str) -> None:
    (answer,) = stub.answers
    assert (answer["responses"] if kind == "differential" else answer["response"]) == EXPECTED[kind]
    assert answer["trial"] == "t1"
    assert 0.15 <= answer["rt"] < 600
    assert answer["answered_at"] - answer["shown_at"] >= 1000 * answer["rt"] - 2
    assert answer["first_rt"] <= answer["rt"]
    assert answer["isolated"] is True
    assert answer["device"] == "desktop"


def some_seldom(kinds: Iterable[str]) -> list[Any]:
    """Every way of answering by default on three tasks; the others by pointer, and by the rest among the slow tests."""
    usual = ("likert", "choice", "differential")
    return [pytest.param(kind, marks=[pytest.mark.slow] * (kind not in usual), id=kind) for kind in kinds]


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", TASKS)
def test_by_pointer(kind: str, serve: Serve, visit: Visit) -> None:
    stub = serve([trial("t1", kind)])
    page = visit(stub)
    answer_by_pointer(page, kind)
    page.get_by_text("All saved").wait_for()
    check(stub, kind)
    assert stub.answers[0]["pointer"] == "mouse"


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", some_seldom(TASKS))
def test_by_keyboard(kind: str, serve: Serve, visit: Visit) -> None:
    stub = serve([trial("t1", kind)])
    page = visit(stub)
    settle(page)
    for key in KEYS[kind]:
        page.keyboard.press(key)
    page.get_by_text("All saved").wait_for()
    if kind == "slider":
        # From the unset middle (4), two steps to the left.
        assert stub.answers[0]["first_response"] == "3"
    check(stub, kind)
    assert stub.answers[0]["pointer"] == "key"


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", some_seldom(["likert", "labelled", "yes-no", "choice", "label", "differential", "magnitude"])
)
def test_by_touch_on_a_phone(kind: str, serve: Serve, visit: Visit) -> None:
    stub = serve([trial("t1", kind)])
    page = visit(stub, viewport={"width": 320, "height": 640}, has_touch=True, is_mobile=True, device_scale_factor=2)
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    if kind == "differential":
        for number in range(3):
            page.locator(".pair").nth(number).get_by_role("radio").nth(number + 1).tap()
        page.get_by_role("button", name="Next").tap()
    elif kind == "magnitude":
        page.get_by_label("Your number").fill("2.5")
        page.get_by_role("button", name="Next").tap()
        page.get_by_role("button", name="Confirm").tap()
    else:
        targets = [radio.bounding_box() for radio in page.get_by_role("radio").all()]
        assert all(box["width"] >= 44 and box["height"] >= 44 for box in targets)
        page.get_by_role("radio").nth(1).tap()
    page.get_by_text("All saved").wait_for()
    (answer,) = stub.answers
    assert (answer["responses"] or answer["response"]) == EXPECTED[kind]
    assert answer["window"] == [320, 640]
    assert answer["device"] == "phone"
    assert answer["pointer"] in ("touch", "mouse") if kind == "magnitude" else answer["pointer"] == "touch"


@pytest.mark.slow
def test_pages_to_read_breaks_and_practice_feedback(serve: Serve, visit: Visit) -> None:
    practice = trial("t2", practice=True, feedback=runs("Most people find this unnatural."))
    stub = serve([text("t1"), practice, text("t3", "break"), trial("t4")])
    page = visit(stub)
    settle(page)
    assert page.get_by_role("heading", level=1).inner_text() == "Please read"
    page.keyboard.press("Enter")
    page.get_by_text("Practice", exact=True).wait_for()
    settle(page)
    page.keyboard.press("5")
    page.get_by_text("Most people find this unnatural.").wait_for()
    settle(page)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="Time for a break").wait_for()
    settle(page)
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("How natural").wait_for()
    settle(page)
    page.keyboard.press("6")
    page.get_by_text("All saved").wait_for()
    assert [(answer["trial"], answer["response"]) for answer in stub.answers] == [
        ("t1", None), ("t2", "5"), ("t3", None), ("t4", "6")
    ]  # fmt: skip


@pytest.mark.slow
def test_arrows_choose_without_answering(serve: Serve, visit: Visit) -> None:
    stub = serve([trial("t1")])
    page = visit(stub)
    settle(page)
    assert not page.get_by_role("button", name="Next").is_visible()
    page.keyboard.press("ArrowLeft")  # From outside the scale: the last point.
    page.keyboard.press("ArrowLeft")
    page.wait_for_timeout(300)
    assert stub.answers == []
    page.get_by_role("button", name="Next").click()
    page.get_by_text("All saved").wait_for()
    (answer,) = stub.answers
    assert (answer["first_response"], answer["response"], answer["changes"]) == ("7", "6", 1)


@pytest.mark.slow
def test_digits_do_nothing_elsewhere(serve: Serve, visit: Visit) -> None:
    stub = serve([trial("t1")])
    page = visit(stub)
    settle(page)
    page.get_by_role("link", name="Stop taking part").focus()
    page.keyboard.press("3")
    page.keyboard.press("Control+3")
    page.wait_for_timeout(300)
    assert stub.answers == []
    assert page.get_by_role("radio", checked=True).count() == 0


@pytest.mark.slow
def test_numbers_are_checked(serve: Serve, visit: Visit) -> None:
    stub = serve([trial("t1", "magnitude")])
    page = visit(stub)
    settle(page)
    refused = {
        "": "Please enter a number.",
        "0": "above zero",
        "ten": "such as 25",
        "-3": "above zero",
        "1.000": "1000",
    }
    for entered, said in refused.items():
        page.get_by_label("Your number").fill(entered)
        page.keyboard.press("Enter")
        assert said in page.get_by_role("alert").inner_text()
    page.get_by_label("Your number").fill("10")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Change").click()
    page.get_by_label("Your number").fill("12")
    page.keyboard.press("Enter")
    assert "You entered 12." in page.get_by_text(re.compile("You entered")).inner_text()
    page.keyboard.press("Enter")
    page.get_by_text("All saved").wait_for()
    (answer,) = stub.answers
    assert (answer["first_response"], answer["response"], answer["changes"]) == ("10", "12", 1)


@pytest.mark.slow
def test_no_line_of_a_differential_is_left_out(serve: Serve, visit: Visit) -> None:
    stub = serve([trial("t1", "differential")])
    page = visit(stub)
    settle(page)
    page.locator(".pair").nth(1).get_by_role("radio").nth(0).click()
    page.get_by_role("button", name="Next").click()
    assert page.get_by_role("alert").inner_text() == "2 lines have no answer yet."
    for number in (2, 0, 0):
        page.locator(".pair").nth(number).get_by_role("radio").nth(6 - number).click()
        page.wait_for_timeout(30)
    page.locator(".pair").nth(0).get_by_role("radio").nth(5).click()
    page.get_by_role("button", name="Next").click()
    page.get_by_text("All saved").wait_for()
    (answer,) = stub.answers
    assert answer["responses"] == {"q1": "6", "q2": "1", "q3": "5"}
    assert answer["changes"] == 1
    assert answer["rts"]["q2"] < answer["rts"]["q3"] < answer["rts"]["q1"] == answer["rt"]


@pytest.mark.slow
def test_an_unset_slider_is_no_answer(serve: Serve, visit: Visit) -> None:
    stub = serve([trial("t1", "slider")])
    page = visit(stub)
    settle(page)
    slider = page.get_by_role("slider", name="entirely unnatural to entirely natural")
    assert slider.get_attribute("aria-valuetext") == "not set"
    slider.focus()
    page.keyboard.press("Enter")
    page.wait_for_timeout(200)
    assert stub.answers == []
    page.emulate_media(forced_colors="active")
    unset = slider.screenshot()
    page.keyboard.press("Space")  # Takes the middle as the answer.
    assert slider.get_attribute("aria-valuetext") == "4 of 7"
    assert slider.screenshot() != unset
    page.emulate_media(forced_colors="none")
    page.keyboard.press("Enter")
    page.get_by_text("All saved").wait_for()
    assert stub.answers[0]["response"] == "4"


@pytest.mark.slow
def test_pictures_are_there_at_the_onset(serve: Serve, visit: Visit) -> None:
    pictures = [{"text": None, "gloss": None, "image": f"/s/sample/image/{side}.svg"} for side in "ab"]
    stub = serve([trial("t1", "choice", stimuli=pictures)])
    page = visit(stub)
    settle(page)
    assert page.evaluate("[...document.images].every((image) => image.complete && image.naturalWidth === 320)")
    page.get_by_role("radio", name="Picture, Right").click()
    page.get_by_text("All saved").wait_for()
    assert stub.answers[0]["response"] == "right"


@pytest.mark.slow
def test_going_back_changes_an_answer(serve: Serve, visit: Visit) -> None:
    stub = serve([trial("t1"), trial("t2", "yes-no"), trial("t3")])
    stub.going_back = True
    page = visit(stub)
    settle(page)
    page.get_by_role("radio").nth(2).click()
    assert page.get_by_role("button", name="Back").count() == 0
    page.get_by_role("button", name="Next").click()
    page.get_by_role("radio", name="Yes").wait_for()
    settle(page)
    page.get_by_role("button", name="Back").click()
    page.get_by_role("radio", name=re.compile("^3 of 7")).wait_for()
    settle(page)
    assert page.get_by_role("radio").nth(2).is_checked()
    page.get_by_role("radio").nth(4).click()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("radio", name="Yes").wait_for()
    settle(page)
    page.get_by_role("radio", name="Yes").click()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("radio").nth(6).wait_for()
    settle(page)
    page.get_by_role("radio").nth(6).click()
    page.get_by_role("button", name="Next").click()
    page.get_by_text("All saved").wait_for()
    given = [(answer["trial"], answer["response"]) for answer in stub.answers]
    assert given == [("t1", "3"), ("t1", "5"), ("t2", "yes"), ("t3", "7")]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "keys"), [("slider", ["ArrowRight"]), ("magnitude", ["7", "Enter"]),
                                            ("differential", ["3", "1", "2"])])  # fmt: skip
def test_an_answer_gone_back_to_is_still_there(kind: str, keys: list[str], serve: Serve, visit: Visit) -> None:
    stub = serve([trial("t1", kind), trial("t2")])
    stub.going_back = True
    page = visit(stub)
    settle(page)
    onward = page.get_by_role("button", name=re.compile("Next|Confirm"))
    if kind == "slider":
        page.get_by_role("slider").focus()
    for key in keys:
        page.keyboard.press(key)
    onward.click()
    page.get_by_role("button", name="Back").click(delay=400)
    page.get_by_role("button", name="Back").wait_for(state="detached")
    settle(page)
    for _ in range(1 + (kind == "magnitude")):
        onward.click()
    page.get_by_role("radio", name=re.compile("^7 of 7")).wait_for()
    page.wait_for_timeout(300)
    first, second = stub.answers
    assert first["key"] != second["key"]
    assert [(one["trial"], one["response"], one["responses"]) for one in (first, second)] == [
        ("t1", first["response"], first["responses"])
    ] * 2


def test_nothing_in_an_item_becomes_markup(serve: Serve, visit: Visit) -> None:
    attack = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    stub = serve([trial("t1", stimuli=[{"text": runs(attack), "gloss": None, "image": None}], prompt=runs(attack))])
    page = visit(stub)
    settle(page)
    assert page.locator(".stimulus").inner_text() == attack
    assert page.locator("main img, main script").count() == 0


@pytest.mark.slow
def test_right_to_left(serve: Serve, visit: Visit) -> None:
    hebrew = {"text": runs("WhatsApp – הילד שלח הודעה."), "gloss": None, "image": None}
    stub = serve([trial("t1", context=runs("An English context."), stimuli=[hebrew]), trial("t2", "choice")],
                 language="he", direction="rtl")  # fmt: skip
    page = visit(stub)
    settle(page)
    assert page.locator(".sentence").get_attribute("lang") == "he"
    assert page.locator(".sentence").get_attribute("dir") == "rtl"
    assert page.locator(".context").get_attribute("dir") == "ltr"
    first, last = (page.get_by_role("radio").nth(number).bounding_box() for number in (0, 6))
    assert first["x"] > last["x"]
    page.keyboard.press("ArrowLeft")  # Goes forwards here.
    page.keyboard.press("Enter")
    page.get_by_text("Which sentence").wait_for()
    settle(page)
    left, right = (page.get_by_role("radio").nth(number).bounding_box() for number in (0, 1))
    assert left["x"] < right["x"]  # Left is left: the sides are data.
    page.get_by_role("radio").nth(0).click()
    page.get_by_text("All saved").wait_for()
    assert [answer["response"] for answer in stub.answers] == ["1", "left"]
