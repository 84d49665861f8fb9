"""The CI workflow agrees with pyproject.toml, the Makefile and the test tree."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import ROOT

WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"


@pytest.fixture(scope="module")
def jobs() -> dict[str, Any]:
    if not WORKFLOW.is_file():
        pytest.skip("an unpacked sdist has no workflow")
    found: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    return found


def classifier_versions() -> list[str]:
    """The Python versions in the classifiers of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))


def commands(jobs: dict[str, Any]) -> str:
    """Every command of every job."""
    return "\n".join(step["run"] for job in jobs.values() for step in job["steps"] if "run" in step)


def test_python_versions(jobs: dict[str, Any]) -> None:
    assert jobs["tests"]["strategy"]["matrix"]["python-version"] == classifier_versions()
    steps = [step["with"] for job in jobs.values() for step in job["steps"] if "setup-python" in step.get("uses", "")]
    assert len(steps) == len(jobs)
    single = {step["python-version"] for step in steps} - {"${{ matrix.python-version }}"}
    assert single <= set(classifier_versions())


def test_make_targets_exist(jobs: dict[str, Any]) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    used = set(re.findall(r"^\s*make ([\w-]+)", commands(jobs), re.MULTILINE))
    assert {"style", "types", "test", "docs", "build"} <= used <= targets


def test_scripts_and_ignored_paths_exist(jobs: dict[str, Any]) -> None:
    text = commands(jobs) + WORKFLOW.read_text(encoding="utf-8")
    paths = re.findall(r"--ignore=(\S+)", text) + re.findall(r"\btools/\w+\.py", text)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_permissions(jobs: dict[str, Any]) -> None:
    workflow = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["concurrency"]["cancel-in-progress"] is True
    for job in jobs.values():
        assert "permissions" not in job
        for step in job["steps"]:
            assert re.fullmatch(r"actions/[\w-]+@v\d+", step.get("uses", "actions/none@v0"))


def uses_chromium(path: Path) -> bool:
    """Whether a module imports the real browser, or asks for a fixture of a conftest.py that does."""
    folder = path.parent / "conftest.py"
    text = path.read_text(encoding="utf-8")
    if not any(word in text for word in ("chromium", "browser", "visit")):
        return False
    tree = ast.parse(text)
    if imports_chromium(tree):
        return True
    shared = folder.is_file() and imports_chromium(ast.parse(folder.read_text(encoding="utf-8")))
    return shared and any(
        argument.arg in ("browser", "visit")
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for argument in node.args.args
    )


def imports_chromium(tree: ast.Module) -> bool:
    """Whether a module has `from field.browser import chromium`."""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "field.browser"
        and "chromium" in [alias.name for alias in node.names]
        for node in ast.walk(tree)
    )


def test_browser_tests_are_marked() -> None:
    modules = [path for path in (ROOT / "tests").rglob("test_*.py") if uses_chromium(path)]
    assert len(modules) > 8
    unmarked = [path.name for path in modules if "pytest.mark.browser" not in path.read_text(encoding="utf-8")]
    assert unmarked == []
