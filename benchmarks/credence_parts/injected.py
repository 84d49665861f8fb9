"""Real data with injected spammers: the answers of random participants are replaced by answers without looking.

Times are left out, because those of the replaced answers would be somebody's real ones. The data may have spammers of
their own, who count as cooperative here, so that no criterion can be perfectly calibrated on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl

import karat
from karat.judgments import Judgments
from karat.screen.criteria.completion import completion
from karat.simulate.crowd import WorkerSettings, draw_tasks, worker_answers

from .crowds import CREDIBLE, GUESSING, PATTERN, PRIMARY
from .scenes import Scene, generator

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference"
DATA = {"MTurk, 160 x 77": "ba/mturk.csv", "ratings, 70 x 108": "ajt/likert.csv"}


@dataclass(frozen=True)
class Injected:
    """A scenario: a tenth of the participants of a data set become spammers of one kind, at once or from half on."""

    data: str
    kind: str
    late: bool = False
    share: float = 0.1

    @property
    def name(self) -> str:
        """What the tables call it."""
        return f"{self.data}: {self.kind}{' from half on' if self.late else ''}"


def injected_scenarios() -> list[Injected]:
    """Every kind, on the data that are there."""
    there = [data for data, file in DATA.items() if (REFERENCE / file).is_file()]
    kinds = [(GUESSING, False), (PRIMARY, False), (PATTERN, False), (GUESSING, True)]
    return [Injected(data, kind, late) for data in there for kind, late in kinds]


@lru_cache
def real(data: str) -> Judgments:
    """The data, sorted by participant and trial, without times."""
    path = REFERENCE / DATA[data]
    if "MTurk" in data:
        names = {"worker": "participant", "task": "item", "order": "trial"}
        table = pl.read_csv(path).rename(names).select(*names.values(), pl.col("response").cast(pl.String))
        return karat.Judgments(table.sort("participant", "trial"), karat.Binary(("0", "1")))
    whole = karat.read(path, mapping={"expected": "expected_min..expected_max"})
    kept = whole.frame.filter(~pl.col("participant").is_in(completion(whole).flagged))
    return karat.Judgments(kept.drop("rt").sort("participant", "trial"), whole.scales)


def draw_injected(scenario: Injected, seed: int) -> Scene:
    """The data with other participants replaced for each seed."""
    judgments = real(scenario.data)
    random = generator(scenario.name, seed)
    people = judgments.frame["participant"].unique(maintain_order=True)
    number = round(scenario.share * len(people))
    chosen = np.sort(random.choice(len(people), number, replace=False))
    owner = judgments.frame["participant"].rle_id().cast(pl.Int64).to_numpy()
    place = judgments.frame.select(pl.int_range(pl.len()).over("participant")).to_series().to_numpy()
    count = int(place.max()) + 1
    levels = judgments.scale.levels
    tasks = draw_tasks(count, len(levels), seed=random)
    # No run is asked of primary choosers: in so many trials it would be another kind of person.
    fake = worker_answers(scenario.kind, number, tasks, settings=WorkerSettings(run=0), seed=random)
    row = np.full(len(people), -1)
    row[chosen] = np.arange(number)
    replaced = (row[owner] >= 0) & (place >= (count // 2 if scenario.late else 0))
    code = fake[row[owner], place].astype(np.int64)
    response = pl.select(
        pl.when(pl.Series(replaced)).then(pl.Series(levels).gather(code)).otherwise(judgments.frame["response"])
    ).to_series()
    kinds = np.where(row >= 0, scenario.kind, CREDIBLE)
    return Scene(Judgments(judgments.frame.with_columns(response=response), judgments.scales), kinds)
