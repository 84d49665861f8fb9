"""Names that a study must leave to karat: of the columns that the server itself fills in the tables of results.

A factor or a background question of such a name would be asked, but its column in the results would be karat's own.
"""

from __future__ import annotations

from collections.abc import Iterator

from karat.errors import KaratError
from karat.field.store.export import OF_ANSWERS, OF_PEOPLE
from karat.study.study import Study

FORM_FIELDS = ("csrf", "token")
"""What every form of a participant carries beside its questions."""


def refuse_taken_names(study: Study) -> None:
    """Refuse to field a study whose columns would be lost behind karat's own.

    >>> from karat.study.init import write_study
    >>> from karat.study.study import load
    >>> written = write_study(getfixture("tmp_path") / "likert", "likert")
    >>> refuse_taken_names(load(written[0]))
    """
    for flaw in _flaws(study):
        raise KaratError(f"{study.path.name}: {flaw}")


def _flaws(study: Study) -> Iterator[str]:
    asked: set[str] = set()
    for question in study.settings.background:
        if question.name in OF_PEOPLE or question.name in FORM_FIELDS:
            yield (f"a background question is named {question.name}, as something that karat itself keeps of "
                   f"participants. Give it another name, such as own_{question.name}.")  # fmt: skip
        if question.name in asked:
            yield f"two background questions are named {question.name}. Give one of them another name."
        asked.add(question.name)
    for block in study.blocks:
        for name in block.items.frame.columns:
            if name in OF_ANSWERS:
                yield (f"the items of the block {block.name} have a column {name}, as the results have for the "
                       f"answers. Give it another name, such as item_{name}.")  # fmt: skip
