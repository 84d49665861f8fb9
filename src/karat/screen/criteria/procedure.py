"""The declaration of procedure; `karat.screen.procedure` computes it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out


class ProcedureSettings(CriterionSettings):
    """Who meets the crowd index, the criteria of answers and an auxiliary factor, one after the other."""

    order: Literal["markov first", "deletion first"] = Field(
        "markov first", description="Which criterion comes first; the auxiliary factor stands between them."
    )
    criteria: list[Literal["markov", "deletion"]] | None = Field(
        None, description="The criteria that are asked, as a list, where it is not both."
    )
    candidates_only: bool = Field(
        True, description="Whether later steps look at those who met all steps before, or at everybody."
    )
    auxiliary: Literal["time", "accuracy", "completeness", "none"] = Field(
        "time", description="The auxiliary factor, or none."
    )
    cutoffs: Literal["simulated", "published"] = Field(
        "simulated", description="Cutoffs of markov: simulated for this design, or those of the paper for two answers."
    )
    alpha: float = Field(0.05, gt=0, lt=1, description="Alpha of both criteria.")
    rule: Literal["mean", "mean-sd"] = Field(
        "mean-sd", description="Time or accuracy is low below the mean, or one standard deviation below."
    )
    strategy: Literal["rows", "average", "minimum"] = Field("rows", description="The strategy of markov.")
    verdict: Literal["every step", "any criterion"] = Field(
        "every step",
        description="Flagged is who meets every step, or any criterion and the auxiliary factor "
        "(with candidates_only = false).",
    )
    least_index: float = Field(
        0.1, ge=0, le=1, description="The Spammer Index below which nobody is looked at; 0 looks at everybody."
    )
    doubtful: Literal["left out", "counted"] = Field(
        "left out", description="Whether items whose right answer disagrees with nearly everybody count as accuracy."
    )
    time_limit: float | None = Field(
        None, ge=0, description="Seconds that a trial could take, which forbids time; 0 where there was no limit."
    )
    simulations: int = Field(5000, ge=1, description="How many credible participants are simulated for markov.")
    deletion_simulations: int = Field(
        0, ge=0, description="How many draws the simulated null of deletion has; it decides where there is one."
    )
    seed: int = Field(1, ge=0, description="Where the random numbers of the simulations begin.")


CRITERION = Criterion(
    name="procedure",
    title="Steps for crowds",
    asks="who meets all steps of the procedure for crowds",
    settings=ProcedureSettings,
    computed_by="karat.screen.procedure:procedure",
    in_tasks=True,
    unasked=False,
    cites=("ba2024",),
    of_the_study=("seed", "simulations", "deletion_simulations", "time_limit", "auxiliary"),
    alternatives=(
        Alternative("every step", {}, "Ba, Mancenido, Chiou and Pan, figure 10"),
        Alternative(
            "any criterion",
            {"verdict": "any criterion", "candidates_only": False},
            "lenient towards the two criteria",
        ),
        Alternative("below the mean", {"rule": "mean"}, "Ba, Mancenido, Chiou and Pan, table 2"),
        left_out(),
    ),
)
