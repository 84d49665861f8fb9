"""The temporary folder of dropped files, which only its owner can read.

Any program can claim to be a browser and send a name. A name that is absolute, leaves the folder, is hidden or is not
valid on this system is refused and never corrected, because a corrected name may belong to another file.
"""

import os
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from karat.errors import KaratError, shown
from karat.judgments.source import SourceFile

LIMIT = 500 * 1024**2
"""How many bytes may be dropped at once, packed or unpacked."""
MOST_FILES = 2000
LONGEST_NAME = 200
DEEPEST = 12
NEVER = set('<>:"|?*') if os.name == "nt" else set()


class StudioError(KaratError):
    """A file that cannot be accepted, or a page that cannot be shown."""


TOO_LARGE = f"The files are larger than {LIMIT // 1024**2} MB together. In a terminal, karat report takes larger ones."


def place_of(folder: Path, name: str) -> Path:
    """The path of a dropped file; dropped folders keep their structure."""
    parts = name.replace("\\", "/").split("/")
    if len(parts) > DEEPEST or not all(map(_is_plain, parts)):
        raise StudioError(f"{shown(name)} is not a file name karat accepts. Rename it and drop it again.")
    return folder.joinpath(*parts)


def _is_plain(part: str) -> bool:
    """Whether a part of a path is a plain name in its folder."""
    if not part or part.startswith(".") or part.endswith((" ", ".")) or not part.isprintable():
        return False
    return len(part.encode("utf-8", "replace")) <= LONGEST_NAME and not NEVER & set(part)


def files_in(folder: Path) -> list[Path]:
    """All files in a folder and its subfolders, in order."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def unpack(archive: Path, members: Sequence[str], limit: int = LIMIT) -> None:
    """Extract members of a zip archive to a folder with its name, and delete the archive."""
    source = SourceFile(archive)
    if sum(source.zip_sizes[name] for name in members) > limit or len(members) > MOST_FILES:
        raise StudioError(f"{archive.name}: {TOO_LARGE}")
    folder = archive.with_suffix("")
    if folder.exists():
        raise StudioError(f"There are both {archive.name} and a folder {folder.name}. Drop one of them.")
    for name, member in zip(members, source.zip_files(members), strict=True):
        place = place_of(folder, str(PurePosixPath(name)))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(member.content or b"")
    archive.unlink()


def pack(folder: Path, archive: Path) -> None:
    """Pack a folder into a zip archive."""
    paths = [path for path in files_in(folder) if path != archive]
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in paths:
            packed.write(path, PurePosixPath(archive.stem, *path.relative_to(folder).parts))


def keep(folder: Path, target: Path, name: str) -> Path:
    """Copy a folder to its final place, under a free name."""
    target.mkdir(parents=True, exist_ok=True)
    number, place = 1, target / name
    while place.exists():
        number += 1
        place = target / f"{name}-{number}"
    shutil.copytree(folder, place, ignore=shutil.ignore_patterns("*.zip"))
    return place
