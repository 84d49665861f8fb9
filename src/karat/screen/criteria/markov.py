"""The declaration of markov; `karat.screen.markov` computes it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out

ALPHA, SIMULATIONS = 0.05, 5_000


class MarkovSettings(CriterionSettings):
    """Whose answers follow a pattern of transitions."""

    cutoffs: Literal["simulated", "published"] = Field(
        "simulated", description="Cutoffs simulated for this design, or those of the paper for two answers."
    )
    alpha: float = Field(
        ALPHA, gt=0, lt=1, description="How probable a flag is for somebody credible, over all patterns."
    )
    strategy: Literal["rows", "average", "minimum"] = Field(
        "rows", description="What must be under a cutoff: all rows of the matrix, their average, or the smallest."
    )
    seed: int = Field(1, ge=0, description="Where the random numbers of the simulation begin.")
    simulations: int = Field(SIMULATIONS, ge=1, description="How many credible participants are simulated.")


CRITERION = Criterion(
    name="markov",
    title="Transitions between answers",
    asks="whose answers follow a pattern of transitions",
    settings=MarkovSettings,
    computed_by="karat.screen.markov:markov",
    in_tasks=True,
    in_parts="karat.screen.parted.markov:markov_in_parts",
    of_the_study=("seed", "simulations"),
    cites=("ba2024",),
    alternatives=(
        Alternative("all rows, .05", {}, "Ba, Mancenido, Chiou and Pan, first strategy"),
        Alternative("all rows, .01", {"alpha": 0.01}, "strict"),
        Alternative("average, .05", {"strategy": "average"}, "Ba, Mancenido, Chiou and Pan, equation 5"),
        left_out(),
    ),
)
