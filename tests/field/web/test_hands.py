"""Traces of hands in a real browser: a driven Chromium is found; one that imitates people is not, nor are people."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import karat
from field.web.samples import settle, trial
from field.web.stub import Stub
from karat.field.content.answers import TRACE, PostedAnswer, details
from karat.judgments import Judgments
from karat.screen import automation
from karat.simulate.hands import Hand, draw_hand, mouse_path, with_hands

pytestmark = [pytest.mark.browser, pytest.mark.slow]

Serve = Callable[..., Stub]
Visit = Callable[..., Any]
TRIALS = 7
HIDDEN = "Object.defineProperty(Navigator.prototype, 'webdriver', { get: () => false })"


def probability(stub: Stub) -> float:
    """How probably a session was automated, among simulated people."""
    stored = [details(PostedAnswer.model_validate(one)) for one in stub.answers]
    assert len(stored) == TRIALS
    frame = pl.DataFrame(
        {"participant": "here", "item": [str(place) for place in range(TRIALS)], "response": "1",
         "trial": range(1, TRIALS + 1), "trace": [json.dumps(one["trace"]) for one in stored]}
    )  # fmt: skip
    others = pl.DataFrame({"participant": "other", "item": frame["item"], "response": "1", "trial": frame["trial"]})
    people = with_hands(Judgments(others, karat.Ordinal(3)), "mouse").frame.select(frame.columns)
    evidence = automation(Judgments(pl.concat([frame, people]), karat.Ordinal(3)))
    score: float = evidence.participants.row(0, named=True)["score"]
    assert ("here" in evidence.flagged) == (score > 0.9)
    return score


def begin(serve: Serve, visit: Visit, browser: Any, *, hidden: bool, **settings: Any) -> tuple[Stub, Any]:
    stub = serve([trial(f"t{place}") for place in range(TRIALS)])
    context = browser.new_context(viewport={"width": 1280, "height": 800}, **settings)
    if hidden:
        context.add_init_script(HIDDEN)
    return stub, visit(stub, context)


def next_trial(page: Any, stub: Stub, place: int) -> None:
    """Wait until the answer is saved and the next page takes input."""
    for _ in range(300):
        if len(stub.answers) > place:
            break
        page.wait_for_timeout(50)
    if place < TRIALS - 1:
        settle(page)


def by_hand(page: Any, stub: Stub, hand: Hand, seed: int = 5) -> None:
    """Answer with paths, presses and places drawn from the model of people."""
    rng = np.random.default_rng(seed)
    here = (640.0, 500.0)
    page.mouse.move(*here)
    settle(page)
    for place in range(TRIALS):
        box = page.get_by_role("radio").nth(int(rng.integers(7))).bounding_box()
        spread = [float(np.clip(rng.normal(0, hand.spread), -0.9, 0.9)) / 2 for _ in range(2)]
        end = (box["x"] + box["width"] * (0.5 + spread[0]), box["y"] + box["height"] * (0.5 + spread[1]))
        path = mouse_path(rng, here, end, box["width"], hand)
        for before, (seconds, x, y) in zip([0.0, *path[:-1, 0]], path, strict=True):
            page.wait_for_timeout(max(1.0, 1000 * (seconds - before) - 4))
            page.mouse.move(x, y)
        here = end
        page.wait_for_timeout(float(rng.lognormal(-1.7, 0.4)) * 1000)
        page.mouse.down()
        page.wait_for_timeout(float(rng.lognormal(np.log(hand.press), 0.25)) * 1000)
        page.mouse.up()
        next_trial(page, stub, place)


def by_keys(page: Any, stub: Stub, hold: float) -> None:
    settle(page)
    for place in range(TRIALS):
        page.keyboard.press(str(1 + place % 7), delay=hold)
        next_trial(page, stub, place)


def test_a_driver_that_clicks_is_found(serve: Serve, visit: Visit, browser: Any) -> None:
    """Tier 2."""
    stub, page = begin(serve, visit, browser, hidden=False)
    settle(page)
    for place in range(TRIALS):
        page.get_by_role("radio").nth(place % 7).click()
        next_trial(page, stub, place)
    assert probability(stub) > 0.99
    traces = [one["trace"] for one in stub.answers]
    assert traces[0]["flags"] >= 1
    assert all("flags" not in one for one in traces[1:])
    assert all(one["off"] < 0.1 for one in traces)
    # Of all presses the shortest: on a busy machine some take longer.
    assert min(one["press"] for one in traces) < 0.05
    assert all(set(one) <= set(TRACE) and all(isinstance(value, int | float) for value in one.values())
               for one in traces)  # fmt: skip


def test_imitating_driver_without_marks_is_not_found(serve: Serve, visit: Visit, browser: Any) -> None:
    """Tier 3: an honest result, which the documentation states."""
    stub, page = begin(serve, visit, browser, hidden=True)
    by_hand(page, stub, Hand())
    assert probability(stub) < 0.3


def test_forced_colours_and_zoom_are_not_flagged(serve: Serve, visit: Visit, browser: Any) -> None:
    stub, page = begin(serve, visit, browser, hidden=True, forced_colors="active", device_scale_factor=2)
    page.evaluate("document.documentElement.style.zoom = '1.5'")
    by_hand(page, stub, draw_hand(np.random.default_rng(8)))
    assert probability(stub) < 0.5


@pytest.mark.parametrize("hold", [95, 0])
def test_keys_alone_are_not_flagged(serve: Serve, visit: Visit, browser: Any, hold: int) -> None:
    """Keys of a hand, and keys that speech software presses for no time."""
    stub, page = begin(serve, visit, browser, hidden=True)
    by_keys(page, stub, hold)
    assert probability(stub) < 0.5
    assert all(one["trace"].get("moves", 0) == 0 for one in stub.answers[1:])


def test_clicks_of_screen_readers_and_switches_are_not_flagged(serve: Serve, visit: Visit, browser: Any) -> None:
    """Their software clicks without a pointer, as `element.click()` does."""
    stub, page = begin(serve, visit, browser, hidden=True)
    settle(page)
    for place in range(TRIALS):
        page.get_by_role("radio").nth(place % 7).evaluate("one => one.click()")
        page.get_by_role("button", name="Next").evaluate("one => one.click()")
        next_trial(page, stub, place)
    assert probability(stub) < 0.5
