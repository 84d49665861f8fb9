"""Item sets as labs keep them: wide sheets, workbooks with fillers, and the item files of other tools."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import openpyxl
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from karat.cli.init import init
from karat.errors import KaratError
from karat.intake import read
from karat.judgments import Judgments
from karat.judgments.scales import Binary, Choice, Nominal, Ordinal
from karat.study.check import check
from karat.study.file import StudyError
from karat.study.init import study_from_sets, task_of_results, tasks_for
from karat.study.item_sheets import (
    CrossedFactors,
    ItemSets,
    SetsError,
    guess_factors,
    read_sets,
    sets_from_results,
    stated_factors,
    with_fillers,
)
from karat.study.study import Study, load
from messages import refuses

NOUNS = ("doctor", "lawyer", "nurse", "pilot", "baker", "singer", "farmer", "tailor")
HEADERS = ("a (that, short)", "b (that, long)", "c (null, short)", "d (null, long)")


def sentences(noun: str) -> list[str]:
    long = "near the station "
    return [f"The {noun} {extra}said {that}it rained." for that in ("that ", "") for extra in ("", long)]


def workbook(path: Path, fillers: bool = True, item: str = "Item") -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Items"
    sheet.append([item, *HEADERS, "Notes"])
    for number, noun in enumerate(NOUNS, start=1):
        sheet.append([number, *sentences(noun), "from 2019" if number == 3 else None])
    if fillers:
        other = book.create_sheet("Fillers")
        other.append(["Nr", "Type", "Sentence"])
        for number in range(1, 7):
            other.append([number, "filler", f"The bus number {number} is late today."])
        other.append([7, "catch", "The the bus is late late today."])
    book.save(path)
    return path


def run(*arguments: object) -> dict[str, list[str]]:
    app = typer.Typer()
    app.command()(init)
    done = CliRunner().invoke(app, [str(one) for one in (*arguments, "--json")], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    result: dict[str, list[str]] = json.loads(done.output)
    return result


def made(source: Path, folder: Path, *stated: str, **options: str) -> Study:
    sets = read_sets(source, **options)
    factors = stated_factors(sets.conditions, stated) if stated else guess_factors(sets.conditions)
    study_from_sets(sets, factors, folder)
    return load(folder)


def shown(study: Study, number: int = 1) -> pl.DataFrame:
    return study.trials(0, number).filter(pl.col("function") == "test")


def test_a_workbook_stays_the_source(tmp_path: Path) -> None:
    study = made(workbook(tmp_path / "islands.xlsx"), tmp_path / "study")
    block = study.settings.block[0]
    assert block.items == ["islands.xlsx", "fillers.csv"]
    assert block.sheets == ["Items"]
    assert {name: factor.levels for name, factor in block.factors.items()} == {
        "complementizer": ["that", "null"],
        "length": ["short", "long"],
    }
    assert study.lists == 4
    for number in range(1, 5):
        cells = shown(study, number).group_by("complementizer", "length").len()["len"].to_list()
        assert cells == [2, 2, 2, 2]
    assert "The lawyer near the station said it rained." in study.blocks[0].items.frame["sentence"].to_list()
    functions = study.blocks[0].items.frame.group_by("function").len().sort("function").rows()
    assert functions == [("attention", 1), ("filler", 6), ("test", 32)]
    planned = [(contrast.name, list(contrast.own)) for contrast in study.settings.contrast]
    assert planned[0] == ("complementizer x length", ["complementizer", "length"])
    assert [own for _, own in planned[1:]] == [["complementizer"], ["length"]]
    assert "sheets" not in [finding.rule for finding in check(study).findings]


def test_without_fillers_the_examples_of_the_template_come(tmp_path: Path) -> None:
    sheet = tmp_path / "sets.csv"
    rows = "".join(f"{n},{','.join(sentences(noun))}\n" for n, noun in enumerate(NOUNS, 1))
    header = ",".join(f'"{name}"' for name in HEADERS)
    sheet.write_text(f"item,{header}\n{rows}")
    study = made(sheet, tmp_path / "study")
    assert study.settings.block[0].items == ["sets.csv", "examples.csv"]
    functions = set(study.blocks[0].items.frame["function"])
    assert {"filler", "control", "attention", "calibration", "practice"} <= functions
    # Eight sets leave two per condition, which no sheet can hide.
    errors = [finding.rule for finding in check(study).findings if finding.grade == "error"]
    assert errors == ["lexicalisations"]


@pytest.mark.parametrize(
    ("conditions", "levels"),
    [
        (["that-short", "that-long", "null-short", "null-long"], [("that", "null"), ("short", "long")]),
        (["NP_sg", "NP_pl"], [("sg", "pl")]),
        (["A: island / matrix", "B: island / embedded", "C: none / matrix", "D: none / embedded"],
         [("island", "none"), ("matrix", "embedded")]),
        (["v=active;n=one", "v=active;n=two", "v=passive;n=one", "v=passive;n=two"],
         [("active", "passive"), ("one", "two")]),
        (["inanimate-make-v", "inanimate-v", "animate-make-v", "animate-v"],
         [("inanimate-make-v", "inanimate-v", "animate-make-v", "animate-v")]),
        (["SO", "OS"], [("SO", "OS")]),
        (["[+wh, -isl]", "[+wh, +isl]", "[-wh, -isl]", "[-wh, +isl]"], [("+wh", "-wh"), ("-isl", "+isl")]),
        (["that + short", "that + long", "null + short", "null + long"], [("that", "null"), ("short", "long")]),
        (["ThatShort", "ThatLong", "NullShort", "NullLong"], [("That", "Null"), ("Short", "Long")]),
        (["A1", "A2", "B1", "B2"], [("A", "B"), ("1", "2")]),
        (["Condition 1", "Condition 2", "Condition 3"], [("1", "2", "3")]),
    ],
)  # fmt: skip
def test_levels_of_headers(conditions: list[str], levels: list[tuple[str, ...]]) -> None:
    found = guess_factors(conditions)
    assert list(found.levels.values()) == levels
    assert len(set(found.cells.values())) == len(conditions)


def test_stated_names_and_levels() -> None:
    named = stated_factors(HEADERS, ["comp", "distance"])
    assert named.levels == {"comp": ("that", "null"), "distance": ("short", "long")}
    turned = stated_factors(HEADERS, ["distance=long,short", "comp=null,that"])
    assert turned.cells["b (that, long)"] == ("long", "that")
    with refuses(SetsError, "6 conditions", "--factor length=short,long"):
        stated_factors(HEADERS, ["a=1,2,3", "b=x,y"])
    with refuses(SetsError, "1 factor", "2 factors", "that, null", "--factor length=short,long"):
        stated_factors(HEADERS, ["comp"])


def test_holes_are_named(tmp_path: Path) -> None:
    sheet = tmp_path / "sets.csv"
    sheet.write_text(
        "Item,a (x),b (y)\n1,He saw it then.,Then he saw it.\n2,She saw it then.,\n2,We saw it.,It we saw.\n"
    )
    with pytest.raises(SetsError) as error:
        read_sets(sheet)
    assert [(p.number, p.column) for p in error.value.problems] == [(3, "b (y)"), (3, "Item"), (4, "Item")]


MARKED = """\
# practice 1 -
This is a sentence to begin with.

# island 1 wh-short
Who left the party early?
? Did somebody leave? Y
# island 1 wh-long
Who did Mia say left the party early?
# island 2 wh-short
Who sold the old boat?
# island 2 wh-long
Who did Tom hear sold the old boat?
# filler 1 -
The cat slept on the sofa.
# filler 2 -
The the cat slept.
"""


def test_rows_without_a_condition_or_with_one_twice_are_named(tmp_path: Path) -> None:
    rows = [f"{item},{name},Item {item} in condition {name}." for item in (1, 2, 3) for name in ("a", "b")]
    rows[2] = "2,,Item 2 in no condition."
    rows.append("3,b,Item 3 in another sentence.")
    rows.append(rows[0])  # the same sentence again, as in a table with all lists
    table = tmp_path / "items.csv"
    table.write_text("\n".join(["item,condition,sentence", *rows]) + "\n")
    with refuses(SetsError, "line 4, condition", "line 7, condition", "line 8, condition", "item 3"):
        read_sets(table)


def test_files_of_linger_ibex_and_turktools(tmp_path: Path) -> None:
    source = tmp_path / "items.txt"
    source.write_text(MARKED)
    sets = read_sets(source)
    assert sets.conditions == ("wh-short", "wh-long")
    assert [(row["item"], row["function"]) for row in sets.fillers] == [
        ("p1", "practice"), ("f1", "filler"), ("f2", "filler"),
    ]  # fmt: skip
    assert len(sets.notes) == 1
    study = made(source, tmp_path / "study", "length=short,long")
    assert study.settings.block[0].items == ["items.csv", "fillers.csv", "examples.csv"]
    assert sorted(shown(study)["length"]) == ["long", "short"]


def test_one_of_several_experiments(tmp_path: Path) -> None:
    source = tmp_path / "items.txt"
    source.write_text(MARKED + "# agree 1 sg\nThe key is here.\n# agree 1 pl\nThe keys is here.\n")
    with refuses(SetsError, "items.txt", "island, agree", "--experiment NAME"):
        read_sets(source)
    assert read_sets(source, experiment="agree").conditions == ("sg", "pl")
    with refuses(SetsError, "items.txt", "islnd", "island"):
        read_sets(source, experiment="islnd")


def test_tables_of_pcibex_and_lrex(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text(
        "Type,Group,Item,Condition,Sentence\n"
        "critical,A,1,short,Who left early?\ncritical,B,1,long,Who did Mia say left early?\n"
        "critical,B,2,short,Who sold it?\ncritical,A,2,long,Who did Tom hear sold it?\n"
        "filler,A,101,f,The cat slept.\n"
    )
    sets = read_sets(table)
    assert list(sets.sets) == ["1", "2"]
    assert sets.sets["2"] == {"short": "Who sold it?", "long": "Who did Tom hear sold it?"}
    assert [row["function"] for row in sets.fillers] == ["filler"]
    lists = tmp_path / "lrex.csv"
    lists.write_text("item,condition,content,block\n1,a,It rained then.,1\n1,b,Rained it then.,1\n")
    assert read_sets(lists).sets == {"1": {"a": "It rained then.", "b": "Rained it then."}}


FOUR = ("a", "b", "c", "d")
LEVELS = dict(zip(FOUR, [("that", "short"), ("that", "long"), ("null", "short"), ("null", "long")], strict=True))


def rows_of(*cells: str, quoted: bool = True) -> str:
    """A table with a row per item and condition of six sets; cells are filled with the item, condition and levels."""
    lines = []
    for number, noun in enumerate(NOUNS[:6], start=1):
        for place, (letter, text) in enumerate(zip(FOUR, sentences(noun), strict=True)):
            known = {
                "item": number, "letter": letter, "comp": LEVELS[letter][0], "length": LEVELS[letter][1], "text": text,
                "list": FOUR[(place + number) % 4].upper(), "first": number if letter == "a" else "",
                "version": 4 * number + place,
            }  # fmt: skip
            lines.append(",".join(cell.format(**known) for cell in cells))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("header", "cells", "factors"),
    [
        # PCIbex: a column per factor, and lists in Group.
        ("Item_Set,Sentence,Comp,Length,Correct_Resp,Group", ("{item}", "{text}", "{comp}", "{length}", "", "{list}"),
         ["Comp", "Length"]),
        # The number of a set stands in its first row alone, as where cells are merged.
        ("Set,Cond,Comp,Distance,Sentence", ("{first}", "{letter}", "{comp}", "{length}", "{text}"),
         ["Comp", "Distance"]),
        # Names of items that end in the letter of the condition.
        ("ID,Stim,Length,Comp", ("{item}{letter}", "{text}", "{length}", "{comp}"), ["Length", "Comp"]),
        # Written by R: row names, and a column called sentence that holds none.
        (",item,version,sentence,full_sentence,condition,type",
         ("x", "{item}", "{version}", "{version}{letter}", "{text}", "{letter}", "critical"), ["condition"]),
        # One factor that is not called condition, and words set apart by capitals.
        ("ItemNumber,Form,Verb,Sent", ("{item}", "{letter}", "say", "{text}"), ["Form"]),
    ],
)  # fmt: skip
def test_tables_with_a_row_per_item_and_condition(
    header: str, cells: tuple[str, ...], factors: list[str], tmp_path: Path
) -> None:
    table = tmp_path / "table.csv"
    table.write_text(header + "\n" + rows_of(*cells))
    sets = read_sets(table)
    assert [list(own.values()) for own in sets.sets.values()] == [sentences(noun) for noun in NOUNS[:6]]
    found = guess_factors(sets.conditions)
    assert list(found.levels) == factors
    assert {len(levels) for levels in found.levels.values()} == ({2} if len(factors) == 2 else {4})


def test_a_table_with_all_lists_has_each_filler_once(tmp_path: Path) -> None:
    table = tmp_path / "stimuli.csv"
    fillers = "".join(f"{{list}},filler,{number},f,It rained on day {number}.,\n" for number in (1, 2))
    table.write_text(
        "Group,ItemType,ItemNumber,Cond,Sent,context\n"
        + rows_of("{list}", "experimental", "{item}", "{letter}", "{text}", "The {item} was late.")
        + "".join(fillers.format(list=letter) for letter in "ABCD") + "A,experimental,9,a,,\n"
    )  # fmt: skip
    sets = read_sets(table)
    assert [(row["item"], row["sentence"]) for row in sets.fillers] == [
        ("f1", "It rained on day 1."), ("f2", "It rained on day 2."),
    ]  # fmt: skip
    assert sets.beside["1", "a"] == {"context": "The 1 was late."}
    assert len(sets.notes) == 2  # the row without a sentence, and the column of lists


def test_single_condition_may_name_functions(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text(
        "Item,Condition,Sentence\n" + rows_of("{item}", "{letter}", "{text}") + "101,filler,It rained on that day.\n"
    )
    sets = read_sets(table)
    assert (len(sets.sets), [row["function"] for row in sets.fillers]) == (6, ["filler"])
    table.write_text("Item,Sentence\n1,It rained then.\n1,Then it rained.\n")
    with pytest.raises(SetsError):
        read_sets(table)


def test_a_workbook_with_a_title_two_rows_of_headers_and_notes(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Materials of the second experiment"])
    sheet.append([])
    sheet.append(["Nr.", "Verb", None, "that", None, "null", None, "Comment"])
    sheet.append([None, None, None, "short", "long", "short", "long", None])
    for number, noun in enumerate(NOUNS, start=1):
        sheet.append([number, "say", None, *sentences(noun), "check!" if number == 4 else None])
    sheet.append([])
    sheet.append(["Ask a native speaker about set 4"])
    other = book.create_sheet("Füllsätze (neu)")
    other.append(["Nr.", "Satz"])
    other.append([1, "Der Bus kommt heute zu spät."])
    path = tmp_path / "material.xlsx"
    book.save(path)
    sets = read_sets(path)
    assert sets.conditions == ("that, short", "that, long", "null, short", "null, long")
    assert list(sets.sets) == [str(number) for number in range(1, 9)]
    assert (sets.wide, len(sets.fillers), len(sets.notes)) == (False, 1, 3)
    sheet["E7"] = None
    book.save(path)
    with pytest.raises(SetsError) as error:
        read_sets(path)
    assert [(p.place, p.number, p.column) for p in error.value.problems] == [("row", 7, "that, long")]


def test_a_csv_file_with_factors_above_repeated_headers(tmp_path: Path) -> None:
    sheet = tmp_path / "sets.csv"
    rows = "".join(f"{number},{','.join(sentences(noun))}\n" for number, noun in enumerate(NOUNS, start=1))
    sheet.write_text(f"Materials\n\n,that,,null,\nItem,short,long,short,long\n{rows}", encoding="utf-8-sig")
    assert guess_factors(read_sets(sheet).conditions).levels == {
        "complementizer": ("that", "null"), "length": ("short", "long"),
    }  # fmt: skip
    # A comma that no quotation marks protect stays an error.
    sheet.write_text("Item,a,b\n1,Yes, it rained then.,Then it rained.\n2,It did rain.,Rain it did.\n")
    with pytest.raises(SetsError) as error:
        read_sets(sheet)
    assert [p.number for p in error.value.problems] == [2]


def test_fillers_among_the_sets_and_an_empty_column(tmp_path: Path) -> None:
    sheet = tmp_path / "sets.csv"
    rows = "".join(f"{number},critical,{','.join(sentences(noun))},\n" for number, noun in enumerate(NOUNS, start=1))
    others = "".join(f"{number},filler,The bus {number} is late.,,,,\n" for number in range(20, 40))
    sheet.write_text(f"Set #,Type,{','.join(FOUR)},\n{rows}{others}")
    sets = read_sets(sheet)
    assert (sets.conditions, list(sets.sets)[-1], len(sets.fillers)) == (FOUR, "8", 20)
    # Items that are called control, but have all conditions, are sets: control is a kind of verb, too.
    sheet.write_text(f"Item No.;Type;{';'.join(FOUR)}\n" + "".join(
        f"{number};{'control' if number % 2 else 'raising'};{';'.join(sentences(noun))}\n"
        for number, noun in enumerate(NOUNS, start=1)
    ))  # fmt: skip
    assert (len(read_sets(sheet).sets), read_sets(sheet).wide) == (8, True)


def book_of(path: Path, **sheets: list[list[object]]) -> Path:
    """A workbook with these sheets, an empty one for no rows."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


WIDE_ROWS: list[list[object]] = [["Item", *HEADERS], *([n, *sentences(noun)] for n, noun in enumerate(NOUNS, start=1))]


def test_sheet_with_sets_is_found_and_others_are_read(tmp_path: Path) -> None:
    path = book_of(
        tmp_path / "material.xlsx", Notes=[["To do"], ["Ask Mary about set 4."]], Sheet2=[], Items=WIDE_ROWS,
        Fillers_good=[["Nr", "Sentence"], [1, "The bus is late today."]],
        Fillers_bad=[["The bus late is."], ["Late the is bus."]],
        Practice=[["Sentence"], ["This is the first one."]],
    )  # fmt: skip
    sets = read_sets(path)
    assert (sets.sheet, sets.wide, sets.conditions) == ("Items", True, HEADERS)
    assert [(row["function"], row["sentence"]) for row in sets.fillers] == [
        ("filler", "The bus is late today."), ("filler", "The bus late is."), ("filler", "Late the is bus."),
        ("practice", "This is the first one."),
    ]  # fmt: skip
    (note,) = sets.notes
    assert "Notes" in note
    assert "Sheet2" not in note, "an empty sheet holds nothing that could be missed"
    study = made(path, tmp_path / "study")
    assert study.settings.block[0].sheets == ["Items"]
    only = read_sets(book_of(tmp_path / "control.xlsx", Control_verbs=WIDE_ROWS))
    assert (len(only.sets), only.fillers) == (8, ()), "sets in a sheet that is called like one of controls"
    (tmp_path / "sets.csv").write_text("Item,a,b\n1,It rained then.,Then it rained.\n")
    with pytest.raises(SetsError):
        read_sets(tmp_path / "sets.csv", sheet="Items")


@pytest.mark.parametrize(
    ("first", "names"),
    [("", ["1", "2"]), ("Lexical frame", ["1", "2"]), (None, ["1", "2"])],
    ids=["no header", "another name", "no numbers"],
)
def test_sets_without_a_column_called_item(first: str | None, names: list[str], tmp_path: Path) -> None:
    sheet = tmp_path / "sets.csv"
    rows = [["" if first is None else first, *FOUR], *([str(n), *sentences(NOUNS[n])] for n in (1, 2))]
    sheet.write_text("".join(",".join(row[first is None :]) + "\n" for row in rows))
    sets = read_sets(sheet)
    assert (list(sets.sets), sets.conditions, sets.wide, len(sets.notes)) == (names, FOUR, False, 1)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Condition,1,2\na,It rained then.,It snowed then.\nb,Then it rained.,Then it snowed.\n", None),
        ("1,It rained then.,Then it rained.\n2,It snowed then.,Then it snowed.\n", None),
        ("Item,a,b\n" + "".join(f"{n},It rained then.,Then it rained.\n" for n in range(9)) + "Total,9,9\n", 11),
    ],
    ids=["transposed", "no header", "totals"],
)
def test_sheets_that_are_no_item_sets(text: str, place: int | None, tmp_path: Path) -> None:
    sheet = tmp_path / "sets.csv"
    sheet.write_text(text)
    with pytest.raises(SetsError) as error:
        read_sets(sheet)
    assert {problem.number for problem in error.value.problems} == ({place} if place else set())


def test_a_comprehension_question_is_no_condition(tmp_path: Path) -> None:
    path = book_of(
        tmp_path / "sets.xlsx",
        Items=[[*row, "Comprehension question" if n == 0 else "Did it rain there?", "Probe question?" if n == 0
                else "What did it do?"] for n, row in enumerate(WIDE_ROWS)],
    )  # fmt: skip
    assert read_sets(path).conditions == HEADERS


IBEX = """\
var shuffleSequence = seq("intro", rshuffle(startsWith("target"), "filler"));
var defaults = ["AcceptabilityJudgment", {as: ["1", "2", "3"], q: "How is it?"}];
var items = [
    // ["old", "AcceptabilityJudgment", {s: "Nobody sees this."}],
    ["sep", "Separator", { }],
    ["intro", "Form", {html: {include: "intro.html"}, validators: {age: function (s) {
        if (s.match(/^['"\\d]+$/)) return true; else return "Not an \\u2018age\\u2019, [or {is it"; }}}],
    ["practice", "MyPractice", {html: "<b>First</b>", s: "Cats is lovely."}, "Message", {html: "Well done."}],
"""


def test_items_of_an_ibex_script(tmp_path: Path) -> None:
    script = tmp_path / "data.js"
    rows = "".join(
        f'[["target-{number}-{comp}-{length}", {number}], "AcceptabilityJudgment", {{s: "{text}"}}],\n'
        for number, noun in enumerate(NOUNS, start=1)
        for (comp, length), text in zip(LEVELS.values(), sentences(noun), strict=True)
    )
    more = '["filler-1", "AcceptabilityJudgment", {s: \'The dog \\\'barked\\\' \' + "at us.", as: ["1"]}]];\n'
    script.write_text(IBEX + rows + more)
    sets = read_sets(script)
    assert sets.conditions == ("that-short", "that-long", "null-short", "null-long")
    assert list(sets.sets["8"].values()) == sentences("tailor")
    assert [(row["function"], row["sentence"]) for row in sets.fillers] == [
        ("practice", "Cats is lovely."), ("filler", "The dog 'barked' at us."),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second", "conditions"),
    [
        ('["target", [{n}, 1]]', '["target", [{n}, 2]]', ("1", "2")),
        ('["short", {n}]', '["long", {n}]', ("short", "long")),
        ('"rc{n}-short"', '"rc{n}-long"', ("short", "long")),
    ],
)
def test_labels_of_ibex(first: str, second: str, conditions: tuple[str, ...], tmp_path: Path) -> None:
    script = tmp_path / "items.js"
    rows = "".join(
        f'[{label.format(n=number)}, "AcceptabilityJudgment", {{s: "The {noun} left{end}."}}],\n'
        for number, noun in enumerate(NOUNS, start=1) for label, end in ((first, ""), (second, " late"))
    )  # fmt: skip
    script.write_text(f"var items = [\n{rows}].concat(more);\n")
    sets = read_sets(script)
    assert sets.conditions == conditions
    assert len(sets.sets) == 8
    script.write_text("var shuffleSequence = seq();\n")
    with pytest.raises(SetsError):
        read_sets(script)


def test_lists_of_turktools(tmp_path: Path) -> None:
    lists = tmp_path / "items.turk.csv"
    columns = [f"item_{n}_{part}" for n in (1, 2) for part in ("section", "number", "condition")]
    lists.write_text(
        f"list,{','.join(columns)},field_1_1,field_2_1\n"
        "0,target,1,x,filler,1,f,It rained then.,The cat slept.\n"
        "1,filler,1,f,target,1,y,The cat slept.,Rained it then.\n"
    )
    sets = read_sets(lists)
    assert sets.sets == {"1": {"x": "It rained then.", "y": "Rained it then."}}
    assert [row["sentence"] for row in sets.fillers] == ["The cat slept."]


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    workbook(Path("islands.xlsx"), fillers=False)
    Path("fillers.csv").write_text("id,sentence\n1,The cat slept on the sofa.\n2,Slept the sofa on.\n")
    written = run("mine", "--from-sets", "islands.xlsx", "--factor", "comp", "--factor", "distance",
                  "--fillers", "fillers.csv", "--task", "yes-no")  # fmt: skip
    assert [Path(name).name for name in written["written"]] == [
        "study.toml", "islands.xlsx", "fillers.csv", "examples.csv",
    ]  # fmt: skip
    study = load("mine")
    assert list(study.settings.block[0].factors) == ["comp", "distance"]
    assert study.settings.block[0].task == "yes-no"
    assert len(run("--from-sets", "islands.xlsx")["notes"]) == 2
    Path("letters.csv").write_text("Item,a,b,c,d\n1,It rained then.,It rained so.,So it rained.,So rained it.\n")
    (note,) = run("--from-sets", "letters.csv")["notes"]
    assert "--factor structure=island,none" in note, "what to write where the headers show nothing"
    with refuses(KaratError, "--factor", "--from-sets FILE"):
        run("--factor", "comp", "--task", "likert")
    with refuses(KaratError, "none.csv"):
        run("--from-sets", "none.csv")


def test_choices_from_a_sheet_show_both_levels(tmp_path: Path) -> None:
    sheet = workbook(tmp_path / "islands.xlsx", fillers=False)
    folder = tmp_path / "study"
    run(folder, "--from-sets", sheet, "--factor", "comp", "--factor", "distance", "--task", "choice")
    study = load(folder)
    assert (study.settings.block[0].compared, study.lists) == ("distance", 2)
    assert shown(study).filter(pl.col("sentence") != pl.col("sentence_2")).height == 8
    assert [(one.factor, dict(one.within)) for one in study.settings.contrast] == [
        ("distance", {}), *(("distance", {"comp": level}) for level in study.settings.block[0].factors["comp"].levels)
    ]  # fmt: skip
    three = tmp_path / "three.csv"
    three.write_text("Item,a,b,c\n1,It rained then.,Then it rained.,Rained then it.\n")
    with refuses(KaratError, "choice"):
        run(tmp_path / "other", "--from-sets", three, "--factor", "order=first,second,third", "--task", "choice")


@pytest.mark.parametrize(("language", "notes"), [("en", 1), ("de", 0)])
def test_german_sentences_in_an_english_study_are_noticed(language: str, notes: int, tmp_path: Path) -> None:
    sheet = tmp_path / "islands.csv"
    rows = [f"{name};Ich weiß nicht, wer {name} ist.;Sie sagt, dass das {name} ist." for name in ("Anna", "Otto")]
    sheet.write_text("\n".join(["Item;a (wer);b (dass)", *rows]) + "\n", encoding="utf-8")
    written = run(str(tmp_path / "study"), "--from-sets", str(sheet), "--language", language)
    assert sum("--language de" in note for note in written["notes"]) == notes


def test_a_column_that_parts_the_items_is_kept(tmp_path: Path) -> None:
    rows = [f"{n},{c},{n} {c} says that he came,{'ab'[n % 2]}" for n in range(1, 5) for c in ("short", "long")]
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("\n".join(["item,condition,sentence,verbs", *rows]))
    sets = read_sets(sheet)
    assert sets.beside["1", "short"] == {"verbs": "b"}
    assert any('verbs = { levels = ["b", "a"], between = "items" }' in note for note in sets.notes)


def test_fillers_may_repeat_the_numbers_of_items(tmp_path: Path) -> None:
    rows = [f"{n};{c};{n} {c} sagt, dass er kommt;kritisch;" for n in range(1, 5) for c in ("kurz", "lang")]
    fillers = [f"{n};;Filler {n} ist ein Satz;Füller;4-5" for n in range(1, 4)]
    sheet = tmp_path / "sheet.csv"
    sheet.write_bytes("\r\n".join(["Nr.;Bedingung;Satz;Art;Erwartet", *rows, *fillers]).encode("cp1252"))
    sets = read_sets(sheet)
    assert (len(sets.sets), sets.conditions) == (4, ("kurz", "lang"))
    assert [(row["function"], row["expected"]) for row in sets.fillers] == [("filler", "4-5")] * 3
    assert not {row["item"] for row in sets.fillers} & set(sets.sets)
    misspelt = [row.replace("kurz", "kruz") if row[0] == "3" else row for row in rows]
    sheet.write_text("\n".join(["Nr.;Bedingung;Satz;Art;Erwartet", *misspelt]), encoding="utf-8")
    with refuses(SetsError, "line 6", "kruz", "kurz"):
        read_sets(sheet)


def test_fillers_keep_what_karat_knows(tmp_path: Path) -> None:
    source = workbook(tmp_path / "sets.xlsx", fillers=False)
    table = tmp_path / "fillers.csv"
    table.write_text("item,function,status,sentence,expected\n1,control,grammatical,The cat slept.,4-5\n")
    (row,) = with_fillers(read_sets(source), table).fillers
    assert row == {"item": "c1", "function": "control", "status": "grammatical", "sentence": "The cat slept.",
                   "expected": "4-5"}  # fmt: skip


WIDE = """
title = "x"
[[block]]
task = "likert"
items = "sets.xlsx"
sheets = "Items"
factors = { comp = ["that", "null"], length = ["short", "long"] }

[block.wide]
"a (that, short)" = ["that", "short"]
"b (that, long)"  = ["that", "long"]
"c (null, short)" = ["null", "short"]
"d (null, long)"  = ["null", "long"]
"""


def test_rows_of_the_sheet_are_named_in_findings(tmp_path: Path) -> None:
    workbook(tmp_path / "sets.xlsx", item="Nr")
    (tmp_path / "study.toml").write_text(WIDE)
    items = load(tmp_path).blocks[0].items
    assert items.frame.height == 32
    assert items.locate(5) == ("sets.xlsx", "row", 3)


def test_problems_of_several_sheets_name_the_sheet(tmp_path: Path) -> None:
    rows = [*WIDE_ROWS[:3], [3, "It rained then.", None, "So it did.", "So it did then."]]
    path = book_of(tmp_path / "sets.xlsx", Items=rows, Fillers=[["item", "function", "sentence"], ["f1", "filer", "x"]])
    (tmp_path / "study.toml").write_text(WIDE.replace('"Items"', '["Items", "Fillers"]'))
    with pytest.raises(StudyError) as error:
        load(tmp_path)
    assert {(p.file, p.number, p.column) for p in error.value.problems} == {
        (f"{path.name}, sheet Items", 4, "b (that, long)"), (f"{path.name}, sheet Fillers", 2, "function"),
    }  # fmt: skip
    fixed = [["item", "function", "sentence"], ["f1", "filler", "The bus is late."]]
    book_of(path, Items=WIDE_ROWS, Fillers=fixed)
    items = load(tmp_path).blocks[0].items
    assert items.locate(items.frame.height - 1) == ("sets.xlsx, sheet Fillers", "row", 2)


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ('= ["null", "long"]', '= ["null"]', ["line 13", "d (null, long)", "2 factors", "comp, length"]),
        ('= ["null", "long"]', '= ["null", "lang"]', ["line 13", "lang", "length"]),
        ('= ["null", "long"]', '= ["null", "short"]', ["line 13", "c (null, short)"]),
        ('"d (null, long)"', '"e (null, long)"', ["sets.xlsx", "e (null, long)", "d (null, long)"]),
        ('"Items"', '"Itmes"', ["sheets", "Itmes", "Fillers, Items"]),
    ],
)
def test_what_does_not_fit_the_sheet(old: str, new: str, names: list[str], tmp_path: Path) -> None:
    workbook(tmp_path / "sets.xlsx")
    (tmp_path / "study.toml").write_text(WIDE.replace(old, new))
    with refuses((StudyError, KaratError), *names):
        load(tmp_path)


def test_a_sheet_with_none_of_the_columns_has_one_problem(tmp_path: Path) -> None:
    book = openpyxl.load_workbook(workbook(tmp_path / "sets.xlsx"))
    for number, cell in enumerate(book["Items"][1]):
        cell.value = f"column {number}"
    book.save(tmp_path / "sets.xlsx")
    (tmp_path / "study.toml").write_text(WIDE)
    with pytest.raises(StudyError) as error:
        load(tmp_path)
    assert len(error.value.problems) == 1


def test_a_title_above_the_sheet_is_left_out(tmp_path: Path) -> None:
    book = openpyxl.load_workbook(workbook(tmp_path / "sets.xlsx"))
    (tmp_path / "study.toml").write_text(WIDE)
    plain = load(tmp_path)
    book["Items"].insert_rows(1)
    book["Items"]["A1"] = "Materials of the second experiment"
    book.save(tmp_path / "sets.xlsx")
    assert load(tmp_path).blocks[0].items.frame.equals(plain.blocks[0].items.frame)


PCIBEX = """# Columns below this comment are as follows:
# 1. Results reception time.
# 2. MD5 hash of participant's IP address.
# 3. Controller name.
# 4. Order number of item.
# 5. Inner element number.
# 6. Label.
# 7. Latin Square Group.
# 8. PennElementType.
# 9. PennElementName.
# 10. Parameter.
# 11. Value.
# 12. EventTime.
# 13. item.
# 14. condition.
# 15. sentence.
# 16. Comments.
"""


def pcibex(path: Path) -> Path:
    """Results of PCIbex: four items in a Latin square, a filler and a practice trial for each of four participants."""
    lines = []
    for person in range(4):
        trials = [("practice", "p1", "", "This is the very first one."), ("filler", "f1", "", "The soup is hot today.")]
        for number, noun in enumerate(NOUNS[:4]):
            place = (person + number) % 4
            name = ("that_short", "that_long", "null_short", "null_long")[place]
            trials.append(("experiment", str(number + 1), name, sentences(noun)[place]))
        for order, (label, *cells) in enumerate(trials):
            time = 1709547000000 + 10_000 * order
            ahead = f"{1709547330 + person},hash{person},PennController,{order},0,{label},NULL,"
            rest = ",".join(cells)
            lines += [
                f"{ahead}PennController,{order},_Trial_,Start,{time},{rest},NULL",
                f"{ahead}Scale,rating,Choice,{(person + order) % 7 + 1},{time + 2000},{rest},NULL",
                f"{ahead}PennController,{order},_Trial_,End,{time + 3000},{rest},NULL",
            ]
    path.write_text(PCIBEX + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_results_of_pcibex_become_a_study(tmp_path: Path) -> None:
    source = pcibex(tmp_path / "results.csv")
    sets, factors = sets_from_results(read(source, scale="ordinal:1-7"), source)
    assert factors.levels == {"complementizer": ("null", "that"), "length": ("long", "short")}
    assert list(sets.sets) == ["1", "2", "3", "4"]
    assert sets.sets["2"]["that_long"] == sentences(NOUNS[1])[1]
    assert [(row["function"], row["sentence"]) for row in sets.fillers] == [
        ("filler", "The soup is hot today."),
        ("practice", "This is the very first one."),
    ]
    assert sets.scale is not None
    study_from_sets(sets, factors, tmp_path / "study", task=task_of_results(sets, factors))
    study = load(tmp_path / "study")
    assert (study.blocks[0].scale, study.lists) == (Ordinal(7, neutral=4), 4)
    assert shown(study)["item"].n_unique() == 4
    assert {finding.rule for finding in check(study).findings if finding.grade == "error"} <= {"lexicalisations"}


def test_the_command_does_the_same(tmp_path: Path) -> None:
    source = pcibex(tmp_path / "results.csv")
    result = run(tmp_path / "mine", "--from-results", source, "--factor", "that", "--factor", "size", "--yes")
    assert [Path(name).name for name in result["written"]] == ["study.toml", "items.csv", "fillers.csv", "examples.csv"]
    assert list(load(tmp_path / "mine").settings.block[0].factors) == ["that", "size"]


def table_of_results(path: Path, answers: str, scale: bool = True) -> Path:
    """A plain table: two factors within items, one between, with tags around the sentences."""
    lines = ["participant,item,function,verb,expected,order,mood,sentence,rating"]
    for person in range(6):
        for item in range(1, 7):
            verb = "ask" if item % 2 else "say"
            for order in ("SO", "OS"):
                for mood in ("real", "irreal"):
                    text = f"<p>Item {item} is &quot;{order}&quot; {mood}.</p>" if scale else f"s{item}{order}{mood}"
                    answer = answers[(person + item) % len(answers)]
                    lines.append(f"w{person},{item},test,{verb},,{order},{mood},{text},{answer}")
        lines.append(f"w{person},c1,control,,{answers[0]},,,Them is the bad one.,{answers[0]}")
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_plain_table_has_factors_within_and_between_items(tmp_path: Path) -> None:
    source = table_of_results(tmp_path / "plain.csv", "0123")
    judgments = read(source, mapping={"item": "item"}, scale="ordinal:0-3")
    sets, factors = sets_from_results(judgments, source)
    assert sets.sets["1"]["OS, irreal"] == 'Item 1 is "OS" irreal.'
    assert factors.levels == {"order": ("OS", "SO"), "mood": ("irreal", "real")}
    one = judgments.frame.filter(~pl.col("order").is_in(["OS"]), ~pl.col("mood").is_in(["real"]))
    _, single = sets_from_results(Judgments(one, judgments.scale), source)
    assert (single.levels, single.between, single.lists) == ({"verb": ("ask", "say")}, ("verb",), 1)
    study_from_sets(sets, factors, tmp_path / "study")
    study = load(tmp_path / "study")
    assert (study.lists, study.blocks[0].scale) == (4, Ordinal(4))
    control = study.trials(0, 1).filter(pl.col("function") == "control")
    assert control["expected"].to_list() == ["1"], "the lowest of four points, which the results call 0"


def test_yes_no_results_keep_their_words(tmp_path: Path) -> None:
    source = table_of_results(tmp_path / "plain.csv", "nj")
    sets, factors = sets_from_results(read(source, mapping={"item": "item"}, scale="binary:n,j"), source)
    assert sets.scale is not None
    study_from_sets(sets, factors, tmp_path / "study", task=task_of_results(sets, factors))
    study = load(tmp_path / "study")
    assert study.blocks[0].scale == Binary(("n", "j"))
    assert study.trials(0, 1).filter(pl.col("function") == "control")["expected"].to_list() == ["n"]


def test_results_without_sentences_are_refused(tmp_path: Path) -> None:
    bare = table_of_results(tmp_path / "bare.csv", "0123", scale=False)
    judgments = read(bare, mapping={"item": "item"}, scale="ordinal:0-3")
    without = judgments.with_frame(judgments.frame.drop("sentence"))
    with pytest.raises(SetsError):
        sets_from_results(without, bare)
    with pytest.raises(SetsError):
        sets_from_results(judgments, bare, "sentense")
    several = judgments.with_frame(
        judgments.frame.drop("order", "mood").with_columns(sentence=pl.format("It was {} again", "sentence"))
    )
    with pytest.raises(SetsError):
        sets_from_results(several, bare)
    with pytest.raises(KaratError):
        run(tmp_path / "mine", "--sentence", "x")
    assert not (tmp_path / "mine").exists()


def choices(path: Path, *, conditions: bool = True, extra: str = "") -> Path:
    """Choices between two word orders in two moods, the sides drawn for each participant, and controls."""
    lines = ["participant,item,type,mood,text_a,text_b,cond_a,cond_b,expected,answer"]
    for person in range(6):
        for item in range(1, 7):
            mood = ("real", "irreal")[(person + item) % 2]
            shown = [(f"Item {item} is {order} and {mood}.", order) for order in ("SO", "OS")]
            (one, first), (two, second) = shown if (person + item) % 3 else shown[::-1]
            first, second = (first, second) if conditions else ("x", "x")
            answer = ("A", "B", extra or "A")[(person * item) % 3]
            lines.append(f"w{person},{item},test,{mood},{one},{two},{first},{second},,{answer}")
        lines.append(f"w{person},c1,control,,Them is the bad one.,This is the good one.,,,B,B")
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def choice_study(source: Path, folder: Path, *more: str) -> tuple[Study, dict[str, object]]:
    """The study that the command makes from choices."""
    columns = ["--map", "item=item", "--map", "left=text_a", "--map", "right=text_b", "--map", "response=answer"]
    result = run(folder, "--from-results", source, "--yes", *columns, *more)
    return load(folder), result


def test_choices_between_conditions_make_a_comparing_study(tmp_path: Path) -> None:
    study, _ = choice_study(choices(tmp_path / "choices.csv"), tmp_path / "study")
    block = study.settings.block[0]
    assert (block.task, block.compared, study.blocks[0].scale) == ("choice", "order", Choice())
    assert {name: factor.levels for name, factor in block.factors.items()} == {
        "order": ["OS", "SO"], "mood": ["irreal", "real"],
    }  # fmt: skip
    assert [(one.name, one.within) for one in study.settings.contrast] == [
        ("order", {}), ("order, irreal", {"mood": "irreal"}), ("order, real", {"mood": "real"}),
    ]  # fmt: skip
    trials = study.trials(0, 1)
    shown = trials.filter(pl.col("function") == "test")
    assert (study.lists, shown.height) == (2, 6)
    assert {(row["sentence"].split()[3], row["sentence_2"].split()[3]) for row in shown.to_dicts()} == {("OS", "SO")}
    (control,) = trials.filter(pl.col("function") == "control").to_dicts()
    assert (control["sentence_2"], control["expected"]) == ("This is the good one.", "right")


def test_choices_without_conditions_become_pairs(tmp_path: Path) -> None:
    source = choices(tmp_path / "choices.csv", conditions=False, extra="tie")
    study, result = choice_study(source, tmp_path / "study")
    assert study.settings.block[0].compared is None
    assert study.blocks[0].scale == Choice(none=True)
    tests = study.trials(0, 1).filter(pl.col("function") == "test")
    assert tests.height == 12, "six items in two moods"
    assert len(result["notes"]) == 2, "where the sentences come from, and that nothing says how they differ"
    rated, _ = choice_study(source, tmp_path / "rated", "--task", "likert")
    assert rated.trials(0, 1).filter(pl.col("function") == "test").height == 24
    assert rated.trials(0, 1).filter(pl.col("function") == "control")["sentence"].n_unique() == 2


def test_choices_without_sentences_say_what_is_missing(tmp_path: Path) -> None:
    frame = pl.DataFrame({
        "participant": ["a", "b"] * 4, "item": list("1122" * 2), "left": ["SO", "OS"] * 4, "right": ["OS", "SO"] * 4,
        "response": ["left", "right"] * 4,
    })  # fmt: skip
    with pytest.raises(SetsError):
        sets_from_results(Judgments(frame, Choice()), tmp_path / "bare.csv")


def test_categories_become_a_study_of_labels(tmp_path: Path) -> None:
    source = table_of_results(tmp_path / "labels.csv", "xyz")
    result = run(tmp_path / "study", "--from-results", source, "--map", "item=item", "--scale", "nominal:x,y,z")
    study = load(tmp_path / "study")
    assert (study.settings.block[0].task, study.blocks[0].scale) == ("label", Nominal(("x", "y", "z")))
    assert list(study.settings.block[0].factors) == ["order", "mood"]
    assert [one.name for one in study.settings.contrast] == ["order x mood", "order", "mood"]
    assert study.trials(0, 1).filter(pl.col("function") == "control")["expected"].to_list() == ["x"]
    assert [Path(name).name for name in result["written"]] == ["study.toml", "items.csv", "fillers.csv"]
    text = (tmp_path / "study" / "study.toml").read_text(encoding="utf-8")
    assert "x, y, z" in text, "the instructions name the categories"
    assert "reason and consequence" not in text, "nor those of the template"
    assert list(study.settings.screening.criteria) == ["completion", "remfod", "receipt_times", "controls", "quiz",
                                                       "eligibility"]  # fmt: skip
    german = run(tmp_path / "de", "--from-results", source, "--map", "item=item", "--scale", "nominal:x,y,z",
                 "--language", "de")  # fmt: skip
    assert len(german["notes"]) == len(result["notes"])
    assert "Gegensatz" not in (tmp_path / "de" / "study.toml").read_text(encoding="utf-8")


def test_texts_that_are_no_categories_are_refused(tmp_path: Path) -> None:
    levels = tuple(map(str, range(20)))
    sets = ItemSets(tmp_path / "a.csv", {"1": {"": "It was seen here."}}, ("",), scale=Nominal(levels))
    factors = CrossedFactors({}, {"": ()})
    with pytest.raises(KaratError):
        task_of_results(sets, factors)
    with pytest.raises(KaratError):
        study_from_sets(sets, factors, tmp_path / "study", task="label")
    assert "label" in tasks_for(replace(sets, scale=Nominal(levels[:3])), factors)


def study_of_wild(name: str, reference: Path, folder: Path) -> tuple[Study, dict[str, list[str]]]:
    """The study that the command makes from a real file of results."""
    path = next((reference / "wild" / "files" / name).glob("*"), None) if reference.is_dir() else None
    if path is None:
        pytest.skip("the real result files (../shared/reference/wild) are not on this machine")
    result = run(folder, "--from-results", path, "--yes")
    return load(folder), result


def test_real_choices_become_pairs(reference: Path, tmp_path: Path) -> None:
    study, result = study_of_wild("f01", reference, tmp_path / "study")
    assert (study.settings.block[0].task, study.blocks[0].scale) == ("choice", Choice(none=True))
    trials = study.trials(0, 1)
    assert trials.filter(pl.col("function") == "test").height == 32
    assert not trials["sentence"].str.starts_with('["').any(), "the lists of the file are no part of the texts"
    assert trials.filter(pl.col("function") == "test")["context"].null_count() == 0
    assert len(result["notes"]) == 2


def test_real_labels_become_a_study_of_labels(reference: Path, tmp_path: Path) -> None:
    study, result = study_of_wild("b02", reference, tmp_path / "study")
    assert study.blocks[0].scale == Nominal(("No", "Yes, and", "Yes, but"))
    assert (study.settings.block[0].factors, study.lists) == ({}, 1), "when somebody took part is no condition"
    assert study.trials(0, 1).height == 51
    assert len(result["notes"]) == 4


@pytest.mark.parametrize("name", ["h03", "e01"])
def test_real_choices_without_sentences_are_refused(name: str, reference: Path, tmp_path: Path) -> None:
    with pytest.raises(SetsError):
        study_of_wild(name, reference, tmp_path / "study")


@pytest.mark.parametrize("header", ["Satznr", "Satz-Nr.", "Item-Nr.", "Nummer"])
def test_german_headers_of_item_numbers(header: str, tmp_path: Path) -> None:
    rows = [f"{n};{order};Satz {n} ist {order}" for n in (1, 2, 3) for order in ("kurz", "lang")]
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("\n".join([f"{header};Stellung;Satz", *rows, ";;"]), encoding="utf-8-sig")
    assert list(read_sets(sheet).sets) == ["1", "2", "3"]
