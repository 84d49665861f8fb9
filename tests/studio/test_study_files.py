"""Studies as the studio saves them: the same files, comments kept, a history, and nothing overwritten in silence."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from karat.studio.folder import StudioError
from karat.studio.live_check import live_check
from karat.studio.study_files import (
    EditConflictError,
    KeyChange,
    StudyEdit,
    StudyFolder,
    TableEdit,
    changed_text,
    value_at,
)
from karat.studio.workspace import NewStudy, Workspace, note_checked
from karat.study.init import write_study
from karat.study.study import load
from messages import refuses


@pytest.fixture
def files(tmp_path: Path) -> StudyFolder:
    write_study(tmp_path / "study", "yes-no")
    return StudyFolder(tmp_path / "study")


def change(files: StudyFolder, path: list[str | int], after: object) -> StudyEdit:
    return StudyEdit(changes=[KeyChange(path=path, before=value_at(files.settings(), path), after=after)])


def table_edit(files: StudyFolder, sentence: str) -> StudyEdit:
    grid = files.table("items.csv")
    rows = [list(row) for row in grid.rows]
    rows[0][grid.columns.index("sentence")] = sentence
    return StudyEdit(tables={"items.csv": TableEdit(version=grid.version, columns=list(grid.columns), rows=rows)})


def test_every_template_keeps_its_comments_when_keys_change(tmp_path: Path) -> None:
    for task in ("likert", "choice", "differential", "label", "pairs"):
        (path, *_) = write_study(tmp_path / task, task)
        text = path.read_text(encoding="utf-8")
        contrast = [*tomllib.loads(text).get("contrast", []), {"name": "x", "factors": {"a": ["1", "2"]}}]
        changed = changed_text(
            text,
            [
                KeyChange(path=["title"], after='A "new" title'),
                KeyChange(path=["texts", "consent"], after='Two\n\nparagraphs with """ and \\.\n'),
                KeyChange(path=["contrast"], after=contrast),
                KeyChange(path=["recruitment", "completion_code"], after="C0DE"),
            ],
        )
        read = tomllib.loads(changed)
        assert read["title"] == 'A "new" title'
        assert read["texts"]["consent"] == 'Two\n\nparagraphs with """ and \\.\n'
        assert read["contrast"] == contrast
        wanted = tomllib.loads(text)
        same = {key: value for key, value in read.items() if key not in ("title", "texts", "contrast", "recruitment")}
        assert same == {key: wanted[key] for key in same}
        comments = [line.split("#")[1] for line in text.splitlines() if "#" in line]
        assert all(comment in changed for comment in comments)


def test_a_save_is_a_snapshot_that_can_be_brought_back(files: StudyFolder) -> None:
    before = files.text()
    assert files.save(change(files, ["title"], "Another")) == ["study.toml"]
    assert load(files.folder).title == "Another"
    latest, first = files.history()
    assert latest.files == ("study.toml",)
    assert set(first.files) == {"study.toml", "items.csv"}
    assert files.save(change(files, ["title"], "Another")) == []
    assert files.restore(first.name) == ["study.toml"]
    assert files.text() == before
    assert len(files.history()) == 3
    with pytest.raises(StudioError):
        files.restore("20200101-000000-001")


def test_keys_changed_outside_are_merged_or_asked_about(files: StudyFolder) -> None:
    title, prompt = change(files, ["title"], "Mine"), change(files, ["block", 0, "prompt"], "Mine?")
    files.path.write_text(files.text().replace(files.settings()["title"], "Theirs"), encoding="utf-8")
    assert files.save(prompt) == ["study.toml"]
    assert (files.settings()["title"], files.settings()["block"][0]["prompt"]) == ("Theirs", "Mine?")
    with pytest.raises(EditConflictError) as raised:
        files.save(title)
    assert raised.value.places == ("title",)
    assert files.settings()["title"] == "Theirs"
    assert files.save(title.model_copy(update={"conflict": "theirs"})) == []
    assert files.settings()["title"] == "Theirs"
    titles = [
        tomllib.loads((files.folder / "history" / one.name / "study.toml").read_text(encoding="utf-8"))["title"]
        for one in files.history()
    ]
    assert titles[:2] == ["Theirs", "Mine"]  # the page may forget its version
    files.save(title.model_copy(update={"conflict": "mine"}))
    assert files.settings()["title"] == "Mine"


def test_a_table_changed_outside_is_kept_beside(files: StudyFolder) -> None:
    mine = table_edit(files, "My sentence is here.")
    path = files.folder / "items.csv"
    theirs = path.read_bytes() + b"\n"
    path.write_bytes(theirs)
    with pytest.raises(EditConflictError):
        files.save(mine)
    assert path.read_bytes() == theirs
    assert files.save(mine.model_copy(update={"conflict": "both"})) == ["items (2).csv"]
    assert path.read_bytes() == theirs
    assert "My sentence is here." in (files.folder / "items (2).csv").read_text(encoding="utf-8")


def test_frozen_rules_stay(files: StudyFolder) -> None:
    rules = change(files, ["screening", "exclude"], "all")
    with refuses(StudioError, "2026-01-01"):
        files.save(rules, frozen="2026-01-01")
    assert files.save(change(files, ["title"], "Still free"), frozen="2026-01-01") == ["study.toml"]


def test_only_tables_of_the_study_are_written(files: StudyFolder) -> None:
    edit = StudyEdit(tables={"../other.csv": TableEdit(columns=["item"], rows=[["1"]])})
    with pytest.raises(StudioError):
        files.save(edit)
    with pytest.raises(StudioError):
        files.table("study.toml")


def test_the_check_points_at_the_field_and_the_row(files: StudyFolder) -> None:
    assert live_check(files, StudyEdit())["counts"]["error"] == 0
    found = live_check(files, change(files, ["block", 0, "task"], "yes-nо"))
    assert [one["path"][:3] for one in found["findings"]] == [["block", 0, "task"]]
    grid = files.table("items.csv")
    rows = [list(row) for row in grid.rows]
    rows[3][grid.columns.index("function")] = "fillr"
    table = {"items.csv": TableEdit(version=grid.version, columns=list(grid.columns), rows=rows)}
    (finding,) = live_check(files, StudyEdit(tables=table))["findings"]
    assert (finding["grade"], finding["table"], finding["row"]) == ("error", "items.csv", 3)
    assert live_check(files, StudyEdit())["counts"]["error"] == 0, "the files themselves stay as they are"


SHEET = "item\tthat short\tthat long\twhether short\twhether long\n" + "".join(
    f"{n}\tWho thinks that Ann saw {n}?\tWhat did Ann think of {n}?\t"
    f"Who asks whether Ann saw {n}?\tWhat, asks Ann {n}?\n"
    for n in range(1, 9)
)


def test_a_pasted_sheet_becomes_a_study(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "studies", tmp_path / "scratch")
    workspace.root.mkdir()
    kept = workspace.keep_sheet("items.csv", SHEET.encode())
    made = workspace.create(NewStudy(name="Islands: 1", source="sheet", sheet=kept, factors=["a=x,y", "b=u,v"]))
    assert (made.folder.name, made.title, made.state) == ("islands-1", "Islands: 1", "draft")
    study = load(made.folder)
    assert (study.lists, list(study.settings.block[0].factors)) == (4, ["a", "b"])
    assert made.files.table("items.csv").editable
    copy = workspace.create(NewStudy(name="Second", source="copy", study=made.id))
    assert copy.title == "Islands: 1 (copy)"
    with pytest.raises(StudioError):
        workspace.create(NewStudy(name="Second", source="template"))
    note_checked(copy.folder, 0)
    assert {one.name: one.state for one in workspace.projects()} == {"islands-1": "draft", "second": "checked"}
    (copy.folder / "study.toml").write_text("title = ", encoding="utf-8")
    assert {one.name: one.state for one in workspace.projects()}["second"] == "draft"


def test_a_long_sheet_and_a_workbook_become_a_study(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    workspace = Workspace(tmp_path / "studies", tmp_path / "scratch")
    workspace.root.mkdir()
    long = ["item,condition,sentence"] + [f"{n},{c},The {c} sentence number {n}." for n in range(1, 5) for c in "ab"]
    kept = workspace.keep_sheet("long.csv", "\n".join(long).encode())
    made = workspace.create(NewStudy(name="Long", source="sheet", sheet=kept))
    assert list(load(made.folder).settings.block[0].factors) == ["condition"]
    book = openpyxl.Workbook()
    for line in SHEET.splitlines():
        book.active.append(line.split("\t"))
    book.save(tmp_path / "sheet.xlsx")
    kept = workspace.keep_sheet("sheet.xlsx", (tmp_path / "sheet.xlsx").read_bytes())
    made = workspace.create(NewStudy(name="Book", source="sheet", sheet=kept))
    assert made.files.table("sheet.csv").editable
    book.create_sheet("Fillers").append(["Nr", "Sentence"])
    book["Fillers"].append([1, "The bus is late today."])
    book.active.insert_rows(1)
    book.active["A1"] = "Materials of the second experiment"
    book.save(tmp_path / "two.xlsx")
    kept = workspace.keep_sheet("two.xlsx", (tmp_path / "two.xlsx").read_bytes())
    made = workspace.create(NewStudy(name="Two", source="sheet", sheet=kept))
    assert made.files.table("items.csv").editable
    assert made.files.table("fillers.csv").editable
    book = openpyxl.load_workbook(tmp_path / "sheet.xlsx")
    notes = book.create_sheet("Notes", 0)
    notes.append(["To do", "Done"])
    book.save(tmp_path / "notes.xlsx")
    kept = workspace.keep_sheet("notes.xlsx", (tmp_path / "notes.xlsx").read_bytes())
    assert len(workspace.sheet(kept)[0].sets) == 8, "the sets are in the second sheet"
    made = workspace.create(NewStudy(name="Notes", source="sheet", sheet=kept))
    assert made.files.table("items.csv").editable
    with pytest.raises(StudioError):
        workspace.keep_sheet("sheet.pdf", b"%PDF")
