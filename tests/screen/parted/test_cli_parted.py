"""karat screen and karat convert in parts, as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import karat
from karat import screen
from karat.cli.main import main
from karat.cli.options import ExecutorOptions, ReadOptions
from karat.cli.parted import is_in_parts, parts_of
from karat.judgments.parts import open_parts
from karat.study.results import with_study
from screen.parted.splitting import split, whole
from screen.test_cli_screen import answered

LIKERT = karat.datasets.path("likert")


def printed(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> str:
    with pytest.raises(SystemExit) as done:
        main([*map(str, arguments)])
    assert done.value.code == code
    said = capsys.readouterr()
    return said.err if code else said.out


@pytest.mark.slow
def test_convert_and_screen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = printed(capsys, "convert", LIKERT, "--parts", 3, "-o", tmp_path / "parts")
    assert "written" in said
    assert "3 parts" in said
    said = printed(
        capsys, "screen", tmp_path / "parts", "--parts", 3, "--criteria", "completion,straightlining", "-o",
        tmp_path / "out",
    )  # fmt: skip
    assert "3 parts" in said
    assert "48 participants, 3,566 answers" in said
    assert "completion: 1 of 48 participants flagged." in said
    assert "selection by --criteria" in said
    assert len(list((tmp_path / "out" / "participants").iterdir())) == 3
    assert pl.read_parquet(tmp_path / "out" / "participants").height == 48
    # Without a reason to look at them one by one, the files are read as one table.
    said = printed(capsys, "screen", tmp_path / "parts", "--criteria", "completion")
    assert "completion: 1 of 48 participants flagged." in said


@pytest.mark.slow
def test_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    split(karat.datasets.load("likert"), (0.1,) * 10, tmp_path)
    said = json.loads(printed(capsys, "screen", tmp_path, "--parts", 10, "--criteria", "straightlining", "--json"))
    assert said["summary"]["parts"] == 10
    assert said["summary"]["flagged"] == {"straightlining": 1}
    assert "participants" not in said


def test_when_a_folder_is_looked_at_in_parts(tmp_path: Path) -> None:
    split(karat.datasets.load("likert"), (0.5, 0.5), tmp_path)
    size = sum(file.stat().st_size for file in tmp_path.iterdir())
    folder = ReadOptions([tmp_path])
    assert not is_in_parts(folder, ExecutorOptions(), None)
    assert not is_in_parts(folder, ExecutorOptions(memory=f"{4 * size}B"), None)
    assert is_in_parts(folder, ExecutorOptions(memory=f"{2 * size}B"), None)
    assert is_in_parts(folder, ExecutorOptions(cluster="local"), None)
    assert is_in_parts(folder, ExecutorOptions(), 2)
    assert is_in_parts(ReadOptions([Path("postgresql://me@host/lab#answers")]), ExecutorOptions(), None)
    assert not is_in_parts(ReadOptions([LIKERT]), ExecutorOptions(cluster="local"), None)


def test_columns_named_by_options_of_their_own(tmp_path: Path) -> None:
    judgments = karat.datasets.load("likert")
    # A file of another tool, with other names of columns.
    judgments.frame.rename({"item": "verb", "response": "said"}).write_parquet(tmp_path / "likert.parquet")
    reading = ReadOptions([tmp_path], item_column="verb", response_column="said", scale=["ordinal:1-7"])
    parts = parts_of(reading, ExecutorOptions(), None, 1)
    assert whole(parts).frame["item"].equals(judgments.frame["item"])
    assert whole(parts).frame["response"].equals(judgments.frame["response"])


@pytest.mark.slow
def test_a_study_lays_its_items_beside_every_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, results = answered(tmp_path)
    study = karat.study.load(path)
    printed(capsys, "convert", results, "--scale", "ordinal:1-5", "--parts", 3, "-o", tmp_path / "parts")
    together = screen.run(with_study(whole(open_parts(tmp_path / "parts")), study)[0], study=study)
    assert together.evidence["attention"].flagged == ["p0"]
    said = json.loads(printed(capsys, "screen", tmp_path / "parts", "--parts", 1, "--study", path, "--json"))
    assert said["summary"]["remaining"] == together.remaining
    assert said["summary"]["flagged"] == {name: len(one.flagged) for name, one in together.evidence.items()}
    assert said["settings"] == together.to_dict()["settings"]
    assert said["skipped"] == {name: str(why) for name, why in together.skipped.items()}
    assert said["summary"]["study"] == study.fingerprint
    said = printed(capsys, "screen", tmp_path / "parts", "--parts", 1, "--study", path)
    for note in with_study(whole(open_parts(tmp_path / "parts")), study)[1]:
        assert str(note) in said


@pytest.mark.slow
def test_what_cannot_be_done_in_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    split(karat.datasets.load("likert"), (0.5, 0.5), tmp_path)
    words_of = {
        ("--explain", "p01"): "--explain",
        ("--rt-unit", "ms"): "--rt-unit",
        ("--keep-all",): "--keep-all",
        ("--memory", "300KB"): "karat convert",
    }
    for flags, words in words_of.items():
        assert words in " ".join(printed(capsys, "screen", tmp_path, "--parts", 2, *flags, code=2).split())
    said = printed(capsys, "screen", LIKERT, "--parts", 2, code=2)
    assert ("--parts" in said, "Parquet" in said) == (True, True)
    said = printed(capsys, "screen", LIKERT, "--memory", "10KB", code=2)
    assert "--parts" in said
    assert "--parts" in printed(capsys, "convert", LIKERT, "--parts", 2, "-o", tmp_path / "x.csv", code=2)
