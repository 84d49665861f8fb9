"""One replication of a scenario, scored by everybody; made in a process of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from karat.models.credence import mixture
from karat.screen.criteria.credence import BELOW

from . import crowd_kit, peers
from .crowds import CREDIBLE, Crowd, binary_crowds, crowds_of_five, draw_crowd
from .families import LOW, OWN, Family, draw_family, families
from .injected import Injected, draw_injected, injected_scenarios
from .questionnaire_oracle import MINORITY
from .questionnaires import COOPERATIVE, Questionnaire, draw_questionnaire
from .scenes import Floats, Scene

Scenario = Crowd | Questionnaire | Injected | Family
CHEAP, DEAR, DEAREST = 0, 1, 2
"""Which peers are run: those that cost little, deletion and crowd-kit too, deletion in windows too."""


@dataclass(frozen=True)
class Job:
    """One replication."""

    scenario: Scenario
    seed: int
    cost: int


@dataclass(frozen=True)
class Scored:
    """The kind of every participant, all scores, and credence's probability by its model and as it is reported."""

    job: Job
    kinds: NDArray[np.str_]
    scores: dict[str, Floats]
    """Of the oracle one for each kind of spammer, as "oracle: kind"."""
    probability: Floats
    reported: Floats
    """The probability within the limits that need no model."""

    @property
    def cooperative(self) -> NDArray[np.bool_]:
        return np.isin(self.kinds, [CREDIBLE, *COOPERATIVE])

    @property
    def attentive(self) -> NDArray[np.bool_]:
        """Cooperative participants, speakers of a minority dialect, and those with a low discrimination."""
        return self.cooperative | np.isin(self.kinds, [MINORITY, LOW, OWN])

    @property
    def flagged(self) -> NDArray[np.bool_]:
        """By credence as it comes."""
        return self.reported < BELOW


@dataclass(frozen=True)
class Size:
    """How many replications there are."""

    crowds: int
    fives: int
    questionnaires: int
    injected: int
    dear: int
    windows: int
    labels_deleted: bool
    families: int


QUICK = Size(6, 4, 30, 6, 2, 1, False, 20)
FULL = Size(30, 20, 150, 32, 6, 4, True, 100)
TINY = Size(1, 1, 2, 1, 1, 0, False, 1)


def jobs(size: Size, first: int) -> list[Job]:
    """All replications, the longest first so that both processes end together."""
    found = []
    for scenario in binary_crowds():
        # Where spammers are few more crowds are drawn, where they are many fewer.
        number = max(1, round(size.crowds * min(max((0.1 / scenario.share) ** 0.5, 0.67), 1.34)))
        late = scenario.turn > 1 and scenario.trials <= 80
        found += replications(scenario, number, first, size.dear, size.windows if late else 0)
    for scenario in crowds_of_five():
        found += replications(scenario, size.fives, first, size.dear)
    for task in ("likert", "choice"):
        found += replications(Questionnaire(task), size.questionnaires, first, 4 * size.dear, 2 * size.windows)
    for real in injected_scenarios():
        found += replications(real, size.injected, first, size.dear)
    for family in families():
        found += replications(family, size.families, first, 0)
    return sorted(found, key=lambda job: -job.cost)


def replications(scenario: Scenario, number: int, first: int, dear: int, windows: int = 0) -> list[Job]:
    """The replications of a scenario; the first of them with dear peers."""
    cost = [DEAREST if place < windows else DEAR if place < dear else CHEAP for place in range(number)]
    return [Job(scenario, first + place, one) for place, one in enumerate(cost)]


def one_of_each(every: list[Job]) -> list[Job]:
    """One replication of each sort, crowds of 30 workers with 20 trials, without the peers that take long."""
    found: dict[object, Job] = {}
    for job in every:
        scenario, sort = job.scenario, None
        if isinstance(scenario, Crowd):
            sort = scenario.levels > 2, scenario.turn > 1
            scenario = replace(scenario, workers=30, trials=20, turn=11 if scenario.turn > 1 else 1)
        found.setdefault((type(scenario), sort), Job(scenario, job.seed, CHEAP))
    return list(found.values())


def prepare() -> None:
    """One thread for each process: there is one for each core."""
    mixture.THREADS = 1


def scene_of(job: Job) -> Scene:
    """What the scenario is with this seed."""
    if isinstance(job.scenario, Crowd):
        return draw_crowd(job.scenario, job.seed)
    if isinstance(job.scenario, Injected):
        return draw_injected(job.scenario, job.seed)
    if isinstance(job.scenario, Family):
        return draw_family(job.scenario, job.seed)
    return draw_questionnaire(job.scenario, job.seed)


def score(job: Job) -> Scored:
    """All scores of one replication."""
    scene = scene_of(job)
    judgments = scene.judgments
    log_odds, probability, reported = peers.credence_scores(judgments)
    wanted = {} if isinstance(job.scenario, Family) else dict(peers.CHEAP)
    if job.cost >= DEAR and not is_slow(job.scenario):
        wanted |= peers.DEAR
    if job.cost >= DEAREST:
        wanted |= peers.DEAREST
    found = {"credence": log_odds, **peers.scores(judgments, wanted)}
    if job.cost >= DEAR:
        found |= crowd_kit.crowd_kit_scores(peers.answers_as_numbers(judgments))
    found |= {f"oracle: {kind}": ratio for kind, ratio in scene.oracle.items()}
    return Scored(job, scene.kinds, found, probability, reported)


def is_slow(scenario: Scenario) -> bool:
    """Labels without order, which deletion fits as several models at once: half a minute a crowd."""
    return isinstance(scenario, Crowd) and scenario.levels > 2 and not scenario.ordered
