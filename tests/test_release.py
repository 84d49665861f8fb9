"""The release: what states its version, archives that can be built again, licences, and the bill of materials.

The slow tests install the wheel in empty environments, for every Python that karat is made for and the machine has.
"""

from __future__ import annotations

import doctest
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Sequence
from datetime import date
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml
from packaging.requirements import Requirement

import karat
from conftest import ROOT
from environments import empty_environment, interpreter
from messages import refuses
from tools import audit, build, licences, pin_versions, sbom
from tools.licences import BASE, BROWSER, FREE, GPL, LGPL, MPL, UNKNOWN, Package

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {"bayes": "jax, numpyro", "cluster": "dask, distributed", "postgres": "psycopg"}
"""What each extra lets one import."""
NOT_IN_SDIST = (".ci/", ".github/")
"""What only the place of the repository needs."""


def is_there(extra: str) -> bool:
    """Whether an extra is installed; `make test` leaves bayes out."""
    try:
        return all(distribution(Requirement(text).name) for text in PROJECT["optional-dependencies"][extra])
    except PackageNotFoundError:
        return False


@pytest.fixture(scope="module")
def found() -> list[Package]:
    return licences.packages(ROOT, [extra for extra in EXTRAS if is_there(extra)])


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist, built twice and compared."""
    folder = tmp_path_factory.mktemp("release") / "dist"
    build.build(ROOT, folder)
    return folder


def archive(folder: Path, pattern: str) -> Path:
    (path,) = folder.glob(pattern)
    return path


def test_all_files_state_the_same_version_and_date() -> None:
    top = re.search(r"^## (\S+) \((.+)\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert top is not None, "CHANGELOG.md has no dated version"
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    about = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
    assert {karat.__version__, licences.version(ROOT), citation["version"], about["version"]} == {top[1]}
    assert date.fromisoformat(top[2]) == date.fromisoformat(citation["date-released"])
    assert top[2] == about["datePublished"]


def test_extras_are_those_that_are_tried() -> None:
    assert set(PROJECT["optional-dependencies"]) == set(EXTRAS)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("licences", "sbom"):
        assert f'".[{",".join(sorted(EXTRAS))}]"' in makefile.partition(f"\n{target}:")[2].partition("\n\n")[0]


@pytest.mark.parametrize("module", [audit, build, licences, sbom], ids=lambda module: module.__name__)
def test_examples_of_the_tools_run(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


@pytest.mark.slow
def test_archives_have_what_they_need(built: Path) -> None:
    sdist, wheel = build.members(archive(built, "*.tar.gz")), build.members(archive(built, "*.whl"))
    assert archive(built, "*.whl").name == f"karat-{karat.__version__}-py3-none-any.whl"
    assert {name for name in wheel if name.startswith("karat/")} <= {
        name.removeprefix("src/") for name in sdist if name.startswith("src/")
    }
    assert not [name for name in sdist if "node_modules" in name or "__pycache__" in name]
    assert len({entry.date_time for entry in zipfile.ZipFile(archive(built, "*.whl")).infolist()}) == 1
    if not build.is_checkout(ROOT):
        pytest.skip("not a git checkout; what the sdist should have is what git has")
    committed = [name for name in build.git(ROOT, "ls-files").splitlines() if (ROOT / name).is_file()]
    assert [name for name in committed if name not in sdist and not name.startswith(NOT_IN_SDIST)] == []


def test_a_difference_between_builds_is_named(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("one.whl", "same.whl", "other.whl")]
    for path, text in zip(paths, ("a", "a", "b"), strict=True):
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr(zipfile.ZipInfo("karat/data"), text)
            wheel.writestr(zipfile.ZipInfo("karat/code"), "same")
    build.compare(paths[0], paths[1])
    with refuses(build.BuildError, "one.whl", "karat/data"):
        build.compare(paths[0], paths[2])
    with zipfile.ZipFile(paths[0], "a") as wheel:
        wheel.writestr("tests/test_x.py", "")
    with refuses(build.BuildError, "jspsych.js", "pyproject.toml"):
        build.check_contents(paths[0], paths[0])


def test_date_of_a_source_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 0.2.0 (2027-01-02)\n\n## 0.1.0 (2026-11-15)\n")
    assert build.source_date(tmp_path) == 1798848000
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 0.2.0 (not released)\n")
    with refuses(build.BuildError, "CHANGELOG.md", "0.1.0 (2026-11-15)"):
        build.source_date(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1794764118")
    assert build.source_date(tmp_path) == 1794764118


def test_a_build_without_browser_assets_is_refused(tmp_path: Path) -> None:
    with refuses(build.BuildError, "jspsych.js", "make setup"):
        build.build(tmp_path, tmp_path / "dist")


def test_no_dependency_is_under_a_licence_that_may_not_be_there(found: list[Package]) -> None:
    assert licences.objections(found) == []
    parts = {package.part for package in found}
    assert {BASE, BROWSER, "cluster", "postgres"} <= parts
    assert {package.name for package in found if package.kind == LGPL} == {"psycopg", "psycopg-binary"}
    text = licences.table(found)
    for package in found:
        assert f"| {package.name} | {package.version} | {package.licence} |" in text
    assert "Under the GPL or AGPL: none." in text


def test_direct_dependencies_are_in_the_list(found: list[Package]) -> None:
    base = {package.name for package in found if package.part == BASE}
    assert {Requirement(text).name for text in PROJECT["dependencies"]} - {"uvloop"} <= base
    assert {"markupsafe", "pydantic-core", "starlette"} <= base  # needed by what karat needs
    assert not {"pytest", "mkdocs", "karat", "psycopg", "dask"} & base
    assert {package.name for package in found if package.part == BROWSER} >= {"jspsych", "seedrandom"}
    assert "axe-core" not in {package.name for package in found}


def test_markers_and_extras_of_packages_are_followed() -> None:
    assert set(licences.installed(["psycopg[binary]"], "postgres")) >= {"psycopg", "psycopg-binary"}
    assert "psycopg-binary" not in licences.installed(["psycopg"], "postgres")
    assert licences.installed(["nothing-like-it; sys_platform == 'none'"], BASE) == {}
    with refuses(licences.LicenceError, "nothing-like-it", "bayes", "make licences"):
        licences.installed(["nothing-like-it"], "bayes")


@pytest.mark.parametrize(
    ("stated", "kind"),
    [
        ("MIT", FREE),
        ("BSD License", FREE),
        ("Mozilla Public License 2.0 (MPL 2.0)", MPL),
        ("MPL-2.0 AND MIT", MPL),
        ("LGPL-3.0-or-later OR MIT", FREE),
        ("GNU Lesser General Public License v3 (LGPLv3)", LGPL),
        ("GNU Library or Lesser General Public License (LGPL)", LGPL),
        ("AGPL-3.0-only", GPL),
        ("GNU Affero General Public License v3", GPL),
        ("GPL-2.0-only AND (MIT OR ISC)", GPL),
        ("(GPL-2.0-only AND MIT) OR (LGPL-2.1-only AND MPL-2.0)", LGPL),
        ("(MIT) AND (GPL-3.0-only)", GPL),
        ("GPL-3.0-or-later WITH GCC-exception-3.1", GPL),
        ("UNKNOWN", UNKNOWN),
        ("Other/Proprietary License", UNKNOWN),
    ],
)
def test_kinds_of_licences(stated: str, kind: int) -> None:
    assert licences.kind_of(stated) == kind


@pytest.mark.parametrize(
    ("part", "name", "licence", "objection"),
    [
        (BASE, "x", "GPL-3.0-only", "karat may not depend on it"),
        ("bayes", "x", "AGPL-3.0-only", "karat may not depend on it"),
        (BASE, "x", "LGPL-3.0-only", "in extras only"),
        (BROWSER, "x", "LGPL-3.0-only", "in extras only"),
        ("bayes", "x", "LGPL-3.0-only", None),
        (BASE, "x", "MPL-2.0", "MPL_KNOWN"),
        (BASE, "certifi", "MPL-2.0", None),
        (BASE, "x", "unknown", "by hand"),
    ],
)
def test_objections(part: str, name: str, licence: str, objection: str | None) -> None:
    wrong = licences.objections([Package(name, "1.0", part, licence, licences.kind_of(licence))])
    assert len(wrong) == (objection is not None)
    assert all(str(objection) in sentence for sentence in wrong)


def test_bill_of_materials(found: list[Package]) -> None:
    bill = sbom.bill(ROOT, found)
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", bill["serialNumber"])
    components = {component["bom-ref"]: component for component in bill["components"]}
    assert len(components) == len(bill["components"]) == len({(each.part == BROWSER, each.name) for each in found})
    for reference, component in components.items():
        assert reference == component["purl"]
        assert re.fullmatch(r"pkg:(pypi|npm)/[^@]+@[^@]+", reference)
        assert unquote(reference).endswith(f"/{component['name']}@{component['version']}")
        (licence,) = component["licenses"]
        assert licence.get("expression") or licence["license"]["name"]
        for checksum in component.get("hashes", []):
            assert checksum["alg"] == "SHA-512"
            assert re.fullmatch("[0-9a-f]{128}", checksum["content"])
    assert components[f"pkg:pypi/psycopg@{distribution('psycopg').version}"]["scope"] == "optional"
    assert components[f"pkg:pypi/numpy@{distribution('numpy').version}"]["scope"] == "required"
    assert "://" not in json.dumps(bill)


def test_everything_in_the_bill_is_needed_by_something_in_it(found: list[Package]) -> None:
    bill = sbom.bill(ROOT, found)
    needs = {entry["ref"]: entry["dependsOn"] for entry in bill["dependencies"]}
    itself = bill["metadata"]["component"]["bom-ref"]
    reached, waiting = {itself}, [itself]
    while waiting:
        new = set(needs[waiting.pop()]) - reached
        reached |= new
        waiting += new
    assert reached == set(needs) == {itself, *(component["bom-ref"] for component in bill["components"])}


def test_the_bill_depends_on_content_and_date_alone(found: list[Package], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1794764118")
    bill = sbom.bill(ROOT, found)
    assert bill["metadata"]["timestamp"] == "2026-11-15T17:35:18Z"
    assert bill == sbom.bill(ROOT, reversed(found))
    assert bill["serialNumber"] != sbom.bill(ROOT, found[1:])["serialNumber"]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1794764119")
    assert bill["serialNumber"] != sbom.bill(ROOT, found)["serialNumber"]


@pytest.mark.slow
def test_an_unpacked_sdist_builds_the_same(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.unpack_archive(archive(built, "*.tar.gz"), tmp_path, filter="data")
    (root,) = tmp_path.iterdir()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(build.source_date(ROOT)))
    build.build(root, tmp_path / "dist")
    for path in built.iterdir():
        assert (tmp_path / "dist" / path.name).read_bytes() == path.read_bytes(), path.name


def environment(folder: Path, python: str, wanted: str) -> Path:
    """The interpreter of a new environment that has only this, with the pinned versions; pip has checked it."""
    inside = empty_environment(folder, python)
    pip = [str(inside), "-m", "pip", "--disable-pip-version-check"]
    install = [*pip, "install", "-q", "--constraint", str(ROOT / "constraints.txt"), wanted]
    done = subprocess.run(install, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    checked = subprocess.run([*pip, "check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
    return inside


def run_inside(python: Path, folder: Path, *arguments: str) -> str:
    """What a program prints that sees no other program: no Node.js, no compiler, nothing of this environment."""
    bare = {"PATH": str(folder), "HOME": str(folder), "LANG": "C.UTF-8"}
    done = subprocess.run([str(python), *arguments], cwd=folder, env=bare, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("minor", [11, 12, 13])
def test_the_wheel_runs_the_demo_in_an_empty_environment(built: Path, tmp_path: Path, minor: int) -> None:
    python = environment(tmp_path / "environment", interpreter(minor), str(archive(built, "*.whl")))
    (tmp_path / "empty").mkdir()
    result = run_inside(python, tmp_path / "empty", "-m", "karat", "demo")
    assert "The report is in" in result
    report = (tmp_path / "empty" / "karat-demo" / "report.html").read_text(encoding="utf-8")
    assert "60 participants" in report
    if sys.version_info[:2] == (3, minor):  # a second way to find what the base needs: what pip installed
        listed = json.loads(run_inside(python, tmp_path / "empty", "-m", "pip", "list", "--format", "json"))
        names = {licences.canonicalize_name(each["name"]) for each in listed} - {"pip", "setuptools", "karat"}
        assert names == set(licences.installed(PROJECT["dependencies"], BASE))


@pytest.mark.slow
@pytest.mark.parametrize("extra", EXTRAS)
def test_extras_install_apart(built: Path, tmp_path: Path, extra: str) -> None:
    wheel = archive(built, "*.whl")
    python = environment(tmp_path / "environment", sys.executable, f"karat[{extra}] @ {wheel.as_uri()}")
    run_inside(python, tmp_path, "-W", "error", "-c", f"import karat.cli.main, {EXTRAS[extra]}")
    others = [name for other, names in EXTRAS.items() if other != extra for name in names.split(", ")]
    code = f"import importlib.util as u; print([name for name in {others} if u.find_spec(name)])"
    assert run_inside(python, tmp_path, "-c", code) == "[]\n"


@pytest.mark.parametrize(
    ("status", "said", "outcome"),
    [
        (0, "No known vulnerabilities found", "clean"),
        (1, "jinja2 3.1.0 PYSEC-2024-1", "found"),
        (1, "npm error code ENOTFOUND", "unreachable"),
    ],
)
def test_an_audit_that_reaches_nobody_is_no_finding(status: int, said: str, outcome: str) -> None:
    script = f"import sys; print({said!r}); sys.exit({status})"
    assert audit.run("audit", sys.executable, "-c", script).outcome == outcome


def test_an_audit_whose_program_is_missing_says_so() -> None:
    done = audit.run("npm audit", "no-such-program-anywhere")
    assert done.outcome == "unreachable"
    assert "no-such-program-anywhere" in done.line()


def answer(code: int, said: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.CompletedProcess([], code, "", said)


def test_pins_without_a_wheel_are_named() -> None:
    """The resolver stops at the first package without a wheel: it is asked again without that one."""
    asked = []

    def resolve(_: object, system: str, python: str, built: Sequence[str]) -> subprocess.CompletedProcess[str]:
        asked.append(tuple(built))
        lacking = [name for name in ("one", "two") if name not in built]
        return answer(1, f"cause: Because {lacking[0]}==2.0 has no usable wheels") if lacking else answer(0)

    assert pin_versions.without_wheel(["one"], "windows", "3.12", resolve) == ["one 2.0", "two 2.0"]
    assert asked == [(), ("one",), ("one", "two")]
    rows, complete = pin_versions.wheel_table(lambda *_: answer(0))
    assert (complete, len(rows)) == (True, 2 + 4 * len(EXTRAS) + 4)
    with pytest.raises(pin_versions.UnreachedError):
        pin_versions.wheel_table(lambda *_: answer(2, "error: dns error: no such host"))


@pytest.mark.slow
@pytest.mark.parametrize("system", pin_versions.SYSTEMS)
def test_the_base_has_wheels_for_every_system(system: str) -> None:
    if not importlib.util.find_spec("uv"):
        pytest.skip("uv, which resolves for other systems, is not installed here (make wheels installs it).")
    try:
        base = pin_versions.parts()["base"]
        assert pin_versions.without_wheel(base, pin_versions.SYSTEMS[system], "3.12") == []
    except pin_versions.UnreachedError as error:
        pytest.skip(f"the package registry does not answer ({error})")
