"""What bots answer: those who judge have an opinion of everything that can be shown, the others need none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import ROOT
from karat.field.bots.behaviour import PLAYED, Behaviour, crowd
from karat.field.content.answers import PostedAnswer, check, offers
from karat.field.content.texts import words
from karat.field.content.trials import PlannedTrial, planned, scales
from karat.judgments.scales import Continuous
from karat.simulate import SimulateError
from karat.study.init import TEMPLATES, write_study
from karat.study.study import Study, load
from karat.study.tasks import register
from karat.study.tasks.task import Task
from messages import raises

LIKERT = load(ROOT / "examples" / "likert")


class Complete(dict[Any, str]):
    """Opinions of everything that anybody is asked about."""

    def __contains__(self, words: object) -> bool:
        assert super().__contains__(words), f"no opinion of {words}"
        return True


def pages(study: Study, participant: str = "p1") -> list[PlannedTrial]:
    questionnaire = study.questionnaire(1, participant)
    made = planned(study, questionnaire, slug="study", words=words(study.settings.language))
    return [page for page in made if page.shown["kind"] == "trial"]


def answered(study: Study, behaviour: Behaviour, participant: str = "p1") -> list[tuple[PlannedTrial, dict[str, Any]]]:
    shown = scales(study, words("en"))
    return [(page, behaviour.answer(page.shown, shown[page.shown["scale"]])) for page in pages(study, participant)]


@pytest.mark.few(2)
@pytest.mark.parametrize("task", sorted(TEMPLATES))
def test_attentive_bots_never_guess_and_answer_as_offered(task: str, tmp_path: Path) -> None:
    write_study(tmp_path / task, task)
    study = load(tmp_path / task)
    offered = offers(study)
    for person in crowd(study, PLAYED):
        person.opinions = Complete(person.opinions)
        for page, answer in answered(study, person):
            sent = PostedAnswer(trial=page.public_id, key="k" * 8, **answer)
            assert check(page.shown, offered[page.block], sent).refusal is None


@pytest.mark.usefixtures("tasks")
def test_a_task_of_somebody_else_is_answered_by_its_scale(tmp_path: Path) -> None:
    register(Task("line", lambda settings: Continuous(-10, 30), 5.0, {"en": "Mark the line."}))
    (tmp_path / "study.toml").write_text('title = "Lines"\n[[block]]\ntask = "line"\nitems = "items.csv"\n')
    rows = [f"f{number},filler,Sentence {number}.,\n" for number in range(12)]
    (tmp_path / "items.csv").write_text(f"item,function,sentence,expected\n{''.join(rows)}c1,control,Is.,10-30\n")
    study = load(tmp_path)
    offered = offers(study)
    for person in crowd(study, PLAYED):
        person.opinions = Complete(person.opinions)
        for page, answer in answered(study, person):
            checked = check(page.shown, offered[page.block], PostedAnswer(trial=page.public_id, key="k" * 8, **answer))
            assert checked.refusal is None
            assert -10 <= float(checked.rows[0].response or "x") <= 30


def test_an_opinion_stays_the_same_however_sides_are_shown() -> None:
    study = load(ROOT / "examples" / "choice")
    (person,) = crowd(study, ["attentive"])
    for (left, right), side in person.opinions.items():
        assert person.opinions[right, left] == {"left": "right", "right": "left"}.get(side, side)


def test_a_differential_is_answered_at_the_place_on_the_screen() -> None:
    study = load(ROOT / "examples" / "differential")
    (person,) = crowd(study, ["attentive"])
    for (sentence, left, right), place in person.opinions.items():
        assert int(person.opinions[sentence, right, left]) == 8 - int(place)


def test_controls_answered_by_attentive_not_guessing_people() -> None:
    people = crowd(LIKERT, ["attentive"] * 6 + ["guesser"] * 6)

    def share(person: Behaviour) -> float:
        known = [(page, answer) for page, answer in answered(LIKERT, person) if page.rows[0].get("expected")]
        scale = LIKERT.blocks[0].scale
        return float(
            np.mean([answer["response"] in scale.expected(page.rows[0]["expected"]) for page, answer in known])
        )

    shares = [share(person) for person in people]
    assert min(shares[:6]) > 0.7 > 0.6 > max(shares[6:])


def test_times_and_patterns_are_those_of_the_behaviour() -> None:
    people = {person.name: person for person in crowd(LIKERT, PLAYED)}
    times = {name: [answer["rt"] for _, answer in answered(LIKERT, person)] for name, person in people.items()}
    assert max(times["rusher"]) < 1 < np.median(times["guesser"]) < np.median(times["attentive"])
    assert max(times["dawdler"]) > 4 * np.median(times["dawdler"])
    assert len({answer["response"] for _, answer in answered(LIKERT, people["straight-liner"])}) == 1
    assert {name: person.stay for name, person in people.items() if person.stay < 1}.keys() == {"drop-out"}


def test_people_agree_on_items_and_still_differ() -> None:
    first, second = crowd(LIKERT, ["attentive", "attentive"])
    ratings = np.array([[int(first.opinions[key]), int(second.opinions[key])] for key in first.opinions])
    assert np.corrcoef(ratings.T)[0, 1] > 0.3
    assert (ratings[:, 0] != ratings[:, 1]).any()


def test_the_same_seed_gives_the_same_crowd() -> None:
    assert [p.opinions for p in crowd(LIKERT, PLAYED, 3)] == [p.opinions for p in crowd(LIKERT, PLAYED, 3)]


def test_what_nobody_can_play_is_reported() -> None:
    with raises(SimulateError, "simulate.no_bot"):
        Behaviour("clever spammer")
