"""Design: items, lists and orders, and a check before you pay anyone.

What it offers is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.study import chance
    from karat.study.file import StudyError
    from karat.study.plan import Block
    from karat.study.questionnaire import Questionnaire
    from karat.study.study import Study, load

__all__ = ["Block", "Questionnaire", "Study", "StudyError", "chance", "load"]

_HOMES = {"Block": "plan", "Questionnaire": "questionnaire", "Study": "study", "StudyError": "file", "load": "study"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"karat.study.{_HOMES[name]}"), name)
    if name in __all__:
        return import_module(f"karat.study.{name}")
    raise AttributeError(f"module 'karat.study' has no attribute {name!r}")
