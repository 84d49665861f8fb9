"""Columns of lists and records."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import karat
from commands import run
from intake.cases import noted
from karat.judgments.parts import open_parts
from messages import refuses

ROWS = {"worker_id": ["v", "v", "w"], "item_id": ["a", "b", "a"], "label": ["x", "y", "x"]}
LISTS = [["x"], ["y"], ["x", "y"]]
RECORDS = [{"class": "x", "score": 0.6}] * 3


def parquet(folder: Path, **columns: object) -> Path:
    path = folder / "labels.parquet"
    pl.DataFrame(ROWS | columns).write_parquet(path)
    return path


@pytest.mark.parametrize(
    ("cells", "names"),
    [(LISTS, ["lists"]), (RECORDS, ["records", "(class, score)"])],
)
@pytest.mark.parametrize("command", ["convert", "screen"])
def test_nested_answers_are_refused(command: str, cells: object, names: list[str], tmp_path: Path) -> None:
    _, error = run(command, parquet(tmp_path, label=cells), status=2)
    assert [name for name in ["labels.parquet", "label", *names, "--map response=NAME"] if name not in error] == []


def test_so_are_those_of_json_and_of_tables_like_crowd_kits(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    rows = [{"worker_id": "v", "item_id": item, "label": [item, "c"]} for item in "ab"]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with refuses(karat.IntakeError, "labels.jsonl", "label", "--map response=NAME"):
        karat.read(path)
    pl.DataFrame({"task": ["a"], "worker": ["w"], "label": [["x"]]}).write_parquet(tmp_path / "crowd.parquet")
    with refuses(karat.IntakeError, "crowd.parquet", "label", "--map response=NAME"):
        karat.read(tmp_path / "crowd.parquet")


def test_what_is_not_needed_is_left_out_with_a_note(tmp_path: Path) -> None:
    read = karat.read(parquet(tmp_path, scores=[[0.1, 0.9]] * 3, about=RECORDS, answer=LISTS))
    assert read.frame["response"].to_list() == ["x", "y", "x"]
    assert not {"scores", "about", "answer"} & set(read.frame.columns)
    values = noted(read.notes, "column.nested")
    assert values["columns"].values["names"] == ["scores", "about", "answer"]
    assert values["kinds"] == ["lists", "records"]


def test_a_mapped_column_is_needed(tmp_path: Path) -> None:
    with refuses(karat.IntakeError, "labels.parquet", "scores", "--map rt=NAME"):
        karat.read(parquet(tmp_path, scores=[[0.1, 0.9]] * 3), mapping={"rt": "scores"})


@pytest.mark.parametrize(("cells", "kind"), [(LISTS, "lists"), (RECORDS, "records")])
def test_tables_and_parts_refuse_them_too(cells: object, kind: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"participant": ["v", "v", "w"], "item": ["a", "b", "a"], "response": cells})
    with refuses(karat.JudgmentsError, "response", kind, "--map response=NAME"):
        karat.Judgments(frame, karat.Nominal(["x", "y"]))
    frame.write_parquet(tmp_path / "part.parquet")
    with refuses(karat.JudgmentsError, "part.parquet", "response", kind):
        open_parts(tmp_path, karat.Nominal(["x", "y"])).read(0)
