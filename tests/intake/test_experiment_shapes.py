"""Shapes of experiments that others published: small files with the same columns and codes, and invented rows."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

import karat
from karat.errors import IntakeError
from karat.intake import Options, read_files
from karat.intake.reading import ProposalError


def saved(path: Path, header: str, rows: Sequence[Sequence[object]], sign: str = ",") -> Path:
    """A table; cells with signs or quotes in them are quoted."""
    cells = [[str(cell) for cell in row] for row in rows]
    lines = [sign.join(f'"{c.replace(chr(34), chr(34) * 2)}"' if sign in c or '"' in c else c for c in row)
             for row in cells]  # fmt: skip
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def proposed(path: Path, **options: object) -> dict[str, dict[str, str]]:
    """What karat proposes for each of its questions."""
    with pytest.raises(ProposalError) as caught:
        read_files([path], options=Options(**options))  # type: ignore[arg-type]
    return {question.role: dict(question.choices[0].mapping) for question in caught.value.questions}


def test_questions_of_recurring_pages_are_not_items(tmp_path: Path) -> None:
    """A page of jsPsych with two questions on each of six requests, which two numbers of the study tell apart."""
    chance, rows = random.Random(1), []
    for person in range(12):
        for place, item in enumerate(chance.sample(range(1, 7), 6)):
            kind = "high" if (item + person) % 2 else "low"
            given = json.dumps({"Q0": str(chance.randint(1, 7)), "Q1": str(chance.randint(1, 7))})
            rows.append(
                [900 + person, "survey-multi-choice", place, 4000 * place, given, kind, item, chance.gauss(9, 2)]
            )
    path = saved(tmp_path / "r.csv", "subject,trial_type,trial_index,time_elapsed,responses,kind,number,rt", rows)
    assert proposed(path) == {"item": {"item": "kind+number"}}
    read = karat.read(path, accept=True)
    assert (read.frame["item"].n_unique(), set(read.scales)) == (12, {"Q0", "Q1"})
    mapped = karat.read(path, mapping={"item": "number"})
    assert (mapped.frame["item"].n_unique(), set(mapped.scales)) == (6, {"Q0", "Q1"})


def test_factors_that_all_have_are_no_part_of_items(tmp_path: Path) -> None:
    """Every noun with an adjective was judged in both orders by everybody."""
    chance, rows = random.Random(2), []
    pairs = [(f"noun{chance.randint(1, 9)}", f"adjective{n}") for n in range(9) for _ in "ab"]
    for person in range(10):
        for order in ("NA", "AN "):
            rows += [[f"p{person}", *pair, f"{order.strip()}_", chance.randint(1, 7)] for pair in dict.fromkeys(pairs)]
    path = saved(tmp_path / "r.csv", "Subj_num,item_n,item_adj,Word_order,Rating", rows)
    assert proposed(path) == {"item": {"item": "item_n+item_adj"}}


def test_answers_to_checks_come_after_ratings(tmp_path: Path) -> None:
    """A slider in most rows, beside the answers to attention checks and comprehension questions."""
    chance, rows = random.Random(3), []
    for person in range(15):
        rows.append([person, 0.9, "", "", "practice_good", 0, ""])
        for place, item in enumerate(chance.sample(range(20, 44), 24), 1):
            answers = [chance.randint(0, 2), chance.randint(0, 3)]
            rows.append([person, "", *answers, item, place, round(chance.random(), 2)])
    names = "workerid,rating,attention_answer,comprehension_response,item_number,trial_sequence_total,rating_response"
    assert proposed(saved(tmp_path / "r.csv", names, rows)) == {"response": {"response": "rating_response"}}


def test_control_is_a_condition_of_the_same_items(tmp_path: Path) -> None:
    """Each of five vignettes in three conditions, one of which is called control; numbered items show nothing."""
    chance, rows = random.Random(4), []
    for person in range(60):
        which, how = chance.choice(["exam", "pizza", "party", "match", "flight"]), chance.choice(["bare", "control"])
        rows.append([person, chance.randint(1, 7), f"A story about the {which}: it {how} be so.", which, how])
    read = karat.read(saved(tmp_path / "a.csv", "workerid,rating,sentence,vignette,condition", rows), accept=True)
    assert set(read.frame["function"]) == {"test"}
    numbers = {"exam": 1, "pizza": 2, "party": 3, "match": 4, "flight": 5}
    rows = [[*row[:3], numbers[str(row[3])], row[4]] for row in rows]
    read = karat.read(saved(tmp_path / "b.csv", "workerid,rating,sentence,itemnumber,condition", rows), accept=True)
    assert set(read.frame["function"]) == {"test", "control"}


@pytest.mark.parametrize("spread", ["STDEV", "se", "95_ci"])
def test_means_of_items_are_refused(tmp_path: Path, spread: str) -> None:
    chance = random.Random(5)
    rows = [
        [f"W{n}", f"The word {n} is here.", round(chance.random(), 2), round(chance.random(), 2)] for n in range(30)
    ]
    path = saved(tmp_path / "r.csv", f"CW,Norming Sentence,Similarity Mean,Similarity {spread}", rows)
    with pytest.raises(IntakeError) as caught:
        karat.read(path)
    assert not isinstance(caught.value, ProposalError)
    assert "Similarity Mean" in str(caught.value)


def test_norms_of_items_beside_answers_are_no_means_of_them(tmp_path: Path) -> None:
    chance = random.Random(5)
    norms = [[round(chance.random(), 2), round(chance.random(), 2)] for _ in range(16)]
    rows = [
        [f"p{who}", n, f"The word {n} is here.", chance.randint(1, 7), *norms[n]]
        for who in range(12)
        for n in range(16)
    ]
    path = saved(tmp_path / "r.csv", "code,item,sentence,rating,mean_freq,sd_freq", rows)
    assert karat.read(path, accept=True).frame["participant"].n_unique() == 12


@pytest.mark.parametrize("rater", ["A{}", "annotator_{}", "{}"])
def test_every_rater_answers_several_questions(tmp_path: Path, rater: str) -> None:
    chance = random.Random(6)
    columns = [f"{rater.format(who)}_{question}" for who in (1, 2, 3) for question in ("adequacy", "fluency")]
    rows = [[n, f"The word {n} is here.", *(chance.randint(1, 5) for _ in columns)] for n in range(24)]
    read = karat.read(saved(tmp_path / "r.csv", ",".join(["sent_id", "mt", *columns]), rows), accept=True)
    assert (read.participants.height, set(read.frame["question"])) == (3, {"adequacy", "fluency"})


def test_sliders_that_a_column_lists_in_the_order_of_the_screen(tmp_path: Path) -> None:
    """Five sliders per screen; a practice screen and a form have no story, and main stands where no answer is right."""
    chance, rows = random.Random(7), []
    names = ["low", "p1", "p2", "high"]
    for person in range(12):
        rows.append([person, "", ";".join(names), *(chance.randint(0, 100) for _ in names), "", "", ""])
        for place, story in enumerate(chance.sample(range(1, 11), 6), 1):
            right = 100 if story > 9 else "main"
            answers = [100 if right == 100 else chance.randint(0, 100) for _ in names]
            kind = "filler" if right == 100 else "main"
            rows.append([person, right, ";".join(chance.sample(names, 4)), *answers, place, kind, story])
        rows.append([person, "", "", "", "", "", "", "", "", ""])
    header = "submission_id,correct_answer,itemOrder,low,p1,p2,high,trialNr,trial_type,vignette"
    read = karat.read(saved(tmp_path / "r.csv", header, rows), accept=True)
    assert set(read.frame["question"]) == set(names)
    assert (read.frame.height, set(read.frame["item"])) == (12 * 6 * 4, set(map(str, range(1, 11))))
    assert set(read.frame["expected"].drop_nulls()) == {"100"}
    assert set(read.frame.filter(read.frame["expected"].is_not_null())["function"]) == {"filler"}


def test_answers_have_the_levels_of_the_correct_answers(tmp_path: Path) -> None:
    """The answer is named after what was asked; only fillers have a correct answer."""
    chance, rows = random.Random(8), []
    for person in range(20):
        for place in range(1, 7):
            right = chance.choice(["Yes", "No"]) if place == 4 else "main"
            answer = right if place == 4 and person else chance.choice(["Yes", "No"])
            kind = "filler" if place == 4 else "main"
            rows.append([person, f"rule_{chance.randint(1, 9)}", right, chance.randint(1, 24), place, kind, answer])
    path = saved(tmp_path / "r.csv", "submission_id,assumption,correct_answer,item_id,trialNr,trial_type,breach", rows)
    assert proposed(path)["response"] == {"response": "breach"}
    read = karat.read(path, accept=True)
    assert read.frame["expected"].drop_nulls().len() == 20


def test_practice_has_a_column_of_answers_of_its_own(tmp_path: Path) -> None:
    chance, rows = random.Random(9), []
    for person in range(12):
        rows += [[person, 800 + n, "part", "", chance.randint(0, 100), n] for n in range(3)]
        rows += [[person, n, chance.choice(["part", "sum"]), chance.randint(0, 100), "", n] for n in range(12)]
    path = saved(tmp_path / "r.csv", "submission_id,itemNr,form,acceptability,practice,trialNR", rows)
    frame = karat.read(path, accept=True).frame
    assert dict(frame["function"].value_counts().iter_rows()) == {"practice": 36, "test": 144}
    assert frame["response"].null_count() == 0
    assert "practice" not in frame.columns


def test_tests_beside_critical_trials_are_controls(tmp_path: Path) -> None:
    chance, rows = random.Random(10), []
    for person in range(12):
        for n in range(16):
            kind = ("example", "critical", "test", "critical")[n % 4]
            rows.append([person, f"The statement {n} holds here.", kind, chance.randint(0, 100), n + 1])
    frame = karat.read(
        saved(tmp_path / "r.csv", "submission_id,prompt,condition,response,trial", rows), accept=True
    ).frame
    assert dict(frame["function"].value_counts().iter_rows()) == {"practice": 48, "test": 96, "control": 48}


def test_the_condition_of_a_participant_with_a_single_item(tmp_path: Path) -> None:
    chance = random.Random(11)
    rows = [
        [
            f"{who:024x}",
            "colony",
            chance.choice(["cause", "link", "none"]),
            chance.choice(["one", "both"]),
            20 + who % 30,
        ]
        for who in range(60)
    ]
    read = karat.read(saved(tmp_path / "r.csv", "prolific_pid,itemName,condition,response,age", rows), accept=True)
    assert read.factors() == ["condition"]


def test_a_function_that_is_test_throughout_keeps_its_name(tmp_path: Path) -> None:
    chance = random.Random(12)
    rows = [[f"p{p}", f"s{i}", "test", chance.randint(1, 5)] for p in range(12) for i in range(10)]
    frame = karat.read(saved(tmp_path / "r.csv", "subj,sentence_id,function,rating", rows)).frame
    assert "function" in frame.columns
    assert "function_" not in frame.columns


def test_counts_of_a_loop_are_positions(tmp_path: Path) -> None:
    """OpenSesame counts the runs of each item of its experiment; rt and the answer have several names."""
    chance, rows = random.Random(13), []
    for person in range(1, 13):
        for place, item in enumerate(chance.sample(range(1, 13), 12)):
            rt, key = chance.randint(600, 5000), chance.randint(1, 7)
            rows.append([person, f"The word {item} is here.", item, key, key, rt, rt, place])
    header = "subject_nr,sentence,item_nr,response,response_keyboard_response,rt,response_time,count_loop_trials"
    frame = karat.read(saved(tmp_path / "r.csv", header, rows), accept=True).frame
    assert sorted(frame["trial"].unique()) == list(range(1, 13))
