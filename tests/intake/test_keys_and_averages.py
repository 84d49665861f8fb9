"""Columns beside the answers that look like them: keys, averages, second answers, settings, one column per person."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from intake.test_more_public_shapes import accepted, flags
from intake.test_published_shapes import saved
from intake.test_trial_level_shapes import rated
from karat.errors import IntakeError
from karat.intake import Options, read_files
from karat.judgments.scales import Continuous
from messages import codes, refuses


@pytest.mark.parametrize("name", ["rating_criterion", "criterion"])
def test_a_criterion_of_each_participant_is_the_question(tmp_path: Path, name: str) -> None:
    chance = random.Random(1)
    rows = [[f"p{who}", f"K_{n}", ("original", "apt", "familiar")[who % 3], rated(chance, points=6)]
            for who in range(24) for n in range(20)]  # fmt: skip
    read = read_files([saved(tmp_path / "r.csv", f"participant_ID,SENTENCE_ID,{name},rating", rows)]).judgments
    assert set(read.scales) == {"original", "apt", "familiar"}


def test_a_label_that_is_the_key_of_other_answers(tmp_path: Path) -> None:
    chance = random.Random(2)
    key = {n: int(chance.random() < 0.85) for n in range(200)}
    rows = [[who, f"post{n}", round(chance.lognormvariate(2, 0.8), 3), key[n], key[n] ^ (chance.random() < 0.07)]
            for who in range(20) for n in range(200)]  # fmt: skip
    asked = flags(saved(tmp_path / "r.csv", "annotator,instance,time,label,prediction", rows))
    assert asked == {"response": {"response": "prediction"}, "item": {"item": "instance"}}


def test_a_slider_for_another_criterion_is_no_part_of_the_item(tmp_path: Path) -> None:
    chance = random.Random(3)
    rows = [[album, f"piece{n}", who, rated(chance), chance.randint(1, 100)]
            for album in ("deadpan", "lively") for n in range(12) for who in range(24)]  # fmt: skip
    asked = flags(saved(tmp_path / "r.csv", "albumID,pieceID,participant,valence,arousal", rows))
    assert asked["item"] == {"item": "albumID+pieceID"}


def test_sliders_beside_a_slider_of_more_points(tmp_path: Path) -> None:
    chance, traits = random.Random(13), ["openness", "calm", "warmth", "energy"]
    rows = [[who, scenario, person, chance.randint(0, 100), *(20 * chance.randint(0, 5) for _ in traits)]
            for who in range(20) for scenario in range(20) for person in range(5)]  # fmt: skip
    header = ",".join(["subject", "scenario", "person", "action_probability", *traits])
    path = saved(tmp_path / "r.csv", header, rows)
    assert flags(path) == {"wide": {"wide": "trial"}, "item": {"item": "scenario+person"}}
    assert set(accepted(path).scales) == set(traits)


def test_a_question_is_put_twice(tmp_path: Path) -> None:
    chance = random.Random(14)
    rows = [[f"p{who}", n, f"Do you like number {n}?", rated(chance), f"Does she like number {n}?", rated(chance),
             chance.randint(0, 1), ("same", "other")[(who + n) % 7 > 0]]
            for who in range(30) for n in range(35)]  # fmt: skip
    header = "pid,question,ownQuestion,ownResponse,otherQuestion,otherResponse,predicted,kind"
    assert flags(saved(tmp_path / "r.csv", header, rows))["item"] == {"item": "ownQuestion"}


def test_averages_are_no_answers(tmp_path: Path) -> None:
    chance = random.Random(4)
    means = [sum(chance.randint(0, 1) for _ in range(n)) / n for n in (3, 4, 5, 6, 7) for _ in range(40)]
    rows = [[f"text{at % 40}", f"system{at % 5}", mean, 1 - mean] for at, mean in enumerate(means)]
    with refuses(IntakeError, "factuality", "response"):
        accepted(saved(tmp_path / "r.csv", "hash,model_name,factuality,other", rows))
    scaled = [[f"s{who}", n, chance.randint(0, 6) / 6] for who in range(12) for n in range(20)]
    path = saved(tmp_path / "s.csv", "participant,item,rating", scaled)
    assert read_files([path]).judgments.answers == 240


def test_annotators_are_abbreviated(tmp_path: Path) -> None:
    chance = random.Random(5)
    rows = [[n, f"Ann. {who}", aspect, f"{chance.randint(1, 4)}.0"] for n in range(40)
            for who in chance.sample([1, 2, 3], 2) for aspect in ("bias", "lede", "tone")]  # fmt: skip
    path = saved(tmp_path / "r.csv", "art_id,ann,criteriaID,annotation", rows)
    assert flags(path)["participant"] == {"participant": "ann"}
    read = accepted(path)
    assert (read.frame["participant"].n_unique(), read.frame["item"].n_unique(), len(read.scales)) == (3, 40, 3)


@pytest.mark.parametrize("who", [None, "db-ann", "db-bo"])
def test_an_own_form_of_prodigy(tmp_path: Path, who: str | None) -> None:
    chance = random.Random(6)
    rows = [
        {"id": n, "hyp_a": f"Thanks, {n}.", "hyp_b": f"Dear {n}.", "score": str(chance.randint(-100, 100)),
         "_input_hash": n, "_task_hash": n, "_session_id": who and f"{who}-{n % 3}", "_view_id": "blocks",
         "answer": "accept"} for n in range(60)
    ]  # fmt: skip
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    if who is None:
        with refuses(IntakeError, "participant", "--map participant=NAME"):
            accepted(path)
        return
    read = accepted(path)
    assert (read.frame["participant"].n_unique(), read.answers) == (3, 60)
    assert isinstance(read.scale, Continuous)


def test_numbered_raters_whose_means_are_beside_them(tmp_path: Path) -> None:
    chance, names = random.Random(7), [f"{asked}{who}" for asked in ("TG", "TF") for who in (1, 2, 3, 4)]
    rows = []
    for n in range(60):
        given = [chance.randint(1, 5) for _ in names]
        rows.append([n, f"We present system number {n}.", *given, sum(given[:4]) / 4, sum(given[4:]) / 4])
    read = accepted(saved(tmp_path / "r.csv", ",".join(["id", "text", *names, "TGAvg", "TFAvg"]), rows))
    assert set(read.scales) == {"TG", "TF"}
    assert (read.frame["participant"].n_unique(), read.answers) == (4, 480)


def test_settings_before_numbered_answers(tmp_path: Path) -> None:
    chance, asked = random.Random(8), [f"QT.{n}" for n in range(1, 13)]
    rows = [[who, who % 3 + 1, who % 2 + 1, chance.choice(["Female", "Male"]), chance.randint(19, 60),
             *(rated(chance, points=5) for _ in asked)] for who in range(40)]  # fmt: skip
    path = saved(tmp_path / "r.csv", ",".join(["", "surrogate", "representation", "Sex", "Age", *asked]), rows)
    assert set(accepted(path).frame["item"]) == set(asked)


def test_the_same_questions_about_each_text(tmp_path: Path) -> None:
    chance = random.Random(12)
    asked = {"Q1": "Is the report fluent?", "Q2": "Is the report concise?", "Q3": "Is the report coherent?"}
    names = [f"R{text}{code}. {question}" for text in range(1, 6) for code, question in asked.items()]
    rows = [[who, "2024-04-26", *(f"{rated(chance, points=5)} : degree" for _ in names)] for who in range(1, 13)]
    path = saved(tmp_path / "r.csv", ",".join(["id. Response ID", "submitdate. Date submitted", *names]), rows)
    read = accepted(path)
    assert (set(read.scales), set(read.frame["item"])) == ({*asked}, {f"R{text}" for text in range(1, 6)})


def test_a_column_for_each_participant(tmp_path: Path) -> None:
    chance, people = random.Random(9), range(1, 13)
    rows = [[rated(chance), n, ("isl", "non")[n % 2], *(int(who == one) for one in people)]
            for who in people for n in range(1, 21)]  # fmt: skip
    header = ",".join(["rating", "item", "structure", *(f"PID_{who}" for who in people)])
    read = read_files([saved(tmp_path / "r.csv", header, rows)])
    assert (read.judgments.frame["participant"].n_unique(), read.judgments.answers) == (12, 240)
    assert "form.people" in codes(read.notes)
    twice = [row if at else [*row[:-1], 1] for at, row in enumerate(rows)]
    assert flags(saved(tmp_path / "t.csv", header, twice))


def test_when_somebody_spoke_is_no_answer(tmp_path: Path) -> None:
    chance = random.Random(11)
    rows = [[f"{n}.wav", 9 * at, 9 * at + chance.uniform(3, 8), chance.choice("ABCDEF")]
            for n in range(30) for at in range(8)]  # fmt: skip
    with refuses(IntakeError, "response"):
        accepted(saved(tmp_path / "r.csv", "filename,start,end,speaker", rows))


def test_names_of_eprime_with_the_level_of_the_log(tmp_path: Path) -> None:
    chance, rows = random.Random(12), []
    for person in range(31, 45):
        for at, scene in enumerate(chance.sample(range(1, 21), 20), 1):
            rows.append([person, at, f"{scene}.wav", chance.randint(20, 50), 1000 * at, chance.choice([1, 2]),
                         chance.randint(200, 1500)])  # fmt: skip
    header = "Subject,Trial,SoundFile,Decision.OnsetDelay[Trial],Decision.OnsetTime[Trial],Decision.RESP[Trial],"
    path = saved(tmp_path / "r.csv", header + "Decision.RT[Trial]", rows)
    assert flags(path)["response"] == {"response": "Decision.RESP[Trial]"}
    assert accepted(path).frame["rt"].max() <= 1.5  # type: ignore[operator]


def test_answers_as_clicked_and_turned_round(tmp_path: Path) -> None:
    """Both code the same answers, so that neither is part of the item; what nobody answered in time is missing."""
    chance, rows = random.Random(13), []
    for person in range(20):
        for at, item in enumerate(chance.sample(range(40), 40)):
            kind = "familiarization" if at < 5 else "test"
            raw = None if chance.random() < 0.1 else chance.choice(range(61))
            rows.append(
                [
                    person,
                    kind,
                    f"pair {item}",
                    raw,
                    None if raw is None else (60 - raw) / 60,
                    round(chance.uniform(0.5, 3), 3),
                ]
            )
    path = saved(tmp_path / "r.csv", "subj,type,stimulus,raw,resp,resp_time", rows)
    frame = accepted(path).frame
    assert frame["item"].n_unique() == 40
    assert frame["response"].null_count() == sum(row[3] is None for row in rows)
    assert (frame["function"] == "practice").sum() == 20 * 5
    assert frame["rt"].null_count() == 0


def test_practice_without_the_columns_of_the_item(tmp_path: Path) -> None:
    chance, rows = random.Random(14), []
    for person in range(20):
        rows += [[person, f"practice{n}", None, None, None, rated(chance)] for n in (1, 2, 3)]
        rows += [[person, "test", n, f"verb {n}", ("some", "all")[(n + person) % 2], rated(chance)] for n in range(4)]
    path = saved(tmp_path / "r.csv", "workerid,trial_type,number,item,context,response", rows)
    frame = read_files([path], options=Options(mapping={"item": "number+item+context"})).judgments.frame
    assert set(frame.filter(function="practice")["item"]) == {"practice1", "practice2", "practice3"}
    assert (frame["function"] == "test").sum() == 80


def test_sliders_that_nearly_reach_an_end_beside_numbered_words(tmp_path: Path) -> None:
    chance, animals, rows = random.Random(15), ["ant", "bear", "cat", "dog", "eel", "fox"], []
    for person in range(30):
        for animal in chance.sample(animals, 6):
            words = [f"{word}{animals.index(animal) // 2}" for word in ("big", "old", "shy")]
            given = (chance.randrange(low, high, 2) / 100 for low, high in ((2, 101), (0, 99), (0, 101)))
            rows.append([f"w{person}", animal, *words, *given])
    path = saved(tmp_path / "r.csv", "workerid,animal,f1,f2,f3,f1prob,f2prob,f3prob", rows)
    assert flags(path)["wide"] == {"wide": "trial"}
    assert set(accepted(path).scales) == {"f1prob", "f2prob", "f3prob"}


def test_the_key_that_was_pressed_is_the_answer(tmp_path: Path) -> None:
    chance, rows = random.Random(16), []
    for person in range(7000, 7020):
        for at, word in enumerate(chance.sample(range(60), 40), 1):
            rows.append([person, at, f"word{word}", rated(chance), chance.randint(900, 9000)])
    path = saved(tmp_path / "r.csv", "subj_code,trial_number,word,key,rt", rows)
    assert flags(path)["response"] == {"response": "key"}
    assert accepted(path).answers == 800


def test_a_question_as_figure_eight_names_it_and_its_key(tmp_path: Path) -> None:
    """Some units have a key, and the same workers answer these several times: the key is no answer."""
    chance, rows = random.Random(17), []
    for unit in range(60):
        known, right = unit < 8, chance.choice(["Yes", "No"])
        for worker in chance.choices(range(25), k=30) if known else chance.sample(range(25), 10):
            said = right if chance.random() < 0.88 else chance.choice(["Yes", "No"])
            rows.append([unit, str(known).lower(), f"w{worker}", said, right if known else "", f"tweet number {unit}"])
    header = "_unit_id,_golden,_worker_id,is_the_category_correct_for_this_tweet,gold_answer,tweet_text"
    path = saved(tmp_path / "r.csv", header, rows)
    assert flags(path)["response"] == {"response": "is_the_category_correct_for_this_tweet"}
    read = accepted(path)
    assert (read.answers, read.frame["expected"].count()) == (760, 240)


def test_people_whom_nobody_filled_in(tmp_path: Path) -> None:
    chance = random.Random(18)
    rows = [["workerId", f"picture {n}", rated(chance)] for _ in range(10) for n in range(20)]
    with refuses(IntakeError, "who answered"):
        accepted(saved(tmp_path / "r.csv", "workerId,pic1,response", rows))
