"""Files as other labs leave them, with made-up answers: headers in capitals, merged tables, columns that mislead."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest

from intake.cases import FIXTURES, load_case
from intake.test_more_public_shapes import accepted, flags
from intake.test_published_shapes import saved
from karat.errors import IntakeError
from karat.intake import Options, read_files
from karat.intake.reading import ProposalError
from karat.judgments.source import SourceFile
from messages import codes, refuses


@pytest.mark.parametrize("said", [["ok", "*"], ["fine", "odd"], ["ok", "?", "*"], [1, 2, 3, 4, 5]], ids=str)
@pytest.mark.parametrize("who", ["code", "subject"])
def test_what_a_judge_said_is_the_answer(tmp_path: Path, said: list[object], who: str) -> None:
    chance = random.Random(40)
    rows = [[f"p{p}", f"It is s{s} that fell.", "ab"[s % 2], chance.choice(said)] for p in range(12) for s in range(16)]
    judgments = accepted(saved(tmp_path / "r.csv", f"{who},sentence,cond,judge", rows))
    assert judgments.frame["participant"].n_unique() == 12
    assert judgments.frame["response"].n_unique() == len(said)


@pytest.mark.parametrize("name", ["itemid", "sentence", "verb"])
def test_three_judges_are_people(tmp_path: Path, name: str) -> None:
    chance = random.Random(41)
    rows = [[f"{name}{s}", j, chance.randint(1, 5)] for s in range(30) for j in "ABC"]
    frame = accepted(saved(tmp_path / "r.csv", f"{name},judge,rating", rows)).frame
    assert (frame["participant"].n_unique(), frame["item"].n_unique()) == (3, 30)


def test_grades_around_zero_are_ratings_and_no_sides(tmp_path: Path) -> None:
    chance = random.Random(42)
    rows = [[f"p{p}", f"pair {n}", chance.randint(-2, 2)] for p in range(10) for n in range(12)]
    intake = read_files([saved(tmp_path / "r.csv", "subject,item,preference", rows)], options=Options(accept=True))
    assert "scale.symmetric" in codes(intake.notes)
    assert intake.judgments.scale.known() == "-2, -1, 0, 1, 2"
    assert "left" not in intake.judgments.frame.columns


@pytest.mark.parametrize("most", [100, 1000, 1.0])
def test_numbers_drawn_for_each_trial_are_not_judged(tmp_path: Path, most: float) -> None:
    chance, rows = random.Random(43), []
    for person in range(36):
        for at, verb in enumerate(chance.sample(range(40), 40)):
            drawn = chance.random() if most == 1 else chance.randint(1, int(most))
            rows.append([f"p{person}", f"verb{verb}", "xyz"[(at + person) % 3], chance.randint(1, 5), drawn])
    path = saved(tmp_path / "r.csv", "subject,verb,frame,rating,draw", rows)
    with pytest.raises(ProposalError) as error:
        read_files([path])
    (question,) = error.value.questions
    assert [choice.mapping["item"] for choice in question.choices] == ["verb+frame", "verb", "frame"]


@pytest.mark.parametrize(
    "name", ["jspsych", "jspsych_survey", "jspsych_v6", "mturk", "mturk_turktools", "mturk_crowd_form", "otree_app",
             "otree_wide", "qualtrics", "qualtrics_blocks", "label_studio_csv", "gorilla", "prolific"]
)  # fmt: skip
def test_headers_in_capitals_are_recognised(tmp_path: Path, name: str) -> None:
    case = load_case(FIXTURES / name)
    for path in case.paths():
        header, _, rest = path.read_text(encoding="utf-8-sig").partition("\n")
        (tmp_path / path.name).write_text(f"{header.upper()}\n{rest}", encoding="utf-8")
    as_it_is, capitals = case.read(), read_files(case.paths(tmp_path), options=case.options)
    assert [title for _, title in capitals.sources] == [title for _, title in as_it_is.sources]
    columns = ["participant", "response"]
    assert capitals.judgments.frame.select(columns).equals(as_it_is.judgments.frame.select(columns))


@pytest.mark.parametrize("texts", [True, False], ids=["with texts", "tags only"])
@pytest.mark.parametrize("name", ["qualtrics_numeric/export.tsv", "qualtrics_blocks/blocks.csv"])
def test_qualtrics_without_import_ids(tmp_path: Path, name: str, texts: bool) -> None:
    source = SourceFile(FIXTURES / name)
    with source.path.open(encoding=source.encoding, newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t" if name.endswith("tsv") else ","))
    path = tmp_path / "r.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([rows[0], *rows[1 : 1 + texts], *rows[3:]])
    whole, shortened = read_files([FIXTURES / name]), read_files([path], options=Options(accept=True))
    assert "qualtrics.no_import_ids" in codes(shortened.notes)
    found, expected = (one.judgments.frame.select("participant", "item", "response") for one in (shortened, whole))
    assert set(found.rows()) <= set(expected.rows())
    assert found.filter(item=expected["item"][0]).equals(expected.filter(item=expected["item"][0]))


def test_webmushra_without_sessions(tmp_path: Path) -> None:
    """Each listener rates the same sounds on the same pages, one listener after the other."""
    chance, rows = random.Random(44), []
    for _ in range(6):
        for page in chance.sample(range(4), 4):
            rows += [["test", f"page{page}", sound, chance.randint(0, 100), 9000] for sound in ("ref", "C1", "C2")]
    path = saved(tmp_path / "r.csv", "session_test_id,trial_id,rating_stimulus,rating_score,rating_time", rows)
    judgments = accepted(path)
    assert judgments.frame["participant"].n_unique() == 6
    assert judgments.frame["item"].n_unique() == 12


def test_a_workbook_is_opened_once() -> None:
    file = SourceFile(FIXTURES / "pcibex_xlsx" / load_case(FIXTURES / "pcibex_xlsx").files[0])
    assert file.workbook is file.workbook


def test_answers_of_ibex_beside_the_fields_of_a_form(tmp_path: Path) -> None:
    """Authors join what a form asked once to every line of a judgment."""
    header = (
        "Time results were received.,MD5 hash of participant's IP address.,Controller name.,Item number.,"
        "Element number.,Type.,Group.,Sentence (or sentence MD5).,Question (NULL if none).,Answer.,"
        "Whether or not answer was correct (NULL if N/A).,Time taken to answer.,Field name.,Field value."
    )
    rows = [
        [f"15{p}", f"{p}" * 32, "AcceptabilityJudgment", n, 0, f"cond{n % 2}", n, f"Text {n}.", "NULL", 1 + (p + n) % 7,
         "NULL", 900 + n, "consent", "yes"]
        for p in range(3, 7) for n in range(8)
    ]  # fmt: skip
    frame = read_files([saved(tmp_path / "r.csv", header, rows)]).judgments.frame
    assert set(frame["response"]) == {str(n) for n in range(1, 8)}
    assert frame["rt"][0] == pytest.approx(0.9)


def test_practice_keeps_the_order_of_other_trials(tmp_path: Path) -> None:
    rows = []
    for person in range(4):
        rows += [[person, 0, f"practice_{kind}", "practice", 0.5] for kind in ("good", "bad")]
        rows += [[person, at, (at * 5 + person) % 12, "test", (at + person) % 3 / 2] for at in range(1, 13)]
    intake = read_files([saved(tmp_path / "r.csv", "workerid,trial,item_number,trial_type,response", rows)])
    assert "role.practice_order" in codes(intake.notes)
    assert intake.judgments.frame.filter(participant="2")["trial"].to_list() == list(range(1, 15))


def test_the_other_part_of_an_answer_is_not_judged(tmp_path: Path) -> None:
    chance, rows = random.Random(45), []
    for person in range(6):
        rows.append([person, f"['ann{person}', 'Ann']", "bot_check"])
        rows += [[person, f"['{chance.randint(1, 7)}', {chance.random() < 0.5}]", f"s{n}"] for n in range(9)]
    path = tmp_path / "r.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([["workerid", "response", "sentence_code"], *rows])
    assert flags(path)["item"] == {"item": "sentence_code"}


def test_a_table_without_rows_is_named(tmp_path: Path) -> None:
    with refuses(IntakeError, "r.csv", "no rows"):
        read_files([saved(tmp_path / "r.csv", "participant_id,stimulus,key_pressed,rt", [])])


def test_labels_of_two_tables_side_by_side(tmp_path: Path) -> None:
    chance = random.Random(46)
    words = ("change", "nochange", "not available")
    rows = [[f"{n}:7", f"sentence {n} or so", chance.choice(words), chance.choice(words)] for n in range(30)]
    judgments = accepted(saved(tmp_path / "r.csv", "tgrep.id,entire.sentence,or_test.x,or_test.y", rows))
    assert judgments.frame["participant"].unique().sort().to_list() == ["or_test.x", "or_test.y"]
    assert judgments.frame["item"].n_unique() == 30


def pavlovia(path: Path, people: int) -> Path:
    """Consent and a question on the participant, six statements in one loop and sixteen sentences in another."""
    chance = random.Random(47)
    names = [
        "participant", "psychopyVersion", "consent.keys", "sex.response", "belief.response", "belief.rt",
        "beliefs.thisN", "statement", "judge.keys", "judge.rt", "sure.keys", "sure.rt", "trials.thisN", "sound",
        "go.keys",
    ]  # fmt: skip
    rows: list[dict[str, object]] = []
    for person in range(people):
        about = {"participant": f"s{person}", "psychopyVersion": "2022.2.5"}
        rows += [{**about, "consent.keys": "space"}, {**about, "sex.response": person % 2}]
        rows += [{**about, "belief.response": chance.randint(0, 4), "belief.rt": 2.5, "beliefs.thisN": n,
                  "statement": f"Music is {n}."} for n in range(6)]  # fmt: skip
        for at, sound in enumerate(chance.sample(range(16), 16)):
            rows.append({**about, "judge.keys": chance.choice("zm"), "judge.rt": 0.5 + at / 10, "trials.thisN": at,
                         "sure.keys": chance.randint(1, 7), "sure.rt": 9, "sound": f"s{sound}.wav"})  # fmt: skip
            rows.append({**about, "go.keys": "space"})
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, names)
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_the_loop_of_psychopy_with_most_answers_is_read(tmp_path: Path) -> None:
    intake = read_files([pavlovia(tmp_path / "r.csv", 8)], options=Options(accept=True))
    frame = intake.judgments.frame
    assert (frame.height, frame["item"].n_unique(), sorted(frame["item"].unique())[0]) == (8 * 16, 16, "s0.wav")
    assert "sex.response" not in frame.columns
    assert frame["rt"].n_unique() == (1 if frame["response"].n_unique() > 2 else 16)
    assert intake.units_in == 8 * (2 + 6 + 32)
    (reason,) = (reason for reason in intake.set_aside if reason.code == "role.other_loops")
    assert (reason.values["loop"], intake.set_aside[reason]) == ("trials", 8 * (2 + 6 + 16))


def test_another_loop_of_psychopy_is_read_by_its_answers(tmp_path: Path) -> None:
    options = Options(mapping={"response": "belief.response", "item": "statement"})
    frame = read_files([pavlovia(tmp_path / "r.csv", 8)], options=options).judgments.frame
    assert (frame.height, frame["item"].n_unique()) == (8 * 6, 6)


def test_rows_outside_loops_are_counted_in_plain_tables(tmp_path: Path) -> None:
    rows = [[p, "2022.2.5", "", "", "", "space"] for p in range(3)]
    rows += [[p, "2022.2.5", n, f"s{n}", (p + n) % 5 + 1, "space"] for p in range(3) for n in range(9)]
    header = "participant,psychopyVersion,trials.thisN,item,response,go.keys"
    path = saved(tmp_path / "r.csv", f"{header},answer.rating", [[*row, row[4]] for row in rows])
    intake = read_files([path])
    assert (intake.units_in, intake.judgments.frame.height) == (30, 27)


def test_one_participant_of_psychopy_is_asked_about(tmp_path: Path) -> None:
    with refuses(IntakeError, "item"):
        read_files([pavlovia(tmp_path / "r.csv", 1)])


def test_a_mean_of_annotators_is_no_participant(tmp_path: Path) -> None:
    chance, names = random.Random(48), [f"ano{n}" for n in range(1, 11)]
    rows = [
        [f"w{n % 9}", f"v{n}", chance.randint(0, 40) / 4, *(chance.randint(0, 10) for _ in names)] for n in range(30)
    ]
    frame = accepted(saved(tmp_path / "r.csv", ",".join(["word1", "word2", "mean_of_annotators", *names]), rows)).frame
    assert (frame["participant"].n_unique(), frame["item"].n_unique()) == (10, 30)


def test_items_that_were_judged_once_are_asked_about(tmp_path: Path) -> None:
    chance = random.Random(49)
    rows = [[n, n // 20, f"text number {n}", chance.randint(1, 5), "FM"[n // 20 % 2]] for n in range(80)]
    path = saved(tmp_path / "r.csv", "instance_id,user_id,text,offensiveness,gender", rows)
    assert flags(path)["response"] == {"response": "offensiveness"}
    assert accepted(path).frame["item"].n_unique() == 80


def test_a_noun_among_a_few_items_is_no_function(tmp_path: Path) -> None:
    nouns, rows = ["rain", "dog", "train", "coffee", "sun", "dinner"], []
    for person in range(24):
        rows += [[person, noun, (person * at) % 11 / 10, at] for at, noun in enumerate(nouns, 1)]
    read = accepted(saved(tmp_path / "r.csv", "workerid,item,response,trial", rows))
    assert set(read.frame["function"]) == {"test"}
    rows = [[person, {"train": "practice"}.get(noun, noun), *rest] for person, noun, *rest in rows]
    marked = accepted(saved(tmp_path / "p.csv", "workerid,item,response,trial", rows))
    assert marked.frame.filter(item="practice")["function"].unique().to_list() == ["practice"]


def four_sliders(path: Path, *, words: bool = False) -> Path:
    """Trials with four answers each, in rows of their own; with words, also trials of another task."""
    chance, rows = random.Random(81), []
    for person in range(24):
        for at, thing in enumerate(chance.sample(["pies", "cups", "cars", "balls", "books", "bikes"], 6), 3):
            said = chance.choice(["all", "some", "none of"])
            rows += [[person, at, thing, said, most, chance.randint(0, 100) / 100] for most in range(4)]
        if words:
            rows += [[person, 9 + n, "", "", "", chance.choice(["left_1", "right_1"])] for n in range(4)]
    return saved(path, f"subject,slide_number,object,quantifier,most,{'response' if words else 'probability'}", rows)


@pytest.mark.parametrize("words", [False, True])
def test_what_a_trial_of_several_answers_showed_is_no_answer(tmp_path: Path, words: bool) -> None:
    proposed = flags(four_sliders(tmp_path / "r.csv", words=words))
    assert proposed.get("response", {"response": "response"}) == {"response": "response" if words else "probability"}


def test_versions_of_a_system_are_no_participants(tmp_path: Path) -> None:
    rows = [[f"Sentence number {n}", m, v, f"{m} {v} {n}", 1 + (n * len(v + m)) % 5]
            for m in ("phi", "gemma", "qwen") for v in ("v0", "v1", "v2", "v3") for n in range(10)]  # fmt: skip
    path = saved(tmp_path / "r.csv", "source_sentence,model,variant,translation,human_rating", rows)
    with refuses(IntakeError, "r.csv", "participant"):
        read_files([path], options=Options(accept=True))


def test_a_prediction_beside_the_right_label_is_the_answer(tmp_path: Path) -> None:
    chance, rows = random.Random(84), []
    label = {f"acl{n}": chance.randint(0, 1) for n in range(60)}
    for person in range(12):
        for scene in ("s1", "s2"):
            for text in chance.sample(list(label), 20):
                right = chance.random() < 0.8
                rows.append([person, text, scene, chance.randint(20, 900) / 10, label[text],
                             label[text] if right else 1 - label[text]])  # fmt: skip
    path = saved(tmp_path / "r.csv", "annotator,instance,scenario,time,label,prediction", rows)
    assert flags(path)["response"] == {"response": "prediction"}


def rated_answers(path: Path) -> Path:
    """Answers that several workers rated on four criteria, with three summaries of each answer in one cell."""
    chance, rows = random.Random(85), []
    for person in range(20):
        for n in range(10):
            summaries = str([f"Summary {n}{letter}" for letter in "abc"])
            rows.append([f"w{person}", f"EC{n + 10 * (person % 2)}", summaries, "[0, 0, 1]",
                         *(chance.randint(1, 4) for _ in range(4))])  # fmt: skip
    return saved(path, "worker_ids,answer_id,summaries,summary_marks,relevance,coherence,fluency,usefulness", rows)


def test_lists_of_what_was_shown_stay_in_their_cells(tmp_path: Path) -> None:
    read = accepted(rated_answers(tmp_path / "r.csv"))
    assert len(read) == 20 * 10 * len(read.scales)
    assert set(read.scales) >= {"relevance", "coherence", "fluency"}


@pytest.mark.parametrize("form", ["json", "commas"])
def test_several_sliders_per_trial_in_lists(tmp_path: Path, form: str) -> None:
    chance, rows = random.Random(86), []
    for person in range(20):
        foods = chance.sample(["pies", "cookies", "sweets"], 3)
        lists = [foods, *([chance.choice([0, 0.02, 0.98, 1, chance.randint(1, 99) / 100]) for _ in foods]
                          for _ in range(5)), ["some", "all", "some"]]  # fmt: skip
        cells = [json.dumps(cells) if form == "json" else ",".join(map(str, cells)) for cells in lists]
        rows.append([person, "1 condition", *cells, 20 + person])
    header = ["workerid", "annotation", "Answer.foods", *(f"Answer.priors{n}" for n in range(5)), "Answer.said", "age"]
    read = accepted(saved(tmp_path / "r.csv", ",".join(header), rows))
    assert set(read.scales) == {f"Answer.priors{n}" for n in range(5)}
    assert (len(read), read.frame["participant"].n_unique()) == (20 * 3 * 5, 20)


@pytest.mark.parametrize("key", ["answer", "rating"])
def test_answers_of_nobody_beside_remarks(tmp_path: Path, key: str) -> None:
    words = ["trouble", "literacy", "network"] if key == "answer" else ["1 - Impossible", "3 - Plausible", "5 - Likely"]
    lines = [
        {
            "id": f"q{n}",
            "question": f"What is {n}?",
            "picked": [{key: words[(n + k) % 3]} for k in range(5)],
            "feedback": [{"feedback": "Odd."}] if n % 3 else [],
        }
        for n in range(20)
    ]
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    with refuses(IntakeError, "r.jsonl", "(picked)", "who"):
        read_files([path])


def test_codes_of_several_digits_are_no_continuous_scale(tmp_path: Path) -> None:
    chance = random.Random(87)
    kinds = ["1121", "2111", "1221", "2221", "1112"]
    rows = [[f"p{p}", f"item{n}", chance.choice(kinds)] for p in range(12) for n in range(10)]
    assert accepted(saved(tmp_path / "r.csv", "subject,item,response", rows)).scale.kind == "nominal"
    rounded = [[*row[:2], str(int(row[2]) // 10 * 10)] for row in rows]
    assert accepted(saved(tmp_path / "m.csv", "subject,item,response", rounded)).scale.kind != "nominal"
