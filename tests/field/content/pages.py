"""Studies and their pages for the tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from karat.field.content.texts import words
from karat.field.content.trials import PlannedTrial, planned
from karat.study.init import write_study
from karat.study.study import Study, load
from tests.study.studies import write_study as write_small

ITEMS = """item,function,sentence,context,gloss,image,feedback,expected
p1,practice,Practice *one*.,,,,Most people like this.,
c1,calibration,Calibration.,,,,,
t1,test,*The* cat.,A context.,DEF cat,,,
t2,test,The dog.,,,dog.png,,
t3,test,The bird.,,,,,
t4,test,The fish.,,,,,
"""


@cache
def template(task: str, language: str = "en") -> Study:
    """A study that `karat init` writes, loaded once."""
    with TemporaryDirectory() as folder:
        write_study(folder, task, language)
        return load(folder)


def pages_of(study: Study, session: int = 1, number: int = 1, participant: str = "p1") -> list[PlannedTrial]:
    questionnaire = study.questionnaire(number, participant)
    own = words(study.settings.language, study.settings.texts.words)
    return planned(study, questionnaire, slug="study", words=own, session=session)


def small(folder: Path, block: str = "", rest: str = "", items: str = ITEMS, task: str = "likert") -> Study:
    toml = f'title = "Small"\n[[block]]\ntask = "{task}"\nitems = "items.csv"\n{block}\n{rest}\n'
    return load(write_small(folder, toml, items=items))


def trials_of(pages: list[PlannedTrial]) -> list[PlannedTrial]:
    return [page for page in pages if page.shown["kind"] == "trial"]
