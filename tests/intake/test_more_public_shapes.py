"""More shapes of published result files, with made-up data: several questions, functions in names, copies."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import openpyxl
import polars as pl
import pytest

from intake.cases import aside, noted
from intake.test_published_shapes import saved
from karat.errors import IntakeError, KaratError
from karat.intake import Options, read_files
from karat.intake.lacking import likely
from karat.intake.reading import ProposalError
from karat.judgments import Judgments
from karat.judgments.scales import Choice, Nominal, Ordinal, parse_scale
from messages import codes, refuses


def flags(path: Path) -> dict[str, dict[str, str]]:
    """The mapping and flags of the first proposal of each question."""
    with pytest.raises(ProposalError) as error:
        read_files([path])
    return {one.role: {**one.choices[0].mapping, **one.choices[0].options} for one in error.value.questions}


def accepted(path: Path) -> Judgments:
    return read_files([path], options=Options(accept=True)).judgments


def two_kinds(path: Path, *, mixed: bool = False) -> Path:
    """A slider and a choice about each sentence, one row each; where they are mixed, no column parts them."""
    chance, rows = random.Random(5), []
    for person in range(20):
        for at, item in enumerate(chance.sample(["tea", "rain", "dog", "door"], 4), 1):
            form = chance.choice(["bare", "must", "may", "seems"])
            for kind in ("belief", "evidence"):
                word = chance.random() < 0.5 if mixed else kind == "evidence"
                answer: object = f"source{chance.randint(1, 5)}" if word else chance.randint(0, 20) / 20
                rows.append([f"s{person}", item, form, kind, answer, at, chance.randint(4000, 30000)])
    return saved(path, "subject,item,item_type,answer_kind,response,slide_number,rt", rows)


def test_numbers_and_words_are_two_questions(tmp_path: Path) -> None:
    intake = read_files([two_kinds(tmp_path / "r.csv")])
    assert intake.judgments.frame["question"].unique().sort().to_list() == ["belief", "evidence"]
    assert {name: type(scale).__name__ for name, scale in intake.judgments.scales.items()} == {
        "belief": "Continuous",
        "evidence": "Nominal",
    }
    assert intake.judgments.frame["item"].n_unique() == 4
    assert "role.question" in codes(intake.notes)


@pytest.mark.parametrize("stems", ["ACENO", ("gram_", "ungram_")], ids=["letters", "words"])
def test_numbered_columns_are_items_whatever_they_are_called(tmp_path: Path, stems: Sequence[str]) -> None:
    chance, names = random.Random(3), [f"{stem}{number}" for stem in stems for number in range(1, 6)]
    rows = [[person, *(chance.randint(1, 6) for _ in names), chance.randint(18, 60), 3.5] for person in range(1, 31)]
    intake = read_files([saved(tmp_path / "r.csv", ",".join(["id", *names, "age", "mean_rating"]), rows)],
                        options=Options(wide="participant"))  # fmt: skip
    assert intake.judgments.frame["item"].unique().sort().to_list() == sorted(names)
    (note,) = (one for one in intake.notes if one.code == "form.wide_participant")
    assert (note.values["n"], note.values["left"]) == (len(names), 2)
    assert "age, mean_rating" in str(note)


def test_times_beside_the_items_of_a_wide_table_are_read(tmp_path: Path) -> None:
    chance, items = random.Random(4), [f"{number}{letter}" for number in range(1, 9) for letter in "ab"]
    names = [name for item in items for name in (f"Q{item}", f"RT_Q{item}")]
    rows = [[f"s{p}", *(n for _ in items for n in (chance.randint(1, 7), 900 + 10 * p)), 30] for p in range(24)]
    intake = read_files([saved(tmp_path / "r.csv", ",".join(["subject", *names, "age"]), rows)],
                        options=Options(wide="participant"))  # fmt: skip
    frame = intake.judgments.frame
    assert frame["item"].unique().sort().to_list() == [f"Q{item}" for item in items]
    assert frame.filter(pl.col("participant") == "s3")["rt"].unique().to_list() == [0.93]
    assert intake.judgments.participants.columns == ["participant", "age"]
    # The letter behind the number is the condition.
    assert frame["item_part_2"].unique().sort().to_list() == ["a", "b"]


def test_ratings_of_systems_by_segment(tmp_path: Path) -> None:
    """The order of the columns of the shared tasks on translation."""
    chance, rows = random.Random(6), []
    for person in range(20):
        for at, segment in enumerate(chance.sample(range(1, 13), 12)):
            began = 1_600_000_000 + 1000 * person + 20 * at
            kind = ("CHK", "BAD", "REF")[segment % 3] if segment > 9 else "TGT"
            rows.append(
                [f"e{person}", f"sys{chance.randint(1, 4)}", segment, kind, chance.randint(0, 100), began, began + 9.5]
            )
    found = accepted(saved(tmp_path / "r.csv", "login,SystemID,SegmentID,itype,Score,StartTime,EndTime", rows))
    assert (found.frame["participant"].n_unique(), found.frame["item"].n_unique()) == (20, 12)
    assert found.factors() == ["SystemID"]
    assert (set(found.frame["rt"]), dict(found.frame["function"].value_counts().iter_rows())) == (
        {9.5}, {"test": 180, "control": 60},
    )  # fmt: skip


def test_the_subject_of_a_sentence_is_nobody(tmp_path: Path) -> None:
    chance = random.Random(7)
    rows = [
        [f"R_{person}", at, item, ("NP", "CP")[(item + person) % 2], chance.randint(1, 5)]
        for person in range(20)
        for at, item in enumerate(chance.sample(range(1, 13), 12), 1)
    ]
    path = saved(tmp_path / "r.csv", "ResponseId,order,itemnum,subj_type,acceptability", rows)
    assert flags(path)["participant"] == {"participant": "ResponseId"}
    assert accepted(path).factors() == ["subj_type"]


@pytest.mark.parametrize(("code", "points"), [(-99, 5), (99, 7), (-9, 5), (-1, 5)])
def test_codes_for_no_answer_are_no_points_of_a_scale(tmp_path: Path, code: int, points: int) -> None:
    chance = random.Random(8)
    answers = [[chance.choice([*range(1, points + 1), code]) for _ in range(10)] for _ in range(30)]
    missing = sum(row.count(code) for row in answers)
    long = [[f"s{p}", f"i{at}", answer] for p, row in enumerate(answers) for at, answer in enumerate(row)]
    intake = read_files([saved(tmp_path / "long.csv", "subject,item,rating", long)])
    assert len(intake.judgments.scale.levels) == points  # type: ignore[attr-defined]
    assert intake.judgments.frame["response"].null_count() == missing
    assert "table.missing" in codes(intake.notes)
    header = ",".join(["id", *(f"AB{number:02}" for number in range(10))])
    wide = accepted(saved(tmp_path / "wide.csv", header, [[p, *row] for p, row in enumerate(answers, 1)]))
    assert (wide.frame["item"].n_unique(), wide.frame["response"].null_count()) == (10, missing)


def test_a_stated_scale_keeps_its_points(tmp_path: Path) -> None:
    rows = [[f"s{p}", f"i{at}", (1, 2, 3, 99)[(p + at) % 4]] for p in range(8) for at in range(8)]
    path = saved(tmp_path / "r.csv", "subject,item,rating", rows)
    scale = Nominal(("1", "2", "3", "99"))
    assert read_files([path], options=Options(scale=scale)).judgments.frame["response"].null_count() == 0


def test_questions_about_each_item_of_a_wide_table(tmp_path: Path) -> None:
    chance, names = random.Random(9), [f"item{n}_{question}" for n in range(1, 9) for question in ("natural", "clear")]
    rows = [[person, *(chance.randint(1, 7) for _ in names)] for person in range(1, 21)]
    found = accepted(saved(tmp_path / "r.csv", ",".join(["id", *names]), rows))
    assert set(found.scales) == {"natural", "clear"}
    assert (found.frame["item"].n_unique(), len(found)) == (8, 20 * 16)


@pytest.mark.parametrize("sign", [",", ";"])
@pytest.mark.parametrize("padded", [True, False])
def test_a_title_above_the_header(tmp_path: Path, sign: str, padded: bool) -> None:
    title = f"Pilot of May{3 * sign * padded}\n{3 * sign * padded}\n"
    rows = "".join(
        f"p{p}{sign}i{at}{sign}{'ab'[(p + at) % 2]}{sign}{1 + (p * at) % 5}\n" for p in range(9) for at in range(8)
    )
    path = tmp_path / "r.csv"
    path.write_text(title + sign.join(["Participant", "Item", "Condition", "Rating"]) + "\n" + rows)
    intake = read_files([path])
    assert (len(intake.judgments), intake.judgments.factors()) == (72, ["Condition"])
    assert "file.title" in codes(intake.notes)
    assert intake.locate(0)[1:] == ("line", 4)


def test_a_sheet_of_notes_and_a_header_in_two_rows(tmp_path: Path) -> None:
    chance, path = random.Random(8), tmp_path / "r.xlsx"
    header = [["VP", "Gram", "", "Ungram", ""], ["", "S1", "S2", "S1", "S2"]]
    book = openpyxl.Workbook()
    book.active.append(["Contact", "the lab"])
    sheet = book.create_sheet("Data")
    for row in [*header, *([p, *(chance.randint(1, 5) for _ in range(4))] for p in range(1, 16))]:
        sheet.append(row)
    book.save(path)
    frame = accepted(path).frame
    assert (frame["participant"].n_unique(), set(frame["item"])) == (
        15,
        {"Gram S1", "Gram S2", "Ungram S1", "Ungram S2"},
    )


def test_sheets_with_the_same_columns_are_read_together(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for person in range(8):
        sheet = book.create_sheet(f"VP{person}")
        sheet.append(["Satz", "Bedingung", "Rating"])
        for item in range(12):
            sheet.append([f"s{item}", "ab"[(item + person) % 2], 1 + (item * person) % 5])
    book.create_sheet("Notes").append(["None of these is an answer."])
    path = tmp_path / "r.xlsx"
    book.save(path)
    intake = read_files([path], options=Options(accept=True))
    assert intake.judgments.frame["participant"].unique().sort().to_list() == [f"VP{person}" for person in range(8)]
    assert (len(intake.judgments), intake.judgments.factors()) == (96, ["Bedingung"])
    assert "file.sheets" in codes(intake.notes)
    assert intake.locate(12) == ("r.xlsx, VP1", "row", 2)
    with pytest.raises(IntakeError) as error:
        read_files([path], options=Options(sheet="VP3"))
    assert "participant" in str(error.value)


def test_numbers_and_words_are_two_questions_with_a_given_item(tmp_path: Path) -> None:
    options = Options(mapping={"item": "item"})
    assert set(read_files([two_kinds(tmp_path / "r.csv")], options=options).judgments.scales) == {"belief", "evidence"}


def test_no_question_where_numbers_and_words_mix(tmp_path: Path) -> None:
    assert "question" not in accepted(two_kinds(tmp_path / "r.csv", mixed=True)).frame.columns


def named_items(path: Path, word: str) -> Path:
    chance = random.Random(6)
    items = [f"{place}_{kind}_{n}" for place in ("tv", "ch") for kind in ("main", word) for n in range(1, 7)]
    rows = [[f"s{p}", item, chance.randint(1, 5)] for p in range(15) for item in chance.sample(items, len(items))]
    return saved(path, "participant,item,response", rows)


def test_functions_in_names_of_items(tmp_path: Path) -> None:
    intake = read_files([named_items(tmp_path / "r.csv", "filler")])
    assert dict(intake.judgments.frame["function"].value_counts().iter_rows()) == {"test": 180, "filler": 180}
    assert "role.functions" in codes(intake.notes)


def test_functions_in_names_of_items_can_be_undone(tmp_path: Path) -> None:
    options = Options(mapping={"function": ""})
    intake = read_files([named_items(tmp_path / "r.csv", "filler")], options=options)
    assert set(intake.judgments.frame["function"]) == {"test"}


@pytest.mark.parametrize("word", ["train", "catch", "example"])
def test_words_that_may_be_judged_are_no_functions(tmp_path: Path, word: str) -> None:
    intake = read_files([named_items(tmp_path / "r.csv", word)])
    assert set(intake.judgments.frame["function"]) == {"test"}
    words = [*(f"w{chr(letter)}" for letter in range(97, 110)), word]
    rows = [[f"s{p}", one, 1 + (p * at) % 7] for p in range(9) for at, one in enumerate(words)]
    assert set(accepted(saved(tmp_path / "w.csv", "subject,Word,rating", rows)).frame["function"]) == {"test"}


def test_fillers_in_the_column_of_lists(tmp_path: Path) -> None:
    chance, rows = random.Random(7), []
    for person in range(24):
        which = 1 + person % 3
        trials: list[tuple[object, str, str]] = [(which, f"v{n}_{which}", "SV"[n % 2]) for n in range(8)]
        trials += [("filler", f"w{n}", "F") for n in range(5)]
        for at, (part, item, form) in enumerate(chance.sample(trials, len(trials)), 1):
            rows.append([f"s{person}", at, part, item, form, chance.randint(1, 7)])
    made = accepted(saved(tmp_path / "r.csv", "workerid,order,List,item,form,response", rows))
    assert dict(made.frame["function"].value_counts().iter_rows()) == {"test": 192, "filler": 120}


def test_questions_in_turn(tmp_path: Path) -> None:
    chance, rows = random.Random(8), []
    for person in range(30):
        source = chance.choice(["direct", "indirect"])
        for story in chance.sample(["boat", "farm", "moon", "shop"], 2):
            first, second = chance.randint(1, 90), chance.randint(20, 100)
            rows.append([person + 300, story, source, first, "NA", chance.randint(2000, 40000)])
            rows.append([person + 300, story, source, "NA", second, chance.randint(2000, 40000)])
    path = saved(tmp_path / "r.csv", "submission_id,itemName,source,decision1,decision2,responseTime", rows)
    assert flags(path)["wide"] == {"wide": "trial"}
    made = accepted(path)
    assert made.frame.height == 120
    assert made.frame["question"].unique().sort().to_list() == ["decision1", "decision2"]


def test_sliders_in_a_row(tmp_path: Path) -> None:
    chance, rows = random.Random(9), []
    names = ("Ann", "Bob", "Cy", "Di", "Ed", "Flo")
    for person in range(30):
        for at in range(1, 10):
            sliders = [round(chance.randint(0, 40) / 40, 3) for _ in range(4)]
            shown = [chance.choice(["cake", "pie", "soup"]), chance.choice(["all", "some"])]
            rows.append([person, at, *chance.sample(names, 2), *shown, *sliders])
    header = "workerID,order,personA,personB,food,quantifier,upset,happy,surprised,calm"
    path = saved(tmp_path / "r.csv", header, rows)
    found = flags(path)
    assert found["wide"] == {"wide": "trial"}
    assert found["item"] == {"item": "food+quantifier"}
    made = accepted(path)
    assert made.frame.height == 30 * 9 * 4
    assert made.frame["trial"].max() == 9
    assert made.frame["question"].n_unique() == 4


def test_blocks_are_no_part_of_the_item(tmp_path: Path) -> None:
    chance, rows = random.Random(10), []
    for person in range(40):
        for block in range(1, 7):
            rows += [[person, chance.choice(range(n, n + 5)), block, round(chance.random(), 2)] for n in (10, 20, 30)]
    made = accepted(saved(tmp_path / "r.csv", "workerid,sentence_id,block_sequence,response", rows))
    assert made.frame["item"].n_unique() == 15


def submission(second: int, answers: Sequence[int], address: str = "a1b2") -> str:
    columns = ["Controller name", "Item number", "Element number", "Type", "Group", "Question (NULL if none).",
               "Answer", "Whether or not answer was correct (NULL if N/A)", "Time taken to answer."]  # fmt: skip
    lines = [
        [[0, "AcceptabilityJudgment"], [1, n], [2, 0], [3, "main"], [4, n], [5, "Good?"], [6, str(answer)], [7, "NULL"],
         [8, 1000 + 37 * n + answer]]
        for n, answer in enumerate(answers, 1)
    ]  # fmt: skip
    head = f"#\n# Results on Sunday December 25 2016 00:50:{second:02d} UTC.\n# USER AGENT: x\n# Design number = 1\n#\n"
    return f"{head}{json.dumps([False, 1, columns, lines, address, True])}\n"


def test_a_submission_sent_again_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "raw_results"
    once, other = [1, 5, 3, 2, 4, 5], [2, 5, 3, 1, 4, 4]
    # Two people in one laboratory have one address; a copy has the same times as well.
    path.write_text("\n" + submission(4, once) + submission(29, once) + submission(40, other), encoding="utf-8")
    intake = read_files([path])
    assert intake.judgments.frame["participant"].n_unique() == 2
    assert {note.code: n for note, n in intake.set_aside.items()}["aside.sent_twice"] == 6


def test_labels_of_researchers_are_no_likely_answers() -> None:
    assert likely("response", ["predefined_label", "expected_answer", "the_choice"]) == "the_choice"


def test_right_answers_are_no_items(tmp_path: Path) -> None:
    chance, rows = random.Random(11), []
    for person in range(25):
        for at in range(1, 9):
            right = chance.choice(["sound A", "sound B"])
            rows.append([person + 100, at, right, chance.choice(["sound A", "sound B"])])
    path = saved(tmp_path / "r.csv", "submission_id,trialNr,correct_response,response", rows)
    with pytest.raises(KaratError) as error:
        read_files([path])
    asked = error.value.questions if isinstance(error.value, ProposalError) else []
    assert all("correct_response" not in choice.mapping.values() for one in asked for choice in one.choices)


def test_numbered_trials_are_no_part_of_the_item(tmp_path: Path) -> None:
    chance, rows = random.Random(12), []
    for person in range(30):
        sounds = [f"{verb}_{chance.choice('xyz')}.wav" for verb in ("know", "see", "hear", "say", "hope", "ask")]
        for at, sound in enumerate(chance.sample(sounds, len(sounds)), 1):
            rows.append([person, f"Trial{at}", at, sound, sound[:3], chance.randint(1, 7)])
    path = saved(tmp_path / "r.csv", "workerid,variable,Trial,sound,verb,Response", rows)
    assert accepted(path).frame["item"].n_unique() == 18


def test_preferred_sides_in_words(tmp_path: Path) -> None:
    chance, rows = random.Random(13), []
    for person in range(15):
        for n in range(12):
            answer = chance.choice(["A is better", "B is better", "equal"])
            rows.append([f"r{person}", f"p{n}", f"the {n} dog runs", f"runs the {n} dog", answer])
    made = accepted(saved(tmp_path / "r.csv", "rater,pair_id,sentence_A,sentence_B,judgment", rows))
    assert set(made.frame["response"]) == {"left", "right", "none"}
    assert {"left", "right"} <= set(made.frame.columns)


def test_questions_of_an_own_controller_have_their_names(tmp_path: Path) -> None:
    columns = ["Controller name", "Item number", "Element number", "Type", "Group", "QuestionSide (NULL if none).",
               "Question (NULL if none).", "Answer", "Time taken to answer."]  # fmt: skip
    path, text = tmp_path / "raw_results", "\n"
    for person in range(6):
        lines = []
        for n in range(1, 5):
            head = [[0, "QuestionFrame"], [1, n], [2, 0], [3, f"main{n}"], [4, "NULL"]]
            lines.append([*head, [5, "How natural?"], [7, str(1 + (n + person) % 5)], [8, 2000 + 13 * n + person]])
            lines.append([*head, [6, "How sure?"], [7, str(1 + n % 3)], [8, 4000 + 17 * n + person]])
        text += (
            f"#\n# Results on Sunday December 25 2016 00:5{person}:04 UTC.\n# USER AGENT: x\n# Design number = 1\n#\n"
        )
        text += json.dumps([False, 1, columns, lines, f"a{person}", True]) + "\n"
    path.write_text(text, encoding="utf-8")
    assert set(read_files([path]).judgments.scales) == {"How natural?", "How sure?"}


LABELS = {f"{n}": [str(int((n + who) % 3 == 0)) for who in range(4)] for n in range(12)}
"""What four annotators said of twelve texts."""


def annotated(form: str) -> object:
    """Items with the annotators and their labels, as data sets for learning from disagreement publish them."""
    who = ["ann1", "ann2", "ann3", "ann4"]
    if form == "lists":
        return [{"id": n, "text": f"Text {n}.", "annotators": who[:3], "labels": own[:3]} for n, own in LABELS.items()]
    return {
        n: {
            "text": f"Text {n}.", "annotators": ",".join(who), "split": "dev", "hard_label": own[0],
            "annotations": ",".join(own) if form == "joined" else dict(zip(who, own, strict=True)),
            "soft_label": {"0": 0.5, "1": 0.5}, "other_info": {"group": "a,a,b,b"},
        }
        for n, own in LABELS.items()
    }  # fmt: skip


@pytest.mark.parametrize("form", ["joined", "objects", "lists"])
def test_labels_of_several_annotators_in_one_object(tmp_path: Path, form: str) -> None:
    path = tmp_path / "labels.json"
    path.write_text(json.dumps(annotated(form)))
    assert flags(path) == {"item": {"item": "text"}}
    found = {(a, i): r for a, i, r in accepted(path).frame.select("participant", "item", "response").iter_rows()}
    number = 3 if form == "lists" else 4
    known = {(f"ann{at + 1}", f"Text {n}."): own[at] for n, own in LABELS.items() for at in range(number)}
    assert found == known


def test_objects_by_name_are_items(tmp_path: Path) -> None:
    posts = {
        f"{n}_gab": {"annotators": [{"annotator_id": at, "label": label} for at, label in enumerate(own)], "tokens": []}
        for n, own in LABELS.items()
    }
    path = tmp_path / "posts.json"
    path.write_text(json.dumps(posts))
    frame = accepted(path).frame
    assert sorted(frame["item"].unique()) == sorted(posts)
    assert frame.height == 48


@pytest.mark.parametrize("lines", [
    ["ann\thttp://a.b\tyes", "bob\thttp://a.b\tno", "ann\thttp://c.d\tno", "bob\thttp://c.d\tyes"],
    ["1,,1,3", ",2,2,", "1,2,,3", "3,2,1,"],
    ["7,w1,25", "7,w2,0", "8,w1,25", "8,w2,100"],
    ["g4\t0\t*\tGone he has it.", "g4\t1\t\tHe went there.", "g4\t1\t\tShe left it."],
])  # fmt: skip
def test_a_first_line_of_labels_is_no_header(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "labels.txt"
    path.write_text("\n".join(lines * 2) + "\n")
    with refuses(KaratError, "labels.txt", "header"):
        read_files([path])


def test_numbered_columns_are_a_header(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("1,2,3,4\n" + "1,2,3,4\n4,3,2,1\n" * 4)
    with pytest.raises(KaratError) as error:
        read_files([path])
    assert "no header" not in str(error.value)


def test_answers_beside_their_key(tmp_path: Path) -> None:
    """A full report of Figure Eight: answers in a column of the user's, the key beside them."""
    rows: list[Sequence[object]] = []
    for text in range(20):
        for at, worker in enumerate(random.Random(text).sample(range(12), 4)):
            key = "ABC"[text % 3] if text % 5 == 0 else ""
            rows.append([text, len(rows) + 9000, worker, 0.9, "ABC"[(text + (at == 3)) % 3], key, f"Sentence {text}."])
    names = "_unit_id,_id,_worker_id,_trust,tone,tone_gold,sentence"
    frame = read_files([saved(tmp_path / "report.csv", names, rows)]).judgments.frame
    assert frame.height == 80
    assert frame["response"].to_list() == [str(row[4]) for row in rows]
    assert frame["expected"].null_count() == 64


def test_ids_of_items_in_a_file_sorted_by_them_are_no_positions(tmp_path: Path) -> None:
    chance = random.Random(2)
    rows = [
        [37_000 + 7 * item, worker + 100, int(chance.random() < 0.3 + 0.4 * (item % 2))]
        for item in range(60) for worker in chance.sample(range(20), 4)
    ]  # fmt: skip
    path = saved(tmp_path / "comments.csv", "rev_id,worker_id,label", rows)
    assert accepted(path).frame["item"].n_unique() == 60


@pytest.mark.parametrize(("who", "how"), [("TurkId{}", "Score{}"), ("worker{}_id", "worker{}_label")])
def test_annotators_in_numbered_columns_beside_their_answers(tmp_path: Path, who: str, how: str) -> None:
    chance, known, rows = random.Random(3), {}, []
    for n in range(40):
        people = chance.sample([f"A{code:03}" for code in range(20)], 3)
        answers = [chance.randint(1, 5) for _ in people]
        known |= {(person, f"Could you {n}, please?"): str(a) for person, a in zip(people, answers, strict=True)}
        rows.append([f"Could you {n}, please?", *answers, *people, sum(answers) / 3])
    names = ["Request", *(how.format(n) for n in (1, 2, 3)), *(who.format(n) for n in (1, 2, 3)), "mean"]
    path = saved(tmp_path / "r.csv", ",".join(names), [[f'"{row[0]}"', *row[1:]] for row in rows])
    found = accepted(path).frame
    assert {(p, i): r for p, i, r in found.select("participant", "item", "response").iter_rows()} == known


def test_annotators_without_an_answer_are_counted(tmp_path: Path) -> None:
    rows: list[Sequence[object]] = [
        [f"t{n}", f"a{n % 4}", 1 + n % 3, f"a{(n + 1) % 4}" if n % 5 else "", 1 + n % 2 if n % 5 else ""]
        for n in range(30)
    ]
    path = saved(tmp_path / "r.csv", "text,annotator_1,score_1,annotator_2,score_2", rows)
    intake = read_files([path], options=Options(accept=True))
    assert len(intake.judgments) == 54
    assert {note.code: n for note, n in intake.set_aside.items()} == {"aside.empty_cells": 6}


@pytest.mark.parametrize(
    "names", ["Item{},BestItem,WorstItem", "option{},best,worst", "text{},most_polite,least_polite"]
)
def test_best_worst_choices_are_refused(tmp_path: Path, names: str) -> None:
    chance, rows = random.Random(4), []
    for n in range(40):
        four = chance.sample([f"w{k}" for k in range(12)], 4)
        rows.append([f"s{n % 6}", *four, *chance.sample(four, 2)])
    option, best, worst = names.split(",")
    header = ",".join(["annotator", *(option.format(n) for n in range(1, 5)), best, worst])
    with refuses(KaratError, best, worst, "best-worst"):
        read_files([saved(tmp_path / "r.csv", header, rows)])


def rated_texts(path: Path, names: Sequence[str], answers: Sequence[object], *, shown: str = "response") -> Path:
    """Twenty raters, several questions on each text, and a text in a column called response."""
    chance = random.Random(5)
    rows = [
        [f"r{person}", item, f"I would say so {item}", item % 2, *(chance.choice(answers) for _ in names)]
        for person in range(20)
        for item in range(15)
    ]
    return saved(path, ",".join(["rater_id", "item_id", shown, "attention", *names]), rows)


@pytest.mark.parametrize("answers", [[1, 2, 3, 4, 5], ["No", "Unsure", "Yes"]])
def test_a_text_called_response_is_no_answer(tmp_path: Path, answers: Sequence[object]) -> None:
    names = ["Q1_anger", "Q2_joy", "Q3_native_speaker", "Q_written"]
    path = rated_texts(tmp_path / "r.csv", names, answers)
    assert flags(path)["wide"] == {"wide": "trial"}
    made = accepted(path)
    assert set(made.scales) == set(names)
    assert (made.frame["item"].n_unique(), made.frame.height) == (15, 1200)
    # What half of the trials have is no attention check.
    assert set(made.frame["function"]) == {"test"}


def test_a_text_called_response_is_asked_about(tmp_path: Path) -> None:
    path = rated_texts(tmp_path / "r.csv", ["harm"], [1, 2, 3, 4])
    assert flags(path)["response"] == {"response": "harm"}


def test_a_label_that_all_have_on_an_item_is_its_key(tmp_path: Path) -> None:
    chance, rows = random.Random(6), []
    for person in range(12):
        for item in range(40):
            label = item * 7 % 3 % 2
            rows.append([person, f"acl{item}", label, label if chance.random() < 0.8 else 1 - label])
    path = saved(tmp_path / "r.csv", "annotator,instance,label,prediction", rows)
    assert flags(path)["response"] == {"response": "prediction"}


def test_answers_beside_a_check_that_few_trials_have(tmp_path: Path) -> None:
    chance, rows = random.Random(7), []
    for person in range(20):
        rows.append([person, "", "", "Ann", "", "check"])
        for at in range(16):
            speaker = "" if at % 8 == 0 else chance.randint(0, 100) / 100
            rows.append([person, f"story{at}", speaker, "", chance.randint(0, 100) / 100, ("know", "say")[at % 2]])
    path = saved(tmp_path / "r.csv", "workerid,item,speaker_response,response,holder_response,verb", rows)
    assert flags(path) == {"wide": {"wide": "trial"}}
    made = accepted(path)
    assert set(made.scales) == {"speaker_response", "holder_response"}
    assert (made.answers, made.frame["item"].n_unique()) == (600, 16)


def test_rating_beside_a_check_called_response_is_asked_about(tmp_path: Path) -> None:
    chance = random.Random(8)
    rows = [[f"s{p}", i, chance.choice(["yes", "no"]), chance.randint(1, 7)] for p in range(20) for i in range(12)]
    path = saved(tmp_path / "r.csv", "subject,item,response,response_naturalness", rows)
    assert flags(path)["response"] == {"response": "response_naturalness"}


def test_listeners_judge_speakers(tmp_path: Path) -> None:
    chance, rows = random.Random(9), []
    for listener in range(16):
        for speaker in range(6):
            rows += [
                [f"M{speaker}", word, f"L{listener}", chance.choice("ieau")] for word in ("bad", "bed", "bid", "bud")
            ]
    made = accepted(saved(tmp_path / "r.csv", "speaker,word,listener,response", rows))
    assert (made.frame["participant"].n_unique(), made.frame["item"].n_unique()) == (16, 24)


def test_the_index_of_the_chosen_one_of_two_objects(tmp_path: Path) -> None:
    chance, path = random.Random(10), tmp_path / "r.jsonl"
    lines = [
        {
            "info": {"id": f"post{n % 9}"}, "worker": f"w{chance.randint(1, 6)}", "choice": n % 2,
            "summaries": [{"text": f"long {n % 9}", "policy": "sup"}, {"text": f"short {n % 9}", "policy": "ref"}],
        }
        for n in range(60)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, lines)))
    frame = accepted(path).frame
    assert frame.height == 60
    assert frame["response"].to_list() == [("left", "right")[int(str(line["choice"]))] for line in lines]
    assert frame["left"][0] == "long 0"


def test_what_eprime_logs_beside_the_answer(tmp_path: Path) -> None:
    """Delays and onsets are no answers, and trials counted anew in each block no part of the item."""
    chance, rows = random.Random(11), []
    for person in range(31, 45):
        for block in range(1, 5):
            for at, scene in enumerate(chance.sample(range(1, 11), 10), 1):
                onset, time = 1000 * at, chance.randint(200, 1500)
                rows.append(["Politeness", person, block, at, f"{block}_{scene}.wav", chance.randint(20, 50), onset,
                             chance.choice([1, 2]), time, onset + time, "SceneProc"])  # fmt: skip
    header = "ExperimentName,Subject,Block,Trial,SoundFile,Decision.OnsetDelay,Decision.OnsetTime,Decision.RESP,"
    path = saved(tmp_path / "r.csv", header + "Decision.RT,Decision.RTTime,Procedure[Trial]", rows)
    found = flags(path)
    assert (found["response"], found["item"]) == ({"response": "Decision.RESP"}, {"item": "SoundFile"})
    assert accepted(path).frame["rt"].max() <= 1.5  # type: ignore[operator]


def labelled(path: Path, *, one: bool, designed: bool = False) -> Path:
    """Labels in columns of 0 and 1: one per row, any number of them, or as a design gives them."""
    chance, rows = random.Random(12), []
    for person in range(16):
        for item in range(20) if designed else chance.sample(range(30), 20):
            label = (item + person) % 4 if designed else chance.choice([0, 0, 1, 2, 3])
            ticks = [int(at == label if one else chance.random() < 0.2) for at in range(4)]
            rows.append([item, f"w{person}", *ticks, *([int(chance.random() < 0.5)] if designed else [0])])
    return saved(
        path, "rev_id,worker_id,insult,recipient_attack,threat,none," + ("accept" if designed else "spam"), rows
    )


def test_a_column_of_0_and_1_for_each_label(tmp_path: Path) -> None:
    path = labelled(tmp_path / "r.csv", one=True)
    assert flags(path)["wide"] == {"wide": "trial"}
    intake = read_files([path], options=Options(wide="trial", mapping={"item": "rev_id"}))
    assert intake.judgments.frame.height == 320
    assert intake.judgments.frame["response"].unique().sort().to_list() == [
        "insult",
        "none",
        "recipient_attack",
        "threat",
    ]
    assert "form.one_hot" in codes(intake.notes)


def test_any_number_of_labels_are_questions(tmp_path: Path) -> None:
    path = labelled(tmp_path / "r.csv", one=False)
    assert flags(path)["wide"] == {"wide": "trial"}
    assert set(accepted(path).scales) == {"insult", "recipient_attack", "threat", "none", "spam"}


def test_columns_of_0_and_1_that_code_a_design_are_no_labels(tmp_path: Path) -> None:
    found = flags(labelled(tmp_path / "r.csv", one=True, designed=True))
    assert "wide" not in found
    assert found["response"] == {"response": "accept"}


@pytest.mark.parametrize(("name", "raters"), [("{}_{}", ["1", "2", "3"]), ("ann{1}.{0}", ["ann1", "ann2", "ann3"])])
def test_raters_with_several_questions_in_columns(tmp_path: Path, name: str, raters: Sequence[str]) -> None:
    chance, questions = random.Random(13), ("fluency", "adequacy")
    names = [name.format(question, n) for question in questions for n in (1, 2, 3)]
    rows = [[n, f"out {n}", *(chance.randint(1, 5) for _ in names)] for n in range(30)]
    path = saved(tmp_path / "r.csv", ",".join(["id", "output", *names]), rows)
    assert flags(path)["wide"] == {"wide": "item"}
    made = accepted(path)
    assert made.frame["participant"].unique().sort().to_list() == raters
    assert (set(made.scales), made.frame["item"].n_unique(), len(made)) == (set(questions), 30, 180)


def test_rankings_are_refused(tmp_path: Path) -> None:
    chance = random.Random(14)
    rows = [[f"a{a}", n, *chance.sample([1, 2, 3, 4], 4)] for a in range(10) for n in range(12)]
    path = saved(tmp_path / "r.csv", "annotator,item,rank_a,rank_b,rank_c,rank_d", rows)
    with refuses(KaratError, "r.csv", "rankings", "rank_a"):
        read_files([path])


def test_participants_numbered_anew_on_each_sheet(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name in ("ListA", "ListB"):
        sheet = book.create_sheet(name)
        sheet.append(["Participant", "Item", "Condition", "Rating"])
        for person in range(1, 9):
            for item in range(12):
                sheet.append([person, item, "ab"[(item + len(name) + ord(name[-1])) % 2], 1 + (item * person) % 7])
    path = tmp_path / "r.xlsx"
    book.save(path)
    assert flags(path)["participant"] == {"participant": "sheet+Participant"}
    made = accepted(path)
    assert (made.frame["participant"].n_unique(), made.frame["item"].n_unique(), len(made)) == (16, 12, 192)


def test_means_in_the_last_row_are_no_item(tmp_path: Path) -> None:
    chance = random.Random(15)
    rows: list[Sequence[object]] = [[f"w{n}", *(chance.randint(1, 7) for _ in range(6))] for n in range(20)]
    path = saved(tmp_path / "r.csv", "Word,S1,S2,S3,S4,S5,S6", [*rows, ["Mean", *[4.1] * 6]])
    intake = read_files([path], options=Options(wide="item"))
    assert len(intake.judgments) == 120
    assert len(intake.judgments.scale.levels) == 7  # type: ignore[attr-defined]
    assert {note.code: n for note, n in intake.set_aside.items()} == {"role.not_trials": 1}


def test_ratings_of_nobody_in_lists_of_objects(tmp_path: Path) -> None:
    lines = [
        {
            "id": f"dm{n}",
            "decoded": f"summary {n}",
            "crowd_annotations": [{"coherence": 2, "fluency": 4}] * 5,
            "expert_annotations": [{"coherence": 1 + n % 5, "fluency": 3}] * 3,
        }
        for n in range(12)
    ]
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    with refuses(KaratError, "r.jsonl", "crowd_annotations", "who"):
        read_files([path])


def test_each_participant_rates_one_dimension(tmp_path: Path) -> None:
    chance, rows = random.Random(16), []
    for person in range(18):
        dimension = ("valence", "arousal")[person % 2]
        rows += [[f"s{person}", f"word{n}", dimension, chance.randint(1, 9)] for n in chance.sample(range(30), 20)]
    intake = read_files(
        [saved(tmp_path / "r.csv", "subject,word,dimension,rating", rows)], options=Options(accept=True)
    )
    assert set(intake.judgments.scales) == {"valence", "arousal"}
    assert (intake.judgments.frame["item"].n_unique(), "role.dimension" in codes(intake.notes)) == (30, True)


def test_few_level_context_is_a_factor_not_an_answer(tmp_path: Path) -> None:
    chance, rows = random.Random(17), []
    for person in range(24):
        for item in range(16):
            context = ("neutral", "biased")[(item + person) % 2]
            rows.append([f"s{person}", item, context, chance.randint(1, 7), chance.choice(["he", "she", "they"])])
    path = saved(tmp_path / "r.csv", "subject,item,Context,nat_rating,gen_answer", rows)
    assert accepted(path).factors() == ["Context"]


def test_an_item_called_v1_is_no_row_number(tmp_path: Path) -> None:
    chance = random.Random(18)
    rows = [[person, *(chance.randint(1, 5) for _ in range(12))] for person in range(1, 25)]
    path = saved(tmp_path / "r.csv", ",".join(["VP", *(f"V{n}" for n in range(1, 13))]), rows)
    assert accepted(path).frame["item"].n_unique() == 12


def test_lines_of_ibex_without_their_comments(tmp_path: Path) -> None:
    chance, lines = random.Random(19), []
    for person in range(6):
        head = f"{1498778944 + 60 * person},{person:032x}"
        lines.append(f"{head},Form,1,0,intro,NULL,age,{20 + person}")
        for n in chance.sample(range(1, 9), 8):
            trial = f"{head},AcceptabilityJudgment,{n + 3},0,{('good', 'bad')[n % 2]},{n}"
            lines.append(f"{trial},The {n} cats slept.")
            lines.append(f"{trial},How good is it?,{chance.randint(1, 5)},NULL,{chance.randint(900, 5000)}")
    path = tmp_path / "results.txt"
    path.write_text("\n".join(lines) + "\n")
    intake = read_files([path])
    assert (len(intake.judgments), intake.judgments.frame["item"].n_unique()) == (48, 8)
    assert intake.judgments.frame["participant"].n_unique() == 6
    assert intake.judgments.frame["rt"].null_count() == 0
    assert "pcibex.no_comments" in codes(intake.notes)


IBEX = ["Time results were received", "MD5 hash of participant's IP address", "Controller name", "Item number",
        "Element number", "Type", "Group"]  # fmt: skip
JUDGED = ("Question (NULL if none)", "Answer", "Whether or not answer was correct (NULL if N/A)",
          "Time taken to answer")  # fmt: skip
PENN = ("PennElementType", "PennElementName", "Parameter", "Value", "EventTime")


def ibex(path: Path, blocks: Sequence[tuple[Sequence[Sequence[str]], list[list[object]]]], *, first: str = "") -> Path:
    """Results of six people: blocks of lines under the columns that their comments name, in groups where several."""
    text = first
    for person in range(6):
        text += f"#\n# Results on Sunday May 02 2021 16:4{person}:49 UTC\n# USER AGENT: x\n# Design number was 1\n#\n"
        for names, lines in blocks:
            heads = [[*IBEX, *own] for own in names]
            if len(heads) == 1:
                text += "".join(f"# {at}. {name}.\n" for at, name in enumerate(heads[0], 1))
            else:
                text += f"# The lines below this comment are in groups of {len(heads)}.\n"
            for number, head in enumerate(heads if len(heads) > 1 else [], 1):
                text += f"# Line {number}:\n" + "".join(
                    f"#     Col. {at}: {name}.\n" for at, name in enumerate(head, 1)
                )
            for line in lines:
                cells = [cell(person) if callable(cell) else cell for cell in line]
                text += ",".join(str(cell) for cell in [1619973769 + 60 * person, f"{person:032x}", *cells]) + "\n"
    path.write_text(text, encoding="utf-8")
    return path


def test_legend_holds_the_design_chosen_answer_counts(tmp_path: Path) -> None:
    names = ("Legend", "Chosen answer", *JUDGED[2:])
    lines: list[list[object]] = [
        ["DynamicQuestion", n, 0, "exp", "C" if n % 2 else "F", f"{n}+{('yes', 'no')[n % 2]}+Does she know item {n}?",
         lambda person, n=n: ("Natural", "Average", "Odd")[(person + n) % 3], "NULL", 900 + n] for n in range(1, 9)
    ]  # fmt: skip
    path = ibex(tmp_path / "results", [([names], lines)], first="\n")
    assert flags(path)["item"] == {"item": "Legend 1"}
    made = read_files([path], options=Options(mapping={"item": "Legend 1"})).judgments
    assert (made.frame["item"].n_unique(), made.frame["response"].null_count()) == (8, 0)
    assert set(made.frame["response"]) == {"Natural", "Average", "Odd"}


def test_the_value_of_an_own_slider_is_the_answer(tmp_path: Path) -> None:
    lines: list[list[object]] = [
        ["ScaleNew", n, 0, f"item-{n}", "NULL", f"<p>Tweet {n}</p>", "-100.00", "100.00",
         lambda person, n=n: f"{(37 * n + 11 * person) % 200 - 100}.50"] for n in range(1, 13)
    ]  # fmt: skip
    made = read_files([ibex(tmp_path / "results", [([("html", "startValue", "endValue", "value")], lines)])]).judgments
    assert (len(made), made.frame["item"].n_unique(), made.scales[""].kind) == (72, 12, "continuous")
    assert "value" not in made.frame.columns


def test_a_factor_called_rating_is_not_what_the_key_means(tmp_path: Path) -> None:
    lines: list[list[object]] = []
    for n in range(1, 11):
        own = [n, ("pretask", "no")[n % 2], "NULL"]
        start = 1619973000000 + 9000 * n
        lines.append(["PennController", n, 0, "known", "NULL", "PennController", n, "_Trial_", "Start", start, *own])
        key = lambda person, n=n: "FJ"[(person + n // 2) % 2]  # noqa: E731
        lines.append(["PennController", n, 0, "known", "NULL", "Key", "k", "PressedKey", key, start + 800 + n, *own])
    path = ibex(tmp_path / "results", [([(*PENN, "item", "rating", "Comments")], lines)])
    frame = read_files([path]).judgments.frame
    assert set(frame["response"]) == {"F", "J"}
    assert set(frame["rating"]) == {"pretask", "no"}


def test_fillers_checks_and_repeated_sentences_of_ibex(tmp_path: Path) -> None:
    trials = [*((n, "ab"[n % 2], n, f"He saw {n} cats.") for n in range(1, 7)), (11, "f", "NULL", "It rained."),
              (11, "f", "NULL", "It snowed."), (12, "control", 9, "Please press 4")]  # fmt: skip
    lines: list[list[object]] = []
    for n, label, group, text in trials:
        head: list[object] = ["AcceptabilityJudgment", n, 0, label, group]
        lines += [[*head, text], [*head, "NULL", lambda person, n=n: 1 + (person + n) % 5, "NULL", 1000 + n]]
    made = read_files([ibex(tmp_path / "results", [([("Sentence (or sentence MD5)",), JUDGED], lines)])]).judgments
    assert dict(made.frame["function"].value_counts().iter_rows()) == {"test": 36, "filler": 12, "attention": 6}


def test_what_is_logged_like_practice_is_practice(tmp_path: Path) -> None:
    columns = ("PennElementType", "PennElementName", "Parameter", "Value", "EventTime")

    def trial(label: str, n: int, *more: object) -> list[list[object]]:
        head: list[object] = ["PennController", n, 0, label, "NULL"]
        at = 1619973000000 + 1000 * n
        start, end = ([*head, "PennController", n, "_Trial_", edge, at, *more, "NULL"] for edge in ("Start", "End"))
        chosen = [lambda person, n=n: ("Agree", "Disagree")[(person + n) % 2], at + 700, *more, "NULL"]
        return [start, [*head, "Selector", "choice", "Selection", *chosen], end]

    trained = [line for n, label in enumerate(("trainF", "trainT", "trainthink"), 1) for line in trial(label, n)]
    tested = [line for n in range(4, 16) for line in trial("trial", n, n, "ab"[n % 2])]
    blocks = [([(*columns, "Comments")], trained), ([(*columns, "item", "condition", "Comments")], tested)]
    made = read_files([ibex(tmp_path / "results", blocks)]).judgments
    assert dict(made.frame["function"].value_counts().iter_rows()) == {"practice": 18, "test": 72}


def test_items_with_empty_conditions_are_no_practice(tmp_path: Path) -> None:
    columns = ("PennElementType", "PennElementName", "Parameter", "Value", "EventTime", "word")

    def rated(label: str, n: int, *more: object) -> list[object]:
        moved = [lambda person, n=n: 7 * (person + n) % 100, 1619973000000 + 1000 * n]
        return ["PennController", n, 0, label, "NULL", "Scale", "slider", "Choice", *moved, f"w{n}", *more, "NULL"]

    trained = [rated("practice", n) for n in range(1, 4)]
    tested = [rated("standard", n, "", "") if n % 4 == 0 else rated("pair", n, "good", "near") for n in range(4, 16)]
    blocks = [([(*columns, "Comments")], trained), ([(*columns, "valence", "match", "Comments")], tested)]
    made = read_files([ibex(tmp_path / "results", blocks)]).judgments
    assert dict(made.frame["function"].value_counts().iter_rows()) == {"practice": 18, "test": 72}


def test_a_logged_time_may_be_a_condition(tmp_path: Path) -> None:
    columns = ("PennElementType", "PennElementName", "Parameter", "Value", "EventTime", "item", "Time", "Comments")
    lines: list[list[object]] = [
        ["PennController", n, 0, "exp", "NULL", "Selector", f"s{n}", "Selection",
         lambda person, n=n: ("Yes", "No")[(person + n) % 2], 1619973000000 + 1000 * n, n, 400 + 600 * (n % 2), "NULL"]
        for n in range(1, 9)
    ]  # fmt: skip
    frame = read_files([ibex(tmp_path / "results", [([columns], lines)])]).judgments.frame
    assert set(frame["Time"]) == {400, 1000}
    assert frame["rt"].null_count() == len(frame)


def test_an_answer_is_logged_before_whether_it_was_correct(tmp_path: Path) -> None:
    names = ("Sentence", "Chosen picture (from 1)", *JUDGED[2:])
    lines: list[list[object]] = [
        ["PictureChoice", n, 0, "image", n, f"Sentence {n}.", lambda person, n=n: 1 + (person + n) % 3, "NULL", 900 + n]
        for n in range(1, 9)
    ]
    made = read_files([ibex(tmp_path / "results", [([names], lines)])]).judgments
    assert set(made.frame["response"]) == {"1", "2", "3"}
    assert made.frame["rt"].max() == 0.908


@pytest.mark.parametrize("own_options", [False, True])
def test_questions_about_each_sentence_are_one_question(tmp_path: Path, own_options: bool) -> None:
    blocks = []
    for n in range(1, 11):
        options = (f"shy{n}", f"bold{n}") if own_options else ("Yes", "No")
        head: list[object] = [n, 0, "ab"[n % 2], n]
        rated = ["AcceptabilityJudgment", *head, "NULL", lambda person, n=n: 1 + (person + n) % 5, "NULL", 1000 + n]
        asked = ["Question", *head, f"Was she {n}?", lambda person, o=options: o[person % 2], 1, 900]
        shown = ["AcceptabilityJudgment", *head, f"She is {n}."]
        blocks += [([("Sentence (or sentence MD5)",), JUDGED], [shown, rated]), ([JUDGED], [asked])]
    intake = read_files([ibex(tmp_path / "results", blocks)])
    frame = intake.judgments.frame
    if own_options:
        assert (len(frame), aside(intake)["aside.questions_beside"]) == (60, 60)
    else:
        questions = dict(frame["question"].value_counts().iter_rows())
        assert questions == {"AcceptabilityJudgment": 60, "Question": 60}
        assert frame["asked"].n_unique() == 11


def test_fields_of_a_form_that_belong_to_items_are_columns(tmp_path: Path) -> None:
    lines: list[list[object]] = [["Form", 1, 0, "intro", "NULL", "chosen", lambda person: 1 + person % 5]]
    for n in range(2, 14):
        head: list[object] = ["Written", n, 1, "exp", n]
        known = {"ItemNo": n, "pred": ("know", "think")[n % 2], "kind": ("main", "filler")[n % 3 == 0]}
        lines += [[*head, *field] for field in known.items()]
        lines += [[*head, "list", lambda person: person % 2], [*head, "_REACTION_TIME_", 900 + n],
                  [*head, "chosen", lambda person, n=n: 1 + (person + n) % 5]]  # fmt: skip
    intake = read_files([ibex(tmp_path / "results", [([("Field name", "Field value")], lines)])])
    frame = intake.judgments.frame
    assert "question" not in frame.columns
    assert (len(frame), frame["item"].n_unique(), intake.judgments.scale) == (72, 12, Ordinal(5))
    assert dict(frame["function"].value_counts().iter_rows()) == {"test": 48, "filler": 24}
    assert set(frame["pred"]) == {"know", "think"}


def test_labels_such_as_f1_without_a_group_are_fillers(tmp_path: Path) -> None:
    lines: list[list[object]] = []
    for n, (label, group) in enumerate([("a", 1), ("b", 2), ("f1", "NULL"), ("F-2F.01", "NULL"), ("free", "NULL")]):
        head: list[object] = ["AcceptabilityJudgment", n, 0, label, group]
        lines += [[*head, f"She is {n}."], [*head, "NULL", lambda person, n=n: 1 + (person + n) % 5, "NULL", 1000 + n]]
    path = ibex(tmp_path / "results", [([("Sentence (or sentence MD5)",), JUDGED], lines)])
    assert dict(read_files([path]).judgments.frame["function"].value_counts().iter_rows()) == {"test": 18, "filler": 12}


def test_what_is_chosen_in_a_form_of_html_is_an_answer(tmp_path: Path) -> None:
    columns = ("PennElementType", "PennElementName", "Parameter", "Value", "EventTime")
    head: list[object] = ["PennController", 1, 0, "info", "NULL", "Html", "about"]
    asked = [[*head, "age", 30, 1619973000000, "text input"], [*head, "sex", "male", 1619973000000, "radio button"]]
    rated = [
        ["PennController", n, 0, "exp", "NULL", "Html", "form", *field, 1619973000000 + 1000 * n, n, comment]
        for n in range(2, 8)
        for *field, comment in (["rating", lambda person, n=n: 1 + (person + n) % 7, "radio button"],
                                ["why", "", "text input"])
    ]  # fmt: skip
    blocks = [([(*columns, "Comments")], asked), ([(*columns, "item", "Comments")], rated)]
    made = read_files([ibex(tmp_path / "results", blocks)]).judgments
    assert (len(made), made.frame["item"].n_unique(), made.scale) == (36, 6, Ordinal(7))
    assert made.participants is not None
    assert set(made.participants["sex"]) == {"male"}


def test_a_question_after_some_ratings_makes_no_choices_of_them(tmp_path: Path) -> None:
    columns = ("PennElementType", "PennElementName", "Parameter", "Value", "EventTime", "item", "Comments")
    lines: list[list[object]] = []
    for n in range(1, 11):
        head, at = ["PennController", n, 0, "exp", "NULL"], 1619973000000 + 1000 * n
        lines.append([*head, "PennController", n, "_Trial_", "Start", at, n, "NULL"])
        lines.append([*head, "Scale", "scale", "Choice", lambda who, n=n: 1 + (who + n) % 6, at + 500, n, "NULL"])
        if n % 3 == 0:
            said = [lambda who, n=n: ("evet", "hayır")[(who + n) % 2], at + 900, n, "evet;hayır"]
            lines.append([*head, "Selector", "answer", "Selection", *said])
    made = read_files([ibex(tmp_path / "results", [([columns], lines)])]).judgments
    assert {name: len(scale.levels) for name, scale in made.scales.items()} == {"scale": 6, "answer": 2}
    assert "left" not in made.frame.columns


def test_objects_in_lists_among_bare_numbers(tmp_path: Path) -> None:
    chance, rows = random.Random(21), []
    for person in range(10):
        rows += [[person, "NA", 0.12, 2], [person, "NA", 0.9, 3]]
        for at, n in enumerate(chance.sample(range(12), 12), 5):
            cell = (
                f"[{{u'odd': {chance.random() < 0.1}, u'sliderval': {chance.randint(20 + 5 * n, 40 + 5 * n) / 100}}}]"
            )
            rows.append([person, f"{900 + n}:4", cell, at])
    made = accepted(saved(tmp_path / "r.csv", "workerid,tgrep id,response,slide_number_in_experiment", rows))
    assert (len(made), made.frame["item"].n_unique(), made.scales[""].kind) == (120, 12, "continuous")
    assert made.factors() == []


def test_an_id_names_items_whose_text_is_missing_in_practice(tmp_path: Path) -> None:
    chance, rows = random.Random(22), []
    for person in range(12):
        rows += [[person, "bot_check", "", "Linda", 1, "Linda"], [person, "example1", "", 6, 2, " "]]
        for at, n in enumerate(chance.sample(range(45), 20), 5):
            rows.append([person, f"{n}:7", f"it is {n} o'clock", min(7, 1 + n // 8 + chance.randint(0, 1)), at,
                         chance.random() < 0.1])  # fmt: skip
    path = saved(tmp_path / "r.csv", "workerid,tgrep_id,sentence,rating,slide_number,checkbox", rows)
    made = read_files([path]).judgments
    assert dict(made.frame["function"].value_counts().iter_rows()) == {"test": 240, "practice": 12}
    assert "example1" in set(made.frame["item"])
    assert made.factors() == []


def test_a_number_drawn_for_each_trial_may_be_a_part_of_the_item(tmp_path: Path) -> None:
    chance, rows = random.Random(23), []
    for person in range(24):
        for at in range(1, 12):
            eaten = chance.randint(0, 10)
            felt = [round(max(0, min(1, chance.gauss(mean, 0.4))), 3) for mean in (eaten / 10, 1 - eaten / 10, 0.5)]
            rows.append([person, at, chance.choice(["cookies", "pies", "sweets"]), eaten, *felt])
    with pytest.raises(ProposalError) as error:
        read_files([saved(tmp_path / "r.csv", "workerID,order,food,eatenQuant,upset,happy,neutral", rows)])
    offered = [choice.mapping for one in error.value.questions if one.role == "item" for choice in one.choices]
    assert {"item": "food+eatenQuant"} in offered


def test_a_question_shown_anew_is_the_item(tmp_path: Path) -> None:
    lines: list[list[object]] = []
    for n in range(10):
        head: list[object] = ["ComicCaption", 300 + n, 0, f"test_choice_{n}", "NULL"]
        asked = lambda person, n=n: f"<audio src='word_{(person + n) % 10}.wav'></audio>"  # noqa: E731
        lines += [[*head, ""], [*head, asked, lambda person, n=n: "AB"[(person * n) % 2], "NULL", 1000 + n]]
    made = read_files([ibex(tmp_path / "results", [([("Sentence (or sentence MD5)",), JUDGED], lines)])]).judgments
    assert set(made.frame["item"]) == {f"<audio src='word_{n}.wav'></audio>" for n in range(10)}


def test_fillers_and_practice_in_longer_names(tmp_path: Path) -> None:
    trials = [*(("Practice", n, "epInst", "NULL") for n in (0, 1)),
              ("AcceptabilityJudgment", 2, "firstfiller_item1", "NULL"),
              *(("AcceptabilityJudgment", n, f"EG{n % 3}", n) for n in range(3, 12))]  # fmt: skip
    lines: list[list[object]] = []
    for controller, n, label, group in trials:
        head: list[object] = [controller, n, 0, label, group]
        lines += [[*head, f"A {n} b."], [*head, "NULL", lambda person, n=n: 1 + (person + n) % 5, "NULL", 1000 + n]]
    made = read_files([ibex(tmp_path / "results", [([("Sentence (or sentence MD5)",), JUDGED], lines)])]).judgments
    assert dict(made.frame["function"].value_counts().iter_rows()) == {"test": 54, "filler": 6, "practice": 12}


def test_three_sliders_that_are_no_neighbours(tmp_path: Path) -> None:
    chance, rows = random.Random(24), []
    for person in range(8):
        for share, colour in chance.sample([(s, c) for s in range(0, 101, 10) for c in ("blue", "red")], 22):
            given = chance.choice([[0, 1, 0], [1, 0, 0], [0, 0, 1], [0.45, 0.55, 0], [0.2, 0.3, 0.5], [0, 0.13, 0.87]])
            noise = chance.choice([0, 0, 0.01, 0.02, 0.04, 0.07])
            one, two, other = (abs(round(part - noise, 2)) for part in given)
            rows.append([person, two, "might-probably", one, other, share, colour])
    path = saved(tmp_path / "r.csv", "workerid,rating2,pair,rating1,rating_other,percentage,color", rows)
    assert flags(path)["wide"] == {"wide": "trial"}


def test_right_and_wrong_where_no_answer_is_left(tmp_path: Path) -> None:
    chance, rows = random.Random(25), []
    for person in range(16):
        kind = ("Anaphora", "NPI", "Islands", "Agreement")[person % 4]
        trials = [("The door is red here", "CHECK1", "attention check", "grammatical")]
        trials += [(f"The {kind} of {n} was there", f"TS {n}", kind, ("good", "bad")[n % 2]) for n in range(1, 11)]
        for text, item, about, condition in trials:
            last = None
            for again in range(1, 6):
                right = int(chance.random() < (0.9 if condition == "good" else 0.5))
                changed = "NA" if last is None else abs(right - last)
                rows.append([f"p{person}", text, item, about, condition, right, again, changed])
                last = right
    header = "participant,sentence,test_item,phenomenon,condition,accuracy,repetition,stability"
    path = saved(tmp_path / "r.csv", header, rows)
    assert flags(path)["response"] == {"response": "accuracy"}
    made = accepted(path)
    assert dict(made.frame["function"].value_counts().iter_rows()) == {"test": 800, "attention": 80}
    assert "condition" in made.factors()
    assert "stability" not in made.factors()


def test_a_line_that_holds_the_answer_is_no_item(tmp_path: Path) -> None:
    chance, rows = random.Random(26), []
    for person in range(24):
        for at, n in enumerate(chance.sample(range(1, 21), 20), 1):
            kind, rating = ("CxC", "CnC")[(n + person) % 2], chance.randint(1, 7)
            code = f"{n}-{kind}"
            rows.append([person, f"Trial{at}", f"{code} {kind} He_ran_{n}. {rating} mean", at, code, kind, rating])
    path = saved(tmp_path / "r.csv", "workerid,variable,value,Trial,ID,Condition,Response", rows)
    made = read_files([path], options=Options(accept=True)).judgments
    assert (made.frame["item"].n_unique(), made.factors()) == (40, ["Condition"])


def test_a_question_of_its_own_for_each_item(tmp_path: Path) -> None:
    chance, rows = random.Random(27), []
    for person in range(20):
        for at, n in enumerate(chance.sample(range(24), 12), 1):
            form = chance.choice(["base", "negated"])
            text = f"He {'did not see' if form == 'negated' else 'saw'} {n} cats."
            rows.append([person, at, form, f"Were there {n} cats?", chance.randint(20, 100) / 100, text,
                         1000 + 2 * n + (form == "base"), chance.choice([0, 0, 1])])  # fmt: skip
    path = saved(tmp_path / "r.csv", "workerid,order,polarity,question,response,sentence,sentence_id,wrongs", rows)
    made = read_files([path]).judgments
    assert (len(made.scales), made.frame["item"].n_unique()) == (1, 48)
    assert "wrongs" not in made.factors()


def test_forms_that_come_again_ask_about_items(tmp_path: Path) -> None:
    lines: list[list[object]] = [["Form", 1, 0, "intro", "NULL", "code", lambda person: f"YWZ{person}"]]
    for n in range(2, 10):
        head: list[object] = ["Form", n, 0, f"c{n % 2}-ds", "NULL"]
        lines += [[*head, "article", lambda person, n=n: ("the", "a", "zero")[(person + n) % 3]],
                  [*head, "_REACTION_TIME_", 2000 + n]]  # fmt: skip
    path = ibex(tmp_path / "results", [([("Field name", "Field value")], lines)])
    frame = read_files([path]).judgments.frame
    assert (frame.height, set(frame["response"])) == (48, {"the", "a", "zero"})
    assert frame["rt"].min() == 2.002


def test_forms_about_participants_are_no_judgments(tmp_path: Path) -> None:
    lines: list[list[object]] = [["Form", 1, 0, "intro", "NULL", name, "x"] for name in ("name", "age", "city")]
    with refuses(KaratError, "results", "form fields"):
        read_files([ibex(tmp_path / "results", [([("Field name", "Field value")], lines)])])


def test_groups_that_are_no_lexical_sets(tmp_path: Path) -> None:
    names = ("Legend", "Chosen answer", *JUDGED[2:])
    lines: list[list[object]] = [
        ["DynamicQuestion", n, 0, "Critical", str(n)[0], "Test",
         lambda person, n=n: ("Visible", "Covered")[(person * n) % 2], "NULL", 900 + n] for n in range(10, 30)
    ]  # fmt: skip
    made = read_files([ibex(tmp_path / "results", [([names], lines)])]).judgments
    assert made.frame["item"].n_unique() == 20


@pytest.mark.parametrize("deep", [True, False], ids=["two lists", "one list"])
def test_answers_of_three_people_within_each_object(tmp_path: Path, deep: bool) -> None:
    chance, path = random.Random(21), tmp_path / "r.jsonl"
    lines = []
    for text in range(30):
        given = [{"worker_id": who, "response": chance.choice(["yes", "no"])} for who in chance.sample(range(9), 3)]
        shown = {"sentence": f"The sentence number {text} is short.", "responses": given}
        lines.append(json.dumps({"article": f"Article {text}", "sentences": [shown]} if deep else shown))
    path.write_text("\n".join(lines))
    found = read_files([path]).judgments
    assert (found.frame["participant"].n_unique(), found.frame["item"].n_unique(), len(found)) == (9, 30, 90)


def rated_events(chance: random.Random, *, marks: int) -> list[list[object]]:
    """Events with columns of 0 and 1 that say how they were made, one of them called attention, and two ratings."""
    rows: list[list[object]] = []
    for event in range(40):
        made = [int(chance.random() < 0.25) for _ in range(marks)]
        rows += [[f"p{p}", f"e{event}", *made, chance.randint(1, 5)] for p in range(6)]
    return rows


def test_attention_and_control_in_one_row_are_no_functions(tmp_path: Path) -> None:
    rows = rated_events(random.Random(22), marks=2)
    found = read_files([saved(tmp_path / "r.csv", "annotator,item,attention,control,rating", rows)]).judgments
    assert set(found.frame["function"]) == {"test"}


def test_an_id_of_texts_is_nobody(tmp_path: Path) -> None:
    chance = random.Random(23)
    rows = [
        [text // 3, f"There are {text} apples in the box.", "abc"[text % 3], chance.randint(1, 7)]
        for text in range(36)
        for _ in range(5)
    ]
    path = saved(tmp_path / "r.csv", "id,text,modifier,score", rows)
    with pytest.raises(IntakeError) as error:
        read_files([path], options=Options(accept=True))
    assert "participant" in str(error.value)


@pytest.mark.parametrize("name", ["username", "annotated_by", "assigned_to"])
def test_names_of_tools_for_annotators(tmp_path: Path, name: str) -> None:
    chance = random.Random(24)
    rows = [[f"xx{p}", f"s{item}", chance.randint(1, 5)] for p in range(6) for item in range(20)]
    assert accepted(saved(tmp_path / "r.csv", f"{name},segment,rating", rows)).frame["participant"].n_unique() == 6


CLAIMS = ("Shape is closed", "Labels match it", "All is in frame", "Nothing overlaps it")


@pytest.mark.parametrize("names", [("accuracy", "fluency", "appropriateness", "mac"), CLAIMS], ids=["words", "claims"])
def test_questions_are_no_participants(tmp_path: Path, names: Sequence[str]) -> None:
    chance = random.Random(25)
    rows = [
        [f"This is the text number {n}.", *(chance.choice(["yes", "no"]) for _ in names), "ab"[n % 2]]
        for n in range(60)
    ]
    with pytest.raises(IntakeError) as error:
        read_files([saved(tmp_path / "r.csv", ",".join(["prompt", *names, "model"]), rows)],
                   options=Options(accept=True))  # fmt: skip
    assert "participant" in str(error.value)


def test_answers_in_fewer_levels_are_no_factors(tmp_path: Path) -> None:
    chance, rows = random.Random(26), []
    for person in range(20):
        for item in range(12):
            answers = [chance.randint(1, 7) for _ in range(3)]
            rows.append([f"p{person}", f"i{item}", "ab"[(item + person) % 2], *answers, *(one > 4 for one in answers)])
    names = ("acceptable", "useful", "clear")
    header = ",".join(["participant", "item", "form", *names, *(f"{name}_b" for name in names)])
    intake = read_files([saved(tmp_path / "r.csv", header, rows)], options=Options(accept=True))
    assert set(intake.judgments.scales) == set(names)
    assert intake.judgments.factors() == ["form"]
    (note,) = (one for one in intake.notes if one.code == "form.wide_trial")
    assert note.values["derived"] == [f"{name}_b" for name in names]


def test_long_numbers_are_no_header(tmp_path: Path) -> None:
    path = tmp_path / "r.tsv"
    path.write_text("".join(f"{572342978255048705 + 7919 * n}\t{('racism', 'none')[n % 2]}\n" for n in range(50)))
    with refuses(IntakeError, "no header"):
        read_files([path])


def test_an_id_of_each_row_is_not_suggested(tmp_path: Path) -> None:
    rows = [[f"32.martin.{n}", f"The sentence number {n} is good.", n / 7] for n in range(40)]
    with pytest.raises(IntakeError) as error:
        read_files([saved(tmp_path / "r.csv", "id,sentence,judgement", rows)])
    assert "participant=id" not in str(error.value)


def test_one_annotator_per_text_and_several_questions(tmp_path: Path) -> None:
    chance = random.Random(27)
    rows = [
        [f"annotator{n % 3}", f"This is the text number {n}.", *(chance.choice(["Yes", "No"]) for _ in CLAIMS)]
        for n in range(60)
    ]
    found = accepted(saved(tmp_path / "r.csv", ",".join(["annotated_by", "prompt", *CLAIMS]), rows))
    assert (found.frame["participant"].n_unique(), found.frame["item"].n_unique()) == (3, 60)
    assert set(found.scales) == set(CLAIMS)


def counts_of(chance: random.Random, people: int, levels: int) -> list[int]:
    given = [chance.choices(range(levels), [3, 1, *(1 for _ in range(levels - 2))])[0] for _ in range(people)]
    return [given.count(level) for level in range(levels)]


@pytest.mark.parametrize("people", [25, 70])
def test_counts_of_answers_are_refused(tmp_path: Path, people: int) -> None:
    chance = random.Random(28)
    rows = [[f"The claim number {n} is right.", *counts_of(chance, people + n % 2, 5), n % 2] for n in range(15)]
    with refuses(IntakeError, "counts"):
        read_files([saved(tmp_path / "r.csv", "index,not at all,slightly,rather,very,extremely,list", rows)])


def test_numbers_of_ratings_are_no_items(tmp_path: Path) -> None:
    chance, rows = random.Random(29), []
    for person in range(5):
        for order in chance.sample(range(40), 25):
            answers = [chance.randint(1, 5) for _ in range(4)]
            rows.append([f"R{len(rows):05}", f"U{person}", f"O{order}", *answers])
    path = saved(tmp_path / "r.csv", "rating_id,user_id,order_line_id,clarity,correctness,usefulness,overall", rows)
    assert flags(path)["item"] == {"item": "order_line_id"}


def test_one_signature_is_not_a_participant(tmp_path: Path) -> None:
    chance = random.Random(30)
    asked = [f"Question {n}: what do you do with patient {n}?" for n in range(1, 11)]
    rows = [[p, "signed", *(chance.choice(["fly", "wait", "treat"]) for _ in asked)] for p in range(1, 21)]
    found = accepted(saved(tmp_path / "r.csv", ",".join(["Record ID", "Signature of Participant", *asked]), rows))
    assert (found.frame["participant"].n_unique(), found.frame["item"].n_unique()) == (20, 10)


def test_short_names_of_several_questions(tmp_path: Path) -> None:
    rows = [[f"t{n // 5}", f"R{n % 5}", 5 - n // 5, 4, 3 + n % 2, 2 + n % 3] for n in range(15)]
    path = saved(tmp_path / "r.csv", "Text_ID,Rater,Plaus,Coher,Fit,Sim", rows)
    with refuses(IntakeError, "--wide trial"):
        read_files([path])
    assert len(read_files([path], options=Options(wide="trial")).judgments) == 60


WORDED = ("A is much better", "A is slightly better", "About the same", "B is slightly better", "B is much better")


HYPHENS = ("A-is-clearly-better", "A-is-slightly-better", "Tie", "B-is-slightly-better", "B-is-clearly-better")
SIGNED = ("A>>B", "A>B", "A=B", "A<B", "A<<B")


@pytest.mark.parametrize("grades", [WORDED, HYPHENS, SIGNED], ids=["words", "hyphens", "signs"])
def test_graded_preferences_are_choices(tmp_path: Path, grades: Sequence[str]) -> None:
    chance, rows = random.Random(31), []
    for prompt in range(30):
        models = chance.sample(["one", "two", "three"], 2)
        rows += [[f"w{p}", prompt, *models, chance.choice(grades)] for p in chance.sample(range(9), 4)]
    path = saved(tmp_path / "r.csv", "worker_id,prompt_id,model_a,model_b,preference", rows)
    intake = read_files([path], options=Options(accept=True))
    assert set(intake.judgments.frame["response"]) == {"left", "right", "none"}
    assert "form.graded" in codes(intake.notes)


def test_what_is_called_rating_stimulus_was_rated(tmp_path: Path) -> None:
    """The columns of webMUSHRA."""
    chance, rows = random.Random(32), []
    for person in range(10):
        for trial in range(1, 7):
            for system, level in (("reference", 98), ("C1", 70), ("C2", 55), ("C3", 30)):
                score = min(100, max(0, round(chance.gauss(level, 6))))
                rows.append(
                    ["test1", f"{person:08}-aaaa-bbbb-cccc-1234567890ab", f"page{trial}", system, score, 9000, ""]
                )
    header = "session_test_id,session_uuid,trial_id,rating_stimulus,rating_score,rating_time,rating_comment"
    path = saved(tmp_path / "r.csv", header, rows)
    assert flags(path)["response"] == {"response": "rating_score"}
    assert accepted(path).frame["item"].n_unique() == 24


@pytest.mark.parametrize("name", ["judge", "subject_agrees"])
def test_verdicts_are_no_people(tmp_path: Path, name: str) -> None:
    chance = random.Random(33)
    rows = [[n // 3, "abc"[n % 3], chance.choice(["yes", "no", "partly"]), chance.randint(1, 5)] for n in range(120)]
    with refuses(IntakeError, "participant=NAME"):
        accepted(saved(tmp_path / "r.csv", f"question_id,model,{name},rating", rows))


def test_order_of_pages_is_not_judged(tmp_path: Path) -> None:
    """A page is judged twice, in another place, and all its sounds are on it."""
    chance, rows = random.Random(34), []
    for person in range(8):
        pages = chance.sample([f"vocals-{n}" for n in range(8)] * 2, 16)
        for place, page in enumerate(pages):
            again = page in pages[:place]
            rows += [[again, page, place, chance.randint(0, 100), s, f"L{person}"] for s in ("ref", "anchor", "mix")]
    path = saved(tmp_path / "r.csv", "is_replicate,page,page_order,rating,sound,subject", rows)
    assert flags(path)["item"] == {"item": "page+sound"}


@pytest.mark.parametrize(("numbers", "said"), [
    (("-1", "0", "1"), "--answers=-1=right,0=none,1=left"),
    (("0", "1"), "--answers=0=left,1=right"),
    (("-2", "-1", "1", "2"), "--answers=-2=right,-1=right,1=left,2=left"),
])  # fmt: skip
def test_numbers_of_sides_are_asked_about(tmp_path: Path, numbers: tuple[str, ...], said: str) -> None:
    rows = [
        f"p{person},s{pair},s{(pair + 1) % 12},{numbers[(person + pair * pair) % len(numbers)]}"
        for person in range(8)
        for pair in range(12)
    ]
    path = tmp_path / "pairs.csv"
    path.write_text("\n".join(["participant,item_a,item_b,response", *rows]), encoding="utf-8")
    with pytest.raises(IntakeError) as error:
        read_files([path], options=Options(accept=True))
    assert said in str(error.value)
    answers = dict(one.split("=") for one in said.removeprefix("--answers=").split(","))
    assert isinstance(read_files([path], options=Options(answers=answers)).judgments.scale, Choice)


def test_forms_of_an_experiment_are_no_items(tmp_path: Path) -> None:
    """Testable writes what it asks about a person into rows among the trials; elsewhere a form may be a condition."""
    chance, rows = random.Random(35), []
    for person in range(10):
        rows += [[1000 + person, "form", "What is your age?", chance.randint(19, 60)]]
        rows += [[1000 + person, "learn", f"The cat saw mouse {n}.", chance.randint(1, 7)] for n in range(20)]
    read = read_files(
        [saved(tmp_path / "r.csv", "participantID,type,content,response", rows)], options=Options(accept=True)
    )
    assert read.judgments.scale == Ordinal(7)
    assert aside(read) == {"role.not_asked": 10}
    within = [[*row[:3], min(row[3], 7)] for row in rows]
    assert (
        accepted(saved(tmp_path / "w.csv", "participantID,type,content,response", within)).frame["item"].n_unique()
        == 20
    )
    conditions = [[who, "form" if kind == "learn" and "mouse 1" in item else kind, item, answer]
                  for who, kind, item, answer in within if kind == "learn"]  # fmt: skip
    assert accepted(saved(tmp_path / "c.csv", "participantID,type,content,response", conditions)).answers == 200


@pytest.mark.parametrize("name", ["MW", "Zoe"])
def test_a_mean_of_all_others_is_nobody(tmp_path: Path, name: str) -> None:
    chance, rows = random.Random(36), []
    for item in range(30):
        answers = [chance.randint(1, 7) for _ in range(6)]
        rows.append([f"The cat saw mouse {item}.", *answers, round(sum(answers) / 6)])
    table = saved(tmp_path / "r.csv", f"sentence,Anna,Ben,Cem,Dora,Eva,Fritz,{name}", rows)
    assert name not in accepted(table).frame["participant"].to_list()
    table = saved(tmp_path / "s.csv", f"sentence,Anna,Ben,Cem,Dora,Eva,Fritz,{name}", [[*r[:-1], r[2]] for r in rows])
    assert name in accepted(table).frame["participant"].to_list()


def test_times_of_people_in_columns(tmp_path: Path) -> None:
    chance = random.Random(37)
    names = [f"sub{n}_{what}" for n in range(1, 7) for what in ("rating", "rt")]
    rows = [[n, *(chance.randint(*ends) for _ in range(6) for ends in ((1, 7), (40_000, 90_000)))] for n in range(30)]
    read = read_files([saved(tmp_path / "r.csv", ",".join(["item", *names]), rows)], options=Options(accept=True))
    first = read.judgments.frame.filter(participant="sub1_rating")
    assert first["rt"].to_list() == pytest.approx([row[2] / 1000 for row in rows])
    assert noted(read.notes, "form.wide_item")["times"] == "sub1_rt"
    assert "rt.long" not in codes(read.notes)  # The unit is known.


@pytest.mark.parametrize(("column", "points"), [("preference", 1), ("choice", 5), ("rating", 5)])
def test_preferences_in_numbers_may_be_choices(tmp_path: Path, column: str, points: int) -> None:
    chance = random.Random(38)
    rows = [
        [f"p{who}", f"He gave her book {n}.", f"He gave book {n} to her.", chance.randint(points > 1, points)]
        for who in range(20)
        for n in range(12)
    ]
    path = saved(tmp_path / "r.csv", f"participant,double_object,prepositional,{column}", rows)
    read = read_files([path], options=Options(accept=True))
    assert ("form.perhaps_sides" in codes(read.notes)) == (column != "rating")
    if column != "rating":
        noted_sides = noted(read.notes, "form.perhaps_sides")
        sides = {side: noted_sides[side] for side in ("left", "right")}
        answers = {str(n): "left" if 2 * n <= points else "right" for n in range(points > 1, points + 1)}
        again = read_files([path], options=Options(mapping={**sides, "response": column}, answers=answers))
        assert isinstance(again.judgments.scale, Choice)


def test_points_with_letters(tmp_path: Path) -> None:
    points = ["A. bad", "B. so-so", "C. good"]
    rows = [[f"p{who}", f"s{n}", points[(who + n) % 3]] for who in range(6) for n in range(6)]
    path = saved(tmp_path / "r.csv", "participant,item,response", rows)
    note = noted(read_files([path]).notes, "scale.nominal")
    assert read_files(
        [path], options=Options(scale=parse_scale("ordinal:" + note["points"]))
    ).judgments.scale == Ordinal(points)


def test_a_word_that_names_a_function_may_be_an_item(tmp_path: Path) -> None:
    words = ["Sailor", "Heir", "Anchor", "Host", "Actor", "Hero", "Chair", "Hunter", "Usher", "Fisher", "Stunt_double"]
    rows = []
    for person in range(12):
        rows.append([f"w{person}", "example1", "", 4, 1])
        rows += [[f"w{person}", word, ("male", "female")[(person + at) % 2], 1 + (3 * person + at) % 7, at + 2]
                 for at, word in enumerate(words)]  # fmt: skip
    made = accepted(saved(tmp_path / "r.csv", "workerid,id,form,response,slide_number", rows))
    assert dict(made.frame["function"].value_counts().iter_rows()) == {"practice": 12, "test": 132}
