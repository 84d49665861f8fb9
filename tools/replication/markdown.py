"""Numbers, names and tables as the pages of replications write them."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Sequence

KEPT = ("#", "|", ">", "!", "<", "```")
"""How parts of a page begin whose lines stay as they are: headings, tables, quotations, figures, comments, code."""

LONGEST = 8
"""How many rows a table may have before it is folded."""


def table(header: Sequence[str], rows: Iterable[Sequence[object]], left: int = 1) -> str:
    """A table whose first `left` columns are words and whose other columns are numbers, set to the right."""
    rule = ["---" if number < left else "---:" for number in range(len(header))]
    lines = [header, rule, *([str(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def decimals(p: float, digits: int = 3) -> str:
    """A probability without the zero before the point, as the paper's tables print it."""
    return f"{p:.{digits}f}".removeprefix("0")


def probability(p: float) -> str:
    """A probability with three decimals; what would be .000 is given as < .001."""
    return "< .001" if 0 < p < 0.0005 else decimals(p)


def names(people: Collection[str]) -> str:
    """Participants in their order, or that there are none."""
    return ", ".join(sorted(people)) or "none"


def same(first: Collection[object], *others: Collection[object]) -> str:
    """Whether all name the same, as a cell of a table; otherwise how many differ."""
    different = set().union(*(set(first) ^ set(other) for other in others))
    return "yes" if not different else f"no: {len(different)} differ"


def per_cent(share: float) -> str:
    """A share in per cent, with one decimal."""
    return f"{100 * share:.1f} %"


def wrapped(text: str) -> str:
    """The text with its paragraphs and lists set anew in lines of 120; long tables folded, the rest as it is."""
    parts = text.split("\n\n")
    return "\n\n".join(folded(part) if part.startswith(KEPT) else _filled(part) for part in parts)


def folded(part: str) -> str:
    """A part of a page, folded where it is a table of more than `LONGEST` rows."""
    rows = part.strip("\n").count("\n") - 1
    if not part.startswith("| ") or rows <= LONGEST:
        return part
    end = "\n" if part.endswith("\n") else ""
    body = part.strip("\n")
    return f'<details markdown="1">\n<summary>Table with {rows} rows</summary>\n\n{body}\n\n</details>{end}'


def _filled(part: str) -> str:
    items = part.replace("\n- ", "\0- ").split("\0")
    indents = ["  " if item.startswith("- ") else "" for item in items]
    lines = [
        textwrap.fill(
            " ".join(item.split()), 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
        for item, indent in zip(items, indents, strict=True)
    ]
    return "\n".join(lines) + ("\n" if part.endswith("\n") else "")
