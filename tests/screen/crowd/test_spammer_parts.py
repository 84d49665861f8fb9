"""The Spammer Index in parts beside that of the whole table."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import karat
from karat.executors import SERIAL, Executor, ExecutorError, open_executor
from karat.executors.checkpoint import Checkpoint
from karat.messages import Message, message_of
from karat.models.glrm import fit_crossed, fit_nominal
from karat.models.glrm.parts.answers import random_numbers
from karat.screen import ScreenError, SpammerIndex, spammer_index
from karat.screen.crowd import spammer_parts
from karat.screen.crowd.answers import crowd as in_memory
from karat.screen.crowd.answers import seconds_of, share_in_time
from karat.screen.crowd.spammer_parts import spammer_index_in_parts
from karat.screen.parted.in_parts import InParts, part_file
from messages import codes, raises, refuses
from screen.parted.splitting import SPLITS, crowd, whole

SOME_SPLITS = [
    pytest.param(shares, marks=[pytest.mark.slow] * (len(shares) != 2), id=str(len(shares))) for shares in SPLITS
]
"""Two parts always, others among the slow tests."""


def simulated(
    scale: Any, people: int = 24, items: int = 15, seed: int = 3, rounds: int = 1, share: float = 0.85
) -> karat.Judgments:
    """Answers drawn from the model, some of them missing; items in an order of each participant's own."""
    random = np.random.default_rng(seed)
    who, what, when = (part.ravel() for part in np.meshgrid(range(people), range(items), range(rounds), indexing="ij"))
    kept = random.random(len(who)) < share
    who, what, when = who[kept], what[kept], when[kept]
    levels = len(scale.levels)
    if isinstance(scale, karat.Nominal):
        eta = random.normal(0, 0.8, (people, levels))[who] + random.normal(0, 2, (items, levels))[what]
        code = np.argmax(eta + random.gumbel(size=eta.shape), axis=1)
    else:
        latent = random.normal(0, 0.8, people)[who] + random.normal(0, 1.5, items)[what]
        latent += random.logistic(size=len(who))
        code = np.searchsorted(np.linspace(-1.5, 1.5, levels + 1)[1:-1], latent)
    frame = pl.DataFrame({
        "participant": [f"w{number:02}" for number in who], "item": [f"t{number}" for number in what],
        "response": [scale.levels[place] for place in code], "trial": random.permutation(len(who)) + 1,
    })  # fmt: skip
    return karat.Judgments(frame.with_columns(repetition=pl.Series(when + 1)) if rounds > 1 else frame, scale)


def same(parted: SpammerIndex, together: SpammerIndex) -> None:
    assert parted.value == pytest.approx(together.value, abs=1e-8)
    assert parted.lower == pytest.approx(together.lower, abs=1e-6)
    assert parted.upper == pytest.approx(together.upper, abs=1e-6)
    assert parted.log_likelihood == pytest.approx(together.log_likelihood, rel=1e-8)
    assert parted.agreement == pytest.approx(together.agreement, abs=1e-8, nan_ok=True)
    assert parted.notes == together.notes
    assert parted.participants == together.participants
    assert parted.family == together.family
    assert parted.interval == together.interval
    assert parted.settings == together.settings
    assert str(parted) == str(together)
    assert_frame_equal(parted.variances, together.variances, abs_tol=1e-6)
    if together.baselines is None:
        assert parted.baselines is None
    else:
        assert parted.baselines is not None
        assert_frame_equal(parted.baselines, together.baselines, abs_tol=1e-6)


@pytest.mark.parametrize("shares", SOME_SPLITS)
@pytest.mark.parametrize(
    "scale",
    [karat.Ordinal(4), *(pytest.param(one, marks=pytest.mark.slow) for one in (karat.Binary(), karat.Nominal("abc"))),
     pytest.param(karat.Choice(), marks=pytest.mark.slow)],
    ids=lambda scale: scale.kind,
)  # fmt: skip
def test_the_same_as_in_memory(scale: Any, shares: Sequence[float], tmp_path: Path) -> None:
    parted = crowd(simulated(scale), shares, tmp_path)
    same(spammer_index_in_parts(parted), spammer_index(whole(parted.parts)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["crowd", pytest.param("likert", marks=pytest.mark.slow)])
def test_the_data_that_come_with_karat(name: str, tmp_path: Path) -> None:
    parted = crowd(karat.datasets.load(name), SPLITS[2], tmp_path)
    same(spammer_index_in_parts(parted), spammer_index(whole(parted.parts)))


@pytest.mark.parametrize(
    "scale", [karat.Binary(), pytest.param(karat.Nominal("abc"), marks=pytest.mark.slow)], ids=lambda scale: scale.kind
)
def test_rounds(scale: Any, tmp_path: Path) -> None:
    judgments = simulated(scale, people=14, items=10, rounds=2, share=0.95)
    parted = crowd(judgments, SPLITS[2], tmp_path)
    together = spammer_index(whole(parted.parts))
    rounds = Message("spammer_index.rounds", {"rounds": 2, "column": "repetition"})
    assert {rounds, Message("spammer_index.rounds_of_labels", {"column": "repetition"})} & set(together.notes)
    same(spammer_index_in_parts(parted), together)


@pytest.mark.slow
def test_a_repetition_in_few_tasks_is_no_round(tmp_path: Path) -> None:
    judgments = simulated(karat.Binary())
    late = pl.when(pl.col("item").is_in(["t1", "t2"])).then(2).otherwise(1)
    parted = crowd(karat.Judgments(judgments.frame.with_columns(repetition=late), karat.Binary()), (0.5, 0.5), tmp_path)
    together = spammer_index(whole(parted.parts))
    assert together.variances["source"].to_list() == ["workers", "tasks"]
    same(spammer_index_in_parts(parted), together)


@pytest.mark.slow
@pytest.mark.parametrize("shares", SOME_SPLITS)
def test_questions_conditions_and_several_scales(shares: Sequence[float], tmp_path: Path) -> None:
    scales = {"good": karat.Binary(), "how": karat.Ordinal(5), "old": karat.Continuous(0, 100)}
    good, how = (simulated(scales[name], seed=seed, items=10).frame for name, seed in (("good", 1), ("how", 2)))
    good = good.filter(pl.col("participant") > "w03")
    old = how.with_columns(response=pl.lit("50"), question=pl.lit("old"))
    frame = pl.concat([good.with_columns(question=pl.lit("good")), how.with_columns(question=pl.lit("how")), old])
    frame = frame.with_columns(voice=pl.when(pl.col("trial") % 2 == 0).then(pl.lit("a")).otherwise(pl.lit("b")))
    parted = crowd(karat.Judgments(frame.sort("participant", maintain_order=True), scales), shares, tmp_path)
    for conditions in (None, (), ("voice",)):
        together = spammer_index(whole(parted.parts), conditions=conditions)
        assert together.family == "ordinal"
        assert "crowd.several_scales" in codes(together.notes)
        same(spammer_index_in_parts(parted, conditions=conditions), together)
    with raises(ScreenError, "unknown.column"):
        spammer_index_in_parts(parted, conditions=["voices"])


@pytest.mark.slow
def test_those_who_are_excluded_are_not_in_it(tmp_path: Path) -> None:
    parted = crowd(simulated(karat.Binary()), (0.5, 0.5), tmp_path)
    gone = ["w01", "w20"]
    for number in range(2):
        path = part_file(parted.scratch / "gone", number)
        path.parent.mkdir(parents=True, exist_ok=True)
        pl.DataFrame({"participant": gone}).write_parquet(path)
    before = spammer_index_in_parts(parted)
    after = spammer_index_in_parts(replace(parted, excluded="gone"))
    assert before.participants == after.participants + 2
    same(after, spammer_index(whole(parted.parts).without(gone)))


@pytest.mark.slow
def test_more_tasks_than_can_be_told_apart(tmp_path: Path) -> None:
    judgments = simulated(karat.Binary(), people=60, items=40, share=0.2)
    parted = crowd(judgments, SPLITS[2], tmp_path)
    found = spammer_index_in_parts(parted, tasks=35, seed=4)
    answers = in_memory(whole(parted.parts), "spammer_index")
    drawn = np.argsort(random_numbers(4, 0, len(answers.workers)))
    number = max(
        count for count in range(2, 60) if len(np.unique(answers.task[np.isin(answers.worker, drawn[:count])])) <= 35
    )
    kept = np.isin(answers.worker, drawn[:number])
    fit = fit_crossed(answers.response[kept], answers.worker[kept], answers.task[kept])
    assert found.log_likelihood == pytest.approx(fit.log_likelihood, rel=1e-8)
    assert found.participants == len(answers.workers)
    sample = found.notes[0].values
    assert number in sample.values()
    assert len(answers.workers) in sample.values()
    assert 4 in sample.values()
    error = (found.upper - found.lower) / (2 * 1.959964)
    assert found.notes[-1].code == "spammer_index.standard_error"
    assert found.notes[-1].values["error"] == pytest.approx(error)


@pytest.mark.slow
def test_labels_that_would_take_long_are_sampled(tmp_path: Path) -> None:
    parted = crowd(simulated(karat.Nominal("abc"), people=40, items=40), SPLITS[2], tmp_path)
    limit = seconds_of(30, 30, 3)
    found = spammer_index_in_parts(parted, seed=2, seconds=limit)
    share = share_in_time(40, 40, 3, limit)
    assert 0.5 < share < 0.95
    answers = in_memory(whole(parted.parts), "spammer_index")
    kept = np.isin(answers.worker, np.flatnonzero(random_numbers(2, 0, 40) < share))
    kept &= np.isin(answers.task, np.flatnonzero(random_numbers(3, 0, 40) < share))
    fit = fit_nominal(answers.response[kept], answers.worker[kept], answers.task[kept])
    assert found.log_likelihood == pytest.approx(fit.log_likelihood, rel=1e-8)
    assert found.participants == 40
    workers, tasks = len(fit.workers), len(fit.tasks)
    assert workers < 40
    assert tasks < 40
    values = {"answers": int(kept.sum()), "sample": workers, "participants": 40, "seed": 2, "sample_items": tasks,
              "items": 40}  # fmt: skip
    assert found.notes[0] == Message("spammer_index.sample", values)
    assert found.notes[-1].code == "spammer_index.standard_error"


def test_labels_whose_sample_says_too_little_are_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parted = crowd(simulated(karat.Nominal("abc"), people=40, items=60, share=0.3), (0.5, 0.5), tmp_path)
    monkeypatch.setattr(spammer_parts, "of_crowd", lambda *_: pytest.fail("nothing is fitted"))
    with raises(ScreenError, "spammer_index.thin_items") as caught:
        spammer_index_in_parts(parted, seconds=seconds_of(20, 30, 3))
    values = message_of(caught.value).values
    assert (values["participants"], values["items"], values["labels"], values["least"]) == (40, 60, 3, 10)
    assert values["mean"] < 10


@pytest.mark.slow
def test_what_is_not_quick_can_be_refused(tmp_path: Path) -> None:
    labels = crowd(simulated(karat.Nominal("abc"), people=20, items=12), (0.5, 0.5), tmp_path / "labels")
    assert spammer_index_in_parts(labels, only_quick=True).family == "nominal"
    binary = crowd(simulated(karat.Binary()), (0.5, 0.5), tmp_path / "binary")
    assert spammer_index_in_parts(binary, only_quick=True).family == "binary"
    for scale, people, share in ((karat.Nominal("abcd"), 150, 0.05), (karat.Binary(), 170, 0.85)):
        large = crowd(simulated(scale, people, 150, share=share), (0.5, 0.5), tmp_path / f"large-{people}")
        with raises(ScreenError, "spammer_index.not_quick"):
            spammer_index_in_parts(large, only_quick=True)


def test_rounds_that_are_too_many_to_hold(tmp_path: Path) -> None:
    parted = crowd(simulated(karat.Binary(), people=30, items=10, rounds=2), (0.5, 0.5), tmp_path)
    found = spammer_index_in_parts(parted, held=300)
    assert (found.notes[0].code, found.notes[0].values["participants"]) == ("spammer_index.sample", 30)
    assert found.notes[0].values["items"] is None
    assert found.variances["source"].to_list()[2] == "time"


def test_what_cannot_be_looked_at_is_said(tmp_path: Path) -> None:
    frame = simulated(karat.Binary()).frame
    binary = crowd(simulated(karat.Binary()), (0.5, 0.5), tmp_path / "a")
    with raises(ScreenError, "spammer_index.no_bootstrap_in_parts"):
        spammer_index_in_parts(binary, simulations=10)
    with raises(ScreenError, "spammer_index.too_few_passes"):
        spammer_index_in_parts(binary, passes=20)
    sized = karat.Judgments(frame.with_columns(response=pl.lit("3")), karat.Magnitude())
    same_answer = karat.Judgments(frame.with_columns(response=pl.lit("yes")), karat.Binary(("no", "yes")))
    one_task = karat.Judgments(frame.with_columns(item=pl.lit("t")), karat.Binary())
    for name, judgments in (("b", sized), ("c", same_answer), ("d", one_task)):
        parted = crowd(judgments, (0.5, 0.5), tmp_path / name)
        with pytest.raises(ScreenError) as result:
            spammer_index(judgments)
        with pytest.raises(ScreenError) as in_parts:
            spammer_index_in_parts(parted)
        assert message_of(in_parts.value) == message_of(result.value)


@pytest.mark.slow
def test_an_interval_that_takes_too_long_is_left_out(tmp_path: Path) -> None:
    parted = crowd(simulated(karat.Binary()), (0.5, 0.5), tmp_path)
    whole_interval = spammer_index_in_parts(parted)
    found = spammer_index_in_parts(parted, passes=60)
    assert found.value == pytest.approx(whole_interval.value, abs=1e-12)
    assert (found.lower, found.upper) == (0.0, 1.0)
    assert found.notes[-1] == Message("spammer_index.no_interval", {"passes": 60})


@pytest.mark.slow
def test_progress_never_goes_beyond_its_end(tmp_path: Path) -> None:
    lines: list[tuple[int, int]] = []
    parted = crowd(simulated(karat.Binary()), (0.5, 0.5), tmp_path)
    spammer_index_in_parts(replace(parted, progress=lambda done, total: lines.append((done, total))))
    assert len(lines) > 100
    assert all(done <= total for done, total in lines)
    assert lines[-1][0] == lines[-1][1]


class BreakingOff(Executor):
    """Work that is lost after so many maps."""

    def __init__(self, after: int | None = None) -> None:
        self.maps, self.after = 0, after

    def results(self, *given: Any) -> Generator[tuple[int, Any]]:
        self.maps += 1
        if self.after is not None and self.maps > self.after:
            raise ExecutorError("the scheduler is gone")
        yield from SERIAL.results(*given)


@pytest.mark.slow
def test_a_fit_that_was_broken_off_goes_on(tmp_path: Path) -> None:
    parted = crowd(simulated(karat.Binary()), (0.5, 0.5), tmp_path)
    usual = BreakingOff()
    whole_index = spammer_index_in_parts(replace(parted, executor=usual))
    kept = replace(parted, out=tmp_path / "kept-out", scratch=tmp_path / "kept-out" / "scratch")
    lost, found = BreakingOff(usual.maps // 2), BreakingOff()
    with refuses(ExecutorError, "scheduler"):
        spammer_index_in_parts(replace(kept, executor=Checkpoint(lost, tmp_path / "kept")))
    again = spammer_index_in_parts(replace(kept, executor=Checkpoint(found, tmp_path / "kept")))
    assert found.maps < usual.maps * 0.6
    assert (again.value, again.lower, again.upper) == (whole_index.value, whole_index.lower, whole_index.upper)
    assert again.log_likelihood == whole_index.log_likelihood


@pytest.mark.slow
@pytest.mark.parametrize("processes", [2, 4])
def test_on_a_cluster(processes: int, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    parted = crowd(simulated(karat.Binary()), SPLITS[2], tmp_path)
    here = spammer_index_in_parts(parted)
    with open_executor("local", processes=processes, checkpoint=tmp_path / "kept") as executor:
        there = spammer_index_in_parts(InParts(parted.parts, tmp_path / "there", executor))
    assert (there.value, there.lower, there.upper) == (here.value, here.lower, here.upper)
    assert there.log_likelihood == here.log_likelihood
    assert len(list((tmp_path / "kept").iterdir())) == 5
