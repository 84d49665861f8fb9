"""Strengths of stimuli, from ratings and from choices, and what is chosen by them."""
