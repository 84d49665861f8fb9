"""The declaration of deletion; `karat.screen.deletion` computes it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out


class DeletionSettings(CriterionSettings):
    """Without whom the model of all answers changes most."""

    alpha: float = Field(0.05, gt=0, lt=1, description="How improbable a distance must be, by the rule that decides.")
    simulations: int = Field(
        0, ge=0, description="How many draws a simulated null has; 0 for none, or 999 where it decides."
    )
    seed: int = Field(1, ge=0, description="Where the random numbers of the simulation begin.")
    at_most: int = Field(2000, ge=2, description="With more participants than this it is not computed.")
    by: Literal["published", "simulated"] = Field(
        "published", description="Whether the published chi-squared rule decides, or the simulated null."
    )


CRITERION = Criterion(
    name="deletion",
    title="Change of the model",
    asks="without whom the model of all answers changes most",
    settings=DeletionSettings,
    computed_by="karat.screen.deletion:deletion",
    in_tasks=True,
    of_the_study=("seed", "simulations", "at_most"),
    cites=("ba2024",),
    alternatives=(
        Alternative("published, .05", {"alpha": 0.05}, "Ba, Mancenido, Chiou and Pan"),
        Alternative("published, .01", {"alpha": 0.01}, "strict"),
        Alternative("simulated, .05", {"by": "simulated"}, "what is usual for these tasks", where="simulations"),
        left_out(),
    ),
)
