"""A real Chromium for the tests: the one of the machine, else the tests that need one are skipped with a reason."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
MISSING = "no Chromium on this machine: install the package chromium, or say KARAT_CHROMIUM=/path/to/chromium"


def chromium_path() -> str | None:
    """Where Chromium is: as the environment says, on the path, or where playwright has put it."""
    stated = os.environ.get("KARAT_CHROMIUM")
    if stated:
        return stated if Path(stated).exists() else None
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found:
        return found
    cache = Path.home() / ".cache" / "ms-playwright"
    return next((str(path) for path in sorted(cache.glob("chromium-*/chrome-linux*/chrome"))), None)


@contextmanager
def chromium(*flags: str) -> Iterator[Any]:
    """A running browser of playwright; pytest counts and names what is skipped where there is none."""
    path = chromium_path()
    if path is None:
        pytest.skip(MISSING)
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: make setup-dev")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path, args=[*FLAGS, *flags])
        try:
            yield browser
        finally:
            browser.close()


def picture(page: Any, name: str, size: dict[str, int] | None = None) -> None:
    """Keep what a page looks like for the documentation, where KARAT_SCREENSHOTS names a folder: make screenshots.

    In place of a page, a list of pictures of several pages (`taken`), which are shown side by side at half their size.
    """
    folder = os.environ.get("KARAT_SCREENSHOTS")
    if not folder:
        return
    if isinstance(page, list):
        shown = _side_by_side([Image.open(BytesIO(content)) for content in page])
    else:
        shown = Image.open(BytesIO(taken(page, size)))
    # With a palette a picture of a page has a third of the size and looks the same.
    small = shown.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    small.save(Path(folder) / f"{name}.png", optimize=True)


def taken(page: Any, size: dict[str, int] | None = None) -> bytes:
    """What a page looks like."""
    before = page.viewport_size
    page.set_viewport_size(size or before)
    content: bytes = page.screenshot()
    page.set_viewport_size(before)
    return content


def _side_by_side(pages: list[Image.Image], gap: int = 24, ground: str = "#d9d5ca") -> Image.Image:
    width = sum(page.width for page in pages) + gap * (len(pages) + 1)
    sheet = Image.new("RGB", (width, max(page.height for page in pages) + 2 * gap), ground)
    left = gap
    for page in pages:
        sheet.paste(page, (left, gap))
        left += page.width + gap
    return sheet.resize((sheet.width // 2, sheet.height // 2), Image.Resampling.LANCZOS)
