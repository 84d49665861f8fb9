"""The declaration of risk; `karat.screen.risk` computes it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from karat.screen.criteria.markov import MarkovSettings
from karat.study.criterion import Alternative, Criterion, left_out


class RiskSettings(MarkovSettings):
    """Who has a high risk level by pattern, time and accuracy together."""

    doubtful: Literal["left out", "counted"] = Field(
        "left out", description="Whether items whose right answer disagrees with nearly everybody count as accuracy."
    )
    time_limit: float | None = Field(
        None, ge=0, description="Seconds that a trial could take, which forbids the rule; 0 where there was no limit."
    )


CRITERION = Criterion(
    name="risk",
    title="Risk level",
    asks="who stands out by pattern, time and accuracy together",
    settings=RiskSettings,
    computed_by="karat.screen.risk:risk",
    by_the_key=True,
    in_tasks=True,
    of_the_study=("seed", "simulations", "time_limit"),
    cites=("ba2024",),
    alternatives=(
        Alternative("high risk", {}, "Ba, Mancenido, Chiou and Pan, table 4"),
        Alternative("high risk, .01", {"alpha": 0.01}, "strict"),
        left_out(),
    ),
)
