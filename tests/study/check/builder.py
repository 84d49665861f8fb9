"""Builds small studies for the check: two sound ones, and a way to break them."""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NOUNS = [
    "lantern", "kettle", "bicycle", "ladder", "drawer", "guitar", "curtain", "basket", "shutter", "pillow",
    "engine", "carpet", "bucket", "mirror", "barrel", "fiddle", "cradle", "hammer", "saddle", "candle", "jacket",
    "wagon", "helmet", "teapot", "shovel", "pencil", "anchor", "blanket", "cabinet", "tractor", "violin", "pillar",
    "puppet", "trumpet", "window", "fountain", "chimney", "parcel", "sandal", "whistle",
]  # fmt: skip
VERBS = ("mended", "painted", "borrowed", "polished", "hid")
SYLLABLES = ("ba", "do", "fe", "gu", "ka", "li", "mo", "ne", "pi", "ro", "su", "ta")
VERIFIED = "2026-03, norming study"
LABELS = ["very unnatural", "rather unnatural", "no tendency", "rather natural", "very natural"]

Row = dict[str, str]


def parts(number: int) -> tuple[str, str, str]:
    """A name, a verb and a noun that no two numbers share."""
    name = (SYLLABLES[number % 12] + SYLLABLES[(number // 12 + number) % 12] + "ra").capitalize()
    name += "h" * (number // 144)
    return name, VERBS[number // len(NOUNS) % len(VERBS)], NOUNS[number % len(NOUNS)]


def sentence(number: int, kind: str = "grammatical") -> str:
    """A sentence of its own for every number."""
    name, verb, noun = parts(number)
    if kind == "grammatical":
        return f"{name} {verb} the {noun} before the rain began."
    if kind == "marked":
        return f"{name} before the rain began {verb} the {noun}."
    return f"{name} the {verb} {noun} before rain the began."


def row(item: str, function: str, text: str, **cells: str) -> Row:
    return {"item": item, "function": function, "sentence": text, **cells}


@dataclass
class Study:
    """A study in the making: what the file says, and its items."""

    settings: dict[str, Any]
    block: dict[str, Any]
    tests: list[Row] = field(default_factory=list)
    others: list[Row] = field(default_factory=list)
    more_blocks: list[dict[str, Any]] = field(default_factory=list)
    tables: dict[str, list[Row]] = field(default_factory=dict)
    made: int = 0
    encoding: str = "utf-8"

    def only(self, function: str) -> list[Row]:
        return [row for row in self.others if row["function"] == function]

    def drop(self, function: str, keep: int = 0) -> None:
        kept = self.only(function)[:keep]
        self.others = [row for row in self.others if row["function"] != function or row in kept]

    def add(self, function: str, count: int, status: str, **cells: str) -> None:
        """More trials of a function, with sentences of their own."""
        for _ in range(count):
            self.made += 1
            number = 99 + self.made
            expected = {"grammatical": "3-5", "ungrammatical": "1-2"}.get(status, "")
            known = {"expected": expected} if function in ("control", "attention") else {}
            extra = {"status": status, **known, **cells}
            self.others.append(row(f"{function[0]}{number}", function, sentence(number, status), **extra))

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        blocks = [self.block, *self.more_blocks]
        texts = {"consent": "I agree to take part.", **self.settings.get("texts", {})}
        (folder / "study.toml").write_text(toml({**self.settings, "texts": texts}, blocks), encoding="utf-8")
        for name, rows in {"items.csv": [*self.tests, *self.others], **self.tables}.items():
            (folder / name).write_bytes(table(rows).encode(self.encoding))


def table(rows: list[Row]) -> str:
    columns = list(dict.fromkeys(name for cells in rows for name in cells))
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def toml(settings: dict[str, Any], blocks: list[dict[str, Any]]) -> str:
    lines = [f"{key} = {value(own)}" for key, own in settings.items() if not isinstance(own, dict)]
    for block in blocks:
        lines += ["", "[[block]]", *(f"{key} = {value(own)}" for key, own in block.items())]
    for key, own in settings.items():
        if isinstance(own, dict):
            lines += ["", f"[{key}]", *(f"{name} = {value(inner)}" for name, inner in own.items())]
    text = "\n".join(lines) + "\n"
    tomllib.loads(text)
    return text


def value(own: Any) -> str:
    if isinstance(own, bool):
        return "true" if own else "false"
    if isinstance(own, str):
        return '"' + own.replace('"', '\\"') + '"'
    if isinstance(own, list):
        return f"[{', '.join(map(value, own))}]"
    if isinstance(own, dict):
        return "{ " + ", ".join(f'"{key}" = {value(inner)}' for key, inner in own.items()) + " }"
    return str(own)


def tests(count: int) -> list[Row]:
    """Test items in two orders."""
    rows = []
    for number in range(count):
        name, _, noun = parts(number)
        verb = VERBS[number % len(VERBS)]
        rows.append(row(f"t{number + 1:02}", "test", f"{name} {verb} the {noun} before the rain began.", order="SO"))
        rows.append(row(f"t{number + 1:02}", "test", f"The {noun} {name} {verb} before the rain began.", order="OS"))
    return rows


def likert() -> Study:
    """A sound study on five points: 2 orders, 12 items, 6 calibration, 10 control, 6 attention trials, 6 fillers."""
    study = Study(
        {
            "title": "Order of objects",
            "public_title": "How sentences sound",
            "language": "en",
            "screening": {"completion": {"at_least": 0.9}, "attention": {"alpha": 0.05}, "controls": {"alpha": 0.05}},
            "recruitment": {"participants": 36},
        },
        {
            "task": "likert",
            "items": "items.csv",
            "scale": {"points": 5, "labels": LABELS},
            "factors": {"order": ["SO", "OS"]},
        },
        tests(12),
    )
    for degree in ("low", "mid", "high"):
        status = {"low": "ungrammatical", "mid": "marked", "high": "grammatical"}[degree]
        study.add("calibration", 2, status, acceptability=degree)
    study.add("control", 5, "grammatical", subgroup="related", verified=VERIFIED)
    study.add("control", 5, "ungrammatical", subgroup="unrelated", verified=VERIFIED)
    study.add("attention", 6, "ungrammatical")
    for status in ("grammatical", "marked", "ungrammatical"):
        study.add("filler", 2, status, subgroup="pseudo")
    return study


def choice() -> Study:
    """A sound choice between two orders: 6 items, 6 calibration, 8 control, 8 attention trials, a filler."""
    study = Study(
        {
            "title": "Order of objects",
            "public_title": "How sentences sound",
            "language": "en",
            "screening": {"completion": {"at_least": 0.9}, "attention": {"alpha": 0.05}, "controls": {"alpha": 0.05}},
            "recruitment": {"participants": 36},
        },
        {"task": "choice", "items": "items.csv", "factors": {"order": ["SO", "OS"]}, "compared": "order"},
        tests(6),
    )
    counts = {"calibration": 6, "control": 8, "attention": 8, "filler": 2}
    for function, count in counts.items():
        for _ in range(count):
            number = 100 + len(study.others)
            scored = {"control": {"subgroup": "related", "verified": VERIFIED}, "filler": {"subgroup": "pseudo"}}
            cells = {"sentence_2": sentence(number, "ungrammatical"), "expected": "1", **scored.get(function, {})}
            study.others.append(row(f"{function[0]}{number}", function, sentence(number), **cells))
    return study


SOUND = {"likert": likert, "choice": choice}
BROKEN: dict[str, Callable[[], Study]] = {}


def broken(name: str, base: Callable[[], Study] = likert) -> Callable[[Callable[[Study], None]], None]:
    """Register a study that a function breaks; the part of its name before the two lines is the rule."""

    def registered(breaks: Callable[[Study], None]) -> None:
        def made() -> Study:
            study = base()
            breaks(study)
            return study

        BROKEN[name] = made

    return registered
