"""How many answers per second the store takes, without a web server before it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from field.store.stand_ins import HOUR, Page, arrival, check, start
from field.store.stand_ins import pages as some_pages
from karat.field.store import Store, answers, arrivals, trials


@dataclass(frozen=True)
class Load:
    """What was measured."""

    arrivals_per_second: float
    answers_per_second: float
    median: float
    """Milliseconds from an answer to its acknowledgement."""
    p95: float


def load(url: str, participants: int = 1000, pages: int = 80) -> Load:
    """All participants answer at once, each waiting for the acknowledgement of an answer before giving the next."""
    store = Store.open(url)
    study_id = start(store)
    plans = [some_pages(pages) for _ in range(participants)]

    async def arrive(planned: list[Page]) -> tuple[arrivals.Arrived, list[Page]]:
        arrived = await store.do(arrivals.arrive, arrival(study_id, first_step="trials"))
        await store.do(trials.plan_trials, trials.PlannedTrials(arrived.session_id or 0, planned))
        return arrived, planned

    async def everybody_arrives() -> list[tuple[arrivals.Arrived, list[Page]]]:
        return await asyncio.gather(*map(arrive, plans))

    begun = time.perf_counter()
    people = asyncio.run(everybody_arrives())
    arriving = time.perf_counter() - begun
    waits: list[float] = []

    async def answer_all(arrived: arrivals.Arrived, planned: list[Page]) -> None:
        for number, page in enumerate(planned):
            have = [one.public_id for one in planned[number : number + 5]]
            given = answers.SubmittedAnswer(page.public_id, f"key-{number:04d}", "4", details={"pointer": "mouse"})
            asked = time.perf_counter()
            await store.do(
                answers.save,
                answers.AnswerSubmission(arrived.token_hash or "", [given], check, "done", HOUR, have=have),
            )
            waits.append(time.perf_counter() - asked)

    async def everybody_answers() -> None:
        await asyncio.gather(*(answer_all(*one) for one in people))

    begun = time.perf_counter()
    asyncio.run(everybody_answers())
    took = time.perf_counter() - begun
    store.close()
    waits.sort()
    count = len(waits)
    return Load(participants / arriving, count / took, 1000 * waits[count // 2], 1000 * waits[int(count * 0.95)])
