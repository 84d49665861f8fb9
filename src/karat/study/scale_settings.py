"""What a study file may say about the scale of a block."""

from __future__ import annotations

from pydantic import Field

from karat.study.setting_base import Settings


class ScaleSettings(Settings):
    """The scale of a block."""

    points: int | None = Field(None, ge=2, le=101, description="How many points a rating scale has.")
    labels: list[str] = Field([], description="Words for the points: one for each, or two for the ends.")
    neutral: int | None = Field(
        None, ge=0, description="Which point means neither; by default the middle one of an odd scale. 0 for none."
    )
    no_difference: bool = Field(False, description='In a choice: whether "no difference" can be answered.')
    modulus: float | None = Field(None, gt=0, description="In magnitude estimation: the number of the modulus.")
    levels: list[str] = Field([], description="The categories of a label task, or the two answers of yes-no.")
    slider: bool = Field(False, description="In ratings: a slider, unset at first, instead of points to choose.")
    colours: bool = Field(False, description="In ratings: colours from one end to the other, beside the words.")

    def points_or(self, usual: int) -> int:
        """How many points a rating scale has: as stated, as many as labels for all of them, or the usual number.

        >>> ScaleSettings(labels=["bad", "so-so", "good"]).points_or(5)
        3
        """
        return self.points or (len(self.labels) if len(self.labels) > 2 else usual)
