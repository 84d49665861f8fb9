"""Designs: the items that each participant sees, their pairs, frequency and sessions.

Every function takes a table or numbers and returns a small frozen record. Guarantees hold exactly; allowed imbalance is
in `notes`; impossible designs raise `DesignError`.
"""

from karat.study.designs.balance import DesignError
from karat.study.designs.factorial import DesignFactor, Lists, factorial
from karat.study.designs.pairs import RandomPairs, Subsets, balance_sides, random_pairs, subsets
from karat.study.designs.sessions import Showing, attention_halves, repeated_pairs, rounds

__all__ = [
    "DesignError", "DesignFactor", "Lists", "RandomPairs", "Showing", "Subsets", "attention_halves", "balance_sides",
    "factorial", "random_pairs", "repeated_pairs", "rounds", "subsets",
]  # fmt: skip
