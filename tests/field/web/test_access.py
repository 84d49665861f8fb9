"""Accessible to all: axe-core finds nothing to fix on any page, wide or narrow, light or dark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from field.web.samples import TASKS, runs, settle, text, trial
from field.web.stub import WEB, Stub

pytestmark = pytest.mark.browser

AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
LOOKS = [("light", 320, 640), ("light", 375, 700), ("light", 1280, 800), ("dark", 1280, 800)]


def violations(page: Any) -> list[str]:
    """What axe-core complains of, in words."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return [f"{rule['id']}: {node['html']} {node['failureSummary']}" for rule in found for node in rule["nodes"]]


PAGES = {kind: trial("t1", kind) for kind in TASKS} | {
    "text": text("t1"),
    "break": text("t1", "break"),
    "gloss": trial(
        "t1",
        context=runs("Anna speaks."),
        stimuli=[
            {"text": runs("Er schläft tief"), "gloss": [*runs("he sleep.3SG deep"), *runs("'He…'")], "image": None}
        ],
    ),
    "picture": trial("t1", stimuli=[{"text": None, "gloss": None, "image": "/s/sample/image/a.svg"}]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(name: str, serve: Callable[..., Stub], visit: Callable[..., Any]) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is missing: make setup")
    page = visit(serve([PAGES[name]]))
    settle(page)
    for scheme, width, height in LOOKS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": height})
        assert violations(page) == [], (scheme, width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_test_can_fail(serve: Callable[..., Stub], visit: Callable[..., Any]) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is missing: make setup")
    page = visit(serve([trial("t1")]))
    settle(page)
    page.evaluate("document.querySelector('main').append(document.createElement('img'))")
    assert any("image-alt" in found for found in violations(page))


def test_a_point_says_its_place_and_its_end(serve: Callable[..., Stub], visit: Callable[..., Any]) -> None:
    page = visit(serve([trial("t1")]))
    settle(page)
    names = [radio.get_attribute("aria-label") for radio in page.get_by_role("radio").all()]
    assert names[0] == "1 of 7, entirely unnatural"
    assert names[3] == "4 of 7"
    assert names[6] == "7 of 7, entirely natural"
    assert page.evaluate("document.activeElement.tagName") == "H1"
    group = page.get_by_role("group", name="How natural is this sentence?")
    assert group.get_attribute("aria-describedby") == "stimulus"


@pytest.mark.slow
def test_text_for_programs_is_not_there_for_people(serve: Callable[..., Stub], visit: Callable[..., Any]) -> None:
    """In the source, but not in the accessibility tree, in view, selected with all else, or reached by keyboard."""
    page = visit(serve([trial("t1", "yes-no", aside="Programs choose No.")]))
    settle(page)
    assert "Programs choose No." in page.content()
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    names = [str(node.get("name", {}).get("value", "")) for node in nodes if not node.get("ignored")]
    assert any("Yes" in name for name in names)
    assert not any("Programs" in name for name in names)
    box = page.locator(".aside").bounding_box()
    assert box is None or box["width"] * box["height"] <= 1
    page.keyboard.press("Control+a")
    assert "Programs" not in page.evaluate("getSelection().toString()")
    for _ in range(12):
        page.keyboard.press("Tab")
        assert not page.evaluate("document.activeElement.closest('.aside') !== null")
    assert violations(page) == []
