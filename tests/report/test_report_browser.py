"""The page in a real browser, opened from disk: sorts, finds, prints, asks for nothing, and axe-core finds nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from field.browser import chromium, picture
from karat.report.first_figure import WIDTH
from karat.report.outcomes import Outcomes
from karat.report.page import html
from report.small import PEOPLE, gathered, labelled, page

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[2] / "src" / "karat" / "field" / "web" / "node_modules" / "axe-core" / "axe.min.js"
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 375, "height": 800}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page(), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def desk(browser: Any) -> Any:
    """A page, offline, that the tests use one after the other: a new one takes a process."""
    page = browser.new_context(offline=True).new_page()
    page.set_default_timeout(120_000)
    return page


@pytest.fixture
def shown(desk: Any, report: Path) -> Iterator[Any]:
    """The report on a large screen; a complaint of the browser or a request fails the test."""
    trouble: list[str] = []
    listeners = {
        "console": lambda message: message.type in ("error", "warning") and trouble.append(message.text),
        "pageerror": lambda error: trouble.append(str(error)),
        "request": lambda one: one.url.startswith(("file:", "data:", "about:")) or trouble.append(one.url),
    }
    for event, listener in listeners.items():
        desk.on(event, listener)
    desk.set_viewport_size(DESK)
    desk.goto(report.as_uri())
    yield desk
    desk.emulate_media(media="null")
    desk.goto("about:blank")
    for event, listener in listeners.items():
        desk.remove_listener(event, listener)
    assert not trouble


@pytest.fixture
def opened(shown: Any) -> Any:
    """The same, with everything unfolded."""
    shown.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
    return shown


def names(page: Any) -> list[str]:
    found: list[str] = page.locator("#rows-participants tr:not([hidden]) th").all_inner_texts()
    return found


def test_it_sorts_and_finds(opened: Any) -> None:
    heading = opened.locator("#table-participants thead th").filter(has_text="median (s)")
    column = opened.locator("#rows-participants tr td:nth-of-type(6)")
    heading.locator("button").click()
    times = [float(text) for text in column.all_inner_texts()]
    assert times == sorted(times)
    assert len(times) == PEOPLE
    assert heading.get_attribute("aria-sort") == "ascending"
    heading.locator("button").press("Enter")
    assert [float(text) for text in column.all_inner_texts()] == sorted(times, reverse=True)
    opened.locator("#table-participants input").fill("EXCLUDED  completion")
    assert names(opened) == ["p31"]
    assert opened.locator("#table-participants .count").inner_text() == f"1 of {PEOPLE}"
    opened.locator("#table-participants input").fill("")
    assert len(names(opened)) == PEOPLE
    assert opened.title() == "Judgments – report"


@pytest.mark.slow
def test_what_is_not_known_stands_last_either_way(opened: Any) -> None:
    gone = set(gathered().screening.excluded)
    heading = opened.locator("#table-participants thead th").filter(has_text="genuine").locator("button")
    for _ in range(2):
        heading.click()
        assert names(opened)[-1] == "p31"
    assert "p31" in gone


def test_figures_and_data_can_be_taken_away(opened: Any, tmp_path: Path) -> None:
    for selector, start in (("#figure-flow a.svg", "<svg"), ("#table-participants .links a", "participant,verdict")):
        with opened.expect_download() as waiting:
            opened.locator(selector).click()
        waiting.value.save_as(tmp_path / "file")
        assert (tmp_path / "file").read_text(encoding="utf-8").startswith(start)


def pages(printed: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page[^s]", printed))


@pytest.mark.slow
def test_prints_two_pages_and_the_appendix_on_request(shown: Any) -> None:
    assert pages(shown.pdf(format="A4")) <= 2
    # A design of many conditions has a row for each under each rule.
    rows = "const body = document.querySelector('#results tbody');"
    shown.evaluate(f"() => {{ {rows} for (let n = 0; n < 150; n++) body.append(body.rows[0].cloneNode(true)); }}")
    assert pages(shown.pdf(format="A4")) <= 2
    shown.locator("#appendix").check()
    assert pages(shown.pdf(format="A4")) > 3


@pytest.mark.slow
def test_the_appendix_prints_with_all_reasons(opened: Any) -> None:
    opened.locator("#appendix").check()
    opened.emulate_media(media="print")
    opened.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert opened.locator("details:not([open])").count() == 0
    assert not opened.locator("nav").is_visible()
    # A table that scrolls on a screen must not lie over what follows it on paper.
    opened.evaluate("document.querySelector('#table-participants .wide').classList.add('long')")
    box, table = (opened.locator(f"#table-participants {one}").bounding_box() for one in (".wide", "table"))
    assert box["height"] >= table["height"] > 0
    opened.evaluate("dispatchEvent(new Event('afterprint'))")


@pytest.mark.parametrize("size", [{"width": 1280, "height": 800}, {"width": 390, "height": 844}], ids=["desk", "phone"])
def test_the_first_screen_has_sentences_flow_and_figure(shown: Any, size: dict[str, int]) -> None:
    shown.set_viewport_size(size)
    shown.reload()
    for part in ("h1", ".say p:first-child", "#flow", "#first-figure"):
        box = shown.locator(part).first.bounding_box()
        assert box["y"] + box["height"] <= size["height"], part
    assert len(shown.evaluate("document.body.innerText").split()) <= 2500


def place(transform: str) -> list[float]:
    return [float(one) for one in re.findall(r"-?[\d.]+", transform)]


def test_a_rule_redraws_figure_flow_and_comparisons(opened: Any) -> None:
    rules = {rule.key: rule for rule in gathered().outcomes.rules}
    point = opened.locator("#first-figure .pt[data-cell]").first
    before = point.get_attribute("transform"), opened.locator("#flow small").inner_text()
    assert opened.locator(".switch input:checked").get_attribute("value") == "stated"
    opened.locator(".switch label").filter(has_text="nobody").click()
    assert f"{PEOPLE} in the analysis" in opened.locator("#flow small").inner_text()
    assert f"{rules['nobody'].cells[0][0]:.2f}" in point.get_attribute("aria-label")
    assert f"{abs(rules['nobody'].comparisons[0][0]):.2f}" in opened.locator(".rule-note").inner_text()
    opened.locator(".switch input[value=nobody]").press("ArrowLeft")
    assert opened.locator("#flow small").inner_text() == before[1]
    assert place(point.get_attribute("transform")) == pytest.approx(place(before[0]), abs=0.1)


def test_a_participant_is_played_back_and_can_be_linked(opened: Any) -> None:
    opened.locator("#rows-participants th a", has_text="p31").click()
    dialog = opened.locator("#playback")
    assert dialog.locator("h2").inner_text() == "p31"
    own = gathered().judgments.frame.filter(participant="p31")
    shown = own.filter(own["function"] != "practice")
    assert dialog.locator("tbody tr").count() == shown.height
    judgments, first = gathered().judgments, shown.row(0, named=True)
    same = {name: first[name] for name in ("item", *judgments.stimuli().conditions) if first[name] is not None}
    rest = judgments.frame.filter(pl.col("participant") != "p31", **same)["response"].cast(pl.Float64)
    assert dialog.locator("tbody tr").first.locator("td").nth(3).inner_text() == f"mean {rest.mean():.1f}"
    assert opened.url.endswith("#participant=p31")
    opened.keyboard.press("ArrowRight")
    assert dialog.locator("h2").inner_text() != "p31"
    opened.keyboard.press("Escape")
    assert not dialog.is_visible()
    opened.goto(opened.url.split("#")[0] + "#participant=p06")
    opened.reload()
    assert dialog.locator("h2").inner_text() == "p06"


@pytest.mark.slow
def test_a_dot_of_accuracy_opens_its_participant(shown: Any, tmp_path: Path) -> None:
    found = labelled().outcomes
    assert isinstance(found, Outcomes)
    (tmp_path / "labels.html").write_text(html(labelled()), encoding="utf-8")
    shown.goto((tmp_path / "labels.html").as_uri())
    dialog, dots = shown.locator("#playback"), shown.locator("#first-figure a")
    assert dots.count() == PEOPLE
    best = max(share for _, share in found.people)
    dots.last.locator("circle").click()
    name = dialog.locator("h2").inner_text()
    assert dict(found.people)[name] == best
    assert dialog.locator("tbody tr").count() == labelled().judgments.frame.filter(participant=name).height
    shown.keyboard.press("Escape")
    # One stop of the tab key, the lowest first; arrow keys go from dot to dot.
    ordered = [f"{who}: {own:.0f} %" for who, own in sorted(found.people, key=lambda one: one[1])]
    assert dots.evaluate_all("all => all.filter(one => one.tabIndex === 0).length") == 1
    dots.first.focus()
    assert shown.evaluate("document.activeElement.getAttribute('aria-label')") == ordered[0]
    shown.keyboard.press("ArrowRight")
    assert shown.evaluate("document.activeElement.getAttribute('aria-label')") == ordered[1]
    shown.keyboard.press("Enter")
    dialog.locator("h2", has_text=ordered[1].partition(":")[0]).wait_for()
    assert dialog.is_visible()


LETTERS = """all => all.map(one => {
  const { a, b } = one.getScreenCTM();
  return parseFloat(getComputedStyle(one).fontSize) * Math.hypot(a, b);
})"""
"""The size of letters on the screen, in pixels."""


def with_cells(factors: tuple[str, ...], cells: list[tuple[str, ...]], path: Path) -> str:
    """The address of a page whose first figure has these cells."""
    found = labelled().outcomes
    assert isinstance(found, Outcomes)
    rule = replace(found.analysed, cells=((50.0, 40.0, 60.0),) * len(cells), comparisons=())
    drawn = replace(found, factors=factors, cells=tuple(cells), rules=(rule,), comparisons=(), sentences={})
    path.write_text(html(replace(labelled(), outcomes=drawn)), encoding="utf-8")
    return path.as_uri()


def test_letters_of_figures_can_be_read_on_a_phone(opened: Any, tmp_path: Path) -> None:
    opened.set_viewport_size(PHONE)
    assert min(opened.locator("figure svg text").evaluate_all(LETTERS)) >= 9
    # With many rows and a dot per participant, the first figure is higher than wide.
    opened.goto(with_cells(("genre",), [(f"genre {number}",) for number in range(12)], tmp_path / "tall.html"))
    assert min(opened.locator("#first-figure text").evaluate_all(LETTERS)) >= 9


def test_names_in_the_first_figure_are_not_cut_off(shown: Any, tmp_path: Path) -> None:
    lines = [(first, second) for first in ("island", "non") for second in ("embedded", "matrix")]
    rows = [("Members-of-the-same-Category",), ("unknown",)]
    for factors, cells in ((("structure", "distance"), lines), (("label",), rows)):
        shown.goto(with_cells(factors, cells, tmp_path / "names.html"))
        boxes = shown.locator("#first-figure text").evaluate_all(
            "all => all.map(t => [t.getBBox().x, t.getBBox().width])"
        )
        assert min(x for x, _ in boxes) >= 0
        assert max(x + width for x, width in boxes) <= WIDTH


def test_kept_and_excluded_can_be_told_apart(opened: Any) -> None:
    opened.locator("#table-participants select").select_option("excluded")
    assert set(names(opened)) == set(gathered().screening.excluded)
    opened.locator("#table-participants select").select_option("kept")
    assert len(names(opened)) == PEOPLE - len(gathered().screening.excluded)


@pytest.mark.slow
def test_the_methods_paragraph_can_be_copied(opened: Any) -> None:
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button = opened.locator("#methods > .copy")
    button.click()
    opened.wait_for_function("document.querySelector('#methods > .copy').textContent === 'Copied'")


@pytest.mark.few(1)
@pytest.mark.parametrize(("size", "scheme"), [(DESK, "light"), (PHONE, "dark")], ids=["desk", "phone"])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_page(
    browser: Any, report: Path, size: dict[str, int], scheme: str
) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is missing: make setup")
    # The policy of the page would not let axe in.
    context = browser.new_context(viewport=size, color_scheme=scheme, bypass_csp=True)
    shown = context.new_page()
    shown.goto(report.as_uri())
    picture(shown, f"report-{scheme}")
    shown.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
    assert shown.evaluate("document.documentElement.scrollWidth") == size["width"]
    shown.evaluate(AXE.read_text(encoding="utf-8"))
    found = shown.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:120]) for one in found] == []
    context.close()


@pytest.mark.slow
def test_figures_fit_a_phone_or_say_that_they_can_be_moved(opened: Any) -> None:
    opened.set_viewport_size(PHONE)
    for figure in opened.locator("main figure").all():
        room, width, hint = figure.evaluate(
            "f => [f.querySelector('.wide').clientWidth, f.querySelector('svg').getBoundingClientRect().width,"
            " getComputedStyle(f, '::before').content]"
        )
        assert (width > room + 1) == ("sideways" in hint), figure.get_attribute("id")
    opened.set_viewport_size(DESK)
    hints = opened.locator("main figure").evaluate_all("all => all.map(f => getComputedStyle(f, '::before').content)")
    assert set(hints) == {"none"}
