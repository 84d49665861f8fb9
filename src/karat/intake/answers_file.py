"""`FILE.karat.toml`: what was answered about a results file, so that the next command on it needs no options."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from karat.errors import IntakeError
from karat.intake.reading import Options
from karat.judgments.scales import parse_scale
from karat.messages import Message

SUFFIX = ".karat.toml"
FLAGS = ("wide", "scale", "answers")


def notes_path(file: Path) -> Path:
    """Where the answers about a file or folder are kept.

    >>> notes_path(Path("data/results.csv")).name
    'results.csv.karat.toml'
    """
    return file.with_name(file.name + SUFFIX)


def remember(file: Path, mapping: Mapping[str, str], flags: Mapping[str, str]) -> Path | None:
    """Write the answers beside the file; None where the folder cannot be written to."""
    lines = [f"# How karat reads {file.name}. Delete this file to be asked again.", "", "[map]"]
    lines += [f"{column} = {json.dumps(source, ensure_ascii=False)}" for column, source in mapping.items()]
    if flags:
        lines += ["", "[read]"]
        lines += [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in flags.items()]
    path = notes_path(file)
    try:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError:
        return None
    return path


def with_remembered(paths: Iterable[str | Path], options: Options) -> tuple[Options, list[Message]]:
    """The options with what was answered before; what is said now comes first."""
    notes = []
    for path in map(Path, paths):
        kept = notes_path(path)
        if not kept.is_file():
            continue
        data = _loaded(kept)
        mapping = {str(column): _source(source) for column, source in data.get("map", {}).items()}
        read = data.get("read", {})
        scale = options.scale
        if scale is None and "scale" in read:
            scale = parse_scale(str(read["scale"]))
        answers = options.answers
        if not answers and read.get("answers") == "begin":
            answers = {"*": "begin"}
        wide = options.wide
        if wide is None and read.get("wide") in ("participant", "item"):
            wide = cast(Any, read["wide"])
        options = replace(options, mapping={**mapping, **options.mapping}, scale=scale, answers=answers, wide=wide)
        notes.append(Message("intake.remembered", {"file": kept.name}))
    return options, notes


def _loaded(path: Path) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise IntakeError(f"{path.name} cannot be read: {error}. Fix it, or delete it to be asked again.") from None
    wrong = [key for key in data if key not in ("map", "read")]
    if wrong or not all(isinstance(part, dict) for part in data.values()):
        raise IntakeError(f"{path.name} must have the tables [map] and [read] only. Fix it, or delete it.")
    return data


def _source(source: object) -> str:
    return "+".join(map(str, source)) if isinstance(source, list) else str(source)
