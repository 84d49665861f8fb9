"""Posteriors of planned comparisons: what is refused, what is found, and what the command adds."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

import karat
from karat.languages import language_of
from karat.measure import MeasureError, bayes_contrasts
from karat.measure.measures import Measures
from karat.models.glrm.bayes import Priors
from karat.report.build import build
from karat.report.words.measured import to_be_measured
from karat.simulate import answer_study
from karat.study.init import write_study
from karat.study.settings import BayesSettings, ContrastSettings
from karat.study.study import Study, load
from messages import raises

INSTALLED = find_spec("numpyro") is not None
FORMULA = "response ~ order * integration + (1 | participant) + (1 | item)"
PLAN = [
    ContrastSettings(name="order", factor="order", levels=["PP>OBJ", "OBJ>PP"], equivalence=0.5),
    ContrastSettings(name="both", factors={"order": ["PP>OBJ", "OBJ>PP"], "integration": ["no", "yes"]}),
    ContrastSettings(name="lost", factor="weather", levels=["sun", "rain"]),
]


def planned(folder: Path, stated: str = "") -> Study:
    write_study(folder, "likert")
    with (folder / "study.toml").open("a", encoding="utf-8") as file:
        file.write(stated)
    return load(folder)


def test_the_defaults_of_the_study_file_are_those_of_the_model() -> None:
    assert BayesSettings().priors == vars(Priors())


def test_stated_priors_are_in_the_preregistration(tmp_path: Path) -> None:
    stated = planned(tmp_path / "stated", "\n[bayes]\ncoefficient = 1.75\n")
    assert "1.75" in " ".join(to_be_measured(language_of("en", planned=True), stated))
    assert "1,75" in " ".join(to_be_measured(language_of("de", planned=True), stated))
    silent = " ".join(to_be_measured(language_of("en", planned=True), planned(tmp_path / "silent")))
    assert "hoffman2014" not in silent


def test_a_prior_without_width_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(karat.KaratError) as raised:
        planned(tmp_path / "flat", "\n[bayes]\ncoefficient = 0\n")
    assert "bayes.coefficient" in str(raised.value)


@pytest.mark.skipif(INSTALLED, reason="NumPyro is installed")
def test_stated_priors_reach_the_model(tmp_path: Path) -> None:
    study = planned(tmp_path / "stated", "\n[bayes]\ncoefficient = 1.75\n")
    with raises(MeasureError, "bayes.not_installed"):
        karat.measure.run(answer_study(study, 8), study=study, bayes=True, samples=0)


@pytest.mark.slow
def test_the_report_has_the_posteriors_of_the_stated_priors(tmp_path: Path) -> None:
    pytest.importorskip("numpyro", reason="NumPyro is not installed: pip install 'karat[bayes]'")
    study = planned(tmp_path / "stated", "\n[bayes]\ncoefficient = 1.75\n")
    measures = build(answer_study(study, 24, seed=3), study, quick=True, bayes=True).measures
    assert isinstance(measures, Measures)
    (part,) = [part for part in measures.parts if part.name == "bayes"]
    assert part.result.settings["priors"]["coefficient"] == 1.75


@pytest.mark.skipif(INSTALLED, reason="NumPyro is installed")
def test_without_numpyro_the_command_that_installs_it_is_named() -> None:
    with raises(MeasureError, "bayes.not_installed"):
        bayes_contrasts(karat.datasets.load("likert"), FORMULA)


def test_a_level_is_a_share() -> None:
    with raises(MeasureError, "setting.refused"):
        bayes_contrasts(karat.datasets.load("likert"), FORMULA, level=95)


def test_choices_are_refused() -> None:
    rows = {"participant": ["p", "q"], "item": ["t", "t"], "left": ["a", "a"], "right": ["b", "b"],
            "response": ["left", "right"]}  # fmt: skip
    with raises(MeasureError, "contrasts.choices"):
        bayes_contrasts(karat.Judgments(rows, karat.Choice()), "response ~ 1 + (1 | participant)")


@pytest.mark.slow
def test_posteriors_are_near_the_estimates_of_maximum_likelihood() -> None:
    pytest.importorskip("numpyro", reason="NumPyro is not installed: pip install 'karat[bayes]'")
    likert = karat.datasets.load("likert")
    found = bayes_contrasts(likert, FORMULA, PLAN, warmup=300, draws=300, chains=2)
    expected = karat.measure.contrasts(likert, FORMULA).differences.row(0, named=True)
    order, both = found.table().to_dicts()
    assert order["estimate"] == pytest.approx(-expected["estimate"], abs=0.5 * expected["se"])
    assert order["sd"] == pytest.approx(expected["se"], rel=0.25)
    assert (order["bound"], order["rope"], order["positive"]) == (0.5, pytest.approx(0, abs=0.05), 1.0)
    assert both["bf01"] < 0.01
    assert "planned.failed" in [note.code for note in found.notes]
    assert not found.converged  # so few draws are not enough
    assert found.predictive["observed"].is_between(found.predictive["lower"], found.predictive["upper"]).all()
    assert set(found.parameters["kind"]) == {"coefficient", "threshold", "deviation"}
    assert found.plot().axes[0].get_xlabel().startswith(str(found.unit))
