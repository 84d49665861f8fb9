"""Small studies for the tests, written to a folder."""

from __future__ import annotations

from pathlib import Path

STATUSES = ["grammatical", "ungrammatical", "marked"]


def rating_items(tests: int = 24, fillers: int = 24) -> str:
    """A 2x2 design within items, with all item functions."""
    rows = ["item,function,subgroup,status,order,integration,sentence,expected,verified,pair"]
    for i in range(1, tests + 1):
        rows += [f"t{i:02d},test,,,{o},{g},Test {i} {o} {g}.,,," for o in ("PO", "OP") for g in ("yes", "no")]
    rows += [f"c{i},calibration,,{STATUSES[i % 3]},,,Calibration {i}.,,," for i in range(6)]
    for i in range(12):
        group, expected = "related" if i % 2 else "unrelated", "4-5" if i < 6 else "1-2"
        rows.append(f"k{i},control,{group},{STATUSES[i // 6]},,,Control {i}.,{expected},yes,")
    rows += [f"a{i},attention,,ungrammatical,,,Attention {i}.,1-2,,q{i // 2}" for i in range(6)]
    rows += [f"f{i},filler,pseudo,{STATUSES[i % 3]},,,Filler {i}.,,," for i in range(fillers)]
    rows += [f"x{i},practice,,{STATUSES[i % 3]},,,Practice {i}.,,," for i in range(3)]
    return "\n".join(rows) + "\n"


RATING = """title = "Ratings"
[[block]]
task = "likert"
items = "items.csv"
factors = { order = ["PO", "OP"], integration = ["yes", "no"] }
[order]
in_a_row = { status = 3, order = 2 }
[recruitment]
participants = 8
"""


def write_study(folder: Path, toml: str = RATING, **tables: str) -> Path:
    """Write a study file and its tables (`items=...` becomes items.csv); returns the study file."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (tables or {"items": rating_items()}).items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    path = folder / "study.toml"
    path.write_text(toml, encoding="utf-8")
    return path
