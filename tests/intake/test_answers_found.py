"""Where the answers stand in tables that name nothing as karat does, and further forms of tables."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

import karat
from karat.errors import KaratError
from karat.intake.intake import read_files
from karat.intake.reading import Options, ProposalError
from messages import codes, refuses


def rated(people: int, items: int, seed: int = 3, points: int = 7) -> list[tuple[int, int, int, int]]:
    """Person, item, condition and rating of a Latin square in which people do not differ."""
    rng = random.Random(seed)
    rows = []
    for person in range(people):
        for item in range(items):
            good = (person + item) % 2
            rating = max(1, min(points, round(rng.gauss(points - 1.5 if good else 2.5, 1.1))))
            rows.append((person, item, good, rating))
    return rows


def written(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]], delimiter: str = ",") -> Path:
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, delimiter=delimiter).writerows([header, *rows])
    return path


def test_likert_column_holds_answers_not_times(tmp_path: Path) -> None:
    rows = [(f"VP{p}", i, "AB"[c], r) for p, i, c, r in rated(16, 16)]
    path = written(tmp_path / "a.csv", ["Versuchsperson", "Satz", "Bedingung", "likert"], rows, ";")
    with pytest.raises(ProposalError) as error:
        karat.read(path)
    assert error.value.flags == ["--map", "response=likert"]
    judgments = karat.read(path, accept=True)
    assert judgments.frame["item"].n_unique() == 16
    assert judgments.factors() == ["Bedingung"]
    assert "role.accepted" in codes(judgments.notes)


@pytest.mark.parametrize("alone", ["participant", "item"])
def test_one_participant_or_one_item_is_judged_by_sentence(tmp_path: Path, alone: str) -> None:
    people = 1 if alone == "participant" else 24
    rows = [
        (f"p{p}", f"s{i}", p % 5 + 1 if alone == "item" else i % 5 + 1, "", "ab"[(p + i) % 2], "xy"[(p + i) // 2 % 2])
        for p in range(people) for i in range(24 // people)
    ]  # fmt: skip
    names = ["workerId", "sentence", "ANSWER", "expected", "order", "clause"]
    with pytest.raises(ProposalError) as error:
        karat.read(written(tmp_path / "a.csv", names, rows))
    proposed = {name: source for one in error.value.questions for name, source in one.choices[0].mapping.items()}
    assert proposed["item"] == "sentence"
    judgments = karat.read(tmp_path / "a.csv", accept=True)
    assert "role.other_content" not in codes(judgments.notes), "an empty column is passed over in silence"


def test_unnamed_answers_differ_on_the_same_stimuli(tmp_path: Path) -> None:
    rows = [
        (n, f"s{p}", f"{i}{'ab'[c]}", f"The cat number {i}{'ab'[c]} sat.", "ab"[c], r, round((r - 4) / 1.7, 4))
        for n, (p, i, c, r) in enumerate(rated(18, 16))
    ]
    path = written(tmp_path / "a.csv", ["", "subj", "sent_id", "sentence", "cond", "nat", "z.nat"], rows)
    with pytest.raises(ProposalError) as error:
        karat.read(path)
    assert error.value.questions[0].choices[0].mapping == {"response": "nat"}
    assert karat.read(path, accept=True).factors() == ["cond"]


def test_two_columns_of_sides_make_a_choice(tmp_path: Path) -> None:
    rng = random.Random(5)
    rows = [
        (f"p{p}", i, f"Ann saw {i}.", f"Saw Ann {i}.", side := rng.choice("AB"), {"A": "canonical"}.get(side, "other"))
        for p in range(10) for i in range(12)
    ]  # fmt: skip
    path = written(
        tmp_path / "a.csv", ["subject", "trial", "SentenceA", "SentenceB", "choice", "ChosenCondition"], rows
    )
    judgments = karat.read(path, accept=True)
    assert judgments.scale == karat.Choice()
    assert set(judgments.frame["response"]) == {"left", "right"}
    assert judgments.frame.filter(pl.col("left") == "Ann saw 3.").height == 10
    assert "form.sides" in codes(judgments.notes)


def test_files_of_one_person_each_are_read_together(tmp_path: Path) -> None:
    header = ["sentence", "condition", "item", "trials.thisN", "rating.response", "rating.rt", "participant", "date"]
    by_person: dict[int, list[tuple[object, ...]]] = {}
    for p, i, c, r in rated(8, 14, points=5):
        by_person.setdefault(p, []).append(
            (f"The cat {i}{c}.", "ab"[c], i, i, r, 1.5 + i / 10, f"code{p}", "2023-03-01")
        )
    for p, rows in by_person.items():
        written(tmp_path / "data" / f"code{p}_ajt.csv", header, [("", "", "", "", "", "", f"code{p}", "2023"), *rows])
    (tmp_path / "data" / "code1.log").write_text("0.1 EXP started")
    with pytest.raises(ProposalError) as error:
        karat.read(tmp_path / "data")
    assert error.value.paths == (str(tmp_path / "data"),)
    judgments = karat.read(tmp_path / "data", accept=True)
    assert (judgments.participants.height, judgments.answers, judgments.frame["item"].n_unique()) == (8, 112, 14)
    assert judgments.frame["rt"].null_count() == 0


@pytest.mark.parametrize("last", [False, True])
def test_a_row_per_word_becomes_a_row_per_trial(tmp_path: Path, last: bool) -> None:
    words = ["the", "cat", "saw", "a", "dog"]
    rows = [
        (p, i, "ab"[c], k + 1, word, 300 + k, "" if last and k < 4 else r)
        for p, i, c, r in rated(10, 8)
        for k, word in enumerate(words)
    ]
    path = written(tmp_path / "a.csv", ["subj", "item", "cond", "region", "word", "rt", "rating"], rows)
    judgments = karat.read(path)
    assert judgments.answers == 80
    assert "rt" not in judgments.frame.columns


def test_survey_tools_and_their_codes(tmp_path: Path) -> None:
    rng = random.Random(2)
    lime = [
        (p, "2022-01-05", 5, "de", *(f"A{rng.choice([1, 2, 4, 5])}" for _ in range(8)), 20 + p, "A2") for p in range(12)
    ]
    names = [f"G1Q1[SQ{n:03}]" for n in range(1, 9)]
    path = written(
        tmp_path / "lime.csv", ["id", "submitdate", "lastpage", "startlanguage", *names, "age", "gender"], lime
    )
    assert karat.read(path, accept=True).scale == karat.Ordinal(["A1", "A2", "A3", "A4", "A5"])
    sosci = [
        (100 + p, "", "base", "2021-06-01", rng.randint(1, 3), *(rng.choice([1, 2, 3, 4, 5, -9]) for _ in range(10)), 1)
        for p in range(20)
    ]
    names = [f"AB01_{n:02}" for n in range(1, 11)]
    path = written(
        tmp_path / "sosci.csv", ["CASE", "SERIAL", "QUESTNNR", "STARTED", "SD01", *names, "FINISHED"], sosci, ";"
    )
    judgments = karat.read(path, accept=True)
    assert judgments.scale == karat.Ordinal(5)
    assert sorted(judgments.frame["item"].unique()) == names
    assert judgments.answers == sum(value != -9 for row in sosci for value in row[5:15])
    texts = {name: f"How natural: Cat {n} sleeps." for n, name in enumerate(names)}
    labels = ["Number", "Serial", "Questionnaire", "Begun", "Gender", *texts.values(), "Whether finished"]
    header = ["CASE", "SERIAL", "QUESTNNR", "STARTED", "SD01", *names, "FINISHED"]
    labelled = karat.read(written(tmp_path / "labels.csv", header, [labels, *sosci], ";"), accept=True).frame
    assert labelled.drop("text").equals(judgments.frame)
    assert dict(labelled.select("item", "text").unique().iter_rows()) == texts


def test_the_second_header_of_surveymonkey_names_what_was_judged(tmp_path: Path) -> None:
    sentences = [f"The cat number {n} sat." for n in range(8)]
    first = ["Respondent ID", "Collector ID", "Start Date", "Email Address", "Rate these", *[""] * 7, "Your age?"]
    second = ["", "", "", "", *sentences, "Open-Ended Response"]
    rng = random.Random(4)
    levels = ["Completely unacceptable", "Unsure", "Mostly acceptable", "Completely acceptable"]
    rows = [(118 + p, 39, "03/04/2021", "", *(rng.choice(levels) for _ in sentences), 30) for p in range(12)]
    judgments = karat.read(written(tmp_path / "a.csv", first, [second, *rows]), accept=True)
    assert set(judgments.frame["item"]) == set(sentences)
    assert (judgments.scale.kind, judgments.answers) == ("ordinal", 96)


def test_screens_of_labjs_without_answers_are_set_aside(tmp_path: Path) -> None:
    header = ["sender", "sender_type", "ended_on", "code", "response", "duration", "sentence", "condition", "item"]
    rows: list[tuple[object, ...]] = []
    for p, i, c, r in rated(10, 12):
        rows += [
            ("Fixation", "canvas.Screen", "timeout", f"VP{p}", "", 500, f"Cat {i}{c}.", "ab"[c], i),
            ("Judge", "html.Screen", "response", f"VP{p}", "ja" if r > 4 else "nein", 900, f"Cat {i}{c}.", "ab"[c], i),
        ]  # fmt: skip
    judgments = karat.read(written(tmp_path / "a.csv", header, rows), accept=True)
    assert (len(judgments), judgments.answers, judgments.scale.kind) == (120, 120, "binary")


def test_sessions_of_labjs_are_participants(tmp_path: Path) -> None:
    header = ["sender", "sender_type", "sender_id", "ended_on", "response", "response_action", "duration"]
    header += ["sentence", "cond", "observation"]
    rows: list[tuple[object, ...]] = []
    for p, i, c, r in rated(8, 10):
        key = f"keypress({r})"
        rows += [
            ("Judge", "html.Screen", f"1_{i}_0", "response", r, key, 900, f"Cat {i}{c}.", "ab"[c], f"{p:x}f{p}e"),
            ("Trial", "flow.Sequence", f"1_{i}", "completed", "", "", 900, f"Cat {i}{c}.", "ab"[c], f"{p:x}f{p}e"),
        ]  # fmt: skip
    judgments = karat.read(written(tmp_path / "a.csv", header, rows), accept=True)
    assert sorted(judgments.frame["participant"].unique()) == [f"{p:x}f{p}e" for p in range(8)]
    assert judgments.answers == 80
    assert "response_action" not in judgments.factors()


@pytest.mark.parametrize("more", [0, 2])
def test_sessions_above_trials_are_those_of_the_file(tmp_path: Path, more: int) -> None:
    """Testable writes two lines about the session above the trials, with as many columns or with others."""
    about = ["subjectGroup", "browser", "GMT_timestamp", "mindsCode", "age", *(f"extra{n}" for n in range(more))]
    header = ["rowNo", "type", "stim1", "timestamp", "RT", "response"]
    for p in range(6):
        trials = [
            (i, "learn", f"Cat {i} sleeps.", 900 * n, 800 + 7 * n, r)
            for n, (q, i, _, r) in enumerate(rated(6, 10))
            if p == q
        ]
        first = [1, "Chrome", "2022-07-18_09:24:11", 8207 + p, 20 + p, *"xy"[:more]]
        rows = [first, header, (90, "instructions", "", 1, 2400, "continue"), *trials]
        written(tmp_path / f"12_{p}.csv", about, rows)
    judgments = karat.read(tmp_path, accept=True)
    assert sorted(judgments.frame["participant"].unique()) == [f"12_{p}" for p in range(6)]
    assert (judgments.answers, judgments.frame["item"].n_unique()) == (60, 10)
    assert judgments.frame.filter(participant="12_3")["age"].unique().to_list() == [23]
    alone = read_files([tmp_path / "12_2.csv"], options=Options(accept=True))
    assert alone.judgments.answers == 10
    assert alone.locate(0)[2] == 5


def test_names_above_ragged_rows_are_no_session(tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = [("s0", "Cat 0 sat.", 4), ("s1", "Cat 1 sat.", "NA")]
    rows += [(f"s{n}", f"Cat {n} sat.", n % 5) for n in range(2, 30)]
    path = written(tmp_path / "a.csv", ["item", "sentence", "rating"], rows)
    with refuses(KaratError, "sentence"):
        karat.read(path)


def test_signs_are_no_answers_and_zeros_are_reported(tmp_path: Path) -> None:
    rows = [(f"s{p}", i, "." if (p, i) == (1, 1) else r) for p, i, _, r in rated(12, 10)]
    judgments = karat.read(written(tmp_path / "a.csv", ["subject", "item", "rating"], rows))
    assert (judgments.scale, judgments.answers) == (karat.Ordinal(7), 119)
    rng = random.Random(1)
    free = [(f"s{p}", i, rng.choice([0, 10, 25, 40, 50, 75, 100, 120, 150, 200, 250, 300, 350, 400, 500, 600, 800]))
            for p in range(12) for i in range(16)]  # fmt: skip
    magnitude = karat.read(written(tmp_path / "m.csv", ["subject", "item", "rating"], free))
    (note,) = [note for note in magnitude.notes if note.code == "scale.magnitude"]
    zeros = note.values["zeros"]
    assert zeros.code == "scale.magnitude_zeros"  # type: ignore[attr-defined]
    assert zeros.values == {"n": sum(row[2] == 0 for row in free), "half": 5.0}  # type: ignore[attr-defined]


@pytest.mark.parametrize(("moduli", "modulus"), [([100], 100.0), ([50, 100], None)])
def test_a_modulus_beside_the_answers_makes_them_magnitudes(
    moduli: list[int], modulus: float | None, tmp_path: Path
) -> None:
    rows = [[f"p{p}", f"i{i}", 20 + 10 * ((p + i) % 9), moduli[p % len(moduli)]] for p in range(4) for i in range(10)]
    read = karat.read(written(tmp_path / "m.csv", ["subject", "item", "rating", "Modulus"], rows))
    assert read.scales == {"": karat.Magnitude(modulus)}


def test_rows_of_another_task_are_set_aside(tmp_path: Path) -> None:
    rng = random.Random(1)
    for person in range(8):
        rows: list[tuple[object, ...]] = [
            (f"R{person}", "", n, f"i{n}", f"adj{n}", 2.0, float(rng.random() < 0.5), "", "", "") for n in range(12)
        ]
        rows += [(f"R{person}", n, "", "", "", "", "", f"mot{n}", 1.0, 0.8) for n in range(20)]
        header = ["participant", "words.thisN", "main.thisN", "id", "term", "resp_RT.rt", "resp_RT.said", "word",
                  "key.corr", "key.rt"]  # fmt: skip
        written(tmp_path / "data" / f"{person}.csv", header, rows)
    judgments = karat.read(tmp_path / "data", accept=True)
    assert (judgments.frame["item"].n_unique(), judgments.frame.height) == (12, 96)
    assert set(judgments.frame["response"]) == {"0", "1"}
    assert {"table.whole_numbers", "role.accepted"} <= set(codes(judgments.notes))


def test_a_check_answered_in_words_is_no_judgment(tmp_path: Path) -> None:
    rows = [(p, "bot_check", "anna") for p in range(10)]
    rows += [(p, f"s{i}", str(r)) for p, i, _, r in rated(10, 12)]
    path = written(tmp_path / "a.csv", ["workerid", "item", "rating"], rows)
    assert "bot_check" not in karat.read(path).frame["item"]
    assert "bot_check" in read_files([path], options=Options(keep_all=True)).judgments.frame["item"]


def test_screens_to_go_on_are_no_judgments(tmp_path: Path) -> None:
    rows = [(p, "story", "next") for p in range(10)] + [(p, f"s{i}", str(r)) for p, i, _, r in rated(10, 12)]
    judgments = karat.read(written(tmp_path / "a.csv", ["workerid", "item", "rating"], rows))
    assert "next" not in judgments.frame["response"]


def test_one_trial_each_is_no_wide_table(tmp_path: Path) -> None:
    rng = random.Random(2)
    rows = [(n, rng.choice([2, 7]), rng.choice(["ANNA", "KATE"]), rng.randint(0, 1), 1, rng.randint(1, 6))
            for n in range(120)]  # fmt: skip
    path = written(tmp_path / "a.csv", ["Subject", "Total", "Winner", "Answer", "Die1", "Die2"], rows)
    with pytest.raises(ProposalError):
        karat.read(path)
    judgments = karat.read(path, mapping={"item": "Total+Winner"}, accept=True)
    assert (judgments.frame["participant"].n_unique(), judgments.frame["item"].n_unique()) == (120, 4)


def test_numbered_raters_are_participants(tmp_path: Path) -> None:
    rng = random.Random(3)
    rows = [(n, adj, noun, 1, *(rng.randint(1, 7) for _ in range(4)), "" if n % 20 else 3)
            for n, (adj, noun) in enumerate((a, b) for a in "abcdef" for b in "uvwxyz")]  # fmt: skip
    path = written(tmp_path / "a.csv", ["X", "adj", "noun", "check", "x1", "x2", "x3", "x4", "x5"], rows)
    judgments = karat.read(path, accept=True)
    assert set(judgments.frame["participant"]) == {"x1", "x2", "x3", "x4", "x5"}
    assert judgments.frame["item"].n_unique() == 36


def test_trials_of_a_participant_lie_in_one_cell(tmp_path: Path) -> None:
    trials = [[{"verb": f"v{i}", "response": r / 7} for q, i, _, r in rated(12, 12) if q == p] for p in range(12)]
    rows = [(f"A{p:012d}", "HIT", json.dumps(one)) for p, one in enumerate(trials)]
    path = written(tmp_path / "a.tsv", ["workerid", "title", "Answer.trials"], rows, "\t")
    judgments = karat.read(path, accept=True)
    assert (judgments.frame.height, judgments.frame["item"].n_unique()) == (144, 12)
    folder = tmp_path / "json"
    folder.mkdir()
    for p, one in enumerate(trials):
        lists = {"rating": [t["response"] for t in one], "file": [t["verb"] for t in one], "sex": ["f"], "empty": []}
        text = json.dumps({"WorkerId": f"anon{p}", "answers": {"data": lists}})
        (folder / f"{p}.json").write_text(text, encoding="utf-8")
    nested = karat.read(folder, accept=True)
    assert nested.frame.select("participant", "item").n_unique() == 144


def test_a_text_equal_to_one_of_two_columns_is_a_choice(tmp_path: Path) -> None:
    rng = random.Random(4)
    rows = [(f"s{p}", i, *(pair := (f"She gave him {i}.", f"She gave {i} to him.")), rng.choice(pair))
            for p in range(10) for i in range(12)]  # fmt: skip
    path = written(tmp_path / "a.csv", ["subject", "item_no", "text_left", "text_right", "chosen"], rows)
    judgments = karat.read(path, accept=True)
    assert set(judgments.frame["response"]) == {"left", "right"}


def test_reasons_and_boxes_are_not_what_was_judged(tmp_path: Path) -> None:
    rng = random.Random(5)
    rows = [(f"w{p}", f"s{i}", r, rng.choice(["true", "false"]), f"because of {p} and {i} and more")
            for p, i, _, r in rated(12, 12)]  # fmt: skip
    path = written(tmp_path / "a.csv", ["workerid", "tgrep", "rating", "strange", "justification"], rows)
    with pytest.raises(ProposalError) as error:
        karat.read(path)
    assert error.value.questions[0].choices[0].mapping == {"item": "tgrep"}


def test_parts_of_names_are_factors(tmp_path: Path) -> None:
    rows = [
        (f"s{p}", f"{'MST' if i % 2 else 'MAF'}-{'know' if i < 8 else 'tell'}-{i}", r) for p, i, _, r in rated(9, 16)
    ]
    judgments = karat.read(written(tmp_path / "a.csv", ["subject", "item", "response"], rows))
    assert judgments.factors() == ["item_part_1", "item_part_2"]
    assert "intake.item_parts" in codes(judgments.notes)
    assert judgments.frame["item_part_1"].unique().sort().to_list() == ["MAF", "MST"]


def test_the_file_is_called_after_its_answers(tmp_path: Path) -> None:
    rng = random.Random(6)
    rows = [(f"s{p}", f"v{i}", "ab"[c], rng.choice(["no", "maybe", "yes"]), r) for p, i, c, r in rated(20, 16)]
    header = ["participant", "verb", "frame", "veridicality", "acceptability"]
    for name in ("veridicality", "acceptability"):
        with pytest.raises(ProposalError) as error:
            karat.read(written(tmp_path / f"mega-{name}.csv", header, rows))
        assert error.value.questions[0].choices[0].mapping == {"response": name}


def test_levels_with_the_same_gaps_have_the_same_function(tmp_path: Path) -> None:
    rows = [(p, "main", f"s{i}", "ab"[c], r) for p, i, c, r in rated(10, 12)]
    rows += [(p, kind, f"{kind}{n}", "", 4) for p in range(10) for kind in ("attention", "reasoning") for n in range(2)]
    path = written(tmp_path / "a.csv", ["submission_id", "TrialType", "stim", "certain", "response"], rows)
    functions = karat.read(path, accept=True).frame.group_by("function").len()
    assert dict(functions.iter_rows()) == {"test": 120, "attention": 40}


def test_a_slider_that_was_not_moved_has_no_answer(tmp_path: Path) -> None:
    rng = random.Random(7)
    rows = [(f"id{p:02d}", f"s{i}", -1 if i == 3 else rng.randint(0, 100), f"[{rng.randint(900, 4000)}]", "1left")
            for p in range(10) for i in range(12)]  # fmt: skip
    path = written(tmp_path / "a.csv", ["subject", "item", "response", "read_time", "side"], rows)
    frame = karat.read(path, mapping={"item": "item", "response": "response"}).frame
    assert frame["response"].null_count() == 10
    assert frame["rt"].dtype == pl.Float64


def test_rows_of_nobody_and_times_below_zero_do_not_stop_a_table(tmp_path: Path) -> None:
    rows = [(f"s{p}", f"i{i}", r, 1.5) for p, i, _, r in rated(10, 12)]
    rows += [("", "i1", 4, 1.0), ("s1", "i13", 4, -1.0)]
    judgments = karat.read(written(tmp_path / "a.csv", ["subject", "item", "rating", "rt"], rows))
    assert (judgments.frame.height, judgments.frame["rt"].null_count()) == (121, 1)
    assert "rt.below_zero" in codes(judgments.notes)


def test_positions_that_restart_for_all_are_sessions(tmp_path: Path) -> None:
    rows = [(f"p{p}", f"i{i}", r, i % 6 + 1, "ab"[i // 6]) for p, i, _, r in rated(8, 12)]
    path = written(tmp_path / "a.csv", ["participant", "item", "response", "trial", "half"], rows)
    assert karat.read(path).frame.height == 96


def test_training_before_trial_zero_and_other_questions(tmp_path: Path) -> None:
    rng = random.Random(8)
    rows = [(f"A{p:012d}", f"Player {i} won.", "ab"[c], rng.choice(["red", "tan"]), "A-B", i - 2, r)
            for p, i, c, r in rated(12, 14)]  # fmt: skip
    header = ["workerid", "sentence", "condition", "shade", "correctAnswer", "trialnum", "response"]
    judgments = karat.read(written(tmp_path / "a.csv", header, rows))
    assert judgments.frame.filter(pl.col("trial") <= 2)["function"].unique().to_list() == ["practice"]
    assert "expected" not in judgments.frame.columns
    assert judgments.factors() == ["condition"]


def test_items_called_example_and_control_among_many(tmp_path: Path) -> None:
    rows = [(p, f"{1000 + i}:{i}", r / 7) for p, i, _, r in rated(10, 60)]
    rows += [(p, name, 0.5) for p in range(10) for name in ("example1", "example2", "control1")]
    frame = karat.read(written(tmp_path / "a.csv", ["workerid", "tgrep", "rating"], rows), accept=True).frame
    assert dict(frame.group_by("function").len().iter_rows()) == {"test": 600, "practice": 20, "control": 10}


def test_shortened_jspsych_table_is_recognised(tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = [("instructions", 0, 9000, "", "", "", f"s{p}") for p in range(8)]
    rows += [("survey-likert", i + 1, 2500, json.dumps({"Q0": r}), i, "ab"[c], f"s{p}") for p, i, c, r in rated(8, 12)]
    header = ["trial_type", "trial_index", "rt", "responses", "item_id", "cond", "subject"]
    intake = read_files([written(tmp_path / "a.csv", header, rows)])
    assert "jsPsych" in intake.sources[0][1]
    assert (intake.judgments.frame.height, intake.judgments.factors()) == (96, ["cond"])


def test_settings_common_to_everybody_are_no_answers(tmp_path: Path) -> None:
    draw = random.Random(4)
    settings = ["money", "familiarity", "kind", "level", "frequency"]
    rows = [[f"A{n}", *range(5), draw.choice(["sail", "cabin"]), *draw.choices(range(1, 8), k=2)] for n in range(40)]
    header = ["workerid", *settings, "target", "Likert_target", "Likert_foil"]
    lines = [",".join(map(str, row)) for row in [header, *rows]]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    frame = read_files([tmp_path / "t.csv"], options=Options(accept=True)).judgments.frame
    assert not set(frame["item"].to_list()) & {*settings}
    assert set(frame["response"].to_list()) == {str(n) for n in range(1, 8)}


def test_json_is_known_by_how_it_begins(tmp_path: Path) -> None:
    rng = random.Random(8)
    for p in range(6):
        trials = [{"sentence": f"Cat {i} sleeps.", "item": i, "response": rng.randint(1, 7)} for i in range(10)]
        (tmp_path / f"data_{p}.txt").write_text(json.dumps({"trials": trials, "system": {"os": "x"}}), encoding="utf-8")
    judgments = karat.read(tmp_path, accept=True)
    assert sorted(judgments.frame["participant"].unique()) == [f"data_{p}" for p in range(6)]
    assert (judgments.answers, judgments.scale) == (60, karat.Ordinal(7))


def test_headers_between_rows_are_no_answers(tmp_path: Path) -> None:
    header = ["subject", "trial", "sentence", "cond", "response"]
    rows: list[Sequence[object]] = []
    for p, i, c, r in rated(8, 10):
        rows += [header] if p and not i else []
        rows.append((f"s{p}", i, f"Cat {i} sleeps.", "ab"[c], "yes" if r > 4 else "no"))
    found = read_files([written(tmp_path / "a.csv", header, rows)], options=Options(accept=True))
    assert (found.judgments.answers, found.judgments.scale.kind) == (80, "binary")
    assert "subject" not in found.judgments.frame["participant"].to_list()
    assert found.judgments.frame["trial"].to_list()[:3] == [1, 2, 3]
    assert [found.locate(row)[2] for row in (9, 10)] == [11, 13]


def test_means_below_a_table_with_empty_columns_are_no_item(tmp_path: Path) -> None:
    answers = {(p, i): r for p, i, _, r in rated(6, 12)}
    rows = [["", f"S{i}", *(answers[p, i] for p in range(6)), ""] for i in range(12)]
    path = written(
        tmp_path / "a.csv", ["", "Item", *(f"P{p}" for p in range(6)), ""], [*rows, ["", "Mean", *"444444", ""]]
    )
    judgments = karat.read(path, accept=True)
    assert sorted(judgments.frame["item"].unique()) == sorted(f"S{i}" for i in range(12))
    assert judgments.frame.columns == ["participant", "item", "response", "function"]


def test_rows_without_an_item_are_other_tasks(tmp_path: Path) -> None:
    """FindingFive has what everybody was asked at the end in the column of the ratings."""
    header = ["participant_id", "trial_num", "trial_template", "stim_name", "stim1", "response_value"]
    rows: list[tuple[object, ...]] = []
    for p, i, _, r in rated(14, 12):
        rows += [(f"{p:x}f3", 1, "instructions", "", "", "next")] if not i else []
        rows.append((f"{p:x}f3", i + 2, "judge", f"item{i}", f"Cat {i} sleeps.", r))
        rows += [(f"{p:x}f3", 14, "age", "", "", 20 + p)] if i == 11 else []
    path = written(tmp_path / "a.csv", header, rows)
    with pytest.raises(ProposalError) as error:
        karat.read(path)
    assert {"item": "stim_name"} in [dict(question.choices[0].mapping) for question in error.value.questions]
    judgments = karat.read(path, accept=True)
    assert (judgments.answers, judgments.scale) == (168, karat.Ordinal(7))


def test_the_time_of_a_whole_assignment_is_no_response_time(tmp_path: Path) -> None:
    rng = random.Random(5)
    rows = [(s, rng.randint(40, 900), "ab"[s % 2], f"Text {s % 8} here.", rng.randint(0, 1)) for s in range(200)]
    path = written(tmp_path / "a.csv", ["Subject", "WorkTimeInSeconds", "cond", "Prompt", "Answer"], rows)
    assert "rt" not in karat.read(path, accept=True).frame.columns


def test_accuracies_are_offered_where_no_answer_is_left(tmp_path: Path) -> None:
    rng = random.Random(6)
    rows = [(p, i, f"CAT{i}", rng.randint(700, 3000), int(rng.random() < 0.7)) for p in range(20) for i in range(20)]
    with pytest.raises(ProposalError) as error:
        karat.read(written(tmp_path / "a.csv", ["subject_id", "trial_index", "word", "rt", "bin_acc"], rows))
    assert {"response": "bin_acc"} in [dict(question.choices[0].mapping) for question in error.value.questions]


def test_computed_columns_beside_ratings_need_a_word(tmp_path: Path) -> None:
    rng = random.Random(7)
    names = ["DamPre", "DamPost", "FirePre", "FirePost"]
    codes = ["DamRiskCheck", "FireRiskCheck", *(f"match{k}" for k in "abcdef")]
    rows = [
        (
            f"R_{p}x9",
            rng.choice(["High", "Low"]),
            *(rng.randint(0, 100) for _ in names),
            *(rng.randint(0, 1) for _ in codes),
        )
        for p in range(60)
    ]
    path = written(tmp_path / "a.csv", ["ResponseId", "Risk", *names, *codes], rows)
    with pytest.raises(ProposalError):
        karat.read(path, accept=True)
    assert set(karat.read(path, wide="participant").frame["item"]) == set(codes[2:])


def test_the_list_of_a_participant_is_no_item(tmp_path: Path) -> None:
    answers = {(p, i): r for p, i, _, r in rated(20, 8, points=5)}
    sentences = [f"The {animal} sat there." for animal in ("cat", "dog", "cow", "pig", "hen", "ox", "ant", "owl")]
    rows = [(f"R_{p}x9", 1 + p % 2, *(answers[p, i] for i in range(8))) for p in range(20)]
    path = written(tmp_path / "a.csv", ["ResponseId", "list", *sentences], rows)
    assert set(karat.read(path, accept=True).frame["item"]) == set(sentences)


def test_parts_of_one_array_stay_together_in_small_samples(tmp_path: Path) -> None:
    """Good sentences got other points than bad ones: the columns have few answers in common."""
    rng = random.Random(9)
    names = [f"acc[SQ{n:03}]" for n in range(1, 13)]
    rows = [
        (p, "2022-01-05", 5, *(f"A{rng.choice([1, 2] if n % 2 else [5, 6, 7])}" for n in range(12)), 20 + p)
        for p in range(12)
    ]
    path = written(tmp_path / "a.csv", ["id", "submitdate", "lastpage", *names, "age"], rows, ";")
    assert karat.read(path, accept=True).answers == 144


def test_judges_are_known_by_the_mean_beside_them(tmp_path: Path) -> None:
    rng = random.Random(10)
    rows = [
        (f"Cat {i} sat there.", *(a := [rng.randint(1, 5) for _ in range(3)]), round(sum(a) / 3, 2)) for i in range(40)
    ]
    path = written(tmp_path / "a.csv", ["sentence", "Ann", "Bo", "Cy", "avg"], rows)
    assert set(karat.read(path, accept=True).frame["participant"]) == {"Ann", "Bo", "Cy"}


def test_conditions_below_the_header_are_those_of_the_items(tmp_path: Path) -> None:
    answers = {(p, i): r for p, i, _, r in rated(15, 12)}
    items = [f"item{i}" for i in range(12)]
    below = ["", *("good" if i % 2 else "bad" for i in range(12))]
    rows = [below, *([f"P{p}", *(answers[p, i] for i in range(12))] for p in range(15))]
    judgments = karat.read(written(tmp_path / "a.csv", ["participant", *items], rows), accept=True)
    assert judgments.factors() == ["condition"]
    assert set(judgments.frame.filter(item="item3")["condition"]) == {"good"}


def test_winners_in_columns_of_their_own(tmp_path: Path) -> None:
    rng = random.Random(11)
    rows = [
        (f"j{n % 6}", *rng.sample(["owl", "fox", "hen"], 2), *rng.choice([(1, 0, 0), (0, 1, 0), (0, 0, 1)]))
        for n in range(120)
    ]
    header = ["judge", "model_a", "model_b", "winner_model_a", "winner_model_b", "winner_tie"]
    judgments = karat.read(written(tmp_path / "a.csv", header, rows), accept=True)
    sides = [("left", "right", "none")[row[3:].index(1)] for row in rows]
    assert judgments.frame.select("left", "right", "response").rows() == [
        (row[1], row[2], side) for row, side in zip(rows, sides, strict=True)
    ]


def test_two_questions_in_one_column_are_told_apart_or_refused(tmp_path: Path) -> None:
    rng = random.Random(12)
    rows: list[tuple[object, ...]] = []
    for p, i, c, r in rated(16, 12):
        rows.append((f"P{p}", "rating", i, "ab"[c], r))
        rows += [(f"P{p}", "question", i, "ab"[c], rng.choice(["Yes", "No"]))] if i % 3 == 0 else []
    header = ["participant", "task", "item", "condition", "response"]
    judgments = karat.read(written(tmp_path / "a.csv", header, rows), accept=True)
    assert {name: scale.kind for name, scale in judgments.scales.items()} == {"rating": "ordinal", "question": "binary"}
    mixed = written(tmp_path / "b.csv", [header[0], *header[2:]], [(row[0], *row[2:]) for row in rows])
    with refuses(KaratError, "b.csv", "question=NAME"):
        karat.read(mixed, accept=True)


def test_chosen_texts_and_numbers_of_options_are_choices(tmp_path: Path) -> None:
    rng = random.Random(13)
    texts = [(f"The cat {i} sat there.", f"The cat {i} sat not there.") for i in range(12)]
    rows = [(f"w{p}", i, *texts[i], rng.choice([1, 2])) for p in range(12) for i in range(12)]
    numbered = written(tmp_path / "a.csv", ["worker", "trial", "option1", "option2", "selected_option"], rows)
    chosen = [(*row[:4], row[1 + int(str(row[4]))]) for row in rows]
    named = written(tmp_path / "b.csv", ["worker", "pair_id", "good", "bad", "chosen_sentence"], chosen)
    for path in (numbered, named):
        judgments = karat.read(path, accept=True)
        assert judgments.frame["response"].to_list() == ["left" if row[4] == 1 else "right" for row in rows]
        assert judgments.frame.select("left", "right").rows() == [row[2:4] for row in rows]


def test_numbers_of_keys_are_read_as_the_keys(tmp_path: Path) -> None:
    rows = [(f"s{p}", i, f"<p>Cat {i} sleeps.</p>", 48 + r) for p, i, _, r in rated(12, 10)]
    path = written(tmp_path / "a.csv", ["subject", "trial_index", "stimulus", "key_press"], rows)
    found = read_files([path], options=Options(accept=True))
    assert found.judgments.scale == karat.Ordinal(7)
    assert found.judgments.frame["response"].to_list() == [chr(row[3]) for row in rows]
    assert "table.keys" in codes(found.notes)


def test_produced_words_are_set_aside_beside_ratings(tmp_path: Path) -> None:
    draw = random.Random(3)
    rows = [
        [f"R{person}", *task, f"Q{n}", ("der", "die", "das")[person % 3]]
        for person in range(20) for n in range(36)
        for task in [("production", f"wug{n}{draw.choice(VOWELS)}") if n < 12 else ("rating", draw.randint(1, 5))]
    ]  # fmt: skip
    path = written(tmp_path / "r.csv", ["Participant_ID", "Q_Task", "Q_Response", "Q_ID", "Q_Gender"], rows)
    judgments = karat.read(path, accept=True)
    assert judgments.answers == 480
    assert set(judgments.frame["response"]) == set("12345")


VOWELS = "aeiou"


def test_two_numbers_are_two_answers(tmp_path: Path) -> None:
    draw = random.Random(4)
    rows = [[f"p{person}", f"item{n}", draw.randint(1, 2)] for person in range(8) for n in range(8)]
    judgments = karat.read(written(tmp_path / "r.csv", ["participant", "item", "response"], rows), accept=True)
    assert judgments.scales[""] == karat.Binary(("1", "2"))


def test_magnitudes_are_round_above_the_reference(tmp_path: Path) -> None:
    draw = random.Random(5)
    small = [[f"p{person}", f"item{n}", draw.randint(1, 60)] for person in range(6) for n in range(10)]
    large = [[f"p{person}", f"item{n}", 10 * draw.randint(11, 50)] for person in range(6) for n in range(10, 20)]
    judgments = karat.read(
        written(tmp_path / "r.csv", ["participant", "item", "response"], [*small, *large]), accept=True
    )
    assert judgments.scales[""].kind == "magnitude"


def test_a_latency_under_another_name_is_no_part_of_the_item(tmp_path: Path) -> None:
    draw = random.Random(6)
    rows = [
        [100 + person, 1 + person % 2, n, 1 + n % 3, 1 + (n + person) % 2, draw.randint(1, 2), draw.randint(500, 4000)]
        for person in range(30) for n in range(1, 25)
    ]  # fmt: skip
    judgments = karat.read(
        written(tmp_path / "r.csv", ["ppt", "grp", "itm", "struct", "gramm", "resp", "span"], rows), accept=True
    )
    assert judgments.frame["item"].n_unique() == 48


def test_fillers_have_no_place_in_the_design(tmp_path: Path) -> None:
    fillers = [(f"F.{n}", "", "") for n in range(6)]
    tests = [(f"{a}.{b}.{n}", a, b) for a in ("island", "none") for b in ("long", "short") for n in range(3)]
    rows = [
        [f"p{person}", *shown, (at + person) % 7 + 1]
        for person in range(8) for at, shown in enumerate([*fillers, *tests])
    ]  # fmt: skip
    judgments = karat.read(
        written(tmp_path / "r.csv", ["participant", "item", "structure", "distance", "response"], rows), accept=True
    )
    assert dict(judgments.frame["function"].value_counts().iter_rows()) == {"filler": 48, "test": 96}


def test_both_words_of_a_pair_name_it_beside_numbered_judges(tmp_path: Path) -> None:
    draw = random.Random(7)
    rows = []
    for n in range(40):
        given = [draw.randint(0, 10) for _ in range(9)]
        rows.append(["tiger" if n % 4 == 0 else f"word{n}", f"other{n}", f"{sum(given) / 9:.2f}", *given])
    header = ["Word 1", "Word 2", "Human (mean)", *map(str, range(1, 10))]
    judgments = karat.read(written(tmp_path / "r.csv", header, rows), accept=True)
    assert (judgments.answers, judgments.frame["participant"].n_unique()) == (360, 9)
    assert "tiger + other0" in set(judgments.frame["item"])


def test_codes_of_people_are_no_items_beside_numbered_ones(tmp_path: Path) -> None:
    draw = random.Random(8)
    items = [f"S{n:02}_{('gram', 'ungram')[n % 2]}" for n in range(1, 17)]
    rows = [
        [person, 1 + person % 2, 20 + person, draw.randint(1, 3), *(draw.randint(1, 5) for _ in items)]
        for person in range(1, 31)
    ]
    judgments = karat.read(written(tmp_path / "r.csv", ["VP", "Gruppe", "Alter", "Sprache", *items], rows), accept=True)
    assert set(judgments.frame["item"]) == set(items)


def test_words_with_answers_need_a_header(tmp_path: Path) -> None:
    rows = [[f"{start}{end}", int(end != "ak")] for start in ("kt", "gj", "zd", "mr") for end in ("ak", "olek", "ats")]
    with refuses(KaratError, "no header"):
        karat.read(written(tmp_path / "r.csv", ["fparek", "1"], rows), accept=True)


def test_numbers_of_stimuli_in_order_are_no_positions(tmp_path: Path) -> None:
    rows = [(f"A{p}", i, ("DO", "PO")[c], r) for p, i, c, r in rated(24, 16)]
    path = written(tmp_path / "r.csv", ["worker", "stim", "construction", "resp_num"], rows)
    assert karat.read(path, accept=True).frame["item"].n_unique() == 32


def test_columns_that_r_stacked_are_items(tmp_path: Path) -> None:
    rows = [(p, 20 + p, f"item{i}_{'ab'[i % 2]}", r) for p, i, _, r in rated(20, 16)]
    judgments = karat.read(written(tmp_path / "r.csv", ["id", "age", "name", "value"], rows), accept=True)
    assert (judgments.answers, judgments.frame["item"].n_unique()) == (320, 16)


def test_two_questions_with_one_stem_name_no_system(tmp_path: Path) -> None:
    draw = random.Random(9)
    rows = [[p, f"word{n}", draw.randint(1, 9), draw.randint(1, 9)] for p in range(20) for n in range(20)]
    path = written(tmp_path / "r.csv", ["Participant", "Word", "likert_arousal", "likert_valence"], rows)
    judgments = karat.read(path, accept=True)
    assert set(judgments.frame["question"]) == {"likert_arousal", "likert_valence"}
    assert "system" not in judgments.frame.columns
