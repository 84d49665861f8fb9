"""Measure: what they said - strengths, contrasts, agreement, stability, dimensions, consensus."""

from __future__ import annotations

from karat.measure.adequacy import Adequacy, adequacy
from karat.measure.agreement import Agreement, agreement
from karat.measure.consensus import Consensus, consensus
from karat.measure.decision_study import DecisionStudy, decision_study
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
from karat.measure.noise_ceiling import NoiseCeiling, noise_ceiling
from karat.measure.number_of_factors import NumberOfFactors, number_of_factors
from karat.measure.profiles import Profiles, profiles
from karat.measure.ratings_matrix import RatingsMatrix, ratings_matrix
from karat.measure.reduction import Reduction, reduce_pairs
from karat.measure.short_form import ShortForm, short_form
from karat.measure.stability import Stability, stability
from karat.measure.suitability import Suitability, suitability

__all__ = [
    "Adequacy",
    "Agreement",
    "Consensus",
    "DecisionStudy",
    "DimensionScores",
    "FactorIntervals",
    "Factors",
    "FeatureCorrelations",
    "MeasureError",
    "NoiseCeiling",
    "NumberOfFactors",
    "OverallRegression",
    "Profiles",
    "RatingsMatrix",
    "Reduction",
    "ShortForm",
    "Stability",
    "Suitability",
    "adequacy",
    "agreement",
    "consensus",
    "decision_study",
    "dimension_scores",
    "factor_intervals",
    "factors",
    "feature_correlations",
    "noise_ceiling",
    "number_of_factors",
    "overall_regression",
    "profiles",
    "ratings_matrix",
    "reduce_pairs",
    "short_form",
    "stability",
    "suitability",
]
