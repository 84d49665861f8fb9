"""Which of the dropped files are a study, and which are results."""

from __future__ import annotations

from pathlib import Path

import pytest

from karat.studio.column_guesses import classify
from karat.studio.folder import StudioError
from messages import refuses

STUDY = '[[block]]\nitems = ["items.csv", "fillers.csv"]\nquestions = "pairs.csv"\n'


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        place = folder / name.replace("__", "/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.with_name(place.name.replace("_", ".")).write_text(text)


def test_tables_of_the_study_are_no_results(tmp_path: Path) -> None:
    write(tmp_path, my__study_toml=STUDY, my__items_csv="", my__fillers_csv="", my__pairs_csv="", items_csv="")
    found = classify(tmp_path)
    assert found.study == tmp_path / "my" / "study.toml"
    assert {path.name for path in found.tables} == {"items.csv", "fillers.csv", "pairs.csv"}
    assert found.results == (tmp_path / "items.csv",)  # of the same name, and not the study's


def test_what_describes_a_file_is_no_result(tmp_path: Path) -> None:
    for name in ("a.csv", "a.csv-metadata.json", "a.participants.csv", "b.json"):
        (tmp_path / name).write_text("")
    assert [path.name for path in classify(tmp_path).results] == ["a.csv", "b.json"]
    (tmp_path / "a.csv-metadata.json").unlink()
    assert [path.name for path in classify(tmp_path).results] == ["a.csv", "a.participants.csv", "b.json"]


def test_a_study_file_of_another_name(tmp_path: Path) -> None:
    write(tmp_path, order_toml="title = 1", results_csv="")
    found = classify(tmp_path)
    assert found.study is not None
    assert found.study.name == "order.toml"
    write(tmp_path, other_toml="")
    with refuses(StudioError, tmp_path / "order.toml", tmp_path / "other.toml"):
        classify(tmp_path)


@pytest.mark.parametrize("text", ["[[block", "block = 1", "block = [1]", "[[block]]\nitems = 3"])
def test_a_broken_study_file_names_no_tables(text: str, tmp_path: Path) -> None:
    write(tmp_path, study_toml=text, items_csv="")
    assert classify(tmp_path).tables == ()
