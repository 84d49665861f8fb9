"""Rules about names that a study gives."""

from __future__ import annotations

from collections.abc import Iterator

from karat.study.check.draft import Draft
from karat.study.check.rules import Flaw, rule
from karat.study.taken_names import taken_names


@rule(
    "taken-names",
    "error",
    "a background question or a column of the items is named as a column that karat fills in the results, so that "
    "`karat serve` refuses the study",
    mend="Give it another name.",
    must=True,
)
def names_taken(draft: Draft) -> Iterator[Flaw]:
    """Answers must not be lost behind karat's own columns."""
    for taken in taken_names(draft.study):
        if taken.block is None:
            yield Flaw(taken.what, taken.mend, draft.at("background", taken.question or 0))
        else:
            yield Flaw(taken.what, taken.mend, draft.at("block", taken.block, "items"))
