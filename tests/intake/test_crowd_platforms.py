"""Results of crowdsourcing platforms and of human evaluations of systems, with made-up data."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from intake.test_published_shapes import accepted, proposals, saved
from karat.errors import IntakeError
from karat.judgments.scales import Binary, Choice, Ordinal
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
