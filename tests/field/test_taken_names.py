"""A study whose columns would be lost behind karat's own is not fielded."""

from __future__ import annotations

from pathlib import Path

import pytest

from field.server.conftest import ITEMS, write
from karat.errors import KaratError
from karat.field.registration import registration
from karat.study.results import OF_DESIGN, OF_PEOPLE, taken_names
from karat.study.study import load
from messages import refuses

QUESTION = '[[background]]\nname = "{}"\nquestion = "Where?"\n'


@pytest.mark.parametrize("name", [*OF_PEOPLE, "token", "csrf"])
def test_a_background_question_with_a_name_of_karats_own(name: str, tmp_path: Path) -> None:
    with refuses(KaratError, "study.toml", name, f"own_{name}"):
        registration("study", write(tmp_path / "study", QUESTION.format(name)))


def test_two_background_questions_with_one_name(tmp_path: Path) -> None:
    study = write(tmp_path / "study", QUESTION.format("region") + QUESTION.format("region"))
    with refuses(KaratError, "study.toml", "region"):
        registration("study", study)


@pytest.mark.parametrize("name", OF_DESIGN)
def test_a_factor_with_the_name_of_a_column_of_the_questionnaire(name: str, tmp_path: Path) -> None:
    """The column would hold the number of the list, the trial or the session, and the factor would be gone."""
    (tmp_path / "items.csv").write_text(f"item,{name},sentence\n1,x,It rained.\n1,y,Rained it.\n")
    factors = f'factors = {{ {name} = ["x", "y"] }}\nlists = 2\n'
    block = '[[block]]\ntask = "likert"\nitems = "items.csv"\nscale = { points = 5 }\n'
    (tmp_path / "study.toml").write_text(f'title = "A study"\nlanguage = "en"\n{block}{factors}')
    assert [one.name for one in taken_names(load(tmp_path))] == [name]


@pytest.mark.parametrize("name", ["time", "changes", "rt", "blurs"])
def test_a_column_of_the_items_with_a_name_of_the_answers(name: str, tmp_path: Path) -> None:
    header, *rows = ITEMS.splitlines()
    items = "\n".join([f"{header},{name}", *(f"{row},past" for row in rows)])
    with refuses(KaratError, "study.toml", "block 1", f"column {name}", f"item_{name}"):
        registration("study", write(tmp_path / "study", items=items))
