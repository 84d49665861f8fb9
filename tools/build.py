"""Build the wheel and the sdist twice, and keep them where every byte is the same: make build

Both are built in fresh copies of the checkout, in folders of different names, with different seeds of Python's hashes.
The first copy makes each by itself. The second makes the sdist, and the wheel from the sdist. So one comparison says
that a build can be repeated, and that the sdist has all that the wheel is made of.

Times inside come from the last commit, from the changelog where there is no git, or from SOURCE_DATE_EPOCH where it is
set. The same commit therefore gives the same bytes on any day, with the versions that constraints.txt pins.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
NOT_COPIED = (
    ".git", ".venv", "node_modules", "dist", "site", "karat-demo", "__pycache__", ".*_cache", ".hypothesis",
    ".schemathesis",
)  # fmt: skip
ASSETS = ("field/web/vendor/jspsych.js", "field/web/vendor/licences.txt")
"""What participants' browsers run, and its licences: without them a user would need Node.js."""


class BuildError(Exception):
    """There is nothing to release; the text says why and what to do."""


def main() -> int:
    """Build into dist/ and print the checksums, or say in a sentence why not."""
    try:
        print("\n".join(build(ROOT, ROOT / "dist")))
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def build(root: Path, out: Path) -> list[str]:
    """Write wheel and sdist and return what to report about them."""
    for name in ASSETS:
        if not (root / "src" / "karat" / name).is_file():
            raise BuildError(f"src/karat/{name} is missing, which the wheel carries to browsers. Run make setup first.")
    seconds = source_date(root)
    with TemporaryDirectory() as folder:
        first = made(root, Path(folder) / "checkout", seconds, "--sdist", "--wheel")
        second = made(root, Path(folder) / "by way of the sdist", seconds)
        for one, other in zip(first, second, strict=True):
            compare(one, other)
        check_contents(*first)
        out.mkdir(exist_ok=True)
        kept = [Path(shutil.copy(path, out)) for path in first]
    when = datetime.fromtimestamp(seconds, UTC)
    return [
        f"built twice with the same bytes, dated {when:%Y-%m-%d %H:%M:%S} UTC (SOURCE_DATE_EPOCH={seconds})",
        *uncommitted(root),
        *(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {out.name}/{path.name}" for path in kept),
    ]


def source_date(root: Path) -> int:
    """The time that the files of a release bear, in seconds since 1970."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    if is_checkout(root):
        return int(git(root, "log", "-1", "--format=%ct"))
    dated = re.search(
        r"^## \S+ \((\d{4}-\d\d-\d\d)\)$", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    if dated is None:
        raise BuildError(
            "CHANGELOG.md has no dated version, such as ## 0.1.0 (2026-11-15), and there is no git to ask."
        )
    return int(datetime.fromisoformat(dated[1]).replace(tzinfo=UTC).timestamp())


def is_checkout(root: Path) -> bool:
    """Whether git knows this folder; an unpacked sdist may lie inside the checkout of something else."""
    top = git(root, "rev-parse", "--show-toplevel")
    return bool(top) and Path(top).resolve() == root.resolve()


def git(root: Path, *arguments: str) -> str:
    """What git says; nothing where there is no git or no checkout."""
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def uncommitted(root: Path) -> list[str]:
    """A warning where the files are not those of the commit that dates them."""
    changed = git(root, "status", "--porcelain").splitlines() if is_checkout(root) else []
    return [f"not for release: {len(changed)} changed or new files are not committed"] if changed else []


def made(root: Path, folder: Path, seconds: int, *what: str) -> tuple[Path, Path]:
    """The sdist and the wheel of a fresh copy."""
    shutil.copytree(root, folder, copy_function=shutil.copy, ignore=shutil.ignore_patterns(*NOT_COPIED))
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(seconds), "PYTHONHASHSEED": str(len(folder.name))}
    command = [sys.executable, "-m", "build", "--no-isolation", *what, "--outdir", str(folder / "dist"), str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise BuildError(f"The build failed.\n{done.stderr.strip() or done.stdout.strip()}")
    (sdist,), (wheel,) = ((folder / "dist").glob(pattern) for pattern in ("*.tar.gz", "*.whl"))
    return sdist, wheel


def compare(one: Path, other: Path) -> None:
    """Nothing where two archives are the same; otherwise an error that names what differs in them."""
    if one.read_bytes() == other.read_bytes():
        return
    here, there = members(one), members(other)
    names = sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))
    raise BuildError(
        f"{one.name} differs between two builds: {', '.join(names) or 'the times or the order of its files'}. "
        "What differs must not depend on when, where or from what it is built."
    )


def members(path: Path) -> dict[str, str]:
    """The files of an archive by name, each as its checksum."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return {name: hashlib.sha256(wheel.read(name)).hexdigest() for name in wheel.namelist()}
    found = {}
    with tarfile.open(path) as sdist:
        for member in sdist:
            content = sdist.extractfile(member)
            if content is not None:
                found[member.name.partition("/")[2]] = hashlib.sha256(content.read()).hexdigest()
    return found


def check_contents(sdist: Path, wheel: Path) -> None:
    """An error where the browser assets are missing, or where the wheel has more than the package."""
    source, installed = members(sdist), members(wheel)
    for name in ASSETS:
        if f"src/karat/{name}" not in source or f"karat/{name}" not in installed:
            raise BuildError(f"{name} is not in both archives. See artifacts in pyproject.toml.")
    more = [name for name in installed if not re.match(r"karat(-[\w.]+\.dist-info)?/", name) or "node_modules" in name]
    if more:
        raise BuildError(f"The wheel has what users do not need: {', '.join(more)}. See exclude in pyproject.toml.")


if __name__ == "__main__":
    sys.exit(main())
