"""A file with screening rules alone, for results that have no study file: `[screening]`, as a study file has it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from karat.study.file import StudyError, read_toml, validated
from karat.study.setting_base import Settings
from karat.study.settings import ScreeningSettings

BARE = re.compile(r"[A-Za-z0-9_-]+")


class RulesFile(Settings):
    """What such a file holds."""

    screening: ScreeningSettings = Field(description="The screening rules, as in a study file.")


def read_rules(path: str | Path) -> dict[str, Any]:
    """The rules of a file, as `karat.screen.run` takes them.

    >>> file = getfixture("tmp_path") / "rules.toml"
    >>> _ = file.write_text("[screening]\\nexclude = 'any'\\ncompletion = {}\\ncredence = {below = 0.1}\\n")
    >>> read_rules(file)
    {'completion': {}, 'credence': {'below': 0.1}, 'exclude': 'any'}
    """
    path = Path(path)
    if path.is_dir():
        raise StudyError(f"{path} is a folder; --rules takes a file.")
    if not path.is_file():
        raise StudyError(f"There is no file of rules {path}. It has a section [screening], as a study file has.")
    data, text = read_toml(path)
    if "block" in data:
        raise StudyError(f"{path.name} is a study file, with items beside its rules: say --study {path}.")
    if not isinstance(data.get("screening"), dict) or not set(data["screening"]) - {"exclude"}:
        raise StudyError(f"{path.name} states no rules. Write criteria under [screening], such as completion = {{}}.")
    return validated(RulesFile, data, text, path, "is not a file of rules").screening.rules


def rules_text(rules: Mapping[str, Any]) -> str:
    """Rules as a file that `read_rules` takes.

    >>> print(rules_text({"completion": {"at_least": 0.8, "person": None}, "exclude": "any"}))
    [screening]
    completion = { at_least = 0.8 }
    exclude = "any"
    <BLANKLINE>
    """
    return "".join(["[screening]\n", *(f"{name} = {_toml(given)}\n" for name, given in rules.items())])


def _toml(value: Any) -> str:
    """A value in TOML, which has no word for none: keys without a value are left out."""
    if isinstance(value, Mapping):
        keys = {key: key if BARE.fullmatch(key) else _toml(key) for key in value}
        inside = ", ".join(f"{keys[key]} = {_toml(own)}" for key, own in value.items() if own is not None)
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, str | bool):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Collection):
        return f"[{', '.join(map(_toml, value))}]"
    return repr(value)
