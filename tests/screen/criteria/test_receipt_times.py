"""Receipt times: what honest lines do is allowed for, and what no clock can explain is found."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate

import polars as pl
import pytest

import karat
from karat.judgments import Judgments
from karat.screen import receipt_times
from karat.screen.evidence import ScreenError
from karat.screen.run import run
from messages import raises

BEGIN = datetime(2026, 1, 1, 9, tzinfo=UTC)
PAGES = 60
TIMES = [2.0 + (place % 7) / 2 for place in range(PAGES)]
ANSWERED = list(accumulate(TIMES))
"""When each page was answered, in seconds after the beginning."""


def moment(seconds: float) -> datetime:
    return BEGIN + timedelta(seconds=seconds)


def judged(
    received: Sequence[float | None],
    times: Sequence[float] = TIMES,
    clock: Sequence[float] | None = None,
    *,
    started: float | None = 0.0,
    sentence: str = "The cat sleeps.",
) -> Judgments:
    frame = pl.DataFrame(
        {
            "participant": "a", "item": [str(place) for place in range(len(received))], "response": "1",
            "trial": range(1, len(received) + 1), "rt": times, "sentence": sentence,
            "received": [None if one is None else moment(one) for one in received],
        },
        schema_overrides={"received": pl.Datetime("us", "UTC")},
    )  # fmt: skip
    if clock is not None:
        frame = frame.with_columns(time=pl.Series([moment(one) for one in clock]))
    people = pl.DataFrame({"participant": ["a"]})
    if started is not None:
        people = people.with_columns(started=pl.lit(moment(started)))
    return Judgments(frame, karat.Ordinal(3), people)


def flagged(judgments: Judgments) -> bool:
    return receipt_times(judgments).flagged == ["a"]


def reasons(judgments: Judgments) -> set[str]:
    values = receipt_times(judgments).participants["values"][0]
    return {name for name, value in values.items() if value is not None} - {"pages"}


@pytest.mark.parametrize("started", [0.0, None])
@pytest.mark.parametrize("latency", [0.05, 4.0])
def test_a_steady_line_fits(latency: float, started: float | None) -> None:
    evidence = receipt_times(judged([one + latency for one in ANSWERED], started=started))
    assert evidence.participants["score"].item() == 0
    assert evidence.flagged == []


@pytest.mark.parametrize("started", [0.0, None])
@pytest.mark.parametrize("first", [0, 20, PAGES - 5])
def test_an_offline_phase_is_allowed_for(first: int, started: float | None) -> None:
    """Five pages wait and come in one request, and the page that was open then has less time left."""
    received = [one + 0.1 for one in ANSWERED]
    received[first : first + 5] = [ANSWERED[first + 4] + 25] * 5
    for place in range(first + 5, PAGES):
        received[place] = max(received[place], received[first] + 0.1)
    evidence = receipt_times(judged(received, started=started))
    assert evidence.flagged == []


def test_a_line_that_flaps_all_the_time_is_allowed_for() -> None:
    received = [one + (8.0 if place % 2 else 0.1) for place, one in enumerate(ANSWERED)]
    assert not flagged(judged([max(received[: place + 1]) for place in range(PAGES)]))


@pytest.mark.parametrize("wait", [0.0, 600.0])
@pytest.mark.parametrize("started", [0.0, None])
def test_answers_posted_within_seconds_do_not_fit(wait: float, started: float | None) -> None:
    """A script that claims minutes is found, also where it waits before it posts one answer after the other."""
    posted = [wait + 0.015 * place for place in range(PAGES)]
    evidence = receipt_times(judged(posted, started=started))
    assert evidence.flagged == ["a"]
    assert evidence.participants["score"].item() > 60
    assert {"missing", "took"} <= reasons(judged(posted, started=started))


def test_short_claims_do_not_hide_that_nobody_read() -> None:
    posted = [0.05 * place for place in range(PAGES)]
    found = reasons(judged(posted, [0.05] * PAGES, sentence="The cat sleeps on the mat all day."))
    assert found == {"reading", "took"}
    slow = [2.0 * place for place in range(PAGES)]
    assert not flagged(judged(slow, [1.9] * PAGES, sentence="The cat sleeps on the mat all day."))


def test_a_short_questionnaire_is_not_compared_with_reading() -> None:
    assert not flagged(judged([0.05 * place for place in range(15)], [0.05] * 15))


def test_a_clock_that_is_set_once_is_not_one_that_runs_backwards() -> None:
    received = [one + 0.1 for one in ANSWERED]
    set_once = [one - (40 if place > 30 else 0) for place, one in enumerate(ANSWERED)]
    assert not flagged(judged(received, clock=set_once))
    backwards = [ANSWERED[-1] - one for one in ANSWERED]
    assert reasons(judged(received, clock=backwards)) == {"backwards"}


def test_the_questions_of_a_page_share_its_time() -> None:
    one = judged([place + 0.1 for place in ANSWERED])
    frame = pl.concat([one.frame.with_columns(question=pl.lit(name)) for name in ("warm", "soft", "loud")])
    page = Judgments(frame, dict.fromkeys(("warm", "soft", "loud"), karat.Ordinal(3)), one.participants)
    evidence = receipt_times(page)
    assert (evidence.flagged, evidence.participants["values"][0]["pages"]) == ([], PAGES)


def test_without_receipts_nothing_is_computed() -> None:
    judgments = judged([None] * PAGES)
    for one in (judgments, judgments.with_frame(judgments.frame.drop("received"))):
        with raises(ScreenError, "receipt_times.no_receipts"):
            receipt_times(one)
        assert run(one).skipped["receipt_times"].code == "receipt_times.no_receipts"


def test_participants_without_receipts_are_not_flagged() -> None:
    known = judged([one + 0.1 for one in ANSWERED])
    other = known.frame.with_columns(participant=pl.lit("b"), received=pl.lit(None, known.frame["received"].dtype))
    evidence = receipt_times(Judgments(pl.concat([known.frame, other]), known.scales))
    assert evidence.flagged == []
    assert [one.code for one in evidence.notes] == ["receipt_times.without"]


def test_runs_without_rules_and_reads_csv_exports(tmp_path: object) -> None:
    posted = judged([0.015 * place for place in range(PAGES)])
    assert run(posted).evidence["receipt_times"].flagged == ["a"]
    posted.to_csv(f"{tmp_path}/a.csv")
    assert run(karat.read(f"{tmp_path}/a.csv")).evidence["receipt_times"].flagged == ["a"]
