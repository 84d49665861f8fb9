"""Resolve the versions of everything karat uses, for Python 3.11 to 3.13 at once: make constraints, make wheels

The result is plain pins with markers, and names no package registry. What the container installs is written once more
with the hash of every file, so that nothing else can come in its place.

`make wheels` asks for each system and each Python whether every pinned version has a wheel there, for the base and for
each extra, and prints a table. Without a wheel, users would need a compiler.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
GROUPS = ("dev", "coverage", "mutation")
HASHED = "# Made by `make constraints`: what the container installs, by version and hash.\n"
BUILT_WITH = "hatchling>=1.27\n"
HEADER = "# Made by `make constraints`; holds for Python 3.11 to 3.13.\n"


SYSTEMS = {
    "Linux (x86-64)": "x86_64-unknown-linux-gnu",
    "Windows (x86-64)": "x86_64-pc-windows-msvc",
    "macOS (Apple silicon)": "aarch64-apple-darwin",
    "macOS (Intel)": "x86_64-apple-darwin",
}
PYTHONS = ("3.11", "3.12", "3.13")
KNOWN = (("bayes", "macOS (Intel)"),)
"""Parts that cannot be installed on a system, as docs/tutorials/install.md says."""
UNREACHED = re.compile(r"(?i)dns error|failed to fetch|connection|timed out|network")
LACKING = re.compile(r"([\w.-]+)==(\S+) has no (?:usable )?wheels")
Resolve = Callable[[Sequence[str], str, str, Sequence[str]], "subprocess.CompletedProcess[str]"]
"""From requirements, a system, a Python and the packages that may lack a wheel to what the resolver prints."""


class UnreachedError(Exception):
    """The registry does not answer, so nothing can be said of wheels."""


def parts(root: Path = ROOT) -> dict[str, list[str]]:
    """The requirements of the base and of each extra.

    >>> sorted(parts())
    ['base', 'bayes', 'cluster', 'postgres']
    """
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {"base": project["dependencies"], **project["optional-dependencies"]}


def resolved(
    requirements: Sequence[str], system: str, python: str, built: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """The pinned versions of requirements and of all that they need, from wheels except for those to be built."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "-", "--constraint", str(ROOT / "constraints.txt")]
    command += ["--python-platform", system, "--python-version", python, "-q", "--no-annotate", "--no-header"]
    command += ["--only-binary", ":all:"] + [part for name in built for part in ("--no-binary", name)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, input="\n".join(requirements), check=False)


def without_wheel(requirements: Sequence[str], system: str, python: str, resolve: Resolve = resolved) -> list[str]:
    """The pins that have no wheel for a system and a Python, or what the resolver says where it is not about wheels."""
    found: dict[str, str] = {}
    while (done := resolve(requirements, system, python, tuple(found))).returncode:
        if UNREACHED.search(done.stderr):
            raise UnreachedError(done.stderr.strip().splitlines()[-1])
        new = {name: version for name, version in LACKING.findall(done.stderr) if name not in found}
        if not new and not found:
            return [done.stderr.strip().splitlines()[-1]]
        if not new:  # a package that has no source either
            break
        found |= new
    return [f"{name} {version}" for name, version in found.items()]


def wheel_table(resolve: Resolve = resolved) -> tuple[list[str], bool]:
    """One row per part and system, one column per Python; and whether no pin lacks a wheel, except in `KNOWN`."""
    rows = [
        f"| part | system | {' | '.join(f'Python {python}' for python in PYTHONS)} |",
        "| --- " * (2 + len(PYTHONS)) + "|",
    ]
    complete = True
    for part, requirements in parts().items():
        for name, system in SYSTEMS.items():
            lacking = [without_wheel(requirements, system, python, resolve) for python in PYTHONS]
            complete &= not any(lacking) or (part, name) in KNOWN
            rows.append(f"| {part} | {name} | {' | '.join(', '.join(own) or 'all' for own in lacking)} |")
    return rows, complete


def check_wheels() -> int:
    """Print the table of wheels; 1 where some are missing, and a sentence where the registry does not answer."""
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "uv"], check=False)
    try:
        rows, complete = wheel_table()
    except UnreachedError as error:
        print(f"The package registry does not answer, so wheels cannot be checked here ({error}).")
        return 0
    print("\n".join(rows))
    return 0 if complete else 1


def main() -> None:
    """Write constraints.txt."""
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "uv"], check=True)
    command = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "--all-extras"]
    command += [part for group in GROUPS for part in ("--group", group)]
    command += ["--universal", "-q", "--python-version", "3.11", "--no-annotate", "--no-header", "--upgrade"]
    pins = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    (ROOT / "constraints.txt").write_text(HEADER + pins, encoding="utf-8")
    command = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "-", "--extra", "postgres"]
    command += ["--constraint", "constraints.txt", "--python-version", "3.12", "--python-platform", "linux"]
    command += ["--generate-hashes", "-q", "--no-annotate", "--no-header"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, input=BUILT_WITH)
    (ROOT / "deploy" / "requirements.txt").write_text(HASHED + done.stdout, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["wheels"]:
        sys.exit(check_wheels())
    main()
