"""The working process: it does one job after the other, can be stopped, and survives what goes wrong."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from karat.errors import KaratError
from karat.studio.worker import DIED, STOPPED, Job, JobFailure, Say, Worker


def add(one: int, other: int, say: Say) -> int:
    say("adding")
    say("still adding")
    return one + other


def fail(sentence: str, say: Say) -> None:
    raise KaratError(sentence)


def break_down(say: Say) -> None:
    raise ZeroDivisionError("by design")


def die(say: Say) -> None:
    os._exit(3)


def sleep(say: Say) -> None:
    say("sleeping")
    time.sleep(600)


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """A process that does not load what real jobs need."""
    made = Worker(tmp_path_factory.mktemp("root"), needed=())
    yield made
    made.close()


def test_jobs_and_what_they_say(worker: Worker, capfd: pytest.CaptureFixture[str]) -> None:
    job = Job()
    assert worker.do(job, add, 2, 3) == 5
    assert [step for step, _ in job.steps] == ["adding", "still adding"]
    (done,) = job.progress()["done"]
    assert done["step"] == "adding"
    assert done["seconds"] >= 0
    result = worker.do(Job(), fail, "a.csv is not readable:\n  line 3: is empty.")
    assert result == JobFailure("a.csv is not readable:", ("line 3: is empty.",))
    result = worker.do(Job(), break_down)
    assert "did not foresee (ZeroDivisionError: by design)" in result.headline
    assert worker.do(Job(), add, 1, 1) == 2


@pytest.mark.slow
def test_it_may_die(worker: Worker) -> None:
    assert worker.do(Job(), die) == DIED
    assert worker.do(Job(), add, 1, 1) == 2


@pytest.mark.slow
def test_it_can_be_stopped_also_while_it_waits(worker: Worker) -> None:
    job, waiting = Job(), Job()
    found: dict[str, Any] = {}
    threads = [
        Thread(target=lambda: found.update(first=worker.do(job, sleep))),
        Thread(target=lambda: found.update(second=worker.do(waiting, add, 1, 1))),
    ]
    threads[0].start()
    while not job.steps:
        time.sleep(0.01)
    threads[1].start()
    worker.stop(waiting)
    worker.stop(job)
    for thread in threads:
        thread.join(60)
    assert found == {"first": STOPPED, "second": STOPPED}
    assert worker.do(Job(), add, 1, 1) == 2


def test_when_it_is_closed_nothing_more_is_done(tmp_path: Path) -> None:
    worker = Worker(tmp_path, needed=())
    worker.close()
    assert worker.do(Job(), add, 1, 1) == STOPPED
    assert tmp_path.exists()  # the folder is its owner's to delete


def test_stopping_a_job_that_is_done_does_not_touch_the_next_one(worker: Worker) -> None:
    for _ in range(20):
        job = Job()
        thread = Thread(target=worker.do, args=(job, add, 1, 1))
        thread.start()
        worker.stop(job)
        thread.join(60)
        assert worker.do(Job(), add, 1, 1) == 2
