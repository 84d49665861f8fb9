"""Tables that benchmarks write into pages: between named markers, or as rows of docs/performance.md.

`make benchmarks` runs every benchmark with `--write`, so that no figure in the documentation is copied by hand.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PERFORMANCE = Path(__file__).resolve().parents[2] / "docs" / "performance.md"


@dataclass(frozen=True)
class Target:
    """One target, what was found, and whether it holds."""

    name: str
    found: str
    holds: bool

    def __str__(self) -> str:
        return f"{'holds ' if self.holds else 'MISSED'}  {self.name}: {self.found}"


def parse_options(parser: argparse.ArgumentParser, arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options of a benchmark, `--smallest` among them, whose figures are never written.

    At the smallest size everything of karat runs on next to nothing, limits on time and memory do not count, and no
    peer is installed that is not there.
    """
    parser.add_argument("--smallest", action="store_true", help="the smallest size, to see that everything runs")
    options = parser.parse_args(arguments)
    if options.smallest and options.write:
        parser.error("--smallest measures too little to be written. Leave out --smallest or --write.")
    return options


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


def write_rows(rows: Mapping[str, str], page: Path = PERFORMANCE) -> None:
    """Put what was measured into the rows of the table in docs/performance.md, each named by its first cell.

    A row has four cells: what was measured, beside what, the ratio, and the command. The third is replaced.
    """
    lines = page.read_text(encoding="utf-8").splitlines()
    for what, ratio in rows.items():
        places = [place for place, line in enumerate(lines) if line.startswith(f"| {what} |")]
        if len(places) != 1:
            raise SystemExit(f"{page} has {len(places)} rows that begin with | {what} |. Give it one.")
        _, _, beside, _, command, _ = lines[places[0]].split("|")
        lines[places[0]] = f"| {what} |{beside}| {ratio} |{command}|"
    page.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
