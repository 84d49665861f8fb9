"""The archive: the form of Psych-DS, sums that hold, and nobody's name or background in any file."""

from __future__ import annotations

import hashlib
import json
import re
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook
from typer.testing import CliRunner

import karat
from karat.cli import archive as command
from karat.errors import KaratError
from karat.judgments import Judgments
from karat.messages import Message
from karat.report.archive import Archive, archive
from karat.report.archive_documents import NAME, data_name
from karat.report.build import NOT_COMPUTED
from karat.report.pseudonyms import pseudonymous, removed_columns, stripped
from karat.screen.run import run as screen
from karat.simulate import answer_study
from karat.study.file import read_rules
from karat.study.study import Study, load
from messages import refuses

MODULE = import_module("karat.report.archive")


@pytest.fixture(scope="module")
def study(root: Path) -> Study:
    return load(root / "examples" / "likert")


@pytest.fixture(scope="module")
def results(study: Study) -> Judgments:
    """Simulated results with what real ones have: ids of a platform, a comment, an address."""
    found = answer_study(study, 16, shares={"guesser": 0.2}, seed=1)
    old = found.participants["participant"].to_list()
    names = {name: f"{place:02x}5e3b7c9d1f2a4b6c8e0d1f" for place, name in enumerate(old)}
    renamed = pl.col("participant").replace_strict(names)
    people = found.participants.with_columns(renamed).with_columns(
        comment=pl.lit("Greetings from Aunt Petunia"), worker=pl.col("participant").str.to_uppercase(),
    )  # fmt: skip
    frame = found.frame.with_columns(renamed).with_columns(prolific_pid=pl.col("participant"))
    return Judgments(frame, found.scales, people)


@pytest.fixture(scope="module")
def made(results: Judgments, study: Study, tmp_path_factory: pytest.TempPathFactory) -> Archive:
    folder = tmp_path_factory.mktemp("archive") / "new"
    return archive(results, folder, study, keep=["age_group"], creators=["Ada L."], license="CC0-1.0", report=False)


def texts(made: Archive) -> dict[str, str]:
    readable = (".csv", ".json", ".md", ".svg", ".txt", ".toml", ".bib")
    return {path.as_posix(): (made.folder / path).read_text() for path in made.files if path.suffix in readable}


def test_the_folder_has_the_form_of_psych_ds(made: Archive) -> None:
    about = json.loads((made.folder / "dataset_description.json").read_text())
    assert about["@type"] == "Dataset"
    assert about["@context"] == "https://schema.org/"
    assert about["creator"] == [{"@type": "Person", "name": "Ada L."}]
    assert about["license"] == "CC0-1.0"
    tables = [path for path in made.files if path.parts[0] == "data" and path.parts[1] != "raw"]
    assert len(tables) == 2
    columns: set[str] = set()
    for path in tables:
        assert NAME.fullmatch(path.name)
        columns |= set(pl.read_csv(made.folder / path, infer_schema=False).columns)
    assert {one["name"] for one in about["variableMeasured"]} == columns
    fields = {one["name"]: one["description"] for one in about["variableMeasured"]}
    assert all(fields.values())
    assert fields["status"].startswith("grammatical, ungrammatical, marked")
    assert "among participants: what the platform says" in fields["status"]
    assert (made.folder / "README.md").is_file()


def test_the_checksums_hold_and_name_every_file(made: Archive) -> None:
    lines = (made.folder / "checksums.txt").read_text().splitlines()
    sums = dict(reversed(line.split("  ", 1)) for line in lines)
    there = {path.relative_to(made.folder).as_posix() for path in made.folder.rglob("*") if path.is_file()}
    assert set(sums) == there - {"checksums.txt"}
    assert {path.as_posix() for path in made.files} == there
    for name, value in sums.items():
        assert hashlib.sha256((made.folder / name).read_bytes()).hexdigest() == value


def test_texts_are_raw_in_tables_and_text_in_workbooks(tmp_path: Path) -> None:
    hostile = ["=1+1", "+cmd", "-2", "@x", "*dog", "\t=1", "a\rb", "<b>&", "100 %", "", None]
    frame = pl.DataFrame(
        {"participant": ["a"] * len(hostile), "item": [str(one) for one in range(len(hostile))], "response": 1,
         "rt": [0.1 + one for one in range(len(hostile))], "note": hostile}
    )  # fmt: skip
    made = archive(Judgments(frame, karat.Ordinal(3)), tmp_path / "new", rules={"completion": {}}, report=False)
    csv = next(made.folder / path for path in made.files if "judgments_data" in path.name)
    assert pl.read_csv(csv, infer_schema=False)["note"][:5].to_list() == hostile[:5]
    sheet = load_workbook(made.folder / "data" / "raw" / "judgments.xlsx")["judgments"]
    head, *rows = sheet.iter_rows()
    column = [cell.value for cell in head].index("note")
    assert [row[column].value for row in rows] == [*hostile[:9], None, None]
    assert {row[column].data_type for row in rows[:9]} == {"s"}
    times = [row[[cell.value for cell in head].index("rt")] for row in rows]
    assert [cell.value for cell in times] == frame["rt"].to_list()


def test_nothing_in_it_says_who_somebody_is(made: Archive, results: Judgments) -> None:
    old = results.participants["participant"].to_list()
    for name, text in texts(made).items():
        assert not [one for one in old if one in text.lower()], name
        assert "Petunia" not in text, name
        assert not re.search(r"2026-03-\d\dT", text), name
    assert made.notes == ()
    for path in ("data/raw/judgments.parquet", "results/screening/judgments.parquet"):
        judged = karat.read(made.folder / path)
        assert set(judged.participants["participant"]) <= set(made.names.values())
        assert not set(made.removed) & {*judged.frame.columns, *judged.participants.columns}


def test_the_answers_are_those_of_the_results(made: Archive, results: Judgments) -> None:
    judged = karat.read(made.folder / "data/raw/judgments.parquet")
    back = {new: old for old, new in made.names.items()}
    names = ["participant", "trial", "item", "response", "rt"]
    again = judged.frame.with_columns(pl.col("participant").replace_strict(back)).select(names).sort(names[:2])
    assert again.equals(results.frame.select(names).sort(names[:2]))
    table = pl.read_csv(made.folder / next(p for p in made.files if "description-judgments" in p.name))
    assert table["rt"].to_list() == judged.frame["rt"].to_list()
    assert judged.scales == results.scales


def test_the_screening_is_that_of_the_results_under_new_names(made: Archive, results: Judgments, study: Study) -> None:
    own = karat.screen.run(results, study=study)
    text = json.loads((made.folder / "results/screening/screening.json").read_text())
    gone = {name for name, one in text["participants"].items() if one["excluded"]}
    assert gone == {made.names[name] for name in own.excluded}
    assert text["summary"]["flagged"] == {name: len(one.flagged) for name, one in own.evidence.items()}
    assert own.evidence["eligibility"].flagged
    reasons = {one["criteria"]["eligibility"]["reason"] for one in text["participants"].values()}
    assert reasons == {str(Message(f"eligibility.{one}_quietly")) for one in ("met", "not_met")}
    assert not any(one["criteria"]["eligibility"]["values"] for one in text["participants"].values())


def test_the_study_can_be_loaded_again_and_is_the_same(made: Archive, study: Study) -> None:
    assert load(made.folder / "materials").fingerprint == study.fingerprint
    assert "will rate" in (made.folder / "documentation/preregistration.en.md").read_text()
    assert "@unpublished{pieper" in (made.folder / "documentation/literature.bib").read_text()


def test_the_readme_says_what_is_gone_and_what_was_kept(made: Archive) -> None:
    text = (made.folder / "README.md").read_text()
    assert set(made.removed) >= {"comment", "worker", "prolific_pid", "first_language", "started", "time"}
    assert all(f"`{name}`" in text for name in made.removed)
    assert "Kept on request: `age_group`." in text
    assert "is raw" in text
    for name in re.findall(r"^- `([\w./]+)`", text, re.MULTILINE):
        assert (made.folder / name).exists(), name


def test_a_kept_column_that_holds_old_names_is_reported(results: Judgments, tmp_path: Path) -> None:
    found = archive(results, tmp_path / "new", rules={"completion": {}}, keep=["prolific_pid"], report=False)
    assert any("16 participants" in note for note in found.notes)
    assert any("materials/" in note for note in found.notes)
    assert "## To look at before publishing" in (tmp_path / "new" / "README.md").read_text()


def test_old_names_are_looked_for_wherever_the_archive_lies(results: Judgments, tmp_path: Path) -> None:
    frame = results.frame.with_columns(remark=pl.format("Thanks to {}.", "participant"))
    result = Judgments(frame.drop("prolific_pid"), results.scales, results.participants.drop("worker"))
    place = tmp_path / "materials" / "new"
    found = archive(result, place, rules={"completion": {}}, keep=["remark"], report=False)
    assert any(note.startswith("data/") and "16 participants" in note for note in found.notes)


def test_materials_include_images_and_tables(tmp_path: Path) -> None:
    home, other = tmp_path / "study", tmp_path / "other"
    for folder in (home, other):
        folder.mkdir()
    (home / "study.toml").write_text(
        'title = "Pictures"\n[[block]]\ntask = "likert"\nitems = ["items.csv", "../other/items.csv"]\n'
    )
    (home / "items.csv").write_text("item,image\na,a.png\nb,gone.png\n")
    (other / "items.csv").write_text("item,image\nc,a.png\n")
    (home / "a.png").write_bytes(b"picture")
    study = load(home)
    found = archive(answer_study(study, 4), tmp_path / "new", study, rules={"completion": {}}, report=False)
    kept = tmp_path / "new" / "materials"
    assert (kept / "a.png").read_bytes() == b"picture"
    assert (kept / "items.csv").read_text() == (home / "items.csv").read_text()
    assert (kept / "items-2.csv").read_text() == (other / "items.csv").read_text()
    assert any("gone.png" in note for note in found.notes)
    assert any("materials/items-2.csv" in note for note in found.notes)


def test_a_folder_with_something_in_it_is_left_alone(results: Judgments, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with refuses(KaratError, tmp_path):
        archive(results, tmp_path, report=False)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    with refuses(KaratError, "age_grup", "age_group"):
        archive(results, tmp_path / "new", keep=["age_grup"], report=False)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_archive_that_fails_leaves_nothing(
    results: Judgments, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> str:
        raise OSError("disk full")

    monkeypatch.setattr(MODULE, "readme", broken)
    with refuses(OSError, "disk full"):
        archive(results, tmp_path / "new", rules={"completion": {}}, report=False)
    assert list(tmp_path.iterdir()) == []


def test_report_and_methods_are_there_where_they_are_asked_for(
    study: Study, results: Judgments, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The measures themselves take long and have their own tests.
    monkeypatch.setattr(MODULE, "build", gathered_without_measures)
    monkeypatch.setattr(MODULE, "write_report", lambda _, path: path.write_text("<html></html>"))
    found = archive(results, tmp_path / "new", study)
    names = {path.as_posix() for path in found.files}
    assert {"results/report.html", "documentation/methods.en.md", "documentation/methods.de.md"} <= names
    text = (found.folder / "documentation/methods.en.md").read_text()
    assert f"The data are from {results.participants.height} participants, all of them simulated." in text


def gathered_without_measures(screening: object, study: object, progress: object) -> object:
    from karat.report.build import ReportData

    return ReportData(screening, study, NOT_COMPUTED, NOT_COMPUTED)


def test_seeds_repeat_names_and_none_varies_them() -> None:
    likert = karat.datasets.load("likert")
    first, again = (pseudonymous(likert, seed=7).names for _ in range(2))
    assert first == again
    assert sorted(first) == likert.participants["participant"].to_list()
    assert len(set(first.values())) == 48
    assert not set(first) & set(first.values())
    assert pseudonymous(likert).names != pseudonymous(likert).names


def test_personal_columns_by_name_content_and_constancy() -> None:
    people = ["w1", "w1", "w2", "w2"]
    frame = {
        "participant": people, "item": ["a", "b", "a", "b"], "response": [1, 2, 3, 1], "who": people,
        "address": ["x@y.org"] * 4, "browser": ["one", "one", "two", "two"], "gender": ["f", "m", "m", "f"],
        "ip_seen": ["10.0.0.1"] * 4, "order": ["PO", "OP", "PO", "OP"], "version": ["3"] * 4,
    }  # fmt: skip
    fields = {"participant": ["w1", "w2"], "list": ["1", "2"], "hobby": ["chess", None]}
    found = pseudonymous(Judgments(frame, karat.Ordinal(3), fields)).personal
    assert set(found) == {"who", "address", "browser", "gender", "ip_seen", "hobby"}
    assert found["who"] == "holds names of participants"


def test_what_is_taken_away_leaves_the_rest_as_it_was() -> None:
    likert = karat.datasets.load("likert")
    left = stripped(likert, removed_columns(["time", "started", "source"], ["source"], likert))
    assert "time" not in left.frame.columns
    assert "started" not in left.participants.columns
    assert "source" in left.participants.columns
    assert left.frame["response"].to_list() == likert.frame["response"].to_list()


@given(st.text(max_size=60))
def test_every_title_makes_a_name_that_the_standard_allows(title: str) -> None:
    assert NAME.fullmatch(data_name(title, "judgments"))


def run(*arguments: str) -> tuple[int, str]:
    app = typer.Typer()
    app.command("archive")(command.archive)
    done = CliRunner().invoke(app, list(arguments))
    return done.exit_code, done.output if done.exception is None or done.exit_code == 0 else str(done.exception)


def test_the_command_writes_the_archive_and_the_key_beside_it(root: Path, results: Judgments, tmp_path: Path) -> None:
    file, out, key = tmp_path / "results.parquet", tmp_path / "out", tmp_path / "key.csv"
    results.to_parquet(file)
    given = [str(file), "--study", str(root / "examples" / "likert"), "-o", str(out), "--no-report", "--key", str(key)]
    code, output = run(*given)
    assert code == 0, output
    assert "removed    comment: may describe participants" in output or "removed    comment: describes" in output
    assert f"written    {out}" in output
    names = pl.read_csv(key)
    assert set(names["participant"]) == set(results.participants["participant"])
    table = pl.read_csv(next((out / "data").glob("*participants_data.csv")))
    assert set(table["participant"]) == set(names["archived_as"])


def test_the_command_keeps_the_key_out_of_the_archive(results: Judgments, tmp_path: Path) -> None:
    file = tmp_path / "results.parquet"
    results.to_parquet(file)
    out = tmp_path / "out"
    code, output = run(str(file), "-o", str(out), "--key", str(out / "key.csv"))
    assert code != 0
    assert "key.csv" in output
    assert not out.exists()
    (tmp_path / "key.csv").write_text("mine")
    code, output = run(str(file), "-o", str(out), "--key", str(tmp_path / "key.csv"))
    assert code != 0
    assert "already exists" in output
    assert not out.exists()


def test_the_command_takes_rules_alone(results: Judgments, tmp_path: Path) -> None:
    file, rules, out = tmp_path / "results.parquet", tmp_path / "rules.toml", tmp_path / "out"
    results.to_parquet(file)
    rules.write_text("[screening]\nattention = { alpha = 0.01 }\n")
    code, output = run(str(file), "--rules", str(rules), "-o", str(out), "--no-report")
    assert code == 0, output
    (written,) = out.rglob("screening.json")
    first = json.loads(written.read_text(encoding="utf-8"))
    assert first["settings"]["attention"]["alpha"] == 0.01
    command = "karat screen data/raw/judgments.parquet --rules materials/rules.toml"
    assert command in (out / "README.md").read_text(encoding="utf-8")
    again = screen(karat.read(out / "data" / "raw" / "judgments.parquet"), read_rules(out / "materials" / "rules.toml"))
    assert again.settings["attention"]["alpha"] == 0.01
    assert len(again.excluded) == first["summary"]["excluded"]


def test_without_study_and_rules_there_are_no_materials(tmp_path: Path) -> None:
    rows = {"participant": ["p", "p", "q", "q"], "item": ["a", "b"] * 2, "response": [5, 1, 4, 2]}
    found = archive(karat.Judgments(rows, karat.Ordinal(5)), tmp_path / "new", report=False)
    assert any("materials/ is missing" in note for note in found.notes)
    assert not (tmp_path / "new" / "materials").exists()
    text = (tmp_path / "new" / "README.md").read_text(encoding="utf-8")
    assert "karat screen data/raw/judgments.parquet\n" in text


def test_trial_order_by_moments_stays(tmp_path: Path) -> None:
    frame = karat.datasets.load("crowd").frame
    when = pl.datetime(2026, 3, 1) + pl.duration(seconds=pl.col("trial"))
    timed = frame.with_columns(time=when).drop("trial").sample(fraction=1.0, shuffle=True, seed=1)
    judgments = karat.Judgments(timed, karat.datasets.load("crowd").scales)
    rules = {"straightlining": {}}
    archive(judgments, tmp_path / "new", rules=rules, report=False)
    kept = karat.read(tmp_path / "new" / "data" / "raw" / "judgments.parquet")
    assert "time" not in kept.frame.columns
    assert len(screen(kept, rules).excluded) == len(screen(judgments, rules).excluded) > 0


def test_rules_that_could_not_run_are_reported_in_the_readme(tmp_path: Path) -> None:
    rows = {"participant": ["p", "p", "q", "q"], "item": ["a", "b"] * 2, "response": [5, 1, 4, 2]}
    archive(
        karat.Judgments(rows, karat.Ordinal(5)), tmp_path / "new", rules={"remfod": {}, "completion": {}}, report=False
    )
    text = (tmp_path / "new" / "README.md").read_text(encoding="utf-8")
    assert "0 of 2 participants" in text
    assert "remfod" in text
