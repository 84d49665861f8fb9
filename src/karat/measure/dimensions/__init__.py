"""Semantic differentials: factors, scores, profiles and short forms."""
