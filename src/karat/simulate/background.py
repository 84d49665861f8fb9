"""What participants say of themselves: background answers, the quiz, and when they came and went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from karat.simulate.behaviours import JUDGES
from karat.simulate.marked import SIMULATED
from karat.study.settings import BackgroundQuestion
from karat.study.study import Study

ELIGIBLE = {True: 0.98, False: 0.85}
"""How many of those who judge, and of the others, give an answer that admits."""
FIRST_ATTEMPT = {True: 0.85, False: 0.5}
"""How many of them pass the quiz at once."""
SILENT = 0.1
"""How many leave a question unanswered that need not be."""
SAME = 0.98
"""How many say the same here and on the platform."""


def background_table(
    study: Study, names: Sequence[str], behaviours: Sequence[str], random: np.random.Generator
) -> pl.DataFrame:
    """One row a participant: what the background questions, the quiz and the screening rules ask for."""
    judging = [behaviour in JUDGES for behaviour in behaviours]
    columns: dict[str, list[Any]] = {"participant": list(names), "behaviour": list(behaviours)}
    for question in study.settings.background:
        columns[question.name] = [_answer(question, judges, random) for judges in judging]
    if study.settings.texts.quiz:
        most = study.settings.texts.quiz_attempts
        attempts = [_attempts(judges, random) for judges in judging]
        columns["quiz_attempts"] = [min(number, most) for number in attempts]
        columns["quiz_passed"] = [number <= most for number in attempts]
    columns |= _asked_by_rules(study, columns, random)
    columns["source"] = [SIMULATED] * len(names)
    return pl.DataFrame(columns)


def _answer(question: BackgroundQuestion, judges: bool, random: np.random.Generator) -> str | None:
    if not question.required and random.random() < SILENT:
        return None
    if not question.answers:
        return "a simulated answer"
    others = [answer for answer in question.answers if answer not in question.eligible]
    admitted = question.eligible and (not others or random.random() < ELIGIBLE[judges])
    return str(random.choice(question.eligible if admitted else others))


def _attempts(judges: bool, random: np.random.Generator) -> int:
    """How many attempts it takes, each as likely to succeed."""
    return int(random.geometric(FIRST_ATTEMPT[judges]))


def _asked_by_rules(study: Study, columns: dict[str, list[Any]], random: np.random.Generator) -> dict[str, list[Any]]:
    """Columns that the screening rules name and no background question fills."""
    stated = {} if study.settings.screening is None else study.settings.screening.criteria
    rules = {name: own.model_dump() for name, own in stated.items()}
    asked: dict[str, list[Any]] = {}
    names = columns["participant"]
    person = rules.get("completion", {}).get("person")
    if person and person not in columns:
        asked[person] = [f"person {name}" for name in names]
    if "eligibility" in rules:
        for name, admit in rules["eligibility"]["answers"].items():
            if name not in columns:
                asked[name] = [admit[0] if random.random() < SAME and admit else "another answer" for _ in names]
        for name, other in rules["eligibility"]["same"].items():
            here = columns.get(name) or asked.get(name) or ["an answer"] * len(names)
            asked.setdefault(name, here)
            asked.setdefault(other, [told if random.random() < SAME else "another answer" for told in here])
    return {name: values for name, values in asked.items() if name not in columns}
