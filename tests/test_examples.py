"""The example studies: one for each task, those of `karat init`, for anybody who has the address."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import ROOT
from karat.study.check import check
from karat.study.init import write_study
from karat.study.study import load
from karat.study.tasks import TASKS

EXAMPLES = ROOT / "examples"


def test_there_is_one_for_each_task() -> None:
    assert sorted(folder.name for folder in EXAMPLES.iterdir() if folder.is_dir()) == sorted(TASKS)


@pytest.mark.parametrize("task", sorted(TASKS))
def test_an_example_is_what_init_writes_and_is_open_to_all(task: str, tmp_path: Path) -> None:
    for made in write_study(tmp_path / task, task):
        folders = (EXAMPLES / task, made.parent)
        ours, theirs = ((folder / made.name).read_text(encoding="utf-8").splitlines() for folder in folders)
        differing = [line for line, other in zip(ours, theirs, strict=True) if line != other]
        assert all(line.startswith(("# To look at it: karat serve", "platform ")) for line in differing)
    study = load(EXAMPLES / task)
    assert study.settings.recruitment.platform == "link"
    assert [block.settings.task for block in study.blocks] == [task]
    assert check(study).summary() == "Nothing to fix."
