"""The criteria together, in parts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import karat
from karat import screen
from karat.executors import Serial, open_executor
from karat.judgments.parts import PartsError, open_parts
from karat.messages import Message, NotComputed
from karat.screen.crowd import spammer_parts
from karat.screen.parted import PartedScreening, run_in_parts
from karat.screen.parted import run as running
from karat.study.criteria import CRITERIA
from messages import refuses
from screen.judged import crowd as judged_crowd
from screen.parted.splitting import SPLITS, split, whole

STATED: dict[str, Any] = {
    "completion": {}, "speed": {"mean_below": 1.0, "median_below": 1.0}, "remfod": {}, "controls": {}, "attention": {},
    "straightlining": {}, "markov": {"simulations": 300},
}  # fmt: skip


RULES = ["any", "all", 2, "remfod and not attention", "completion or markov", None]


def assert_same_screening(parted: PartedScreening, together: screen.Screening) -> None:
    """Whether the verdicts, steps and words are the same."""
    table = parted.scan().collect()
    expected = together.table()
    assert_frame_equal(table, expected, rel_tol=1e-10, abs_tol=0)
    assert parted.remaining == together.remaining
    assert parted.skipped == together.skipped
    assert parted.notes == together.notes
    assert str(parted) == str(together)
    assert parted.flow() == together.flow()
    theirs = together.to_dict()
    ours = parted.to_dict()
    assert ours["settings"] == theirs["settings"]
    assert {key: ours["summary"][key] for key in theirs["summary"] if key != "data"} == {
        key: value for key, value in theirs["summary"].items() if key != "data"
    }
    for mine, other in zip(parted.steps, together.steps, strict=True):
        assert mine == replace(other, excluded=())


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("exclude", "shares"),
    [
        pytest.param("any", SPLITS[0], marks=pytest.mark.slow),
        pytest.param("any", SPLITS[1], marks=pytest.mark.slow),
        *(pytest.param(rule, SPLITS[2], marks=[pytest.mark.slow] * (place > 0)) for place, rule in enumerate(RULES)),
    ],
    ids=str,
)
def test_the_same_as_in_memory(exclude: Any, shares: Sequence[float], tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    parts = split(karat.datasets.load("likert"), shares, tmp_path / "in")
    rules = {**STATED, "exclude": exclude}
    parted = run_in_parts(parts, rules, out=tmp_path / "out")
    assert_same_screening(parted, screen.run(whole(parts), rules))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "evidence", "flow.svg", "participants", "screening.json"
    ]  # fmt: skip
    assert json.loads((tmp_path / "out" / "screening.json").read_text(encoding="utf-8")) == parted.to_dict()


@pytest.mark.parametrize(
    "scale",
    [karat.Ordinal(5), *(pytest.param(one, marks=pytest.mark.slow) for one in (karat.Binary(), karat.Magnitude()))],
    ids=lambda scale: scale.kind,
)
def test_doubtful_right_answers_are_reported(scale: Any, tmp_path: Path) -> None:
    judgments = judged_crowd(scale, people=40)
    wrong = {"binary": "0", "ordinal": "1", "magnitude": "1"}[scale.kind]
    known = pl.when(pl.col("participant") < "p30").then(pl.lit(wrong))
    (tmp_path / "in").mkdir()
    parts = split(karat.Judgments(judgments.frame.with_columns(expected=known), scale), SPLITS[2], tmp_path / "in")
    rules = {"completion": {}, "straightlining": {}, "exclude": "any"}
    together = screen.run(whole(parts), rules)
    assert {note.values["note"] for note in together.notes} & set(screen.gold(whole(parts)).notes)
    assert_same_screening(run_in_parts(parts, rules, out=tmp_path / "out"), together)


def test_right_answers_are_checked_before_anybody_is_excluded(tmp_path: Path) -> None:
    """They are compared with the answers of everybody, those who are excluded among them."""
    judgments = judged_crowd(karat.Ordinal(5), people=40)
    frame = judgments.frame.with_columns(
        expected=pl.lit("1"),
        response=pl.when(pl.col("participant") < "p05").then(pl.lit("1")).otherwise(pl.lit("5")),
    )
    honest = pl.col("participant").is_between(pl.lit("p05"), pl.lit("p39")) & (pl.col("trial") % 9 == 0)
    frame = frame.with_columns(response=pl.when(honest).then(pl.lit("4")).otherwise("response"))
    (tmp_path / "in").mkdir()
    parts = split(karat.Judgments(frame, karat.Ordinal(5)), SPLITS[2], tmp_path / "in")
    rules = {"straightlining": {}, "exclude": "any"}
    together = screen.run(whole(parts), rules)
    assert together.excluded
    assert_same_screening(run_in_parts(parts, rules, out=tmp_path / "out"), together)


@pytest.mark.slow
def test_a_part_in_which_nobody_is_left(tmp_path: Path) -> None:
    judgments = karat.datasets.load("crowd")
    names = judgments.participants["participant"].to_list()
    # The first two parts answered too little.
    short = pl.col("participant").is_in(names[:12]) & (pl.col("trial") > 20)
    judgments = karat.Judgments(judgments.frame.filter(~short), judgments.scales)
    (tmp_path / "in").mkdir()
    parts = split(judgments, (0.05, 0.05, 0.5, 0.4), tmp_path / "in")
    rules = {name: STATED[name] for name in ("completion", "speed", "remfod", "straightlining", "markov")}
    rules |= {"completion": {"trials": 80}, "inconsistency": {}, "exclude": "any"}
    parted = run_in_parts(parts, rules, out=tmp_path / "out")
    assert parted.remaining["completion"] == 108
    assert_same_screening(parted, screen.run(whole(parts), rules))


def test_nobody_is_left_at_all(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    parts = split(judged_crowd(karat.Ordinal(5)), (0.5, 0.5), tmp_path / "in")
    rules = {"completion": {"trials": 1000}, "straightlining": {}, "exclude": "any"}
    parted = run_in_parts(parts, rules, out=tmp_path / "out")
    assert parted.excluded == 20
    assert_same_screening(parted, screen.run(whole(parts), rules))


@pytest.mark.slow
def test_without_rules_all_that_can_run_give_evidence(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    parts = split(karat.datasets.load("likert"), (0.5, 0.5), tmp_path / "in")
    parted = run_in_parts(parts, out=tmp_path / "out")
    assert {"completion", "speed", "remfod", "controls", "attention", "straightlining", "markov"} <= set(
        parted.evidence
    )
    assert parted.skipped["mahalanobis"] == NotComputed("screening.not_in_parts")
    assert set(parted.evidence) | set(parted.skipped) == {name for name, own in CRITERIA.items() if own.unasked}
    assert parted.summary[-1].code == "screening.no_rule"


def test_somebody_in_two_parts(tmp_path: Path) -> None:
    judgments = judged_crowd(karat.Ordinal(5))
    judgments.without(["p00"]).to_parquet(tmp_path / "in" / "a.parquet")
    rest = [name for name in judgments.participants["participant"] if name not in ("p00", "p03")]
    judgments.without(rest).to_parquet(tmp_path / "in" / "b.parquet")
    with refuses(PartsError, "p03", "a.parquet", "b.parquet", "karat convert", "--parts 2"):
        run_in_parts(open_parts(tmp_path / "in"), STATED, out=tmp_path / "out")


class Counting(Serial):
    """Work that counts its tasks."""

    done = 0

    def results(self, function: Any, shared: Any, jobs: Any, name: str) -> Any:
        self.done += len(jobs)
        yield from super().results(function, shared, jobs, name)


class Breaking(Counting):
    """Work that breaks off after so many maps."""

    def __init__(self, after: int) -> None:
        self.after = after

    def results(self, function: Any, shared: Any, jobs: Any, name: str) -> Any:
        self.after -= 1
        if self.after < 0:
            raise KeyboardInterrupt
        yield from super().results(function, shared, jobs, name)


@pytest.mark.slow
@pytest.mark.parametrize(
    "after", [pytest.param(1, marks=pytest.mark.slow), 4, pytest.param(12, marks=pytest.mark.slow)]
)
def test_broken_off_and_begun_again(after: int, tmp_path: Path) -> None:
    from karat.executors.checkpoint import Checkpoint

    (tmp_path / "in").mkdir()
    parts = split(karat.datasets.load("likert"), (0.3, 0.3, 0.4), tmp_path / "in")
    rules = {**STATED, "exclude": "any"}
    breaking = Breaking(after)
    with pytest.raises(KeyboardInterrupt):
        run_in_parts(parts, rules, executor=Checkpoint(breaking, tmp_path / "kept"), out=tmp_path / "out")
    whole_run, rest = Counting(), Counting()
    run_in_parts(parts, rules, executor=whole_run, out=tmp_path / "other")
    parted = run_in_parts(parts, rules, executor=Checkpoint(rest, tmp_path / "kept"), out=tmp_path / "out")
    assert_same_screening(parted, screen.run(whole(parts), rules))
    assert rest.done == whole_run.done - breaking.done
    # Run once more, it finds no files of its own and computes everything.
    again = Counting()
    run_in_parts(parts, rules, executor=Checkpoint(again, tmp_path / "kept"), out=tmp_path / "out")
    assert again.done == whole_run.done


@pytest.mark.slow
def test_other_rules_begin_anew(tmp_path: Path) -> None:
    from karat.executors.checkpoint import Checkpoint

    (tmp_path / "in").mkdir()
    parts = split(karat.datasets.load("likert"), (0.5, 0.5), tmp_path / "in")
    rules = {"completion": {}, "straightlining": {}, "exclude": "any"}
    with pytest.raises(KeyboardInterrupt):
        run_in_parts(parts, rules, executor=Checkpoint(Breaking(3), tmp_path / "kept"), out=tmp_path / "out")
    other = {"completion": {"at_least": 1.0}, "straightlining": {}, "exclude": "any"}
    with pytest.raises(KeyboardInterrupt):
        run_in_parts(parts, other, executor=Checkpoint(Breaking(5), tmp_path / "kept"), out=tmp_path / "out")
    parted = run_in_parts(parts, rules, executor=Checkpoint(Serial(), tmp_path / "kept"), out=tmp_path / "out")
    assert_same_screening(parted, screen.run(whole(parts), rules))


@pytest.mark.slow
def test_in_two_processes(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    parts = split(karat.datasets.load("likert"), (0.3, 0.3, 0.4), tmp_path / "in")
    rules = {"completion": {}, "controls": {}, "exclude": "any"}
    with open_executor(processes=2) as executor:
        parted = run_in_parts(parts, rules, executor=executor, out=tmp_path / "out")
    assert_same_screening(parted, screen.run(whole(parts), rules))


@pytest.mark.parametrize(
    ("fails", "why"),
    [
        (screen.ScreenError(Message("crowd.too_few")), NotComputed("crowd.too_few")),
        (ValueError("There is no likelihood."), NotComputed("error", {"text": "There is no likelihood."})),
        (MemoryError(), NotComputed("spammer_index.no_room")),
    ],
)
def test_verdicts_are_written_before_the_spammer_index(
    fails: Exception, why: NotComputed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    split(judged_crowd(karat.Ordinal(5)), (0.5, 0.5), tmp_path / "in")
    out = tmp_path / "out"

    def fit(*_: Any, **named: Any) -> None:
        written = json.loads((out / "screening.json").read_text(encoding="utf-8"))
        assert written["summary"]["participants"] == 20
        assert written["spammer_index"] == f"No Spammer Index. {running.UNFINISHED}"
        assert pl.read_parquet(out / "participants").height == 20
        assert (out / "flow.svg").exists()
        raise fails

    monkeypatch.setattr(spammer_parts, "spammer_index_in_parts", fit)
    found = run_in_parts(open_parts(tmp_path / "in"), {"completion": {}}, out=out, spammer_index=True)
    assert found.spammer_index == why
    written = json.loads((out / "screening.json").read_text(encoding="utf-8"))
    assert written["spammer_index"] == f"No Spammer Index. {why}"
    assert not (out / "scratch").exists()


@pytest.mark.slow
def test_a_fit_that_is_killed_leaves_the_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    split(judged_crowd(karat.Ordinal(5)), (0.5, 0.5), tmp_path / "in")
    out = tmp_path / "out"

    def fit(*_: Any, **named: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(spammer_parts, "spammer_index_in_parts", fit)
    with pytest.raises(KeyboardInterrupt):
        run_in_parts(open_parts(tmp_path / "in"), {"completion": {}}, out=out, spammer_index=True)
    written = json.loads((out / "screening.json").read_text(encoding="utf-8"))
    assert written["spammer_index"] == f"No Spammer Index. {running.UNFINISHED}"
    monkeypatch.undo()
    again = run_in_parts(open_parts(tmp_path / "in"), {"completion": {}}, out=out, spammer_index=True)
    assert isinstance(again.spammer_index, screen.SpammerIndex)


@pytest.mark.slow
def test_a_quick_index_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    split(judged_crowd(karat.Ordinal(5)), (0.5, 0.5), tmp_path / "in")
    parts = open_parts(tmp_path / "in")
    found = run_in_parts(parts, {"completion": {}}, out=tmp_path / "out", spammer_index="quick")
    assert isinstance(found.spammer_index, screen.SpammerIndex)
    table = {"participant": [f"p{n // 100}" for n in range(20_100)], "item": [f"i{n % 100}" for n in range(20_100)]}
    many = karat.Judgments(table | {"response": ["no", "yes", "yes"] * 6_700}, karat.Binary(("no", "yes")))
    parts = split(many, (0.5, 0.5), tmp_path / "many")
    monkeypatch.setattr(spammer_parts, "spammer_index_in_parts", lambda *_, **named: pytest.fail("it is not fitted"))
    found = run_in_parts(parts, {"completion": {}}, out=tmp_path / "other", spammer_index="quick")
    assert found.spammer_index == NotComputed("spammer_index.not_quick")


class Heard:
    """A progress that wants to hear of steps."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ended: list[Message] = []

    def __call__(self, done: int, total: int) -> None:
        self.begun.append(f"{done} of {total}")

    def begins(self, step: str) -> None:
        self.begun.append(step)

    def ends(self, found: Message) -> None:
        self.ended.append(found)


@pytest.mark.slow
def test_steps_are_named(tmp_path: Path) -> None:
    split(judged_crowd(karat.Ordinal(5)), (0.5, 0.5), tmp_path / "in")
    heard = Heard()
    rules = {"completion": {}, "risk": {}, "straightlining": {}}
    found = run_in_parts(
        open_parts(tmp_path / "in"), rules, out=tmp_path / "out", progress=heard, spammer_index=True
    )  # fmt: skip
    assert [(message.code, message.values.get("criterion")) for message in heard.ended] == [
        ("screening.flagged", "completion"), ("screening.not_run", "risk"), ("screening.flagged", "straightlining"),
        ("screening.written_before_index", None),
    ]  # fmt: skip
    assert heard.ended[0].values["flagged"] == found.evidence["completion"].flagged
    named = [text for text in heard.begun if " of " not in text]
    assert list(dict.fromkeys(named)) == [
        "reading", "completion", "exclusion after completion", "straightlining", "exclusion after answers", "verdicts",
        "spammer_index",
    ]  # fmt: skip
    # After its last task a step goes on without a number, instead of standing at 100 %.
    last = max(place for place, text in enumerate(heard.begun) if text == "2 of 2")
    assert heard.begun[last + 1] == "spammer_index"
