"""The fixtures of the readers: folders with the files of one case and a `case.toml` that says what is in them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat.intake import Intake, Options, read_files
from karat.judgments.scales import parse_scale
from karat.messages import Message

FIXTURES = Path(__file__).parent / "fixtures"


@dataclass(frozen=True)
class Case:
    """One case: its files, the reader that must take them, and the counts made by hand."""

    name: str
    reader: str
    files: tuple[str, ...]
    units: int
    judgments: int
    source: str
    options: Options
    flags: tuple[str, ...]

    def paths(self, folder: Path | None = None) -> list[Path]:
        """The files of the case, or their copies in another folder."""
        return [(folder or FIXTURES / self.name) / file for file in self.files]

    def read(self, folder: Path | None = None, **more: bool) -> Intake:
        """Read the case as a user would."""
        return read_files(self.paths(folder), self.source, self.options, **more)


def load_case(folder: Path) -> Case:
    """A case from its folder."""
    about = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    scale, mapping, answers = about.get("scale"), about.get("mapping", {}), about.get("answers", {})
    flags = [word for pair in mapping.items() for word in ("--map", "=".join(pair))]
    flags += ["--scale", scale] if scale else []
    flags += ["--answers", ",".join("=".join(pair) for pair in answers.items())] if answers else []
    flags += ["--from", about["source"]] if "source" in about else []
    flags += ["--wide", about["wide"]] if "wide" in about else []
    return Case(
        folder.name,
        about["reader"],
        tuple(about["files"]),
        about["units"],
        about["judgments"],
        about.get("source", "auto"),
        Options(mapping=mapping, scale=parse_scale(scale) if scale else None, answers=answers, wide=about.get("wide")),
        tuple(flags),
    )


CASES = [load_case(path.parent) for path in sorted(FIXTURES.glob("*/case.toml"))]


def aside(read: Intake) -> dict[str, int]:
    """How many units are not judgments, by the code of the reason and the type that it names."""
    return {" ".join([reason.code, *reason.values.values()]): count for reason, count in read.set_aside.items()}


def noted(messages: Iterable[Message], code: str) -> Mapping[str, Any]:
    """The values of the first message with this code."""
    found = [message for message in messages if message.code == code]
    assert found, code
    return found[0].values
