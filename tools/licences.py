"""List every dependency of karat at run time with its licence, and fail where one must not be there: make licences

The dependencies are those of pyproject.toml, followed through the metadata of what is installed, with the markers of
this Python and this platform. What the base needs comes first; an extra lists what it adds. The libraries that go to
browsers come from package-lock.json.

No dependency may be under the GPL or the AGPL. The LGPL may be in extras only, which users install by choice. The MPL
binds changes of its own files alone, and karat changes none; each package under it is named here, so that no other
comes in unseen. Where a package leaves a choice (OR), its mildest licence counts; what it joins (AND), the strictest.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
LOCK = Path("src") / "karat" / "field" / "web" / "package-lock.json"
BASE, BROWSER = "base", "browser"
MPL_KNOWN = {"certifi", "tqdm"}
FREE, MPL, LGPL, GPL, UNKNOWN = range(5)
"""How much a licence asks of those who build on it, the most last."""
SHORT = 100
"""A longer text in the metadata is a licence itself, not its name."""


class LicenceError(Exception):
    """The list cannot be made; the text says what to do."""


@dataclass(frozen=True)
class Package:
    """A package, the part of karat that brings it, its licence in its own words, and the packages that it needs."""

    name: str
    version: str
    part: str
    licence: str
    kind: int
    needs: tuple[str, ...] = ()
    integrity: str = ""


def main() -> int:
    """Print the list and write it to dist/, and name what must not be there."""
    try:
        found = packages(ROOT)
    except LicenceError as error:
        print(error, file=sys.stderr)
        return 1
    text = table(found)
    path = ROOT / "dist" / f"karat-{version(ROOT)}-licences.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(f"{text}\nwritten to dist/{path.name}")
    wrong = objections(found)
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


def version(root: Path) -> str:
    """The version of karat that its source states."""
    text = (root / "src" / "karat" / "__init__.py").read_text(encoding="utf-8")
    (found,) = re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    return str(found)


def packages(root: Path, extras: Iterable[str] | None = None) -> list[Package]:
    """Everything at run time: of the base, of the extras (all, or those named), of the browser."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    base = installed(project["dependencies"], BASE)
    found = list(base.values())
    for extra in sorted(optional if extras is None else extras):
        added = installed(optional[extra], extra)
        found += [package for name, package in added.items() if name not in base]
    return [*found, *browser_packages(root)]


def installed(requirements: Iterable[str], part: str) -> dict[str, Package]:
    """What these requirements bring, down to the last, by name.

    >>> found = installed(["jinja2"], "base")
    >>> [(package.name, package.licence, package.needs) for package in found.values()]
    [('jinja2', 'BSD License', ('markupsafe',)), ('markupsafe', 'BSD-3-Clause', ())]
    """
    waiting = applying(requirements, "")
    needs: dict[str, set[str]] = {}
    done: set[tuple[str, str]] = set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        for extra in {"", *requirement.extras} - {other for known, other in done if known == name}:
            done.add((name, extra))
            below = applying(metadata_of(name, part).requires or [], extra)
            needs.setdefault(name, set()).update(canonicalize_name(each.name) for each in below)
            waiting += below
    return {name: described(name, metadata_of(name, part), part, needs[name]) for name in sorted(needs)}


def applying(requirements: Iterable[str], extra: str) -> list[Requirement]:
    """The requirements that hold on this machine, for a package that is wanted with an extra of its own, or none."""
    parsed = [Requirement(text) for text in requirements]
    return [each for each in parsed if each.marker is None or each.marker.evaluate({"extra": extra})]


def metadata_of(name: str, part: str) -> Distribution:
    """The metadata of an installed package."""
    try:
        return distribution(name)
    except PackageNotFoundError:
        where = "the base" if part == BASE else f"the extra {part}"
        raise LicenceError(
            f"{name} is needed by {where} of karat and is not installed. make licences installs it."
        ) from None


def described(name: str, metadata: Distribution, part: str, needs: Iterable[str]) -> Package:
    """A package as its metadata describe it."""
    stated = statements(metadata)
    kind = max((kind_of(text) for text in stated), default=UNKNOWN)
    return Package(name, metadata.version, part, stated[0] if stated else "not stated", kind, tuple(sorted(needs)))


def statements(metadata: Distribution) -> list[str]:
    """What the metadata say about the licence, the most exact first: an expression, or a name and classifiers."""
    about = metadata.metadata
    if expressions := about.get_all("License-Expression"):
        return list(expressions)
    names = [name.strip() for name in about.get_all("License") or []]
    classifiers = [text for text in about.get_all("Classifier") or [] if text.startswith("License :: ")]
    return [
        *(name for name in names if name and len(name) <= SHORT and "\n" not in name),
        *(text.rpartition(" :: ")[2] for text in classifiers),
    ]


def kind_of(licence: str) -> int:
    """How much a licence asks, whether it is an expression or a name.

    >>> kind_of("MPL-2.0 AND MIT") == MPL, kind_of("(MIT OR GPL-2.0-only) AND ISC") == FREE
    (True, True)
    >>> kind_of("LGPL-3.0-only") == LGPL, kind_of("GNU General Public License v3 (GPLv3)") == GPL
    (True, True)
    """
    for word, join in ((" OR ", min), (" AND ", max)):
        parts = split_outside(licence, word)
        if len(parts) > 1:
            return join(kind_of(part) for part in parts)
    bare = licence.strip()
    if bare.startswith("(") and bare.endswith(")"):
        return kind_of(bare[1:-1])
    for pattern, kind in (
        (r"LGPL|lesser general public|library general public", LGPL),
        (r"GPL|general public|affero", GPL),
        (r"MPL|mozilla", MPL),
        (r"^(unknown|other.*|proprietary.*|)$", UNKNOWN),
    ):
        if re.search(pattern, bare, re.IGNORECASE):
            return kind
    return FREE


def split_outside(text: str, word: str) -> list[str]:
    """The parts between a word, where it stands outside brackets."""
    parts, depth = [""], 0
    for piece in re.split(rf"([()]|{word})", text):
        depth += {"(": 1, ")": -1}.get(piece, 0)
        if piece == word and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def browser_packages(root: Path) -> Iterator[Package]:
    """The libraries that are served to browsers; what only tests use stays out."""
    locked = json.loads((root / LOCK).read_text(encoding="utf-8"))["packages"]
    for path, entry in locked.items():
        if path and not entry.get("dev"):
            licence = entry.get("license", "not stated")
            kind = kind_of(licence) if "license" in entry else UNKNOWN
            needs = tuple(sorted(entry.get("dependencies", {})))
            name = path.rpartition("node_modules/")[2]
            yield Package(name, entry["version"], BROWSER, licence, kind, needs, entry["integrity"])


def objections(found: Iterable[Package]) -> list[str]:
    """A sentence for each package that must not be where it is."""
    wrong = []
    for package in found:
        named = f"{package.name} {package.version} ({package.part}) is under {package.licence}: "
        if package.kind == GPL:
            wrong.append(f"{named}karat may not depend on it.")
        elif package.kind == LGPL and package.part in (BASE, BROWSER):
            wrong.append(f"{named}that is allowed in extras only.")
        elif package.kind == MPL and package.name not in MPL_KNOWN:
            wrong.append(f"{named}look at it, and name it in MPL_KNOWN of tools/licences.py if it may stay.")
        elif package.kind == UNKNOWN:
            wrong.append(f"{named}find out by hand whether karat may depend on it.")
    return wrong


def table(found: Iterable[Package]) -> str:
    """The list for people, one table per part, and what is not simply free in a sentence each."""
    found = list(found)
    lines = [f"# Licences of what karat {version(ROOT)} needs at run time"]
    for part in dict.fromkeys(package.part for package in found):
        title = {BASE: "Base", BROWSER: "In the browser"}.get(part, f"Extra `{part}`, beside the base")
        lines += ["", f"## {title}", "", "| package | version | licence |", "| --- | --- | --- |"]
        lines += [f"| {each.name} | {each.version} | {each.licence} |" for each in found if each.part == part]
    lines.append("")
    for kind, words in (
        (GPL, "the GPL or AGPL"),
        (LGPL, "the LGPL"),
        (MPL, "the MPL"),
        (UNKNOWN, "an unknown licence"),
    ):
        names = [f"{package.name} ({package.part})" for package in found if package.kind == kind]
        lines.append(f"- Under {words}: {', '.join(names) or 'none'}.")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
