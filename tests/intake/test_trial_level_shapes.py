"""Shapes of published trial-level files, with made-up data: checks beside ratings, several tasks, times of sessions."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from intake.test_more_public_shapes import accepted, flags
from intake.test_published_shapes import saved
from karat.errors import IntakeError
from karat.intake import Options, read_files
from karat.intake.guess import ordered_answers
from messages import codes, refuses


def rated(chance: random.Random, mean: float = 4, points: int = 7) -> int:
    return max(1, min(points, round(chance.gauss(mean, 1.5))))


@pytest.mark.parametrize("check", [("yes", "no"), ("f", "j")])
@pytest.mark.parametrize("every", [True, False])
def test_ratings_beside_a_check_called_response(tmp_path: Path, check: tuple[str, str], every: bool) -> None:
    chance, rows = random.Random(1), []
    for person in range(20):
        for at, item in enumerate(chance.sample(range(24), 24), 1):
            form = "ab"[(item + person) % 2]
            answer = chance.choice(check) if every or item % 2 else "NA"
            rows.append([f"s{person}", at, item, form, f"Sentence {item} in form {form}", answer,
                         rated(chance, 4 + (form == "a")), rated(chance, 5), chance.randint(800, 9000)])  # fmt: skip
    header = "subject,trial,item,condition,sentence,response,response_naturalness,response_truth,rt"
    path = saved(tmp_path / "r.csv", header, rows)
    assert flags(path)["wide"] == {"wide": "trial"}
    made = accepted(path)
    assert set(made.scales) == {"response_naturalness", "response_truth"}
    assert (made.answers, made.frame["item"].n_unique()) == (960, 24)
    assert made.factors() == ["condition"]


def test_slider_whole_numbers_and_assignment_times(tmp_path: Path) -> None:
    chance, rows, assignment = random.Random(2), [], 0
    for person in range(90):
        for _ in range(chance.choice([1, 1, 2])):
            assignment += 1
            word, seconds = chance.choice(["tall", "young", "hot"]), chance.randint(30, 1100)
            for probe in chance.sample("BEH", 3):
                level = {"B": 20, "E": 60, "H": 90}[probe]
                sliders = [max(0, min(100, round(chance.gauss(level, 30)))) for _ in range(3)]
                rows.append([person, assignment, seconds, word, probe, *sliders])
    header = "Subject,AssignmentId,WorkTimeInSeconds,Adjective,Probe,AdjRating,Prior,Posterior"
    path = saved(tmp_path / "r.csv", header, rows)
    assert flags(path)["wide"] == {"wide": "trial"}
    made = accepted(path)
    assert set(made.scales) == {"AdjRating", "Prior", "Posterior"}
    assert made.frame["item"].n_unique() == 9
    assert "rt" not in made.frame.columns, "the time of an assignment is no response time"


def test_the_kind_of_answer_is_a_question(tmp_path: Path) -> None:
    chance, rows = random.Random(3), []
    for person in chance.sample(range(2000), 300):
        score, prompt = chance.choice(["2:7", "7:2", "4:4", "6:5"]), chance.choice(["true", "right", "fair"])
        kind = chance.choice(["Binary", "Likert"])
        answer = chance.randint(0, 1) if kind == "Binary" else rated(chance)
        rows.append([person, score, prompt, kind, answer, *(chance.choice(["TRUE"] * 6 + ["FALSE"]) for _ in range(2))])
    path = saved(tmp_path / "r.csv", "Subject,Score,Prompt,AnswerType,Answer,Comprehension1,Comprehension2", rows)
    assert flags(path)["item"] == {"item": "Score+Prompt"}
    intake = read_files([path], options=Options(accept=True))
    assert {name: scale.kind for name, scale in intake.judgments.scales.items()} == {
        "Binary": "binary",
        "Likert": "ordinal",
    }
    assert "role.scales" in codes(intake.notes)


def test_the_kind_of_answer_on_one_scale_is_no_question(tmp_path: Path) -> None:
    chance = random.Random(4)
    rows = [[f"s{p}", n, ("fast", "slow")[p % 2], rated(chance)] for p in range(20) for n in range(16)]
    made = accepted(saved(tmp_path / "r.csv", "subject,item,response_type,response", rows))
    assert set(made.scales) == {""}


def several_tasks(path: Path) -> Path:
    """Colour plates, comprehension questions and choices in one column of answers, as magpie writes them."""
    chance, rows = random.Random(5), []
    words = ("true_bonus", "true_other", "false", "tautology")
    for person in range(14):
        for at, plate in enumerate(("12", "45", "73"), 1):
            rows.append([person + 6000, at, "colour_test", f"Plate{at}.png", "What do you see?", plate, "NA", "NA"])
        for at, (text, yes, no) in enumerate((("Which box?", "red", "green"), ("May you lie?", "yes", "no")), 1):
            rows.append([person + 6000, at, "understanding", "NA", text, chance.choice([yes, no]), "NA", "NA"])
        for at, n in enumerate(chance.sample(range(10, 46), 36), 1):
            form = ("all", "some", "none")[n % 3]
            rows.append([person + 6000, at, "completion", f"{n}.png", "NA", chance.choice(words), f"0{n}", form])
    return saved(path, "submission_id,trial_number,trial_type,picture,question,response,number,condition", rows)


def test_other_tasks_in_the_column_of_the_answers(tmp_path: Path) -> None:
    intake = read_files([several_tasks(tmp_path / "r.csv")], options=Options(accept=True))
    assert (intake.judgments.answers, intake.judgments.frame["item"].n_unique()) == (504, 36)
    assert sum(intake.set_aside.values()) == 14 * 5


@pytest.mark.parametrize("item", ["number", "picture"])
def test_rows_without_an_item_are_another_task(tmp_path: Path, item: str) -> None:
    path = several_tasks(tmp_path / "r.csv")
    made = read_files([path], options=Options(mapping={"item": item})).judgments
    assert (made.answers, made.frame["item"].n_unique()) == (504, 36)
    assert "NA" not in set(made.frame["item"])
    assert set(made.scales) == {""}


def test_rows_of_other_tasks_can_be_kept(tmp_path: Path) -> None:
    path = several_tasks(tmp_path / "r.csv")
    made = read_files([path], options=Options(mapping={"item": "picture+question"}, keep_all=True)).judgments
    assert made.answers == 14 * 41


def test_sentences_have_no_parts(tmp_path: Path) -> None:
    chance, rows = random.Random(6), []
    for person in range(40):
        place, verb = chance.choice(["roof", "train", "bus"]), chance.choice(["is", "must", "may"])
        rows.append([person, f"In the {place} it rains. Because it {verb} rain.", rated(chance)])
    made = accepted(saved(tmp_path / "r.csv", "workerid,sentence,rating", rows))
    assert not [name for name in made.frame.columns if name.startswith("item_part")]


def test_a_pcibex_log_saved_under_other_names(tmp_path: Path) -> None:
    chance = random.Random(7)
    labels = {1: "No%2C not certain", 4: "Possibly", 7: "Yes%2C certain"}
    lines = ["IbexReceptionTime,IbexIP,IbexController,IbexItem,IbexElement,Label,IbexGroup,ElementType,ElementName,"
             "Parameter,Value,EventTime,Sentence,File,Prolific-ID,Comments"]  # fmt: skip
    for person in range(8):
        received, time = 1611318533 + 60 * person, 1611318000000 + 60000 * person
        for item in chance.sample(range(6, 15), 9):
            head = f"{received},{person:032x},PennController,{item},0,experiment,NULL"
            tail = f"Ann about {item},f{item}.wav,{person + 10:024x},NULL"
            point = rated(chance)
            shown = labels.get(point, f"<span style='visibility: hidden;'>{point}</span>")
            lines.append(f"{head},PennController,{item},_Trial_,Start,{time},{tail}")
            lines.append(f"{head},Audio,f{item}.wav,play,0,{time + 1000},{tail}")
            lines.append(f"{head},Scale,score,Choice,{shown},{time + 5000},{tail}")
            lines.append(f"{head},PennController,{item},_Trial_,End,{time + 6000},{tail}")
            time += 7000
    path = tmp_path / "results.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    made = read_files([path]).judgments
    assert (made.answers, made.frame["participant"].n_unique(), made.frame["item"].n_unique()) == (72, 8, 9)
    assert set(made.frame["response"]) <= {"No, not certain", "2", "3", "Possibly", "5", "6", "Yes, certain"}
    assert set(made.frame["rt"]) == {5.0}


def test_lists_of_what_a_trial_showed_are_no_trials(tmp_path: Path) -> None:
    chance, rows = random.Random(8), []
    for person in range(20):
        for sentence in chance.sample([f"There are four {n}s." for n in range(24)], 24):
            symbols = [str([chance.randint(0, 9) for _ in range(3)]) for _ in range(2)]
            chosen = int(chance.random() < 0.3 + 0.02 * person)
            rows.append([person, sentence, *symbols, chosen, chance.randint(900, 5000), chance.randint(4000, 9000)])
    path = saved(tmp_path / "r.csv", "workerid,sentence,primeSymbols,symbols,responseChoice,response_rt,block_rt", rows)
    made = accepted(path)
    assert made.answers == 480, "three symbols are no three answers"
    assert made.scale.kind == "binary"
    assert made.frame["rt"].max() <= 5


def test_fillers_in_the_condition_that_pcibex_logged(tmp_path: Path) -> None:
    names = ["Results reception time", "MD5 hash of participant's IP address", "Controller name",
             "Order number of item", "Inner element number", "Label", "Latin Square Group", "PennElementType",
             "PennElementName", "Parameter", "Value", "EventTime", "ItemNum", "Condition", "Comments"]  # fmt: skip
    lines = [f"# {at}. {name}." for at, name in enumerate(names, 1)]
    for person in range(4):
        for n in range(12):
            time = 1579534213518 + 10000 * n
            head = f"{1579534379 + person},{person:032x},PennController,{n},0,experiment,NULL"
            item, form = (f"F{n}", "filler") if n % 2 else (f"I{n}", "abc"[(n + person) % 3])
            lines.append(f"{head},PennController,{n},_Trial_,Start,{time},{item},{form},NULL")
            lines.append(f"{head},Selector,s{n}{person},Selection,{('Yes', 'No')[n % 3 == 0]},{time + 900},"
                         f"{item},{form},NULL")  # fmt: skip
    path = tmp_path / "results"
    path.write_text("\n".join(lines), encoding="utf-8")
    made = read_files([path]).judgments
    assert dict(made.frame["function"].value_counts().iter_rows()) == {"filler": 24, "test": 24}


def test_cells_quoted_twice_beside_empty_ones(tmp_path: Path) -> None:
    chance = random.Random(9)
    lines = ["workerid,predicate,noun,speaker,response"]
    for person in range(12):
        for word in ("kind", "smart", "fair", "calm"):
            lines += [
                f'{person},"""{word}""","""{who}""",{chance.choice(["NA", chr(34) * 3 + "Ann" + chr(34) * 3])},'
                f"{chance.randint(1, 99) / 100}"
                for who in ("men", "women")
            ]
    path = tmp_path / "r.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    made = accepted(path)
    assert made.frame["item"].n_unique() == 8
    assert not made.frame["item"].str.contains('"').any()
    assert set(made.frame["speaker"]) == {"NA", "Ann"}


def test_codes_named_after_nobody_are_asked_about(tmp_path: Path) -> None:
    chance, rows = random.Random(11), []
    words = ["quite bad", "bad", "good", "quite good"]
    for person in chance.sample(range(10_000, 99_999), 20):
        for at, item in enumerate(chance.sample(range(101, 125), 24), 1):
            point = rated(chance, 3 if item % 2 else 2, 4)
            rows.append([f"CO{person}", 2 * at, item, "ab"[item % 2], words[point - 1], f"It was {item} then.", point])
    path = saved(tmp_path / "r.csv", "completionCode,trialNum,itemNum,condition,Value,sentence,rating", rows)
    assert flags(path) == {"participant": {"participant": "completionCode"}}
    assert accepted(path).frame["participant"].n_unique() == 20


def test_ids_of_a_pool_of_participants_are_no_counts(tmp_path: Path) -> None:
    chance, rows = random.Random(12), []
    for person in range(60):
        for verb in range(12):
            yes = chance.random() < (0.8 if verb % 2 else 0.3)
            rows.append([chance.choice("ab"), 10_000 + 13 * person, 0, 1, f"verb{verb}", "xy"[verb % 2], int(yes)])
    made = accepted(saved(tmp_path / "r.csv", "l1,sona,train_f,train_t,emb_verb,context,response", rows))
    assert (made.frame["participant"].n_unique(), made.answers) == (60, 720)


def test_functions_in_the_rows_that_another_column_leaves_empty(tmp_path: Path) -> None:
    chance, rows = random.Random(13), []
    for person in range(12):
        rows += [[person, kind, kind, "", 0.5, 0] for kind in ("practice_good", "practice_bad")]
        trials = [*((n, ("gram", "ungram")[n % 2]) for n in range(12)), *((100 + n, "filler_good") for n in range(12))]
        for at, (item, kind) in enumerate(chance.sample(trials, 24), 1):
            rows.append([person, "", item, kind, round(chance.random(), 2), at])
    header = "workerid,item_type,item_number,condition_gram,response,trial_sequence_total"
    made = read_files([saved(tmp_path / "r.csv", header, rows)]).judgments
    functions = dict(made.frame["function"].value_counts().iter_rows())
    assert functions == {"filler": 144, "practice": 24, "test": 144}
    assert made.frame["item_type"].null_count() == 288


def test_numbered_questions_in_words_beside_a_label_of_the_trial(tmp_path: Path) -> None:
    chance, rows = random.Random(14), []
    scales = [["wrong", "somewhat wrong", "somewhat right", "right"], ["no answer", "some answers", "one answer"],
              ["nobody agrees", "some agree", "all agree"], ["I may err", "you may err", "both err"]]  # fmt: skip
    for person in range(30):
        for item in chance.sample(range(1, 21), 20):
            label = "filler" if item > 10 else f"test_phase{1 + item % 2}"
            here = [chance.choice(words) for words in scales]
            first = here if label != "test_phase2" else ["NA", "NA", "NA", here[3]]
            rows.append([person, label, "none" if item > 10 else "AB"[person % 2], item, *first])
    path = saved(tmp_path / "r.csv", "Participant,Label,Group,Number,R1A,R2,R3,R4", rows)
    assert flags(path)["wide"] == {"wide": "trial"}
    made = accepted(path)
    assert list(made.scales) == ["R1A", "R2", "R3", "R4"]
    assert list(made.scales["R1A"].levels) == scales[0]


@pytest.mark.parametrize("last", [["0", "0", "0", "0"], ["1", "0", "1", "0"]])
def test_means_of_items_are_not_answers(tmp_path: Path, last: list[str]) -> None:
    chance = random.Random(15)
    rows = [[3 * n, "ab"[n % 2], *(chance.random() for _ in range(6)), *(last if n else "0000")] for n in range(50)]
    path = saved(tmp_path / "r.csv", "sentence_id,condition,first,all,mean_surprisal,sum,w1,w2,x,y,z,u", rows)
    with refuses(IntakeError, "participant", "response", "--wide"):
        read_files([path], options=Options(accept=True))


def test_names_of_columns_with_n_in_a_code_are_items(tmp_path: Path) -> None:
    chance = random.Random(16)
    names = [f"{word}.{code}" for word in ("Some", "Each", "All") for code in ("N0n0s2s3", "S2s3n0s1", "A4a4a4a4")]
    rows = [[*(int(chance.random() < 0.6) for _ in names), f"w{person}"] for person in range(30)]
    path = saved(tmp_path / "r.csv", ",".join([*names, "workerid"]), rows)
    assert flags(path) == {"wide": {"wide": "participant"}}
    assert accepted(path).frame["item"].n_unique() == 9


def test_times_are_known_by_their_unit(tmp_path: Path) -> None:
    chance, rows = random.Random(17), []
    for person in range(12):
        clock = 0
        for item in chance.sample(range(20), 20):
            spent = chance.randint(900, 6000)
            clock += spent
            rows.append([person, f"i{item}", chance.randint(0, 1), spent, clock])
    made = read_files([saved(tmp_path / "r.csv", "worker,item,response,spent_ms,elapsed_ms", rows)]).judgments
    assert "rt" not in made.frame.columns, "a clock is no response time, and spent is no word for one"
    renamed = saved(tmp_path / "s.csv", "worker,item,response,elapsed_ms,clock", rows)
    seconds = read_files([renamed]).judgments.frame["rt"]
    assert 0.9 <= seconds.min() <= seconds.max() <= 6  # type: ignore[operator]


def test_practice_in_one_column_and_fillers_in_another(tmp_path: Path) -> None:
    """Practice trials have nothing but an answer and their type; they get its name as their item."""
    chance, rows = random.Random(18), []
    for person in range(16):
        rows += [[person, "", "", 0.5, "", "one_slider_practice"] for _ in range(2)]
        trials = [(f"n{n}", "YN"[(n + person) % 2]) for n in range(16)] + [(f"filler{n}", "filler") for n in range(6)]
        for at, (item, kind) in enumerate(chance.sample(trials, 22), 6):
            rows.append([person, kind, item, round(chance.random(), 2), at, "one_slider"])
    header = "workerid,condition,item,response,slide_number,trial_type"
    made = read_files([saved(tmp_path / "r.csv", header, rows)]).judgments
    functions = dict(made.frame["function"].value_counts().iter_rows())
    assert functions == {"filler": 96, "practice": 32, "test": 256}
    assert "one_slider_practice" in set(made.frame["item"])


def test_words_of_degree_of_opposites_have_an_order() -> None:
    words = ["kötü", "oldukça iyi", "iyi sayılır", "oldukça kötü", "kötü sayılır", "iyi"]
    assert ordered_answers(words) == ["oldukça kötü", "kötü", "kötü sayılır", "iyi sayılır", "iyi", "oldukça iyi"]
    assert ordered_answers(["right", "kinda wrong", "wrong"]) == ["wrong", "kinda wrong", "right"]


def test_only_the_ends_of_a_scale_have_labels() -> None:
    words = ["5 - very natural", "1 - very unnatural", "2", "4"]
    assert ordered_answers(words) == ["1 - very unnatural", "2", "3", "4", "5 - very natural"]


def test_items_come_before_sentences_in_any_language(tmp_path: Path) -> None:
    chance, rows = random.Random(19), []
    for person in range(12):
        for item in chance.sample(range(16), 16):
            form = "被把"[(item + person) % 2]
            rows.append([person, item, form, f"他{form}书{item}放在桌子上了", rated(chance)])
    made = read_files([saved(tmp_path / "r.csv", "被试,项目,条件,句子,评分", rows)]).judgments
    assert (made.frame["item"].n_unique(), made.factors()) == (16, ["条件"])


def test_two_tasks_under_the_names_of_karat(tmp_path: Path) -> None:
    chance, rows = random.Random(20), []
    for person in range(12):
        for task in ("rating", "comprehension"):
            answers = [rated(chance) if task == "rating" else chance.choice(["yes", "no"]) for _ in range(12)]
            rows += [[person, task, item, answer] for item, answer in enumerate(answers)]
    made = read_files([saved(tmp_path / "r.csv", "participant,task,item,response", rows)]).judgments
    assert {name: len(scale.levels) for name, scale in made.scales.items()} == {"rating": 7, "comprehension": 2}


def test_files_of_one_person_each_below_comments(tmp_path: Path) -> None:
    chance = random.Random(21)
    for person in range(4):
        head = f"#Expyriment 0.10.0\n#s id: {person}\n#\nsubject_id,trial,item,condition,rating,RT\n"
        lines = [f"{person},{at},{item},{'ab'[(item + person) % 2]},{rated(chance)},{chance.randint(500, 3000)}\n"
                 for at, item in enumerate(chance.sample(range(12), 12))]  # fmt: skip
        (tmp_path / f"ajt_{person}.xpd").write_text(head + "".join(lines))
    made = read_files([tmp_path]).judgments
    assert (made.frame["participant"].n_unique(), made.frame["item"].n_unique(), made.answers) == (4, 12, 48)
