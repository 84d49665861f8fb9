"""Honeypots, shibboleths and modality checks: from the template to what the browser gets and what results hold."""

from pathlib import Path

import pytest

from karat.errors import KaratError
from karat.field.content.texts import words
from karat.field.content.trials import planned
from karat.judgments.columns import PROBES
from karat.study.check import check
from karat.study.init import LANGUAGES, WITH_PROBES, write_study
from karat.study.study import load


@pytest.mark.few(2)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("task", WITH_PROBES)
def test_the_example_can_run_and_is_explained(task: str, language: str, tmp_path: Path) -> None:
    write_study(tmp_path / "with", task, language, probes=True)
    study = load(tmp_path / "with")
    write_study(tmp_path / "without", task, language)
    before = {finding.rule for finding in check(load(tmp_path / "without")).findings}
    # Four more trials take longer, which the pay of the example may not cover.
    assert {finding.rule for finding in check(study).findings} - before - {"pay"} == {"probes"}
    rows = [
        row for trial in planned(study, study.questionnaire(), slug="s", words=words(language)) for row in trial.rows
    ]
    assert {row.get("subgroup") for row in rows} >= set(PROBES)
    assert not any("hidden" in row for row in rows)


def test_only_honeypots_carry_hidden_text(tmp_path: Path) -> None:
    write_study(tmp_path, "yes-no", probes=True)
    study = load(tmp_path)
    pages = planned(study, study.questionnaire(), slug="s", words=words("en"))
    kinds = {page.rows[0].get("subgroup") for page in pages if page.shown["aside"]}
    assert kinds == {"honeypot"}


def test_other_tasks_have_no_example(tmp_path: Path) -> None:
    with pytest.raises(KaratError):
        write_study(tmp_path, "magnitude", probes=True)
    assert not list(tmp_path.iterdir())
