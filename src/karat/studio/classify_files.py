"""What was dropped: a study file with the tables that it names, results, or both."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from karat.judgments.files import companions
from karat.judgments.source import SourceFile
from karat.studio.folder import StudioError, files_in, unpack
from karat.study.file import NAME

TABLES = ("items", "templates", "lexicon", "questions")
"""The keys of a block that name tables."""


@dataclass(frozen=True)
class FileClasses:
    """The files of a drop, by what they are."""

    study: Path | None
    results: tuple[Path, ...]
    tables: tuple[Path, ...] = ()
    """What the study file names."""


def classify(folder: Path) -> FileClasses:
    """Tell the study and its tables from results; an archive with a study in it is unpacked first.

    >>> folder = getfixture("tmp_path")
    >>> _ = (folder / "results.csv").write_text("participant,item,response")
    >>> sorted_ = classify(folder)
    >>> sorted_.study is None, [path.name for path in sorted_.results]
    (True, ['results.csv'])
    """
    for archive in [path for path in files_in(folder) if path.suffix.lower() == ".zip"]:
        members = _worth_having(SourceFile(archive).zip_sizes)
        if any(name.endswith(".toml") for name in members):
            unpack(archive, members)
    found = files_in(folder)
    study = _study_in(found)
    named = set() if study is None else set(_named(study))
    tables = [path for path in found if path.resolve() in named]
    apart = {study, *tables, *companions(found)}
    left = [path for path in found if path not in apart]
    return FileClasses(study, tuple(left), tuple(tables))


def _worth_having(names: dict[str, int]) -> list[str]:
    """The members of an archive without what systems put into archives for themselves."""
    return [name for name in names if not any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts)]


def _study_in(files: list[Path]) -> Path | None:
    """The one study file: study.toml, else the one TOML file."""
    known = [path for path in files if path.suffix.lower() == ".toml"]
    named = [path for path in known if path.name == NAME] or known
    if len(named) > 1:
        raise StudioError(
            f"There are {len(named)} study files: {', '.join(map(str, named))}. Drop one study at a time."
        )
    return named[0] if named else None


def _named(study: Path) -> Iterator[Path]:
    """The tables that a study file names. A file that cannot be read names none; reading it will say why."""
    try:
        blocks = tomllib.loads(study.read_text(encoding="utf-8-sig")).get("block", [])
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return
    for block in blocks if isinstance(blocks, list) else []:
        for key in TABLES if isinstance(block, dict) else ():
            for name in _texts(block.get(key)):
                yield (study.parent / name).resolve()


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, str)]
