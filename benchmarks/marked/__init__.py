"""Pages whose tables a benchmark writes between markers that name them, and targets that hold or are missed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Target:
    """One target, what was found, and whether it holds."""

    name: str
    found: str
    holds: bool

    def __str__(self) -> str:
        return f"{'holds ' if self.holds else 'MISSED'}  {self.name}: {self.found}"


def check_page(path: Path, names: Iterable[str]) -> None:
    """End with a word where a page lacks the place of a table, before anything long is run."""
    text = path.read_text(encoding="utf-8")
    for name in names:
        if not re.search(rf"<!-- {name} -->\n.*?<!-- end -->", text, re.DOTALL):
            raise SystemExit(f"{path} has no place for {name}: <!-- {name} --> and <!-- end --> around it.")


def write_page(path: Path, tables: dict[str, str]) -> None:
    """Put the tables between their markers."""
    text = path.read_text(encoding="utf-8")
    for name, table in tables.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text = pattern.sub(lambda match, table=table: f"{match[1]}\n{table}\n\n{match[2]}", text)  # type: ignore[misc]
    path.write_text(text, encoding="utf-8", newline="\n")
