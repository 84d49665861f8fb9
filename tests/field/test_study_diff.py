"""What is said of a study that was changed after it had started."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from karat.field.registration import Changes, changes, items_fingerprint, restored, study_files
from karat.study.init import write_study
from karat.study.study import Study, load


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_study(tmp_path / "study", "yes-no")
    return tmp_path / "study"


def edit(folder: Path, old: str, new: str, file: str = "study.toml") -> None:
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")


def since(folder: Path, then: Study) -> Changes:
    return changes(load(folder), then.settings.model_dump(mode="json"), items_fingerprint(then))


@pytest.mark.parametrize(
    ("old", "new", "keys", "asked"),
    [
        ("[recruitment]\n", '[recruitment]\ncompletion_code = "C1"\n', ("[recruitment] completion_code",), False),
        ("public_title =", 'public_title = "Sentences"  #', ("public_title",), False),
        ("[order] ", "[order]\ndistance = { item = 3 }\n#", ("[order] distance",), True),
        ("[[block]]\n", '[[block]]\nname = "main"\n', ("[[block]] name",), True),
        ("language =", "seed = 7\nlanguage =", ("seed",), True),
    ],
)
def test_keys_are_named_with_what_follows(folder: Path, old: str, new: str, keys: tuple[str, ...], asked: bool) -> None:
    then = load(folder)
    edit(folder, old, new)
    found = since(folder, then)
    assert (found.keys, found.items, found.asked) == (keys, False, asked)
    assert keys[0] in str(found)


def test_items_are_reported_from_the_study_file(folder: Path) -> None:
    then = load(folder)
    assert since(folder, then) == Changes((), False, asked=False)
    line = (folder / "items.csv").read_text().splitlines()[1]
    edit(folder, line, line.replace(" ", "  ", 1), "items.csv")
    found = since(folder, then)
    assert (found.keys, found.items, found.asked) == ((), True, True)


def test_a_comment_changes_nothing_for_anybody(folder: Path) -> None:
    then = load(folder)
    edit(folder, "[recruitment]", "# Agreed with the ethics board.\n[recruitment]")
    assert load(folder).fingerprint != then.fingerprint
    assert since(folder, then) == Changes((), False, asked=False)


def test_a_block_more_is_named_as_such(folder: Path) -> None:
    then = load(folder)
    settings: dict[str, Any] = then.settings.model_dump(mode="json")
    settings["background"] = []
    assert changes(then, settings, items_fingerprint(then)).keys == ("[[background]]",)


def test_what_an_earlier_karat_did_not_keep_is_not_claimed(folder: Path) -> None:
    edit(folder, "public_title =", "# public_title =")
    study = load(folder)
    settings = study.settings.model_dump(mode="json")
    del settings["public_title"]
    found = changes(study, settings, None)
    assert (found.keys, found.items) == ((), None)
    assert changes(study, settings | {"title": "Earlier"}, None).keys == ("title",)


def test_the_items_that_differ_are_named(folder: Path) -> None:
    then = load(folder)
    lines = (folder / "items.csv").read_text(encoding="utf-8").splitlines()
    first, last = lines[1].split(",")[0], lines[-1].split(",")[0]
    edit(folder, lines[1], lines[1].replace(" ", "  ", 1), "items.csv")
    edit(folder, lines[-1] + "\n", "", "items.csv")
    found = changes(load(folder), then.settings.model_dump(mode="json"), items_fingerprint(then), then)
    assert found.which == (f"{first} (changed)", f"{last} (removed)")


def test_a_version_is_read_back_from_the_store(folder: Path) -> None:
    then = load(folder)
    files = json.loads(json.dumps(study_files(then)))
    edit(folder, "language =", "seed = 7\nlanguage =")
    back = restored(files, then.fingerprint, then.path)
    assert back is not None
    assert (back.fingerprint, back.settings, back.path) == (then.fingerprint, then.settings, then.path)
    assert restored(files, "another", then.path) is None
    assert restored({**files, "../" * 20 + "escaped.csv": ""}, then.fingerprint, then.path) is None
