"""Posteriors of planned comparisons: what is refused, what is found, and what the command adds."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

import karat
from karat.measure import MeasureError, bayes_contrasts
from karat.messages import message_of
from karat.study.settings import ContrastSettings

INSTALLED = find_spec("numpyro") is not None
FORMULA = "response ~ order * integration + (1 | participant) + (1 | item)"
PLAN = [
    ContrastSettings(name="order", factor="order", levels=["PP>OBJ", "OBJ>PP"], equivalence=0.5),
    ContrastSettings(name="both", factors={"order": ["PP>OBJ", "OBJ>PP"], "integration": ["no", "yes"]}),
    ContrastSettings(name="lost", factor="weather", levels=["sun", "rain"]),
]


@pytest.mark.skipif(INSTALLED, reason="NumPyro is installed")
def test_without_numpyro_the_command_that_installs_it_is_named() -> None:
    with pytest.raises(MeasureError) as raised:
        bayes_contrasts(karat.datasets.load("likert"), FORMULA)
    assert message_of(raised.value).code == "bayes.not_installed"


def test_a_level_is_a_share() -> None:
    with pytest.raises(MeasureError) as raised:
        bayes_contrasts(karat.datasets.load("likert"), FORMULA, level=95)
    assert message_of(raised.value).code == "measure.level"


def test_choices_are_refused() -> None:
    rows = {"participant": ["p", "q"], "item": ["t", "t"], "left": ["a", "a"], "right": ["b", "b"],
            "response": ["left", "right"]}  # fmt: skip
    with pytest.raises(MeasureError) as raised:
        bayes_contrasts(karat.Judgments(rows, karat.Choice()), "response ~ 1 + (1 | participant)")
    assert message_of(raised.value).code == "contrasts.choices"


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
