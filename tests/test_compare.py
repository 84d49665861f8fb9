"""The page beside other tools: what it says of karat is so, versions agree, and its tables fit on a phone."""

from __future__ import annotations

import json
import re
import tomllib
from datetime import date

import typer.main

import karat
from benchmarks import consensus
from benchmarks.credence_parts import crowd_kit
from conftest import ROOT
from karat.cli.main import app
from karat.intake import READERS
from karat.measure.scaling.strengths import MODELS
from karat.study.criteria import CRITERIA
from karat.study.tasks import TASKS

PAGE = (ROOT / "docs" / "compare.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
NAMES = re.compile(r"`([^`]+)`")


def rows(section: str, tool: str = "") -> list[list[str]]:
    """The cells of a section's table rows, heads and rules left out; of one tool, where it is named."""
    tables = re.findall(r"^\|.*\n\| ---.*\n((?:\|.*\n)+)", SECTIONS[section], re.MULTILINE)
    found = [[cell.strip() for cell in row.strip("|").split(" | ")] for table in tables for row in table.splitlines()]
    return [row for row in found if not tool or row[0] == tool]


def named(cells: list[str]) -> list[str]:
    return [name for cell in cells for name in NAMES.findall(cell)]


def version_of(tool: str) -> str:
    """The version by the table; it is the same wherever the page names one."""
    version = re.match(r"\d+(?:\.\d+)*", rows("In practice", tool)[0][1])
    assert version, tool
    assert set(re.findall(rf"{tool}\W* (\d+(?:\.\d+)+)", PAGE)) == {version[0]}
    return version[0]


def test_criteria_tasks_and_readers_are_those_of_the_code() -> None:
    criteria = [name for row in rows("Screen", "karat") for name in named(row)]
    assert len(criteria) > 10
    assert set(criteria) <= set(CRITERIA)
    tasks = rows("Field", "karat")[0]
    assert named(tasks) == list(TASKS)
    assert tasks[1].startswith("six: ")
    assert len(TASKS) == 6
    assert set(named([row[1] for row in rows("Together")])) <= {reader.name for reader in READERS}
    result = named([cell for row in rows("Together") for cell in row[1:]])
    assert {reader.name for reader in READERS} - set(result) == {"karat"}


def test_models_and_languages_are_those_of_the_code() -> None:
    strengths = rows("Measure", "karat")[0][2]
    assert all(model in strengths.lower() for model in MODELS["choice"])
    paragraphs = rows("Report", "karat")[0][2]
    texts = {path.stem for path in (ROOT / "src" / "karat" / "field" / "content" / "texts").glob("*.toml")}
    assert {"en", "de", "fr", "zh"} <= texts
    assert "English and German" in paragraphs


def test_commands_exist() -> None:
    commands = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    result = set(re.findall(r"(?:`|```sh\n)karat ([a-z]+)", PAGE))
    assert {"check", "plan", "power", "report"} <= result <= commands


def test_version_date_and_licence_are_reported_as_they_are() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    release, messages = karat.__version__.split(".dev")[0], rows("In practice", "karat")[0]
    assert version_of("karat") == release
    assert messages[2] == project["license"]
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    when = re.search(rf"^## {re.escape(release)} \((.+)\)$", log, re.MULTILINE)
    assert when
    dated = date.fromisoformat(when[1]).strftime("%B %Y") if when[1][0].isdigit() else when[1]
    assert messages[1] == f"{release} ({dated})"


def test_versions_of_others_agree_with_benchmarks_and_references() -> None:
    made = json.loads((ROOT / "tests" / "reference" / "peers" / "dawid_skene.json").read_text(encoding="utf-8"))
    version = version_of("crowd-kit")
    assert {consensus.PEER, crowd_kit.PEER} == {f"crowd-kit=={version}"}
    assert made["made with"]["crowd-kit"] == version
    assert version_of("careless")
    models = json.loads((ROOT / "tests" / "reference" / "r" / "glrm_models.json").read_text(encoding="utf-8"))
    assert set(re.findall(r"\bR (\d[\d.]*\d)", PAGE)) == {models["versions"]["R"]}


def test_every_tool_has_a_source_and_tables_are_narrow() -> None:
    tools = {part for section in ("Plan", "Field", "Screen") for row in rows(section) for part in row[0].split(" + ")}
    assert tools == {
        "karat",
        "PCIbex",
        "jsPsych",
        "JATOS",
        "oTree",
        "Potato",
        "careless",
        "crowd-kit",
        "papers' R code",
    }
    sources = re.findall(r"^- \*\*(?:The )?(.+?)\*\*", SECTIONS["Sources"], re.MULTILINE)
    assert tools == set(sources)
    assert "November 2026" in SECTIONS["Sources"]
    for section in SECTIONS:
        assert all(2 < len(row) <= 4 for row in rows(section)), section
