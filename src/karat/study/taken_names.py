"""Names that a study must leave to karat: of the columns that the server itself fills in the tables of results.

A factor or a background question of such a name would be asked, but its column in the results would be karat's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from karat.study.study import Study

Types = dict[str, pl.DataType | type[pl.DataType]]
OF_ANSWERS: Types = {
    "participant": pl.String, "response": pl.String, "rt": pl.Float64, "first_response": pl.String,
    "first_rt": pl.Float64, "changes": pl.Int64, "time": pl.Float64, "blurs": pl.Int64, "away": pl.Float64,
    "pointer": pl.String, "isolated": pl.Boolean, "frame_rate": pl.Float64,
}  # fmt: skip
"""The columns of judgments that the server fills; the others are those of the questionnaire."""
OF_PEOPLE: Types = {
    "participant": pl.String, "list": pl.String, "state": pl.String, "source": pl.String, "started": pl.Float64,
    "finished": pl.Float64, "planned": pl.Boolean, "working_time": pl.Float64, "person": pl.String,
    "quiz_attempts": pl.Int64, "quiz_passed": pl.Boolean, "device": pl.String, "pilot": pl.Boolean,
    "comment": pl.String, "platform_id": pl.String, "platform_session": pl.String, "platform_study": pl.String,
}  # fmt: skip
"""The columns of participants that the server fills; the others are answers to background questions."""
FORM_FIELDS = ("csrf", "token")
"""What every form of a participant carries beside its questions."""


class Taken(NamedTuple):
    """A name that is karat's own, or there twice; what is wrong with it, and how to mend it."""

    name: str
    what: str
    mend: str
    question: int | None = None
    """Which background question has it."""
    block: int | None = None
    """The block in whose items it is a column."""


def taken_names(study: Study) -> Iterator[Taken]:
    """The names of background questions and of columns of items that a study should not have.

    >>> from karat.study.init import write_study
    >>> from karat.study.study import load
    >>> written = write_study(getfixture("tmp_path") / "likert", "likert")
    >>> list(taken_names(load(written[0])))
    []
    """
    asked: set[str] = set()
    for place, question in enumerate(study.settings.background):
        name = question.name
        if name in OF_PEOPLE or name in FORM_FIELDS:
            yield Taken(
                name, f"a background question is named {name}, as something that karat itself keeps of participants.",
                f"Give it another name, such as own_{name}.", question=place,
            )  # fmt: skip
        if name in asked:
            yield Taken(
                name, f"two background questions are named {name}.", "Give one of them another name.", question=place
            )
        asked.add(name)
    for place, block in enumerate(study.blocks):
        for name in block.items.frame.columns:
            if name in OF_ANSWERS:
                yield Taken(
                    name,
                    f"the items of the block {block.name} have a column {name}, as the results have for the answers.",
                    f"Give it another name, such as item_{name}.", block=place,
                )  # fmt: skip
