"""Results of crowdsourcing platforms and of human evaluations of systems, with made-up data."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import karat
from intake.cases import noted
from intake.test_published_shapes import accepted, proposals, saved
from karat.errors import IntakeError
from karat.intake import Options, read_files
from karat.judgments.scales import Binary, Choice, Nominal, Ordinal
from messages import refuses

KINDS = ("cat", "dog", "none")


def crowd(
    cells: Callable[[random.Random, int, int], Sequence[object]], items: int = 30, people: int = 12, each: int = 4
) -> list[Sequence[object]]:
    """A row for each of a few people who judged each item."""
    draw = random.Random(4)
    return [cells(draw, item, person) for item in range(items) for person in draw.sample(range(people), each)]


def about(draw: random.Random, item: int, points: int = 5) -> int:
    """A rating near the level of an item."""
    return max(1, min(points, 1 + item % points + draw.choice([-1, 0, 0, 1])))


def test_fields_of_toloka(tmp_path: Path) -> None:
    header = (
        "INPUT:image,OUTPUT:result,GOLDEN:result,HINT:text,ASSIGNMENT:link,ASSIGNMENT:task_id,ASSIGNMENT:assignment_id,"
        "ASSIGNMENT:worker_id,ASSIGNMENT:status"
    )
    rows = crowd(lambda draw, item, person: [
        f"https://x.org/{item}.jpg", draw.choice([KINDS[item % 3], *KINDS]), KINDS[item % 3] if item % 5 == 0 else "",
        "", "https://x.org/task", f"0001--{item}", f"a{item}-{person}", f"{person:032x}", "APPROVED",
    ])  # fmt: skip
    frame = accepted(saved(tmp_path / "t.csv", header, rows)).frame
    assert (frame["participant"].n_unique(), frame["item"].n_unique()) == (12, 30)
    assert frame.filter(item="0001--5")["expected"].unique().to_list() == ["none"]


def test_questions_of_a_full_report_are_offered(tmp_path: Path) -> None:
    """The second one is asked after some answers to the first."""
    header = "_unit_id,_golden,_id,_trust,_worker_id,_country,feeling,why,feeling_gold,why_gold,text"

    def cells(draw: random.Random, item: int, person: int) -> list[object]:
        feeling = draw.choice([("good", "bad")[item % 2], "good", "bad"])
        why = draw.choice(["late", "lost"]) if feeling == "bad" else ""
        ids = [700 + item, "false", item * 50 + person, 0.8, 41000 + person, "GBR"]
        return [*ids, feeling, why, "", "", f"flight {item}"]

    path = saved(tmp_path / "t.csv", header, crowd(cells, each=6))
    assert proposals(path)["response"] == {"response": "feeling"}
    assert accepted(path).scale == Binary(("bad", "good"))


@pytest.mark.parametrize(("column", "cell"), [("feeling:confidence", "0.67"), ("_trusted_judgments", "3")])
def test_aggregated_reports_are_named(tmp_path: Path, column: str, cell: str) -> None:
    rows = [[700 + item, ("good", "bad")[item % 2], cell, f"flight {item}"] for item in range(40)]
    with refuses(IntakeError, column, "full report"):
        accepted(saved(tmp_path / "t.csv", f"_unit_id,feeling,{column},text", rows))


def test_headers_that_ask_hold_answers(tmp_path: Path) -> None:
    rows = crowd(lambda draw, item, person: [
        f"task{item}", f"comment {item}", draw.choice(["Yes", "No"]), draw.choice(["Very", "A bit", "Not"]), person,
    ])  # fmt: skip
    path = saved(tmp_path / "t.csv", "Task ID,Comment,Is this comment rude?,How toxic is it?,Worker", rows)
    assert proposals(path) == {"response": {"response": "Is this comment rude?"}}


def test_the_severity_of_errors_is_the_answer(tmp_path: Path) -> None:
    rows = crowd(lambda draw, item, person: [
        f"system{item % 3}", f"doc{item // 6}", item // 3 + 1, f"rater{person}", draw.choice(["Style", "Grammar"]),
        draw.choice(["major", "minor"]),
    ], items=60, people=6, each=3)  # fmt: skip
    path = saved(tmp_path / "t.tsv", "system,doc,seg_id,rater,category,severity", rows)
    assert proposals(path)["response"] == {"response": "severity"}


def test_the_preferred_side_is_the_answer(tmp_path: Path) -> None:
    rows = crowd(lambda draw, item, person: [
        f"p{item}", f"model{item % 4}", f"model{(item + 1) % 4}", draw.choice(["A", "B", "Same"]), f"ann{person}",
        f"What is {item}?", f"yes, {item}", f"no, {item}",
    ])  # fmt: skip
    header = "prompt_id,system_A,system_B,preferred,annotator_id,prompt,response_A,response_B"
    judgments = accepted(saved(tmp_path / "t.csv", header, rows))
    assert judgments.scale == Choice(none=True)
    assert set(judgments.frame["left"]) == {f"model{n}" for n in range(4)}


def test_two_criteria_and_one_that_is_met_are_questions(tmp_path: Path) -> None:
    rows = crowd(lambda draw, item, person: [
        f"w{person}", f"text {item // 3}", f"model{item % 3}", f"summary number {item}", draw.randint(0, 1),
        about(draw, item), about(draw, item + 1),
    ])  # fmt: skip
    header = "WorkerId,article,model,summary,faithfulness,relevance,coherence"
    judgments = accepted(saved(tmp_path / "t.csv", header, rows))
    assert judgments.scales == {"faithfulness": Binary(), "relevance": Ordinal(5), "coherence": Ordinal(5)}
    assert judgments.frame["item"].n_unique() == 30


def test_background_does_not_hide_questions(tmp_path: Path) -> None:
    words = ["No", "Unsure", "Yes"]
    rows = crowd(lambda draw, item, person: [
        item, ("F", "M")[person % 2], ("north", "south", "east")[person % 3], person, *draw.choices(words, k=3),
    ], each=8)  # fmt: skip
    header = "item_id,rater_gender,rater_region,rater_id,Q1_harmful,Q2_biased,Q_overall"
    judgments = accepted(saved(tmp_path / "t.csv", header, rows))
    assert set(judgments.scales) == {"Q1_harmful", "Q2_biased", "Q_overall"}


def test_people_and_models_in_columns_judge_systems(tmp_path: Path) -> None:
    draw = random.Random(4)
    rows = [
        [f"p{prompt}", system, *(about(draw, prompt) for _ in range(5))]
        for prompt in range(20) for system in ("small", "large", "old")
    ]  # fmt: skip
    header = "prompt_id,model,human_1,human_2,human_3,robot,oracle"
    frame = accepted(saved(tmp_path / "t.csv", header, rows)).frame
    assert (frame["participant"].n_unique(), frame["item"].n_unique()) == (5, 60)


def test_best_and_worst_by_number_are_refused(tmp_path: Path) -> None:
    rows = crowd(lambda draw, item, person: [
        f"H{item}", f"A{item}-{person}", f"W{person}", *(f"word{(item * 4 + n) % 17}" for n in range(4)),
        *draw.sample(range(1, 5), 2),
    ])  # fmt: skip
    header = "HITId,AssignmentId,WorkerId,Input.word1,Input.word2,Input.word3,Input.word4,Answer.best,Answer.worst"
    with refuses(IntakeError, "Answer.best", "4"):
        accepted(saved(tmp_path / "t.csv", header, rows))


def test_items_of_a_hit_may_be_numbered_from_zero(tmp_path: Path) -> None:
    rows = crowd(lambda draw, item, person: [
        f"H{item}", f"A{item}-{person}", f"W{person}", *(f"sentence {item}-{n}" for n in range(3)),
        *(about(draw, item + n) for n in range(3)),
    ])  # fmt: skip
    header = "HITId,AssignmentId,WorkerId,Input.text0,Input.text1,Input.text2,Answer.q0,Answer.q1,Answer.q2"
    frame = accepted(saved(tmp_path / "t.csv", header, rows)).frame
    own = frame.filter(participant="W0")["trial"].sort().to_list()
    assert own == list(range(1, len(own) + 1))


def objects(path: Path, every: Sequence[dict[str, object]]) -> Path:
    """A file of JSON lines."""
    path.write_text("\n".join(map(json.dumps, every)) + "\n", encoding="utf-8")
    return path


def test_answers_by_annotator_in_an_object(tmp_path: Path) -> None:
    """An annotator may have given two labels, and is then listed twice."""
    draw, every = random.Random(4), []
    for item in range(20):
        given = {f"A{n}": draw.choice(["yes", "no", "yes,no"]) for n in range(draw.choice([3, 4]))}
        who = ",".join(name for name, said in given.items() for _ in said.split(","))
        soft = {"yes": {"0": 0.5, "1": 0.5}, "no": {"0": 0.25, "1": 0.75}}
        every.append(
            {"id": item, "text": {"a": f"It is {item}."}, "annotators": who, "annotations": given, "soft": soft}
        )
    path = objects(tmp_path / "a.jsonl", every)
    frame = accepted(path).frame
    assert frame["participant"].unique().sort().to_list() == ["A0", "A1", "A2", "A3"]
    assert set(frame["response"]) == {"yes", "no", "yes,no"}


def test_ratings_in_unnamed_records_are_refused(tmp_path: Path) -> None:
    rated = [{"fluency": 4, "relevance": 2}, {"fluency": 5, "relevance": 3}]
    path = objects(tmp_path / "r.jsonl", [{"id": n, "summary": f"It is {n}.", "annotations": rated} for n in range(9)])
    with refuses(IntakeError, "annotations"):
        accepted(path)


def test_labels_of_whole_texts_beside_marked_words(tmp_path: Path) -> None:
    draw = random.Random(4)
    marked = [{"start": 0, "end": 2, "tag": "X", "annotated_by": [{"annotator": "ann"}]}]
    examples = [
        {"content": f"It is {n} o'clock.", "annotations": marked, "classifications": [
            {"classname": draw.choice(["early", "late"]), "annotated_by": [{"annotator": one}]} for one in ("ann", "bo")
        ]} for n in range(20)
    ]  # fmt: skip
    frame = accepted(objects(tmp_path / "l.json", [{"examples": examples, "relations": []}])).frame
    assert (frame["participant"].n_unique(), set(frame["response"])) == (2, {"early", "late"})


@pytest.mark.parametrize("beginning", [
    "#FORMAT=WebAnno TSV 3.3\n#T_SP=x|y\n\n#Text=It is late.\n1-1\t0-2\tIt\t_\n",
    "T1\tPlace 0 5\tParis\nT2\tPlace 9 13\tRome\n",
    '{"id": 1, "text": "Ann is here.", "label": [[0, 3, "Person"]]}\n{"id": 2, "text": "So", "label": []}\n',
])  # fmt: skip
def test_words_marked_in_texts_are_named(tmp_path: Path, beginning: str) -> None:
    path = tmp_path / ("f.jsonl" if beginning.startswith("{") else "f.tsv")
    path.write_text(beginning, encoding="utf-8")
    with refuses(IntakeError, "marked" if beginning.startswith("{") else "marks words"):
        accepted(path)


def test_infos_of_dallinger_are_named(tmp_path: Path) -> None:
    rows = [[n, "2019-05-01", "", "f", "info", n, n % 5, '{"response": 4}', ""] for n in range(40)]
    header = "id,creation_time,property1,failed,type,origin_id,network_id,contents,details"
    with refuses(IntakeError, "info.csv", "node.csv", "participant_id"):
        accepted(saved(tmp_path / "info.csv", header, rows))


def test_annotators_in_columns_choose_between_outputs(tmp_path: Path) -> None:
    draw = random.Random(4)
    rows = [[n, f"Do {n}.", f"Done {n}.", f"No {n}.", *draw.choices([0, 1, 2], k=3)] for n in range(30)]
    path = saved(tmp_path / "t.csv", "idx,instruction,response1,response2,annotator1,annotator2,annotator3", rows)
    judgments = accepted(path)
    assert isinstance(judgments.scale, Choice)
    assert "trial" not in judgments.frame.columns


def test_labels_of_two_sentences_are_no_sides(tmp_path: Path) -> None:
    draw = random.Random(4)
    rows = [[n, f"Done {n}.", f"No {n}.", *draw.choices([0, 1, 2], k=3)] for n in range(30)]
    judgments = accepted(saved(tmp_path / "t.csv", "id,sentence1,sentence2,annotator1,annotator2,annotator3", rows))
    assert judgments.scale == Ordinal(["0", "1", "2"])


def test_several_errors_of_a_translation(tmp_path: Path) -> None:
    """Raters mark errors in the text, so that it has another form in each row; category and severity are answers."""
    draw, rows = random.Random(4), []
    for item in range(40):
        for system in ("one", "two", "three"):
            found = draw.choice([0, 1, 2])
            ends = [["none", "none"]] if not found else [
                [draw.choice(["style", "accuracy", "fluency"]), draw.choice(["minor", "major"])] for _ in range(found)
            ]  # fmt: skip
            for at, end in enumerate(ends):
                words = f"das ist Satz {item} von {system} hier".split()
                marked = [f"<v>{w}</v>" if found and n == at else w for n, w in enumerate(words)]
                rows.append([system, item // 9, item, f"rater{item % 3}", f"this is {item}", " ".join(marked), *end])
    frame = accepted(saved(tmp_path / "m.csv", "system,doc,seg_id,rater,source,target,category,severity", rows)).frame
    assert (frame["participant"].n_unique(), frame["item"].n_unique()) == (3, 120)


def test_the_number_of_a_unit_is_no_position(tmp_path: Path) -> None:
    rows = crowd(lambda draw, item, person: [900 + item, person, item + 1, draw.choice(KINDS), f"picture {item}"])
    frame = accepted(saved(tmp_path / "t.csv", "_unit_id,_worker_id,index,answer,text", rows)).frame
    assert "trial" not in frame.columns


def test_an_input_that_never_varies_is_no_item(tmp_path: Path) -> None:
    rows = crowd(lambda draw, item, person: [f"H{item}", f"A{item}-{person}", f"W{person}", "-", draw.choice(KINDS)])
    frame = accepted(saved(tmp_path / "t.csv", "HITId,AssignmentId,WorkerId,Input.input,Answer.output", rows)).frame
    assert frame["item"].n_unique() == 30


def test_means_of_several_people_are_named(tmp_path: Path) -> None:
    rows = [[f"word{n}", f"thing{n}", n / 7] for n in range(30)]
    with refuses(IntakeError, "Human (mean)"):
        accepted(saved(tmp_path / "t.csv", "Word 1,Word 2,Human (mean)", rows))


def test_outputs_that_only_one_person_rated(tmp_path: Path) -> None:
    draw, rows = random.Random(4), []
    for person in range(20):
        for turn in range(4):
            best = draw.randrange(2)
            rows += [
                [f"ut{len(rows) + n}", f"u{person}", n, f"ask {person} {turn}", f"say {n} {draw.random()}",
                 draw.choice(["big", "small"]), draw.randint(1, 100), n == best] for n in range(2)
            ]  # fmt: skip
    header = "utterance_id,user_id,within_turn_id,user_prompt,model_response,model_name,score,if_chosen"
    judgments = accepted(saved(tmp_path / "t.csv", header, rows))
    assert judgments.frame["item"].n_unique() == 160
    assert "if_chosen" not in judgments.factors()


def judged_by_models(folder: Path) -> Path:
    """Ratings of eight people, one of them called Claude, and two language models."""
    names = [*(f"h{n}" for n in range(7)), "Claude", "gpt-4o", "claude-3-opus"]
    rows = crowd(lambda draw, item, person: [
        names[person], "machine" if person > 7 else "human", f"it is {item} o'clock", about(draw, item)
    ], people=10, each=10)  # fmt: skip
    return saved(folder / "j.csv", "participant,kind,item,response", rows)


def test_language_models_are_named_and_may_be_set_apart(tmp_path: Path) -> None:
    path = judged_by_models(tmp_path)
    assert noted(read_files([path]).notes, "intake.models")["n"] == 2
    for names in (["gpt-4o", "claude-*"], ["kind=machine"]):
        read = read_files([path], options=Options(apart=names))
        assert (read.judgments.frame["participant"].n_unique(), read.units_in) == (8, 300)
        assert sum(read.set_aside.values()) == 60
        assert "intake.models" not in {note.code for note in read.notes}


def test_a_name_to_set_apart_must_be_somebodys(tmp_path: Path) -> None:
    with refuses(IntakeError, "gpt-4o"):
        karat.read(judged_by_models(tmp_path), set_apart=["gpt4o"])


def test_lists_of_answers_beside_lists_of_annotators(tmp_path: Path) -> None:
    draw, items = random.Random(2), {}
    for item in range(30):
        who = [f"Annotator_{n}" for n in draw.sample(range(12), 4)]
        items[str(item)] = {"tweet": f"tweet {item}", "annotators": who, "gender_annotators": ["F", "F", "M", "M"],
                            "labels_task1": [draw.choice(["YES", "NO"]) for _ in who]}  # fmt: skip
    path = tmp_path / "t.json"
    path.write_text(json.dumps(items), encoding="utf-8")
    assert proposals(path) == {"response": {"response": "labels_task1"}}
    judgments = accepted(path)
    assert (judgments.frame["participant"].n_unique(), judgments.answers) == (12, 120)
    assert "gender_annotators" not in judgments.factors()


def test_trials_and_values_of_nested_objects(tmp_path: Path) -> None:
    """A database keeps trials under their numbers; an annotation tool wraps each answer in an object."""
    numbered = {str(n): {"sentence": f"Sentence {n}.", "rating": 1 + n % 5, "rt": 900 + n} for n in range(8)}
    people = {f"-N{n}x": {"prolific_id": f"p{n}", "trials": numbered} for n in range(4)}
    (tmp_path / "base.json").write_text(json.dumps({"experiment": people}), encoding="utf-8")
    judgments = accepted(tmp_path / "base.json")
    assert (judgments.frame["participant"].n_unique(), judgments.frame["item"].n_unique()) == (4, 8)
    records = [
        {"id": f"r{n}", "fields": {"text": f"Text {n}"},
         "responses": [{"user_id": f"u{u}", "values": {"rating": {"value": 1 + (n + u) % 5}}} for u in range(3)]}
        for n in range(10)
    ]  # fmt: skip
    (tmp_path / "records.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    frame = accepted(tmp_path / "records.jsonl").frame
    assert (frame["participant"].n_unique(), frame["item"].n_unique(), frame.height) == (3, 10, 30)


def test_a_text_is_the_item_beside_several_answers(tmp_path: Path) -> None:
    rows = crowd(lambda draw, item, person: [
        draw.choice([0, 1]), draw.choice([0, 0, 0.5, 1]), f"w{person}", f"a post number {item} about it",
    ], items=60)  # fmt: skip
    path = saved(tmp_path / "t.csv", "sexYN,offensiveYN,WorkerId,post", rows)
    assert proposals(path)["item"] == {"item": "post"}


def test_the_only_word_among_points_is_no_answer(tmp_path: Path) -> None:
    rows = crowd(lambda draw, item, person: [f"w{person}", f"word{item}", draw.choice([1, 2, 3, 4, 5] * 3 + ["n"])])
    path, unknown = saved(tmp_path / "t.csv", "WorkerID,Word,Rating", rows), sum(row[-1] == "n" for row in rows)
    judgments = accepted(path)
    assert (judgments.scales[""], judgments.answers) == (Ordinal(5), len(rows) - unknown)
    kept = read_files([path], options=Options(accept=True, scale=Nominal(["1", "2", "3", "4", "5", "n"]))).judgments
    assert kept.answers == len(rows) > len(rows) - unknown


def test_participants_numbered_anew_in_each_group(tmp_path: Path) -> None:
    draw = random.Random(3)
    rows = [[subject, age, word, draw.choice([0, 1])] for age in ("adult", "child") for subject in range(20)
            for word in ("tea", "rain", "dog", "door", "hat")]  # fmt: skip
    path = saved(tmp_path / "t.csv", "subject,age,word,response", rows)
    assert proposals(path)["participant"] == {"participant": "age+subject"}
    assert accepted(path).frame["participant"].n_unique() == 40


def test_answers_called_right_answers(tmp_path: Path) -> None:
    """A slider that was turned round for half of the trials: what is right would be the same for everybody."""
    rows = crowd(lambda draw, item, person: [person, f"noun{item}", round(draw.random(), 2)])
    path = saved(tmp_path / "t.csv", "workerid,noun,correctresponse", rows)
    assert proposals(path)["response"] == {"response": "correctresponse"}


@pytest.mark.parametrize(
    "header",
    [
        "session,created,age,gender,a_1,a_2,a_3,a_4,a_5,a_6",
        "序号,所用时间,1、您的年龄,2、您的性别,3、甲,4、乙,5、丙,6、丁,7、戊,8、己",
    ],
)
def test_who_describes_people_has_a_row_for_each(tmp_path: Path, header: str) -> None:
    draw = random.Random(6)
    rows = [
        [f"{n:x}", f"{200 + n}秒", draw.choice([19, 20]), draw.choice("男女"), *(draw.randint(1, 5) for _ in range(6))]
        for n in range(30)
    ]
    judgments = accepted(saved(tmp_path / "t.csv", header, rows))
    assert (judgments.frame["participant"].n_unique(), judgments.frame["item"].n_unique()) == (30, 6)


def test_answers_of_ground_truth_are_texts(tmp_path: Path) -> None:
    draw, every = random.Random(31), []
    for item in range(24):
        answers = [
            {"workerId": f"private.us-east-1.{who}",
             "annotationData": {"content": json.dumps({"sentiment": {"label": draw.choice(["good", "bad"])}})}}
            for who in draw.sample(["a1", "b2", "c3", "d4"], 3)
        ]  # fmt: skip
        details = {"type": "groundtruth/custom", "job-name": "tone", "human-annotated": "yes"}
        every.append({"source": f"It is {item}.", "tone": {"annotationsFromAllWorkers": answers}, "tone-meta": details})
    frame = accepted(objects(tmp_path / "output.manifest.jsonl", every)).frame
    assert (frame.height, frame["participant"].n_unique(), frame["item"].n_unique()) == (72, 4, 24)
    assert set(frame["response"]) == {"good", "bad"}


def test_a_text_called_response_judged_by_two_is_no_answer(tmp_path: Path) -> None:
    draw, every = random.Random(32), []
    for item in range(40):
        rated = [
            {"user_id": who, "value": draw.randint(1, 5), "status": "submitted"} for who in draw.sample("abcde", 2)
        ]
        every.append({"prompt": f"Say {item}.", "response": f"It is {item}, of course.", "quality": rated})
    frame = accepted(objects(tmp_path / "r.jsonl", every)).frame
    assert (set(frame["response"]), frame["item"].n_unique()) == (set("12345"), 40)


def test_ratings_on_several_axes_in_an_object(tmp_path: Path) -> None:
    draw, every = random.Random(33), []
    for n in range(150):
        axes = {name: draw.randint(1, 7) for name in ("overall", "accuracy", "coverage", "coherence")}
        summary = {"text": f"Summary {n // 3}.", "policy": "abc"[n // 3 % 3], "axes": axes}
        every.append({"info": {"id": f"t{n // 3}", "title": "News"}, "summary": summary, "worker": f"w{n % 8}"})
    frame = accepted(objects(tmp_path / "r.jsonl", every)).frame
    assert (frame.height, frame["participant"].n_unique(), frame["item"].n_unique()) == (600, 8, 50)
    assert set(frame["question"]) == {"overall", "accuracy", "coverage", "coherence"}
