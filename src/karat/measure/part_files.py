"""Which tables, figures and single numbers each kind of result has, and what its files are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import polars as pl

from karat.measure.dimensions.adequacy import Adequacy
from karat.measure.dimensions.factors import Factors
from karat.measure.effects.contrasts import Contrasts
from karat.measure.effects.planned import PlannedContrasts
from karat.measure.scaling.result import Strengths
from karat.measure.scaling.thresholds import thresholds_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from karat.measure.dimensions.profiles import Profiles
    from karat.measure.measured import Measured

LINES = 4
"""So many profiles are drawn where there are too many to distinguish."""
TABLES: dict[str, Callable[[Any], dict[str, pl.DataFrame]]] = {
    "strengths": lambda one: {"strengths": one.frame},
    "measures": lambda one: {"measures": one.frame, "measures-scores": one.scores},
    "contrasts": lambda one: {
        "tests": one.frame, "contrasts": one.differences, "interactions": one.interactions, "means": one.means,
        "coefficients": one.coefficients,
    },
    "planned": lambda one: {"planned": one.frame},
    "order effects": lambda one: {"order-effects": one.frame, "order-tests": one.tests},
    "decisions": lambda one: {"decisions": one.frame},
    "decisions compared": lambda one: {
        "decisions-compared": one.everything, "decisions-agreement": one.agreement,
    },
    "agreement": lambda one: {"agreement": one.coefficients},
    "noise ceiling": lambda one: {"noise-ceiling": one.ceilings},
    "decision study": lambda one: {"decision-study": one.needed, "variances": one.variances},
    "stability": lambda one: {
        "stability": one.comparisons, "stability-participants": one.participants, "stability-scores": one.scores,
        "stability-disagreements": one.disagreements,
    },
    "ratings": lambda one: {"ratings": one.frame},
    "adequacy": lambda one: {"adequacy": one.items},
    "number of factors": lambda one: {"number-of-factors": one.rules, "eigenvalues": one.eigenvalues},
    "factors": lambda one: {
        "loadings": one.table(), "factor-correlations": _factor_correlations(one), "explained": one.explained,
    },
    "scores": lambda one: {"scores": one.frame},
    "profiles": lambda one: {"profiles": one.frame},
    "consensus": lambda one: {
        "consensus": one.labels, "soft-labels": one.probabilities, "labellers": one.participants,
        "confusion": one.confusion,
    },
}  # fmt: skip
FIGURES: dict[str, dict[str, Callable[[Any, Measured], Figure]]] = {
    "strengths": {"strengths": lambda one, _: one.plot()},
    "measures": {"measures": lambda one, _: one.plot()},
    "contrasts": {"means": lambda one, _: one.plot()},
    "order effects": {"order-effects": lambda one, _: one.plot()},
    "decisions compared": {"decisions-compared": lambda one, _: one.plot()},
    "number of factors": {"eigenvalues": lambda one, _: one.plot()},
    "profiles": {"profiles": lambda one, measures: one.plot(_shown(one, measures))},
}
TOLD = {
    "strengths": "The strength of every stimulus with its interval, the strongest first.",
    "thresholds": "The latent line of the ordinal model, cut into the points of the scale.",
    "measures": "Rank correlations between ways to measure the same stimuli.",
    "measures-scores": "The strengths that were correlated, side by side.",
    "tests": "Type III tests of conditions and their interactions.",
    "contrasts": "Differences between conditions, with Holm's adjustment and effect sizes.",
    "interactions": "Differences of differences, and whether they depend on the scale.",
    "means": "Estimated marginal means of conditions, with plain means beside.",
    "coefficients": "The coefficients of the model.",
    "planned": "The comparisons that the study file planned: the first level minus the second.",
    "order-effects": "How answers and response times change over ten trials, by condition.",
    "order-tests": "Tests of the position and of its interaction with conditions.",
    "decisions": "For each pair: as experts say, the other way round, or neither; and whether they are equivalent.",
    "decisions-compared": "All pairs with the decision of each model.",
    "decisions-agreement": "How often models decide alike.",
    "agreement": "Coefficients of agreement between participants.",
    "noise-ceiling": "How well predictions of these judgments can do at best.",
    "decision-study": "How many participants and items a reliability of .80 takes.",
    "variances": "Variances of stimuli, participants and the rest.",
    "stability": "How well scores and decisions of two sessions or groups go together.",
    "stability-participants": "Participants who judged twice: how their own answers go together.",
    "stability-scores": "The scores of stimuli in each session or group.",
    "stability-disagreements": "Pairs that are decided differently.",
    "ratings": "One row per case, one column per pair of adjectives, polarity aligned.",
    "adequacy": "The measure of Kaiser, Meyer and Olkin for each pair.",
    "number-of-factors": "How many factors there are, by each rule.",
    "eigenvalues": "Eigenvalues beside those of random data.",
    "loadings": "Loadings of pairs on factors, with communalities.",
    "factor-correlations": "How factors correlate.",
    "explained": "The variance that each factor explains.",
    "scores": "Where each text stands on each dimension.",
    "profiles": "The mean rating of each text on each pair.",
    "consensus": "The label of each item with its probability (Dawid and Skene).",
    "soft-labels": "The probability of every label of each item, to learn from.",
    "labellers": "What is known of each participant's errors.",
    "confusion": "How often each participant answers what, given the true label.",
}
"""What each file has."""


def figures_of(name: str, result: Any) -> dict[str, Callable[[Any, Measured], Figure]]:
    """The figures of a result, by the name of their file.

    >>> import karat
    >>> list(figures_of("strengths", karat.measure.strengths(karat.datasets.load("likert"))))
    ['strengths', 'thresholds']
    """
    found = dict(FIGURES.get(name, {}))
    if isinstance(result, Strengths) and result.model == "ordinal" and result.fit is not None:
        found["thresholds"] = lambda one, _: thresholds_figure(one)
    return found


def numbers(result: Any) -> dict[str, Any]:
    """The single numbers and words of a result that stand in none of its tables.

    >>> import karat
    >>> numbers(karat.measure.strengths(karat.datasets.load("crowd"), "mean"))["model"]
    'mean'
    """
    if isinstance(result, Strengths):
        return {"model": result.model, "unit": str(result.unit), "level": result.level}
    if isinstance(result, Contrasts):
        steps = [str(step) for step in result.simplified]
        return {"formula": result.formula, "unit": str(result.unit), "level": result.level, "simplified": steps}
    if isinstance(result, Adequacy):
        return {"kmo": result.kmo, "bartlett": result.bartlett._asdict(), "observations": result.observations}
    if isinstance(result, Factors):
        fit = {"chi2": result.chi2, "dof": result.dof, "p": result.p_value, "rmsea": result.rmsea}
        return fit | {"converged": result.converged}
    if isinstance(result, PlannedContrasts):
        return {"unit": str(result.unit)}
    return {}


def _factor_correlations(found: Factors) -> pl.DataFrame:
    columns = {name: found.correlations[:, place] for place, name in enumerate(found.names)}
    return pl.DataFrame({"factor": list(found.names), **columns})


def _shown(found: Profiles, measures: Measured) -> list[str]:
    """The profiles that are drawn: all where they are few, else the texts at both ends of the first dimension."""
    groups = list(found.groups)
    if len(groups) <= LINES:
        return groups
    scores = next((part.result for part in measures.parts if part.name == "scores"), None)
    if scores is None:
        return groups[:LINES]
    ordered = scores.table().sort(scores.dimensions[0], descending=True)["item"].to_list()
    return [*ordered[: LINES // 2], *ordered[-(LINES // 2) :]]
