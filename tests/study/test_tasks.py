"""Tasks: what is known of each in one place, and those that packages add."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import karat
from karat.study.block_keys import ScaleSettings
from karat.study.settings import BlockSettings
from karat.study.tasks import TASKS, find_task, register, task_named, tasks_met
from karat.study.tasks.task import Task
from messages import refuses
from own_package import files_of, installed

THERMOMETER = """title = "Temperature"
[[block]]
task = "thermometer"
items = "items.csv"
"""
CONSENT = '[texts]\nconsent = "I agree."\n'
ITEMS = "item,function,sentence\nt1,test,The dog sleeps.\nt2,test,Sleeps the dog.\n"
EXAMPLES = {
    "label": {"scale": {"levels": ["a", "b"]}}, "differential": {"questions": "pairs.csv"},
}  # fmt: skip


@pytest.fixture
def thermometer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tasks: None) -> Iterator[Path]:
    with installed(tmp_path / "site", "thermometer", files_of("task.md"), monkeypatch) as folder:
        yield folder


def written(folder: Path, text: str = THERMOMETER) -> Path:
    (folder / "items.csv").write_text(ITEMS)
    (folder / "study.toml").write_text(text)
    return folder


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_one_file_for_python_and_one_for_the_browser(name: str, root: Path) -> None:
    task = TASKS[name]
    source = root / "src" / "karat"
    assert (source / "study" / "tasks" / f"{name.replace('-', '_')}.py").is_file()
    script = source / "field" / "web" / "static" / "js" / "tasks" / f"{name}.js"
    assert "default" in script.read_text(encoding="utf-8")
    assert set(task.scale_keys) <= set(ScaleSettings.model_fields)
    assert set(task.block_keys) <= set(BlockSettings.model_fields)
    texts = source / "field" / "content" / "texts"
    assert all(name in tomllib.loads(file.read_text(encoding="utf-8"))["instructions"] for file in texts.glob("*.toml"))
    settings = {"task": name, "items": ["items.csv"], **EXAMPLES.get(name, {})}
    block = BlockSettings.model_validate(settings)
    assert task.scale(block.scale).known()
    assert task.script is None


def test_task_names_stay_in_tasks(root: Path) -> None:
    asked = re.compile(rf"task (==|!=) \"({'|'.join(TASKS)})\"")
    for path in sorted((root / "src" / "karat").rglob("*.py")):
        # The designs for two sessions are those of one paper, which has a choice and a rating.
        if path.name != "sessions.py":
            assert not asked.search(path.read_text(encoding="utf-8")), path


@pytest.mark.usefixtures("thermometer")
def test_a_study_names_the_task_of_a_package(tmp_path: Path) -> None:
    assert "thermometer" not in [task.name for task in tasks_met()], "looked up when it is named, and not before"
    study = karat.study.load(written(tmp_path))
    assert study.blocks[0].scale == karat.Continuous(0, 100)
    assert study.blocks[0].task is find_task("thermometer")
    assert "thermometer" in [task.name for task in tasks_met()]
    assert "thermometer" not in TASKS
    assert study.minutes() == pytest.approx(4 + 2 * 7 / 60)


@pytest.mark.usefixtures("thermometer")
def test_its_settings_are_checked_like_those_of_any_task(tmp_path: Path) -> None:
    for stated, *names in (
        ('scale = { labels = ["a", "b", "c"] }', "line 2, block", "labels = [cold, hot]"),
        ("scale = { points = 5 }", "block.scale.points", 'task = "thermometer"', "labels"),
        ('compared = "order"', "block.compared", 'task = "thermometer"', 'task = "choice"'),
    ):
        with refuses(karat.KaratError, *names):
            karat.study.load(written(tmp_path, THERMOMETER + stated + "\n"))


def test_a_task_that_nobody_has_is_reported_with_its_line(tmp_path: Path) -> None:
    with refuses(karat.KaratError, "line 3, block.task", "thermometer", "yes-no, likert, choice"):
        karat.study.load(written(tmp_path))
    with refuses(karat.KaratError, "thermometer", "likert"):
        task_named("thermometer")


@pytest.mark.usefixtures("tasks")
def test_a_package_that_cannot_be_used_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = files_of("task.md") | {"py": "import nothing_of_this_name\n"}
    names = ("line 3, block.task", "karat-thermometer", "ModuleNotFoundError")
    with installed(tmp_path / "site", "thermometer", broken, monkeypatch), refuses(karat.KaratError, *names):
        karat.study.load(written(tmp_path))


@pytest.mark.usefixtures("tasks")
def test_what_cannot_be_a_task_says_why() -> None:
    likert = TASKS["likert"]
    for name in ("", "Two Words", "../main", "x" * 41):
        with refuses(karat.KaratError, '"' + name + '"'):
            Task(name, likert.scale, 1.0, {"en": "Do."})
    with refuses(karat.KaratError, "line", "en"):
        Task("line", likert.scale, 1.0, {"de": "Los."})
    with refuses(karat.KaratError, "likert"):
        register(Task("likert", likert.scale, 1.0, {"en": "Do."}))


@pytest.mark.usefixtures("thermometer")
def test_commands_take_a_study_with_it(tmp_path: Path) -> None:
    from commands import run

    found, _ = run("check", written(tmp_path, THERMOMETER + CONSENT))
    assert "study.toml: 1 list of 2 trials, about 4 minutes" in found


def test_tasks_of_karat_say_what_their_settings_lack() -> None:
    """What a block of the study file would need, beside what the tasks accept."""

    def flaw(name: str, **settings: Any) -> str | None:
        usual = {"factors": ["order"], "compared": None, "pairs": None, "scale": SimpleNamespace(levels=[])}
        return TASKS[name].flaw(SimpleNamespace(**usual | settings))  # type: ignore[arg-type]

    assert flaw("choice") == "a choice between conditions needs compared = the factor whose levels are shown together"
    assert flaw("choice", compared="order") is flaw("choice", pairs="all") is flaw("choice", factors=[]) is None
    three = SimpleNamespace(levels=["no", "perhaps", "yes"])
    assert flaw("yes-no", scale=three) == "a yes-no task has two answers: scale = { levels = [no, yes] }"
    assert flaw("yes-no", scale=SimpleNamespace(levels=["no", "yes"])) is flaw("yes-no") is None
