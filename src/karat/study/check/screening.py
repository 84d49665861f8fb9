"""Rules about the screening that a study states: it is there, and the design has what it needs."""

from __future__ import annotations

from collections.abc import Iterator

from karat.judgments.scales import Choice, Ordinal
from karat.study.built_in_criteria import ControlSettings, PassSettings, QuizSettings, SpeedSettings
from karat.study.check.controls import RELATIONS
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
        if not lacking:
            for message, mend in _impossible_settings(draft, name, own):
                yield Flaw(message, mend, spot)


def _asks_twice(draft: Draft) -> bool:
    rounds = any(block.settings.repeated_questions or block.settings.rounds > 1 for block in draft.study.blocks)
    return rounds or draft.study.settings.questionnaire.sessions == 2


def _impossible_settings(draft: Draft, name: str, own: object) -> Iterator[tuple[str, str]]:
    """Settings of a criterion that can never flag anybody, or never be computed."""
    settings = draft.study.settings
    scales = [block.scale for block in draft.study.blocks]
    if isinstance(own, ControlSettings) and own.account in RELATIONS and any(isinstance(s, Ordinal) for s in scales):
        rows = [row for rows in draft.rows for row in rows if row.function == "control"]
        for kind in ("grammatical", "ungrammatical"):
            if not any(row["status"] == kind for row in rows):
                yield (
                    f"the {own.account} account compares two kinds of controls, and none is {kind}.",
                    "Fill the column status of the controls, or add such controls.",
                )
    if (
        isinstance(own, PassSettings)
        and getattr(own, "account", "") == "pairwise"
        and any(isinstance(scale, Ordinal) for scale in scales)
    ):
        function = CRITERIA[name].needs_functions[0]
        if not any(row["pair"] for rows in draft.rows for row in rows if row.function == function):
            yield f"{name} compares pairs, and no {function} trial has one.", "Fill the column pair."
    if isinstance(own, QuizSettings) and settings.texts.quiz and own.attempts_at_most > settings.texts.quiz_attempts:
        yield (f"quiz tolerates {own.attempts_at_most} attempts, but only {settings.texts.quiz_attempts} can be made.",
               "State fewer attempts_at_most, or more quiz_attempts.")  # fmt: skip
    if (
        isinstance(own, SpeedSettings)
        and own.share_of_expected is not None
        and own.expected_minutes is None
        and settings.recruitment.minutes is None
    ):
        yield "share_of_expected needs the minutes that the study is said to take.", "State [recruitment] minutes."
    if name == "scale_use" and not any(
        (isinstance(scale, Ordinal) and scale.neutral is not None) or (isinstance(scale, Choice) and scale.none)
        for scale in scales
    ):
        yield "scale_use counts neutral answers, and no scale has one.", "Use an odd number of points, or take it out."
