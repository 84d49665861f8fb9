"""Factor analysis: extraction, rotation, scores, the number of factors, and the correlations it starts from."""

from karat.models.factors.correlations import bartlett, kmo, nearest_correlation, pearson, polychoric
from karat.models.factors.extraction import LOWEST, Extraction, acceleration, extract, map_test, parallel_analysis
from karat.models.factors.fit import FactorFit, Regression, fit_of, regress, score_weights
from karat.models.factors.rotation import Rotation, congruence, matched, rotate

__all__ = [
    "LOWEST",
    "Extraction",
    "FactorFit",
    "Regression",
    "Rotation",
    "acceleration",
    "bartlett",
    "congruence",
    "extract",
    "fit_of",
    "kmo",
    "map_test",
    "matched",
    "nearest_correlation",
    "parallel_analysis",
    "pearson",
    "polychoric",
    "regress",
    "rotate",
    "score_weights",
]
