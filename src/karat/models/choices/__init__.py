"""Models of choices between two stimuli: Bradley and Terry's, Davidson's with ties, and Thurstone's."""

from karat.models.choices.bradley_terry import Pairs, fit_pairs, groups_of
from karat.models.choices.fitted import Choices

__all__ = ["Choices", "Pairs", "fit_pairs", "groups_of"]
