"""Measure: what they said - strengths, contrasts, agreement, stability, dimensions, consensus."""

from __future__ import annotations

from karat.measure.adequacy import Adequacy, adequacy
from karat.measure.agreement import Agreement, agreement
from karat.measure.choice_assumptions import ChoiceAssumptions, choice_assumptions
from karat.measure.choice_posterior import strength_draws
from karat.measure.choice_strengths import predict
from karat.measure.compare_decisions import DecisionComparison, compare_decisions
from karat.measure.consensus import Consensus, consensus
from karat.measure.contrasts import Contrasts, contrasts
from karat.measure.decision_study import DecisionStudy, decision_study
from karat.measure.decisions import Decisions, decisions
from karat.measure.dimension_links import (
    FeatureCorrelations,
    OverallRegression,
    feature_correlations,
    overall_regression,
)
from karat.measure.dimension_scores import DimensionScores, dimension_scores
from karat.measure.errors import MeasureError
from karat.measure.factor_intervals import FactorIntervals, factor_intervals
from karat.measure.factors import Factors, factors
from karat.measure.measure_correlations import MeasureCorrelations, compare_measures
from karat.measure.measures import Measures
from karat.measure.noise_ceiling import NoiseCeiling, noise_ceiling
from karat.measure.number_of_factors import NumberOfFactors, number_of_factors
from karat.measure.order_effects import OrderEffects, order_effects
from karat.measure.profiles import Profiles, profiles
from karat.measure.ratings_matrix import RatingsMatrix, ratings_matrix
from karat.measure.reduction import Reduction, reduce_pairs
from karat.measure.run import run
from karat.measure.select_controls import Controls, select_controls
from karat.measure.short_form import ShortForm, short_form
from karat.measure.stability import Stability, stability
from karat.measure.strengths import StrengthDifference, Strengths, strengths
from karat.measure.suitability import Suitability, suitability
from karat.measure.threshold_figure import thresholds_figure

__all__ = [
    "Adequacy",
    "Agreement",
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
    "RatingsMatrix",
    "Reduction",
    "ShortForm",
    "Stability",
    "StrengthDifference",
    "Strengths",
    "Suitability",
    "adequacy",
    "agreement",
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
    "ratings_matrix",
    "reduce_pairs",
    "run",
    "select_controls",
    "short_form",
    "stability",
    "strength_draws",
    "strengths",
    "suitability",
    "thresholds_figure",
]
