"""The keys of a block in a study file: its scale, its factors, and the items that it shows.

Tasks depend on these keys; `settings` checks whether they fit a task.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from karat.study.setting_base import Settings, flaw, refuse

OneOrMore = Annotated[
    list[str], BeforeValidator(lambda value: value if isinstance(value, list) or value is None else [value])
]


class ScaleSettings(Settings):
    """The scale of a block."""

    points: int | None = Field(None, ge=2, le=101, description="How many points a rating scale has.")
    labels: list[str] = Field([], description="Words for the points: one for each, or two for the ends.")
    neutral: int | None = Field(
        None, ge=0, description="The neutral point; by default the middle of an odd number of points. 0 for none."
    )
    no_difference: bool = Field(False, description='In a choice: whether "no difference" can be answered.')
    modulus: float | None = Field(None, gt=0, description="In magnitude estimation: the number of the modulus.")
    levels: list[str] = Field([], description="The categories of a label task, or the two answers of yes-no.")
    slider: bool = Field(False, description="In ratings: a slider, unset at first, instead of points to choose.")
    colours: bool = Field(False, description="In ratings: colours from one end to the other, besides the words.")

    def points_or(self, usual: int) -> int:
        """The number of points of a rating scale: `points`, else the number of labels for all, else the usual one."""
        return self.points or (len(self.labels) if len(self.labels) > 2 else usual)


class FactorSettings(Settings):
    """A factor of the design: a column of the item table."""

    levels: list[str] = Field(min_length=1, description="The levels, as the column spells them.")
    between: Literal["items", "participants"] | None = Field(
        None,
        description="`items`: each item has one level. `participants`: each participant sees one level, and an item "
        "has one or all. Without it, every item has all levels and every participant sees all.",
    )

    @model_validator(mode="before")
    @classmethod
    def _levels_alone(cls, value: Any) -> Any:
        if isinstance(value, str):
            refuse(cls, [flaw("is not a list of levels", f'Write ["{value}", ...].', value=value)])
        return {"levels": value} if isinstance(value, list) else value

    @field_validator("levels")
    @classmethod
    def _no_level_twice(cls, levels: list[str]) -> list[str]:
        if len(set(levels)) < len(levels):
            raise ValueError("a level occurs twice")
        return levels


class SubsetSettings(Settings):
    """A design in which each participant judges some of the items."""

    per_participant: int = Field(ge=1, description="How many items, or pairs of them, each participant judges.")
    ratings: int = Field(ge=1, description="How many participants judge each item or pair.")


class PairsSettings(Settings):
    """A choice between sentences that are paired by the item table or at random."""

    target: bool = Field(True, description="Show the pairs that the column `pair` of the item table makes.")
    random: int = Field(0, ge=0, description="How many random pairs each participant sees as well.")

    @model_validator(mode="after")
    def _some_are_shown(self) -> PairsSettings:
        if not self.target and not self.random:
            fix = "State how many random pairs each participant sees, or leave out target."
            refuse(PairsSettings, [flaw("leaves no pair to show", fix, "target")])
        return self


class BlockKeys(Settings):
    """The keys of a block, which `settings` checks against its task."""

    name: str = Field("", description="A short name; by default block 1, block 2, ...")
    task: str = Field(description="What participants do with a trial.")
    items: OneOrMore = Field(
        [], description="The item table, or several: CSV or a spreadsheet, next to the study file."
    )
    sheets: OneOrMore = Field([], description="Which sheets of a workbook are read; by default the first.")
    wide: dict[str, OneOrMore] = Field(
        {},
        description="Where an item table has one row per item and one column per condition: column = its level of each "
        'factor, such as { "a (that, short)" = ["that", "short"], ... }.',
    )
    templates: str | None = Field(
        None, description="A table of sentences with {slots}, one row per condition, filled from the lexicon."
    )
    lexicon: str | None = Field(None, description="A table with one row per item and one column per slot.")
    scale: ScaleSettings = Field(ScaleSettings(), description="The scale.")
    factors: dict[str, FactorSettings] = Field({}, description="The factors of the design and their levels.")
    compared: str | None = Field(
        None, description="In a choice: the factor whose levels are shown side by side, and so become the answer."
    )
    lists: int | None = Field(None, ge=1, description="How many lists; by default as many as the design needs.")
    subset: SubsetSettings | None = Field(None, description="Each participant judges a part of the items.")
    pairs: PairsSettings | None = Field(None, description="Pairs from the column `pair`, and random pairs.")
    questions: str | None = Field(
        None, description="In a differential: the table of adjective pairs (question, left, right)."
    )
    repeated_questions: int = Field(
        0, ge=0, description="In a differential: how many adjective pairs are asked twice, to check consistency."
    )
    per_page: int | None = Field(
        None, ge=1, description="In a differential: how many adjective pairs a page shows; by default all."
    )
    modulus_sentence: str = Field(
        "", description="In magnitude estimation: the sentence that has the number of the modulus, always in view."
    )
    rounds: int = Field(1, ge=1, description="How often the same items are judged, in a new order each time.")
    repeated_items: int = Field(
        0, ge=0, description="How many test trials come a second time in the same session, to see who answers alike."
    )
    instructions: str = Field("", description="A page before the block.")
    prompt: str = Field("", description="The question above or below each stimulus.")
    markdown: bool = Field(False, description="Whether stimuli are written in a safe subset of Markdown.")

    @property
    def condition_factors(self) -> list[str]:
        """The factors whose levels are the conditions of a trial; in a choice the compared factor is the answer."""
        return [name for name in self.factors if name != self.compared]

    def showings(self, trials: int) -> int:
        """The number of trials in a session for a list with this many."""
        return trials * self.rounds + self.repeated_items
