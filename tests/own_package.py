"""A package as an installer would have left it, made of the blocks of a page in docs/extending/."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from conftest import ROOT
from karat.packages import offered

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def files_of(page: str) -> dict[str, str]:
    """The files of a page by their suffix: the Python file begins with what it says of itself."""
    found = BLOCK.findall((ROOT / "docs" / "extending" / page).read_text(encoding="utf-8"))
    files = {"py": next(text for language, text in found if language == "python" and text.startswith('"""'))}
    suffixes = {"javascript": "js", "toml": "toml"}
    return files | {suffixes[language]: text for language, text in found if language in suffixes}


@contextmanager
def installed(folder: Path, module: str, files: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The files of a package in a folder that Python looks into."""
    folder.mkdir()
    for suffix, text in files.items():
        (folder / f"{module}.{suffix}").write_text(text, encoding="utf-8")
    project = tomllib.loads(files["toml"])["project"]
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = project["entry-points"].items()
    lines = [f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in own.items()) for group, own in groups]
    (info / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(folder))
    offered.cache_clear()
    try:
        yield folder
    finally:
        offered.cache_clear()
        sys.modules.pop(module, None)
