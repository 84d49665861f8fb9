"""The pictures of the documentation: each is taken by a browser test, shown on a page, described, and small.

`make screenshots` takes them again. So none of them can show a page that karat no longer has.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from conftest import ROOT
from messages import refuses
from tools import make_gallery

DOCS = ROOT / "docs"
TAKEN = re.compile(r"\bpicture\(\w+, f?\"([^\"]+)\"")
SHOWN = re.compile(r"!\[([^\]]*)\]\(([^)\s]+\.png)\)")
GALLERY = re.compile(r"!\[([^\]]+)\]\(([\w-]+\.svg)\)")
LARGEST = 150_000
NEEDED = (
    "field-choice-desk",
    "field-choice-phone",
    "field-dashboard",
    "browser-app",
    "browser-app-check",
    "report-dark",
)


def taken() -> dict[str, Path]:
    """What browser tests call their pictures, as patterns: what a test fills in stands for any word."""
    found: dict[str, Path] = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        for name in TAKEN.findall(path.read_text(encoding="utf-8")):
            found[re.sub(r"\\\{.*?\\\}", r"[\\w-]+", re.escape(name))] = path
    return found


def shown(page: Path, text: str) -> dict[str, str]:
    """The pictures of a page by file name, with what is said to those who do not see them."""
    found = {}
    for words, path in SHOWN.findall(text):
        file = (page.parent / path).resolve()
        assert file.is_file(), f"{page}: there is no {file}"
        found[file.stem] = words
    return found


@cache
def on_pages() -> dict[str, str]:
    """The pictures of all pages."""
    pages = sorted(DOCS.rglob("*.md"))
    return {name: words for page in pages for name, words in shown(page, page.read_text(encoding="utf-8")).items()}


def test_every_picture_of_a_page_is_taken_by_a_test() -> None:
    names, patterns = set(on_pages()), taken()
    assert set(NEEDED) <= names
    assert [name for name in sorted(names) if not any(re.fullmatch(known, name) for known in patterns)] == []


def test_every_picture_that_is_taken_is_on_a_page() -> None:
    names = set(on_pages())
    assert [known for known in taken() if not any(re.fullmatch(known, name) for name in names)] == []
    assert sorted(path.stem for path in (DOCS / "assets").glob("*.png")) == sorted(names)


def test_make_takes_them_all() -> None:
    target = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nscreenshots:")[2].partition("\n\n")[0]
    assert [str(path) for path in set(taken().values()) if path.relative_to(ROOT).as_posix() not in target] == []


def test_they_are_described_and_small() -> None:
    assert [name for name, words in on_pages().items() if len(words) < 20] == []
    assert [path.name for path in (DOCS / "assets").glob("*.png") if path.stat().st_size > LARGEST] == []


def test_a_picture_that_is_not_there_is_found() -> None:
    page = DOCS / "index.md"
    assert shown(page, "![A door](assets/browser-app.png){ width=200 }") == {"browser-app": "A door"}
    with refuses(AssertionError, page, "window.png"):
        shown(page, "![A window](assets/window.png)")


def test_every_entry_of_the_gallery_shows_the_figure_it_saves() -> None:
    """Twelve entries, each with a picture that is small, described, and on the first page of the gallery."""
    folder = DOCS / "gallery"
    first = (folder / "index.md").read_text(encoding="utf-8")
    count = 0
    for page in make_gallery.PAGES:
        text = (folder / page).read_text(encoding="utf-8")
        for entry in text.split("\n## ")[1:]:
            (words, name), *_ = GALLERY.findall(entry)
            assert make_gallery.SAVED.findall(entry) == [name]
            assert len(words) > 20
            assert f"]({name})]({page}#" in first
            count += 1
    assert count == 12
    sizes = [path.stat().st_size for path in folder.glob("*.svg")]
    assert len(sizes) == count
    assert max(sizes) < 60_000
    assert sum(sizes) < 500_000
