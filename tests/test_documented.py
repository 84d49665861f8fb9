"""Nothing is undocumented: public names, commands, criteria, settings, tasks, pages and notebooks."""

from __future__ import annotations

import re

import pytest
import typer.main
from pydantic import BaseModel

import karat
from conftest import ROOT
from karat.cli.main import app
from karat.study.criteria import CRITERIA
from karat.study.file import model_in
from karat.study.settings import StudySettings
from karat.study.tasks import TASKS
from tools.python_pages import PACKAGES, read_docstring

DOCS = ROOT / "docs"


def text(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_function_has_an_example(package: str) -> None:
    entries = re.split(r"^##+ (?=\w+ \{ #)", text(f"reference/python/{package}.md"), flags=re.MULTILINE)[1:]
    functions = [entry for entry in entries if "\n**Returns**\n" in entry]
    assert functions
    assert [entry.split()[0] for entry in functions if "\n```pycon\n>>> " not in entry] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_parameter_has_a_meaning(package: str) -> None:
    taken = re.findall(
        r"^- `(\w+)`: `[^`]+`(?:, default `[^`]+`|, optional)?\.(.*)$", text(f"reference/python/{package}.md"), re.M
    )
    assert taken
    assert [name for name, meaning in taken if len(meaning.split()) < 2] == []


def test_the_overview_of_python_links_every_package() -> None:
    page = text("reference/python.md")
    assert [package for package in PACKAGES if f"(python/{package}.md)" not in page] == []


def test_parameters_are_described_by_their_sentences() -> None:
    parts = read_docstring(karat.measure.contrasts)
    assert parts.parameters["adjust"].startswith("For the pairs of means")
    assert "formula" in parts.parameters
    assert not any("`adjust`" in paragraph for paragraph in parts.paragraphs)


def test_every_command_and_option_is_documented() -> None:
    page = text("reference/commands.md")
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        if command.hidden:
            continue
        assert f"\n## karat {name}\n" in page
        assert command.epilog.startswith(f"Example: karat {name}"), name
        for parameter in command.params:
            if parameter.name != "help" and not getattr(parameter, "hidden", False):
                assert getattr(parameter, "help", None), f"karat {name}: {parameter.name} has no help"


def test_every_criterion_and_its_settings_are_documented() -> None:
    page, reference = text("reference/criteria.md"), text("reference/study-file.md")
    for name, criterion in CRITERIA.items():
        assert f"\n| `{name}` |" in page, f"docs/reference/criteria.md has no row for {name}"
        (row,) = re.findall(rf"^\| `{name}` \| .*$", reference.partition("## Criteria")[2], re.MULTILINE)
        for key, field in criterion.settings.model_fields.items():
            assert field.description, f"{name}.{key} has no description"
            assert f"`{key}`" in row, f"{name}.{key}"


def models(model: type[BaseModel], seen: set[type[BaseModel]]) -> set[type[BaseModel]]:
    """A model and all models in it."""
    if model not in seen:
        seen.add(model)
        for field in model.model_fields.values():
            inner = model_in(field.annotation)
            if inner is not None:
                models(inner, seen)
    return seen


def test_every_key_of_a_study_file_is_documented() -> None:
    page = text("reference/study-file.md")
    found = models(StudySettings, set())
    assert len(found) > 10
    for model in found:
        for key, field in model.model_fields.items():
            assert field.description, f"{model.__name__}.{key} has no description"
            assert f"\n| `{key}` |" in page, f"{model.__name__}.{key}"


def test_every_task_is_explained() -> None:
    page = text("explanation/tasks.md")
    assert [name for name in TASKS if f"`{name}`" not in page] == []


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    assert [page for page in pages if f": {page}\n" not in navigation] == []
