"""Nothing is undocumented: public names, commands, criteria, settings, tasks, pages and notebooks."""

from __future__ import annotations

import inspect
import re
from importlib import import_module

import pytest
import typer.main
from pydantic import BaseModel

from conftest import ROOT
from karat.cli.main import app
from karat.study.criteria import CRITERIA
from karat.study.file import model_in
from karat.study.settings import StudySettings
from karat.study.tasks import TASKS

DOCS = ROOT / "docs"
PACKAGES = ("intake", "measure", "report", "screen", "simulate", "study")
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def without_example(name: str, thing: object, page: str) -> bool:
    """Whether a public name has no place on the page: a class anywhere in code, anything else in an example."""
    told = re.findall(r"`[^`\n]+`", page) if inspect.isclass(thing) else []
    return not any(re.search(rf"\b{name}\b", part) for part in [*CODE.findall(page), *told])


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_an_example(package: str) -> None:
    module, page = import_module(f"karat.{package}"), text("reference/python.md")
    missing = [name for name in module.__all__ if without_example(name, getattr(module, name), page)]
    assert not missing, f"docs/reference/python.md has no example of karat.{package}: {', '.join(missing)}"


def test_a_missing_example_is_found() -> None:
    page = "`Remfod` and `remfod`\n```python\nkarat.screen.markov(x)\n```\n"
    found = [without_example(name, thing, page) for name, thing in (("Remfod", int), ("remfod", len), ("markov", len))]
    assert found == [False, True, False]


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
