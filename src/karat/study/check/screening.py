"""Rules about the screening that a study states: it is there, and the design has what it needs."""

from __future__ import annotations

from collections.abc import Iterator

from karat.study.check.draft import Draft
from karat.study.check.rules import Flaw, rule
from karat.study.criteria import CRITERIA


@rule(
    "screening",
    "warning",
    "no screening rules are stated",
    source="Pieper et al., section 5",
    mend="State them before there are data: [screening] completion, remfod, attention, controls, ...",
)
def screening(draft: Draft) -> Iterator[Flaw]:
    """Who is excluded is stated before the data are seen."""
    settings = draft.study.settings.screening
    if settings is None or not settings.criteria:
        yield Flaw("no criteria are stated for excluding participants; stated later, they depend on the data.")


@rule(
    "screening-impossible",
    "error",
    "a screening criterion asks for what the study does not have",
    source="Pieper et al., section 5",
    mend="Add what the criterion needs, or take it out of [screening].",
)
def screening_impossible(draft: Draft) -> Iterator[Flaw]:
    """Every criterion that is stated can be computed."""
    settings = draft.study.settings
    if settings.screening is None:
        return
    functions = {row.function for rows in draft.rows for row in rows}
    for name, own in settings.screening.criteria.items():
        criterion = CRITERIA[name]
        spot = draft.at("screening", name)
        lacking = [function for function in criterion.needs_functions if function not in functions]
        if lacking:
            yield Flaw(f"{name} needs {lacking[0]} trials, and there are none.",
                       f"Add items with the function {lacking[0]}, or take {name} out.", spot)  # fmt: skip
        if criterion.needs_repeated_questions and not _asks_twice(draft):
            yield Flaw(f"{name} needs questions that are asked twice, and there are none.",
                       "State repeated_questions in a block.", spot)  # fmt: skip
        if criterion.needs_quiz and not settings.texts.quiz:
            yield Flaw(f"{name} needs a quiz, and there is none.", "Add [[texts.quiz]].", spot)
        if criterion.needs_eligibility and not any(question.eligible for question in settings.background):
            yield Flaw(f"{name} needs a background question that says which answers are eligible; there is none.",
                       "Add eligible = [...] to a [[background]] question.", spot)  # fmt: skip
        if not lacking and criterion.impossible is not None:
            for message, mend in criterion.impossible(draft, own):
                yield Flaw(message, mend, spot)


def _asks_twice(draft: Draft) -> bool:
    rounds = any(block.settings.repeated_questions or block.settings.rounds > 1 for block in draft.study.blocks)
    return rounds or draft.study.settings.questionnaire.sessions == 2
