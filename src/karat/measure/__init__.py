"""Measures: acceptability estimates, contrasts, agreement, stability, dimensions and consensus, loaded when used."""

from typing import TYPE_CHECKING

from karat.packages import load_when_used

if TYPE_CHECKING:
    from karat.measure.consensus import Consensus as Consensus
    from karat.measure.consensus import consensus as consensus
    from karat.measure.dimensions.adequacy import Adequacy as Adequacy
    from karat.measure.dimensions.adequacy import Suitability as Suitability
    from karat.measure.dimensions.adequacy import adequacy as adequacy
    from karat.measure.dimensions.adequacy import suitability as suitability
    from karat.measure.dimensions.factors import Factors as Factors
    from karat.measure.dimensions.factors import factors as factors
    from karat.measure.dimensions.matrix import RatingsMatrix as RatingsMatrix
    from karat.measure.dimensions.matrix import ratings_matrix as ratings_matrix
    from karat.measure.dimensions.number_of_factors import FactorIntervals as FactorIntervals
    from karat.measure.dimensions.number_of_factors import NumberOfFactors as NumberOfFactors
    from karat.measure.dimensions.number_of_factors import factor_intervals as factor_intervals
    from karat.measure.dimensions.number_of_factors import number_of_factors as number_of_factors
    from karat.measure.dimensions.overall_and_features import FeatureCorrelations as FeatureCorrelations
    from karat.measure.dimensions.overall_and_features import OverallRegression as OverallRegression
    from karat.measure.dimensions.overall_and_features import feature_correlations as feature_correlations
    from karat.measure.dimensions.overall_and_features import overall_regression as overall_regression
    from karat.measure.dimensions.overall_and_features import text_features as text_features
    from karat.measure.dimensions.profiles import DimensionScores as DimensionScores
    from karat.measure.dimensions.profiles import Profiles as Profiles
    from karat.measure.dimensions.profiles import dimension_scores as dimension_scores
    from karat.measure.dimensions.profiles import profiles as profiles
    from karat.measure.dimensions.reduction import Reduction as Reduction
    from karat.measure.dimensions.reduction import ShortForm as ShortForm
    from karat.measure.dimensions.reduction import reduce_pairs as reduce_pairs
    from karat.measure.dimensions.reduction import short_form as short_form
    from karat.measure.effects.bayes import BayesContrasts as BayesContrasts
    from karat.measure.effects.bayes import bayes_contrasts as bayes_contrasts
    from karat.measure.effects.contrasts import Contrasts as Contrasts
    from karat.measure.effects.contrasts import ProportionalOdds as ProportionalOdds
    from karat.measure.effects.contrasts import SpreadRatios as SpreadRatios
    from karat.measure.effects.contrasts import contrasts as contrasts
    from karat.measure.effects.contrasts import proportional_odds as proportional_odds
    from karat.measure.effects.contrasts import spread_ratios as spread_ratios
    from karat.measure.effects.order_effects import OrderEffects as OrderEffects
    from karat.measure.effects.order_effects import order_effects as order_effects
    from karat.measure.measures import Measures as Measures
    from karat.measure.pairs.compare import DecisionComparison as DecisionComparison
    from karat.measure.pairs.compare import compare_decisions as compare_decisions
    from karat.measure.pairs.decisions import Decisions as Decisions
    from karat.measure.pairs.decisions import decisions as decisions
    from karat.measure.pairs.measure_correlations import MeasureCorrelations as MeasureCorrelations
    from karat.measure.pairs.measure_correlations import compare_measures as compare_measures
    from karat.measure.reliability.agreement import Agreement as Agreement
    from karat.measure.reliability.agreement import agreement as agreement
    from karat.measure.reliability.annotator_test import AnnotatorTest as AnnotatorTest
    from karat.measure.reliability.annotator_test import annotator_test as annotator_test
    from karat.measure.reliability.decision_study import DecisionStudy as DecisionStudy
    from karat.measure.reliability.decision_study import decision_study as decision_study
    from karat.measure.reliability.noise_ceiling import NoiseCeiling as NoiseCeiling
    from karat.measure.reliability.noise_ceiling import noise_ceiling as noise_ceiling
    from karat.measure.reliability.stability import Stability as Stability
    from karat.measure.reliability.stability import stability as stability
    from karat.measure.result import MeasureError as MeasureError
    from karat.measure.run import run as run
    from karat.measure.scaling.assumptions import ChoiceAssumptions as ChoiceAssumptions
    from karat.measure.scaling.assumptions import choice_assumptions as choice_assumptions
    from karat.measure.scaling.choices import predict as predict
    from karat.measure.scaling.choices import strength_draws as strength_draws
    from karat.measure.scaling.result import StrengthDifference as StrengthDifference
    from karat.measure.scaling.result import Strengths as Strengths
    from karat.measure.scaling.result import thresholds_figure as thresholds_figure
    from karat.measure.scaling.select_controls import Controls as Controls
    from karat.measure.scaling.select_controls import select_controls as select_controls
    from karat.measure.scaling.strengths import strengths as strengths

__all__ = load_when_used(__name__)
