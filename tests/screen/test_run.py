"""The criteria together: stages, rules, and what could not run."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import polars as pl
import pytest

import karat
from karat.messages import Message, NotComputed, message_of
from karat.screen.crowd.gold import gold
from karat.screen.evidence import ScreenError
from karat.screen.run import run
from karat.study.criteria import CRITERIA
from karat.study.study import load
from messages import codes, raises
from study.studies import RATING, write_study

LIKERT = karat.datasets.load("likert")


@pytest.mark.slow
def test_without_rules_there_is_evidence_and_nobody_is_excluded() -> None:
    screening = run(LIKERT)
    only_of_servers = {"receipt_times", "automation"}
    skipped = {"eligibility", "quiz", "inconsistency", "platform_flags", "probes"} | only_of_servers
    assert set(screening.evidence) == set(CRITERIA) - {"procedure"} - skipped
    assert set(screening.skipped) == skipped
    assert screening.excluded == ()
    assert screening.kept == LIKERT
    assert codes(screening.summary)[-1] == "screening.no_rule"


def test_who_is_excluded_early_does_not_move_later_cutoffs() -> None:
    screening = run(LIKERT, {"completion": {}, "remfod": {}, "exclude": "any"})
    assert screening.evidence["completion"].flagged == ["p31"]
    assert "p31" not in screening.evidence["remfod"].participants["participant"].to_list()
    alone = LIKERT.frame.filter(LIKERT.frame["participant"] != "p31")
    again = karat.screen.remfod(karat.Judgments(alone, LIKERT.scales))
    assert screening.evidence["remfod"].flagged == again.flagged
    assert set(screening.excluded) == {"p31", *again.flagged}
    assert screening.remaining == {"completion": 47, "clock": 42, "answers": 42}
    assert screening.kept.participants.height == 42


def test_rule_of_both_excludes_only_those_flagged_by_both() -> None:
    screening = run(LIKERT, {"completion": {}, "remfod": {}, "exclude": "completion and remfod"})
    assert screening.excluded == ()
    assert screening.evidence["remfod"].participants.height == 48


def test_settings_are_those_of_the_study_file() -> None:
    screening = run(LIKERT, {"completion": {"at_least": 0.5}, "exclude": "any"})
    assert screening.excluded == ()
    with raises(ScreenError, "rules.not_applicable") as caught:
        run(LIKERT, {"completion": {"atleast": 0.5}})
    why = "the criterion completion has no setting 'atleast'; did you mean at_least?"
    assert message_of(caught.value).values == {"why": why}
    with raises(
        ScreenError, "rules.not_applicable", why="there is no screening criterion 'remofd'; did you mean remfod?"
    ):
        run(LIKERT, {"remofd": {}})


def test_what_cannot_run_is_listed_with_the_reason() -> None:
    frame = LIKERT.frame.drop("rt")
    screening = run(karat.Judgments(frame, LIKERT.scales), {"completion": {}, "remfod": {}, "exclude": "any"})
    assert list(screening.skipped) == ["remfod"]
    assert isinstance(screening.skipped["remfod"], NotComputed)
    assert screening.summary[0] == Message(
        "screening.skipped", {"criterion": "remfod", "why": screening.skipped["remfod"]}
    )


def test_working_time_needs_the_stated_minutes() -> None:
    rules = {"speed": {"share_of_expected": 0.4, "mean_below": 0.1, "median_below": 0.1}, "exclude": "any"}
    assert "speed" in run(LIKERT, rules).skipped
    rules["speed"]["expected_minutes"] = 10
    flagged = run(LIKERT, rules).evidence["speed"].flagged
    short = LIKERT.participants.filter(LIKERT.participants["working_time"] <= 240)["participant"].to_list()
    assert flagged == short


def test_everybody_excluded_is_a_result_and_not_a_crash() -> None:
    rules = {"completion": {}, "speed": {"mean_below": 900.0}, "attention": {}, "exclude": "any"}
    screening = run(LIKERT, rules)
    assert len(screening.excluded) == 48
    assert screening.remaining == {"completion": 47, "clock": 0, "answers": 0}
    assert screening.skipped["attention"] == NotComputed("screening.nobody_left")
    assert len(screening.kept) == 0


def test_a_study_gives_its_rules_its_length_and_its_minutes(tmp_path: Path) -> None:
    study = load(write_study(tmp_path, RATING + "minutes = 12\n[screening]\ncompletion = {}\nspeed = {}\n"))
    screening = run(LIKERT, study=study)
    assert screening.exclude == "any"
    assert list(screening.evidence) == ["completion", "speed"]
    # 24 test trials, 6 calibration, 12 controls, 6 attention and 24 fillers; practice does not count.
    assert screening.settings["completion"]["trials"] == 72
    assert screening.settings["speed"]["expected_minutes"] == 12
    assert screening.study == study.fingerprint


@pytest.mark.slow
def test_without_rules_in_the_study_there_is_evidence_only(tmp_path: Path) -> None:
    few = LIKERT.without(LIKERT.participants["participant"][12:])
    screening = run(few, study=load(write_study(tmp_path)))
    assert screening.exclude is None
    assert screening.excluded == ()
    assert screening.settings["completion"]["trials"] == 72


def test_every_criterion_runs_with_known_settings() -> None:
    for name, criterion in CRITERIA.items():
        function = criterion.function
        assert criterion.name == name
        assert getattr(karat.screen, name) is function
        # What only code can give, such as a progress callback, is no setting.
        parameters = [one for one in inspect.signature(function).parameters.values() if one.kind != one.KEYWORD_ONLY][
            1:
        ]
        fields = criterion.settings.model_fields
        assert {parameter.name for parameter in parameters} == set(fields), name
        for parameter in parameters:
            assert parameter.default == fields[parameter.name].get_default(call_default_factory=True), name
        assert ("executor" in inspect.signature(function).parameters) == criterion.in_tasks, name


def test_plain_data_for_the_json_file() -> None:
    data = json.loads(json.dumps(run(LIKERT, {"completion": {}, "remfod": {}, "exclude": "any"}).to_dict()))
    assert data["participants"]["p31"]["excluded"] is True
    found = data["participants"]["p01"]["criteria"]["remfod"]
    assert set(found) == {"score", "threshold", "flagged", "reason", "message", "values"}
    assert found["message"] == "remfod.genuine"
    assert found["reason"] == str(Message(found["message"], found["values"]))
    assert data["summary"]["excluded"] == 6
    assert data["settings"]["exclude"] == "any"


def test_nobody_is_excluded_because_of_what_could_not_run() -> None:
    read = karat.Judgments(LIKERT.frame.filter(LIKERT.frame["function"] != "attention"), LIKERT.scales)
    screening = run(read, {"remfod": {}, "attention": {}, "exclude": "remfod and not attention"})
    assert screening.evidence["remfod"].flagged
    assert "attention" in screening.skipped
    assert screening.excluded == ()


def test_the_procedure_runs_where_it_is_stated() -> None:
    crowd = karat.datasets.load("crowd")
    rules = {"procedure": {"cutoffs": "published", "rule": "mean", "criteria": ["markov"], "auxiliary": "none"}}
    screening = run(crowd, rules)
    assert screening.evidence["procedure"].flagged == karat.screen.markov(crowd, "published").flagged
    assert set(screening.excluded) == set(screening.evidence["procedure"].flagged) != set()
    text = screening.explain(screening.excluded[0])
    assert "Steps for crowds: markov: " in text
    data = json.loads(json.dumps(screening.to_dict()))
    assert data["settings"]["procedure"]["criteria"] == ["markov"]
    stopped = run(crowd, {"procedure": {"least_index": 0.9}})
    assert stopped.excluded == ()
    assert stopped.evidence["procedure"].participants["message"][0] == "procedure.index_below"
    assert "below .900" in stopped.table()["procedure_reason"][0]
    refused = run(crowd, {"procedure": {"verdict": "any criterion"}})
    assert refused.skipped["procedure"] == NotComputed("procedure.verdict")


def easiest(judgments: karat.Judgments) -> str:
    """The item that most participants answer correctly."""
    shares = judgments.frame.group_by("item").agg((pl.col("response") == pl.col("expected")).mean().alias("share"))
    return str(shares.sort("share", "item")["item"][-1])


def with_a_wrong_key(judgments: karat.Judgments) -> karat.Judgments:
    """The judgments with the key of the easiest item turned."""
    turned = pl.when(pl.col("item") == easiest(judgments)).then(pl.col("expected").replace({"0": "1", "1": "0"}))
    frame = judgments.frame.with_columns(expected=turned.otherwise(pl.col("expected")))
    return karat.Judgments(frame, judgments.scales)


@pytest.mark.parametrize(
    ("rules", "name"),
    [
        ({"completion": {}, "markov": {"cutoffs": "published"}}, "markov"),
        ({"risk": {"cutoffs": "published"}, "straightlining": {}}, "risk"),
    ],
)
def test_a_doubtful_key_is_a_note_once(rules: dict[str, dict[str, str]], name: str) -> None:
    crowd = karat.datasets.load("crowd")
    wrong = with_a_wrong_key(crowd)
    (doubt,) = gold(wrong).notes
    found = run(wrong, {**rules, "exclude": "all"})
    assert [criterion for criterion, one in found.evidence.items() if doubt in one.notes] == [name]
    assert sum(one.notes.count(doubt) for one in found.evidence.values()) == 1
    assert (doubt.code, doubt.values["items"]) == ("gold.doubtful", [easiest(crowd)])
    sound = run(crowd, {**rules, "exclude": "all"})
    assert gold(crowd).notes == ()
    assert [note for one in sound.evidence.values() for note in one.notes if note.code == doubt.code] == []
