"""Factor analysis: extraction, rotation, scores, the number of factors, and the correlations it starts from."""

from karat.models.factors.adequacy import bartlett, kmo
from karat.models.factors.extraction import LOWEST, Extraction, extract
from karat.models.factors.fit import FactorFit, fit_of
from karat.models.factors.matching import congruence, matched
from karat.models.factors.number import acceleration, map_test, parallel_analysis
from karat.models.factors.pearson import pearson
from karat.models.factors.polychoric import nearest_correlation, polychoric
from karat.models.factors.regression import Regression, regress
from karat.models.factors.rotation import Rotation, rotate
from karat.models.factors.scores import score_weights

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
