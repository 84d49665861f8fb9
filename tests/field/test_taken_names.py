"""A study whose columns would be lost behind karat's own is not fielded."""

from __future__ import annotations

from pathlib import Path

import pytest

from field.server.conftest import ITEMS, write
from karat.errors import KaratError
from karat.field.registration import registration
from karat.study.results import OF_PEOPLE

QUESTION = '[[background]]\nname = "{}"\nquestion = "Where?"\n'


@pytest.mark.parametrize("name", [*OF_PEOPLE, "token", "csrf"])
def test_a_background_question_with_a_name_of_karats_own(name: str, tmp_path: Path) -> None:
    with pytest.raises(KaratError, match=rf"named {name}.*another name, such as own_{name}\."):
        registration("study", write(tmp_path / "study", QUESTION.format(name)))


def test_two_background_questions_with_one_name(tmp_path: Path) -> None:
    study = write(tmp_path / "study", QUESTION.format("region") + QUESTION.format("region"))
    with pytest.raises(KaratError, match="two background questions are named region"):
        registration("study", study)


@pytest.mark.parametrize("name", ["time", "changes", "rt", "blurs"])
def test_a_column_of_the_items_with_a_name_of_the_answers(name: str, tmp_path: Path) -> None:
    header, *rows = ITEMS.splitlines()
    items = "\n".join([f"{header},{name}", *(f"{row},past" for row in rows)])
    with pytest.raises(KaratError, match=rf"column {name}, .*such as item_{name}\."):
        registration("study", write(tmp_path / "study", items=items))
