"""crowd-kit's tables of task, worker and label, and its tables of right answers."""

from pathlib import Path

import polars as pl
import pytest

import karat
from intake.cases import aside, noted
from karat.errors import IntakeError
from karat.intake import Options, read_files
from karat.intake.readers.crowdkit import recognises
from karat.judgments.source import SourceFile
from messages import codes, refuses

FIXTURES = Path(__file__).parent / "fixtures"
ANSWERS, TRUTH = (FIXTURES / "crowdkit" / name for name in ("answers.csv", "truth.tsv"))


def test_answers_and_right_answers():
    intake = read_files([ANSWERS, TRUTH])
    frame = intake.judgments.frame
    assert frame["item"].to_list() == ["t1"] * 3 + ["t2"] * 3 + ["t3"]
    assert frame["participant"].to_list() == ["w1", "w2", "w3"] * 2 + ["w1"]
    assert frame["response"].to_list() == ["cat", "cat", "dog", "dog", "dog", None, "=SUM(A1)"]
    assert frame["expected"].to_list() == ["cat"] * 3 + ["dog|cat"] * 3 + [None]
    assert frame["pool"].to_list() == ["a"] * 3 + ["b"] * 4
    assert aside(intake) == {"aside.correct_answers": 4}
    assert intake.units_in == 11
    assert noted(intake.notes, "crowdkit.unanswered_tasks") == {"n": 1}


def test_answers_alone_have_no_expected():
    frame = read_files([ANSWERS]).judgments.frame
    assert "expected" not in frame.columns


def test_right_answers_alone_are_refused():
    with refuses(IntakeError, "truth.tsv"):
        read_files([TRUTH])


def test_json_lines_with_times():
    intake = read_files([FIXTURES / "crowdkit_lines" / "answers.jsonl"])
    frame = intake.judgments.frame
    assert frame["rt"].round(6).to_list() == [2.1, 1.8, None, 0.95]
    assert frame["response"].to_list() == ["0", "1", "1", None]
    assert frame["item"].to_list() == ["1", "1", "2", "2"]
    assert intake.judgments.scale == karat.Binary()
    assert noted(intake.notes, "rt.milliseconds")["column"] == "rt"


def test_unit_of_time_is_reported(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("task,worker,label,rt\nt,w,1,2100\nt,v,0,1800\n")
    assert read_files([path], options=Options(rt_unit="s")).judgments.frame["rt"].to_list() == [2100.0, 1800.0]


def test_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"task": [1, 1], "worker": [7, 8], "label": [3, 5], "skill": [0.5, 0.25]}).write_parquet(path)
    intake = read_files([path])
    assert intake.sources == (("a.parquet", "a table of task, worker and label, as crowd-kit has it"),)
    assert intake.judgments.frame.select("participant", "item", "response", "skill").rows() == [
        ("7", "1", "3", 0.5),
        ("8", "1", "5", 0.25),
    ]


def test_several_files_are_located(tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("task,worker,label\nt1,w1,1\nt1,w2,2\n")
    second.write_text("worker,task,label\nw1,t2,3\n,t2,3\n")
    with refuses(IntakeError, "b.csv", "line 3") as error:
        read_files([first, second])
    assert [(problem.file, problem.number) for problem in error.value.problems] == [("b.csv", 3)]


def test_a_row_that_is_cut_is_an_error(tmp_path):
    path = tmp_path / "cut.csv"
    path.write_text("task,worker,label\nt1,w1,1\nt1,w2\nt2,w1,2\n")
    with refuses(IntakeError, "cut.csv", "line 3", "2 cells", "--skip-bad"):
        read_files([path])
    intake = read_files([path], skip_bad=True)
    assert (len(intake.judgments), intake.skipped_units, intake.units_in) == (2, 1, 3)


def test_a_truth_without_labels_is_refused(tmp_path):
    path = tmp_path / "truth.csv"
    path.write_text("task,answer\nt1,cat\n")
    with refuses(IntakeError, "truth.csv", "label"):
        read_files([ANSWERS, path], "crowdkit")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"task,worker,answer\n"),
        ("a.csv", b"task,label,score\n"),
        ("a.json", b'{"task": 1'),
        ("a.json", b'[[{"task": 1, "label": 2}]]'),
        ("a.parquet", b"PAR1 and nothing else"),
        ("a.xlsx", b"task,worker,label\n"),
    ],
)
def test_other_files_are_not_claimed(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    assert not recognises(SourceFile(path))


def test_columns_like_times_and_keys_are_named(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("task,worker,label,duration_s,gold_label\nt1,w1,a,2.5,a\nt2,w1,b,3.5,\n", encoding="utf-8")
    found = [note.values for note in karat.read(path).notes if note.code == "column.overlooked"]
    assert found == [{"name": "rt", "column": "duration_s"}, {"name": "expected", "column": "gold_label"}]
    read = karat.read(path, mapping={"rt": "duration_s", "expected": "gold_label"})
    assert "column.overlooked" not in codes(read.notes)
    assert read.frame["rt"].to_list() == [2.5, 3.5]
