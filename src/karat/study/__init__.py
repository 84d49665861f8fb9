"""Plan: what is asked, of whom, in which order; and a check before money is spent."""

from __future__ import annotations

from karat.study import chance
from karat.study.file import StudyError
from karat.study.plan import Block
from karat.study.questionnaire import Questionnaire
from karat.study.study import Study, load

__all__ = ["Block", "Questionnaire", "Study", "StudyError", "chance", "load"]
