"""The commands as a user types them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
import typer.main

import karat
from commands import run
from karat.cli.main import app

BAD = "participant,item,response\np1,a,1\n,b,2\np2,a\n"


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.csv"
    path.write_text("participant,item,response,rt,note\np1,a,1,1.5,=1+1\np1,b,2,0.5,-3\np2,a,3,2.5,+x\n")
    return path


@pytest.mark.slow
def test_help_shows_an_example() -> None:
    assert "karat demo" in run("--help")[0]
    for command in app.registered_commands:
        if command.hidden:
            continue
        assert f"Example: karat {command.name}" in shown(command.name or "")


def shown(*arguments: str) -> str:
    """The words of a help page, without its frame."""
    return " ".join(run(*arguments, "--help")[0].replace("│", " ").split())


def test_help_is_complete_and_names_no_python_type() -> None:
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        if command.hidden:
            continue
        page = shown(name)
        texts = [command.help, *(one.help for one in command.params if not getattr(one, "hidden", False))]
        missing = [text for text in texts if any(word not in page for word in text.split())]
        assert missing == [], name
        assert not re.search(r"<(?:bool|str|int|float|path|list)|\{[A-Z]", page), name


def test_commands_are_grouped() -> None:
    page = run("--help")[0]
    places = [page.index(f"─ {group} ─") for group in ("Design", "Run", "Screen", "Measure", "Report", "Tools")]
    assert places == sorted(places)


@pytest.mark.parametrize(("older", "command"), [("--keep", "demo"), ("--safe", "export"), ("--model", "power")])
def test_older_names_of_options_still_work(older: str, command: str) -> None:
    found = typer.main.get_command(app).commands[command]  # type: ignore[attr-defined]
    (option,) = [one for one in found.params if older in one.opts]
    assert option.hidden


@pytest.mark.parametrize("name", ["items.xlsx", "items.csv"])
def test_a_table_is_not_taken_for_a_study_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("item,sentence\n")
    assert name in run("check", tmp_path / name, status=2)[1]


@pytest.mark.parametrize(("word", "answer"), [("audio", "text and pictures only"), ("2afc", "task choice")])
def test_known_words_for_other_tasks_are_answered(tmp_path: Path, word: str, answer: str) -> None:
    assert answer in run("init", tmp_path / "new", "--task", word, status=2)[1]


def test_version() -> None:
    assert run("--version")[0] == f"karat {karat.__version__}\n"


def test_convert_writes_what_it_says(good: Path, tmp_path: Path) -> None:
    out = tmp_path / "new folder" / "judgments.parquet"
    output, _ = run("convert", good, "-o", out)
    assert "2 participants, 2 items, 3 answers" in output
    assert f"written    {out}" in output
    assert karat.read(out) == karat.read(good)


def test_convert_without_out_writes_nothing(good: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    assert "Nothing was written" in run("convert", good)[0]
    assert sorted(tmp_path.iterdir()) == before


def test_bad_rows_stop_it_with_status_2(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(BAD)
    out = tmp_path / "out.parquet"
    output, error = run("convert", path, "-o", out, status=2)
    assert output == ""
    assert "bad.csv" in error.splitlines()[0]
    assert "line 3, participant" in error
    assert "line 4" in error
    assert "2 cells" in error
    assert not out.exists()


def test_skip_bad_lists_what_it_leaves_out(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(BAD)
    output, _ = run("convert", path, "-o", tmp_path / "out.parquet", "--skip-bad")
    assert "2 of 3 rows" in output
    assert "line 3, participant" in output
    assert len(karat.read(tmp_path / "out.parquet")) == 1


def test_errors_as_json(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(BAD)
    output, _ = run("convert", path, "--json", status=2)
    problems = json.loads(output)["problems"]
    assert {(p["file"], p["place"], p["number"]) for p in problems} == {("bad.csv", "line", 3), ("bad.csv", "line", 4)}


def test_results_as_json(good: Path) -> None:
    result = json.loads(run("convert", good, "--json")[0])
    assert (result["participants"], result["answers"], result["written"]) == (2, 3, None)
    assert json.loads(run("datasets", "--json")[0]).keys() == {"likert", "crowd"}
    assert json.loads(run("datasets", "crowd", "--json")[0])["answers"] == 9600


def test_quiet_is_quiet(good: Path, tmp_path: Path) -> None:
    assert run("convert", good, "--quiet", "-o", tmp_path / "x.csv") == ("", "")


def test_safe_for_spreadsheets(good: Path, tmp_path: Path) -> None:
    out = tmp_path / "safe.csv"
    run("convert", good, "-o", out, "--safe-for-spreadsheets")
    assert pl.read_csv(out)["note"].to_list() == ["'=1+1", "-3", "'+x"]
    assert karat.read(out) == karat.read(good)
    plain = tmp_path / "plain.csv"
    run("convert", good, "-o", plain)
    assert pl.read_csv(plain)["note"].to_list() == ["=1+1", "-3", "+x"]


def test_rows_in_order_number_the_trials(tmp_path: Path) -> None:
    file = tmp_path / "results.csv"
    file.write_text("participant,item,response\np,b,1\nq,a,2\np,a,5\nq,b,4\n")
    output, _ = run("convert", file, "--scale", "ordinal:1-5", "--rows-in-order", "-o", tmp_path / "out.csv")
    assert "rows are in the order of presentation" in output
    assert pl.read_csv(tmp_path / "out.csv").select("item", "trial").rows() == [("b", 1), ("a", 1), ("a", 2), ("b", 2)]


def test_flags_reach_the_readers(tmp_path: Path) -> None:
    path = tmp_path / "odd.txt"
    path.write_bytes("wer;was;antw;zeit;Größe\np1;a;-1;1500;x\np1;b;1;2500;y\n".encode("cp1252"))
    output, _ = run(
        "convert", path, "--map", "participant=wer", "--map", "item=was", "--map", "response=antw", "--map", "rt=zeit",
        "--answers", "1=yes,-1=no", "--scale", "binary:no,yes", "--rt-unit", "ms", "--delimiter", ";",
        "--encoding", "latin-1", "--from", "table", "-o", tmp_path / "x.parquet",
    )  # fmt: skip
    frame = karat.read(tmp_path / "x.parquet").frame
    assert frame["response"].to_list() == ["no", "yes"]
    assert frame["rt"].to_list() == [1.5, 2.5]
    assert "Größe" in frame.columns
    assert "assumed" not in output


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (["--from", "jsPsyhc"], "There is no source jsPsyhc. Did you mean jspsych?"),
        (["--map", "participant"], "--map participant: use the form NAME=VALUE."),
        (["--map", "participant=worker"], "has no column worker"),
        (["--scale", "likert"], "is not a scale"),
        (["--scale", "binary", "--scale", "choice"], "name the question"),
        (["--rt-unit", "min"], "use s or ms"),
        (["--decimal", "x"], "use . or ,"),
        (["--delimiter", "::"], "use a single character"),
        (["--encoding", "klingon"], "is not an encoding"),
        (["-o", "x.docx"], "ends in .csv or .parquet"),
        (["-o", "x.parquet", "--safe-for-spreadsheets"], "is for CSV"),
    ],
)
def test_wrong_flags_are_reported(flags: list[str], text: str, good: Path) -> None:
    assert text in run("convert", good, *flags, status=2)[1]


def test_what_is_no_finite_number_is_refused(tmp_path: Path) -> None:
    for flag in ("--participants", "--items", "--effect"):
        assert f"{flag} 24,nan" in run("power", tmp_path, flag, "24,nan", status=2)[1]


def test_a_place_that_cannot_be_written_is_reported(good: Path) -> None:
    _, output = run("convert", good, "-o", good / "judgments.parquet", status=2)
    assert "good.csv" in output


def test_a_file_is_not_overwritten_by_its_own_judgments(good: Path) -> None:
    before = good.read_bytes()
    assert "good.csv" in run("convert", good, "-o", good, status=2)[1]
    assert good.read_bytes() == before


@pytest.mark.parametrize("name", ["missing.csv", "empty.csv", "empty folder"])
def test_nothing_to_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    (tmp_path / "empty folder").mkdir()
    _, error = run("convert", tmp_path / name, status=2)
    assert name in error
    assert "Traceback" not in error


def test_datasets(tmp_path: Path) -> None:
    assert "likert" in run("datasets")[0]
    run("datasets", "likert", "-o", tmp_path / "l.csv")
    assert karat.read(tmp_path / "l.csv") == karat.datasets.load("likert")
    error = run("datasets", "x", status=2)[1]
    assert all(name in error for name in ("likert", "crowd"))
    assert "48 participants" in run("datasets", "likert")[0]


@pytest.mark.slow
def test_demo_says_where_the_report_is(tmp_path: Path) -> None:
    folder = tmp_path / "a demo"
    result = json.loads(run("demo", "--no-serve", "--keep", folder, "--json")[0])
    assert result["page"] == str(folder / "report.html")
    assert any("60 simulated participants" in line for line in result["lines"])
    assert any(line.startswith("credence   as a second opinion: ") for line in result["lines"])
    assert karat.read(folder / "judgments.parquet").participants.height == 60
    assert (folder / "screened" / "participants.csv").is_file()
    assert "<title>" in (folder / "report.html").read_text(encoding="utf-8")
