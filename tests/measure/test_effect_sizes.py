"""Effect sizes beside the variance of simulated answers within a condition."""

from __future__ import annotations

import numpy as np
import pytest

import karat
from karat.measure.effects.contrasts import contrasts
from karat.measure.effects.interactions import LATENT, effect_sizes, standard_deviation
from karat.models.glrm import fit
from measure.factorial import FORMULA, frame, rated


@pytest.mark.slow
def test_the_unit_is_the_deviation_of_answers_within_a_condition() -> None:
    """Many participants and items: the model's variance is that of the answers after the conditions are taken out."""
    judgments = rated(frame(200, 120, a=2.0, slope=1.0), karat.Continuous())
    found = contrasts(judgments, "response ~ a + (1 + a | participant) + (1 + a | item)")
    assert found.model is not None
    table = judgments.frame.select("a", "response")
    values, high = table["response"].cast(float).to_numpy(), (table["a"] == "high").to_numpy()
    within = np.mean([values[high].var(), values[~high].var()])
    assert standard_deviation(found.model) ** 2 == pytest.approx(within, rel=0.03)


def test_the_coding_does_not_matter() -> None:
    judgments = rated(frame(24, 16, slope=1.5), karat.Continuous())
    data = {name: judgments.frame[name].to_list() for name in ("a", "participant", "item")}
    data["response"] = judgments.frame["response"].cast(float).to_list()
    formula = "response ~ a + (1 + a | participant) + (1 | item)"
    one, other = (fit(formula, data, "gaussian", coding=coding) for coding in ("sum", "treatment"))
    assert standard_deviation(one) == pytest.approx(standard_deviation(other), rel=1e-5)


def test_several_terms_of_one_group() -> None:
    judgments = rated(frame(24, 16, slope=1.5), karat.Continuous())
    data = {name: judgments.frame[name].to_list() for name in ("a", "participant", "item")}
    data["response"] = judgments.frame["response"].cast(float).to_list()
    data["code"] = [1.0 if level == "high" else -1.0 for level in data["a"]]
    together = fit("response ~ a + (1 + code || participant) + (1 | item)", data, "gaussian")
    apart = fit("response ~ a + (1 | participant) + (0 + code | participant) + (1 | item)", data, "gaussian")
    assert standard_deviation(apart) == pytest.approx(standard_deviation(together), rel=1e-4)
    variances = sum(float(np.trace(matrix)) for matrix in together.fit.covariances.values())
    assert standard_deviation(together) ** 2 == pytest.approx(variances + together.fit.residual_variance, rel=1e-6)


def test_logits_have_the_latent_residual_and_odds_ratios() -> None:
    model = contrasts(rated(frame(), karat.Binary()), FORMULA).model
    assert model is not None
    sizes = effect_sizes(model, [LATENT, 0.0], [0.0, -1.0], [2 * LATENT, 1.0])
    assert sizes.d.tolist() == [1.0, 0.0]
    assert sizes.odds_ratio is not None
    assert sizes.odds_ratio.tolist() == pytest.approx([np.exp(LATENT), 1.0])
    assert np.random.default_rng(1).logistic(size=10**6).std() == pytest.approx(LATENT, rel=0.005)
