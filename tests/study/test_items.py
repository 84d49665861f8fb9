"""Item tables and templates."""

from __future__ import annotations

import pickle
from pathlib import Path

import openpyxl
import pytest

import karat
from karat.errors import Problems
from karat.study.items import filled_templates, read_items, read_questions, together
from messages import refuses


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_tables_from_csv_and_spreadsheets_are_one(tmp_path: Path) -> None:
    path = write(tmp_path, "items.csv", "item,order,sentence\nt1,a, It rains. \nt1,b,Rains it.\n")
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in (["item", "function", "sentence", "expected"], ["f1", "Control", "It snows.", 4]):
        book.active.append(row)
    book.save(tmp_path / "fillers.xlsx")
    items = read_items([path, tmp_path / "fillers.xlsx"], ["order"], "likert")
    assert not items.problems
    assert items.frame["function"].to_list() == ["test", "test", "control"]
    assert items.frame["expected"].to_list() == [None, None, "4"]
    assert items.frame["sentence"][0] == "It rains."
    assert items.locate(2) == ("fillers.xlsx", "row", 2)


def test_items_of_several_sheets_are_pickled(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for name in ("one", "two"):
        for row in (["item", "sentence"], [name, "It rains."]):
            (book[name] if name in book.sheetnames else book.create_sheet(name)).append(row)
    book.save(tmp_path / "items.xlsx")
    items = read_items([tmp_path / "items.xlsx"], [], "likert", sheets=["one", "two"])
    copy = pickle.loads(pickle.dumps(items))
    assert [copy.locate(row) for row in (0, 1)] == [
        ("items.xlsx, sheet one", "row", 2),
        ("items.xlsx, sheet two", "row", 2),
    ]


def test_flaws_of_a_table_name_their_lines(tmp_path: Path) -> None:
    text = "item,function,status,sentence\nt1,tset,gramatical,It rains.\n,filler,,\nx\n"
    found = list(read_items([write(tmp_path, "items.csv", text)], ["oder"], "likert").problems)
    assert {(one.number, one.column, one.value) for one in found if one.number} == {
        (2, "function", "tset"), (2, "status", "gramatical"), (3, "item", None), (3, "sentence", None), (4, None, None),
    }  # fmt: skip
    fixes = {one.value: one.fix for one in found}
    assert ("test?" in fixes["tset"], "grammatical?" in fixes["gramatical"]) == (True, True)
    assert any("oder" in one.what for one in found if one.number is None)


def test_a_table_without_stimuli(tmp_path: Path) -> None:
    (problem,) = read_items([write(tmp_path, "i.csv", "item,text\nt1,x\n")], [], "likert").problems
    assert [name for name in ("sentence", "image", "item, text") if name not in str(problem)] == []


def test_misspelt_columns_are_named(tmp_path: Path) -> None:
    problems = read_items([write(tmp_path, "i.csv", "item,functoin,sentense\nt1,filler,x\n")], [], "likert").problems
    function, sentence = map(str, problems)
    assert ("functoin" in function, "sentense?" in sentence) == (True, True)


def test_own_names_of_columns_are_to_be_renamed(tmp_path: Path) -> None:
    text = "nr,Type,Order,Text\n1,critical,SO,It rains.\n2,filler,,It snows.\n"
    result = read_items([write(tmp_path, "i.csv", text)], ["order"], "likert").problems.lines()
    there = "There are nr, Type, Order, Text."
    assert result == [
        f"there is no column item. Rename nr to item. {there}",
        "there is no column function, so that all rows would be test items. Is it Type? Rename Type to function.",
        f"there is no column sentence (or image). Rename Text to sentence. {there}",
        f"there is no column order, a factor of the study file. Rename Order to order. {there}",
    ]


def test_function_like_column_is_kept_for_the_check(tmp_path: Path) -> None:
    path = write(tmp_path, "i.csv", "item,role,sentence\n1,critical,It rains.\n2,Filler,It snows.\n")
    items = read_items([path], [], "likert")
    assert not items.problems
    assert items.like_functions == {"i.csv": "role"}
    # A factor has a meaning of its own, and so has a column with other values.
    assert read_items([path], ["role"], "likert").like_functions == {}
    path = write(tmp_path, "j.csv", "item,role,sentence\n1,agent,It rains.\n2,filler,It snows.\n")
    assert read_items([path], [], "likert").like_functions == {}
    path = write(tmp_path, "k.csv", "item,kind,sentence\n1,control,It rains.\n2,experimental,It snows.\n")
    items = read_items([path], ["kind"], "likert")
    assert (len(items.problems), items.like_functions) == (0, {})


@pytest.mark.parametrize(
    ("word", "meant"),
    [("critical", "test"), ("Target", "test"), ("experimental", "test"), ("distractor", "filler"),
     ("Attention-Check", "attention"), ("controll", "control")],
)  # fmt: skip
def test_equal_functions_that_are_not_known_are_reported_once(word: str, meant: str, tmp_path: Path) -> None:
    rows = "".join(f"t{number},{word},Sentence {number}.\n" for number in range(40))
    items = read_items([write(tmp_path, "i.csv", f"item,function,sentence\n{rows}f1,filler,x\n")], [], "likert")
    (line,) = items.problems.lines()
    names = ["lines 2, 3, 4", "37", word, meant, "test, filler, control, attention, calibration, practice"]
    assert [name for name in names if name not in line] == []


def test_many_functions_that_are_not_known_are_counted_in_words(tmp_path: Path) -> None:
    rows = "".join(f"t{number},x{number}y,Sentence.\n" for number in range(22))
    result = read_items([write(tmp_path, "i.csv", f"item,function,sentence\n{rows}")], [], "likert").problems.lines()
    assert "14" in result[-1]
    assert "lines 10 to 23" in result[-1]


def test_one_table_of_several_without_sentences_is_reported_once(tmp_path: Path) -> None:
    good = write(tmp_path, "fillers.csv", "item,function,sentence\nf1,filler,It rains.\n")
    bad = write(tmp_path, "items.csv", "item,function,stimulus\nt1,test,It rains.\nt2,test,It snows.\n")
    (problem,) = read_items([good, bad], [], "likert").problems
    assert problem.file == "items.csv"
    assert [name for name in ("sentence", "image", "item, function, stimulus") if name not in str(problem)] == []


def spreadsheet(path: Path, rows: list[list[object]], left: int = 0) -> Path:
    """A spreadsheet in which texts that are signs of failed formulas are such."""
    book = openpyxl.Workbook()
    assert book.active is not None
    for number, cells in enumerate(rows, start=1):
        for column, value in enumerate(cells, start=1 + left):
            cell = book.active.cell(number, column, value)
            if isinstance(value, str) and value.startswith("#"):
                cell.data_type = "e"
    book.save(path)
    return path


@pytest.mark.parametrize("left", [0, 2])
def test_a_failed_formula_is_reported(left: int, tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["item", "sentence", "expected"], ["t1", "It rains.", None], [None, None, None], ["t2", "#NAME?", "#REF!"],
    ]  # fmt: skip
    items = read_items([spreadsheet(tmp_path / "i.xlsx", rows, left)], [], "likert")
    text = (
        "is a spreadsheet error: a formula that failed. Correct the formula in the spreadsheet and export the "
        "table again. Where the cell is meant as text, put an apostrophe (') before its first sign, such as = or -."
    )
    assert items.problems.lines(name_files=True) == [
        f'i.xlsx, row 4, sentence: "#NAME?" {text}',
        f'i.xlsx, row 4, expected: "#REF!" {text}',
    ]


@pytest.mark.parametrize(("sign", "failed"), [("#NAME?", True), ("#BEZUG!", True), ("Err:508", True), ("#1", False)])
def test_a_failed_formula_that_was_saved_as_csv_is_reported(sign: str, failed: bool, tmp_path: Path) -> None:
    items = read_items([write(tmp_path, "i.csv", f"item,sentence\nt1,{sign}\n")], [], "likert")
    assert [problem.value for problem in items.problems] == ([sign] if failed else [])


def test_failed_formulas_in_lexicons_and_questions_are_reported(tmp_path: Path) -> None:
    templates = write(tmp_path, "t.csv", "sentence\n{subject} slept.\n")
    lexicon = spreadsheet(tmp_path / "l.xlsx", [["item", "subject"], ["t1", "Ann"], ["t2", "#REF!"]], 0)
    (problem,) = filled_templates(templates, lexicon, [], "likert").problems
    assert (problem.file, problem.number, problem.column, problem.value) == ("l.xlsx", 3, "subject", "#REF!")
    problems = Problems()
    read_questions(write(tmp_path, "q.csv", "question,left,right\nq1,#N/A,good\n"), problems)
    assert [(problem.number, problem.column, problem.value) for problem in problems] == [(2, "left", "#N/A")]


def test_a_quotation_mark_that_is_not_closed_is_reported(tmp_path: Path) -> None:
    text = 'item,function,sentence\nt1,test,"It rains.\nt2,test,It snows.\nt3,test,"It hails, he said."\n'
    items = read_items([write(tmp_path, "i.csv", text)], [], "likert")
    assert items.problems.lines(name_files=True) == [
        "i.csv, line 2: the quotation mark that opens here is not closed: lines 2 to 4 are read as one row. Close it, "
        'or write it twice ("") where it belongs to the text of a cell.'
    ]


def test_templates_are_filled_from_a_lexicon(tmp_path: Path) -> None:
    templates = write(tmp_path, "t.csv", 'order,sentence\nSO,"{subject} saw {object}."\nOS,"{object} {subject} saw."\n')
    lexicon = write(tmp_path, "l.csv", "item,subject,object\nt1,Ann,Bob\nt2,Eve,Kim\n")
    items = filled_templates(templates, lexicon, ["order"], "likert")
    assert not items.problems
    assert items.frame.rows_by_key("item")["t2"] == [("SO", "Eve saw Kim.", "test"), ("OS", "Kim Eve saw.", "test")]


def test_empty_and_misspelt_slots_are_reported(tmp_path: Path) -> None:
    templates = write(tmp_path, "t.csv", "order,sentence\nSO,{subjekt} saw {object}.\n")
    lexicon = write(tmp_path, "l.csv", "item,subject,object\nt1,Ann,\n")
    slot, empty = filled_templates(templates, lexicon, ["order"], "likert").problems
    assert (slot.file, slot.number) == ("t.csv", 2)
    assert [name for name in ("{subjekt}", "l.csv", "{subject}") if name not in str(slot)] == []
    assert (empty.file, empty.number, empty.column) == ("l.csv", 2, "object")


def test_a_lexicon_names_each_item_once(tmp_path: Path) -> None:
    templates = write(tmp_path, "t.csv", "order,sentence\nSO,{x} runs.\n")
    twice = write(tmp_path, "l.csv", "item,x\nt1,Ann\nt1,Bob\n")
    problems = filled_templates(templates, twice, ["order"], "likert").problems
    assert {(problem.number, problem.column) for problem in problems} == {(2, "item"), (3, "item")}
    nameless = write(tmp_path, "m.csv", "itme,x\nt1,Ann\nt2,Bob\n")
    (problem,) = filled_templates(templates, nameless, ["order"], "likert").problems
    assert [name for name in ("item", "itme, x") if name not in str(problem)] == []


def test_templates_and_fillers_go_together(tmp_path: Path) -> None:
    templates = write(tmp_path, "t.csv", "order,sentence\nSO,{x} runs.\n")
    lexicon = write(tmp_path, "l.csv", "item,x\nt1,Ann\n")
    fillers = write(tmp_path, "f.csv", "item,function,sentence\nf1,filler,It rains.\n")
    both = together(read_items([fillers], [], "likert"), filled_templates(templates, lexicon, ["order"], "likert"))
    assert both.frame["item"].to_list() == ["f1", "t1"]
    assert both.locate(1) == ("t.csv", "line", 2)


def test_questions_need_names_and_poles(tmp_path: Path) -> None:
    problems = Problems()
    read_questions(write(tmp_path, "q.csv", "question,left\nclear,clear\nclear,\n"), problems)
    places = [(problem.number, problem.column) for problem in problems]
    assert set(places) >= {(3, "left"), (2, "question")}
    assert any("right" in problem.what for problem in problems if problem.number is None)


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    with refuses(karat.KaratError, tmp_path / "nothing.csv"):
        read_items([tmp_path / "nothing.csv"], [], "likert")
    write(tmp_path, "fillers.csv", "item,sentence\n")
    with refuses(karat.KaratError, tmp_path / "filler.csv", "fillers.csv"):
        read_items([tmp_path / "filler.csv"], [], "likert")
