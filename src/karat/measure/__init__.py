"""Measures: acceptability estimates, contrasts, agreement, stability, dimensions and consensus."""

from __future__ import annotations

from karat.measure.consensus import Consensus, consensus
from karat.measure.dimensions.adequacy import Adequacy, Suitability, adequacy, suitability
from karat.measure.dimensions.factors import Factors, factors
from karat.measure.dimensions.links import (
    FeatureCorrelations,
    OverallRegression,
    feature_correlations,
    overall_regression,
    text_features,
)
from karat.measure.dimensions.matrix import RatingsMatrix, ratings_matrix
from karat.measure.dimensions.number_of_factors import (
    FactorIntervals,
    NumberOfFactors,
    factor_intervals,
    number_of_factors,
)
from karat.measure.dimensions.profiles import DimensionScores, Profiles, dimension_scores, profiles
from karat.measure.dimensions.reduction import Reduction, ShortForm, reduce_pairs, short_form
from karat.measure.effects.bayes import BayesContrasts, bayes_contrasts
from karat.measure.effects.contrasts import (
    Contrasts,
    ProportionalOdds,
    SpreadRatios,
    contrasts,
    proportional_odds,
    spread_ratios,
)
from karat.measure.effects.order_effects import OrderEffects, order_effects
from karat.measure.measures import Measures
from karat.measure.pairs.compare import DecisionComparison, compare_decisions
from karat.measure.pairs.decisions import Decisions, decisions
from karat.measure.pairs.measure_correlations import MeasureCorrelations, compare_measures
from karat.measure.reliability.agreement import Agreement, agreement
from karat.measure.reliability.decision_study import DecisionStudy, decision_study
from karat.measure.reliability.noise_ceiling import NoiseCeiling, noise_ceiling
from karat.measure.reliability.stability import Stability, stability
from karat.measure.result import MeasureError
from karat.measure.run import run
from karat.measure.scaling.assumptions import ChoiceAssumptions, choice_assumptions
from karat.measure.scaling.choices import predict, strength_draws
from karat.measure.scaling.result import StrengthDifference, Strengths, thresholds_figure
from karat.measure.scaling.select_controls import Controls, select_controls
from karat.measure.scaling.strengths import strengths

__all__ = [
    "Adequacy",
    "Agreement",
    "BayesContrasts",
    "ChoiceAssumptions",
    "Consensus",
    "Contrasts",
    "Controls",
    "DecisionComparison",
    "DecisionStudy",
    "Decisions",
    "DimensionScores",
    "FactorIntervals",
    "Factors",
    "FeatureCorrelations",
    "MeasureCorrelations",
    "MeasureError",
    "Measures",
    "NoiseCeiling",
    "NumberOfFactors",
    "OrderEffects",
    "OverallRegression",
    "Profiles",
    "ProportionalOdds",
    "RatingsMatrix",
    "Reduction",
    "ShortForm",
    "SpreadRatios",
    "Stability",
    "StrengthDifference",
    "Strengths",
    "Suitability",
    "adequacy",
    "agreement",
    "bayes_contrasts",
    "choice_assumptions",
    "compare_decisions",
    "compare_measures",
    "consensus",
    "contrasts",
    "decision_study",
    "decisions",
    "dimension_scores",
    "factor_intervals",
    "factors",
    "feature_correlations",
    "noise_ceiling",
    "number_of_factors",
    "order_effects",
    "overall_regression",
    "predict",
    "profiles",
    "proportional_odds",
    "ratings_matrix",
    "reduce_pairs",
    "run",
    "select_controls",
    "short_form",
    "spread_ratios",
    "stability",
    "strength_draws",
    "strengths",
    "suitability",
    "text_features",
    "thresholds_figure",
]
