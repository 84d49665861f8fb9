"""Make a notebook of each tutorial: python tools/make_notebooks.py

A block of Python is a cell. A block of commands is a cell of shell lines, without what they print. The text between
them, other blocks included, is a cell of text; so are commands for which a cell would wait forever: those that start a
server, or ask one, or ask the user. Cells have no outputs: they come when the notebook is run. A test fails where a
notebook is not what this script would write.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

DOCS = Path(__file__).parent.parent / "docs"
FRONT = re.compile(r"\A---\n.*?^---\n+", re.MULTILINE | re.DOTALL)
RUN = re.compile(r"^```(python|console)\n(.*?)^```$\n?", re.MULTILINE | re.DOTALL)
TO_NOTEBOOK = re.compile(r"\s*This page\s+also\s+exists\s+\[as a notebook\]\([^)]*\)\.")
BESIDE = re.compile(r"\]\(([\w-]+\.(?:md|csv)(?:#[\w-]+)?)\)")
SERVER = re.compile(r"^\$ karat (serve|open|status|export)\b", re.MULTILINE)
ASKED = "once these are confirmed:"
"""What a command prints outside a terminal, where it cannot ask. A notebook is a terminal to it."""
WITHOUT = ("install", "browser-app", "studio")
"""Tutorials about the terminal and the browser themselves."""


def notebooks() -> dict[str, str]:
    """The notebooks by file name, as text."""
    pages = sorted((DOCS / "tutorials").glob("*.md"))
    texts = {page.stem: page.read_text(encoding="utf-8") for page in pages}
    return {f"{name}.ipynb": notebook(text) for name, text in texts.items() if name not in WITHOUT}


def notebook(page: str) -> str:
    """A page as a notebook."""
    cells: list[Any] = []
    end = 0
    text = TO_NOTEBOOK.sub("", FRONT.sub("", page))
    for block in RUN.finditer(text):
        if SERVER.search(block[2]) or ASKED in block[2]:
            continue
        cells.append(new_markdown_cell(prose(text[end : block.start()])))
        cells.append(new_code_cell(block[2].rstrip() if block[1] == "python" else shell(block[2])))
        end = block.end()
    cells.append(new_markdown_cell(prose(text[end:])))
    kept = [cell for cell in cells if cell.source]
    for number, cell in enumerate(kept, start=1):
        cell.id = f"cell-{number}"  # by default random, which would make every run differ
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    made = new_notebook(cells=kept, metadata=kernel)
    nbformat.validate(made)
    return f"{nbformat.writes(made)}\n"


def prose(text: str) -> str:
    """Text with links that hold from the folder of the notebooks."""
    return BESIDE.sub(r"](../tutorials/\1)", text).strip()


def shell(block: str) -> str:
    """The commands of a console block as a notebook runs them.

    >>> shell("$ karat datasets\\nlikert ...\\n")
    '!karat datasets'
    """
    return "\n".join("!" + line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ "))


if __name__ == "__main__":
    for name, text in notebooks().items():
        (DOCS / "notebooks" / name).write_text(text, encoding="utf-8")
