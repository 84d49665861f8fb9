"""Design: items, lists and orders, and a check before you pay anyone.

Names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from karat.packages import load_when_used

if TYPE_CHECKING:
    from karat.study import chance as chance
    from karat.study.file import StudyError as StudyError
    from karat.study.plan import Block as Block
    from karat.study.questionnaire import Questionnaire as Questionnaire
    from karat.study.study import Study as Study
    from karat.study.study import load as load

__all__ = load_when_used(__name__)
