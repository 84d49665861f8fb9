"""Models of choices between two stimuli: Bradley and Terry's, Davidson's with ties, and Thurstone's."""

from karat.models.choices.bradley_terry import fit_pairs
from karat.models.choices.pairs import ChoiceFit, Pairs, groups_of

__all__ = ["ChoiceFit", "Pairs", "fit_pairs", "groups_of"]
