"""Design: items, lists and orders, and a check before you pay anyone."""

from __future__ import annotations

from karat.study import chance
from karat.study.file import StudyError
from karat.study.plan import Block
from karat.study.questionnaire import Questionnaire
from karat.study.study import Study, load

__all__ = ["Block", "Questionnaire", "Study", "StudyError", "chance", "load"]
