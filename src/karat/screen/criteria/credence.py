"""The declaration of credence; `karat.screen.credence` computes it."""

from __future__ import annotations

from pydantic import Field

from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out


class CredenceSettings(CriterionSettings):
    """How probable it is that a participant answered attentively."""

    below: float = Field(
        0.05,
        gt=0,
        lt=1,
        description="Participants with a lower probability of having answered attentively are flagged.",
    )
    seed: int = Field(1, ge=0, description="Where the random numbers begin, by which a second group is looked for.")


CRITERION = Criterion(
    name="credence",
    title="Credence",
    asks="how probable it is that a participant answered attentively",
    settings=CredenceSettings,
    computed_by="karat.screen.credence:credence",
    in_parts="karat.screen.parted.credence:credence_in_parts",
    of_the_study=("seed",),
    alternatives=(
        Alternative("p < .05", {"below": 0.05}, "usual"),
        Alternative("p < .01", {"below": 0.01}, "lenient"),
        Alternative("p < .5", {"below": 0.5}, "strict: more likely inattentive than attentive"),
        left_out(),
    ),
)
