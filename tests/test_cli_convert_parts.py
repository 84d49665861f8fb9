"""karat convert --parts: any table, dealt out by participant."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import karat
from commands import run
from karat.cli import parted

LABELS = pl.DataFrame(
    {
        "annotator_id": [f"a{number % 7}" for number in range(70)],
        "example_id": [f"x{number // 7}" for number in range(70)],
        "label": [("yes", "no", "maybe")[number % 3] for number in range(70)],
        "submitted_at": [f"2026-03-01T09:{number % 60:02}:{number // 60:02}Z" for number in range(70)],
        "duration_s": [1.5 + number for number in range(70)],
        "gold_label": ["yes" if number % 10 == 0 else None for number in range(70)],
    }
)


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.parquet"
    LABELS.write_parquet(path)
    return path


def whole(folder: Path) -> karat.Judgments:
    return karat.read(folder)


def same(one: karat.Judgments, other: karat.Judgments) -> None:
    by = ["participant", "item"]
    assert one.scales == other.scales
    assert_frame_equal(one.frame.sort(by), other.frame.sort(by))


def test_a_table_of_another_tool_is_read_as_without_parts(labels: Path, tmp_path: Path) -> None:
    output, _ = run("convert", labels, "--parts", "2", "-o", tmp_path / "parts")
    alone, _ = run("convert", labels, "-o", tmp_path / "alone.parquet")
    assert output.splitlines()[:-1] == alone.splitlines()[:-1]
    assert output.splitlines()[-1] == f"written    {tmp_path / 'parts'}: 2 parts"
    same(whole(tmp_path / "parts"), karat.read(labels))
    names = [set(karat.read(file).participants["participant"]) for file in sorted((tmp_path / "parts").iterdir())]
    assert sum(map(len, names)) == 7


@pytest.mark.few(1)
@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
@pytest.mark.parametrize(
    "flags",
    [
        ["--map", "item=submitted_at"], ["--map", "sense=gold_label", "--map", "expected="],
        ["--scale", "ordinal:no,maybe,yes"], ["--from", "table"], ["--answers", "maybe=no"], ["--rt-unit", "ms"],
        ["--scale", "nominal:yes,no", "--skip-bad"],
    ],
)  # fmt: skip
def test_flags_mean_the_same(flags: list[str], suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"labels.{suffix}"
    getattr(LABELS, {"parquet": "write_parquet", "csv": "write_csv", "jsonl": "write_ndjson"}[suffix])(path)
    run("convert", path, *flags, "--parts", "2", "-o", tmp_path / "parts")
    run("convert", path, *flags, "-o", tmp_path / "alone.parquet")
    same(whole(tmp_path / "parts"), karat.read(tmp_path / "alone.parquet"))


def test_what_is_wrong_is_reported_alike(labels: Path, tmp_path: Path) -> None:
    for flags in (["--map", "itme=example_id"], ["--scale", "nominal:yes,no"], ["--map", "response=nothing"]):
        alone = run("convert", labels, *flags, status=2)[1]
        assert run("convert", labels, *flags, "--parts", "2", "-o", tmp_path / "parts", status=2)[1] == alone


def test_the_account_as_json(labels: Path, tmp_path: Path) -> None:
    result = json.loads(run("convert", labels, "--parts", "2", "-o", tmp_path / "parts", "--json")[0])
    assert result["answers"] == 70
    units = [note["values"] for note in result["notes"] if note["code"] == "rt.named_seconds"]
    assert units == [{"column": "duration_s"}]
    assert [Path(name).name for name in result["written"]] == ["part-00001.parquet", "part-00002.parquet"]


def test_karats_own_files_are_read_in_portions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    likert = karat.datasets.load("likert")
    likert.to_parquet(tmp_path / "likert.parquet")
    monkeypatch.setattr(parted.ReadOptions, "intake", None)
    output, _ = run("convert", tmp_path / "likert.parquet", "--parts", "4", "-o", tmp_path / "parts")
    assert "some rows at a time" in output
    read = whole(tmp_path / "parts")
    assert read.participants.height == likert.participants.height
    by = ["participant", "trial"]
    assert_frame_equal(read.frame.sort(by), likert.frame.sort(by))


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_file_beyond_memory_must_say_its_scale_and_columns(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"labels.{suffix}"
    (LABELS.write_parquet if suffix == "parquet" else LABELS.write_csv)(path)
    monkeypatch.setattr(parted, "memory_of", lambda place: 1000)
    monkeypatch.setattr(parted.ReadOptions, "intake", None)
    _, error = run("convert", path, "--parts", "2", "-o", tmp_path / "parts", status=2)
    assert "--scale" in error
    flags = ["--scale", "nominal:yes,no,maybe"]
    for pair in ("participant=annotator_id", "item=example_id", "response=label", "rt=duration_s"):
        flags += ["--map", pair]
    run("convert", path, *flags, "--parts", "2", "-o", tmp_path / "parts")
    read = whole(tmp_path / "parts").frame.sort("participant", "item")
    expected = LABELS.sort("annotator_id", "example_id")
    assert read["response"].to_list() == expected["label"].to_list()
    assert read["rt"].to_list() == expected["duration_s"].to_list()


def test_a_folder_must_be_said(labels: Path, tmp_path: Path) -> None:
    for flags in ([], ["-o", tmp_path / "parts.parquet"]):
        assert "--parts writes a folder" in run("convert", labels, "--parts", "2", *flags, status=2)[1]
