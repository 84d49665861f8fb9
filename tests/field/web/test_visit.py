"""A participant's whole visit in a real browser to the real server, for every task: from the first page to the last."""

from __future__ import annotations

import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from field.browser import picture
from field.web.samples import settle
from field.web.test_access import AXE, violations
from karat.study.study import Study, load

pytestmark = pytest.mark.browser

KEYS = {"likert": ["2"], "yes-no": ["2"], "choice": ["1"], "label": ["2"], "magnitude": ["7", "Enter", "Enter"]}
FEW = 6
"""Trials that are answered by hand; the rest would only take time."""


@pytest.fixture
def address(root: Path, tmp_path: Path, task: str) -> Iterator[str]:
    """A server with the example of a task on a port of its own."""
    command = [sys.executable, "-m", "karat", "serve", str(root / "examples" / task), "--port", "0"]
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen([*command, "--data", str(tmp_path)], stdout=log, stderr=subprocess.STDOUT)
        try:
            yield _started(server, tmp_path / "log")
        finally:
            server.terminate()
            server.wait(30)


def _started(server: subprocess.Popen[bytes], log: Path) -> str:
    """The address, once it answers."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        assert server.poll() is None, log.read_text()
        found = re.search(r"(http://127\.0\.0\.1:\d+)/s/", log.read_text())
        if found:
            try:
                urllib.request.urlopen(f"{found[1]}/healthz", timeout=5).close()
            except OSError:
                pass
            else:
                return found[1]
        time.sleep(0.1)
    raise AssertionError(log.read_text())


def fill(page: Any, study: Study) -> None:
    """Answer the form of a step as someone who is eligible and has read the instructions."""
    right = {question.question: question.answers[question.right - 1] for question in study.settings.texts.quiz}
    wanted = {question.question: question.eligible for question in study.settings.background if question.eligible}
    for group in page.locator("fieldset").all():
        if not group.is_visible():  # on the next of several short pages
            page.locator("main form button").first.click()
        question = group.locator("legend").inner_text().strip()
        choices = group.get_by_role("radio")
        good = right.get(question) or next(iter(wanted.get(question, [])), None)
        (group.get_by_label(good, exact=True) if good else choices.last).check()
    for box in page.get_by_role("textbox").all():
        box.fill("nothing")


class Complaints(list[str]):
    """What a browser says in its console."""

    def listen(self, page: Any) -> None:
        page.on("console", self.hear)
        page.on("pageerror", lambda error: self.append(str(error)))

    def hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.append(message.text)


@pytest.mark.parametrize("task", ["differential", *(pytest.param(task, marks=pytest.mark.slow) for task in KEYS)])
def test_a_visit(task: str, address: str, browser: Any, root: Path) -> None:
    study = load(root / "examples" / task)
    context = browser.new_context(viewport={"width": 375, "height": 700})
    page = context.new_page()
    page.set_default_timeout(120_000)
    complaints = Complaints()
    complaints.listen(page)
    responses: list[Any] = []
    page.on("response", lambda response: response.url.endswith("/answers") and responses.append(response))
    page.goto(f"{address}/s/{task}/")
    assert len(walk(page, study)) >= 3
    assert not AXE.is_file() or violations(page) == []
    answered = 0
    while answered < FEW and page.locator(".trial").count():
        answered += page.locator(".scale").count()
        if page.locator(".scale").count():
            picture(page, f"field-{task}-phone")
            if task == "choice":
                picture(page, "field-choice-desk", {"width": 1100, "height": 420})
        page.evaluate("document.querySelector('.trial').dataset.seen = ''")
        for key in keys(page, task):
            page.keyboard.press(key)
        arrive(page)
    if page.locator("#trials").count():
        page.wait_for_load_state("networkidle")
        replies = [response.json() for response in responses]
        assert sum(len(reply["saved"]) for reply in replies) >= FEW
        assert not any(reply["refused"] for reply in replies)
        shown = page.locator(".trial").inner_text()
        page.reload()
        settle(page)
        assert page.locator(".trial").inner_text() == shown
    else:
        walk(page, study)
        assert page.locator(".code").inner_text().strip()
    assert not complaints
    context.close()


def walk(page: Any, study: Study) -> list[str]:
    """Go from step to step by their forms until the trials come or the end; gives the headings."""
    steps = []
    while page.locator("#trials").count() == 0 and len(steps) < 10:
        steps.append(page.locator("h1").inner_text())
        if AXE.is_file():
            assert violations(page) == [], steps[-1]
        assert page.evaluate("document.documentElement.scrollWidth") <= 375, steps[-1]
        fill(page, study)
        if page.locator("main form").count() == 0:
            return steps
        with page.expect_navigation():
            page.locator("main form button").first.click()
    settle(page)
    return steps


def arrive(page: Any) -> None:
    """Wait for the next trial, or for the page after the last one."""
    other = "() => document.querySelector('.trial:not([data-seen])') || !document.querySelector('#trials')"
    page.wait_for_function(other)
    page.wait_for_load_state()
    if page.locator("#trials").count():
        settle(page)


def keys(page: Any, task: str) -> list[str]:
    """The keys that answer a page."""
    if page.locator(".scale").count() == 0:
        return ["Enter"]
    return KEYS.get(task) or ["3"] * page.locator(".pair").count() + ["Enter"]
