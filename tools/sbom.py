"""Write the software bill of materials of karat in the form of CycloneDX 1.6: make sbom

Components are the packages that tools/licences.py lists: of the base, of every extra, of the browser. `scope` gives the
base and the browser (required) from extras (optional), and a property names the part. Nothing in the file depends on
when or where it is written: the time is that of the release, and the serial number follows from the content.
"""

from __future__ import annotations

import base64
import json
import platform
import sys
import tomllib
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.utils import canonicalize_name

from tools.build import source_date
from tools.licences import BASE, BROWSER, ROOT, LicenceError, Package, applying, packages, version

NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "karat")
"""Of serial numbers; the name alone, since the project has no address of its own."""


def main() -> int:
    """Write dist/karat-VERSION.cdx.json and say so, or why not."""
    try:
        found = bill(ROOT, packages(ROOT))
    except LicenceError as error:
        print(error, file=sys.stderr)
        return 1
    path = ROOT / "dist" / f"karat-{version(ROOT)}.cdx.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"written to dist/{path.name}: {len(found['components'])} components, {found['serialNumber']}")
    return 0


def bill(root: Path, found: Iterable[Package]) -> dict[str, Any]:
    """The bill of materials of karat with these packages."""
    found = list(found)
    unique = {address(package): package for package in found}
    parts = {each: [package.part for package in found if address(package) == each] for each in unique}
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    itself = f"pkg:pypi/karat@{version(root)}"
    content = {
        "version": 1,
        "metadata": {
            "timestamp": f"{datetime.fromtimestamp(source_date(root), UTC):%Y-%m-%dT%H:%M:%SZ}",
            "lifecycles": [{"phase": "build"}],
            "component": {
                "type": "application",
                "bom-ref": itself,
                "name": "karat",
                "version": version(root),
                "description": project["description"],
                "licenses": [{"expression": project["license"]}],
                "purl": itself,
            },
            "properties": [
                {"name": "karat:python", "value": ".".join(platform.python_version_tuple()[:2])},
                {"name": "karat:platform", "value": f"{sys.platform} {platform.machine()}"},
            ],
        },
        "components": [component(unique[each], parts[each]) for each in sorted(unique)],
        "dependencies": dependencies(itself, direct(project), unique),
    }
    serial = uuid.uuid5(NAMESPACE, json.dumps(content, sort_keys=True))
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": serial.urn} | content


def direct(project: dict[str, Any]) -> set[str]:
    """The packages that pyproject.toml names itself, in the base or an extra."""
    named = [*project["dependencies"], *(each for extra in project["optional-dependencies"].values() for each in extra)]
    return {canonicalize_name(each.name) for each in applying(named, "")}


def address(package: Package) -> str:
    """The package URL, which names a package and its version in every list.

    >>> address(Package("@scope/part", "1.0", BROWSER, "MIT", 0)), address(Package("numpy", "2.4.6", BASE, "MIT", 0))
    ('pkg:npm/%40scope/part@1.0', 'pkg:pypi/numpy@2.4.6')
    """
    kind = "npm" if package.part == BROWSER else "pypi"
    return f"pkg:{kind}/{quote(package.name)}@{quote(package.version)}"


def component(package: Package, parts: Iterable[str]) -> dict[str, Any]:
    """A package in CycloneDX's words, and the parts that bring it; what npm is locked to comes with its checksum."""
    fields: dict[str, Any] = {
        "type": "library",
        "bom-ref": address(package),
        "name": package.name,
        "version": package.version,
        "scope": "required" if package.part in (BASE, BROWSER) else "optional",
    }
    if package.integrity:
        algorithm, _, content = package.integrity.partition("-")
        fields["hashes"] = [
            {"alg": algorithm.upper().replace("SHA", "SHA-"), "content": base64.b64decode(content).hex()}
        ]
    return fields | {
        "licenses": [licence(package.licence)],
        "purl": address(package),
        "properties": [{"name": "karat:part", "value": part} for part in sorted(parts)],
    }


def licence(stated: str) -> dict[str, Any]:
    """An expression of SPDX where the package states one, else the name as it is stated.

    >>> licence("mit or cc0-1.0"), licence("BSD License")
    ({'expression': 'MIT OR CC0-1.0'}, {'license': {'name': 'BSD License'}})
    """
    try:
        return {"expression": canonicalize_license_expression(stated)}
    except InvalidLicenseExpression:
        return {"license": {"name": stated}}


def dependencies(itself: str, named: set[str], unique: dict[str, Package]) -> list[dict[str, Any]]:
    """Dependencies: karat first, then each component."""
    browser = {package.name: each for each, package in unique.items() if package.part == BROWSER}
    python = {package.name: each for each, package in unique.items() if package.part != BROWSER}
    below = {name for package in unique.values() if package.part == BROWSER for name in package.needs}
    tops = [python[name] for name in named if name in python] + [
        each for name, each in browser.items() if name not in below
    ]
    graph = [{"ref": itself, "dependsOn": sorted(tops)}]
    for each in sorted(unique):
        known = browser if unique[each].part == BROWSER else python
        graph.append({"ref": each, "dependsOn": sorted(known[name] for name in unique[each].needs if name in known)})
    return graph


if __name__ == "__main__":
    sys.exit(main())
