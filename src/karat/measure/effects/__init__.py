"""Contrasts between conditions: mixed models, planned comparisons, effects of the order."""
