"""Make the pictures of the gallery: python tools/make_gallery.py

The Python blocks of its pages are run in order, as a test runs them, and the figures that they save are kept beside the
pages. Letters stay text, so that the pictures are small.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

import matplotlib as mpl

FOLDER = Path(__file__).parent.parent / "docs" / "gallery"
PAGES = ("studies.md", "analyses.md")
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SAVED = re.compile(r"\.savefig\(\"([\w-]+\.svg)\"\)")


def saved(page: str) -> list[str]:
    """The figures that a page saves."""
    return SAVED.findall((FOLDER / page).read_text(encoding="utf-8"))


def make(page: str) -> None:
    """Run a page and keep its figures."""
    names: dict[str, object] = {"__name__": page}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for code in BLOCK.findall((FOLDER / page).read_text(encoding="utf-8")):
                exec(compile(code, page, "exec"), names)
            for name in saved(page):
                shutil.copy(name, FOLDER / name)
        finally:
            os.chdir(before)


if __name__ == "__main__":
    mpl.use("Agg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "karat", "path.simplify_threshold": 1.0})
    os.environ["SOURCE_DATE_EPOCH"] = "0"  # no date in the pictures
    for one in PAGES:
        make(one)
