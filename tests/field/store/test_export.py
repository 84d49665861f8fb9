"""What leaves the store is what was asked and answered."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from field.store.stand_ins import HOUR, begin, come, start
from karat.field.content import answers as content
from karat.field.content.texts import words
from karat.field.content.trials import planned
from karat.field.store import Store, StoreError, answers, arrivals, export, people, progress, trials
from karat.study.init import write_study
from karat.study.study import Study, load

MIXED = """title = "Ratings and pairs"
[[block]]
name = "ratings"
task = "likert"
items = "items.csv"
[[block]]
name = "adjectives"
task = "differential"
items = "items.csv"
questions = "questions.csv"
repeated_questions = 1
per_page = 6
[questionnaire]
breaks_after = 2
{sessions}
[order]
test_adjacent = true
"""
ITEMS = "item,function,sentence,kind\n" + "".join(f"i{n},test,Sentence {n}.,{'xy'[n % 2]}\n" for n in range(3))
QUESTIONS = "question,left,right\n" + "".join(f"a{n},low {n},high {n}\n" for n in range(10))


def mixed(folder: Path, sessions: str = "") -> Study:
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text(MIXED.format(sessions=sessions))
    (folder / "items.csv").write_text(ITEMS)
    (folder / "questions.csv").write_text(QUESTIONS)
    return load(folder)


def response_to(question: dict[str, Any] | None, position: int) -> str:
    return str(1 + (position + (0 if question is None else int(question["id"][1:]))) % 5)


def answer_all(
    store: Store, study: Study, study_id: int, most: int = 1000, complete: bool = True, **settings: Any
) -> arrivals.Arrived:
    """Somebody takes part as the server would have it."""
    usual = {"lists": study.lists, "token_hash": f"t{len(settings)}-{settings}", "lease_seconds": HOUR}
    arrived = store.call(arrivals.arrive, arrivals.Arrival(study_id, first_step="trials", **{**usual, **settings}))
    questionnaire = study.questionnaire(arrived.list or 1, arrived.participant or "")
    pages = planned(study, questionnaire, slug="mixed", words=words("en"), session=arrived.number or 1)
    store.call(trials.plan_trials, trials.PlannedTrials(arrived.session_id or 0, pages))
    offers = content.offers(study)
    for page in pages[:most]:
        asked = page.shown.get("questions")
        given: dict[str, Any] = {"trial": page.public_id, "key": f"key-{page.position:06d}", "rt": 1.25}
        if asked:
            given["responses"] = {one["id"]: response_to(one, page.position) for one in asked}
        elif page.shown["kind"] == "trial":
            given["response"] = response_to(None, page.position)
        sent = content.PostedAnswer(**given, pointer="touch", blurs=2)
        one = answers.SubmittedAnswer(sent.trial, sent.key, sent, 1_780_000_000.5, content.details(sent))
        saved = store.call(
            answers.save,
            answers.AnswerSubmission(
                arrived.token_hash or "", [one],
                lambda trial, values: content.check(trial.shown, offers.get(trial.block), values), "done", HOUR,
                now=1_780_000_001.0,
            ),
        )  # fmt: skip
        assert saved.saved == [sent.key]
    if complete:
        finished = settings.get("now", 0.0) + 60.0
        assert store.call(progress.finish, arrived.session_id or 0, "complete", now=finished) == "ok"
    return arrived


def test_judgments_are_the_questionnaire_with_its_answers(store: Store, tmp_path: Path) -> None:
    study = mixed(tmp_path / "study")
    study_id = start(store, "mixed")
    with store.read() as connection, pytest.raises(StoreError):
        export.judgments(connection, study_id, study)
    came = [answer_all(store, study, study_id, now=1_780_000_000.0 - number) for number in range(3)]
    with store.read() as connection:
        judgments = export.judgments(connection, study_id, study)
    assert judgments.scales.keys() == {"ratings", *(f"a{n}" for n in range(10))}
    assert {scale.known() for scale in judgments.scales.values()} == {"1, 2, 3, 4, 5", "-3, -2, -1, 0, 1, 2, 3"}
    for one in came:
        questionnaire = study.questionnaire(one.list or 1, one.participant or "").frame
        mine = judgments.frame.filter(pl.col("participant") == one.participant)
        for name in ("trial", "item", "block", "kind", "polarity", "repetition", "sentence", "function", "list"):
            assert mine[name].to_list() == questionnaire[name].to_list(), name
        assert mine.filter(pl.col("block") == "adjectives")["question"].to_list() == (
            questionnaire.filter(pl.col("block") == "adjectives")["question"].to_list()
        )
    first = judgments.frame.row(0, named=True)
    assert (first["rt"], first["pointer"], first["blurs"]) == (1.25, "touch", 2)
    assert first["time"] == datetime.fromtimestamp(1_780_000_000.5, UTC)


@pytest.mark.few(2)
@pytest.mark.parametrize("task", ["yes-no", "choice", "label", "magnitude"])
def test_every_task_goes_out_on_its_scale(task: str, store: Store, tmp_path: Path) -> None:
    write_study(tmp_path / task, task)
    study = load(tmp_path / task)
    study_id = start(store, task)
    silent, _ = begin(store, study_id, 0)
    arrived = come(store, study_id, first_step="trials", lists=study.lists)
    questionnaire = study.questionnaire(arrived.list or 1, arrived.participant or "")
    pages = planned(study, questionnaire, slug=task, words=words("en"))
    store.call(trials.plan_trials, trials.PlannedTrials(arrived.session_id or 0, pages))
    page = next(page for page in pages if page.rows)
    level = "50" if task == "magnitude" else study.blocks[0].scale.levels[0]  # type: ignore[attr-defined]
    checked = content.AnswerVerdict((content.AnswerRow("", level, 1.0),))
    one = answers.SubmittedAnswer(page.public_id, "key", None)
    store.call(
        answers.save, answers.AnswerSubmission(arrived.token_hash or "", [one], lambda *_: checked, "done", HOUR)
    )
    with store.read() as connection:
        judgments = export.judgments(connection, study_id, study)
    assert judgments.scale == study.blocks[0].scale
    assert judgments.frame.select("item", "response").rows() == [(page.rows[0]["item"], level)]
    assert set(judgments.participants["participant"]) == {silent.participant, arrived.participant}


def test_the_last_attempt_counts(store: Store, tmp_path: Path) -> None:
    write_study(tmp_path / "study", "likert")
    study = load(tmp_path / "study")
    study_id = start(store)
    arrived, pages = begin(store, study_id, 1)
    for number, level in enumerate(("2", "5"), start=1):
        checked = content.AnswerVerdict((content.AnswerRow("", level, 1.0, "1", 0.5, 1),))
        one = answers.SubmittedAnswer(pages[0].public_id, f"key-{number}", None)
        request = answers.AnswerSubmission(
            arrived.token_hash or "", [one], lambda *_, values=checked: values, "done", HOUR, going_back=True
        )
        store.call(answers.save, request)
    with store.read() as connection:
        frame = export.judgments(connection, study_id, study).frame
    assert frame.select("response", "first_response", "first_rt", "changes").rows() == [("5", "1", 0.5, 1)]


def test_two_sessions_are_one_participant(store: Store, tmp_path: Path) -> None:
    study = mixed(tmp_path / "study", "sessions = 2")
    study_id = start(store, "mixed")
    settings = {"sessions": 2, "person_hash": "ada"}
    first = answer_all(store, study, study_id, now=1000.0, **settings)
    second = answer_all(store, study, study_id, now=2000.0, **settings)
    assert (second.number, second.participant) == (2, first.participant)
    with store.read() as connection:
        judgments = export.judgments(connection, study_id, study)
    assert set(judgments.frame["session"]) == {"1", "2"}
    assert judgments.frame.height == study.questionnaire(first.list or 1, first.participant or "").frame.height
    (person,) = judgments.participants.rows(named=True)
    assert (person["working_time"], person["state"]) == (120.0, "complete")
    assert person["started"] == datetime.fromtimestamp(1000.0, UTC)
    assert person["finished"] == datetime.fromtimestamp(2060.0, UTC)


def test_participants_and_who_is_left_out(store: Store, tmp_path: Path) -> None:
    study = mixed(tmp_path / "study")
    study_id = start(store, "mixed")
    result = arrivals.Identity("5f0c", "6a1b", "7d2e")
    done = answer_all(
        store, study, study_id, now=1000.0, platform="prolific", person_hash="ada", identity=result,
        device={"class": "phone"},
    )  # fmt: skip
    left = answer_all(store, study, study_id, most=3, complete=False, now=1001.0, platform="prolific")
    background = progress.SetBackground(left.session_id or 0, {"age": "30", "participant": "x"}, "trials", HOUR)
    store.call(progress.set_background, background)
    store.call(progress.set_quiz, left.session_id or 0, True, "trials")
    declined = come(store, study_id)
    store.call(progress.finish, declined.session_id or 0, "declined")
    pilot = answer_all(store, study, study_id, now=1002.0, pilot=True)
    answer_all(store, study, study_id, now=1003.0, preview=True)
    store.call(people.decide, study_id, done.participant or "", "excluded")
    with store.read() as connection:
        table = export.participants(connection, study_id)
        with_ids = export.participants(connection, study_id, with_ids=True)
        with_pilots = export.judgments(connection, study_id, study, pilots=True)
        judgments = export.judgments(connection, study_id, study)
    assert table["participant"].to_list() == [done.participant, left.participant, declined.participant]
    assert table["state"].to_list() == ["excluded", "running", "declined"]
    assert table["source"].to_list() == ["prolific", "prolific", "link"]
    assert table["planned"].to_list() == [True, True, False]
    assert table["age"].to_list() == [None, "30", None]
    assert table["device"].to_list() == ["phone", None, None]
    assert table["quiz_attempts"].to_list() == [None, 1, None]
    assert table["person"].to_list() == ["1", None, None]
    assert "platform_id" not in table.columns
    assert with_ids["platform_id"].to_list() == ["5f0c", None, None]
    assert "5f0c" not in json.dumps(table.to_dicts(), default=str)
    assert set(judgments.frame["participant"]) == {done.participant, left.participant}
    assert judgments.participants["participant"].to_list() == [done.participant, left.participant]
    assert set(with_pilots.frame["participant"]) == {done.participant, left.participant, pilot.participant}


def test_events_with_their_trials(store: Store) -> None:
    study_id = start(store)
    arrived, pages = begin(store, study_id, 2)
    noted = [
        answers.SubmittedEvent("blur", None, pages[1].public_id, {"times": 2}),
        answers.SubmittedEvent("offline"),
    ]
    sent = answers.AnswerSubmission(
        arrived.token_hash or "", [], lambda *_: content.AnswerVerdict(), "done", HOUR, noted
    )
    store.call(answers.save, sent)
    with store.read() as connection:
        table = export.events(connection, study_id)
        assert export.events(connection, study_id + 1).is_empty()
        assert export.participants(connection, study_id + 1).is_empty()
    assert table.drop("time").rows() == [
        (arrived.participant, "1", 2, "blur", '{"times": 2}'), (arrived.participant, "1", None, "offline", ""),
    ]  # fmt: skip
    assert table["time"].dtype == pl.Datetime("us", "UTC")
